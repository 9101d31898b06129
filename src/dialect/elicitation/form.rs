//! A question as a form, for a client that shows forms.

use serde::Serialize;
use serde_json::{Map, Value as Json, json, value::RawValue};

use super::{
    Companion, Words,
    companion::CUSTOM_ANSWER,
    schema::{Bound, Items, PREVIEW, Property, Schema, Titled},
};
use crate::{
    dialect::{asked, entries::Entries},
    question::{Field, FieldOption, Kind, Question},
};

/// The `params` of `elicitation/create`, in the order of the standard.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    mode: &'static str,
    message: &'a str,
    requested_schema: Schema,
}

/// Says a question as the `params` of a form, and what it takes to read the reply.
///
/// `None` where no form can ask it: it belongs to no session and no request, or asks for a secret, which the
/// standard forbids in forms.
pub fn write(question: &Question) -> Option<(Box<RawValue>, Words)> {
    let session_id = question.session.as_deref();
    let request: Option<&RawValue> = question.request.as_deref().and_then(|id| serde_json::from_str(id).ok());
    let request_id = request.filter(|_| session_id.is_none());
    if (session_id.is_none() && request_id.is_none()) || question.fields.iter().any(|field| field.secret) {
        return None;
    }
    let mut properties = Vec::new();
    let mut companions = Vec::new();
    for field in &question.fields {
        let mut companion = Companion::None;
        properties.push((field.name.clone(), property(field, question)));
        if field.kind.takes_other() {
            let key = free_key(field, question);
            properties.push((key.clone(), custom(field)));
            companion = Companion::Custom { key, remarks: true };
        }
        companions.push(companion);
    }
    // A text may stand for the choice, which cannot be said of two fields: the reply is checked for it.
    let required = question.fields.iter().filter(|field| field.required && !field.kind.takes_other());
    let required: Vec<_> = required.map(|field| field.name.clone()).collect();
    let params = Params {
        session_id,
        request_id,
        tool_call_id: question.tool_call.as_deref().filter(|_| session_id.is_some()),
        mode: "form",
        message: question.heading(),
        requested_schema: Schema {
            kind: Some("object".to_owned()),
            properties: Entries(properties),
            required: (!required.is_empty()).then_some(required),
        },
    };
    Some((asked::json(&params), Words { companions, ..Words::default() }))
}

/// The formats of texts that the standard has.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// Returns a key for the companion of a field that no field of the question has.
fn free_key(field: &Field, question: &Question) -> String {
    let mut key = format!("{}_custom", field.name);
    while question.fields.iter().any(|other| other.name == key) {
        key.push('_');
    }
    key
}

/// The free text beside a choice, marked as Claude's adapter marks it: clients know that.
fn custom(field: &Field) -> Property {
    let mark = json!({ "questionId": field.name, "isCustomAnswer": true });
    Property {
        kind: Some("string".to_owned()),
        title: Some("Other".to_owned()),
        description: Some(
            "Type your own answer, or add a note to the option you chose above (optional).".to_owned(),
        ),
        meta: Some(Map::from_iter([(CUSTOM_ANSWER.to_owned(), mark)])),
        ..Property::default()
    }
}

fn property(field: &Field, question: &Question) -> Property {
    // What the message says already is not said again.
    let asks = (field.label != question.heading()).then_some(&field.label);
    let (title, asks) = match (&field.header, asks) {
        (Some(header), asks) => (header, asks),
        (None, _) => (&field.label, None),
    };
    let description: Vec<_> = asks.into_iter().chain(&field.help).map(String::as_str).collect();
    Property {
        title: Some(title.clone()),
        description: (!description.is_empty()).then(|| description.join("\n")),
        ..of_kind(&field.kind)
    }
}

fn of_kind(kind: &Kind) -> Property {
    let named = |name: &str| Some(name.to_owned());
    match kind {
        Kind::Text { min_length, max_length, pattern, format, default, .. } => Property {
            kind: named("string"),
            min_length: *min_length,
            max_length: *max_length,
            pattern: pattern.clone(),
            // A client that knows the standard's types only could not read the form with another one: it is a hint.
            format: format.clone().filter(|format| FORMATS.contains(&&**format)),
            default: default.clone().map(Json::from),
            ..Property::default()
        },
        Kind::Choice { options, default, .. } => Property {
            kind: named("string"),
            one_of: Some(options.iter().map(titled).collect()),
            default: default.clone().map(Json::from),
            ..Property::default()
        },
        Kind::Choices { options, min, max, default, .. } => Property {
            kind: named("array"),
            items: Some(Items { any_of: Some(options.iter().map(titled).collect()), ..Items::default() }),
            min_items: *min,
            max_items: *max,
            default: (!default.is_empty()).then(|| default.clone().into()),
            ..Property::default()
        },
        Kind::Boolean { default } => {
            Property { kind: named("boolean"), default: default.map(Json::from), ..Property::default() }
        }
        Kind::Number { integer: true, min, max, step, default } => Property {
            kind: named("integer"),
            minimum: min.map(|min| Bound(min.ceil())).filter(Bound::is_integer),
            maximum: max.map(|max| Bound(max.floor())).filter(Bound::is_integer),
            multiple_of: step.map(Bound),
            default: default.map(Bound).filter(Bound::is_integer).map(Bound::to_json),
            ..Property::default()
        },
        Kind::Number { integer: false, min, max, step, default } => Property {
            kind: named("number"),
            minimum: min.map(Bound),
            maximum: max.map(Bound),
            multiple_of: step.map(Bound),
            default: default.map(|default| Bound(default).to_json()),
            ..Property::default()
        },
        Kind::Confirm { yes, no } => Property {
            kind: named("string"),
            one_of: Some(vec![word("true", yes), word("false", no)]),
            ..Property::default()
        },
    }
}

fn titled(option: &FieldOption) -> Titled {
    let preview = option.preview.as_ref().map(|preview| json!({ "preview": preview.text }));
    Titled {
        value: option.value.clone(),
        title: Some(option.label.clone()),
        description: option.description.clone(),
        meta: preview.map(|preview| Map::from_iter([(PREVIEW.to_owned(), preview)])),
    }
}

fn word(value: &str, title: &str) -> Titled {
    Titled { value: value.to_owned(), title: Some(title.to_owned()), ..Titled::default() }
}
