//! One program with its words: what the grammar finds in them, and what that risks.

use super::state::{Input, Judge, Printed, Value, is_fetching, replaced_by};
use crate::guard::{
    argument::{Argument, INSIDE, OPEN, TAME},
    code,
    degree::{Danger, Degree, Judged},
    grammar::{self, Found, Label, Row, Seen},
    places, variables,
};

impl<'a> Judge<'a> {
    /// Judges a program with its words.
    pub(super) fn program(&mut self, words: &[Argument<'_>], input: &Input) -> Judged {
        let Some((program, arguments)) = words.split_first() else { return Ok(Degree::Acts) };
        self.place.spend(words.len())?;
        // The number of a job, or of a variable that not every shell has.
        let is_number = program.text.starts_with(['%', '0']);
        if program.is_unknown() || program.pattern.is_some() || is_number {
            return Err(format!(
                "which program `{}` is depends on what a shell makes of it",
                program.shown()
            )
            .into());
        }
        if program.text.starts_with("BASH_FUNC_")
            || program.text.contains("{}")
            || program.text.starts_with('{')
        {
            return Err(format!("`{}` may run any program, or change which one runs", program.shown()).into());
        }
        let name = grammar::name(&program.text);
        self.check_place(&program.text)?;
        check_secrets(&name, arguments)?;
        if name == "-" && arguments.is_empty() {
            return self.read_by("other", Seen::program(&Label { name: &name, of: None }), input);
        }
        let Some(row) = grammar::row(&program.text) else {
            // `git-push` is `git push`.
            return match name.split_once('-').filter(|(before, _)| matches!(*before, "git" | "cargo")) {
                Some((before, sub)) => {
                    let words: Vec<_> = [before, sub]
                        .into_iter()
                        .map(Argument::known)
                        .chain(arguments.iter().cloned())
                        .collect();
                    self.program(&words, input).map(|_| Degree::Acts)
                }
                None => self.guessed(&Label { name: &name, of: None }, arguments, input),
            };
        };
        let has_folder = program.text.contains('/')
            && !["/bin/", "/usr/bin/", "/usr/local/bin/"]
                .iter()
                .any(|folder| program.text.starts_with(folder));
        let only = arguments.first().filter(|_| arguments.len() == 1).map(|only| &*only.text);
        if matches!(only, Some("--version" | "--help")) && !row.flags.always {
            return Ok(if has_folder || row.flags.is_local { Degree::Acts } else { Degree::Looks });
        }
        let degree = self.walked(row, &Label { name: &name, of: None }, arguments, input)?;
        if degree > Degree::Looks {
            self.check_folder(&name, row)?;
        }
        self.set_by(&name, arguments, input)?;
        Ok(if has_folder { Degree::Acts } else { degree })
    }

    /// Goes through the words of a program that is not known. Its own name counts as its first word does.
    fn guessed(&mut self, label: &Label<'_>, words: &[Argument<'_>], input: &Input) -> Judged {
        if let Some(why) = grammar::deed(label.name, words.iter().map(|word| &*word.text)) {
            return Err(format!("`{label}` {why}").into());
        }
        let guessed = grammar::any().map(|row| self.walked(row, label, words, input));
        guessed.unwrap_or(Ok(Degree::Acts)).map(|_| Degree::Acts)
    }

