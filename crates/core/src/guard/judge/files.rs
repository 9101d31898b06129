//! The files that a script reads and writes, and the folder that it runs in.

use super::state::{Input, Judge, is_fetching};
use crate::guard::{
    active::active,
    argument::{Argument, OPEN},
    degree::{Danger, Degree, Judged},
    grammar::{self, Seen},
    places,
    shell::{Piece, Redirection, Simple, Word},
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
        self.made.insert(file.trim_start_matches("./").to_owned());
    }

    pub(super) fn is_made(&self, file: &str) -> bool {
        let file = file.trim_start_matches("./");
        let is_within = |made: &String| {
            file.strip_prefix(made.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.made.iter().any(|made| !made.is_empty() && is_within(made))
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
                if let [Piece::Process(list)] = &word.pieces[..] {
                    let source = list.last().map(|node| self.source(node, &Input::Nothing));
                    *input = source.map_or(Input::Unknown, Input::Pipe);
                    return Ok(degree);
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
        match text.contains(OPEN) {
            true => Input::Unknown,
            false => Input::Text(text.into(), self.line(at)),
        }
    }

    /// Checks a file that is written.
    ///
    /// # Errors
    /// What is wrong with it, as it follows after who writes.
    pub(super) fn written(&self, path: &str) -> Result<(), String> {
        let shown: String = path.chars().filter(|char| *char > '\u{5}').take(80).collect();
        if path.contains(OPEN) {
            return Err(format!("writes to `{shown}…`, whose name is not known"));
        }
        let is_tmp = path.trim_end_matches('/') == "/tmp";
        if is_tmp || places::is_device(path) || places::is_passing(path) {
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

impl Judge<'_> {
    pub(super) fn cd(&mut self, folder: Option<&str>) -> Degree {
        let is_inside = folder.is_some_and(|folder| {
            let folder = places::in_project(self.place.project, folder);
            folder != "-" && places::is_inside(folder) && !folder.is_empty()
        });
        self.place.is_outside |= !is_inside;
        self.place.is_fetched |= folder.is_some_and(|folder| self.is_made(folder));
        self.place.is_far |= folder.is_none_or(places::is_far);
        if self.place.is_outside { Degree::Acts } else { Degree::Looks }
    }

    /// Checks where a program is that is named by its path.
    pub(super) fn check_place(&self, program: &str) -> Result<(), Danger> {
        const KNOWN: [&str; 5] =
            ["~/.cargo/bin/", "~/.local/bin/", "~/go/bin/", "~/.bun/bin/", "~/.deno/bin/"];
        if self.compiled.iter().any(|made| made == program) {
            return Ok(());
        }
        let path = places::in_project(self.place.project, program);
        let is_elsewhere = path.starts_with("../")
            || path.contains("/../")
            || path.starts_with('~')
            || places::is_passing(path)
            || path.starts_with("/home/")
            || path.starts_with("/etc/")
            || path.starts_with("/dev/");
        if is_elsewhere && !KNOWN.iter().any(|folder| path.starts_with(folder) && !path.contains("/../")) {
            return Err(format!("`{program}` is a program that is not in the agent's folder").into());
        }
        let is_fetched =
            (self.place.is_fetched || self.has_unpacked) && path.contains('/') && !path.starts_with('/');
        match self.is_made(program) || is_fetched {
            true => Err(format!("it runs `{program}`, which the command itself makes").into()),
            false => Ok(()),
        }
    }

    /// Judges the folder or the file whose code a program runs.
    pub(super) fn works_in(&mut self, seen: Seen<'_>, folder: &str, input: &Input) -> Judged {
        if folder == "-" || folder.starts_with("/dev/") {
            return self.read_by("other", seen, input);
        }
        let is_inside = places::is_inside(places::in_project(self.place.project, folder));
        match is_inside && !self.place.is_outside {
            true => Ok(Degree::Looks),
            // Git runs little by itself, but for what the settings of an unknown folder say.
            false if places::is_passing(folder) || places::is_far(folder) => {
                Err(format!("{seen} names `{folder}`, which is not the agent's folder").into())
            }
            false if seen.word == Some("-C") && seen.label.program() == "git" => Ok(Degree::Acts),
            false => {
                Err(format!("{seen} names `{folder}`, which is not plainly in the agent's folder").into())
            }
        }
    }

    /// Judges words that a program only looks at.
    pub(super) fn paths(&self, words: &[Argument<'_>], skipped: Option<usize>) -> Degree {
        let mut degree = if self.place.is_outside { Degree::Acts } else { Degree::Looks };
        for (_, word) in words.iter().enumerate().filter(|(at, _)| Some(*at) != skipped) {
            let is_inside = places::is_inside(places::in_project(self.place.project, &word.text));
            degree = if is_inside { degree } else { Degree::Acts };
        }
        degree
    }
}
