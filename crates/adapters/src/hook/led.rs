//! What led to a question of a hook: the end of the session's transcript, whose path Claude Code names. It is read once,
//! when the question opens.
//!
//! Only messages of a transcript are taken from the file, and only those of this session: the path of any other file gives
//! nothing. The file must be a regular one that belongs to the user.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::MetadataExt,
    path::Path,
    sync::Arc,
};

use askbridge_core::{
    dialect::claude::{HookCall, said},
    question::{Context, Recent},
};
use askbridge_os::files::open_regular;
use memchr::memchr_iter;

use crate::limits;

/// Returns what the transcript says that led to this call. `id` is the ID of the call itself there, if that is known.
pub(super) fn before(call: &HookCall, id: Option<&str>) -> Option<Arc<Context>> {
    let end = end_of(call.transcript.as_deref()?.as_ref());
    let end = end.inspect_err(|error| tracing::debug!(%error, "the transcript cannot be read")).ok()?;
    let mut recent = Recent::default();
    let mut from = 0;
    for end_of_line in memchr_iter(b'\n', &end) {
        said(&end[from..end_of_line], &mut |said| recent.take(said));
        from = end_of_line + 1;
    }
    recent.context(&call.session, id)
}

/// Returns the last lines of a file.
fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open_own(path)?;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(limits::TRANSCRIPT_LED);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    // A file that grows while it is read must not keep the hook here.
    file.take(limits::TRANSCRIPT_LED).read_to_end(&mut bytes)?;
    if from > 0 {
        // Reading began in the midst of a line.
        let begun = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
        bytes.drain(..begun);
    }
    Ok(bytes)
}

fn open_own(path: &Path) -> io::Result<File> {
    let file = open_regular(path)?;
    match file.metadata()?.uid() == rustix::process::geteuid().as_raw() {
        true => Ok(file),
        false => Err(io::Error::other("it belongs to another user")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;

    fn assistant(session: &str, content: &Value) -> Value {
        json!({ "type": "assistant", "sessionId": session, "isSidechain": false, "message": { "content": content } })
    }

    fn call(transcript: &Path) -> HookCall {
        let input = json!({
            "session_id": "s", "hook_event_name": "PermissionRequest", "transcript_path": transcript,
            "tool_name": "Bash", "tool_input": { "command": "make" }, "cwd": "/p",
        });
        HookCall::read(input.to_string().as_bytes()).expect("a call")
    }

    fn write(folder: &Path, lines: &[Value]) -> std::path::PathBuf {
        let path = folder.join("s.jsonl");
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&path, lines).expect("it is written");
        path
    }

    #[test]
    fn the_messages_of_the_session_and_its_other_calls_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let tool = |id: &str, command: &str| json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }]);
        let path = write(
            folder.path(),
            &[
                json!({ "type": "summary", "summary": "no message" }),
                assistant("other", &json!([{ "type": "text", "text": "Elsewhere." }])),
                assistant("s", &json!([{ "type": "text", "text": "I build it." }])),
                assistant("s", &tool("t1", "ls")),
                json!({ "type": "user", "sessionId": "s", "message": { "content":
                    [{ "type": "tool_result", "tool_use_id": "t1", "content": "Makefile" }] } }),
                assistant("s", &tool("t2", "make")),
            ],
        );
        let led = before(&call(&path), Some("t2")).expect("words");
        let calls: Vec<_> = led.calls.iter().map(|call| (&*call.title, call.status.as_deref())).collect();
        assert_eq!((&*led.words, &calls[..]), ("I build it.", &[("ls", Some("completed"))][..]));
    }

    #[test]
    fn only_the_end_of_a_long_transcript_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = |text: String| assistant("s", &json!([{ "type": "text", "text": text }]));
        let long = usize::try_from(limits::TRANSCRIPT_LED).expect("it fits");
        let path = write(folder.path(), &[text("first".into()), text("x".repeat(long)), text("last".into())]);
        assert_eq!(before(&call(&path), None).expect("words").words, "last");
    }

    #[test]
    fn what_is_no_transcript_gives_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let fifo = folder.path().join("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .expect("a FIFO");
        let secret = folder.path().join("secret");
        fs::write(&secret, "password=hunter2\n{\"type\":\"assistant\",\"text\":\"hunter2\"}\n")
            .expect("a file");
        let others = [Path::new("/dev/zero"), Path::new("/proc/self/mem"), &folder.path().join("missing")];
        for path in [&*fifo, &*secret, folder.path()].into_iter().chain(others) {
            assert_eq!(before(&call(path), None), None, "{}", path.display());
        }
    }
}
