//! The vocabulary of the core: the messages between Codex' app server and its clients, which are JSON-RPC without the
//! member `jsonrpc`, one request with its stage, and the effects by which the core tells its shell what to do. The
//! reaction to messages is left to `core.rs`, and the transitions between stages to `requests.rs`.

use std::{borrow::Cow, collections::VecDeque, path::PathBuf, sync::Arc, time::Duration};

use askbridge_core::{
    desk::Settlement,
    dialect::{
        Rejection,
        codex::{self, Changes, CodexReply},
    },
    question::{Answer, Context, Outcome, Provenance, Question, Reason, Responder},
};
use serde::Deserialize;
use serde_json::{Value as Json, json, value::RawValue};

use crate::limits;

/// A message of the app server, with the members that are read.
#[derive(Debug, Deserialize)]
pub(super) struct CodexMessage<'a> {
    #[serde(borrow)]
    pub id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
    pub error: Option<Json>,
}

/// The error code by which the server asks to try again later.
pub(super) const OVERLOADED: i64 = -32001;

/// The thread, the turn and the item of a request. They stay the same when the server sends the request again, over
/// another connection or after a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RequestPlace {
    // The two legacy approvals have these other names.
    #[serde(alias = "conversationId")]
    pub thread_id: Option<String>,
    pub turn_id: Option<String>,
    #[serde(alias = "callId")]
    pub item_id: Option<String>,
    pub approval_id: Option<String>,
}

/// A thread, with the members that are read.
#[derive(Debug, Deserialize)]
pub(super) struct Thread {
    pub id: String,
    pub cwd: Option<String>,
    pub path: Option<PathBuf>,
    #[serde(default)]
    pub status: Status,
}

/// The status of a thread.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Status {
    #[serde(rename = "type")]
    pub kind: String,
}

impl Status {
    /// Returns whether a turn runs, even if it waits for the user.
    pub(super) fn is_active(&self) -> bool {
        self.kind == "active"
    }

