//! The clients: which capabilities each declares, and how it replies for its user.
//! A client sees only the request that it receives, and knows nothing of the agent's dialect.

use std::time::Duration;

use askbridge::limits;
use serde_json::{Map, Value, json};

use crate::matrix::asking::NONE_OF_THE_ABOVE;
use crate::matrix::field::{Field, Given, Kind};
use crate::matrix::manners::{Manner, Shows};

/// A kind of client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// Supports the native request.
    Native,
    /// Shows forms.
    Forms,
    /// Supports permission requests only.
    Prompts,
    /// Approves every permission request without asking its user, by the first option that allows.
    Approver,
    /// The same, by the last option that allows.
    LastApprover,
    /// Is CodeCompanion.nvim, which labels options by their kind: its user approves, and the last one of a kind wins.
    LastOfKind,
    /// The same of an older version, in which the second option wins.
    SecondOfKind,
    /// Never replies.
    Silent,
    /// Is not asked, because of `--client-questions none`.
    NotAsked,
    /// Replies in this manner to what it declares to show.
    Mannered(Manner, Shows),
}

/// What the user wants to reply.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wish {
    Answer(Vec<Given>),
    Decline,
    /// The client cancels the request.
    Cancel,
    Nothing,
    /// An answer that does not fit the question; no reply to a prompt.
    Broken(Vec<Given>),
}

/// A client's reply to a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reply {
    Result(Value),
    Unknown,
    Error(i32),
    Nothing,
}

impl Client {
    pub(crate) const ALL: [Client; 6] =
        [Client::Native, Client::Forms, Client::Prompts, Client::Approver, Client::Silent, Client::NotAsked];

    /// The clients that approve without knowing what.
    pub(crate) const BLIND: [Client; 4] =
        [Client::Approver, Client::LastApprover, Client::LastOfKind, Client::SecondOfKind];

    /// Returns the name that the client gives itself.
    pub(crate) fn client_name(self) -> &'static str {
        match self {
            Client::LastOfKind | Client::SecondOfKind | Client::Mannered(Manner::LabelsByKind, _) => {
                "CodeCompanion.nvim"
            }
            _ => "client",
        }
    }

    /// Returns the name in the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Client::Native => "knows the native request",
            Client::Forms => "shows forms",
            Client::Prompts => "permission prompts only",
            Client::Approver => "approves everything",
            Client::LastApprover => "approves everything by the last option",
            Client::LastOfKind | Client::SecondOfKind => "labels options by their kind",
            Client::Silent => "never replies",
            Client::NotAsked => "`--client-questions none`",
            Client::Mannered(manner, _) => manner.name(),
        }
    }

    /// Returns the capabilities that the client declares in `initialize`.
    pub(crate) fn capabilities(self) -> Value {
        match self {
            Client::Native | Client::Mannered(_, Shows::Native) => {
                json!({ "_meta": { "sandboxagent.dev": { "extensions": {
                "sessionRequestQuestion": true,
            } } } })
            }
            Client::Forms | Client::Mannered(_, Shows::Forms) => json!({ "elicitation": { "form": {} } }),
            _ => json!({}),
        }
    }

    /// Replies to a request as the user wishes.
    pub(crate) fn replies(self, method: &str, params: &Value, fields: &[Field], wish: &Wish) -> Reply {
        match (self, method) {
            (Client::Silent, _) => Reply::Nothing,
            (Client::NotAsked, _) => panic!("it is asked {method}"),
            (Client::Mannered(Manner::OneIdOnce, _), "session/request_permission") => {
                prompt(params, fields, wish)
            }
            (Client::Mannered(manner, _), _) => manner.reply(method, params),
            (blind, "session/request_permission") if Client::BLIND.contains(&blind) => blind.approves(params),
            (_, "session/request_permission") => prompt(params, fields, wish),
            (Client::Native, "_sandboxagent/session/request_question") => native(params, fields, wish),
            (Client::Forms, "elicitation/create") => form(params, fields, wish),
            _ => Reply::Unknown,
        }
    }
}

impl Client {
    /// Returns how long it takes to reply to a request.
    pub(crate) fn reaction(self) -> Duration {
        match self {
            Client::Mannered(Manner::OneIdOnce, _) => PERSON,
            // As slow as released clients were on a machine with five times as many busy programs as processors.
            Client::Mannered(..) => Duration::from_millis(127),
            _ => PERSON,
        }
    }

    /// Takes an option without regard to its name.
    fn approves(self, params: &Value) -> Reply {
        let allows = |option: &&Value| option["kind"].as_str().is_some_and(|kind| kind.starts_with("allow"));
        let mut allowed = params["options"].as_array().into_iter().flatten().filter(allows);
        let taken = match self {
            Client::LastApprover | Client::LastOfKind => allowed.next_back(),
            Client::SecondOfKind => allowed.nth(1),
            _ => allowed.next(),
        };
        taken.map_or(Reply::Nothing, selected)
    }
}

fn selected(option: &Value) -> Reply {
    Reply::Result(json!({ "outcome": { "outcome": "selected", "optionId": option["optionId"] } }))
}

