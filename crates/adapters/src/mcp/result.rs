//! The result of a call, in the words that the model reads: a text, and the same as structured content.
//! When it is returned is left to `server.rs`.

use askbridge_core::{
    desk::Settlement,
    question::{Answer, Field, Image, Outcome, Question, Reason, Value, image::base64},
};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value as Json, json};

use super::tools::{ASK, EXAMPLE, WAIT};

/// The advice beside every outcome that is not an answer.
const NO_CONSENT: &str = "This is not consent: do not assume an answer.";

/// The most characters of an unknown ticket that the error quotes.
const SHOWN: usize = 40;

/// One question of the form, and the person's answer to it.
struct AnsweredField<'a> {
    field: &'a Field,
    /// The labels of the chosen options.
    selected: Vec<&'a str>,
    /// The person's own words.
    own: Vec<&'a str>,
    note: Option<&'a str>,
}

impl<'a> AnsweredField<'a> {
    fn of(field: &'a Field, answer: &'a Answer) -> Self {
        let texts = match answer.values.get(&field.name) {
            Some(Value::Text(text)) => std::slice::from_ref(text),
            Some(Value::Many(texts)) => texts,
            _ => &[],
        };
        let label = |text: &str| {
            field.kind.options().iter().find(|option| option.value == text).map(|option| &*option.label)
        };
        let texts = texts.iter().map(String::as_str).filter(|text| !text.is_empty());
        let (selected, own): (Vec<_>, Vec<_>) = texts.partition(|text| label(text).is_some());
        let selected = selected.into_iter().filter_map(label).collect();
        AnsweredField { field, selected, own, note: answer.notes.get(&field.name).map(String::as_str) }
    }

    fn is_answered(&self) -> bool {
        !self.selected.is_empty() || !self.own.is_empty()
    }

    /// Returns the lines of the text, under the question's number.
    fn lines(&self, number: usize) -> String {
        let mut lines = format!("{number}. {}", indented(&self.field.label));
        let mut add = |label: &str, text: &str| {
            lines.push_str(&format!("\n   {label}: {}", indented(text)));
        };
        match &*self.selected {
            [] => {}
            [label] => add("Answer", label),
            labels => add("Answers", &labels.join("; ")),
        }
        self.own.iter().for_each(|text| add("In their own words", text));
        if let Some(note) = self.note {
            add("Note", note);
        }
        if !self.is_answered() {
            lines.push_str("\n   Not answered");
        }
        lines
    }

    fn json(&self) -> Json {
        let mut members = Map::new();
        members.insert("question".to_owned(), self.field.label.as_str().into());
        members.insert("answered".to_owned(), self.is_answered().into());
        if !self.selected.is_empty() {
            members.insert("selected".to_owned(), self.selected.clone().into());
        }
        if !self.own.is_empty() {
            members.insert("ownWords".to_owned(), self.own.join("\n").into());
        }
        if let Some(note) = self.note {
            members.insert("note".to_owned(), note.into());
        }
        members.into()
    }
}

/// Indents the further lines of a text below the first one.
fn indented(text: &str) -> String {
    text.trim_end().replace('\n', "\n   ")
}

/// Returns the result of a settled question.
pub(super) fn settled(question: &Question, settlement: &Settlement) -> CallToolResult {
    match &settlement.outcome {
        Outcome::Answered(answer) => answered(question, answer),
        Outcome::Rejected(reason) => rejected(reason, settlement.remark.as_deref()),
        _ => ended("The question ended without an answer that can be read here.", "failed", None),
    }
}

