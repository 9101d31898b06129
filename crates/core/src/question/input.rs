//! Answers as responders send them: by field name, by the position of the fields, or as texts that are converted to the
//! type of each field. Whether an answer fits its question is left to `check.rs`.

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{Number, Value as Json};

#[cfg(feature = "schema")]
use super::image::AddedImage;
use super::{
    Answer, Comment, FieldError, Image, Kind, Question, Value, check,
    naming::{ambiguity, value_of},
};

/// An answer as a client sends it: `{"values": {…}, "notes": {…}}` by field name, or `{"answers": [[…]], "notes": {…}}` by
/// position.
///
/// An unknown member, both shapes at once, neither shape, or the same name twice is an error: if it were ignored, the
/// question would be settled in a way that the sender did not mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, deny_unknown_fields)]
pub enum AnswerInput {
    /// The answers by position.
    #[cfg_attr(feature = "schema", schemars(title = "AnswerByPlace"))]
    ByPlace {
        /// For each field in order, the values or labels of the chosen options, or the typed text. An empty list
        /// leaves the field out. True, false and a number count as the text that they are written as.
        #[cfg_attr(feature = "schema", schemars(with = "Vec<Vec<Entry>>"))]
        answers: Vec<Vec<String>>,
        /// Notes on fields, by field name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        notes: BTreeMap<String, String>,
        /// Images that the person adds, each with its `data`, where the question has `takesImages`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<AddedImage>"))]
        images: Vec<Image>,
    },
    /// The answers by field name.
    #[cfg_attr(feature = "schema", schemars(title = "AnswerByName"))]
    ByName {
        /// The value of each field. A value of a type that no field takes is reported as an error of that field.
        #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, Value>"))]
        values: BTreeMap<String, Json>,
        /// Notes on fields, by field name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        notes: BTreeMap<String, String>,
        /// Images that the person adds, each with its `data`, where the question has `takesImages`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<AddedImage>"))]
        images: Vec<Image>,
    },
}

impl AnswerInput {
    /// Reads it as an answer to this question. Whether the values fit is not checked here.
    ///
    /// # Errors
    /// A place beyond the last field, or a value that no field can have.
    pub fn read(self, question: &Question) -> Result<Answer, Vec<FieldError>> {
        match self {
            AnswerInput::ByName { values, notes, images } => {
                read_values(question, values, Answer { notes, images, ..Answer::default() })
            }
            AnswerInput::ByPlace { answers, notes, images } => {
                check_places(question, answers.len())?;
                check_names(question, &answers)?;
                let selections = answers.into_iter().map(|texts| (!texts.is_empty()).then_some(texts));
                Ok(Answer { images, ..answer_from_texts(question, selections.collect(), notes) })
            }
        }
    }
}

/// Checks that there are not more answers by place than fields.
///
/// # Errors
/// The first answer that is for no field.
pub fn check_places(question: &Question, given: usize) -> Result<(), Vec<FieldError>> {
    let fields = question.fields.len();
    if given <= fields {
        return Ok(());
    }
    let message = format!("must not exist: the question has {fields} fields, and there are {given} answers");
    Err(vec![FieldError { field: format!("answers[{fields}]"), message }])
}

