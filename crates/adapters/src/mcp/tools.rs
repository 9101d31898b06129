//! The two tools: their names, descriptions and schemas as a model reads them, and the arguments of a call read as a
//! question. The arguments have the shape of Claude's `AskUserQuestion`, or a variant that other models write.
//! Mistakes are described for the model that made them. Carrying out a call is left to `server.rs`.

use std::sync::Arc;

use askbridge_core::{
    dialect::unshown,
    question::{Field, FieldOption, Kind, Origin, Preview, PreviewFormat, Question},
};
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, Value as Json, json};

/// The tool that asks.
pub(super) const ASK: &str = "ask_user_question";
/// The tool that waits for the answer to a question that was asked before.
pub(super) const WAIT: &str = "wait_for_answer";

/// The instructions of the server for a model.
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

The result names each question with its answer, and says which ones were not answered. The person may add images, which \
follow the text. If the person rejected the \
question, the result says so, and why. A rejection or a missing answer is not consent.

If the result says that the person has not answered yet, it has a ticket: call wait_for_answer with it, and keep calling \
until there is an answer. Do not ask the question again, and do not assume an answer.";

const WAITS: &str = "Wait for the answer to a question that ask_user_question has asked.

Call it with the ticket from a result of ask_user_question or wait_for_answer that says that the person has not answered \
yet. The call returns once the person has answered. If it returns the ticket once more, call it again. A ticket stays \
valid after the answer, so the same answer can be fetched again.";

/// An example of the arguments, for a caller whose arguments cannot be read.
pub(super) const EXAMPLE: &str = r#"{"questions":[{"question":"Which database should we use?","header":"Database","options":[{"label":"SQLite","description":"One file, no server"},{"label":"Postgres","description":"A server of its own"}],"multiSelect":false}]}"#;

