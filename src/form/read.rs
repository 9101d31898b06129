//! Reads what a person typed for one field. A text that may be a slip is never taken for an own text: an answer cannot be
//! taken back.
//! Which option a text means is left to `near.rs`; whether the value fits is checked by `question` and by the bridge.

use super::near::{flag, is_number, meant, nearest, plain};
use crate::{
    present::answer::brief,
    question::{Field, FieldOption, Kind, Value},
};

/// One text that is given for a field.
#[derive(Clone, Copy, Debug)]
pub enum TypedText<'a> {
    /// An option, several of them, or a value of the field's kind.
    Value(&'a str),
    /// A text as it is.
    Text(&'a str),
}

/// Reads what is given for a field. `hint` says how a text is sent as it is.
///
/// # Errors
/// What is wrong, as a sentence whose subject is the field.
pub fn value(field: &Field, given: &[TypedText<'_>], hint: &str) -> Result<Value, String> {
    if let Kind::Choices { options, other, .. } = &field.kind {
        return Ok(Value::Many(several(given, options, *other, hint)?));
    }
    let [given] = given[..] else {
        return Err(format!("takes one value, but {} are given", given.len()));
    };
    match (&field.kind, given) {
        (Kind::Choice { other: true, .. } | Kind::Text { .. }, TypedText::Text(text))
        | (Kind::Text { .. }, TypedText::Value(text)) => Ok(Value::Text(text.to_owned())),
        (Kind::Choice { options, other, .. }, TypedText::Value(text)) => {
            Ok(Value::Text(chosen(text, options, *other, hint)?))
        }
        (Kind::Unknown(_), _) => Err("needs a newer askbridge".to_owned()),
        (_, TypedText::Text(_)) => Err("takes no own text".to_owned()),
        (Kind::Number { .. }, TypedText::Value(text)) => match serde_json::from_str(text.trim()) {
            Ok(number) => Ok(Value::Number(number)),
            Err(_) => Err(format!("must be a number, is “{}”", brief(text))),
        },
        (Kind::Boolean { .. }, TypedText::Value(text)) => flagged(text, "yes", "no"),
        (Kind::Confirm { yes, no }, TypedText::Value(text)) => flagged(text, yes, no),
        (Kind::Choices { .. }, TypedText::Value(_)) => Err("takes several values".to_owned()),
    }
}

fn flagged(text: &str, yes: &str, no: &str) -> Result<Value, String> {
    let own = |word: &str| word.to_lowercase() == text.to_lowercase();
    match () {
        () if own(yes) => Ok(Value::Flag(true)),
        () if own(no) => Ok(Value::Flag(false)),
        () => flag(text)
            .map(Value::Flag)
            .ok_or_else(|| format!("must be “{yes}” or “{no}”, is “{}”", brief(text))),
    }
}

/// Returns the values of several options, and an own text beside them.
fn several(
    given: &[TypedText<'_>],
    options: &[FieldOption],
    other: bool,
    hint: &str,
) -> Result<Vec<String>, String> {
    let (mut values, mut own) = (Vec::new(), None);
    for given in given {
        let text = match given {
            TypedText::Text(_) if !other => return Err("takes no own text".to_owned()),
            TypedText::Text(text) => {
                values.push((*text).to_owned());
                continue;
            }
            TypedText::Value(text) => text,
        };
        for part in parts(text, options) {
            match meant(part, options) {
                Some(option) if values.contains(&option.value) => {}
                Some(option) => values.push(option.value.clone()),
                None if !other => return Err(no_option(part, options)),
                None => own = own.or(Some(part)),
            }
        }
    }
    let Some(own) = own else { return Ok(values) };
    let is_alone = values.is_empty() && given.len() == 1;
    if !is_alone {
        return Err(format!("{} ({hint})", no_option(own, options)));
    }
    let [TypedText::Value(text)] = given[..] else { return Ok(values) };
    for part in parts(text, options).into_iter().chain([text]) {
        check_own(part, options, hint)?;
    }
    Ok(vec![text.to_owned()])
}

/// Splits at commas, unless all of it is one option.
fn parts<'a>(text: &'a str, options: &[FieldOption]) -> Vec<&'a str> {
    if meant(text, options).is_some() {
        return vec![text];
    }
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Returns the value of the option that a text means, or the text where it is one of the person's own.
fn chosen(text: &str, options: &[FieldOption], other: bool, hint: &str) -> Result<String, String> {
    match meant(text, options) {
        Some(option) => Ok(option.value.clone()),
        None if !other => Err(no_option(text, options)),
        None if parts(text, options).iter().any(|part| meant(part, options).is_some()) => {
            Err(format!("takes one option, or a text of your own, not “{}” ({hint})", brief(text)))
        }
        None => check_own(text, options, hint).map(|()| text.to_owned()),
    }
}

/// Refuses an own text that may be meant as an option.
fn check_own(text: &str, options: &[FieldOption], hint: &str) -> Result<(), String> {
    // A single letter is an option of a list that the person remembers.
    let is_slip = is_number(text) || plain(text).chars().count() <= 1 || nearest(text, options).is_some();
    if is_slip { Err(format!("{} ({hint})", no_option(text, options))) } else { Ok(()) }
}

fn no_option(text: &str, options: &[FieldOption]) -> String {
    /// The most options that an error lists.
    const LISTED: usize = 8;
    let (typed, count) = (brief(text), options.len());
    match nearest(text, options) {
        Some(option) => format!("has no option “{typed}”: did you mean {}?", brief(&option.label)),
        None if count > LISTED => {
            format!(
                "has no option “{typed}”: choose a number from 1 to {count}, as `askbridge show` lists them"
            )
        }
        None => {
            let labels: Vec<_> = options.iter().map(|option| brief(&option.label)).collect();
            format!("has no option “{typed}”: choose {}, or a number from 1 to {count}", labels.join(", "))
        }
    }
}
