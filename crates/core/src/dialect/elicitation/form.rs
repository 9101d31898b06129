//! Writing a question as a form, for a client that shows forms.
//! Reading the client's reply is left to `reply.rs`.
//!
//! Source: `CreateElicitationRequest` of the ACP schema, and Claude's mark for a companion.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value as Json, json, value::RawValue};

use super::{
    FormReply,
    companion::{CUSTOM_ANSWER, Companion},
    schema::{FormItems, FormProperty, FormSchema, NumberBound, TitledOption},
};
use crate::{
    dialect::{
        schema::PREVIEW,
        values::{self, Entries},
    },
    question::{
        Field, FieldOption, Kind, Question,
        naming::{names, pair},
    },
};

/// The `params` of `elicitation/create`, with members in the order of the standard.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FormParams<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    mode: &'static str,
    message: &'a str,
    requested_schema: FormSchema,
}

/// Returns the format in which a client replies to this question as a form.
///
/// Returns `None` if no form can ask the question: it belongs to no session and no request; or it asks for a secret, which
/// the standard forbids in forms, or for texts or JSON, which clients do not know.
pub fn reply_format(question: &Question) -> Option<FormReply> {
    let has_no_scope = question.session.is_none() && request(question).is_none();
    let is_beyond = |field: &Field| {
        field.secret || matches!(field.kind, Kind::Texts { .. } | Kind::Json { .. } | Kind::Unknown(_))
    };
    if has_no_scope || question.fields.iter().any(is_beyond) {
        return None;
    }
    let companion = |field: &Field| match field.kind.takes_other() {
        true => Companion::Custom { key: free_key(field, question), notes: true },
        false => Companion::None,
    };
    Some(FormReply { companions: question.fields.iter().map(companion).collect(), ..FormReply::default() })
}

fn request(question: &Question) -> Option<&RawValue> {
    question.request.as_deref().and_then(|id| serde_json::from_str(id).ok())
}

/// Writes a question as the `params` of a form whose reply has this [format](reply_format). `has_meta` is whether the client
/// knows `_meta`: others may refuse a member that they do not expect.
pub fn write(question: &Question, format: &FormReply, has_meta: bool) -> Box<RawValue> {
    let session_id = question.session.as_deref();
    let mut properties = Vec::new();
    for (field, companion) in question.fields.iter().zip(&format.companions) {
        properties.push((field.name.clone(), property(field, question)));
        if let Companion::Custom { key, .. } = companion {
            properties.push((key.clone(), custom(field)));
        }
    }
    if !has_meta {
        properties.iter_mut().for_each(|(_, property)| strip(property));
    }
    // A schema cannot require one of two fields, so a choice that takes a free text is not marked as required. The
    // reply is checked instead.
    let required = question.fields.iter().filter(|field| field.required && !field.kind.takes_other());
    let required: Vec<_> = required.map(|field| field.name.clone()).collect();
    let params = FormParams {
        session_id,
        // The standard has one scope for a form: a session, in which a tool call may be named, or a request.
        request_id: request(question).filter(|_| session_id.is_none()),
        tool_call_id: question.tool_call.as_deref().filter(|_| session_id.is_some()),
        mode: "form",
        message: question.heading(),
        requested_schema: FormSchema {
            kind: Some("object".to_owned()),
            properties: Entries(properties),
            required: (!required.is_empty()).then_some(required),
        },
    };
    values::json(&params)
}

/// The text formats of the standard.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// Returns a key for the companion of this field. No field of the question has that key.
fn free_key(field: &Field, question: &Question) -> String {
    let mut key = format!("{}_custom", field.name);
    while question.fields.iter().any(|other| other.name == key) {
        key.push('_');
    }
    key
}

/// Returns the companion of a choice, marked as Claude's adapter marks it, because clients know that mark.
fn custom(field: &Field) -> FormProperty {
    let mark = json!({ "questionId": field.name, "isCustomAnswer": true });
    FormProperty {
        kind: Some("string".to_owned()),
        title: Some("Other".to_owned()),
        description: Some(
            "Type your own answer, or add a note to the option you chose above (optional).".to_owned(),
        ),
        meta: Some(Map::from_iter([(CUSTOM_ANSWER.to_owned(), mark)])),
        ..FormProperty::default()
    }
}

