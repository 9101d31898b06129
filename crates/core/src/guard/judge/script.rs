//! Goes through a script: its lists, statements and programs, with the variables that they set.

use std::{
    cell::{Cell, OnceCell},
    collections::{BTreeMap, BTreeSet},
};

use super::state::{Input, Judge, Place, Value};
use crate::guard::{
    argument::{ANY, Argument},
    degree::{Danger, Degree, Judged},
    shell::{self, Compound, List, Node, Piece, Simple, Word},
    variables,
};
use crate::question::Risk;

/// How deep commands may be nested in the arguments of others.
const DEPTH: usize = 6;

/// How many steps one command takes to be judged, see [`Place::spend`]. Without a bound, commands in the arguments of
/// commands would take long.
pub(super) const STEPS: usize = 100_000;

/// In how many ways a command is judged without words that may be nothing.
const FEWER: usize = 4;

/// How many bytes of a text are one step.
const BYTES: usize = 32;

/// Returns what running a command risks, and why. `project` is the folder that it runs in.
pub(in crate::guard) fn risk(command: &str, project: Option<&str>) -> (Risk, String) {
    let fuel = Cell::new(STEPS);
    let (is_outside, is_far, is_fetched) = (false, false, false);
    let place = Place { project, is_outside, is_far, is_fetched, depth: DEPTH, first_line: 1, fuel: &fuel };
    match place.judged(command, &Input::Nothing) {
        Ok(Degree::Looks) => (Risk::Plain, String::new()),
        Ok(Degree::Acts) => (Risk::Acts, "it runs a command".to_owned()),
        Err(Danger { why, line: Some(line) }) if command.trim_end().contains('\n') => {
            (Risk::Dangerous, format!("line {line}: {why}"))
        }
        Err(Danger { why, .. }) => (Risk::Dangerous, why),
    }
}

impl Place<'_> {
    /// Counts steps: one for each program and each of its words, and for some bytes that are read or put together.
    pub(super) fn spend(&self, steps: usize) -> Result<(), Danger> {
        let left = self.fuel.get().checked_sub(steps);
        self.fuel.set(left.unwrap_or_default());
        left.map(drop).ok_or_else(|| "it has too many commands in the arguments of others".to_owned().into())
    }

    /// Judges a script.
    pub(super) fn judged(self, text: &str, input: &Input) -> Judged {
        let place = self;
        let Some(depth) = place.depth.checked_sub(1) else {
            return Err("its command is nested too deep in the arguments of others".to_owned().into());
        };
        // The mark of a cut text is on its own line.
        if text.lines().next_back().is_some_and(|line| line.starts_with('…')) {
            return Err("it was cut".to_owned().into());
        }
        place.spend(text.len() / BYTES)?;
        let line_of = |at: usize| place.first_line + text[..at].bytes().filter(|byte| *byte == b'\n').count();
        let script = shell::read(text).map_err(|unread| Danger {
            why: format!("it cannot be read as a command: {}", unread.why),
            line: Some(line_of(unread.at.min(text.len()))),
        })?;
        if script.list.is_empty() {
            return Err("it has no words".to_owned().into());
        }
        let (values, never) = (BTreeMap::new(), BTreeSet::new());
        let place = Place { depth, ..place };
        let (made, lines) = (BTreeSet::new(), OnceCell::new());
        let documents = &script.documents;
        let (compiled, has_unpacked) = (Vec::new(), false);
        let mut judge = Judge { text, documents, place, values, never, made, compiled, has_unpacked, lines };
        judge.list(&script.list, input)
    }
}

impl<'a> Judge<'a> {
    pub(super) fn list(&mut self, list: &'a List, input: &Input) -> Judged {
        let mut worst = Degree::Looks;
        for node in list {
            worst = worst.max(self.node(node, input)?);
        }
        Ok(worst)
    }

    fn node(&mut self, node: &'a Node, input: &Input) -> Judged {
        match node {
            Node::Simple(simple) => {
                let judged = self.simple(simple, input);
                // Lines are only counted where one is said.
                judged.map_err(|danger| {
                    let has_lines = self.text.contains('\n') || self.place.first_line > 1;
                    let line = has_lines.then(|| self.line(simple.at));
                    Danger { line: danger.line.or(line), ..danger }
                })
            }
            Node::Pipeline(parts) => self.pipeline(parts, input),
            Node::Chain { parts, has_or } => {
                let mut worst = Degree::Looks;
                for part in parts {
                    worst = worst.max(self.node(part, input)?);
                    if *has_or {
                        self.forget(std::slice::from_ref(part));
                    }
                }
                // Only the first part runs in any case.
                self.forget(&parts[1..]);
                Ok(worst)
            }
            Node::Compound(compound) => self.compound(compound, input),
            Node::Function { name, body } => {
                if calls(body, name) > 1 {
                    return Err(format!("`{name}` starts itself more than once, without end").into());
                }
                // It may be called anywhere, with any values.
                let values = std::mem::take(&mut self.values);
                let judged = self.node(body, &Input::Unknown);
                self.values = values;
                self.never_known(body);
                judged.map(|_| Degree::Acts)
            }
        }
    }

