//! Reads the options of a command by the grammar of its program, and says what is not sure of its words: one that may be
//! anything, and harm that a later option takes back.

use std::{borrow::Cow, ptr};

use super::{
    found::Found,
    lookup::any,
    row::{By, Effect, OptionRow, Rest, Row},
    walk::{Next, Walk},
};
use crate::guard::{
    argument::{OPEN, is_like},
    degree::Danger,
};

impl<'a> Walk<'a, '_> {
    /// Returns what an option that is not known may do, by its name.
    fn guessed(&self, name: &str, value: &str) -> Option<&'static OptionRow> {
        let looks = self.row.looks.is_some() || self.row.flags.texts;
        let any = any().filter(|_| !looks && name.starts_with("--"))?;
        let is_meant = |option: &&OptionRow| {
            is_like(name, option.name)
                && option.pattern.is_none_or(|pattern| is_like(&value.to_lowercase(), pattern))
        };
        let row = any.options.iter().find(is_meant)?;
        // Names of deeds only say something where nothing else is known.
        Some(row).filter(|row| !matches!(row.effect, Effect::Harm | Effect::Dry) || self.is_guessed())
    }

    /// Returns whether nothing is known of the program.
    pub(super) fn is_guessed(&self) -> bool {
        let is_any = |row: &Row| any().is_some_and(|any| ptr::eq(row, any));
        is_any(self.row) || self.above.is_some_and(is_any)
    }

    /// Returns what is known of an option by its name, in the order of the tables.
    fn rows(&self, name: &str) -> Vec<&'a OptionRow> {
        if self.is_guessed() && name.starts_with("--") {
            return Vec::new();
        }
        let all = || {
            let above = self.above.map(|row| &*row.options).unwrap_or_default();
            self.row.options.iter().chain(above)
        };
        let exact: Vec<_> = all().filter(|option| option.name == name).collect();
        if !exact.is_empty() || !name.starts_with("--") {
            return exact;
        }
        // Some programs take one dash for two; most take the beginning of an option for the whole.
        let is_meant = |option: &&OptionRow| {
            let is_shortened = name.len() > 3 && option.name.starts_with(name);
            let is_doubled = option.name.len() > 2 && name[1..] == *option.name;
            is_doubled
                || is_shortened
                    && !matches!(option.effect, Effect::Flag | Effect::Value | Effect::Unless | Effect::Dry)
        };
        all().filter(is_meant).collect()
    }

    /// Returns whether the next word begins the command that it runs, whatever it is: `docker run IMAGE -x`.
    pub(super) fn is_past(&self) -> bool {
        let has_text = || self.row.options.iter().any(|option| option.effect == Effect::Text);
        let is_open = self.row.by == Some(By::Dashes) || has_text();
        matches!(self.row.rest, Rest::Command(before) if before > 0 && self.operands.len() >= before)
            && !is_open
    }

    pub(super) fn is_option(&self, text: &str) -> bool {
        let takes_text = matches!(self.row.rest, Rest::Text(_));
        // `eval` has no options: `eval '- rm x'` is the text of a command.
        if takes_text && self.row.options.is_empty() {
            return false;
        }
        let is_text = takes_text && text.contains(['|', ';', '&', '\n']);
        if is_text && !text.starts_with("--") {
            return false;
        }
        text.len() > 1 && (text.starts_with('-') || (self.row.flags.has_plus && text.starts_with('+')))
    }

    pub(super) fn option(&mut self, at: usize) -> Result<Next, Danger> {
        let argument = &self.arguments[at];
        let text = &*argument.text;
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        // Most programs take the beginning of an option for the whole.
        if name.contains(OPEN) {
            self.unknown(at)?;
        }
        let is_long = text.starts_with("--") || self.row.flags.is_long;
        let mut rows = self.rows(name);
        let mut value = value;
        if rows.is_empty() && self.row.flags.is_long {
            // `-javaagent:FILE` and `-BFOLDER` have their values behind a sign, or behind one letter.
            let letter = text.char_indices().nth(2).map(|(end, _)| text.split_at(end));
            let glued = text.split_once(':').or(letter.filter(|_| !text.starts_with("--")));
            let found = glued.map(|(name, value)| (self.rows(name), value));
            if let Some((found, glued)) =
                found.filter(|(rows, _)| rows.iter().any(|row| row.effect.takes_value()))
            {
                (rows, value) = (found, Some(glued));
            }
        }
        if text.starts_with("--no-dry") {
            self.is_dry = false;
        }
        if text.starts_with('+') && text.contains('/') {
            self.say(at, Some(text), Found::Harm("names programs by their folder"))?;
        }
        if rows.is_empty()
            && let Some(row) = self.guessed(name, value.unwrap_or(self.text_at(at + 1)))
        {
            return self.guess(row, at, value);
        }
        if is_long || !rows.is_empty() {
            self.is_unsure = rows.is_empty() && value.is_none() && !text.starts_with('+');
            return self.apply(&rows, at, value);
        }
        // Several short options in one word, the last of which may have its value there.
        let mut is_known = true;
        for (place, char) in text.char_indices().skip(1) {
            let end = place + char.len_utf8();
            let rows = self.rows(&format!("-{char}"));
            let glued = Some(&text[end..]).filter(|rest| !rest.is_empty());
            if rows.iter().any(|row| row.effect.takes_value() || row.pattern.is_some()) {
                self.is_unsure = false;
                let glued = glued.map(|value| value.strip_prefix('=').unwrap_or(value));
                return self.apply(&rows, at, glued);
            }
            for row in &rows {
                self.effect(row, at, None)?;
            }
            is_known = !rows.is_empty() || char.is_ascii_digit();
            // They take what stands behind them in the same word, if anything does.
            if self.row.by == Some(By::Xargs) && matches!(char, 'e' | 'i' | 'l') {
                break;
            }
        }
        self.is_unsure = !is_known;
        Ok(Next::At(at + 1))
    }

    fn text_at(&self, at: usize) -> &'a str {
        self.arguments.get(at).map_or("", |argument| &*argument.text)
    }

    /// Applies what an option may do that is not known: the word behind it may be its value, or not.
    fn guess(&mut self, row: &OptionRow, at: usize, given: Option<&str>) -> Result<Next, Danger> {
        let next = self.arguments.get(at + 1).map(|argument| argument.text.clone());
        let next = next.filter(|_| row.effect != Effect::Dry);
        let value = given.map(str::to_owned).or(next.map(Cow::into_owned)).unwrap_or_default();
        self.is_unsure = given.is_none();
        let name = self.arguments[at].text.split('=').next().unwrap_or_default().to_owned();
        let takes_value = row.effect.takes_value();
        match row.pattern {
            Some(pattern) if !is_like(&value.to_lowercase(), pattern) => {}
            _ if takes_value && value.starts_with('-') && given.is_none() => {}
            // Nothing is known of the program but this: what the option looks for, or gives a name to, is no deed.
            _ if row.effect == Effect::Value && given.is_none() && self.is_guessed() => {
                self.is_unsure = false;
                return Ok(Next::At(at + 2));
            }
            _ => self.effect_by(row, &name, at, Some(&value))?,
        }
        Ok(Next::At(at + 1))
    }

    /// Applies an option with its value.
    fn apply(&mut self, rows: &[&OptionRow], at: usize, given: Option<&str>) -> Result<Next, Danger> {
        let takes_value = rows.iter().any(|row| row.effect.takes_value() || row.pattern.is_some());
        let next = self.arguments.get(at + 1).map(|argument| &*argument.text);
        let (value, value_at) = match given {
            Some(value) => (Some(value), None),
            None if takes_value => (next, Some(at + 1)),
            None => (None, None),
        };
        let is_meant = |row: &&&OptionRow| match row.pattern {
            None => true,
            Some(pattern) => value.is_some_and(|value| is_like(&value.to_lowercase(), pattern)),
        };
        let after = Next::At(at + 1 + usize::from(value_at.is_some()));
        if let Some(value_at) = value_at {
            self.spread(value_at)?;
        }
        let Some(row) = rows.iter().find(is_meant) else { return Ok(after) };
        match (row.effect, value_at) {
            (Effect::Runs, Some(begin)) => self.command(begin),
            (Effect::Module, Some(begin)) => {
                self.say(begin, None, Found::Module(begin))?;
                Ok(Next::End)
            }
            _ => self.effect(row, at, value).map(|()| after),
        }
    }

    pub(super) fn effect(&mut self, row: &OptionRow, at: usize, value: Option<&str>) -> Result<(), Danger> {
        self.effect_by(row, row.name, at, value)
    }

    fn effect_by(
        &mut self,
        row: &OptionRow,
        name: &str,
        at: usize,
        value: Option<&str>,
    ) -> Result<(), Danger> {
        let value = value.unwrap_or_default();
        let word = Some(name);
        match row.effect {
            Effect::Flag | Effect::Value => Ok(()),
            Effect::Harm if self.is_guessed() => self.unless_dry(at, name, Found::Harm(row.why)),
            Effect::Harm => self.say(at, word, Found::Harm(row.why)),
            Effect::Send => self.unless_dry(at, name, Found::Send(row.why)),
            Effect::Dry => self.dry(value),
            Effect::Hole => self.say(at, word, Found::Hole(row.why, value)),
            Effect::Names => self.say(at, word, Found::Names(row.why, value)),
            Effect::Writes => {
                if self.row.looks.is_some() {
                    self.say(at, word, Found::More)?;
                }
                self.say(at, word, Found::Writes(value))
            }
            Effect::Where => self.say(at, word, Found::Where(value)),
            // `env` reads it as words of its own, before those behind it.
            Effect::Text if self.row.flags.assigns => {
                let after = self
                    .arguments
                    .iter()
                    .skip(at + 1)
                    .map(|word| format!(" '{}'", word.text.replace('\'', r"'\''")));
                let text = format!("{} {value}{}", self.row.names[0], after.collect::<String>());
                self.say(at, word, Found::Text(text))
            }
            Effect::Text | Effect::Runs => self.say(at, word, Found::Text(value.to_owned())),
            Effect::Code(language) => {
                self.has_code = true;
                self.say(at, word, Found::Code(language, value))
            }
            Effect::Module => self.say(at, word, Found::Unknown),
            Effect::Looks => {
                self.looks = true;
                Ok(())
            }
            Effect::Acts => {
                self.acts = true;
                self.say(at, word, Found::More)
            }
            Effect::Unless => {
                self.is_excused = true;
                Ok(())
            }
            Effect::Idle => {
                self.has_code = true;
                Ok(())
            }
        }
    }

    /// Says what is found of a word, unless an option says that nothing is done: that option may stand behind the word.
    pub(super) fn unless_dry(&mut self, at: usize, word: &str, found: Found<'static>) -> Result<(), Danger> {
        let is_dry = |row: &&Row| row.options.iter().any(|option| option.effect == Effect::Dry);
        if !self.is_dry && ![Some(self.row), self.above].into_iter().flatten().any(|row| is_dry(&row)) {
            return self.say(at, Some(word), found);
        }
        self.pending.push((at, word.to_owned(), found));
        Ok(())
    }

    /// Notes that it only says what it would do. `--dry-run=false` takes it back.
    pub(super) fn dry(&mut self, value: &str) -> Result<(), Danger> {
        self.is_dry = !matches!(value, "false" | "none" | "0" | "no" | "off") && !value.contains(OPEN);
        self.acts |= self.is_dry;
        Ok(())
    }

    /// Says what has waited for such an option.
    pub(super) fn said(&mut self) -> Result<(), Danger> {
        for (at, word, found) in std::mem::take(&mut self.pending) {
            if !self.is_dry {
                self.say(at, Some(&word), found)?;
            }
        }
        Ok(())
    }

    /// Says that a word may be anything, if that could do more than what is known of the command.
    pub(super) fn unknown(&mut self, at: usize) -> Result<(), Danger> {
        use Effect::{Acts, Dry, Flag, Idle, Looks, Unless, Value};
        let is_risky =
            |option: &OptionRow| !matches!(option.effect, Acts | Dry | Flag | Idle | Looks | Unless | Value);
        let has = |is_it: &dyn Fn(&OptionRow) -> bool| {
            [Some(self.row), self.above].into_iter().flatten().any(|row| row.options.iter().any(is_it))
        };
        let acts = has(&|option| option.effect == Acts);
        // What stands in the project decides anyway what a program does that builds it.
        let is_ours = self.row.flags.builds || self.above.is_some_and(|row| row.flags.builds);
        if is_ours && self.arguments[at].is_ours() {
            self.acts = true;
            return Ok(());
        }
        // Of a program that is not known, any option is as good as another.
        if !self.is_guessed() && has(&is_risky) {
            let shown = self.arguments[at].shown();
            self.say(at, Some(&shown), Found::Unknown)?;
        }
        self.acts |= acts;
        Ok(())
    }

    /// Says that a word may be several ones, if one of them would be a subcommand, or a program that runs.
    pub(super) fn spread(&mut self, at: usize) -> Result<(), Danger> {
        let is_first = self.operands.is_empty() && !self.row.subs.is_empty();
        let is_before =
            matches!(self.row.rest, Rest::Command(count) | Rest::Text(count) if self.operands.len() <= count);
        let Some(argument) = self.arguments.get(at) else { return Ok(()) };
        if !argument.is_spread() || self.is_guessed() || !(is_first || is_before) {
            return Ok(());
        }
        let shown = argument.shown();
        self.say(at, Some(&shown), Found::Unknown)
    }
}
