//! Plays one case: performs its steps on a stage, one after the other, and returns the verdict.
//! The steps of ends are left to `streams.rs`, those of processes to `processes.rs`, and those of other responders to
//! `responder.rs`.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use askbridge_os::terminal::printable;

use crate::{
    breach::Breaches,
    case::{Case, Match},
    expect::Expected,
    kind::Kind,
    limits,
    peer::{Exit, Surroundings},
    serve::{action::Serve, driver::Persons, state::Served},
    stage::Stage,
    step::{Action, Side, Step},
    talk::{
        prompts::Prompts,
        state::{Conversation, Project},
    },
    variables::Variables,
    verdict::{Failure, Verdict},
    wire::{Tail, shown},
};

/// The need of a case for the inbox of askbridge, and of one that cannot be tried where there is one.
const INBOX: &str = "inbox";
const WITHOUT_INBOX: &str = "no inbox";
/// Why a case is skipped that needs the inbox.
pub(crate) const NO_INBOX: &str = "the command has no inbox in `XDG_RUNTIME_DIR`";
/// Why a case is skipped that an inbox changes.
const HAS_INBOX: &str = "what it passes on is asked in the inbox of the command";

/// The settings of one case.
#[derive(Clone, Debug)]
pub(crate) struct CaseSettings<'a> {
    pub(crate) kind: Kind,
    pub(crate) command: &'a [OsString],
    /// This program.
    pub(crate) program: &'a Path,
    /// The script that starts a puppet.
    pub(crate) script: &'a Path,
    /// A folder for this case alone.
    pub(crate) folder: PathBuf,
    pub(crate) timeout: Duration,
    /// Ends the case once it is set.
    pub(crate) stop: &'a Arc<AtomicBool>,
    /// Whether the whole conversation is returned.
    pub(crate) keeps_wire: bool,
    /// The prompts for an agent.
    pub(crate) prompts: &'a Prompts,
    /// Who answers the questions that a client shows.
    pub(crate) persons: &'a Persons,
    /// The dialect in which an agent must ask.
    pub(crate) dialect: Option<&'a str>,
}

/// The result of a case.
pub(crate) struct Played {
    pub(crate) verdict: Verdict,
    /// The lines that broke a rule for every line.
    pub(crate) breaches: Breaches,
    /// The whole conversation, if the settings keep it.
    pub(crate) wire: Option<String>,
}

/// Plays a case.
///
/// # Errors
/// If the command cannot be started, or a file of the case cannot be written.
pub(crate) fn play(case: &Case, setting: &CaseSettings<'_>) -> io::Result<Played> {
    fs::create_dir(&setting.folder)?;
    let mut variables = Variables::default();
    let conversation = match setting.kind {
        Kind::Agent => Some(conversation(setting, &mut variables)?),
        Kind::Client | Kind::Bridge | Kind::Mcp => None,
    };
    let served = (setting.kind == Kind::Client).then(|| Box::new(Served::new(setting.persons.clone())));
    let mut stage = Stage::start(setting.kind, setting.command, setting.script, &setting.folder)?;
    stage.stop = Arc::clone(setting.stop);
    let deadline = Instant::now() + setting.timeout;
    let mut play = Play {
        stage,
        matching: case.matching,
        variables,
        conversation,
        served,
        deadline,
        timeout: setting.timeout,
        last_deadline: deadline + setting.timeout.saturating_mul(limits::EXTENSIONS),
        fences: 0,
        program: setting.program.to_owned(),
        other_code: None,
        breaches: Breaches::default(),
        kind: setting.kind,
        folder: setting.folder.clone(),
    };
    let stopped = play.steps(case).err();
    let wire = setting.keeps_wire.then(|| play.stage.wire.text());
    // A command creates its inbox only once it runs, so this is known after the steps.
    let has_inbox = play.has_inbox();
    let needs = |need: &str| case.needs.iter().any(|it| it == need);
    play.stage.close();
    let verdict = match stopped {
        _ if needs(INBOX) && !has_inbox => Verdict::Skipped(NO_INBOX.to_owned()),
        _ if needs(WITHOUT_INBOX) && has_inbox => Verdict::Skipped(HAS_INBOX.to_owned()),
        stopped => stopped.unwrap_or(Verdict::Passed),
    };
    let mut breaches = play.breaches;
    if let Verdict::Failed(failure) = &verdict {
        breaches.blame(failure);
    }
    Ok(Played { verdict, breaches, wire })
}

