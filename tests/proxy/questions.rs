//! The settling table under a conductor: which peer gets what, in which envelope.

use crate::proxy::conductor::{Conductor, PROMPT, SPELLINGS, cancel, prompt};

const Q: &str = "\"q\"";

#[test]
fn the_first_answer_of_the_client_reaches_the_agent_in_the_canonical_shape() {
    for spelling in SPELLINGS {
        for id in [Q, "0", r#""caf\u00e9""#] {
            let mut conductor = Conductor::new(spelling);
            conductor.question(id);
            conductor.says(&format!(r#"{{"jsonrpc":"2.0","result":{{"values":["B"]}},"id":{id}}}"#));
            conductor.hears(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"status":"answered","answers":[["b"]]}}}}"#
            ));
            conductor.says(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"values":["A"]}}}}"#));
            conductor.leaves();
        }
    }
}

#[test]
fn a_canonical_answer_passes_as_it_is() {
    let mut conductor = Conductor::new("proxy");
    conductor.question(Q);
    conductor.passes(r#"{"jsonrpc":"2.0","id":"q", "result" :{"status":"answered","answers":[["a"]]}}"#);
    conductor.leaves();
}

#[test]
fn a_cancelled_turn_rejects_its_questions_behind_the_notification() {
    for spelling in SPELLINGS {
        let mut conductor = Conductor::new(spelling);
        conductor.prompt("\"p\"");
        conductor.question(Q);
        conductor.says(r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#);
        conductor.hears_told_to_agent("session/cancel", r#"{"sessionId":"s"}"#);
        conductor.hears_rejection(Q, "cancelled");
        conductor.hears(&cancel(Q));
        // What the client says to the cancellation is not for the agent.
        conductor.says(r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32800,"message":"cancelled"}}"#);
        conductor.passes(r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"cancelled"}}"#);
        conductor.leaves();
    }
}

#[test]
fn a_prompt_instead_of_an_answer_waits_for_the_turn_and_goes_out_in_the_envelope() {
    for spelling in SPELLINGS {
        let mut conductor = Conductor::new(spelling);
        conductor.prompt("\"p\"");
        conductor.question(Q);
        conductor.says(&prompt("\"instead\""));
        conductor.hears_rejection(Q, "replied_in_chat");
        conductor.hears(&cancel(Q));
        conductor.passes(r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}"#);
        conductor.hears_for_agent("\"instead\"", "session/prompt", PROMPT);
        conductor.leaves();
    }
}

#[test]
fn a_held_prompt_that_is_cancelled_never_goes_out() {
    let mut conductor = Conductor::new("proxy");
    conductor.prompt("\"p\"");
    conductor.question(Q);
    conductor.says(&prompt("\"held\""));
    conductor.hears_rejection(Q, "replied_in_chat");
    conductor.hears(&cancel(Q));
    conductor.says(&cancel("\"held\""));
    conductor.hears(
        r#"{"jsonrpc":"2.0","id":"held","error":{"code":-32800,"message":"the prompt was cancelled"}}"#,
    );
    conductor.passes(r#"{"jsonrpc":"2.0","id":"p","result":{"stopReason":"end_turn"}}"#);
    conductor.leaves();
}

#[test]
fn a_closed_session_rejects_its_questions_before_the_agent_hears_of_it() {
    let mut conductor = Conductor::new("_proxy");
    conductor.question(Q);
    conductor.says(r#"{"jsonrpc":"2.0","id":"c","method":"session/close","params":{"sessionId":"s"}}"#);
    conductor.hears_rejection(Q, "session_closed");
    conductor.hears(&cancel(Q));
    conductor.hears_for_agent("\"c\"", "session/close", r#"{"sessionId":"s"}"#);
    conductor.leaves();
}

#[test]
fn a_question_that_the_agent_takes_back_may_still_be_answered() {
    for spelling in SPELLINGS {
        let mut conductor = Conductor::new(spelling);
        conductor.question(Q);
        conductor.passes(&cancel(Q));
        conductor.passes(r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32800,"message":"as you wish"}}"#);
        conductor.leaves();
    }
}

#[test]
fn a_question_that_the_agent_takes_back_is_an_error_after_two_seconds() {
    let mut conductor = Conductor::new("proxy");
    conductor.question(Q);
    conductor.passes(&cancel(Q));
    conductor.hears(
        r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32800,"message":"the question was withdrawn"}}"#,
    );
    conductor.says(r#"{"jsonrpc":"2.0","id":"q","result":{"status":"rejected"}}"#);
    conductor.leaves();
}

#[test]
fn a_question_without_an_answer_in_time_is_rejected_and_a_late_answer_is_dropped() {
    for spelling in SPELLINGS {
        let mut conductor = Conductor::with(spelling, &["--timeout", "100ms"]);
        conductor.question(Q);
        conductor.hears_rejection(Q, "timeout");
        conductor.hears(&cancel(Q));
        conductor.says(r#"{"jsonrpc":"2.0","id":"q","result":{"values":["a"]}}"#);
        conductor.leaves();
    }
}

#[test]
fn a_question_that_is_none_is_an_error_to_the_agent() {
    let mut conductor = Conductor::new("proxy");
    conductor.agent_asks(Q, crate::proxy::conductor::QUESTION, "[]");
    let answer = conductor.process.expect("an error", |_| true);
    assert!(answer.starts_with(r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32602,"#), "{answer}");
    conductor.leaves();
}

#[test]
fn a_form_is_shown_as_a_prompt_and_answered_in_the_agents_words() {
    let mut conductor = Conductor::with("proxy", &["--client-questions", "auto"]);
    conductor.says(
        r#"{"jsonrpc":"2.0","id":"f","method":"proxy/successor","params":{"method":"elicitation/create","params":{"sessionId":"s","toolCallId":"t","mode":"form","message":"Which?","requestedSchema":{"type":"object","properties":{"db":{"type":"string","title":"Which?","enum":["A","B"]}}}}}}"#,
    );
    conductor.hears(
        r#"{"jsonrpc":"2.0","id":"askbridge-3","method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"askbridge-prompt-2","title":"Which?","kind":"other"},"options":[{"optionId":"askbridge-2-elsewhere","name":"Answer elsewhere","kind":"allow_once"},{"optionId":"askbridge-2-0","name":"A","kind":"allow_once"},{"optionId":"askbridge-2-1","name":"B","kind":"allow_once"},{"optionId":"askbridge-2-other","name":"None of these: answer elsewhere","kind":"allow_once"},{"optionId":"askbridge-2-skip","name":"Skip","kind":"reject_once"}]}}"#,
    );
    conductor.says(r#"{"jsonrpc":"2.0","id":"askbridge-3","result":{"outcome":{"outcome":"selected","optionId":"askbridge-2-1"}}}"#);
    conductor.hears(r#"{"jsonrpc":"2.0","id":"f","result":{"action":"accept","content":{"db":"B"}}}"#);
    conductor.leaves();
}
