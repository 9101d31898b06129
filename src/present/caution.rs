//! The risks that a user has to confirm, by typing a whole word, before an answer is sent (I12).

use std::borrow::Cow;

use askbridge_core::question::{Answer, FieldOption, Purpose, Question, Role, Value};
use askbridge_os::terminal::printable_line;

use super::text;

/// The most columns of what the second step names: all of it stands above.
const NAMED: usize = 60;

/// The word that confirms an answer.
pub const WORD: &str = "yes";

/// Returns why an answer must be confirmed, as a sentence; `None` if it can be sent at once.
pub fn caution(question: &Question, answer: &Answer) -> Option<Cow<'static, str>> {
    match question.purpose {
        Purpose::Permission => permitted(question, answer),
        _ if question.takes_second_step() => Some("This is dangerous: a wrong answer can do harm.".into()),
        _ => None,
    }
}

fn permitted(question: &Question, answer: &Answer) -> Option<Cow<'static, str>> {
    let lasting = "It would be allowed from now on, without being asked again.";
    let takes_step = question.takes_second_step();
    if let Some(beyond) = chosen(question, answer).filter(|option| option.dangerous).map(beyond) {
        let risk = takes_step.then(|| risk(question));
        let lasting = (role(question, answer) == Some(Role::AllowAlways)).then(|| lasting.to_owned());
        let said: Vec<_> = risk.into_iter().chain([beyond]).chain(lasting).collect();
        return Some(said.join(" ").into());
    }
    match role(question, answer) {
        // A refusal does no harm.
        Some(Role::RejectOnce | Role::RejectAlways) => None,
        Some(Role::AllowAlways) if takes_step => Some(format!("{} {lasting}", risk(question)).into()),
        Some(Role::AllowAlways) => Some(lasting.into()),
        _ if takes_step => Some(risk(question).into()),
        Some(Role::AllowOnce) => None,
        // The option has a role of another version, or none.
        _ => Some("The effect of this option is unknown.".into()),
    }
}

/// Returns what a permission risks, as a sentence.
fn risk(question: &Question) -> String {
    let what = if question.risk().is_dangerous() { "This is dangerous" } else { "This acts" };
    match &question.risk_reason {
        Some(why) => format!("{what}: {why}."),
        None => format!("{what}: it can do harm."),
    }
}

/// Returns whether an answer takes a second step for what it may do, and not only because it lasts.
pub fn is_dangerous(question: &Question, answer: &Answer) -> bool {
    question.takes_second_step() || chosen(question, answer).is_some_and(|option| option.dangerous)
}

/// Returns the line above the prompt that confirms an answer.
pub(super) fn line(question: &Question, answer: &Answer) -> String {
    caution(question, answer).map_or_else(|| risk(question), Cow::into_owned)
}

/// Returns what the second step asks, which names what would be done: "Allow `cargo test`?".
pub fn asked(question: &Question, answer: &Answer) -> String {
    if question.purpose != Purpose::Permission {
        return "Send this answer?".to_owned();
    }
    let act = act(question);
    match role(question, answer) {
        Some(Role::AllowOnce) => format!("Allow {act}?"),
        Some(Role::AllowAlways) => format!("Allow {act} from now on?"),
        _ => format!("Choose it for {act}?"),
    }
}

/// Names what would be done: the command, or what the agent asks for.
fn act(question: &Question) -> String {
    let command = question.subject.as_deref().and_then(|subject| subject.command.as_deref());
    let Some(command) = command.map(str::trim) else {
        return format!("\u{201c}{}\u{201d}", text::short(&question.headline(), NAMED));
    };
    let mut lines = command.lines();
    let first = text::short(lines.next().unwrap_or_default(), NAMED);
    match lines.count() {
        0 => format!("`{first}`"),
        1 => format!("`{first}` and 1 more line"),
        more => format!("`{first}` and {more} more lines"),
    }
}

/// Returns what an option allows beyond the act that is shown, as a sentence.
fn beyond(option: &FieldOption) -> String {
    match option.grants.is_empty() {
        true => "The agent marked this option: it can do harm.".to_owned(),
        false => format!("This option also allows: {}.", printable_line(&option.grants.join("; "))),
    }
}

/// Returns what the chosen option of a permission means.
pub fn role(question: &Question, answer: &Answer) -> Option<Role> {
    chosen(question, answer)?.role.as_deref().copied()
}

/// Returns the option that an answer chooses.
fn chosen<'a>(question: &'a Question, answer: &Answer) -> Option<&'a FieldOption> {
    question.fields.iter().find_map(|field| match answer.values.get(&field.name)? {
        Value::Text(chosen) => field.kind.options().iter().find(|it| it.value == *chosen),
        _ => None,
    })
}

/// Returns whether a typed line confirms. Only the whole word does, in any case.
pub fn confirms(line: &str) -> bool {
    line.trim().eq_ignore_ascii_case(WORD)
}

#[cfg(test)]
mod tests {
    use askbridge_core::question::{Kind, Origin, Risk};
    use serde_json::json;

    use super::*;

    fn permission(risk: Risk) -> Question {
        let roles = ["allow_once", "allow_always", "reject_once", "reject_always", "allow_week"];
        let mut options = roles.map(|role| json!({ "value": role, "label": role, "role": role })).to_vec();
        options.push(json!({ "value": "none", "label": "none" }));
        let fields = json!([{ "name": "f", "label": "F", "kind": "choice", "options": options }]);
        let mut question =
            Question::new(Origin::Program, "q", serde_json::from_value(fields).expect("fields"));
        question.purpose = Purpose::Permission;
        question.risk = Some(risk);
        question
    }

    #[test]
    fn what_allows_something_dangerous_or_lasting_or_unknown_is_confirmed() {
        for (value, is_confirmed, is_confirmed_if_dangerous) in [
            ("allow_once", false, true),
            ("allow_always", true, true),
            ("reject_once", false, false),
            ("reject_always", false, false),
            ("allow_week", true, true),
            ("none", true, true),
        ] {
            let answer: Answer =
                serde_json::from_value(json!({ "values": { "f": value } })).expect("an answer");
            for (risk, expected) in [
                (Risk::Plain, is_confirmed),
                (Risk::Acts, is_confirmed),
                (Risk::Dangerous, is_confirmed_if_dangerous),
            ] {
                assert_eq!(caution(&permission(risk), &answer).is_some(), expected, "{value}: {risk}");
            }
        }
    }

    #[test]
    fn an_option_that_allows_more_than_what_is_shown_is_confirmed() {
        let mut question = permission(Risk::Plain);
        let answer: Answer =
            serde_json::from_value(json!({ "values": { "f": "allow_once" } })).expect("an answer");
        assert!(caution(&question, &answer).is_none() && !is_dangerous(&question, &answer));
        let Kind::Choice { options, .. } = &mut question.fields[0].kind else { panic!("a choice") };
        options[0].grants = vec!["Switches to the mode auto".to_owned()];
        options[0].dangerous = true;
        let said = caution(&question, &answer).expect("it is confirmed");
        assert_eq!(said, "This option also allows: Switches to the mode auto.");
        assert!(is_dangerous(&question, &answer));
    }

    #[test]
    fn only_the_whole_word_confirms() {
        for (line, is_yes) in [("yes", true), (" YES ", true), ("y", false), ("", false), ("yes!", false)] {
            assert_eq!(confirms(line), is_yes, "{line}");
        }
    }
}
