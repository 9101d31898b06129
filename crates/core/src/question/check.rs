//! Whether an answer fits its question: one check for every responder.
//! Handling an answer that does not fit is left to the caller.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

use super::{Answer, Field, FieldOption, Kind, Question, Value, formats, json};
use crate::limits;

/// An error in the answer to one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldError {
    /// The name of the field. It may be one that the question does not have.
    pub field: String,
    /// The mistake, as a sentence whose subject is the field: `must have at least 5 characters, has 3`.
    pub message: String,
}

impl fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "field {:?} {}", self.field, self.message)
    }
}

/// Checks an answer against its question.
///
/// Matching patterns can take 15 ms for one answer, and so can a schema. A thread that must not block calls
/// [`check_shape`] instead, and leaves them to another one.
///
/// # Errors
/// At most one error for each field, in the order of the fields; then one for each name that is no field.
pub fn check(question: &Question, answer: &Answer) -> Result<(), Vec<FieldError>> {
    // All fields share one budget, so that the time for one answer is bounded.
    let mut room = limits::TEXT;
    check_all(question, answer, |field, value| {
        check_field(field, value)?;
        check_pattern(question, field, value, &mut room)?;
        check_schema(field, value)
    })
}

/// Checks an answer against its question, except for patterns and schemas.
///
/// # Errors
/// As [`check`].
pub fn check_shape(question: &Question, answer: &Answer) -> Result<(), Vec<FieldError>> {
    check_all(question, answer, check_field)
}

fn check_all(
    question: &Question,
    answer: &Answer,
    mut check: impl FnMut(&Field, Option<&Value>) -> Result<(), String>,
) -> Result<(), Vec<FieldError>> {
    let error = |field: &str, message: String| FieldError { field: field.to_owned(), message };
    let fields = question.fields.iter().filter_map(|field| {
        let fits = check(&wanted_field(question, field, answer), answer.values.get(&field.name));
        fits.err().map(|message| error(&field.name, message))
    });
    let known = |name: &&String| question.fields.iter().any(|field| field.name == **name);
    let unknown = answer.values.keys().chain(answer.notes.keys()).filter(|name| !known(name));
    let unknown = unknown.map(|name| error(name, "is not a field of the question".to_owned()));
    let images = check_images(question, answer).err().map(|message| error(IMAGES, message));
    let errors: Vec<_> = fields.chain(unknown).chain(images).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// What an error about the images of an answer names as the field.
pub const IMAGES: &str = "images";

fn check_images(question: &Question, answer: &Answer) -> Result<(), String> {
    let images = &answer.images;
    let bytes: usize = images.iter().map(|image| image.bytes as usize).sum();
    let wrong = match images.len() {
        0 => return Ok(()),
        _ if !question.takes_images => "cannot be sent: this agent takes no image in an answer".to_owned(),
        count if count > limits::ANSWER_IMAGES => format!("must be at most {}", limits::ANSWER_IMAGES),
        _ if bytes > limits::ANSWER_IMAGES_BYTES => {
            format!("must have at most {} KiB together: scale them down", limits::ANSWER_IMAGES_BYTES >> 10)
        }
        // An answer that was given before has no data any more.
        _ if images.iter().any(|image| image.data.get().is_none()) => {
            "must have their data: add them again".to_owned()
        }
        _ => return Ok(()),
    };
    Err(wrong)
}

/// Returns the field, required if another field of its group has a value.
fn wanted_field<'a>(question: &Question, field: &'a Field, answer: &Answer) -> Cow<'a, Field> {
    match !field.required && is_required(question, field, answer) {
        true => Cow::Owned(Field { required: true, ..field.clone() }),
        false => Cow::Borrowed(field),
    }
}

/// Returns whether the form needs a value for this field, by itself or beside the others of this answer.
pub fn is_required(question: &Question, field: &Field, answer: &Answer) -> bool {
    let group = field.required_with.as_deref();
    field.required || group.is_some_and(|group| is_begun(question, group, answer))
}

/// Returns whether a field of a group has a value: one whose name begins like this.
fn is_begun(question: &Question, group: &str, answer: &Answer) -> bool {
    let in_group = question.fields.iter().filter(|field| field.name.starts_with(group));
    in_group.filter_map(|field| answer.values.get(&field.name)).any(|value| match value {
        Value::Text(text) => !text.is_empty(),
        Value::Many(texts) => !texts.is_empty(),
        Value::Flag(_) | Value::Number(_) | Value::Null => true,
    })
}

