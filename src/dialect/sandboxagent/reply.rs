//! What a client says to a native request, in any of the shapes that clients say it in.
//!
//! Source: the clients and SDKs that took up the extension from one of its descriptions, and those that answer
//! it as the elicitation that it resembles.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{
    Map, Value as Json,
    value::{RawValue, to_raw_value},
};

use super::{
    request::{NO, YES},
    response,
};
use crate::{
    dialect::{asked::Reply, joined},
    question::{Answer, Field, Kind, Outcome, Question, Reason, Value},
    wire::splice,
};

/// What was chosen or typed, field by field; `None` for a field that was left out.
type Selections = Vec<Option<Vec<String>>>;

/// Reads the `result` of a client's response to this question.
pub fn read(result: &[u8], question: &Question) -> Reply {
    // A type may be read from an array of its members as well: here that is none of the shapes.
    if !result.starts_with(b"{") {
        return Reply::Unknown;
    }
    if let Ok(canonical) = serde_json::from_slice::<Canonical>(result) {
        return canonical.read(result, question).unwrap_or(Reply::Unknown);
    }
    let Ok(object) = serde_json::from_slice::<Map<String, Json>>(result) else { return Reply::Unknown };
    let Some(outcome) = other_shape(&object, question) else { return Reply::Unknown };
    let response = match &outcome {
        Outcome::Answered(answer) => response::answered(question, answer),
        Outcome::Rejected(reason) => response::rejected(*reason),
        Outcome::Failed | Outcome::Unknown(_) => return Reply::Unknown,
    };
    to_raw_value(&response).map_or(Reply::Unknown, |result| Reply::Translated(outcome, result))
}

/// The canonical shape, whatever else stands in it.
#[derive(Deserialize)]
struct Canonical {
    status: Status,
    answers: Option<Vec<Vec<String>>>,
    #[serde(rename = "_meta", default)]
    meta: Json,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Answered,
    Rejected,
}

impl Canonical {
    fn read(self, result: &[u8], question: &Question) -> Option<Reply> {
        // What the bridge itself adds: another one may stand between us and the client.
        let additions = self.meta.get("askbridge").unwrap_or(&Json::Null);
        let answers = match (self.status, self.answers) {
            (Status::Answered, answers) => answers?,
            (Status::Rejected, _) => {
                // A client may write any text here: only the known reasons count.
                let reason = additions.get("reason").and_then(|reason| Reason::deserialize(reason).ok());
                let reason = reason.filter(|reason| !matches!(reason, Reason::Other(_)));
                return Some(Reply::Canonical(Outcome::Rejected(reason.unwrap_or(Reason::User))));
            }
        };
        let notes = additions.as_object().map(|additions| notes(additions, question)).unwrap_or_default();
        // A label in the place of a value is the one thing that a canonical answer may get wrong.
        let by_value = question
            .fields
            .iter()
            .zip(&answers)
            .all(|(field, chosen)| chosen.iter().all(|text| field.value_of(text) == **text));
        let outcome =
            |answers: Vec<Vec<String>>| answered(question, answers.into_iter().map(Some).collect(), notes);
        if by_value {
            return Some(Reply::Canonical(outcome(answers)?));
        }
        let mut values = answers;
        for (field, chosen) in question.fields.iter().zip(&mut values) {
            chosen.iter_mut().for_each(|text| *text = field.value_of(text).into_owned());
        }
        let answers = serde_json::to_string(&values).ok()?;
        // Whatever else the client said goes along.
        let relabelled = String::from_utf8(splice::replace_member(result, "answers", &answers)?).ok()?;
        Some(Reply::Translated(outcome(values)?, RawValue::from_string(relabelled).ok()?))
    }
}

