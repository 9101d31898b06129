//! Random races between an agent, its host and other responders, in the protocols that agents and their hosts speak: each
//! request gets exactly one response (I4), a responder whose answer was accepted is the one that the agent heard (I9), and
//! the agent's lines reach the host as they are (I1).

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use askbridge_core::{
    desk::{Notice, Submission, Ticket, TicketedSubmission},
    engine::{Bridge, Config, Event, Output, Peer, Protocol},
    hosted::{ClaudeBridge, CodexBridge},
    limits,
    question::{Answer, Provenance, Responder, Value},
};
use serde_json::{Value as Json, json};

use crate::support::stage::{Out, Stage};

const RACES: u64 = 1_000;
const STEPS: u64 = 40;

/// How a protocol spells what the races are about.
struct Spelling {
    ask: fn(u64) -> Json,
    /// The response that chooses an option, or none.
    response: fn(u64, Option<&str>) -> Json,
    /// The agent says that a request is over.
    over: fn(u64) -> Json,
    /// The host joins once more: the agent sends each request again that it has no response to.
    join: fn() -> Json,
    /// Whether the agent says so for each request that has its response.
    resolves: bool,
    /// Returns the request that a line is.
    read_request: fn(&Json) -> Option<u64>,
    /// Returns the request that a line is a response to, and the text that it has for an answer.
    read_response: fn(&Json) -> Option<(u64, String)>,
    /// Returns the request that a line says is over.
    read_over: fn(&Json) -> Option<u64>,
    field: &'static str,
}

fn number(json: &Json) -> Option<u64> {
    json.as_str()?.strip_prefix('r')?.parse().ok()
}

const CLAUDE: Spelling = Spelling {
    ask: |id| {
        let asked = json!([{ "question": "Which?", "options": [{ "label": "a" }, { "label": "b" }] }]);
        let request = json!({
            "subtype": "can_use_tool", "tool_name": "AskUserQuestion", "input": { "questions": asked },
        });
        json!({ "type": "control_request", "request_id": format!("r{id}"), "request": request })
    },
    response: |id, answer| {
        let response = match answer {
            Some(answer) => {
                json!({ "behavior": "allow", "updatedInput": { "answers": { "Which?": answer } } })
            }
            None => json!({ "behavior": "deny", "message": "no" }),
        };
        let success = json!({ "subtype": "success", "request_id": format!("r{id}"), "response": response });
        json!({ "type": "control_response", "response": success })
    },
    over: |id| json!({ "type": "control_cancel_request", "request_id": format!("r{id}") }),
    join: || json!({ "type": "control_request", "request_id": "i", "request": { "subtype": "initialize" } }),
    resolves: false,
    read_request: |line| number(&line["request_id"]).filter(|_| line["type"] == "control_request"),
    read_response: |line| {
        let id = number(&line["response"]["request_id"])?;
        let result = &line["response"]["response"];
        let answer = result["updatedInput"]["answers"]["Which?"].as_str();
        Some((id, answer.unwrap_or("no").to_owned()))
    },
    read_over: |line| number(&line["request_id"]).filter(|_| line["type"] == "control_cancel_request"),
    field: "q0",
};

const CODEX: Spelling = Spelling {
    ask: |id| {
        let options = json!([{ "label": "a", "description": "" }, { "label": "b", "description": "" }]);
        let asked = json!([{ "id": "db", "header": "", "question": "Which?", "options": options }]);
        let params = json!({ "threadId": "t", "turnId": "u", "itemId": "i", "questions": asked });
        json!({ "id": id, "method": "item/tool/requestUserInput", "params": params })
    },
    response: |id, answer| {
        let answers = answer.map_or(json!({}), |answer| json!({ "db": { "answers": [answer] } }));
        json!({ "id": id, "result": { "answers": answers } })
    },
    over: |id| json!({ "method": "serverRequest/resolved", "params": { "threadId": "t", "requestId": id } }),
    join: || json!({ "id": "j", "method": "thread/resume", "params": { "threadId": "t" } }),
    resolves: true,
    read_request: |line| line["id"].as_u64().filter(|_| line.get("method").is_some()),
    read_response: |line| {
        let answer = line["result"]["answers"]["db"]["answers"][0].as_str();
        Some((line["id"].as_u64()?, answer.unwrap_or("no").to_owned()))
            .filter(|_| line.get("result").is_some())
    },
    read_over: |line| line["params"]["requestId"].as_u64(),
    field: "db",
};