/// How long a person takes to read a request.
const PERSON: Duration = limits::REACTION;

/// Returns whether the request contains this text.
fn shows(json: &Value, text: &str) -> bool {
    match json {
        Value::String(shown) => shown.contains(text),
        Value::Array(entries) => entries.iter().any(|entry| shows(entry, text)),
        Value::Object(members) => members.values().any(|member| shows(member, text)),
        _ => false,
    }
}

fn check_shown(params: &Value, fields: &[Field]) {
    for field in fields {
        assert!(shows(params, &field.text), "{:?} is not shown in {params}", field.text);
        for (_, label) in &field.options {
            assert!(shows(params, label), "{label:?} is not shown in {params}");
        }
    }
}

fn native(params: &Value, fields: &[Field], wish: &Wish) -> Reply {
    check_shown(params, fields);
    let given = match wish {
        Wish::Answer(given) | Wish::Broken(given) => given,
        Wish::Decline => return Reply::Result(json!({ "status": "rejected" })),
        Wish::Cancel => return Reply::Result(json!({ "outcome": "cancelled" })),
        Wish::Nothing => return Reply::Nothing,
    };
    let answers: Vec<_> = given.iter().map(|given| &given.said).collect();
    let notes = given.iter().enumerate();
    let notes = notes.filter_map(|(place, given)| Some((place.to_string(), json!(given.note.as_ref()?))));
    let notes: Map<_, _> = notes.collect();
    let mut result = json!({ "status": "answered", "answers": answers });
    if !notes.is_empty() {
        result["_meta"] = json!({ "askbridge": { "notes": notes } });
    }
    Reply::Result(result)
}

fn form(params: &Value, fields: &[Field], wish: &Wish) -> Reply {
    check_shown(params, fields);
    check_form(params, fields);
    match wish {
        Wish::Answer(given) => {
            let filled = fill(params, fields, given);
            filled.map_or(Reply::Nothing, |content| {
                Reply::Result(json!({ "action": "accept", "content": content }))
            })
        }
        Wish::Decline => Reply::Result(json!({ "action": "decline" })),
        Wish::Cancel => Reply::Result(json!({ "action": "cancel" })),
        Wish::Broken(given) => Reply::Result(json!({ "action": "accept", "content": scrawl(params, given) })),
        Wish::Nothing => Reply::Nothing,
    }
}

/// A field of a form, and its companion.
struct Entry<'a> {
    key: &'a str,
    property: &'a Value,
    companion: Option<(&'a str, &'a Value)>,
}

fn entries(properties: &Map<String, Value>) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (key, property) in properties {
        match entries.last_mut() {
            Some(last) if key.starts_with(&format!("{}_", last.key)) && property["type"] == "string" => {
                last.companion = Some((key, property));
            }
            _ => entries.push(Entry { key, property, companion: None }),
        }
    }
    entries
}

/// Checks that a form describes the fields of the question.
fn check_form(params: &Value, fields: &[Field]) {
    let schema = &params["requestedSchema"];
    let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
    for (entry, field) in entries(schema["properties"].as_object().expect("properties")).iter().zip(fields) {
        // A text in the companion may replace the choice, which is therefore not marked as required.
        if entry.companion.is_none() {
            assert_eq!(required.contains(&&json!(entry.key)), field.required, "{}: {params}", entry.key);
        }
        let property = entry.property;
        let options = property["oneOf"].as_array().or(property["items"]["anyOf"].as_array());
        let values = options.into_iter().flatten().map(|option| (&option["const"], &option["title"]));
        let values: Vec<_> = values.filter(|(value, _)| **value != NONE_OF_THE_ABOVE).collect();
        assert_eq!(values.len(), field.options.len(), "{params}");
        for ((value, title), (asked, label)) in values.into_iter().zip(&field.options) {
            assert_eq!((value.as_str(), title.as_str()), (Some(asked.as_str()), Some(label.as_str())));
        }
        let (names, [least, most]) = match field.kind {
            Kind::Text { least, most } => (["minLength", "maxLength"], [least.into(), most.into()]),
            Kind::Many { least, most } => (["minItems", "maxItems"], [least.into(), most.into()]),
            Kind::Number { least, most, .. } => (["minimum", "maximum"], [least, most]),
            Kind::One | Kind::Flag => continue,
        };
        // A missing bound of a length means no bound.
        let free = matches!(field.kind, Kind::Text { .. } | Kind::Many { .. });
        let bound = |name: &str, none: f64| property[name].as_f64().or(free.then_some(none));
        // A required list has at least one entry, even if the agent does not declare it.
        let filled = matches!(field.kind, Kind::Many { .. }) && field.required && entry.companion.is_none();
        let said = bound(names[0], 0.0);
        assert!(said == Some(least) || (filled && said == Some(least.max(1.0))), "{least} in {params}");
        assert_eq!(bound(names[1], u32::MAX.into()), Some(most), "{params}");
    }
}

