//! What released servers and hosts said to each other without a bridge, played through one. A host that asks its person
//! itself, and a bridge that leaves it to the host, change no byte; otherwise the inbox answers as the host did, and the
//! server hears the same.

use std::{fs, path::Path};

use askbridge_core::{
    desk::{Notice, Submission, Ticket, TicketedSubmission},
    engine::{self, Event, Output, Peer},
    mcp::{Bridge, Config, Core, Elicitation, Session},
    question::{Answer, Provenance, Responder, Value},
};
use serde_json::Value as Json;

use crate::support::{
    files,
    stage::{Out, Stage},
};

fn lines(path: &Path) -> Vec<(Peer, String)> {
    let text = fs::read_to_string(path).expect("a recording");
    let read = |line: &str| {
        let line: Json = serde_json::from_str(line).expect("JSON");
        let from = if line["from"] == "host" { Peer::Client } else { Peer::Agent };
        (from, line["line"].as_str().expect("a line").to_owned())
    };
    text.lines().map(read).collect()
}

fn recordings() -> Vec<std::path::PathBuf> {
    files::below("mcp").into_iter().filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect()
}

fn stage(elicitation: Elicitation, name: Option<&str>) -> Stage<Core> {
    let name = name.map(|name| name.parse().expect("a name"));
    let common = engine::Config { name, ..engine::Config::default() };
    Stage::new(Bridge::new(Config { common, elicitation, session: Session::Any, ..Config::default() }))
}

#[test]
fn a_bridge_that_leaves_all_to_the_host_changes_no_byte() {
    let mut count = 0;
    for path in recordings() {
        for mut stage in [stage(Elicitation::Host, Some("b")), stage(Elicitation::Both, None)] {
            for (from, line) in lines(&path) {
                let out = stage.line(from, &line);
                let expected = [Out::Bytes(from.other(), format!("{line}\n").into_bytes())];
                let bytes: Vec<_> = out.into_iter().filter(|out| matches!(out, Out::Bytes(..))).collect();
                assert_eq!(bytes, expected, "{}", path.display());
                count += 1;
            }
        }
    }
    assert!(count > 400, "only {count} lines");
}

/// Says in the inbox what the host of a recording said.
fn submitted(number: u64, is_page: bool, result: &Json) -> TicketedSubmission {
    let value = |json: &Json| match json {
        Json::Bool(flag) => Value::Flag(*flag),
        Json::Number(number) => Value::Number(number.clone()),
        Json::Array(items) => {
            Value::Many(items.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect())
        }
        other => Value::Text(other.as_str().map_or_else(|| other.to_string(), str::to_owned)),
    };
    let content = result["content"].as_object().cloned().unwrap_or_default();
    let mut values: std::collections::BTreeMap<_, _> =
        content.iter().map(|(name, json)| (name.clone(), value(json))).collect();
    if is_page {
        values = [("opened".to_owned(), Value::Flag(result["action"] == "accept"))].into();
    }
    let submission = match result["action"].as_str() {
        Some("accept") => Submission::answer(Answer { values, ..Answer::default() }, None),
        _ => Submission::Reject(None),
    };
    let by = Provenance { responder: Responder::CommandLine, name: None };
    TicketedSubmission { ticket: Ticket(1), number, submission, by }
}

/// Of recordings in which the host is asked by requests, what the inbox says instead is what the server hears.
#[test]
fn what_the_inbox_answers_is_what_the_server_heard_of_the_host() {
    let mut count = 0;
    for path in recordings() {
        let mut stage = stage(Elicitation::Inbox, Some("b"));
        let mut open: Option<(u64, bool)> = None;
        for (from, line) in lines(&path) {
            let json: Json = serde_json::from_str(&line).unwrap_or_default();
            let is_answer =
                from == Peer::Client && json.get("method").is_none() && json["result"]["action"].is_string();
            let out = match open.filter(|_| is_answer) {
                Some((number, is_page)) => {
                    stage.handle(Event::Submitted(submitted(number, is_page, &json["result"])))
                }
                None => stage.line(from, &line),
            };
            let mut heard = Vec::new();
            for out in out {
                match out {
                    Out::Bytes(Peer::Agent, bytes) => heard.extend(
                        String::from_utf8_lossy(&bytes)
                            .lines()
                            .filter_map(|it| serde_json::from_str::<Json>(it).ok()),
                    ),
                    Out::Told(Output::Notice(Notice::Opened(record))) => {
                        open = Some((record.id.number, !record.question.links.is_empty()));
                    }
                    Out::Told(Output::Notice(Notice::Decided { .. })) => open = None,
                    _ => {}
                }
            }
            if let (true, [answer]) = (is_answer, &heard[..]) {
                let (said, expected) = (&answer["result"], &json["result"]);
                assert_eq!(answer["id"], json["id"], "{}", path.display());
                // A cancellation is the host's alone: a person in the inbox declines.
                let is_refusal = expected["action"] != "accept";
                assert!(said["action"] == expected["action"] || is_refusal, "{}: {line}", path.display());
                let content = expected["content"].as_object().filter(|_| !is_refusal);
                for (name, value) in content.into_iter().flatten() {
                    assert_eq!(said["content"][name], *value, "{}: {line}", path.display());
                }
                count += 1;
            }
        }
    }
    assert!(count > 20, "only {count} answers");
}
