//! Whatever a conductor says, a component says whole lines, and the same ones however the bytes arrive.
//!
//! ```sh
//! mkdir -p fuzz/corpus/component
//! RUSTC_BOOTSTRAP=1 cargo fuzz run component fuzz/corpus/component fuzz/seeds/component -- -max_total_time=300
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/support/saying.rs"]
mod saying;

fuzz_target!(|input: &[u8]| {
    let input = [input, b"\n"].concat();
    let said = saying::said(&input, input.len());
    assert!(said.is_empty() || said.ends_with(b"\n"), "{}", said.escape_ascii());
    assert_eq!(said, saying::said(&input, 7), "another chunking says other things");
});
