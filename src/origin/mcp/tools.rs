//! The two tools as a model reads them: names, descriptions and schemas.
//! What a call leads to is left to `server.rs`.

use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// The tool that asks.
pub(super) const ASK: &str = "ask_user_question";
/// The tool that waits for the answer to a question that was asked before.
pub(super) const WAIT: &str = "wait_for_answer";

/// What a model is told about the server.
pub(super) const INSTRUCTIONS: &str = "Call ask_user_question when you need a decision, a preference or a fact from \
    the person, also while they are away from this terminal: they can answer elsewhere. The call waits for the answer. If \
    it returns a ticket instead, call wait_for_answer with the ticket until there is an answer.";

const ASKS: &str = "Ask the person you work for, and wait for the answer.

Use it when you need a decision, a preference or a fact that only the person can give, and a wrong guess would cost work \
or do harm. The person may be away from this terminal: they see the question in a browser, on a phone or in another \
terminal as well. The call returns once they have answered, which can take minutes.

Ask 1 to 4 questions in one call. Give each one 2 to 4 options, and put the option that you recommend first. Set \
multiSelect to true where several options may be chosen. The person can always answer in their own words, so do not add \
an option such as \"Other\".

The result names each question with its answer, and says which ones were not answered. If the person rejected the \
question, the result says so, and why. A rejection or a missing answer is not consent.

If the result says that the person has not answered yet, it has a ticket: call wait_for_answer with it, and go on calling \
until there is an answer. Do not ask the question again, and do not assume an answer.";

const WAITS: &str = "Wait for the answer to a question that ask_user_question has asked.

Call it with the ticket from a result of ask_user_question or wait_for_answer that says that the person has not answered \
yet. The call returns once the person has answered. If it returns the ticket once more, call it again. A ticket stays \
valid after the answer, so the same answer can be fetched again.";

/// An example of the arguments, for a caller whose arguments cannot be read.
pub(super) const EXAMPLE: &str = r#"{"questions":[{"question":"Which database should we use?","header":"Database","options":[{"label":"SQLite","description":"One file, no server"},{"label":"Postgres","description":"A server of its own"}],"multiSelect":false}]}"#;

/// Returns both tools.
pub(super) fn tools() -> Vec<Tool> {
    // Nothing but the person's attention changes, so that clients may call both without asking for permission first.
    let harmless = ToolAnnotations::new().read_only(true).destructive(false).open_world(false);
    let ask = Tool::new(ASK, ASKS, object(questions()))
        .with_title("Ask the person")
        .with_annotations(harmless.clone().idempotent(false));
    let wait = Tool::new(WAIT, WAITS, object(ticket()))
        .with_title("Wait for the person's answer")
        .with_annotations(harmless.idempotent(true));
    [ask, wait].map(|tool| tool.with_meta(meta())).into()
}

/// Lets Claude Code show the tools to the model at once, and not only to its search for tools.
fn meta() -> MetaObject {
    MetaObject([("anthropic/alwaysLoad".to_owned(), Value::Bool(true))].into_iter().collect())
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(members) => Arc::new(members),
        _ => Arc::default(),
    }
}

/// Returns the schema of Claude's `AskUserQuestion`, which models know.
fn questions() -> Value {
    json!({
        "type": "object",
        "properties": {
            "questions": {
                "type": "array",
                "description": "The questions, 1 to 4",
                "minItems": 1,
                "maxItems": 4,
                "items": question(),
            },
        },
        "required": ["questions"],
        "additionalProperties": false,
    })
}

fn question() -> Value {
    json!({
        "type": "object",
        "properties": {
            "question": {
                "type": "string",
                "description": "The whole question, clear and specific, with a question mark at the end",
            },
            "header": {
                "type": "string",
                "description": "A label of at most 12 characters, such as \"Database\" or \"Auth method\"",
            },
            "options": {
                "type": "array",
                "description": "The options to choose from, 2 to 4. An answer in own words is always possible",
                "minItems": 2,
                "maxItems": 4,
                "items": option(),
            },
            "multiSelect": {
                "type": "boolean",
                "description": "Whether several options may be chosen",
                "default": false,
            },
        },
        "required": ["question", "header", "options", "multiSelect"],
        "additionalProperties": false,
    })
}

fn option() -> Value {
    json!({
        "type": "object",
        "properties": {
            "label": {
                "type": "string",
                "description": "The option in 1 to 5 words",
            },
            "description": {
                "type": "string",
                "description": "What the option means, and what follows from it",
            },
            "preview": {
                "type": "string",
                "description": "A sample to compare the options by, in Markdown, such as code or a sketch",
            },
        },
        "required": ["label", "description"],
        "additionalProperties": false,
    })
}

fn ticket() -> Value {
    json!({
        "type": "object",
        "properties": {
            "ticket": {
                "type": "string",
                "description": "The ticket, as the result that says that the person has not answered yet has it",
            },
        },
        "required": ["ticket"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_harmless_always_loaded_and_need_no_approval() {
        let tools = serde_json::to_value(tools()).expect("JSON");
        let names: Vec<_> = tools.as_array().expect("tools").iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["ask_user_question", "wait_for_answer"]);
        for tool in tools.as_array().expect("tools") {
            assert_eq!(tool["annotations"]["readOnlyHint"], true);
            assert_eq!(tool["annotations"]["destructiveHint"], false);
            assert_eq!(tool["_meta"], json!({ "anthropic/alwaysLoad": true }));
            assert_eq!(tool["inputSchema"]["type"], "object");
        }
    }
}
