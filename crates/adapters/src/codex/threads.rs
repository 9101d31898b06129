//! The threads of an app server: which of them are at work, and the calls that join and leave them.
//!
//! A thread is joined when it begins to work, and not only when it waits for the user. The reason is that file changes
//! are in an item before the request to make them, and only a client that has joined gets that item. A thread is left
//! once it is idle.

use std::{
    collections::{BTreeMap, VecDeque},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use serde_json::{Value as Json, json, value::RawValue};

use super::message::{
    self, CodexMessage, Effect, Effects, LoadedThreads, OVERLOADED, Status, Thread, ThreadMessage,
};
use crate::limits;

/// The delay before repeating a call that the overloaded server refused.
const RETRY: Duration = Duration::from_millis(500);

/// The time that open requests have to arrive after all threads were read.
const SETTLING: Duration = Duration::from_millis(500);

/// A call to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ThreadCall {
    Initialize,
    /// Lists the loaded threads, from this cursor on.
    List(Option<String>),
    /// Reads the status of a thread.
    Read(String),
    /// Subscribes to a thread. The server then sends its open requests.
    Resume(String),
    Unsubscribe(String),
}

#[derive(Debug, Default)]
struct KnownThread {
    folder: Option<Arc<str>>,
    /// The file with all that the model and its tools said.
    record: Option<Arc<PathBuf>>,
    is_joined: bool,
}

/// The threads, and the calls about them.
#[derive(Debug, Default)]
pub(super) struct Threads {
    known: BTreeMap<String, KnownThread>,
    last: u64,
    calls: BTreeMap<u64, ThreadCall>,
    /// Calls that wait until there is room for them.
    waiting: VecDeque<ThreadCall>,
    /// Calls that the server refused for now.
    retries: Vec<(Duration, ThreadCall)>,
    is_connected: bool,
    /// Whether some threads of this connection have not been read yet.
    is_listing: bool,
    /// The time at which the open requests of all threads count as received.
    settled: Option<Duration>,
}

impl Threads {
    pub(super) fn connected(&mut self, effects: &mut Effects) {
        (self.is_connected, self.is_listing) = (true, true);
        self.call(ThreadCall::Initialize, effects);
    }

    pub(super) fn disconnected(&mut self) {
        self.calls.clear();
        self.waiting.clear();
        self.retries.clear();
        (self.is_connected, self.settled) = (false, None);
        // Folders and records stay valid, but subscriptions end with the connection.
        self.known.values_mut().for_each(|known| known.is_joined = false);
    }

    /// Returns the folder of a thread.
    pub(super) fn folder(&self, thread: &str) -> Option<Arc<str>> {
        self.known.get(thread)?.folder.clone()
    }

    /// Returns the file with all that the model and its tools said in a thread.
    pub(super) fn record(&self, thread: &str) -> Option<Arc<PathBuf>> {
        self.known.get(thread)?.record.clone()
    }

    /// Returns whether a thread is joined, or is about to be.
    pub(super) fn has_joined(&self, thread: &str) -> bool {
        self.known.get(thread).is_some_and(|known| known.is_joined)
    }

    /// Returns whether a thread is being left. Requests that the server still sends for it are stale: it repeats them
    /// after a join.
    pub(super) fn is_leaving(&self, thread: &str) -> bool {
        self.calls.values().any(|call| matches!(call, ThreadCall::Unsubscribe(left) if left == thread))
    }

    /// Forgets a thread that is no longer loaded.
    pub(super) fn forget(&mut self, thread: &str) {
        self.known.remove(thread);
    }

    /// Joins a thread that is at work, and leaves one that is idle: a thread is not unloaded while it has subscribers.
    pub(super) fn status(&mut self, thread: &str, status: &Status, effects: &mut Effects) {
        let known = self.known(thread);
        if status.is_active() && !known.is_joined {
            // `is_joined` is set before the reply arrives, so that the next status does not join the thread again.
            known.is_joined = true;
            self.call(ThreadCall::Resume(thread.to_owned()), effects);
        } else if status.is_over() && known.is_joined {
            known.is_joined = false;
            self.call(ThreadCall::Unsubscribe(thread.to_owned()), effects);
        }
    }

    /// Records the folder of a thread, and the path of its record.
    pub(super) fn learn(&mut self, thread: &Thread) {
        if let Some(cwd) = thread.cwd.as_deref() {
            self.known(&thread.id).folder = Some(cwd.into());
        }
        if let Some(path) = &thread.path {
            self.known(&thread.id).record = Some(Arc::new(path.clone()));
        }
    }

    fn known(&mut self, thread: &str) -> &mut KnownThread {
        if !self.known.contains_key(thread) {
            self.make_room();
        }
        self.known.entry(thread.to_owned()).or_default()
    }

