//! Many responders answer at once, while the agent withdraws the question: one wins, and each is told the truth.

use askbridge::question::{Outcome, Reason, Value};
use futures::future::join_all;
use serde_json::json;

use crate::bridge::{Bridge, question};

const RESPONDERS: usize = 100;
const ROUNDS: usize = 60;

fn text() -> askbridge::question::Question {
    question("q", json!([{ "name": "t", "label": "Who?", "required": true, "kind": "text" }]))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_a_hundred_answers_wins() {
    let bridge = Bridge::start().await;
    bridge.ask(text()).await;
    let replies = join_all((0..RESPONDERS).map(|number| {
        let http = bridge.http.clone();
        tokio::spawn(async move {
            let body = json!({ "answers": [[format!("responder {number}")]] });
            (number, http.post("/v1/questions/bridge-1/reply", &body.to_string()).await)
        })
    }))
    .await;
    let agent = bridge.agent.lock().unwrap().clone();
    let [(1, Outcome::Answered(answer))] = &agent[..] else { panic!("{agent:?}") };
    let mut won = Vec::new();
    for reply in replies {
        let (number, reply) = reply.unwrap();
        match reply.status {
            204 => won.push(Value::Text(format!("responder {number}"))),
            _ => assert_eq!(
                reply.is(409).json()["outcome"],
                json!(Outcome::Answered(answer.clone())),
                "{reply:?}"
            ),
        }
    }
    assert_eq!(won, [answer.values["t"].clone()]);
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