/// Returns the conversation with an agent, and binds `$cwd` to the folder of its sessions.
fn conversation(setting: &CaseSettings<'_>, variables: &mut Variables) -> io::Result<Box<Conversation>> {
    let project = Project::make(setting.folder.join("project"))?;
    variables.bind("cwd", &serde_json::to_string(project.folder())?);
    let dialect = setting.dialect.map(str::to_owned);
    Ok(Box::new(Conversation::new(setting.prompts.clone(), dialect, project)))
}

/// A case that is being played.
pub(crate) struct Play {
    pub(crate) stage: Stage,
    pub(crate) matching: Match,
    pub(crate) variables: Variables,
    /// The conversation with an agent under test.
    pub(crate) conversation: Option<Box<Conversation>>,
    /// The conversation with a client under test.
    pub(crate) served: Option<Box<Served>>,
    pub(crate) deadline: Instant,
    /// The time without a byte after which a case is over.
    timeout: Duration,
    /// The time at which it is over in any case.
    last_deadline: Instant,
    pub(crate) fences: usize,
    /// This program, which answers as another responder.
    pub(crate) program: PathBuf,
    /// The exit code of the last program that ran as a responder.
    pub(crate) other_code: Option<u8>,
    /// The lines of the peer that broke a rule for every line.
    pub(crate) breaches: Breaches,
    pub(crate) kind: Kind,
    /// The folder of the case, where the command under test has its sockets.
    pub(crate) folder: PathBuf,
}

/// Why a step ends its case.
pub(crate) enum Problem {
    /// The rule is broken.
    Broken { what: String, expected: Option<String>, got: Option<String> },
    /// The command under test does not have what the case needs.
    Lacks(String),
    /// The situation that the case is about did not arise.
    Inconclusive(String),
}

impl<T: Into<String>> From<T> for Problem {
    fn from(what: T) -> Self {
        Self::Broken { what: what.into(), expected: None, got: None }
    }
}

