//! The result of `_sandboxagent/session/request_question`: the canonical shape, written for the agent from an outcome,
//! and the reply of a client, read in any of the shapes that clients use.
//!
//! Source: the clients and SDKs that implemented the extension from one of its descriptions, and those that answer it
//! like the elicitation that it resembles.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{
    Map, Value as Json,
    value::{RawValue, to_raw_value},
};

use crate::{
    dialect::{
        agent_dialect::{Rejection, Reply, ReplyMeta},
        values,
    },
    question::{
        Answer, Field, Kind, Outcome, Question, Reason, Value, input,
        naming::{ambiguity, value_of},
    },
    wire::splice,
};

/// The chosen or typed texts of each field; `None` for a field without an answer.
type Selections = Vec<Option<Vec<String>>>;

/// Reads the `result` of a client's reply to this question.
pub fn read(result: &[u8], question: &Question) -> Reply {
    // serde also reads a struct from an array of its members, which is not one of the shapes.
    if !result.starts_with(b"{") {
        return Reply::Unknown;
    }
    if let Ok(canonical) = serde_json::from_slice::<CanonicalReply>(result) {
        return canonical.read(result, question).unwrap_or(Reply::Unknown);
    }
    let Ok(object) = serde_json::from_slice::<Map<String, Json>>(result) else { return Reply::Unknown };
    let Some(outcome) = other_shape(&object, question) else { return Reply::Unknown };
    let response = match &outcome {
        Outcome::Answered(answer) => write_answer(question, answer),
        Outcome::Rejected(reason) => write_rejection((*reason).into()),
        Outcome::Failed | Outcome::Unknown(_) => return Reply::Unknown,
    };
    to_raw_value(&response).map_or(Reply::Unknown, |result| Reply::Translated(outcome, result))
}

