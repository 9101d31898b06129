//! One question as text for a terminal: its fields, what each accepts, and how to answer.
//! Finding it is left to `command`.

use std::fmt::{self, Display, Formatter};

use anstyle::Style;
use askbridge_control::inbox::BridgeStatus;
use askbridge_core::{
    desk::{Record, State, Timestamp},
    question::{
        Field, FieldOption, Kind, Preview, PreviewFormat, Purpose, Responder,
        naming::{names, pair},
    },
};
use askbridge_os::terminal::{padded, printable, printable_line, width};

use super::{
    answer::{self, ending},
    images,
    layout::{self, wrapped},
    markdown, past,
    subject::{self, SubjectText},
    text::{self, page, span},
};

/// The widest option label that the texts beside the options are aligned to.
const LONGEST_ALIGNED: usize = 30;
/// The most columns of an agent's command, which may have a whole script in it.
const AGENT: usize = 100;
/// How far the options are indented.
pub(super) const INDENT: usize = 4;

/// A question in words.
pub struct QuestionText<'a> {
    /// The question.
    pub record: &'a Record,
    /// Its bridge, if that is known.
    pub status: Option<&'a BridgeStatus>,
    /// The current time, by the clock that the question is timed by.
    pub now: Timestamp,
    /// The columns of the terminal, at which text is wrapped.
    pub columns: usize,
    /// Whether the terminal shows colours.
    pub colour: bool,
    /// Whether unchanged lines of a change are shown as well, however many stand together.
    pub whole: bool,
}

impl Display for QuestionText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.above(out)?;
        let question = &self.record.question;
        if question.purpose == Purpose::Permission {
            writeln!(out)?;
            question.fields.iter().try_for_each(|field| self.options(field, out))?;
            self.arguments(out)?;
        } else {
            question.fields.iter().try_for_each(|field| self.field(field, true, out))?;
        }
        self.foot(out)
    }
}

/// The lines above the fields of a question: its state, the agent that asks, and the subject.
pub struct QuestionHeader<'a>(pub &'a QuestionText<'a>);

impl Display for QuestionHeader<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.0.above(out)
    }
}

/// One field of a question: its label, what it takes, and its options.
pub struct FieldText<'a>(pub &'a QuestionText<'a>, pub &'a Field);

impl Display for FieldText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let FieldText(shown, field) = self;
        if shown.record.question.purpose == Purpose::Permission {
            writeln!(out)?;
            return shown.options(field, out);
        }
        shown.field(field, false, out)
    }
}

