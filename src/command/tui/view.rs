//! Draws the whole screen from the state: a header, the list, the current question and a line of keys.
//! Pure but for the buffer that it draws into. What stands in front is left to `overlay.rs`, what keys do to `handle.rs`.

use askbridge_os::terminal::{cut, padded, width};
use ratatui::{
    Frame,
    layout::{Position, Rect},
    text::{Line, Span},
    widgets::Paragraph,
};

use super::{
    draft::{Row, is_multiline},
    layout::Viewport,
    lines::CardLine,
    list::list,
    overlay::{draw_overlay, line_of},
    state::{App, Pane},
    theme::Theme,
};
use crate::present::text::short;

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
    let aside = app.aside();
    let waits = match (app.search.is_empty(), app.world.open.len() - aside) {
        (false, _) => format!("{} of {} found", app.order().len(), app.world.open.len()),
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
    if aside > 0 {
        spans.push(Span::styled(format!(", {aside} later"), theme.muted()));
    }
    if expiring > 0 {
        spans.push(Span::styled(format!(", {expiring} will end soon"), theme.warning()));
    }
    if !app.waiting.is_empty() {
        spans.push(Span::styled(format!(", {} being sent: u takes back", app.waits()), theme.accent()));
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
    if app.at.is_some() {
        return vec![("Enter", "write a comment"), ("Esc", "done"), ("j/k", "move"), ("x", "remove")];
    }
    if item.is_permission() {
        // What decides is not named while it would be taken for the rest of a line.
        let decide: &[_] = if app.is_pressed { &[] } else { &[("Enter", "decide"), ("r", "reject")] };
        let folds: &[_] = if app.has_folds() { &[("f", "unfold")] } else { &[] };
        let others: &[_] = &[
            ("Esc", "list"),
            ("?", "keys"),
            ("a", "all like it"),
            ("c", "comment"),
            ("l", "later"),
            ("t", "more time"),
        ];
        return [&[("1-9", "choose")], decide, folds, others].concat();
    }
    let mut keys =
        vec![("1-9", "choose"), ("Enter", "continue"), ("Ctrl+S", "send"), ("r", "reject"), ("Esc", "list")];
    if question.fields.len() > 1 {
        keys.insert(2, ("Tab", "next field"));
    }
    keys.push(("?", "keys"));
    if question.notes {
        keys.push(("n", "note"));
    }
    keys.extend([("c", "comment"), ("l", "later")]);
    keys
}
