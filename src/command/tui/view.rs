//! Draws the whole screen from the state: a header, the list, the current question and a line of keys, and in front of
//! them the help, a confirmation or a text that is typed.
//! Pure but for the buffer that it draws into. What keys do is left to `handle.rs`.

use std::sync::Arc;

use askbridge_core::question::Context;
use askbridge_os::terminal::{cut, padded, printable_line, width};
use ratatui::{
    Frame,
    layout::{Position, Rect},
    style::Style,
    text::{Line, Span},
    widgets::{Block, Clear, Padding, Paragraph},
};

use super::{
    draft::{Row, is_multiline},
    editor::Editor,
    event::QuestionItem,
    layout::Viewport,
    lines::{CardLine, lines},
    list::list,
    state::{App, Modal, Pane},
    theme::Theme,
};
use crate::present::{
    caution::{WORD, asked, confirms},
    led::ContextText,
    text::short,
};

/// Draws the screen.
pub fn draw(app: &App, theme: Theme, frame: &mut Frame<'_>) {
    let areas = app.areas();
    frame.render_widget(Paragraph::new(header(app, theme)), areas.header);
    if let Some(area) = areas.list {
        let shown = list(app, theme, area.width.into(), area.height.into());
        frame.render_widget(Paragraph::new(shown), area);
    }
    if let (Some(list), Some(card)) = (areas.list, areas.card) {
        let line = vec![Line::styled("│", theme.muted()); usize::from(card.height)];
        frame.render_widget(Paragraph::new(line), Rect { x: list.width, width: 1, ..list });
    }
    if let Some(area) = areas.card {
        draw_card(app, theme, area, frame);
    }
    draw_footer(app, theme, areas.footer, frame);
    draw_overlay(app, theme, frame);
}

fn draw_card(app: &App, theme: Theme, area: Rect, frame: &mut Frame<'_>) {
    let Viewport { summary, scrolled, first, height, pinned, .. } =
        Viewport::new(app, theme, area.width.into(), area.height.into());
    let below = scrolled.len().saturating_sub(first + height);
    let mut shown = summary;
    shown.extend(scrolled.into_iter().skip(first).take(height));
    // In a very small space, no line is left for this sign.
    if below > 0
        && height > 2
        && let Some(last) = shown.last_mut()
    {
        *last = CardLine::new(format!("… {} more lines, PgDn shows them", below + 1), theme.muted());
    }
    shown.extend(pinned);
    let mut cursors = (0u16..).zip(&shown).filter_map(|(line, shown)| Some((line, shown.cursor?)));
    let cursor = cursors.next();
    let shown: Vec<_> = shown.into_iter().map(|line| line.line).collect();
    frame.render_widget(Paragraph::new(shown), area);
    // A modal in front has the cursor.
    if let (Some((line, column)), None) = (cursor, &app.modal) {
        frame.set_cursor_position(Position::new(
            area.x + column.min(area.width.saturating_sub(1)),
            area.y + line,
        ));
    }
}

fn header(app: &App, theme: Theme) -> Line<'static> {
    let waits = match (app.search.is_empty(), app.world.open.len()) {
        (false, count) => format!("{} of {count} found", app.order().len()),
        (true, 0) => "nothing waits".to_owned(),
        (true, 1) => "1 question waits".to_owned(),
        (true, several) => format!("{several} questions wait"),
    };
    let expiring = app.world.open.iter().filter(|item| item.record.expiring).count();
    let mut spans = vec![Span::styled(" askbridge ", theme.strong()), Span::raw(format!(" {waits}"))];
    if !app.search.is_empty() {
        let typed = short(app.search.text(), usize::from(app.size.0 / 3));
        spans.push(Span::styled(format!(": {typed}"), theme.accent()));
    }
    if expiring > 0 {
        spans.push(Span::styled(format!(", {expiring} will end soon"), theme.warning()));
    }
    if !app.waiting.is_empty() {
        spans.push(Span::styled(format!(", {} being sent: u takes back", app.waiting.len()), theme.accent()));
    }
    let used: usize = spans.iter().map(|span| width(&span.content)).sum();
    if let Some(gap) = app.world.gaps.first() {
        let room = usize::from(app.size.0).saturating_sub(used + 3);
        spans.push(Span::styled(format!("  {}", cut(gap, room)), theme.warning()));
    }
    Line::from(spans)
}

