//! The questions of agents and the responses of clients in a random conversation: valid, invalid and unusual.
//! The course of the conversation is left to `conversation.rs`.

use std::ops::Range;

use askbridge_core::acp::Tier;
use serde_json::{Value, json};

/// The number of ways to ask a question, which are the first ones.
const QUESTIONS: usize = 16;
/// The ways that ask for a permission.
pub(crate) const PERMISSIONS: Range<usize> = QUESTIONS..QUESTIONS + 4;
/// The number of ways to ask.
pub(crate) const COUNT: usize = PERMISSIONS.end;
/// The number of kinds of clients.
pub(crate) const CLIENTS: usize = 8;

/// Returns the capabilities of a client, and the presentation that the user forces, if any.
pub(crate) fn client(kind: usize) -> (Value, Option<Tier>) {
    let native = |knows: bool| json!({ "_meta": { "sandboxagent.dev": { "extensions": { "requestQuestion": knows } } } });
    match kind {
        0 => (json!({ "elicitation": { "form": {} } }), None),
        1 => (native(true), None),
        2 => (native(false), None),
        3 => (json!({ "_meta": { "kiro": { "userInput": true } }, "elicitation": { "form": {} } }), None),
        4 => (json!({}), Some(Tier::Permission)),
        5 => (json!({}), Some(Tier::None)),
        6 => (json!({}), Some(Tier::Elicitation)),
        _ => (json!({}), None),
    }
}

/// Returns a request that gets exactly one response from any client: a question, a permission, or a request that is
/// refused. The options of a permission have IDs that end with its number, so that each is offered once.
pub(crate) fn ask(how: usize, session: u8, number: usize) -> (&'static str, Value) {
    const NATIVE: &str = "_sandboxagent/session/request_question";
    const PERMISSION: &str = "session/request_permission";
    let session = session.to_string();
    if PERMISSIONS.contains(&how) {
        return (PERMISSION, permission(how - QUESTIONS, &session, number));
    }
    let pairs = json!([["a", "Option A"], ["b", "Option B"]]);
    let of = json!([{ "const": "a", "title": "Option A" }, { "const": "b", "title": "Option B" }]);
    let form = |properties: Value| {
        json!({ "sessionId": session, "mode": "form", "message": "?",
            "requestedSchema": { "type": "object", "properties": properties } })
    };
    let claude = || {
        form(json!({
            "question_0": { "type": "string", "oneOf": of }, "question_0_custom": { "type": "string" },
            "question_1": { "type": "array", "items": { "anyOf": of } },
        }))
    };
    match how {
        0 | 1 => (NATIVE, json!({ "sessionId": session, "prompt": "?", "options": pairs })),
        2 => (NATIVE, json!({ "sessionId": session, "prompt": 5, "options": pairs })),
        3 | 4 => ("elicitation/create", claude()),
        5 => {
            let mut form = form(json!({ "q": { "type": "integer", "minimum": 1 } }));
            form["requestedSchema"]["required"] = json!(["q"]);
            ("elicitation/create", form)
        }
        6 => {
            let mut form = claude();
            form["_meta"] = json!({ "codex": { "delivery": "async" } });
            ("elicitation/create", form)
        }
        7 => ("session/elicitation", claude()),
        8 => {
            let questions = json!([{ "question": "?", "multiSelect": true, "options": [{ "label": "A" }, { "label": "B" }] }]);
            let options = json!([{ "optionId": "proceed_once", "name": "Submit", "kind": "allow_once" }]);
            let tool_call = json!({ "toolCallId": "t", "_meta": { "qwenQuestions": questions } });
            (PERMISSION, json!({ "sessionId": session, "toolCall": tool_call, "options": options }))
        }
        9 => {
            let options = json!([{ "optionId": "q0_opt_0", "name": "A", "kind": "allow_once" },
                { "optionId": "q0_skip", "name": "Skip", "kind": "reject_once" }]);
            (
                PERMISSION,
                json!({ "sessionId": session, "toolCall": { "toolCallId": "t" }, "options": options }),
            )
        }
        10 => {
            let options = json!([{ "id": "a", "label": "A" }, { "id": "b" }]);
            let questions = json!([{ "id": "d", "prompt": "?", "options": options, "allowMultiple": true }]);
            ("cursor/ask_question", json!({ "toolCallId": "t", "questions": questions }))
        }
        11 => ("cursor/ask_question", json!({ "questions": [{ "id": "d", "prompt": "?" }] })),
        12 => {
            ("_x.ai/ask_user_question", json!({ "sessionId": session, "questions": [{ "question": "?" }] }))
        }
        13 => ("_kiro/userInput", json!({ "sessionId": session, "question": "?", "options": ["A", "B"] })),
        14 | 15 => ask_user(how, &session, number),
        _ => panic!("there is no way {how} to ask"),
    }
}

