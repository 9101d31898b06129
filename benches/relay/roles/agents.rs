//! The agents behind the proxies: each does one thing at the lowest cost.
//! Checking the transferred bytes is left to `measure`.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    os::fd::AsFd,
    process::ExitCode,
    str::FromStr,
};

use crate::{
    lines::{self, Direction, READY, Shape, Speech, Tally},
    rows::Asks,
};

/// Reads `TOTAL` bytes, reports their tally, and checks that no more come: `sink TOTAL CONTENTS`.
pub(super) fn sink(arguments: &[String]) -> io::Result<ExitCode> {
    let total: u64 = number(arguments, 0)?;
    let mut tally = Tally::new(number(arguments, 1)?);
    let (mut input, mut output) = stdio()?;
    let mut buffer = vec![0; 1 << 20];
    output.write_all(READY)?;
    while tally.bytes < total {
        match input.read(&mut buffer)? {
            0 => return Ok(ExitCode::FAILURE),
            length => tally.add(&buffer[..length]),
        }
    }
    output.write_all(&tally.to_line()?)?;
    until_end(&mut input)
}

/// Waits for a line, then writes `TOTAL` bytes: `source LINE WRITE TOTAL SPEECH`.
pub(super) fn source(arguments: &[String]) -> io::Result<ExitCode> {
    let shape = Shape {
        speech: speech(arguments, 3),
        direction: Direction::ToClient,
        line: number(arguments, 0)?,
        write: number(arguments, 1)?,
    };
    let total = number(arguments, 2)?;
    let (input, mut output) = stdio()?;
    let mut input = BufReader::new(input);
    output.write_all(READY)?;
    input.read_until(b'\n', &mut Vec::new())?;
    shape.write_to(&mut output, total, &mut Tally::new(false))?;
    until_end(&mut input)
}

/// Answers each request at once with a response of `SIZE` bytes: `echo SIZE`.
pub(super) fn echo(arguments: &[String]) -> io::Result<ExitCode> {
    let size = number(arguments, 0)?;
    answer_lines(|line, output| match lines::pong(line, size) {
        Some(response) => output.write_all(&response),
        None => Err(io::Error::other("a request without an id")),
    })
}

/// Asks in each turn, and ends the turn once the answer has come: `asker question` or `asker permission`.
pub(super) fn asker(arguments: &[String]) -> io::Result<ExitCode> {
    let asks = match arguments.first().map(String::as_str) {
        Some("permission") => Asks::Permission,
        _ => Asks::Question,
    };
    let mut turn: Option<String> = None;
    answer_lines(|line, output| {
        if lines::has(line, r#""method":"initialize""#) {
            return output.write_all(Speech::Acp.initialized().as_bytes());
        }
        let Some(asked) = turn.take() else {
            let id = lines::id_of(line).ok_or_else(|| io::Error::other("a prompt without an id"))?;
            let id = String::from_utf8_lossy(id).into_owned();
            let request = match asks {
                Asks::Question => question(&id, "s"),
                Asks::Permission => permission(&id),
            };
            output.write_all(request.as_bytes())?;
            turn = Some(id);
            return Ok(());
        };
        if !lines::has(line, &format!("\"q-{asked}\"")) || !lines::has(line, asks.result()) {
            return Err(io::Error::other("the answer does not belong to the question"));
        }
        output.write_all(turn_ended(&asked).as_bytes())
    })
}

/// Answers `initialize`, and asks `COUNT` questions at once, 64 in a session: `inquirer COUNT`.
pub(super) fn inquirer(arguments: &[String]) -> io::Result<ExitCode> {
    let count: u32 = number(arguments, 0)?;
    let mut asked = false;
    answer_lines(|_, output| {
        if std::mem::replace(&mut asked, true) {
            return Ok(());
        }
        output.write_all(Speech::Acp.initialized().as_bytes())?;
        let questions = (0..count).map(|number| question(&number.to_string(), &format!("s{}", number / 64)));
        output.write_all(questions.collect::<String>().as_bytes())
    })
}

/// Answers `initialize`, which has the ID 0 in every row: `initializer SPEECH`.
pub(super) fn initializer(arguments: &[String]) -> io::Result<ExitCode> {
    let speech = speech(arguments, 0);
    answer_lines(|_, output| output.write_all(speech.initialized().as_bytes()))
}

/// A server of MCP, which answers each request with a response of `SIZE` bytes: `server SIZE`.
pub(super) fn server(arguments: &[String]) -> io::Result<ExitCode> {
    let size = number(arguments, 0)?;
    answer_lines(|line, output| {
        if lines::has(&line[..line.len().min(100)], r#""method":"initialize""#) {
            return output.write_all(Speech::Mcp.initialized().as_bytes());
        }
        let response = lines::called(line, size);
        output.write_all(&response.ok_or_else(|| io::Error::other("a request without an id"))?)
    })
}

fn speech(arguments: &[String], at: usize) -> Speech {
    arguments.get(at).and_then(|name| Speech::named(name)).unwrap_or(Speech::Acp)
}

fn question(turn: &str, session: &str) -> String {
    format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":"q-{turn}","method":"_sandboxagent/session/request_question","#,
            r#""params":{{"sessionId":"{session}","questionId":"question-{turn}","prompt":"Which option?","#,
            r#""options":[["a","Option A"],["b","Option B"]]}}}}"#,
            "\n"
        ),
        turn = turn,
        session = session
    )
}

fn permission(turn: &str) -> String {
    format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":"q-{turn}","method":"session/request_permission","params":{{"sessionId":"s","#,
            r#""toolCall":{{"toolCallId":"call-{turn}","title":"cargo test","kind":"execute","status":"pending","#,
            r#""rawInput":{{"command":"cargo test","description":"Run the tests"}}}},"#,
            r#""options":[{{"optionId":"allow_always","name":"Always Allow","kind":"allow_always"}},"#,
            r#"{{"optionId":"allow","name":"Allow","kind":"allow_once"}},"#,
            r#"{{"optionId":"reject","name":"Reject","kind":"reject_once"}}]}}}}"#,
            "\n"
        ),
        turn = turn
    )
}

fn turn_ended(turn: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{turn},\"result\":{{\"stopReason\":\"end_turn\"}}}}\n")
}

/// Calls `answer` with each line until the input ends.
fn answer_lines(mut answer: impl FnMut(&[u8], &mut File) -> io::Result<()>) -> io::Result<ExitCode> {
    let (input, mut output) = stdio()?;
    let mut input = BufReader::with_capacity(64 << 10, input);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        answer(&line, &mut output)?;
        line.clear();
    }
    Ok(ExitCode::SUCCESS)
}

/// Waits for the end of the input, which a proxy has to pass on. Further bytes are an error.
fn until_end(input: &mut impl Read) -> io::Result<ExitCode> {
    match input.read(&mut [0; 1])? {
        0 => Ok(ExitCode::SUCCESS),
        _ => Err(io::Error::other("more bytes came than were sent")),
    }
}

/// Returns stdin and stdout without the buffers of std.
fn stdio() -> io::Result<(File, File)> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    Ok((File::from(input), File::from(output)))
}

fn number<T: FromStr>(arguments: &[String], at: usize) -> io::Result<T> {
    let argument = arguments.get(at).and_then(|argument| argument.parse().ok());
    argument.ok_or_else(|| io::Error::other(format!("no valid argument {at}")))
}