/// Checks that no text is the label of several options of its field.
///
/// # Errors
/// One for each field that has such a text.
pub fn check_names(question: &Question, answers: &[Vec<String>]) -> Result<(), Vec<FieldError>> {
    let errors = question.fields.iter().zip(answers).filter_map(|(field, texts)| {
        let message = texts.iter().find_map(|text| ambiguity(field, text))?;
        Some(FieldError { field: field.name.clone(), message })
    });
    let errors: Vec<_> = errors.collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn read_values(
    question: &Question,
    values: BTreeMap<String, Json>,
    mut answer: Answer,
) -> Result<Answer, Vec<FieldError>> {
    let mut wrong = Vec::new();
    for (name, json) in values {
        let field = question.fields.iter().find(|field| field.name == name);
        match Value::deserialize(field.map_or(json.clone(), |field| as_texts(&field.kind, json))) {
            Ok(value) => drop(answer.values.insert(name, value)),
            Err(_) => wrong.push(name),
        }
    }
    if wrong.is_empty() {
        return Ok(answer);
    }
    // The sender gets the errors of all fields at once.
    let mut errors = check(question, &answer).err().unwrap_or_default();
    // A required field among these would also be reported as missing.
    errors.retain(|error| !wrong.contains(&error.field));
    let message = "must be a text, a list of texts, a number, true, false or null";
    errors.extend(wrong.into_iter().map(|field| FieldError { field, message: message.to_owned() }));
    Err(errors)
}

/// Returns the texts that stand for JSON where a field takes texts: the JSON itself, and options that are numbers, flags or
/// null to the agent.
fn as_texts(kind: &Kind, json: Json) -> Json {
    match (kind, json) {
        (Kind::Json { .. }, Json::String(text)) => text.into(),
        (Kind::Json { .. }, json) => json.to_string().into(),
        (Kind::Choice { options, .. }, json @ (Json::Number(_) | Json::Bool(_) | Json::Null)) => {
            let text = json.to_string();
            if options.iter().any(|option| option.value == text) { text.into() } else { json }
        }
        (Kind::Choices { .. }, Json::Array(entries)) => {
            let text = |entry: Json| match entry {
                entry @ (Json::Number(_) | Json::Bool(_) | Json::Null) => entry.to_string().into(),
                entry => entry,
            };
            entries.into_iter().map(text).collect()
        }
        (_, json) => json,
    }
}

impl From<Answer> for AnswerInput {
    fn from(answer: Answer) -> Self {
        let Answer { values, notes, images } = answer;
        let json = |value: Value| match value {
            Value::Text(text) => text.into(),
            Value::Many(texts) => texts.into(),
            Value::Flag(flag) => flag.into(),
            Value::Number(number) => Json::Number(number),
            Value::Null => Json::Null,
        };
        let values = values.into_iter().map(|(name, value)| (name, json(value))).collect();
        AnswerInput::ByName { values, notes, images }
    }
}

/// An answer as a client of the REST interface sends it, with the edition of the question that its person saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "ReplyInput"))]
pub struct ReplyInput {
    /// The `edition` of the question that the person saw. An answer without it counts only while the question has not
    /// changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<u32>,
    /// Comments on lines of the question, which go into the note on its first field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<Comment>,
    /// The answer.
    #[serde(flatten)]
    pub answer: AnswerInput,
}

impl<'de> Deserialize<'de> for AnswerInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // This is not derived: an untagged enum could not say what is wrong with an input.
        deserializer.deserialize_map(AnswerInputVisitor)
    }
}

/// Reads either shape of [`AnswerInput`].
struct AnswerInputVisitor;

/// One entry of an answer by position.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(untagged, expecting = "expected a text, a number, true or false")]
enum Entry {
    Text(String),
    Flag(bool),
    Number(Number),
}