/// What the agent knows of a request.
#[derive(Debug, Default)]
struct Request {
    /// The answers of the responses that reached it.
    heard: Vec<String>,
    is_withdrawn: bool,
}

/// An agent, a host, and other responders, each of which learns of things later than they happen.
struct Race<P: Protocol> {
    spelling: Spelling,
    stage: Stage<P>,
    random: u64,
    /// What has arrived at each peer and was not read yet.
    waiting: [VecDeque<String>; 2],
    /// The lines of the agent that have not arrived at the host yet.
    said: VecDeque<String>,
    requests: BTreeMap<u64, Request>,
    /// The requests that the host shows.
    shown: Vec<u64>,
    /// The requests that the host has responded to, which it shows no more.
    answered: Vec<u64>,
    /// The number of each question, and its request.
    opened: BTreeMap<u64, u64>,
    settled: u64,
    /// The answer of each submission and its request, until the verdict.
    submitted: BTreeMap<u64, (u64, String)>,
    accepted: Vec<(u64, String)>,
    tickets: u64,
}

impl<P: Protocol> Race<P> {
    fn new(spelling: Spelling, bridge: Bridge<P>, seed: u64) -> Self {
        Race {
            spelling,
            stage: Stage::new(bridge),
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            waiting: [VecDeque::new(), VecDeque::new()],
            said: VecDeque::new(),
            requests: BTreeMap::new(),
            shown: Vec::new(),
            answered: Vec::new(),
            opened: BTreeMap::new(),
            settled: 0,
            submitted: BTreeMap::new(),
            accepted: Vec::new(),
            tickets: 0,
        }
    }

