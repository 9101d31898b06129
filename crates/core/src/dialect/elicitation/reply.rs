//! The `result` of a form: written for the agent from an outcome, and read from a client that shows the form.
//! [`FormReply`] holds the format: the shape of the result, and the companion of each field, in which a free text goes.
//! Recognizing companions is left to `companion.rs`.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::companion::Companion;
use crate::{
    dialect::{
        agent_dialect::{Rejection, ReplyMeta},
        schema::{Group, Slot, at, put},
        values::Entries,
    },
    question::{Answer, Field, Kind, Outcome, Question, Reason, Value, check::is_required},
};

/// The reply format of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormReply {
    /// Whether the request had a legacy method name, which clients may not know.
    pub legacy: bool,
    /// Whether the result is one level deeper, as some of the legacy methods had it.
    pub nested: bool,
    /// The companion of each field, in the order of the fields.
    pub companions: Vec<Companion>,
    /// The place of each field in the content, in the order of the fields. A field without one has a member of its name.
    pub slots: Vec<Slot>,
    /// The groups of fields.
    pub groups: Vec<Group>,
    /// Whether the form has no fields: its only field asks for consent, and no declines it.
    pub consent: bool,
}

impl FormReply {
    /// Returns how many bytes of the request it holds.
    pub fn bytes(&self) -> usize {
        let companions = self.companions.iter().map(|companion| size_of::<Companion>() + companion.bytes());
        let places = self.slots.iter().map(Slot::bytes).chain(self.groups.iter().map(Group::bytes));
        companions.chain(places).sum()
    }

    fn slot(&self, place: usize, field: &Field) -> Cow<'_, Slot> {
        self.slots.get(place).map_or_else(|| Cow::Owned(Slot::named(&field.name)), Cow::Borrowed)
    }

    /// Returns whether an answer declines the form: it says no where the form only asks for consent.
    pub fn is_declined(&self, answer: &Answer) -> bool {
        self.consent && !answer.values.values().any(|value| *value == Value::Flag(true))
    }
}

/// Writes an answer as content. Also returns the places of the fields whose notes have no place in the content.
pub fn write_content(
    format: &FormReply,
    question: &Question,
    answer: &Answer,
) -> (Entries<Json>, Vec<usize>) {
    let mut content = Entries::default();
    if format.consent {
        return (content, (0..question.fields.len()).filter(|_| !answer.notes.is_empty()).collect());
    }
    let mut left_over = Vec::new();
    for (place, field) in question.fields.iter().enumerate() {
        let note = answer.notes.get(&field.name);
        let companion = format.companions.get(place).unwrap_or(&Companion::None);
        let slot = format.slot(place, field);
        let (value, text) = split(field, &slot, answer.values.get(&field.name), companion);
        let chosen = value.is_some();
        // A field that must be given and was left blank is null, where the schema takes null.
        let is_null = text.is_none() && field.nullable && is_required(question, field, answer);
        if let Some(value) = value.or(is_null.then_some(Json::Null)) {
            put(&mut content, &slot.place, value);
        }
        let text = match (text, note, companion) {
            (Some(text), None, _) => Some(text),
            // Without a choice, the companion's text would be the answer; beside multiple choices, one more choice.
            (None, Some(note), Companion::Custom { notes: true, .. })
                if chosen && matches!(field.kind, Kind::Choice { .. }) =>
            {
                Some(note.clone())
            }
            (None, Some(note), Companion::Note { .. }) => Some(note.clone()),
            (text, Some(_), _) => {
                left_over.push(place);
                text
            }
            (None, None, _) => None,
        };
        if let (Some(text), Companion::Custom { key, .. } | Companion::Note { key, .. }) = (text, companion) {
            content.0.push((key.clone(), text.into()));
        }
    }
    format.groups.iter().for_each(|group| group.complete(&mut content));
    (content, left_over)
}