/// The canonical shape. It may have other members.
#[derive(Deserialize)]
struct CanonicalReply {
    status: ReplyStatus,
    answers: Option<Vec<Vec<String>>>,
    #[serde(rename = "_meta", default)]
    meta: Json,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ReplyStatus {
    Answered,
    Rejected,
}

impl CanonicalReply {
    fn read(self, result: &[u8], question: &Question) -> Option<Reply> {
        // Another bridge between this one and the client may have added a reason or notes.
        let additions = self.meta.get("askbridge").unwrap_or(&Json::Null);
        let answers = match (self.status, self.answers) {
            (ReplyStatus::Answered, answers) => answers?,
            (ReplyStatus::Rejected, _) => {
                // A client may write any text here: only the known reasons count.
                let reason = additions.get("reason").and_then(|reason| Reason::deserialize(reason).ok());
                let reason = reason.filter(|reason| !matches!(reason, Reason::Other(_)));
                return Some(Reply::Canonical(Outcome::Rejected(reason.unwrap_or(Reason::User))));
            }
        };
        let notes = additions.as_object().map(|additions| notes(additions, question)).unwrap_or_default();
        // Some clients answer with labels. That is the only mistake which is corrected in a canonical answer.
        let by_value = question
            .fields
            .iter()
            .zip(&answers)
            .all(|(field, chosen)| chosen.iter().all(|text| value_of(field, text) == **text));
        let outcome =
            |answers: Vec<Vec<String>>| answered(question, answers.into_iter().map(Some).collect(), notes);
        if by_value {
            return Some(Reply::Canonical(outcome(answers)?));
        }
        let mut values = answers;
        for (field, chosen) in question.fields.iter().zip(&mut values) {
            chosen.iter_mut().for_each(|text| *text = value_of(field, text).into_owned());
        }
        let answers = serde_json::to_string(&values).ok()?;
        // All other members of the result stay as they are.
        let relabelled = String::from_utf8(splice::replace_member(result, "answers", &answers)?).ok()?;
        Some(Reply::Translated(outcome(values)?, RawValue::from_string(relabelled).ok()?))
    }
}

/// Reads the shapes that are not canonical. Returns `None` for an unknown shape.
fn other_shape(object: &Map<String, Json>, question: &Question) -> Option<Outcome> {
    let text = |name: &str| object.get(name).and_then(Json::as_str);
    match (text("outcome"), text("action")) {
        (Some("answered" | "selected"), _) => {
            let answers = object.get("_meta")?.get("sandboxagent.dev")?.get("answers")?;
            return answered(question, by_place(answers)?, BTreeMap::new());
        }
        (Some("rejected"), _) | (_, Some("decline")) => return Some(Outcome::Rejected(Reason::User)),
        (Some("cancelled"), _) | (_, Some("cancel")) => return Some(Outcome::Rejected(Reason::Cancelled)),
        (_, Some("accept")) => {
            let content = object.get("content")?.as_object()?;
            return answered(question, by_key(content, question)?, BTreeMap::new());
        }
        (Some(_), _) | (_, Some(_)) => return None,
        (None, None) => {}
    }
    if object.get("cancelled") == Some(&Json::Bool(true)) {
        return Some(Outcome::Rejected(Reason::Cancelled));
    }
    if let Some(values) = object.get("values") {
        return answered(question, vec![Some(strings(values)?)], BTreeMap::new());
    }
    keyed(object, question)
}

/// Reads `{"answers":{…}}`, keyed by question text or index, with optional notes, annotations and a free `response`.
fn keyed(object: &Map<String, Json>, question: &Question) -> Option<Outcome> {
    let response = object.get("response").and_then(Json::as_str).filter(|text| !text.is_empty());
    let mut selections = match object.get("answers") {
        Some(answers) => by_key(answers.as_object()?, question)?,
        None => vec![None; response.is_some().then_some(question.fields.len())?],
    };
    let mut notes = notes(object, question);
    if let Some(response) = response {
        // The response answers the first field without an answer. If there is none, it is a note.
        match selections.iter_mut().find(|selection| selection.is_none()) {
            Some(selection) => *selection = Some(vec![response.to_owned()]),
            None => drop(notes.entry(question.fields.first()?.name.clone()).or_insert(response.to_owned())),
        }
    }
    if selections.iter().all(Option::is_none) {
        return Some(Outcome::Rejected(Reason::User));
    }
    answered(question, selections, notes)
}

/// Combines selections into an answer, with labels turned into values.
///
/// Returns `None` if there are more selections than fields, since dropping one would change the answer, or if a text is the
/// label of several options.
fn answered(question: &Question, selections: Selections, notes: BTreeMap<String, String>) -> Option<Outcome> {
    let mut beyond = selections.iter().skip(question.fields.len()).flatten();
    let is_ambiguous = |(field, texts): (&Field, &Option<Vec<String>>)| {
        texts.iter().flatten().any(|text| ambiguity(field, text).is_some())
    };
    if beyond.any(|texts| !texts.is_empty()) || question.fields.iter().zip(&selections).any(is_ambiguous) {
        return None;
    }
    Some(Outcome::Answered(input::answer_from_texts(question, selections, notes)))
}

/// Reads `[["a"],["b","c"]]`, with one entry for each field.
fn by_place(answers: &Json) -> Option<Selections> {
    answers.as_array()?.iter().map(|entry| strings(entry).map(Some)).collect()
}

/// Reads an object with one entry for each field, keyed by its text, name, header or index. If there is one entry and
/// one field, the key may be anything. Two entries for one field are ambiguous.
fn by_key(answers: &Map<String, Json>, question: &Question) -> Option<Selections> {
    let mut selections = vec![None; question.fields.len()];
    for (place, entry) in places(answers, question)?.into_iter().zip(answers.values()) {
        let selection = selected(entry, &question.fields[place])?;
        if selections[place].is_some() {
            return None;
        }
        selections[place] = selection;
    }
    Some(selections)
}

/// The kinds of keys for a field, the most likely first: text, name, header, index.
const KEY_KINDS: [fn(&str, &Question) -> Option<usize>; 4] = [
    |key, question| question.fields.iter().position(|field| field.label == key),
    |key, question| question.fields.iter().position(|field| field.name == key),
    |key, question| question.fields.iter().position(|field| field.header.as_deref() == Some(key)),
    |key, question| key.parse().ok().filter(|index| *index < question.fields.len()),
];

/// Returns the place of the field for each key. A client uses one kind of key for all fields. So a header which looks
/// like an index is taken as a header only if all keys are headers.
fn places(answers: &Map<String, Json>, question: &Question) -> Option<Vec<usize>> {
    if answers.len() == 1 && question.fields.len() == 1 {
        return Some(vec![0]);
    }
    let of_one_kind =
        KEY_KINDS.iter().find_map(|find| answers.keys().map(|key| find(key, question)).collect());
    of_one_kind.or_else(|| answers.keys().map(|key| place_of(key, question)).collect())
}

fn place_of(key: &str, question: &Question) -> Option<usize> {
    KEY_KINDS.iter().find_map(|find| find(key, question))
}

/// Reads one entry: a text, texts, or `{"mode":…,"value":…}`. The outer `None` is for an unknown shape.
fn selected(entry: &Json, field: &Field) -> Option<Option<Vec<String>>> {
    match entry {
        Json::Null => Some(None),
        Json::String(joined) if matches!(field.kind, Kind::Choices { .. }) => {
            Some(Some(values::split(joined, field.kind.options())))
        }
        Json::Object(object) => selected(object.get("value")?, field),
        entry => strings(entry).map(Some),
    }
}

/// Reads a scalar or an array of scalars as texts.
fn strings(json: &Json) -> Option<Vec<String>> {
    match json {
        Json::Array(entries) => entries.iter().map(scalar).collect(),
        json => scalar(json).map(|text| vec![text]),
    }
}

fn scalar(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => Some(text.clone()),
        Json::Bool(_) | Json::Number(_) => Some(json.to_string()),
        _ => None,
    }
}