impl Play {
    /// Returns the environment of the command, for programs that run beside it.
    pub(crate) fn surroundings(&self) -> Surroundings<'_> {
        Surroundings { kind: self.kind, folder: &self.folder }
    }

    /// Returns whether the command has made its folder of sockets, as askbridge does.
    pub(crate) fn has_inbox(&self) -> bool {
        self.folder.join("askbridge").is_dir()
    }

    fn steps(&mut self, case: &Case) -> Result<(), Verdict> {
        for (at, step) in case.steps.iter().enumerate() {
            if at == case.opening {
                self.stage.wire.opened();
            }
            self.wait_anew();
            if matches!(step.action, Action::End(..) | Action::Agent(_) | Action::Peer(_)) {
                self.stage.wire.note(step.text.clone());
            }
            self.step(&step.action).map_err(|problem| self.failed(step, problem))?;
        }
        let Some(last) = case.steps.last() else { return Ok(()) };
        if self.conversation.is_some() || self.served.is_some() {
            // An agent may write updates at any time, and a client notifications.
            return self.receive_pending().map_err(|problem| self.failed(last, problem));
        }
        for side in [Side::Client, Side::Agent] {
            let pending = self.stage.end(side).map(|end| end.pending().to_vec()).unwrap_or_default();
            if !pending.is_empty() {
                let what = format!("the {} got more than the case expects", side.name(self.kind));
                let expected = Some("nothing more".to_owned());
                let problem = Problem::Broken { what, expected, got: Some(shown(&pending)) };
                return Err(self.failed(last, problem));
            }
        }
        Ok(())
    }

    fn failed(&mut self, step: &Step, problem: Problem) -> Verdict {
        let (what, expected, got) = match problem {
            Problem::Broken { what, expected, got } => (what, expected, got),
            Problem::Lacks(why) => return Verdict::Skipped(why),
            Problem::Inconclusive(why) => return Verdict::Inconclusive(why),
        };
        if step.is_condition {
            if matches!(step.action, Action::Serve(Serve::GetsResponse(_))) {
                self.breaches.leave_strays();
            }
            return Verdict::Inconclusive(format!("what it is about did not come about: {what}"));
        }
        self.wait_for_stderr();
        let Tail { after, left_out, mut events } = self.stage.wire.tail();
        // The step that failed is noted before it is performed. It is what was expected, and did not happen.
        events.pop_if(|event| *event == step.text);
        let expected = expected.or_else(|| Some(shown(self.variables.shown(&step.text).as_bytes())));
        Verdict::Failed(Box::new(Failure {
            what,
            step: step.to_string(),
            expected,
            got,
            after,
            left_out,
            wire: events,
            breaches: Vec::new(),
            stderr: printable(self.stage.peer.last_words().trim_end()).into_owned(),
        }))
    }

    /// Waits until the stderr of a command that has exited is read. A child of the command may keep it open, so the wait is
    /// short.
    fn wait_for_stderr(&mut self) {
        let until = Instant::now() + limits::LAST_WORDS;
        while self.stage.has_exited() && self.stage.peer.is_still_writing() && Instant::now() < until {
            // The thread that reads stderr does not wake the stage.
            self.stage.until(Instant::now() + limits::LOOK, |_| None::<()>);
        }
    }

    fn step(&mut self, action: &Action) -> Result<(), Problem> {
        match action {
            Action::WriteLine(side, text) => {
                let mut line = self.variables.fill(text)?.into_bytes();
                line.push(b'\n');
                self.write(*side, &line)
            }
            Action::WriteBytes(side, bytes) => self.write(*side, bytes),
            Action::ExpectLine(side, text) => self.expect(*side, &Expected::whole(text, self.matching)),
            Action::ExpectPart(side, text) => self.expect(*side, &Expected::part(text)),
            Action::ExpectOptional(side, text) => self.expect(*side, &Expected::optional(text)),
            Action::ExpectBytes(side, bytes) => self.expect_bytes(*side, bytes),
            Action::ExpectEnd(side) => self.expect_end(*side),
            Action::End(side, action) => self.end(*side, *action),
            Action::Talk(talk) => self.talk(talk),
            Action::Serve(serve) => self.serve(serve),
            Action::Agent(action) => self.agent(action),
            Action::Peer(action) => self.peer(action),
            Action::Other(action) => self.other_responder(action),
            Action::NoOtherAgent => {
                let until = Instant::now() + limits::SETTLE;
                let other = self.stage.until(until, |stage| (stage.agents() > 1).then_some(()));
                let started = Side::Agent.name(self.kind);
                other.map_or(Ok(()), |()| {
                    Err(format!("the command started the {started} more than once").into())
                })
            }
            Action::NothingLeft => {
                let left = self.stage.until(self.deadline, |stage| stage.is_empty().then_some(()));
                left.ok_or_else(|| "a process that the command started still runs".into())
            }
        }
    }

    pub(crate) fn status(&self) -> String {
        self.stage.peer.status().unwrap_or(Exit::Unknown).to_string()
    }

    /// Starts the timeout again, because a step has ended or a byte has come. A long line takes its time on a busy machine, to
    /// arrive and to be compared.
    fn wait_anew(&mut self) {
        self.deadline = self.last_deadline.min(Instant::now() + self.timeout);
    }

    /// Waits until `look` returns something, for as long as bytes come.
    pub(crate) fn patiently<T>(&mut self, mut look: impl FnMut(&mut Stage) -> Option<T>) -> Option<T> {
        loop {
            let found = self.stage.until(self.deadline, &mut look);
            if found.is_some() || !self.waits_on() {
                return found;
            }
        }
    }

    /// Puts the deadline off, if bytes have come meanwhile. Returns whether they have.
    pub(crate) fn waits_on(&mut self) -> bool {
        let deadline = self.stage.moved_at().map(|moved_at| self.last_deadline.min(moved_at + self.timeout));
        let later = deadline.filter(|deadline| *deadline > self.deadline);
        self.deadline = later.unwrap_or(self.deadline);
        later.is_some()
    }
}
