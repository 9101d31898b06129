//! Every state of the host's declaration × form, page × what the host does × what the inbox does × both protocols, on the
//! core alone. What each row has to give is computed from the row.

use std::time::Duration;

use askbridge_core::{
    desk::{Notice, Submission, Ticket, TicketedSubmission},
    engine::{self, Event, Output, Peer},
    mcp::{Bridge, Config, Core, Elicitation, Session},
    question::{Answer, Provenance, Responder, Value},
};
use serde_json::{Value as Json, json};

use crate::support::stage::{Out, Stage};

const DECLARED: [&str; 5] = [
    "{}",
    r#"{"elicitation":{}}"#,
    r#"{"elicitation":{"form":{}}}"#,
    r#"{"elicitation":{"url":{}}}"#,
    r#"{"elicitation":{"form":{},"url":{}}}"#,
];

/// What the host does with what it is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Host {
    Accepts,
    Declines,
    Cancels,
    /// It refuses, or accepts nothing, before a person could read it.
    DeclinesByItself,
    CancelsByItself,
    AcceptsByItself,
    Fails(i32),
    Silent,
    Gone,
}

const HOSTS: [Host; 10] = [
    Host::Accepts,
    Host::Declines,
    Host::Cancels,
    Host::DeclinesByItself,
    Host::CancelsByItself,
    Host::AcceptsByItself,
    Host::Fails(-32601),
    Host::Fails(-32603),
    Host::Silent,
    Host::Gone,
];

#[derive(Clone, Copy, Debug)]
struct Row {
    declared: &'static str,
    is_page: bool,
    host: Host,
    /// Whether the inbox accepts, or rejects, what is still open.
    inbox: bool,
    is_new: bool,
    elicitation: Elicitation,
}

impl Row {
    /// Returns whether the host is asked.
    fn is_asked(self) -> bool {
        let mode = if self.is_page { "\"url\"" } else { "\"form\"" };
        let shows = self.declared.contains(mode) || (!self.is_page && self.declared == DECLARED[1]);
        shows && self.elicitation == Elicitation::Both
    }

    /// Returns the action that the server has to hear, and whether the inbox said it. `None` if there is none.
    fn expected(self) -> Option<(&'static str, bool)> {
        let by_inbox = (if self.inbox { "accept" } else { "decline" }, true);
        Some(match self.host {
            // A request of the old protocol is cancelled; a call of the new one ends with its host.
            Host::Gone if self.is_new => return None,
            Host::Gone => ("cancel", false),
            Host::Accepts if self.is_asked() => ("accept", false),
            Host::Declines if self.is_asked() => ("decline", false),
            Host::Cancels if self.is_asked() => ("cancel", false),
            // A host of the new protocol fails by not calling again.
            _ => by_inbox,
        })
    }

    fn result(self) -> Option<Json> {
        let accepted = if self.is_page {
            json!({ "action": "accept" })
        } else {
            json!({ "action": "accept", "content": { "title": "host" } })
        };
        Some(match self.host {
            Host::Accepts => accepted,
            Host::AcceptsByItself => json!({ "action": "accept" }),
            Host::Declines | Host::DeclinesByItself => json!({ "action": "decline" }),
            Host::Cancels | Host::CancelsByItself => json!({ "action": "cancel" }),
            Host::Fails(_) | Host::Silent | Host::Gone => return None,
        })
    }

