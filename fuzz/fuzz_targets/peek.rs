//! Any line is for the scan of `wire` what it is for a full parser, and so is its beginning.
//!
//! ```sh
//! mkdir -p fuzz/corpus/peek
//! RUSTC_BOOTSTRAP=1 cargo fuzz run peek fuzz/corpus/peek fuzz/seeds/peek -- -max_total_time=300
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/support/members.rs"]
mod members;
#[path = "../../tests/support/reference.rs"]
mod reference;

fuzz_target!(|line: &[u8]| {
    reference::check_peek(line);
    reference::check_beginnings(line);
    reference::check_message(line);
    reference::check_members(line);
    for path in [&["a"][..], &["params", "a", "b"], &["result", "_meta", "a"]] {
        reference::check_insert(line, path);
    }
});
