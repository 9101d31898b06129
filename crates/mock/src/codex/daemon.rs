//! The behaviour of a released app server towards its clients, without I/O. Observed in runs of Codex 0.169.0:
//!
//! - Each client that has joined a thread gets its requests, with the same ID for all.
//! - The first response settles a request, even if it is an error. All clients of the thread are then told that the
//!   request is over, including the one that responded. A later response is ignored without a reply.
//! - A client that leaves settles nothing. One that joins gets the open requests again.
//! - The status of each thread goes to every client.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};

pub use super::samples::Sample;

/// How a request ended for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestEnd {
    /// The model got this result from this client, or from the person at the keyboard if there is no client.
    Result(Option<u64>, Value),
    /// The model got nothing, because this client sent an error.
    Error(u64),
    /// The turn was interrupted.
    Interrupted,
}

#[derive(Debug, Default)]
struct Client {
    is_initialized: bool,
    joined: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct Thread {
    cwd: String,
    /// The file with all that the model and its tools said.
    record: Option<String>,
    turns: u64,
    is_at_work: bool,
    open: BTreeMap<u64, OpenRequest>,
}

#[derive(Debug)]
struct OpenRequest {
    sample: Sample,
    item: String,
    params: Value,
}

/// An app server.
#[derive(Debug, Default)]
pub struct Daemon {
    clients: BTreeMap<u64, Client>,
    last_client: u64,
    threads: BTreeMap<String, Thread>,
    /// The ID of the next request. Each process counts from 0.
    next_request: u64,
    outgoing: VecDeque<(u64, String)>,
    /// The requests that are over, and their ends.
    told: VecDeque<(u64, RequestEnd)>,
    /// Results for the records of threads: the tool call, and what it returned.
    returned: VecDeque<(String, Value)>,
}

impl Daemon {
    /// Returns the next message, and the client that it is for.
    pub fn poll(&mut self) -> Option<(u64, String)> {
        self.outgoing.pop_front()
    }

    /// Returns the next request that is over, and how it ended.
    pub fn poll_told(&mut self) -> Option<(u64, RequestEnd)> {
        self.told.pop_front()
    }

    /// Returns the requests that are open in this thread.
    pub fn open(&self, thread: &str) -> Vec<u64> {
        self.threads.get(thread).into_iter().flat_map(|thread| thread.open.keys().copied()).collect()
    }

    /// Adds a client that has connected. Returns its number.
    pub fn connect(&mut self) -> u64 {
        self.last_client += 1;
        self.clients.insert(self.last_client, Client::default());
        self.last_client
    }

    /// Forgets a client that is gone.
    pub fn disconnect(&mut self, client: u64) {
        self.clients.remove(&client);
        self.outgoing.retain(|(to, _)| *to != client);
    }

    /// Begins a thread in this folder, or continues it. `record` is the file with what its tools return.
    pub fn start(&mut self, thread: &str, cwd: &str, record: Option<String>) {
        let started = self.threads.entry(thread.to_owned()).or_default();
        cwd.clone_into(&mut started.cwd);
        started.record = record;
    }

    /// Returns the next tool call that has returned, and what it returned.
    pub fn poll_returned(&mut self) -> Option<(String, Value)> {
        self.returned.pop_front()
    }

    /// Begins a turn in a thread, unless one runs.
    pub fn begin(&mut self, thread: &str) {
        if let Some(known) = self.threads.get_mut(thread) {
            known.begin_turn();
            self.tell_status(thread);
        }
    }

    /// Returns whether a client has joined a thread.
    pub fn has_joined(&self, client: u64, thread: &str) -> bool {
        self.clients.get(&client).is_some_and(|client| client.joined.contains(thread))
    }

    /// Asks something in a thread. Returns the ID of the request; `None` if there is no such thread.
    pub fn ask(&mut self, thread: &str, sample: Sample) -> Option<u64> {
        let known = self.threads.get_mut(thread)?;
        let id = self.next_request;
        self.next_request += 1;
        known.begin_turn();
        let (turn, item) = (format!("turn-{}", known.turns), format!("item-{id}"));
        let params = sample.params(thread, &turn, &item, &known.cwd);
        let begun = sample.item(&item, &known.cwd);
        known.open.insert(id, OpenRequest { sample, item, params: params.clone() });
        // Codex sends the item before the request that asks about it, since only the item has the changes of files.
        if let Some(begun) = begun {
            self.tell(thread, "item/started", &json!({ "item": begun, "threadId": thread, "turnId": turn }));
        }
        self.tell_status(thread);
        self.send_to_joined(
            thread,
            &json!({ "id": id, "method": sample.method(), "params": params }).to_string(),
        );
        Some(id)
    }