    /// Returns whether no turn runs. An unknown status is neither active nor over.
    pub(super) fn is_over(&self) -> bool {
        matches!(&*self.kind, "idle" | "notLoaded" | "systemError")
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Turn {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub status: Json,
}

/// The results and parameters that have a thread in them.
#[derive(Debug, Deserialize)]
pub(super) struct ThreadMessage {
    pub thread: Thread,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoadedThreads {
    pub data: Vec<String>,
    pub next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatusChanged {
    pub thread_id: String,
    pub status: Status,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResolvedRequest {
    pub thread_id: Option<String>,
    pub request_id: Json,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnCompleted {
    pub thread_id: String,
    pub turn: Turn,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ItemMessage<'a> {
    pub thread_id: Option<String>,
    #[serde(borrow)]
    pub item: &'a RawValue,
}

#[derive(Debug, Deserialize)]
pub(super) struct ThreadItem {
    #[serde(default)]
    pub id: String,
    #[serde(default)]
    pub status: Json,
}

/// Frequent notifications that this client does not need.
const UNWANTED: [&str; 10] = [
    "item/agentMessage/delta",
    "item/plan/delta",
    "item/reasoning/summaryTextDelta",
    "item/reasoning/summaryPartAdded",
    "item/reasoning/textDelta",
    "item/commandExecution/outputDelta",
    "item/fileChange/outputDelta",
    "turn/diff/updated",
    "thread/tokenUsage/updated",
    "account/rateLimits/updated",
];

pub(super) fn call(id: u64, method: &str, params: &Json) -> String {
    json!({ "id": id, "method": method, "params": params }).to_string()
}

pub(super) fn notification(method: &str) -> String {
    json!({ "method": method }).to_string()
}

/// Returns the response to a request. `id` is the raw JSON of the request's ID.
pub(super) fn response(id: &str, result: &RawValue) -> String {
    format!(r#"{{"id":{id},"result":{}}}"#, result.get())
}

pub(super) fn initialize() -> Json {
    json!({
        "clientInfo": { "name": "askbridge", "title": "askbridge", "version": env!("CARGO_PKG_VERSION") },
        "capabilities": { "experimentalApi": true, "optOutNotificationMethods": UNWANTED },
    })
}

/// Reads JSON as `T`. A value that is not understood is ignored.
pub(super) fn read<'a, T: Deserialize<'a>>(json: Option<&'a RawValue>) -> Option<T> {
    let json = json?.get();
    serde_json::from_str(json)
        .inspect_err(|error| tracing::debug!(%error, "a message of Codex is not understood"))
        .ok()
}

/// The next action of the shell.
#[derive(Debug)]
pub enum Effect {
    /// Send this message. If that fails, the connection is over.
    Send(String),
    /// Open this question, and remember it under the key. The core keeps this many bytes of the request beside it. What
    /// led to it is known, if anything is.
    Open(u64, Box<Question>, usize, Option<Arc<Context>>),
    /// Replace the text of an open question. The core keeps this many bytes beside it. If its decision is on its way, or
    /// there is no room, end the question, and pass it to `Core::left`.
    Amend(u64, Box<Question>, usize),
    /// Codex has received the decision about this question.
    Delivered(u64),
    /// It is unknown whether Codex has received the decision about this question.
    Undeliverable(u64),
    /// For a short time, look in the record of a thread for the result of the tool call that asked this question. Pass
    /// it to `Core::recorded`.
    Look(u64, Arc<PathBuf>, String),
    /// Codex ended this question.
    End(u64, Outcome, Provenance),
}

/// The effects of one call.
pub(super) type Effects = VecDeque<Effect>;

/// The agent's name, as responders see it.
pub(super) const NAME: &str = "Codex";

#[derive(Debug)]
pub(super) struct CodexRequest {
    /// The ID of the request on this connection.
    pub id: Json,
    pub method: String,
    pub place: RequestPlace,
    pub question: Box<Question>,
    /// The earlier texts of an approval whose changes may become others.
    pub amendable: Option<Box<Amendable>>,
    pub reply: CodexReply,
    pub stage: RequestStage,
}

/// The earlier texts of an approval of file changes.
#[derive(Debug)]
pub(super) struct Amendable {
    /// The approval without its changes.
    pub bare: Question,
    /// The approval as it was shown first.
    pub first: Question,
}

#[derive(Debug)]
pub(super) enum RequestStage {
    Open,
    /// The response was sent, and the server has not confirmed yet that the request is resolved.
    Sent {
        until: Duration,
        result: Box<RawValue>,
    },
    /// The request is resolved, but its outcome is not known yet.
    Ended(EndedRequest),
    /// The connection is over. A decision since then waits for the next connection.
    Lost {
        until: Duration,
        decided: Option<Box<RawValue>>,
    },
    /// The request is left to Codex' own dialog.
    Left,
}

/// A resolved request. If its outcome is unknown by the deadline, one is assumed.
#[derive(Debug)]
pub(super) struct EndedRequest {
    pub until: Duration,
    /// Our response, if it was sent before the request was resolved.
    pub sent: Option<Box<RawValue>>,
    /// Whether the outcome is being looked up in the thread's record.
    pub is_looked_up: bool,
    /// Whether the turn of the request was interrupted.
    pub is_interrupted: bool,
}

impl EndedRequest {
    /// Returns the assumed end of this question.
    pub(super) fn assumed(&self, key: u64) -> Effect {
        match (self.is_interrupted, &self.sent) {
            (true, _) => Effect::End(key, Outcome::Rejected(Reason::Cancelled), Provenance::bridge()),
            // If our response had counted, the record would have it by now.
            (false, Some(_)) => Effect::Undeliverable(key),
            // Somebody answered at Codex, but the answer itself is unknown.
            (false, None) => Effect::End(key, Outcome::Answered(Answer::default()), dialog()),
        }
    }
}

/// Returns the provenance of an answer at Codex' own dialog.
pub(super) fn dialog() -> Provenance {
    Provenance { responder: Responder::Dialog, name: Some(NAME.to_owned()) }
}

impl CodexRequest {
    pub(super) fn send(&mut self, result: Box<RawValue>, now: Duration, effects: &mut Effects) {
        effects.push_back(Effect::Send(response(&self.id.to_string(), &result)));
        self.stage = RequestStage::Sent { until: now.saturating_add(limits::ATTACH_ANSWER), result };
    }

    /// Returns the result for a decision. `None` for an end that no user decided.
    pub(super) fn result(&self, settlement: &Settlement) -> Option<Box<RawValue>> {
        match &settlement.outcome {
            Outcome::Answered(answer) => Some(self.reply.write_answer(&self.question, answer)),
            Outcome::Rejected(Reason::User | Reason::Policy) => {
                // A rule stands for the user, so Codex gets the same rejection.
                let rejection = Rejection { reason: Reason::User, remark: settlement.remark.as_deref() };
                Some(self.reply.write_rejection(&self.question, rejection))
            }
            _ => None,
        }
    }

    /// Replaces the text by one with the present changes. Returns whether it is another one.
    pub(super) fn amend(&mut self, changes: &Changes) -> bool {
        let Some(texts) = self.amendable.as_deref() else { return false };
        let mut question = texts.bare.clone();
        changes.complete(&mut question);
        codex::contradict(&mut question, &texts.first);
        let is_other = question != *self.question;
        *self.question = question;
        is_other
    }

    /// Returns how many bytes are kept beside the question.
    pub(super) fn kept(&self) -> usize {
        let texts =
            |it: &Amendable| [&it.bare, &it.first].map(|text| text.weight(text.most_json())).iter().sum();
        self.reply.bytes() + self.amendable.as_deref().map_or(0, texts)
    }

    /// Returns whether the thread's record will have the answer. The record has the results of the tools that the
    /// model called.
    pub(super) fn is_recorded(&self) -> bool {
        matches!(self.reply, CodexReply::UserInput) && self.place.item_id.is_some()
    }

    /// Returns whether the request is resolved, and only the next message can tell its outcome.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.stage, RequestStage::Ended(EndedRequest { is_looked_up: false, .. }))
    }

    /// Returns whether its question is open on the desk, or on its way.
    pub(super) fn is_on_desk(&self) -> bool {
        !matches!(self.stage, RequestStage::Left)
    }

    pub(super) fn due(&self) -> Option<Duration> {
        match self.stage {
            RequestStage::Sent { until, .. }
            | RequestStage::Lost { until, .. }
            | RequestStage::Ended(EndedRequest { until, .. }) => Some(until),
            RequestStage::Open | RequestStage::Left => None,
        }
    }
}
