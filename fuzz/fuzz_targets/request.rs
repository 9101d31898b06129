//! Any parameters of a native request are read as a question or refused with a reason, and a question can be answered.
//!
//! ```sh
//! mkdir -p fuzz/corpus/request
//! RUSTC_BOOTSTRAP=1 cargo fuzz run request fuzz/corpus/request fuzz/seeds/request -- -max_total_time=300
//! ```
#![no_main]

use askbridge_core::question::{Field, Kind};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

#[path = "../../tests/support/replying.rs"]
mod replying;

fuzz_target!(|params: &[u8]| {
    let Some(question) = replying::question(params) else { return };
    let answers: Vec<_> = question.fields.iter().map(answer).collect();
    let result = json!({"status": "answered", "answers": answers});
    assert_eq!(replying::received(&question, result.to_string().as_bytes()), Some(Some(answers.clone())));
    let result = json!({"outcome": "answered", "_meta": {"sandboxagent.dev": {"answers": answers}}});
    assert_eq!(replying::received(&question, result.to_string().as_bytes()), Some(Some(answers)));
});

/// Chooses every option, the last one first.
fn answer(field: &Field) -> Vec<String> {
    match &field.kind {
        Kind::Choices { options, .. } => options.iter().rev().map(|option| option.value.clone()).collect(),
        Kind::Choice { options, .. } => {
            options.last().map(|option| option.value.clone()).into_iter().collect()
        }
        Kind::Text { .. } => vec!["A text, with \"quotes\"".to_owned()],
        Kind::Boolean { .. } => vec!["true".to_owned()],
        Kind::Confirm { no, .. } => vec![no.clone()],
        Kind::Number { .. } => vec!["-7".to_owned()],
        Kind::Texts { .. } => vec!["one".to_owned(), "two, too".to_owned()],
        Kind::Json { .. } => vec!["{\"a\":[1]}".to_owned()],
        other => panic!("{other:?}"),
    }
}
