//! Any request, in any dialect, can be shown to every kind of client, and answered in the format of its agent.
//! The input is a letter for the method, the parameters of the request after it, and on the second line the dice that
//! choose the answers.
//!
//! ```sh
//! mkdir -p fuzz/corpus/dialects
//! RUSTC_BOOTSTRAP=1 cargo fuzz run dialects fuzz/corpus/dialects fuzz/seeds/dialects -- -max_total_time=300
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/support/asking.rs"]
mod asking;

fuzz_target!(|data: &[u8]| {
    let Some((letter, rest)) = data.split_first() else { return };
    let method = asking::METHODS[usize::from(letter.wrapping_sub(b'a')) % asking::METHODS.len()];
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let (params, dice) = rest.split_at(end);
    asking::check_request(method, params, dice.strip_prefix(b"\n").unwrap_or_default());
});
