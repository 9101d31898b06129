//! What is typed on the command line, as an answer to a question.
//! Whether it fits the question is checked by the bridge; here, only a value that cannot be read is an error.

use std::collections::BTreeMap;

use crate::question::{Answer, Field, FieldError, FieldOption, Kind, Question, Value};

/// An answer, as texts. What they mean depends on the question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerOptions {
    /// The ID of the question, with its number.
    pub id: String,
    /// The answer to each field in turn.
    pub values: Vec<String>,
    /// Answers to fields by name, as `NAME=VALUE`.
    pub fields: Vec<String>,
    /// Remarks on fields, as `NAME=TEXT`, or as the text alone for the first field.
    pub notes: Vec<String>,
}

/// Reads the answer. What was answered already, and is not given again, stays.
pub(super) fn read(
    question: &Question,
    kept: Option<&Answer>,
    options: &AnswerOptions,
) -> Result<Answer, Vec<FieldError>> {
    let texts = texts(question, options).map_err(|error| vec![error])?;
    let mut answer = kept.cloned().unwrap_or_default();
    let mut errors = Vec::new();
    for field in &question.fields {
        let Some(texts) = texts.get(&*field.name) else { continue };
        match value(field, texts) {
            Ok(value) => drop(answer.values.insert(field.name.clone(), value)),
            Err(message) => errors.push(error(&field.name, message)),
        }
    }
    for note in &options.notes {
        let (field, note) = named(question, note).or_else(|| Some((question.fields.first()?, note))).unzip();
        if let (Some(field), Some(note)) = (field, note) {
            answer.notes.insert(field.name.clone(), note.to_owned());
        }
    }
    if errors.is_empty() { Ok(answer) } else { Err(errors) }
}

/// Sorts what is typed by the names of the fields.
fn texts<'a>(
    question: &'a Question,
    options: &'a AnswerOptions,
) -> Result<BTreeMap<&'a str, Vec<&'a str>>, FieldError> {
    let mut texts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let count = question.fields.len();
    for (place, text) in options.values.iter().enumerate() {
        // The only field takes all there is.
        let field = question
            .fields
            .get(if count == 1 { 0 } else { place })
            .ok_or_else(|| error(text, format!("is one value too many: the question has {count} fields")))?;
        if !text.is_empty() {
            texts.entry(&field.name).or_default().push(text);
        }
    }
    for given in &options.fields {
        let (field, text) = named(question, given).ok_or_else(|| {
            let names: Vec<_> = question.fields.iter().map(|field| &*field.name).collect();
            error(given, format!("names no field: NAME=VALUE, where NAME is one of {}", names.join(", ")))
        })?;
        texts.entry(&field.name).or_default().push(text);
    }
    Ok(texts)
}

/// Splits `NAME=TEXT` where it begins with the name, header or label of a field.
fn named<'a>(question: &'a Question, given: &'a str) -> Option<(&'a Field, &'a str)> {
    let ways: [fn(&Field) -> Option<&str>; 3] =
        [|field| Some(&field.name), |field| field.header.as_deref(), |field| Some(&field.label)];
    let after = |name: &str| given.strip_prefix(name)?.strip_prefix('=');
    ways.iter().find_map(|way| question.fields.iter().find_map(|field| Some((field, after(way(field)?)?))))
}

fn value(field: &Field, texts: &[&str]) -> Result<Value, String> {
    if let Kind::Choices { options, other, .. } = &field.kind {
        let mut values = Vec::new();
        for text in texts {
            for part in parts(text, options, *other) {
                let value = chosen(part, options, *other)?;
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        return Ok(Value::Many(values));
    }
    let [text] = texts[..] else { return Err(format!("takes one value, and {} are given", texts.len())) };
    let flag = |yes: &str, no: &str| match () {
        () if text == yes || is_one_of(text, ["yes", "true", "y"]) => Ok(Value::Flag(true)),
        () if text == no || is_one_of(text, ["no", "false", "n"]) => Ok(Value::Flag(false)),
        () => Err(format!("is {yes:?} or {no:?}, not {text:?}")),
    };
    match &field.kind {
        Kind::Choice { options, other, .. } => Ok(Value::Text(chosen(text, options, *other)?)),
        Kind::Number { .. } => match serde_json::from_str(text.trim()) {
            Ok(number) => Ok(Value::Number(number)),
            Err(_) => Err(format!("is a number, not {text:?}")),
        },
        Kind::Boolean { .. } => flag("yes", "no"),
        Kind::Confirm { yes, no } => flag(yes, no),
        Kind::Unknown(_) => Err("needs a newer askbridge".to_owned()),
        Kind::Text { .. } | Kind::Choices { .. } => Ok(Value::Text(text.to_owned())),
    }
}

fn is_one_of(text: &str, words: [&str; 3]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Splits at commas, unless all of it is one option; and where another text may be given, only between options.
fn parts<'a>(text: &'a str, options: &[FieldOption], other: bool) -> Vec<&'a str> {
    if option(text, options).is_some() {
        return vec![text];
    }
    let parts: Vec<_> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let is_text = other && parts.iter().any(|part| option(part, options).is_none());
    if is_text { vec![text] } else { parts }
}

fn chosen(text: &str, options: &[FieldOption], other: bool) -> Result<String, String> {
    match option(text, options) {
        Some(option) => Ok(option.value.clone()),
        None if other => Ok(text.to_owned()),
        None => {
            let values: Vec<_> = options.iter().map(|option| &*option.value).collect();
            Err(format!("has no option {text:?}, only {}", values.join(", ")))
        }
    }
}

/// Finds an option by its value or its label, in any case where that is needed. Never by its number: a text may be
/// one as well.
fn option<'a>(text: &str, options: &'a [FieldOption]) -> Option<&'a FieldOption> {
    let lower = text.to_lowercase();
    let by = |fits: &dyn Fn(&FieldOption) -> bool| options.iter().find(|option| fits(option));
    by(&|option| option.value == text).or_else(|| by(&|option| option.label == text)).or_else(|| {
        by(&|option| option.value.to_lowercase() == lower || option.label.to_lowercase() == lower)
    })
}

fn error(field: &str, message: String) -> FieldError {
    FieldError { field: field.to_owned(), message }
}