/// Returns a request of an extension that is known by the end of its name.
fn ask_user(how: usize, session: &str, number: usize) -> (&'static str, Value) {
    if how == 14 {
        return (
            "_agentao.cn/ask_user",
            json!({ "sessionId": session, "question": "?", "options": ["A", "B"] }),
        );
    }
    let options = json!([{ "label": "A", "description": "" }, { "label": "B", "description": "" }]);
    let asked = json!({ "header": "H", "question": "?", "multiSelect": true, "options": options });
    ("_hrns/ask_user", json!({ "requestId": number.to_string(), "questions": [asked] }))
}

/// Returns the parameters of a permission: a command, a plan, one of version 2, or one that cannot be refused.
fn permission(how: usize, session: &str, number: usize) -> Value {
    let option =
        |id: &str, kind: &str| json!({ "optionId": format!("{id}-{number}"), "name": id, "kind": kind });
    let command =
        json!({ "toolCallId": "t", "title": "`make`", "kind": "execute", "rawInput": { "command": "make" } });
    let refuse = option("no", "reject_once");
    match how {
        0 => {
            let options = [option("always", "allow_always"), option("allow", "allow_once"), refuse];
            json!({ "sessionId": session, "toolCall": command, "options": options })
        }
        1 => {
            let (plan, auto) = (option("allow-plan", "allow_once"), option("allow-auto", "allow_once"));
            let tool_call = json!({ "toolCallId": "t", "title": "Go?", "kind": "switch_mode", "rawInput": { "plan": "1." } });
            let options = [plan, auto, option("never", "reject_always")];
            json!({ "sessionId": session, "toolCall": tool_call, "options": options })
        }
        2 => {
            let subject = json!({ "type": "command", "command": "make", "cwd": "/" });
            let options = [refuse, option("allow", "allow_once")];
            json!({ "sessionId": session, "title": "Go?", "subject": subject, "options": options })
        }
        _ => json!({ "sessionId": session, "toolCall": command, "options": [option("allow", "allow_once")] }),
    }
}

/// Returns a client's response to this request: a result or an error.
pub(crate) fn answer(request: &Value, how: usize) -> String {
    let choose = |answers: &[&str]| answers[how % answers.len()].to_owned();
    match request["method"].as_str() {
        Some("session/request_permission") => {
            let options = request["params"]["options"].as_array().expect("options");
            match options.get(how) {
                Some(option) => {
                    let id = &option["optionId"];
                    format!(r#""result":{{"outcome":{{"outcome":"selected","optionId":{id}}}}}"#)
                }
                None => choose(&[
                    r#""result":{"outcome":{"outcome":"cancelled"}}"#,
                    r#""result":{"outcome":{"outcome":"selected","optionId":"allow"}}"#,
                    r#""result":{"outcome":{"outcome":"selected","optionId":"askbridge-1-0"}}"#,
                    r#""result":{}"#,
                    r#""error":{"code":-32601,"message":"Method not found"}"#,
                    r#""error":{"code":-32603,"message":"Internal error"}"#,
                ]),
            }
        }
        _ => choose(&[
            r#""result":{"status":"answered","answers":[["a"]]}"#,
            r#""result":{"status":"rejected"}"#,
            r#""result":{"action":"accept","content":{"x":"Option A"}}"#,
            r#""result":{"action":"accept","content":{"question_0":"a","question_1":["b"],"q":3,"q0":"A","d":["a"]}}"#,
            r#""result":{"action":"accept","content":{"question_0":"c","q":0}}"#,
            r#""result":{"action":"decline"}"#,
            r#""result":{"action":"answered","answer":"A"}"#,
            r#""result":{"outcome":"cancelled"}"#,
            r#""result":{"who":"knows"}"#,
            r#""error":{"code":-32601,"message":"Method not found"}"#,
            r#""error":{"code":-32602,"message":"Invalid params"}"#,
            r#""error":{"code":-32603,"message":"Internal error"}"#,
        ]),
    }
}
