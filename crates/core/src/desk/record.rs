//! A question as responders see it: its text, its state, its settlement, the decision about the same question when it
//! was asked before, and a question that was lost with its bridge. Which questions count as the same or as lost, and
//! storing them, is left to the journal.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{BridgeName, QuestionId, Timestamp};
use crate::{
    dialect::program,
    question::{
        Allowed, Answer, Context, Image, Outcome, Provenance, Purpose, Question, encoding::open_enum,
        json_text,
    },
};

open_enum! {
    /// The state of a question.
    #[derive(Default)]
    pub enum State {
        /// It can be answered.
        #[default]
        Open = "open",
        /// A responder's answer or rejection was accepted and is being delivered. `settlement` appears once the asker
        /// has it (I9).
        Delivering = "delivering",
        /// It ended: `settlement` says how.
        Settled = "settled",
        /// Its bridge disappeared: it is not known whether and how it was settled.
        Lost = "lost",
    }
}

/// A question, from when it opens until it is forgotten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "QuestionRecord"))]
pub struct Record {
    /// Its ID, unique on the machine.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: QuestionId,
    /// The name of the bridge that holds the question.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub bridge: BridgeName,
    /// The state of the question.
    #[serde(default)]
    pub state: State,
    /// The question.
    pub question: Arc<Question>,
    /// When the question was asked, by RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub opened_at: Timestamp,
    /// When the question expires, by RFC 3339. Absent if it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub deadline: Option<Timestamp>,
    /// Whether four fifths of its time have passed, so that it expires soon.
    #[serde(default)]
    pub expiring: bool,
    /// Until when a person has set it aside, by RFC 3339: lists show it last, and nobody is notified of it. Absent if it
    /// is not set aside. It can be answered all the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub later: Option<Timestamp>,
    /// Whether other responders must answer: the client cannot show the question, or left it to them.
    #[serde(default)]
    pub elsewhere: bool,
    /// How often the question has changed since it opened. An answer counts only for the edition that its responder saw.
    #[serde(default, skip_serializing_if = "is_first")]
    pub edition: u32,
    /// Whether the turn in which it was asked is over: the agent may not read the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub turn_over: bool,
    /// The answers that the client gave before it left the rest to other responders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Answer>,
    /// How the same question ended when it was asked before, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Box<EarlierDecision>>,
    /// Whether it is known what led to the question. The process that has the question tells it by request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_context: bool,
    /// What led to the question, where this process has it. It is part of no list, no event and no journal.
    #[serde(skip)]
    pub context: Option<Arc<Context>>,
    /// How the question was settled. Absent while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settlement: Option<Box<Settlement>>,
    /// What became of what a program was allowed to do, where the program said so.
    #[serde(rename = "use", default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Box<Use>>,
}

impl Record {
    /// Returns the record of a question that opens.
    pub fn new(id: QuestionId, question: Arc<Question>, opened_at: Timestamp) -> Self {
        Record {
            bridge: id.bridge.clone(),
            id,
            state: State::Open,
            question,
            opened_at,
            deadline: None,
            expiring: false,
            later: None,
            elsewhere: false,
            edition: 0,
            turn_over: false,
            kept: None,
            earlier: None,
            has_context: false,
            context: None,
            settlement: None,
            used: None,
        }
    }

    /// Returns the record with what led to its question.
    #[must_use]
    pub fn after(mut self, context: Option<Arc<Context>>) -> Self {
        (self.has_context, self.context) = (context.is_some(), context);
        self
    }

    /// Returns an image of its question. They are numbered from 1.
    pub fn image(&self, number: usize) -> Option<&Image> {
        self.question.images.get(number.checked_sub(1)?)
    }

    /// Returns the record with this settlement, in which secrets are redacted.
    #[must_use]
    pub fn settled(mut self, settlement: Settlement) -> Self {
        self.state = State::Settled;
        self.settlement = Some(Box::new(settlement.redacted(&self.question)));
        self
    }

    /// Returns whether it is neither settled nor lost: it is listed as waiting. A state of another version counts as
    /// open unless there is a settlement, so that no question is hidden.
    pub fn is_open(&self) -> bool {
        self.settlement.is_none() && !matches!(self.state, State::Settled | State::Lost)
    }

