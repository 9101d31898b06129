//! A form that an agent asks for, from JSON to a question, and the entry of forms in the registry of dialects. Which
//! fields are companions is left to `companion.rs`, the result to `reply.rs`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value as Json, value::RawValue};

use super::{
    FormReply,
    companion::{self, Companion},
    reply,
    schema::{FormItems, FormProperty, FormSchema, PREVIEW, TitledOption},
};
use crate::{
    dialect::{
        agent_dialect::{AgentDialect, Rejection, Reply, ShownBy},
        values::{Entries, check_object, explain, json},
    },
    limits,
    question::{Answer, Field, FieldOption, Kind, Origin, Preview, PreviewFormat, Question},
    wire::{
        method::{ELICITATION_CREATE, LEGACY_ELICITATIONS, LEGACY_NESTED_ELICITATIONS},
        scan,
    },
};

/// The `params` of a form. The schema is read separately, so that an error in it gets its own path.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FormRequestParams<'a> {
    session_id: Option<String>,
    #[serde(borrow)]
    request_id: Option<&'a RawValue>,
    tool_call_id: Option<String>,
    message: Option<String>,
    #[serde(borrow)]
    requested_schema: Option<&'a RawValue>,
    #[serde(rename = "_meta")]
    meta: Option<Map<String, Json>>,
}

/// The field types of the standard. A form with another type is forwarded, because the client may know it.
const TYPES: [&str; 5] = ["string", "number", "integer", "boolean", "array"];

/// Reads the `params` of a form as a question.
///
/// Returns `None` for another mode than forms, or for an unknown field type.
pub fn read(method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, FormReply)>, String> {
    // These two checks come before the limit: such requests are forwarded to the client, whatever their size.
    if !is_form(params) || has_unknown_types(params) {
        return Ok(None);
    }
    if params.len() > limits::QUESTION {
        return Err(format!("a form has at most {} bytes, this one has {}", limits::QUESTION, params.len()));
    }
    check_object(params)?;
    let FormRequestParams { session_id, request_id, tool_call_id, message, requested_schema, meta } =
        serde_json::from_slice(params).map_err(|_| explain::<FormRequestParams<'_>>("params", params))?;
    let message = message.unwrap_or_default();
    let schema = requested_schema.ok_or("params.requestedSchema is missing")?.get();
    let schema = read_schema(schema)?;
    let codex = meta.as_ref().and_then(|meta| meta.get("codex"));
    let reader = FormReader { schema: &schema, message: &message, meta: meta.as_ref() };
    let (fields, companions) = reader.fields()?;
    let question = Question {
        session: session_id,
        request: request_id.map(|id| id.get().to_owned()),
        message: message.clone(),
        tool_call: tool_call_id,
        blocking: codex.and_then(|codex| codex.get("delivery")).and_then(Json::as_str) != Some("async"),
        timeout: codex.and_then(|codex| codex.get("autoResolutionMs")?.as_u64()).map(Duration::from_millis),
        // No agent reads a note in another part of the reply.
        notes: companions.iter().any(Companion::takes_notes),
        ..Question::new(Origin::Elicitation, fallback_id, fields)
    };
    let format = FormReply {
        legacy: method != ELICITATION_CREATE,
        nested: LEGACY_NESTED_ELICITATIONS.contains(&method),
        companions,
    };
    Ok(Some((question, format)))
}

/// Returns whether the mode is `form`. In the drafts, forms were the only mode and had no name.
fn is_form(params: &[u8]) -> bool {
    match scan::member(params, "mode") {
        None | Some(b"null") => true,
        Some(mode) => scan::text(mode).as_deref() == Some("form"),
    }
}

fn has_unknown_types(params: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct TypedProperty {
        #[serde(rename = "type", default)]
        kind: Json,
    }
    let properties =
        scan::member(params, "requestedSchema").and_then(|schema| scan::member(schema, "properties"));
    // More than that exceeds the limit of the request, which is checked next.
    let Some(properties) = properties.filter(|properties| properties.len() <= limits::QUESTION) else {
        return false;
    };
    let Ok(properties) = serde_json::from_slice::<Entries<TypedProperty>>(properties) else { return false };
    let known = |kind: &Json| kind.is_null() || kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    !properties.0.iter().all(|(_, property)| known(&property.kind))
}

fn read_schema(schema: &str) -> Result<FormSchema, String> {
    serde_json::from_str(schema)
        .map_err(|_| explain::<FormSchema>("params.requestedSchema", schema.as_bytes()))
}

/// The parts of a form that decide how its fields are read.
struct FormReader<'a> {
    schema: &'a FormSchema,
    message: &'a str,
    meta: Option<&'a Map<String, Json>>,
}

