//! One question as a person reads it on a terminal: its fields, what each takes, and how to answer.
//! Finding it is left to `command`.

use std::fmt::{self, Display, Formatter};

use super::text::{self, since, span, until};
use crate::{
    control::BridgeStatus,
    desk::{Record, State},
    question::{Field, FieldOption, Kind},
    terminal::{padded, printable, printable_line, width},
};

/// Options that take up to this many columns are aligned with each other.
const LONGEST_ALIGNED: usize = 30;
/// The most columns of an agent's command, which may have a whole script in it.
const AGENT: usize = 100;

/// A question in words.
pub struct Shown<'a> {
    /// The question.
    pub record: &'a Record,
    /// Its bridge, if that is known.
    pub status: Option<&'a BridgeStatus>,
}

impl Display for Shown<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.head(out)?;
        let question = &self.record.question;
        if let Some(title) = &question.title {
            writeln!(out, "\n{}", printable_line(title))?;
        }
        let heading = question.heading();
        let asked_below = question.fields.len() == 1 && question.fields[0].label == heading;
        if !asked_below {
            writeln!(out, "\n{}", printable(heading))?;
        }
        for field in &question.fields {
            show_field(field, out)?;
        }
        self.foot(out)
    }
}

impl Shown<'_> {
    fn head(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Record { id, question, opened_at, deadline, settlement, .. } = self.record;
        match settlement {
            Some(settled) => writeln!(out, "{id}: {}", text::settlement(settled))?,
            None if self.record.state == State::Delivering => {
                writeln!(out, "{id}: settled, and on its way to the agent")?;
            }
            None => {
                let ends = deadline.map(|deadline| format!(", ends in {}", span(until(deadline))));
                let (age, ends) = (span(since(*opened_at)), ends.unwrap_or_default());
                writeln!(out, "{id}: open for {age}{ends}, waits {}", waits(self.record))?;
            }
        }
        if let Some(BridgeStatus { agent, folder, .. }) = self.status {
            writeln!(out, "asked by {} in {}", text::short(agent, AGENT), printable_line(folder))?;
        }
        if let Some(session) = &question.session {
            writeln!(out, "session {}", printable_line(session))?;
        }
        if question.dangerous {
            writeln!(out, "dangerous: a wrong answer can do harm")?;
        }
        Ok(())
    }

    fn foot(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Record { id, question, kept, settlement, state, .. } = self.record;
        if let Some(kept) = kept {
            writeln!(out, "\nanswered so far: {}", text::answer(kept))?;
        }
        if settlement.is_none() && *state != State::Delivering {
            let values = vec!["VALUE"; question.fields.len()].join(" ");
            writeln!(out, "\naskbridge answer {id} {values}\naskbridge reject {id}")?;
        }
        Ok(())
    }
}

fn waits(record: &Record) -> &'static str {
    if record.elsewhere { "to be answered elsewhere" } else { "in the client" }
}

fn show_field(field: &Field, out: &mut Formatter<'_>) -> fmt::Result {
    let header = field.header.as_ref().filter(|header| **header != field.label);
    let header = header.map(|header| format!("{}: ", printable_line(header))).unwrap_or_default();
    writeln!(out, "\n{header}{}", printable(&field.label))?;
    let optional = if field.required { "" } else { ", may be left out" };
    let secret = if field.secret { ", a secret" } else { "" };
    writeln!(out, "  {}: {}{secret}{optional}", printable_line(&field.name), wanted(&field.kind))?;
    if let Some(help) = &field.help {
        writeln!(out, "{}", indented(help, 2))?;
    }
    let options = field.kind.options();
    let widths = options.iter().map(|option| width(&printable_line(&option.value)));
    let columns = widths.filter(|width| *width <= LONGEST_ALIGNED).max().unwrap_or(0);
    options.iter().try_for_each(|option| show_option(option, columns, out))
}

