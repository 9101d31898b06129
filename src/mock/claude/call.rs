//! The tool calls that wait for the person, by the word that is typed for them.

use serde_json::{Value, json};

/// A tool call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its ID in the transcript.
    pub id: String,
    /// The event of the hook that is told of it.
    pub event: &'static str,
    /// The tool.
    pub tool: &'static str,
    /// Its input.
    pub input: Value,
    /// What else the hook is told.
    pub more: Value,
}

impl Call {
    /// Returns the call for a word. `None` for an unknown one.
    pub fn of(word: &str, number: u32) -> Option<Self> {
        let (event, tool, input, more) = match word {
            "ask" => ("PermissionRequest", "AskUserQuestion", questions(), json!({})),
            "agent" => (
                "PermissionRequest",
                "AskUserQuestion",
                questions(),
                json!({ "agent_id": "a1", "agent_type": "Explore" }),
            ),
            "bash" => (
                "PermissionRequest",
                "Bash",
                json!({ "command": "touch made-by-bash && ls", "description": "Touch a file" }),
                json!({ "permission_suggestions": [
                    { "type": "addRules", "rules": [{ "toolName": "Bash", "ruleContent": "touch made-by-bash *" }],
                      "behavior": "allow", "destination": "localSettings" },
                ] }),
            ),
            "plan" => (
                "PermissionRequest",
                "ExitPlanMode",
                json!({ "plan": "1. Write the test\n2. Make it pass", "planFilePath": "plan.md" }),
                json!({}),
            ),
            "form" => (
                "Elicitation",
                "",
                json!({}),
                json!({ "mcp_server_name": "ask", "message": "Which database?", "mode": "form",
                    "requested_schema": { "type": "object", "required": ["db"],
                        "properties": { "db": { "type": "string", "enum": ["Postgres", "SQLite"] } } } }),
            ),
            _ => return None,
        };
        Some(Call { id: format!("toolu_{number:04}"), event, tool, input, more })
    }

    /// Returns whether the dialog is shown while the hook waits.
    pub fn is_live(&self) -> bool {
        self.event == "PermissionRequest" && self.more.get("agent_id").is_none()
    }

    /// Returns the input with an answer to its first question, as the dialog gives it.
    pub fn answered(&self, text: &str) -> Value {
        let mut input = self.input.clone();
        if let Some(question) = input.pointer("/questions/0/question").and_then(Value::as_str) {
            input["answers"] = json!({ question: text });
        }
        input
    }
}

fn questions() -> Value {
    json!({ "questions": [{
        "question": "Which database should we use?", "header": "Database", "multiSelect": false,
        "options": [
            { "label": "Postgres", "description": "Relational" },
            { "label": "SQLite", "description": "Embedded" },
        ],
    }] })
}
