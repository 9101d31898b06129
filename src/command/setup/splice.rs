//! Puts askbridge into the command of one agent, and takes it out again, by changing only the bytes of that command:
//! line breaks, indentation and comments stay.
//! Which agent is meant, and where it stands in the settings, is left to `document.rs`.

use jsonc_parser::{
    ast::{Array, Object, ObjectProp, Value},
    common::Ranged,
};

use super::agents;

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

/// Makes askbridge, at this path, start the agent by its own command, `command`.
pub(super) fn wrap(text: &str, entry: &Object<'_>, askbridge: &str, command: &str) -> Vec<Splice> {
    let Some(program) = entry.get("command") else { return Vec::new() };
    let prefix = agents::prefix(command).map(|arg| literal(&arg));
    let args = match entry.get("args").map(|args| &args.value) {
        Some(Value::Array(args)) => match args.elements.first() {
            Some(first) => {
                let start = beginning(text, args.start() + 1, first.start());
                // The new arguments follow the layout of the others: all on one line, or each on its own line.
                let between = match margin(text, start) {
                    Some(margin) => format!(",{}{margin}", line_break(text)),
                    None => ", ".to_owned(),
                };
                Splice { start, end: start, text: prefix.join(&between) + &between }
            }
            None => at(args.start() + 1, prefix.join(", ")),
        },
        // A client takes `null` as no arguments.
        Some(other) => replace(other, format!("[{}]", prefix.join(", "))),
        None => {
            let between = match margin(text, program.start()) {
                Some(margin) => format!(",{}{margin}", line_break(text)),
                None => ", ".to_owned(),
            };
            at(program.end(), format!("{between}\"args\": [{}]", prefix.join(", ")))
        }
    };
    vec![replace(&program.value, literal(askbridge)), args]
}

/// Restores `command` as an agent's command. `place` is the index of the agent's own command in the arguments: it is
/// removed, and so are those before it. A member for arguments that is empty then is removed too, unless the agent had
/// one before.
pub(super) fn unwrap(
    text: &str,
    entry: &Object<'_>,
    place: usize,
    command: &str,
    has_args: bool,
) -> Vec<Splice> {
    let Some(program) = entry.get("command") else { return Vec::new() };
    let mut splices = vec![replace(&program.value, literal(command))];
    if let Some(member) = entry.get("args")
        && let Value::Array(args) = &member.value
    {
        splices.extend(match args.elements.get(place + 1) {
            Some(next) => {
                let end = args.elements.get(place).map_or(next.start(), Ranged::end);
                let end = following(text, end, next.start());
                args.elements.first().map(|first| remove(first.start(), end))
            }
            None if has_args => Some(empty(text, args)),
            None => Some(without(text, program, member).unwrap_or_else(|| empty(text, args))),
        });
    }
    splices
}

/// Removes all elements of an array, and the space around them unless there is a comment in it.
fn empty(text: &str, array: &Array<'_>) -> Splice {
    let (start, end) = (array.start() + 1, array.end() - 1);
    let first = array.elements.first().map_or(end, Ranged::start);
    let last = array.elements.last().map_or(start, Ranged::end);
    let rest = |start: usize, end: usize| text.get(start..end).unwrap_or_default();
    let is_space = |text: &str| text.chars().all(|c| c.is_whitespace() || c == ',');
    match is_space(rest(start, first)) && is_space(rest(last, end)) {
        true => remove(start, end),
        // The comma behind the last element is removed with it.
        false if rest(last, end).starts_with(',') => remove(first, last + 1),
        false => remove(first, last),
    }
}

/// Removes a member that stands behind another one, if there is nothing but a comma between them.
fn without(text: &str, before: &ObjectProp<'_>, member: &ObjectProp<'_>) -> Option<Splice> {
    let between = text.get(before.end()..member.start())?;
    // A comment between the members is the person's own, and must stay.
    (between.trim() == ",").then(|| remove(before.end(), member.end()))
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

fn replace(value: &Value<'_>, text: String) -> Splice {
    Splice { start: value.start(), end: value.end(), text }
}

fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
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
