//! The content of a form: what was chosen and typed, by key, and back.
//! What became of the form as a whole is left to `response.rs` and `reply.rs`.

use serde_json::{Map, Value as Json};

use super::{Companion, Words};
use crate::{
    dialect::entries::Entries,
    question::{Answer, Field, Kind, Question, Value},
};

/// Says an answer as content. Returns with it which notes, by the place of their field, it has no room for.
pub fn write(words: &Words, question: &Question, answer: &Answer) -> (Entries<Json>, Vec<usize>) {
    let mut content = Vec::new();
    let mut unsaid = Vec::new();
    for (place, field) in question.fields.iter().enumerate() {
        let note = answer.notes.get(&field.name);
        let companion = words.companions.get(place).unwrap_or(&Companion::None);
        let (value, text) = split(field, answer.values.get(&field.name), companion);
        let chosen = value.is_some();
        if let Some(value) = value {
            content.push((field.name.clone(), value));
        }
        let text = match (text, note, companion) {
            (Some(text), None, _) => Some(text),
            // Alone it would be the answer, and beside many choices one more of them.
            (None, Some(note), Companion::Custom { remarks: true, .. })
                if chosen && matches!(field.kind, Kind::Choice { .. }) =>
            {
                Some(note.clone())
            }
            (None, Some(note), Companion::Note { .. }) => Some(note.clone()),
            (text, Some(_), _) => {
                unsaid.push(place);
                text
            }
            (None, None, _) => None,
        };
        if let (Some(text), Companion::Custom { key, .. } | Companion::Note { key, .. }) = (text, companion) {
            content.push((key.clone(), text.into()));
        }
    }
    (Entries(content), unsaid)
}

/// Splits a value into what the field itself says and what goes to its companion.
fn split(field: &Field, value: Option<&Value>, companion: &Companion) -> (Option<Json>, Option<String>) {
    let is_other = |text: &&String| !field.kind.options().iter().any(|option| option.value == **text);
    match (value, companion) {
        (None, _) => (None, None),
        // A field that was left empty is not there: an agent may have set a least length.
        (Some(Value::Text(text)), _) if text.is_empty() && is_other(&text) => (None, None),
        (Some(Value::Many(texts)), _) if texts.is_empty() => (None, None),
        (Some(value), Companion::None) => (Some(json(value, &field.kind)), None),
        (Some(Value::Text(text)), Companion::Custom { .. }) if is_other(&text) => (None, Some(text.clone())),
        (Some(Value::Text(text)), Companion::Note { none, .. }) if is_other(&text) => {
            (none.clone().map(Json::from), Some(text.clone()))
        }
        (Some(Value::Many(texts)), Companion::Custom { .. }) => {
            let (others, chosen): (Vec<&String>, Vec<&String>) = texts.iter().partition(is_other);
            let chosen = (!chosen.is_empty()).then(|| Json::from_iter(chosen.into_iter().cloned()));
            (chosen, others.first().map(|text| (*text).clone()))
        }
        (Some(value), _) => (Some(json(value, &field.kind)), None),
    }
}

fn json(value: &Value, kind: &Kind) -> Json {
    match (value, kind) {
        (Value::Text(text), _) => text.clone().into(),
        (Value::Many(texts), _) => texts.clone().into(),
        // Two words are shown as a choice.
        (Value::Flag(flag), Kind::Confirm { .. }) => flag.to_string().into(),
        (Value::Flag(flag), _) => (*flag).into(),
        (Value::Number(number), _) => Json::Number(number.clone()),
    }
}