fn show_option(option: &FieldOption, columns: usize, out: &mut Formatter<'_>) -> fmt::Result {
    let label = (option.label != option.value).then_some(&*option.label);
    let beside: Vec<_> = label.into_iter().chain(option.description.as_deref()).map(printable_line).collect();
    let value = padded(&printable_line(&option.value), columns);
    let line = format!("    {value}  {}", beside.join("  "));
    writeln!(out, "{}", line.trim_end())?;
    match &option.preview {
        Some(preview) => writeln!(out, "{}", indented(&preview.text, 8)),
        None => Ok(()),
    }
}

/// Returns what a field takes.
fn wanted(kind: &Kind) -> String {
    let default = |value: Option<String>| {
        value.map(|value| format!(", at first {}", printable_line(&value))).unwrap_or_default()
    };
    let other = if kind.takes_other() { ", or a text" } else { "" };
    match kind {
        Kind::Text { min_length, max_length, pattern, format, default: text, .. } => {
            let format = format.as_ref().map(|format| format!(" ({})", printable_line(format)));
            let pattern = pattern.as_ref().map(|pattern| format!(", that has {}", printable_line(pattern)));
            let bounds = bounds(*min_length, *max_length, " characters");
            let default = default(text.as_ref().map(|text| format!("\"{text}\"")));
            format!("a text{}{bounds}{}{default}", format.unwrap_or_default(), pattern.unwrap_or_default())
        }
        Kind::Choice { default: value, .. } => format!("one of these{other}{}", default(value.clone())),
        Kind::Choices { min, max, default: values, .. } => {
            let values = (!values.is_empty()).then(|| values.join(", "));
            let bounds = bounds(*min, *max, "");
            format!("any of these, separated by commas{other}{bounds}{}", default(values))
        }
        Kind::Boolean { default: flag } => {
            format!("yes or no{}", default(flag.map(|flag| if flag { "yes" } else { "no" }.to_owned())))
        }
        Kind::Number { integer, min, max, step, default: number } => {
            let kind = if *integer { "a whole number" } else { "a number" };
            let step = step.map(|step| format!(", a multiple of {step}")).unwrap_or_default();
            let default = default(number.map(|number| number.to_string()));
            format!("{kind}{}{step}{default}", bounds(*min, *max, ""))
        }
        Kind::Unknown(_) => "a kind of field that needs a newer askbridge".to_owned(),
        Kind::Confirm { yes, no } => format!("{} or {}", printable_line(yes), printable_line(no)),
    }
}

/// Returns the least and the most, where there are such.
fn bounds<T: Display>(least: Option<T>, most: Option<T>, unit: &str) -> String {
    let least = least.map(|least| format!(", at least {least}{unit}"));
    let most = most.map(|most| format!(", at most {most}{unit}"));
    least.into_iter().chain(most).collect()
}

/// Returns a text of several lines, each behind so many spaces.
fn indented(text: &str, spaces: usize) -> String {
    let lines: Vec<_> = text.lines().map(|line| format!("{:spaces$}{}", "", printable_line(line))).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(kind: serde_json::Value) -> String {
        wanted(&serde_json::from_value(kind).expect("a kind"))
    }

    #[test]
    fn bounds_and_defaults_of_a_field_are_said() {
        let number = json!({ "kind": "number", "integer": true, "min": 1, "max": 9, "default": 3 });
        assert_eq!(said(number), "a whole number, at least 1, at most 9, at first 3");
        let text = json!({ "kind": "text", "minLength": 2, "multiline": false });
        assert_eq!(said(text), "a text, at least 2 characters");
        assert_eq!(
            said(json!({ "kind": "confirm", "yes": "Do\nit", "no": "Leave" })),
            "Do\u{240a}it or Leave"
        );
    }

    #[test]
    fn every_line_of_a_preview_is_indented() {
        assert_eq!(indented("a\n\tb", 2), "  a\n  \u{2409}b");
    }
}
