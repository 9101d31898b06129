//! Detects that the person answered at Claude Code's own dialog: by the transcript, which gets the result of the tool
//! call, by the hooks that run after the call, and by the status file of the session, which says whether a dialog is
//! waiting.
//!
//! A `PermissionRequest` does not name its tool call. The transcript has the call before the hook starts, so the call
//! is found by its tool and its input.
//!
//! After a permission was given at the keyboard, only the status file changes before the tool has ended, which may take
//! hours. The file is undocumented: without it, the transcript and the hooks give the same result, later.

use serde::Deserialize;
use serde_json::{Value as Json, value::RawValue};

use super::{
    hook::{HookCall, HookEvent},
    permission, questions,
    said::Block,
    tool_call::{ASK, AnswerKey},
};
use crate::question::{Answer, Outcome, Question, Reason};

/// The maximum number of calls with the same input that are tracked separately.
const CALLS: usize = 16;

/// Watches for the end of one tool call.
#[derive(Debug)]
pub struct Watch {
    tool: String,
    input: Json,
    /// Whether a subagent makes the call. The end of the session's turn says nothing about such a call.
    is_of_subagent: bool,
    question: Question,
    /// The IDs of the calls in the transcript that may be the watched call.
    calls: Vec<String>,
    /// Whether the end that was read last was decided by a hook.
    is_by_hook: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(default)]
    tool_use_result: Json,
    #[serde(default)]
    tool_denial_kind: Option<String>,
    #[serde(default)]
    permission_decision: Json,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
}

impl Watch {
    /// Watches for the end of this call. Returns `None` for a request that is no tool call.
    pub fn new(call: &HookCall, question: Question) -> Option<Self> {
        let HookEvent::Permission { tool, input, .. } = &call.event else { return None };
        Some(Watch {
            tool: tool.clone(),
            input: serde_json::from_str(input.get()).ok()?,
            is_of_subagent: call.subagent.is_some(),
            question,
            calls: Vec::new(),
            is_by_hook: false,
        })
    }

    /// Returns whether the transcript has a call that may be the watched call.
    pub fn is_found(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Returns the ID of the call in the transcript that is most likely the watched call.
    pub fn call(&self) -> Option<&str> {
        self.calls.last().map(String::as_str)
    }

    /// Returns whether the end that [`Watch::line`] returned last was decided by a hook. If the transcript does not say
    /// who decided, a hook is assumed, except for a rejection by the user.
    pub fn is_by_hook(&self) -> bool {
        self.is_by_hook
    }

    /// Reads a line of the transcript. Returns how the call ended, if the line says so.
    pub fn line(&mut self, line: &[u8]) -> Option<Outcome> {
        let line: Line<'_> = serde_json::from_slice(line).ok()?;
        let Line { message, tool_use_result, tool_denial_kind, permission_decision } = line;
        let blocks: Vec<Block> = serde_json::from_str(message?.content.get()).ok()?;
        for block in blocks {
            match block {
                Block::ToolUse { id, name, input } if self.is_the_one(&name, &input) => self.calls.push(id),
                Block::ToolResult { tool_use_id, is_error } if self.calls.contains(&tool_use_id) => {
                    self.calls.retain(|id| *id != tool_use_id);
                    self.is_by_hook = match permission_decision["source"].as_str() {
                        Some(source) => source == "hook",
                        None => tool_denial_kind.as_deref() != Some("user-rejected"),
                    };
                    return Some(match tool_denial_kind {
                        Some(_) => Outcome::Rejected(Reason::User),
                        None => self.outcome(is_error, &tool_use_result),
                    });
                }
                _ => {}
            }
        }
        None
    }

    /// Reads a call of another hook. Returns how the call ended, if it says so.
    pub fn event(&self, call: &HookCall) -> Option<Outcome> {
        match &call.event {
            HookEvent::Used { tool, input } if *tool == self.tool && self.is_same(input) => {
                Some(self.outcome(false, input))
            }
            // A call that no longer waits was answered by a message, which only ends the turn.
            HookEvent::Stopped if !self.is_of_subagent => Some(Outcome::Rejected(Reason::RepliedInChat)),
            HookEvent::SessionEnded => Some(Outcome::Rejected(Reason::SessionClosed)),
            _ => None,
        }
    }

    fn is_the_one(&self, tool: &str, input: &Json) -> bool {
        self.calls.len() < CALLS && tool == self.tool && self.is_same(input)
    }

    /// Returns how the call ended if its dialog is gone and neither the transcript nor a hook says more: its tool runs.
    pub fn gone(&self) -> Option<Outcome> {
        // Rejections, and answers to questions, are in the transcript at once: without one of them, the tool was
        // allowed.
        let runs = self.tool != ASK && !self.is_of_subagent;
        runs.then(|| Outcome::Answered(self.allowed()))
    }

    /// Returns whether an input is that of the call. Claude Code adds members: the answers, and defaults.
    fn is_same(&self, input: &Json) -> bool {
        let texts = |input: &Json| {
            let questions = input["questions"].as_array().into_iter().flatten();
            questions.map(|asking| asking["question"].clone()).collect::<Vec<_>>()
        };
        match self.tool.as_str() {
            ASK => texts(input) == texts(&self.input),
            _ => input == &self.input,
        }
    }

    /// Returns how the call ended. `said` contains the answers to a question, or the reason of a rejection.
    fn outcome(&self, is_error: bool, said: &Json) -> Outcome {
        let is_rejected = said.as_str().is_some_and(|said| said.starts_with("User rejected"));
        match (is_error, self.tool.as_str()) {
            _ if is_rejected => Outcome::Rejected(Reason::User),
            (true, ASK) => Outcome::Rejected(Reason::RepliedInChat),
            (false, ASK) => Outcome::Answered(questions::answers(&self.question, AnswerKey::Text, said)),
            // A tool that ran and failed was allowed.
            _ => Outcome::Answered(self.allowed()),
        }
    }

    fn allowed(&self) -> Answer {
        permission::granted(&self.question, &[], &Json::Null)
    }
}

/// Watches for the moment when no dialog waits any more.
#[derive(Debug, Default)]
pub struct Status {
    has_waited: bool,
    /// How often in a row no dialog waited.
    looks: u8,
}

/// How many looks in a row without a dialog mean that none is coming: one dialog may follow another.
const LOOKS: u8 = 2;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatusFile<'a> {
    session_id: &'a str,
    status: &'a str,
}

