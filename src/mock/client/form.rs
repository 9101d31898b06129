//! A question as a person is asked it, and what a typed line means as an answer.
//! Showing it is left to `screen.rs`.

use serde_json::{Number, Value, json};

/// The marks before the name of an option that can be chosen beside others.
const MARKS: [&str; 2] = ["☐ ", "☑ "];

/// The fields of a question, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// What is said before the fields, if it is not one of their questions.
    pub(super) message: Option<String>,
    pub(super) fields: Vec<Field>,
}

/// One thing that is asked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) header: Option<String>,
    pub(super) question: String,
    /// Without options, any text is an answer.
    pub(super) options: Vec<Choice>,
    pub(super) multiple: bool,
    /// Whether a text that is no option is an answer as well.
    pub(super) custom: bool,
    /// Whether it is a text beside fields that matter more, so that it is left out where nobody gives one.
    pub(super) aside: bool,
    pub(super) kind: Kind,
}

/// What the answer to a field is on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Text,
    Number,
    Integer,
    /// Its options are `true` and `false`.
    Boolean,
}

/// One option of a field.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) label: String,
    pub(super) description: Option<String>,
}

/// What a typed line means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// The values for this field.
    Values(Vec<String>),
    /// The line was empty.
    Nothing,
    /// The whole question is to be rejected.
    Skip,
}

impl Form {
    /// Reads the parameters of a question, in any of the shapes that agents use.
    pub(super) fn read(params: &Value) -> Option<Self> {
        let fields: Option<Vec<Field>> = match &params["questions"] {
            Value::Array(questions) => questions.iter().map(Field::read).collect(),
            _ => Some(vec![Field::read(params)?]),
        };
        fields.filter(|fields| !fields.is_empty()).map(|fields| Self { message: None, fields })
    }
}

impl Field {
    fn read(field: &Value) -> Option<Self> {
        let options = match &field["options"] {
            Value::Array(options) => options.iter().map(Choice::read).collect::<Option<_>>()?,
            _ => Vec::new(),
        };
        Some(Self {
            header: text(field, &["header"]),
            question: text(field, &["question", "prompt", "header"])?,
            options,
            multiple: field["multiple"] == true || field["multiSelect"] == true,
            custom: field["custom"] == true,
            aside: false,
            kind: Kind::Text,
        })
    }

    /// What may be typed, where this is one of so many fields.
    pub(super) fn hint(&self, fields: usize) -> String {
        let answer = match (self.options.len(), self.multiple) {
            (0, _) if self.kind == Kind::Text => "a text".to_owned(),
            (0, _) => "a number".to_owned(),
            (count, true) => format!("1-{count}, separated by commas"),
            (count, false) => format!("1-{count}"),
        };
        let other = if self.custom && !self.options.is_empty() { " or a text" } else { "" };
        let enter = if fields > 1 { "Enter leaves it out, skip rejects all" } else { "Enter rejects" };
        format!("{answer}{other} ({enter})")
    }

    /// Reads what a person typed: numbers, values or labels of options, or a text where that is asked.
    pub(super) fn typed(&self, line: &str) -> Result<Typed, String> {
        let line = line.trim();
        if line.is_empty() {
            return Ok(Typed::Nothing);
        }
        if let Some(value) = self.option(line) {
            return Ok(Typed::Values(vec![value]));
        }
        if line.eq_ignore_ascii_case("skip") {
            return Ok(Typed::Skip);
        }
        if self.options.is_empty() {
            return self.check_number(line).map(|()| Typed::Values(vec![line.to_owned()]));
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
        if values.is_empty() { Err(self.complaint(line)) } else { Ok(Typed::Values(values)) }
    }

    fn check_number(&self, line: &str) -> Result<(), String> {
        let number = serde_json::from_str::<Number>(line);
        match self.kind {
            Kind::Number if number.is_err() => Err(format!("“{line}” is no number")),
            Kind::Integer if !number.is_ok_and(|number| number.is_i64() || number.is_u64()) => {
                Err(format!("“{line}” is no whole number"))
            }
            _ => Ok(()),
        }
    }

    /// The values as a form says them: an array of many, or one of its own kind; nothing for none.
    pub(super) fn content(&self, values: &[String]) -> Option<Value> {
        let value = values.first()?;
        Some(match self.kind {
            _ if self.multiple => json!(values),
            Kind::Text => json!(value),
            Kind::Boolean => json!(value == "true"),
            Kind::Number | Kind::Integer => serde_json::from_str(value).unwrap_or_default(),
        })
    }

    /// Whether its options can be chosen beside each other, one at a time.
    pub(super) fn is_marked(&self) -> bool {
        self.options.iter().any(Choice::is_marked)
    }

    /// The value of the option with this number, value or label, in this order.
    pub(super) fn option(&self, typed: &str) -> Option<String> {
        let numbered = typed.parse::<usize>().ok().and_then(|n| self.options.get(n.checked_sub(1)?));
        let by_value = || self.options.iter().find(|option| option.value == typed);
        let by_label = || self.options.iter().find(|option| option.label == typed || option.name() == typed);
        let by_any_case = || {
            let typed = typed.to_lowercase();
            let same = |text: &str| text.to_lowercase() == typed;
            self.options.iter().find(|option| same(&option.value) || same(option.name()))
        };
        let found = numbered.or_else(by_value).or_else(by_label).or_else(by_any_case)?;
        Some(found.value.clone())
    }

    fn complaint(&self, typed: &str) -> String {
        let count = self.options.len();
        format!("“{typed}” is no option: type a number from 1 to {count}, a value or a label")
    }
}

impl Choice {
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