fn check_field(field: &Field, value: Option<&Value>) -> Result<(), String> {
    // A field that may be null is null where it is left blank.
    let may_be_blank = !field.required || field.nullable;
    match (value, &field.kind) {
        (None, _) if !may_be_blank => Err("is required".to_owned()),
        (None, _) => Ok(()),
        (Some(Value::Null), _) if field.nullable => Ok(()),
        (Some(Value::Text(text)), Kind::Json { .. }) if text.is_empty() && may_be_blank => Ok(()),
        (Some(Value::Text(text)), Kind::Json { .. }) => json::parse(text).map(drop),
        (Some(Value::Many(texts)), Kind::Texts { .. }) => check_texts(field, texts),
        (Some(Value::Text(text)), Kind::Text { .. }) => check_typed(field, text),
        (Some(Value::Text(text)), Kind::Choice { options, other, .. }) => {
            check_chosen(text, options, *other, field.required && !field.nullable)
        }
        (Some(Value::Many(texts)), Kind::Choices { .. }) => check_many(field, texts),
        (Some(Value::Number(number)), Kind::Number { .. }) => check_number(&field.kind, number),
        (Some(Value::Flag(_)), Kind::Boolean { .. } | Kind::Confirm { .. }) => Ok(()),
        (Some(_), kind) => Err(format!("must be {}", wanted(kind))),
    }
}

fn wanted(kind: &Kind) -> &'static str {
    match kind {
        Kind::Text { .. } => "a text",
        Kind::Choice { .. } => "the value of one option",
        Kind::Choices { .. } => "a list of the values of options",
        Kind::Texts { .. } => "a list of texts",
        Kind::Json { .. } => "JSON, as a text",
        Kind::Number { integer: true, .. } => "a whole number",
        Kind::Number { .. } => "a number",
        Kind::Boolean { .. } | Kind::Confirm { .. } => "true or false",
        Kind::Unknown(_) => "a value that only a newer askbridge can check",
    }
}

fn check_typed(field: &Field, text: &str) -> Result<(), String> {
    let Kind::Text { min_length, max_length, format, .. } = &field.kind else { return Ok(()) };
    if text.is_empty() {
        // An empty text is a field that was left empty.
        return if field.required && !field.nullable { Err("is required".to_owned()) } else { Ok(()) };
    }
    check_text(text, *min_length, *max_length)?;
    // No input shows the mistake in a secret while it is typed, so its format is left to the agent.
    check_format(text, format.as_deref().filter(|_| !field.secret))
}

fn check_format(text: &str, format: Option<&str>) -> Result<(), String> {
    let wanted = format.and_then(|format| formats::unlike(format, text));
    wanted.map_or(Ok(()), |wanted| Err(format!("must be {wanted}")))
}

fn check_text(text: &str, min_length: Option<u32>, max_length: Option<u32>) -> Result<(), String> {
    let length = text.chars().count();
    if let Some(least) = min_length.filter(|least| length < *least as usize) {
        return Err(format!("must have at least {}, has {length}", count(least as usize, "character")));
    }
    if let Some(most) = max_length.filter(|most| length > *most as usize) {
        return Err(format!("must have at most {}, has {length}", count(most as usize, "character")));
    }
    Ok(())
}

fn check_texts(field: &Field, texts: &[String]) -> Result<(), String> {
    let Kind::Texts { min, max, unique, min_length, max_length, format, .. } = &field.kind else {
        return Ok(());
    };
    check_count(field, texts.len(), min.unwrap_or_default(), *max)?;
    for (index, text) in texts.iter().enumerate() {
        check_text(text, *min_length, *max_length)
            .and_then(|()| check_format(text, format.as_deref().filter(|_| !field.secret)))
            .map_err(|wrong| format!("has a wrong entry {}: it {wrong}", index + 1))?;
        // Comparing each with each takes quadratic time, so the search is bounded.
        if *unique && index < limits::TEXT && texts[..index].contains(text) {
            return Err(format!("must not have {text:?} twice"));
        }
    }
    Ok(())
}

/// Checks how many entries are given. A field that is optional may be left empty, whatever its minimum is.
fn check_count(field: &Field, given: usize, least: u32, most: Option<u32>) -> Result<(), String> {
    let least = least.max(u32::from(field.required)) as usize;
    if given < least && ((field.required && !field.nullable) || given > 0) {
        return Err(format!("must have at least {}, has {given}", count(least, "entry")));
    }
    match most.filter(|most| given > *most as usize) {
        Some(most) => Err(format!("must have at most {}, has {given}", count(most as usize, "entry"))),
        None => Ok(()),
    }
}

