//! How each agent reads a response, taken from its wire or its code, and independent of the bridge.

use serde_json::Value;

use crate::matrix::agents::{Agent, Ends};
use crate::matrix::asking::NONE_OF_THE_ABOVE;
use crate::matrix::field::{Field, Given, Heard, Kind};

impl Agent {
    /// Reads a `result` as this agent does. Fails if the agent could not read it.
    pub(crate) fn hears(self, result: &Value, fields: &[Field]) -> Heard {
        let heard = match self {
            Agent::Native => native(result, fields),
            Agent::Historic => self.hears_form(&result["action"], fields),
            Agent::Qwen => qwen(result, fields),
            Agent::KimiPermission | Agent::Pi => permission(result),
            Agent::Cursor => cursor(result, fields),
            Agent::Grok => grok(result, fields),
            Agent::Kiro => kiro(result),
            Agent::Agentao => agentao(result, &fields[0]),
            Agent::Hrns => hrns(result, fields),
            _ => self.hears_form(result, fields),
        };
        heard.unwrap_or_else(|| panic!("{self:?} does not understand {result}"))
    }

    /// What the agent understands if the user declines.
    pub(crate) fn declined(self) -> Heard {
        if self.ends() == Ends::Cancelled { Heard::Cancelled } else { Heard::Declined }
    }

    /// What the agent understands if there will be no answer.
    pub(crate) fn cancelled(self) -> Heard {
        if self.ends() == Ends::Declined { Heard::Declined } else { Heard::Cancelled }
    }

    fn hears_form(self, result: &Value, fields: &[Field]) -> Option<Heard> {
        match result["action"].as_str()? {
            "accept" => {
                let given = fields.iter().map(|field| self.field(&result["content"], field));
                Some(Heard::Given(noted(given.collect::<Option<_>>()?, &result["_meta"])))
            }
            "decline" => Some(Heard::Declined),
            "cancel" => Some(Heard::Cancelled),
            _ => None,
        }
    }

    fn field(self, content: &Value, field: &Field) -> Option<Given> {
        let mut given = Given { said: typed(&content[&field.key], field)?, note: None };
        let companion = match self {
            Agent::Claude | Agent::Opencode => "_custom",
            Agent::Codex | Agent::CodexAsync => "_note1",
            Agent::OhMyPi => "__other",
            _ => return Some(given),
        };
        let Some(text) = content.get(format!("{}{companion}", field.key)) else { return Some(given) };
        let text = text.as_str()?.to_owned();
        match (self, field.kind) {
            (_, Kind::Many { .. }) => given.said.push(text),
            (Agent::Codex | Agent::CodexAsync, _) if given.said == [NONE_OF_THE_ABOVE] => {
                given.said = vec![text]
            }
            (Agent::Codex | Agent::CodexAsync, _) => given.note = Some(text),
            (Agent::Claude, _) if !given.said.is_empty() => given.note = Some(text),
            // The text replaces the option.
            _ => given.said = vec![text],
        }
        Some(given)
    }
}

/// Reads a value of the field's type.
fn typed(value: &Value, field: &Field) -> Option<Vec<String>> {
    if value.is_null() {
        return Some(Vec::new());
    }
    match field.kind {
        Kind::Text { .. } | Kind::One => Some(vec![value.as_str()?.to_owned()]),
        Kind::Many { .. } => texts(value),
        Kind::Flag => Some(vec![value.as_bool()?.to_string()]),
        Kind::Number { .. } => Some(vec![value.as_number()?.to_string()]),
    }
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| Some(text.as_str()?.to_owned())).collect()
}

/// Adds the notes under `_meta`, for which the dialect itself has no place.
fn noted(mut given: Vec<Given>, meta: &Value) -> Vec<Given> {
    for (place, note) in meta["askbridge"]["notes"].as_object().into_iter().flatten() {
        let given = &mut given[place.parse::<usize>().expect("a place")];
        assert_eq!(given.note, None, "a note is there twice");
        given.note = note.as_str().map(str::to_owned);
    }
    given
}

fn native(result: &Value, fields: &[Field]) -> Option<Heard> {
    match result["status"].as_str()? {
        "answered" => {
            let answers = result["answers"].as_array()?;
            assert_eq!(answers.len(), fields.len());
            let given = answers.iter().map(|said| Some(Given { said: texts(said)?, note: None }));
            Some(Heard::Given(noted(given.collect::<Option<_>>()?, &result["_meta"])))
        }
        "rejected" => match result["_meta"]["askbridge"]["reason"].as_str() {
            None | Some("user") => Some(Heard::Declined),
            Some(_) => Some(Heard::Cancelled),
        },
        _ => None,
    }
}