    pub(super) fn response(
        &mut self,
        id: &str,
        message: &CodexMessage<'_>,
        now: Duration,
        effects: &mut Effects,
    ) {
        let Some(call) = id.parse().ok().and_then(|id: u64| self.calls.remove(&id)) else { return };
        match &message.error {
            Some(error) => self.refused(call, error, now),
            None => self.done(call, message.result, effects),
        }
        self.go_on(now, effects);
    }

    fn refused(&mut self, call: ThreadCall, error: &Json, now: Duration) {
        if error["code"].as_i64() == Some(OVERLOADED) {
            self.retries.push((now.saturating_add(RETRY), call));
            return;
        }
        tracing::debug!(?call, %error, "Codex refuses a call");
        if let ThreadCall::Resume(thread) = call
            && let Some(known) = self.known.get_mut(&thread)
        {
            // Lets the next status of the thread join it again.
            known.is_joined = false;
        }
    }

    fn done(&mut self, call: ThreadCall, result: Option<&RawValue>, effects: &mut Effects) {
        match call {
            ThreadCall::Initialize => {
                effects.push_back(Effect::Send(message::notification("initialized")));
                self.call(ThreadCall::List(None), effects);
            }
            ThreadCall::List(_) => {
                let Some(LoadedThreads { data, next_cursor }) = message::read(result) else { return };
                for thread in data.into_iter().take(limits::CODEX_THREADS) {
                    self.call(ThreadCall::Read(thread), effects);
                }
                // The list of waiting calls stays bounded, however many threads the server has.
                if let Some(cursor) = next_cursor.filter(|_| self.waiting.len() < limits::CODEX_THREADS) {
                    self.call(ThreadCall::List(Some(cursor)), effects);
                }
            }
            ThreadCall::Read(_) | ThreadCall::Resume(_) => {
                if let Some(ThreadMessage { thread }) = message::read(result) {
                    self.learn(&thread);
                    // A joined thread is left only when a notification says that it is idle. The status in this result
                    // may be older than the notification.
                    if matches!(call, ThreadCall::Read(_)) {
                        self.status(&thread.id, &thread.status, effects);
                    }
                }
            }
            ThreadCall::Unsubscribe(_) => {}
        }
    }

    /// Makes a call, or lets it wait until others are done.
    fn call(&mut self, call: ThreadCall, effects: &mut Effects) {
        if !self.is_connected || self.waiting.contains(&call) {
            return;
        }
        // A call that a user waits for must not queue behind a list of threads.
        let is_urgent = matches!(call, ThreadCall::Resume(_) | ThreadCall::Unsubscribe(_));
        if !is_urgent && self.calls.len() >= limits::CODEX_CALLS {
            self.waiting.push_back(call);
            return;
        }
        self.last += 1;
        let (method, params) = match &call {
            ThreadCall::Initialize => ("initialize", message::initialize()),
            ThreadCall::List(None) => ("thread/loaded/list", json!({})),
            ThreadCall::List(Some(cursor)) => ("thread/loaded/list", json!({ "cursor": cursor })),
            ThreadCall::Read(thread) => ("thread/read", json!({ "threadId": thread, "includeTurns": false })),
            // The call does not ask for the turns: a thread can be long, and newer threads cannot be sent with all
            // their turns at once.
            ThreadCall::Resume(thread) => {
                ("thread/resume", json!({ "threadId": thread, "excludeTurns": true }))
            }
            ThreadCall::Unsubscribe(thread) => ("thread/unsubscribe", json!({ "threadId": thread })),
        };
        effects.push_back(Effect::Send(message::call(self.last, method, &params)));
        self.calls.insert(self.last, call);
    }

    /// Makes waiting calls while there is room.
    fn go_on(&mut self, now: Duration, effects: &mut Effects) {
        while self.calls.len() < limits::CODEX_CALLS
            && let Some(call) = self.waiting.pop_front()
        {
            self.call(call, effects);
        }
        let is_done = self.calls.is_empty() && self.retries.is_empty();
        if self.is_connected && self.is_listing && is_done {
            self.is_listing = false;
            self.settled = Some(now.saturating_add(SETTLING));
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.retries.iter().map(|(due, _)| *due).chain(self.settled).min()
    }

    pub(super) fn tick(&mut self, now: Duration, effects: &mut Effects) {
        let (due, later): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.retries).into_iter().partition(|(due, _)| *due <= now);
        self.retries = later;
        for (_, call) in due {
            self.call(call, effects);
        }
    }

    /// Returns `true` once: when the open requests of this connection count as received.
    pub(super) fn take_listed(&mut self, now: Duration) -> bool {
        self.settled.take_if(|due| *due <= now).is_some()
    }

    /// Forgets threads at a limit, first those that are not joined.
    fn make_room(&mut self) {
        if self.known.len() >= limits::CODEX_THREADS {
            self.known.retain(|_, known| known.is_joined);
        }
        if self.known.len() >= limits::CODEX_THREADS {
            self.known.pop_first();
        }
    }
}