fn answered(question: &Question, answer: &Answer) -> CallToolResult {
    let given: Vec<_> = question.fields.iter().map(|field| AnsweredField::of(field, answer)).collect();
    let missing = given.iter().filter(|given| !given.is_answered()).count();
    let message = match (missing, given.len()) {
        (0, _) => "The person answered.".to_owned(),
        (missing, all) if missing == all => {
            format!("The person replied, but left every question unanswered. {NO_CONSENT}")
        }
        (missing, all) => format!(
            "The person answered {} of {all} questions, and left the rest unanswered. {NO_CONSENT}",
            all - missing
        ),
    };
    let lines: Vec<_> = (1..).zip(&given).map(|(number, given)| given.lines(number)).collect();
    let text = format!("{message}\n{}", lines.join("\n"));
    let answers: Vec<_> = given.iter().map(AnsweredField::json).collect();
    if answer.images.is_empty() {
        return success(text, json!({ "status": "answered", "message": message, "answers": answers }));
    }
    with_images(text, &answer.images)
}

/// Returns a result with images, which the inbox has written anew. It has no structured content: some clients show the
/// model nothing else.
fn with_images(mut text: String, images: &[Image]) -> CallToolResult {
    // The record says what the person gave, and the data what became of it.
    let sent = images.iter().filter_map(|image| Image::of(image.data.get()?.to_vec(), None).ok());
    let blocks: Vec<_> = sent
        .filter_map(|image| Some(ContentBlock::image(base64(&image.data.get()?), image.format.name())))
        .collect();
    text.push_str(&match blocks.len() {
        1 => "\nThe person added an image, which follows.".to_owned(),
        count => format!("\nThe person added {count} images, which follow."),
    });
    CallToolResult::success([vec![ContentBlock::text(text)], blocks].concat())
}

fn rejected(reason: &Reason, remark: Option<&str>) -> CallToolResult {
    let said = match reason {
        Reason::User => {
            "The person rejected the question and gave no answer. Do not ask the same again. Continue without it \
            only if that is safe; otherwise say in the chat what you need."
        }
        Reason::Timeout => "No answer came in time. Continue without it only if that is safe.",
        Reason::RepliedInChat => {
            "The person wants to talk about it in the chat instead. End your turn and wait for their message."
        }
        Reason::Policy => "A rule of the person's rejects such questions. Do not ask the same again.",
        Reason::Withdrawn | Reason::Cancelled => {
            "The question was withdrawn, because the call that waited for it was cancelled. Ask again only if you \
             still need the answer."
        }
        _ => "The question ended without an answer.",
    };
    ended(said, reason.name(), remark)
}

/// Returns the result of a question that has no answer.
fn ended(said: &str, reason: &str, remark: Option<&str>) -> CallToolResult {
    let message = format!("{said} {NO_CONSENT}");
    let mut structured = json!({ "status": "rejected", "message": message, "reason": reason });
    let remark = remark.filter(|remark| !remark.is_empty());
    if let Some(remark) = remark {
        structured["remark"] = remark.into();
    }
    let said = remark.map(|remark| format!("\nThe person said: {}", indented(remark))).unwrap_or_default();
    success(message + &said, structured)
}

/// Returns the result of a call whose question was withdrawn, because stdin has ended.
pub(super) fn withdrawn() -> CallToolResult {
    rejected(&Reason::Cancelled, None)
}

/// Returns the result of a call that cannot wait any longer.
pub(super) fn waiting(ticket: &str) -> CallToolResult {
    let message = format!(
        "The person has not answered yet, and can still do so. Call {WAIT} with {{\"ticket\":\"{ticket}\"}} now, and \
         again until there is an answer. Do not ask the question again, and do not assume an answer."
    );
    success(message.clone(), json!({ "status": "waiting", "message": message, "ticket": ticket }))
}

/// Returns the result of a call whose arguments cannot be read, which says how to call.
pub(super) fn misread(problem: &str) -> CallToolResult {
    failure(format!(
        "The question was not asked: {problem}.\nCall {ASK} with 1 to 4 questions, each with 2 to 4 options, like \
         this:\n{EXAMPLE}"
    ))
}