/// Reads content as an answer. What has another type than its field is kept as a text, for the check to find.
pub fn read(words: &Words, question: &Question, content: &Map<String, Json>) -> Answer {
    let mut answer = Answer::default();
    for (place, field) in question.fields.iter().enumerate() {
        let companion = words.companions.get(place).unwrap_or(&Companion::None);
        let text = match companion {
            Companion::Custom { key, .. } | Companion::Note { key, .. } => {
                content.get(key).and_then(Json::as_str)
            }
            Companion::None => None,
        };
        let text = text.filter(|text| !text.is_empty());
        let value = content.get(&field.name).filter(|value| !value.is_null()).map(|json| typed(json, field));
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

/// Puts together what a field says and what its companion says, as a value and a remark.
fn join(
    field: &Field,
    value: Option<Value>,
    text: Option<&str>,
    companion: &Companion,
) -> (Option<Value>, Option<String>) {
    let Some(text) = text.map(str::to_owned) else { return (value, None) };
    match (value, companion) {
        (Some(Value::Text(chosen)), Companion::Note { none: Some(none), .. }) if chosen == *none => {
            (Some(Value::Text(text)), None)
        }
        (Some(Value::Many(mut texts)), Companion::Custom { .. }) => {
            if !texts.contains(&text) {
                texts.push(text);
            }
            (Some(Value::Many(texts)), None)
        }
        (Some(Value::Text(_)), Companion::Custom { remarks: false, .. }) => (Some(Value::Text(text)), None),
        (Some(value), _) => (Some(value), Some(text)),
        (None, Companion::Note { none: None, .. }) => (None, Some(text)),
        (None, _) if matches!(field.kind, Kind::Choices { .. }) => (Some(Value::Many(vec![text])), None),
        (None, _) => (Some(Value::Text(text)), None),
    }
}

fn typed(json: &Json, field: &Field) -> Value {
    let chosen = |text: &String| field.value_of(text).into_owned();
    match (json, &field.kind) {
        (Json::String(text), Kind::Confirm { .. }) if text == "true" || text == "false" => {
            Value::Flag(text == "true")
        }
        (Json::String(text), Kind::Choices { .. }) => Value::Many(vec![chosen(text)]),
        (Json::String(text), _) => Value::Text(chosen(text)),
        (Json::Bool(flag), _) => Value::Flag(*flag),
        (Json::Number(number), _) => Value::Number(number.clone()),
        (Json::Array(entries), _) => {
            let text = |entry: &Json| {
                entry.as_str().map_or_else(|| entry.to_string(), |text| chosen(&text.to_owned()))
            };
            Value::Many(entries.iter().map(text).collect())
        }
        (other, _) => Value::Text(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialect::{Asked, Words as AnyWords, elicitation::request};

    fn form(properties: &str) -> (Words, Question) {
        let params = format!(r#"{{"message":"?","requestedSchema":{{"properties":{{{properties}}}}}}}"#);
        let asked = request::read("elicitation/create", params.as_bytes(), "q").expect("no mistake");
        match asked.expect("a question") {
            Asked { question, words: AnyWords::Elicitation(words) } => (words, question),
            other => panic!("no form: {other:?}"),
        }
    }

    /// Says that these values and notes are this content, and that it is read as them again.
    #[track_caller]
    fn both_ways(properties: &str, answer: &Json, content: &str) {
        assert_eq!(written(properties, answer), (content.to_owned(), Vec::new()));
        let (words, question) = form(properties);
        let content: Map<String, Json> = serde_json::from_str(content).expect("an object");
        assert_eq!(serde_json::to_value(read(&words, &question, &content)).expect("JSON"), *answer);
    }

    fn written(properties: &str, answer: &Json) -> (String, Vec<usize>) {
        let (words, question) = form(properties);
        let answer: Answer = serde_json::from_value(answer.clone()).expect("an answer");
        let (content, unsaid) = write(&words, &question, &answer);
        (serde_json::to_string(&content).expect("JSON"), unsaid)
    }

    const CLAUDE: &str = r#""a":{"type":"string","enum":["A","B"]},
        "a_custom":{"type":"string","_meta":{"_askUserQuestionCustomAnswer":{"questionId":"a","isCustomAnswer":true}}},
        "b":{"type":"array","items":{"enum":["C","D"]}},
        "b_custom":{"type":"string","_meta":{"_askUserQuestionCustomAnswer":{"questionId":"b","isCustomAnswer":true}}}"#;
    const CODEX: &str = r#""a":{"type":"string","oneOf":[{"const":"A"},{"const":"None of the above"}]},"a_note":{"type":"string"}"#;

    #[test]
    fn a_text_beside_one_choice_is_the_answer_or_a_remark() {
        both_ways(CLAUDE, &json!({ "values": { "a": "A" } }), r#"{"a":"A"}"#);
        both_ways(CLAUDE, &json!({ "values": { "a": "x" } }), r#"{"a_custom":"x"}"#);
        let remarked = json!({ "values": { "a": "A" }, "notes": { "a": "x" } });
        both_ways(CLAUDE, &remarked, r#"{"a":"A","a_custom":"x"}"#);
    }

    #[test]
    fn a_text_beside_many_choices_is_one_more() {
        both_ways(CLAUDE, &json!({ "values": { "b": ["D", "C"] } }), r#"{"b":["D","C"]}"#);
        both_ways(CLAUDE, &json!({ "values": { "b": ["C", "x"] } }), r#"{"b":["C"],"b_custom":"x"}"#);
        both_ways(CLAUDE, &json!({ "values": { "b": ["x"] } }), r#"{"b_custom":"x"}"#);
    }

    #[test]
    fn codex_takes_a_text_as_a_note_on_none_of_its_options() {
        both_ways(CODEX, &json!({ "values": { "a": "x" } }), r#"{"a":"None of the above","a_note":"x"}"#);
        let remarked = json!({ "values": { "a": "A" }, "notes": { "a": "x" } });
        both_ways(CODEX, &remarked, r#"{"a":"A","a_note":"x"}"#);
        both_ways(CODEX, &json!({ "values": { "a": "None of the above" } }), r#"{"a":"None of the above"}"#);
    }

    #[test]
    fn remarks_without_a_place_are_told() {
        let plain = r#""a":{"type":"string"},"b":{"type":"boolean"}"#;
        let answer = json!({ "values": { "a": "x", "b": false }, "notes": { "b": "y" } });
        assert_eq!(written(plain, &answer), (r#"{"a":"x","b":false}"#.to_owned(), vec![1]));
        // Where the text is the answer, or would be one more choice, it has none either.
        let answer = json!({ "values": { "a": "x", "b": ["C"] }, "notes": { "a": "y", "b": "z" } });
        assert_eq!(written(CLAUDE, &answer), (r#"{"a_custom":"x","b":["C"]}"#.to_owned(), vec![0, 1]));
    }

    #[test]
    fn what_is_left_empty_is_not_there() {
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
    fn what_clients_say_in_their_own_way_is_understood() {
        let titled = r#""a":{"type":"string","oneOf":[{"const":"1","title":"One"}]},
            "b":{"type":"array","items":{"anyOf":[{"const":"2","title":"Two"}]}},"n":{"type":"number"}"#;
        let (words, question) = form(titled);
        for (content, expected) in [
            (r#"{"a":"One","b":["Two"]}"#, json!({ "a": "1", "b": ["2"] })),
            (r#"{"b":"Two"}"#, json!({ "b": ["2"] })),
            (r#"{"a":null,"c":1}"#, json!({})),
            // What does not fit is kept, for the check to find.
            (r#"{"n":"5","a":{"x":1},"b":[2]}"#, json!({ "n": "5", "a": r#"{"x":1}"#, "b": ["2"] })),
            (r#"{"n":5.0}"#, json!({ "n": 5.0 })),
        ] {
            let content = serde_json::from_str(content).expect("an object");
            let answer = read(&words, &question, &content);
            assert_eq!(serde_json::to_value(&answer.values).expect("JSON"), expected, "{content:?}");
        }
        // An empty companion says nothing, and one that says what is chosen already says it once.
        let (words, question) = form(CLAUDE);
        let content = serde_json::from_str(r#"{"a":"A","a_custom":"","b":["C"],"b_custom":"C"}"#);
        let answer = read(&words, &question, &content.expect("an object"));
        let expected = json!({ "values": { "a": "A", "b": ["C"] } });
        assert_eq!(serde_json::to_value(&answer).expect("JSON"), expected);
    }

    /// What an agent with a companion of this name is told, and which notes are left over.
    fn told(key: &str, companion: &str, chosen: Option<&str>) -> (Json, Vec<usize>) {
        let options = r#""oneOf":[{"const":"a","title":"A"}]"#;
        let params = format!(
            r#"{{"sessionId":"s","mode":"form","message":"?","requestedSchema":{{"type":"object","properties":{{
            "{key}":{{"type":"string",{options}}},"{companion}":{{"type":"string"}}}}}}}}"#
        );
        let asked = request::read("elicitation/create", params.as_bytes(), "q").expect("a form");
        let asked = asked.expect("a question");
        let AnyWords::Elicitation(words) = asked.words else { panic!("no form") };
        let values = chosen.map(|chosen| (key.to_owned(), Value::Text(chosen.to_owned())));
        let notes = [(key.to_owned(), "careful".to_owned())].into();
        let answer = Answer { values: values.into_iter().collect(), notes };
        let (content, unsaid) = write(&words, &asked.question, &answer);
        (serde_json::to_value(content).expect("JSON"), unsaid)
    }

    #[test]
    fn a_remark_never_takes_the_place_of_a_choice() {
        let both = json!({ "question_0": "a", "question_0_custom": "careful" });
        assert_eq!(told("question_0", "question_0_custom", Some("a")), (both, vec![]));
        assert_eq!(told("question_0", "question_0_custom", None), (json!({}), vec![0]));
        assert_eq!(told("db", "db_custom", Some("a")), (json!({ "db": "a" }), vec![0]));
        assert_eq!(told("q0", "q0__other", Some("a")), (json!({ "q0": "a" }), vec![0]));
    }
}
