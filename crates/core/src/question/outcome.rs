//! An answer, with its values for the fields and the notes beside them; and the outcome of a question: answered, or
//! rejected with a reason, and the responder that settled it. Reading an answer from a responder is left to `input.rs`,
//! comparing it with its question to `check.rs`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value as Json};

use super::{
    Image, Question,
    encoding::open_enum,
    image::{self, ImageData},
};

/// How a question ended: one object with a `status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(title = "Outcome"))]
pub enum Outcome {
    /// A responder answered.
    Answered(Answer),
    /// The question ended without an answer.
    #[serde(with = "rejection")]
    #[cfg_attr(feature = "schema", schemars(with = "rejection::Rejected"))]
    Rejected(Reason),
    /// The client failed, or replied with something that only the agent may understand.
    Failed,
    /// An outcome that this version does not know, with all its members.
    #[serde(untagged)]
    Unknown(Map<String, Json>),
}

impl Outcome {
    /// Returns the name of the outcome, as it stands in `status`.
    pub fn status(&self) -> &str {
        match self {
            Outcome::Answered(_) => "answered",
            Outcome::Rejected(_) => "rejected",
            Outcome::Failed => "failed",
            Outcome::Unknown(members) => members.get("status").and_then(Json::as_str).unwrap_or("unknown"),
        }
    }
}

/// A rejection beside its `status`: an object with the reason as its member.
mod rejection {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Reason;

    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub(super) struct Rejected {
        /// Why it was rejected.
        reason: Reason,
    }

    pub(super) fn serialize<S: Serializer>(reason: &Reason, serializer: S) -> Result<S::Ok, S::Error> {
        Rejected { reason: *reason }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Reason, D::Error> {
        Rejected::deserialize(deserializer).map(|rejected| rejected.reason)
    }
}

open_enum! {
    /// Why a question was rejected.
    pub enum Reason {
        /// The person did not want to answer.
        User = "user",
        /// The turn was cancelled.
        Cancelled = "cancelled",
        /// The agent took the question back.
        Withdrawn = "withdrawn",
        /// The agent went on without an answer: the tool call or the turn that waited for it is over.
        Over = "over",
        /// The host of an MCP server ended the call that waited for it: its limit of time was over, or its user stopped it.
        CallEnded = "call_ended",
        /// No answer came in time.
        Timeout = "timeout",
        /// The person wrote in the chat instead.
        RepliedInChat = "replied_in_chat",
        /// The client went away.
        ClientGone = "client_gone",
        /// The agent ended.
        AgentGone = "agent_gone",
        /// The session was closed or deleted.
        SessionClosed = "session_closed",
        /// A signal asked the bridge to end.
        Shutdown = "shutdown",
        /// A rule of the person's rejects such questions.
        Policy = "policy",
    }
}

/// The responder that settled a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Provenance {
    /// The kind of responder.
    pub responder: Responder,
    /// The name that the responder gave itself, such as that of a client in `initialize`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Provenance {
    /// Returns the bridge itself, which settles a question because of something that happened.
    pub fn bridge() -> Self {
        Provenance { responder: Responder::Bridge, name: None }
    }
}

open_enum! {
    /// The kinds of responders.
    pub enum Responder {
        /// The client, over ACP.
        Client = "client",
        /// The person, at the dialog that the agent itself shows, such as in its terminal.
        Dialog = "dialog",
        /// The bridge itself, because of something that happened.
        Bridge = "bridge",
        /// A person or a script at the command line.
        CommandLine = "command_line",
        /// A person at the full-screen inbox in a terminal.
        Terminal = "terminal",
        /// A client of the REST interface.
        Http = "http",
        /// A client of the control protocol.
        Rpc = "rpc",
        /// A person at the page that the HTTP server shows in a browser.
        Page = "page",
        /// A person at a notification: of the desktop, or of a phone.
        Notification = "notification",
        /// A person on another machine, by the name that the broker between them knows.
        Fleet = "fleet",
        /// A rule that the person wrote beforehand, by its name.
        Rule = "rule",
    }
}

/// The placeholder of a secret value of any type.
pub const REDACTED: &str = "(secret)";

/// The values of a question's fields, by field name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The chosen or typed value of each field. A field without a value is absent. Once the question is settled, a
    /// value of a secret field is the text `(secret)`.
    pub values: BTreeMap<String, Value>,
    /// Notes on fields, by field name. Once the question is settled, a note on a secret field is the text `(secret)`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
    /// The images that the person adds, as they were given: the asker alone gets their data, which is written anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty", serialize_with = "image::without_data")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Image>"))]
    pub images: Vec<Image>,
}

