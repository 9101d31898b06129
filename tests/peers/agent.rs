//! The SDK at both ends of the bridge.

use std::path::Path;

use agent_client_protocol::v1::schema::{SessionId, StopReason};
use serde_json::{Value, json};

use crate::peers::peer::{Peer, converse};
use crate::peers::process::Ends;

const QUESTION: &str =
    r#"{"questionId":"q","prompt":"Which?","options":[["a","Option A"],["b","Option B"]]}"#;

/// Talks to the agent in a session. Returns the result of the conversation and the agent's stderr.
async fn talk<T>(conversation: impl AsyncFnOnce(&mut Peer, SessionId) -> T) -> (T, String) {
    let agent = Path::new(env!("CARGO_BIN_EXE_askbridge")).with_file_name("examples").join("acp-agent");
    assert!(agent.exists(), "{} is built by `cargo build --example acp-agent`", agent.display());
    converse(&[agent.to_str().unwrap()], Ends::Pipes, async |peer| {
        let session = peer.open_session().await;
        conversation(peer, session).await
    })
    .await
}

/// Reads the outcomes that the agent reports, one for each question.
fn outcomes(said: &str) -> Vec<Value> {
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn the_agent_reads_the_advertised_capabilities() {
    talk(async |peer, session| {
        let turn = peer.prompt(&session, &[]);
        let capabilities = json!({
            "sandboxagent.dev": { "extensions": { "sessionRequestQuestion": true } },
            "kiro": { "userInput": true },
        });
        let (reason, said) = peer.end(turn).await;
        assert_eq!((reason, outcomes(&said)), (StopReason::EndTurn, vec![capabilities]));
    })
    .await;
}

#[tokio::test]
async fn the_agent_gets_the_answer_of_the_client() {
    talk(async |peer, session| {
        let turn = peer.prompt(&session, &[QUESTION]);
        let (question, responder) = peer.question().await;
        assert_eq!((&question.session_id, &*question.question_id), (&session, "q"));
        assert_eq!(question.options[1], ("b".to_owned(), "Option B".to_owned()));
        let result = json!({ "status": "answered", "answers": [["b"]] });
        responder.respond(result.clone()).unwrap();
        let (reason, said) = peer.end(turn).await;
        assert_eq!((reason, outcomes(&said)), (StopReason::EndTurn, vec![json!({ "result": result })]));
    })
    .await;
}

#[tokio::test]
async fn each_of_several_questions_gets_its_own_answer() {
    talk(async |peer, session| {
        let ids = ["one", "two", "three", "four"];
        let questions = ids.map(|id| json!({ "questionId": id, "prompt": "Which?" }).to_string());
        let turn = peer.prompt(&session, &questions.each_ref().map(String::as_str));
        let mut asked = Vec::new();
        for _ in 0..4 {
            asked.push(peer.question().await);
        }
        for (question, responder) in asked.into_iter().rev() {
            responder.respond(json!({ "status": "answered", "answers": [[question.question_id]] })).unwrap();
        }
        let expected = ids.map(|id| json!({ "result": { "status": "answered", "answers": [[id]] } }));
        assert_eq!(outcomes(&peer.end(turn).await.1), expected);
    })
    .await;
}

#[tokio::test]
async fn the_agent_gets_a_rejection_with_its_reason() {
    talk(async |peer, session| {
        let turn = peer.prompt(&session, &[QUESTION]);
        let (_, responder) = peer.question().await;
        responder.respond(rejected_because("user")).unwrap();
        let (reason, said) = peer.end(turn).await;
        let rejected = json!({ "result": rejected_because("user") });
        assert_eq!((reason, outcomes(&said)), (StopReason::EndTurn, vec![rejected]));

        let turn = peer.prompt(&session, &[QUESTION, QUESTION]);
        let (first, second) = (peer.question().await.1, peer.question().await.1);
        peer.cancel(&session);
        let cancelled = [peer.cancellation().await.request_id, peer.cancellation().await.request_id];
        assert_eq!(cancelled.each_ref(), [first.id(), second.id()]);
        let (reason, said) = peer.end(turn).await;
        let rejected = json!({ "result": rejected_because("cancelled") });
        assert_eq!((reason, outcomes(&said)), (StopReason::Cancelled, vec![rejected.clone(), rejected]));
    })
    .await;
}

#[tokio::test]
async fn an_invalid_question_gets_an_error_from_the_bridge() {
    talk(async |peer, session| {
        let turn = peer.prompt(&session, &[r#"{"questionId":"q","prompt":"Which?","options":[7]}"#]);
        let (_, said) = peer.end(turn).await;
        let [told] = &outcomes(&said)[..] else { panic!("{said}") };
        assert_eq!(told["error"]["code"], -32602, "{told}");
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("invalid question: params.options"), "{message}");
    })
    .await;
}

#[tokio::test]
async fn a_withdrawn_question_without_an_answer_fails_as_cancelled() {
    talk(async |peer, session| {
        let turn = peer.prompt(&session, &[QUESTION, "withdraw"]);
        let (_, responder) = peer.question().await;
        assert_eq!(&peer.cancellation().await.request_id, responder.id());
        let (_, said) = peer.end(turn).await;
        let [told] = &outcomes(&said)[..] else { panic!("{said}") };
        assert_eq!(*told, json!({ "error": { "code": -32800, "message": "the question was withdrawn" } }));
        // The response of the client comes too late.
        drop(responder);
    })
    .await;
}

#[tokio::test]
async fn the_agent_gets_a_rejection_before_its_stdin_ends_when_the_client_disconnects() {
    // Both are kept until the client has disconnected: dropping them would cancel the prompt and answer the question.
    let (_open, stderr) = talk(async |peer, session| {
        let turn = peer.prompt(&session, &[QUESTION]);
        (turn, peer.question().await)
    })
    .await;
    let told = stderr.lines().find_map(|line| line.strip_prefix("told: ")).unwrap();
    let told: Value = serde_json::from_str(told).unwrap();
    assert_eq!(told, json!({ "result": rejected_because("client_gone") }));
}

fn rejected_because(reason: &str) -> Value {
    json!({ "status": "rejected", "_meta": { "askbridge": { "reason": reason } } })
}