/// Removes each `_meta` of a property and its options.
fn strip(property: &mut FormProperty) {
    let listed = property.items.as_mut().and_then(|items| items.any_of.as_mut());
    let options = property.one_of.iter_mut().chain(listed).flatten();
    options.for_each(|option| option.meta = None);
    property.meta = None;
}

fn property(field: &Field, question: &Question) -> FormProperty {
    // The label is left out if it only repeats the message.
    let asks = (field.label != question.heading()).then_some(&field.label);
    let (title, asks) = match (&field.header, asks) {
        (Some(header), asks) => (header, asks),
        (None, _) => (&field.label, None),
    };
    let description: Vec<_> = asks.into_iter().chain(&field.help).map(String::as_str).collect();
    FormProperty {
        title: Some(title.clone()),
        description: (!description.is_empty()).then(|| description.join("\n")),
        ..of_kind(&field.kind, field.required)
    }
}

fn of_kind(kind: &Kind, required: bool) -> FormProperty {
    let named = |name: &str| Some(name.to_owned());
    match kind {
        Kind::Text { min_length, max_length, pattern, format, default, .. } => FormProperty {
            kind: named("string"),
            min_length: *min_length,
            max_length: *max_length,
            pattern: pattern.clone(),
            // The format is only a hint, and a strictly typed client refuses a form with an unknown one.
            format: format.clone().filter(|format| FORMATS.contains(&&**format)),
            default: default.clone().map(Json::from),
            ..FormProperty::default()
        },
        Kind::Choice { options, default, .. } => FormProperty {
            kind: named("string"),
            one_of: Some(titled(options)),
            default: default.clone().map(Json::from),
            ..FormProperty::default()
        },
        Kind::Choices { options, other, min, max, default } => FormProperty {
            kind: named("array"),
            items: Some(FormItems { any_of: Some(titled(options)), ..FormItems::default() }),
            // `required` alone accepts an empty list.
            min_items: min.or((required && !other).then_some(1)),
            max_items: *max,
            default: (!default.is_empty()).then(|| default.clone().into()),
            ..FormProperty::default()
        },
        Kind::Boolean { default } => FormProperty {
            kind: named("boolean"),
            default: default.map(Json::from),
            ..FormProperty::default()
        },
        Kind::Number { .. } => number(kind),
        Kind::Confirm { yes, no } => FormProperty {
            kind: named("string"),
            one_of: Some(["true", "false"].into_iter().zip(pair(yes, no)).map(labelled).collect()),
            ..FormProperty::default()
        },
        // No form is made of a question with such a field.
        Kind::Texts { .. } | Kind::Json { .. } | Kind::Unknown(_) => FormProperty::default(),
    }
}

fn number(kind: &Kind) -> FormProperty {
    let Kind::Number { integer, min, max, exclusive_min, exclusive_max, step, default } = kind else {
        return FormProperty::default();
    };
    if !integer {
        return FormProperty {
            kind: Some("number".to_owned()),
            minimum: min.map(NumberBound),
            maximum: max.map(NumberBound),
            exclusive_minimum: exclusive_min.map(NumberBound),
            exclusive_maximum: exclusive_max.map(NumberBound),
            multiple_of: step.map(NumberBound),
            default: default.map(|default| NumberBound(default).to_json()),
            ..FormProperty::default()
        };
    }
    // Bounds of an `integer` must be integers: the nearest ones inside of the range admit the same values.
    let whole = |bound: Option<f64>, to: fn(f64) -> f64| {
        bound.map(|bound| NumberBound(to(bound))).filter(NumberBound::is_integer)
    };
    FormProperty {
        kind: Some("integer".to_owned()),
        minimum: whole(*min, f64::ceil),
        maximum: whole(*max, f64::floor),
        exclusive_minimum: whole(*exclusive_min, f64::floor),
        exclusive_maximum: whole(*exclusive_max, f64::ceil),
        multiple_of: step.map(NumberBound),
        default: default.map(NumberBound).filter(NumberBound::is_integer).map(NumberBound::to_json),
        ..FormProperty::default()
    }
}

