//! Replies to an agent's question, in the dialect of the question.
//! Reading requests is left to `receive.rs`.

use askbridge_core::{
    dialect::{AgentQuestion, Rejection},
    question::{Answer, Field, FieldOption, Kind, Question, Reason, Role, Value, check_shape},
};

use super::action::How;

/// A text that no agent offers as an option.
const TEXT: &str = "askbridge-check";

/// Returns the `result` of a reply; `None` if the question cannot be answered like that.
pub(crate) fn result(asked: &AgentQuestion, how: How) -> Option<String> {
    let AgentQuestion { question, reply_format } = asked;
    let rejection = |reason| reply_format.write_rejection(Rejection::from(reason)).get().to_owned();
    match how {
        How::Declined => Some(rejection(Reason::User)),
        How::Cancelled => Some(rejection(Reason::Cancelled)),
        How::UnknownOption => {
            Some(format!(r#"{{"outcome":{{"outcome":"selected","optionId":"{TEXT}-no-such-option"}}}}"#))
        }
        How::Error | How::Again => None,
        _ => {
            answer(question, how).map(|answer| reply_format.write_answer(question, &answer).get().to_owned())
        }
    }
}

/// Returns the option that a reply takes, and the others.
pub(crate) fn chosen(question: &Question, how: How) -> Option<(&FieldOption, Vec<&FieldOption>)> {
    let How::Option(place) = how else { return None };
    let options = choices(question)?.kind.options();
    let others = options.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, option)| option);
    Some((options.get(place)?, others.collect()))
}

fn choices(question: &Question) -> Option<&Field> {
    question.fields.iter().find(|field| matches!(field.kind, Kind::Choice { .. }))
}

/// Returns an answer to every field, one of which is answered in the way that the case is about.
fn answer(question: &Question, how: How) -> Option<Answer> {
    let mut answer = Answer::default();
    for field in &question.fields {
        // A field may be left out, unless it is required.
        if let Some(value) = plain(&field.kind).filter(|_| field.required || how == How::EveryField) {
            answer.values.insert(field.name.clone(), value);
        }
    }
    if how == How::EveryField {
        let is_whole = question.fields.len() > 1 && answer.values.len() == question.fields.len();
        return (is_whole && check_shape(question, &answer).is_ok()).then_some(answer);
    }
    let (field, value) =
        question.fields.iter().find_map(|field| Some((field, special(&field.kind, how)?)))?;
    answer.values.insert(field.name.clone(), value);
    check_shape(question, &answer).is_ok().then_some(answer)
}

/// Returns the value that a field of this kind gets in the way that the case is about.
fn special(kind: &Kind, how: How) -> Option<Value> {
    let with_role = |role: Role| {
        let option = kind.options().iter().find(|option| option.role.as_deref() == Some(&role));
        option.map(|option| Value::Text(option.value.clone()))
    };
    match (how, kind) {
        (How::Option(place), Kind::Choice { options, .. }) => {
            options.get(place).map(|option| Value::Text(option.value.clone()))
        }
        (How::EveryOption, Kind::Choices { options, max, .. }) => {
            let most = max.map_or(options.len(), |max| usize::try_from(max).unwrap_or(options.len()));
            Some(Value::Many(options.iter().take(most).map(|option| option.value.clone()).collect()))
        }
        (How::Text, Kind::Text { .. }) => plain(kind),
        (How::OwnText, Kind::Choice { other: true, .. }) => Some(Value::Text(TEXT.to_owned())),
        (How::OwnText, Kind::Choices { other: true, .. }) => Some(Value::Many(vec![TEXT.to_owned()])),
        (How::Yes, Kind::Boolean { .. } | Kind::Confirm { .. }) => Some(Value::Flag(true)),
        (How::Number, Kind::Number { .. }) => plain(kind),
        (How::AllowOnce, Kind::Choice { .. }) => with_role(Role::AllowOnce),
        (How::RejectOnce, Kind::Choice { .. }) => with_role(Role::RejectOnce),
        _ => None,
    }
}

/// Returns the simplest value of a kind.
fn plain(kind: &Kind) -> Option<Value> {
    match kind {
        Kind::Text { default: Some(default), .. } => Some(Value::Text(default.clone())),
        Kind::Text { pattern: Some(_), .. } => None,
        Kind::Text { format, min_length, max_length, .. } => {
            let text = match format.as_deref() {
                None => TEXT,
                Some("email") => "check@example.org",
                Some("uri") => "https://example.org",
                Some("date") => "2026-01-31",
                Some("date-time") => "2026-01-31T12:00:00Z",
                Some(_) => return None,
            };
            let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
            let fits = min_length.is_none_or(|least| least <= length)
                && max_length.is_none_or(|most| length <= most);
            fits.then(|| Value::Text(text.to_owned()))
        }
        Kind::Choice { options, .. } => options.first().map(|option| Value::Text(option.value.clone())),
        Kind::Choices { options, min, .. } => {
            let least = usize::try_from(min.unwrap_or(1).max(1)).unwrap_or(1);
            Some(Value::Many(options.iter().take(least).map(|option| option.value.clone()).collect()))
        }
        Kind::Boolean { .. } | Kind::Confirm { .. } => Some(Value::Flag(true)),
        Kind::Number { integer: true, default, min, .. } => {
            let number = default.or(*min).unwrap_or(1.0).ceil();
            serde_json::from_str(&format!("{number:.0}")).ok().map(Value::Number)
        }
        Kind::Number { default, min, .. } => {
            serde_json::Number::from_f64(default.or(*min).unwrap_or(1.0)).map(Value::Number)
        }
        Kind::Texts { .. } | Kind::Json { .. } | Kind::Unknown(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(properties: &str) -> AgentQuestion {
        let params = format!(
            r#"{{"mode":"form","sessionId":"s","message":"?","requestedSchema":{{"type":"object","properties":{properties}}}}}"#
        );
        askbridge_core::dialect::read("elicitation/create", params.as_bytes(), "q").unwrap().unwrap()
    }

    #[test]
    fn each_answer_is_written_in_the_dialect_of_the_question() {
        let asked = form(
            r#"{"c":{"type":"string","enum":["a","b"]},"m":{"type":"array","items":{"type":"string","enum":["x","y"]}},
               "t":{"type":"string","format":"email"},"b":{"type":"boolean"},"n":{"type":"integer","minimum":3}}"#,
        );
        let content = |how| -> serde_json::Value {
            serde_json::from_str::<serde_json::Value>(&result(&asked, how).unwrap()).unwrap()["content"]
                .take()
        };
        assert_eq!(content(How::Option(1))["c"], "b");
        assert_eq!(content(How::EveryOption)["m"], serde_json::json!(["x", "y"]));
        assert_eq!(content(How::Text)["t"], "check@example.org");
        assert_eq!((&content(How::Yes)["b"], &content(How::Number)["n"]), (&true.into(), &3.into()));
        assert_eq!(content(How::EveryField).as_object().map(serde_json::Map::len), Some(5));
        assert!(result(&asked, How::Declined).unwrap().contains("decline"));
        for how in [How::OwnText, How::AllowOnce, How::Option(2)] {
            assert_eq!(result(&asked, how), None, "{how:?}");
        }
    }
}