/// Splits a value into the part for the field itself and the text for its companion.
fn split(
    field: &Field,
    slot: &Slot,
    value: Option<&Value>,
    companion: &Companion,
) -> (Option<Json>, Option<String>) {
    let json = |value: &Value| Some(slot.write(field, value));
    let is_other = |text: &&String| !field.kind.options().iter().any(|option| option.value == **text);
    match (value, companion) {
        (None, _) => (None, None),
        // An empty field is omitted: the agent may have set a minimum length.
        (Some(Value::Text(text)), _) if text.is_empty() && is_other(&text) => (None, None),
        (Some(Value::Many(texts)), _) if texts.is_empty() => (None, None),
        (Some(value), Companion::None) => (json(value), None),
        (Some(Value::Text(text)), Companion::Custom { .. }) if is_other(&text) => (None, Some(text.clone())),
        (Some(Value::Text(text)), Companion::Note { none, .. }) if is_other(&text) => {
            (none.clone().map(Json::from), Some(text.clone()))
        }
        (Some(Value::Many(texts)), Companion::Custom { .. }) => {
            // An answer that fits has at most one text that is no option.
            let (others, chosen): (Vec<&String>, Vec<&String>) = texts.iter().partition(is_other);
            let chosen = Value::Many(chosen.into_iter().cloned().collect());
            (
                Some(chosen).filter(|it| *it != Value::Many(Vec::new())).and_then(|it| json(&it)),
                others.first().map(|text| (*text).clone()),
            )
        }
        (Some(value), _) => (json(value), None),
    }
}

/// Reads content as an answer. A value of the wrong type is kept as a text, which the check then refuses.
pub fn read_content(format: &FormReply, question: &Question, content: &Map<String, Json>) -> Answer {
    let mut answer = Answer::default();
    if let Some(field) = question.fields.first().filter(|_| format.consent) {
        answer.values.insert(field.name.clone(), Value::Flag(true));
        return answer;
    }
    for (place, field) in question.fields.iter().enumerate() {
        let companion = format.companions.get(place).unwrap_or(&Companion::None);
        let text = match companion {
            Companion::Custom { key, .. } | Companion::Note { key, .. } => {
                content.get(key).and_then(Json::as_str)
            }
            Companion::None => None,
        };
        let text = text.filter(|text| !text.is_empty());
        let slot = format.slot(place, field);
        let given = match &*slot.place {
            [] => Some(Cow::Owned(Json::Object(content.clone()))),
            place => at(content, place).map(Cow::Borrowed),
        };
        let takes_null = field.nullable
            || matches!(field.kind, Kind::Json { .. })
            || slot.values.iter().any(|(_, json)| json.is_null());
        let given = given.filter(|value| !value.is_null() || takes_null);
        let value = given.map(|json| slot.read(field, &json));
        let (value, note) = join(field, value, text, companion);
        if let Some(value) = value {
            answer.values.insert(field.name.clone(), value);
        }
        if let Some(note) = note {
            answer.notes.insert(field.name.clone(), note);
        }
    }
    answer
}

/// Combines the value of a field and the text of its companion into a value and a note.
fn join(
    field: &Field,
    value: Option<Value>,
    text: Option<&str>,
    companion: &Companion,
) -> (Option<Value>, Option<String>) {
    let Some(text) = text.map(str::to_owned) else { return (value, None) };
    match (value, companion) {
        // Beside "none of the above", the note is the answer itself.
        (Some(Value::Text(chosen)), Companion::Note { none: Some(none), .. }) if chosen == *none => {
            (Some(Value::Text(text)), None)
        }
        (Some(Value::Many(mut texts)), Companion::Custom { .. }) => {
            if !texts.contains(&text) {
                texts.push(text);
            }
            (Some(Value::Many(texts)), None)
        }
        (Some(Value::Text(_)), Companion::Custom { notes: false, .. }) => (Some(Value::Text(text)), None),
        (Some(value), _) => (Some(value), Some(text)),
        (None, Companion::Note { none: None, .. }) => (None, Some(text)),
        (None, _) if matches!(field.kind, Kind::Choices { .. }) => (Some(Value::Many(vec![text])), None),
        (None, _) => (Some(Value::Text(text)), None),
    }
}

/// The `result` of a form.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum FormResult {
    /// The shape of the standard.
    Flat(FormResultBody),
    /// The shape under some of the legacy method names.
    Nested {
        /// The result, one level deeper.
        action: FormResultBody,
    },
}

/// The action that ended the form, and its content.
#[derive(Debug, Serialize)]
pub struct FormResultBody {
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Entries<Json>>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ReplyMeta>,
}

/// Writes an answer as a result.
pub fn write_answer(format: &FormReply, question: &Question, answer: &Answer) -> FormResult {
    if format.is_declined(answer) {
        return write_rejection(format, Reason::User.into());
    }
    let (content, left_over) = write_content(format, question, answer);
    let meta = ReplyMeta::of_notes(question, answer, |place| left_over.contains(&place));
    form_result(format, FormResultBody { action: "accept", content: Some(content), meta })
}

/// Writes a rejection as a result. Only the user declines a form; every other reason cancels it.
pub fn write_rejection(format: &FormReply, rejection: Rejection<'_>) -> FormResult {
    let action = if rejection.reason == Reason::User { "decline" } else { "cancel" };
    form_result(
        format,
        FormResultBody { action, content: None, meta: Some(ReplyMeta::of_rejection(rejection)) },
    )
}

