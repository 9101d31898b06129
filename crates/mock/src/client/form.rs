//! A question in the client: one field for each property of a form's schema, and the meaning of a typed line as an
//! answer. A companion field for free texts is a field like any other here.
//! Showing the question is left to `screen.rs`.

use serde::Deserialize;
use serde_json::{Number, Value, json};

use crate::message::{INVALID_PARAMS, OrderedMap, RpcError};

/// The marks before the label of an option of a multiple choice: not chosen, chosen.
const MARKS: [&str; 2] = ["☐ ", "☑ "];

/// The fields of a question, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientForm {
    /// The text before the fields, unless it is the question of a field.
    pub(super) message: Option<String>,
    pub(super) fields: Vec<ClientField>,
}

/// One field of a question.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ClientField {
    pub(super) header: Option<String>,
    pub(super) question: String,
    /// The lines between the question and its options.
    pub(super) details: Vec<Detail>,
    /// The options of the field. A field without options takes any text.
    pub(super) options: Vec<ClientChoice>,
    pub(super) multiple: bool,
    /// Whether the field takes a text beside its options.
    pub(super) custom: bool,
    /// Whether the question cannot be answered without this field.
    pub(super) required: bool,
    /// Whether the field is an optional text beside other fields, such as a note. It is left out by default.
    pub(super) secondary: bool,
    /// Whether the values of the options are for programs only.
    pub(super) opaque: bool,
    pub(super) kind: ValueKind,
}

/// A line that says more about a question.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Detail {
    Text(String),
    /// A line that a change removes.
    Removed(String),
    /// A line that a change adds.
    Added(String),
}

/// The JSON type of the answer to a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ValueKind {
    #[default]
    Text,
    Number,
    Integer,
    /// Its options are `true` and `false`.
    Boolean,
}

/// One option of a field.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientChoice {
    pub(super) value: String,
    pub(super) label: String,
    pub(super) description: Option<String>,
}

/// The meaning of a typed line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TypedLine {
    /// The values for this field.
    Values(Vec<String>),
    /// The line was empty.
    Nothing,
    /// The whole question is rejected.
    Skip,
}

impl ClientForm {
    /// Reads the parameters of a question, in any of the agents' shapes.
    pub(super) fn read(params: &Value) -> Option<Self> {
        let fields: Option<Vec<ClientField>> = match &params["questions"] {
            Value::Array(questions) => questions.iter().map(ClientField::read).collect(),
            _ => Some(vec![ClientField::read(params)?]),
        };
        // The shape of the extension does not say which fields are required. Only the bridge's additions in `_meta`
        // do.
        let added = &params["_meta"]["askbridge"]["fields"];
        let fields = fields.map(|mut fields| {
            let places = fields.iter_mut().enumerate();
            places.for_each(|(place, field)| field.required = added[place]["required"] == true);
            fields
        });
        fields.filter(|fields| !fields.is_empty()).map(|fields| Self { message: None, fields })
    }
}

impl ClientField {
    fn read(field: &Value) -> Option<Self> {
        let options = match &field["options"] {
            Value::Array(options) => options.iter().map(ClientChoice::read).collect::<Option<_>>()?,
            _ => Vec::new(),
        };
        Some(Self {
            header: text(field, &["header"]),
            question: text(field, &["question", "prompt", "header"])?,
            details: Vec::new(),
            options,
            multiple: field["multiple"] == true || field["multiSelect"] == true,
            custom: field["custom"] == true,
            ..Self::default()
        })
    }

    /// Returns a hint on what can be typed, for a question with this number of fields.
    pub(super) fn hint(&self, fields: usize) -> String {
        let answer = match (self.options.len(), self.multiple) {
            (0, _) if self.kind == ValueKind::Text => "a text".to_owned(),
            (0, _) => "a number".to_owned(),
            (count, true) => format!("1-{count}, separated by commas"),
            (count, false) => format!("1-{count}"),
        };
        let other = if self.custom && !self.options.is_empty() { " or a text" } else { "" };
        let enter = match (fields, self.required) {
            (0 | 1, _) => "Enter rejects",
            (_, true) => "skip rejects all",
            (_, false) => "Enter leaves it out, skip rejects all",
        };
        format!("{answer}{other} ({enter})")
    }