/// Checks JSON against the schema of its field.
fn check_schema(field: &Field, value: Option<&Value>) -> Result<(), String> {
    match (&field.kind, value) {
        (Kind::Json { schema }, Some(Value::Text(text))) if !text.is_empty() => {
            json::check(schema, &json::parse(text)?, field.secret)
        }
        _ => Ok(()),
    }
}

/// Matches a value against its field's pattern. `room` is how many bytes may still be matched: values beyond that are
/// left to the agent. A match takes time in proportion to the size of the pattern times the length of the text.
fn check_pattern(
    question: &Question,
    field: &Field,
    value: Option<&Value>,
    room: &mut usize,
) -> Result<(), String> {
    let (pattern, texts) = match (&field.kind, value) {
        (Kind::Text { pattern: Some(pattern), .. }, Some(Value::Text(text))) => {
            (pattern, std::slice::from_ref(text))
        }
        (Kind::Texts { pattern: Some(pattern), .. }, Some(Value::Many(texts))) => (pattern, &texts[..]),
        _ => return Ok(()),
    };
    for text in texts.iter().filter(|text| !text.is_empty() || texts.len() > 1) {
        let Some(left) = room.checked_sub(text.len()) else { return Ok(()) };
        *room = left;
        let compiled = question.patterns.of(&field.name, || patterns(question));
        if compiled.is_some_and(|compiled| !compiled.is_match(text)) {
            return Err(format!("does not match {pattern:?}"));
        }
    }
    Ok(())
}

/// Returns the patterns of a question's fields, by the names of the fields.
fn patterns(question: &Question) -> Vec<(&str, &str)> {
    let patterns = question.fields.iter().filter_map(|field| match &field.kind {
        Kind::Text { pattern: Some(pattern), .. } | Kind::Texts { pattern: Some(pattern), .. } => {
            Some((&*field.name, &**pattern))
        }
        _ => None,
    });
    patterns.collect()
}

fn check_chosen(text: &str, options: &[FieldOption], other: bool, required: bool) -> Result<(), String> {
    if options.iter().any(|option| option.value == text) {
        return Ok(());
    }
    match (other, text.is_empty()) {
        (false, _) => Err(format!("must be {}, is {text:?}", one_of(options))),
        (true, true) if required => Err("is required".to_owned()),
        (true, _) => Ok(()),
    }
}

/// How many options an error message lists, so that the mistake after them is still read.
const NAMED: usize = 8;
/// How many characters of an option an error message shows.
const NAME: usize = 60;

/// Returns the values that may be chosen, in words, since the sender of the answer may not see the question.
fn one_of(options: &[FieldOption]) -> String {
    let name = |option: &FieldOption| match option.value.char_indices().nth(NAME) {
        Some((end, _)) => format!("\"{}…\"", &option.value[..end]),
        None => format!("{:?}", option.value),
    };
    let named = options.iter().take(NAMED).map(name).collect::<Vec<_>>().join(", ");
    match options.len().saturating_sub(NAMED) {
        0 => format!("one of {named}"),
        more => format!("one of {named} and {more} more"),
    }
}

fn check_many(field: &Field, texts: &[String]) -> Result<(), String> {
    let Kind::Choices { options, other, min, max, .. } = &field.kind else { return Ok(()) };
    let (most, given) = (options.len() + usize::from(*other), texts.len());
    // The number of values is checked first, since the search for duplicates below takes quadratic time.
    if given > most {
        return Err(format!("must have at most {}, has {given}", count(most, "entry")));
    }
    let mut others = 0;
    for (index, text) in texts.iter().enumerate() {
        if texts[..index].contains(text) {
            return Err(format!("must not have {text:?} twice"));
        }
        check_chosen(text, options, *other, true)?;
        others += usize::from(!options.iter().any(|option| option.value == *text));
    }
    if others > 1 {
        // No dialect can express more than one free text.
        return Err(format!("must have at most 1 text that is not an option, has {others}"));
    }
    check_count(field, given, min.unwrap_or_default(), *max)
}