/// Draws the search that is typed, or else the footer.
fn draw_footer(app: &App, theme: Theme, area: Rect, frame: &mut Frame<'_>) {
    if !app.search.is_typing {
        return frame.render_widget(Paragraph::new(footer(app, theme)), area);
    }
    let keys = "  Enter list  Esc all ";
    let columns = usize::from(area.width).saturating_sub(width(keys));
    let (typed, cursor) = line_of(app.search.editor(), columns.saturating_sub(3));
    let line = vec![
        Span::styled(padded(&format!(" /{typed}"), columns), theme.strong()),
        Span::styled(keys, theme.muted()),
    ];
    frame.render_widget(Paragraph::new(Line::from(line)), area);
    let column = u16::try_from(cursor + 2).unwrap_or(u16::MAX).min(area.width.saturating_sub(1));
    frame.set_cursor_position(Position::new(area.x + column, area.y));
}

/// Returns the last result, or the keys that are of use now.
fn footer(app: &App, theme: Theme) -> Line<'static> {
    let columns = usize::from(app.size.0);
    if let Some(said) = &app.said {
        let style = if said.is_error { theme.danger() } else { theme.good() };
        return Line::styled(cut(&format!(" {}", said.text), columns).into_owned(), style);
    }
    // As many keys as there is room for, the most useful ones first.
    let mut line = String::new();
    for (key, what) in keys(app) {
        let next = format!(" {key} {what} ");
        if width(&line) + width(&next) > columns {
            break;
        }
        line += &next;
    }
    Line::styled(line, theme.muted())
}

fn keys(app: &App) -> Vec<(&'static str, &'static str)> {
    if app.pane == Pane::List {
        let found: &[_] = if app.search.is_empty() { &[] } else { &[("Esc", "all")] };
        let items: &[_] =
            if app.list().is_empty() { &[] } else { &[("Enter", "open"), ("j/k", "move"), ("/", "search")] };
        return [items, found, &[("?", "keys"), ("q", "quit")]].concat();
    }
    let Some(item) = app.open_item() else {
        return vec![("j/k", "move"), ("Esc", "list"), ("?", "keys"), ("q", "quit")];
    };
    let question = &item.record.question;
    let row = app.draft().and_then(|draft| draft.row(question));
    if app.is_typing {
        let is_long = row == Some(Row::Text)
            && app.draft().and_then(|it| it.at(question)).is_some_and(|(field, _)| is_multiline(field));
        let enter = if is_long { "new line" } else { "done" };
        return vec![("Ctrl+S", "send"), ("Enter", enter), ("Esc", "stop typing"), ("Tab", "next")];
    }
    if item.is_permission() {
        // What decides is not named while it would be taken for the rest of a line.
        let decide: &[_] = if app.is_pressed { &[] } else { &[("Enter", "decide"), ("r", "reject")] };
        let folds: &[_] = if app.has_folds() { &[("f", "unfold")] } else { &[] };
        let others: &[_] = &[("Esc", "list"), ("?", "keys"), ("m", "more time")];
        return [&[("1-9", "choose")], decide, folds, others].concat();
    }
    let mut keys =
        vec![("1-9", "choose"), ("Enter", "continue"), ("Ctrl+S", "send"), ("r", "reject"), ("Esc", "list")];
    if question.fields.len() > 1 {
        keys.insert(2, ("Tab", "next field"));
    }
    if question.notes {
        keys.push(("n", "note"));
    }
    keys.push(("?", "keys"));
    keys
}

/// The width of an overlay in columns.
const COLUMNS: u16 = 64;

/// The keys. Those that act on a question do so only in the question, not in the list.
const KEYS: [(&str, &str); 19] = [
    ("j, k", "next and previous question"),
    ("g, G", "first and last question (also Home, End)"),
    ("PgUp, PgDn", "scroll the list, or a long question"),
    ("/", "search title, project, agent, machine; Esc ends"),
    ("Enter", "open the question; take the option; send"),
    ("Esc", "stop typing; leave the question"),
    ("w", "what the agent said and did before it asked"),
    ("u", "take back what is being sent, the last first"),
    ("q, Ctrl+C", "quit; the questions stay open"),
    ("", "In a question:"),
    ("Up, Down", "move between the options"),
    ("1 to 9", "choose an option; nothing is sent by it"),
    ("Space", "choose an option, or clear it"),
    ("Tab, arrows", "next and previous field"),
    ("Ctrl+S", "send the answer (also Ctrl+Enter, Alt+Enter)"),
    ("r", "reject it, with a reason; Enter twice sends it"),
    ("n, m", "add a note to the field; 10 more minutes"),
    ("f", "show or fold the unchanged lines of a change"),
    ("*, !", "mark something typed, and what can do harm"),
];

/// A box in front of the screen: lines, and the text that is typed below them.
struct Overlay<'a> {
    title: &'a str,
    lines: Vec<(String, Style)>,
    typed: Option<&'a Editor>,
    keys: &'a str,
}