/// Fills in a form. Returns `None` if the form has no place for a part of the answer: then the user does not reply.
fn fill(params: &Value, fields: &[Field], given: &[Given]) -> Option<Map<String, Value>> {
    let entries = entries(params["requestedSchema"]["properties"].as_object().expect("properties"));
    assert_eq!(entries.len(), fields.len(), "{params}");
    let in_place = params["_meta"]["cognition.ai/allowOther"] == true;
    let mut content = Map::new();
    for ((entry, field), given) in entries.iter().zip(fields).zip(given) {
        let (typed, note) = (given.typed(field), given.note.as_ref());
        let mut said: Vec<_> = given.said.iter().filter(|text| typed != Some(text)).cloned().collect();
        match (typed, note, entry.companion) {
            (None, None, _) => {}
            (Some(text), None, Some((key, _))) => {
                content.insert(key.to_owned(), json!(text));
                if field.kind == Kind::One && shows(&entry.property["oneOf"], NONE_OF_THE_ABOVE) {
                    said.push(NONE_OF_THE_ABOVE.to_owned());
                }
            }
            (Some(text), None, None) if in_place => said.push(text.clone()),
            (None, Some(note), Some((key, companion)))
                if shows(companion, "note") && field.kind == Kind::One && !said.is_empty() =>
            {
                content.insert(key.to_owned(), json!(note));
            }
            _ => return None,
        }
        let value = match (field.kind, said.as_slice()) {
            (_, []) => continue,
            (Kind::Many { .. }, said) => json!(said),
            (Kind::Flag, [flag]) => json!(flag == "true"),
            (Kind::Number { .. }, [number]) => serde_json::from_str(number).expect("a number"),
            (_, [text]) => json!(text),
            (_, _) => panic!("{said:?} for {field:?}"),
        };
        content.insert(entry.key.to_owned(), value);
    }
    Some(content)
}

/// Fills in a form without regard to its schema.
fn scrawl(params: &Value, given: &[Given]) -> Map<String, Value> {
    let entries = entries(params["requestedSchema"]["properties"].as_object().expect("properties"));
    let scrawled = entries.iter().zip(given).filter_map(|(entry, given)| {
        let value = match given.said.as_slice() {
            [] => return None,
            said if entry.property["type"] == "array" => json!(said),
            [text] => serde_json::from_str(text)
                .ok()
                .filter(|value: &Value| value.is_number() || value.is_boolean())
                .unwrap_or_else(|| json!(text)),
            said => json!(said),
        };
        Some((entry.key.to_owned(), value))
    });
    scrawled.collect()
}

fn prompt(params: &Value, fields: &[Field], wish: &Wish) -> Reply {
    let options = params["options"].as_array().expect("options");
    let named = |name: &str| options.iter().find(|option| option["name"] == name);
    let elsewhere = named("Answer elsewhere").expect("an option to answer elsewhere");
    assert_eq!(elsewhere, &options[0], "a client that approves everything takes the first option");
    let given = match wish {
        Wish::Answer(given) => given,
        Wish::Decline => return selected(named("Skip").expect("an option to decline")),
        Wish::Cancel => return Reply::Result(json!({ "outcome": { "outcome": "cancelled" } })),
        Wish::Nothing | Wish::Broken(_) => return Reply::Nothing,
    };
    // A user whose answer no prompt can express answers elsewhere.
    let unsayable = |(field, given): (&Field, &Given)| match field.is_choice() {
        true => given.note.is_some() || given.typed(field).is_some(),
        false => !given.is_empty(),
    };
    if fields.iter().zip(given).any(unsayable) || !fields.iter().any(Field::is_choice) {
        fields
            .iter()
            .for_each(|field| assert!(field.is_choice() || options.len() > 2 || shows(params, &field.text)));
        return selected(elsewhere);
    }
    if options.len() == 2 {
        // Only fields that need typing are left.
        return selected(elsewhere);
    }
    let title = params["toolCall"]["title"].as_str().expect("a title");
    let asked = |(field, _): &(&Field, &Given)| {
        fields.len() == 1 || Some(title) == first_line(&field.text) && shows(params, &field.text)
    };
    let (field, given) = fields.iter().zip(given).find(asked).expect("the current field");
    check_shown(params, std::slice::from_ref(field));
    selected(choose(options, field, given).unwrap_or(elsewhere))
}

/// Returns the option to choose next. Returns `None` if no option fits the user's wish.
fn choose<'a>(options: &'a [Value], field: &Field, given: &Given) -> Option<&'a Value> {
    let named = |name: &str| options.iter().find(|option| option["name"] == name);
    match field.kind {
        Kind::Flag => named(if *given.said.first()? == "true" { "Yes" } else { "No" }),
        Kind::One => {
            let (_, label) = field.options.iter().find(|(value, _)| Some(value) == given.said.first())?;
            named(label)
        }
        // The user makes multiple choices one by one, in the order of the answer.
        _ => {
            let label = |value: &String| {
                &field.options.iter().find(|(other, _)| other == value).expect("the option").1
            };
            let mut wanted = given.chosen(field).map(label);
            let next = wanted.find_map(|label| named(&format!("☐ {label}")));
            next.or_else(|| named("Done"))
        }
    }
}

/// Returns the first line of a text that has something in it.
fn first_line(text: &str) -> Option<&str> {
    text.lines().find(|line| !line.trim().is_empty())
}
