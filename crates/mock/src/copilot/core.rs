//! The requests of the mock Copilot, and the rule for answers: the first one counts. The connections are left to
//! `server.rs`.
//!
//! Source: runs of Copilot CLI 1.0.102. Plans and questions with choices are taken from the types of its SDK.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// A form with one choice.
    Form,
    /// A question with choices.
    Text,
    /// A permission to run a command.
    Command,
    /// A plan.
    Plan,
}

impl Sample {
    /// Returns the sample with this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "question" => Sample::Form,
            "choices" => Sample::Text,
            "permission" => Sample::Command,
            "plan" => Sample::Plan,
            _ => return None,
        })
    }

    /// Returns the prefix of the types of its events.
    fn kind(self) -> &'static str {
        match self {
            Sample::Form => "elicitation",
            Sample::Text => "user_input",
            Sample::Command => "permission",
            Sample::Plan => "exit_plan_mode",
        }
    }

    /// Returns the sample that is answered by this method, and the parameter that has the answer.
    pub fn of_method(method: &str) -> Option<(Self, &'static str)> {
        Some(match method {
            "session.ui.handlePendingElicitation" => (Sample::Form, "result"),
            "session.ui.handlePendingUserInput" => (Sample::Text, "response"),
            "session.permissions.handlePendingPermissionRequest" => (Sample::Command, "result"),
            "session.ui.handlePendingExitPlanMode" => (Sample::Plan, "response"),
            _ => return None,
        })
    }
}

/// An open request.
#[derive(Clone, Debug)]
struct OpenRequest {
    id: String,
    sample: Sample,
    session: String,
    data: Value,
}

/// An event, and the session that it happens in.
#[derive(Clone, Debug)]
pub struct CopilotEvent {
    /// The session.
    pub session: String,
    /// The event.
    pub event: Value,
}

/// The state of the mock.
#[derive(Clone, Debug, Default)]
pub struct Core {
    asked: u64,
    events: u64,
    open: BTreeMap<u64, OpenRequest>,
    /// The events that Copilot has not forgotten yet.
    log: Vec<CopilotEvent>,
}

impl Core {
    /// Opens a request in a session. Returns its ID and the event that announces it.
    pub fn ask(&mut self, sample: Sample, session: &str) -> (String, CopilotEvent) {
        self.asked += 1;
        let id = format!("req-{}", self.asked);
        let open =
            OpenRequest { id: id.clone(), sample, session: session.to_owned(), data: data(sample, &id) };
        let happened = self.happened(&open, "requested", open.data.clone());
        self.open.insert(self.asked, open);
        (id, happened)
    }

    /// Returns the ID and the kind of the oldest open request.
    pub fn oldest(&self) -> Option<(&str, Sample)> {
        self.open.values().next().map(|open| (&*open.id, open.sample))
    }

    /// Returns the open permissions of a session.
    pub fn permissions(&self, session: &str) -> Vec<Value> {
        let open =
            self.open.values().filter(|open| open.sample == Sample::Command && open.session == session);
        open.map(|open| json!({ "requestId": open.id, "request": open.data["promptRequest"] })).collect()
    }

    /// Returns the events of a session that are still known.
    pub fn log(&self, session: &str) -> Vec<&Value> {
        self.log.iter().filter(|past| past.session == session).map(|past| &past.event).collect()
    }

    /// Forgets all events, as Copilot does once many others have followed.
    pub fn forget(&mut self) {
        self.log.clear();
    }

    /// Forgets a session and its open requests. No event reports that.
    pub fn leave(&mut self, session: &str) {
        self.open.retain(|_, open| open.session != session);
        self.log.retain(|past| past.session != session);
    }

    /// Settles a request by this answer. Returns the event that reports it, or `None` if the request is not open.
    pub fn end(&mut self, id: &str, sample: Sample, by: &Value, is_keyboard: bool) -> Option<CopilotEvent> {
        let is_meant = |open: &&OpenRequest| open.id == id && open.sample == sample;
        let number = self.open.iter().find(|(_, open)| is_meant(open)).map(|(number, _)| *number)?;
        let open = self.open.remove(&number)?;
        let mut data = json!({ "requestId": id });
        match sample {
            Sample::Command => {
                let kind = match by["kind"].as_str() {
                    Some("approve-once") => "approved",
                    Some("approve-for-session") => "approved-for-session",
                    _ => "denied-interactively-by-user",
                };
                data["result"] = json!({ "kind": kind });
                if is_keyboard {
                    data["decisionSource"] = "human_response".into();
                }
            }
            _ => by.as_object().into_iter().flatten().for_each(|(name, value)| data[name] = value.clone()),
        }
        Some(self.happened(&open, "completed", data))
    }

    fn happened(&mut self, open: &OpenRequest, what: &str, data: Value) -> CopilotEvent {
        self.events += 1;
        let (id, kind) = (format!("event-{}", self.events), format!("{}.{what}", open.sample.kind()));
        let event = json!({ "id": id, "type": kind, "data": data });
        let happened = CopilotEvent { session: open.session.clone(), event };
        self.log.push(happened.clone());
        happened
    }
}

fn data(sample: Sample, id: &str) -> Value {
    match sample {
        Sample::Form => json!({
            "requestId": id, "message": "Which database should we use?", "toolCallId": format!("call-{id}"),
            "requestedSchema": { "type": "object", "properties": {
                "database": { "type": "string", "title": "Database", "enum": ["Postgres", "SQLite"] },
            } },
        }),
        Sample::Text => json!({
            "requestId": id, "question": "Which database should we use?", "choices": ["Postgres", "SQLite"],
            "allowFreeform": true,
        }),
        Sample::Command => {
            let command = "rm -rf build";
            json!({
                "requestId": id,
                "permissionRequest": {
                    "kind": "shell", "fullCommandText": command, "intention": "Remove the build folder",
                    "canOfferSessionApproval": true, "toolCallId": format!("call-{id}"),
                },
                "promptRequest": {
                    "kind": "commands", "fullCommandText": command, "intention": "Remove the build folder",
                    "commandIdentifiers": ["rm"], "canOfferSessionApproval": true,
                    "toolCallId": format!("call-{id}"),
                },
            })
        }
        Sample::Plan => json!({
            "requestId": id, "summary": "Serve on port 8080", "planContent": "1. Change the port\n2. Run the tests",
            "actions": ["interactive", "autopilot", "exit_only"], "recommendedAction": "interactive",
        }),
    }
}
