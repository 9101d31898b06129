//! Runs the cases of a kind against a command, some at a time, and judges each outcome.
//! Playing one case is left to `play.rs`, summaries and documents to `report`.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use wildmatch::WildMatch;

use crate::{
    breach::{AllBreaches, Breaches},
    case::{Case, Level},
    kind::Kind,
    library, limits,
    play::{CaseSettings, play},
    serve::driver::Persons,
    stage::shlex_line,
    talk::prompts::Prompts,
    verdict::{Failure, Verdict},
};

/// How cases are run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The kind of program that is checked.
    pub kind: Kind,
    /// The command under test. The placeholder in it stands for the command of the agent, or the server, that the checker
    /// plays.
    pub command: Vec<OsString>,
    /// This program, whose `check puppet` is the puppet.
    pub program: PathBuf,
    /// The time without a byte or a finished step after which a case ends.
    pub timeout: Duration,
    /// How many cases run at once.
    pub jobs: usize,
    /// Ends the run, and each case that is being played, once it is set.
    pub stop: Arc<AtomicBool>,
    /// Whether the cases that only askbridge promises are run.
    pub ours: bool,
    /// The folder for the conversation of each case.
    pub wire: Option<PathBuf>,
    /// The cases that are expected to fail: IDs, groups and patterns.
    pub expected: Vec<String>,
    /// Whether `should` counts as `must`, and an inconclusive case as a failed one.
    pub strict: bool,
    /// Who answers the questions that a client shows.
    pub persons: Persons,
    /// The prompts for an agent.
    pub prompts: Prompts,
    /// The dialect in which an agent must ask its questions; any that is known, if none is named.
    pub dialect: Option<String>,
}

impl Settings {
    /// Returns how a case ended, and whether that makes the run fail.
    fn judged(&self, case: Case, verdict: Verdict, time: Duration) -> Outcome {
        let expected = self.expected.iter().any(|expected| is_selected(&case.id, expected));
        let is_unexpected = match &verdict {
            Verdict::Passed => expected,
            Verdict::Failed(_) => !expected && (case.level != Level::Should || self.strict),
            Verdict::Inconclusive(_) => !expected && self.strict,
            Verdict::Skipped(_) => false,
        };
        Outcome { case, verdict, time, expected, is_unexpected, met: Vec::new() }
    }
}

impl Settings {
    /// Returns the outcome of a case that may have failed in the beginning that it shares with others. If another case has
    /// failed like that already, this one says nothing of its own rule.
    fn once(&self, outcome: Outcome, others: &[Option<Outcome>]) -> Outcome {
        let Some(failure) = failed_in_the_opening(&outcome) else { return outcome };
        let is_same = |other: &&Outcome| match &other.verdict {
            Verdict::Failed(other) if other.got.is_some() => other.got == failure.got,
            Verdict::Failed(other) => (&other.what, &other.got) == (&failure.what, &failure.got),
            _ => false,
        };
        let Some(other) = others.iter().flatten().find(is_same) else { return outcome };
        let why = format!("its beginning failed like `{}`", other.case.id);
        Outcome { met: outcome.met, ..self.judged(outcome.case, Verdict::Inconclusive(why), outcome.time) }
    }
}

/// How one case ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The case.
    pub case: Case,
    /// How it ended.
    pub verdict: Verdict,
    /// How long it took.
    pub time: Duration,
    /// Whether it was expected to fail.
    pub expected: bool,
    /// Whether it makes the run fail.
    pub is_unexpected: bool,
    /// What broke rules on the way that no case of the run is about.
    pub met: Vec<String>,
}

