//! What each agent writes when it asks, taken from its wire or its code.
//! How it reads the response is left to `hearing.rs`.

use serde_json::{Map, Value, json};

use crate::matrix::agents::Agent;
use crate::matrix::field::{Field, Kind};

/// Codex's option which means that the answer is in the note.
pub(crate) const NONE_OF_THE_ABOVE: &str = "None of the above";

impl Agent {
    /// Returns the method and the parameters of the agent's request for these fields.
    pub(crate) fn asks(self, fields: &[Field]) -> (&'static str, Value) {
        match self {
            Agent::Native => ("_sandboxagent/session/request_question", native(fields)),
            Agent::Historic => ("session/elicitation", self.form(fields)),
            Agent::Qwen => ("session/request_permission", qwen(fields)),
            Agent::KimiPermission | Agent::Pi => ("session/request_permission", self.permission(&fields[0])),
            Agent::Cursor => ("cursor/ask_question", cursor(fields)),
            Agent::Grok => ("_x.ai/ask_user_question", grok(fields)),
            Agent::Kiro => ("_kiro/userInput", kiro(&fields[0])),
            Agent::Agentao => ("_agentao.cn/ask_user", agentao(&fields[0])),
            Agent::Hrns => ("_hrns/ask_user", hrns(fields)),
            _ => ("elicitation/create", self.form(fields)),
        }
    }

    fn form(self, fields: &[Field]) -> Value {
        let mut properties = Map::new();
        for field in fields {
            properties.insert(field.key.clone(), self.property(field, fields.len() == 1));
            if let Some((key, companion)) = self.companion(field) {
                properties.insert(key, companion);
            }
        }
        let required: Vec<_> = fields.iter().filter(|field| field.required).map(|field| &field.key).collect();
        let message = match (self, fields) {
            (Agent::Claude, [only]) => only.text.clone(),
            (Agent::Codex, _) => "Codex needs your input to continue.".to_owned(),
            (Agent::Kimi, fields) => {
                fields.iter().map(|field| field.text.as_str()).collect::<Vec<_>>().join("\n")
            }
            _ => "Please answer the following questions.".to_owned(),
        };
        let mut params = json!({
            "mode": "form", "sessionId": "s", "toolCallId": "call", "message": message,
            "requestedSchema": { "type": "object", "properties": properties },
        });
        if !required.is_empty() {
            params["requestedSchema"]["required"] = json!(required);
        }
        match self {
            Agent::Codex => params["_meta"] = json!({ "codex": { "autoResolutionMs": null } }),
            Agent::CodexAsync => {
                params["_meta"] = json!({ "codex": { "delivery": "async" } });
                params.as_object_mut().expect("an object").remove("toolCallId");
            }
            Agent::Devin => params["_meta"] = json!({ "cognition.ai/allowOther": fields[0].typed }),
            _ => {}
        }
        params
    }

    fn property(self, field: &Field, alone: bool) -> Value {
        let mut property = of_kind(field);
        match self {
            // Claude writes a lone question in the message only.
            Agent::Claude if alone => property["title"] = json!("Header"),
            Agent::Claude | Agent::Kimi => {
                property["title"] = json!("Header");
                property["description"] = json!(field.text);
            }
            Agent::Codex | Agent::CodexAsync => {
                property["title"] = json!(field.text);
                property["description"] = json!("Header");
                property["_meta"] = json!({ "codex": { "isOther": field.typed, "isSecret": false } });
                let none = json!({ "const": NONE_OF_THE_ABOVE, "title": NONE_OF_THE_ABOVE });
                if let Some(options) = property["oneOf"].as_array_mut().filter(|_| field.typed) {
                    options.push(none);
                }
            }
            _ => property["title"] = json!(field.text),
        }
        property
    }