impl Status {
    /// Returns the name of the file in the folder `sessions`, beside the folder of the transcripts.
    pub fn file(pid: u32) -> String {
        format!("{pid}.json")
    }

    /// Reads the file. Returns whether a dialog of this session waited before, and none waits any more.
    pub fn has_ended(&mut self, session: &str, file: &[u8]) -> bool {
        // The file may be read in the middle of a write: then the next look reads it again.
        let written = serde_json::from_slice::<StatusFile<'_>>(file).ok();
        match written.filter(|written| written.session_id == session).map(|written| written.status) {
            Some("waiting") => *self = Status { has_waited: true, looks: 0 },
            Some("busy" | "idle") if self.has_waited => self.looks = self.looks.saturating_add(1),
            _ => {}
        }
        self.looks >= LOOKS
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ASKED: &str = r#"{"questions":[{"question":"Which database?","options":[{"label":"Postgres"},{"label":"SQLite"}]},{"question":"Which parts?","multiSelect":true,"options":[{"label":"Auth"},{"label":"Search"}]}]}"#;

    fn call(event: &str, tool: &str, input: &str) -> HookCall {
        let stdin = format!(
            r#"{{"session_id":"s","hook_event_name":"{event}","tool_name":"{tool}","tool_input":{input}}}"#
        );
        HookCall::read(stdin.as_bytes()).expect("a call")
    }

    fn watch(tool: &str, input: &str) -> Watch {
        let call = call("PermissionRequest", tool, input);
        let (question, _) = call.question("q").expect("a question");
        Watch::new(&call, question).expect("a tool call")
    }

    fn used(id: &str, tool: &str, input: &str) -> Vec<u8> {
        format!(
            r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"…"}},{{"type":"tool_use","id":"{id}","name":"{tool}","input":{input}}}]}}}}"#
        )
        .into_bytes()
    }

    fn result(id: &str, is_error: bool, more: &Json) -> Vec<u8> {
        let mut line = json!({
            "type": "user",
            "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": "…" }] },
        });
        for (name, value) in more.as_object().expect("members") {
            line[name] = value.clone();
        }
        line.to_string().into_bytes()
    }

    fn answered(values: Json) -> Outcome {
        serde_json::from_value(json!({ "status": "answered", "values": values })).expect("an outcome")
    }

    #[test]
    fn the_transcript_says_what_was_answered_at_the_keyboard() {
        let mut watch = watch(ASK, ASKED);
        assert_eq!(watch.line(&used("t1", ASK, ASKED)), None);
        assert_eq!(watch.line(&result("t0", false, &json!({}))), None, "another call");
        let said = json!({ "toolUseResult": { "answers": { "Which database?": "DuckDB", "Which parts?": "Auth, Search" } } });
        let outcome = watch.line(&result("t1", false, &said));
        assert_eq!(outcome, Some(answered(json!({ "q0": "DuckDB", "q1": ["Auth", "Search"] }))));
    }

    #[test]
    fn each_end_at_the_keyboard_is_told_apart() {
        let rejected =
            json!({ "toolUseResult": "User rejected tool use", "toolDenialKind": "user-rejected" });
        let bash = r#"{"command":"ls"}"#;
        for (tool, input, is_error, more, expected) in [
            (ASK, ASKED, true, &rejected, Outcome::Rejected(Reason::User)),
            (ASK, ASKED, true, &json!({}), Outcome::Rejected(Reason::RepliedInChat)),
            ("Bash", bash, true, &rejected, Outcome::Rejected(Reason::User)),
            (
                "Bash",
                bash,
                true,
                &json!({ "toolUseResult": "Error: exit 1" }),
                answered(json!({ "q0": "allow" })),
            ),
            (
                "Bash",
                bash,
                false,
                &json!({ "toolUseResult": { "stdout": "" } }),
                answered(json!({ "q0": "allow" })),
            ),
        ] {
            let mut watch = watch(tool, input);
            assert_eq!(watch.line(&used("t1", tool, input)), None);
            assert_eq!(watch.line(&result("t1", is_error, more)), Some(expected), "{tool} {more}");
        }
    }

    #[test]
    fn the_transcript_says_whether_a_hook_decided() {
        let source =
            |source: &str| json!({ "permissionDecision": { "decision": "accept", "source": source } });
        let rejected =
            json!({ "toolUseResult": "User rejected tool use", "toolDenialKind": "user-rejected" });
        let denied =
            json!({ "toolDenialKind": "permission-rule", "permissionDecision": { "source": "hook" } });
        for (is_error, more, is_by_hook) in [
            (false, source("hook"), true),
            (true, denied, true),
            (false, source("user_temporary"), false),
            (true, rejected, false),
            // A version that does not say so.
            (false, json!({}), true),
        ] {
            let mut watch = watch(ASK, ASKED);
            watch.line(&used("t1", ASK, ASKED));
            assert!(watch.line(&result("t1", is_error, &more)).is_some());
            assert_eq!(watch.is_by_hook(), is_by_hook, "{more}");
        }
    }

    #[test]
    fn a_dialog_that_is_gone_was_a_permission_whose_tool_runs() {
        assert_eq!(watch("Bash", r#"{"command":"ls"}"#).gone(), Some(answered(json!({ "q0": "allow" }))));
        assert_eq!(watch(ASK, ASKED).gone(), None, "the answers are still to come");
    }

    #[test]
    fn calls_of_another_input_and_lines_of_another_shape_say_nothing() {
        let mut watch = watch("Bash", r#"{"command":"ls"}"#);
        for line in [
            &used("t1", "Bash", r#"{"command":"ls -l"}"#)[..],
            &used("t1", "Read", r#"{"command":"ls"}"#),
            b"",
            b"{}",
            b"[1]",
            b"\xff",
            br#"{"message":{"content":"text"}}"#,
            br#"{"message":{"content":[{"type":"thinking","thinking":"x"}]}}"#,
        ] {
            assert_eq!(watch.line(line), None);
        }
        assert_eq!(watch.line(&result("t1", false, &json!({}))), None);
    }

    #[test]
    fn the_hooks_that_run_afterwards_say_how_the_call_ended() {
        let watch = watch(ASK, ASKED);
        let mut used: Json = serde_json::from_str(ASKED).expect("JSON");
        used["answers"] = json!({ "Which database?": "SQLite" });
        assert_eq!(
            watch.event(&call("PostToolUse", ASK, &used.to_string())),
            Some(answered(json!({ "q0": "SQLite" })))
        );
        assert_eq!(watch.event(&call("PostToolUse", "Bash", "{}")), None);
        assert_eq!(watch.event(&call("Stop", "", "{}")), Some(Outcome::Rejected(Reason::RepliedInChat)));
        assert_eq!(
            watch.event(&call("SessionEnd", "", "{}")),
            Some(Outcome::Rejected(Reason::SessionClosed))
        );
        assert_eq!(watch.event(&call("Notification", "", "{}")), None);
    }

    const WAITS: &[u8] = br#"{"pid":7,"sessionId":"s","kind":"interactive","status":"waiting","updatedAt":1,"waitingFor":"permission prompt"}"#;
    const BUSY: &[u8] = br#"{"pid":7,"sessionId":"s","kind":"interactive","status":"busy","updatedAt":2}"#;

    #[test]
    fn a_dialog_has_ended_once_none_waits_for_two_looks() {
        let mut status = Status::default();
        for (file, has_ended) in [
            (BUSY, false),
            (BUSY, false),
            (BUSY, false),
            (WAITS, false),
            (BUSY, false),
            (WAITS, false),
            (b"", false),
            (BUSY, false),
            (b"{", false),
            (BUSY, true),
        ] {
            assert_eq!(status.has_ended("s", file), has_ended, "{}", String::from_utf8_lossy(file));
        }
    }

    #[test]
    fn another_session_and_another_status_say_nothing() {
        let mut status = Status::default();
        assert!(!status.has_ended("s", WAITS));
        for _ in 0..3 {
            assert!(!status.has_ended("x", BUSY));
            assert!(!status.has_ended("s", br#"{"sessionId":"s","status":"new"}"#));
            assert!(!status.has_ended("s", br#"{"sessionId":"s"}"#));
        }
    }
}
