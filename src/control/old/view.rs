//! A question as those see it who answer from elsewhere.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

use crate::{
    acp::Submission,
    question::{Answer, Outcome, Provenance, Question, Reason},
};

/// A question, open or settled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "QuestionRecord"))]
pub struct Record {
    /// Its name: no other question on the machine has it. The beginning is enough where that is unique.
    pub id: String,
    /// The bridge that it waits in.
    pub bridge: String,
    /// What is asked.
    pub question: Arc<Question>,
    /// When it was asked, by RFC 3339.
    pub opened_at: String,
    /// When it ends by itself, by RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// Whether four fifths of its time are over.
    #[serde(default)]
    pub expiring: bool,
    /// Whether the client cannot show it, or left it to others.
    #[serde(default)]
    pub elsewhere: bool,
    /// What was answered already, where the rest is left to others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Answer>,
    /// What became of it; none while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settlement: Option<Settlement>,
}

impl Record {
    /// Returns a question that opens now.
    pub(crate) fn new(id: &str, bridge: &str, question: Arc<Question>, opened_at: String) -> Self {
        Record {
            id: id.to_owned(),
            bridge: bridge.to_owned(),
            question,
            opened_at,
            deadline: None,
            expiring: false,
            elsewhere: false,
            kept: None,
            settlement: None,
        }
    }
}

impl Record {
    /// Returns it as it is once this submission was accepted.
    pub(crate) fn settled(mut self, submission: Submission, by: Provenance) -> Self {
        let (outcome, remark) = match submission {
            Submission::Answer(answer) => (Outcome::Answered(answer), None),
            Submission::Reject(remark) => (Outcome::Rejected(Reason::User), remark),
            Submission::Extend(_) => return self,
        };
        let settlement = Settlement { outcome, by, at: timestamp(SystemTime::now()), remark };
        self.settlement = Some(settlement.without_secrets(&self.question));
        self
    }

    /// Returns what orders questions by their age: of those that one bridge asked in the same millisecond, the number
    /// tells.
    pub fn age(&self) -> impl Ord + '_ {
        // Times by RFC 3339 in one zone are in the order of their text.
        let number = self.id.rsplit_once('-').map(|(_, number)| (number.len(), number));
        (&*self.opened_at, &*self.bridge, number)
    }
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Settlement {
    /// Answered, rejected, or failed.
    pub outcome: Outcome,
    /// Who settled it.
    pub by: Provenance,
    /// When, by RFC 3339.
    pub at: String,
    /// Why it was rejected, in the words of who did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

impl Settlement {
    /// Leaves out what is not to be kept.
    pub(crate) fn without_secrets(mut self, question: &Question) -> Self {
        if let Outcome::Answered(answer) = &mut self.outcome {
            for field in question.fields.iter().filter(|field| field.secret) {
                answer.values.remove(&field.name);
            }
        }
        self
    }
}

/// The last second that RFC 3339 can say, since 1970.
const LAST: Duration = Duration::from_secs(253_402_300_799);

/// Says a time by RFC 3339, or the last that can be said: a deadline may be further away.
pub(crate) fn timestamp(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time.clamp(UNIX_EPOCH, UNIX_EPOCH + LAST)).to_string()
}

/// Says the time that is this long after another.
pub(crate) fn timestamp_after(time: SystemTime, passed: Duration) -> String {
    timestamp(time.checked_add(passed).unwrap_or(UNIX_EPOCH + LAST))
}
