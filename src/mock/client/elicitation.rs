//! A form as a client has it: the properties of a schema, one field each.
//! What belongs together is not known here: a companion for free text is a field like any other.

use serde::Deserialize;
use serde_json::Value;

use super::form::{Choice, Field, Form, Kind, text};
use crate::mock::{
    message::{INVALID_PARAMS, RpcError},
    ordered::Ordered,
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
    properties: Ordered,
    #[serde(default)]
    required: Vec<String>,
}

/// The fields of the form and their keys, or `None` if it cannot be shown. What is no form is refused.
pub(super) fn read(params: Params) -> Result<Option<(Form, Vec<String>)>, RpcError> {
    let mode = params.mode.as_deref().unwrap_or("form");
    if mode != "form" {
        return Err(RpcError::new(INVALID_PARAMS, format!("only forms are shown: {mode}")));
    }
    let Some(Schema { properties: Ordered(properties), required }) = params.requested_schema else {
        return Ok(None);
    };
    let (mut keys, mut fields) = (Vec::new(), Vec::new());
    for (key, property) in properties {
        // A type that is not known is not rendered.
        if let Some(field) = field(&key, &property, required.contains(&key)) {
            keys.push(key);
            fields.push(field);
        }
    }
    if fields.iter().all(|field| field.aside) {
        fields.iter_mut().for_each(|field| field.aside = false);
    }
    let said = fields.iter().any(|field| field.question == params.message);
    let message = (!said && !params.message.is_empty()).then_some(params.message);
    Ok(Some((Form { message, fields }, keys)))
}

fn field(key: &str, property: &Value, required: bool) -> Option<Field> {
    let kind = match property["type"].as_str()? {
        "string" | "array" => Kind::Text,
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "boolean" => Kind::Boolean,
        _ => return None,
    };
    let multiple = property["type"] == "array";
    let options = match kind {
        Kind::Boolean => vec![choice("true", "Yes"), choice("false", "No")],
        _ if multiple => choices(&property["items"])?,
        _ => choices(property)?,
    };
    let title = text(property, &["title"]);
    let description = text(property, &["description"]);
    Some(Field {
        header: description.is_some().then(|| title.clone()).flatten(),
        question: description.or(title).unwrap_or_else(|| key.to_owned()),
        aside: options.is_empty() && kind == Kind::Text && !required,
        options,
        multiple,
        custom: false,
        kind,
    })
}

/// The options of `enum`, `oneOf` or `anyOf`; none for a plain text.
fn choices(schema: &Value) -> Option<Vec<Choice>> {
    let names = ["enum", "oneOf", "anyOf"];
    let Some(options) = names.iter().find_map(|name| schema[*name].as_array()) else {
        return Some(Vec::new());
    };
    let read = options.iter().map(|option| match option.as_str() {
        Some(value) => Some(choice(value, value)),
        None => {
            let value = option["const"].as_str()?.to_owned();
            Some(Choice::new(value, text(option, &["title"]), text(option, &["description"])))
        }
    });
    read.collect()
}

fn choice(value: &str, label: &str) -> Choice {
    Choice::new(value.to_owned(), Some(label.to_owned()), None)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(schema: Value) -> (Form, Vec<String>) {
        let params = json!({ "mode": "form", "message": "Why?", "requestedSchema": schema });
        read(serde_json::from_value(params).unwrap()).unwrap().unwrap()
    }

    #[test]
    fn every_type_of_property_is_a_field_and_its_answer_of_that_type() {
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
            Ok(super::super::form::Typed::Values(values)) => field.content(&values).unwrap(),
            other => panic!("{line}: {other:?}"),
        });
        let contents: Vec<Value> = contents.collect();
        assert_eq!(json!(contents), json!(["hello", -3, 1.5, false, "a", ["c", "b"], ["d"]]));
        assert!(form.fields[1].typed("1.5").is_err() && form.fields[2].typed("one").is_err());
        assert_eq!((form.message.as_deref(), form.fields[3].question.as_str()), (Some("Why?"), "Sure?"));
    }

    #[test]
    fn a_text_is_aside_only_beside_something_else() {
        let text = json!({ "type": "string" });
        let choice = json!({ "type": "string", "enum": ["a"] });
        let asides =
            |schema: Value| form(schema).0.fields.iter().map(|field| field.aside).collect::<Vec<_>>();
        assert_eq!(asides(json!({ "properties": { "a": choice, "b": text } })), [false, true]);
        assert_eq!(
            asides(json!({ "properties": { "a": choice, "b": text }, "required": ["b"] })),
            [false; 2]
        );
        assert_eq!(asides(json!({ "properties": { "b": text } })), [false]);
    }

    #[test]
    fn what_is_no_form_is_refused_and_what_cannot_be_read_is_not_understood() {
        let read = |params| read(serde_json::from_value(params).unwrap());
        let url = json!({ "mode": "url", "url": "https://example.org", "message": "Go there" });
        assert_eq!(read(url).unwrap_err().code, INVALID_PARAMS);
        assert!(read(json!({ "mode": "form", "message": "?" })).unwrap().is_none());
    }
}
