//! Puts askbridge into the command of one agent or server, and takes it out again, by changing only the bytes of that
//! command: line breaks, indentation and comments stay.
//! Which entry is meant, and where it stands in the settings, is left to `document.rs` and `mcp`.

use super::tree::{Language, Member, Node, Value};

/// A change of a text: `text` replaces the bytes from `start` to `end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Splice {
    start: usize,
    end: usize,
    text: String,
}

/// Changes a text at several places, which do not overlap.
pub(super) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| splice.start);
    let (mut changed, mut done) = (String::with_capacity(text.len()), 0);
    for splice in splices {
        // The places are those of the parser, so they are within the text.
        changed.push_str(text.get(done..splice.start).unwrap_or_default());
        changed.push_str(&splice.text);
        done = splice.end;
    }
    changed.push_str(text.get(done..).unwrap_or_default());
    changed
}

/// An entry of settings, in the text in which it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) text: &'a str,
    pub(super) language: Language,
    pub(super) node: &'a Node,
}

/// The command of an entry before it was wrapped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own<'a> {
    /// The text of its value.
    pub(super) command: &'a str,
    /// Whether there was a member for arguments.
    pub(super) has_args: bool,
    /// The text of that member's value, if it had no argument in it.
    pub(super) empty: Option<&'a str>,
}

impl<'a> Entry<'a> {
    /// Returns the text of a value.
    pub(super) fn raw(&self, node: &Node) -> &'a str {
        self.text.get(node.start..node.end).unwrap_or_default()
    }

    /// Returns the text of a member, from its key to the end of its value.
    pub(super) fn raw_member(&self, member: &Member) -> &'a str {
        self.text.get(member.start..member.node.end).unwrap_or_default()
    }

    /// Returns whether the members stand in braces, and are parted by commas. A table of TOML has lines instead.
    fn is_braced(&self) -> bool {
        self.raw(self.node).starts_with('{')
    }

    /// Returns the text that begins a new member beside this one, up to its value.
    fn key(&self, beside: &Member, name: &str) -> String {
        match self.language {
            Language::Json => format!("\"{name}\": "),
            // A dotted key repeats the name of its table.
            Language::Toml => {
                format!("{}{name} = ", self.text.get(beside.start..beside.word).unwrap_or_default())
            }
        }
    }

    /// Returns what stands between a member and a new one behind it: both on one line, or each on its own line.
    fn between(&self, member: &Member) -> String {
        let comma = if self.is_braced() { "," } else { "" };
        match margin(self.text, member.start) {
            Some(margin) => format!("{comma}{}{margin}", line_break(self.text)),
            None if self.is_braced() => ", ".to_owned(),
            // It is the first line of the file.
            None => line_break(self.text).to_owned(),
        }
    }

    fn words(&self, words: &[&str]) -> Vec<String> {
        words.iter().map(|word| literal(word, self.language)).collect()
    }

    /// Puts words before the first element of a list.
    fn ahead(&self, list: &Node, words: &[String]) -> Splice {
        let first = match &list.value {
            Value::List(nodes) => nodes.first(),
            _ => None,
        };
        let Some(first) = first else { return at(list.start + 1, words.join(", ")) };
        let start = beginning(self.text, list.start + 1, first.start);
        // The new elements follow the layout of the others: all on one line, or each on its own line.
        let between = match margin(self.text, start) {
            Some(margin) => format!(",{}{margin}", line_break(self.text)),
            None => ", ".to_owned(),
        };
        Splice { start, end: start, text: words.join(&between) + &between }
    }
}

/// Makes askbridge, at this path and with these arguments, start the entry's own command, `command`.
pub(super) fn wrap(entry: &Entry<'_>, askbridge: &str, words: &[String], command: &str) -> Vec<Splice> {
    let Some(program) = entry.node.member("command") else { return Vec::new() };
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    if matches!(program.node.value, Value::List(_)) {
        // The command and its arguments are one list.
        let words = entry.words(&[&[askbridge], &words[..]].concat());
        return vec![entry.ahead(&program.node, &words)];
    }
    let words = entry.words(&[&words[..], &[command]].concat());
    let args = match entry.node.get("args") {
        Some(args) if matches!(args.value, Value::List(_)) => entry.ahead(args, &words),
        // A client takes `null` as no arguments.
        Some(other) => replace(other, format!("[{}]", words.join(", "))),
        None => {
            let (between, key) = (entry.between(program), entry.key(program, "args"));
            at(program.node.end, format!("{between}{key}[{}]", words.join(", ")))
        }
    };
    vec![replace(&program.node, literal(askbridge, entry.language)), args]
}

/// Makes another program start the entry, with the same arguments.
pub(super) fn start_by(entry: &Entry<'_>, program: &str) -> Vec<Splice> {
    let Some(command) = entry.node.member("command") else { return Vec::new() };
    let first = match &command.node.value {
        Value::List(nodes) => nodes.first(),
        _ => Some(&command.node),
    };
    first.map(|node| replace(node, literal(program, entry.language))).into_iter().collect()
}

/// Restores an entry's own command. `place` is its index in the arguments, or in the list that has the command as well:
/// what stands before it is removed. A member for arguments that is empty then is as it was before.
pub(super) fn unwrap(entry: &Entry<'_>, place: usize, own: &Own<'_>) -> Vec<Splice> {
    let Some(program) = entry.node.member("command") else { return Vec::new() };
    if let Value::List(nodes) = &program.node.value {
        return cut(entry, nodes, place).into_iter().collect();
    }
    let mut splices = vec![replace(&program.node, own.command.to_owned())];
    if let Some(member) = entry.node.member("args")
        && let Value::List(nodes) = &member.node.value
    {
        let emptied = || emptied(entry.text, &member.node, nodes);
        splices.push(match (cut(entry, nodes, place + 1), own.empty) {
            (Some(cut), _) => cut,
            (None, Some(empty)) => replace(&member.node, empty.to_owned()),
            (None, None) if own.has_args => emptied(),
            (None, None) => without(entry.text, program, member).unwrap_or_else(emptied),
        });
    }
    splices
}