fn check_number(kind: &Kind, number: &serde_json::Number) -> Result<(), String> {
    let Kind::Number { integer, min, max, exclusive_min, exclusive_max, step, .. } = kind else {
        return Ok(());
    };
    let Some(value) = number.as_f64().filter(|value| value.is_finite()) else {
        return Err("must be a number that fits into 64 bits".to_owned());
    };
    if *integer && value.fract() != 0.0 {
        return Err(format!("must be a whole number, is {value}"));
    }
    if let Some(min) = min.filter(|min| value < *min) {
        return Err(format!("must be at least {min}, is {value}"));
    }
    if let Some(max) = max.filter(|max| value > *max) {
        return Err(format!("must be at most {max}, is {value}"));
    }
    if let Some(min) = exclusive_min.filter(|min| value <= *min) {
        return Err(format!("must be more than {min}, is {value}"));
    }
    if let Some(max) = exclusive_max.filter(|max| value >= *max) {
        return Err(format!("must be less than {max}, is {value}"));
    }
    match step.filter(|step| *step > 0.0 && !is_multiple(value, *step)) {
        Some(step) => Err(format!("must be a multiple of {step}, is {value}")),
        None => Ok(()),
    }
}

/// Returns a number with its noun: `1 character`, `2 entries`.
fn count(number: usize, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {noun}s"),
    }
}