/// Why no case could be run.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The command could not be started.
    #[error("cannot start {0}: {1}")]
    Start(String, io::Error),
    /// The command does not speak the protocol at all.
    #[error("{0} does not take part in a conversation: {1}")]
    Silent(String, String),
    /// No case has such an ID.
    #[error("no case is named `{0}`: `askbridge check {1} --list` lists them")]
    NoCase(String, &'static str),
    /// The conversation of a case cannot be written where the user wants it.
    #[error("cannot write {0:?}: {1}")]
    Wire(PathBuf, io::Error),
    /// A folder or file of the checker cannot be written.
    #[error("cannot prepare the cases: {0}")]
    Io(#[from] io::Error),
}

/// Returns whether a selection has a case: as its ID, a group that it is in, or a pattern with `*`. The selection may leave out
/// the name of the kind at the beginning.
pub fn is_selected(id: &str, selection: &str) -> bool {
    let short = id.split_once('/').map_or(id, |(_, short)| short);
    [id, short].into_iter().any(|id| {
        let selection = selection.trim_end_matches('/');
        let is_in_group =
            id.strip_prefix(selection).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        is_in_group || (selection.contains('*') && WildMatch::new(selection).matches(id))
    })
}

/// Returns the cases that are selected. All, if nothing is.
///
/// # Errors
/// If a selection fits no case.
pub fn selected(cases: Vec<Case>, kind: Kind, selections: &[String]) -> Result<Vec<Case>, SuiteError> {
    for selection in selections {
        if !cases.iter().any(|case| is_selected(&case.id, selection)) {
            return Err(SuiteError::NoCase(selection.clone(), kind.command()));
        }
    }
    let fits = |case: &Case| selections.is_empty() || selections.iter().any(|it| is_selected(&case.id, it));
    Ok(cases.into_iter().filter(fits).collect())
}

/// Plays the beginning of a conversation, which every command must take part in.
///
/// # Errors
/// If the command cannot be started, or takes no part in it.
pub fn probe(settings: &Settings) -> Result<(), SuiteError> {
    let case = library::probe(settings.kind).map_err(|error| io::Error::other(error.to_string()))?;
    let case = [case];
    // Without it, no case passes. A list of expected failures does not change that.
    let settings = Settings { expected: Vec::new(), wire: None, ..settings.clone() };
    let outcomes = run(&case, &settings, |_| ())?;
    let Some(Verdict::Failed(failure)) = outcomes.into_iter().next().map(|outcome| outcome.verdict) else {
        return Ok(());
    };
    // A command that wrote a message takes part, however wrong the message is: the cases say more of it.
    if failure.got.as_deref().is_some_and(|got| got.starts_with('{')) {
        return Ok(());
    }
    let last = failure.stderr.lines().last().map(|line| format!("; its last words: {line}"));
    let what = match (settings.kind, failure.what.ends_with("did not get it in time")) {
        (_, false) => failure.what.clone(),
        (Kind::Client, true) => format!("it sent no `initialize` within {:?}", settings.timeout),
        (Kind::Agent | Kind::Bridge | Kind::Mcp, true) => {
            format!("it did not answer `initialize` within {:?}", settings.timeout)
        }
    };
    let why = format!("{what}{}", last.unwrap_or_default());
    Err(SuiteError::Silent(shlex_line(&settings.command), why))
}

/// Runs the cases. `ended` is called for each as it ends; the outcomes are returned in the order of the cases.
///
/// # Errors
/// If the command cannot be run at all.
pub fn run(
    cases: &[Case],
    settings: &Settings,
    mut ended: impl FnMut(&Outcome),
) -> Result<Vec<Outcome>, SuiteError> {
    let folder = tempfile::Builder::new().prefix("askbridge-check-").tempdir()?;
    let script = script(folder.path(), &settings.program)?;
    let runner =
        Runner { cases, settings, script: &script, folder: folder.path(), next: AtomicUsize::new(0) };
    let (sender, receiver) = sync_channel(limits::OUTCOMES);
    let mut outcomes: Vec<Option<Outcome>> = cases.iter().map(|_| None).collect();
    let (mut failed, mut breaches, mut held) = (None, AllBreaches::default(), Vec::new());
    thread::scope(|scope| {
        for _ in 0..settings.jobs.clamp(1, cases.len().max(1)) {
            let (runner, sender) = (&runner, sender.clone());
            scope.spawn(move || runner.work(&sender));
        }
        drop(sender);
        while let Ok((index, outcome)) = receiver.recv() {
            match outcome {
                Ok((outcome, found)) => {
                    breaches.add(&outcome.case.id, found);
                    if !outcome.case.everywhere.is_empty() || failed_in_the_opening(&outcome).is_some() {
                        // Its verdict needs the outcomes of all others.
                        held.push((index, outcome));
                        continue;
                    }
                    ended(&outcome);
                    put(&mut outcomes, index, outcome);
                }
                Err(error) => {
                    // Nothing else can be started either.
                    runner.next.store(cases.len(), Ordering::Relaxed);
                    failed.get_or_insert(error);
                }
            }
        }
    });
    for (index, outcome) in &mut held {
        let verdict = breaches.judge(&outcome.case, outcome.verdict.clone());
        let met = std::mem::take(&mut outcome.met);
        *outcome = Outcome { met, ..settings.judged(outcome.case.clone(), verdict, outcome.time) };
        if failed_in_the_opening(outcome).is_none() {
            put(&mut outcomes, *index, outcome.clone());
        }
    }
    held.sort_by_key(|(index, _)| *index);
    for (index, outcome) in held {
        let outcome = settings.once(outcome, &outcomes);
        ended(&outcome);
        put(&mut outcomes, index, outcome);
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(outcomes.into_iter().flatten().collect()),
    }
}

/// Returns the failure of a case that failed in the beginning that it shares with others.
fn failed_in_the_opening(outcome: &Outcome) -> Option<&Failure> {
    match &outcome.verdict {
        Verdict::Failed(failure) if failure.step.starts_with(library::GIVEN) => Some(failure),
        _ => None,
    }
}

fn put(outcomes: &mut [Option<Outcome>], index: usize, outcome: Outcome) {
    if let Some(place) = outcomes.get_mut(index) {
        *place = Some(outcome);
    }
}

/// The result of a case: its outcome, and the lines that broke a rule for every line.
type Found = Result<(Outcome, Breaches), SuiteError>;

struct Runner<'a> {
    cases: &'a [Case],
    settings: &'a Settings,
    script: &'a Path,
    folder: &'a Path,
    next: AtomicUsize,
}

