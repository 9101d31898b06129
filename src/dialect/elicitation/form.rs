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

/// Returns what it takes to read the reply to a question that is asked as a form.
///
/// `None` where no form can ask it: it belongs to no session and no request, or asks for a secret, which the
/// standard forbids in forms.
pub fn words(question: &Question) -> Option<Words> {
    let homeless = question.session.is_none() && request(question).is_none();
    if homeless || question.fields.iter().any(|field| field.secret) {
        return None;
    }
    let companion = |field: &Field| match field.kind.takes_other() {
        true => Companion::Custom { key: free_key(field, question), remarks: true },
        false => Companion::None,
    };
    Some(Words { companions: question.fields.iter().map(companion).collect(), ..Words::default() })
}

fn request(question: &Question) -> Option<&RawValue> {
    question.request.as_deref().and_then(|id| serde_json::from_str(id).ok())
}

/// Says a question as the `params` of a form whose reply is read by these [`words`].
pub fn write(question: &Question, words: &Words) -> Box<RawValue> {
    let session_id = question.session.as_deref();
    let mut properties = Vec::new();
    for (field, companion) in question.fields.iter().zip(&words.companions) {
        properties.push((field.name.clone(), property(field, question)));
        if let Companion::Custom { key, .. } = companion {
            properties.push((key.clone(), custom(field)));
        }
    }
    // A text may stand for the choice, which cannot be said of two fields: the reply is checked for it.
    let required = question.fields.iter().filter(|field| field.required && !field.kind.takes_other());
    let required: Vec<_> = required.map(|field| field.name.clone()).collect();
    let params = Params {
        session_id,
        request_id: request(question).filter(|_| session_id.is_none()),
        tool_call_id: question.tool_call.as_deref().filter(|_| session_id.is_some()),
        mode: "form",
        message: question.heading(),
        requested_schema: Schema {
            kind: Some("object".to_owned()),
            properties: Entries(properties),
            required: (!required.is_empty()).then_some(required),
        },
    };
    asked::json(&params)
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
        ..of_kind(&field.kind, field.required)
    }
}

fn of_kind(kind: &Kind, required: bool) -> Property {
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
        Kind::Choices { options, other, min, max, default } => Property {
            kind: named("array"),
            items: Some(Items { any_of: Some(options.iter().map(titled).collect()), ..Items::default() }),
            // An empty list is there, and says nothing.
            min_items: min.or((required && !other).then_some(1)),
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
        // No agent asks it: its dialect was read here.
        Kind::Unknown(_) => Property::default(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Asked, elicitation::request, sandboxagent};

    fn asked(params: &str) -> Question {
        sandboxagent::request::read(params.as_bytes(), "made-up").expect("a question")
    }

    fn written(params: &str) -> (Json, Words) {
        let question = asked(params);
        let words = words(&question).expect("a form");
        let params = write(&question, &words);
        (serde_json::from_str(params.get()).expect("JSON"), words)
    }

    /// The property of a field with these members, beside what all of them have.
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
    fn every_kind_of_field() {
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
    fn what_must_be_there() {
        let choices = r#""required":true,"kind":"choices","options":[{"value":"a","label":"A"}]"#;
        let (property, required) = property_of(choices);
        assert_eq!((property["minItems"].clone(), required), (json!(1), json!(["f"])));
        // A text may stand for it, which a schema cannot say.
        let (property, required) = property_of(&format!(r#"{choices},"other":true"#));
        assert_eq!((property["minItems"].clone(), required), (Json::Null, Json::Null));
    }

    #[test]
    fn a_free_text_has_a_field_of_its_own_with_a_free_name() {
        let other = |name: &str| {
            format!(
                r#"{{"name":"{name}","label":"L","kind":"choice","other":true,"options":[{{"value":"a","label":"A"}}]}}"#
            )
        };
        let text = r#"{"name":"a_custom","label":"T","kind":"text"}"#;
        let (params, words) = written(&format!(
            r#"{{"sessionId":"s","prompt":"M","_meta":{{"askbridge":{{"fields":[{},{text}]}}}}}}"#,
            other("a")
        ));
        let expected = Companion::Custom { key: "a_custom_".to_owned(), remarks: true };
        assert_eq!(words.companions, [expected, Companion::None]);
        let custom = &params["requestedSchema"]["properties"]["a_custom_"];
        assert_eq!(custom["_meta"][CUSTOM_ANSWER], json!({ "questionId": "a", "isCustomAnswer": true }));
    }

    #[test]
    fn what_was_asked_is_asked_once() {
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
    fn what_no_form_can_ask() {
        let secret = r#"{"name":"f","label":"F","kind":"text","secret":true}"#;
        for params in [
            r#"{"prompt":"?"}"#.to_owned(),
            format!(r#"{{"sessionId":"s","prompt":"?","_meta":{{"askbridge":{{"fields":[{secret}]}}}}}}"#),
        ] {
            assert_eq!(words(&asked(&params)), None, "{params}");
        }
        let mut question = asked(r#"{"prompt":"?","toolCallId":"t"}"#);
        question.request = Some("\"r\"".to_owned());
        let params = write(&question, &words(&question).expect("a form"));
        // Only a session has tool calls.
        assert!(params.get().starts_with(r#"{"requestId":"r","mode":"form","message":"?","#), "{params}");
    }

    #[test]
    fn a_form_that_was_read_is_written_as_it_was() {
        let params = concat!(
            r#"{"sessionId":"s","toolCallId":"t","mode":"form","message":"M","requestedSchema":{"type":"object","properties":{"#,
            r#""z":{"type":"string","title":"Z","oneOf":[{"const":"1","title":"One","description":"d"}],"default":"1"},"#,
            r#""a":{"type":"integer","title":"A","description":"D","minimum":1,"maximum":9},"#,
            r#""m":{"type":"array","title":"M","items":{"anyOf":[{"const":"x","title":"X"}]},"minItems":1,"maxItems":2}},"#,
            r#""required":["z"]}}"#
        );
        let read = request::read("elicitation/create", params.as_bytes(), "q").expect("no mistake");
        let Some(Asked { question, .. }) = read else { panic!("no question") };
        let written = write(&question, &words(&question).expect("a form"));
        assert_eq!(written.get(), params);
    }
}