    fn below(&mut self, most: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random % most.max(1) as u64).unwrap()
    }

    fn step(&mut self) {
        match self.below(10) {
            0 | 1 => self.agent_asks(),
            2 => self.agent_withdraws(),
            3 => self.read(Peer::Agent),
            4 => self.read(Peer::Client),
            5 | 6 => self.host_answers(),
            7 => self.host_joins(),
            _ => self.other_submits(),
        }
    }

    fn says(&mut self, from: Peer, line: &Json) {
        let line = line.to_string();
        if from == Peer::Agent {
            self.said.push_back(line.clone());
        }
        let out = self.stage.line(from, &line);
        self.comes_out(out);
    }

    fn comes_out(&mut self, out: Vec<Out>) {
        for out in out {
            match out {
                Out::Bytes(to, bytes) => {
                    let text = String::from_utf8(bytes).unwrap();
                    for line in text.lines().filter(|_| to == Peer::Client) {
                        match self.said.front() {
                            Some(said) if said == line => drop(self.said.pop_front()),
                            // The bridge's own lines take a request back.
                            _ => assert!(line.contains("control_cancel_request"), "{line}"),
                        }
                    }
                    self.waiting[to as usize].extend(text.lines().map(str::to_owned));
                }
                Out::Told(Output::Notice(notice)) => self.notice(notice),
                Out::Told(_) => {}
            }
        }
    }

    fn notice(&mut self, notice: Notice) {
        match notice {
            Notice::Opened(record) => {
                // They open in the order in which they are asked.
                let request = *self.requests.keys().nth(self.opened.len()).unwrap();
                self.opened.insert(record.id.number, request);
            }
            Notice::Decided { .. } => self.settled += 1,
            Notice::Verdict(ticket, verdict) => {
                let submitted = self.submitted.remove(&ticket.0).expect("one verdict for each submission");
                if verdict.is_ok() {
                    self.accepted.push(submitted);
                }
            }
            _ => {}
        }
    }

    fn agent_asks(&mut self) {
        let id = self.requests.len() as u64;
        self.requests.insert(id, Request::default());
        self.says(Peer::Agent, &(self.spelling.ask)(id));
    }

    fn agent_withdraws(&mut self) {
        let place = self.below(self.requests.len());
        let Some((id, request)) = self.requests.iter_mut().nth(place) else { return };
        if request.is_withdrawn || !request.heard.is_empty() {
            return;
        }
        request.is_withdrawn = true;
        let line = (self.spelling.over)(*id);
        self.says(Peer::Agent, &line);
    }

    /// A peer reads the next line that has arrived.
    fn read(&mut self, peer: Peer) {
        let Some(line) = self.waiting[peer as usize].pop_front() else { return };
        let line: Json = serde_json::from_str(&line).unwrap();
        if peer == Peer::Client {
            if let Some(id) = (self.spelling.read_over)(&line) {
                self.shown.retain(|shown| *shown != id);
            } else if let Some(id) = (self.spelling.read_request)(&line)
                && !self.shown.contains(&id)
                && !self.answered.contains(&id)
            {
                self.shown.push(id);
            }
            return;
        }
        if line == (self.spelling.join)() {
            let waits = |(_, request): &(&u64, &Request)| request.heard.is_empty() && !request.is_withdrawn;
            let waiting: Vec<_> = self.requests.iter().filter(waits).map(|(id, _)| *id).collect();
            for id in waiting {
                self.says(Peer::Agent, &(self.spelling.ask)(id));
            }
            return;
        }
        let (id, answer) = (self.spelling.read_response)(&line).expect("the host says nothing else");
        let request = self.requests.get_mut(&id).unwrap();
        request.heard.push(answer);
        if self.spelling.resolves && request.heard.len() == 1 && !request.is_withdrawn {
            self.says(Peer::Agent, &(self.spelling.over)(id));
        }
    }

    fn host_joins(&mut self) {
        self.says(Peer::Client, &(self.spelling.join)());
    }

    fn host_answers(&mut self) {
        let place = self.below(self.shown.len());
        // A host that joins answers again once it is told what is open.
        let join = (self.spelling.join)().to_string();
        if self.shown.is_empty() || self.waiting[Peer::Agent as usize].contains(&join) {
            return;
        }
        let id = self.shown.swap_remove(place);
        self.answered.push(id);
        let answer = [Some("a"), Some("b"), None][self.below(3)];
        self.says(Peer::Client, &(self.spelling.response)(id, answer));
    }

    fn other_submits(&mut self) {
        let place = self.below(self.opened.len());
        let Some((&number, &id)) = self.opened.iter().nth(place) else { return };
        let answer = ["a", "b", "no"][self.below(3)];
        let submission = match answer {
            "no" => Submission::Reject(None),
            answer => {
                let values = [(self.spelling.field.to_owned(), Value::Text(answer.to_owned()))].into();
                Submission::answer(Answer { values, ..Answer::default() }, None)
            }
        };
        self.tickets += 1;
        self.submitted.insert(self.tickets, (id, answer.to_owned()));
        let by = Provenance { responder: Responder::CommandLine, name: None };
        let submitted = TicketedSubmission { ticket: Ticket(self.tickets), number, submission, by };
        let out = self.stage.handle(Event::Submitted(submitted));
        self.comes_out(out);
    }

    /// Everything that was said is read, and the host leaves.
    fn end(mut self) {
        while self.waiting.iter().any(|waiting| !waiting.is_empty()) {
            self.read(Peer::Client);
            self.read(Peer::Agent);
        }
        let out = self.stage.end(Peer::Client);
        self.comes_out(out);
        while !self.waiting[Peer::Agent as usize].is_empty() {
            self.read(Peer::Agent);
        }
        assert!(self.said.is_empty(), "it did not arrive: {:?}", self.said);
        assert!(self.submitted.is_empty(), "no verdict: {:?}", self.submitted);
        assert_eq!((self.opened.len(), self.settled), (self.requests.len(), self.requests.len() as u64));
        assert_eq!(self.stage.bridge.open_questions(), 0);
        for (id, request) in &self.requests {
            // One that the agent took back may have got its response at the same time.
            let least = usize::from(!request.is_withdrawn);
            let most = 1;
            assert!((least..=most).contains(&request.heard.len()), "request {id}: {request:?}");
        }
        for (id, answer) in &self.accepted {
            let request = &self.requests[id];
            assert!(request.is_withdrawn || request.heard[0] == *answer, "{id}, {answer}: {request:?}");
        }
    }
}

