//! The random moves, and the lines and submissions that they send.

use std::{sync::Arc, time::Duration};

use askbridge_core::{
    desk::{Record, Refusal, Submission},
    question::{Answer, Outcome, Question, Reason, Value as Given},
};
use futures::future::LocalBoxFuture;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::limits;

/// A responder that waits for its verdict.
pub(super) struct Caller {
    pub(super) number: u64,
    pub(super) submission: Submission,
    /// What the responder was shown, if its submission says so.
    pub(super) saw: Option<Arc<Question>>,
    pub(super) waits: LocalBoxFuture<'static, Result<Arc<Record>, Refusal>>,
}

/// The agent's stdin, which takes as much as it has room for, or breaks.
pub(super) struct Pipe {
    pub(super) room: usize,
    pub(super) broken: bool,
    pub(super) got: Vec<u8>,
}

/// One event. `which` chooses among the questions so far, of which there are few, so that many moves concern the same
/// one.
#[derive(Clone, Debug)]
pub(super) enum Move {
    Ask {
        session: u8,
    },
    Submit {
        which: u8,
        what: u8,
    },
    /// The bridge takes the next submission.
    Take,
    /// A waiting responder looks whether its verdict has come.
    Look(u8),
    ClientAnswers {
        which: u8,
        how: u8,
    },
    /// A part of a line, behind which our own lines wait.
    ClientBegins,
    CancelTurn {
        session: u8,
    },
    /// The agent says more of the tool call that each permission of a session is for, or that it is over.
    Says {
        session: u8,
        is_over: bool,
    },
    /// The turn of a session begins, or ends.
    Turns {
        session: u8,
    },
    Withdraw {
        which: u8,
    },
    /// The agent reads this much.
    Drain(u16),
    Pass(u16),
    Break,
    ClientEnds,
    AgentExits {
        breaks: bool,
    },
}

pub(super) fn any_move() -> impl Strategy<Value = Move> {
    let which = 0..4u8;
    prop_oneof![
        4 => (0..2u8).prop_map(|session| Move::Ask { session }),
        12 => (which.clone(), 0..9u8).prop_map(|(which, what)| Move::Submit { which, what }),
        12 => Just(Move::Take),
        6 => any::<u8>().prop_map(Move::Look),
        4 => (which.clone(), 0..5u8).prop_map(|(which, how)| Move::ClientAnswers { which, how }),
        2 => Just(Move::ClientBegins),
        1 => (0..2u8).prop_map(|session| Move::CancelTurn { session }),
        2 => which.prop_map(|which| Move::Withdraw { which }),
        6 => (0..2u8, prop::bool::weighted(0.15)).prop_map(|(session, is_over)| Move::Says { session, is_over }),
        2 => (0..2u8).prop_map(|session| Move::Turns { session }),
        8 => (0..300u16).prop_map(Move::Drain),
        3 => (0..3000u16).prop_map(Move::Pass),
        // Rare, since most of these end the conversation, perhaps before it has become interesting.
        1 => prop_oneof![6 => Just(Move::Drain(5000)), 1 => Just(Move::Break), 1 => Just(Move::ClientEnds),
            1 => any::<bool>().prop_map(|breaks| Move::AgentExits { breaks })],
    ]
}

/// The beginning of the client's line before it falls silent.
pub(super) const BEGUN: &[u8] = br#"{"jsonrpc":"2.0","method":"x","params":""#;

/// Returns the beginning of a line, long enough to be forwarded before its end arrives.
pub(super) fn begun() -> Vec<u8> {
    let mut begun = BEGUN.to_vec();
    begun.resize(limits::STREAM, b'x');
    begun
}

pub(super) fn text(value: &str) -> Answer {
    Answer { values: [("q0".to_owned(), Given::Text(value.to_owned()))].into(), ..Answer::default() }
}

/// An answer that fits no question.
pub(super) fn wrong() -> Answer {
    Answer { values: [("q9".to_owned(), Given::Text("a".to_owned()))].into(), ..Answer::default() }
}

