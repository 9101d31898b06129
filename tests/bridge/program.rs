//! Starts the bridge with any kind of stdin and stdout, and moves bytes through it.
//! Reads and writes block: a bridge that takes too long is killed, which ends them.

use std::{
    env, fs,
    io::{self, Read, Write},
    path::Path,
    process::{Command, ExitStatus},
    thread,
};

pub(crate) use crate::support::running::{Running, eventually, runs};

/// The path of the program.
pub(crate) const ASKBRIDGE: &str = env!("CARGO_BIN_EXE_askbridge");
/// The mock agent.
pub(crate) const MOCK: [&str; 2] = [ASKBRIDGE, "mock-agent"];

/// Returns the program that is started as the bridge: the one under test, or a launcher of it that the environment names.
fn launched() -> String {
    env::var("BRIDGE_LAUNCHER").unwrap_or_else(|_| ASKBRIDGE.to_owned())
}

/// Returns `askbridge run -- AGENT`.
pub(crate) fn bridge(agent: &[&str]) -> Command {
    bridge_with(&[], agent)
}

/// Returns a bridge whose client takes native requests, although it declares nothing: the agent's own go to it
/// unchanged.
pub(crate) fn native_bridge(agent: &[&str]) -> Command {
    bridge_with(&["--client-questions", "native"], agent)
}

/// Returns `askbridge run OPTIONS -- AGENT`.
pub(crate) fn bridge_with(options: &[&str], agent: &[&str]) -> Command {
    let mut command = Command::new(launched());
    // The developer's own commands must not find the questions of the tests.
    command.env("XDG_RUNTIME_DIR", env!("CARGO_TARGET_TMPDIR")).env("ASKBRIDGE_JOURNAL_ENABLED", "false");
    command.arg("run").args(options).arg("--").args(agent);
    command
}

/// Returns the same command, started by a shell that runs this first, such as `trap '' INT` or `ulimit -n 8`.
pub(crate) fn after(set_up: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{set_up}; exec \"$@\""), "sh"]).arg(command.get_program());
    shell.args(command.get_args());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

/// Returns the names of the sockets in this folder, which stands for `XDG_RUNTIME_DIR`.
pub(crate) fn sockets(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder.join("askbridge")) else { return Vec::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".sock") || name.ends_with(".bind")).collect()
}

/// Returns an agent that is a shell script.
pub(crate) fn sh(script: &str) -> [&str; 3] {
    ["sh", "-c", script]
}

/// Sends `input` over a pipe, in pieces of this size, and closes it. Returns what came back over another pipe, and the
/// bridge's exit status.
pub(crate) fn exchange(command: Command, input: &[u8], piece: usize) -> (Vec<u8>, ExitStatus) {
    let (stdin, our_input) = io::pipe().unwrap();
    let (our_output, stdout) = io::pipe().unwrap();
    let mut running = Running::start(command, stdin, stdout);
    let output = talk(our_input, our_output, input, piece);
    (output, running.wait())
}

/// Writes all of `input`, in pieces of this size, and closes the writer, while reading to the end.
pub(crate) fn talk(
    mut writer: impl Write + Send + 'static,
    mut reader: impl Read,
    input: &[u8],
    piece: usize,
) -> Vec<u8> {
    let mut output = Vec::new();
    thread::scope(|scope| {
        // A failed write shows in what comes back.
        scope.spawn(move || input.chunks(piece).try_for_each(|piece| writer.write_all(piece)));
        reader.read_to_end(&mut output).unwrap();
    });
    output
}

/// Reads this many bytes, or up to the end.
pub(crate) fn read_some(reader: &mut impl Read, count: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    reader.take(count as u64).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Reads up to the next line feed, or the end, and no byte further.
pub(crate) fn read_line(reader: &mut impl Read) -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\n") && reader.read(&mut byte).unwrap() == 1 {
        line.extend(byte);
    }
    String::from_utf8_lossy(&line).into_owned()
}

/// Compares bytes that may be too many to print.
#[track_caller]
pub(crate) fn assert_same(got: &[u8], expected: &[u8]) {
    if got == expected {
        return;
    }
    let at = got.iter().zip(expected).take_while(|(one, other)| one == other).count();
    let shown = |bytes: &[u8]| {
        let around = &bytes[at.saturating_sub(100).min(bytes.len())..bytes.len().min(at + 200)];
        String::from_utf8_lossy(around).into_owned()
    };
    let (lengths, got, expected) = ((got.len(), expected.len()), shown(got), shown(expected));
    panic!("differs at byte {at}, lengths {lengths:?}\n--- got ---\n{got}\n--- expected ---\n{expected}");
}