/// Reads notes under any key of a field: in `notes`, or in `annotations` as objects with `notes`.
fn notes(object: &Map<String, Json>, question: &Question) -> BTreeMap<String, String> {
    let plain = object.get("notes").and_then(Json::as_object).into_iter().flatten();
    let nested = object.get("annotations").and_then(Json::as_object).into_iter().flatten();
    plain
        .map(|(key, note)| (key, Some(note)))
        .chain(nested.map(|(key, annotation)| (key, annotation.get("notes"))))
        .filter_map(|(key, note)| {
            let field = question.fields.get(place_of(key, question)?)?;
            Some((field.name.clone(), note?.as_str()?.to_owned()))
        })
        .collect()
}

/// The `result` of `_sandboxagent/session/request_question`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "lowercase")]
#[cfg_attr(feature = "schema", schemars(title = "RequestQuestionResult"))]
pub enum ExtensionResult {
    /// There is an answer.
    Answered {
        /// For each field in its order, the values of the chosen options, or what was typed.
        answers: Vec<Vec<String>>,
        /// What the extension has no place for.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<ReplyMeta>,
    },
    /// There will be no answer.
    Rejected {
        /// What the extension has no place for.
        #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
        meta: Option<ReplyMeta>,
    },
}

/// Writes an answer as a result.
pub fn write_answer(question: &Question, answer: &Answer) -> ExtensionResult {
    let answers = question
        .fields
        .iter()
        .map(|field| answer.values.get(&field.name).map(|value| texts(value, &field.kind)));
    let meta = ReplyMeta::of_notes(question, answer, |_| true);
    ExtensionResult::Answered { answers: answers.map(Option::unwrap_or_default).collect(), meta }
}

/// Writes a rejection and its reason as a result.
pub fn write_rejection(rejection: Rejection<'_>) -> ExtensionResult {
    ExtensionResult::Rejected { meta: Some(ReplyMeta::of_rejection(rejection)) }
}

