//! Whether an answer fits its question. One check for every responder.
//! What is done about one that does not is left to who got it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Answer, Field, FieldOption, Kind, Question, Value};
use crate::limits;

/// What is wrong with the answer to one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FieldError {
    /// The name of the field, or what was taken for one.
    pub field: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "field {:?} {}", self.field, self.message)
    }
}

/// Checks an answer against its question. The errors are in the order of the fields, at most one for each, behind
/// them what belongs to no field.
///
/// Trying patterns can take 15 ms for one answer. A thread on which others wait calls [`check_shape`] instead, and
/// has [`check_patterns`] called elsewhere.
pub fn check(question: &Question, answer: &Answer) -> Result<(), Vec<FieldError>> {
    let mut room = limits::TEXT;
    check_all(question, answer, |field, value| {
        check_field(field, value)?;
        check_pattern(question, field, value, &mut room)
    })
}

/// Checks all of an answer but the patterns.
pub fn check_shape(question: &Question, answer: &Answer) -> Result<(), Vec<FieldError>> {
    check_all(question, answer, check_field)
}

/// Tries the patterns of a question on an answer, whatever else is wrong with it.
pub fn check_patterns(question: &Question, answer: &Answer) -> Result<(), Vec<FieldError>> {
    let mut room = limits::TEXT;
    let errors: Vec<_> = question
        .fields
        .iter()
        .filter_map(|field| {
            let tried = check_pattern(question, field, answer.values.get(&field.name), &mut room);
            tried.err().map(|message| FieldError { field: field.name.clone(), message })
        })
        .collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn check_all(
    question: &Question,
    answer: &Answer,
    mut check: impl FnMut(&Field, Option<&Value>) -> Result<(), String>,
) -> Result<(), Vec<FieldError>> {
    let error = |field: &str, message: String| FieldError { field: field.to_owned(), message };
    let fields = question.fields.iter().filter_map(|field| {
        let fits = check(field, answer.values.get(&field.name));
        fits.err().map(|message| error(&field.name, message))
    });
    let known = |name: &&String| question.fields.iter().any(|field| field.name == **name);
    let unknown = answer.values.keys().chain(answer.notes.keys()).filter(|name| !known(name));
    let errors: Vec<_> =
        fields.chain(unknown.map(|name| error(name, "is no field of the question".to_owned()))).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn check_field(field: &Field, value: Option<&Value>) -> Result<(), String> {
    match (value, &field.kind) {
        (None, _) if field.required => Err("is required".to_owned()),
        (None, _) => Ok(()),
        (Some(Value::Text(text)), Kind::Text { .. }) => check_typed(field, text),
        (Some(Value::Text(text)), Kind::Choice { options, other, .. }) => {
            check_chosen(text, options, *other, field.required)
        }
        (Some(Value::Many(texts)), Kind::Choices { .. }) => check_many(field, texts),
        (Some(Value::Number(number)), Kind::Number { .. }) => check_number(&field.kind, number),
        (Some(Value::Flag(_)), Kind::Boolean { .. } | Kind::Confirm { .. }) => Ok(()),
        (Some(_), kind) => Err(format!("takes {}", wanted(kind))),
    }
}

fn wanted(kind: &Kind) -> &'static str {
    match kind {
        Kind::Text { .. } => "a text",
        Kind::Choice { .. } => "the value of one option",
        Kind::Choices { .. } => "a list of the values of options",
        Kind::Number { integer: true, .. } => "a whole number",
        Kind::Number { .. } => "a number",
        Kind::Boolean { .. } | Kind::Confirm { .. } => "true or false",
        Kind::Unknown(_) => "a value that only a newer askbridge can check",
    }
}

fn check_typed(field: &Field, text: &str) -> Result<(), String> {
    let Kind::Text { min_length, max_length, .. } = &field.kind else { return Ok(()) };
    if text.is_empty() {
        // An empty text is a field that was left empty.
        return if field.required { Err("is required".to_owned()) } else { Ok(()) };
    }
    let length = text.chars().count();
    if let Some(least) = min_length.filter(|least| length < *least as usize) {
        return Err(format!("has {length} characters, the least is {least}"));
    }
    match max_length.filter(|most| length > *most as usize) {
        Some(most) => Err(format!("has {length} characters, the most is {most}")),
        None => Ok(()),
    }
}

/// Tries a field's pattern. `room` is how many bytes may still be tried: what an answer has beyond that is left to the
/// agent. A trial takes as long as the size of the pattern times the length of the text.
fn check_pattern(
    question: &Question,
    field: &Field,
    value: Option<&Value>,
    room: &mut usize,
) -> Result<(), String> {
    let (Kind::Text { pattern: Some(pattern), .. }, Some(Value::Text(text))) = (&field.kind, value) else {
        return Ok(());
    };
    let Some(left) = room.checked_sub(text.len()).filter(|_| !text.is_empty()) else { return Ok(()) };
    *room = left;
    let matches = question.patterns.of(question, &field.name).is_none_or(|compiled| compiled.is_match(text));
    if matches { Ok(()) } else { Err(format!("does not match {pattern:?}")) }
}

fn check_chosen(text: &str, options: &[FieldOption], other: bool, required: bool) -> Result<(), String> {
    if options.iter().any(|option| option.value == text) {
        return Ok(());
    }
    match (other, text.is_empty()) {
        (false, _) => Err(format!("has no option {text:?}")),
        (true, true) if required => Err("is required".to_owned()),
        (true, _) => Ok(()),
    }
}

fn check_many(field: &Field, texts: &[String]) -> Result<(), String> {
    let Kind::Choices { options, other, min, max, .. } = &field.kind else { return Ok(()) };
    let (most, count) = (options.len() + usize::from(*other), texts.len());
    if count > most {
        return Err(format!("has {count} entries, the most is {most}"));
    }
    let mut others = 0;
    for (index, text) in texts.iter().enumerate() {
        if texts[..index].contains(text) {
            return Err(format!("has {text:?} twice"));
        }
        check_chosen(text, options, *other, true)?;
        others += usize::from(!options.iter().any(|option| option.value == *text));
    }
    let least = min.unwrap_or(0).max(u32::from(field.required)) as usize;
    if others > 1 {
        // No dialect has room for more than one.
        return Err(format!("has {others} texts that are no option, the most is 1"));
    }
    if count < least && (field.required || count > 0) {
        return Err(format!("has {count} of the options, the least is {least}"));
    }
    match max.filter(|most| count > *most as usize) {
        Some(most) => Err(format!("has {count} of the options, the most is {most}")),
        None => Ok(()),
    }
}

fn check_number(kind: &Kind, number: &serde_json::Number) -> Result<(), String> {
    let Kind::Number { integer, min, max, step, .. } = kind else { return Ok(()) };
    let Some(value) = number.as_f64().filter(|value| value.is_finite()) else {
        return Err("is too big a number".to_owned());
    };
    if *integer && value.fract() != 0.0 {
        return Err("takes a whole number".to_owned());
    }
    if let Some(min) = min.filter(|min| value < *min) {
        return Err(format!("is {value}, the least is {min}"));
    }
    if let Some(max) = max.filter(|max| value > *max) {
        return Err(format!("is {value}, the most is {max}"));
    }
    match step.filter(|step| *step > 0.0 && !is_multiple(value, *step)) {
        Some(step) => Err(format!("is {value}, which is no multiple of {step}")),
        None => Ok(()),
    }
}

/// 0.3 is a multiple of 0.1, although no binary fraction of it is.
fn is_multiple(value: f64, step: f64) -> bool {
    let quotient = value / step;
    (quotient - quotient.round()).abs() <= f64::EPSILON * quotient.abs().max(1.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::Origin;

    fn question(fields: &serde_json::Value) -> Question {
        let fields = serde_json::from_value(fields.clone()).expect("fields");
        Question::new(Origin::SandboxAgent, "q", fields)
    }

    /// What is wrong with this value of a field that has these members; empty where nothing is.
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

    const ABC: &str =
        r#""options":[{"value":"a","label":"A"},{"value":"b","label":"B"},{"value":"c","label":"C"}]"#;

    #[test]
    fn texts() {
        holds(
            r#""kind":"text""#,
            &[
                ("", ""),
                (r#""""#, ""),
                (r#""x""#, ""),
                ("5", "takes a text"),
                ("true", "takes a text"),
                (r#"["x"]"#, "takes a text"),
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
                (r#""ä""#, "has 1 characters, the least is 2"),
                (r#""äöü""#, ""),
                (r#""äöüß""#, "has 4 characters, the most is 3"),
            ],
        );
    }

    #[test]
    fn what_would_take_long_is_left_to_the_agent() {
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
        assert_eq!(wrong(choices, &many), "has 110000 entries, the most is 2");
    }

    #[test]
    fn patterns() {
        holds(
            r#""kind":"text","pattern":"^[a-z]+$""#,
            &[(r#""abc""#, ""), (r#""aBc""#, r#"does not match "^[a-z]+$""#)],
        );
        // It is found anywhere, as in JSON Schema.
        holds(r#""kind":"text","pattern":"b""#, &[(r#""abc""#, ""), (r#""ac""#, r#"does not match "b""#)]);
        // One that cannot be tried is left to the agent.
        holds(r#""kind":"text","pattern":"(?=a)""#, &[(r#""b""#, "")]);
        holds(r#""kind":"text","pattern":"(""#, &[(r#""b""#, "")]);
        holds(r#""kind":"text","pattern":"((a{1000}){1000}){1000}""#, &[(r#""b""#, "")]);
    }

    #[test]
    fn one_choice() {
        let members = format!(r#""kind":"choice",{ABC}"#);
        holds(
            &members,
            &[
                ("", ""),
                (r#""a""#, ""),
                // Labels are turned into values before.
                (r#""A""#, r#"has no option "A""#),
                (r#""""#, r#"has no option """#),
                (r#"["a"]"#, "takes the value of one option"),
            ],
        );
        holds(&format!(r#"{members},"required":true"#), &[("", "is required")]);
        let other = format!(r#"{members},"other":true"#);
        holds(&other, &[(r#""x""#, ""), (r#""""#, "")]);
        holds(&format!(r#"{other},"required":true"#), &[(r#""x""#, ""), (r#""""#, "is required")]);
    }

    #[test]
    fn many_choices() {
        let members = format!(r#""kind":"choices",{ABC}"#);
        holds(
            &members,
            &[
                ("", ""),
                ("[]", ""),
                (r#"["c","a"]"#, ""),
                (r#"["a","a"]"#, r#"has "a" twice"#),
                (r#"["a","x"]"#, r#"has no option "x""#),
                (r#""a""#, "takes a list of the values of options"),
            ],
        );
        holds(&format!(r#"{members},"required":true"#), &[("[]", "has 0 of the options, the least is 1")]);
        let bounded = format!(r#"{members},"min":2,"max":2"#);
        holds(
            &bounded,
            &[
                ("[]", ""),
                (r#"["a"]"#, "has 1 of the options, the least is 2"),
                (r#"["a","b"]"#, ""),
                (r#"["a","b","c"]"#, "has 3 of the options, the most is 2"),
            ],
        );
        holds(
            &format!(r#"{members},"required":true,"min":0"#),
            &[("[]", "has 0 of the options, the least is 1")],
        );
        let other = format!(r#"{members},"other":true"#);
        holds(
            &other,
            &[
                (r#"["a","x"]"#, ""),
                (r#"["x","y"]"#, "has 2 texts that are no option, the most is 1"),
                (r#"[""]"#, "is required"),
            ],
        );
    }

    #[test]
    fn numbers() {
        holds(
            r#""kind":"number""#,
            &[("0.5", ""), ("-1e3", ""), (r#""5""#, "takes a number"), ("true", "takes a number")],
        );
        let port = r#""kind":"number","integer":true,"min":1,"max":9"#;
        holds(
            port,
            &[
                ("1", ""),
                ("9", ""),
                ("2.0", ""),
                ("2.5", "takes a whole number"),
                ("0", "is 0, the least is 1"),
                ("10", "is 10, the most is 9"),
                (r#""5""#, "takes a whole number"),
            ],
        );
        holds(
            r#""kind":"number","step":0.1"#,
            &[("0.3", ""), ("1e15", ""), ("0.35", "is 0.35, which is no multiple of 0.1")],
        );
        holds(r#""kind":"number","step":0"#, &[("0.3", "")]);
        holds(r#""kind":"number","step":-1"#, &[("0.3", "")]);
    }

    #[test]
    fn flags() {
        holds(r#""kind":"boolean""#, &[("true", ""), ("false", ""), (r#""true""#, "takes true or false")]);
        holds(
            r#""kind":"confirm","yes":"Do it","no":"Leave it""#,
            &[("true", ""), (r#""Do it""#, "takes true or false")],
        );
    }

    #[test]
    fn what_is_for_no_field_is_told_behind_the_fields() {
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
                r#"field "y" takes true or false"#,
                r#"field "a" is no field of the question"#,
                r#"field "b" is no field of the question"#,
            ]
        );
    }
}