    fn params(self) -> Json {
        match self.is_page {
            true => {
                json!({ "mode": "url", "message": "Sign in.", "url": "https://a.example/x", "elicitationId": "e" })
            }
            false => {
                json!({ "message": "Which?", "requestedSchema": { "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] } })
            }
        }
    }

    fn call(self, id: u64, more: Json) -> String {
        let capabilities: Json = serde_json::from_str(self.declared).expect("JSON");
        let mut params = json!({ "name": "x", "arguments": {} });
        if self.is_new {
            params["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": capabilities });
        }
        params.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        json!({ "id": id, "method": "tools/call", "params": params }).to_string()
    }
}

struct Play {
    stage: Stage<Core>,
    at_host: Vec<Json>,
    at_server: Vec<Json>,
    open: Vec<u64>,
}

impl Play {
    fn new(row: Row) -> Self {
        let common = engine::Config { name: "b".parse().ok(), ..engine::Config::default() };
        let config =
            Config { common, elicitation: row.elicitation, session: Session::Any, ..Config::default() };
        Play {
            stage: Stage::new(Bridge::new(config)),
            at_host: Vec::new(),
            at_server: Vec::new(),
            open: Vec::new(),
        }
    }

    fn says(&mut self, from: Peer, line: &str) {
        let out = self.stage.line(from, line);
        self.come_out(out);
    }

    fn come_out(&mut self, out: Vec<Out>) {
        for out in out {
            match out {
                Out::Bytes(at, bytes) => {
                    let heard = if at == Peer::Client { &mut self.at_host } else { &mut self.at_server };
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    heard.extend(text.lines().map(|line| serde_json::from_str::<Json>(line).expect("JSON")));
                }
                Out::Told(Output::Notice(Notice::Opened(record))) => self.open.push(record.id.number),
                Out::Told(Output::Notice(Notice::Decided { .. })) => self.open.clear(),
                Out::Told(_) => {}
            }
        }
    }

    fn passes(&mut self, milliseconds: u64) {
        let out = self.stage.pass(Duration::from_millis(milliseconds));
        self.come_out(out);
    }

    fn inbox_says(&mut self, row: Row) {
        let Some(number) = self.open.first().copied() else { return };
        let value = if row.is_page { Value::Flag(true) } else { Value::Text("inbox".to_owned()) };
        let name = if row.is_page { "opened" } else { "title" };
        let answer = Answer { values: [(name.to_owned(), value)].into(), ..Answer::default() };
        let submission = if row.inbox { Submission::answer(answer, None) } else { Submission::Reject(None) };
        let by = Provenance { responder: Responder::CommandLine, name: None };
        let out = self.stage.handle(Event::Submitted(TicketedSubmission {
            ticket: Ticket(1),
            number,
            submission,
            by,
        }));
        self.come_out(out);
    }

    /// The host does what the row says, with the request or the result that asks it.
    fn host_does(&mut self, row: Row) {
        let by_itself =
            matches!(row.host, Host::DeclinesByItself | Host::CancelsByItself | Host::AcceptsByItself);
        self.passes(if by_itself { 20 } else { 3_000 });
        if row.host == Host::Gone {
            let out = self.stage.end(Peer::Client);
            return self.come_out(out);
        }
        if !row.is_asked() {
            return;
        }
        match (row.is_new, row.result()) {
            (false, Some(result)) => {
                self.says(Peer::Client, &json!({ "id": 7, "result": result }).to_string())
            }
            (true, Some(result)) => {
                let more = json!({ "inputResponses": { "k": result }, "requestState": "s" });
                self.says(Peer::Client, &row.call(2, more));
            }
            (false, None) => {
                if let Host::Fails(code) = row.host {
                    let error = json!({ "code": code, "message": "no" });
                    self.says(Peer::Client, &json!({ "id": 7, "error": error }).to_string());
                }
            }
            (true, None) => {}
        }
    }

    /// Returns what the server heard to its question.
    fn heard(&self, row: Row) -> Vec<&Json> {
        let result = |line: &&Json| match row.is_new {
            true => line["params"]["inputResponses"].get("k").is_some(),
            false => line["id"] == 7 && line.get("method").is_none(),
        };
        self.at_server.iter().filter(result).collect()
    }
}

fn check(row: Row) {
    let mut play = Play::new(row);
    if !row.is_new {
        let capabilities: Json = serde_json::from_str(row.declared).expect("JSON");
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities });
        play.says(Peer::Client, &json!({ "id": 0, "method": "initialize", "params": params }).to_string());
        let declared = &play.at_server[0]["params"]["capabilities"]["elicitation"];
        assert!(declared["form"].is_object() && declared["url"].is_object(), "{row:?}");
        play.says(Peer::Agent, r#"{"id":0,"result":{"serverInfo":{"name":"s"}}}"#);
    }
    play.says(Peer::Client, &row.call(1, json!({})));
    let ask = match row.is_new {
        true => json!({ "id": 1, "result": { "resultType": "input_required", "requestState": "s",
            "inputRequests": { "k": { "method": "elicitation/create", "params": row.params() } } } }),
        false => json!({ "id": 7, "method": "elicitation/create", "params": row.params() }),
    };
    play.at_host.clear();
    play.says(Peer::Agent, &ask.to_string());
    assert_eq!(play.at_host.len(), usize::from(row.is_asked()), "the host is asked: {row:?}");
    assert_eq!(play.open.len(), 1, "the inbox has it: {row:?}");
    play.host_does(row);
    play.inbox_says(row);
    let heard = play.heard(row);
    let Some((action, is_of_inbox)) = row.expected() else {
        return assert!(heard.is_empty(), "{row:?}: {heard:?}");
    };
    let [answer] = &heard[..] else { panic!("{row:?}: the server heard {heard:?}") };
    let result = if row.is_new { &answer["params"]["inputResponses"]["k"] } else { &answer["result"] };
    assert_eq!(result["action"], action, "{row:?}: {answer}");
    if action == "accept" && !row.is_page {
        let who = if is_of_inbox { "inbox" } else { "host" };
        assert_eq!(result["content"]["title"], who, "{row:?}");
    }
    if row.is_new {
        assert!(answer["params"]["requestState"] == "s" && answer["id"] != 1, "{row:?}: {answer}");
    }
    finish(play, row);
}

/// The server ends the call: its host has one response to each of its calls.
fn finish(mut play: Play, row: Row) {
    let id = match row.is_new {
        true => play.heard(row)[0]["id"].clone(),
        false => json!(1),
    };
    play.says(
        Peer::Agent,
        &json!({ "id": id, "result": { "resultType": "complete", "content": [] } }).to_string(),
    );
    // A host of the new protocol that was asked, and has not called again, does so now.
    let is_handed = row.is_new && row.is_asked();
    if is_handed && row.result().is_none() && row.host != Host::Gone {
        play.says(Peer::Client, &row.call(2, json!({ "inputResponses": {}, "requestState": "s" })));
    }
    if row.host == Host::Gone {
        return;
    }
    let ended = |id: u64| {
        let is_end = |line: &&Json| line["id"] == id && line["result"]["resultType"] == "complete";
        play.at_host.iter().filter(is_end).count()
    };
    assert_eq!(ended(if is_handed { 2 } else { 1 }), 1, "{row:?}: {:?}", play.at_host);
}

#[test]
fn each_row_gives_what_it_has_to() {
    let mut count = 0;
    for declared in DECLARED {
        for host in HOSTS {
            for bits in 0..16 {
                let bit = |place: u32| bits >> place & 1 == 1;
                let elicitation = if bit(3) { Elicitation::Inbox } else { Elicitation::Both };
                check(Row { declared, is_page: bit(0), host, inbox: bit(1), is_new: bit(2), elicitation });
                count += 1;
            }
        }
    }
    assert_eq!(count, 800);
}
