//! The messages between Codex' app server and its clients: JSON-RPC without the member `jsonrpc`.
//! What they lead to is left to `core.rs`.

use std::{borrow::Cow, path::PathBuf};

use serde::Deserialize;
use serde_json::{Value as Json, json, value::RawValue};

/// A message of the app server, as far as it is read.
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

/// The code of an error that asks to try again later.
pub(super) const OVERLOADED: i64 = -32001;

/// Where a request stands. A daemon that sends it again, to a connection or after a restart, says the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct RequestPlace {
    #[serde(alias = "conversationId")]
    pub thread_id: Option<String>,
    pub turn_id: Option<String>,
    #[serde(alias = "callId")]
    pub item_id: Option<String>,
    pub approval_id: Option<String>,
}

/// A thread, as far as it is read.
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
    /// Returns whether a turn runs. It may wait for its person.
    pub(super) fn is_active(&self) -> bool {
        self.kind == "active"
    }

    /// Returns whether no turn runs. A status that is not known is neither.
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

/// Notifications that a client of ours has no use for, and that come often.
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

/// Writes a response to a request, whose ID stands as it came.
pub(super) fn response(id: &str, result: &RawValue) -> String {
    format!(r#"{{"id":{id},"result":{}}}"#, result.get())
}

pub(super) fn initialize() -> Json {
    json!({
        "clientInfo": { "name": "askbridge", "title": "askbridge", "version": env!("CARGO_PKG_VERSION") },
        "capabilities": { "experimentalApi": true, "optOutNotificationMethods": UNWANTED },
    })
}

/// Reads JSON as `T`. What is not understood is ignored.
pub(super) fn read<'a, T: Deserialize<'a>>(json: Option<&'a RawValue>) -> Option<T> {
    let json = json?.get();
    serde_json::from_str(json)
        .inspect_err(|error| tracing::debug!(%error, "a message of Codex is not understood"))
        .ok()
}
