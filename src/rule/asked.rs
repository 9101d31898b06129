//! A question as rules look at it. The words of its command are split once for all rules.

use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
};

use super::command;
use crate::{
    guard::{Files, path},
    question::{Question, Subject},
};

/// A question that rules look at.
pub(super) struct QuestionView<'a> {
    pub(super) question: &'a Question,
    words: OnceCell<Option<Vec<String>>>,
    files: &'a dyn Files,
    folder: OnceCell<Option<PathBuf>>,
}

impl<'a> QuestionView<'a> {
    pub(super) fn new(question: &'a Question, files: &'a dyn Files) -> Self {
        QuestionView { question, words: OnceCell::new(), files, folder: OnceCell::new() }
    }

    /// Returns whether a name plainly is a file in the folder of the session, and leads to one there. A number at its end may
    /// be a line, or a part of the name.
    pub(super) fn is_inside(&self, named: &str) -> bool {
        [named, path::without_line(named)].into_iter().all(|named| self.leads_inside(named))
    }

    fn leads_inside(&self, named: &str) -> bool {
        let Some(project) = self.question.project.as_deref() else { return false };
        let Some(path) = path::inside(project, named) else { return false };
        let folder = self.folder.get_or_init(|| self.files.resolve(Path::new(project)));
        let resolved = self.files.resolve(Path::new(&path));
        folder.as_ref().zip(resolved).is_some_and(|(folder, resolved)| resolved.starts_with(folder))
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
        self.words.get_or_init(|| command::command_words(self.command()?)).as_deref()
    }

    /// Returns whether this is the label of an option.
    pub(super) fn has_label(&self, label: &str) -> bool {
        let options = self.question.fields.iter().flat_map(|field| field.kind.options());
        options.into_iter().any(|option| option.label == label)
    }
}
