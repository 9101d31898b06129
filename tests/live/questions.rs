//! Recorded questions of released agents, in `fixtures/live`: the first line of a file is the agent's request, the
//! others are answers that it was seen to accept. The bridge reads and writes them exactly.

use std::fs;

use askbridge_core::{
    dialect::{self, AgentQuestion, Reply},
    question::{Answer, Outcome, Reason, Value},
    wire::envelope::Message,
};
use serde_json::{Value as Json, json};

/// The recorded lines of an agent.
struct Recorded {
    asks: Json,
    answers: Vec<Json>,
}

fn recorded(agent: &str) -> Recorded {
    let path = format!("{}/fixtures/live/{agent}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).expect("a recording");
    let mut lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let asks = lines.next().expect("a question");
    Recorded { asks, answers: lines.map(|line: Json| line["result"].clone()).collect() }
}

impl Recorded {
    fn asked(&self) -> AgentQuestion {
        let line = self.asks.to_string();
        let message = Message::read(line.as_bytes()).expect("a message");
        let method = message.method.as_deref().expect("a method");
        let asked = dialect::read(method, message.params.expect("params"), "made-up");
        asked.expect("no mistake").expect("a question")
    }
}

fn answer(values: &[(&str, Value)], notes: &[(&str, &str)]) -> Outcome {
    Outcome::Answered(Answer {
        values: values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        notes: notes.iter().map(|(name, note)| ((*name).to_owned(), (*note).to_owned())).collect(),
        ..Answer::default()
    })
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn many(texts: &[&str]) -> Value {
    Value::Many(texts.iter().map(|text| (*text).to_owned()).collect())
}

/// Returns the result that the agent gets, without the bridge's own additions.
fn told(asked: &AgentQuestion, outcome: &Outcome) -> Json {
    let result = match outcome {
        Outcome::Answered(answer) => asked.reply_format.write_answer(&asked.question, answer),
        Outcome::Rejected(reason) => asked.reply_format.write_rejection((*reason).into()),
        Outcome::Failed => panic!("nothing is told"),
        other => panic!("{other:?}"),
    };
    let mut told: Json = serde_json::from_str(result.get()).expect("JSON");
    told.as_object_mut().expect("an object").remove("_meta");
    told
}

#[test]
fn claudes_form_has_two_questions() {
    let asked = recorded("claude").asked();
    let question = serde_json::to_value(&asked.question).expect("JSON");
    let option = |label: &str, description: &str| json!({ "value": label, "label": label, "description": description });
    let expected = json!({
        "sessionId": "s",
        "questionId": "made-up",
        "message": "Please answer the following questions.",
        "fields": [
            {
                "name": "question_0", "label": "Which database should we use?", "header": "Database",
                "required": false, "kind": "choice", "other": true,
                "options": [option("Postgres", "Relational"), option("SQLite", "Embedded")],
            },
            {
                "name": "question_1", "label": "Which features do you want?", "header": "Features",
                "required": false, "kind": "choices", "other": true,
                "options": [option("Auth", "Login"), option("Search", "FTS")],
            },
        ],
        "toolCallId": "toolu_01",
        "purpose": "question",
        "origin": "elicitation",
        "dangerous": false,
        "blocking": true,
    });
    assert_eq!(question, expected);
}

#[test]
fn claude_gets_the_answer_of_its_own_client() {
    let claude = recorded("claude");
    let asked = claude.asked();
    let outcomes = [
        answer(&[("question_0", text("SQLite")), ("question_1", many(&["Auth", "Search"]))], &[]),
        answer(
            &[("question_0", text("Postgres")), ("question_1", many(&["Auth"]))],
            &[("question_0", "only in prod")],
        ),
        answer(&[("question_0", text("DuckDB")), ("question_1", many(&["Auth", "Billing, invoices"]))], &[]),
        answer(&[], &[]),
        Outcome::Rejected(Reason::User),
        Outcome::Rejected(Reason::Cancelled),
    ];
    assert_eq!(claude.answers.len(), outcomes.len());
    for (result, outcome) in claude.answers.iter().zip(&outcomes) {
        match asked.reply_format.read_reply(&asked.question, result.to_string().as_bytes()) {
            Reply::Canonical(read) => assert_eq!(read, *outcome, "{result}"),
            other => panic!("{result} is read as {other:?}"),
        }
        assert_eq!(told(&asked, outcome).to_string(), result.to_string());
    }
}

#[test]
fn qwens_permission_request_has_two_questions() {
    let asked = recorded("qwen").asked();
    let question = serde_json::to_value(&asked.question).expect("JSON");
    let option = |label: &str, description: &str| json!({ "value": label, "label": label, "description": description });
    let expected = json!({
        "sessionId": "s",
        "questionId": "made-up",
        "message": "",
        "fields": [
            {
                "name": "q0", "label": "Which database?", "header": "Database",
                "required": true, "kind": "choice", "other": true,
                "options": [option("Postgres", "Relational")],
            },
            {
                "name": "q1", "label": "Which features?", "header": "Features",
                "required": true, "kind": "choices", "other": true,
                "options": [option("Auth", "Login"), option("Search", "FTS")],
            },
        ],
        "toolCallId": "call_1",
        "purpose": "question",
        "origin": "permission",
        "dangerous": false,
        "blocking": true,
    });
    assert_eq!(question, expected);
}

#[test]
fn qwen_gets_the_answer_of_its_own_client() {
    let qwen = recorded("qwen");
    let asked = qwen.asked();
    let outcomes = [
        answer(&[("q0", text("SQLite")), ("q1", many(&["Auth", "Search"]))], &[]),
        Outcome::Rejected(Reason::User),
        Outcome::Rejected(Reason::Cancelled),
    ];
    assert_eq!(qwen.answers.len(), outcomes.len());
    for (result, outcome) in qwen.answers.iter().zip(&outcomes) {
        assert_eq!(told(&asked, outcome).to_string(), result.to_string());
    }
}

#[test]
fn opencodes_tool_update_is_not_a_question() {
    let line = recorded("opencode").asks.to_string();
    let message = Message::read(line.as_bytes()).expect("a message");
    let read =
        dialect::read(message.method.as_deref().expect("a method"), message.params.expect("params"), "q");
    assert_eq!(read, Ok(None));
}
