//! Random conversations between a host, a server and a responder, on the core alone, beside a model of both peers: each
//! request has one response, each answer that was accepted is what the server heard, and nobody is answered twice.

use std::{collections::BTreeMap, time::Duration};

use askbridge_core::{
    desk::{Notice, Submission, Ticket, TicketedSubmission},
    engine::{self, Event, Output, Peer},
    mcp::{Bridge, Config, Core, Elicitation, Session},
    question::{Answer, Provenance, Responder, Value},
};
use proptest::{prelude::*, test_runner::FileFailurePersistence};
use serde_json::{Value as Json, json};

use crate::support::stage::{Out, Stage};

#[derive(Clone, Debug)]
enum Step {
    /// The host calls a tool.
    Call,
    /// The host ends a call.
    EndCall(usize),
    /// The host responds to what it is asked, or calls again with it.
    HostSays(usize, Said),
    /// The server asks by a request.
    Asks,
    /// The server takes a question back.
    TakesBack(usize),
    /// The server needs input, or a page, before a call can go on.
    Needs(usize),
    NeedsPage(usize),
    /// The server responds to a call.
    Responds(usize),
    /// Somebody answers, or rejects, in the inbox.
    Answers(usize),
    Rejects(usize),
    /// Time passes, in milliseconds.
    Passes(u64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Said {
    Accept,
    Decline,
    Cancel,
    Error,
    Nonsense,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let place = || 0..4usize;
    let said = prop::sample::select(vec![
        Said::Accept,
        Said::Accept,
        Said::Decline,
        Said::Cancel,
        Said::Error,
        Said::Nonsense,
    ]);
    let step = prop_oneof![
        4 => Just(Step::Call),
        1 => place().prop_map(Step::EndCall),
        4 => (place(), said).prop_map(|(place, said)| Step::HostSays(place, said)),
        3 => Just(Step::Asks),
        1 => place().prop_map(Step::TakesBack),
        3 => place().prop_map(Step::Needs),
        1 => place().prop_map(Step::NeedsPage),
        2 => place().prop_map(Step::Responds),
        4 => place().prop_map(Step::Answers),
        1 => place().prop_map(Step::Rejects),
        3 => prop::sample::select(vec![1u64, 800, 5_000]).prop_map(Step::Passes),
    ];
    prop::collection::vec(step, 1..40)
}

/// A peer's view of what is still to be responded to.
#[derive(Default)]
struct Host {
    last: u64,
    /// Its calls that have no response, with their parameters.
    calls: BTreeMap<String, Json>,
    /// What it is asked by requests, by their IDs.
    asked: Vec<Json>,
    /// The calls that need input, with the key and the state.
    needs: Vec<(Json, Option<String>)>,
}

#[derive(Default)]
struct Server {
    last: u64,
    /// The calls that it works on, by their IDs, with their parameters.
    calls: BTreeMap<String, Json>,
    /// The IDs that calls had.
    used: Vec<String>,
    /// Its requests that have no response.
    asked: Vec<Json>,
    /// The states that it waits for, each once.
    states: Vec<String>,
    /// The titles that it heard.
    heard: Vec<String>,
}

struct World {
    stage: Stage<Core>,
    declares: Json,
    host: Host,
    server: Server,
    /// The numbers of the open questions, and whether each is a page.
    open: Vec<(u64, bool)>,
    titles: usize,
    /// The title of each submission, and whether it was accepted.
    submitted: Vec<(Option<String>, Option<bool>)>,
    wrong: Vec<String>,
}

impl World {
    fn new(elicitation: Elicitation, declares: Json) -> Self {
        let common = engine::Config { name: "b".parse().ok(), ..engine::Config::default() };
        let config = Config { common, elicitation, session: Session::Any, ..Config::default() };
        let mut world = World {
            stage: Stage::new(Bridge::new(config)),
            declares: declares.clone(),
            host: Host::default(),
            server: Server::default(),
            open: Vec::new(),
            titles: 0,
            submitted: Vec::new(),
            wrong: Vec::new(),
        };
        let params = json!({ "capabilities": declares, "protocolVersion": "2025-11-25" });
        world.host_says(&json!({ "id": "i", "method": "initialize", "params": params }));
        world.server_says(&json!({ "id": "i", "result": { "serverInfo": { "name": "s" } } }));
        world
    }

    fn host_says(&mut self, line: &Json) {
        let out = self.stage.line(Peer::Client, &line.to_string());
        self.come_out(out);
    }

    fn server_says(&mut self, line: &Json) {
        let out = self.stage.line(Peer::Agent, &line.to_string());
        self.come_out(out);
    }

    fn come_out(&mut self, out: Vec<Out>) {
        for out in out {
            match out {
                Out::Bytes(at, bytes) => {
                    for line in String::from_utf8_lossy(&bytes).lines() {
                        let line: Json = serde_json::from_str(line).expect("JSON");
                        match at {
                            Peer::Client => self.host_hears(&line),
                            Peer::Agent => self.server_hears(line),
                        }
                    }
                }
                Out::Told(Output::Notice(Notice::Opened(record))) => {
                    self.open.push((record.id.number, !record.question.links.is_empty()));
                }
                Out::Told(Output::Notice(Notice::Decided { record, .. })) => {
                    self.open.retain(|(number, _)| *number != record.id.number);
                }
                Out::Told(Output::Notice(Notice::Verdict(ticket, verdict))) => {
                    self.submitted[usize::try_from(ticket.0).expect("small")].1 = Some(verdict.is_ok());
                }
                Out::Told(_) => {}
            }
        }
    }

    fn host_hears(&mut self, line: &Json) {
        let id = &line["id"];
        match line["method"].as_str() {
            Some("elicitation/create") => self.host.asked.push(id.clone()),
            Some("notifications/cancelled") => {
                self.host.asked.retain(|asked| *asked != line["params"]["requestId"])
            }
            Some(_) => {}
            None if *id == "i" => {}
            None => {
                let Some(params) = self.host.calls.remove(&id.to_string()) else {
                    return self.wrong.push(format!("the host has no call {line}"));
                };
                if line["result"]["resultType"] == "input_required" {
                    let state = line["result"]["requestState"].as_str().map(str::to_owned);
                    self.host.needs.push((params, state));
                }
            }
        }
    }

    fn server_hears(&mut self, line: Json) {
        let id = line["id"].to_string();
        match line["method"].as_str() {
            Some("tools/call") => {
                if self.server.used.contains(&id) {
                    self.wrong.push(format!("an ID comes again: {line}"));
                }
                if let Some(state) = line["params"]["requestState"].as_str() {
                    match self.server.states.iter().position(|known| known == state) {
                        Some(at) => drop(self.server.states.remove(at)),
                        None => self.wrong.push(format!("a state comes again: {line}")),
                    }
                    self.hears(&line["params"]["inputResponses"]["k"]);
                }
                self.server.used.push(id.clone());
                self.server.calls.insert(id, line["params"].clone());
            }
            Some("notifications/cancelled") => {
                self.server.calls.remove(&line["params"]["requestId"].to_string());
            }
            Some(_) => {}
            None => match self.server.asked.iter().position(|asked| *asked == line["id"]) {
                Some(at) => {
                    self.server.asked.remove(at);
                    self.hears(&line["result"]);
                }
                None => self.wrong.push(format!("the server asked nothing: {line}")),
            },
        }
    }

    fn hears(&mut self, result: &Json) {
        if let Some(title) = result["content"]["title"].as_str() {
            self.server.heard.push(title.to_owned());
        }
    }

    fn title(&mut self) -> String {
        self.titles += 1;
        format!("t{}", self.titles)
    }

    fn play(&mut self, step: &Step) {
        match *step {
            Step::Call => {
                self.host.last += 1;
                let params = json!({ "name": "x", "arguments": {}, "n": self.host.last });
                self.calls(params);
            }
            Step::EndCall(place) => {
                let Some(id) = self.host.calls.keys().nth(place).cloned() else { return };
                self.host.calls.remove(&id);
                let id: Json = serde_json::from_str(&id).expect("an ID");
                self.host_says(
                    &json!({ "method": "notifications/cancelled", "params": { "requestId": id } }),
                );
            }
            Step::HostSays(place, said) => self.host_responds(place, said),
            Step::Asks => {
                self.server.last += 1;
                let id = json!(self.server.last);
                self.server.asked.push(id.clone());
                let params = form();
                self.server_says(&json!({ "id": id, "method": "elicitation/create", "params": params }));
            }
            Step::TakesBack(place) if place < self.server.asked.len() => {
                let id = self.server.asked.remove(place);
                self.server_says(
                    &json!({ "method": "notifications/cancelled", "params": { "requestId": id } }),
                );
            }
            Step::Needs(_) | Step::NeedsPage(_) | Step::Responds(_) => self.play_server(step),
            Step::Answers(place) if place < self.open.len() => {
                let (number, is_page) = self.open[place];
                let title = self.title();
                let value = if is_page { Value::Flag(true) } else { Value::Text(title.clone()) };
                let name = if is_page { "opened" } else { "title" };
                let answer = Answer { values: [(name.to_owned(), value)].into(), ..Answer::default() };
                self.submit(number, Some(title).filter(|_| !is_page), Submission::answer(answer, None));
            }
            Step::Rejects(place) if place < self.open.len() => {
                self.submit(self.open[place].0, None, Submission::Reject(None));
            }
            Step::Passes(time) => {
                let out = self.stage.pass(Duration::from_millis(time));
                self.come_out(out);
            }
            _ => {}
        }
    }

    /// The server ends a call, with what it needs or with its result.
    fn play_server(&mut self, step: &Step) {
        match *step {
            Step::Needs(place) => {
                let Some(id) = self.server_ends(place) else { return };
                let state = format!("s{}", self.server.used.len());
                self.server.states.push(state.clone());
                let requests = json!({ "k": { "method": "elicitation/create", "params": form() } });
                let result = json!({ "resultType": "input_required", "inputRequests": requests, "requestState": state });
                self.server_says(&json!({ "id": id, "result": result }));
            }
            Step::NeedsPage(place) => {
                let Some(id) = self.server_ends(place) else { return };
                let page = json!({ "mode": "url", "message": "m", "url": "https://a.example", "elicitationId": "e" });
                let error = json!({ "code": -32042, "message": "m", "data": { "elicitations": [page] } });
                self.server_says(&json!({ "id": id, "error": error }));
            }
            Step::Responds(place) => {
                let Some(id) = self.server_ends(place) else { return };
                self.server_says(&json!({ "id": id, "result": { "resultType": "complete", "content": [] } }));
            }
            _ => {}
        }
    }

    /// The host calls a tool.
    fn calls(&mut self, mut params: Json) {
        self.host.last += 1;
        let id = json!(self.host.last);
        params["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": self.declares });
        self.host.calls.insert(id.to_string(), params.clone());
        self.host_says(&json!({ "id": id, "method": "tools/call", "params": params }));
    }

    /// The server ends a call that it works on.
    fn server_ends(&mut self, place: usize) -> Option<Json> {
        let id = self.server.calls.keys().nth(place).cloned()?;
        self.server.calls.remove(&id);
        serde_json::from_str(&id).ok()
    }

    fn host_responds(&mut self, place: usize, said: Said) {
        let title = self.title();
        let result = match said {
            Said::Accept => json!({ "action": "accept", "content": { "title": title } }),
            Said::Decline => json!({ "action": "decline" }),
            Said::Cancel => json!({ "action": "cancel" }),
            Said::Error | Said::Nonsense => json!({ "action": "dance" }),
        };
        if place < self.host.asked.len() {
            let id = self.host.asked.remove(place);
            let error = json!({ "code": -32603, "message": "no" });
            return self.host_says(&match said {
                Said::Error => json!({ "id": id, "error": error }),
                _ => json!({ "id": id, "result": result }),
            });
        }
        if let Some(place) =
            place.checked_sub(self.host.asked.len()).filter(|place| *place < self.host.needs.len())
        {
            let (mut params, state) = self.host.needs.remove(place);
            params["inputResponses"] = json!({ "k": result });
            if let Some(state) = state {
                params["requestState"] = json!(state);
            }
            self.calls(params);
        }
    }

    fn submit(&mut self, number: u64, title: Option<String>, submission: Submission) {
        let ticket = Ticket(self.submitted.len() as u64);
        self.submitted.push((title, None));
        let by = Provenance { responder: Responder::CommandLine, name: None };
        let out = self.stage.handle(Event::Submitted(TicketedSubmission { ticket, number, submission, by }));
        self.come_out(out);
    }

    /// Ends all that is open, and returns what is wrong.
    fn end(mut self) -> Vec<String> {
        // Whatever the server works on gets its response, so that no call is left but those that a person is asked for.
        while let Some(id) = self.server_ends(0) {
            self.server_says(&json!({ "id": id, "result": { "resultType": "complete", "content": [] } }));
        }
        while let Some((number, _)) = self.open.first().copied() {
            self.submit(number, None, Submission::Reject(None));
            while let Some(id) = self.server_ends(0) {
                self.server_says(&json!({ "id": id, "result": { "resultType": "complete", "content": [] } }));
            }
        }
        let World { host, server, submitted, mut wrong, .. } = self;
        for (title, verdict) in submitted {
            let is_heard = title.as_ref().is_none_or(|title| server.heard.contains(title));
            match verdict {
                None => wrong.push(format!("{title:?} has no verdict")),
                Some(true) if !is_heard => {
                    wrong.push(format!("{title:?} was accepted, and the server has not heard it"))
                }
                Some(false) if is_heard && title.is_some() => {
                    wrong.push(format!("{title:?} was refused, and the server has heard it"));
                }
                Some(_) => {}
            }
        }
        let mut heard = server.heard.clone();
        heard.sort_unstable();
        heard.dedup();
        if heard.len() < server.heard.len() {
            wrong.push(format!("something was heard twice: {:?}", server.heard));
        }
        // Whoever was told that input is needed has its response.
        wrong.extend(host.calls.keys().map(|id| format!("the call {id} has no response")));
        wrong.extend(server.asked.iter().map(|id| format!("the question {id} has no response")));
        wrong
    }
}

fn form() -> Json {
    json!({ "message": "Which?", "requestedSchema": { "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] } })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("seeds"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn each_request_has_one_response_and_each_answer_arrives(
        steps in steps(),
        inbox_alone in any::<bool>(),
        declares in prop::sample::select(vec![
            json!({}), json!({ "elicitation": {} }), json!({ "elicitation": { "form": {}, "url": {} } }),
        ]),
    ) {
        let elicitation = if inbox_alone { Elicitation::Inbox } else { Elicitation::Both };
        let mut world = World::new(elicitation, declares);
        for step in &steps {
            world.play(step);
        }
        let wrong = world.end();
        prop_assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