    /// Lets the agent say something in a thread, and run a command that fails.
    pub fn say(&mut self, thread: &str, text: &str) {
        let make = |status: &str| json!({ "type": "commandExecution", "id": "item-make", "command": "make", "status": status });
        for (method, item) in [
            ("item/completed", json!({ "type": "agentMessage", "id": "item-said", "text": text })),
            ("item/started", make("inProgress")),
            ("item/completed", make("failed")),
        ] {
            self.tell(thread, method, &json!({ "item": item, "threadId": thread, "turnId": "turn-1" }));
        }
    }

    /// Answers the oldest open request of a thread at the keyboard. Returns whether one was open.
    pub fn answer(&mut self, thread: &str, answer: Answer<'_>) -> bool {
        let oldest = self.threads.get(thread).and_then(|known| known.open.first_key_value());
        let Some((&id, open)) = oldest else { return false };
        let result = match answer {
            Answer::Approve => open.sample.result(true),
            Answer::Decline => open.sample.result(false),
            Answer::Text(text) => json!({ "answers": { "db": { "answers": [text] } } }),
        };
        self.settle(thread, id, RequestEnd::Result(None, result));
        true
    }

    /// Changes what the oldest open request about files would write. Returns whether there is one.
    pub fn change(&mut self, thread: &str, text: &str) -> bool {
        let Some(known) = self.threads.get(thread) else { return false };
        let mut changed =
            known.open.values().filter_map(|open| Some((open, open.sample.change(&known.cwd, text)?)));
        let Some((open, change)) = changed.next() else { return false };
        let turn = format!("turn-{}", known.turns);
        let params = json!({ "threadId": thread, "turnId": turn, "itemId": open.item, "changes": [change] });
        self.tell(thread, "item/fileChange/patchUpdated", &params);
        true
    }

    /// Interrupts the turn of a thread. If `told_first` is set, the clients hear of the end of the requests before the
    /// end of the turn.
    pub fn interrupt(&mut self, thread: &str, told_first: bool) {
        let Some(known) = self.threads.get_mut(thread) else { return };
        if !std::mem::take(&mut known.is_at_work) {
            return;
        }
        let open = std::mem::take(&mut known.open);
        let turn = format!("turn-{}", known.turns);
        // The released server reports the status first.
        self.tell_status(thread);
        if !told_first {
            self.tell_completed(thread, &turn, "interrupted");
        }
        for id in open.keys() {
            self.told.push_back((*id, RequestEnd::Interrupted));
            self.tell_resolved(thread, *id);
        }
        if told_first {
            self.tell_completed(thread, &turn, "interrupted");
        }
    }

    /// Ends the process and starts another one: its clients, threads and requests are gone, and IDs begin at 0 again.
    pub fn restart(&mut self) {
        // Numbers of clients are not used again: a late event of an old connection must not hit a new client.
        let last_client = self.last_client;
        *self = Daemon { last_client, ..Daemon::default() };
    }

    /// Reads a message of a client.
    pub fn message(&mut self, client: u64, text: &str) {
        let Ok(message) = serde_json::from_str::<Value>(text) else { return };
        match (message["method"].as_str(), message.get("id")) {
            (Some(method), Some(id)) => {
                let reply = self.call(client, method, &message["params"]);
                let reply = match &reply {
                    Ok(result) => json!({ "id": id, "result": result }),
                    Err((code, error)) => json!({ "id": id, "error": { "code": code, "message": error } }),
                };
                self.outgoing.push_back((client, reply.to_string()));
                if method == "thread/resume" && reply.get("result").is_some() {
                    self.send_open(client, message["params"]["threadId"].as_str().unwrap_or_default());
                }
            }
            (None, Some(id)) => self.response(client, id, &message),
            _ => {}
        }
    }

    fn call(&mut self, client: u64, method: &str, params: &Value) -> Result<Value, (i64, String)> {
        let known = self.clients.get_mut(&client).ok_or((-32600, "Not connected".to_owned()))?;
        if method == "initialize" {
            known.is_initialized = true;
            return Ok(
                json!({ "userAgent": "mock-codex/0.169.0", "codexHome": "/", "platformFamily": "unix" }),
            );
        }
        if !known.is_initialized {
            return Err((-32600, "Not initialized".to_owned()));
        }
        let name = params["threadId"].as_str().unwrap_or_default();
        match method {
            "thread/loaded/list" => {
                Ok(json!({ "data": self.threads.keys().collect::<Vec<_>>(), "nextCursor": null }))
            }
            "thread/unsubscribe" => {
                known.joined.remove(name);
                Ok(json!({}))
            }
            "thread/read" | "thread/resume" => {
                let thread = self.threads.get(name).ok_or((-32600, format!("no thread {name}")))?;
                if method == "thread/resume" {
                    known.joined.insert(name.to_owned());
                }
                Ok(json!({ "thread": thread.shown(name) }))
            }
            _ => Err((-32601, format!("no method {method}"))),
        }
    }