impl From<Entry> for String {
    fn from(entry: Entry) -> Self {
        match entry {
            Entry::Text(text) => text,
            Entry::Flag(flag) => flag.to_string(),
            Entry::Number(number) => number.to_string(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Members {
    answers: Option<Vec<Vec<Entry>>>,
    values: Option<UniqueMap<Json>>,
    #[serde(default)]
    notes: UniqueMap<String>,
    #[serde(default)]
    images: Vec<Image>,
}

/// An object in which no name stands twice. serde's own maps keep the last of several values.
struct UniqueMap<T>(BTreeMap<String, T>);

impl<T> Default for UniqueMap<T> {
    fn default() -> Self {
        UniqueMap(BTreeMap::new())
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for UniqueMap<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UniqueMapVisitor(PhantomData))
    }
}

struct UniqueMapVisitor<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for UniqueMapVisitor<T> {
    type Value = UniqueMap<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<UniqueMap<T>, M::Error> {
        let mut entries = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            if entries.contains_key(&name) {
                return Err(M::Error::custom(format_args!("field {name:?} occurs twice")));
            }
            let value = map.next_value()?;
            entries.insert(name, value);
        }
        Ok(UniqueMap(entries))
    }
}

impl<'de> Visitor<'de> for AnswerInputVisitor {
    type Value = AnswerInput;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<AnswerInput, M::Error> {
        let Members { answers, values, notes: UniqueMap(notes), images } =
            Members::deserialize(MapAccessDeserializer::new(map))?;
        match (answers, values) {
            (Some(answers), None) => {
                let texts = |entries: Vec<Entry>| entries.into_iter().map(String::from).collect();
                Ok(AnswerInput::ByPlace { answers: answers.into_iter().map(texts).collect(), notes, images })
            }
            (None, Some(UniqueMap(values))) => Ok(AnswerInput::ByName { values, notes, images }),
            (Some(_), Some(_)) => Err(M::Error::custom("give either `answers` or `values`, not both")),
            (None, None) => Err(M::Error::custom("give `answers` or `values`")),
        }
    }
}

/// The text that stands for null.
const NULL: &str = "null";

/// The label of true.
pub const YES: &str = "Yes";
/// The label of false.
pub const NO: &str = "No";

/// Builds an answer from the chosen or typed texts of each field, in the order of the fields.
///
/// A label is turned into the value of its option. `None` and an empty list stand for a field without an answer, but
/// an empty list of multiple choices is a value. Texts beyond the last field are ignored.
pub fn answer_from_texts(
    question: &Question,
    selections: Vec<Option<Vec<String>>>,
    notes: BTreeMap<String, String>,
) -> Answer {
    let values = question.fields.iter().zip(selections).filter_map(|(field, selection)| {
        let selection = selection?;
        // Where no option and no text can be meant, the word stands for null.
        let is_free = matches!(field.kind, Kind::Text { .. } | Kind::Texts { .. } | Kind::Json { .. });
        let is_option =
            field.kind.options().iter().any(|option| option.value == NULL || option.label == NULL);
        if field.nullable && !is_free && !is_option && selection == [NULL] {
            return Some((field.name.clone(), Value::Null));
        }
        let texts = selection.iter().map(|text| value_of(field, text).into_owned()).collect();
        Some((field.name.clone(), value_from_texts(&field.kind, texts)?))
    });
    Answer { values: values.collect(), notes, ..Answer::default() }
}

/// Converts the texts of one field to a value of the field's type. Returns `None` if there is no text.
///
/// A text that does not have this type stays a text. Whether that is an error is left to `check.rs`.
pub fn value_from_texts(kind: &Kind, mut texts: Vec<String>) -> Option<Value> {
    // Several texts for a field of another kind stay a list, which `check.rs` refuses.
    if matches!(kind, Kind::Choices { .. } | Kind::Texts { .. }) || texts.len() > 1 {
        return Some(Value::Many(texts));
    }
    let text = texts.pop()?;
    let value = match kind {
        Kind::Boolean { .. } if text == YES || text == NO => Some(Value::Flag(text == YES)),
        Kind::Boolean { .. } => text.parse().ok().map(Value::Flag),
        // A number keeps its spelling: `5.10` would be written as `5.1`, so it stays a text.
        Kind::Number { .. } => {
            let number = serde_json::from_str::<Number>(&text).ok();
            number.filter(|number| number.to_string() == text).map(Value::Number)
        }
        Kind::Confirm { yes, .. } if text == *yes => Some(Value::Flag(true)),
        Kind::Confirm { no, .. } if text == *no => Some(Value::Flag(false)),
        Kind::Confirm { .. } => text.parse().ok().map(Value::Flag),
        _ => None,
    };
    Some(value.unwrap_or(Value::Text(text)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::{Field, Kind, Origin};

    fn read(json: Json) -> Result<AnswerInput, String> {
        serde_json::from_str(&json.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn an_input_of_neither_shape_is_refused_with_the_reason() {
        for (input, told) in [
            (json!({ "answers": [["a"]], "values": {} }), "either `answers` or `values`, not both"),
            (json!({ "notes": {} }), "give `answers` or `values`"),
            (json!({ "answers": [["a"]], "nots": {} }), "unknown field `nots`"),
            (json!({ "values": {}, "note": "x" }), "unknown field `note`"),
            (json!([[["a"]]]), "expected an object"),
            (json!([]), "expected an object"),
            (json!("a"), "expected an object"),
            (json!({ "answers": "a" }), "invalid type: string \"a\", expected a sequence"),
            (json!({ "answers": [[null]] }), "expected a text, a number, true or false"),
            (json!({ "answers": [[["a"]]] }), "expected a text, a number, true or false"),
            (json!({ "values": [] }), "invalid type: sequence, expected a map"),
        ] {
            let error = read(input.clone()).unwrap_err();
            assert!(error.contains(told), "{error:?} for {input}");
        }
    }

    #[test]
    fn a_name_that_stands_twice_is_refused() {
        for (input, told) in [
            (r#"{"answers":[["a"]],"answers":[["b"]]}"#, "duplicate field `answers`"),
            (r#"{"values":{"q0":"a"},"values":{"q0":"b"}}"#, "duplicate field `values`"),
            (r#"{"values":{"q0":"a","q1":"b","q0":"c"}}"#, "field \"q0\" occurs twice"),
            (r#"{"values":{"q0":"a","\u0071\u0030":"a"}}"#, "field \"q0\" occurs twice"),
            (r#"{"values":{},"notes":{"q0":"a","q0":"b"}}"#, "field \"q0\" occurs twice"),
            (r#"{"answers":[],"notes":{"q0":"a","q0":"a"}}"#, "field \"q0\" occurs twice"),
        ] {
            let error = serde_json::from_str::<AnswerInput>(input).unwrap_err().to_string();
            assert!(error.contains(told), "{error:?} for {input}");
        }
    }

    #[test]
    fn an_input_is_read_as_it_is_written() {
        for said in [
            json!({ "answers": [["a", "b"], []], "notes": { "q0": "n" } }),
            json!({ "values": { "q0": 1.5, "q1": ["a"], "q2": true, "q3": "t" } }),
        ] {
            assert_eq!(serde_json::to_value(read(said.clone()).unwrap()).unwrap(), said);
        }
        let number = serde_json::Number::from_f64(0.5).unwrap();
        let values =
            [Value::Text("t".to_owned()), Value::Many(vec![]), Value::Flag(true), Value::Number(number)];
        let values =
            values.into_iter().enumerate().map(|(index, value)| (format!("q{index}"), value)).collect();
        let notes = BTreeMap::from([("q0".to_owned(), "n".to_owned())]);
        let answer = Answer { values, notes, ..Answer::default() };
        let question = Question::new(Origin::SandboxAgent, "q", Vec::new());
        assert_eq!(AnswerInput::from(answer.clone()).read(&question), Ok(answer));
    }

    #[test]
    fn flags_and_numbers_by_position_count_as_in_the_values() {
        let kinds = [
            json!({ "kind": "boolean" }),
            json!({ "kind": "confirm", "yes": "Go", "no": "Stay" }),
            json!({ "kind": "number" }),
            json!({ "kind": "choice", "options": [{ "value": "5", "label": "Five" }] }),
        ];
        let fields = (0..).zip(kinds).map(|(place, it)| Field::at(place, "?".to_owned(), None, kind(it)));
        let question = Question::new(Origin::SandboxAgent, "q", fields.collect());
        let by_place = read(json!({ "answers": [[true], [false], [-1.5], [5]] })).unwrap().read(&question);
        let by_name = json!({ "values": { "q0": true, "q1": false, "q2": -1.5, "q3": 5 } });
        assert_eq!(by_place, read(by_name).unwrap().read(&question));
        assert_eq!(check(&question, &by_place.unwrap()), Ok(()));
    }

    #[test]
    fn values_that_no_field_can_have_are_reported_by_field() {
        let field = |place| Field::at(place, "?".to_owned(), None, Kind::free_text());
        let question = Question::new(Origin::SandboxAgent, "q", (0..3).map(field).collect());
        let fields = |input: Json| {
            let errors = read(input).unwrap().read(&question).unwrap_err();
            errors.into_iter().map(|error| error.field).collect::<Vec<_>>()
        };
        assert_eq!(fields(json!({ "values": { "q0": { "x": 1 }, "q1": "a", "z": "a" } })), ["q2", "z", "q0"]);
        assert_eq!(fields(json!({ "values": { "q0": null, "q1": [1], "q2": "a" } })), ["q0", "q1"]);
        assert_eq!(fields(json!({ "answers": [["a"], ["b"], ["c"], ["d"]] })), ["answers[3]"]);
    }

    fn kind(json: serde_json::Value) -> Kind {
        serde_json::from_value(json).expect("a kind")
    }

    /// The value of these texts, as JSON.
    fn json_of(kind: &Kind, texts: &[&str]) -> serde_json::Value {
        let value = value_from_texts(kind, texts.iter().map(|text| (*text).to_owned()).collect());
        serde_json::to_value(value).expect("JSON")
    }

    #[test]
    fn text_gets_the_type_of_its_field() {
        let confirm = kind(json!({ "kind": "confirm", "yes": "Do it", "no": "Leave it" }));
        let (flag, number) = (kind(json!({ "kind": "boolean" })), kind(json!({ "kind": "number" })));
        for (kind, text, expected) in [
            (&flag, "Yes", json!(true)),
            (&flag, "No", json!(false)),
            (&flag, "false", json!(false)),
            (&flag, "yes", json!("yes")),
            (&confirm, "Do it", json!(true)),
            (&confirm, "Leave it", json!(false)),
            (&confirm, "true", json!(true)),
            (&confirm, "Yes", json!("Yes")),
            (&number, "-7", json!(-7)),
            (&number, "0.5", json!(0.5)),
            (&number, "5.10", json!("5.10")),
            (&number, "1e2", json!("1e2")),
            (&number, "many", json!("many")),
            (&Kind::free_text(), "7", json!("7")),
        ] {
            assert_eq!(json_of(kind, &[text]), expected, "{text:?} for {kind:?}");
        }
    }

    #[test]
    fn several_texts_are_a_list_and_no_text_is_no_value() {
        let choices = kind(json!({ "kind": "choices", "options": [{ "value": "a", "label": "A" }] }));
        assert_eq!(json_of(&choices, &[]), json!([]));
        assert_eq!(json_of(&choices, &["a"]), json!(["a"]));
        assert_eq!(json_of(&Kind::free_text(), &["a", "b"]), json!(["a", "b"]));
        assert_eq!(json_of(&Kind::free_text(), &[]), json!(null));
    }

    #[test]
    fn a_label_of_several_options_is_no_answer() {
        let options = json!([{ "value": "/a/x", "label": "x" }, { "value": "/b/x", "label": "x" }]);
        for kind_name in ["choice", "choices"] {
            for other in [false, true] {
                let files = kind(json!({ "kind": kind_name, "options": options, "other": other }));
                let question =
                    Question::new(Origin::SandboxAgent, "q", vec![Field::at(0, "?".to_owned(), None, files)]);
                let read = |text: &str| read(json!({ "answers": [[text]] })).unwrap().read(&question);
                let errors = read("x").unwrap_err();
                assert!(errors[0].message.contains(r#""/a/x" or "/b/x""#), "{errors:?}");
                assert!(read("/b/x").is_ok());
            }
        }
    }

    #[test]
    fn answer_has_values_for_labels_and_only_for_answered_fields() {
        let options = json!([{ "value": "a", "label": "A" }, { "value": "A", "label": "b" }]);
        let choice = kind(json!({ "kind": "choice", "options": options }));
        let field = |place| Field::at(place, "?".to_owned(), None, choice.clone());
        let question = Question::new(Origin::SandboxAgent, "q", (0..4).map(field).collect());
        let text = |text: &str| Some(vec![text.to_owned()]);
        let notes = BTreeMap::from([("q3".to_owned(), "later".to_owned())]);
        // The value `A` takes precedence over the label `A`.
        let selections = vec![text("b"), text("A"), None, Some(Vec::new()), text("beyond")];
        let answer = answer_from_texts(&question, selections, notes.clone());
        assert_eq!(serde_json::to_value(answer.values).expect("JSON"), json!({ "q0": "A", "q1": "A" }));
        assert_eq!(answer.notes, notes);
    }
}
