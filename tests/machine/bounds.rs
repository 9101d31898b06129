//! What the core keeps has its bounds, and is given back (I6).

use askbridge::limits;
use askbridge_core::{
    acp::{Bridge, Config, Tier},
    desk::Notice,
    engine::{Output, Peer},
};

use crate::support::stage::{Out, Stage, arrived, lines};

fn question(id: usize, session: usize, text: &str) -> String {
    let params = format!(r#"{{"sessionId":"{session}","prompt":"{text}"}}"#);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"_sandboxagent/session/request_question","params":{params}}}"#
    )
}

/// Returns the error that an agent gets for a question.
fn refusal(out: &[Out]) -> Option<String> {
    match out {
        [Out::Bytes(Peer::Agent, error)] => Some(String::from_utf8_lossy(error).into_owned()),
        _ => None,
    }
}

/// Returns a bridge whose client takes native requests.
fn stage() -> Stage {
    Stage::new(Bridge::new(Config { tier: Some(Tier::Extension), ..Config::default() }))
}

#[test]
fn the_limit_of_a_session_is_freed_with_its_questions() {
    let mut stage = stage();
    for round in 0..3 {
        for id in 0..limits::OPEN_PER_SESSION {
            assert_eq!(refusal(&stage.line(Peer::Agent, &question(id, 0, "?"))), None, "round {round}");
        }
        let refused = refusal(&stage.line(Peer::Agent, &question(9999, 0, "?"))).expect("one too many");
        assert!(refused.contains("-32602") && refused.contains("too many open questions"), "{refused}");
        assert_eq!(refusal(&stage.line(Peer::Agent, &question(5000 + round, 1, "?"))), None);
        let cancel = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"0"}}"#;
        drop(stage.line(Peer::Client, cancel));
        assert_eq!(stage.bridge.open_questions(), round + 1, "only those of the other session are open");
    }
}

#[test]
fn all_sessions_together_have_a_limit_of_questions() {
    let mut stage = stage();
    for id in 0..limits::OPEN {
        assert_eq!(refusal(&stage.line(Peer::Agent, &question(id, id, "?"))), None);
    }
    let refused = refusal(&stage.line(Peer::Agent, &question(9999, 9999, "?"))).expect("one too many");
    assert!(refused.contains("too many open questions"), "{refused}");
}

#[test]
fn the_bytes_of_settled_questions_are_freed() {
    let mut stage = stage();
    let options: Vec<_> = (0..60).map(|number| format!("{number}{}", "x".repeat(3900))).collect();
    let params = serde_json::json!({ "sessionId": "s", "prompt": "?", "options": options });
    let large = |id| {
        serde_json::json!({
            "jsonrpc": "2.0", "id": id, "method": "_sandboxagent/session/request_question", "params": params
        })
        .to_string()
    };
    let mut most = None;
    for round in 0..3 {
        let asked = (0..).take_while(|id| refusal(&stage.line(Peer::Agent, &large(*id))).is_none());
        let opened = asked.count();
        most.get_or_insert(opened);
        assert_eq!(Some(opened), most, "round {round}");
        assert!((4..=limits::OPEN_BYTES / params.to_string().len()).contains(&opened), "{opened} questions");
        let cancel = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#;
        drop(stage.line(Peer::Client, cancel));
    }
}

#[test]
fn only_the_last_settled_questions_are_remembered() {
    let mut stage = stage();
    let answer = |id: usize| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"status":"answered","answers":[["a"]]}}}}"#)
    };
    for id in 0..=limits::SETTLED {
        drop(stage.line(Peer::Agent, &question(id, 0, "?")));
        drop(stage.line(Peer::Client, &answer(id)));
    }
    let mut goes_on = |id: usize| !lines(&stage.line(Peer::Client, &answer(id)), Peer::Agent).is_empty();
    assert!(goes_on(0), "it is forgotten");
    assert!(!goes_on(1) && !goes_on(limits::SETTLED), "it is one response too many");
}

