//! An answer that a person gave, and how a question ended, in the words of the question: labels, not names.
//! Text of an agent is made printable here (I10). Printing is left to `command` and `question.rs`.

use std::borrow::Cow;

use askbridge_core::{
    desk::Settlement,
    question::{
        Answer, Field, FieldError, Kind, Outcome, Provenance, Purpose, Question, REDACTED, Reason, Responder,
        Role, Value,
        naming::{names, pair},
    },
};
use askbridge_os::terminal::{cut, printable_line};

/// The most columns of a field's label in an error or beside a value.
const LABEL: usize = 40;

/// Returns how an error refers to a field: by its header or label and, if the question has several fields, also by the
/// name that `--field` takes.
pub fn about(question: &Question, field: &Field) -> String {
    match &*question.fields {
        [_] => format!("“{}”", brief(&title(question, field))),
        _ => format!("“{}” ({})", brief(&title(question, field)), brief(&field.name)),
    }
}

/// Returns a text on one line, cut to fit into an error or a list of values.
pub fn brief(text: &str) -> String {
    cut(&printable_line(text.trim()), LABEL).into_owned()
}

/// Returns the header or label of a field, or both where several fields have the header: it is that of their group.
fn title<'a>(question: &Question, field: &'a Field) -> Cow<'a, str> {
    let Some(header) = &field.header else { return field.label.as_str().into() };
    let with_it = question.fields.iter().filter(|other| other.header.as_ref() == Some(header));
    match with_it.count() {
        0 | 1 => header.as_str().into(),
        _ => format!("{header}: {}", field.label).into(),
    }
}

/// Returns the mistakes in an answer, by field.
pub fn errors(question: &Question, errors: &[FieldError]) -> String {
    let said =
        errors.iter().map(|error| match question.fields.iter().find(|field| field.name == error.field) {
            Some(field) => format!("{} {}", about(question, field), error.message),
            None => format!("“{}” {}", brief(&error.field), error.message),
        });
    said.collect::<Vec<_>>().join("; ")
}

/// Returns how the program understood an answer, so that the user can check it. Values of secret fields are masked.
pub fn understood(question: &Question, answer: &Answer) -> String {
    format!("{}{}", done(question, answer), what(question, answer))
}

fn what(question: &Question, answer: &Answer) -> String {
    let is_own = match (&*question.fields, answer.notes.is_empty()) {
        ([field], true) => {
            answer.values.get(&field.name).filter(|_| !field.secret).is_some_and(|value| is_own(field, value))
        }
        _ => false,
    };
    match is_own {
        // With only one field, the sentence itself says that the text is the user's own.
        true => format!(" with free text: {}", given(question, answer).replacen("free text ", "", 1)),
        false => format!(": {}", given(question, answer)),
    }
}

/// Returns whether a value consists of the user's own texts and contains no option of the field.
fn is_own(field: &Field, value: &Value) -> bool {
    let is_option = |text: &String| field.kind.options().iter().any(|option| option.value == *text);
    !field.kind.options().is_empty()
        && match value {
            Value::Text(text) => !is_option(text),
            Value::Many(texts) => !texts.is_empty() && !texts.iter().any(is_option),
            Value::Flag(_) | Value::Number(_) | Value::Null => false,
        }
}

/// Returns an answer on one line, with the labels of fields and options.
pub fn given(question: &Question, answer: &Answer) -> String {
    let parts: Vec<_> = question.fields.iter().filter_map(|field| part(question, field, answer)).collect();
    let images = match answer.images.len() {
        0 => None,
        1 => Some("1 image".to_owned()),
        count => Some(format!("{count} images")),
    };
    let parts: Vec<_> = parts.into_iter().chain(images).collect();
    match parts.is_empty() {
        true => "every field is left out".to_owned(),
        false => parts.join("; "),
    }
}

/// Returns the value of one field. The label precedes it if the question has several fields.
fn part(question: &Question, field: &Field, answer: &Answer) -> Option<String> {
    let value = answer.values.get(&field.name).map(|value| match field.secret {
        true => REDACTED.to_owned(),
        false => value_of(field, value),
    });
    let note = answer.notes.get(&field.name).map(|note| format!("note: {}", quoted(note)));
    let said = match (value, note) {
        (Some(value), Some(note)) => format!("{value} ({note})"),
        (value, note) => value.or(note)?,
    };
    Some(if question.fields.len() == 1 {
        said
    } else {
        format!("{}: {said}", brief(&title(question, field)))
    })
}

