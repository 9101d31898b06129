//! The state of the sessions that the bridge follows: the running turns, the prompts that wait for one to end, and the
//! last tool calls. Updates of tool calls supply the session of a question that does not name its own, and the subject
//! of a permission, since some agents send either there alone.
//!
//! Updates are the bulk of all traffic. Most are distinguished from those of tool calls by comparing the bytes where
//! the last one had its kind, which takes a few nanoseconds; only updates of tool calls are read.

use std::{
    cell::Cell,
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use bytes::Bytes;
use memchr::memmem;

use crate::{
    limits,
    wire::{
        envelope::Message,
        frame::Verdict,
        id::{RequestId, key},
        scan,
    },
};

/// A prompt that waits for its session's running turn to end.
#[derive(Debug)]
pub(super) struct HeldPrompt {
    pub id: RequestId,
    pub session: String,
    pub line: Bytes,
}

/// The turns of all sessions. A turn runs from the prompt that goes to the agent to the response that comes back.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The session of each prompt, by the canonical form of its ID.
    running: BTreeMap<Arc<str>, String>,
    held: VecDeque<HeldPrompt>,
}

impl Turns {
    /// Returns whether the agent still owes the response to this prompt.
    pub(super) fn is_running(&self, id: &str) -> bool {
        self.running.contains_key(&*key(id))
    }

    /// Returns the session of this prompt, while the agent owes the response to it.
    pub(super) fn session(&self, id: &str) -> Option<&str> {
        self.running.get(&*key(id)).map(String::as_str)
    }

    /// Returns whether a turn is running in this session.
    pub(super) fn runs_in(&self, session: &str) -> bool {
        self.running.values().any(|running| running == session)
    }

    /// Returns the session whose turn is running, if it is only one.
    pub(super) fn only_session(&self) -> Option<&str> {
        let mut sessions = self.running.values();
        let first = sessions.next()?;
        sessions.all(|session| session == first).then_some(first)
    }

    /// Records that a prompt goes to the agent, which begins a turn. Beyond [`limits::TURNS`] a turn is not followed,
    /// but its prompt is forwarded all the same.
    pub(super) fn start(&mut self, id: &RequestId, session: String) {
        let fits = id.as_str().len() <= limits::ID && session.len() <= limits::SESSION;
        if fits && self.running.len() < limits::TURNS {
            self.running.insert(id.key(), session);
        }
    }

    /// Ends the turn of a prompt whose response has arrived. Returns its session.
    pub(super) fn end(&mut self, id: &str) -> Option<String> {
        self.running.remove(&*key(id))
    }

    /// Returns whether a prompt of this session is held already.
    pub(super) fn holds(&self, session: &str) -> bool {
        self.held.iter().any(|held| held.session == session)
    }

    /// Holds a prompt back. Returns it in the error if too many are held.
    pub(super) fn hold(&mut self, held: HeldPrompt) -> Result<(), HeldPrompt> {
        let size = self.held.iter().map(|held| held.line.len()).sum::<usize>() + held.line.len();
        if self.held.len() == limits::HELD_PROMPTS || size > limits::HELD_BYTES {
            return Err(held);
        }
        self.held.push_back(held);
        Ok(())
    }

    /// Takes out the prompt of this session that has waited longest.
    pub(super) fn release(&mut self, session: &str) -> Option<HeldPrompt> {
        let place = self.held.iter().position(|held| held.session == session)?;
        self.held.remove(place)
    }

    /// Takes out the held prompt with this id.
    pub(super) fn cancel(&mut self, id: &str) -> Option<HeldPrompt> {
        let place = self.held.iter().position(|held| held.id.is(id))?;
        self.held.remove(place)
    }

    /// Drops all held prompts.
    pub(super) fn clear_held(&mut self) {
        self.held.clear();
    }
}

/// The last tool calls, those with the latest update last.
#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    calls: VecDeque<ToolCall>,
    /// The sizes of all tool calls.
    bytes: usize,
    /// Where the last update had the name of its kind. An agent writes all updates of a session alike.
    place: Cell<usize>,
}

