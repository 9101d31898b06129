//! A question that a program asks over REST: its members, and what they make.

use std::time::Duration;

use askbridge_core::{
    desk::Refusal,
    dialect::program::{self, Manner},
    question::{Field, Origin, Purpose, Question},
};
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::{Map, Value as Json, value::RawValue};
use sha2::{Digest, Sha256};

pub(super) const SHAPE: &str =
    r#"{"message":"TEXT","fields":[{"name":"NAME","label":"TEXT","kind":"text"}]}"#;

/// The default ID of a question, which `askbridge ask` uses too.
const UNNAMED: &str = "ask";

/// A question to ask: the members of a question that its asker chooses.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "NewQuestion"))]
pub struct NewQuestion {
    /// The session that the question belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The asker's own ID of the question; `ask` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_id: Option<String>,
    /// The name of the program that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The directory that the program works in, as an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The subject of the question, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The question that the form as a whole asks. Empty if the labels of the fields say it all.
    #[serde(default)]
    pub message: String,
    /// The fields to fill in; at least one, unless there is a `schema` or a `subject`. A permission has one choice at most,
    /// whose options have roles: by default, to allow it and to reject it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// The JSON Schema that the answer must fit, in place of `fields`. The settlement has the `value`. With `changes`, the
    /// JSON Schema of the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Map<String, Json>>"))]
    pub schema: Option<Box<RawValue>>,
    /// `permission` if the program asks for leave to do what `subject` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Purpose>,
    /// What the program wants to do. A decision is bound to the digest of this object.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "distinct")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<program::NewSubject>"))]
    pub subject: Option<Map<String, Json>>,
    /// Whether the program takes changed arguments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changes: bool,
    /// How long an approval counts, in milliseconds. By default, there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_ms: Option<u64>,
    /// The label of the button that sends the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit: Option<String>,
    /// Whether a wrong answer can do harm.
    #[serde(default)]
    pub dangerous: bool,
    /// How long to wait for an answer, in milliseconds. By default, there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Whether the response waits for the outcome; `true` by default. A question that nobody waits for is kept beyond the
    /// connection, and beyond the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
    /// The address to which the outcome of a question that is kept is sent, in a POST with the data of its
    /// `question.resolved`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<String>,
}

impl NewQuestion {
    /// Returns a digest of all that was asked, whatever the order of its members. Whether the asker waits is no part of it.
    pub(super) fn digest(&self) -> Vec<u8> {
        let asked = NewQuestion { wait: None, ..self.clone() };
        // Its members are JSON, so that this cannot fail.
        let mut asked = serde_json::to_value(&asked).unwrap_or_default();
        asked.sort_all_objects();
        Sha256::digest(asked.to_string()).to_vec()
    }

    /// Returns the question.
    ///
    /// # Errors
    /// What of it makes no question.
    pub fn read(mut self) -> Result<Question, Refusal> {
        let (subject, schema) = (self.subject.take(), self.schema.take());
        let grant = self.grant_ms.map(Duration::from_millis);
        let manner = Manner { changes: self.changes, schema: None, grant };
        let is_permission = match &self.purpose {
            Some(Purpose::Permission) => true,
            None | Some(Purpose::Question) => false,
            Some(other) => return bad(format!("purpose: {other} is neither `question` nor `permission`")),
        };
        let has_manner = manner.changes || manner.grant.is_some();
        let asked = Question::from(self);
        let read = match (is_permission, subject, schema) {
            (true, None, _) => Err("subject: a permission needs one".to_owned()),
            (true, Some(subject), None) => program::permission(asked, subject, manner),
            (true, Some(subject), Some(schema)) => {
                serde_json::from_str(schema.get()).map_err(|error| format!("schema: {error}")).and_then(
                    |schema| program::permission(asked, subject, Manner { schema: Some(schema), ..manner }),
                )
            }
            (false, Some(_), _) => {
                Err("subject: only a permission has one: add `\"purpose\":\"permission\"`".to_owned())
            }
            (false, None, _) if has_manner => {
                Err("changes, grantMs: only a permission has them: add `\"purpose\":\"permission\"`"
                    .to_owned())
            }
            (false, None, Some(_)) if !asked.fields.is_empty() => {
                Err("schema: it stands in place of `fields`: leave one of them out".to_owned())
            }
            (false, None, Some(schema)) => {
                program::with_schema(asked, schema.get()).map_err(|why| format!("schema: {why}"))
            }
            (false, None, None) => Ok(asked),
        };
        read.map_err(Refusal::BadQuestion)
    }
}

fn bad<T>(why: String) -> Result<T, Refusal> {
    Err(Refusal::BadQuestion(why))
}

impl From<NewQuestion> for Question {
    fn from(new: NewQuestion) -> Self {
        let id = new.question_id.as_deref().unwrap_or(UNNAMED);
        Question {
            session: new.session_id.filter(|session| !session.is_empty()),
            agent: new.agent.map(Into::into),
            project: new.project.map(Into::into),
            title: new.title,
            message: new.message,
            submit: new.submit,
            dangerous: new.dangerous,
            timeout: new.timeout_ms.map(Duration::from_millis),
            ..Question::new(Origin::Program, id, new.fields)
        }
    }
}

/// Reads what a program wants to do.
fn distinct<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Map<String, Json>>, D::Error> {
    let raw = Option::<Box<RawValue>>::deserialize(deserializer)?;
    let read = |raw: Box<RawValue>| {
        program::distinct(raw.get()).map_err(|why| D::Error::custom(format!("subject: {why}")))
    };
    raw.map(read).transpose()
}