fn race<P: Protocol>(spelling: fn() -> Spelling, bridge: fn() -> Bridge<P>) {
    for seed in 1..=RACES {
        let mut race = Race::new(spelling(), bridge(), seed);
        for _ in 0..STEPS {
            race.step();
        }
        race.end();
    }
}

#[test]
fn each_request_of_claude_gets_one_response() {
    race(|| CLAUDE, || ClaudeBridge::new(Config::default()));
}

#[test]
fn each_request_of_codex_gets_one_response() {
    race(|| CODEX, || CodexBridge::new(Config::default()));
}

/// Returns how many requests open before there is no room for one more, each in a session of its own.
fn opens(ask: impl Fn(usize) -> Json) -> usize {
    let mut stage = Stage::new(CodexBridge::new(Config::default()));
    let count = |id| {
        drop(stage.line(Peer::Agent, &ask(id).to_string()));
        (stage.bridge.open_questions() > id).then_some(())
    };
    (0..limits::OPEN).map_while(count).count()
}

#[test]
fn the_parts_of_a_request_that_its_response_repeats_count_with_their_memory() {
    // Parsed, each number would take many times as much memory as its text.
    let permissions = json!({ "of_next_year": vec![0; limits::QUESTION / 4] });
    let size = permissions.to_string().len();
    let opened = opens(|id| {
        let params = json!({ "threadId": id.to_string(), "permissions": permissions });
        json!({ "id": id, "method": "item/permissions/requestApproval", "params": params })
    });
    // They are granted for the turn, or for the session.
    assert!((2..=limits::OPEN_BYTES / (2 * size)).contains(&opened), "{opened} requests of {size} bytes");

    // The name of the field for a text beside a choice.
    let note = "n".repeat(limits::QUESTION / 2);
    let meta = json!({ "codex": { "role": "user_note", "questionId": "db" } });
    let mut fields = json!({ "db": { "type": "string", "enum": ["a", "b"] } });
    fields[&note] = json!({ "type": "string", "_meta": meta });
    let opened = opens(|id| {
        let schema = json!({ "type": "object", "properties": fields });
        let params = json!({
            "threadId": id.to_string(), "mode": "form", "message": "?", "requestedSchema": schema,
        });
        json!({ "id": id, "method": "mcpServer/elicitation/request", "params": params })
    });
    assert!((2..=limits::OPEN_BYTES / note.len()).contains(&opened), "{opened} forms");
}

#[test]
fn what_is_not_json_and_long_lines_pass_without_being_read() {
    let said =
        "{\"type\":\"control_request\",\"request_id\":\"a\",\"request\":{\"subtype\":\"can_use_tool\",";
    let mut claude = Stage::new(ClaudeBridge::new(Config::default()));
    let out = claude.line(Peer::Agent, said);
    assert_eq!(out, [Out::Bytes(Peer::Client, format!("{said}\n").into_bytes())]);
    let long = claude.long_line(Peer::Agent, said.as_bytes());
    assert_eq!(
        crate::support::stage::arrived(&long, Peer::Client),
        crate::support::stage::long_line(said.as_bytes())
    );
    assert_eq!(claude.bridge.open_questions(), 0);
    assert_eq!(claude.pass(Duration::from_secs(60)), []);
}
