//! The places that tell how a dialog ended: the transcript of the session, the hooks that run afterwards, and the status
//! that Claude Code writes down of its terminal.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use super::{spool::Spool, tail::Tail};
use crate::{
    dialect::claude::{HookCall, Status, Watch},
    limits,
    origin::file::open_regular,
    question::{Outcome, Question},
};

/// What counted, where a decision was printed.
#[derive(Debug, PartialEq)]
pub(super) enum CountedDecision {
    /// The decision.
    Printed,
    /// The dialog, which was first and ended so.
    Dialog(Outcome),
}

/// Tells how a dialog ended.
#[derive(Debug)]
pub(super) struct DialogWatcher {
    /// `None` for what is no tool call.
    watch: Option<Watch>,
    transcript: Option<Tail>,
    spool: Option<Spool>,
    status: Status,
    /// The file of the status, where it may be.
    status_file: Option<PathBuf>,
    session: String,
}

impl DialogWatcher {
    /// Looks at what belongs to this call of this agent, and at what other hooks tell in `spool`. What is not there is not
    /// looked at.
    pub(super) fn new(call: &HookCall, question: Question, agent: u32, spool: Option<Spool>) -> Self {
        let mut ends = DialogWatcher {
            watch: Watch::new(call, question),
            transcript: call.transcript.as_ref().map(|path| Tail::new(path.into())),
            spool,
            status: Status::default(),
            status_file: call.transcript.as_deref().and_then(|path| status_file(path.as_ref(), agent)),
            session: call.session.clone(),
        };
        // What ended before was another call with the same input. A transcript that is made later has nothing of it.
        drop(ends.written());
        ends
    }

    /// Returns whether the transcript has the call, so that it will have the end as well.
    pub(super) fn is_written(&self) -> bool {
        self.watch.as_ref().is_some_and(Watch::is_found)
    }

    /// Returns what counted once a decision was printed, if the transcript says so by now.
    pub(super) fn counted(&mut self) -> Option<CountedDecision> {
        let outcome = self.written()?;
        let is_by_hook = self.watch.as_ref()?.is_by_hook();
        Some(if is_by_hook { CountedDecision::Printed } else { CountedDecision::Dialog(outcome) })
    }

    /// Returns how the dialog ended, if that is told by now.
    pub(super) fn look(&mut self) -> Option<Outcome> {
        let mut outcome = self.written();
        let watch = self.watch.as_ref()?;
        if let Some(spool) = &mut self.spool {
            spool.read(|line| {
                let told = || watch.event(&HookCall::read(line)?);
                outcome = outcome.take().or_else(told);
            });
        }
        // The others say more, so they come first.
        outcome.or_else(|| {
            let file = read(self.status_file.as_deref()?).ok()?;
            self.status.has_ended(&self.session, &file).then(|| watch.gone())?
        })
    }

    /// Reads what was added to the transcript. Returns how the call ended, if that says so.
    fn written(&mut self) -> Option<Outcome> {
        let (watch, transcript) = (self.watch.as_mut()?, self.transcript.as_mut()?);
        let mut outcome = None;
        // Every line is read: the call that waits stands behind the end of an earlier one with the same input.
        transcript.read(|line| {
            let ended = watch.line(line);
            outcome = outcome.take().or(ended);
        });
        outcome
    }
}

/// Returns where the status is: transcripts are `projects/PROJECT/SESSION.jsonl`, in the same folder as `sessions`.
fn status_file(transcript: &Path, agent: u32) -> Option<PathBuf> {
    let folder = transcript.ancestors().nth(3)?;
    Some(folder.join("sessions").join(Status::file(agent)))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(limits::READ as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;

    /// Returns what tells the end of a permission to run `make`, of a session with this transcript.
    fn ends(transcript: &Path) -> DialogWatcher {
        let stdin = json!({
            "session_id": "s", "hook_event_name": "PermissionRequest", "transcript_path": transcript,
            "tool_name": "Bash", "tool_input": { "command": "make" },
        });
        let call = HookCall::read(stdin.to_string().as_bytes()).expect("a call");
        let (question, _) = call.question("q").expect("a question");
        DialogWatcher::new(&call, question, 7, None)
    }

    #[test]
    fn a_permission_given_at_the_keyboard_is_seen_while_its_command_still_runs() {
        let home = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, text).expect("it is written");
            path
        };
        let call = json!({ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "make" } });
        let line = json!({ "type": "assistant", "message": { "role": "assistant", "content": [call] } });
        let transcript = write("projects/p/s.jsonl", &format!("{line}\n"));
        let mut ends = ends(&transcript);
        let status = |status: &str| {
            write("sessions/7.json", &json!({ "sessionId": "s", "status": status }).to_string());
        };
        assert_eq!(ends.look(), None, "there is no status");
        for before in ["busy", "busy", "busy", "waiting", "waiting", "busy"] {
            status(before);
            assert_eq!(ends.look(), None, "{before}");
        }
        let allowed = json!({ "status": "answered", "values": { "q0": "allow" } });
        assert_eq!(ends.look(), Some(serde_json::from_value(allowed).expect("an outcome")));
    }

    #[test]
    fn the_second_call_with_the_same_input_ends_by_its_own_result() {
        let home = tempfile::tempdir().expect("a folder");
        let transcript = home.path().join("s.jsonl");
        let line = |content: Value| {
            json!({ "type": "any", "message": { "role": "any", "content": [content] } }).to_string()
        };
        let used = |id: &str| {
            line(json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": "make" } }))
        };
        let result = |id: &str| line(json!({ "type": "tool_result", "tool_use_id": id, "content": "done" }));
        let mut lines = vec![used("t0"), result("t0"), used("t1")];
        let write =
            |lines: &[String]| fs::write(&transcript, lines.join("\n") + "\n").expect("it is written");
        write(&lines);
        let mut ends = ends(&transcript);
        assert_eq!(ends.look(), None, "that was the end of the first call");
        lines.push(result("t1"));
        write(&lines);
        assert!(matches!(ends.look(), Some(Outcome::Answered(_))));
    }
}
