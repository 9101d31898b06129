//! The last tool calls that the agent told of, and whether each is over. Their updates supply the session of a question
//! that does not name its own, and the subject of a permission, since some agents send either there alone. What an ended
//! call was about is never what a later permission shows (I13): agents use the IDs of their calls again.
//!
//! Updates are the bulk of all traffic. Most are distinguished from those of tool calls by comparing the bytes where
//! the last one had its kind, which takes a few nanoseconds; only updates of tool calls are read.

use std::{borrow::Cow, cell::Cell, collections::VecDeque};

use memchr::memmem;

use super::heard;
use crate::{
    limits,
    question::SaidCall,
    wire::{envelope::Message, frame::Verdict, id::RequestId, scan},
};

/// The member that says what an update is about, and how its value begins for tool calls.
const KIND: &[u8] = b"\"sessionUpdate\"";
const TOOL_CALL: &[u8] = b"\"tool_call";
/// How the value begins for what an agent says of its work, in version 2 of ACP.
const STATE: &[u8] = b"\"state_update\"";
/// The member that only updates of tool calls have.
const ID: &[u8] = b"\"toolCallId\"";
/// How many bytes of an update are searched for its kind.
const HEAD: usize = 512;
/// Updates of a tool call that are remembered.
const UPDATES: usize = 4;
/// The states of a tool call that is over.
const OVER: [&str; 3] = ["completed", "failed", "cancelled"];

/// An update of a tool call.
#[derive(Debug)]
pub(super) struct CallUpdate<'a> {
    pub session: Cow<'a, str>,
    /// The call that it is about. `None` if only the beginning of the update is known, which does not name the call.
    pub call: Option<Cow<'a, str>>,
    /// The update as JSON. `None` if only its beginning is known.
    pub json: Option<&'a [u8]>,
    /// Whether it begins a call.
    begins: bool,
    /// Whether the call is over, if the update says so.
    pub is_over: Option<bool>,
    /// All that is known of the update.
    known: &'a [u8],
}

impl<'a> CallUpdate<'a> {
    /// Reads an update, or its beginning. `None` if it is not one of a tool call.
    pub(super) fn read(message: &Message<'a>, is_whole: bool) -> Option<Self> {
        let (update, session) = (message.param("update"), message.session());
        // The rest of a long update is unknown, also where it is the last member.
        let begun = message.params.filter(|_| !is_whole).and_then(|params| {
            let place = memmem::find(params, b"\"update\"")?;
            let behind = params.get(place + b"\"update\"".len()..)?.trim_ascii_start();
            behind.strip_prefix(b":").map(<[u8]>::trim_ascii_start)
        });
        let known = update.or(begun)?;
        let member = |name| scan::member(known, name).and_then(scan::text);
        let (kind, call, status) = (member("sessionUpdate"), member("toolCallId"), member("status"));
        // An update whose beginning names neither may be about any call.
        let is_of_call =
            kind.as_ref().map_or(call.is_some() || !is_whole, |kind| kind.starts_with("tool_call"));
        if !is_of_call || (is_whole && call.is_none()) {
            return None;
        }
        Some(CallUpdate {
            session: session?,
            call,
            json: update.filter(|_| is_whole),
            begins: kind.is_some_and(|kind| kind == "tool_call"),
            is_over: status.map(|status| OVER.contains(&&*status)),
            known,
        })
    }

    /// Returns what it says of its call, in a few words. `None` if it does not name the call.
    pub(super) fn said(&self) -> Option<SaidCall<'_>> {
        heard::call(self.session.clone(), self.known)
    }

    /// Returns whether it is about the call with this ID. The beginning of an update may be about any call of its
    /// session.
    pub(super) fn concerns(&self, session: Option<&str>, call: Option<&str>) -> bool {
        session == Some(&*self.session)
            && call.is_some_and(|id| self.call.as_ref().is_none_or(|own| own == id))
    }

    /// Returns whether it says that its call is over.
    pub(super) fn ends(&self) -> bool {
        self.is_over == Some(true) && self.call.is_some()
    }
}

/// The last tool calls, those with the latest update last.
#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    calls: VecDeque<ToolCall>,
    /// The sizes of all tool calls.
    bytes: usize,
    /// The requests that load a session, each with its session, until the agent has answered. The agent may tell of
    /// the calls of the session's earlier life meanwhile.
    loads: VecDeque<(RequestId, String)>,
    /// The sessions that were loaded and not prompted since. Some agents tell of the earlier life only now.
    loaded: VecDeque<String>,
    /// Where the last update had the name of its kind. An agent writes all updates of a session alike.
    place: Cell<usize>,
}

#[derive(Debug)]
struct ToolCall {
    id: String,
    session: String,
    /// The first update, which most often describes the tool call, and the last few. None of a call that is over.
    updates: Vec<Box<[u8]>>,
    /// Whether it ran in a turn, with which it ends.
    in_turn: bool,
    is_over: bool,
}