    fn response(&mut self, client: u64, id: &Value, message: &Value) {
        let Some(id) = id.as_u64() else { return };
        let has_it = |(_, thread): &(&String, &Thread)| thread.open.contains_key(&id);
        // A late response is ignored without a reply.
        let Some((thread, _)) = self.threads.iter().find(has_it) else { return };
        let told = match message.get("error") {
            Some(_) => RequestEnd::Error(client),
            None => RequestEnd::Result(Some(client), message["result"].clone()),
        };
        self.settle(&thread.clone(), id, told);
    }

    fn settle(&mut self, thread: &str, id: u64, told: RequestEnd) {
        let Some(known) = self.threads.get_mut(thread) else { return };
        let Some(open) = known.open.remove(&id) else { return };
        let turn = format!("turn-{}", known.turns);
        let is_over = known.open.is_empty();
        known.is_at_work = !is_over;
        let is_declined = matches!(&told, RequestEnd::Result(_, result) if ["decline", "cancel"].map(Value::from).contains(&result["decision"]));
        if let (Sample::Question, RequestEnd::Result(_, result)) = (open.sample, &told) {
            self.returned.push_back((open.item.clone(), result.clone()));
        }
        self.told.push_back((id, told));
        self.tell_resolved(thread, id);
        if open.sample != Sample::Question {
            let kind = if open.sample == Sample::Files { "fileChange" } else { "commandExecution" };
            let status = if is_declined { "declined" } else { "completed" };
            let item = json!({ "type": kind, "id": open.item, "status": status, "changes": [] });
            self.tell(thread, "item/completed", &json!({ "item": item, "threadId": thread, "turnId": turn }));
        }
        self.tell_status(thread);
        if is_over {
            self.tell_completed(thread, &turn, "completed");
        }
    }

    /// Sends the open requests of a thread to a client that has joined it.
    fn send_open(&mut self, client: u64, thread: &str) {
        let Some(known) = self.threads.get(thread) else { return };
        for (id, open) in &known.open {
            let request = json!({ "id": id, "method": open.sample.method(), "params": open.params });
            self.outgoing.push_back((client, request.to_string()));
        }
    }

    fn tell_resolved(&mut self, thread: &str, id: u64) {
        self.tell(thread, "serverRequest/resolved", &json!({ "threadId": thread, "requestId": id }));
    }

    fn tell_completed(&mut self, thread: &str, turn: &str, status: &str) {
        let turn = json!({ "id": turn, "status": status, "items": [] });
        self.tell(thread, "turn/completed", &json!({ "threadId": thread, "turn": turn }));
    }

    /// Tells every client the status of a thread, whether it has joined it or not.
    fn tell_status(&mut self, thread: &str) {
        let Some(known) = self.threads.get(thread) else { return };
        let params = json!({ "threadId": thread, "status": known.status() });
        let status = notification("thread/status/changed", &params);
        let all = self.clients.iter().filter(|(_, client)| client.is_initialized);
        self.outgoing.extend(all.map(|(client, _)| (*client, status.clone())));
    }

    fn tell(&mut self, thread: &str, method: &str, params: &Value) {
        self.send_to_joined(thread, &notification(method, params));
    }

    fn send_to_joined(&mut self, thread: &str, message: &str) {
        let joined = self.clients.iter().filter(|(_, client)| client.joined.contains(thread));
        self.outgoing.extend(joined.map(|(client, _)| (*client, message.to_owned())));
    }
}

/// What the person does at the keyboard.
#[derive(Clone, Copy, Debug)]
pub enum Answer<'a> {
    /// Takes the first option.
    Approve,
    /// Refuses.
    Decline,
    /// Takes the option with this label, or types this text.
    Text(&'a str),
}

impl Thread {
    fn begin_turn(&mut self) {
        self.turns += u64::from(!self.is_at_work);
        self.is_at_work = true;
    }

    fn status(&self) -> Value {
        let flags: BTreeSet<_> = self.open.values().map(|open| open.sample.flag()).collect();
        match self.is_at_work {
            true => json!({ "type": "active", "activeFlags": flags }),
            false => json!({ "type": "idle" }),
        }
    }

    fn shown(&self, name: &str) -> Value {
        // Codex does not list the items of a running turn here.
        json!({
            "id": name, "cwd": self.cwd, "path": self.record, "preview": "Ask me.", "status": self.status(),
            "turns": [],
        })
    }
}

fn notification(method: &str, params: &Value) -> String {
    // Codex puts the time of sending beside the parameters of a notification.
    json!({ "method": method, "params": params, "emittedAtMs": 0 }).to_string()
}
