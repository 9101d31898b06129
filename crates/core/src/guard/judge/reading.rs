//! What a program gets from its input: code that it runs, or words of a command.

use std::borrow::Cow;

use super::state::{Input, Judge, Place, Printed, Source, is_fetching, replaced_by};
use crate::guard::{
    argument::{Argument, INSIDE},
    code::{self, Plain},
    degree::{Degree, Judged},
    grammar::{self, Seen},
    shell::{Node, Simple, Word},
};

impl<'a> Judge<'a> {
    /// Judges a command that gets further words from the input.
    pub(super) fn fed(&mut self, words: &[Argument<'_>], replaced: Option<&str>, input: &Input) -> Judged {
        let printed = match input {
            Input::Pipe(source) => source.printed,
            Input::File => Printed::Ours,
            _ => Printed::Unknown,
        };
        let file = format!("./{INSIDE}");
        let (one, more) = match printed {
            Printed::Names | Printed::Word => (&*file, &*file),
            Printed::Number => ("0", "0"),
            Printed::Ours => ("\u{5}", "\u{5}"),
            _ => ("\u{1}", "\u{2}"),
        };
        let words: Vec<Argument<'_>> = match replaced.filter(|text| !text.is_empty()) {
            Some(text) => replaced_by(words, text, one),
            None if words.is_empty() => return Ok(Degree::Acts),
            None => {
                let more = Argument { text: Cow::Owned(more.to_owned()), pattern: None };
                words.iter().cloned().chain([more]).collect()
            }
        };
        let is_last = words.len() == 2 && printed == Printed::Names && words[1].is_unknown();
        if is_last && grammar::is_shell(&words[0].text) {
            return Err(format!("`{}` runs each file whose name it gets", words[0].text).into());
        }
        // Which files they are is not known here.
        self.command(&words, &Input::Nothing)
    }

    /// Judges code that a program reads from its input.
    pub(super) fn read_by(&mut self, language: &'static str, seen: Seen<'_>, input: &Input) -> Judged {
        match input {
            Input::Text(text, line) if matches!(language, "shell" | "lines") => {
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
            Input::File if language == "lines" => {
                Err(format!("`{}` runs each line of a file as a command", seen.label).into())
            }
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
        let before = match input {
            Input::Pipe(source) => source.printed,
            Input::File => Printed::Ours,
            Input::Nothing => Printed::Nothing,
            _ => Printed::Unknown,
        };
        let printed = self.printed_by(node, before);
        let name = match node {
            Node::Simple(Simple { words, .. }) => {
                grammar::name(words.first().and_then(Word::literal).unwrap_or_default())
            }
            _ => "the command before it".to_owned(),
        };
        Source { name, printed }
    }
}