    fn pipeline(&mut self, parts: &'a [Node], input: &Input) -> Judged {
        let mut worst = Degree::Looks;
        let mut input = input.clone();
        for part in parts {
            worst = worst.max(self.node(part, &input)?);
            input = Input::Pipe(self.source(part, &input));
        }
        // Each part runs in a shell of its own, but for the last one in some shells.
        self.forget(parts);
        Ok(worst)
    }

    fn compound(&mut self, compound: &'a Compound, input: &Input) -> Judged {
        let mut worst = Degree::Looks;
        let mut input = input.clone();
        for word in &compound.words {
            worst = worst.max(self.within(word)?);
        }
        for redirection in &compound.redirections {
            worst = worst.max(self.redirection(redirection, &mut input)?);
        }
        if compound.is_group {
            return compound
                .lists
                .iter()
                .try_fold(worst, |worst, list| Ok(worst.max(self.list(list, &input)?)));
        }
        for list in &compound.lists {
            self.forget(list);
        }
        if let Some((name, values)) = &compound.variable {
            if let Some(why) = variables::why_dangerous(name, "\u{1}") {
                return Err(why.into());
            }
            for word in values.iter().flatten() {
                worst = worst.max(self.within(word)?);
            }
            let value = values.as_ref().map_or(Value::Unknown, |words| self.one_of(words));
            self.set(name, value);
        }
        for list in &compound.lists {
            worst = worst.max(self.list(list, &input)?);
        }
        for list in &compound.lists {
            self.forget(list);
        }
        if let Some((name, _)) = &compound.variable {
            self.set(name, Value::Unknown);
        }
        Ok(worst)
    }

    fn simple(&mut self, simple: &'a Simple, input: &Input) -> Judged {
        let mut input = input.clone();
        let mut worst = Degree::Looks;
        for word in simple.assignments.iter().map(|assignment| &assignment.value).chain(&simple.words) {
            worst = worst.max(self.within(word)?);
        }
        for redirection in &simple.redirections {
            worst = worst.max(self.redirection(redirection, &mut input)?);
        }
        for assignment in &simple.assignments {
            let is_shown = ["LC_", "LANG", "TZ"].iter().any(|name| assignment.name.starts_with(name));
            worst = if simple.words.is_empty() || is_shown { worst } else { Degree::Acts };
            let value = self.argument(&assignment.value);
            let text = if assignment.is_more { ANY.to_string() } else { value.text.into_owned() };
            if let Some(why) = variables::why_dangerous(&assignment.name, &text) {
                return Err(why.into());
            }
        }
        let words: Vec<_> = simple.words.iter().flat_map(|word| self.arguments(word)).collect();
        self.place.spend(words.iter().map(|word| word.text.len()).sum::<usize>() / BYTES)?;
        self.check_emptied(simple, &words)?;
        if words.is_empty() {
            for assignment in &simple.assignments {
                let value = self.value(assignment);
                self.set(&assignment.name, value);
            }
            return Ok(worst);
        }
        self.check_sent(simple, &words)?;
        worst = worst.max(self.program(&words, &input)?);
        for fewer in without_some(simple, &words) {
            let (place, values) = (self.place, self.values.clone());
            worst = worst.max(self.program(&fewer, &input)?);
            (self.place, self.values) = (place, values);
        }
        self.remember_fetched(&words, &input);
        Ok(worst)
    }

    /// Judges the commands within a word.
    pub(super) fn within(&mut self, word: &'a Word) -> Judged {
        let mut worst = Degree::Looks;
        for piece in &word.pieces {
            let lists = match piece {
                Piece::Output { list, .. } | Piece::Process(list) => std::slice::from_ref(list),
                Piece::Unknown { lists, .. } => lists,
                Piece::Sum { names, lists } => {
                    if let Some(name) = names.iter().find(|name| !self.is_number(name)) {
                        return Err(format!("it computes `{name}`, which may have a command in it").into());
                    }
                    lists
                }
                Piece::Text(_) | Piece::Pattern(_) | Piece::Variable { .. } | Piece::Number | Piece::Job => {
                    continue;
                }
            };
            for list in lists {
                worst = worst.max(self.list(list, &Input::Nothing)?);
            }
        }
        Ok(worst)
    }
}

/// Returns how often a command calls a function by its name.
fn calls(node: &Node, name: &str) -> usize {
    match node {
        Node::Simple(simple) => {
            usize::from(simple.words.first().and_then(Word::literal).is_some_and(|word| word == name))
        }
        Node::Pipeline(parts) | Node::Chain { parts, .. } => parts.iter().map(|part| calls(part, name)).sum(),
        Node::Compound(compound) => compound.lists.iter().flatten().map(|node| calls(node, name)).sum(),
        Node::Function { .. } => 0,
    }
}

