//! A form that an agent asks for, from JSON to a question, and the entry of forms in the registry of dialects. Which
//! fields are companions is left to `companion.rs`, the result to `reply.rs`.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value as Json, value::RawValue};

use super::{
    FormReply,
    companion::{self, Companion},
    reply,
};
use crate::{
    dialect::{
        agent_dialect::{AgentDialect, Rejection, Reply, ShownBy},
        schema::{self, Property},
        unshown::is_too_long,
        values::{check_object, explain, json},
    },
    limits,
    question::{
        Answer, Field, Kind, Origin, Question,
        input::{NO, YES},
    },
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

/// Reads the `params` of a form as a question.
///
/// Returns `None` for another mode than forms.
pub fn read(method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, FormReply)>, String> {
    // This check comes before the limit: such requests are forwarded to the client, whatever their size.
    if !is_form(params) {
        return Ok(None);
    }
    if is_too_long(params) {
        return Err(format!("a form has at most {} bytes, this one has {}", limits::QUESTION, params.len()));
    }
    check_object(params)?;
    let FormRequestParams { session_id, request_id, tool_call_id, message, requested_schema, meta } =
        serde_json::from_slice(params).map_err(|_| explain::<FormRequestParams<'_>>("params", params))?;
    let message = message.unwrap_or_default();
    let schema = requested_schema.ok_or("params.requestedSchema is missing")?.get();
    let (fields, format) = read_schema(schema, &message, meta.as_ref())?;
    let codex = meta.as_ref().and_then(|meta| meta.get("codex"));
    let question = Question {
        session: session_id,
        request: request_id.map(|id| id.get().to_owned()),
        message: message.clone(),
        tool_call: tool_call_id,
        blocking: codex.and_then(|codex| codex.get("delivery")).and_then(Json::as_str) != Some("async"),
        timeout: codex.and_then(|codex| codex.get("autoResolutionMs")?.as_u64()).map(Duration::from_millis),
        // No agent reads a note in another part of the reply.
        notes: format.companions.iter().any(Companion::takes_notes),
        ..Question::new(Origin::Elicitation, fallback_id, fields)
    };
    let format = FormReply {
        legacy: method != ELICITATION_CREATE,
        nested: LEGACY_NESTED_ELICITATIONS.contains(&method),
        ..format
    };
    Ok(Some((question, format)))
}

/// Reads the schema of a form as fields, with the format of the reply.
pub fn read_schema(
    schema: &str,
    message: &str,
    meta: Option<&Map<String, Json>>,
) -> Result<(Vec<Field>, FormReply), String> {
    let named = |wrong| format!("params.requestedSchema: {wrong}");
    let mut form = schema::read(schema).map_err(named)?;
    if form.properties.is_empty() {
        let kind = Kind::Confirm { yes: YES.to_owned(), no: NO.to_owned() };
        let label = if message.trim().is_empty() { "Do you agree?" } else { message };
        let field = Field::new("confirm".to_owned(), label.to_owned(), true, kind);
        return Ok((vec![field], FormReply { consent: true, ..FormReply::default() }));
    }
    let companions = |form: &schema::Form| {
        form.properties.iter().filter(|it| companion::is_companion(it, &form.properties)).count()
    };
    if form.properties.len() - companions(&form) > limits::FIELDS {
        form = schema::whole(&serde_json::from_str(schema).map_err(|error| named(error.to_string()))?);
    }
    Ok(FormReader { form: &form, message, meta }.fields())
}

/// Returns whether the mode is `form`. In the drafts, forms were the only mode and had no name.
fn is_form(params: &[u8]) -> bool {
    match scan::member(params, "mode") {
        None | Some(b"null") => true,
        Some(mode) => scan::text(mode).as_deref() == Some("form"),
    }
}

/// The parts of a form that decide how its fields are read.
struct FormReader<'a> {
    form: &'a schema::Form,
    message: &'a str,
    meta: Option<&'a Map<String, Json>>,
}

impl FormReader<'_> {
    fn fields(&self) -> (Vec<Field>, FormReply) {
        let all = &self.form.properties;
        let own: Vec<_> = all.iter().filter(|property| !companion::is_companion(property, all)).collect();
        let fields = own.iter().map(|property| self.field(property, own.len() == 1)).collect();
        let format = FormReply {
            companions: own.iter().map(|property| self.companion(property)).collect(),
            slots: own.iter().map(|property| property.slot.clone()).collect(),
            groups: self.form.groups.clone(),
            ..FormReply::default()
        };
        (fields, format)
    }

    /// Returns the companion of a property. Those of a group have none.
    fn companion(&self, property: &Property) -> Companion {
        match property.group.is_empty() {
            true => companion::of(&property.key, &self.form.properties),
            false => Companion::None,
        }
    }

    fn field(&self, property: &Property, alone: bool) -> Field {
        let (label, header, help) = self.texts(property, alone);
        let mut kind = property.field.kind.clone();
        if let Kind::Choice { other, .. } | Kind::Choices { other, .. } = &mut kind {
            *other = self.takes_other(property);
        }
        Field {
            label,
            header,
            help,
            secret: property.field.secret || is_set(property.meta.get("codex"), "isSecret"),
            kind,
            ..property.field.clone()
        }
    }

    /// Returns the label, the header and the help of a field: adapters disagree about which text goes where.
    fn texts(&self, property: &Property, alone: bool) -> (String, Option<String>, Option<String>) {
        let Property { key, title, description, group, meta, .. } = property;
        let (key, title, description) = (&**key, title.clone(), description.clone());
        if !group.is_empty() {
            return (title.unwrap_or_else(|| key.to_owned()), Some(group.clone()), description);
        }
        let codex = |meta: Option<&Map<String, Json>>| meta.is_some_and(|meta| meta.contains_key("codex"));
        if codex(Some(meta)) || codex(self.meta) {
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

    /// Returns whether a choice takes a free text: in a companion, or, for Devin, in the field itself.
    fn takes_other(&self, property: &Property) -> bool {
        match self.companion(property) {
            Companion::Custom { .. } => true,
            Companion::Note { none, .. } => none.is_some(),
            Companion::None => {
                let allows = |meta: &Map<String, Json>| meta.get(ALLOW_OTHER) == Some(&Json::Bool(true));
                allows(&property.meta) || self.meta.is_some_and(allows)
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
    fn what_is_not_understood_takes_json_and_no_fields_are_consent() {
        let read = |schema: &str| {
            let (fields, format) = read_schema(schema, "Buy it?", None).expect("a form");
            (fields.into_iter().map(|field| (field.name, field.kind)).collect::<Vec<_>>(), format)
        };
        let (fields, _) = read(
            r##"{"properties":{"a":{"type":"string"},"b":{"type":"file","x":{"$ref":"#/$defs/D"}}},
            "$defs":{"D":{"type":"string"},"E":{}}}"##,
        );
        assert!(matches!(fields[0].1, Kind::Text { .. }));
        let schema = serde_json::json!({ "type": "file", "x": { "$ref": "#/$defs/D" }, "$defs": { "D": { "type": "string" } } });
        assert_eq!(fields[1], ("b".to_owned(), Kind::Json { schema }));
        // A reference into the form cannot be taken out of it, and a condition is about all of it.
        for whole in [
            r##"{"type":"object","properties":{"a":{"type":"file","x":{"$ref":"#/properties/b"}},"b":{}}}"##,
            r#"{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]},{"required":[]}]}"#,
            r#"{"type":"object","properties":{},"required":["a"]}"#,
        ] {
            let (fields, format) = read(whole);
            let schema = serde_json::from_str(whole).expect("JSON");
            assert_eq!(fields, [("content".to_owned(), Kind::Json { schema })]);
            assert!(format.slots[0].place.is_empty() && !format.consent);
        }
        let many: Vec<_> = (0..40).map(|place| format!(r#""f{place}":{{"type":"boolean"}}"#)).collect();
        let (fields, _) = read(&format!(r#"{{"properties":{{{}}}}}"#, many.join(",")));
        assert_eq!(fields.len(), 1, "more fields than a question may have");
        let (fields, format) = read(r#"{"type":"object","properties":{}}"#);
        assert_eq!(
            fields,
            [("confirm".to_owned(), Kind::Confirm { yes: "Yes".to_owned(), no: "No".to_owned() })]
        );
        assert!(format.consent);
        assert!(read_schema("5", "", None).is_err() && read_schema("{", "", None).is_err());
    }

    #[test]
    fn groups_that_repeat_without_end_are_one_field() {
        let inner = (0..10)
            .map(|place| format!(r##""p{place}":{{"$ref":"#/$defs/D"}}"##))
            .collect::<Vec<_>>()
            .join(",");
        let schema = format!(
            r##"{{"properties":{{{inner}}},"$defs":{{"D":{{"type":"object","properties":{{{inner}}}}}}}}}"##
        );
        let (fields, _) = read_schema(&schema, "", None).expect("a form");
        assert!(matches!(&fields[..], [Field { kind: Kind::Json { .. }, .. }]));
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
    fn unknown_modes_are_not_questions() {
        for params in [r#"{"mode":"url","url":"https://example.org"}"#, r#"{"mode":"","requestedSchema":5}"#]
        {
            assert_eq!(read(ELICITATION_CREATE, params.as_bytes(), "q"), Ok(None), "{params}");
        }
        let untyped = asked("", r#""a":{"enum":["x"]},"b":{}"#);
        assert_eq!(untyped.fields[0].kind.options().len(), 1);
        assert!(matches!(untyped.fields[1].kind, Kind::Text { .. }));
    }
}
