//! The rule that is made of a decision: which decision that is, and the keys of what is shown of the rule. Making and writing
//! it is left to `propose.rs`.
//! Pure.

use std::sync::Arc;

use askbridge_core::{
    desk::{QuestionId, Record},
    question::Purpose,
};

use super::{
    event::{Effect, Key, QuestionItem},
    state::{App, Modal},
};
use crate::command::tui::proposed_rule::ProposedRule;

impl App {
    /// Asks for the rule that decides like the person did last, or like the current permission ended. What can still be
    /// taken back is not decided yet.
    pub(super) fn make_rule(&mut self) -> Vec<Effect> {
        if !self.waiting.is_empty() {
            self.say("A rule is made of what has arrived: u still takes it back");
            return Vec::new();
        }
        let shown = || self.item().map(|item| Arc::clone(&item.record));
        let record = self.told.clone().or_else(shown);
        let Some(record) = record.filter(|record| record.question.purpose == Purpose::Permission) else {
            self.say("Rules decide on permissions: go to one first");
            return Vec::new();
        };
        self.modal = Some(Modal::Rule(Arc::clone(&record), None, 0));
        vec![Effect::Propose(record)]
    }

    /// Returns a question that is shown.
    pub(super) fn known(&self, id: &QuestionId) -> Option<&QuestionItem> {
        let mut all = self.world.settled.iter().chain(&self.world.open).chain(&self.held);
        all.find(|item| item.record.id == *id)
    }

    /// Shows a rule, if the person still waits for it.
    pub(super) fn proposed(&mut self, id: &QuestionId, rule: Result<ProposedRule, String>) {
        if let Some(Modal::Rule(record, shown, _)) = &mut self.modal
            && record.id == *id
        {
            *shown = Some(rule);
        }
    }

    /// Says where a rule was written, or why it was not.
    pub(super) fn rule_written(&mut self, written: Result<String, String>) {
        match written {
            Ok(path) => self.say(format!("The rule is written to {path}")),
            Err(why) => self.complain(format!("The rule was not written: {why}")),
        }
    }

    /// Handles a key while a rule is shown.
    pub(super) fn rule_key(
        &mut self,
        key: Key,
        record: Arc<Record>,
        rule: Option<Result<ProposedRule, String>>,
        line: usize,
    ) -> Vec<Effect> {
        let is_write = key == Key::Enter && !self.is_rushed && !self.is_burst;
        match rule {
            Some(Ok(rule)) if is_write => {
                self.say("The rule is being written …");
                return vec![Effect::Write(record, rule.toml)];
            }
            // The rule is not there yet, or the key belongs to a line for another program.
            rule if key == Key::Enter => self.modal = Some(Modal::Rule(record, rule, line)),
            rule => {
                self.modal = self.scrolled(key, line).map(|line| Modal::Rule(record, rule, line));
                if self.modal.is_none() {
                    self.say("No rule was written");
                }
            }
        }
        Vec::new()
    }
}