/// Returns the words without those that a shell may make nothing of: what stands behind takes their place.
fn without_some<'w>(simple: &Simple, words: &[Argument<'w>]) -> Vec<Vec<Argument<'w>>> {
    let is_replaced = |piece: &Piece| match piece {
        Piece::Variable { is_quoted, .. } | Piece::Unknown { is_quoted, .. } => !is_quoted,
        _ => false,
    };
    let may_be_nothing = |at: &usize| {
        let pieces = &simple.words[*at].pieces;
        matches!(pieces[..], [Piece::Output { is_quoted: false, .. }])
            || words[*at].is_unknown() && !pieces.is_empty() && pieces.iter().all(is_replaced)
    };
    let places: Vec<_> = (1..words.len().min(simple.words.len())).filter(may_be_nothing).collect();
    let without = |gone: &[usize]| {
        let kept = words.iter().enumerate().filter(|(at, _)| !gone.contains(at));
        kept.map(|(_, word)| word.clone()).collect()
    };
    match &places[..] {
        [] => Vec::new(),
        [_] => vec![without(&places)],
        // Not each of all ways: a word that stands behind another one is reached by the first or by the second.
        _ => places.iter().map(|at| without(&[*at])).chain([without(&places)]).take(FEWER).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what a command risks, and how many steps that took.
    fn steps(command: &str) -> (Risk, usize) {
        let fuel = Cell::new(STEPS);
        let (is_outside, is_far, is_fetched) = (false, false, false);
        let place =
            Place { project: None, is_outside, is_far, is_fetched, depth: DEPTH, first_line: 1, fuel: &fuel };
        let risk = place.judged(command, &Input::Nothing).map_or(Risk::Dangerous, |_| Risk::Acts);
        (risk, STEPS - fuel.get())
    }

    /// Returns commands of about so many bytes, each of which is long in another way.
    fn long(bytes: usize) -> Vec<String> {
        let filled =
            |begin: &str, part: &str, end: &str| format!("{begin}{}{end}", part.repeat(bytes / part.len()));
        let doubled =
            |count: usize| (1..count).map(|at| format!("x{at}=$x{0}$x{0};", at - 1)).collect::<String>();
        vec![
            filled("", "a;", "a"),
            filled("", "a&", ""),
            filled("", "a|", "a"),
            filled("", "a||", "a"),
            filled("", "a ", ""),
            filled("", "a=b ", ""),
            filled("", ">a ", ""),
            filled("", "$a ", ""),
            filled("", "`a` ", ""),
            filled("", "{a", ""),
            filled("", "<(ls) ", ""),
            filled("", "cat <<E\nE\n", ""),
            filled("", "case a in a) b;; esac;", ""),
            filled("", "f() { a; };", ""),
            filled("", "sh -c ", ""),
            filled("", "env ", ""),
            filled("", "xargs ", ""),
            filled("git ", "-x stash ", ""),
            filled("docker ", "-x compose -x run ", ""),
            filled("ssh ", "-Z a ", ""),
            filled("find ", "-exec a ';' ", ""),
            filled("tmux ls '", "ls ", "'"),
            filled("x=aaaaaaaaaaaaaaaa;", "$x", ""),
            filled("{ sh;sh;sh;sh;sh;sh;sh; } <<E\n", "ls;", "\nE\n"),
            format!("x0=a;{}echo $x30", doubled(31)),
            format!("{}ls{}", "$(".repeat(bytes / 3), ")".repeat(bytes / 3)),
            format!("{}{}{}", "if ls; then ".repeat(14), "a=1;".repeat(bytes / 5), "fi;".repeat(14)),
        ]
    }

    #[test]
    fn a_command_that_is_twice_as_long_takes_twice_as_many_steps() {
        for (shorter, longer) in long(2_000).into_iter().zip(long(4_000)) {
            let ((_, fewer), (risk, more)) = (steps(&shorter), steps(&longer));
            let begin = &shorter[..40];
            assert!(more <= 2 * fewer + 64 || risk == Risk::Dangerous, "{fewer} and {more} steps: {begin}");
        }
    }

    #[test]
    fn a_command_that_takes_too_many_steps_is_dangerous() {
        let again = format!("{{ {} }} <<E\n{}\nE\n", "sh;".repeat(8000), "ls;".repeat(10_000));
        let value = format!("x={};{}", "a".repeat(1000), "echo $x;".repeat(7000));
        let tried = format!("git {}", "-x log ".repeat(9));
        for (command, why) in [
            (&again, "too many commands"),
            (&value, "too many commands"),
            (&tried, "`git` has too many options that are not known"),
            (&"a;".repeat(40_000), "it is too long"),
        ] {
            let (risk, said) = super::risk(command, None);
            assert!(risk == Risk::Dangerous && said.contains(why), "{said}");
        }
        // Three options that are not known are usual.
        assert_eq!(super::risk(&format!("git {}", "-x log ".repeat(3)), None).0, Risk::Acts);
        assert_eq!(super::risk(&"ls;".repeat(10_000), None).0, Risk::Plain);
    }
}