#[derive(Debug)]
struct ToolCall {
    id: String,
    session: String,
    /// The first update, which most often describes the tool call, and the last few.
    updates: Vec<Box<[u8]>>,
}

/// The member that says what an update is about, and how its value begins for tool calls.
const KIND: &[u8] = b"\"sessionUpdate\"";
const TOOL_CALL: &[u8] = b"\"tool_call";
/// The member that only updates of tool calls have.
const ID: &[u8] = b"\"toolCallId\"";
/// How many bytes of an update are searched for these members.
const HEAD: usize = 512;
/// Updates of a tool call that are remembered.
const UPDATES: usize = 4;

impl ToolCalls {
    /// Intercepts an update of a tool call. The bytes may be only the beginning of the update.
    pub(super) fn judge(&self, update: &[u8]) -> Verdict {
        let at = |place: usize| update.get(place..).and_then(|rest| rest.strip_prefix(KIND));
        let head = &update[..update.len().min(HEAD)];
        let behind = at(self.place.get()).or_else(|| {
            let place = memmem::find(head, KIND)?;
            self.place.set(place);
            at(place)
        });
        // If the kind stands further back, the ID stands before it: Claude writes its updates so.
        let Some(behind) = behind else {
            return if memmem::find(head, ID).is_some() { Verdict::Intercept } else { Verdict::Forward };
        };
        let value = behind.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start);
        match value {
            Some(value) if value.starts_with(TOOL_CALL) => Verdict::Intercept,
            // A line that repeats these bytes has a kind that begins alike, so it cannot be a tool call.
            Some(value) if value.len() > TOOL_CALL.len() => {
                Verdict::ForwardAlike(update.len() - value.len() + TOOL_CALL.len())
            }
            _ => Verdict::Forward,
        }
    }

    /// Remembers the session of the tool call in an update, and its description.
    pub(super) fn update(&mut self, message: &Message<'_>) {
        let Some(update) = message.param("update") else { return };
        let id = scan::member(update, "toolCallId").and_then(scan::text);
        let (Some(session), Some(id)) = (message.session(), id) else { return };
        if session.len() > limits::SESSION || id.len() > limits::ID {
            return;
        }
        // Agents that number their tool calls use the same IDs in each session.
        let known = self.calls.iter().rposition(|call| call.id == id && call.session == session);
        let mut call = match known.and_then(|place| self.calls.remove(place)) {
            Some(call) => {
                self.bytes -= call.size();
                call
            }
            None => ToolCall { id: id.into_owned(), session: session.into_owned(), updates: Vec::new() },
        };
        let kind = scan::member(update, "sessionUpdate").and_then(scan::text);
        if kind.is_some_and(|kind| kind == "tool_call") {
            // A new tool call may reuse an ID. The description of the earlier one must not be shown for it.
            call.updates.clear();
        }
        if update.len() <= limits::TOOL_CALL_UPDATE {
            if call.updates.len() == UPDATES {
                // The first update stays: it most often describes the tool call.
                call.updates.remove(1);
            }
            call.updates.push(update.into());
        }
        self.bytes += call.size();
        self.calls.push_back(call);
        while (self.calls.len() > limits::TOOL_CALLS || self.bytes > limits::TOOL_CALLS_BYTES)
            && let Some(oldest) = self.calls.pop_front()
        {
            self.bytes -= oldest.size();
        }
    }

    /// Returns the session of a tool call.
    pub(super) fn session(&self, id: &str) -> Option<&str> {
        self.calls.iter().rev().find(|call| call.id == id).map(|call| &*call.session)
    }

    /// Returns what updates said of a tool call, the latest first.
    pub(super) fn updates(&self, session: &str, id: &str) -> impl Iterator<Item = &[u8]> {
        let call = self.calls.iter().rev().find(|call| call.id == id && call.session == session);
        call.into_iter().flat_map(|call| call.updates.iter().rev()).map(|update| &**update)
    }
}