impl Answer {
    /// Returns the answer that has one value, a text, for the field of this name.
    pub fn text(field: &str, text: impl Into<String>) -> Self {
        Answer { values: [(field.to_owned(), Value::Text(text.into()))].into(), ..Answer::default() }
    }

    /// Returns whether nothing is chosen, written or noted, whatever values stand for that.
    pub fn is_blank(&self) -> bool {
        let is_nothing = |value: &Value| match value {
            Value::Text(text) => text.trim().is_empty(),
            Value::Many(texts) => texts.iter().all(|text| text.trim().is_empty()),
            Value::Null => true,
            Value::Flag(_) | Value::Number(_) => false,
        };
        self.values.values().all(is_nothing)
            && self.notes.values().all(|note| note.trim().is_empty())
            && self.images.is_empty()
    }

    /// Returns about how many bytes it takes in memory. An entry of a list takes more than its text, which may be as
    /// short as three bytes of JSON.
    pub fn bytes(&self) -> usize {
        let text = |text: &String| size_of::<String>() + text.len();
        let value = |value: &Value| match value {
            Value::Text(given) => given.len(),
            Value::Many(texts) => texts.iter().map(text).sum(),
            Value::Flag(_) | Value::Number(_) | Value::Null => 0,
        };
        let values = self.values.iter().map(|(name, given)| text(name) + size_of::<Value>() + value(given));
        let notes = self.notes.iter().map(|(name, note)| text(name) + text(note));
        let images = self.images.iter().map(|image| size_of::<Image>() + image.data.len());
        values.chain(notes).chain(images).sum()
    }

    /// Leaves out the values of secret fields, the notes on them, and the images, which nobody has any more, for an answer
    /// that others may complete.
    #[must_use]
    pub fn without_secrets(mut self, question: &Question) -> Self {
        self.images.clear();
        for field in question.fields.iter().filter(|field| field.secret) {
            self.values.remove(&field.name);
            self.notes.remove(&field.name);
        }
        self
    }

    /// Replaces the values of secret fields and the notes on them by [`REDACTED`], and lets the data of images go, for
    /// everyone but the asker. A note may say what the value is.
    #[must_use]
    pub fn redacted(mut self, question: &Question) -> Self {
        for image in &mut self.images {
            image.data = ImageData::Elsewhere;
        }
        for field in question.fields.iter().filter(|field| field.secret) {
            if let Some(value) = self.values.get_mut(&field.name) {
                *value = Value::Text(REDACTED.to_owned());
            }
            if let Some(note) = self.notes.get_mut(&field.name) {
                REDACTED.clone_into(note);
            }
        }
        self
    }

    /// Returns the canonical form of the answer, for comparison: the chosen options in the order of their values, and
    /// whole numbers without a fraction.
    pub fn canonical(mut self) -> Self {
        for value in self.values.values_mut() {
            match value {
                Value::Many(texts) => texts.sort_unstable(),
                Value::Number(number) => *number = canonical(number),
                Value::Text(_) | Value::Flag(_) | Value::Null => {}
            }
        }
        self
    }
}

/// Returns a number in its canonical form: a whole one has no fraction.
pub fn canonical(number: &Number) -> Number {
    // Below 2^53, an `f64` has an exact value for each integer.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let whole = |value: &f64| value.fract() == 0.0 && value.abs() < EXACT;
    match number.as_f64().filter(whole) {
        // `{:.0}` prints no fraction, and the addition takes the sign from a negative zero.
        Some(value) => {
            serde_json::from_str(&format!("{:.0}", value + 0.0)).unwrap_or_else(|_| number.clone())
        }
        None => number.clone(),
    }
}