/// Returns both tools.
pub(super) fn tools() -> Vec<Tool> {
    // The tools change nothing but the person's attention, so clients may call both without asking for permission
    // first.
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

/// The most questions of one call.
const QUESTIONS: usize = 4;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QuestionArgument {
    question: String,
    // The schema requires all members, but models leave some out.
    #[serde(default)]
    header: Option<String>,
    #[serde(default)]
    options: Vec<OptionArgument>,
    #[serde(default)]
    multi_select: bool,
}

#[derive(Deserialize)]
struct OptionArgument {
    label: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    preview: Option<String>,
}

/// Reads the arguments of `ask_user_question`.
///
/// # Errors
/// A sentence without a full stop that describes the mistake.
pub(super) fn read_question(arguments: Option<&JsonObject>) -> Result<Question, String> {
    let questions = arguments
        .and_then(|members| members.get("questions"))
        .ok_or("the argument `questions` is missing")?;
    let json = questions.to_string();
    let questions: Vec<QuestionArgument> = read(questions)?;
    if questions.is_empty() || questions.len() > QUESTIONS {
        return Err(format!("there must be 1 to {QUESTIONS} questions, there are {}", questions.len()));
    }
    let fields = (0..).zip(questions).map(|(place, asks)| field(place, asks));
    let mut question = Question::new(Origin::Mcp, "question", fields.collect::<Result<_, _>>()?);
    unshown::add(&mut question, json.as_bytes());
    question.takes_images = true;
    question.check_limits()?;
    Ok(question)
}

/// Reads a list of questions. Some models write the list as a string of JSON.
fn read(questions: &Json) -> Result<Vec<QuestionArgument>, String> {
    let read = |json: &Json| -> Result<Vec<QuestionArgument>, String> {
        serde_path_to_error::deserialize(json).map_err(|error| match error.path().to_string().as_str() {
            "." => format!("questions: {}", error.inner()),
            path => {
                format!("questions{}{path}: {}", if path.starts_with('[') { "" } else { "." }, error.inner())
            }
        })
    };
    match questions {
        Json::String(text) => match serde_json::from_str(text) {
            Ok(json) => read(&json),
            Err(_) => Err("`questions` is a text, and must be a list".to_owned()),
        },
        json => read(json),
    }
}

fn field(place: usize, asks: QuestionArgument) -> Result<Field, String> {
    let number = place + 1;
    let label = asks.question.trim();
    if label.is_empty() {
        return Err(format!("question {number} has no text"));
    }
    let mut options: Vec<FieldOption> = Vec::with_capacity(asks.options.len());
    for option in asks.options {
        let label = option.label.trim();
        if label.is_empty() {
            return Err(format!("an option of question {number} has no label"));
        }
        // The answer names an option by its label, so labels must differ.
        if options.iter().any(|other| other.label == label) {
            return Err(format!("question {number} has two options {label:?}"));
        }
        options.push(FieldOption {
            value: label.to_owned(),
            label: label.to_owned(),
            description: filled(option.description),
            preview: filled(option.preview)
                .map(|text| Box::new(Preview { format: PreviewFormat::Markdown, text })),
            ..FieldOption::default()
        });
    }
    let kind = Kind::choice(options, asks.multi_select, true);
    let mut field = Field::at(place, label.to_owned(), filled(asks.header), kind);
    // The person may leave a question out, and the result says so.
    field.required = false;
    Ok(field)
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// Reads the arguments of `wait_for_answer`.
pub(super) fn read_ticket(arguments: Option<&JsonObject>) -> Option<&str> {
    arguments?.get("ticket")?.as_str().map(str::trim)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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

    fn asked(questions: Json) -> Result<Question, String> {
        let arguments = [("questions".to_owned(), questions)].into_iter().collect();
        read_question(Some(&arguments))
    }

    fn one(options: Json) -> Json {
        json!([{ "question": "Which?", "header": "H", "multiSelect": false, "options": options }])
    }

    #[test]
    fn questions_become_fields_that_may_be_left_out() {
        let preview = json!({ "label": " A ", "description": "x", "preview": "# A" });
        let question = asked(json!([
            { "question": "Which?", "header": "H", "multiSelect": false, "options": [preview, { "label": "B" }] },
            { "question": "Parts?", "header": " ", "multiSelect": true, "options": [{ "label": "C" }, { "label": "D" }] },
            { "question": "Why?" },
        ]))
        .expect("a question");
        let [which, parts, why] = &*question.fields else { panic!("{question:?}") };
        assert_eq!((&*which.name, &*which.label, which.header.as_deref()), ("q0", "Which?", Some("H")));
        assert!(!which.required && which.kind.takes_other());
        assert_eq!(which.kind.options()[0].value, "A");
        assert_eq!(which.kind.options()[0].preview.as_ref().expect("a preview").text, "# A");
        assert!(matches!(parts.kind, Kind::Choices { other: true, .. }) && parts.header.is_none());
        assert!(matches!(why.kind, Kind::Text { .. }));
    }

    #[test]
    fn list_in_a_text_is_read() {
        let question = asked(Json::from(one(json!([{ "label": "A" }])).to_string())).expect("a question");
        assert_eq!(question.fields[0].kind.options()[0].label, "A");
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let five = json!((0..5).map(|n| json!({ "question": n.to_string() })).collect::<Vec<_>>());
        for (questions, problem) in [
            (json!([]), "there must be 1 to 4 questions, there are 0"),
            (five, "there must be 1 to 4 questions, there are 5"),
            (json!({}), "questions: invalid type: map, expected a sequence"),
            (json!("Which?"), "`questions` is a text, and must be a list"),
            (
                json!(["Which?"]),
                "questions[0]: invalid type: string \"Which?\", expected struct QuestionArgument",
            ),
            (json!([{}]), "questions[0]: missing field `question`"),
            (json!([{ "question": " " }]), "question 1 has no text"),
            (
                one(json!(["A"])),
                "questions[0].options[0]: invalid type: string \"A\", expected struct OptionArgument",
            ),
            (one(json!([{ "label": "" }])), "an option of question 1 has no label"),
            (one(json!([{ "label": "A" }, { "label": "A " }])), "question 1 has two options \"A\""),
            (json!([{ "question": "x".repeat(4001) }]), "a field's text is longer than 4000 characters"),
        ] {
            assert_eq!(asked(questions).expect_err(problem), problem);
        }
        assert_eq!(read_question(None).expect_err("nothing"), "the argument `questions` is missing");
    }
}