fn texts(value: &Value, kind: &Kind) -> Vec<String> {
    match (value, kind) {
        (Value::Text(text), _) => vec![text.clone()],
        (Value::Many(texts), _) => texts.clone(),
        (Value::Flag(true), Kind::Confirm { yes, .. }) => vec![yes.clone()],
        (Value::Flag(false), Kind::Confirm { no, .. }) => vec![no.clone()],
        (Value::Flag(flag), _) => vec![flag.to_string()],
        (Value::Number(number), _) => vec![number.to_string()],
        (Value::Null, _) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dialect::sandboxagent::request,
        question::{Answer, Value},
    };

    const TWO: &str = r#"{"questions":[
        {"question":"Which database?","header":"DB","options":[{"value":"pg","label":"Postgres"},"SQLite"]},
        {"question":"Which features?","multiple":true,"custom":true,"options":["Auth","a, b","Search"]}]}"#;
    const ONE: &str = r#"{"prompt":"Which?","options":[["option-a","Option A"],["option-b","Option B"]]}"#;

    /// The translated result for the agent, or `canonical` or `unknown`.
    fn translated(params: &str, result: &str) -> String {
        let question = request::read(params.as_bytes(), "q").expect("a question");
        match read(result.as_bytes(), &question) {
            Reply::Canonical(_) => "canonical".to_owned(),
            Reply::Unknown => "unknown".to_owned(),
            Reply::Translated(_, result) => result.get().to_owned(),
        }
    }

    #[track_caller]
    fn check(params: &str, result: &str, expected: &str) {
        let expected = match expected {
            "user" | "cancelled" => {
                format!(r#"{{"status":"rejected","_meta":{{"askbridge":{{"reason":"{expected}"}}}}}}"#)
            }
            answers if answers.starts_with('[') => format!(r#"{{"status":"answered","answers":{answers}}}"#),
            other => other.to_owned(),
        };
        assert_eq!(translated(params, result), expected, "for {result}");
    }

    #[test]
    fn notes_on_a_canonical_answer_are_read() {
        let question = request::read(TWO.as_bytes(), "q").expect("a question");
        let result = br#"{"status":"answered","answers":[["pg"],[]],"_meta":{"askbridge":{"notes":
            {"0":"only in prod","1":5,"2":"no field","x":"no place"}}}}"#;
        let Reply::Canonical(Outcome::Answered(answer)) = read(result, &question) else {
            panic!("not a canonical answer");
        };
        assert_eq!(answer.notes, [("q0".to_owned(), "only in prod".to_owned())].into());
    }

    #[test]
    fn canonical_shape_is_recognised() {
        for result in [
            r#"{"status":"answered","answers":[["option-a"]]}"#,
            r#"{"answers":[["typed"]],"x":1,"status":"answered","_meta":{"y":{}}}"#,
            r#"{"status":"rejected"}"#,
            r#"{"status":"rejected","_meta":{"askbridge":{"reason":"user"}}}"#,
            r#"{"status":"answered","answers":[["option-b"]],"_meta":{"askbridge":{"notes":[]}}}"#,
        ] {
            check(ONE, result, "canonical");
        }
    }

    #[test]
    fn label_is_translated_to_its_value() {
        check(ONE, r#"{"status":"answered","answers":[["Option B"]]}"#, r#"[["option-b"]]"#);
        let noted = r#"{"answers":[["Option B"]] ,"_meta":{"x":1.0},"status":"answered"}"#;
        check(ONE, noted, r#"{"answers":[["option-b"]] ,"_meta":{"x":1.0},"status":"answered"}"#);
        // A value takes precedence over a label with the same text.
        let crossed = r#"{"prompt":"?","options":[["a","b"],["b","a"]]}"#;
        check(crossed, r#"{"questionId":"q","values":["a"]}"#, r#"[["a"]]"#);
    }

    #[test]
    fn answers_under_meta_are_translated() {
        let answers = r#""_meta":{"sandboxagent.dev":{"answers":[["Option A"]]}}"#;
        check(ONE, &format!(r#"{{"outcome":"answered",{answers}}}"#), r#"[["option-a"]]"#);
        check(ONE, &format!(r#"{{"outcome":"selected",{answers}}}"#), r#"[["option-a"]]"#);
        check(ONE, r#"{"outcome":"rejected"}"#, "user");
        check(ONE, r#"{"outcome":"cancelled"}"#, "cancelled");
        check(ONE, r#"{"outcome":"selected","optionId":"x"}"#, "unknown");
    }

    #[test]
    fn joined_answers_to_a_multiple_choice_are_split() {
        let answers =
            r#"{"answers":{"Which database?":"Postgres","Which features?":"Auth, a, b, \"x, y\", z"}}"#;
        check(TWO, answers, r#"[["pg"],["Auth","a, b","x, y","z"]]"#);
        check(TWO, r#"{"answers":{"DB":"SQLite"}}"#, r#"[["SQLite"],[]]"#);
        check(ONE, r#"{"answers":{"Which?":"Yes, but, no"}}"#, r#"[["Yes, but, no"]]"#);
        check(ONE, r#"{"response":"something else"}"#, r#"[["something else"]]"#);
        check(ONE, r#"{"answers":{}}"#, "user");
        check(TWO, r#"{"answers":{"Which planet?":"Mars","DB":"SQLite"}}"#, "unknown");
        check(TWO, r#"{"answers":{"0":"pg","DB":"SQLite"}}"#, "unknown");
    }

    #[test]
    fn all_keys_are_of_one_kind() {
        let numbered = r#"{"questions":[{"question":"A?","header":"1"},{"question":"B?","header":"2"}]}"#;
        check(numbered, r#"{"answers":{"0":"a","1":"b"}}"#, r#"[["a"],["b"]]"#);
        check(numbered, r#"{"answers":{"1":"a","2":"b"}}"#, r#"[["a"],["b"]]"#);
        check(numbered, r#"{"answers":{"A?":"a","q1":"b"}}"#, r#"[["a"],["b"]]"#);
    }

    #[test]
    fn answers_by_index_keep_their_notes() {
        let answers = r#"{"answers":{"0":{"mode":"option","value":"Postgres"},"1":{"mode":"custom","value":["x"]}},
            "notes":{"0":"only in prod"},"annotations":{"Which features?":{"notes":"later"}}}"#;
        let translated = translated(TWO, answers);
        let notes = r#""_meta":{"askbridge":{"notes":{"0":"only in prod","1":"later"}}}"#;
        assert_eq!(translated, format!(r#"{{"status":"answered","answers":[["pg"],["x"]],{notes}}}"#));
    }

    #[test]
    fn elicitation_results_are_translated() {
        check(ONE, r#"{"action":"accept","content":{"choice":"Option A"}}"#, r#"[["option-a"]]"#);
        check(TWO, r#"{"action":"accept","content":{"q0":"pg","q1":["Auth"]}}"#, r#"[["pg"],["Auth"]]"#);
        check(ONE, r#"{"action":"decline"}"#, "user");
        check(ONE, r#"{"action":"cancel"}"#, "cancelled");
        check(ONE, r#"{"action":"accept"}"#, "unknown");
    }

    #[test]
    fn numbers_keep_their_spelling_and_flags_their_words() {
        let fields = r#"{"prompt":"?","_meta":{"askbridge":{"fields":[
            {"name":"n","label":"N","kind":"number"},
            {"name":"c","label":"C","kind":"confirm","yes":"Do it","no":"Leave it"}]}}}"#;
        check(fields, r#"{"action":"accept","content":{"n":"5.10","c":true}}"#, r#"[["5.10"],["Do it"]]"#);
        check(fields, r#"{"action":"accept","content":{"n":7,"c":"Leave it"}}"#, r#"[["7"],["Leave it"]]"#);
    }

    #[test]
    fn values_and_cancelled_are_translated() {
        check(ONE, r#"{"questionId":"q","values":["Option A"]}"#, r#"[["option-a"]]"#);
        check(ONE, r#"{"questionId":"q","cancelled":true}"#, "cancelled");
    }

    #[track_caller]
    fn outcome(params: &str, result: &str) -> Outcome {
        let question = request::read(params.as_bytes(), "q").expect("a question");
        match read(result.as_bytes(), &question) {
            Reply::Canonical(outcome) | Reply::Translated(outcome, _) => outcome,
            Reply::Unknown => panic!("unknown: {result}"),
        }
    }

    #[test]
    fn additions_of_another_bridge_are_read() {
        for (reason, read) in [
            (r#""user""#, Reason::User),
            (r#""timeout""#, Reason::Timeout),
            (r#""replied_in_chat""#, Reason::RepliedInChat),
            (r#""a new one""#, Reason::User),
            ("5", Reason::User),
        ] {
            let rejected =
                format!(r#"{{"status":"rejected","_meta":{{"askbridge":{{"reason":{reason}}}}}}}"#);
            assert_eq!(outcome(ONE, &rejected), Outcome::Rejected(read), "for {reason}");
        }
        for chosen in ["option-a", "Option A"] {
            let noted = format!(
                r#"{{"status":"answered","answers":[["{chosen}"]],"_meta":{{"askbridge":{{"notes":{{"0":"later"}}}}}}}}"#
            );
            let notes = [("q0".to_owned(), "later".to_owned())].into();
            let values = [("q0".to_owned(), Value::Text("option-a".to_owned()))].into();
            assert_eq!(
                outcome(ONE, &noted),
                Outcome::Answered(Answer { values, notes, ..Answer::default() })
            );
        }
    }

    #[test]
    fn result_with_more_entries_than_fields_is_unknown() {
        // Some clients send one entry for each choice instead of one for each field.
        check(ONE, r#"{"status":"answered","answers":[["option-a"],["option-b"]]}"#, "unknown");
        check(ONE, r#"{"status":"answered","answers":[["option-a"],[]]}"#, "canonical");
        let in_meta = r#"{"outcome":"answered","_meta":{"sandboxagent.dev":{"answers":[["a"],["b"]]}}}"#;
        check(ONE, in_meta, "unknown");
    }

    #[test]
    fn unknown_shapes_are_unknown() {
        for result in [
            r#"["rejected"]"#,
            "null",
            "{}",
            "[]",
            r#"["rejected"]"#,
            "5",
            r#"{"status":"answered"}"#,
            r#"{"status":"maybe"}"#,
            "{",
        ] {
            check(ONE, result, "unknown");
        }
    }
}