impl QuestionText<'_> {
    /// Writes everything above the fields.
    fn above(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.head(out)?;
        let question = &self.record.question;
        let heading = question.heading();
        let is_permission = question.purpose == Purpose::Permission;
        // The command comes first: the words of the agent below it may say anything.
        if let Some(command) = subject::command(question).filter(|_| is_permission) {
            let bold = if self.colour { Style::new().bold() } else { Style::new() };
            writeln!(out, "\n{bold}{command}{bold:#}")?;
        }
        if let Some(title) = question.title.as_deref().filter(|title| *title != heading) {
            self.paragraph(title, out)?;
        }
        // A heading that an agent writes over every form says less than the labels below it, so it is left out.
        let is_formula = question.has_formula();
        // A single field with this label shows the heading already.
        let is_below = question.fields.len() == 1 && question.fields[0].label == heading && !is_permission;
        if !is_formula && !is_below && !subject::is_command(question, heading) {
            writeln!(out, "\n{}", markdown::written(heading, 0, self.columns, self.colour))?;
        }
        if is_permission {
            write!(
                out,
                "{}",
                SubjectText { question, columns: self.columns, colour: self.colour, whole: self.whole }
            )?;
        }
        question.links.iter().try_for_each(|link| self.paragraph(&page(link), out))?;
        images::lines(question).try_for_each(|image| self.paragraph(&image, out))?;
        question.unshown.iter().try_for_each(|sentence| self.paragraph(&format!("! {sentence}"), out))
    }

    /// Writes a text of several lines below an empty one.
    fn paragraph(&self, text: &str, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "\n{}", layout::indented(&printable(text), 0, self.columns))
    }

    /// Writes a printable line, wrapped and indented.
    pub(super) fn line(&self, text: &str, indent: usize, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "{:indent$}{}", "", wrapped(text, indent, indent + 2, self.columns))
    }

    fn head(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.line(&self.state(), 0, out)?;
        if let Some(used) = self.record.used.as_deref() {
            self.line(&past::used(used), 0, out)?;
        }
        for said in text::since_asked(self.record) {
            self.line(&said, 0, out)?;
        }
        let question = &self.record.question;
        let agent = question.agent.as_deref().or(self.status.map(|status| &*status.agent));
        let folder = question.place(self.status.map(|status| &*status.folder));
        if let Some(agent) = agent {
            let folder = folder.map(|folder| format!(" in {}", printable_line(folder))).unwrap_or_default();
            self.line(&format!("asked by {}{folder}", text::short(agent, AGENT)), 0, out)?;
        }
        if let Some(risk) = text::risk(question) {
            self.line(&risk, 0, out)?;
        }
        Ok(())
    }

    /// Returns the state of the question.
    fn state(&self) -> String {
        let Record { id, question, opened_at, deadline, settlement, .. } = self.record;
        match settlement {
            Some(settled) => {
                let (ended, detail) = ending(settled, Some(question), |given| answer::given(question, given));
                let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
                // The time tells how carefully a person at the client can have looked.
                let after = match (question.purpose, settled.by.responder) {
                    (Purpose::Permission, Responder::Client) if settled.reaction_ms.is_none() => {
                        format!(" after {}", text::precise(settled.at.since(*opened_at)))
                    }
                    _ => String::new(),
                };
                format!("{id}: {ended}{after}, {} ago{detail}", span(self.now.since(settled.at)))
            }
            None if self.record.state == State::Delivering => {
                format!("{id}: settled, and on its way to the agent")
            }
            None => {
                let ends = deadline.map(|deadline| format!(", ends in {}", span(deadline.since(self.now))));
                let (age, ends) = (span(self.now.since(*opened_at)), ends.unwrap_or_default());
                format!("{id}: open for {age}{ends}, waits {}", waits(self.record))
            }
        }
    }

    /// Writes a field. If `is_named`, the name that `--field` takes is included.
    fn field(&self, field: &Field, is_named: bool, out: &mut Formatter<'_>) -> fmt::Result {
        let header = field.header.as_ref().filter(|header| **header != field.label);
        let header = header.map(|header| format!("{header}: ")).unwrap_or_default();
        let label = format!("{header}{}", field.label);
        writeln!(out, "\n{}", markdown::written(&label, 0, self.columns, self.colour))?;
        let optional = if field.required { "" } else { ", optional" };
        let secret = if field.secret { ", a secret" } else { "" };
        let null = if field.nullable { ", or null" } else { "" };
        let name = if is_named { format!("{}: ", printable_line(&field.name)) } else { String::new() };
        let wanted = format!("{name}{}{null}{secret}{optional}", wanted(&field.kind));
        self.line(&wanted, 2, out)?;
        if let Some(help) = &field.help {
            writeln!(out, "{}", markdown::written(help, 2, self.columns, self.colour))?;
        }
        if let Kind::Json { schema } = &field.kind {
            writeln!(out, "{}", layout::indented(&schema_text(schema), INDENT, usize::MAX))?;
        }
        self.options(field, out)
    }

    fn options(&self, field: &Field, out: &mut Formatter<'_>) -> fmt::Result {
        let options = field.kind.options();
        let names = names(options);
        let widths = names.iter().map(|name| width(&printable_line(name)));
        let label = widths.filter(|width| *width <= LONGEST_ALIGNED).max().unwrap_or(0);
        let number = options.len().to_string().len();
        // A value that differs from its label only in case adds nothing, since an answer may use either: but where one option
        // has its value beside it, all have.
        let has_values = options.iter().any(|it| it.value.to_lowercase() != it.label.to_lowercase());
        let mut places = (1..).zip(options.iter().zip(&names));
        places.try_for_each(|(place, (option, name))| {
            writeln!(
                out,
                "{:INDENT$}{place:>number$}  {}",
                "",
                self.option(option, (name, has_values), INDENT + number + 2, label)
            )?;
            let indent = INDENT + number + 2;
            subject::grants(option).try_for_each(|line| self.line(&line, indent, out))?;
            option.preview.as_ref().map_or(Ok(()), |preview| self.preview(preview, out))
        })
    }

    /// Returns the text of an option, under the name by which it differs from the others, with its value beside it or not.
    /// `start` is the column behind its number.
    fn option(
        &self,
        option: &FieldOption,
        (name, has_value): (&str, bool),
        start: usize,
        label_columns: usize,
    ) -> String {
        // What tells two options of one label apart may be the value already.
        let value = has_value.then_some(&*option.value).filter(|value| !has_word(name, value));
        let role = option.role.as_deref().map(|role| subject::meaning(*role));
        // The meaning of the role says more to a person than the value.
        let value = value.filter(|_| role.is_none());
        let beside: Vec<_> = value
            .into_iter()
            .map(|text| printable_line(text).into_owned())
            .chain(option.description.as_deref().map(text::meant))
            .chain(role.as_deref().map(|text| printable_line(text).into_owned()))
            .collect();
        let label = printable_line(name);
        if beside.is_empty() {
            return wrapped(&label, start, start, self.columns);
        }
        let beside = beside.join("  ");
        let (label, column) = (padded(&label, label_columns), start + label_columns + 2);
        // On a wide terminal, the text beside the labels is aligned in a column.
        if width(&label) > label_columns || column + layout::LEAST > self.columns {
            return wrapped(&format!("{label}  {beside}"), start, start, self.columns);
        }
        format!("{label}  {}", wrapped(&beside, column, column, self.columns))
    }

    fn preview(&self, preview: &Preview, out: &mut Formatter<'_>) -> fmt::Result {
        let (text, indent) = (&preview.text, 2 * INDENT);
        let shown = match preview.format {
            PreviewFormat::Markdown => markdown::written(text, indent, self.columns, self.colour),
            PreviewFormat::Text => layout::indented(&printable(text), indent, self.columns),
            // A line break would change the meaning of source code.
            _ => layout::indented(&printable(text), indent, usize::MAX),
        };
        writeln!(out, "{shown}")
    }
}