/// Reads the shapes that are not canonical. `None` where it is none of them.
fn other_shape(object: &Map<String, Json>, question: &Question) -> Option<Outcome> {
    let word = |name: &str| object.get(name).and_then(Json::as_str);
    match (word("outcome"), word("action")) {
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

/// `{"answers":{…}}` by question text or by index, with notes, annotations and a free `response` beside it.
fn keyed(object: &Map<String, Json>, question: &Question) -> Option<Outcome> {
    let response = object.get("response").and_then(Json::as_str).filter(|text| !text.is_empty());
    let mut selections = match object.get("answers") {
        Some(answers) => by_key(answers.as_object()?, question)?,
        None => vec![None; response.is_some().then_some(question.fields.len())?],
    };
    let mut notes = notes(object, question);
    if let Some(response) = response {
        // It answers what nothing was chosen for; otherwise it is a remark.
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

/// Puts selections together as an answer, labels turned into values. `None` where one is for no field: without it,
/// the answer would be another one.
fn answered(question: &Question, selections: Selections, notes: BTreeMap<String, String>) -> Option<Outcome> {
    let mut beyond = selections.iter().skip(question.fields.len()).flatten();
    if beyond.any(|texts| !texts.is_empty()) {
        return None;
    }
    Some(Outcome::Answered(answer(question, selections, notes)))
}

/// Puts what was chosen or typed in each field together as an answer, labels turned into values.
pub fn answer(
    question: &Question,
    selections: Vec<Option<Vec<String>>>,
    notes: BTreeMap<String, String>,
) -> Answer {
    let values = question.fields.iter().zip(selections).filter_map(|(field, selection)| {
        let texts = selection?.iter().map(|text| field.value_of(text).into_owned()).collect();
        Some((field.name.clone(), typed(&field.kind, texts)?))
    });
    Answer { values: values.collect(), notes }
}

/// Gives texts the type of the field. A text that has another type stays one: only the agent can judge it.
pub fn typed(kind: &Kind, mut texts: Vec<String>) -> Option<Value> {
    if matches!(kind, Kind::Choices { .. }) || texts.len() > 1 {
        return Some(Value::Many(texts));
    }
    let text = texts.pop()?;
    let value = match kind {
        Kind::Boolean { .. } if text == YES || text == NO => Some(Value::Flag(text == YES)),
        Kind::Boolean { .. } => text.parse().ok().map(Value::Flag),
        // A number that would be spelled in another way stays as it was typed.
        Kind::Number { .. } => {
            let number = serde_json::from_str::<serde_json::Number>(&text).ok();
            number.filter(|number| number.to_string() == text).map(Value::Number)
        }
        Kind::Confirm { yes, .. } if text == *yes => Some(Value::Flag(true)),
        Kind::Confirm { no, .. } if text == *no => Some(Value::Flag(false)),
        Kind::Confirm { .. } => text.parse().ok().map(Value::Flag),
        _ => None,
    };
    Some(value.unwrap_or(Value::Text(text)))
}

/// `[["a"],["b","c"]]`, one entry a field.
fn by_place(answers: &Json) -> Option<Selections> {
    answers.as_array()?.iter().map(|entry| strings(entry).map(Some)).collect()
}

/// An object with one entry a field, by its text, name, header or index. The only entry for the only field may
/// have any key. Two entries for one field have no one meaning.
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

/// The ways to name a field, the likeliest first.
const WAYS: [fn(&str, &Question) -> Option<usize>; 4] = [
    |key, question| question.fields.iter().position(|field| field.label == key),
    |key, question| question.fields.iter().position(|field| field.name == key),
    |key, question| question.fields.iter().position(|field| field.header.as_deref() == Some(key)),
    |key, question| key.parse().ok().filter(|index| *index < question.fields.len()),
];

/// Returns the field of each key. A client names all of them in one way: a header that looks like an index is one
/// only where all keys are headers.
fn places(answers: &Map<String, Json>, question: &Question) -> Option<Vec<usize>> {
    if answers.len() == 1 && question.fields.len() == 1 {
        return Some(vec![0]);
    }
    let in_one_way = WAYS.iter().find_map(|way| answers.keys().map(|key| way(key, question)).collect());
    in_one_way.or_else(|| answers.keys().map(|key| place_of(key, question)).collect())
}

fn place_of(key: &str, question: &Question) -> Option<usize> {
    WAYS.iter().find_map(|way| way(key, question))
}

/// What one entry selects: a text, texts, or `{"mode":…,"value":…}`. The outer `None` is for none of these.
fn selected(entry: &Json, field: &Field) -> Option<Option<Vec<String>>> {
    match entry {
        Json::Null => Some(None),
        Json::String(joined) if matches!(field.kind, Kind::Choices { .. }) => {
            Some(Some(joined::split(joined, field.kind.options())))
        }
        Json::Object(object) => selected(object.get("value")?, field),
        entry => strings(entry).map(Some),
    }
}

/// A scalar or an array of scalars, as texts.
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

/// Remarks, by any key of a field: `notes`, or `annotations` with `notes` in them.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::sandboxagent::request;

    const TWO: &str = r#"{"questions":[
        {"question":"Which database?","header":"DB","options":[{"value":"pg","label":"Postgres"},"SQLite"]},
        {"question":"Which features?","multiple":true,"custom":true,"options":["Auth","a, b","Search"]}]}"#;
    const ONE: &str = r#"{"prompt":"Which?","options":[["option-a","Option A"],["option-b","Option B"]]}"#;

    /// What the agent is told when the client says this, or why nothing was translated.
    fn told(params: &str, result: &str) -> String {
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
        assert_eq!(told(params, result), expected, "for {result}");
    }

    #[test]
    fn remarks_on_a_canonical_answer_are_understood() {
        let question = request::read(TWO.as_bytes(), "q").expect("a question");
        let result = br#"{"status":"answered","answers":[["pg"],[]],"_meta":{"askbridge":{"notes":
            {"0":"only in prod","1":5,"2":"no field","x":"no place"}}}}"#;
        let Reply::Canonical(Outcome::Answered(answer)) = read(result, &question) else {
            panic!("no canonical answer");
        };
        assert_eq!(answer.notes, [("q0".to_owned(), "only in prod".to_owned())].into());
    }

    #[test]
    fn the_canonical_shape_is_recognised() {
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
    fn a_label_is_translated_to_its_value() {
        check(ONE, r#"{"status":"answered","answers":[["Option B"]]}"#, r#"[["option-b"]]"#);
        let noted = r#"{"answers":[["Option B"]] ,"_meta":{"x":1.0},"status":"answered"}"#;
        check(ONE, noted, r#"{"answers":[["option-b"]] ,"_meta":{"x":1.0},"status":"answered"}"#);
        // A value wins over a label of the same text.
        let crossed = r#"{"prompt":"?","options":[["a","b"],["b","a"]]}"#;
        check(crossed, r#"{"questionId":"q","values":["a"]}"#, r#"[["a"]]"#);
    }

    #[test]
    fn outcomes_with_answers_in_meta() {
        let answers = r#""_meta":{"sandboxagent.dev":{"answers":[["Option A"]]}}"#;
        check(ONE, &format!(r#"{{"outcome":"answered",{answers}}}"#), r#"[["option-a"]]"#);
        check(ONE, &format!(r#"{{"outcome":"selected",{answers}}}"#), r#"[["option-a"]]"#);
        check(ONE, r#"{"outcome":"rejected"}"#, "user");
        check(ONE, r#"{"outcome":"cancelled"}"#, "cancelled");
        check(ONE, r#"{"outcome":"selected","optionId":"x"}"#, "unknown");
    }

    #[test]
    fn answers_by_question_text_are_split_where_several_can_be_chosen() {
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
    fn all_keys_name_their_fields_in_one_way() {
        let numbered = r#"{"questions":[{"question":"A?","header":"1"},{"question":"B?","header":"2"}]}"#;
        check(numbered, r#"{"answers":{"0":"a","1":"b"}}"#, r#"[["a"],["b"]]"#);
        check(numbered, r#"{"answers":{"1":"a","2":"b"}}"#, r#"[["a"],["b"]]"#);
        check(numbered, r#"{"answers":{"A?":"a","q1":"b"}}"#, r#"[["a"],["b"]]"#);
    }

    #[test]
    fn answers_by_index_keep_their_notes() {
        let answers = r#"{"answers":{"0":{"mode":"option","value":"Postgres"},"1":{"mode":"custom","value":["x"]}},
            "notes":{"0":"only in prod"},"annotations":{"Which features?":{"notes":"later"}}}"#;
        let told = told(TWO, answers);
        let notes = r#""_meta":{"askbridge":{"notes":{"0":"only in prod","1":"later"}}}"#;
        assert_eq!(told, format!(r#"{{"status":"answered","answers":[["pg"],["x"]],{notes}}}"#));
    }

    #[test]
    fn elicitation_results_are_understood() {
        check(ONE, r#"{"action":"accept","content":{"choice":"Option A"}}"#, r#"[["option-a"]]"#);
        check(TWO, r#"{"action":"accept","content":{"q0":"pg","q1":["Auth"]}}"#, r#"[["pg"],["Auth"]]"#);
        check(ONE, r#"{"action":"decline"}"#, "user");
        check(ONE, r#"{"action":"cancel"}"#, "cancelled");
        check(ONE, r#"{"action":"accept"}"#, "unknown");
    }

    #[test]
    fn what_is_no_choice_is_told_as_it_was_said() {
        let fields = r#"{"prompt":"?","_meta":{"askbridge":{"fields":[
            {"name":"n","label":"N","kind":"number"},
            {"name":"c","label":"C","kind":"confirm","yes":"Do it","no":"Leave it"}]}}}"#;
        check(fields, r#"{"action":"accept","content":{"n":"5.10","c":true}}"#, r#"[["5.10"],["Do it"]]"#);
        check(fields, r#"{"action":"accept","content":{"n":7,"c":"Leave it"}}"#, r#"[["7"],["Leave it"]]"#);
    }

    #[test]
    fn values_and_cancelled_are_understood() {
        check(ONE, r#"{"questionId":"q","values":["Option A"]}"#, r#"[["option-a"]]"#);
        check(ONE, r#"{"questionId":"q","cancelled":true}"#, "cancelled");
    }

    #[track_caller]
    fn outcome(params: &str, result: &str) -> Outcome {
        let question = request::read(params.as_bytes(), "q").expect("a question");
        match read(result.as_bytes(), &question) {
            Reply::Canonical(outcome) | Reply::Translated(outcome, _) => outcome,
            Reply::Unknown => panic!("not understood: {result}"),
        }
    }

    #[test]
    fn what_another_bridge_adds_is_read() {
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
            assert_eq!(outcome(ONE, &noted), Outcome::Answered(Answer { values, notes }));
        }
    }

    #[test]
    fn no_choice_is_lost() {
        // One entry for each choice, in the place of one for each field.
        check(ONE, r#"{"status":"answered","answers":[["option-a"],["option-b"]]}"#, "unknown");
        check(ONE, r#"{"status":"answered","answers":[["option-a"],[]]}"#, "canonical");
        let in_meta = r#"{"outcome":"answered","_meta":{"sandboxagent.dev":{"answers":[["a"],["b"]]}}}"#;
        check(ONE, in_meta, "unknown");
    }

    #[test]
    fn what_says_nothing_known_is_unknown() {
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
