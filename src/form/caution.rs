//! What a person has to confirm, by typing a whole word, before an answer is sent (I12).

use std::borrow::Cow;

use crate::question::{Answer, Purpose, Question, Role, Value};

/// The word to type.
pub const WORD: &str = "yes";

/// Returns why an answer has to be confirmed, as a sentence; `None` where it can be sent at once.
pub fn caution(question: &Question, answer: &Answer) -> Option<Cow<'static, str>> {
    let is_dangerous = question.risk().is_dangerous();
    match question.purpose {
        Purpose::Permission => permitted(question, answer, is_dangerous),
        _ if is_dangerous => Some("This is dangerous: a wrong answer can do harm.".into()),
        _ => None,
    }
}

fn permitted(question: &Question, answer: &Answer, is_dangerous: bool) -> Option<Cow<'static, str>> {
    let lasting = "It would be allowed from now on, without being asked again.";
    let dangerous = || match &question.risk_reason {
        Some(why) => format!("This is dangerous: {why}."),
        None => "This is dangerous: what it allows can do harm.".to_owned(),
    };
    match role(question, answer) {
        Some(Role::RejectOnce | Role::RejectAlways) => None,
        Some(Role::AllowAlways) if is_dangerous => Some(format!("{} {lasting}", dangerous()).into()),
        Some(Role::AllowAlways) => Some(lasting.into()),
        _ if is_dangerous => Some(dangerous().into()),
        Some(Role::AllowOnce) => None,
        // An option of another version, or one that does not say what it does.
        _ => Some("It is not known what this option allows.".into()),
    }
}

/// Returns what the chosen option of a permission means.
pub fn role(question: &Question, answer: &Answer) -> Option<Role> {
    question.fields.iter().find_map(|field| match answer.values.get(&field.name)? {
        Value::Text(chosen) => {
            field.kind.options().iter().find(|it| it.value == *chosen)?.role.as_deref().copied()
        }
        _ => None,
    })
}

/// Returns whether a typed line confirms. Only the whole word does, in any case.
pub fn confirms(line: &str) -> bool {
    line.trim().eq_ignore_ascii_case(WORD)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::{Origin, Risk};

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
    fn only_the_whole_word_confirms() {
        for (line, is_yes) in [("yes", true), (" YES ", true), ("y", false), ("", false), ("yes!", false)] {
            assert_eq!(confirms(line), is_yes, "{line}");
        }
    }
}
