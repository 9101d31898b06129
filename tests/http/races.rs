//! Many responders answer at once, while the agent withdraws the question: one wins, and each is told the truth.

use askbridge_core::question::{Outcome, Question, Reason, Value};
use futures::future::join_all;
use serde_json::json;

use crate::http::bridge::{Bridge, permission, question};
use crate::http::client::Reply;

const RESPONDERS: usize = 100;
/// Permissions that they decide about, one after the other.
const PERMISSIONS: usize = 8;
const ROUNDS: usize = 60;

fn text() -> Question {
    question("q", json!([{ "name": "t", "label": "Who?", "required": true, "kind": "text" }]))
}

/// Asks, lets all responders answer at once, and returns their replies and what the agent got. `call` is the path and
/// the body of a responder.
async fn all_at_once(
    bridge: &Bridge,
    question: Question,
    call: impl Fn(u64, usize) -> (String, String),
) -> (Vec<Reply>, Outcome) {
    let number = bridge.ask(question).await;
    let calls = (0..RESPONDERS).map(|responder| {
        let (http, (path, body)) = (bridge.http.clone(), call(number, responder));
        tokio::spawn(async move { http.post(&path, &body).await })
    });
    let replies = join_all(calls).await.into_iter().map(|reply| reply.unwrap()).collect();
    let agent = bridge.agent.lock().unwrap().clone();
    let got: Vec<_> = agent.into_iter().filter(|(asked, _)| *asked == number).collect();
    let [(_, outcome)] = &got[..] else { panic!("the agent got {got:?}") };
    (replies, outcome.clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_a_hundred_answers_wins() {
    let bridge = Bridge::start().await;
    let call = |number, responder| {
        let body = json!({ "answers": [[format!("responder {responder}")]] });
        (format!("/v1/questions/bridge-{number}/reply"), body.to_string())
    };
    let (replies, outcome) = all_at_once(&bridge, text(), call).await;
    let Outcome::Answered(answer) = &outcome else { panic!("{outcome:?}") };
    let mut won = Vec::new();
    for (responder, reply) in replies.into_iter().enumerate() {
        match reply.status {
            204 => won.push(Value::Text(format!("responder {responder}"))),
            _ => assert_eq!(reply.is(409).json()["outcome"], json!(outcome), "{reply:?}"),
        }
    }
    assert_eq!(won, [answer.values["t"].clone()]);
}

/// What a responder says to a permission: half of them allow it and half reject it, in each of the ways there are.
fn say(number: u64, responder: usize) -> (String, String) {
    let (path, body) = match responder % 6 {
        0 => ("v1/questions/bridge-N/reply", r#"{"answers":[["allow"]]}"#),
        1 => ("v1/questions/bridge-N/reject", ""),
        2 => ("permission/bridge-N/reply", r#"{"reply":"once"}"#),
        3 => ("permission/bridge-N/reply", r#"{"reply":"reject","message":"not now"}"#),
        4 => ("session/s/permissions/bridge-N", r#"{"response":"once"}"#),
        _ => ("v1/questions/bridge-N/reject", r#"{"reason":"not now"}"#),
    };
    (format!("/{}", path.replace('N', &number.to_string())), body.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_a_hundred_decisions_about_a_permission_wins() {
    let bridge = Bridge::start().await;
    for _ in 0..PERMISSIONS {
        let (replies, outcome) = all_at_once(&bridge, permission("q"), say).await;
        let allowed = match &outcome {
            Outcome::Answered(answer) => {
                assert_eq!(answer.values["q0"], Value::Text("allow".to_owned()));
                true
            }
            outcome => {
                assert_eq!(*outcome, Outcome::Rejected(Reason::User));
                false
            }
        };
        for (responder, reply) in replies.into_iter().enumerate() {
            // The same decision once more is accepted.
            if (responder % 2 == 0) == allowed {
                assert!([200, 204].contains(&reply.status), "{reply:?}");
            } else {
                assert_eq!(reply.is(409).json()["outcome"], json!(outcome), "{reply:?}");
            }
        }
    }
}

/// When the agent withdraws a question.
#[derive(Clone, Copy)]
enum Withdraws {
    /// Before any answer.
    First,
    /// During the answers, after so many turns of this task: which one wins is chance.
    After(usize),
    Never,
}

/// Two responders answer and one rejects, at once. Returns the outcome, which all were told.
async fn race(bridge: &Bridge, withdraws: Withdraws) -> Outcome {
    let number = bridge.ask(text()).await;
    if matches!(withdraws, Withdraws::First) {
        assert!(bridge.withdraw(number).await);
    }
    let path = format!("/v1/sessions/s/questions/bridge-{number}");
    let callers =
        [("reply", r#"{"answers":[["one"]]}"#), ("reply", r#"{"answers":[["two"]]}"#), ("reject", "")];
    let calls = callers.into_iter().map(|(verb, body)| {
        let (http, path) = (bridge.http.clone(), format!("{path}/{verb}"));
        tokio::spawn(async move { http.post(&path, body).await })
    });
    let calls: Vec<_> = calls.collect();
    if let Withdraws::After(turns) = withdraws {
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        bridge.withdraw(number).await;
    }
    let replies = join_all(calls).await;
    let outcome = {
        let agent = bridge.agent.lock().unwrap();
        assert_eq!(agent.len() as u64, number, "one outcome each");
        agent[agent.len() - 1].1.clone()
    };
    for ((verb, body), reply) in callers.into_iter().zip(replies) {
        let is_mine = match &outcome {
            Outcome::Answered(answer) => {
                let Value::Text(text) = &answer.values["t"] else { panic!("{answer:?}") };
                body.contains(text.as_str())
            }
            outcome => verb == "reject" && *outcome == Outcome::Rejected(Reason::User),
        };
        reply.unwrap().is(match &outcome {
            _ if is_mine => 204,
            Outcome::Rejected(Reason::Withdrawn) => 410,
            _ => 409,
        });
    }
    outcome
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_responder_that_is_told_it_won_has_won() {
    let bridge = Bridge::start().await;
    let withdrawn = Outcome::Rejected(Reason::Withdrawn);
    for round in 0..ROUNDS {
        assert_eq!(race(&bridge, Withdraws::First).await, withdrawn);
        assert_ne!(race(&bridge, Withdraws::Never).await, withdrawn);
        // Each round begins at another moment; how often either side wins depends on the machine.
        race(&bridge, Withdraws::After(round * 2)).await;
    }
}