impl ToolCalls {
    /// Intercepts an update of a tool call. The bytes may be only the beginning of the update. While a permission is
    /// open (`is_asked`), an update whose kind stands further back is intercepted as well.
    pub(super) fn judge(&self, update: &[u8], is_asked: impl FnOnce() -> bool) -> Verdict {
        let at = |place: usize| update.get(place..).and_then(|rest| rest.strip_prefix(KIND));
        let head = &update[..update.len().min(HEAD)];
        let behind = at(self.place.get()).or_else(|| {
            let place = memmem::find(head, KIND)?;
            self.place.set(place);
            at(place)
        });
        // The kind may stand further back: Claude writes it behind the content, and agents that sort the members of an
        // object write the ID there as well.
        let Some(behind) = behind else {
            let intercepts = !update.ends_with(b"\n") || memmem::find(update, ID).is_some() || is_asked();
            return if intercepts { Verdict::Intercept } else { Verdict::Forward };
        };
        let value = behind.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start);
        match value {
            Some(value) if value.starts_with(TOOL_CALL) || value.starts_with(STATE) => Verdict::Intercept,
            // A line that repeats these bytes has a kind that begins alike, so it cannot be a tool call.
            Some(value) if value.len() > TOOL_CALL.len() => {
                Verdict::ForwardAlike(update.len() - value.len() + TOOL_CALL.len())
            }
            _ => Verdict::Forward,
        }
    }

    /// Remembers the session of the tool call in an update, its description, and whether it is over. `in_turn` says
    /// whether a turn runs in its session.
    pub(super) fn update(&mut self, update: &CallUpdate<'_>, in_turn: bool) {
        let session = &*update.session;
        let Some(id) = &update.call else { return self.forget(session) };
        if session.len() > limits::SESSION || id.len() > limits::ID {
            return;
        }
        let mut call = self.take(session, id).unwrap_or_else(|| ToolCall::new(session, id));
        // Of a call that is over, an update outside of a turn is a late one. In a turn, the ID is used again.
        if update.begins || (call.is_over && in_turn && update.is_over == Some(false)) {
            call = ToolCall::new(session, id);
        }
        call.in_turn |= in_turn;
        // The unknown rest of a long update may end the call.
        if update.is_over.unwrap_or(update.json.is_none()) {
            call.end();
        } else if !call.is_over {
            call.describe(update.json);
        }
        self.put(call);
    }

    /// Records that a permission was asked for the call with this ID: if that call was over, its ID is used again.
    pub(super) fn asked(&mut self, session: &str, id: &str, in_turn: bool) {
        let is_over = |call: &ToolCall| call.is_over && call.id == id && call.session == session;
        if self.calls.iter().any(is_over) && self.take(session, id).is_some() {
            let call = ToolCall::new(session, id);
            self.put(ToolCall { in_turn, ..call });
        }
    }

    /// Ends the calls that ran in the turn of this session.
    pub(super) fn end_turn(&mut self, session: &str) {
        for call in self.calls.iter_mut().filter(|call| call.in_turn && call.session == session) {
            self.bytes -= call.size();
            call.end();
            self.bytes += call.size();
        }
    }

    /// Forgets the calls of a session, which begins anew.
    pub(super) fn forget(&mut self, session: &str) {
        self.calls.retain(|call| call.session != session);
        self.bytes = self.calls.iter().map(ToolCall::size).sum();
    }

    /// Records that the client asks the agent to load a session. Its calls belong to its earlier life.
    pub(super) fn load(&mut self, request: &str, session: &str) {
        self.forget(session);
        if request.len() > limits::ID || session.len() > limits::SESSION {
            return;
        }
        if self.loads.len() == limits::REQUESTED_SESSIONS {
            self.loads.pop_front();
        }
        self.loads.push_back((RequestId::new(request), session.to_owned()));
    }

    /// Returns whether this is the ID of a request that loads a session.
    pub(super) fn awaits(&self, id: &str) -> bool {
        self.loads.iter().any(|(request, _)| request.is(id))
    }

    /// Records that the agent has answered a request that loads a session: what it told meanwhile is over.
    pub(super) fn loaded(&mut self, id: &str) {
        let place = self.loads.iter().position(|(request, _)| request.is(id));
        if let Some((_, session)) = place.and_then(|place| self.loads.remove(place)) {
            self.forget(&session);
            if self.loaded.len() == limits::REQUESTED_SESSIONS {
                self.loaded.pop_front();
            }
            self.loaded.push_back(session);
        }
    }

    /// Records that the client prompts the agent in this session. What the agent has told since it loaded the session
    /// belongs to the earlier life.
    pub(super) fn prompted(&mut self, session: &str) {
        if let Some(place) = self.loaded.iter().position(|loaded| loaded == session) {
            self.loaded.remove(place);
            self.forget(session);
        }
    }

    /// Returns the session of a tool call.
    pub(super) fn session(&self, id: &str) -> Option<&str> {
        self.calls.iter().rev().find(|call| call.id == id).map(|call| &*call.session)
    }

    /// Returns what updates said of a tool call, the latest first.
    pub(super) fn updates(&self, session: &str, id: &str) -> impl Iterator<Item = &[u8]> {
        // Agents that number their tool calls use the same IDs in each session.
        let call = self.calls.iter().rev().find(|call| call.id == id && call.session == session);
        call.into_iter().flat_map(|call| call.updates.iter().rev()).map(|update| &**update)
    }

    /// Takes a call out.
    fn take(&mut self, session: &str, id: &str) -> Option<ToolCall> {
        let place = self.calls.iter().rposition(|call| call.id == id && call.session == session)?;
        let call = self.calls.remove(place)?;
        self.bytes -= call.size();
        Some(call)
    }

    /// Puts a call in as the latest, and forgets the oldest ones where there is no room.
    fn put(&mut self, call: ToolCall) {
        self.bytes += call.size();
        self.calls.push_back(call);
        while (self.calls.len() > limits::TOOL_CALLS || self.bytes > limits::TOOL_CALLS_BYTES)
            && let Some(oldest) = self.calls.pop_front()
        {
            self.bytes -= oldest.size();
        }
    }
}