/// `edition` is the one that the responder sees.
pub(super) fn submission(what: u8, edition: u32) -> Submission {
    match what {
        0 | 1 => Submission::answer(text("a"), edition),
        // It looked before anything changed.
        2 => Submission::answer(text("a"), None),
        3 | 4 => Submission::answer(text("b"), edition),
        5 => Submission::Reject(Some("no".to_owned())),
        6 => Submission::Extend(Duration::from_secs(1)),
        7 => Submission::Later(Duration::from_secs(1)),
        _ => Submission::answer(wrong(), None),
    }
}

/// Returns whether the agent's request of this number asks for a permission, and not a question.
pub(super) fn is_permission(number: u64) -> bool {
    number.is_multiple_of(2)
}

/// The agent's request.
pub(super) fn request(number: u64, session: u8) -> Value {
    let session = session.to_string();
    let (method, params) = match is_permission(number) {
        true => {
            let options = [("a", "allow_once"), ("b", "allow_always"), ("r", "reject_once")];
            let options = options.map(|(id, kind)| json!({ "optionId": id, "name": id, "kind": kind }));
            let call = json!({ "toolCallId": "t", "title": "?", "kind": "execute" });
            let params = json!({ "sessionId": session, "toolCall": call, "options": options });
            ("session/request_permission", params)
        }
        false => {
            let params = json!({ "sessionId": session, "prompt": "?", "options": ["a", "b"] });
            ("_sandboxagent/session/request_question", params)
        }
    };
    json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params })
}

/// What the agent says of the tool call of each permission in this session. Each `number` is another command.
pub(super) fn update(session: u8, number: usize, is_over: bool) -> Value {
    let mut update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t" });
    match is_over {
        true => update["status"] = "completed".into(),
        // A text may come back.
        false => update["rawInput"] = json!({ "command": format!("run {}", number % 3) }),
    }
    let params = json!({ "sessionId": session.to_string(), "update": update });
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
}

fn selected(option: &str) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option } })
}

/// The client's reply: in the agent's format, in another one that the bridge translates, or in an unknown one.
pub(super) fn reply(number: u64, how: u8) -> Value {
    match how {
        0 if is_permission(number) => selected("a"),
        1 if is_permission(number) => selected("b"),
        2 if is_permission(number) => json!({ "outcome": { "outcome": "cancelled" } }),
        3 if is_permission(number) => selected("r"),
        0 => json!({ "status": "answered", "answers": [["a"]] }),
        1 => json!({ "answers": [["b"]] }),
        2 => json!({ "values": ["a"] }),
        3 => json!({ "status": "rejected" }),
        _ => json!({ "who": "knows" }),
    }
}

/// Returns whether this response tells the agent this outcome.
pub(super) fn is(outcome: &Outcome, response: &Value) -> bool {
    let (result, status) = (&response["result"], response["result"]["status"].as_str());
    let permission = result["outcome"].as_object().map(|outcome| &outcome["outcome"]);
    match outcome {
        Outcome::Answered(answer) if permission.is_some() => {
            let Some(Given::Text(value)) = answer.values.get("q0") else { return false };
            *result == selected(value)
        }
        Outcome::Rejected(Reason::User) if permission.is_some() => {
            result["outcome"] == selected("r")["outcome"]
        }
        Outcome::Rejected(reason) if permission.is_some() && *reason != Reason::Withdrawn => {
            permission.is_some_and(|outcome| outcome == "cancelled")
        }
        Outcome::Answered(answer) => {
            let Some(Given::Text(value)) = answer.values.get("q0") else { return false };
            status == Some("answered") && result["answers"] == json!([[value]])
        }
        Outcome::Rejected(Reason::Withdrawn) => {
            status.is_some() || !response["error"].is_null() || result.is_object()
        }
        Outcome::Rejected(reason) => {
            let said = &result["_meta"]["askbridge"]["reason"];
            status == Some("rejected")
                && (said == reason.name() || (*reason == Reason::User && said.is_null()))
        }
        Outcome::Failed | Outcome::Unknown(_) => status.is_none(),
    }
}
