//! A bridge of another version, or a hostile one: a real socket over which each reply is a line that a test chooses.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    os::unix::net::{UnixListener, UnixStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

use crate::answers::machine::TestMachine;

/// A bridge that a test plays. Its threads end with their connections, which end with the commands.
pub(crate) struct PlayedBridge {
    shared: Arc<Shared>,
}

struct Shared {
    status: Value,
    /// The deltas that a subscription begins with.
    first: Vec<Value>,
    /// What is replied to a call, by its method and the question's ID.
    replies: Mutex<BTreeMap<(String, String), Value>>,
    /// The calls that came, as lines.
    calls: Mutex<Vec<Value>>,
    subscribers: Mutex<Vec<UnixStream>>,
}

impl PlayedBridge {
    /// Listens under this name, and lists these questions.
    pub(crate) fn start(machine: &TestMachine, name: &str, status: Value, first: Vec<Value>) -> Self {
        let listener = listen(machine, name);
        let shared = Arc::new(Shared {
            status,
            first,
            replies: Mutex::default(),
            calls: Mutex::default(),
            subscribers: Mutex::default(),
        });
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, shared) = (stream.unwrap(), Arc::clone(&served));
                thread::spawn(move || shared.serve(&stream));
            }
        });
        PlayedBridge { shared }
    }

    /// Replies so to this method about this question: with the members of a response beside its ID.
    pub(crate) fn reply(&self, method: &str, id: &str, reply: Value) {
        self.shared.replies.lock().unwrap().insert((method.to_owned(), id.to_owned()), reply);
    }

    /// Sends a delta to all subscribers.
    pub(crate) fn send(&self, delta: &Value) {
        for stream in self.shared.subscribers.lock().unwrap().iter() {
            // A command that has ended does not read.
            drop(write(stream, &changed(delta)));
        }
    }

    /// Returns the calls of a method that came.
    pub(crate) fn calls(&self, method: &str) -> Vec<Value> {
        let calls = self.shared.calls.lock().unwrap();
        calls.iter().filter(|call| call["method"] == method).cloned().collect()
    }
}

/// Listens in the directory of the sockets.
pub(crate) fn listen(machine: &TestMachine, name: &str) -> UnixListener {
    // A command makes the directory.
    drop(machine.run(&["list"]));
    UnixListener::bind(machine.sockets().join(format!("{name}.sock"))).unwrap()
}

/// Returns the outline of a record, with as much as the record has.
fn outline(record: &Value) -> Value {
    let mut outline = record.clone();
    if let Some(question) = record["question"].as_object() {
        outline["headline"] = question["message"].clone();
        outline.as_object_mut().unwrap().extend(question.clone());
    }
    outline
}

fn changed(delta: &Value) -> Value {
    let params = json!({ "subscription": 7, "result": delta });
    json!({ "jsonrpc": "2.0", "method": "question_changed", "params": params })
}

fn write(mut stream: &UnixStream, message: &Value) -> std::io::Result<()> {
    stream.write_all(format!("{message}\n").as_bytes())
}

impl Shared {
    fn serve(&self, stream: &UnixStream) {
        for line in BufReader::new(stream.try_clone().unwrap()).lines() {
            let Ok(line) = line else { return };
            let call: Value = serde_json::from_str(&line).unwrap();
            self.calls.lock().unwrap().push(call.clone());
            let mut response = self.response(&call);
            response["jsonrpc"] = json!("2.0");
            response["id"] = call["id"].clone();
            if write(stream, &response).is_err() {
                return;
            }
            if call["method"] == "question_subscribe" {
                self.first.iter().for_each(|delta| drop(write(stream, &changed(delta))));
                self.subscribers.lock().unwrap().push(stream.try_clone().unwrap());
            }
        }
    }

    fn response(&self, call: &Value) -> Value {
        let method = call["method"].as_str().unwrap();
        match method {
            "bridge_status" => return json!({ "result": [self.status] }),
            "question_subscribe" => return json!({ "result": 7 }),
            "question_list" | "question_outline" => {
                let questions = self.first.iter().filter_map(|delta| delta["questions"].as_array()).flatten();
                let questions: Vec<_> = match method {
                    "question_list" => questions.cloned().collect(),
                    _ => questions.map(outline).collect(),
                };
                return json!({ "result": { "protocol": 99, "revision": 7, "questions": questions } });
            }
            _ => {}
        }
        let id = call["params"]["id"].as_str().unwrap_or_default();
        let replies = self.replies.lock().unwrap();
        let reply = replies.get(&(method.to_owned(), id.to_owned())).cloned();
        let error = json!({ "code": 404, "message": "no", "data": { "name": "not_found" } });
        reply.unwrap_or_else(|| json!({ "error": error }))
    }
}