    /// Returns the sort key for the age of a question. The number decides between questions of the same millisecond.
    pub fn age(&self) -> impl Ord + '_ {
        (self.opened_at, &self.bridge, self.id.asker, self.id.number)
    }

    /// Returns how many bytes the record takes as JSON, which is about what it takes in memory. Each call serializes
    /// the record: a caller that needs the size again stores it.
    pub fn size(&self) -> usize {
        // Most records fit into this buffer, so it is not copied as it grows.
        let mut json = Vec::with_capacity(2048);
        // Serialization cannot fail: the maps in our own types have strings as keys.
        serde_json::to_writer(&mut json, self).map_or(0, |()| json.len())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_first(edition: &u32) -> bool {
    *edition == 0
}

/// How a question was settled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Settlement {
    /// The outcome: answered, rejected or failed.
    pub outcome: Outcome,
    /// The responder that settled it.
    pub by: Provenance,
    /// When it was settled, by RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub at: Timestamp,
    /// The reason of a rejection, in the person's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// How many milliseconds a client took to decide, if a person cannot be that fast: the client decided by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reaction_ms: Option<u32>,
    /// The answer as JSON that fits the `schema` of the question, where a program sent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Box<Json>>,
    /// What is allowed, where a program asked for leave and got it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Box<Grant>>,
}

/// What a program is allowed to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// The digest of the action that was decided: that of the question, or of the one with changed arguments.
    pub digest: String,
    /// When the approval ends, by RFC 3339. Absent if it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub expires: Option<Timestamp>,
    /// The arguments, where the person changed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Json>,
}

impl Settlement {
    /// Returns the settlement by this responder at this time.
    pub fn new(outcome: Outcome, by: Provenance, at: Timestamp) -> Self {
        Settlement { outcome, by, at, remark: None, reaction_ms: None, value: None, grant: None }
    }

    /// Returns the settlement with what its outcome means to the program that asked.
    #[must_use]
    pub(super) fn for_program(mut self, question: &Question) -> Self {
        let Outcome::Answered(answer) = &self.outcome else { return self };
        self.value = program::value(question, answer).map(Box::new);
        let expires =
            question.action.as_deref().and_then(|action| action.grant).map(|time| self.at.after(time));
        let grant = |Allowed { digest, arguments }| Box::new(Grant { digest, expires, arguments });
        self.grant = Allowed::by(question, answer).map(grant);
        self
    }

    /// Returns a close upper bound of its size as JSON.
    pub fn most_json(&self) -> usize {
        /// The names of its members, the time, and the punctuation.
        const MEMBERS: usize = 125;
        // Only programs get these. Serializing them cannot fail.
        let value = self.value.as_ref().and_then(|value| serde_json::to_string(value).ok());
        let grant = self.grant.as_ref().and_then(|grant| serde_json::to_string(grant).ok());
        let json: usize = [value, grant].into_iter().flatten().map(|json| json.len()).sum();
        let remark = self.remark.as_deref().map_or(0, json_text);
        MEMBERS + self.outcome.most_json() + self.by.most_json() + remark + json
    }

    /// Redacts the values of secret fields and the notes on them, for everyone but the asker.
    #[must_use]
    pub fn redacted(mut self, question: &Question) -> Self {
        if let Outcome::Answered(answer) = self.outcome {
            self.outcome = Outcome::Answered(answer.redacted(question));
        }
        if question.fields.iter().any(|field| field.secret) {
            self.value = None;
        }
        self
    }
}

/// What became of what a program was allowed to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Use {
    /// When the program took the approval, which is spent since, by RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub consumed_at: Option<Timestamp>,
    /// What the program reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// When it reported that, by RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub reported_at: Option<Timestamp>,
}

/// How something ended that a program was allowed to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "Report"))]
pub struct Report {
    /// Whether it was done.
    pub status: ReportStatus,
    /// The program's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

open_enum! {
    /// Whether something that a program was allowed to do was done.
    pub enum ReportStatus {
        /// It was done.
        Succeeded = "succeeded",
        /// It failed.
        Failed = "failed",
    }
}

/// The decision about an earlier question that is identical to an open one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(rename = "Earlier", title = "Earlier"))]
pub struct EarlierDecision {
    /// The ID of the earlier question.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: QuestionId,
    /// The decision.
    pub outcome: Outcome,
    /// The responder that decided it.
    pub by: Provenance,
    /// When it was decided, by RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub at: Timestamp,
    /// Whether the journal says that the asker received it.
    pub was_delivered: bool,
    /// Whether the asker may have received it nevertheless: its delivery had begun when the bridge or the agent ended.
    /// If both are false, no part of it reached the asker.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_have_arrived: bool,
}

/// A question that was open when its bridge ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "LostQuestion"))]
pub struct LostQuestion {
    /// The record, as it was noted last. Its state is `lost`.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(with = "Record"))]
    pub record: Arc<Record>,
    /// The decision, if the asker may not have received it. When the same session asks the same again, it is
    /// given without asking, or offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Settlement>,
    /// Whether the asker may have received the decision: its delivery had begun.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_have_arrived: bool,
    /// The question that is the same and came later.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub replaced_by: Option<QuestionId>,
}

impl LostQuestion {
    /// Returns whether the question has an answer. The asker may not have received that answer.
    pub fn has_answer(&self) -> bool {
        self.accepted.as_ref().is_some_and(|accepted| matches!(accepted.outcome, Outcome::Answered(_)))
    }

