//! The prompt of one field in a few words: how to answer it, its default, its help, and the command words that can be
//! typed in place of a value, such as `/reject`.
//! The label and the options are left to `question.rs`, the effect of a command word to `dialogue.rs`.

use askbridge_core::question::{Field, Kind, Purpose, Question, Value, naming::look};
use askbridge_os::terminal::printable_line;

use super::answer::value_of;

/// Returns how to answer a field, as the beginning of a prompt.
pub fn instruction(field: &Field) -> String {
    let count = field.kind.options().len();
    let other = if field.kind.takes_other() { ", or type free text" } else { "" };
    match &field.kind {
        Kind::Choice { .. } => format!("Choose {}{other}", range(count)),
        Kind::Choices { .. } => format!("Choose any of {}, separated by commas{other}", range(count)),
        Kind::Boolean { .. } => "Type yes or no".to_owned(),
        // One label for both cannot be typed.
        Kind::Confirm { yes, no } if look(yes).to_lowercase() == look(no).to_lowercase() => {
            "Type yes or no".to_owned()
        }
        Kind::Confirm { yes, no } => format!("Type “{}” or “{}”", printable_line(yes), printable_line(no)),
        Kind::Number { integer: true, .. } => "Type a whole number".to_owned(),
        Kind::Number { .. } => "Type a number".to_owned(),
        Kind::Text { .. } if field.secret => "Type the secret, which is not shown".to_owned(),
        Kind::Text { .. } => "Type a text".to_owned(),
        Kind::Texts { .. } => "Type texts, separated by commas".to_owned(),
        Kind::Json { .. } if field.secret => "Type JSON that fits the schema, which is not shown".to_owned(),
        Kind::Json { .. } => "Type JSON that fits the schema".to_owned(),
        Kind::Unknown(_) => "This field needs a newer askbridge".to_owned(),
    }
}

fn range(count: usize) -> String {
    if count == 1 { "1".to_owned() } else { format!("1 to {count}") }
}

/// Returns the default of a field. A permission has none (I12).
pub fn default_of(question: &Question, field: &Field) -> Option<Value> {
    if question.purpose == Purpose::Permission {
        return None;
    }
    match &field.kind {
        // An empty default is no default: an empty line leaves the field out instead.
        Kind::Text { default, .. } => default.clone().filter(|text| !text.is_empty()).map(Value::Text),
        Kind::Choice { default, .. } => default.clone().map(Value::Text),
        Kind::Choices { default, .. } | Kind::Texts { default, .. } => {
            (!default.is_empty()).then(|| Value::Many(default.clone()))
        }
        Kind::Boolean { default } => default.map(Value::Flag),
        Kind::Number { default, integer, .. } => default.and_then(|number| numbered(number, *integer)),
        Kind::Confirm { .. } | Kind::Json { .. } | Kind::Unknown(_) => None,
    }
}

fn numbered(number: f64, integer: bool) -> Option<Value> {
    // A whole number is written without a fraction.
    let text = if integer { format!("{number:.0}") } else { number.to_string() };
    serde_json::from_str(&text).ok().map(Value::Number)
}

/// Returns the effect of an empty line, in brackets.
pub fn bracket(field: &Field, default: Option<&Value>) -> String {
    match default {
        Some(_) if field.secret => " [unchanged]".to_owned(),
        Some(value) => format!(" [{}]", value_of(field, value)),
        None if field.nullable && field.required => " [null]".to_owned(),
        None if field.required => String::new(),
        None => " [leave out]".to_owned(),
    }
}

/// Returns the help for a field: the possible inputs, one per line.
pub fn help(question: &Question, field: &Field) -> Vec<String> {
    let is_permission = question.purpose == Purpose::Permission;
    let mut lines = vec![format!("{}.", instruction(field))];
    if !field.kind.options().is_empty() {
        lines.push("To choose an option, type its number, its label or its value.".to_owned());
    }
    if let Kind::Texts { .. } = field.kind {
        lines.push("A text with a comma stands in a list: [\"a, b\", \"c\"].".to_owned());
    }
    if let Kind::Text { multiline: true, .. } | Kind::Json { .. } = field.kind {
        lines.push("A \\ at the end of a line continues the text on the next line.".to_owned());
    }
    if !is_permission {
        lines.push("The brackets before the prompt show what an empty line does.".to_owned());
    }
    let mut commands = Vec::new();
    if field.kind.takes_other() || matches!(field.kind, Kind::Text { .. }) {
        commands.push("/text TEXT  sends a text unchanged, even if it looks like something else");
    }
    if field.nullable {
        commands.push("/null       gives null");
    }
    if !field.required {
        commands.push("/none       leaves the field out");
    }
    if question.notes && !is_permission {
        commands.push("/note TEXT  adds a note to the field");
    }
    if question.fields.len() > 1 {
        commands.push("/back       goes back to the field before");
    }
    commands.push(match is_permission {
        true => "/reject     rejects it; you may give a reason",
        false => "/reject     rejects the whole question; you may give a reason",
    });
    commands.push("/more       gives 10 more minutes, where there is a deadline");
    commands.push("/quit       leaves the question open, as Ctrl-C does");
    lines.extend(commands.into_iter().map(|command| format!("  {command}")));
    lines
}

