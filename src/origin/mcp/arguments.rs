//! The arguments of a call, read as a question: the shape of Claude's `AskUserQuestion`, with what other models make of
//! it. What is wrong with them is said for the model that wrote them.

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::question::{Field, FieldOption, Kind, Origin, Preview, PreviewFormat, Question};

/// Questions of one call.
const QUESTIONS: usize = 4;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QuestionArgument {
    question: String,
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
/// A sentence without a full stop that says what is wrong.
pub(super) fn read_question(arguments: Option<&JsonObject>) -> Result<Question, String> {
    let questions = arguments
        .and_then(|members| members.get("questions"))
        .ok_or("the argument `questions` is missing")?;
    let questions: Vec<QuestionArgument> = read(questions)?;
    if questions.is_empty() || questions.len() > QUESTIONS {
        return Err(format!("there must be 1 to {QUESTIONS} questions, there are {}", questions.len()));
    }
    let fields = (0..).zip(questions).map(|(place, asks)| field(place, asks));
    let question = Question::new(Origin::Mcp, "question", fields.collect::<Result<_, _>>()?);
    question.check_limits()?;
    Ok(question)
}

/// Reads a list of questions. Some models write it as a text that has the JSON.
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
        // The answer names the option by its label.
        if options.iter().any(|other| other.label == label) {
            return Err(format!("question {number} has two options {label:?}"));
        }
        options.push(FieldOption {
            value: label.to_owned(),
            label: label.to_owned(),
            description: filled(option.description),
            preview: filled(option.preview)
                .map(|text| Box::new(Preview { format: PreviewFormat::Markdown, text })),
            role: None,
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
            (json!(["Which?"]), "questions[0]: invalid type: string \"Which?\", expected struct Asks"),
            (json!([{}]), "questions[0]: missing field `question`"),
            (json!([{ "question": " " }]), "question 1 has no text"),
            (
                one(json!(["A"])),
                "questions[0].options[0]: invalid type: string \"A\", expected struct Choice",
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