impl Runner<'_> {
    fn work(&self, outcomes: &SyncSender<(usize, Found)>) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = self.cases.get(index) else { return };
            let outcome = self.outcome(index, case);
            // A signal has ended the case early, so its outcome means nothing.
            if self.settings.stop.load(Ordering::Relaxed) || outcomes.send((index, outcome)).is_err() {
                return;
            }
        }
    }

    fn outcome(&self, index: usize, case: &Case) -> Found {
        let started = Instant::now();
        let (verdict, breaches) = match self.skipped(case) {
            Some(why) => (Verdict::Skipped(why), Breaches::default()),
            None => self.played(index, case)?,
        };
        let outcome = self.settings.judged(case.clone(), verdict, started.elapsed());
        Ok((Outcome { met: breaches.of_none(self.cases), ..outcome }, breaches))
    }

    fn skipped(&self, case: &Case) -> Option<String> {
        (case.level == Level::Ours && !self.settings.ours)
            .then(|| "only askbridge promises this rule: `--ours` checks it".to_owned())
    }

    fn played(&self, index: usize, case: &Case) -> Result<(Verdict, Breaches), SuiteError> {
        let setting = CaseSettings {
            kind: self.settings.kind,
            command: &self.settings.command,
            program: &self.settings.program,
            script: self.script,
            folder: self.folder.join(index.to_string()),
            timeout: self.settings.timeout,
            stop: &self.settings.stop,
            keeps_wire: self.settings.wire.is_some(),
            persons: &self.settings.persons,
            prompts: &self.settings.prompts,
            dialect: self.settings.dialect.as_deref(),
        };
        let played = play(case, &setting)
            .map_err(|error| SuiteError::Start(shlex_line(&self.settings.command), error))?;
        if let (Some(folder), Some(wire)) = (&self.settings.wire, played.wire) {
            let path = folder.join(format!("{case}.txt"));
            let made = fs::create_dir_all(path.parent().unwrap_or(folder));
            made.and_then(|()| fs::write(&path, wire)).map_err(|error| SuiteError::Wire(path, error))?;
        }
        Ok((played.verdict, played.breaches))
    }
}

/// Writes the script that starts a puppet: one word that any command can take. It finds the socket of its case beside the
/// link by which it is started. It is written once, before any process starts: a file that another process has open for writing
/// cannot be executed.
fn script(folder: &Path, program: &Path) -> io::Result<PathBuf> {
    let path = folder.join("puppet");
    let program = program.to_str().and_then(|program| shlex::try_quote(program).ok());
    let program = program.ok_or_else(|| io::Error::other("the path of this program is not Unicode"))?;
    fs::write(&path, format!("#!/bin/sh\nexec {program} check puppet \"${{0%/*}}\"\n"))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::is_selected;

    #[test]
    fn cases_are_selected_by_id_group_and_pattern() {
        let id = "bridge/order/updates";
        for selection in [id, "bridge", "bridge/order", "order/", "order/updates", "*updates", "bridge/*/up*"]
        {
            assert!(is_selected(id, selection), "{selection}");
        }
        for selection in ["bridge/ord", "updates", "agent", "*update", ""] {
            assert!(!is_selected(id, selection), "{selection}");
        }
    }
}