impl ToolCall {
    fn size(&self) -> usize {
        self.id.len() + self.session.len() + self.updates.iter().map(|update| update.len()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{limits, wire::scan};

    #[test]
    fn tool_calls_are_told_from_other_updates() {
        let calls = ToolCalls::default();
        let line = |update: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#
            )
        };
        let far = format!(r#"{{"content":"{}","sessionUpdate":"tool_call"}}"#, "x".repeat(600));
        for (update, is_tool_call) in [
            (r#"{"sessionUpdate":"tool_call","toolCallId":"t"}"#, true),
            (r#"{"sessionUpdate":"agent_message_chunk"}"#, false),
            (r#"{"toolCallId":"t", "sessionUpdate" : "tool_call_update"}"#, true),
            (r#"{"sessionUpdate":"plan","sessionUpdate":"tool_call"}"#, false),
            (r#"{"text":"\"sessionUpdate\":\"tool_call\""}"#, false),
            (r#"{"sessionUpdate"}"#, false),
            (&*far, false),
            (&*far.replacen('{', r#"{"toolCallId":"t","#, 1), true),
        ] {
            for _ in 0..2 {
                assert_eq!(calls.judge(line(update).as_bytes()).intercepts(), is_tool_call, "{update}");
            }
        }
        for short in ["", "{", r#"{"sessionUpdate""#, r#"{"sessionUpdate":"#] {
            assert!(!calls.judge(short.as_bytes()).intercepts(), "{short}");
        }
    }

    #[test]
    fn the_first_and_the_last_updates_of_the_last_tool_calls_are_kept() {
        let mut calls = ToolCalls::default();
        let mut update = |id: usize, text: &str| {
            let line = format!(
                r#"{{"method":"session/update","params":{{"sessionId":"s{id}","update":{{"sessionUpdate":"tool_call_update","toolCallId":"t{id}","title":"{text}"}}}}}}"#
            );
            calls.update(&Message::read(line.as_bytes()).expect("a message"));
            (calls.bytes, calls.updates("s1", "t1").count())
        };
        for number in 1..=6 {
            assert_eq!(update(1, &number.to_string()).1, number.min(UPDATES));
        }
        let long = "x".repeat(limits::TOOL_CALL_UPDATE - 100);
        for id in 2..2 * limits::TOOL_CALLS {
            assert!(update(id, &long).0 <= limits::TOOL_CALLS_BYTES);
        }
        assert_eq!((calls.session("t1"), calls.session("t511").is_some()), (None, true));
        let first = ["6", "5", "4", "1"];
        let mut calls = ToolCalls::default();
        for number in 1..=6 {
            let line = format!(
                r#"{{"params":{{"sessionId":"s","update":{{"toolCallId":"t","title":"{number}"}}}}}}"#
            );
            calls.update(&Message::read(line.as_bytes()).expect("a message"));
        }
        let titles: Vec<_> = calls
            .updates("s", "t")
            .map(|update| scan::text(scan::member(update, "title").unwrap_or_default()))
            .collect();
        assert_eq!(titles.iter().flatten().map(|title| &**title).collect::<Vec<_>>(), first);
    }

    #[test]
    fn tool_calls_are_kept_of_each_session_whose_turns_are_followed() {
        let (mut turns, mut calls) = (Turns::default(), ToolCalls::default());
        for (length, is_followed) in
            [(limits::ID + 1, true), (limits::SESSION, true), (limits::SESSION + 1, false)]
        {
            let session = "s".repeat(length);
            turns.start(&RequestId::new(&length.to_string()), session.clone());
            assert_eq!(turns.runs_in(&session), is_followed, "{length}");
            for id in 0..limits::TOOL_CALLS {
                let line =
                    format!(r#"{{"params":{{"sessionId":"{session}","update":{{"toolCallId":"{id}"}}}}}}"#);
                calls.update(&Message::read(line.as_bytes()).expect("a message"));
                assert_eq!(
                    calls.updates(&session, &id.to_string()).count(),
                    usize::from(is_followed),
                    "{length}"
                );
                assert!(calls.bytes <= limits::TOOL_CALLS_BYTES, "long sessions take room");
            }
        }
    }
}
