//! The list of questions as lines: by project, with what is settled below.
//! Pure. Which of them are in view is left to `layout.rs`.

use askbridge_core::desk::State;
use askbridge_os::terminal::{cut, padded, width};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::{
    event::QuestionItem,
    state::{App, ListLine, Pane},
    theme::Theme,
};
use crate::present::{
    answer::settlement,
    text::{self, short, span},
};

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

/// Returns an open question: what is asked, with marks before it and its time behind it.
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
