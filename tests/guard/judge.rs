//! Tries random rules on random permissions, and has what they allow judged by the shells and the kernel. The test and the
//! fuzz target share it.

use askbridge_control::inbox::real_files::RealFiles;
use askbridge_core::{
    desk::{Record, Submission, Timestamp},
    question::Question,
};
use askbridge_settings::rule::{Rule, RuleEffect, decide};

use crate::guard::{
    asked::asked,
    cage::Cage,
    oracle::outside,
    project::Project,
    random::{Dice, Does, RandomRequest, RandomRule},
    shells::Shells,
};

/// What was tried.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tried {
    /// Rules that are refused.
    pub(crate) refused: u64,
    /// Requests that are no permission for this program.
    pub(crate) unread: u64,
    /// Commands that were allowed.
    pub(crate) commands: u64,
    /// Permissions about files that were allowed.
    pub(crate) files: u64,
    /// Permissions about neither that were allowed.
    pub(crate) others: u64,
}

pub(crate) struct Judge {
    shells: Shells,
    project: Project,
    tried: Tried,
}

impl Judge {
    pub(crate) fn new(cage: Cage) -> Self {
        Judge { shells: Shells::new(cage), project: Project::new(""), tried: Tried::default() }
    }

    /// Begins with another file system.
    pub(crate) fn renew(&mut self, bytes: &[u8]) {
        self.project = Project::new(&Dice::new(bytes).tree());
    }

    /// Tries one input.
    ///
    /// # Errors
    /// A rule allows what it does not say.
    pub(crate) fn try_one(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut dice = Dice::new(bytes);
        let random = RandomRule::new(&mut dice);
        let request = RandomRequest::new(&mut dice, &random);
        let Ok(rule) = Rule::read(&random.table, None) else {
            self.tried.refused += 1;
            return Ok(());
        };
        let line = self.project.path(&request.line);
        let Some(question) = asked(&line, &self.project.folder()) else {
            self.tried.unread += 1;
            return Ok(());
        };
        match allows(&rule, question) {
            true => self
                .judge(&random, &request.does)
                .map_err(|wrong| format!("{wrong}: {:?}: {}", random.table, request.line))
                .and_then(|()| self.ask_shells(&random, &request)),
            false => Ok(()),
        }
    }

    /// Judges what a rule allows, but for what a shell makes of its commands.
    fn judge(&mut self, rule: &RandomRule, does: &Does) -> Result<(), String> {
        let home = self.project.path("OUTSIDE");
        let outside = |named: &str, is_written| {
            outside(&self.project.folder(), &home, &self.project.path(named), is_written)
        };
        if let Some(reaches) = does.reaches.first() {
            return Err(format!("it allows {reaches}"));
        }
        if does.runs || !does.commands.is_empty() {
            if rule.command.is_none() {
                return Err("it allows a command without naming one".to_owned());
            }
            if does.commands.is_empty() {
                return Err("it allows a command that is not known".to_owned());
            }
            if let Some(beside) = does.beside.first() {
                return Err(format!("it allows a command with {beside} beside it"));
            }
            let found = does.folders.iter().find_map(|folder| outside(folder, false));
            self.tried.commands += 1;
            return found.map_or(Ok(()), |found| Err(format!("its command runs in {}", found.display())));
        }
        let found = does.files.iter().find_map(|(file, is_written)| outside(file, *is_written));
        match (found, does.files.is_empty()) {
            (Some(found), _) => return Err(format!("it allows {}", found.display())),
            (None, true) => self.tried.others += 1,
            (None, false) => self.tried.files += 1,
        }
        Ok(())
    }

    fn ask_shells(&mut self, rule: &RandomRule, request: &RandomRequest) -> Result<(), String> {
        let Some(words) = &rule.command else { return Ok(()) };
        request.does.commands.iter().try_for_each(|command| self.shells.add(command, words, &request.line))
    }

    /// Returns what was tried so far.
    pub(crate) fn tried(&self) -> Tried {
        self.tried
    }

    /// Has the last commands judged, and returns what was tried.
    ///
    /// # Errors
    /// A rule allows what it does not say.
    pub(crate) fn end(&mut self) -> Result<Tried, String> {
        self.shells.flush().map(|()| self.tried)
    }
}

fn allows(rule: &Rule, question: Question) -> bool {
    let Ok(id) = "b-1".parse() else { return false };
    let record = Record::new(id, question.into(), Timestamp::default());
    let decision = decide(std::slice::from_ref(rule), &record, &RealFiles);
    decision.is_some_and(|decision| matches!(decision.what, RuleEffect::Submit(Submission::Answer { .. })))
}