/// The value of one field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// A text, or the value of the chosen option.
    Text(String),
    /// The values of the chosen options, and added free texts.
    Many(Vec<String>),
    /// True or false, or yes or no.
    Flag(bool),
    /// A number.
    Number(#[cfg_attr(feature = "schema", schemars(with = "f64"))] Number),
    /// Null, where a field takes it.
    Null,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::{Origin, input::AnswerInput};

    #[test]
    fn an_outcome_is_one_tagged_object() {
        let answer: Answer = serde_json::from_value(json!({ "values": { "f": "a" } })).expect("an answer");
        for (outcome, expected) in [
            (Outcome::Answered(answer), json!({ "status": "answered", "values": { "f": "a" } })),
            (Outcome::Rejected(Reason::User), json!({ "status": "rejected", "reason": "user" })),
            (Outcome::Failed, json!({ "status": "failed" })),
        ] {
            let written = serde_json::to_value(&outcome).expect("JSON");
            assert_eq!(written, expected);
            assert_eq!(serde_json::from_value::<Outcome>(written).expect("an outcome"), outcome);
        }
    }

    #[test]
    fn an_outcome_of_another_version_survives_a_round_trip() {
        for json in [
            json!({ "status": "escalated", "to": ["a"] }),
            json!({ "status": "rejected", "reason": "of_next_year" }),
            json!({ "status": "answered", "pages": 2 }),
            json!({ "status": "answered", "values": { "f": { "x": 1, "y": 2 } } }),
            json!({ "status": "rejected", "reason": "x".repeat(99) }),
            json!({ "status": 5 }),
            json!({}),
        ] {
            let outcome: Outcome = serde_json::from_value(json.clone()).expect("an outcome");
            assert_eq!(serde_json::to_value(&outcome).expect("JSON"), json);
        }
    }

    #[test]
    fn unknown_members_beside_known_ones_are_ignored_and_optional_ones_may_be_missing() {
        let read = |json| serde_json::from_value::<Outcome>(json).expect("an outcome");
        assert_eq!(
            read(json!({ "status": "answered", "values": {}, "mood": "grim" })),
            Outcome::Answered(Answer::default())
        );
        assert_eq!(
            read(json!({ "status": "rejected", "reason": "user", "mood": 1 })),
            Outcome::Rejected(Reason::User)
        );
        assert_eq!(read(json!({ "status": "failed", "mood": [] })), Outcome::Failed);
        let provenance = json!({ "responder": "phone", "app": "x" });
        let provenance: Provenance = serde_json::from_value(provenance).expect("a provenance");
        assert_eq!((provenance.responder.name(), provenance.name), ("phone", None));
    }

    #[test]
    fn values_of_secret_fields_and_notes_on_them_are_left_out_or_redacted() {
        let fields = json!([
            { "name": "s", "label": "S", "kind": "number", "secret": true },
            { "name": "t", "label": "T", "kind": "text", "secret": true },
            { "name": "u", "label": "U", "kind": "text" },
        ]);
        let question = Question::new(Origin::Kiro, "q", serde_json::from_value(fields).expect("fields"));
        let answer = json!({ "values": { "s": 7, "u": "a" }, "notes": { "s": "it is 7", "u": "b" } });
        let answer: Answer = serde_json::from_value(answer).expect("an answer");
        let written = |answer: Answer| serde_json::to_value(answer).expect("JSON");
        assert_eq!(
            written(answer.clone().redacted(&question)),
            json!({ "values": { "s": "(secret)", "u": "a" }, "notes": { "s": "(secret)", "u": "b" } })
        );
        assert_eq!(
            written(answer.without_secrets(&question)),
            json!({ "values": { "u": "a" }, "notes": { "u": "b" } })
        );
    }

    #[test]
    fn the_data_of_images_is_in_no_record() {
        let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAAA=";
        let question = Question::new(Origin::Mcp, "q", Vec::new());
        let answer: Answer =
            serde_json::from_value(json!({ "values": {}, "images": [{ "data": data }] })).expect("an answer");
        assert!(answer.images[0].data.get().is_some() && answer.bytes() > 29 && !answer.is_blank());
        let written = serde_json::to_value(&answer).expect("JSON");
        assert_eq!((&written["images"][0]["bytes"], written["images"][0].get("data")), (&json!(29), None));
        let passed = serde_json::to_value(AnswerInput::from(answer.clone())).expect("JSON");
        assert_eq!(passed["images"][0]["data"], data, "it reaches the process that has the asker");
        let redacted = answer.clone().redacted(&question);
        assert!(redacted.images[0].data.get().is_none());
        assert_eq!(redacted, answer, "the same answer given again is the same");
        assert!(answer.without_secrets(&question).images.is_empty());
    }

    #[test]
    fn one_answer_has_one_canonical_spelling() {
        let spelled = |values: &str| {
            let answer: Answer =
                serde_json::from_str(&format!(r#"{{"values":{{"f":{values}}}}}"#)).expect(values);
            serde_json::to_string(&answer.canonical()).expect("JSON")
        };
        for (one, other) in [
            (r#"["b","a"]"#, r#"["a","b"]"#),
            ("-5.0", "-5"),
            ("5e2", "500"),
            ("-0.0", "0"),
            ("9007199254740993", "9007199254740993"),
        ] {
            assert_eq!(spelled(one), spelled(other), "{one} is {other}");
        }
        for (one, other) in [
            ("5", "5.5"),
            ("9007199254740993", "9007199254740995"),
            ("0.1", "0.2"),
            ("5", r#""5""#),
            (r#"["a"]"#, r#"["a","b"]"#),
        ] {
            assert_ne!(spelled(one), spelled(other), "{one} is not {other}");
        }
    }
}
