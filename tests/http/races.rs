//! Many answer at once, while the agent takes it back: one wins, and everybody is told the truth.

use std::collections::BTreeMap;

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
async fn of_a_hundred_answers_one_wins_and_all_are_told() {
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
            _ => assert_eq!(reply.is(409).json()["outcome"], json!({ "answered": answer }), "{reply:?}"),
        }
    }
    assert_eq!(won, [answer.values["t"].clone()]);
}

/// Two answer, one rejects, and the agent takes it back: at once, in an order that chance makes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_told_that_it_won_has_won() {
    let bridge = Bridge::start().await;
    let mut seen = BTreeMap::<u16, usize>::new();
    for round in 0..ROUNDS {
        let number = bridge.ask(text()).await;
        let path = format!("/v1/sessions/s/questions/bridge-{number}");
        let callers =
            [("reply", r#"{"answers":[["one"]]}"#), ("reply", r#"{"answers":[["two"]]}"#), ("reject", "")];
        let calls = callers.into_iter().map(|(verb, body)| {
            let (http, path) = (bridge.http.clone(), format!("{path}/{verb}"));
            tokio::spawn(async move { http.post(&path, body).await })
        });
        let calls: Vec<_> = calls.collect();
        // Each round begins it at another moment.
        for _ in 0..round * 2 {
            tokio::task::yield_now().await;
        }
        bridge.withdraw(number).await;
        let replies = join_all(calls).await;
        let outcome = {
            let agent = bridge.agent.lock().unwrap();
            assert_eq!(agent.len() as u64, number, "one outcome each");
            agent[agent.len() - 1].1.clone()
        };
        for ((verb, body), reply) in callers.into_iter().zip(replies) {
            let reply = reply.unwrap();
            let is_mine = match &outcome {
                Outcome::Answered(answer) => {
                    let Value::Text(text) = &answer.values["t"] else { panic!("{answer:?}") };
                    body.contains(text.as_str())
                }
                outcome => verb == "reject" && *outcome == Outcome::Rejected(Reason::User),
            };
            let expected = match &outcome {
                _ if is_mine => 204,
                Outcome::Rejected(Reason::Withdrawn) => 410,
                _ => 409,
            };
            reply.is(expected);
            *seen.entry(expected).or_default() += 1;
        }
    }
    assert!(seen.contains_key(&204) && seen.contains_key(&409), "one side always won: {seen:?}");
}
