//! What a rule may leave open in the words of a command, by the grammar of its program.
//!
//! A rule names words, and leaves others open. What it leaves open never chooses another program, other code or a file
//! elsewhere: a rule that could not do without is refused ([`left_open`]), and words that are known to do so are not meant
//! by it ([`hole`]).

use super::{
    active::active,
    argument::Argument,
    degree::{Danger, Degree, Judged},
    grammar::{self, Found, Label, Open, Seen},
    places, variables,
};

pub use super::grammar::name;

/// Returns what a program does, if these words, with any further ones, could make it run any other. An argument that may be
/// anything is `None`.
pub fn left_open(program: &str, arguments: &[Option<&str>]) -> Option<&'static str> {
    let row = grammar::row(program)?;
    let is_open = match &row.open {
        Open::No => false,
        Open::Any => true,
        Open::First(words) => match arguments {
            [] | [None, ..] => true,
            // The program's options may name a program.
            [Some(first), ..] if first.starts_with('-') => true,
            // The next word is the command that runs: a rule may name it.
            [Some(first), rest @ ..] if words.contains(first) => match rest {
                [Some(program), arguments @ ..] if !program.starts_with('-') => {
                    left_open(program, arguments).is_some()
                }
                _ => true,
            },
            _ => false,
        },
    };
    is_open.then(|| if row.does.is_empty() { row.harm.unwrap_or_default() } else { row.does })
}

/// Returns whether the grammar of a program is known, so that [`hole`] finds what is in its words.
pub fn is_known(program: &str) -> bool {
    grammar::row(program).is_some()
}

/// Returns a word that a rule leaves open and that does more than the words that the rule names, with what it does. The
/// words are those of the program, without the assignments before it.
pub fn hole(words: &[String], project: Option<&str>, is_named: &dyn Fn(usize) -> bool) -> Option<String> {
    let words: Vec<_> = words.iter().map(|word| Argument::known(places::in_project(project, word))).collect();
    if let Err(danger) = look(&words, 0, is_named, 4) {
        return Some(danger.why);
    }
    // What a text says, and an address, is no path.
    let row = words.first().and_then(|program| grammar::row(&program.text));
    let pattern = row.and_then(|row| pattern(row, &words)).map(|at| at + 1);
    let leads_out = |at: usize| {
        let text = &words[at].text;
        !is_named(at) && pattern != Some(at) && !text.contains("://") && !places::is_inside(text)
    };
    let has_paths = row.is_none_or(|row| !row.flags.texts);
    let found = (1..words.len()).filter(|_| has_paths).find(|at| leads_out(*at))?;
    Some(format!("`{}` is not plainly in the project, and the rule does not name it", words[found].text))
}

/// Returns which argument is the pattern that a program searches for.
fn pattern(row: &grammar::Row, words: &[Argument<'_>]) -> Option<usize> {
    let (program, arguments) = words.split_first()?;
    let name = grammar::name(&program.text);
    let mut pattern = None;
    let mut find = |_: Seen<'_>, found: Found<'_>| {
        if let Found::Paths(_, skipped) = found {
            pattern = skipped;
        }
        Ok(Degree::Acts)
    };
    grammar::walk(row, &Label { name: &name, of: None }, arguments, &mut find).ok()?;
    pattern
}

/// Looks at a command that begins at this word of the whole.
fn look(words: &[Argument<'_>], from: usize, is_named: &dyn Fn(usize) -> bool, depth: usize) -> Judged {
    let Some((program, arguments)) = words.split_first() else { return Ok(Degree::Acts) };
    let row = grammar::row(&program.text).or_else(grammar::any);
    let Some(row) = row.filter(|_| depth > 0) else { return Ok(Degree::Acts) };
    let name = grammar::name(&program.text);
    let label = Label { name: &name, of: None };
    grammar::walk(row, &label, arguments, &mut |seen: Seen<'_>, found: Found<'_>| {
        let is_ours = seen.at.is_none_or(|at| is_named(from + 1 + at));
        let open = |why: &str| Err(Danger::from(format!("{seen} {why}, and the rule does not name it")));
        let is_inside = |path: &str| places::is_inside(path) && active("", path).is_none();
        let is_fine = match &found {
            _ if is_ours => true,
            Found::Harm(why) | Found::Send(why) | Found::Hole(why, _) | Found::Names(why, _) => {
                return open(why);
            }
            Found::More => return open("does more than to look"),
            Found::Unknown
            | Found::Input(_)
            | Found::Reads(_)
            | Found::Cd(_)
            | Found::Path(_)
            | Found::Paths(..) => true,
            Found::Writes(path) => is_inside(path) || places::is_device(path),
            Found::Where(folder) => is_inside(folder),
            Found::Assigned(text) => {
                let (name, value) = text.split_once('=').unwrap_or((text, ""));
                variables::why_dangerous(name, value).is_none()
            }
            Found::Text(_) | Found::Code(..) | Found::Command(..) | Found::Fed(..) | Found::ForEach(..) => {
                false
            }
            Found::Anywhere(_) | Found::Of(..) | Found::Script(..) | Found::Module(_) => false,
        };
        match found {
            _ if !is_fine => open("chooses what runs, or a file elsewhere"),
            Found::Command(begin, end) => {
                look(&arguments[begin.min(end)..end], from + 1 + begin, is_named, depth - 1)
            }
            Found::Of(program, begin) => {
                let words: Vec<_> = [Argument::known(program)]
                    .into_iter()
                    .chain(arguments[begin..].iter().cloned())
                    .collect();
                look(&words, from + begin, is_named, depth - 1)
            }
            Found::Module(begin) | Found::Script(_, begin) => {
                let name = arguments[begin].text.rsplit('/').next().unwrap_or_default();
                let words = Argument::known(name);
                let words: Vec<_> =
                    [words].into_iter().chain(arguments[begin + 1..].iter().cloned()).collect();
                match grammar::named(name).filter(|_| name.len() > 1) {
                    Some(_) => look(&words, from + 1 + begin, is_named, depth - 1),
                    None => Ok(Degree::Acts),
                }
            }
            _ => Ok(Degree::Acts),
        }
    })
}