/// Returns a value in the words of its field: the labels of options, own texts in quotation marks.
pub fn value_of(field: &Field, value: &Value) -> String {
    let names = names(field.kind.options());
    let text = |text: &String| {
        let place = field.kind.options().iter().position(|option| option.value == *text);
        match place.and_then(|place| names.get(place)) {
            Some(name) => separable(name),
            None if field.kind.options().is_empty() => separable(text),
            None => format!("free text {}", quoted(text)),
        }
    };
    match (value, &field.kind) {
        (Value::Text(given), _) => text(given),
        (Value::Many(texts), _) if texts.is_empty() => "none of them".to_owned(),
        (Value::Many(texts), _) => texts.iter().map(text).collect::<Vec<_>>().join(", "),
        (Value::Flag(flag), Kind::Confirm { yes, no }) => separable(&pair(yes, no)[usize::from(!flag)]),
        (Value::Flag(flag), _) => if *flag { "yes" } else { "no" }.to_owned(),
        (Value::Number(number), _) => number.to_string(),
        (Value::Null, _) => "null".to_owned(),
    }
}

/// Returns what would be sent, a numbered line for each field, and that it is nothing at all.
pub(super) fn summary(question: &Question, answer: &Answer) -> Vec<String> {
    let lines = (1..).zip(&question.fields).map(|(number, field)| {
        let value = match answer.values.get(&field.name) {
            Some(_) if field.secret => REDACTED.to_owned(),
            Some(value) => value_of(field, value),
            None => "left out".to_owned(),
        };
        let note = answer.notes.get(&field.name);
        let note = note.map(|note| format!(" (note: “{}”)", printable_line(note))).unwrap_or_default();
        format!("  {number}  {}: {value}{note}", printable_line(&title(question, field)))
    });
    lines.chain(is_empty(answer).then(|| "Nothing is chosen or typed.".to_owned())).collect()
}

/// Returns whether nothing is chosen, typed or noted. An agent may take that for a person who did not answer.
pub fn is_empty(answer: &Answer) -> bool {
    answer.is_blank()
}

/// Returns how a question was settled, in the words of the question, on one line.
pub fn settlement(question: &Question, settlement: &Settlement) -> String {
    let (ended, detail) = ending(settlement, Some(question), |answer| given(question, answer));
    ended.into_owned() + &detail.map(|detail| format!(": {detail}")).unwrap_or_default()
}

/// Returns how a question was settled, in one word.
pub(super) fn state(question: &Question, settlement: &Settlement) -> String {
    let said = match &settlement.outcome {
        // The first word of "allowed from now on" suffices for a column.
        Outcome::Answered(answer) => done(question, answer).split(' ').next().unwrap_or("answered"),
        Outcome::Rejected(Reason::Withdrawn) => "withdrawn",
        Outcome::Rejected(Reason::Cancelled) => "cancelled",
        other => other.status(),
    };
    printable_line(said).into_owned()
}

/// The most columns of one value on a line that has other things on it.
const VALUE: usize = 200;

/// Returns how a question ended, and the values or the reason. `question` is `None` if only the settlement is known.
pub(super) fn ending<'a>(
    settlement: &'a Settlement,
    question: Option<&Question>,
    said: impl FnOnce(&Answer) -> String,
) -> (Cow<'static, str>, Option<Cow<'a, str>>) {
    let by = decided_by(settlement);
    let remark = settlement.remark.as_deref().map(printable_line);
    match &settlement.outcome {
        Outcome::Answered(answer) => {
            let done = question.map_or("answered", |question| done(question, answer));
            // Some agents do not report the values of their own dialogs.
            let is_unknown = settlement.by.responder == Responder::Dialog && *answer == Answer::default();
            (format!("{done} by {by}").into(), (!is_unknown).then(|| said(answer).into()))
        }
        Outcome::Rejected(reason) => {
            let is_permission = question.is_some_and(|question| question.purpose == Purpose::Permission);
            let is_dismissed = *reason == Reason::Cancelled && settlement.by.responder == Responder::Client;
            let said = match (is_dismissed, is_permission) {
                (true, _) => Some(format!("dismissed in {by}")),
                (false, true) => refused(reason, &by),
                (false, false) => None,
            };
            (said.map_or_else(|| rejected(reason, &by), Cow::from), remark)
        }
        Outcome::Failed => (format!("left to the agent by {by}").into(), remark),
        other => (format!("{} by {by}", printable_line(other.status())).into(), remark),
    }
}

/// Returns the verb for an answer: it allows or rejects a permission, and answers any other question.
pub(super) fn done(question: &Question, answer: &Answer) -> &'static str {
    let role = question.fields.iter().find_map(|field| match answer.values.get(&field.name)? {
        Value::Text(chosen) => field.kind.options().iter().find(|it| it.value == *chosen)?.role.as_deref(),
        _ => None,
    });
    match role {
        Some(Role::AllowOnce) => "allowed",
        Some(Role::AllowAlways) => "allowed from now on",
        Some(Role::RejectOnce) => "rejected",
        Some(Role::RejectAlways) => "rejected from now on",
        _ => "answered",
    }
}

