//! The requests of the mock app server, one of each kind, as Codex 0.169.0 sends them.

use serde_json::{Value, json};

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// Two options, and a text of the person's own.
    Question,
    /// A command.
    Command,
    /// The change of a file, which stands in an item before the request.
    Files,
    /// Access to the network.
    Permissions,
}

impl Sample {
    /// Reads the name of a sample, as it is typed.
    pub(super) fn read(name: &str) -> Option<Self> {
        match name {
            "" | "question" => Some(Sample::Question),
            "command" => Some(Sample::Command),
            "files" => Some(Sample::Files),
            "permissions" => Some(Sample::Permissions),
            _ => None,
        }
    }

    pub(super) fn method(self) -> &'static str {
        match self {
            Sample::Question => "item/tool/requestUserInput",
            Sample::Command => "item/commandExecution/requestApproval",
            Sample::Files => "item/fileChange/requestApproval",
            Sample::Permissions => "item/permissions/requestApproval",
        }
    }

    /// Returns the flag in the status of a thread that waits for this request.
    pub(super) fn flag(self) -> &'static str {
        match self {
            Sample::Question => "waitingOnUserInput",
            _ => "waitingOnApproval",
        }
    }

    pub(super) fn params(self, thread: &str, turn: &str, item: &str, cwd: &str) -> Value {
        let mut params = match self {
            Sample::Question => json!({
                "questions": [{
                    "id": "db", "header": "Database", "question": "Which database should we use?",
                    "isOther": true, "isSecret": false, "options": [
                        { "label": "Postgres", "description": "Relational" },
                        { "label": "SQLite", "description": "Embedded" },
                    ],
                }],
                "isBlocking": false, "autoResolutionMs": null,
            }),
            Sample::Command => json!({
                "kind": "command", "startedAtMs": 0, "environmentId": null, "command": "touch made-by-codex && ls",
                "cwd": cwd, "availableDecisions": [
                    "accept",
                    { "acceptWithExecpolicyAmendment": { "execpolicy_amendment": ["touch", "made-by-codex"] } },
                    "cancel",
                ],
            }),
            Sample::Files => json!({ "startedAtMs": 0, "reason": null, "grantRoot": null }),
            Sample::Permissions => json!({
                "reason": "It needs the network.", "cwd": cwd,
                "permissions": { "network": { "enabled": true }, "fileSystem": null },
            }),
        };
        for (member, value) in [("threadId", thread), ("turnId", turn), ("itemId", item)] {
            params[member] = value.into();
        }
        params
    }

    /// Returns the item that begins before the request.
    pub(super) fn item(self, item: &str, cwd: &str) -> Option<Value> {
        let changes = [self.change(cwd, "new")?];
        Some(json!({ "type": "fileChange", "id": item, "changes": changes, "status": "inProgress" }))
    }

    /// Returns the change of a file to this text.
    pub(super) fn change(self, cwd: &str, text: &str) -> Option<Value> {
        let (path, diff) = (format!("{cwd}/main.rs"), format!("@@ -1 +1 @@\n-old\n+{text}\n"));
        let change = json!({ "path": path, "kind": { "type": "update", "move_path": null }, "diff": diff });
        (self == Sample::Files).then_some(change)
    }

    /// Returns the result of the first option at the keyboard, or that of a refusal.
    pub(super) fn result(self, approve: bool) -> Value {
        match (self, approve) {
            (Sample::Question, true) => json!({ "answers": { "db": { "answers": ["Postgres"] } } }),
            (Sample::Question, false) => json!({ "answers": {} }),
            (Sample::Permissions, true) => {
                json!({ "permissions": { "network": { "enabled": true } }, "scope": "turn" })
            }
            (Sample::Permissions, false) => json!({ "permissions": {}, "scope": "turn" }),
            (_, true) => json!({ "decision": "accept" }),
            (_, false) => json!({ "decision": "decline" }),
        }
    }
}