    /// Reads a typed line: numbers, values or labels of options, or a text where the field takes one.
    pub(super) fn typed(&self, line: &str) -> Result<TypedLine, String> {
        let line = line.trim();
        if line.is_empty() {
            return Ok(TypedLine::Nothing);
        }
        // The whole line comes first: the label of an option may be `skip`, or have a comma in it.
        if let Some(value) = self.option(line) {
            return Ok(TypedLine::Values(vec![value]));
        }
        if line.eq_ignore_ascii_case("skip") {
            return Ok(TypedLine::Skip);
        }
        if self.options.is_empty() {
            return self.check_number(line).map(|()| TypedLine::Values(vec![line.to_owned()]));
        }
        let parts = if self.multiple { line.split(',').collect() } else { vec![line] };
        let mut values = Vec::new();
        for part in parts.into_iter().map(str::trim).filter(|part| !part.is_empty()) {
            let value = match self.option(part) {
                Some(value) => value,
                None if self.custom => part.to_owned(),
                None => return Err(self.complaint(part)),
            };
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if values.is_empty() { Err(self.complaint(line)) } else { Ok(TypedLine::Values(values)) }
    }

    fn check_number(&self, line: &str) -> Result<(), String> {
        // The number is read as JSON, because `content` puts it into JSON.
        let number = serde_json::from_str::<Number>(line);
        match self.kind {
            ValueKind::Number if number.is_err() => Err(format!("“{line}” is not a number")),
            ValueKind::Integer if !number.is_ok_and(|number| number.is_i64() || number.is_u64()) => {
                Err(format!("“{line}” is not a whole number"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the values as the content of a form: an array for a multiple choice, otherwise a value of its type.
    /// Returns `None` without values.
    pub(super) fn content(&self, values: &[String]) -> Option<Value> {
        let value = values.first()?;
        Some(match self.kind {
            _ if self.multiple => json!(values),
            ValueKind::Text => json!(value),
            ValueKind::Boolean => json!(value == "true"),
            ValueKind::Number | ValueKind::Integer => serde_json::from_str(value).unwrap_or_default(),
        })
    }

    /// Returns whether the field is a multiple choice that is asked in rounds, one option at a time.
    pub(super) fn is_marked(&self) -> bool {
        self.options.iter().any(ClientChoice::is_marked)
    }

    /// Returns the value of the option with this number, value or label, in this order of precedence. A `y` or an `n`
    /// stands for an option whose value or label is `yes` or `no`.
    pub(super) fn option(&self, typed: &str) -> Option<String> {
        let numbered = typed.parse::<usize>().ok().and_then(|n| self.options.get(n.checked_sub(1)?));
        let by_value = || self.options.iter().find(|option| option.value == typed);
        let by_label = || self.options.iter().find(|option| option.label == typed || option.name() == typed);
        let by_any_case = || {
            let typed = typed.to_lowercase();
            let same = |text: &str| text.to_lowercase() == typed;
            self.options.iter().find(|option| same(&option.value) || same(option.name()))
        };
        let by_letter = || {
            let word = match typed {
                "y" | "Y" => "yes",
                "n" | "N" => "no",
                _ => return None,
            };
            let is_word = |text: &str| text.eq_ignore_ascii_case(word);
            self.options.iter().find(|option| is_word(&option.value) || is_word(option.name()))
        };
        let found = numbered.or_else(by_value).or_else(by_label).or_else(by_any_case).or_else(by_letter)?;
        Some(found.value.clone())
    }

    fn complaint(&self, typed: &str) -> String {
        let count = self.options.len();
        format!("“{typed}” is not an option: type a number from 1 to {count}, a value or a label")
    }
}

impl ClientChoice {
    fn read(option: &Value) -> Option<Self> {
        match option {
            Value::String(text) => Some(Self::new(text.clone(), None, None)),
            Value::Array(pair) => match pair.as_slice() {
                [Value::String(value), Value::String(label)] => {
                    Some(Self::new(value.clone(), Some(label.clone()), None))
                }
                _ => None,
            },
            Value::Object(_) => {
                let label = text(option, &["label", "name", "title"]);
                let value = text(option, &["value", "id"]).or_else(|| label.clone())?;
                Some(Self::new(value, label, text(option, &["description"])))
            }
            _ => None,
        }
    }

    /// Returns the label without its mark.
    pub(super) fn name(&self) -> &str {
        MARKS.iter().find_map(|mark| self.label.strip_prefix(mark)).unwrap_or(&self.label)
    }

    /// Returns whether the label has a mark.
    pub(super) fn is_marked(&self) -> bool {
        self.name().len() < self.label.len()
    }

    /// Returns whether the mark says that the option is chosen already.
    pub(super) fn is_chosen(&self) -> bool {
        self.label.starts_with(MARKS[1])
    }

    /// Returns an option. Without a label, the value is the label.
    pub(super) fn new(value: String, label: Option<String>, description: Option<String>) -> Self {
        Self { label: label.unwrap_or_else(|| value.clone()), value, description }
    }
}

/// Returns the first of these members that is a non-empty text.
pub(super) fn text(object: &Value, names: &[&str]) -> Option<String> {
    let texts = names.iter().filter_map(|name| object[*name].as_str());
    texts.into_iter().find(|text| !text.is_empty()).map(str::to_owned)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    mode: Option<String>,
    #[serde(default)]
    message: String,
    requested_schema: Option<Schema>,
}

#[derive(Deserialize)]
struct Schema {
    properties: OrderedMap,
    #[serde(default)]
    required: Vec<String>,
}

/// Returns the form and the keys of its fields, or `None` if it has no valid schema. Other modes than `form` are an
/// error.
pub(super) fn read(params: Params) -> Result<Option<(ClientForm, Vec<String>)>, RpcError> {
    let mode = params.mode.as_deref().unwrap_or("form");
    if mode != "form" {
        return Err(RpcError::new(INVALID_PARAMS, format!("only forms are shown: {mode}")));
    }
    let Some(Schema { properties: OrderedMap(properties), required }) = params.requested_schema else {
        return Ok(None);
    };
    let (mut keys, mut fields) = (Vec::new(), Vec::new());
    for (key, property) in properties {
        // A property of an unknown type is not shown.
        if let Some(field) = field(&key, &property, required.contains(&key)) {
            keys.push(key);
            fields.push(field);
        }
    }
    // A text is a note only beside other fields; alone, it is the question itself.
    if fields.iter().all(|field| field.secondary) {
        fields.iter_mut().for_each(|field| field.secondary = false);
    }
    let said = fields.iter().any(|field| field.question == params.message);
    let message = (!said && !params.message.is_empty()).then_some(params.message);
    Ok(Some((ClientForm { message, fields }, keys)))
}

fn field(key: &str, property: &Value, required: bool) -> Option<ClientField> {
    let kind = match property["type"].as_str()? {
        "string" | "array" => ValueKind::Text,
        "integer" => ValueKind::Integer,
        "number" => ValueKind::Number,
        "boolean" => ValueKind::Boolean,
        _ => return None,
    };
    let multiple = property["type"] == "array";
    let options = match kind {
        ValueKind::Boolean => vec![choice("true", "Yes"), choice("false", "No")],
        _ if multiple => choices(&property["items"])?,
        _ => choices(property)?,
    };
    let title = text(property, &["title"]);
    let description = text(property, &["description"]);
    Some(ClientField {
        header: description.is_some().then(|| title.clone()).flatten(),
        question: description.or(title).unwrap_or_else(|| key.to_owned()),
        details: Vec::new(),
        secondary: options.is_empty() && kind == ValueKind::Text && !required,
        options,
        multiple,
        required,
        kind,
        ..ClientField::default()
    })
}

/// Returns the options of `enum`, `oneOf` or `anyOf`; an empty list for a plain text.
fn choices(schema: &Value) -> Option<Vec<ClientChoice>> {
    let names = ["enum", "oneOf", "anyOf"];
    let Some(options) = names.iter().find_map(|name| schema[*name].as_array()) else {
        return Some(Vec::new());
    };
    let read = options.iter().map(|option| match option.as_str() {
        Some(value) => Some(choice(value, value)),
        None => {
            let value = option["const"].as_str()?.to_owned();
            Some(ClientChoice::new(value, text(option, &["title"]), text(option, &["description"])))
        }
    });
    read.collect()
}

fn choice(value: &str, label: &str) -> ClientChoice {
    ClientChoice::new(value.to_owned(), Some(label.to_owned()), None)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(params: Value) -> ClientField {
        let mut form = ClientForm::read(&params).unwrap();
        assert_eq!(form.fields.len(), 1);
        form.fields.remove(0)
    }

    fn letters() -> ClientField {
        field(json!({ "prompt": "?", "options": [["option-a", "Option A"], ["option-b", "Option B"]] }))
    }

    fn values(values: &[&str]) -> Result<TypedLine, String> {
        Ok(TypedLine::Values(values.iter().map(|value| (*value).to_owned()).collect()))
    }

    #[test]
    fn options_are_read_in_every_shape() {
        for (option, value, label, description) in [
            (json!("A"), "A", "A", None),
            (json!(["a", "A"]), "a", "A", None),
            (json!({ "value": "a", "label": "A", "description": "D" }), "a", "A", Some("D")),
            (json!({ "id": "a", "name": "A" }), "a", "A", None),
            (json!({ "label": "A" }), "A", "A", None),
            (json!({ "value": "a" }), "a", "a", None),
        ] {
            let read = field(json!({ "prompt": "?", "options": [option] })).options.remove(0);
            let expected = (value, label, description);
            assert_eq!((read.value.as_str(), read.label.as_str(), read.description.as_deref()), expected);
        }
    }

    #[test]
    fn valid_fields_are_read_and_invalid_ones_refused() {
        let questions = json!([{ "question": "Q", "header": "H", "multiple": true, "custom": true }]);
        let read = field(json!({ "questions": questions }));
        assert_eq!((read.header.as_deref(), read.question.as_str()), (Some("H"), "Q"));
        assert!(read.multiple && read.custom && read.options.is_empty());
        for invalid in [
            json!({}),
            json!(null),
            json!({ "questions": [] }),
            json!({ "questions": [5] }),
            json!({ "prompt": "?", "options": [5] }),
            json!({ "prompt": "?", "options": [["a"]] }),
        ] {
            assert_eq!(ClientForm::read(&invalid), None, "{invalid}");
        }
    }

    #[test]
    fn an_option_is_chosen_by_number_value_or_label() {
        for typed in ["2", " 2 ", "option-b", "Option B", "option b"] {
            assert_eq!(letters().typed(typed), values(&["option-b"]), "{typed}");
        }
        for typed in ["0", "3", "-1", "option-c", "1,2"] {
            assert!(letters().typed(typed).unwrap_err().contains("from 1 to 2"), "{typed}");
        }
    }

    #[test]
    fn a_letter_stands_for_yes_or_no_where_there_is_such_an_option() {
        let sure = field(json!({ "prompt": "?", "options": [["a", "Yes"], ["no", "Not now"], ["n2", "N"]] }));
        assert_eq!(sure.typed("y"), values(&["a"]));
        assert_eq!(sure.typed("n"), values(&["n2"]), "a label takes precedence");
        assert!(letters().typed("y").is_err());
    }

    #[test]
    fn a_required_field_is_not_said_to_be_left_out_by_enter() {
        let questions = json!([{ "question": "a" }, { "question": "b" }]);
        let fields = json!([{ "required": true }, { "required": false }]);
        let params = json!({ "questions": questions, "_meta": { "askbridge": { "fields": fields } } });
        let fields = ClientForm::read(&params).unwrap().fields;
        assert_eq!(fields[0].hint(2), "a text (skip rejects all)");
        assert_eq!(fields[1].hint(2), "a text (Enter leaves it out, skip rejects all)");
        assert_eq!(fields[0].hint(1), "a text (Enter rejects)");
    }

    #[test]
    fn an_option_number_takes_precedence_over_an_equal_value() {
        let numbers = field(json!({ "prompt": "?", "options": ["2", "1", "10"] }));
        assert_eq!(numbers.typed("1"), values(&["2"]));
        assert_eq!(numbers.typed("10"), values(&["10"]));
    }

    #[test]
    fn several_options_are_separated_by_commas() {
        let many = json!([{ "question": "?", "options": ["Auth", "Search", "a, b"], "multiple": true }]);
        let many = field(json!({ "questions": many }));
        assert_eq!(many.typed("1, search,1,"), values(&["Auth", "Search"]));
        assert_eq!(many.typed("a, b"), values(&["a, b"]));
        assert!(many.typed("1, 9").unwrap_err().contains("“9”"));
        assert!(many.typed(",").is_err());
    }

    #[test]
    fn a_text_is_taken_without_options_or_with_custom() {
        let free = field(json!({ "prompt": "?", "options": [] }));
        assert_eq!(free.typed(" 1, two "), values(&["1, two"]));
        let custom = field(json!({ "questions": [{ "question": "?", "options": ["A"], "custom": true }] }));
        assert_eq!(custom.typed("other"), values(&["other"]));
    }

    #[test]
    fn an_empty_line_and_skip_have_their_own_meaning() {
        assert_eq!(letters().typed("  "), Ok(TypedLine::Nothing));
        assert_eq!(letters().typed("SKIP"), Ok(TypedLine::Skip));
        let skip = field(json!({ "prompt": "?", "options": ["skip", "stay"] }));
        assert_eq!(skip.typed("skip"), values(&["skip"]), "an option takes precedence");
    }

    fn form(schema: Value) -> (ClientForm, Vec<String>) {
        let params = json!({ "mode": "form", "message": "Why?", "requestedSchema": schema });
        read(serde_json::from_value(params).unwrap()).unwrap().unwrap()
    }

    #[test]
    fn every_type_of_property_is_a_field_with_an_answer_of_that_type() {
        let (form, keys) = form(json!({ "type": "object", "required": ["text"], "properties": {
            "text": { "type": "string" },
            "n": { "type": "integer" },
            "x": { "type": "number" },
            "yes": { "type": "boolean", "title": "Sure?" },
            "one": { "type": "string", "oneOf": [{ "const": "a", "title": "A", "description": "first" }] },
            "many": { "type": "array", "items": { "type": "string", "enum": ["b", "c"] } },
            "any": { "type": "array", "items": { "anyOf": [{ "const": "d", "title": "D" }] } },
            "unknown": { "type": "object" },
        } }));
        assert_eq!(keys, ["text", "n", "x", "yes", "one", "many", "any"], "an unknown type is not rendered");
        let typed = ["hello", "-3", "1.5", "no", "A", "2,1", "D"];
        let contents = form.fields.iter().zip(typed).map(|(field, line)| match field.typed(line) {
            Ok(super::TypedLine::Values(values)) => field.content(&values).unwrap(),
            other => panic!("{line}: {other:?}"),
        });
        let contents: Vec<Value> = contents.collect();
        assert_eq!(json!(contents), json!(["hello", -3, 1.5, false, "a", ["c", "b"], ["d"]]));
        assert!(form.fields[1].typed("1.5").is_err() && form.fields[2].typed("one").is_err());
        assert_eq!((form.message.as_deref(), form.fields[3].question.as_str()), (Some("Why?"), "Sure?"));
    }

    #[test]
    fn a_text_is_secondary_only_beside_other_fields() {
        let text = json!({ "type": "string" });
        let choice = json!({ "type": "string", "enum": ["a"] });
        let secondary =
            |schema: Value| form(schema).0.fields.iter().map(|field| field.secondary).collect::<Vec<_>>();
        assert_eq!(secondary(json!({ "properties": { "a": choice, "b": text } })), [false, true]);
        assert_eq!(
            secondary(json!({ "properties": { "a": choice, "b": text }, "required": ["b"] })),
            [false; 2]
        );
        assert_eq!(secondary(json!({ "properties": { "b": text } })), [false]);
    }

    #[test]
    fn another_mode_is_an_error_and_a_missing_schema_is_not_a_form() {
        let read = |params| read(serde_json::from_value(params).unwrap());
        let url = json!({ "mode": "url", "url": "https://example.org", "message": "Go there" });
        assert_eq!(read(url).unwrap_err().code, INVALID_PARAMS);
        assert!(read(json!({ "mode": "form", "message": "?" })).unwrap().is_none());
    }
}
