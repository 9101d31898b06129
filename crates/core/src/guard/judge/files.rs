//! The files that a script reads and writes.

use super::state::{Input, Judge, is_fetching};
use crate::guard::{
    active::active,
    argument::{ANY, Argument, MANY},
    degree::{Danger, Degree, Judged},
    grammar, places,
    shell::{Redirection, Simple, Word},
};

impl<'a> Judge<'a> {
    /// Checks files that get what a program prints.
    pub(super) fn check_emptied(&mut self, simple: &'a Simple, words: &[Argument<'_>]) -> Result<(), Danger> {
        let written = simple.redirections.iter().filter_map(|redirection| match redirection {
            Redirection::Write { file, appends: false } => Some(self.argument(file)),
            _ => None,
        });
        let written: Vec<_> = written.filter(|file| !places::is_device(&file.text)).collect();
        let prints_nothing = match words {
            [] => true,
            [program] => matches!(&*program.text, ":" | "true"),
            [program, file] => program.text == "cat" && file.text == "/dev/null",
            _ => false,
        };
        if let Some(file) = written.first().filter(|_| prints_nothing && !simple.redirections.is_empty()) {
            return Err(format!("it empties `{}`", file.shown()).into());
        }
        if words.first().is_some_and(|program| is_fetching(&grammar::name(&program.text))) {
            let files: Vec<_> = written.iter().map(|file| file.text.to_string()).collect();
            files.iter().for_each(|file| self.has_made(file));
        }
        Ok(())
    }

    /// Remembers a file that was written or fetched.
    pub(super) fn has_made(&mut self, file: &str) {
        self.made.push(file.trim_start_matches("./").to_owned());
    }

    pub(super) fn is_made(&self, file: &str) -> bool {
        let file = file.trim_start_matches("./");
        self.made.iter().any(|made| made == file)
    }

    pub(super) fn redirection(&mut self, redirection: &'a Redirection, input: &mut Input) -> Judged {
        match redirection {
            Redirection::Write { file: word, .. } => {
                let degree = self.within(word)?;
                let file = self.argument(word);
                if file.pattern.is_some() {
                    return Err(format!("it writes to `{}`, whose name is not known", file.shown()).into());
                }
                if places::is_device(&file.text) {
                    return Ok(degree);
                }
                self.written(&file.text).map_err(|why| format!("it {why}"))?;
                let file = file.text.into_owned();
                self.has_made(&file);
                Ok(Degree::Acts)
            }
            Redirection::Read(word) => {
                let degree = self.within(word)?;
                let file = self.argument(word);
                if places::is_secret(&file.text)
                    || file.text.starts_with("/dev/tcp")
                    || file.text.starts_with("/dev/udp")
                {
                    return Err(format!("it reads `{}`", file.shown()).into());
                }
                let text = places::in_project(self.place.project, &file.text);
                let is_inside = places::is_inside(text) && !self.place.is_outside;
                *input = if is_inside { Input::File } else { Input::Unknown };
                Ok(if is_inside { degree } else { Degree::Acts })
            }
            Redirection::Text(word) => {
                if word.pieces.is_empty() {
                    return Ok(Degree::Looks);
                }
                let degree = self.within(word)?;
                *input = self.text_of(word, 0);
                Ok(degree)
            }
            Redirection::Document(number) => {
                let Some(document) = self.documents.get(*number) else { return Ok(Degree::Acts) };
                let degree = self.within(&document.text)?;
                *input = self.text_of(&document.text, document.at);
                Ok(degree)
            }
        }
    }

    /// Returns a text that a program reads.
    fn text_of(&self, word: &'a Word, at: usize) -> Input {
        let text = self.argument(word).text;
        match text.contains([ANY, MANY]) {
            true => Input::Unknown,
            false => {
                let before = &self.text.as_bytes()[..at.min(self.text.len())];
                let line = self.place.first_line + before.iter().filter(|byte| **byte == b'\n').count();
                Input::Text(text.into_owned(), line)
            }
        }
    }

    /// Checks a file that is written.
    ///
    /// # Errors
    /// What is wrong with it, as it follows after who writes.
    pub(super) fn written(&self, path: &str) -> Result<(), String> {
        let shown: String = path.chars().filter(|char| *char > '\u{4}').take(80).collect();
        if path.contains([ANY, MANY]) {
            return Err(format!("writes to `{shown}…`, whose name is not known"));
        }
        if places::is_device(path) || places::is_passing(path) {
            return Ok(());
        }
        let path = places::in_project(self.place.project, path);
        let is_relative = !path.starts_with('/');
        if !places::is_inside(path) || (is_relative && self.place.is_outside) || path.starts_with(['|', '!'])
        {
            return Err(format!("writes to `{shown}`, which is not plainly in the agent's folder"));
        }
        match active(self.place.project.unwrap_or_default(), path).filter(|row| !row.is_environment()) {
            Some(row) => Err(format!("writes to `{shown}`: {}", row.does)),
            None => Ok(()),
        }
    }
}
