//! What a reason quotes: the part of a command that it is about, where a person would have to look for it. Pure.

use crate::question::Risk;

/// The most characters of a line that a reason quotes, and how many of these stand before the word that it is about.
const QUOTED: usize = 100;
const BEFORE: usize = 20;

/// The most parts of a line that are looked at.
const PARTS: usize = 64;

/// Characters between the programs of a line.
const ENDS: [char; 5] = [';', '|', '&', '(', '{'];

/// Returns why a command is dangerous, with the member that has it, if that is not the command which is shown, and what
/// stands there. `why` begins with the number of its line, if the command has several.
///
/// `risk` says what a part of a command risks.
pub(super) fn with_place(
    text: &str,
    member: Option<&str>,
    why: &str,
    risk: impl Fn(&str) -> (Risk, String),
) -> String {
    let text = text.trim_end();
    let has_lines = text.contains('\n');
    if member.is_none() && !has_lines && text.chars().nth(QUOTED).is_none() {
        return why.to_owned();
    }
    let place = match member {
        None => String::new(),
        Some("") => ", in its input".to_owned(),
        Some(name) => format!(", in `{name}`"),
    };
    let (number, what) = numbered(why);
    let line = match number {
        Some(number) => text.lines().nth(number.saturating_sub(1)),
        None => Some(text).filter(|_| !has_lines),
    };
    match line.filter(|line| !line.trim().is_empty()) {
        Some(line) => format!("{why}{place}: {}", around(line, what, risk)),
        None => format!("{why}{place}"),
    }
}

/// Splits the number of a line off a reason.
fn numbered(why: &str) -> (Option<usize>, &str) {
    let rest = why.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
    let found = rest.and_then(|(number, what)| Some((number.parse().ok()?, what)));
    found.map_or((None, why), |(number, what)| (Some(number), what))
}

/// Returns the part of a line around the program that a reason is about.
fn around(line: &str, what: &str, risk: impl Fn(&str) -> (Risk, String)) -> String {
    let line = line.trim();
    let is_it = |part: &str| risk(part).1 == what;
    let word = what.split('`').nth(1).filter(|word| !word.is_empty());
    let starts = [0]
        .into_iter()
        .chain(line.char_indices().filter(|(_, char)| ENDS.contains(char)).map(|(at, _)| at + 1));
    // A line may have any number of parts, and each is judged.
    let start = starts.take(PARTS).find(|start| {
        let rest = &line[*start..];
        is_it(rest[..rest.find(ENDS).unwrap_or(rest.len())].trim())
    });
    let start = start.unwrap_or_default();
    let place = start + word.and_then(|word| place_of(word, &line[start..])).unwrap_or_default();
    let before = line[..place].chars().count().saturating_sub(BEFORE);
    // A line that fits is quoted whole.
    let before = if line.chars().nth(QUOTED).is_none() { 0 } else { before };
    let mut rest = line.chars().skip(before);
    let part: String = rest.by_ref().take(QUOTED).collect();
    let (begin, end) = (if before > 0 { "…" } else { "" }, if rest.next().is_some() { "…" } else { "" });
    format!("{begin}{part}{end}")
}

/// Returns where a word stands in a line on its own, in bytes.
fn place_of(word: &str, line: &str) -> Option<usize> {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    line.match_indices(word)
        .map(|(at, _)| at)
        .find(|at| !line[..*at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn risk(text: &str) -> (Risk, String) {
        match text.split([';', '\n']).find(|part| part.trim_start().starts_with("rm ")) {
            Some(_) => (Risk::Dangerous, "`rm` removes".to_owned()),
            None => (Risk::Acts, String::new()),
        }
    }

    #[test]
    fn a_reason_has_the_part_that_it_is_about() {
        let long = format!("echo {0}; rm -rf x; echo {0} rm", "a ".repeat(200));
        for (text, member, why, place) in [
            ("rm x", None, "`rm` removes", ""),
            ("ls\n  rm x\nls", None, "line 2: `rm` removes", ": rm x"),
            ("ls\nrm x", Some("script"), "line 2: `rm` removes", ", in `script`: rm x"),
            ("ls\nrm x", None, "`rm` removes", ""),
            ("rm x", Some("script"), "`rm` removes", ", in `script`: rm x"),
            ("rm x", Some(""), "`rm` removes", ", in its input: rm x"),
            ("firm; rm x", Some("run"), "`rm` removes", ", in `run`: firm; rm x"),
        ] {
            assert_eq!(with_place(text, member, why, risk), format!("{why}{place}"), "{text:?} {member:?}");
        }
        let found = with_place(&long, None, "`rm` removes", risk);
        let part = found.strip_prefix("`rm` removes: ").expect("a part");
        assert!(
            part.starts_with('…') && part.ends_with('…') && part.contains("; rm -rf x; echo a"),
            "{part}"
        );
        assert_eq!(part.chars().count(), QUOTED + 2, "{part}");
        assert_eq!(place_of("rm", "firm; rm-x"), Some(6));
    }
}