impl FormReader<'_> {
    fn fields(&self) -> Result<(Vec<Field>, Vec<Companion>), String> {
        let all = &self.schema.properties.0;
        let own: Vec<_> = all
            .iter()
            .filter(|(key, property)| !companion::is_companion(key, property, self.schema))
            .collect();
        let fields = own.iter().map(|(key, property)| self.field(key, property, own.len() == 1));
        let companions = own.iter().map(|(key, _)| companion::of(key, self.schema));
        Ok((fields.collect::<Result<_, _>>()?, companions.collect()))
    }

    fn field(&self, key: &str, property: &FormProperty, alone: bool) -> Result<Field, String> {
        let (label, header, help) = self.texts(key, property, alone);
        Ok(Field {
            name: key.to_owned(),
            label,
            header,
            help,
            required: self.schema.required.iter().flatten().any(|name| name == key),
            secret: property.meta.as_ref().is_some_and(|meta| is_set(meta.get("codex"), "isSecret")),
            kind: self.kind(key, property).map_err(|wrong| format!("field {key:?}: {wrong}"))?,
        })
    }

    /// Returns the label, the header and the help of a field: adapters disagree about which text goes where.
    fn texts(
        &self,
        key: &str,
        property: &FormProperty,
        alone: bool,
    ) -> (String, Option<String>, Option<String>) {
        let (title, description) = (property.title.clone(), property.description.clone());
        let codex = |meta: Option<&Map<String, Json>>| meta.is_some_and(|meta| meta.contains_key("codex"));
        if codex(property.meta.as_ref()) || codex(self.meta) {
            // Codex writes the question in the title and the header in the description.
            return (title.unwrap_or_else(|| key.to_owned()), description, None);
        }
        if is_numbered(key) {
            // Claude, Kimi and Devin write the header in the title. Claude writes a lone question in the message only.
            return match (description, alone && !self.message.is_empty()) {
                (Some(description), _) => (description, title, None),
                // Kimi and oh-my-pi may have no header, and write the question in both places then.
                (None, true) => (self.message.to_owned(), title.filter(|title| title != self.message), None),
                (None, false) => (title.unwrap_or_else(|| key.to_owned()), None, None),
            };
        }
        // The message asks for a lone field without a title. Its key is not written for people.
        let label = Some(self.message).filter(|message| alone && !message.is_empty()).unwrap_or(key);
        (title.unwrap_or_else(|| label.to_owned()), None, description)
    }

    fn kind(&self, key: &str, property: &FormProperty) -> Result<Kind, String> {
        let default = property.default.as_ref();
        let text = || default.and_then(Json::as_str).map(str::to_owned);
        let kind = match property.kind.as_deref() {
            Some("boolean") => Kind::Boolean { default: default.and_then(Json::as_bool) },
            Some(kind @ ("number" | "integer")) => Kind::Number {
                integer: kind == "integer",
                min: property.minimum.map(|bound| bound.0),
                max: property.maximum.map(|bound| bound.0),
                step: property.multiple_of.map(|bound| bound.0),
                default: default.and_then(Json::as_f64),
            },
            Some("array") => Kind::Choices {
                options: many(property.items.as_ref().ok_or("an array needs items")?)?,
                other: self.takes_other(key),
                min: property.min_items,
                max: property.max_items,
                default: default.and_then(strings).unwrap_or_default(),
            },
            _ => match options(property.one_of.as_deref(), property.values.as_deref()) {
                Some(options) => Kind::Choice { options, other: self.takes_other(key), default: text() },
                None => Kind::Text {
                    multiline: false,
                    min_length: property.min_length,
                    max_length: property.max_length,
                    pattern: property.pattern.clone(),
                    format: property.format.clone(),
                    placeholder: None,
                    default: text(),
                },
            },
        };
        Ok(kind)
    }

    /// Returns whether a choice takes a free text: in a companion, or, for Devin, in the field itself.
    fn takes_other(&self, key: &str) -> bool {
        match companion::of(key, self.schema) {
            Companion::Custom { .. } => true,
            Companion::Note { none, .. } => none.is_some(),
            Companion::None => {
                let of_field = self.schema.properties.get(key).and_then(|property| property.meta.as_ref());
                let allows = |meta: &Map<String, Json>| meta.get(ALLOW_OTHER) == Some(&Json::Bool(true));
                of_field.is_some_and(allows) || self.meta.is_some_and(allows)
            }
        }
    }
}

/// Lets each choice of a form take a text of the person's own, in place of an option: the agent is known to take one.
pub fn take_own_text(question: &mut Question) {
    for field in &mut question.fields {
        if let Kind::Choice { other, .. } | Kind::Choices { other, .. } = &mut field.kind {
            *other = true;
        }
    }
}

/// Devin's flag for a free text in place of an option, on the request or on the field.
const ALLOW_OTHER: &str = "cognition.ai/allowOther";

