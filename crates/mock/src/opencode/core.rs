//! The requests of the mock opencode, and the rule for answers: the first one counts. The connections are left to
//! `server.rs`.
//!
//! Source: runs of opencode 1.18.33.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// One question with two options.
    Question,
    /// Two questions, of which one takes several options.
    Several,
    /// A permission to run a command.
    Command,
    /// A permission to change a file.
    Edit,
}

impl Sample {
    /// Returns the sample with this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "question" => Sample::Question,
            "several" => Sample::Several,
            "permission" => Sample::Command,
            "edit" => Sample::Edit,
            _ => return None,
        })
    }

    fn is_permission(self) -> bool {
        matches!(self, Sample::Command | Sample::Edit)
    }
}

/// An open request.
#[derive(Clone, Debug)]
struct PendingRequest {
    directory: String,
    request: Value,
    is_permission: bool,
}

/// An event, and the project that it happens in.
#[derive(Clone, Debug, PartialEq)]
pub struct OpencodeEvent {
    /// The folder of the project.
    pub directory: String,
    /// The event, as it stands in `/event`.
    pub event: Value,
}

/// The session of all projects.
const SESSION: &str = "ses_1";

/// The state of the mock.
#[derive(Clone, Debug, Default)]
pub struct Core {
    asked: u64,
    events: u64,
    open: BTreeMap<String, PendingRequest>,
}

impl Core {
    /// Opens a request in a project. Returns its ID and the event that announces it.
    pub fn ask(&mut self, sample: Sample, directory: &str) -> (String, OpencodeEvent) {
        self.asked += 1;
        let is_permission = sample.is_permission();
        let id = format!("{}_{:03}", if is_permission { "per" } else { "que" }, self.asked);
        let request = request(sample, &id, directory);
        let pending =
            PendingRequest { directory: directory.to_owned(), request: request.clone(), is_permission };
        self.open.insert(id.clone(), pending);
        let kind = if is_permission { "permission.asked" } else { "question.asked" };
        let happened = self.happened(directory, kind, &request);
        (id, happened)
    }

    /// Lets the agent say something in a project, and run a command that fails. Returns the events that report it.
    pub fn say(&mut self, text: &str, directory: &str) -> Vec<OpencodeEvent> {
        let info = json!({ "id": "msg_1", "sessionID": SESSION, "role": "assistant" });
        let mut part = |members: Value| {
            let mut part = json!({ "id": "prt_1", "sessionID": SESSION, "messageID": "msg_1" });
            members.as_object().into_iter().flatten().for_each(|(name, value)| part[name] = value.clone());
            let properties = json!({ "sessionID": SESSION, "part": part, "time": 1 });
            self.happened(directory, "message.part.updated", &properties)
        };
        let make = |state: Value| json!({ "id": "prt_2", "type": "tool", "callID": "call_make", "tool": "bash", "state": state });
        let input = json!({ "command": "make" });
        let parts = [
            part(json!({ "type": "text", "text": text, "time": { "start": 1, "end": 2 } })),
            part(make(json!({ "status": "running", "input": input, "time": { "start": 1 } }))),
            part(make(
                json!({ "status": "error", "input": input, "error": "exit 2", "time": { "start": 1, "end": 2 } }),
            )),
        ];
        let updated =
            self.happened(directory, "message.updated", &json!({ "sessionID": SESSION, "info": info }));
        [updated].into_iter().chain(parts).collect()
    }

    /// Returns the open questions or permissions of a project.
    pub fn list(&self, directory: &str, permissions: bool) -> Vec<Value> {
        let open = self.open.values();
        let meant = open.filter(|open| open.directory == directory && open.is_permission == permissions);
        meant.map(|open| open.request.clone()).collect()
    }

    /// Returns the ID of the oldest open request.
    pub fn oldest(&self) -> Option<&str> {
        // The order of the map is that of the prefix and the text of the number.
        let number = |id: &&String| id.rsplit('_').next().and_then(|number| number.parse::<u64>().ok());
        self.open.keys().min_by_key(number).map(String::as_str)
    }

    /// Settles an open request of a project by `{"answers": …}`, `{"reply": …}` or `null`, which rejects a question.
    /// Returns the event that reports it, or `None` if the request is not open there.
    pub fn end(&mut self, id: &str, directory: Option<&str>, by: &Value) -> Option<OpencodeEvent> {
        let is_there = |open: &&PendingRequest| directory.is_none_or(|directory| open.directory == directory);
        let fits = |open: &&PendingRequest| open.is_permission == by.get("reply").is_some();
        self.open.get(id).filter(is_there).filter(fits)?;
        let PendingRequest { directory, request, is_permission } = self.open.remove(id)?;
        let mut properties = json!({ "sessionID": request["sessionID"], "requestID": id });
        let kind = match (is_permission, by.get("answers")) {
            (true, _) => {
                properties["reply"] = by["reply"].clone();
                "permission.replied"
            }
            (false, Some(answers)) => {
                properties["answers"] = answers.clone();
                "question.replied"
            }
            (false, None) => "question.rejected",
        };
        Some(self.happened(&directory, kind, &properties))
    }

    fn happened(&mut self, directory: &str, kind: &str, properties: &Value) -> OpencodeEvent {
        self.events += 1;
        let event = json!({ "id": format!("evt_{}", self.events), "type": kind, "properties": properties });
        OpencodeEvent { directory: directory.to_owned(), event }
    }
}

fn request(sample: Sample, id: &str, directory: &str) -> Value {
    let tool = json!({ "messageID": "msg_1", "callID": format!("call_{id}") });
    let option = |label: &str, description: &str| json!({ "label": label, "description": description });
    let database = json!({
        "question": "Which database should we use?", "header": "Database",
        "options": [option("Postgres", "Relational"), option("SQLite", "Embedded")],
    });
    let features = json!({
        "question": "Which parts?", "header": "Parts", "multiple": true,
        "options": [option("Auth", "Sign in"), option("Search", "Full text")],
    });
    match sample {
        Sample::Question | Sample::Several => {
            let questions =
                if sample == Sample::Several { json!([database, features]) } else { json!([database]) };
            json!({ "id": id, "sessionID": SESSION, "questions": questions, "tool": tool })
        }
        Sample::Command => json!({
            "id": id, "sessionID": SESSION, "permission": "bash", "patterns": ["rm -rf build"],
            "metadata": { "command": "rm -rf build" }, "always": ["rm *"], "tool": tool,
        }),
        Sample::Edit => json!({
            "id": id, "sessionID": SESSION, "permission": "edit", "patterns": ["src/main.rs"],
            "metadata": {
                "filepath": format!("{directory}/src/main.rs"),
                "diff": "--- src/main.rs\n+++ src/main.rs\n@@ -1 +1 @@\n-serve(80);\n+serve(8080);\n",
            },
            "always": ["*"], "tool": tool,
        }),
    }
}
