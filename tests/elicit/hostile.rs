//! Servers that mean harm: floods of questions, huge lines, IDs that are not theirs.

use askbridge_core::{
    desk::Notice,
    engine::{self, Output, Peer},
    limits,
    mcp::{Bridge, Config, Core, ToolName},
};
use serde_json::json;

use crate::support::stage::{Out, Stage};

fn stage(gated: &[&str]) -> Stage<Core> {
    let common = engine::Config { name: "b".parse().ok(), ..engine::Config::default() };
    let gated = gated.iter().map(|tool| ToolName::new(tool)).collect();
    Stage::new(Bridge::new(Config { common, gated, ..Config::default() }))
}

fn opened(out: &[Out]) -> usize {
    out.iter().filter(|out| matches!(out, Out::Told(Output::Notice(Notice::Opened(_))))).count()
}

fn to(peer: Peer, out: &[Out]) -> String {
    let bytes = out.iter().filter_map(|out| match out {
        Out::Bytes(at, bytes) if *at == peer => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    });
    bytes.collect()
}

#[test]
fn ten_thousand_questions_have_ten_thousand_responses_and_few_are_open() {
    let mut stage = stage(&[]);
    let (mut open, mut refused) = (0, 0);
    for id in 0..10_000 {
        let params = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": { "a": { "type": "string" } } } });
        let out = stage.line(
            Peer::Agent,
            &json!({ "id": id, "method": "elicitation/create", "params": params }).to_string(),
        );
        open += opened(&out);
        refused += usize::from(to(Peer::Agent, &out).contains("too many open questions"));
        assert_eq!(to(Peer::Client, &out), "");
    }
    assert_eq!((open, refused), (limits::OPEN_PER_SESSION, 10_000 - limits::OPEN_PER_SESSION));
}

#[test]
fn lines_of_a_hundred_megabytes_pass_and_ask_nothing() {
    let mut stage = stage(&["rm"]);
    for beginning in [
        &br#"{"id":1,"method":"elicitation/create","params":{"message":""#[..],
        br#"{"id":1,"result":{"resultType":"input_required","x":""#,
        br#"{"id":1,"error":{"code":-32042,"message":""#,
    ] {
        stage.line(Peer::Client, r#"{"id":1,"method":"tools/call","params":{"name":"ls"}}"#);
        let mut left = 0;
        for part in std::iter::once(beginning.to_vec()).chain((0..100).map(|_| vec![b'x'; 1 << 20])) {
            let out = stage.receive(Peer::Agent, &part);
            assert_eq!(opened(&out), 0);
            left += to(Peer::Client, &out).len();
        }
        left += to(Peer::Client, &stage.receive(Peer::Agent, b"\"}}\n")).len();
        assert_eq!(left, beginning.len() + (100 << 20) + 4);
    }
    // What cannot be held cannot be shown, and is not called.
    let mut left = 0;
    let begins = br#"{"id":2,"method":"tools/call","params":{"name":"rm","arguments":{"a":""#;
    for part in std::iter::once(begins.to_vec()).chain((0..100).map(|_| vec![b'x'; 1 << 20])) {
        left += to(Peer::Agent, &stage.receive(Peer::Client, &part)).len();
    }
    let out = stage.receive(Peer::Client, b"\"}}}\n");
    assert_eq!(left + to(Peer::Agent, &out).len(), 0);
}

#[test]
fn a_server_answers_neither_itself_nor_for_the_host() {
    let mut stage = stage(&["rm"]);
    let asks = |id: &str| json!({ "id": id, "method": "elicitation/create", "params": { "message": "?", "requestedSchema": { "type": "object", "properties": {} } } });
    stage.line(Peer::Client, r#"{"id":"h","method":"tools/call","params":{"name":"rm"}}"#);
    for id in ["h", "s", "askbridge-1", "askbridge-2"] {
        let out = stage.line(Peer::Agent, &asks(id).to_string());
        assert_eq!(opened(&out), 1);
        // Its own response is one to the host, which ignores it.
        let out = stage.line(Peer::Agent, &json!({ "id": id, "result": { "action": "accept" } }).to_string());
        assert_eq!(to(Peer::Agent, &out), "", "{id}");
    }
    // The permission is the host's to wait for: no line of the server gives it.
    let out = stage.line(
        Peer::Agent,
        &json!({ "method": "notifications/cancelled", "params": { "requestId": "h" } }).to_string(),
    );
    assert_eq!(to(Peer::Agent, &out), "");
    assert_eq!(stage.bridge.take_changes().map(|changes| changes.questions.len()), Some(5));
}

#[test]
fn a_call_that_goes_on_and_is_too_long_to_hold_arrives_all_the_same() {
    let mut stage = stage(&[]);
    let declares = r#""_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#;
    stage.line(
        Peer::Client,
        &format!(r#"{{"id":1,"method":"tools/call","params":{{"name":"x",{declares}}}}}"#),
    );
    let form = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": { "a": { "type": "string" } } } });
    let asks = json!({ "k": { "method": "elicitation/create", "params": form } });
    let needs = json!({ "resultType": "input_required", "requestState": "s", "inputRequests": asks });
    assert_eq!(opened(&stage.line(Peer::Agent, &json!({ "id": 1, "result": needs }).to_string())), 1);
    let begins = r#"{"id":2,"method":"tools/call","params":{"name":"x","requestState":"s","inputResponses":{"k":{"action":"accept","content":{"a":""#;
    let mut left = 0;
    let parts = std::iter::once(begins.as_bytes().to_vec()).chain((0..3).map(|_| vec![b'x'; limits::HOLD]));
    for part in parts.chain([b"\"}}}}}\n".to_vec()]) {
        left += to(Peer::Agent, &stage.receive(Peer::Client, &part)).len();
    }
    assert_eq!(left, begins.len() + 3 * limits::HOLD + 7);
    let out = stage.line(Peer::Agent, r#"{"id":2,"result":{}}"#);
    assert_eq!(to(Peer::Client, &out), "{\"id\":2,\"result\":{}}\n");
}