#[test]
fn many_short_options_count_with_their_memory() {
    let mut stage = stage();
    let options = vec!["a"; limits::OPTIONS];
    let fields = vec![serde_json::json!({ "question": "?", "options": options }); limits::FIELDS];
    let ask = |id: usize| {
        serde_json::json!({
            "jsonrpc": "2.0", "id": id, "method": "_sandboxagent/session/request_question",
            "params": { "sessionId": id.to_string(), "questions": fields }
        })
        .to_string()
    };
    let opened = (0..).take_while(|id| refusal(&stage.line(Peer::Agent, &ask(*id))).is_none()).count();
    let json = ask(0).len();
    assert!(opened > 2 && opened * json < limits::OPEN_BYTES / 10, "{opened} questions of {json} bytes");
}

fn prompt(id: usize, session: &str, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"{session}","prompt":"{text}"}}}}"#
    )
}

#[test]
fn a_turn_in_a_session_with_an_overlong_name_is_not_tracked() {
    let mut stage = stage();
    let asks = r#"{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"mode":"form","message":"?","requestId":1,"requestedSchema":{"type":"object","properties":{"a":{"type":"string","enum":["a"]}}}}}"#;
    for (length, is_followed) in [(limits::SESSION, true), (limits::SESSION + 1, false)] {
        let session = "x".repeat(length);
        let prompted = stage.line(Peer::Client, &prompt(1, &session, ""));
        assert_eq!(lines(&prompted, Peer::Agent).len(), 1);
        // Whether the turn is followed can be seen by the session of a question that belongs to it.
        let asked = stage.line(Peer::Agent, asks);
        let found = asked.iter().find_map(|out| match out {
            Out::Told(Output::Notice(Notice::Opened(record))) => Some(record.question.session.is_some()),
            _ => None,
        });
        assert_eq!(found, Some(is_followed), "a name of {length} bytes: {asked:?}");
        drop(stage.line(Peer::Client, r#"{"jsonrpc":"2.0","id":0,"result":{"action":"cancel"}}"#));
        drop(stage.line(Peer::Agent, r#"{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}"#));
        stage = self::stage();
    }
}

#[test]
fn held_prompts_have_a_limit() {
    let mut stage = stage();
    drop(stage.line(Peer::Client, &prompt(0, "0", "")));
    drop(stage.line(Peer::Agent, &question(0, 0, "?")));
    let large = "x".repeat(limits::HOLD - 200);
    // The first prompt rejects the question; all prompts within the limit wait without a response.
    let held = (1..).take_while(|id| {
        arrived(&stage.line(Peer::Client, &prompt(*id, "0", &large)), Peer::Agent).len() < large.len()
    });
    assert_eq!(held.count(), limits::HELD_BYTES / large.len());
}

#[test]
fn questions_that_are_taken_back_count_until_the_agent_has_read_so() {
    let mut stage = stage();
    stage.agent_reads = false;
    let questions =
        vec![serde_json::json!({ "question": "?", "options": vec!["a"; limits::OPTIONS] }); limits::FIELDS];
    let params = serde_json::json!({ "sessionId": "s", "questions": questions });
    let asks = serde_json::json!({
        "jsonrpc": "2.0", "id": 7, "method": "_sandboxagent/session/request_question", "params": params
    })
    .to_string();
    let takes_back = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}"#;
    // Rejected by the client, so that it need not be waited for.
    let rejects = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"not known"}}"#;
    let mut most = 0;
    for _ in 0..100 {
        drop(stage.line(Peer::Agent, &asks));
        drop(stage.line(Peer::Client, rejects));
        drop(stage.line(Peer::Agent, takes_back));
        most = most.max(stage.bridge.held_bytes());
    }
    assert!(most > limits::OPEN_BYTES / 2, "{most} bytes: it tries nothing");
    assert!(most < limits::OPEN_BYTES + limits::OWN_LINES, "{most} bytes");
    drop(stage.agent_reads_on());
    assert_eq!(stage.bridge.held_bytes(), 0, "all is given back");
    assert!(refusal(&stage.line(Peer::Agent, &asks)).is_none(), "there is room again");
}