    /// Returns the companion of a field: the second field that takes a free text.
    fn companion(self, field: &Field) -> Option<(String, Value)> {
        if field.options.is_empty() {
            return None;
        }
        let key = &field.key;
        match self {
            Agent::Claude => {
                let description =
                    "Type your own answer, or add a note to the option you chose above (optional).";
                let text = json!({ "type": "string", "title": "Other", "description": description });
                field.typed.then(|| (format!("{key}_custom"), text))
            }
            Agent::Codex | Agent::CodexAsync => {
                let meta = json!({ "codex": { "questionId": key, "role": "user_note", "isSecret": false } });
                let text = json!({ "type": "string", "title": "Additional answer or note", "_meta": meta });
                // Codex numbers the key if it is taken, so that only the mark identifies the companion.
                Some((format!("{key}_note1"), text))
            }
            Agent::OhMyPi => {
                field.typed.then(|| (format!("{key}__other"), json!({ "type": "string", "title": "Other" })))
            }
            Agent::Opencode => {
                field.typed.then(|| (format!("{key}_custom"), json!({ "type": "string", "title": "Custom" })))
            }
            _ => None,
        }
    }

    fn permission(self, field: &Field) -> Value {
        let option =
            |(id, name): &(String, String)| json!({ "optionId": id, "name": name, "kind": "allow_once" });
        let mut options: Vec<_> = field.options.iter().map(option).collect();
        if self == Agent::Pi {
            let tool_call = json!({ "toolCallId": "pi-ui-1", "title": field.text });
            return json!({ "sessionId": "s", "toolCall": tool_call, "options": options });
        }
        options.push(json!({ "optionId": "q0_skip", "name": "Skip", "kind": "reject_once" }));
        let content = json!([{ "type": "content", "content": { "type": "text", "text": field.text } }]);
        let tool_call = json!({ "toolCallId": "call", "title": "AskUserQuestion", "content": content });
        json!({ "sessionId": "s", "toolCall": tool_call, "options": options })
    }
}

fn of_kind(field: &Field) -> Value {
    let options: Vec<_> =
        field.options.iter().map(|(value, label)| json!({ "const": value, "title": label })).collect();
    match field.kind {
        Kind::Text { least, most: u32::MAX } => json!({ "type": "string", "minLength": least }),
        Kind::Text { least, most } => json!({ "type": "string", "minLength": least, "maxLength": most }),
        Kind::One => json!({ "type": "string", "oneOf": options }),
        Kind::Many { least: 0, most: u32::MAX } => json!({ "type": "array", "items": { "anyOf": options } }),
        Kind::Many { least, most: u32::MAX } => {
            json!({ "type": "array", "items": { "anyOf": options }, "minItems": least })
        }
        Kind::Many { least, most } => {
            json!({ "type": "array", "items": { "anyOf": options }, "minItems": least, "maxItems": most })
        }
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Number { integer: true, least, most } => {
            json!({ "type": "integer", "minimum": least.ceil(), "maximum": most.floor() })
        }
        Kind::Number { integer: false, least, most } => {
            json!({ "type": "number", "minimum": least, "maximum": most })
        }
    }
}

/// Writes the plain shape if it can express all fields, otherwise the complete form under `_meta`.
fn native(fields: &[Field]) -> Value {
    let plain = |field: &Field| match field.kind {
        Kind::Text { least, most } => field.required && least == 0 && most == u32::MAX,
        Kind::Many { least, most } => field.required && least == 0 && most == u32::MAX,
        Kind::One => field.required,
        Kind::Flag | Kind::Number { .. } => false,
    };
    let options = |field: &Field| -> Vec<_> {
        field.options.iter().map(|(value, label)| json!({ "value": value, "label": label })).collect()
    };
    if !fields.iter().all(plain) {
        let fields: Vec<_> = fields.iter().map(native_field).collect();
        return json!({ "sessionId": "s", "_meta": { "askbridge": { "fields": fields } } });
    }
    match fields {
        [only] if !only.typed && only.kind == Kind::One => {
            json!({ "sessionId": "s", "questionId": "q", "prompt": only.text, "options": only.options })
        }
        fields => {
            let question = |field: &Field| {
                let multiple = matches!(field.kind, Kind::Many { .. });
                json!({ "question": field.text, "options": options(field), "multiple": multiple, "custom": field.typed })
            };
            json!({ "sessionId": "s", "questions": fields.iter().map(question).collect::<Vec<_>>() })
        }
    }
}

