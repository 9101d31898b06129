//! The common parts of the mocks of agents in terminals: lines on stdin as their keyboard, lines on stdout as their
//! report, a thread for each connection, and an exit code.

use std::{
    fmt::Display,
    io::{self, BufRead, Write},
    net::{TcpListener, TcpStream},
    process::ExitCode,
    sync::Arc,
    thread,
};

use askbridge_os::{
    exit,
    terminal::{printable_json, printable_line},
};

/// Prints a line on stdout and flushes it. JSON in the line stays valid.
pub(super) fn say(line: impl Display) -> io::Result<()> {
    let line = line.to_string();
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{}", printable_json(&line))?;
    stdout.flush()
}

/// Passes each line of the keyboard to `press`, until stdin ends.
pub(super) fn type_on(press: impl Fn(&str) -> io::Result<()>) -> io::Result<()> {
    io::stdin().lock().lines().try_for_each(|line| press(&line?))
}

/// Serves each connection on a separate thread. `serve` gets its number, counted from 1.
pub(super) fn accept(
    listener: TcpListener,
    serve: impl Fn(u64, TcpStream) -> io::Result<()> + Send + Sync + 'static,
) {
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for (number, stream) in (1..).zip(listener.incoming().flatten()) {
            let serve = Arc::clone(&serve);
            // Otherwise Nagle's algorithm would hold back a reply that follows an event.
            stream.set_nodelay(true).unwrap_or_default();
            // Ignore the error: a client that is gone needs no reply.
            thread::spawn(move || serve(number, stream).unwrap_or_default());
        }
    });
}

/// Returns the exit code of `askbridge mock NAME`, and says on stderr why it failed.
pub(super) fn code(name: &str, served: io::Result<u8>) -> ExitCode {
    ExitCode::from(served.unwrap_or_else(|error| {
        let error = printable_line(&error.to_string()).to_string();
        // Ignore the error: there is nowhere left to report it.
        writeln!(io::stderr().lock(), "askbridge mock {name}: {error}").unwrap_or_default();
        exit::FAILED
    }))
}