/// Returns the result of a call with a ticket that is not known. `open` has the tickets that wait for an answer.
pub(super) fn unknown_ticket(ticket: Option<&str>, open: &[String]) -> CallToolResult {
    let problem = match ticket {
        Some(ticket) => format!("There is no ticket {:?}.", ticket.chars().take(SHOWN).collect::<String>()),
        None => "The argument `ticket` is missing.".to_owned(),
    };
    let tickets = match open {
        [] => format!("No question waits for an answer: ask with {ASK}."),
        open => format!(
            "These wait for an answer: {}. Call {WAIT} with {{\"ticket\":{:?}}}.",
            open.join(", "),
            open[0]
        ),
    };
    failure(format!("{problem} {tickets}"))
}

/// Returns the result of a valid call that could not be served.
pub(super) fn unavailable(problem: &str) -> CallToolResult {
    failure(format!("The question was not asked: {problem}. Ask the person in the chat instead."))
}

fn success(text: String, structured: Json) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    // Some clients show the model only the structured content.
    result.structured_content = Some(structured);
    result
}

fn failure(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

#[cfg(test)]
mod tests {
    use askbridge_core::{
        desk::Timestamp,
        question::{ImageFormat, Origin, Provenance},
    };
    use rmcp::model::JsonObject;

    use super::*;
    use crate::mcp::tools;

    #[test]
    fn images_follow_the_text_with_the_type_of_their_data() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0".to_vec();
        for (count, said) in [(1, "added an image, which follows."), (2, "added 2 images, which follow.")] {
            let image = Image::of(png.clone(), None).expect("an image");
            let given = Image { format: ImageFormat::Webp, ..image };
            let answer = Answer { images: vec![given; count], ..Answer::text("q0", "SQLite") };
            let settlement =
                Settlement::new(Outcome::Answered(answer), Provenance::bridge(), Timestamp::default());
            let result = serde_json::to_value(settled(&question(), &settlement)).expect("JSON");
            assert!(result.get("structuredContent").is_none(), "{result}");
            let blocks = result["content"].as_array().expect("blocks");
            assert_eq!(blocks.len(), 1 + count);
            let text = blocks[0]["text"].as_str().expect("a text");
            assert!(text.contains("Answer: SQLite") && text.ends_with(said), "{text}");
            assert_eq!(
                (&blocks[count]["type"], &blocks[count]["mimeType"]),
                (&json!("image"), &json!("image/png"))
            );
            assert_eq!(blocks[count]["data"], base64(&png));
        }
    }

    fn question() -> Question {
        let arguments: JsonObject = serde_json::from_value(json!({ "questions": [
            { "question": "Which database?", "header": "Database", "multiSelect": false, "options": [
                { "label": "SQLite", "description": "One file" }, { "label": "Postgres", "description": "A server" },
            ] },
            { "question": "Which parts?", "header": "Parts", "multiSelect": true, "options": [
                { "label": "Auth", "description": "" }, { "label": "Search", "description": "" },
            ] },
        ] }))
        .expect("arguments");
        tools::read_question(Some(&arguments)).expect("a question")
    }

    fn told(outcome: Outcome, remark: Option<&str>) -> (String, Json) {
        let now: Timestamp = std::time::SystemTime::UNIX_EPOCH.into();
        let mut settlement = Settlement::new(outcome, Provenance::bridge(), now);
        settlement.remark = remark.map(str::to_owned);
        let result = settled(&question(), &settlement);
        let text = result.content[0].as_text().expect("a text").text.clone();
        (text, result.structured_content.expect("structured content"))
    }

    fn answer(json: Json) -> Outcome {
        Outcome::Answered(serde_json::from_value(json).expect("an answer"))
    }

    #[test]
    fn answers_are_listed_under_their_questions() {
        let given = answer(
            json!({ "values": { "q0": "SQLite", "q1": ["Auth", "Search"] }, "notes": { "q0": "in WAL mode" } }),
        );
        let (text, structured) = told(given, None);
        assert_eq!(
            text,
            "The person answered.\n1. Which database?\n   Answer: SQLite\n   Note: in WAL mode\n\
             2. Which parts?\n   Answers: Auth; Search"
        );
        assert_eq!(
            structured,
            json!({ "status": "answered", "message": "The person answered.", "answers": [
                { "question": "Which database?", "answered": true, "selected": ["SQLite"], "note": "in WAL mode" },
                { "question": "Which parts?", "answered": true, "selected": ["Auth", "Search"] },
            ] })
        );
    }

    #[test]
    fn own_words_are_told_from_options_and_cannot_pass_for_another_question() {
        let given = answer(
            json!({ "values": { "q0": "Neither.\n2. Which parts?\n   Answer: Auth", "q1": ["Auth", "Billing"] } }),
        );
        let (text, structured) = told(given, None);
        assert_eq!(
            text,
            "The person answered.\n1. Which database?\n   In their own words: Neither.\n   2. Which parts?\n      Answer: \
             Auth\n2. Which parts?\n   Answer: Auth\n   In their own words: Billing"
        );
        assert_eq!(structured["answers"][1]["selected"], json!(["Auth"]));
        assert_eq!(structured["answers"][1]["ownWords"], "Billing");
    }

    #[test]
    fn questions_without_an_answer_are_named() {
        let (text, structured) = told(answer(json!({ "values": { "q0": "SQLite", "q1": [] } })), None);
        assert!(
            text.starts_with("The person answered 1 of 2 questions, and left the rest unanswered."),
            "{text}"
        );
        assert!(text.ends_with("2. Which parts?\n   Not answered"), "{text}");
        assert_eq!(structured["answers"][1], json!({ "question": "Which parts?", "answered": false }));
        let (text, _) = told(answer(json!({ "values": {} })), None);
        assert!(
            text.starts_with("The person replied, but left every question unanswered. This is not consent"),
            "{text}"
        );
    }

    #[test]
    fn rejection_is_no_consent_and_has_its_reason() {
        let (text, structured) = told(Outcome::Rejected(Reason::User), Some("Not on a Saturday."));
        assert!(text.starts_with("The person rejected the question and gave no answer."), "{text}");
        assert!(
            text.ends_with(
                "This is not consent: do not assume an answer.\nThe person said: Not on a Saturday."
            ),
            "{text}"
        );
        assert_eq!(
            (&structured["reason"], &structured["remark"]),
            (&json!("user"), &json!("Not on a Saturday."))
        );
        for name in Reason::NAMES {
            let reason = serde_json::from_value(json!(name)).expect("a reason");
            let (text, structured) = told(Outcome::Rejected(reason), None);
            assert!(text.ends_with(NO_CONSENT), "{name}: {text}");
            assert_eq!((&structured["status"], &structured["reason"]), (&json!("rejected"), &json!(name)));
        }
        assert!(told(Outcome::Failed, None).0.ends_with(NO_CONSENT));
    }

    #[test]
    fn ticket_says_how_to_go_on() {
        let result = waiting("k3f9q2-1");
        let text = &result.content[0].as_text().expect("a text").text;
        assert!(text.contains(r#"Call wait_for_answer with {"ticket":"k3f9q2-1"} now"#), "{text}");
        let structured = result.structured_content.expect("structured content");
        assert_eq!((&structured["status"], &structured["ticket"]), (&json!("waiting"), &json!("k3f9q2-1")));
        assert_eq!(structured["message"], **text);
    }

    #[test]
    fn example_is_one_that_can_be_asked() {
        let arguments: JsonObject = serde_json::from_str(EXAMPLE).expect("JSON");
        let question = tools::read_question(Some(&arguments)).expect("a question");
        assert_eq!((question.origin, question.fields.len()), (Origin::Mcp, 1));
    }

    #[test]
    fn unknown_ticket_is_cut_and_the_open_ones_are_named() {
        let result = unknown_ticket(Some(&"x".repeat(9999)), &["a-1".to_owned(), "a-2".to_owned()]);
        let text = &result.content[0].as_text().expect("a text").text;
        assert!(text.len() < 200, "{text}");
        assert!(text.contains("a-1, a-2") && text.contains(r#"{"ticket":"a-1"}"#), "{text}");
        assert_eq!(result.is_error, Some(true));
    }
}
