//! `_sandboxagent/session/request_question`, from JSON to a question, and the entry of the extension in the registry of
//! dialects. Writing a question as such a request is left to `ask.rs`, the result to `reply.rs`.
//!
//! Source: the published descriptions of the extension and of its first generation, and the code of the only adapter
//! that sends it.

use std::{fmt, time::Duration};

use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor, value::MapAccessDeserializer},
};
use serde_json::value::RawValue;

use super::reply;
use crate::{
    dialect::{
        agent_dialect::{AgentDialect, Rejection, Reply, ShownBy},
        values::{json, read_params},
    },
    question::{Answer, Field, FieldOption, Kind, Origin, Preview, PreviewFormat, Question},
    wire::method::REQUEST_QUESTION,
};

/// The `params` of `_sandboxagent/session/request_question`.
///
/// One field is asked by `prompt` and `options`, several are asked by `questions`, any form by
/// `_meta.askbridge.fields`. The names in snake_case, such as `session_id`, are understood as well.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "RequestQuestionParams", extend("anyOf" = [
    { "required": ["prompt"], "properties": { "prompt": { "type": "string", "minLength": 1 } } },
    { "required": ["questions"], "properties": { "questions": { "type": "array", "minItems": 1 } } },
    { "required": ["_meta"], "properties": { "_meta": {
        "type": "object", "required": ["askbridge"], "properties": { "askbridge": {
            "type": "object", "required": ["fields"], "properties": { "fields": { "type": "array", "minItems": 1 } }
        } }
    } } },
])))]
pub struct RequestQuestionParams {
    /// The session. Without one, as in the first generation of the extension, it is the one whose turn is running.
    #[serde(alias = "session_id")]
    pub session_id: Option<String>,
    /// The agent's name for the question. A missing one is made up.
    #[serde(alias = "question_id")]
    pub question_id: Option<String>,
    /// What is asked.
    pub prompt: Option<String>,
    /// What can be chosen. Without options, a free text is asked for.
    pub options: Option<Vec<OptionShape>>,
    /// Several fields, instead of `prompt` and `options`.
    pub questions: Option<Vec<QuestionShape>>,
    /// The tool call that the question came from.
    #[serde(alias = "tool_call_id")]
    pub tool_call_id: Option<String>,
    /// What goes beyond the extension. Members that are not known are left alone.
    #[serde(rename = "_meta")]
    pub meta: Option<RequestMeta>,
}

/// One option, in any of its spellings.
#[derive(Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(untagged))]
pub enum OptionShape {
    /// `[value, label]`: the canonical spelling.
    Pair(String, String),
    /// The label, which is the value as well.
    Label(String),
    /// With more to say.
    Object(OptionObject),
}

impl<'de> Deserialize<'de> for OptionShape {
    /// The first token decides between the variants, which takes half the time of trying one after the other.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OptionVisitor)
    }
}

struct OptionVisitor;

impl<'de> Visitor<'de> for OptionVisitor {
    type Value = OptionShape;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(r#"["value","label"], "label", or an object with a value or a label"#)
    }

    fn visit_str<E: de::Error>(self, label: &str) -> Result<OptionShape, E> {
        Ok(OptionShape::Label(label.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut pair: A) -> Result<OptionShape, A::Error> {
        let texts = (pair.next_element()?, pair.next_element()?, pair.next_element::<IgnoredAny>()?);
        match texts {
            (Some(value), Some(label), None) => Ok(OptionShape::Pair(value, label)),
            _ => Err(de::Error::invalid_type(Unexpected::Other("array that is no pair"), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<OptionShape, A::Error> {
        OptionObject::deserialize(MapAccessDeserializer::new(object)).map(OptionShape::Object)
    }
}

/// An option as an object. It needs a value or a label; one stands for the other.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = [
    { "required": ["value"], "properties": { "value": { "type": "string" } } },
    { "required": ["id"], "properties": { "id": { "type": "string" } } },
    { "required": ["label"], "properties": { "label": { "type": "string" } } },
    { "required": ["name"], "properties": { "name": { "type": "string" } } },
    { "required": ["title"], "properties": { "title": { "type": "string" } } },
])))]
pub struct OptionObject {
    /// The value: the agent gets it when the option is chosen.
    pub value: Option<String>,
    /// Another name for `value`.
    pub id: Option<String>,
    /// The label: what the person sees.
    pub label: Option<String>,
    /// Another name for `label`.
    pub name: Option<String>,
    /// Another name for `label`.
    pub title: Option<String>,
    /// A longer explanation.
    pub description: Option<String>,
    /// A preview of the option.
    pub preview: Option<PreviewShape>,
}

/// A preview, with or without its format.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a preview is a text or an object with format and text")]
pub enum PreviewShape {
    /// A text in Markdown.
    Markdown(String),
    /// A text in the format that is named.
    Full(Preview),
}

/// One of several fields.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct QuestionShape {
    /// The text of the question.
    pub question: String,
    /// A short name for the field, shown as a chip.
    pub header: Option<String>,
    /// The options. Without options, a free text is asked for.
    pub options: Option<Vec<OptionShape>>,
    /// Whether several can be chosen.
    pub multiple: Option<bool>,
    /// Another name for `multiple`.
    pub multi_select: Option<bool>,
    /// Whether a free text may be given instead.
    pub custom: Option<bool>,
}