/// Returns why a permission was refused, if the words differ from those for a question.
fn refused(reason: &Reason, by: &str) -> Option<String> {
    match reason {
        Reason::User => Some(format!("rejected by {by}")),
        Reason::Cancelled => Some(format!("cancelled by {by}")),
        _ => None,
    }
}

/// Returns why a question was rejected. For the bridge's own reasons, the text names the event and not the bridge.
fn rejected(reason: &Reason, by: &str) -> Cow<'static, str> {
    match reason {
        Reason::User => format!("rejected by {by}").into(),
        Reason::Cancelled => "rejected: the turn was cancelled".into(),
        Reason::Withdrawn => "withdrawn".into(),
        Reason::Over => "over: the agent went on without an answer".into(),
        Reason::CallEnded => format!("over: {by} ended the call that waited for it").into(),
        Reason::Timeout => "rejected: no answer came in time".into(),
        Reason::RepliedInChat => "rejected: the person replied in the chat".into(),
        Reason::ClientGone => "rejected: the client is gone".into(),
        Reason::AgentGone => "rejected: the agent is gone".into(),
        Reason::SessionClosed => "rejected: the session was closed".into(),
        Reason::Shutdown => "rejected: the bridge was asked to end".into(),
        Reason::Policy => format!("rejected by a rule of {by}").into(),
        other => format!("rejected by {by}, {}", printable_line(other.name())).into(),
    }
}

/// Returns who decided. A client that was faster than a person can be has decided by itself.
fn decided_by(settlement: &Settlement) -> String {
    let by = by(&settlement.by);
    match settlement.reaction_ms {
        Some(time) => format!("{by} itself, within {} ms", time.saturating_add(1)),
        None => by,
    }
}

fn by(by: &Provenance) -> String {
    let responder = match &by.responder {
        Responder::Client => "the client",
        Responder::Dialog => "the agent's own dialog",
        Responder::Bridge => "the bridge",
        Responder::CommandLine => "the command line",
        Responder::Terminal => "the terminal",
        Responder::Http => "HTTP",
        Responder::Rpc => "JSON-RPC",
        Responder::Page => "the page",
        Responder::Notification => "a notification",
        Responder::Fleet => "a person over the fleet",
        Responder::Rule => "a rule",
        Responder::Other(other) => &printable_line(other.as_str()),
    };
    match &by.name {
        Some(name) if by.responder == Responder::Rule => format!("rule \"{}\"", printable_line(name)),
        Some(name) if by.responder == Responder::Fleet => format!("{} over the fleet", printable_line(name)),
        Some(name) => format!("{responder} ({})", printable_line(name)),
        None => responder.to_owned(),
    }
}

/// Returns a text, in quotation marks if it could be read as several texts.
pub(super) fn separable(text: &str) -> String {
    let is_plain = !text.is_empty() && text.trim() == text && !text.contains([',', ';', '“', '”']);
    if is_plain { cut(&printable_line(text), VALUE).into_owned() } else { quoted(text) }
}

pub(super) fn quoted(text: &str) -> String {
    format!("“{}”", cut(&printable_line(text), VALUE))
}

#[cfg(test)]
mod tests {
    use askbridge_core::{
        desk::Timestamp,
        question::{Origin, Outcome, Provenance, Reason, Responder},
    };
    use serde_json::{Value as Json, json};

    use super::*;

    fn question(fields: &Json) -> Question {
        Question::new(Origin::SandboxAgent, "q", serde_json::from_value(fields.clone()).expect("fields"))
    }

    fn answer(values: &Json, notes: &Json) -> Answer {
        serde_json::from_value(json!({ "values": values, "notes": notes })).expect("an answer")
    }

    fn database() -> Json {
        let options = json!([{ "value": "pg", "label": "Postgres" }, { "value": "2", "label": "SQLite" }]);
        json!({ "name": "q0", "label": "Which database?", "header": "Database", "kind": "choice", "other": true, "options": options })
    }

    fn features() -> Json {
        let options = json!([{ "value": "a", "label": "Auth" }, { "value": "s", "label": "Search, full" }]);
        json!({ "name": "q1", "label": "Features", "kind": "choices", "other": true, "options": options })
    }

