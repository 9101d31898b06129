//! Hostile lines: the files of `crates/check/lines`, and generated lines that are too large for a file.
//! Sending them is left to the tests.

use std::{fs, path::Path};

/// One line, with its terminator if it has one.
pub(crate) struct Line {
    /// The name of its file, or a description of a generated line.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Returns all lines that have a terminator.
pub(crate) fn terminated() -> Vec<Line> {
    let mut lines: Vec<Line> = fixtures().into_iter().filter(|line| line.bytes.ends_with(b"\n")).collect();
    lines.extend(deep());
    lines.extend(long());
    lines
}

/// Returns the lines without a terminator, which can only be the last of a stream.
pub(crate) fn unterminated() -> Vec<Line> {
    fixtures().into_iter().filter(|line| !line.bytes.ends_with(b"\n")).collect()
}

/// Returns all lines as one stream, whose last line has no terminator.
pub(crate) fn stream() -> Vec<u8> {
    let last = unterminated().remove(0);
    terminated().into_iter().chain([last]).flat_map(|line| line.bytes).collect()
}

fn fixtures() -> Vec<Line> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/check/lines");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut lines: Vec<Line> = paths
        .map(|path| Line { name: name(&path), bytes: fs::read(&path).unwrap() })
        .filter(|line| !line.name.starts_with('.'))
        .collect();
    lines.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(lines.len() > 80, "the fixtures are missing");
    lines
}

/// Returns lines whose nesting would overflow the stack of a recursive parser.
fn deep() -> Vec<Line> {
    const DEEP: usize = 10_000;
    let (open, close) = ("[".repeat(DEEP), "]".repeat(DEEP));
    let objects = format!("{}1{}", "{\"a\":".repeat(DEEP), "}".repeat(DEEP));
    vec![
        line("deep batch", format!("{open}{close}")),
        line("deep params", format!(r#"{{"params":{open}{close},"method":"session/prompt","id":1}}"#)),
        line("deep objects", format!(r#"{{"jsonrpc":"2.0","method":"session/cancel","params":{objects}}}"#)),
        line("deep result", format!(r#"{{"result":{objects},"id":"deep","jsonrpc":"2.0"}}"#)),
        line("deep and never closed", open),
    ]
}

/// Returns lines of each kind around every size at which the bridge decides something.
fn long() -> Vec<Line> {
    const MIB: usize = 1024 * 1024;
    let question = "_sandboxagent/session/request_question";
    let mut lines = Vec::new();
    let edges = |size: usize| [size - 1, size, size + 1];
    let sizes = [[0, 1, 2], edges(4096), edges(64 * 1024), edges(MIB)].concat();
    for size in sizes {
        lines.push(line(&format!("{size} bytes of text"), "x".repeat(size)));
        lines.extend(padded(size, r#"{"jsonrpc":"2.0","method":"session/update","params":""#, r#""}"#));
        lines.extend(padded(size, r#"{"params":""#, r#"","method":"session/prompt","id":8}"#));
        lines.extend(padded(size, r#"{"method":"$/cancel_request","params":{"a":""#, r#""}}"#));
    }
    // A question of this length is over the limit, so it passes through.
    let prompt = format!(r#"{{"id":"long","method":"{question}","params":{{"prompt":""#);
    lines.extend(padded(4 * MIB + 1, &prompt, r#""}}"#));
    lines.extend(padded(2 * MIB, r#"{"method":"session/prompt","id":8,"params":{"a":""#, r#""}}"#));
    lines.extend(padded(3 * MIB, r#"{"result":""#, r#"","id":"nobody asked"}"#));
    lines
}

/// Returns a line of this size, terminator included, or `None` if the size is too small.
fn padded(size: usize, before: &str, after: &str) -> Option<Line> {
    let padding = size.checked_sub(before.len() + after.len() + 1)?;
    Some(line(&format!("{size} bytes of {before}"), format!("{before}{}{after}", "y".repeat(padding))))
}

fn line(name: &str, text: String) -> Line {
    Line { name: name.to_owned(), bytes: (text + "\n").into_bytes() }
}