fn titled(options: &[FieldOption]) -> Vec<TitledOption> {
    let titled = |(option, name): (&FieldOption, Cow<'_, str>)| {
        let preview = option.preview.as_ref().map(|preview| json!({ "preview": preview.text }));
        TitledOption {
            value: option.value.clone(),
            title: Some(name.into_owned()),
            description: option.description.clone(),
            meta: preview.map(|preview| Map::from_iter([(PREVIEW.to_owned(), preview)])),
        }
    };
    options.iter().zip(names(options)).map(titled).collect()
}

fn labelled((value, title): (&str, Cow<'_, str>)) -> TitledOption {
    TitledOption { value: value.to_owned(), title: Some(title.into_owned()), ..TitledOption::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dialect::{elicitation::request, sandboxagent},
        wire::method::ELICITATION_CREATE,
    };

    fn asked(params: &str) -> Question {
        sandboxagent::request::read(params.as_bytes(), "made-up").expect("a question")
    }

    fn written(params: &str) -> (Json, FormReply) {
        let question = asked(params);
        let format = reply_format(&question).expect("a form");
        let params = write(&question, &format, true);
        (serde_json::from_str(params.get()).expect("JSON"), format)
    }

    /// The property of a field with these members, without its title, and the list of required fields.
    fn property_of(members: &str) -> (Json, Json) {
        let fields = format!(r#"[{{"name":"f","label":"F",{members}}}]"#);
        let params =
            format!(r#"{{"sessionId":"s","prompt":"M","_meta":{{"askbridge":{{"fields":{fields}}}}}}}"#);
        let schema = written(&params).0["requestedSchema"].clone();
        let mut property = schema["properties"]["f"].clone();
        assert_eq!(property.as_object_mut().expect("an object").remove("title"), Some(json!("F")));
        (property, schema["required"].clone())
    }

    #[test]
    fn every_kind_of_field_is_written() {
        let a = r#""options":[{"value":"a","label":"A"}]"#;
        let one = json!([{ "const": "a", "title": "A" }]);
        for (members, expected) in [
            (r#""kind":"text""#.to_owned(), json!({ "type": "string" })),
            (
                r#""kind":"text","minLength":1,"maxLength":2,"pattern":"x","format":"email","default":"d""#
                    .to_owned(),
                json!({ "type": "string", "minLength": 1, "maxLength": 2, "pattern": "x", "format": "email", "default": "d" }),
            ),
            (
                format!(r#""kind":"choice",{a},"default":"a""#),
                json!({ "type": "string", "oneOf": one, "default": "a" }),
            ),
            (
                format!(r#""kind":"choices",{a},"min":1,"max":2,"default":["a"]"#),
                json!({ "type": "array", "items": { "anyOf": one }, "minItems": 1, "maxItems": 2, "default": ["a"] }),
            ),
            (r#""kind":"boolean","default":true"#.to_owned(), json!({ "type": "boolean", "default": true })),
            (
                r#""kind":"number","min":1,"max":2.5,"step":0.5,"default":2"#.to_owned(),
                json!({ "type": "number", "minimum": 1, "maximum": 2.5, "multipleOf": 0.5, "default": 2 }),
            ),
            (r#""kind":"number","integer":true"#.to_owned(), json!({ "type": "integer" })),
            (
                r#""kind":"confirm","yes":"Do it","no":"Leave it""#.to_owned(),
                json!({ "type": "string", "oneOf": [{ "const": "true", "title": "Do it" }, { "const": "false", "title": "Leave it" }] }),
            ),
        ] {
            assert_eq!(property_of(&members), (expected, Json::Null), "{members}");
        }
    }

    #[test]
    fn required_fields_are_marked_as_far_as_a_schema_can() {
        let choices = r#""required":true,"kind":"choices","options":[{"value":"a","label":"A"}]"#;
        let (property, required) = property_of(choices);
        assert_eq!((property["minItems"].clone(), required), (json!(1), json!(["f"])));
        // A free text may replace the choices, which a schema cannot express.
        let (property, required) = property_of(&format!(r#"{choices},"other":true"#));
        assert_eq!((property["minItems"].clone(), required), (Json::Null, Json::Null));
    }

    #[test]
    fn companion_gets_an_unused_key() {
        let other = |name: &str| {
            format!(
                r#"{{"name":"{name}","label":"L","kind":"choice","other":true,"options":[{{"value":"a","label":"A"}}]}}"#
            )
        };
        let text = r#"{"name":"a_custom","label":"T","kind":"text"}"#;
        let (params, format) = written(&format!(
            r#"{{"sessionId":"s","prompt":"M","_meta":{{"askbridge":{{"fields":[{},{text}]}}}}}}"#,
            other("a")
        ));
        let expected = Companion::Custom { key: "a_custom_".to_owned(), notes: true };
        assert_eq!(format.companions, [expected, Companion::None]);
        let custom = &params["requestedSchema"]["properties"]["a_custom_"];
        assert_eq!(custom["_meta"][CUSTOM_ANSWER], json!({ "questionId": "a", "isCustomAnswer": true }));
    }

    #[test]
    fn a_client_without_meta_gets_none() {
        let preview = r##""preview":{"format":"markdown","text":"# P"}"##;
        let option = format!(r#"{{"value":"a","label":"A",{preview}}}"#);
        for kind in ["choice", "choices"] {
            let field =
                format!(r#"{{"name":"f","label":"L","kind":"{kind}","other":true,"options":[{option}]}}"#);
            let question = asked(&format!(
                r#"{{"sessionId":"s","prompt":"M","_meta":{{"askbridge":{{"fields":[{field}]}}}}}}"#
            ));
            let format = reply_format(&question).expect("a form");
            let count = |has_meta| write(&question, &format, has_meta).get().matches("_meta").count();
            assert_eq!((count(true), count(false)), (2, 0), "{kind}");
        }
    }

    #[test]
    fn property_does_not_repeat_the_message() {
        let field = |prompt: &str, members: &str| {
            let field = format!(r#"{{"name":"f","label":"L","kind":"text"{members}}}"#);
            let params = format!(
                r#"{{"sessionId":"s","prompt":"{prompt}","_meta":{{"askbridge":{{"fields":[{field}]}}}}}}"#
            );
            let property = written(&params).0["requestedSchema"]["properties"]["f"].clone();
            (property["title"].clone(), property["description"].clone())
        };
        assert_eq!(field("M", ""), (json!("L"), Json::Null));
        assert_eq!(field("M", r#","header":"H","help":"?""#), (json!("H"), json!("L\n?")));
        assert_eq!(field("L", r#","header":"H","help":"?""#), (json!("H"), json!("?")));
        assert_eq!(field("L", ""), (json!("L"), Json::Null));
    }

    #[test]
    fn questions_without_a_scope_or_with_a_secret_have_no_form() {
        let secret = r#"{"name":"f","label":"F","kind":"text","secret":true}"#;
        for params in [
            r#"{"prompt":"?"}"#.to_owned(),
            format!(r#"{{"sessionId":"s","prompt":"?","_meta":{{"askbridge":{{"fields":[{secret}]}}}}}}"#),
        ] {
            assert_eq!(reply_format(&asked(&params)), None, "{params}");
        }
        let mut question = asked(r#"{"prompt":"?","toolCallId":"t"}"#);
        question.request = Some("\"r\"".to_owned());
        let params = write(&question, &reply_format(&question).expect("a form"), true);
        // Only a form of a session may name a tool call.
        assert!(params.get().starts_with(r#"{"requestId":"r","mode":"form","message":"?","#), "{params}");
    }

    #[test]
    fn writing_reverses_reading() {
        let params = concat!(
            r#"{"sessionId":"s","toolCallId":"t","mode":"form","message":"M","requestedSchema":{"type":"object","properties":{"#,
            r#""z":{"type":"string","title":"Z","oneOf":[{"const":"1","title":"One","description":"d"}],"default":"1"},"#,
            r#""a":{"type":"integer","title":"A","description":"D","minimum":1,"maximum":9},"#,
            r#""m":{"type":"array","title":"M","items":{"anyOf":[{"const":"x","title":"X"}]},"minItems":1,"maxItems":2}},"#,
            r#""required":["z"]}}"#
        );
        let read = request::read(ELICITATION_CREATE, params.as_bytes(), "q").expect("no mistake");
        let (question, _) = read.expect("a question");
        let written = write(&question, &reply_format(&question).expect("a form"), true);
        assert_eq!(written.get(), params);
    }
}
