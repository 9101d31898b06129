//! Plays the agent's part of a transcript: writes its lines and awaits the lines that it should get.
//! All other lines of a transcript are left to the player of the transcripts.

use std::{
    borrow::Cow,
    fmt, fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use askbridge_os::exit;
use serde::Deserialize;

use crate::{
    lines::{LineReader, LineWriter},
    message::{Id, RpcMessage},
};

/// The exit code if a line did not match the script.
const NOT_FOLLOWED: u8 = 1;
/// The bytes of a line that an error message shows.
const LONGEST_SHOWN: usize = 2_000;

/// The agent's steps of a transcript.
#[derive(Debug)]
pub(super) struct Script {
    path: PathBuf,
    steps: Vec<(usize, ScriptStep)>,
}

#[derive(Debug, PartialEq, Eq)]
enum ScriptStep {
    Write(Vec<u8>),
    Await(Vec<u8>),
    Exit(u8),
}

/// Why a script did not reach its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum ScriptError {
    #[error("cannot read the script {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}:{line}: awaited {}, but got {}", path.display(), ShownLine(awaited), ShownLine(got))]
    Mismatch { path: PathBuf, line: usize, awaited: Vec<u8>, got: Vec<u8> },
    #[error("{}:{line}: awaited {}, but stdin ended", path.display(), ShownLine(awaited))]
    Ended { path: PathBuf, line: usize, awaited: Vec<u8> },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl ScriptError {
    /// Returns the exit code of the mock agent.
    pub(super) fn exit_code(&self) -> u8 {
        match self {
            Self::Unreadable { .. } => exit::USAGE,
            Self::Mismatch { .. } | Self::Ended { .. } => NOT_FOLLOWED,
            // A client that closes its end early is no failure of the script.
            Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => exit::OK,
            Self::Io(_) => NOT_FOLLOWED,
        }
    }
}

impl Script {
    /// Reads a script from a file.
    pub(super) fn read(path: &Path) -> Result<Self, ScriptError> {
        let text =
            fs::read(path).map_err(|source| ScriptError::Unreadable { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), steps: steps(&text) })
    }

    /// Plays the script, then waits for the end of the input. Returns the exit code.
    pub(super) fn play<R: Read, W: Write>(
        &self,
        mut input: LineReader<R>,
        mut output: LineWriter<W>,
    ) -> Result<u8, ScriptError> {
        let mut read = LastRead::default();
        for &(line, ref step) in &self.steps {
            match step {
                ScriptStep::Write(text) => output.line(&read.fill_in(text))?,
                ScriptStep::Exit(code) => {
                    output.flush()?;
                    return Ok(*code);
                }
                ScriptStep::Await(awaited) => {
                    // The peer cannot react to lines that are still in the buffer.
                    output.flush()?;
                    let got = input.next_line()?.ok_or_else(|| self.ended(line, awaited))?;
                    if !matches(awaited, got) {
                        return Err(self.mismatch(line, awaited, got));
                    }
                    read.remember(got);
                }
            }
        }
        output.flush()?;
        input.drain()?;
        Ok(exit::OK)
    }

    fn ended(&self, line: usize, awaited: &[u8]) -> ScriptError {
        ScriptError::Ended { path: self.path.clone(), line, awaited: awaited.to_owned() }
    }

    fn mismatch(&self, line: usize, awaited: &[u8], got: &[u8]) -> ScriptError {
        let (path, awaited, got) = (self.path.clone(), awaited.to_owned(), got.to_owned());
        ScriptError::Mismatch { path, line, awaited, got }
    }
}

/// Returns the agent's steps, each with its line number.
fn steps(text: &[u8]) -> Vec<(usize, ScriptStep)> {
    let lines = text.split(|&byte| byte == b'\n').enumerate();
    lines.filter_map(|(at, line)| Some((at + 1, step(line)?))).collect()
}

fn step(line: &[u8]) -> Option<ScriptStep> {
    let (kind, text) = line.strip_prefix(b"agent")?.split_first()?;
    let text = text.strip_prefix(b" ").unwrap_or(text);
    match kind {
        b'>' => Some(ScriptStep::Write(text.to_owned())),
        b'<' => Some(ScriptStep::Await(text.to_owned())),
        b'!' => {
            let code = text.trim_ascii().strip_prefix(b"exit ")?;
            Some(ScriptStep::Exit(std::str::from_utf8(code).ok()?.trim().parse().ok()?))
        }
        _ => None,
    }
}

fn matches(awaited: &[u8], got: &[u8]) -> bool {
    if awaited == b"*" || awaited == got {
        return true;
    }
    let (Ok(awaited), Ok(got)) = (RpcMessage::read(awaited), RpcMessage::read(got)) else { return false };
    match (method(&awaited), method(&got)) {
        (Some(awaited), Some(got)) => awaited == got,
        (None, None) => response_id(&awaited) == response_id(&got),
        _ => false,
    }
}

fn method(message: &RpcMessage) -> Option<&str> {
    match message {
        RpcMessage::Request { method, .. } | RpcMessage::Notification { method, .. } => Some(method),
        RpcMessage::Response { .. } => None,
    }
}

fn response_id(message: &RpcMessage) -> Option<&Id> {
    match message {
        RpcMessage::Response { id, .. } => Some(id),
        RpcMessage::Request { .. } | RpcMessage::Notification { .. } => None,
    }
}

