//! Any reply to a native request has one meaning, or is forwarded unchanged.
//! The input is the parameters of a question and a result, each on its own line.
//!
//! ```sh
//! mkdir -p fuzz/corpus/reply
//! RUSTC_BOOTSTRAP=1 cargo fuzz run reply fuzz/corpus/reply fuzz/seeds/reply -- -max_total_time=300
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/support/replying.rs"]
mod replying;

fuzz_target!(|data: &[u8]| {
    let Some(end) = data.iter().position(|byte| *byte == b'\n') else { return };
    let Some(question) = replying::question(&data[..end]) else { return };
    if let Some(Some(answers)) = replying::received(&question, &data[end + 1..]) {
        // A canonical answer is forwarded unchanged, also with more or fewer entries than there are fields.
        assert!(answers.len() == question.fields.len() || data[end + 1..].contains(&b'"'));
    }
});
