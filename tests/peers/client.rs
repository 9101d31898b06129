//! The SDK's client and the mock agent.

use agent_client_protocol::v1::schema::{ListSessionsRequest, LoadSessionRequest, SessionUpdate, StopReason};
use serde_json::{Value, json};

use crate::peers::peer::{Peer, Question, talk_to_mock};
use crate::peers::process::Ends;

fn answer(values: &[&str]) -> Value {
    json!({ "status": "answered", "answers": [values] })
}

#[tokio::test]
async fn the_client_reads_the_capabilities_of_the_agent() {
    talk_to_mock(Ends::Pipes, async |peer| {
        let response = peer.initialize().await;
        let capabilities = response.agent_capabilities;
        assert!(capabilities.load_session);
        assert!(capabilities.prompt_capabilities.image && capabilities.prompt_capabilities.audio);
        assert!(capabilities.session_capabilities.list.is_some());
        assert!(capabilities.session_capabilities.close.is_some());
        assert!(capabilities.session_capabilities.resume.is_some());
        let extension = json!({ "sandboxagent.dev": { "extensions": { "sessionRequestQuestion": true } } });
        assert_eq!(json!(capabilities.meta), extension);
        assert_eq!(response.agent_info.unwrap().name, "askbridge-mock-agent");
    })
    .await;
}

#[tokio::test]
async fn a_turn_streams_its_updates_and_ends() {
    talk_to_mock(Ends::Pipes, async |peer| {
        let session = peer.open_session().await;
        let turn = peer.prompt(&session, &["Say this back, piece by piece, as a model does."]);
        assert_eq!(peer.outcome(turn).await, Ok(StopReason::EndTurn));
        let said = peer.said();
        assert_eq!(said.concat(), "Say this back, piece by piece, as a model does.");
        assert_eq!(said.len(), 3);
    })
    .await;
}

#[tokio::test]
async fn a_flood_of_updates_is_complete_and_in_order() {
    talk_to_mock(Ends::Pipes, async |peer| {
        let session = peer.open_session().await;
        let turn = peer.prompt(&session, &["flood 1000"]);
        let (reason, said) = peer.end(turn).await;
        assert_eq!(reason, StopReason::EndTurn);
        let expected: String = (1..=1000).map(|n| format!("update {n}\n")).collect();
        assert_eq!(said, format!("{expected}I do as I am told."));
    })
    .await;
}

#[tokio::test]
async fn sessions_are_listed_and_loaded_with_their_history() {
    talk_to_mock(Ends::Pipes, async |peer| {
        let session = peer.open_session().await;
        let turn = peer.prompt(&session, &["Remember this."]);
        let (_, said) = peer.end(turn).await;
        assert_eq!(said, "Remember this.");

        let listed = peer.call(ListSessionsRequest::new()).await.sessions;
        assert_eq!(listed.len(), 1);
        assert_eq!(listed[0].session_id, session);
        assert_eq!(listed[0].cwd.to_str(), Some("/work"));

        peer.call(LoadSessionRequest::new(session.clone(), "/work")).await;
        let updates = peer.updates();
        assert!(updates.iter().all(|update| update.session_id == session));
        assert!(matches!(updates[0].update, SessionUpdate::UserMessageChunk(_)), "{updates:?}");
        assert!(matches!(updates[1].update, SessionUpdate::AgentMessageChunk(_)), "{updates:?}");
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_turn_ends_as_cancelled() {
    talk_to_mock(Ends::Pipes, async |peer| {
        let session = peer.open_session().await;
        let turn = peer.prompt(&session, &["Work forever."]);
        peer.cancel(&session);
        assert_eq!(peer.end(turn).await.0, StopReason::Cancelled);
    })
    .await;
}

/// Answers one question and rejects another.
async fn ask_and_answer(peer: &mut Peer) {
    let session = peer.open_session().await;
    let turn = peer.prompt(&session, &["Ask a question."]);
    let (Question { session_id, question_id, prompt, options, .. }, responder) = peer.question().await;
    assert_eq!((session_id, &*question_id, &*prompt), (session.clone(), "q-1", "Choose one option"));
    let pair = |value: &str, label: &str| (value.to_owned(), label.to_owned());
    assert_eq!(options, [pair("option-a", "Option A"), pair("option-b", "Option B")]);
    responder.respond(answer(&["option-b"])).unwrap();
    let said = "I have a question.You chose: option-b".to_owned();
    assert_eq!(peer.end(turn).await, (StopReason::EndTurn, said));

    let turn = peer.prompt(&session, &["Ask a question."]);
    let (_, responder) = peer.question().await;
    responder
        .respond(json!({ "status": "rejected", "_meta": { "askbridge": { "reason": "user" } } }))
        .unwrap();
    let said = "I have a question.The question was rejected: user".to_owned();
    assert_eq!(peer.end(turn).await, (StopReason::EndTurn, said));
}

#[tokio::test]
async fn a_question_is_answered_and_rejected_over_pipes() {
    talk_to_mock(Ends::Pipes, ask_and_answer).await;
}

#[tokio::test]
async fn a_question_is_answered_and_rejected_over_sockets() {
    talk_to_mock(Ends::Sockets, ask_and_answer).await;
}

#[tokio::test]
async fn each_of_several_open_questions_gets_its_own_answer() {
    talk_to_mock(Ends::Pipes, async |peer| {
        let session = peer.open_session().await;
        let turn = peer.prompt(&session, &["Ask several questions."]);
        let (first, second, third) = (peer.question().await, peer.question().await, peer.question().await);
        for (question, responder) in [second, third, first] {
            responder.respond(answer(&[&format!("for {}", question.question_id)])).unwrap();
        }
        let said =
            "I have a question.[q-2] You chose: for q-2[q-3] You chose: for q-3[q-1] You chose: for q-1";
        assert_eq!(peer.end(turn).await, (StopReason::EndTurn, said.to_owned()));
    })
    .await;
}

#[tokio::test]
async fn a_question_of_several_fields_is_answered_field_by_field() {
    talk_to_mock(Ends::Pipes, async |peer| {
        let session = peer.open_session().await;
        let turn = peer.prompt(&session, &["Ask a question of three fields."]);
        let (question, responder) = peer.question().await;
        let headers: Vec<_> = question.questions.iter().map(|field| &field["header"]).collect();
        assert_eq!(headers, ["Database", "Features", "Notes"]);
        // Another shape than the canonical one, with labels: the bridge translates it.
        let content = json!({ "q0": "SQLite", "q1": ["Auth", "Search"], "q2": "no" });
        responder.respond(json!({ "action": "accept", "content": content })).unwrap();
        let (_, said) = peer.end(turn).await;
        let said = said.strip_prefix("I have a question.").unwrap();
        assert_eq!(said, "You answered: Database: SQLite; Features: Auth, Search; Notes: no");
    })
    .await;
}
