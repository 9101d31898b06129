//! What stands in front of the screen: the keys, a confirmation, a reason, and what becomes of a draft.
//! Pure but for the buffer that it draws into. What keys do there is left to `handle.rs`.

use ratatui::{
    Frame,
    layout::{Position, Rect},
    style::Style,
    text::Line,
    widgets::{Block, Clear, Padding, Paragraph},
};

use super::{
    editor::Editor,
    event::QuestionItem,
    state::{App, Modal},
    theme::Theme,
    wrapped::lines,
};
use crate::{
    form::caution::WORD,
    present::subject,
    terminal::{printable_line, width},
};

/// The columns of what stands in front.
const COLUMNS: u16 = 64;

/// The keys, as the page has them, and what a terminal needs beside.
const KEYS: [(&str, &str); 16] = [
    ("j, k", "next and previous question"),
    ("Up, Down", "move in the list, or between the options"),
    ("Enter", "open the question; take the option and go on; send"),
    ("1 to 9", "choose an option; nothing is sent by it"),
    ("Space", "choose an option, or clear it"),
    ("Tab, arrows", "next and previous field"),
    ("Ctrl+S", "send the answer (also Ctrl+Enter, Alt+Enter)"),
    ("s", "skip the question, or deny the permission"),
    ("n", "add a note to the field"),
    ("m", "10 more minutes"),
    ("PgUp, PgDn", "scroll a long question"),
    ("Esc", "stop typing; leave the question"),
    ("q, Ctrl+C", "quit; the questions stay open"),
    ("?", "these keys"),
    ("*", "marks a question with something typed"),
    ("!", "marks what can do harm"),
];

/// Lines, and the text that is typed below them.
struct Overlay<'a> {
    title: &'a str,
    lines: Vec<(String, Style)>,
    typed: Option<&'a Editor>,
    keys: &'a str,
}

/// Draws what stands in front, if anything does.
pub(super) fn draw_overlay(app: &App, theme: Theme, frame: &mut Frame<'_>) {
    let columns = usize::from(COLUMNS.min(app.size.0)).saturating_sub(4).max(1);
    let text = |text: &str, style: Style| lines(text, 0, columns).into_iter().map(move |line| (line, style));
    let front = match &app.modal {
        None => return,
        Some(Modal::Help(from)) => help(*from, columns, app.size.1),
        Some(Modal::Confirm(why, _, typed)) => {
            let asked = app.item().map(|item| &item.record.question);
            let asked = asked.map(|it| subject::command(it).unwrap_or_else(|| it.headline().into_owned()));
            let asked = asked.unwrap_or_default();
            let mut lines: Vec<_> = text(why, theme.danger()).collect();
            lines.extend(text(&asked, Style::new()).take(4));
            lines.push((format!("Type {WORD} and press Enter to go on:"), Style::new()));
            Overlay { title: "Are you sure?", lines, typed: Some(typed), keys: "Esc goes back" }
        }
        Some(Modal::Reason(answer, typed)) => {
            let is_permission = app.item().is_some_and(QuestionItem::is_permission);
            let title = if is_permission || answer.is_some() { "Deny it" } else { "Skip the question" };
            let lines = text(
                "The agent is told that you do not answer. Why? You may leave this empty:",
                Style::new(),
            );
            let denied = text("Why? You may leave this empty:", Style::new());
            let lines = if is_permission { denied.collect() } else { lines.collect() };
            Overlay { title, lines, typed: Some(typed), keys: "Enter sends, Esc goes back" }
        }
        Some(Modal::Leave) => {
            let lines = text("You typed something that is not sent.", Style::new()).collect();
            Overlay {
                title: "Leave the question?",
                lines,
                typed: None,
                keys: "k keep it, d discard it, Esc go back",
            }
        }
        Some(Modal::Quit) => {
            let lines =
                text("What you typed and did not send is lost. The questions stay open.", Style::new());
            Overlay {
                title: "Quit?",
                lines: lines.collect(),
                typed: None,
                keys: "y quit, any other key goes back",
            }
        }
    };
    front.draw(app.size, theme, frame);
}

fn help(from: usize, columns: usize, height: u16) -> Overlay<'static> {
    let column = KEYS.iter().map(|(key, _)| width(key)).max().unwrap_or_default() + 2;
    let all: Vec<_> = KEYS
        .iter()
        .flat_map(|(key, what)| {
            let mut said = lines(what, column, columns);
            if let Some(first) = said.first_mut() {
                *first = format!("{key:column$}{}", first.trim_start());
            }
            said
        })
        .map(|line| (line, Style::new()))
        .collect();
    let room = usize::from(height).saturating_sub(4).max(1);
    let from = from.min(all.len().saturating_sub(room));
    let keys = if all.len() > room { "j, k scroll, Esc closes" } else { "Esc closes" };
    Overlay { title: "Keys", lines: all.into_iter().skip(from).take(room).collect(), typed: None, keys }
}

impl Overlay<'_> {
    fn draw(self, (columns, height): (u16, u16), theme: Theme, frame: &mut Frame<'_>) {
        let typed =
            self.typed.map(|typed| line_of(typed, usize::from(COLUMNS.min(columns)).saturating_sub(7)));
        let mut drawn: Vec<_> =
            self.lines.into_iter().map(|(text, style)| Line::styled(text, style)).collect();
        if let Some((line, _)) = &typed {
            drawn.push(Line::styled(format!("> {line}"), theme.strong()));
        }
        let typed_line = drawn.len();
        drawn.push(Line::styled(self.keys.to_owned(), theme.muted()));
        let wanted = u16::try_from(drawn.len()).unwrap_or(u16::MAX).saturating_add(2);
        let (width, lines) = (COLUMNS.min(columns), wanted.min(height));
        let area = Rect::new((columns - width) / 2, (height - lines) / 2, width, lines);
        // Where there is little room, what is typed and the keys stay in view.
        let skipped = drawn.len().saturating_sub(usize::from(lines.saturating_sub(2)));
        let block = Block::bordered().title(format!(" {} ", self.title));
        let block = block.padding(Padding::horizontal(1));
        let inner = block.inner(area);
        frame.render_widget(Clear, area);
        frame.render_widget(Paragraph::new(drawn.split_off(skipped)).block(block), area);
        if let Some((_, cursor)) = typed {
            let line = u16::try_from((typed_line - 1).saturating_sub(skipped)).unwrap_or_default();
            let column = inner.x + 2 + u16::try_from(cursor).unwrap_or_default();
            frame.set_cursor_position(Position::new(column.min(inner.right()), inner.y + line));
        }
    }
}

/// Returns as much of a text as fits around its cursor, on one line, and the column of the cursor.
fn line_of(typed: &Editor, columns: usize) -> (String, usize) {
    let (before, behind) = typed.parts();
    let (before, behind) = (printable_line(before), printable_line(behind));
    let starts = before.char_indices().map(|(at, _)| at).chain([before.len()]);
    let from = starts.into_iter().find(|at| width(&before[*at..]) < columns).unwrap_or(before.len());
    let before = &before[from..];
    let room = columns.saturating_sub(width(before));
    let ends = behind.char_indices().map(|(at, c)| at + c.len_utf8());
    let to = ends.take_while(|end| width(&behind[..*end]) <= room).last().unwrap_or(0);
    (format!("{before}{}", &behind[..to]), width(before))
}