fn native_field(field: &Field) -> Value {
    let options: Vec<_> =
        field.options.iter().map(|(value, label)| json!({ "value": value, "label": label })).collect();
    let mut json = match field.kind {
        Kind::Text { least, most } => json!({ "kind": "text", "minLength": least, "maxLength": most }),
        Kind::One => json!({ "kind": "choice", "options": options, "other": field.typed }),
        Kind::Many { least, most } => {
            json!({ "kind": "choices", "options": options, "other": field.typed, "min": least, "max": most })
        }
        Kind::Flag => json!({ "kind": "boolean" }),
        Kind::Number { integer, least, most } => {
            json!({ "kind": "number", "integer": integer, "min": least, "max": most })
        }
    };
    (json["name"], json["label"], json["required"]) =
        (json!(field.key), json!(field.text), json!(field.required));
    json
}

fn labelled(field: &Field) -> Vec<Value> {
    field.options.iter().map(|(_, label)| json!({ "label": label, "description": "…" })).collect()
}

fn qwen(fields: &[Field]) -> Value {
    let question = |field: &Field| {
        let many = matches!(field.kind, Kind::Many { .. });
        json!({ "question": field.text, "header": "Header", "options": labelled(field), "multiSelect": many })
    };
    let questions: Vec<_> = fields.iter().map(question).collect();
    let meta = json!({
        "toolName": "ask_user_question", "qwenInteractionKind": "user_question", "qwenQuestions": questions,
    });
    json!({
        "sessionId": "s",
        "options": [
            { "optionId": "proceed_once", "name": "Submit", "kind": "allow_once" },
            { "optionId": "cancel", "name": "Cancel", "kind": "reject_once" },
        ],
        "toolCall": { "toolCallId": "call", "title": "Ask user questions", "kind": "think",
            "rawInput": { "questions": questions }, "_meta": meta },
    })
}

fn cursor(fields: &[Field]) -> Value {
    let question = |field: &Field| {
        let options: Vec<_> =
            field.options.iter().map(|(id, label)| json!({ "id": id, "label": label })).collect();
        let many = matches!(field.kind, Kind::Many { .. });
        json!({ "id": field.key, "prompt": field.text, "options": options, "allowMultiple": many })
    };
    let questions: Vec<_> = fields.iter().map(question).collect();
    json!({ "toolCallId": "call", "title": "Setup", "questions": questions })
}

fn grok(fields: &[Field]) -> Value {
    let question = |field: &Field| {
        let many = matches!(field.kind, Kind::Many { .. }).then_some(true);
        json!({ "id": field.key, "question": field.text, "options": labelled(field), "multiSelect": many })
    };
    let questions: Vec<_> = fields.iter().map(question).collect();
    json!({ "sessionId": "s", "toolCallId": "call", "questions": questions, "mode": "default" })
}

fn kiro(field: &Field) -> Value {
    let options: Vec<_> = field.options.iter().map(|(_, label)| json!({ "title": label })).collect();
    json!({ "sessionId": "s", "toolCallId": "call", "question": field.text, "options": options })
}

fn agentao(field: &Field) -> Value {
    let mut params = json!({ "sessionId": "s", "question": field.text });
    if !field.options.is_empty() {
        params["options"] = field.options.iter().map(|(_, label)| json!(label)).collect();
    }
    if matches!(field.kind, Kind::Many { .. }) {
        params["multiple"] = json!(true);
    }
    params
}

fn hrns(fields: &[Field]) -> Value {
    let question = |field: &Field| {
        let options: Vec<_> =
            field.options.iter().map(|(_, label)| json!({ "label": label, "description": "" })).collect();
        let many = matches!(field.kind, Kind::Many { .. });
        json!({ "header": field.key, "question": field.text, "multiSelect": many, "options": options })
    };
    json!({ "requestId": "r", "questions": fields.iter().map(question).collect::<Vec<_>>() })
}