    /// Returns whether the bridge submits the answer by itself when the agent asks exactly the same question again.
    pub fn is_given_again(&self) -> bool {
        let asked = &self.record.question;
        // No answer is given twice without a person, and none to a permission or to a dangerous question (I12).
        self.has_answer()
            && !self.may_have_arrived
            && !asked.dangerous
            && asked.purpose != Purpose::Permission
    }

    /// Returns about how many bytes it takes as JSON.
    pub fn size(&self) -> usize {
        self.record.size() + self.accepted.as_ref().map_or(0, Settlement::most_json)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::desk::samples::question;

    #[test]
    fn a_record_of_another_version_is_read_and_written_again() {
        let question = json!({
            "questionId": "q", "message": "Why?", "origin": "of_next_year", "purpose": "confession",
            "dangerous": false, "blocking": true,
            "fields": [{ "name": "f", "label": "F", "required": true, "kind": "drawing", "colours": ["red"] }],
        });
        let mut json = json!({
            "id": "b-1", "bridge": "b", "state": "pondering", "question": question,
            "openedAt": "2026-11-21T00:00:00.000Z", "expiring": false, "elsewhere": false,
        });
        let record: Record = serde_json::from_value(json.clone()).expect("a record");
        assert!(record.is_open(), "a state of another version hides no question");
        assert_eq!(serde_json::to_value(&record).expect("JSON"), json);
        json["mood"] = "grim".into();
        json["question"]["mood"] = "grim".into();
        assert_eq!(serde_json::from_value::<Record>(json.clone()).expect("a record"), record);
        json["settlement"] = json!({
            "outcome": { "status": "dreamt", "depth": 2 },
            "by": { "responder": "phone", "name": "Ada" },
            "at": "2026-11-21T00:00:01.000Z",
        });
        let record: Record = serde_json::from_value(json.clone()).expect("a record");
        assert!(!record.is_open());
        let written = serde_json::to_value(&record).expect("JSON");
        assert_eq!(written["settlement"], json["settlement"]);
    }

    #[test]
    fn names_of_another_version_survive_in_a_state() {
        for name in ["pondering", "Open", ""] {
            let json = format!("{name:?}");
            let state: State = serde_json::from_str(&json).expect("a state");
            assert!(matches!(state, State::Other(_)));
            assert_eq!((state.name(), serde_json::to_string(&state).expect("JSON")), (name, json));
        }
        assert_eq!(serde_json::from_str::<State>("\"delivering\"").expect("a state"), State::Delivering);
    }

    #[test]
    fn optional_members_that_are_missing_have_their_defaults() {
        let json = json!({
            "id": "b-1", "bridge": "b", "openedAt": "1970-01-01T00:00:00.000Z",
            "question": question("Why?", None),
        });
        let record: Record = serde_json::from_value(json).expect("a record");
        let id = "b-1".parse().expect("an ID");
        assert_eq!(record, Record::new(id, question("Why?", None), Timestamp::default()));
    }

    #[test]
    fn what_a_settlement_takes_as_json_is_known_without_writing_it() {
        let text = "q\"\\\n\u{1}é";
        let values =
            json!({ text: text, "m": [text, text, ""], "f": false, "n": -1.234_567_890_123_456_7e-300_f64 });
        for outcome in [
            json!({ "status": "answered", "values": values, "notes": { text: text, "m": text } }),
            json!({ "status": "answered", "values": {} }),
            json!({ "status": "rejected", "reason": "replied_in_chat" }),
            json!({ "status": "failed" }),
            json!({ "status": "dreamt", "depth": { text: [text] } }),
        ] {
            let by = json!({ "responder": "command_line", "name": text });
            let at = "2026-11-21T00:00:00.000Z";
            let settlement = json!({ "outcome": outcome, "by": by, "at": at, "remark": text });
            let settlement: Settlement = serde_json::from_value(settlement).expect("a settlement");
            let (json, most) =
                (serde_json::to_string(&settlement).expect("JSON").len(), settlement.most_json());
            assert!((json..json + 200).contains(&most), "{most} is not a little more than {json}");
        }
    }

    #[test]
    fn the_size_is_that_of_the_json() {
        let id = "b-1".parse().expect("an ID");
        let record = Record::new(id, question("\u{1}Wä?\n", Some("s")), Timestamp::default());
        assert_eq!(record.size(), serde_json::to_string(&record).expect("JSON").len());
    }
}
