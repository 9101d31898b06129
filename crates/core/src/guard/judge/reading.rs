//! What a program gets from its input: code that it runs, or words of a command.

use std::borrow::Cow;

use super::state::{Input, Judge, Place, Source, is_fetching, replaced_by};
use crate::guard::{
    argument::{ANY, Argument, INSIDE, MANY},
    code::{self, Plain},
    degree::{Degree, Judged},
    grammar::{self, Seen},
    places,
    shell::{Node, Simple, Word},
};

impl<'a> Judge<'a> {
    /// Judges a command that gets further words from the input.
    pub(super) fn fed(&mut self, words: &[Argument<'_>], replaced: Option<&str>, input: &Input) -> Judged {
        let has_names = matches!(input, Input::Pipe(source) if source.has_names);
        let file = format!("./{INSIDE}");
        let words = match replaced.filter(|text| !text.is_empty()) {
            Some(text) if has_names => replaced_by(words, text, &file),
            Some(text) => replaced_by(words, text, &ANY.to_string()),
            None if words.is_empty() => return Ok(Degree::Acts),
            None => {
                let more = if has_names { file } else { MANY.to_string() };
                words.iter().cloned().chain([Argument { text: Cow::Owned(more), pattern: None }]).collect()
            }
        };
        // Which files they are is not known here.
        self.command(&words, &Input::Nothing)
    }

    /// Judges code that a program reads from its input.
    pub(super) fn read_by(&mut self, language: &'static str, seen: Seen<'_>, input: &Input) -> Judged {
        match input {
            Input::Text(text, line) if language == "shell" => {
                let place = Place { first_line: *line, ..self.place };
                if text.trim().is_empty() {
                    return Ok(Degree::Acts);
                }
                place.judged(text, &Input::Nothing).map(|_| Degree::Acts)
            }
            Input::Text(text, _) => match code::read(language, text) {
                Some(plain) => self.plain_code(seen, &plain),
                None => Err(format!("{seen} runs code that stands in the command").into()),
            },
            Input::File | Input::Terminal => Ok(Degree::Acts),
            Input::Pipe(source) if is_fetching(&source.name) => {
                Err(format!("`{}` runs what it reads: what `{}` fetches", seen.label, source.name).into())
            }
            Input::Pipe(source) => {
                Err(format!("`{}` runs what it reads: what `{}` prints", seen.label, source.name).into())
            }
            Input::Nothing if language == "console" => Ok(Degree::Acts),
            Input::Nothing | Input::Unknown => Err(format!("`{}` runs what it reads", seen.label).into()),
        }
    }

    /// Judges code that does nothing by itself but compute, read and print.
    pub(super) fn plain_code(&self, seen: Seen<'_>, plain: &Plain) -> Judged {
        let place = &self.place;
        let may_be_anything =
            !self.made.is_empty() || self.has_unpacked || place.is_fetched || place.is_outside;
        match plain.runs && may_be_anything {
            true => Err(format!("{seen} imports code that is not plainly the project's").into()),
            false => Ok(Degree::Acts),
        }
    }

    /// Returns what is known of a part of a pipeline, for the part behind it.
    pub(super) fn source(&self, node: &'a Node, input: &Input) -> Source {
        let Node::Simple(Simple { words, .. }) = node else {
            return Source { name: "the command before it".to_owned(), has_names: false };
        };
        let literal: Vec<_> = words.iter().map(|word| Word::literal(word).unwrap_or_default()).collect();
        let name = grammar::name(literal.first().copied().unwrap_or_default());
        let has = |options: &[&str]| literal.iter().any(|word| options.contains(word));
        let has_names = match &*name {
            // Their names begin with the folder that they search.
            "find" | "fd" | "fdfind" => {
                !has(&["-printf", "--format"]) && literal.iter().all(|word| places::is_inside(word))
            }
            "git" => has(&["ls-files", "--name-only", "-l", "--files-with-matches"]),
            "grep" | "rg" => {
                literal.iter().any(|word| {
                    matches!(*word, "--files" | "--files-with-matches" | "--files-without-match")
                        || (word.starts_with('-') && !word.starts_with("--") && word.contains(['l', 'L']))
                }) || keeps_names(input)
            }
            "sort" | "head" | "tail" | "uniq" => keeps_names(input),
            _ => false,
        };
        Source { name, has_names }
    }
}

fn keeps_names(input: &Input) -> bool {
    matches!(input, Input::Pipe(source) if source.has_names)
}