    /// Goes through the words of a program by its row.
    fn walked(&mut self, row: &Row, label: &Label<'_>, words: &[Argument<'_>], input: &Input) -> Judged {
        grammar::walk(row, label, words, &mut |seen, found| self.found(seen, found, words, input))
    }

    /// Builtins set the variables that their words name.
    fn set_by(&mut self, name: &str, arguments: &[Argument<'_>], input: &Input) -> Result<(), Danger> {
        let is_declaring = matches!(name, "export" | "declare" | "local" | "readonly" | "typeset");
        if !is_declaring
            && !matches!(name, "read" | "mapfile" | "readarray" | "getopts" | "printf" | "unset" | "wait")
        {
            return Ok(());
        }
        for word in arguments {
            let is_set = !is_declaring && name != "unset";
            if is_set && name != "printf" && word.pattern.is_some() {
                return Err(
                    format!("`{}` of `{name}` is computed, whatever a file is named", word.shown()).into()
                );
            }
            if let Some(why) = variables::why_dangerous(&word.text, "\u{1}").filter(|_| is_set) {
                return Err(why.into());
            }
            match word.text.split_once('=').filter(|_| is_declaring) {
                Some((name, value)) if !word.is_unknown() && word.pattern.is_none() => {
                    self.set(name, Value::Text(value.to_owned()));
                }
                Some((name, _)) => self.set(name, Value::Unknown),
                None if name == "read" => self.set(&word.text, value_read(input)),
                None => self.set(&word.text, Value::Unknown),
            }
        }
        Ok(())
    }

    /// Judges what the grammar finds.
    fn found(&mut self, seen: Seen<'_>, found: Found<'_>, words: &[Argument<'_>], input: &Input) -> Judged {
        match found {
            Found::Send(_) if places::is_here(words.iter().map(|word| &*word.text)) => Ok(Degree::Acts),
            Found::Harm(why) | Found::Send(why) => Err(format!("{seen} {why}").into()),
            Found::Hole(why, value) if !places::is_inside(places::in_project(self.place.project, value)) => {
                Err(format!("{seen} {why}: `{value}`").into())
            }
            Found::Names(why, value) if !places::is_of_system(value) => {
                Err(format!("{seen} {why}: `{value}`").into())
            }
            Found::Hole(..) | Found::Names(..) | Found::More => Ok(Degree::Acts),
            Found::Where(folder) => self.works_in(seen, folder, input),
            Found::Unknown => {
                Err(format!("{seen} may turn out to be anything, as a shell replaces a part of it").into())
            }
            Found::Writes(path) => {
                self.written(path).map_err(|why| format!("`{}` {why}", seen.label))?;
                const COMPILERS: [&str; 8] = ["cc", "c++", "gcc", "g++", "clang", "clang++", "rustc", "go"];
                if COMPILERS.contains(&seen.label.program()) {
                    self.compiled.push(path.to_owned());
                }
                if is_fetching(seen.label.program()) || matches!(seen.label.program(), "tee" | "sponge") {
                    self.has_made(path);
                }
                Ok(Degree::Acts)
            }
            Found::Text(text) => self.text_in(&text, seen, input),
            Found::Code(language, code) => match code::read(language, code) {
                Some(plain) => self.plain_code(seen, &plain),
                None => Err(format!("{seen} runs code that its arguments hold").into()),
            },
            Found::Command(from, to) => self.inner(seen, words, (from, to), input),
            Found::Fed(from, replaced) => self.fed(&words[from.min(words.len())..], replaced, input),
            Found::ForEach(from, to) => {
                let file = format!("./{INSIDE}");
                self.command(&replaced_by(&words[from.min(to)..to], "{}", &file), &Input::Nothing)
            }
            Found::Anywhere(from) => self.anywhere(seen, &words[from..], input),
            Found::Of(program, from) => {
                let words: Vec<_> =
                    [Argument::known(program)].into_iter().chain(words[from..].iter().cloned()).collect();
                self.program(&words, input)
            }
            Found::Assigned(text) => assigned(text),
            Found::Script(language, at) => self.script(language, seen, &words[at..], input),
            Found::Input(language) => self.read_by(language, seen, input),
            Found::Reads(why) => match input {
                Input::Pipe(source) if is_fetching(&source.name) => {
                    Err(format!("`{}` {why} what `{}` fetches", seen.label, source.name).into())
                }
                _ => Ok(Degree::Looks),
            },
            Found::Module(at) => self.module(seen, &words[at..], input),
            Found::Cd(folder) => Ok(self.cd(folder)),
            Found::Path(at) => Ok(self.paths(&words[at..=at], None)),
            Found::Paths(from, skipped) => {
                let skipped = skipped.and_then(|skipped| skipped.checked_sub(from));
                Ok(self.paths(&words[from.min(words.len())..], skipped))
            }
        }
    }

    pub(super) fn command(&mut self, words: &[Argument<'_>], input: &Input) -> Judged {
        if self.place.depth == 0 {
            return Err("its command is nested too deep in the arguments of others".to_owned().into());
        }
        self.place.depth -= 1;
        let judged = self.program(words, input);
        self.place.depth += 1;
        judged
    }

    /// Judges the text of a command.
    fn text_in(&mut self, text: &str, seen: Seen<'_>, input: &Input) -> Judged {
        if text.contains(OPEN) || text.contains(INSIDE) {
            return Err(
                format!("{seen} runs a command that is not known, as a shell replaces a part of it").into()
            );
        }
        if text.trim().is_empty() {
            return Ok(Degree::Acts);
        }
        let text = text.replace(TAME, "0");
        self.place.judged(&text, input).map_err(|danger| match self.text.contains('\n') {
            // The line of the outer command is what a person sees.
            true => Danger { line: None, ..danger },
            false => danger,
        })
    }

    /// Judges a file of code, with the words behind it.
    fn script(
        &mut self,
        language: &'static str,
        seen: Seen<'_>,
        words: &[Argument<'_>],
        input: &Input,
    ) -> Judged {
        let file = &words[0];
        let text = &*file.text;
        if text == "-" || text.starts_with("/dev/") || text.starts_with("/proc/") {
            return self.read_by(
                language,
                seen,
                if text.starts_with("/dev/fd/6") { &Input::Unknown } else { input },
            );
        }
        if self.is_made(text) || self.place.is_fetched {
            return Err(format!("{seen} runs `{text}`, which the command itself makes").into());
        }
        if !places::is_inside(places::in_project(self.place.project, text)) && language != "console" {
            return Err(format!(
                "{seen} runs `{}`, which is not plainly in the agent's folder",
                file.shown()
            )
            .into());
        }
        if file.has_any() {
            return Err(format!("{seen} runs `{}`, which may be any file", file.shown()).into());
        }
        let name = text.rsplit('/').next().unwrap_or_default();
        // What a package manager installs is a script under the name of its program.
        let is_installed = ["vendor/bin/", "node_modules/.bin/", "venv/bin/", "bin/"]
            .iter()
            .any(|folder| text.rsplit_once(name).is_some_and(|(before, _)| before.ends_with(folder)));
        let is_program = name.contains('.') || name == "artisan" || is_installed;
        if let Some(row) = grammar::named(name).filter(|_| name.len() > 1 && is_program) {
            self.walked(row, &Label { name, of: Some(seen.label) }, &words[1..], input)?;
        } else {
            self.guessed(&Label { name: text, of: Some(seen.label) }, &words[1..], input)?;
        }
        Ok(Degree::Acts)
    }

    fn module(&mut self, seen: Seen<'_>, words: &[Argument<'_>], input: &Input) -> Judged {
        let module = &words[0];
        if module.is_unknown() || !places::is_inside(&module.text) {
            return Err(format!("{seen} runs `{}`, a module that is not known", module.shown()).into());
        }
        if let Some(row) = grammar::named(&module.text) {
            let label = Label { name: &module.text, of: Some(seen.label) };
            self.walked(row, &label, &words[1..], input)?;
        } else {
            self.guessed(&Label { name: &module.text, of: Some(seen.label) }, &words[1..], input)?;
        }
        Ok(Degree::Acts)
    }
}

/// Returns the value that a line of this input has.
fn value_read(input: &Input) -> Value {
    match input {
        Input::Pipe(source) => Value::Printed(source.printed),
        Input::File => Value::Printed(Printed::Ours),
        _ => Value::Unknown,
    }
}

/// Checks that no word names secrets of the person.
fn check_secrets(name: &str, arguments: &[Argument<'_>]) -> Result<(), Danger> {
    if let Some(word) = arguments.iter().find(|word| places::is_secret(&word.text)) {
        return Err(format!("`{}` is a file with secrets", word.shown()).into());
    }
    if !matches!(
        name,
        "ls" | "stat" | "cd" | "test" | "[" | "[[" | "mkdir" | "chmod" | "du" | "echo" | "tree"
    ) && let Some(word) = arguments.iter().find(|word| places::has_secrets(&word.text))
    {
        return Err(format!("`{}` is a folder with secrets", word.shown()).into());
    }
    const SEARCHING: [&str; 9] = ["grep", "egrep", "fgrep", "rg", "ag", "ack", "find", "fd", "locate"];
    if SEARCHING.contains(&name) && places::seeks_secrets(arguments.iter().map(|word| &*word.text)) {
        return Err(format!("`{name}` searches the person's files for secrets").into());
    }
    Ok(())
}

/// Judges an assignment in the words of a program.
fn assigned(text: &str) -> Judged {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let value = if name.ends_with('+') { "\u{1}" } else { value };
    match variables::why_dangerous(name.trim_end_matches('+'), value) {
        Some(why) => Err(why.into()),
        None => Ok(Degree::Acts),
    }
}
