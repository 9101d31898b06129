//! A conductor that says what it is told to, and looks at every line that comes back, byte for byte.

use std::{
    io::{self, PipeReader, PipeWriter},
    process::Command,
};

use crate::support::Process;
use crate::support::running::Running;

/// How conductors spell the methods that they share with their proxies: since 5.0, and before.
pub(crate) const SPELLINGS: [&str; 2] = ["proxy", "_proxy"];

pub(crate) const QUESTION: &str = "_sandboxagent/session/request_question";
/// The member that is promised to the client.
pub(crate) const PROMISE: &str =
    r#""_meta":{"sandboxagent.dev":{"extensions":{"sessionRequestQuestion":true}}}"#;
/// What is promised to the agent.
pub(crate) const PROMISES: &str = r#""elicitation":{"form":{}},"_meta":{"sandboxagent.dev":{"extensions":{"sessionRequestQuestion":true}},"kiro":{"userInput":true}}"#;

/// A conductor, and the component that it has started.
pub(crate) struct Conductor {
    pub process: Process,
    spelling: &'static str,
}

/// Returns `askbridge proxy OPTIONS`, where only the client answers.
pub(crate) fn proxy(options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_askbridge"));
    command.args(["proxy", "--no-inbox"]).args(options);
    if !options.contains(&"--client-questions") {
        // The client takes native requests, although it declares nothing.
        command.args(["--client-questions", "native"]);
    }
    command
}

/// Starts a component between two pipes.
pub(crate) fn piped() -> (Running, PipeWriter, PipeReader) {
    let ((stdin, input), (output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    (Running::start(proxy(&[]), stdin, stdout), input, output)
}

impl Conductor {
    /// Starts the component, and says nothing yet.
    pub(crate) fn silent(spelling: &'static str, options: &[&str]) -> Self {
        Self::of(spelling, &mut proxy(options))
    }

    /// The same, of a component that is started in this way.
    pub(crate) fn of(spelling: &'static str, component: &mut Command) -> Self {
        Conductor { process: Process::spawn(component), spelling }
    }

    /// Starts the component, and both peers have initialized.
    pub(crate) fn with(spelling: &'static str, options: &[&str]) -> Self {
        Self::silent(spelling, options).initialized()
    }

    /// Lets both peers initialize.
    pub(crate) fn initialized(mut self) -> Self {
        let spelling = self.spelling;
        self.says(&format!(r#"{{"id":"i","method":"{spelling}/initialize","params":{{}}}}"#));
        self.hears_for_agent("\"i\"", "initialize", &format!(r#"{{"clientCapabilities":{{{PROMISES}}}}}"#));
        self.passes(r#"{"id":"i","result":{"protocolVersion":1}}"#);
        self
    }

    pub(crate) fn new(spelling: &'static str) -> Self {
        Self::with(spelling, &[])
    }

    /// Says a line: a message of the client, or a response.
    pub(crate) fn says(&mut self, line: &str) {
        self.process.send(line);
    }

    /// Says a request of the agent.
    pub(crate) fn agent_asks(&mut self, id: &str, method: &str, params: &str) {
        let line = self.wrapped(&format!(r#""id":{id},"#), method, params);
        self.says(&line);
    }

    /// Says a question of the agent, in the session `s`, and looks at what the client gets.
    pub(crate) fn question(&mut self, id: &str) {
        let params = r#"{"sessionId":"s","prompt":"?","options":[["a","A"],["b","B"]]}"#;
        self.agent_asks(id, QUESTION, params);
        self.hears(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{QUESTION}","params":{params}}}"#));
    }

    /// Says a notification of the agent.
    pub(crate) fn agent_tells(&mut self, method: &str, params: &str) {
        let line = self.wrapped("", method, params);
        self.says(&line);
    }

    /// Says a prompt of the client, in the session `s`, which goes to the agent.
    pub(crate) fn prompt(&mut self, id: &str) {
        self.says(&prompt(id));
        self.hears_for_agent(id, "session/prompt", PROMPT);
    }

    /// Says a line, which comes back as it is: to whom it is for is known by its id.
    pub(crate) fn passes(&mut self, line: &str) {
        self.says(line);
        self.hears(line);
    }

    /// Waits for the next line, and looks whether it is this one.
    #[track_caller]
    pub(crate) fn hears(&mut self, expected: &str) {
        let Some(line) = self.process.next_line() else {
            self.process.fail(&format!("the end instead of {expected}"));
        };
        if line != format!("{expected}\n").as_bytes() {
            self.process.fail(&format!("not what was expected: {expected}"));
        }
    }

    /// The same for a request in its envelope.
    #[track_caller]
    pub(crate) fn hears_for_agent(&mut self, id: &str, method: &str, params: &str) {
        let line = self.wrapped(&format!(r#""id":{id},"#), method, params);
        self.hears(&line);
    }

    /// The same for a notification in its envelope.
    #[track_caller]
    pub(crate) fn hears_told_to_agent(&mut self, method: &str, params: &str) {
        let line = self.wrapped("", method, params);
        self.hears(&line);
    }

    /// Looks whether a question is rejected for this reason.
    #[track_caller]
    pub(crate) fn hears_rejection(&mut self, id: &str, reason: &str) {
        self.hears(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"status":"rejected","_meta":{{"askbridge":{{"reason":"{reason}"}}}}}}}}"#
        ));
    }

    /// Leaves, and looks whether nothing more was said, and the end was a good one.
    #[track_caller]
    pub(crate) fn leaves(mut self) {
        self.process.close_stdin();
        self.ends(0);
    }

    /// Looks whether nothing more is said, and at the exit code.
    #[track_caller]
    pub(crate) fn ends(mut self, code: i32) {
        if self.process.next_line().is_some() {
            self.process.fail("nothing more was expected");
        }
        let status = self.process.wait();
        if status.code() != Some(code) {
            self.process.fail(&format!("ended with {status}, not with code {code}"));
        }
    }

    fn wrapped(&self, id: &str, method: &str, params: &str) -> String {
        let spelling = self.spelling;
        format!(
            r#"{{"jsonrpc":"2.0",{id}"method":"{spelling}/successor","params":{{"method":"{method}","params":{params}}}}}"#
        )
    }
}

pub(crate) const PROMPT: &str = r#"{"sessionId":"s","prompt":[]}"#;

/// A prompt of the client, in the session `s`.
pub(crate) fn prompt(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{PROMPT}}}"#)
}

/// The notification that takes a request back.
pub(crate) fn cancel(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#)
}
