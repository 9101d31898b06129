//! Goes through the words of a command by the grammar of its program, and says what they are. What that risks is left to
//! the caller: `judge` for a person, and `holes` for rules.

use std::cell::Cell;

use super::{
    found::{Found, Label, Seen, Visit},
    lookup::any,
    row::{By, Effect, OptionRow, Rest, Row, Writes},
};
use crate::guard::{
    argument::{Argument, is_assignment, is_like},
    degree::{Danger, Degree, Judged},
    places,
};

/// How many of its first words tell what a program does that is not known.
const EARLY: usize = 3;

/// How many words behind options that are not known are tried as what they may be: each way goes through all further words.
const TRIES: usize = 8;

/// Goes through the words behind a program.
///
/// # Errors
/// What the visitor does not accept.
pub(in crate::guard) fn walk(
    row: &Row,
    label: &Label<'_>,
    arguments: &[Argument<'_>],
    visit: &mut Visit<'_>,
) -> Judged {
    let tries = Cell::new(TRIES);
    Walk::new(row, None, label, None, arguments, (visit, &tries)).run(0)
}

pub(super) struct Walk<'a, 'v> {
    pub row: &'a Row,
    /// The program of a subcommand, if its options may come behind the subcommand.
    pub above: Option<&'a Row>,
    label: &'a Label<'a>,
    /// The word that is the subcommand.
    place: Option<usize>,
    pub arguments: &'a [Argument<'a>],
    visit: &'a mut Visit<'v>,
    /// How many words may still be tried as what they may be.
    tries: &'a Cell<usize>,
    /// The words so far that are no options.
    pub operands: Vec<usize>,
    pub degree: Degree,
    /// An option or a word says that it does no harm.
    pub is_excused: bool,
    /// It only says what it would do.
    pub is_dry: bool,
    /// What counts unless it only says what it would do: where, the word, and what it is.
    pub pending: Vec<(usize, String, Found<'static>)>,
    pub acts: bool,
    pub looks: bool,
    /// It has its code, or needs none.
    pub has_code: bool,
    /// The option before this word is not known: it may have taken the word as its value.
    pub is_unsure: bool,
}

/// Where to go on.
pub(super) enum Next {
    At(usize),
    End,
}

impl<'a, 'v> Walk<'a, 'v> {
    fn new(
        row: &'a Row,
        above: Option<&'a Row>,
        label: &'a Label<'a>,
        place: Option<usize>,
        arguments: &'a [Argument<'a>],
        (visit, tries): (&'a mut Visit<'v>, &'a Cell<usize>),
    ) -> Self {
        Walk {
            tries,
            row,
            above,
            label,
            place,
            arguments,
            visit,
            operands: Vec::new(),
            degree: Degree::Looks,
            is_excused: false,
            is_dry: false,
            pending: Vec::new(),
            acts: false,
            looks: false,
            has_code: false,
            is_unsure: false,
        }
    }

    /// Returns the name of the program or the subcommand.
    pub(super) fn name(&self) -> &'a str {
        self.label.name
    }

    /// Says what is found of a word.
    pub(super) fn say(&mut self, at: usize, word: Option<&str>, found: Found<'_>) -> Result<(), Danger> {
        let seen = Seen { label: self.label, at: Some(at), word };
        self.degree = self.degree.max((self.visit)(seen, found)?);
        Ok(())
    }

    fn run(mut self, from: usize) -> Judged {
        if self.row.flags.evaluates {
            self.evaluated(from)?;
        }
        if let Rest::Of(program) = self.row.rest {
            self.say(from, None, Found::Of(program, from))?;
            return Ok(self.degree.max(Degree::Acts));
        }
        if let Some(done) = self.special(from)? {
            return Ok(done);
        }
        let mut at = from;
        let mut only_words = false;
        while let Some(argument) = self.arguments.get(at) {
            self.spread(at)?;
            if self.row.flags.is_long && argument.text == "-args" {
                break;
            }
            let next = if !only_words && argument.text == "--" {
                only_words = true;
                match self.row.by {
                    Some(By::Dashes) => self.command(at + 1)?,
                    _ => Next::At(at + 1),
                }
            } else if !only_words && !self.is_past() && self.is_option(&argument.text) {
                self.option(at)?
            } else {
                if !only_words && argument.may_be_option() {
                    self.unknown(at)?;
                }
                self.operand(at)?
            };
            match next {
                Next::At(next) => at = next,
                Next::End => {
                    self.said()?;
                    self.harm()?;
                    let passes = self.row.flags.passes && !self.acts;
                    return Ok(if passes { self.degree } else { self.degree.max(Degree::Acts) });
                }
            }
        }
        self.finish(from)
    }

    /// Checks words that a shell computes: there, a subscript may have a command.
    fn evaluated(&mut self, from: usize) -> Result<(), Danger> {
        for at in from..self.arguments.len() {
            let text = &self.arguments[at].text;
            if text.contains('[') && text.contains(['$', '`']) {
                self.say(at, Some(text), Found::Harm("is computed, with the command in it"))?;
            }
        }
        Ok(())
    }

    pub(super) fn command(&mut self, at: usize) -> Result<Next, Danger> {
        let found = match self.row.by {
            Some(By::Xargs) => Found::Fed(at, self.replaced(at)),
            _ => Found::Command(at, self.arguments.len()),
        };
        self.say(at, None, found)?;
        Ok(Next::End)
    }

    /// Returns the text that `xargs` replaces in a command.
    fn replaced(&self, before: usize) -> Option<&'a str> {
        let options = &self.arguments[..before];
        options.iter().enumerate().find_map(|(at, option)| {
            let text = &*option.text;
            let glued = ["--replace=", "-I", "-J", "-i"].iter().find_map(|name| text.strip_prefix(name));
            match glued {
                Some("") if text == "-i" => Some("{}"),
                Some("") => options.get(at + 1).map(|value| &*value.text),
                None if text == "--replace" => Some("{}"),
                glued => glued,
            }
        })
    }

    /// Reads a word that is no option.
    fn operand(&mut self, at: usize) -> Result<Next, Danger> {
        let argument = &self.arguments[at];
        let (text, count) = (&*argument.text, self.operands.len());
        let lower = text.to_ascii_lowercase();
        let row = self.row.words.iter().find(|row| is_like(&lower, row.name));
        let does_harm = row.is_some_and(|row| row.effect == Effect::Harm);
        // What runs a program takes any name of a variable.
        let is_assigned = is_assignment(text) || (self.row.rest == Rest::Command(0) && text.contains('='));
        if self.row.flags.assigns && count == 0 && text.starts_with('=') {
            return self
                .say(at, Some(text), Found::Harm("is the path of a program in zsh"))
                .map(|()| Next::At(at + 1));
        }
        let assigns = self.row.flags.assigns && (count == 0 || self.row.rest == Rest::Words);
        if assigns && is_assigned && !does_harm {
            self.say(at, None, Found::Assigned(text))?;
            return Ok(Next::At(at + 1));
        }
        self.operands.push(at);
        if count < EARLY || !self.row.flags.is_early {
            self.word(&self.row.words, at)?;
        }
        if count == 0 && !self.row.subs.is_empty() {
            // A job may be nothing, so that the next word is the subcommand.
            if (argument.has_any() || text.starts_with('%')) && !self.is_guessed() {
                let shown = argument.shown();
                self.say(at, Some(&shown), Found::Unknown)?;
            } else if let Some(next) = self.subcommand(at)? {
                return Ok(next);
            } else if let Some(any) = any().filter(|_| self.is_dispatcher()) {
                // Its table does not know this subcommand.
                self.word(&any.words, at)?;
            }
        }
        self.rest(at, count)
    }

    /// Returns whether a word that its table does not know may be a subcommand of any name.
    fn is_dispatcher(&self) -> bool {
        self.row.rest == Rest::Words && !self.row.flags.texts && self.row.harm.is_none()
    }

    /// Applies what the first pattern that means a word says of it.
    fn word(&mut self, patterns: &[OptionRow], at: usize) -> Result<(), Danger> {
        let text = &*self.arguments[at].text;
        let lower = text.to_ascii_lowercase();
        let Some(row) = patterns.iter().find(|row| is_like(&lower, row.name)) else { return Ok(()) };
        let seen = OptionRow { name: row.name, pattern: None, ..*row };
        match row.effect {
            Effect::Harm => self.unless_dry(at, text, Found::Harm(row.why)),
            Effect::Send => self.unless_dry(at, text, Found::Send(row.why)),
            // `@file` names a file.
            _ => self.effect(&seen, at, Some(text.trim_start_matches('@'))),
        }
    }

    fn subcommand(&mut self, at: usize) -> Result<Option<Next>, Danger> {
        let text = &*self.arguments[at].text;
        let exact = self.row.subs.iter().find(|sub| sub.names.contains(&text));
        let like = || self.row.subs.iter().find(|sub| sub.names.iter().any(|name| is_like(text, name)));
        let Some(sub) = exact.or_else(like) else { return Ok(None) };
        let label = Label { name: text, of: Some(self.label) };
        let above = if self.row.flags.inherits { Some(self.row) } else { self.above };
        let mut inner = Walk::new(sub, above, &label, Some(at), self.arguments, (self.visit, self.tries));
        inner.is_dry = self.is_dry;
        let found = inner.run(at + 1)?;
        if self.is_unsure {
            self.try_again()?;
            // The word may be the value of the option before it instead.
            self.degree = self.degree.max(found).max(Degree::Acts);
            self.is_unsure = false;
            self.operands.pop();
            return Ok(Some(Next::At(at + 1)));
        }
        self.degree = self.degree.max(found).max(if self.acts { Degree::Acts } else { Degree::Looks });
        // What the subcommand says holds for the whole; an end would say that it acts.
        self.looks = true;
        self.is_excused = true;
        self.has_code = true;
        self.operands.clear();
        Ok(Some(Next::At(self.arguments.len())))
    }

    /// Reads a word by what the words of the program are.
    fn rest(&mut self, at: usize, count: usize) -> Result<Next, Danger> {
        let text = &*self.arguments[at].text;
        let next = Next::At(at + 1);
        match self.row.rest {
            Rest::Command(_) if self.looks => {}
            Rest::Command(before) if count >= before => {
                let end = self.command(at)?;
                return self.unless_unsure(end, at);
            }
            Rest::Text(before) if count >= before => {
                let texts: Vec<_> = self.arguments[at..].iter().map(|word| &*word.text).collect();
                self.say(at, None, Found::Text(texts.join(" ")))?;
                return self.unless_unsure(Next::End, at);
            }
            Rest::Texts => self.say(at, None, Found::Text(text.to_owned()))?,
            Rest::Anywhere => {
                self.say(at, None, Found::Anywhere(at))?;
                return Ok(Next::End);
            }
            Rest::Script(language) if !self.has_code || !places::is_inside(text) => {
                self.has_code = true;
                self.say(at, None, Found::Script(language, at))?;
                return self.unless_unsure(Next::End, at);
            }
            Rest::Script(_) => return Ok(Next::End),
            Rest::Code(language) => self.say(at, None, Found::Code(language, text))?,
            Rest::Command(_) | Rest::Text(_) | Rest::Of(_) | Rest::Words => {}
        }
        self.is_unsure = false;
        Ok(next)
    }

    /// Returns this end, unless the word may be the value of the option before it: then the next one is tried as well.
    fn unless_unsure(&mut self, end: Next, at: usize) -> Result<Next, Danger> {
        if !self.is_unsure {
            return Ok(end);
        }
        self.try_again()?;
        self.is_unsure = false;
        self.operands.pop();
        self.degree = self.degree.max(Degree::Acts);
        Ok(Next::At(at + 1))
    }

    fn try_again(&mut self) -> Result<(), Danger> {
        let left = self.tries.get().checked_sub(1);
        self.tries.set(left.unwrap_or_default());
        left.map(drop)
            .ok_or_else(|| format!("`{}` has too many options that are not known", self.label).into())
    }

    /// Returns whether a subcommand is only asked for its help.
    fn asks_for_help(&self) -> bool {
        let after = |place: usize| self.arguments.get(place + 1..).unwrap_or_default();
        self.place.is_some_and(|place| matches!(after(place), [only] if only.text == "--help"))
    }

    /// Says that it is dangerous whatever its words are, unless one of them says otherwise.
    fn harm(&mut self) -> Result<(), Danger> {
        let Some(why) = self.row.harm.filter(|_| !self.is_excused && !self.is_dry) else { return Ok(()) };
        // Where fewer words would do no harm, the last one does.
        let is_counted = self.row.unless_most.is_some() || self.row.looks.is_some();
        let last = self.operands.last().copied().filter(|_| is_counted);
        let seen = Seen { label: self.label, at: last.or(self.place), word: None };
        (self.visit)(seen, Found::Harm(why)).map(drop)
    }

    /// Says what holds for the whole.
    fn finish(mut self, from: usize) -> Judged {
        if self.asks_for_help() {
            return Ok(Degree::Looks);
        }
        self.said()?;
        let count = self.operands.len();
        match (self.row.rest, self.looks || self.has_code) {
            (Rest::Script(language), false) => self.say(from, None, Found::Input(language))?,
            (Rest::Text(_), false) if count == 0 && self.row.flags.is_fed => {
                self.say(from, None, Found::Input("lines"))?;
            }
            (Rest::Code(language), false) if count == 0 => self.say(from, None, Found::Input(language))?,
            _ => {}
        }
        if let Some(why) = self.row.reads {
            self.say(from, None, Found::Reads(why))?;
        }
        let written = match self.row.writes {
            Writes::None => count,
            Writes::Last if count < 2 => count,
            Writes::Last => count - 1,
            Writes::All => 0,
        };
        if written < count && self.row.looks.is_some() {
            self.say(self.operands[written], None, Found::More)?;
        }
        for place in written..count {
            let at = self.operands[place];
            let text = self.arguments[at].text.clone();
            self.say(at, Some(&text), Found::Writes(&text))?;
        }
        let looks = self.looks || self.row.looks.is_some_and(|most| count <= most);
        if !looks && self.row.unless_most.is_none_or(|most| count > most) {
            self.harm()?;
        }
        if !looks || self.acts {
            return Ok(self.degree.max(Degree::Acts));
        }
        if !self.row.flags.texts {
            let has_pattern = self.row.flags.has_pattern && !self.arguments[from..].iter().any(names_pattern);
            let skipped = self.operands.first().copied().filter(|_| has_pattern);
            self.say(from, None, Found::Paths(from, skipped))?;
        }
        Ok(self.degree)
    }
}

/// Returns whether an option names the pattern that a program searches for, or a file with patterns.
fn names_pattern(option: &Argument<'_>) -> bool {
    let letters = option.text.strip_prefix('-').unwrap_or_default();
    match letters.strip_prefix('-') {
        Some(name) => name.starts_with("regexp") || name.starts_with("file"),
        None => letters.contains(['e', 'f']),
    }
}
