//! Cancellation: the messages of the bridge itself to the client, as the SDK reads them.

use agent_client_protocol::{ErrorCode, v1::schema::StopReason};
use serde_json::json;

use crate::peers::peer::talk_to_mock;
use crate::peers::process::Ends;

#[tokio::test]
async fn cancelling_the_turn_withdraws_the_open_question_from_the_client() {
    talk_to_mock(Ends::Pipes, async |peer| {
        let session = peer.open_session().await;
        let turn = peer.prompt(&session, &["Ask a question."]);
        let (_, responder) = peer.question().await;
        peer.cancel(&session);
        assert_eq!(&peer.cancellation().await.request_id, responder.id());
        assert!(responder.cancellation().is_cancelled());
        let said = "I have a question.The question was rejected: cancelled".to_owned();
        assert_eq!(peer.end(turn).await, (StopReason::Cancelled, said));

        // The response of the client comes too late and does not reach the agent.
        drop(responder);
        let turn = peer.prompt(&session, &["Go on."]);
        assert_eq!(peer.end(turn).await, (StopReason::EndTurn, "Go on.".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn a_prompt_rejects_the_open_question_and_is_sent_after_it() {
    talk_to_mock(Ends::Pipes, async |peer| {
        let session = peer.open_session().await;
        let turn = peer.prompt(&session, &["Ask a question."]);
        let (_, responder) = peer.question().await;
        let next = peer.prompt(&session, &["Neither of them."]);
        assert_eq!(&peer.cancellation().await.request_id, responder.id());
        assert_eq!(peer.outcome(turn).await, Ok(StopReason::EndTurn));
        let said = "I have a question.The question was rejected: replied_in_chatNeither of them.";
        assert_eq!(peer.end(next).await, (StopReason::EndTurn, said.to_owned()));
    })
    .await;
}

#[tokio::test]
async fn a_held_prompt_of_a_cancelled_turn_ends_as_cancelled() {
    talk_to_mock(Ends::Pipes, async |peer| {
        let session = peer.open_session().await;
        let turn = peer.prompt(&session, &["Ask a question, and go on forever."]);
        let (_, responder) = peer.question().await;
        let held = peer.prompt(&session, &["Neither of them."]);
        peer.cancellation().await;
        peer.cancel(&session);
        assert_eq!(peer.outcome(held).await, Ok(StopReason::Cancelled));
        assert_eq!(peer.outcome(turn).await, Ok(StopReason::Cancelled));
        // The held prompt never reached the agent, so its text is not repeated.
        let said = "I have a question.The question was rejected: replied_in_chat";
        assert_eq!(peer.said().concat(), said);
        drop(responder);
    })
    .await;
}

#[tokio::test]
async fn a_held_prompt_that_is_cancelled_by_its_id_fails_as_cancelled() {
    talk_to_mock(Ends::Pipes, async |peer| {
        let session = peer.open_session().await;
        let turn = peer.prompt(&session, &["Ask a question, and go on forever."]);
        let (_, responder) = peer.question().await;
        let held = peer.prompt(&session, &["Neither of them."]);
        held.cancel().unwrap();
        let error = peer.outcome(held).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::REQUEST_CANCELLED);
        assert_eq!(error.data, None);
        peer.cancel(&session);
        assert_eq!(peer.outcome(turn).await, Ok(StopReason::Cancelled));
        drop(responder);
    })
    .await;
}

#[tokio::test]
async fn an_answer_to_a_withdrawn_question_reaches_the_agent() {
    talk_to_mock(Ends::Pipes, async |peer| {
        let session = peer.open_session().await;
        let turn = peer.prompt(&session, &["Ask a question and withdraw it."]);
        let (_, responder) = peer.question().await;
        assert_eq!(&peer.cancellation().await.request_id, responder.id());
        responder.respond(json!({ "status": "answered", "answers": [["option-a"]] })).unwrap();
        let said = "I have a question.You chose: option-a".to_owned();
        assert_eq!(peer.end(turn).await, (StopReason::EndTurn, said));
    })
    .await;
}
