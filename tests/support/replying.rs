//! What must hold of the native dialect, whatever an agent asks and a client says.
//! The property tests and the fuzz targets share it.

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

/// Reads parameters as a question. One that is read is within the limits, and its fields can be told apart.
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

/// Returns what the agent is told when the client says this: for each field what was chosen, or that it was
/// rejected. `None` where the client's words go on as they are because nobody understands them.
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

/// What a canonical response says, whatever stands beside it.
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

/// What was translated once is canonical, and says the same when it is read again.
fn check_again(question: &Question, response: &Response) {
    let Ok(line) = serde_json::to_vec(response) else { panic!("{response:?} is no JSON") };
    let read = reply::read(&line, question);
    let Reply::Canonical(outcome) = read else { panic!("{response:?} is not canonical: {read:?}") };
    if let (Response::Answered { answers, .. }, Outcome::Answered(answer)) = (response, &outcome) {
        let Response::Answered { answers: again, .. } = response::answered(question, answer) else {
            panic!("an answer became a rejection");
        };
        assert_eq!(*answers, again);
    }
}