fn form_result(format: &FormReply, body: FormResultBody) -> FormResult {
    if format.nested { FormResult::Nested { action: body } } else { FormResult::Flat(body) }
}

/// Reads the `result` of a form. Returns `None` for an unknown action.
pub fn read_reply(format: &FormReply, question: &Question, result: &[u8]) -> Option<Outcome> {
    let result: Map<String, Json> = serde_json::from_slice(result).ok()?;
    // Clients of the drafts write the result one level deeper.
    let result = result.get("action").and_then(Json::as_object).unwrap_or(&result);
    match result.get("action")?.as_str()? {
        "accept" => {
            let none = Map::new();
            let content = match result.get("content") {
                None | Some(Json::Null) => &none,
                Some(content) => content.as_object()?,
            };
            Some(Outcome::Answered(read_content(format, question, content)))
        }
        "decline" => Some(Outcome::Rejected(Reason::User)),
        "cancel" => Some(Outcome::Rejected(Reason::Cancelled)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{dialect::elicitation::request, wire::method::ELICITATION_CREATE};

    fn form(properties: &str) -> (Question, FormReply) {
        let params = format!(r#"{{"message":"?","requestedSchema":{{"properties":{{{properties}}}}}}}"#);
        let asked = request::read(ELICITATION_CREATE, params.as_bytes(), "q").expect("no mistake");
        asked.expect("a question")
    }

    /// Checks that the answer is written as the content, and that the content is read as the answer.
    #[track_caller]
    fn both_ways(properties: &str, answer: &Json, content: &str) {
        assert_eq!(written(properties, answer), (content.to_owned(), Vec::new()));
        let (question, format) = form(properties);
        let content: Map<String, Json> = serde_json::from_str(content).expect("an object");
        assert_eq!(serde_json::to_value(read_content(&format, &question, &content)).expect("JSON"), *answer);
    }

    fn written(properties: &str, answer: &Json) -> (String, Vec<usize>) {
        let (question, format) = form(properties);
        let answer: Answer = serde_json::from_value(answer.clone()).expect("an answer");
        let (content, left_over) = write_content(&format, &question, &answer);
        (serde_json::to_string(&content).expect("JSON"), left_over)
    }

    const CLAUDE: &str = r#""a":{"type":"string","enum":["A","B"]},
        "a_custom":{"type":"string","_meta":{"_askUserQuestionCustomAnswer":{"questionId":"a","isCustomAnswer":true}}},
        "b":{"type":"array","items":{"enum":["C","D"]}},
        "b_custom":{"type":"string","_meta":{"_askUserQuestionCustomAnswer":{"questionId":"b","isCustomAnswer":true}}}"#;
    const CODEX: &str = r#""a":{"type":"string","oneOf":[{"const":"A"},{"const":"None of the above"}]},"a_note":{"type":"string"}"#;

    #[test]
    fn text_beside_a_single_choice_is_the_answer_or_a_note() {
        both_ways(CLAUDE, &json!({ "values": { "a": "A" } }), r#"{"a":"A"}"#);
        both_ways(CLAUDE, &json!({ "values": { "a": "x" } }), r#"{"a_custom":"x"}"#);
        let noted = json!({ "values": { "a": "A" }, "notes": { "a": "x" } });
        both_ways(CLAUDE, &noted, r#"{"a":"A","a_custom":"x"}"#);
    }

    #[test]
    fn text_beside_multiple_choices_is_one_more_choice() {
        both_ways(CLAUDE, &json!({ "values": { "b": ["D", "C"] } }), r#"{"b":["D","C"]}"#);
        both_ways(CLAUDE, &json!({ "values": { "b": ["C", "x"] } }), r#"{"b":["C"],"b_custom":"x"}"#);
        both_ways(CLAUDE, &json!({ "values": { "b": ["x"] } }), r#"{"b_custom":"x"}"#);
    }

    #[test]
    fn codex_takes_a_text_as_a_note_on_its_none_option() {
        both_ways(CODEX, &json!({ "values": { "a": "x" } }), r#"{"a":"None of the above","a_note":"x"}"#);
        let noted = json!({ "values": { "a": "A" }, "notes": { "a": "x" } });
        both_ways(CODEX, &noted, r#"{"a":"A","a_note":"x"}"#);
        both_ways(CODEX, &json!({ "values": { "a": "None of the above" } }), r#"{"a":"None of the above"}"#);
    }

    #[test]
    fn notes_without_a_place_are_returned() {
        let plain = r#""a":{"type":"string"},"b":{"type":"boolean"}"#;
        let answer = json!({ "values": { "a": "x", "b": false }, "notes": { "b": "y" } });
        assert_eq!(written(plain, &answer), (r#"{"a":"x","b":false}"#.to_owned(), vec![1]));
        // A note also has no place where the companion's text is the answer or one more choice.
        let answer = json!({ "values": { "a": "x", "b": ["C"] }, "notes": { "a": "y", "b": "z" } });
        assert_eq!(written(CLAUDE, &answer), (r#"{"a_custom":"x","b":["C"]}"#.to_owned(), vec![0, 1]));
    }

    #[test]
    fn empty_values_are_omitted() {
        let plain =
            r#""a":{"type":"string","minLength":2},"b":{"type":"array","items":{"enum":["C"]},"minItems":1}"#;
        assert_eq!(written(plain, &json!({ "values": { "a": "", "b": [] } })), ("{}".to_owned(), Vec::new()));
        assert_eq!(
            written(CLAUDE, &json!({ "values": { "a": "", "b": [] } })),
            ("{}".to_owned(), Vec::new())
        );
        let empty = r#""a":{"type":"string","enum":["","x"]}"#;
        both_ways(empty, &json!({ "values": { "a": "" } }), r#"{"a":""}"#);
    }

    #[test]
    fn labels_and_single_texts_are_read_as_values() {
        let titled = r#""a":{"type":"string","oneOf":[{"const":"1","title":"One"}]},
            "b":{"type":"array","items":{"anyOf":[{"const":"2","title":"Two"}]}},"n":{"type":"number"}"#;
        let (question, format) = form(titled);
        for (content, expected) in [
            (r#"{"a":"One","b":["Two"]}"#, json!({ "a": "1", "b": ["2"] })),
            (r#"{"b":"Two"}"#, json!({ "b": ["2"] })),
            (r#"{"a":null,"c":1}"#, json!({})),
            // A value that does not fit is kept, so that the check refuses it.
            (r#"{"n":"5","a":{"x":1},"b":[2]}"#, json!({ "n": "5", "a": r#"{"x":1}"#, "b": ["2"] })),
            (r#"{"n":5.0}"#, json!({ "n": 5.0 })),
        ] {
            let content = serde_json::from_str(content).expect("an object");
            let answer = read_content(&format, &question, &content);
            assert_eq!(serde_json::to_value(&answer.values).expect("JSON"), expected, "{content:?}");
        }
        // An empty companion is ignored, and so is one that repeats a choice.
        let (question, format) = form(CLAUDE);
        let content = serde_json::from_str(r#"{"a":"A","a_custom":"","b":["C"],"b_custom":"C"}"#);
        let answer = read_content(&format, &question, &content.expect("an object"));
        let expected = json!({ "values": { "a": "A", "b": ["C"] } });
        assert_eq!(serde_json::to_value(&answer).expect("JSON"), expected);
    }

    /// The content for an agent with a companion of this name, and the notes that are left over.
    fn noted_content(key: &str, companion: &str, chosen: Option<&str>) -> (Json, Vec<usize>) {
        let options = r#""oneOf":[{"const":"a","title":"A"}]"#;
        let params = format!(
            r#"{{"sessionId":"s","mode":"form","message":"?","requestedSchema":{{"type":"object","properties":{{
            "{key}":{{"type":"string",{options}}},"{companion}":{{"type":"string"}}}}}}}}"#
        );
        let asked = request::read(ELICITATION_CREATE, params.as_bytes(), "q").expect("no mistake");
        let (question, format) = asked.expect("a question");
        let values = chosen.map(|chosen| (key.to_owned(), Value::Text(chosen.to_owned())));
        let notes = [(key.to_owned(), "careful".to_owned())].into();
        let answer = Answer { values: values.into_iter().collect(), notes, ..Answer::default() };
        let (content, left_over) = write_content(&format, &question, &answer);
        (serde_json::to_value(content).expect("JSON"), left_over)
    }

    #[test]
    fn note_never_replaces_a_choice() {
        let both = json!({ "question_0": "a", "question_0_custom": "careful" });
        assert_eq!(noted_content("question_0", "question_0_custom", Some("a")), (both, vec![]));
        assert_eq!(noted_content("question_0", "question_0_custom", None), (json!({}), vec![0]));
        assert_eq!(noted_content("db", "db_custom", Some("a")), (json!({ "db": "a" }), vec![0]));
        assert_eq!(noted_content("q0", "q0__other", Some("a")), (json!({ "q0": "a" }), vec![0]));
    }
}
