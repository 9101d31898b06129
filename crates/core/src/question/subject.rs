//! The subject of a permission: the tool call, the command, the changes of files.
//! How it stands on the wire is left to the dialects.

use serde::{Deserialize, Serialize};

use crate::limits;

/// The subject of a permission. Texts that are longer than their limit are cut, and say how much is missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// The kind of the tool, as ACP names it: `read`, `edit`, `delete`, `execute`, `fetch`, `switch_mode` and so on. Of
    /// a subject that is no tool call, its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The title of the tool call, where the heading of the permission says something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Why the agent asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The command that would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The folder that the command would run in, where the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Where the command would run, if that is not simply the machine of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// What an approval allows beyond the rest of the subject, each on a line: hosts, folders, modes, rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<String>,
    /// Parts of the request that this version does not know, each on a line with its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<String>,
    /// The files that it is about, with the line after a colon where the agent names one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<String>,
    /// The changes of files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<Diff>,
    /// The changes as a patch in the format of Git, where the agent sends one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// The plan that the agent wants to carry out, as Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The file that has the plan, where the request itself does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_file: Option<String>,
    /// The rest of the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The input of the tool, as JSON text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<String>,
    /// The parts of the agent's request that could not be read, or contradict each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclear: Option<String>,
    /// Whether `rawInput` says more than the rest of what would be done, so that a person has to see it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub input_says_more: bool,
}

/// The change of one file: the part that differs, with a few lines around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// The file.
    pub path: String,
    /// The number of the line that both texts begin with, from 1.
    pub line: u32,
    /// The text before. Absent where the file is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The text after.
    pub new: String,
    /// Whether the file has a text that the change does not show, and replaces.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces: bool,
}

/// How many common lines are kept before and after the part that differs.
const CONTEXT: usize = 3;

impl Diff {
    /// Returns the change of a file from one text to another.
    pub fn new(path: &str, old: Option<&str>, new: &str) -> Self {
        let (line, old, new) = match old {
            Some(old) => {
                let (before, after) = common_lines(old, new);
                let (skipped, kept_old) = part(old, before, after);
                (skipped + 1, Some(kept_old), part(new, before, after).1)
            }
            None => (1, None, new),
        };
        Diff {
            path: cut(path, limits::SUBJECT_LINE),
            line: u32::try_from(line).unwrap_or(u32::MAX),
            old: old.map(|old| cut(old, limits::SUBJECT_TEXT)),
            new: cut(new, limits::SUBJECT_TEXT),
            replaces: false,
        }
    }

    fn bytes(&self) -> usize {
        self.path.len() + self.old.as_ref().map_or(0, String::len) + self.new.len()
    }
}

/// Returns how many lines two texts have in common at their beginnings and at their ends.
fn common_lines(old: &str, new: &str) -> (usize, usize) {
    let same = |pair: &(&str, &str)| pair.0 == pair.1;
    let lines = |text: &str| text.split_inclusive('\n').count();
    let before = old.split_inclusive('\n').zip(new.split_inclusive('\n')).take_while(same).count();
    // No line may count both at the beginning and at the end.
    let most = lines(old).min(lines(new)) - before;
    let ends = old.split_inclusive('\n').rev().zip(new.split_inclusive('\n').rev());
    (before, ends.take(most).take_while(same).count())
}

/// Returns a text without its common lines, except for [`CONTEXT`] at either end, and how many lines were left out
/// before it.
fn part(text: &str, before: usize, after: usize) -> (usize, &str) {
    let skipped = before.saturating_sub(CONTEXT);
    let length = |lines: &mut dyn Iterator<Item = &str>| lines.map(str::len).sum::<usize>();
    let start = length(&mut text.split_inclusive('\n').take(skipped));
    let end = length(&mut text.split_inclusive('\n').rev().take(after.saturating_sub(CONTEXT)));
    (skipped, text.get(start..text.len() - end).unwrap_or_default())
}

impl Subject {
    /// Returns whether no part of it is set.
    pub fn is_empty(&self) -> bool {
        *self == Subject::default()
    }

    /// Cuts each part to its limit, and then the last parts until all of it is within a limit as well. The parts that
    /// say most about what would happen come first.
    pub fn fit(&mut self) {
        let short = [&mut self.kind, &mut self.title, &mut self.folder];
        let short = short.into_iter().chain([&mut self.environment, &mut self.plan_file]);
        short.flatten().for_each(|text| *text = cut(text, limits::SUBJECT_LINE));
        let long = [&mut self.command, &mut self.plan, &mut self.patch, &mut self.description];
        let long = long.into_iter().chain([&mut self.content, &mut self.raw_input]);
        long.flatten().for_each(|text| *text = cut(text, limits::SUBJECT_TEXT));
        // A changed file may be in both lists, so the lengths of the lists are not added.
        let files = (self.locations.len().saturating_sub(limits::LOCATIONS))
            .max(self.diffs.len().saturating_sub(limits::DIFFS));
        self.locations.truncate(limits::LOCATIONS);
        self.diffs.truncate(limits::DIFFS);
        self.locations.iter_mut().for_each(|place| *place = cut(place, limits::SUBJECT_LINE));
        if files > 0 {
            self.locations.push(format!("… {files} more files are not shown"));
        }
        fit_lines(&mut self.grants);
        fit_lines(&mut self.further);

        let mut room = limits::SUBJECT;
        fit_text(&mut self.command, &mut room);
        fit_text(&mut self.plan, &mut room);
        for diff in &mut self.diffs {
            // The old text takes at most half, so that room is left for the new one.
            if let Some(old) = &mut diff.old {
                *old = cut(old, (room / 2).max(MARK));
            }
            diff.new = cut(&diff.new, room.max(MARK));
            room = room.saturating_sub(diff.bytes());
        }
        for text in [&mut self.patch, &mut self.description, &mut self.content, &mut self.raw_input] {
            fit_text(text, &mut room);
        }
    }
}

