//! The properties of the native dialect for any question and any response.
//! The property tests and the fuzz targets share them.

use askbridge::{
    dialect::{
        self, Reply,
        sandboxagent::{
            METHOD, reply,
            response::{self, Response},
        },
    },
    limits,
    question::{Outcome, Question},
};

/// Reads parameters as a question, and checks that it is within the limits and that its field names are unique.
pub(crate) fn question(params: &[u8]) -> Option<Question> {
    let question = match dialect::read(METHOD, params, "made-up") {
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

/// Returns what the agent gets if the client sends this result: the values of each field, or `Some(None)` for a
/// rejection. Returns `None` if the result is of an unknown shape and is forwarded unchanged.
pub(crate) fn told(question: &Question, result: &[u8]) -> Option<Option<Vec<Vec<String>>>> {
    let (outcome, response) = match reply::read(result, question) {
        Reply::Unknown => return None,
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
    };
    match (response, outcome) {
        (Response::Answered { answers, .. }, Outcome::Answered(_)) => Some(Some(answers)),
        (Response::Rejected { .. }, Outcome::Rejected(_)) => Some(None),
        (response, outcome) => panic!("{response:?} is told, {outcome:?} is recorded"),
    }
}

/// A canonical response without its further members.
#[derive(serde::Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum Bare {
    Answered { answers: Vec<Vec<String>> },
    Rejected,
}

impl From<Bare> for Response {
    fn from(bare: Bare) -> Self {
        match bare {
            Bare::Answered { answers } => Response::Answered { answers, meta: None },
            Bare::Rejected => Response::Rejected { meta: None },
        }
    }
}

/// Checks that a translated response is canonical and keeps its meaning when it is read again.
fn check_again(question: &Question, response: &Response) {
    let Ok(line) = serde_json::to_vec(response) else { panic!("{response:?} is not JSON") };
    let read = reply::read(&line, question);
    let Reply::Canonical(outcome) = read else { panic!("{response:?} is not canonical: {read:?}") };
    if let (Response::Answered { answers, .. }, Outcome::Answered(answer)) = (response, &outcome) {
        let Response::Answered { answers: again, .. } = response::answered(question, answer) else {
            panic!("an answer became a rejection");
        };
        assert_eq!(*answers, again);
    }
}
