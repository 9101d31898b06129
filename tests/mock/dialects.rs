//! The mock agent's requests in each dialect and its report on every outcome, with one file each in
//! `fixtures/dialects`. `UPDATE=1 cargo test --test suites mock::` writes the files.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{mock::peer::Client, support::golden};

/// A prompt and the responses that are tried; a response has one line for each request of the turn.
pub(crate) type Case<'a> = (&'a str, &'a [&'a str]);

const DECLINED: &str = r#""result":{"action":"decline"}"#;
const CANCELLED: &str = r#""result":{"action":"cancel"}"#;
const ACCEPTED_NOTHING: &str = r#""result":{"action":"accept"}"#;
pub(crate) const NOT_FOUND: &str = r#""error":{"code":-32601,"message":"method not found"}"#;
const NOTHING: &str = r#""result":{}"#;
pub(crate) const PERMISSION_CANCELLED: &str = r#""result":{"outcome":{"outcome":"cancelled"}}"#;

fn forms() -> Value {
    json!({ "protocolVersion": 1, "clientCapabilities": { "elicitation": { "form": {} } } })
}

pub(crate) fn nothing() -> Value {
    json!({ "protocolVersion": 1, "clientCapabilities": {} })
}

/// Plays each case with each of its responses in one session, and compares the protocol with the fixture.
#[track_caller]
pub(crate) fn check(name: &str, dialect: &str, initialize: &Value, cases: &[Case<'_>]) {
    let mut client = Client::advertising(&["--dialect", dialect], initialize);
    let mut seen = format!("askbridge mock-agent --dialect {dialect}\n");
    seen.push_str(&format!("initialize {initialize}\n"));
    for (prompt, answers) in cases {
        seen.push_str(&format!("\nprompt {prompt}\n"));
        for (nth, answer) in answers.iter().enumerate() {
            turn(&mut client, prompt, answer, nth == 0, &mut seen);
        }
        if answers.is_empty() {
            turn(&mut client, prompt, "", true, &mut seen);
        }
    }
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dialects").join(name).with_extension("txt");
    golden::is(&path, &seen);
}

/// Has one turn. The question is recorded the first time only, because later only its ID differs.
fn turn(client: &mut Client, prompt: &str, answer: &str, is_first: bool, seen: &mut String) {
    let mut answers = answer.lines();
    client.prompt("p", prompt);
    let mut asked = 0;
    loop {
        let line = client.process.expect("a line of the turn", |_| true);
        let message: Value = serde_json::from_str(&line).unwrap();
        let update = &message["params"]["update"];
        if message["id"] == "p" {
            seen.push_str(&format!("end    {}\n", message["result"]["stopReason"].as_str().unwrap()));
            return;
        } else if let Some(text) = update["content"]["text"].as_str() {
            if !"I have a question. I need your permission.".contains(text) {
                seen.push_str(&format!("said   {}\n", text.trim_end()));
            }
            continue;
        }
        let is_question = message.get("id").is_some();
        if is_first || asked > 0 {
            seen.push_str(&format!("agent> {line}\n"));
        }
        if is_question {
            asked += 1;
            let answer = answers.next().unwrap_or_else(|| client.process.fail("there is a further question"));
            seen.push_str(&format!("client> {answer}\n"));
            client.process.send(&format!(r#"{{"jsonrpc":"2.0","id":{},{answer}}}"#, message["id"]));
        }
    }
}

#[test]
fn sandboxagent() {
    let outcomes: &[&str] = &[
        r#""result":{"status":"answered","answers":[["option-a"]]}"#,
        r#""result":{"status":"answered","answers":[["a third"]]}"#,
        r#""result":{"status":"answered","answers":[[]]}"#,
        r#""result":{"status":"rejected"}"#,
        r#""result":{"status":"rejected","_meta":{"askbridge":{"reason":"timeout"}}}"#,
        NOT_FOUND,
        NOTHING,
        r#""result":null"#,
        r#""result":{"status":"answered"}"#,
        r#""result":{"status":"answered","answers":["option-a"]}"#,
        r#""result":{"status":"answered","answers":[["option-a"],["option-b"]]}"#,
        r#""result":{"outcome":"answered","answers":[["option-a"]]}"#,
    ];
    let fields = r#""result":{"status":"answered","answers":[["SQLite"],["Auth"],[]]}"#;
    let free = r#""result":{"status":"answered","answers":[["main"]],"_meta":{}}"#;
    let cases =
        [("a question", outcomes), ("a question with fields", &[fields]), ("a free question", &[free])];
    check("sandboxagent", "sandboxagent", &nothing(), &cases);
}

#[test]
fn claude() {
    check(
        "claude",
        "claude",
        &forms(),
        &[
            (
                "a question",
                &[
                    r#""result":{"action":"accept","content":{"question_0":"Option A"}}"#,
                    r#""result":{"action":"accept","content":{"question_0":"Option A","question_0_custom":"only today"}}"#,
                    r#""result":{"action":"accept","content":{"question_0_custom":"neither of them"}}"#,
                    ACCEPTED_NOTHING,
                    DECLINED,
                    CANCELLED,
                    NOT_FOUND,
                    NOTHING,
                    r#""result":{"action":"accept","content":{"question_0":["Option A"]}}"#,
                ],
            ),
            (
                "a question with fields",
                &[
                    r#""result":{"action":"accept","content":{"question_0":"SQLite","question_1":["Auth"],"question_1_custom":"Billing, invoices"}}"#,
                ],
            ),
        ],
    );
}

#[test]
fn codex() {
    let outcomes: &[&str] = &[
        r#""result":{"action":"accept","content":{"choice":"Option A","choice_note":"only in prod"}}"#,
        r#""result":{"action":"accept","content":{"choice":"None of the above","choice_note":"a third"}}"#,
        ACCEPTED_NOTHING,
        DECLINED,
        CANCELLED,
        NOT_FOUND,
        NOTHING,
    ];
    let fields = r#""result":{"action":"accept","content":{"database":"SQLite","features":"Auth"}}"#;
    check("codex", "codex", &forms(), &[("a question", outcomes), ("a question with fields", &[fields])]);
}

#[test]
fn codex_async() {
    let outcomes: &[&str] = &[
        r#""result":{"action":"accept","content":{"question_0":"Option A","question_0_note":"only in prod"}}"#,
        DECLINED,
        NOT_FOUND,
    ];
    check("codex-async", "codex-async", &forms(), &[("a question", outcomes)]);
}

#[test]
fn an_asynchronous_question_is_withdrawn_with_its_turn_and_a_late_answer_is_dropped() {
    let mut client = Client::advertising(&["--dialect", "codex-async"], &forms());
    client.prompt("p", "withdraw a question");
    let withdrawn = client.next("the withdrawal", |message| message["method"] == "$/cancel_request");
    assert_eq!(withdrawn["params"], json!({ "requestId": 0 }));
    assert_eq!(client.turn_end("p").0, "end_turn");
    client.answer(0, &json!({ "action": "accept", "content": { "question_0": "Option A" } }));
    client.call("list", "session/list", &json!({}));
    assert_eq!(client.said, [""; 0]);
    client.process.close_stdin();
    assert_eq!(client.process.whole_stderr(), "");
}

#[test]
fn kimi() {
    let outcomes: &[&str] = &[
        r#""result":{"action":"accept","content":{"q0":"Option B"}}"#,
        r#""result":{"action":"accept","content":{"q0":"Option C"}}"#,
        ACCEPTED_NOTHING,
        DECLINED,
        CANCELLED,
        NOTHING,
        r#""error":{"code":-32800,"message":"cancelled"}"#,
        "\"error\":{\"code\":-32601,\"message\":\"method not found\"}\n\
         \"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"q0_opt_1\"}}",
    ];
    let fields = r#""result":{"action":"accept","content":{"q0":"SQLite","q1":["Auth","Nothing","Search"]}}"#;
    check("kimi", "kimi", &forms(), &[("a question", outcomes), ("a question with fields", &[fields])]);
}

#[test]
fn kimi_asks_for_permission_if_the_client_has_no_forms() {
    let outcomes: &[&str] = &[
        r#""result":{"outcome":{"outcome":"selected","optionId":"q0_opt_0"}}"#,
        r#""result":{"outcome":{"outcome":"selected","optionId":"q0_skip"}}"#,
        PERMISSION_CANCELLED,
        r#""result":{"outcome":{"outcome":"selected","optionId":"q0_opt_9"}}"#,
        NOT_FOUND,
    ];
    let cases = [("a question", outcomes), ("a question with fields", &outcomes[..1])];
    check("kimi-without-forms", "kimi", &nothing(), &cases);
    check("kimi-permission", "kimi-permission", &forms(), &cases);
}

#[test]
fn oh_my_pi() {
    let outcomes: &[&str] = &[
        r#""result":{"action":"accept","content":{"q0":"Option A"}}"#,
        r#""result":{"action":"accept","content":{"q0":"Option A","q0__other":"a third"}}"#,
        ACCEPTED_NOTHING,
        DECLINED,
        CANCELLED,
        NOT_FOUND,
        NOTHING,
    ];
    let many = r#""result":{"action":"accept","content":{"q0":["Auth"],"q0__other":"Logs"}}"#;
    check("oh-my-pi", "oh-my-pi", &forms(), &[("a question", outcomes), ("a question: many", &[many])]);
}

#[test]
fn devin() {
    let outcomes: &[&str] = &[
        r#""result":{"action":"accept","content":{"q0":"Option A"}}"#,
        r#""result":{"action":"accept","content":{"q0":"a third"}}"#,
        ACCEPTED_NOTHING,
        DECLINED,
        CANCELLED,
        NOT_FOUND,
        NOTHING,
    ];
    let fields =
        r#""result":{"action":"accept","content":{"q0":"SQLite","q1":["Auth"],"q2":"and be quick"}}"#;
    check("devin", "devin", &forms(), &[("a question", outcomes), ("a question with fields", &[fields])]);
}

#[test]
fn form() {
    let outcomes: &[&str] = &[
        r#""result":{"action":"accept","content":{"choice":"option-a"}}"#,
        r#""result":{"action":"accept","content":{"choice":"Option A"}}"#,
        ACCEPTED_NOTHING,
        DECLINED,
        CANCELLED,
        NOT_FOUND,
        NOTHING,
    ];
    let fields: &[&str] = &[
        r#""result":{"action":"accept","content":{"name":"app","email":"a@b.org","port":80,"ratio":0.25,"debug":true,"colour":"red","database":"pg","tags":["new"],"features":["auth","search"]}}"#,
        r#""result":{"action":"accept","content":{"name":"app","port":80,"debug":false,"database":"lite"}}"#,
        r#""result":{"action":"accept","content":{"name":"app","port":80,"debug":false}}"#,
        r#""result":{"action":"accept","content":{"name":"a","port":80,"debug":false,"database":"pg"}}"#,
        r#""result":{"action":"accept","content":{"name":"app","port":80.5,"debug":false,"database":"pg"}}"#,
        r#""result":{"action":"accept","content":{"name":"app","port":"80","debug":false,"database":"pg"}}"#,
        r#""result":{"action":"accept","content":{"name":"app","port":80,"debug":"no","database":"pg"}}"#,
        r#""result":{"action":"accept","content":{"name":"app","port":80,"debug":false,"database":"Postgres"}}"#,
        r#""result":{"action":"accept","content":{"name":"app","port":80,"debug":false,"database":"pg","features":[]}}"#,
        r#""result":{"action":"accept","content":{"name":"app","port":80,"debug":false,"database":"pg","ratio":2}}"#,
        r#""result":{"action":"accept","content":{"name":"app","port":80,"debug":false,"database":"pg","other":1}}"#,
    ];
    let many = r#""result":{"action":"accept","content":{"features":["auth","billing"]}}"#;
    let free = r#""result":{"action":"accept","content":{"branch":"my-branch"}}"#;
    let cases = [
        ("a question", outcomes),
        ("a question with fields", fields),
        ("a question: many", &[many]),
        ("a free question", &[free]),
    ];
    check("form", "form", &forms(), &cases);
}

#[test]
fn historic() {
    let outcomes: &[&str] = &[
        r#""result":{"action":"accept","content":{"choice":"option-a"}}"#,
        r#""result":{"action":{"action":"accept","content":{"choice":"option-b"}}}"#,
        r#""result":{"action":{"action":"decline"}}"#,
        CANCELLED,
        NOT_FOUND,
        NOTHING,
    ];
    check("historic", "historic", &forms(), &[("a question", outcomes)]);
}

#[test]
fn qwen() {
    let outcomes: &[&str] = &[
        r#""result":{"outcome":{"outcome":"selected","optionId":"proceed_once"},"answers":{"0":"Option A"}}"#,
        r#""result":{"outcome":{"outcome":"selected","optionId":"proceed_once"},"answers":{"0":"a third"}}"#,
        r#""result":{"outcome":{"outcome":"selected","optionId":"proceed_once"}}"#,
        r#""result":{"outcome":{"outcome":"selected","optionId":"cancel"}}"#,
        PERMISSION_CANCELLED,
        NOT_FOUND,
        NOTHING,
        r#""result":{"outcome":{"outcome":"selected","optionId":"proceed_always"}}"#,
    ];
    let fields = r#""result":{"outcome":{"outcome":"selected","optionId":"proceed_once"},"answers":{"0":"SQLite","1":"Auth, Search"}}"#;
    check("qwen", "qwen", &nothing(), &[("a question", outcomes), ("a question with fields", &[fields])]);
}

#[test]
fn pi() {
    let outcomes: &[&str] = &[
        r#""result":{"outcome":{"outcome":"selected","optionId":"choice-1"}}"#,
        PERMISSION_CANCELLED,
        NOT_FOUND,
        r#""result":{"outcome":{"outcome":"selected","optionId":"choice-2"}}"#,
    ];
    let confirm: &[&str] = &[
        r#""result":{"outcome":{"outcome":"selected","optionId":"yes"}}"#,
        r#""result":{"outcome":{"outcome":"selected","optionId":"no"}}"#,
        r#""result":{"outcome":{"outcome":"selected","optionId":"choice-0"}}"#,
    ];
    let cases = [("a question", outcomes), ("confirm a question", confirm), ("a free question", &[])];
    check("pi", "pi", &nothing(), &cases);
}

#[test]
fn cursor() {
    let outcomes: &[&str] = &[
        r#""result":{"outcome":{"outcome":"answered","answers":[{"questionId":"choice","selectedOptionIds":["option-b"]}]}}"#,
        r#""result":{"outcome":{"outcome":"answered","answers":[]}}"#,
        r#""result":{"outcome":{"outcome":"answered","answers":[{"questionId":"choice","selectedOptionIds":["Option B"]}]}}"#,
        r#""result":{"outcome":{"outcome":"skipped","reason":"not now"}}"#,
        r#""result":{"outcome":{"outcome":"skipped"}}"#,
        r#""result":{"outcome":{"outcome":"cancelled"}}"#,
        NOT_FOUND,
        NOTHING,
    ];
    let fields = r#""result":{"outcome":{"outcome":"answered","answers":[{"questionId":"features","selectedOptionIds":["auth","search"]},{"questionId":"database","selectedOptionIds":["sqlite"]}]}}"#;
    check("cursor", "cursor", &nothing(), &[("a question", outcomes), ("a question with fields", &[fields])]);
}

#[test]
fn grok() {
    let outcomes: &[&str] = &[
        r#""result":{"outcome":"accepted","answers":{"Choose one option":["Option A"]},"partial_answers":{}}"#,
        r#""result":{"outcome":"accepted","answers":{"Choose one option":["Option A"]},"annotations":{"Choose one option":{"notes":"only today"}}}"#,
        r#""result":{"outcome":"accepted","answers":{"Choose one option":["a third"]}}"#,
        r#""result":{"outcome":"accepted","answers":{"Another question":["Option A"]}}"#,
        r#""result":{"outcome":"skip_interview"}"#,
        r#""result":{"outcome":"chat_about_this"}"#,
        r#""result":{"outcome":"cancelled"}"#,
        NOT_FOUND,
        NOTHING,
    ];
    let fields = r#""result":{"outcome":"accepted","answers":{"Which database should we use?":["SQLite"],"Which features do you want?":["Auth","Search"]}}"#;
    check("grok", "grok", &nothing(), &[("a question", outcomes), ("a question with fields", &[fields])]);
}

#[test]
fn kiro() {
    let user_input =
        json!({ "protocolVersion": 1, "clientCapabilities": { "_meta": { "kiro": { "userInput": true } } } });
    let outcomes: &[&str] = &[
        r#""result":{"action":"answered","answer":"Option A"}"#,
        r#""result":{"action":"answered","answer":"a third"}"#,
        r#""result":{"action":"dismissed"}"#,
        NOT_FOUND,
        NOTHING,
    ];
    let free = r#""result":{"action":"answered","answer":"my-branch"}"#;
    check("kiro", "kiro", &user_input, &[("a question", outcomes), ("a free question", &[free])]);
}

#[test]
fn agentao() {
    let outcomes: &[&str] = &[
        r#""result":{"outcome":"answered","text":"Option A"}"#,
        r#""result":{"outcome":"answered","text":"a third"}"#,
        r#""result":{"outcome":"answered","text":""}"#,
        r#""result":{"outcome":"cancelled"}"#,
        r#""result":{"outcome":"skipped"}"#,
        NOT_FOUND,
        NOTHING,
    ];
    let many = r#""result":{"outcome":"answered","text":"Auth, Search"}"#;
    let free = r#""result":{"outcome":"answered","text":"my-branch"}"#;
    let asked =
        [("a question", outcomes), ("a free question", &[free]), ("a question with many answers", &[many])];
    check("agentao", "agentao", &nothing(), &asked);
}

#[test]
fn hrns() {
    let outcomes: &[&str] = &[
        r#""result":{"answers":[{"header":"Choice","selected":["Option A"],"customAnswer":null}]}"#,
        r#""result":{"answers":[{"header":"Choice","selected":[],"customAnswer":"a third"}]}"#,
        r#""result":{"answers":[{"header":"Choice","selected":["Option A"],"customAnswer":"a third"}]}"#,
        r#""result":{"answers":[{"header":"Choice","selected":[],"customAnswer":null}]}"#,
        r#""result":{"answers":[]}"#,
        r#""result":{"cancelled":true}"#,
        NOT_FOUND,
        NOTHING,
    ];
    let fields = r#""result":{"answers":[{"header":"Database","selected":["SQLite"],"customAnswer":null},{"header":"Features","selected":["Auth","Search"],"customAnswer":null}]}"#;
    check("hrns", "hrns", &nothing(), &[("a question", outcomes), ("a question with fields", &[fields])]);
}

#[test]
fn an_agent_without_the_capability_that_it_needs_does_not_ask() {
    let no_forms = "The client promised no forms: I do not ask.";
    for (dialect, told) in [
        ("claude", no_forms),
        ("oh-my-pi", no_forms),
        ("devin", no_forms),
        ("form", no_forms),
        ("historic", no_forms),
        ("codex", "The client promised no forms: I answered myself with nothing."),
        ("codex-async", "The client promised no forms: I answered myself with nothing."),
        ("kiro", "The client promised no user input: I do not ask."),
    ] {
        let empty = json!({ "protocolVersion": 1, "clientCapabilities": { "elicitation": {} } });
        let mut client = Client::advertising(&["--dialect", dialect], &empty);
        client.prompt("p", "a question");
        let end = ("end_turn".to_owned(), format!("I have a question.{told}"));
        assert_eq!(client.turn_end("p"), end, "{dialect}");
    }
}

#[test]
fn capabilities_are_read_in_both_versions_of_the_protocol() {
    let second = json!({ "protocolVersion": 2, "capabilities": { "elicitation": { "form": {} } } });
    let mut client = Client::advertising(&["--dialect", "claude"], &second);
    client.prompt("p", "a question");
    client.next("the form", |message| message["method"] == "elicitation/create");
    let first = json!({ "protocolVersion": 1, "capabilities": { "elicitation": { "form": {} } } });
    let mut client = Client::advertising(&["--dialect", "claude"], &first);
    client.prompt("p", "a question");
    assert!(client.turn_end("p").1.ends_with("I do not ask."));
}

#[test]
fn a_cancelled_turn_withdraws_its_question_in_some_dialects() {
    for (dialect, withdraws) in
        [("claude", true), ("codex", true), ("codex-async", true), ("oh-my-pi", false), ("form", false)]
    {
        for (method, id) in [("session/cancel", None), ("session/close", Some("c"))] {
            let mut client = Client::advertising(&["--dialect", dialect], &forms());
            client.prompt("p", "a question");
            client.next("the question", |message| message["method"] == "elicitation/create");
            let params = json!({ "sessionId": "session-1" });
            match id {
                None => client.notify(method, &params),
                Some(id) => client.request(id, method, &params),
            }
            let mut withdrawn = false;
            client.next("the end of the turn", |message| {
                withdrawn |= message["method"] == "$/cancel_request";
                message["result"]["stopReason"] == "cancelled"
            });
            assert_eq!(withdrawn, withdraws, "{dialect} {method}");
        }
    }
}

#[test]
fn a_cancelled_turn_waits_for_its_permission_request() {
    let mut client = Client::advertising(&["--dialect", "qwen"], &nothing());
    client.prompt("p", "a question");
    client.next("the question", |message| message["method"] == "session/request_permission");
    client.notify("session/cancel", &json!({ "sessionId": "session-1" }));
    client.answer(0, &json!({ "outcome": { "outcome": "cancelled" } }));
    let told = "I have a question.The question was cancelled".to_owned();
    assert_eq!(client.turn_end("p"), ("cancelled".to_owned(), told));
}

/// Starts an agent for a client with every capability.
fn with_every_capability(dialect: &str) -> Client {
    let initialize = json!({ "protocolVersion": 1, "clientCapabilities": {
        "elicitation": { "form": {} }, "_meta": { "kiro": { "userInput": true } } } });
    Client::advertising(&["--dialect", dialect], &initialize)
}

#[test]
fn later_and_exit_work_in_every_dialect() {
    for dialect in [
        "claude", "codex", "kimi", "devin", "form", "historic", "qwen", "pi", "cursor", "grok", "kiro",
        "agentao", "hrns",
    ] {
        let mut client = with_every_capability(dialect);
        client.prompt("p", "a question, later");
        assert_eq!(client.turn_end("p").0, "end_turn", "{dialect}");
        client.next("a question", |message| message.get("id").is_some());
        client.prompt("p", "a question, and exit 3");
        client.next("a question", |message| message.get("id").is_some());
        assert_eq!(client.process.wait().code(), Some(3), "{dialect}");
    }
}

#[test]
fn several_questions_are_asked_at_once_in_every_dialect() {
    for dialect in ["claude", "kimi", "qwen", "cursor", "grok", "kiro", "agentao", "hrns"] {
        let mut client = with_every_capability(dialect);
        client.prompt("p", "several questions");
        for id in 0..3 {
            let question = client.next("a question", |message| message.get("id").is_some());
            assert_eq!(question["id"], id, "{dialect}");
            assert!(question.to_string().contains(&format!("({} of 3)", id + 1)), "{question}");
        }
        for id in 0..3 {
            client.process.send(&format!(r#"{{"id":{id},"error":{{"code":-32800,"message":"x"}}}}"#));
        }
        let (_, said) = client.turn_end("p");
        assert!((1..=3).all(|n| said.contains(&format!("[q-{n}] The question failed: -32800 x"))), "{said}");
    }
}

#[test]
fn every_fixture_belongs_to_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = ["tests/mock/dialects.rs", "tests/mock/permissions.rs"]
        .map(|path| fs::read_to_string(root.join(path)).unwrap())
        .concat();
    for entry in fs::read_dir(root.join("fixtures/dialects")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(here.contains(&format!("\"{name}\"")), "no test writes {}", path.display());
    }
}