/// The `_meta` of the request.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Meta"))]
pub struct RequestMeta {
    /// The bridge's own additions.
    pub askbridge: Option<RequestAdditions>,
}

/// The additions of the bridge to the extension.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(rename = "Additions"))]
pub struct RequestAdditions {
    /// The full form, in the place of `options` and `questions`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(schema_with = "fields_of_known_kinds"))]
    pub fields: Option<Vec<Field>>,
    /// Whether a wrong answer can do harm.
    #[serde(default)]
    pub dangerous: bool,
    /// How long to wait for an answer, in milliseconds.
    pub timeout_ms: Option<u64>,
}

/// Returns the schema of the form. Removes the variants for unknown kinds and formats from its definitions, for the
/// whole document: a record may hold a kind or format of another version, but a request with one is refused.
#[cfg(feature = "schema")]
fn fields_of_known_kinds(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    use schemars::JsonSchema;
    let schema = generator.subschema_for::<Option<Vec<Field>>>();
    let definitions = generator.definitions_mut();
    for (name, known) in
        [(Field::schema_name(), "/properties/kind"), (PreviewFormat::schema_name(), "/const")]
    {
        let definition = definitions.get_mut(&*name).and_then(|definition| definition.get_mut("anyOf"));
        if let Some(variants) = definition.and_then(serde_json::Value::as_array_mut) {
            variants.retain(|variant| variant.pointer(known).is_some());
        }
    }
    schema
}

/// Reads the `params` of a request as a question. `fallback_id` is the question's id if the request has none.
///
/// The error names the mistake and its place, for the agent's developer.
pub fn read(params: &[u8], fallback_id: &str) -> Result<Question, String> {
    read_params::<RequestQuestionParams>(params)?.into_question(fallback_id)
}

impl RequestQuestionParams {
    fn into_question(self, fallback_id: &str) -> Result<Question, String> {
        let RequestAdditions { fields, dangerous, timeout_ms } =
            self.meta.and_then(|meta| meta.askbridge).unwrap_or_default();
        let message = self.prompt.unwrap_or_default();
        // The complete form counts: `prompt` and `questions` may be a simpler one for peers that do not know it.
        let fields = match (fields, self.questions) {
            (Some(fields), _) => fields,
            (None, Some(questions)) => {
                let fields = questions.into_iter().enumerate().map(|(index, shape)| shape.into_field(index));
                fields.collect::<Result<_, _>>()?
            }
            (None, None) if message.is_empty() => {
                return Err("params: a question needs a prompt or questions".to_owned());
            }
            (None, None) => {
                let kind = choice(self.options.unwrap_or_default(), false, false)?;
                vec![Field::at(0, message.clone(), None, kind)]
            }
        };
        Ok(Question {
            session: self.session_id,
            message,
            tool_call: self.tool_call_id,
            dangerous,
            timeout: timeout_ms.map(Duration::from_millis),
            ..Question::new(Origin::SandboxAgent, self.question_id.as_deref().unwrap_or(fallback_id), fields)
        })
    }
}

impl QuestionShape {
    fn into_field(self, index: usize) -> Result<Field, String> {
        let many = self.multiple.or(self.multi_select).unwrap_or(false);
        let kind = choice(self.options.unwrap_or_default(), many, self.custom.unwrap_or(false))
            .map_err(|error| format!("params.questions[{index}]: {error}"))?;
        Ok(Field::at(index, self.question, self.header, kind))
    }
}

fn choice(options: Vec<OptionShape>, many: bool, other: bool) -> Result<Kind, String> {
    let options =
        options.into_iter().map(OptionShape::into_option).collect::<Option<_>>().ok_or_else(|| {
            "an option has neither a value (value, id) nor a label (label, name, title)".to_owned()
        })?;
    Ok(Kind::choice(options, many, other))
}

impl OptionShape {
    fn into_option(self) -> Option<FieldOption> {
        let (value, label, description, preview) = match self {
            OptionShape::Pair(value, label) => (value, label, None, None),
            OptionShape::Label(label) => (label.clone(), label, None, None),
            OptionShape::Object(object) => {
                let value = object.value.or(object.id);
                let label = object.label.or(object.name).or(object.title);
                let shown = label.clone().or_else(|| value.clone())?;
                (value.or(label)?, shown, object.description, object.preview)
            }
        };
        let preview = preview.map(|shape| match shape {
            PreviewShape::Markdown(text) => Preview { format: PreviewFormat::Markdown, text },
            PreviewShape::Full(preview) => preview,
        });
        let preview = preview.map(Box::new);
        Some(FieldOption { value, label, description, preview, ..FieldOption::default() })
    }
}

/// The reply format of the extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensionReply;

impl AgentDialect for ExtensionReply {
    const METHODS: &'static [&'static str] = &[REQUEST_QUESTION];
    const SHOWN_BY: Option<(&'static str, ShownBy)> = Some((REQUEST_QUESTION, ShownBy::Extension));

    fn read(_method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, Self)>, String> {
        Ok(Some((read(params, fallback_id)?, ExtensionReply)))
    }

    fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        json(&reply::write_answer(question, answer))
    }

    fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        json(&reply::write_rejection(rejection))
    }

    fn read_reply(&self, question: &Question, result: &[u8]) -> Reply {
        reply::read(result, question)
    }
}
