//! The tool calls that wait for the person, one for each word that can be typed, and the rules by which the output of
//! a hook closes the dialog of a call.
//! Running the hooks is left to `terminal.rs`.

use serde_json::{Value, json};

/// A tool call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The ID of the call in the transcript.
    pub id: String,
    /// The hook event that reports the call.
    pub event: &'static str,
    /// The name of the tool.
    pub tool: &'static str,
    /// The input of the tool.
    pub input: Value,
    /// Further members of the hook's input.
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
        // Claude Code opens the dialogs of subagents and of MCP servers only after the hook has ended.
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

/// Returns the text for the model if the output of the hook closes the dialog. `None` if the dialog stays open.
pub fn told(call: &Call, code: Option<i32>, stdout: &[u8]) -> Option<String> {
    let output: Value = serde_json::from_slice(stdout).ok().filter(|_| code == Some(0))?;
    let output = &output["hookSpecificOutput"];
    if output["hookEventName"] != call.event {
        return None;
    }
    if call.event == "Elicitation" {
        let action = output["action"].as_str()?;
        return Some(format!("{action} {}", output["content"]));
    }
    let decision = &output["decision"];
    match (decision["behavior"].as_str()?, call.tool) {
        ("deny", _) => Some(decision["message"].as_str().unwrap_or_default().to_owned()),
        ("allow", "AskUserQuestion") => Some(answers(call, decision.get("updatedInput")?)),
        // Claude Code takes no decision about a plan without the plan.
        ("allow", "ExitPlanMode") if decision.get("updatedInput").is_none() => None,
        ("allow", "Bash") => {
            let input = decision.get("updatedInput").unwrap_or(&call.input);
            let lasting =
                decision.get("updatedPermissions").map(|it| format!(" with {it}")).unwrap_or_default();
            Some(format!("ran {}{lasting}", input["command"]))
        }
        ("allow", _) => Some("allowed".to_owned()),
        _ => None,
    }
}

/// Returns the text for the model about the answers. An answer whose key is not the text of a question is dropped.
fn answers(call: &Call, input: &Value) -> String {
    let Some(asked) = input["questions"].as_array() else {
        return "updatedInput that failed schema validation".to_owned();
    };
    let asked_as = &call.input["questions"];
    let given = asked.iter().filter(|asking| asked_as.as_array().is_some_and(|known| known.contains(asking)));
    let given: Vec<_> = given
        .filter_map(|asking| {
            let text = asking["question"].as_str()?;
            let notes = input["annotations"][text]["notes"].as_str();
            let notes = notes.map(|notes| format!(" notes: {notes}")).unwrap_or_default();
            Some(format!("{text:?}={}{notes}", input["answers"].get(text)?))
        })
        .collect();
    match given.is_empty() {
        true => "The user did not answer the questions.".to_owned(),
        false => format!("Your questions have been answered: {}.", given.join(", ")),
    }
}