/// Returns whether a value is a multiple of a step, up to rounding: 0.3 is a multiple of 0.1, although the quotient of
/// their binary fractions is no whole number.
fn is_multiple(value: f64, step: f64) -> bool {
    let quotient = value / step;
    (quotient - quotient.round()).abs() <= f64::EPSILON * quotient.abs().max(1.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{limits, question::Origin};

    fn question(fields: &serde_json::Value) -> Question {
        let fields = serde_json::from_value(fields.clone()).expect("fields");
        Question::new(Origin::SandboxAgent, "q", fields)
    }

    /// Returns the error for this value of a field that has these members; empty if the value is valid.
    fn wrong(members: &str, value: &str) -> String {
        let field = format!(r#"[{{"name":"f","label":"F",{members}}}]"#);
        let question = question(&serde_json::from_str(&field).expect("a field"));
        let values = match value {
            "" => json!({}),
            value => json!({ "f": serde_json::from_str::<serde_json::Value>(value).expect("a value") }),
        };
        let answer = serde_json::from_value(json!({ "values": values })).expect("an answer");
        let errors = check(&question, &answer).err().unwrap_or_default();
        errors.into_iter().map(|error| error.message).collect::<Vec<_>>().join("; ")
    }

    #[track_caller]
    fn holds(members: &str, rows: &[(&str, &str)]) {
        for (value, expected) in rows {
            assert_eq!(wrong(members, value), *expected, "for {value:?} of {members}");
        }
    }

    /// The data of an image of so many bytes, as Base64.
    fn image(bytes: usize) -> serde_json::Value {
        let head = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0";
        let data = [&head[..], &vec![0; bytes - head.len()]].concat();
        json!({ "data": crate::question::image::base64(&data) })
    }

    #[test]
    fn images_are_for_those_who_take_them_within_their_bounds() {
        let most = limits::ANSWER_IMAGES_BYTES;
        let without_data =
            json!({ "type": "image/png", "bytes": 40, "width": 1, "height": 1, "digest": "sha256:00" });
        for (takes, images, expected) in [
            (false, vec![], ""),
            (true, vec![], ""),
            (true, vec![image(40)], ""),
            (true, vec![image(40); limits::ANSWER_IMAGES], ""),
            (true, vec![image(most)], ""),
            (true, vec![image(most / 2), image(most - most / 2)], ""),
            (false, vec![image(40)], "cannot be sent: this agent takes no image in an answer"),
            (true, vec![image(40); limits::ANSWER_IMAGES + 1], "must be at most 4"),
            (true, vec![image(most + 1)], "must have at most 640 KiB together: scale them down"),
            (true, vec![image(most), image(40)], "must have at most 640 KiB together: scale them down"),
            (true, vec![without_data], "must have their data: add them again"),
        ] {
            let count = images.len();
            let mut asked = question(&json!([{ "name": "f", "label": "F", "kind": "text" }]));
            asked.takes_images = takes;
            let answer =
                serde_json::from_value(json!({ "values": {}, "images": images })).expect("an answer");
            let errors = check(&asked, &answer).err().unwrap_or_default();
            let said: Vec<_> = errors.iter().map(|error| (&*error.field, &*error.message)).collect();
            let wanted = (!expected.is_empty()).then_some((IMAGES, expected));
            assert_eq!(said, wanted.into_iter().collect::<Vec<_>>(), "{count} images, takes {takes}");
        }
    }

    const ABC: &str =
        r#""options":[{"value":"a","label":"A"},{"value":"b","label":"B"},{"value":"c","label":"C"}]"#;

    #[test]
    fn texts_have_the_length_that_the_field_wants() {
        holds(
            r#""kind":"text""#,
            &[
                ("", ""),
                (r#""""#, ""),
                (r#""x""#, ""),
                ("5", "must be a text"),
                ("true", "must be a text"),
                (r#"["x"]"#, "must be a text"),
            ],
        );
        holds(
            r#""kind":"text","required":true"#,
            &[("", "is required"), (r#""""#, "is required"), (r#"" ""#, "")],
        );
        let short = r#""kind":"text","minLength":2,"maxLength":3"#;
        holds(
            short,
            &[
                (r#""""#, ""),
                (r#""ä""#, "must have at least 2 characters, has 1"),
                (r#""äöü""#, ""),
                (r#""äöüß""#, "must have at most 3 characters, has 4"),
            ],
        );
    }

    #[test]
    fn texts_have_the_format_that_the_field_wants() {
        let date = r#""kind":"text","format":"date""#;
        let tomorrow = "must be a date such as 2026-11-23";
        holds(date, &[(r#""2026-11-23""#, ""), (r#""tomorrow""#, tomorrow), (r#""""#, ""), ("", "")]);
        holds(
            r#""kind":"text","format":"email""#,
            &[
                (r#""ada@example.com""#, ""),
                (r#""ada""#, "must be an e-mail address such as ada@example.com"),
            ],
        );
        // A format that is not known here, and that of a secret, is left to the agent.
        holds(r#""kind":"text","format":"ipv4""#, &[(r#""x""#, "")]);
        holds(r#""kind":"text","format":"email","secret":true"#, &[(r#""x""#, "")]);
    }

    #[test]
    fn values_that_would_take_long_to_match_are_left_to_the_agent() {
        let pattern = r#""kind":"text","pattern":"^a*$""#;
        assert_eq!(wrong(pattern, &json!("b".repeat(limits::TEXT)).to_string()), r#"does not match "^a*$""#);
        assert_eq!(wrong(pattern, &json!("b".repeat(limits::TEXT + 1)).to_string()), "");
        assert_eq!(wrong(r#""kind":"text","pattern":"[ab]*a[ab]{3000}c$""#, r#""b""#), "");
        let field = |name| json!({ "name": name, "label": name, "kind": "text", "pattern": "^a*$" });
        let fields = question(&json!([field("f"), field("g")]));
        let wrong_in = |length| {
            let values = json!({ "values": { "f": "b".repeat(length), "g": "b" } });
            let answer = serde_json::from_value(values).expect("an answer");
            check(&fields, &answer).expect_err("f is tried").len()
        };
        assert_eq!((wrong_in(limits::TEXT - 1), wrong_in(limits::TEXT)), (2, 1));
        let many = json!((0..110_000).map(|n| n.to_string()).collect::<Vec<_>>()).to_string();
        let choices = r#""kind":"choices","options":[{"value":"a","label":"A"}],"other":true"#;
        assert_eq!(wrong(choices, &many), "must have at most 2 entries, has 110000");
    }

    #[test]
    fn patterns_are_searched_in_the_text() {
        holds(
            r#""kind":"text","pattern":"^[a-z]+$""#,
            &[(r#""abc""#, ""), (r#""aBc""#, r#"does not match "^[a-z]+$""#)],
        );
        // A pattern may match anywhere in the text, as in JSON Schema.
        holds(r#""kind":"text","pattern":"b""#, &[(r#""abc""#, ""), (r#""ac""#, r#"does not match "b""#)]);
        // A pattern that cannot be compiled here is left to the agent.
        holds(r#""kind":"text","pattern":"(?=a)""#, &[(r#""b""#, "")]);
        holds(r#""kind":"text","pattern":"(""#, &[(r#""b""#, "")]);
        holds(r#""kind":"text","pattern":"((a{1000}){1000}){1000}""#, &[(r#""b""#, "")]);
    }

    #[test]
    fn a_choice_takes_one_of_its_options() {
        let members = format!(r#""kind":"choice",{ABC}"#);
        holds(
            &members,
            &[
                ("", ""),
                (r#""a""#, ""),
                // Labels are turned into values before the check.
                (r#""A""#, r#"must be one of "a", "b", "c", is "A""#),
                (r#""""#, r#"must be one of "a", "b", "c", is """#),
                (r#"["a"]"#, "must be the value of one option"),
            ],
        );
        holds(&format!(r#"{members},"required":true"#), &[("", "is required")]);
        let other = format!(r#"{members},"other":true"#);
        holds(&other, &[(r#""x""#, ""), (r#""""#, "")]);
        holds(&format!(r#"{other},"required":true"#), &[(r#""x""#, ""), (r#""""#, "is required")]);
    }

    /// The mistake is as long as one can read, however many options there are, and however long they are.
    #[test]
    fn a_mistake_names_the_first_options() {
        let value = |n: usize| "é".repeat(if n == 0 { 100 } else { n });
        let options: Vec<_> = (0..11).map(|n| json!({ "value": value(n), "label": "L" })).collect();
        let said = wrong(&format!(r#""kind":"choice","options":{}"#, json!(options)), r#""x""#);
        assert!(
            said.starts_with(&format!("must be one of \"{}…\", \"é\", \"éé\", ", "é".repeat(60))),
            "{said}"
        );
        assert!(said.ends_with("\"ééééééé\" and 3 more, is \"x\""), "{said}");
    }

    #[test]
    fn choices_take_as_many_options_as_they_allow() {
        let members = format!(r#""kind":"choices",{ABC}"#);
        holds(
            &members,
            &[
                ("", ""),
                ("[]", ""),
                (r#"["c","a"]"#, ""),
                (r#"["a","a"]"#, r#"must not have "a" twice"#),
                (r#"["a","x"]"#, r#"must be one of "a", "b", "c", is "x""#),
                (r#""a""#, "must be a list of the values of options"),
            ],
        );
        holds(&format!(r#"{members},"required":true"#), &[("[]", "must have at least 1 entry, has 0")]);
        let bounded = format!(r#"{members},"min":2,"max":2"#);
        holds(
            &bounded,
            &[
                ("[]", ""),
                (r#"["a"]"#, "must have at least 2 entries, has 1"),
                (r#"["a","b"]"#, ""),
                (r#"["a","b","c"]"#, "must have at most 2 entries, has 3"),
            ],
        );
        holds(
            &format!(r#"{members},"required":true,"min":0"#),
            &[("[]", "must have at least 1 entry, has 0")],
        );
        let other = format!(r#"{members},"other":true"#);
        holds(
            &other,
            &[
                (r#"["a","x"]"#, ""),
                (r#"["x","y"]"#, "must have at most 1 text that is not an option, has 2"),
                (r#"[""]"#, "is required"),
            ],
        );
    }

    #[test]
    fn numbers_are_in_range_and_on_the_step() {
        holds(
            r#""kind":"number""#,
            &[("0.5", ""), ("-1e3", ""), (r#""5""#, "must be a number"), ("true", "must be a number")],
        );
        let port = r#""kind":"number","integer":true,"min":1,"max":9"#;
        holds(
            port,
            &[
                ("1", ""),
                ("9", ""),
                ("2.0", ""),
                ("2.5", "must be a whole number, is 2.5"),
                ("0", "must be at least 1, is 0"),
                ("10", "must be at most 9, is 10"),
                (r#""5""#, "must be a whole number"),
            ],
        );
        holds(
            r#""kind":"number","step":0.1"#,
            &[("0.3", ""), ("1e15", ""), ("0.35", "must be a multiple of 0.1, is 0.35")],
        );
        holds(r#""kind":"number","step":0"#, &[("0.3", "")]);
        holds(r#""kind":"number","step":-1"#, &[("0.3", "")]);
    }

    #[test]
    fn booleans_and_confirmations_take_true_or_false() {
        holds(r#""kind":"boolean""#, &[("true", ""), ("false", ""), (r#""true""#, "must be true or false")]);
        holds(
            r#""kind":"confirm","yes":"Do it","no":"Leave it""#,
            &[("true", ""), (r#""Do it""#, "must be true or false")],
        );
    }

    #[test]
    fn names_that_are_not_fields_are_reported_after_the_fields() {
        let fields = json!([
            { "name": "z", "label": "Z", "kind": "text", "required": true },
            { "name": "y", "label": "Y", "kind": "boolean" },
        ]);
        let answer = json!({ "values": { "a": "x", "y": 1 }, "notes": { "b": "x", "y": "fine" } });
        let answer = serde_json::from_value(answer).expect("an answer");
        let errors = check(&question(&fields), &answer).expect_err("it does not fit");
        let told: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                r#"field "z" is required"#,
                r#"field "y" must be true or false"#,
                r#"field "a" is not a field of the question"#,
                r#"field "b" is not a field of the question"#,
            ]
        );
    }
}