    /// The label without the mark before it.
    pub(super) fn name(&self) -> &str {
        MARKS.iter().find_map(|mark| self.label.strip_prefix(mark)).unwrap_or(&self.label)
    }

    pub(super) fn is_marked(&self) -> bool {
        self.name().len() < self.label.len()
    }

    /// Whether it is one of many, and chosen already.
    pub(super) fn is_chosen(&self) -> bool {
        self.label.starts_with(MARKS[1])
    }

    pub(super) fn new(value: String, label: Option<String>, description: Option<String>) -> Self {
        Self { label: label.unwrap_or_else(|| value.clone()), value, description }
    }
}

/// The first of these members that is a text with something in it.
pub(super) fn text(object: &Value, names: &[&str]) -> Option<String> {
    let texts = names.iter().filter_map(|name| object[*name].as_str());
    texts.into_iter().find(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(params: Value) -> Field {
        let mut form = Form::read(&params).unwrap();
        assert_eq!(form.fields.len(), 1);
        form.fields.remove(0)
    }

    fn letters() -> Field {
        field(json!({ "prompt": "?", "options": [["option-a", "Option A"], ["option-b", "Option B"]] }))
    }

    fn values(values: &[&str]) -> Result<Typed, String> {
        Ok(Typed::Values(values.iter().map(|value| (*value).to_owned()).collect()))
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
    fn fields_are_read_and_nonsense_is_not() {
        let questions = json!([{ "question": "Q", "header": "H", "multiple": true, "custom": true }]);
        let read = field(json!({ "questions": questions }));
        assert_eq!((read.header.as_deref(), read.question.as_str()), (Some("H"), "Q"));
        assert!(read.multiple && read.custom && read.options.is_empty());
        for nonsense in [
            json!({}),
            json!(null),
            json!({ "questions": [] }),
            json!({ "questions": [5] }),
            json!({ "prompt": "?", "options": [5] }),
            json!({ "prompt": "?", "options": [["a"]] }),
        ] {
            assert_eq!(Form::read(&nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn an_option_is_named_by_its_number_its_value_or_its_label() {
        for typed in ["2", " 2 ", "option-b", "Option B", "option b"] {
            assert_eq!(letters().typed(typed), values(&["option-b"]), "{typed}");
        }
        for typed in ["0", "3", "-1", "option-c", "1,2"] {
            assert!(letters().typed(typed).unwrap_err().contains("from 1 to 2"), "{typed}");
        }
    }

    #[test]
    fn a_number_comes_before_a_value_that_looks_like_one() {
        let numbers = field(json!({ "prompt": "?", "options": ["2", "1", "10"] }));
        assert_eq!(numbers.typed("1"), values(&["2"]));
        assert_eq!(numbers.typed("10"), values(&["10"]));
    }

    #[test]
    fn many_options_are_separated_by_commas() {
        let many = json!([{ "question": "?", "options": ["Auth", "Search", "a, b"], "multiple": true }]);
        let many = field(json!({ "questions": many }));
        assert_eq!(many.typed("1, search,1,"), values(&["Auth", "Search"]));
        assert_eq!(many.typed("a, b"), values(&["a, b"]));
        assert!(many.typed("1, 9").unwrap_err().contains("“9”"));
        assert!(many.typed(",").is_err());
    }

    #[test]
    fn a_text_is_taken_where_there_are_no_options_or_others_are_welcome() {
        let free = field(json!({ "prompt": "?", "options": [] }));
        assert_eq!(free.typed(" 1, two "), values(&["1, two"]));
        let custom = field(json!({ "questions": [{ "question": "?", "options": ["A"], "custom": true }] }));
        assert_eq!(custom.typed("other"), values(&["other"]));
    }

    #[test]
    fn nothing_and_skip_are_no_answers() {
        assert_eq!(letters().typed("  "), Ok(Typed::Nothing));
        assert_eq!(letters().typed("SKIP"), Ok(Typed::Skip));
        let skip = field(json!({ "prompt": "?", "options": ["skip", "stay"] }));
        assert_eq!(skip.typed("skip"), values(&["skip"]), "it is an option here");
    }
}