/// Returns the keys of the step that confirms. What decides is named once it counts.
fn confirming(typed: &str, is_pressed: bool) -> &'static str {
    match typed {
        _ if is_pressed => "Esc goes back",
        word if confirms(word) => "Enter confirms it, Esc goes back",
        "" => "Esc goes back",
        _ => "Only yes confirms it, Esc goes back",
    }
}

/// Draws the overlay of the modal, if one is open.
pub(super) fn draw_overlay(app: &App, theme: Theme, frame: &mut Frame<'_>) {
    let columns = usize::from(COLUMNS.min(app.size.0)).saturating_sub(4).max(1);
    let text = |text: &str, style: Style| lines(text, 0, columns).into_iter().map(move |line| (line, style));
    let front = match &app.modal {
        None => return,
        Some(Modal::Help(from)) => help(*from, columns, app.size.1),
        Some(Modal::Led(known, from)) => led(known.as_ref(), *from, columns, app.size.1),
        Some(Modal::Confirm(why, answer, typed)) => {
            let asked = app.item().map(|item| asked(&item.record.question, answer)).unwrap_or_default();
            let mut lines: Vec<_> = text(why, theme.danger()).collect();
            lines.extend(text(&asked, theme.strong()));
            lines.push((format!("Type {WORD} and press Enter to confirm:"), Style::new()));
            let keys = confirming(typed.text(), app.is_pressed);
            Overlay { title: "Are you sure?", lines, typed: Some(typed), keys }
        }
        Some(Modal::Reason(answer, typed, is_sure)) => {
            let is_permission = app.item().is_some_and(QuestionItem::is_permission);
            let title = if is_permission || answer.is_some() { "Reject it" } else { "Reject the question" };
            let lines = text(
                "The agent is told that you do not answer. Why? You may leave this empty:",
                Style::new(),
            );
            let plain = text("Why? You may leave this empty:", Style::new());
            let lines = if is_permission { plain.collect() } else { lines.collect() };
            let keys = match (is_sure, app.is_pressed) {
                // What decides is not named while it would be taken for the rest of a line.
                (true, true) => "Esc goes back",
                (true, false) => "Press Enter once more to reject it, Esc goes back",
                (false, _) => "Enter goes on, Esc goes back",
            };
            Overlay { title, lines, typed: Some(typed), keys }
        }
        Some(Modal::Empty(_)) => {
            let said = "Nothing is chosen or typed. An agent may take that for a person who does not answer.";
            let lines = text(said, Style::new()).collect();
            let keys = "Ctrl+S sends it empty, Esc goes back";
            Overlay { title: "Send an empty answer?", lines, typed: None, keys }
        }
        Some(Modal::Leave) => {
            let lines = text("You have a draft that is not sent.", Style::new()).collect();
            Overlay {
                title: "Leave the question?",
                lines,
                typed: None,
                keys: "k keep it, d discard it, Esc go back",
            }
        }
        Some(Modal::Quit) => {
            let lines = text("Drafts that you did not send are lost. The questions stay open.", Style::new());
            Overlay {
                title: "Quit?",
                lines: lines.collect(),
                typed: None,
                keys: "y quits, any other key goes back",
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
    text_in_front("Keys", all, from, height)
}

/// Returns what led to the current question.
fn led(
    led: Option<&Result<Arc<Context>, String>>,
    from: usize,
    columns: usize,
    height: u16,
) -> Overlay<'static> {
    let text = match led {
        None => "…".to_owned(),
        Some(Ok(context)) => ContextText { context, columns }.to_string(),
        Some(Err(why)) => format!("It is not known: {why}"),
    };
    let all = lines(&text, 0, columns).into_iter().map(|line| (line, Style::new())).collect();
    text_in_front("What led to this", all, from, height)
}

/// Returns a text that is scrolled to this line.
fn text_in_front(title: &str, all: Vec<(String, Style)>, from: usize, height: u16) -> Overlay<'_> {
    let room = usize::from(height).saturating_sub(4).max(1);
    let from = from.min(all.len().saturating_sub(room));
    let keys = if all.len() > room { "j, k scroll, Esc closes" } else { "Esc closes" };
    Overlay { title, lines: all.into_iter().skip(from).take(room).collect(), typed: None, keys }
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
        // With little room, the draft and the keys stay in view.
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
    // One column stays free for the cursor.
    let from = starts.into_iter().find(|at| width(&before[*at..]) < columns).unwrap_or(before.len());
    let before = &before[from..];
    let room = columns.saturating_sub(width(before));
    let ends = behind.char_indices().map(|(at, c)| at + c.len_utf8());
    let to = ends.take_while(|end| width(&behind[..*end]) <= room).last().unwrap_or(0);
    (format!("{before}{}", &behind[..to]), width(before))
}