impl ToolCall {
    fn new(session: &str, id: &str) -> Self {
        ToolCall {
            id: id.to_owned(),
            session: session.to_owned(),
            updates: Vec::new(),
            in_turn: false,
            is_over: false,
        }
    }

    fn describe(&mut self, update: Option<&[u8]>) {
        let Some(update) = update.filter(|update| update.len() <= limits::TOOL_CALL_UPDATE) else { return };
        if self.updates.len() == UPDATES {
            // The first update stays: it most often describes the tool call.
            self.updates.remove(1);
        }
        self.updates.push(update.into());
    }

    fn end(&mut self) {
        self.is_over = true;
        self.updates = Vec::new();
    }

    fn size(&self) -> usize {
        self.id.len() + self.session.len() + self.updates.iter().map(|update| update.len()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{acp::sessions::Turns, limits};

    /// Tells of the update in a line, while no turn runs.
    fn told(calls: &mut ToolCalls, line: &str) {
        let message = Message::read(line.as_bytes()).expect("a message");
        calls.update(&CallUpdate::read(&message, true).expect("an update of a call"), false);
    }

    #[test]
    fn tool_calls_are_told_from_other_updates() {
        let calls = ToolCalls::default();
        let line = |update: &str| {
            format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\"update\":{update}}}}}\n"
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
            (&*far.replacen('}', r#","toolCallId":"t"}"#, 1), true),
            (r#"{"sessionUpdate":"state_update","state":"idle"}"#, true),
        ] {
            for _ in 0..2 {
                assert_eq!(
                    calls.judge(line(update).as_bytes(), || false).intercepts(),
                    is_tool_call,
                    "{update}"
                );
            }
        }
        for short in ["\n", "{\n", "{\"sessionUpdate\"\n", "{\"sessionUpdate\":\n"] {
            assert!(!calls.judge(short.as_bytes(), || false).intercepts(), "{short}");
        }
        // The rest may have the kind.
        assert!(calls.judge(far.trim_end_matches('}').as_bytes(), || false).intercepts());
    }

    #[test]
    fn the_first_and_the_last_updates_of_the_last_tool_calls_are_kept() {
        let mut calls = ToolCalls::default();
        let mut update = |id: usize, text: &str| {
            let line = format!(
                r#"{{"method":"session/update","params":{{"sessionId":"s{id}","update":{{"sessionUpdate":"tool_call_update","toolCallId":"t{id}","title":"{text}"}}}}}}"#
            );
            told(&mut calls, &line);
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
            told(&mut calls, &line);
        }
        let titles: Vec<_> = calls
            .updates("s", "t")
            .map(|update| scan::text(scan::member(update, "title").unwrap_or_default()))
            .collect();
        assert_eq!(titles.iter().flatten().map(|title| &**title).collect::<Vec<_>>(), first);
    }

    #[test]
    fn a_call_gives_nothing_once_the_rest_of_an_update_is_unknown() {
        let update = |rest: &str| format!(r#"{{"params":{{"sessionId":"s","update":{{{rest}"#);
        for (rest, count) in [
            (r#""sessionUpdate":"tool_call_update","toolCallId":"t","content":["xxx"#, 0),
            (
                r#""sessionUpdate":"tool_call_update","toolCallId":"t","status":"in_progress","content":["xxx"#,
                1,
            ),
            (r#""sessionUpdate":"tool_call_update","toolCallId":"u","content":["xxx"#, 1),
            (r#""content":["xxx"#, 0),
            (r#""sessionUpdate":"agent_message_chunk","content":["xxx"#, 1),
        ] {
            let mut calls = ToolCalls::default();
            told(&mut calls, r#"{"params":{"sessionId":"s","update":{"toolCallId":"t","title":"x"}}}"#);
            let line = update(rest);
            let message = Message::read_prefix(line.as_bytes()).expect("the beginning of a message");
            if let Some(update) = CallUpdate::read(&message, false) {
                calls.update(&update, true);
            }
            assert_eq!(calls.updates("s", "t").count(), count, "{rest}");
        }
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
                told(&mut calls, &line);
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
