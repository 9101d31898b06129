//! Draws the whole screen from the state: a header, the list, the current question, and a line of keys.
//! Pure but for the buffer that it draws into. What stands in front is left to `overlay.rs`.

use ratatui::{
    Frame,
    layout::{Position, Rect},
    text::{Line, Span},
    widgets::Paragraph,
};

use super::{
    card::card,
    draft::{Row, is_multiline},
    layout::Viewport,
    line::CardLine,
    list::list,
    overlay,
    state::{App, Pane},
    theme::Theme,
};
use crate::terminal::{cut, width};

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
    overlay::draw_overlay(app, theme, frame);
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

/// Returns what was said last, or the keys that are of use now.
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
