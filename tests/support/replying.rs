//! The properties of the native dialect, for any request and any reply.
//! The property tests and the fuzz targets share them.

use askbridge_core::{
    dialect::{
        self, Reply,
        sandboxagent::reply::{self, ExtensionResult},
    },
    limits,
    question::{Outcome, Question},
    wire::method::REQUEST_QUESTION,
};

/// Reads parameters as a question, and checks that it is within the limits and that its field names are unique.
pub(crate) fn question(params: &[u8]) -> Option<Question> {
    let question = match dialect::read(REQUEST_QUESTION, params, "made-up") {
        Ok(asked) => asked?.question,
        Err(wrong) => {
            assert!(!wrong.is_empty());
            return None;
        }
    };
    let fields = &question.fields;
    assert!((1..=limits::FIELDS).contains(&fields.len()));
    for (index, field) in fields.iter().enumerate() {
        assert!(field.kind.options().len() <= limits::OPTIONS);
        assert!(fields[..index].iter().all(|other| other.name != field.name), "two fields {:?}", field.name);
    }
    Some(question)
}

/// Returns what the agent receives for this reply: the chosen texts of each field, or `None` for a rejection. The
/// outer `None` stands for a reply of unknown meaning, which is forwarded unchanged.
pub(crate) fn received(question: &Question, result: &[u8]) -> Option<Option<Vec<Vec<String>>>> {
    let (outcome, response) = match reply::read(result, question) {
        Reply::Canonical(outcome) => {
            let Ok(response) = serde_json::from_slice::<Bare>(result) else {
                panic!("this is not canonical")
            };
            (outcome, response.into())
        }
        Reply::Translated(outcome, result) => {
            let Ok(response) = serde_json::from_str(result.get()) else {
                panic!("{result} is not canonical")
            };
            check_again(question, &response);
            (outcome, response)
        }
        _ => return None,
    };
    match (response, outcome) {
        (ExtensionResult::Answered { answers, .. }, Outcome::Answered(_)) => Some(Some(answers)),
        (ExtensionResult::Rejected { .. }, Outcome::Rejected(_)) => Some(None),
        (response, outcome) => panic!("the agent receives {response:?}, and {outcome:?} is recorded"),
    }
}

/// A canonical response without its other members.
#[derive(serde::Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum Bare {
    Answered { answers: Vec<Vec<String>> },
    Rejected,
}

impl From<Bare> for ExtensionResult {
    fn from(bare: Bare) -> Self {
        match bare {
            Bare::Answered { answers } => ExtensionResult::Answered { answers, meta: None },
            Bare::Rejected => ExtensionResult::Rejected { meta: None },
        }
    }
}

/// Checks that a translated response is canonical, and is read as itself.
fn check_again(question: &Question, response: &ExtensionResult) {
    let Ok(line) = serde_json::to_vec(response) else { panic!("{response:?} is not JSON") };
    let read = reply::read(&line, question);
    let Reply::Canonical(outcome) = read else { panic!("{response:?} is not canonical: {read:?}") };
    if let (ExtensionResult::Answered { answers, .. }, Outcome::Answered(answer)) = (response, &outcome) {
        let ExtensionResult::Answered { answers: again, .. } = reply::write_answer(question, answer) else {
            panic!("an answer became a rejection");
        };
        assert_eq!(*answers, again);
    }
}