/// Removes the elements before this index. `None` if there is no element at it.
fn cut(entry: &Entry<'_>, nodes: &[Node], place: usize) -> Option<Splice> {
    let (first, last, next) = (nodes.first()?, nodes.get(place.checked_sub(1)?)?, nodes.get(place)?);
    Some(remove(first.start, following(entry.text, last.end, next.start)))
}

/// Makes askbridge, at this path and with these arguments, reach the server of an entry, which has an address in place
/// of a command. `is_list` says that the command and its arguments are one list.
pub(super) fn reach(entry: &Entry<'_>, askbridge: &str, words: &[String], is_list: bool) -> Vec<Splice> {
    let Some(url) = entry.node.member("url") else { return Vec::new() };
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let key = entry.key(url, "command");
    let text = match is_list {
        true => format!("{key}[{}]", entry.words(&[&[askbridge], &words[..]].concat()).join(", ")),
        false => format!(
            "{key}{}{}{}[{}]",
            literal(askbridge, entry.language),
            entry.between(url),
            entry.key(url, "args"),
            entry.words(&words).join(", ")
        ),
    };
    vec![Splice { start: url.start, end: url.node.end, text }]
}

/// Puts the address back, as the text `url`, where [`reach`] has put a command.
pub(super) fn leave(entry: &Entry<'_>, url: &str) -> Vec<Splice> {
    let Some(program) = entry.node.member("command") else { return Vec::new() };
    let back = |end: usize| Splice { start: program.start, end, text: url.to_owned() };
    let Some(args) = entry.node.member("args") else { return vec![back(program.node.end)] };
    // What the person has put between the two stays.
    match entry.text.get(program.node.end..args.start).map(str::trim) {
        Some("" | ",") => vec![back(args.node.end)],
        _ => vec![back(program.node.end), dropped(entry, args)],
    }
}

/// Replaces the value of a member.
pub(super) fn exchange(node: &Node, text: String) -> Splice {
    replace(node, text)
}

/// Removes a member, with the comma or the line break that parts it from its neighbour.
fn dropped(entry: &Entry<'_>, member: &Member) -> Splice {
    let rest = entry.text.get(member.node.end..).unwrap_or_default();
    let comma = rest.len() - rest.trim_start().strip_prefix(',').map_or(rest.len(), str::len);
    let before = entry.text.get(..member.start).unwrap_or_default();
    let before = before.trim_end();
    match before.strip_suffix(',') {
        _ if !entry.is_braced() => remove(before.len(), member.node.end),
        Some(before) => remove(before.len(), member.node.end),
        None => remove(member.start, member.node.end + comma),
    }
}

/// Removes all elements of an array, and the space around them unless there is a comment in it.
fn emptied(text: &str, array: &Node, nodes: &[Node]) -> Splice {
    let (start, end) = (array.start + 1, array.end - 1);
    let first = nodes.first().map_or(end, |node| node.start);
    let last = nodes.last().map_or(start, |node| node.end);
    let rest = |start: usize, end: usize| text.get(start..end).unwrap_or_default();
    let is_space = |text: &str| text.chars().all(|c| c.is_whitespace() || c == ',');
    match is_space(rest(start, first)) && is_space(rest(last, end)) {
        true => remove(start, end),
        // The comma behind the last element is removed with it.
        false if rest(last, end).starts_with(',') => remove(first, last + 1),
        false => remove(first, last),
    }
}

/// Removes a member that stands behind another one, if there is nothing but a comma or a line break between them.
fn without(text: &str, before: &Member, member: &Member) -> Option<Splice> {
    let between = text.get(before.node.end..member.start)?;
    // A comment between the members is the person's own, and must stay.
    matches!(between.trim(), "" | ",").then(|| remove(before.node.end, member.node.end))
}

/// Returns where the elements of an array begin: before the comments above the first one.
fn beginning(text: &str, start: usize, first: usize) -> usize {
    let between = text.get(start..first).unwrap_or_default();
    // Text behind the bracket on the same line stays there.
    match between.split_once('\n') {
        Some((line, rest)) if !line.contains("/*") => first - rest.trim_start().len(),
        _ => first,
    }
}

/// Returns where the text behind an element and its comma begins, which may be a comment on the next element.
fn following(text: &str, end: usize, next: usize) -> usize {
    let between = text.get(end..next).unwrap_or_default();
    between.trim_start().strip_prefix(',').map_or(next, |rest| next - rest.trim_start().len())
}

fn remove(start: usize, end: usize) -> Splice {
    Splice { start, end, text: String::new() }
}

fn at(start: usize, text: String) -> Splice {
    Splice { start, end: start, text }
}

fn replace(node: &Node, text: String) -> Splice {
    Splice { start: node.start, end: node.end, text }
}

/// Returns a text as it is written in this language.
pub(super) fn literal(text: &str, language: Language) -> String {
    match language {
        Language::Json => serde_json::Value::from(text).to_string(),
        Language::Toml => toml_edit::Value::from(text).to_string(),
    }
}

/// Returns the space between the beginning of the line and this place, or `None` if anything else is there.
fn margin(text: &str, place: usize) -> Option<&str> {
    let before = text.get(..place)?;
    let line = before.rsplit('\n').next()?;
    (line.len() < before.len() && line.trim().is_empty()).then_some(line)
}

fn line_break(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}
