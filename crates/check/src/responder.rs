//! The steps of another responder: this program, which answers through the inbox of the command under test, or tries to do so
//! as a child of the agent.

use std::{
    process::{Command, Stdio},
    time::Instant,
};

use serde::Deserialize;

use crate::{
    limits,
    play::{NO_INBOX, Play, Problem},
    puppet::Order,
    puppet_link::Role,
    step::{OtherAction, Side},
};

/// The variable for the ID of the question that opened last.
const QUESTION: &str = "$question";

/// The listing of the open questions, as far as it counts here.
#[derive(Deserialize)]
struct Listing {
    questions: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    id: String,
}

impl Play {
    /// Runs the program as another responder, or checks its exit code.
    pub(crate) fn other_responder(&mut self, action: &OtherAction) -> Result<(), Problem> {
        match action {
            OtherAction::Runs(arguments) => {
                let arguments = self.fill_question(arguments)?;
                self.stage.wire.note(format!("other> {}", arguments.join(" ")));
                let code = self.run(&arguments)?.0;
                self.stage.wire.note(format!("other! exit code {code}"));
                self.other_code = Some(code);
                Ok(())
            }
            OtherAction::Exits(expected) => self.expect_code(*expected),
        }
    }

    /// Lets the agent run the program.
    pub(crate) fn runs_in_agent(&mut self, arguments: &[String]) -> Result<(), Problem> {
        let arguments = self.fill_question(arguments)?;
        let line =
            shlex::try_join(arguments.iter().map(String::as_str)).map_err(|error| error.to_string())?;
        self.order(Side::Agent, &Order::Run(line))?;
        self.other_code = self.stage.puppet(Role::Agent).and_then(|puppet| puppet.ran.take());
        Ok(())
    }

    fn expect_code(&mut self, expected: u8) -> Result<(), Problem> {
        match self.other_code.take() {
            Some(code) if code == expected => Ok(()),
            code => Err(Problem::Broken {
                what: "the other responder exited with another code".to_owned(),
                expected: Some(format!("exit code {expected}")),
                got: code.map(|code| format!("exit code {code}")),
            }),
        }
    }

    /// Replaces the variable, and waits for the question that it needs.
    fn fill_question(&mut self, arguments: &[String]) -> Result<Vec<String>, Problem> {
        if !arguments.iter().any(|argument| argument == QUESTION) {
            return Ok(arguments.to_vec());
        }
        let id = match self.variables.get("question") {
            // The question may be settled already.
            Some(id) => id.to_owned(),
            None => self.open_question()?,
        };
        self.variables.bind("question", &id);
        let fill = |argument: &String| if argument == QUESTION { id.clone() } else { argument.clone() };
        Ok(arguments.iter().map(fill).collect())
    }

    fn open_question(&mut self) -> Result<String, Problem> {
        if !self.has_inbox() {
            return Err(Problem::Lacks(NO_INBOX.to_owned()));
        }
        let arguments = ["list", "--json"].map(str::to_owned);
        loop {
            // Each look starts a process and waits for it, so the loop needs no pause of its own.
            let (_, listed) = self.run(&arguments)?;
            let listing: Option<Listing> = serde_json::from_slice(&listed).ok();
            if let Some(question) = listing.and_then(|mut listing| listing.questions.pop()) {
                return Ok(question.id);
            }
            if Instant::now() > self.deadline {
                return Err("no question is in the inbox".into());
            }
        }
    }

    /// Runs the program beside the command under test, and moves bytes meanwhile. Returns its exit code and its stdout.
    fn run(&mut self, arguments: &[String]) -> Result<(u8, Vec<u8>), Problem> {
        let mut command = Command::new(&self.program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        self.surroundings().surround(&mut command);
        let mut child =
            command.spawn().map_err(|error| format!("cannot run {}: {error}", self.program.display()))?;
        // A listing of a few questions fits into the pipe.
        while child.try_wait().ok().flatten().is_none() {
            let now = Instant::now();
            if now > self.deadline {
                child.kill().and_then(|()| child.wait().map(drop)).unwrap_or_default();
                return Err(format!("`askbridge {}` did not end in time", arguments.join(" ")).into());
            }
            self.stage.until(now + limits::LOOK, |_| None::<()>);
        }
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        let code = output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX);
        Ok((code, output.stdout))
    }
}