    #[test]
    fn one_field_is_said_without_its_label_and_an_own_text_as_one() {
        let question = question(&json!([database()]));
        for (values, notes, said) in [
            (json!({ "q0": "2" }), json!({}), ": SQLite"),
            (json!({ "q0": "SQLight" }), json!({}), " with free text: “SQLight”"),
            (json!({ "q0": "2\n\u{1b}" }), json!({}), " with free text: “2\u{240a}\u{241b}”"),
            (json!({ "q0": "2" }), json!({ "q0": "for now" }), ": SQLite (note: “for now”)"),
            (json!({ "q0": "x" }), json!({ "q0": "y" }), ": free text “x” (note: “y”)"),
            (json!({}), json!({}), ": every field is left out"),
        ] {
            assert_eq!(understood(&question, &answer(&values, &notes)), format!("answered{said}"));
        }
    }

    #[test]
    fn the_fields_of_a_group_are_told_apart() {
        let field = |name: &str, label: &str| json!({ "name": name, "label": label, "header": "Owner", "kind": "text" });
        let question = question(&json!([field("o.mail", "Email"), field("o.team", "Team"), database()]));
        let given = answer(&json!({ "o.team": "core", "q0": "2" }), &json!({}));
        assert_eq!(
            summary(&question, &given),
            ["  1  Owner: Email: left out", "  2  Owner: Team: core", "  3  Database: SQLite"]
        );
        assert_eq!(about(&question, &question.fields[1]), "“Owner: Team” (o.team)");
    }

    #[test]
    fn several_fields_are_said_by_label_and_secrets_are_masked() {
        let others = [
            json!({ "name": "t", "label": "Token", "kind": "text", "secret": true }),
            json!({ "name": "d", "label": "Sure?", "kind": "confirm", "yes": "Do it", "no": "Leave it" }),
            json!({ "name": "n", "label": "Port", "kind": "number" }),
            json!({ "name": "l", "label": "Why?", "kind": "text" }),
        ];
        let question = question(&json!([&[database(), features()][..], &others].concat()));
        let values =
            json!({ "q0": "pg", "q1": ["s", "own, text"], "t": "hunter2", "d": false, "n": 80, "l": "a; b" });
        assert_eq!(
            understood(&question, &answer(&values, &json!({}))),
            "answered: Database: Postgres; Features: “Search, full”, free text “own, text”; Token: (secret); Sure?: Leave it; \
             Port: 80; Why?: “a; b”"
        );
        assert_eq!(
            understood(&question, &answer(&json!({ "q1": [] }), &json!({}))),
            "answered: Features: none of them"
        );
    }

    #[test]
    fn errors_name_the_field_as_a_person_knows_it() {
        let two = question(&json!([database(), features()]));
        let error = |field: &str| FieldError { field: field.to_owned(), message: "is required".to_owned() };
        assert_eq!(
            errors(&two, &[error("q0"), error("q1"), error("x")]),
            "“Database” (q0) is required; “Features” (q1) is required; “x” is required"
        );
        assert_eq!(errors(&question(&json!([features()])), &[error("q1")]), "“Features” is required");
    }

    #[test]
    fn an_ending_says_what_happened() {
        let question = question(&json!([database()]));
        let person = Provenance { responder: Responder::CommandLine, name: Some("ada".to_owned()) };
        let said = |outcome: Outcome, by: &Provenance, remark: Option<&str>| {
            let mut settled = Settlement::new(outcome, by.clone(), Timestamp::default());
            settled.remark = remark.map(str::to_owned);
            settlement(&question, &settled)
        };
        let answered = Outcome::Answered(answer(&json!({ "q0": "2" }), &json!({})));
        assert_eq!(said(answered, &person, None), "answered by the command line (ada): SQLite");
        let user = Outcome::Rejected(Reason::User);
        assert_eq!(
            said(user, &person, Some("not\ttoday")),
            "rejected by the command line (ada): not\u{2409}today"
        );
        let withdrawn = Outcome::Rejected(Reason::Withdrawn);
        assert_eq!(said(withdrawn, &Provenance::bridge(), None), "withdrawn");
        let late = Outcome::Rejected(Reason::Timeout);
        assert_eq!(said(late, &Provenance::bridge(), None), "rejected: no answer came in time");
    }

    #[test]
    fn answer_that_is_not_known_is_not_said_to_be_empty() {
        let question = question(&json!([database()]));
        let said = |responder: Responder| {
            let by = Provenance { responder, name: Some("Codex".to_owned()) };
            let outcome = Outcome::Answered(Answer::default());
            settlement(&question, &Settlement::new(outcome, by, Timestamp::default()))
        };
        assert_eq!(said(Responder::Dialog), "answered by the agent's own dialog (Codex)");
        assert_eq!(said(Responder::Page), "answered by the page (Codex): every field is left out");
    }
}