fn qwen(result: &Value, fields: &[Field]) -> Option<Heard> {
    match (result["outcome"]["outcome"].as_str()?, result["outcome"]["optionId"].as_str()) {
        ("selected", Some("proceed_once")) => {
            let given = fields.iter().enumerate().map(|(place, field)| {
                let said = match result["answers"].get(place.to_string()) {
                    None => Vec::new(),
                    Some(joined) if matches!(field.kind, Kind::Many { .. }) => split(joined.as_str()?),
                    Some(text) => vec![text.as_str()?.to_owned()],
                };
                Some(Given { said, note: None })
            });
            Some(Heard::Given(noted(given.collect::<Option<_>>()?, &result["_meta"])))
        }
        ("selected", Some("cancel")) => Some(Heard::Declined),
        ("cancelled", None) => Some(Heard::Cancelled),
        _ => None,
    }
}

/// Splits texts that are joined with `", "`. Ambiguous texts are quoted as JSON.
fn split(joined: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut rest = joined;
    while !rest.is_empty() {
        let mut quoted = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let (item, length) = match quoted.next() {
            Some(Ok(item)) if rest.starts_with('"') => (item, quoted.byte_offset()),
            _ => {
                let length = rest.find(", ").unwrap_or(rest.len());
                (rest[..length].to_owned(), length)
            }
        };
        items.push(item);
        rest = rest[length..].strip_prefix(", ").unwrap_or_default();
    }
    items
}

fn permission(result: &Value) -> Option<Heard> {
    match (result["outcome"]["outcome"].as_str()?, result["outcome"]["optionId"].as_str()) {
        ("selected", Some("q0_skip")) => Some(Heard::Declined),
        ("selected", Some(id)) => {
            let given = Given { said: vec![id.to_owned()], note: None };
            Some(Heard::Given(noted(vec![given], &result["_meta"])))
        }
        ("cancelled", None) => Some(Heard::Cancelled),
        _ => None,
    }
}

fn cursor(result: &Value, fields: &[Field]) -> Option<Heard> {
    match result["outcome"]["outcome"].as_str()? {
        "answered" => {
            let answers = result["outcome"]["answers"].as_array()?;
            let given = fields.iter().map(|field| {
                let answer = answers.iter().find(|answer| answer["questionId"] == *field.key)?;
                Some(Given { said: texts(&answer["selectedOptionIds"])?, note: None })
            });
            Some(Heard::Given(given.collect::<Option<_>>()?))
        }
        "skipped" => Some(Heard::Declined),
        "cancelled" => Some(Heard::Cancelled),
        _ => None,
    }
}

fn grok(result: &Value, fields: &[Field]) -> Option<Heard> {
    match result["outcome"].as_str()? {
        "accepted" => {
            let given = fields.iter().map(|field| {
                let said = result["answers"].get(&field.text).map_or(Some(Vec::new()), texts)?;
                let note = result["annotations"][&field.text]["notes"].as_str().map(str::to_owned);
                Some(Given { said, note })
            });
            Some(Heard::Given(given.collect::<Option<_>>()?))
        }
        "skip_interview" => Some(Heard::Declined),
        "cancelled" => Some(Heard::Cancelled),
        _ => None,
    }
}

fn kiro(result: &Value) -> Option<Heard> {
    match result["action"].as_str()? {
        "answered" => {
            Some(Heard::Given(vec![Given { said: vec![result["answer"].as_str()?.to_owned()], note: None }]))
        }
        "dismissed" => Some(Heard::Declined),
        _ => None,
    }
}

fn agentao(result: &Value, field: &Field) -> Option<Heard> {
    match result["outcome"].as_str()? {
        "answered" => {
            let text = result["text"].as_str()?;
            let said =
                if matches!(field.kind, Kind::Many { .. }) { split(text) } else { vec![text.to_owned()] };
            Some(Heard::Given(vec![Given { said, note: None }]))
        }
        "cancelled" => Some(Heard::Cancelled),
        _ => None,
    }
}

fn hrns(result: &Value, fields: &[Field]) -> Option<Heard> {
    if result["cancelled"] == true {
        return Some(Heard::Cancelled);
    }
    let answers = result["answers"].as_array()?;
    assert_eq!(answers.len(), fields.len());
    let given = answers.iter().zip(fields).map(|(answer, field)| {
        assert_eq!(answer["header"], *field.key);
        let said = match (texts(&answer["selected"])?, answer["customAnswer"].as_str()) {
            (selected, None) => selected,
            (selected, Some(text)) if selected.is_empty() && matches!(field.kind, Kind::Many { .. }) => {
                split(text)
            }
            (selected, Some(text)) => {
                assert!(selected.is_empty(), "a text stands in place of the labels");
                vec![text.to_owned()]
            }
        };
        Some(Given { said, note: None })
    });
    Some(Heard::Given(given.collect::<Option<_>>()?))
}
