//! The steps of a case: lines that an end writes or must get, and actions of ends and processes. In the lines, only fillers are
//! replaced, because JSON has escapes of its own.
//! Performing the steps is left to `play.rs`.

use std::{fmt, sync::Arc};

use crate::{
    kind::Kind,
    limits, lines,
    serve::action::{self as serve, Serve},
    talk::action::{self, Talk},
};

/// One end of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Agent,
}

impl Side {
    /// Returns its name where a program of this kind is checked.
    pub(crate) fn name(self, kind: Kind) -> &'static str {
        match (self, kind) {
            (Self::Client, Kind::Mcp) => "host",
            (Self::Agent, Kind::Mcp) => "server",
            (Self::Client, _) => "client",
            (Self::Agent, _) => "agent",
        }
    }

    /// Returns its names: with MCP, they are others.
    fn names(self) -> [&'static str; 2] {
        [Kind::Bridge, Kind::Mcp].map(|kind| self.name(kind))
    }

    pub(crate) fn other(self) -> Self {
        match self {
            Self::Client => Self::Agent,
            Self::Agent => Self::Client,
        }
    }
}

/// A step, and its place in a file.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) file: Arc<str>,
    pub(crate) line: usize,
    pub(crate) text: String,
    pub(crate) action: Action,
    /// Whether the case shows nothing where this step fails, because another case is about it.
    pub(crate) is_condition: bool,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// An end writes a line, in which variables are replaced.
    WriteLine(Side, String),
    /// An end writes bytes.
    WriteBytes(Side, Arc<[u8]>),
    /// The next line that an end gets.
    ExpectLine(Side, String),
    /// The next line that an end gets has at least these members.
    ExpectPart(Side, String),
    /// The next line that an end gets, which may lack the members whose names end with `?`.
    ExpectOptional(Side, String),
    /// The next bytes that an end gets.
    ExpectBytes(Side, Arc<[u8]>),
    /// An end must see the end of its input: the other side closed it.
    ExpectEnd(Side),
    /// An end does something, or something must have happened to it.
    End(Side, EndAction),
    /// The client of an agent under test does something, or something must have happened to it.
    Talk(Talk),
    /// The agent of a client under test does something, or something must have happened to it.
    Serve(Serve),
    /// The agent's process does something, or something must have happened to it.
    Agent(AgentAction),
    /// The command under test gets a signal, or must have ended.
    Peer(PeerAction),
    /// Another responder does something, through the inbox of the command under test.
    Other(OtherAction),
    /// The command has started no second agent.
    NoOtherAgent,
    /// Every process that the command started must have ended, and itself.
    NothingLeft,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndAction {
    /// The end writes a line that the other end must get as its very next one: nothing else came in between.
    Fence,
    /// The end closes its output.
    ClosesOutput,
    /// The end closes its input, so that writes to it fail.
    ClosesInput,
    StopsReading,
    ReadsAgain,
    /// The command reads no more of the bytes that the end writes.
    IsBlocked,
    /// The command reads no more of the bytes that the end writes, or has read all.
    IsBlockedOrDone,
    /// No line comes within the settle time.
    GetsNothing,
    /// The command has read all that the end wrote.
    IsRead,
    /// The end gets this many lines, whose content does not count.
    GetsLines(usize),
    /// The end writes one line of this many megabytes.
    WritesLong(usize),
    /// The end gets that line.
    GetsLong(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AgentAction {
    Exit(u8),
    Kill,
    TrapTerm,
    GetsTerm,
    Ends,
    StartChild,
    ChildEnds,
    SaysOnStderr(String),
    /// Runs this program with these arguments, as a child of the agent.
    Runs(Vec<String>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PeerAction {
    Signal(String),
    Exits(Option<i32>),
    Runs,
    SaysOnStderr(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OtherAction {
    /// Runs this program with these arguments.
    Runs(Vec<String>),
    /// It has exited with this code.
    Exits(u8),
}

/// The words before the megabytes of a long line.
const WRITES_LONG: &str = "writes a line of ";
const GETS_LONG: &str = "gets the line of ";
/// The words before a text on stderr.
const ON_STDERR: &str = "says on stderr: ";

/// Reads the steps of a file. An error comes with the number of its line.
pub(crate) fn read<'a>(
    file: &str,
    lines: impl Iterator<Item = (usize, &'a str)>,
) -> Result<Vec<Step>, (usize, String)> {
    let file: Arc<str> = file.into();
    let mut steps = Vec::new();
    for (line, text) in lines {
        if text.trim().is_empty() || text.starts_with("# ") {
            continue;
        }
        let condition = text.strip_prefix("if ");
        let action = read_action(condition.unwrap_or(text)).map_err(|why| (line, why))?;
        let (file, text) = (Arc::clone(&file), text.to_owned());
        steps.push(Step { file, line, text, action, is_condition: condition.is_some() });
    }
    Ok(steps)
}

fn read_action(line: &str) -> Result<Action, String> {
    match line {
        "no process is left" => return Ok(Action::NothingLeft),
        "no other agent" | "no other server" => return Ok(Action::NoOtherAgent),
        _ => {}
    }
    let (head, text) = line.split_once(' ').ok_or("not a step")?;
    for side in [Side::Client, Side::Agent] {
        let Some(mark) = side.names().iter().find_map(|name| head.strip_prefix(name)) else { continue };
        return match mark {
            ">" => Ok(Action::WriteLine(side, filled(text)?)),
            ">|" => Ok(Action::WriteBytes(side, unescaped(text)?.into())),
            ">@" => Ok(Action::WriteBytes(side, hostile_line(text)?)),
            "<" if text == "end" => Ok(Action::ExpectEnd(side)),
            "<" => Ok(Action::ExpectLine(side, filled(text)?)),
            "<*" => Ok(match side {
                Side::Client => Action::Talk(Talk::GetsAmong(without_version(&filled(text)?))),
                Side::Agent => Action::Serve(Serve::GetsAmong(without_version(&filled(text)?))),
            }),
            "<~" => Ok(Action::ExpectPart(side, filled(text)?)),
            "<?" => Ok(Action::ExpectOptional(side, filled(text)?)),
            "<|" => Ok(Action::ExpectBytes(side, unescaped(text)?.into())),
            "<@" => Ok(Action::ExpectBytes(side, hostile_line(text)?)),
            "!" => end_action(side, text),
            _ => Err(format!("no step begins with `{head}`")),
        };
    }
    match head {
        "peer!" => peer_action(text).map(Action::Peer),
        "other>" => Ok(Action::Other(OtherAction::Runs(words(text)?))),
        "other!" => match text.strip_prefix("exits ").and_then(|code| code.parse().ok()) {
            Some(code) => Ok(Action::Other(OtherAction::Exits(code))),
            None => Err(format!("another responder has no step `{text}`")),
        },
        _ => Err(format!("no step begins with `{head}`")),
    }
}

/// Returns an expected message without the version of JSON-RPC, which one case judges in the lines of all.
fn without_version(text: &str) -> String {
    text.replacen(r#""jsonrpc":"2.0","#, "", 1)
}

fn hostile_line(name: &str) -> Result<Arc<[u8]>, String> {
    lines::line(name).map(Into::into).ok_or_else(|| format!("no line is named `{name}`"))
}

/// Reads a command line as a shell does.
fn words(text: &str) -> Result<Vec<String>, String> {
    shlex::split(text).ok_or_else(|| format!("`{text}` has an open quote"))
}

fn end_action(side: Side, text: &str) -> Result<Action, String> {
    let action = match (side, text) {
        (_, "fence") => EndAction::Fence,
        (Side::Client, "closes stdin") | (Side::Agent, "closes stdout") => EndAction::ClosesOutput,
        (Side::Client, "closes stdout") | (Side::Agent, "closes stdin") => EndAction::ClosesInput,
        (_, "stops reading") => EndAction::StopsReading,
        (_, "reads again") => EndAction::ReadsAgain,
        (_, "is blocked") => EndAction::IsBlocked,
        (_, "is blocked, or all is taken") => EndAction::IsBlockedOrDone,
        (_, "gets nothing") => EndAction::GetsNothing,
        (_, "is read") => EndAction::IsRead,
        (_, text) if between(text, "gets ", " lines").is_some() => {
            EndAction::GetsLines(between(text, "gets ", " lines").unwrap_or_default())
        }
        (_, text) if between(text, WRITES_LONG, " MB").is_some() => {
            EndAction::WritesLong(between(text, WRITES_LONG, " MB").unwrap_or_default())
        }
        (_, text) if between(text, GETS_LONG, " MB").is_some() => {
            EndAction::GetsLong(between(text, GETS_LONG, " MB").unwrap_or_default())
        }
        (Side::Agent, text) => {
            let served = serve::read(text).map(Action::Serve);
            return served.map_or_else(|| agent_action(text).map(Action::Agent), Ok);
        }
        (Side::Client, text) => {
            let talk = action::read(text).map(Action::Talk);
            return talk.ok_or_else(|| format!("a client has no step `{text}`"));
        }
    };
    Ok(Action::End(side, action))
}

/// Reads the number between two parts of a text.
fn between(text: &str, before: &str, behind: &str) -> Option<usize> {
    text.strip_prefix(before)?.strip_suffix(behind)?.parse().ok()
}

fn agent_action(text: &str) -> Result<AgentAction, String> {
    if let Some(code) = text.strip_prefix("exit ") {
        return code.parse().map(AgentAction::Exit).map_err(|_| format!("`{code}` is not an exit code"));
    }
    if let Some(text) = text.strip_prefix("runs ") {
        return words(text).map(AgentAction::Runs);
    }
    if let Some(text) = text.strip_prefix(ON_STDERR) {
        return Ok(AgentAction::SaysOnStderr(text.to_owned()));
    }
    match text {
        "kill" => Ok(AgentAction::Kill),
        "traps SIGTERM" => Ok(AgentAction::TrapTerm),
        "gets SIGTERM" => Ok(AgentAction::GetsTerm),
        "ends" => Ok(AgentAction::Ends),
        "starts a child" => Ok(AgentAction::StartChild),
        "loses its child" => Ok(AgentAction::ChildEnds),
        _ => Err(format!("an agent has no step `{text}`")),
    }
}

fn peer_action(text: &str) -> Result<PeerAction, String> {
    if let Some(code) = text.strip_prefix("exits ") {
        return code
            .parse()
            .map(|code| PeerAction::Exits(Some(code)))
            .map_err(|_| format!("`{code}` is not an exit code"));
    }
    if let Some(text) = text.strip_prefix(ON_STDERR) {
        return Ok(PeerAction::SaysOnStderr(text.to_owned()));
    }
    match text {
        "exits" => Ok(PeerAction::Exits(None)),
        "runs" => Ok(PeerAction::Runs),
        "SIGTERM" | "SIGINT" | "SIGHUP" | "SIGKILL" => Ok(PeerAction::Signal(text.to_owned())),
        _ => Err(format!("the command has no step `{text}`")),
    }
}

/// Returns the text with each filler `\{TEXT*COUNT\}` replaced by the text, COUNT times. JSON has no such escape.
fn filled(text: &str) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\{") {
        let (filler, after) = after.split_once("\\}").ok_or("a filler has no end: `\\{TEXT*COUNT\\}`")?;
        let (repeated, count) = filler.rsplit_once('*').ok_or("a filler is `\\{TEXT*COUNT\\}`")?;
        let count: usize = count.parse().map_err(|_| format!("`{count}` is not a count"))?;
        if repeated.len().saturating_mul(count) > limits::FILLER {
            return Err(format!("a filler of more than {} bytes", limits::FILLER));
        }
        filled.push_str(before);
        filled.push_str(&repeated.repeat(count));
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Returns the bytes that a text with escapes stands for: `\n`, `\r`, `\t`, `\\`, `\xHH`, and fillers.
fn unescaped(text: &str) -> Result<Vec<u8>, String> {
    let text = filled(text)?;
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        if *first != b'\\' {
            bytes.push(*first);
            rest = after;
            continue;
        }
        let (byte, length) = match after {
            [b'n', ..] => (b'\n', 1),
            [b'r', ..] => (b'\r', 1),
            [b't', ..] => (b'\t', 1),
            [b'\\', ..] => (b'\\', 1),
            [b'x', high, low, ..] => (hex(*high)? << 4 | hex(*low)?, 3),
            _ => return Err("an escape is `\\n`, `\\r`, `\\t`, `\\\\` or `\\xHH`".to_owned()),
        };
        bytes.push(byte);
        rest = after.get(length..).unwrap_or_default();
    }
    Ok(bytes)
}

fn hex(digit: u8) -> Result<u8, String> {
    let value = char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok());
    value.ok_or_else(|| format!("`{}` is not a hexadecimal digit", char::from(digit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_and_escapes_are_replaced() {
        assert_eq!(filled(r#"{"a":"\{xy*3\}\n"}"#).unwrap(), r#"{"a":"xyxyxy\n"}"#);
        assert_eq!(unescaped(r"a\n\r\t\\\xff\{b*2\}").unwrap(), b"a\n\r\t\\\xffbb");
        for wrong in [r"\q", r"\x1", r"\xg0", r"\{a", r"\{a\}", r"\{a*b\}", r"\{a*999999999\}"] {
            assert!(unescaped(wrong).is_err(), "{wrong}");
        }
    }
}