/// Returns whether an adapter generated this key, such as `question_0` or `q0`.
fn is_numbered(key: &str) -> bool {
    let digits = key.strip_prefix("question_").or_else(|| key.strip_prefix('q'));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_set(object: Option<&Json>, flag: &str) -> bool {
    object.and_then(|object| object.get(flag)) == Some(&Json::Bool(true))
}

fn strings(json: &Json) -> Option<Vec<String>> {
    json.as_array()?.iter().map(|entry| entry.as_str().map(str::to_owned)).collect()
}

fn many(items: &FormItems) -> Result<Vec<FieldOption>, String> {
    let titled = items.any_of.as_deref().or(items.one_of.as_deref());
    options(titled, items.values.as_deref()).ok_or_else(|| "items need an anyOf or an enum".to_owned())
}

fn options(titled: Option<&[TitledOption]>, values: Option<&[String]>) -> Option<Vec<FieldOption>> {
    let plain =
        |value: &String| FieldOption { value: value.clone(), label: value.clone(), ..FieldOption::default() };
    match (titled, values) {
        (Some(titled), _) => Some(titled.iter().map(option).collect()),
        (None, Some(values)) => Some(values.iter().map(plain).collect()),
        (None, None) => None,
    }
}

fn option(titled: &TitledOption) -> FieldOption {
    let preview = titled.meta.as_ref().and_then(|meta| meta.get(PREVIEW)?.get("preview")?.as_str());
    FieldOption {
        value: titled.value.clone(),
        label: titled.title.clone().unwrap_or_else(|| titled.value.clone()),
        description: titled.description.clone(),
        preview: preview
            .map(|text| Preview { format: PreviewFormat::Markdown, text: text.to_owned() }.into()),
        ..FieldOption::default()
    }
}

impl AgentDialect for FormReply {
    const METHODS: &'static [&'static str] = &[
        ELICITATION_CREATE,
        LEGACY_ELICITATIONS[0],
        LEGACY_ELICITATIONS[1],
        LEGACY_NESTED_ELICITATIONS[0],
        LEGACY_NESTED_ELICITATIONS[1],
    ];
    const SHOWN_BY: Option<(&'static str, ShownBy)> = Some((ELICITATION_CREATE, ShownBy::Forms));

    fn shown_by(&self) -> Option<ShownBy> {
        // Clients know only the current name of the method.
        (!self.legacy).then_some(ShownBy::Forms)
    }

    fn read(method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, Self)>, String> {
        read(method, params, fallback_id)
    }

    fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        json(&reply::write_answer(self, question, answer))
    }

    fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        json(&reply::write_rejection(self, rejection))
    }

    fn read_reply(&self, question: &Question, result: &[u8]) -> Reply {
        reply::read_reply(self, question, result).map_or(Reply::Unknown, Reply::Canonical)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a form with these properties, and these members beside them.
    fn asked(members: &str, properties: &str) -> Question {
        let params = format!(r#"{{{members}"requestedSchema":{{"properties":{{{properties}}}}}}}"#);
        let asked =
            read(ELICITATION_CREATE, params.as_bytes(), "q").expect("no mistake").expect("a question");
        asked.0
    }

    fn texts(field: &Field) -> (&str, Option<&str>, Option<&str>) {
        (&field.label, field.header.as_deref(), field.help.as_deref())
    }

    const TEXTS: &str = r#""type":"string","title":"T","description":"D""#;

    #[test]
    fn a_form_takes_notes_where_it_has_a_field_for_them() {
        let choice = r#""db":{"type":"string","oneOf":[{"const":"A"}]}"#;
        let mark = r#""_meta":{"_askUserQuestionCustomAnswer":{"questionId":"db","isCustomAnswer":true}}"#;
        for (more, takes) in [
            (String::new(), false),
            (r#","db_custom":{"type":"string"}"#.to_owned(), false),
            (r#","db_note":{"type":"string"}"#.to_owned(), true),
            (format!(r#","x":{{"type":"string",{mark}}}"#), true),
        ] {
            assert_eq!(asked("", &format!("{choice}{more}")).notes, takes, "{more}");
        }
    }

    #[test]
    fn each_adapter_writes_the_question_in_its_own_place() {
        let message = r#""message":"M","#;
        for (members, properties, expected) in [
            // Claude and Kimi: the header is the title.
            (message, format!(r#""question_0":{{{TEXTS}}}"#), ("D", Some("T"), None)),
            (message, format!(r#""q0":{{{TEXTS}}}"#), ("D", Some("T"), None)),
            (message, r#""q0":{"type":"string","title":"T"}"#.to_owned(), ("M", Some("T"), None)),
            (message, r#""q0":{"type":"string","title":"M"}"#.to_owned(), ("M", None, None)),
            (
                message,
                r#""q0":{"type":"string","title":"T"},"q1":{"type":"string"}"#.to_owned(),
                ("T", None, None),
            ),
            ("", r#""q0":{"type":"string"}"#.to_owned(), ("q0", None, None)),
            // Codex: the header is the description.
            (message, format!(r#""db":{{{TEXTS},"_meta":{{"codex":{{}}}}}}"#), ("T", Some("D"), None)),
            (r#""_meta":{"codex":{}},"#, format!(r#""question_0":{{{TEXTS}}}"#), ("T", Some("D"), None)),
            // All other agents.
            (message, format!(r#""db":{{{TEXTS}}}"#), ("T", None, Some("D"))),
            (message, r#""db":{"type":"string","description":"D"}"#.to_owned(), ("M", None, Some("D"))),
            (message, r#""db":{"type":"string"},"lang":{"type":"string"}"#.to_owned(), ("db", None, None)),
            (message, format!(r#""question":{{{TEXTS}}}"#), ("T", None, Some("D"))),
        ] {
            assert_eq!(texts(&asked(members, &properties).fields[0]), expected, "{members}{properties}");
        }
    }

    #[test]
    fn codex_may_not_block_and_may_set_a_timeout() {
        let timed = |codex: &str| {
            let question = asked(&format!(r#""_meta":{{"codex":{codex}}},"#), r#""a":{"type":"string"}"#);
            (question.blocking, question.timeout)
        };
        assert_eq!(timed(r#"{"delivery":"async"}"#), (false, None));
        assert_eq!(timed(r#"{"autoResolutionMs":1500}"#), (true, Some(Duration::from_millis(1500))));
        assert_eq!(timed(r#"{"autoResolutionMs":null}"#), (true, None));
        assert_eq!(timed(r#"{"autoResolutionMs":-1}"#), (true, None));
        assert_eq!(timed("5"), (true, None));
    }

    #[test]
    fn codex_marks_secrets() {
        let codex = |is_secret: &str| {
            let question = asked(
                "",
                &format!(r#""a":{{"type":"string","_meta":{{"codex":{{"isSecret":{is_secret}}}}}}}"#),
            );
            question.fields[0].secret
        };
        assert!(codex("true"));
        assert!(!codex("false"));
        assert!(!codex(r#""true""#));
    }

    #[test]
    fn choice_takes_a_free_text_by_companion_or_flag() {
        let takes_other = |members: &str, property: &str, beside: &str| {
            let properties = format!(r#""db":{{"type":"string","enum":["A"]{property}}}{beside}"#);
            asked(members, &properties).fields[0].kind.takes_other()
        };
        assert!(!takes_other("", "", ""));
        assert!(takes_other("", "", r#","db_custom":{"type":"string"}"#));
        assert!(!takes_other("", "", r#","db_note":{"type":"string"}"#));
        assert!(takes_other(r#""_meta":{"cognition.ai/allowOther":true},"#, "", ""));
        assert!(takes_other("", r#","_meta":{"cognition.ai/allowOther":true}"#, ""));
        assert!(!takes_other(r#""_meta":{"cognition.ai/allowOther":false},"#, "", ""));
    }

    #[test]
    fn default_of_the_wrong_type_is_ignored() {
        let kind = |property: &str| {
            let question = asked("", &format!(r#""a":{{{property}}}"#));
            question.fields.into_iter().next().expect("a field").kind
        };
        assert_eq!(kind(r#""type":"boolean","default":"yes""#), Kind::Boolean { default: None });
        let array = r#""type":"array","items":{"enum":["a"]},"default""#;
        for (default, expected) in [(r#"["a"]"#, 1), (r#""a""#, 0), ("[1]", 0)] {
            let Kind::Choices { default: read, .. } = kind(&format!("{array}:{default}")) else {
                panic!("no choices")
            };
            assert_eq!(read.len(), expected, "{default}");
        }
    }

    #[test]
    fn unknown_modes_and_field_types_are_not_questions() {
        for params in [
            r#"{"mode":"url","url":"https://example.org"}"#,
            r#"{"mode":"","requestedSchema":5}"#,
            r#"{"requestedSchema":{"properties":{"a":{"type":"string"},"b":{"type":"file"}}}}"#,
            r#"{"requestedSchema":{"properties":{"a":{"type":["string","null"]}}}}"#,
        ] {
            assert_eq!(read(ELICITATION_CREATE, params.as_bytes(), "q"), Ok(None), "{params}");
        }
        let untyped = asked("", r#""a":{"enum":["x"]},"b":{}"#);
        assert_eq!(untyped.fields[0].kind.options().len(), 1);
        assert!(matches!(untyped.fields[1].kind, Kind::Text { .. }));
    }
}
