//! One field of the current question as lines: its label, its options, and the text that is typed.
//! Pure. What stands above the fields is left to `card.rs`.

use askbridge_core::question::{Field, FieldOption, Kind, Purpose, Question};
use askbridge_os::terminal::{printable, printable_line, width};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::{
    draft::{DraftField, Row, is_many, labels},
    editor::Editor,
    lines::{CardLine, folded, hanging, lines, typed_lines},
    prose::prose,
    theme::Theme,
};
use crate::present::{
    question::wanted,
    subject::{grants, meaning},
    text,
};

/// The columns of the mark before a row with the cursor.
const MARK: usize = 2;
/// The lines of a preview that are shown below its option.
const PREVIEW: usize = 60;

/// A field, and its value.
pub(super) struct FieldView<'a> {
    pub(super) question: &'a Question,
    pub(super) field: &'a Field,
    pub(super) entry: &'a DraftField,
    pub(super) error: Option<&'a str>,
    pub(super) is_typing: bool,
    pub(super) theme: Theme,
    pub(super) columns: usize,
}

impl FieldView<'_> {
    /// Returns the lines of the field.
    pub(super) fn lines(&self) -> Vec<CardLine> {
        let mut out = Vec::new();
        let is_permission = self.question.purpose == Purpose::Permission;
        // The lines above the field have shown already what a permission is for.
        if !is_permission {
            self.label(&mut out);
        }
        for (place, row) in self.entry.rows(self.field).into_iter().enumerate() {
            let from = out.len();
            match row {
                Row::Option(option) => self.option(option, self.is_at(place), &mut out),
                Row::Other => self.other(self.is_at(place), &mut out),
                Row::Text => self.text(&self.entry.text, "", self.is_at(place), &mut out),
                Row::Null => self.null(self.is_at(place), &mut out),
                Row::Note => self.text(&self.entry.note, "Note: ", self.is_at(place), &mut out),
            }
            out[from..].iter_mut().for_each(|line| line.row = Some(place));
        }
        if let Some(error) = self.error {
            out.push(CardLine::default());
            self.paragraph(&format!("! This {error}"), 0, self.theme.danger(), &mut out);
        }
        out
    }

    fn is_at(&self, place: usize) -> bool {
        self.entry.row == Some(place)
    }

    fn paragraph(&self, text: &str, indent: usize, style: Style, out: &mut Vec<CardLine>) {
        out.extend(lines(text, indent, self.columns).into_iter().map(|line| CardLine::new(line, style)));
    }

    fn label(&self, out: &mut Vec<CardLine>) {
        let field = self.field;
        out.extend(prose(
            (&format!("label of {}", field.name), &field.label),
            self.columns,
            self.theme.strong(),
            self.theme,
        ));
        if let Some(help) = &field.help {
            out.extend(prose(
                (&format!("help of {}", field.name), help),
                self.columns,
                Style::new(),
                self.theme,
            ));
        }
        let optional = match (field.required, field.nullable) {
            (true, true) => ", blank stands for null",
            (true, false) => "",
            (false, _) => ", optional",
        };
        let secret = if field.secret { ", a secret" } else { "" };
        self.paragraph(&format!("{}{secret}{optional}", wanted(&field.kind)), 0, self.theme.muted(), out);
        out.push(CardLine::default());
    }

    fn option(&self, place: usize, is_at: bool, out: &mut Vec<CardLine>) {
        let labels = labels(self.field);
        let label = printable_line(labels.get(place).map(|label| &**label).unwrap_or_default());
        let is_chosen = self.entry.chosen.contains(&place);
        let option = self.field.kind.options().get(place);
        let start = format!("{}{} {}  ", mark(is_at), self.bullet(is_chosen), place + 1);
        let indent = width(&start);
        let detail = option.and_then(detail);
        let style = match () {
            () if is_at => self.theme.selected(!self.is_typing),
            () if is_chosen => self.theme.accent(),
            () => Style::new(),
        };
        let head = format!("{start}{label}");
        let beside = detail.as_deref().filter(|text| width(&head) + 2 + width(text) <= self.columns);
        match beside {
            Some(text) => out.push(CardLine {
                line: Line::from(vec![
                    Span::styled(head, style),
                    Span::styled(format!("  {text}"), self.theme.muted()),
                ]),
                ..CardLine::default()
            }),
            None => {
                out.extend(
                    hanging(&head, indent, self.columns).into_iter().map(|line| CardLine::new(line, style)),
                );
                if let Some(text) = &detail {
                    self.paragraph(text, indent, self.theme.muted(), out);
                }
            }
        }
        for grant in option.into_iter().flat_map(grants) {
            self.paragraph(&grant, indent, self.theme.danger(), out);
        }
        if is_at || is_chosen {
            self.preview(option, indent, out);
        }
    }

    /// Writes the preview of an option, as text in any format.
    fn preview(&self, option: Option<&FieldOption>, indent: usize, out: &mut Vec<CardLine>) {
        let Some(preview) = option.and_then(|option| option.preview.as_deref()) else { return };
        // The width of a tab depends on its place, which `width` does not know.
        let text = printable(&preview.text).replace('\t', "    ");
        let columns = self.columns.saturating_sub(indent + 2).max(8);
        let all: Vec<_> = text.lines().flat_map(|line| folded(line, 0, columns)).collect();
        let more = all.len().saturating_sub(PREVIEW);
        for line in all.iter().take(PREVIEW) {
            out.push(CardLine::new(format!("{:indent$}| {line}", ""), Style::new()));
        }
        if more > 0 {
            out.push(CardLine::new(format!("{:indent$}| … {more} more lines", ""), self.theme.muted()));
        }
    }

    fn bullet(&self, is_chosen: bool) -> &'static str {
        match (is_many(self.field), is_chosen) {
            (true, true) => "[x]",
            (true, false) => "[ ]",
            (false, true) => "(*)",
            (false, false) => "( )",
        }
    }

    fn other(&self, is_at: bool, out: &mut Vec<CardLine>) {
        let before = format!("{} Other: ", self.bullet(self.entry.is_other));
        self.text(&self.entry.other, &before, is_at, out);
    }

    fn null(&self, is_at: bool, out: &mut Vec<CardLine>) {
        let box_of = if self.entry.shows_null() { "[x]" } else { "[ ]" };
        let style = if is_at { self.theme.selected(!self.is_typing) } else { Style::new() };
        self.paragraph(&format!("{}{box_of} No value (null)", mark(is_at)), 0, style, out);
    }

    /// Writes a text that can be typed, behind its name. Further lines are aligned with the first.
    fn text(&self, editor: &Editor, before: &str, is_at: bool, out: &mut Vec<CardLine>) {
        let is_typed = is_at && self.is_typing;
        let indent = MARK + width(before);
        let columns = self.columns.saturating_sub(indent).max(4);
        let style = if is_at && !is_typed { self.theme.selected(true) } else { Style::new() };
        let is_text = before.is_empty();
        if editor.is_empty() && !is_typed {
            let hint = if is_text { self.placeholder() } else { "type a text of your own".to_owned() };
            let hint = if before.starts_with("Note") { "type a note".to_owned() } else { hint };
            let line = format!("{}{before}{hint}", mark(is_at));
            let style = if is_at { style } else { self.theme.muted() };
            return out.extend(
                folded(&line, indent, self.columns).into_iter().map(|line| CardLine::new(line, style)),
            );
        }
        let is_secret = is_text && self.field.secret;
        let (lines, (cursor_line, cursor)) = typed(editor, is_secret, columns);
        for (number, line) in lines.into_iter().enumerate() {
            let start = if number == 0 { format!("{}{before}", mark(is_at)) } else { " ".repeat(indent) };
            let column = (is_typed && number == cursor_line)
                // A column beyond the screen is moved to its edge when it is drawn.
                .then(|| u16::try_from(indent + cursor).unwrap_or(u16::MAX));
            out.push(CardLine { cursor: column, ..CardLine::new(start + &line, style) });
        }
    }

    fn placeholder(&self) -> String {
        match &self.field.kind {
            Kind::Text { placeholder: Some(text), .. } if !text.trim().is_empty() => {
                printable_line(text).into_owned()
            }
            Kind::Number { .. } => "type a number".to_owned(),
            Kind::Texts { .. } => "type a text in each line".to_owned(),
            Kind::Json { .. } => "type JSON that fits the schema".to_owned(),
            Kind::Unknown(_) => "this kind of field needs a newer askbridge".to_owned(),
            _ => "type a text".to_owned(),
        }
    }
}

fn mark(is_at: bool) -> &'static str {
    if is_at { "> " } else { "  " }
}

/// Returns the description beside an option: its effect or its meaning.
fn detail(option: &FieldOption) -> Option<String> {
    let role = option.role.as_deref().map(|role| meaning(*role));
    let description = option.description.as_deref().map(text::meant);
    let parts: Vec<_> = role.into_iter().chain(description).filter(|text| !text.trim().is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join("  "))
}

/// Returns a text as lines, with the line and the column of its cursor.
fn typed(editor: &Editor, is_secret: bool, columns: usize) -> (Vec<String>, (usize, usize)) {
    let shown = |text: &str| match is_secret {
        true => "*".repeat(text.chars().count()),
        false => printable(text).replace('\t', "    "),
    };
    let (before, behind) = editor.parts();
    // One column stays free, because the cursor may stand behind the last character of a line.
    typed_lines(&shown(before), &shown(behind), columns.saturating_sub(1).max(2))
}