/// Cuts lines to their limit, and says how many are missing.
pub fn fit_lines(lines: &mut Vec<String>) {
    let more = lines.len().saturating_sub(limits::GRANTS);
    lines.truncate(limits::GRANTS);
    lines.iter_mut().for_each(|line| *line = cut(line, limits::SUBJECT_LINE));
    if more > 0 {
        lines.push(format!("… {more} more are not shown"));
    }
}

fn fit_text(text: &mut Option<String>, room: &mut usize) {
    if let Some(text) = text {
        // Even without room, the mark stays: no part disappears unnoticed.
        *text = cut(text, (*room).max(MARK));
        *room = room.saturating_sub(text.len());
    }
}

/// Bytes that the mark of a cut takes at most.
const MARK: usize = 64;

/// Returns whether a text was [`cut`].
pub fn is_cut(text: &str) -> bool {
    text.ends_with(" more bytes are not shown")
}

/// Returns a text that takes no more bytes than this, with a mark that says how much is missing.
pub fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let most = most.saturating_sub(MARK);
    let kept = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    format!("{}\n… {} more bytes are not shown", &text[..kept], text.len() - kept)
}

/// Quotes words so that a shell reads them as a program and its arguments.
pub fn quoted_words(words: &[&str]) -> String {
    let quoted = words.iter().enumerate().map(|(place, word)| match place == 0 && word.contains('=') {
        // Unquoted, a shell would take the word for an assignment.
        true if !word.contains('\'') => format!("'{word}'"),
        _ => quoted(word),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Quotes a word so that a shell reads it as one word.
pub fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:,@%+".contains(char);
    match word {
        word if !word.is_empty() && word.chars().all(is_plain) => word.to_owned(),
        word if !word.contains('\'') => format!("'{word}'"),
        // Double quotes are easier to read, if no character of the word is special within them.
        word if !word.contains(['"', '$', '`', '\\', '!']) => format!("\"{word}\""),
        word => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;

    #[test]
    fn a_diff_has_what_differs_and_a_few_lines_around_it() {
        let old: String = (1..=20).map(|line| format!("line {line}\n")).collect();
        let new = old.replace("line 10\n", "LINE 10\nand more\n");
        let diff = Diff::new("/p/a.rs", Some(&old), &new);
        assert_eq!(diff.line, 7);
        let expected = "line 7\nline 8\nline 9\nline 10\nline 11\nline 12\nline 13\n";
        assert_eq!(diff.old.as_deref(), Some(expected));
        assert_eq!(diff.new, expected.replace("line 10\n", "LINE 10\nand more\n"));
    }

    #[test]
    fn a_diff_of_odd_texts() {
        for (old, new, line, part_of_old, part_of_new) in [
            ("", "a", 1, "", "a"),
            ("a", "", 1, "a", ""),
            ("a\n", "a\n", 1, "a\n", "a\n"),
            ("a\na\n", "a\n", 1, "a\na\n", "a\n"),
            ("a", "a\n", 1, "a", "a\n"),
            ("1\n2\n3\n4\n5", "1\n2\n3\n4\n5\n6", 2, "2\n3\n4\n5", "2\n3\n4\n5\n6"),
        ] {
            let diff = Diff::new("a", Some(old), new);
            assert_eq!((diff.line, diff.old.as_deref(), &*diff.new), (line, Some(part_of_old), part_of_new));
        }
    }

    #[test]
    fn long_texts_are_cut_with_a_mark() {
        let long = "é".repeat(100_000);
        let text = Some(long.clone());
        let mut subject = Subject {
            kind: text.clone(),
            command: text.clone(),
            plan: text.clone(),
            patch: text.clone(),
            description: text.clone(),
            content: text.clone(),
            raw_input: text.clone(),
            diffs: (0..40).map(|_| Diff::new(&long, Some(&long), &long)).collect(),
            locations: vec![long.clone(); 40],
            ..Subject::default()
        };
        subject.fit();
        let command = subject.command.as_deref().unwrap_or_default();
        assert!(command.len() > limits::SUBJECT_TEXT / 2 && command.len() <= limits::SUBJECT_TEXT);
        let kept = command.split('\n').next().unwrap_or_default();
        let missing = 200_000 - kept.len();
        assert!(command.ends_with(&format!("\n… {missing} more bytes are not shown")), "{missing}");
        assert_eq!(subject.locations.last().map(String::as_str), Some("… 8 more files are not shown"));
        let bytes = serde_json::to_vec(&subject).map_or(0, |json| json.len());
        let paths = (limits::LOCATIONS + limits::DIFFS + 3) * (limits::SUBJECT_LINE + 4 * MARK);
        assert!(bytes <= limits::SUBJECT + paths, "{bytes}");
        for text in [subject.raw_input, subject.diffs.pop().map(|diff| diff.new)].into_iter().flatten() {
            assert!(text.ends_with("more bytes are not shown"), "{text}");
        }
    }
}