/// Returns whether a text has another one as a word of its own, and not within a longer word.
fn has_word(text: &str, word: &str) -> bool {
    word.is_empty()
        || text.match_indices(word).any(|(start, _)| {
            let beside = [text[..start].chars().next_back(), text[start + word.len()..].chars().next()];
            beside.into_iter().flatten().all(|char| !char.is_alphanumeric())
        })
}

/// Returns where the question can be answered, in words for a user who may not know that there is a client.
fn waits(record: &Record) -> &'static str {
    if record.elsewhere { "for an answer" } else { "for an answer here or in its client" }
}

/// Returns the values that a field accepts, on one printable line.
pub fn wanted(kind: &Kind) -> String {
    let default = |value: Option<String>| {
        value.map(|value| format!(", default {}", printable_line(&value))).unwrap_or_default()
    };
    let label = |value: &String| {
        let place = kind.options().iter().position(|option| option.value == *value);
        let name = place.and_then(|place| names(kind.options()).into_iter().nth(place));
        name.map_or_else(|| value.clone(), |name| name.into_owned())
    };
    let other = if kind.takes_other() { ", or a text" } else { "" };
    match kind {
        Kind::Text { min_length, max_length, pattern, format, default: text, .. } => {
            let format = format.as_ref().map(|format| format!(" ({})", printable_line(format)));
            let pattern = pattern.as_ref().map(|pattern| format!(", matches {}", printable_line(pattern)));
            let bounds = bounds(*min_length, *max_length, " characters");
            let default = default(text.as_ref().map(|text| format!("\"{text}\"")));
            format!("a text{}{bounds}{}{default}", format.unwrap_or_default(), pattern.unwrap_or_default())
        }
        Kind::Choice { default: value, .. } => {
            format!("one of these{other}{}", default(value.as_ref().map(label)))
        }
        Kind::Choices { min, max, default: values, .. } => {
            let values =
                (!values.is_empty()).then(|| values.iter().map(label).collect::<Vec<_>>().join(", "));
            let bounds = bounds(*min, *max, "");
            format!("any of these, separated by commas{other}{bounds}{}", default(values))
        }
        Kind::Boolean { default: flag } => {
            format!("yes or no{}", default(flag.map(|flag| if flag { "yes" } else { "no" }.to_owned())))
        }
        Kind::Texts { min, max, min_length, max_length, pattern, format, default: texts, .. } => {
            let format = format.as_ref().map(|format| format!(" ({})", printable_line(format)));
            let pattern =
                pattern.as_ref().map(|pattern| format!(", each matches {}", printable_line(pattern)));
            let (bounds, each) =
                (bounds(*min, *max, ""), bounds(*min_length, *max_length, " characters each"));
            let (format, pattern) = (format.unwrap_or_default(), pattern.unwrap_or_default());
            let default = default((!texts.is_empty()).then(|| texts.join(", ")));
            format!("texts{format}, separated by commas{bounds}{each}{pattern}{default}")
        }
        Kind::Json { .. } => "JSON that fits this schema".to_owned(),
        Kind::Number { integer, min, max, exclusive_min, exclusive_max, step, default: number } => {
            let kind = if *integer { "a whole number" } else { "a number" };
            let above = exclusive_min.map(|min| format!(", more than {min}"));
            let below = exclusive_max.map(|max| format!(", less than {max}"));
            let exclusive: String = above.into_iter().chain(below).collect();
            let step = step.map(|step| format!(", a multiple of {step}")).unwrap_or_default();
            let default = default(number.map(|number| number.to_string()));
            format!("{kind}{}{exclusive}{step}{default}", bounds(*min, *max, ""))
        }
        Kind::Unknown(_) => "a kind of field that needs a newer askbridge".to_owned(),
        Kind::Confirm { yes, no } => {
            pair(yes, no).map(|word| printable_line(&word).into_owned()).join(" or ")
        }
    }
}

