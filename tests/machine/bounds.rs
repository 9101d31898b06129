//! The state of the engine is bounded and is freed again (I6).

use std::time::Duration;

use askbridge::{
    acp::{Action, Bridge, Config, Event, Line, Peer},
    limits,
    wire::frame::Verdict,
};
use bytes::Bytes;

fn question(id: usize, session: usize, text: &str) -> String {
    let params = format!(r#"{{"sessionId":"{session}","prompt":"{text}"}}"#);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"_sandboxagent/session/request_question","params":{params}}}"#
    )
}

fn say(bridge: &mut Bridge, from: Peer, text: &str) -> Vec<Action> {
    let line = Line { bytes: Bytes::from(format!("{text}\n")), whole: true };
    assert_eq!(bridge.judge(from, &line.bytes), Verdict::Wanted);
    bridge.handle(Event::Line(from, line), Duration::ZERO)
}

fn refusal(actions: &[Action]) -> Option<String> {
    match actions {
        [Action::Send(Peer::Agent, error)] => Some(String::from_utf8_lossy(error).into_owned()),
        _ => None,
    }
}

fn bridge() -> Bridge {
    Bridge::new(Config::default())
}

#[test]
fn the_limit_of_a_session_is_freed_with_its_questions() {
    let mut bridge = bridge();
    for round in 0..3 {
        for id in 0..limits::OPEN_PER_SESSION {
            assert_eq!(refusal(&say(&mut bridge, Peer::Agent, &question(id, 0, "?"))), None, "round {round}");
        }
        let refused = refusal(&say(&mut bridge, Peer::Agent, &question(9999, 0, "?"))).expect("one too many");
        assert!(refused.contains("-32602") && refused.contains("too many open questions"), "{refused}");
        assert_eq!(refusal(&say(&mut bridge, Peer::Agent, &question(5000 + round, 1, "?"))), None);
        let cancel = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"0"}}"#;
        drop(say(&mut bridge, Peer::Client, cancel));
        assert_eq!(bridge.open_questions(), round + 1, "only the questions of the other session are open");
    }
}

#[test]
fn all_sessions_together_have_a_limit_of_questions() {
    let mut bridge = bridge();
    for id in 0..limits::OPEN {
        assert_eq!(refusal(&say(&mut bridge, Peer::Agent, &question(id, id, "?"))), None);
    }
    let refused = refusal(&say(&mut bridge, Peer::Agent, &question(9999, 9999, "?"))).expect("one too many");
    assert!(refused.contains("too many open questions"), "{refused}");
}

#[test]
fn the_bytes_of_settled_questions_are_freed() {
    let mut bridge = bridge();
    let options: Vec<_> = (0..60).map(|number| format!("{number}{}", "x".repeat(3900))).collect();
    let params = serde_json::json!({ "sessionId": "s", "prompt": "?", "options": options });
    let large = |id| {
        serde_json::json!({
            "jsonrpc": "2.0", "id": id, "method": "_sandboxagent/session/request_question", "params": params
        })
        .to_string()
    };
    for round in 0..3 {
        let asked = (0..).take_while(|id| refusal(&say(&mut bridge, Peer::Agent, &large(*id))).is_none());
        let opened = asked.count();
        let most = limits::OPEN_BYTES / params.to_string().len();
        assert_eq!(opened, most, "round {round}");
        let cancel = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#;
        drop(say(&mut bridge, Peer::Client, cancel));
    }
}

#[test]
fn only_the_last_settled_questions_are_remembered() {
    let mut bridge = bridge();
    let answer = |id: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"status":"rejected"}}}}"#);
    for id in 0..=limits::SETTLED {
        drop(say(&mut bridge, Peer::Agent, &question(id, 0, "?")));
        drop(say(&mut bridge, Peer::Client, &answer(id)));
    }
    let judge = |id: usize| bridge.judge(Peer::Client, answer(id).as_bytes());
    assert_eq!((judge(0), judge(1)), (Verdict::Ordinary, Verdict::Wanted));
    assert_eq!(judge(limits::SETTLED), Verdict::Wanted);
}

#[test]
fn many_short_options_count_with_their_memory() {
    let mut bridge = bridge();
    let options = vec!["a"; limits::OPTIONS];
    let fields = vec![serde_json::json!({ "question": "?", "options": options }); limits::FIELDS];
    let ask = |id: usize| {
        serde_json::json!({
            "jsonrpc": "2.0", "id": id, "method": "_sandboxagent/session/request_question",
            "params": { "sessionId": id.to_string(), "questions": fields }
        })
        .to_string()
    };
    let opened = (0..).take_while(|id| refusal(&say(&mut bridge, Peer::Agent, &ask(*id))).is_none()).count();
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
    let mut bridge = bridge();
    let answer = br#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    for (length, verdict) in [(limits::SESSION, Verdict::Wanted), (limits::SESSION + 1, Verdict::Ordinary)] {
        let prompted = say(&mut bridge, Peer::Client, &prompt(1, &"x".repeat(length), ""));
        assert_eq!(prompted, [Action::Forward]);
        assert_eq!(bridge.judge(Peer::Agent, answer), verdict, "a name of {length} bytes");
        let line = Line { bytes: Bytes::from_static(answer), whole: true };
        drop(bridge.handle(Event::Line(Peer::Agent, line), Duration::ZERO));
    }
}

#[test]
fn held_prompts_have_a_limit() {
    let mut bridge = bridge();
    drop(say(&mut bridge, Peer::Client, &prompt(0, "0", "")));
    drop(say(&mut bridge, Peer::Agent, &question(0, 0, "?")));
    let large = "x".repeat(limits::HOLD - 200);
    // The first prompt rejects the question; all prompts within the limit wait without a response.
    let held = (1..).take_while(|id| {
        !say(&mut bridge, Peer::Client, &prompt(*id, "0", &large)).contains(&Action::Forward)
    });
    assert_eq!(held.count(), limits::HELD_BYTES / large.len());
}
