//! Draws the whole screen from the state: a header, the list, the current question and a line of keys, and in front of
//! them the help, a confirmation or a text that is typed.
//! Pure but for the buffer that it draws into. What keys do is left to `handle.rs`.

use askbridge_core::desk::State;
use askbridge_os::terminal::{cut, padded, printable_line, width};
use ratatui::{
    Frame,
    layout::{Position, Rect},
    style::Style,
    text::{Line, Span},
    widgets::{Block, Clear, Padding, Paragraph},
};

use super::{
    card::card,
    draft::{Row, is_multiline},
    editor::Editor,
    event::QuestionItem,
    layout::Viewport,
    lines::{CardLine, lines},
    state::{App, ListLine, Modal, Pane},
    theme::Theme,
};
use crate::present::{
    answer::settlement,
    caution::WORD,
    subject,
    text::{self, short, span},
};

/// Draws the screen.
pub fn draw(app: &App, theme: Theme, frame: &mut Frame<'_>) {
    let areas = app.areas();
    frame.render_widget(Paragraph::new(header(app, theme)), areas.header);
    if let Some(area) = areas.list {
        let lines = list(app, theme, area.width.into());
        let shown: Vec<_> = lines.into_iter().skip(app.first_in_list()).take(area.height.into()).collect();
        frame.render_widget(Paragraph::new(shown), area);
    }
    if let (Some(list), Some(card)) = (areas.list, areas.card) {
        let line = vec![Line::styled("│", theme.muted()); usize::from(card.height)];
        frame.render_widget(Paragraph::new(line), Rect { x: list.width, width: 1, ..list });
    }
    if let Some(area) = areas.card {
        draw_card(app, theme, area, frame);
    }
    frame.render_widget(Paragraph::new(footer(app, theme)), areas.footer);
    draw_overlay(app, theme, frame);
}

fn draw_card(app: &App, theme: Theme, area: Rect, frame: &mut Frame<'_>) {
    let lines = card(app, theme, area.width.into());
    let Viewport { scrolled, first, height, pinned } = Viewport::new(app, lines, area.height.into());
    let below = scrolled.len().saturating_sub(first + height);
    let mut shown: Vec<_> = scrolled.into_iter().skip(first).take(height).collect();
    // Where there is hardly room, it is for the lines themselves.
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
    if let (Some((line, column)), None) = (cursor, &app.modal) {
        frame.set_cursor_position(Position::new(
            area.x + column.min(area.width.saturating_sub(1)),
            area.y + line,
        ));
    }
}

fn header(app: &App, theme: Theme) -> Line<'static> {
    let count = app.world.open.len();
    let waits = match count {
        0 => "nothing waits".to_owned(),
        1 => "1 question waits".to_owned(),
        several => format!("{several} questions wait"),
    };
    let expiring = app.world.open.iter().filter(|item| item.record.expiring).count();
    let mut spans = vec![Span::styled(" askbridge ", theme.strong()), Span::raw(format!(" {waits}"))];
    if expiring > 0 {
        spans.push(Span::styled(format!(", {expiring} will end soon"), theme.warning()));
    }
    let used: usize = spans.iter().map(|span| width(&span.content)).sum();
    if let Some(gap) = app.world.gaps.first() {
        let room = usize::from(app.size.0).saturating_sub(used + 3);
        spans.push(Span::styled(format!("  {}", cut(gap, room)), theme.warning()));
    }
    Line::from(spans)
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
    let Some(item) = app.open_item() else {
        let is_empty = app.item().is_none();
        let keys = if is_empty { vec![] } else { vec![("j/k", "move"), ("Esc", "list")] };
        return keys.into_iter().chain([("?", "keys"), ("q", "quit")]).collect();
    };
    if app.pane == Pane::List {
        return vec![
            ("Enter", "open"),
            ("j/k", "move"),
            ("s", "skip"),
            ("?", "keys"),
            ("m", "more time"),
            ("q", "quit"),
        ];
    }
    let question = &item.record.question;
    let row = app.draft().and_then(|draft| draft.row(question));
    if app.is_typing {
        let is_long = row == Some(Row::Text)
            && app.draft().and_then(|it| it.at(question)).is_some_and(|(field, _)| is_multiline(field));
        let enter = if is_long { "new line" } else { "done" };
        return vec![("Ctrl+S", "send"), ("Enter", enter), ("Esc", "stop typing"), ("Tab", "next")];
    }
    if item.is_permission() {
        let keys =
            vec![("1-9", "choose"), ("Enter", "decide"), ("s", "deny"), ("Esc", "list"), ("?", "keys")];
        return keys.into_iter().chain([("m", "more time")]).collect();
    }
    let mut keys =
        vec![("1-9", "choose"), ("Enter", "go on"), ("Ctrl+S", "send"), ("s", "skip"), ("Esc", "list")];
    if question.fields.len() > 1 {
        keys.insert(2, ("Tab", "next field"));
    }
    if question.notes {
        keys.push(("n", "note"));
    }
    keys.push(("?", "keys"));
    keys
}

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
    let from = starts.into_iter().find(|at| width(&before[*at..]) < columns).unwrap_or(before.len());
    let before = &before[from..];
    let room = columns.saturating_sub(width(before));
    let ends = behind.char_indices().map(|(at, c)| at + c.len_utf8());
    let to = ends.take_while(|end| width(&behind[..*end]) <= room).last().unwrap_or(0);
    (format!("{before}{}", &behind[..to]), width(before))
}

