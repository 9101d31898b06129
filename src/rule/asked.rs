//! A question as rules look at it. The words of its command are split once for all rules.

use std::cell::OnceCell;

use super::command;
use crate::question::{Question, Subject};

/// A question that rules look at.
pub(super) struct Asked<'a> {
    pub(super) question: &'a Question,
    words: OnceCell<Option<Vec<String>>>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(question: &'a Question) -> Self {
        Asked { question, words: OnceCell::new() }
    }

    /// Returns what a permission is about.
    pub(super) fn subject(&self) -> Option<&'a Subject> {
        self.question.subject.as_deref()
    }

    /// Returns the command that would run.
    pub(super) fn command(&self) -> Option<&'a str> {
        self.subject()?.command.as_deref()
    }

    /// Returns the words of the command, where it has one that can be split.
    pub(super) fn words(&self) -> Option<&[String]> {
        self.words.get_or_init(|| command::words(self.command()?)).as_deref()
    }

    /// Returns whether this is the label of an option.
    pub(super) fn has_label(&self, label: &str) -> bool {
        let options = self.question.fields.iter().flat_map(|field| field.kind.options());
        options.into_iter().any(|option| option.label == label)
    }
}