/// The values of `$id` and `$session`: raw JSON, the session without its quotes.
#[derive(Debug, Default)]
struct LastRead {
    id: Option<String>,
    session: Option<String>,
}

impl LastRead {
    fn remember(&mut self, line: &[u8]) {
        let params = match RpcMessage::read(line) {
            Ok(RpcMessage::Request { id, params, .. }) => {
                self.id = Some(id.text().to_owned());
                params
            }
            Ok(RpcMessage::Notification { params, .. }) => params,
            Ok(RpcMessage::Response { .. }) | Err(_) => return,
        };
        if let Ok(ScriptSession { session_id }) = params.read() {
            self.session = Some(session_id.text().trim_matches('"').to_owned());
        }
    }

    fn fill_in<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let mut filled = Cow::Borrowed(text);
        for (name, value) in [("$id", &self.id), ("$session", &self.session)] {
            if let Some(value) = value {
                filled = replace(filled, name.as_bytes(), value.as_bytes());
            }
        }
        filled
    }
}

fn replace<'a>(text: Cow<'a, [u8]>, name: &[u8], value: &[u8]) -> Cow<'a, [u8]> {
    let mut filled = Vec::new();
    let mut rest = &*text;
    while let Some(at) = memchr::memmem::find(rest, name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        filled.extend_from_slice(before);
        // `$idea` is another name than `$id`.
        let ends_here = !after.first().is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'_');
        filled.extend_from_slice(if ends_here { value } else { name });
        rest = after;
    }
    if rest.len() == text.len() {
        return text;
    }
    filled.extend_from_slice(rest);
    Cow::Owned(filled)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScriptSession {
    session_id: Id,
}

/// A line in an error message, which may be cut.
struct ShownLine<'a>(&'a [u8]);

impl fmt::Display for ShownLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(line) = self;
        let shown = &line[..line.len().min(LONGEST_SHOWN)];
        let cut = if shown.len() < line.len() { "…" } else { "" };
        write!(f, "{}{cut}", String::from_utf8_lossy(shown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::WireTrace;

    fn play(script: &str, stdin: &str) -> (Result<u8, String>, String) {
        let script = Script { path: PathBuf::from("script.txt"), steps: steps(script.as_bytes()) };
        let mut written = Vec::new();
        let output = LineWriter::new(&mut written, WireTrace::default());
        let ended = script.play(LineReader::new(stdin.as_bytes(), WireTrace::default()), output);
        (ended.map_err(|error| error.to_string()), String::from_utf8(written).unwrap())
    }

    #[test]
    fn only_lines_of_the_agent_are_played() {
        let script = "# a comment\n\nclient> {}\nagent> one\nclient< x\nquestion q-1\n+2s\nsignal> TERM\nagent! odd\n\
                      agent>  two \nagent>\nagent> {\"a\": 1.0}";
        assert_eq!(play(script, ""), (Ok(0), "one\n two \n\n{\"a\": 1.0}\n".to_owned()));
    }

    #[test]
    fn a_line_matches_as_text_by_its_method_or_by_its_id() {
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#;
        let other_id = r#"{"id":"x","method":"m"}"#;
        let notification = r#"{"method":"m"}"#;
        let response = r#"{"id":1,"result":{}}"#;
        let error = r#"{"id":1,"error":{"code":1,"message":""}}"#;
        for (awaited, got, fits) in [
            ("*", "anything", true),
            ("no json", "no json", true),
            ("no json", "no json ", false),
            (request, other_id, true),
            (request, notification, true),
            (request, r#"{"id":1,"method":"n"}"#, false),
            (request, response, false),
            (response, error, true),
            (response, r#"{"id":1.0,"result":{}}"#, false),
            (response, "no json", false),
        ] {
            assert_eq!(matches(awaited.as_bytes(), got.as_bytes()), fits, "{awaited} against {got}");
        }
    }

    #[test]
    fn ids_and_sessions_are_filled_in_as_they_were_spelled() {
        let script = "agent> $id\nagent< *\nagent> {\"id\":$id,\"s\":\"$session\"} $idea $id\n\
                      agent< *\nagent> $id $session";
        let stdin = "{\"id\":1.50,\"method\":\"a\",\"params\":{\"sessionId\":\"s\\u0041\"}}\n\
                     {\"method\":\"b\",\"params\":{\"sessionId\":\"t\"}}\n";
        let expected = "$id\n{\"id\":1.50,\"s\":\"s\\u0041\"} $idea 1.50\n1.50 t\n";
        assert_eq!(play(script, stdin), (Ok(0), expected.to_owned()));
    }

    #[test]
    fn a_mismatch_ends_the_agent_with_the_line_number() {
        let (ended, written) = play("agent> a\n# c\nagent< one\nagent> b", "two\n");
        assert_eq!(ended.unwrap_err(), "script.txt:3: awaited one, but got two");
        assert_eq!(written, "a\n");
        assert_eq!(play("agent< *", "").0.unwrap_err(), "script.txt:1: awaited *, but stdin ended");
    }

    #[test]
    fn an_exit_line_ends_the_agent_with_its_code() {
        assert_eq!(play("agent> a\nagent! exit 9\nagent> b", "").0, Ok(9));
        assert_eq!(play("agent! exit\nagent! exit 900\nagent! stop 1", "").0, Ok(0));
    }

    #[test]
    fn lines_after_the_script_are_read_and_dropped() {
        assert_eq!(play("agent< *", "one\ntwo\nthree\n"), (Ok(0), String::new()));
    }
}