/// The command words that a user may type in place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word<'a> {
    /// Prints the help.
    Help,
    /// Rejects the question.
    Reject,
    /// Goes back to the field before.
    Back,
    /// Asks for more time.
    More,
    /// Leaves the question open.
    Quit,
    /// Leaves the field out.
    None,
    /// Gives null.
    Null,
    /// Adds a note to the field.
    Note(&'a str),
    /// Sends a text unchanged.
    Text(&'a str),
}

/// Parses a line as a command word. Returns `None` for any other line.
pub(super) fn word(line: &str) -> Option<Word<'_>> {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    Some(match (first, rest) {
        ("?" | "/help", "") => Word::Help,
        ("/reject", "") => Word::Reject,
        ("/back", "") => Word::Back,
        ("/more", "") => Word::More,
        ("/quit", "") => Word::Quit,
        ("/none", "") => Word::None,
        ("/null", "") => Word::Null,
        ("/note", note) => Word::Note(note),
        ("/text", text) if !text.is_empty() => Word::Text(text),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use askbridge_core::question::Origin;
    use serde_json::{Value as Json, json};

    use super::*;

    fn question(field: &Json) -> Question {
        let mut whole = json!({ "name": "f", "label": "F" });
        whole.as_object_mut().expect("an object").extend(field.as_object().expect("members").clone());
        Question::new(Origin::Program, "q", vec![serde_json::from_value(whole).expect("a field")])
    }

    #[test]
    fn every_kind_says_what_to_do_and_what_enter_takes() {
        let options = json!([{ "value": "a", "label": "A" }, { "value": "b", "label": "B" }]);
        for (field, said) in [
            (json!({ "kind": "choice", "options": options, "required": true }), "Choose 1 to 2"),
            (
                json!({ "kind": "choice", "options": options, "other": true, "default": "b" }),
                "Choose 1 to 2, or type free text [B]",
            ),
            (
                json!({ "kind": "choices", "options": options, "default": ["a", "b"] }),
                "Choose any of 1 to 2, separated by commas [A, B]",
            ),
            (json!({ "kind": "boolean", "default": false }), "Type yes or no [no]"),
            (
                json!({ "kind": "confirm", "yes": "Go\u{1b}", "no": "Stay" }),
                "Type “Go␛” or “Stay” [leave out]",
            ),
            (json!({ "kind": "number", "integer": true, "default": 3 }), "Type a whole number [3]"),
            (json!({ "kind": "number", "default": 2.5 }), "Type a number [2.5]"),
            (json!({ "kind": "text", "default": "x\u{202e}" }), "Type a text [x\\u{202e}]"),
            (
                json!({ "kind": "text", "secret": true, "default": "x" }),
                "Type the secret, which is not shown [unchanged]",
            ),
            (json!({ "kind": "drawing" }), "This field needs a newer askbridge [leave out]"),
        ] {
            let question = question(&field);
            let default = default_of(&question, &question.fields[0]);
            let field = &question.fields[0];
            assert_eq!(instruction(field) + &bracket(field, default.as_ref()), said);
        }
    }

    #[test]
    fn a_permission_has_no_default() {
        let options = json!([{ "value": "a", "label": "Allow", "role": "allow_once" }]);
        let mut question = question(&json!({ "kind": "choice", "options": options, "default": "a" }));
        question.purpose = Purpose::Permission;
        assert_eq!(default_of(&question, &question.fields[0]), None);
        assert!(help(&question, &question.fields[0]).iter().all(|line| !line.contains("brackets")));
    }

    #[test]
    fn only_the_words_themselves_are_words() {
        for (line, expected) in [
            (" ? ", Some(Word::Help)),
            ("/quit", Some(Word::Quit)),
            ("/note a b", Some(Word::Note("a b"))),
            ("/note", Some(Word::Note(""))),
            ("/text /reject", Some(Word::Text("/reject"))),
            ("/text", None),
            ("/etc/hosts", None),
            ("/reject it", None),
            ("? why", None),
            ("", None),
        ] {
            assert_eq!(word(line), expected, "{line}");
        }
    }
}