/// Returns the lines of the list in so many columns.
pub(super) fn list(app: &App, theme: Theme, columns: usize) -> Vec<Line<'static>> {
    let lines = app.list();
    if lines.is_empty() {
        return vec![Line::styled(" Nothing waits.", theme.strong())];
    }
    lines.iter().map(|line| drawn(app, line, theme, columns)).collect()
}

fn drawn(app: &App, line: &ListLine, theme: Theme, columns: usize) -> Line<'static> {
    match (line, app.of_line(line)) {
        (ListLine::Open(_), Some(item)) => open(app, item, theme, columns),
        (ListLine::Settled(_), Some(item)) => settled(app, item, theme, columns),
        (ListLine::Heading(name), _) => {
            Line::styled(cut(&format!(" {name}"), columns).into_owned(), theme.muted())
        }
        (_, None) => Line::default(),
    }
}

fn is_current(app: &App, item: &QuestionItem) -> bool {
    app.current.as_ref() == Some(&item.record.id)
}

/// Returns the line of an open question: its headline, with marks before it and its time behind it.
fn open(app: &App, item: &QuestionItem, theme: Theme, columns: usize) -> Line<'static> {
    let record = &item.record;
    let (time, time_style) = match (record.state == State::Delivering, record.deadline) {
        (true, _) => ("sent".to_owned(), theme.muted()),
        (_, Some(deadline)) => {
            let style = if record.expiring { theme.warning() } else { theme.muted() };
            (format!("ends {}", span(deadline.since(item.now))), style)
        }
        _ => (span(item.now.since(record.opened_at)), theme.muted()),
    };
    let is_touched = app.drafts.get(&record.id).is_some_and(|draft| draft.is_touched);
    // `>` once the question takes keys, `·` until then.
    let mark = match is_current(app, item) {
        true if app.is_fresh => "·",
        true => ">",
        false => " ",
    };
    let danger = if record.question.risk().is_dangerous() { "!" } else { " " };
    let draft = if is_touched { "*" } else { " " };
    let agent = item.agent.as_deref().map(|agent| format!("{}: ", short(agent, 20))).unwrap_or_default();
    // Where there is little room, the question is worth more than its agent.
    let agent = if columns < 60 { String::new() } else { agent };
    let room = columns.saturating_sub(width(&time) + 6);
    let text = format!("{agent}{}", text::line(&record.question.headline()));
    let text = padded(&cut(&text, room), room);
    let (style, time_style) = match is_current(app, item) {
        true => (theme.selected(app.pane == Pane::List), theme.selected(app.pane == Pane::List)),
        false => (Style::new(), time_style),
    };
    let danger_style =
        if record.question.risk().is_dangerous() && !is_current(app, item) { theme.danger() } else { style };
    Line::from(vec![
        Span::styled(mark, style),
        Span::styled(danger, danger_style),
        Span::styled(format!("{draft}{text} "), style),
        Span::styled(format!("{time} "), time_style),
    ])
}

fn settled(app: &App, item: &QuestionItem, theme: Theme, columns: usize) -> Line<'static> {
    let record = &item.record;
    let how = record.settlement.as_deref().map(|ended| settlement(&record.question, ended));
    let how = how.unwrap_or_else(|| "lost".to_owned());
    let text = format!("{}: {how}", short(&record.question.headline(), 30));
    let mark = if is_current(app, item) { ">" } else { " " };
    let style = if is_current(app, item) { theme.selected(app.pane == Pane::List) } else { theme.muted() };
    let room = columns.saturating_sub(4);
    Line::styled(format!("{mark}  {} ", padded(&cut(&text, room), room)), style)
}
