//! A form in the client: one field for each property of the schema.
//! The client cannot tell a companion for free texts from another field. Typed input is left to `form.rs`.

use serde::Deserialize;
use serde_json::Value;

use super::form::{ClientChoice, ClientField, ClientForm, ValueKind, text};
use crate::mock::{
    message::{INVALID_PARAMS, RpcError},
    ordered_map::OrderedMap,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params {
    mode: Option<String>,
    #[serde(default)]
    message: String,
    requested_schema: Option<Schema>,
}

#[derive(Deserialize)]
struct Schema {
    properties: OrderedMap,
    #[serde(default)]
    required: Vec<String>,
}

/// Returns the form and the keys of its fields, or `None` if it has no valid schema. Other modes than `form` are an
/// error.
pub(super) fn read(params: Params) -> Result<Option<(ClientForm, Vec<String>)>, RpcError> {
    let mode = params.mode.as_deref().unwrap_or("form");
    if mode != "form" {
        return Err(RpcError::new(INVALID_PARAMS, format!("only forms are shown: {mode}")));
    }
    let Some(Schema { properties: OrderedMap(properties), required }) = params.requested_schema else {
        return Ok(None);
    };
    let (mut keys, mut fields) = (Vec::new(), Vec::new());
    for (key, property) in properties {
        // A property of an unknown type is not shown.
        if let Some(field) = field(&key, &property, required.contains(&key)) {
            keys.push(key);
            fields.push(field);
        }
    }
    if fields.iter().all(|field| field.secondary) {
        fields.iter_mut().for_each(|field| field.secondary = false);
    }
    let said = fields.iter().any(|field| field.question == params.message);
    let message = (!said && !params.message.is_empty()).then_some(params.message);
    Ok(Some((ClientForm { message, fields }, keys)))
}

fn field(key: &str, property: &Value, required: bool) -> Option<ClientField> {
    let kind = match property["type"].as_str()? {
        "string" | "array" => ValueKind::Text,
        "integer" => ValueKind::Integer,
        "number" => ValueKind::Number,
        "boolean" => ValueKind::Boolean,
        _ => return None,
    };
    let multiple = property["type"] == "array";
    let options = match kind {
        ValueKind::Boolean => vec![choice("true", "Yes"), choice("false", "No")],
        _ if multiple => choices(&property["items"])?,
        _ => choices(property)?,
    };
    let title = text(property, &["title"]);
    let description = text(property, &["description"]);
    Some(ClientField {
        header: description.is_some().then(|| title.clone()).flatten(),
        question: description.or(title).unwrap_or_else(|| key.to_owned()),
        details: Vec::new(),
        secondary: options.is_empty() && kind == ValueKind::Text && !required,
        options,
        multiple,
        required,
        kind,
        ..ClientField::default()
    })
}

/// Returns the options of `enum`, `oneOf` or `anyOf`; an empty list for a plain text.
fn choices(schema: &Value) -> Option<Vec<ClientChoice>> {
    let names = ["enum", "oneOf", "anyOf"];
    let Some(options) = names.iter().find_map(|name| schema[*name].as_array()) else {
        return Some(Vec::new());
    };
    let read = options.iter().map(|option| match option.as_str() {
        Some(value) => Some(choice(value, value)),
        None => {
            let value = option["const"].as_str()?.to_owned();
            Some(ClientChoice::new(value, text(option, &["title"]), text(option, &["description"])))
        }
    });
    read.collect()
}

fn choice(value: &str, label: &str) -> ClientChoice {
    ClientChoice::new(value.to_owned(), Some(label.to_owned()), None)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(schema: Value) -> (ClientForm, Vec<String>) {
        let params = json!({ "mode": "form", "message": "Why?", "requestedSchema": schema });
        read(serde_json::from_value(params).unwrap()).unwrap().unwrap()
    }

    #[test]
    fn every_type_of_property_is_a_field_with_an_answer_of_that_type() {
        let (form, keys) = form(json!({ "type": "object", "required": ["text"], "properties": {
            "text": { "type": "string" },
            "n": { "type": "integer" },
            "x": { "type": "number" },
            "yes": { "type": "boolean", "title": "Sure?" },
            "one": { "type": "string", "oneOf": [{ "const": "a", "title": "A", "description": "first" }] },
            "many": { "type": "array", "items": { "type": "string", "enum": ["b", "c"] } },
            "any": { "type": "array", "items": { "anyOf": [{ "const": "d", "title": "D" }] } },
            "unknown": { "type": "object" },
        } }));
        assert_eq!(keys, ["text", "n", "x", "yes", "one", "many", "any"], "an unknown type is not rendered");
        let typed = ["hello", "-3", "1.5", "no", "A", "2,1", "D"];
        let contents = form.fields.iter().zip(typed).map(|(field, line)| match field.typed(line) {
            Ok(super::super::form::TypedLine::Values(values)) => field.content(&values).unwrap(),
            other => panic!("{line}: {other:?}"),
        });
        let contents: Vec<Value> = contents.collect();
        assert_eq!(json!(contents), json!(["hello", -3, 1.5, false, "a", ["c", "b"], ["d"]]));
        assert!(form.fields[1].typed("1.5").is_err() && form.fields[2].typed("one").is_err());
        assert_eq!((form.message.as_deref(), form.fields[3].question.as_str()), (Some("Why?"), "Sure?"));
    }

    #[test]
    fn a_text_is_secondary_only_beside_other_fields() {
        let text = json!({ "type": "string" });
        let choice = json!({ "type": "string", "enum": ["a"] });
        let secondary =
            |schema: Value| form(schema).0.fields.iter().map(|field| field.secondary).collect::<Vec<_>>();
        assert_eq!(secondary(json!({ "properties": { "a": choice, "b": text } })), [false, true]);
        assert_eq!(
            secondary(json!({ "properties": { "a": choice, "b": text }, "required": ["b"] })),
            [false; 2]
        );
        assert_eq!(secondary(json!({ "properties": { "b": text } })), [false]);
    }

    #[test]
    fn another_mode_is_an_error_and_a_missing_schema_is_not_a_form() {
        let read = |params| read(serde_json::from_value(params).unwrap());
        let url = json!({ "mode": "url", "url": "https://example.org", "message": "Go there" });
        assert_eq!(read(url).unwrap_err().code, INVALID_PARAMS);
        assert!(read(json!({ "mode": "form", "message": "?" })).unwrap().is_none());
    }
}