/// The most characters of a schema that a terminal shows.
const SCHEMA: usize = 8000;

/// Returns a schema over several lines, for a terminal.
pub fn schema_text(schema: &serde_json::Value) -> String {
    // A schema came from JSON, so writing it cannot fail.
    let text = serde_json::to_string_pretty(schema).unwrap_or_default();
    let text = match text.char_indices().nth(SCHEMA) {
        Some((end, _)) => format!("{}…\n(cut: `askbridge show --json` has all of it)", &text[..end]),
        None => text,
    };
    printable(&text).into_owned()
}

/// Returns the bounds that exist, as text.
fn bounds<T: Display>(least: Option<T>, most: Option<T>, unit: &str) -> String {
    let least = least.map(|least| format!(", at least {least}{unit}"));
    let most = most.map(|most| format!(", at most {most}{unit}"));
    least.into_iter().chain(most).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(kind: serde_json::Value) -> String {
        wanted(&serde_json::from_value(kind).expect("a kind"))
    }

    #[test]
    fn a_letter_within_a_word_is_no_word() {
        for (text, word, has) in [
            ("Medium (2 CPUs)", "m", false),
            ("Postgres (pg)", "pg", true),
            ("m", "m", true),
            ("Ärm", "m", false),
        ] {
            assert_eq!(has_word(text, word), has, "{text} {word}");
        }
    }

    #[test]
    fn bounds_and_defaults_of_a_field_are_said() {
        let number = json!({ "kind": "number", "integer": true, "min": 1, "max": 9, "default": 3 });
        assert_eq!(said(number), "a whole number, at least 1, at most 9, default 3");
        let text = json!({ "kind": "text", "minLength": 2, "multiline": false });
        assert_eq!(said(text), "a text, at least 2 characters");
        assert_eq!(
            said(json!({ "kind": "confirm", "yes": "Do\nit", "no": "Leave" })),
            "Do\u{240a}it or Leave"
        );
    }
}
