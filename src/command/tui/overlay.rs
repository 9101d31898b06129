//! What is drawn in front of the screen: the keys, what led to a question, a confirmation, or a text that is typed.
//! Pure but for the buffer that it draws into. What keys do there is left to `modal_keys.rs`.

use std::sync::Arc;

use askbridge_core::question::Context;
use askbridge_os::terminal::{cut, printable_line, width};
use ratatui::{
    Frame,
    layout::{Position, Rect},
    style::Style,
    text::Line,
    widgets::{Block, Clear, Padding, Paragraph},
};

use super::{
    commented::yours,
    editor::Editor,
    event::QuestionItem,
    group::{self, Together},
    lines::lines,
    state::{App, Modal},
    theme::Theme,
};
use crate::{
    command::tui::proposed_rule::ProposedRule,
    present::{
        alike,
        caution::{WORD, asked, confirms},
        led::ContextText,
        passage::Passage,
    },
};

/// The width of an overlay in columns.
const COLUMNS: u16 = 64;

/// The keys. Those that act on a question do so only in the question, not in the list.
const KEYS: [(&str, &str); 24] = [
    ("j, k", "next and previous question"),
    ("g, G", "first and last question (also Home, End)"),
    ("PgUp, PgDn", "scroll the list, or a long question"),
    ("/", "search title, project, agent, machine; Esc ends"),
    ("Enter", "open the question; take the option; send"),
    ("Esc", "stop typing; leave the question"),
    ("w", "what the agent said and did before it asked"),
    ("i", "the images of the question, one by one"),
    ("u", "take back what is being sent, the last first"),
    ("m", "make a rule of the last decision about a permission"),
    ("q, Ctrl+C", "quit; the questions stay open"),
    ("", "In a question:"),
    ("Up, Down", "move between the options"),
    ("1 to 9", "choose an option; nothing is sent by it"),
    ("Space", "choose an option, or clear it"),
    ("Tab, arrows", "next and previous field"),
    ("Ctrl+S", "send the answer (also Ctrl+Enter, Alt+Enter)"),
    ("r", "reject it, with a reason; Enter twice sends it"),
    ("c", "comment on a line of it; the comments go with what you send"),
    ("a", "list the open permissions like it, to decide all of them"),
    ("l", "set it aside until a time, or bring it back"),
    ("n, t", "add a note to the field; 10 more minutes"),
    ("f", "show or fold the unchanged lines of a change"),
    ("*, !", "mark something typed, and what can do harm"),
];

/// A box in front of the screen: lines, and the text that is typed below them.
pub(super) struct Overlay<'a> {
    pub(super) title: &'a str,
    pub(super) lines: Vec<(String, Style)>,
    pub(super) typed: Option<&'a Editor>,
    pub(super) keys: &'a str,
    /// Its width at most, in columns.
    pub(super) most: u16,
}

/// Returns the keys of the step that confirms. What decides is named once it counts.
pub(super) fn confirming(typed: &str, is_pressed: bool) -> &'static str {
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
        Some(Modal::Image(view)) => {
            return app.item().map_or((), |item| view.draw(&item.record, theme, frame));
        }
        Some(Modal::Help(from)) => help(*from, columns, app.size.1),
        Some(Modal::Led(known, from)) => led(known.as_ref(), *from, columns, app.size.1),
        Some(Modal::Confirm(why, answer, typed)) => {
            let asked = app.item().map(|item| asked(&item.record.question, answer)).unwrap_or_default();
            let mut lines: Vec<_> = text(why, theme.danger()).collect();
            lines.extend(text(&asked, theme.strong()));
            lines.push((format!("Type {WORD} and press Enter to confirm:"), Style::new()));
            let keys = confirming(typed.text(), app.is_pressed);
            Overlay { title: "Are you sure?", lines, typed: Some(typed), keys, most: COLUMNS }
        }
        Some(Modal::Together(list)) => together(list, app, theme),
        Some(Modal::Rule(_, rule, from)) => proposed(rule.as_ref(), *from, columns, app.size.1),
        Some(Modal::Comment(of, typed)) => comment(of, typed, columns, theme),
        Some(Modal::Reason(answer, typed, is_sure)) => {
            reason(app, answer.is_some(), typed, *is_sure, columns)
        }
        Some(Modal::Later(typed)) => {
            let said = "Until when? 30m, 2h, 14:00 or tomorrow. It stands last until then, and can be answered all the time.";
            sentence("Later", said, Some(typed), "Enter sets it aside, Esc goes back", columns)
        }
        Some(Modal::Empty(_)) => {
            let said = "Nothing is chosen or typed. An agent may take that for a person who does not answer.";
            sentence("Send an empty answer?", said, None, "Ctrl+S sends it empty, Esc goes back", columns)
        }
        Some(Modal::Leave) => {
            let said = "You have a draft that is not sent.";
            sentence("Leave the question?", said, None, "k keep it, d discard it, Esc go back", columns)
        }
        Some(Modal::Quit) => {
            let said = "Drafts that you did not send are lost. The questions stay open.";
            sentence("Quit?", said, None, "y quits, any other key goes back", columns)
        }
    };
    front.draw(app.size, theme, frame);
}

/// Returns a sentence, and what is typed below it.
fn sentence<'a>(
    title: &'a str,
    said: &str,
    typed: Option<&'a Editor>,
    keys: &'a str,
    columns: usize,
) -> Overlay<'a> {
    let lines = lines(said, 0, columns).into_iter().map(|line| (line, Style::new())).collect();
    Overlay { title, lines, typed, keys, most: COLUMNS }
}

/// Returns a comment, as it is typed, below what it is about.
fn comment<'a>(of: &Passage, typed: &'a Editor, columns: usize, theme: Theme) -> Overlay<'a> {
    let quoted = of.place.iter().map(String::as_str).chain(of.quote.lines());
    let line =
        |line: &str| (cut(&format!("> {}", printable_line(line)), columns).into_owned(), theme.muted());
    Overlay {
        title: "Comment",
        lines: quoted.map(line).collect(),
        typed: Some(typed),
        keys: "Enter keeps it, Esc too",
        most: COLUMNS,
    }
}

/// Returns the reason of a rejection, as it is typed.
fn reason<'a>(app: &App, has_answer: bool, typed: &'a Editor, is_sure: bool, columns: usize) -> Overlay<'a> {
    let is_permission = app.item().is_some_and(QuestionItem::is_permission);
    let title = if is_permission || has_answer { "Reject it" } else { "Reject the question" };
    let told = if is_permission { "" } else { "The agent is told that you do not answer. " };
    let with = match app.comments().len() {
        0 => String::new(),
        count => format!("It goes with {}. ", yours(count)),
    };
    let said = lines(&format!("{told}{with}Why? You may leave this empty:"), 0, columns);
    let keys = match (is_sure, app.is_pressed) {
        // What decides is not named while it would be taken for the rest of a line.
        (true, true) => "Esc goes back",
        (true, false) => "Press Enter once more to reject it, Esc goes back",
        (false, _) => "Enter goes on, Esc goes back",
    };
    let lines = said.into_iter().map(|line| (line, Style::new())).collect();
    Overlay { title, lines, typed: Some(typed), keys, most: COLUMNS }
}

/// Returns the list of like permissions.
fn together<'a>(list: &'a Together, app: &App, theme: Theme) -> Overlay<'a> {
    let (columns, room) = app.list_room();
    let lines = list.lines(columns).into_iter().skip(list.from).take(room);
    let mut lines: Vec<_> = lines.map(|line| (line, Style::new())).collect();
    for (number, allows, what) in [(1, true, "Allow"), (2, false, "Reject")] {
        let is_chosen = list.allows == Some(allows);
        let (bullet, style) = if is_chosen { ("(*)", theme.accent()) } else { ("( )", Style::new()) };
        lines.push((format!("{bullet} {number}  {what} {}", alike::all(list.count())), style));
    }
    let keys = match &list.typed {
        Some(typed) => {
            lines.push((format!("Type {WORD} and press Enter to confirm:"), theme.danger()));
            confirming(typed.text(), app.is_pressed)
        }
        None if app.is_pressed || list.allows.is_none() => "1-2 choose  Esc goes back  j, k scroll",
        None => "Enter decide  Esc goes back  j, k scroll",
    };
    Overlay { title: "Like this", lines, typed: list.typed.as_ref(), keys, most: group::COLUMNS }
}

/// Returns the rule that would be made of a decision.
fn proposed(
    rule: Option<&Result<ProposedRule, String>>,
    from: usize,
    columns: usize,
    height: u16,
) -> Overlay<'static> {
    let text = match rule {
        None => "…".to_owned(),
        Some(Ok(rule)) => {
            let when = "It decides about what opens from now on.";
            format!(
                "{}\n{}\n{when} It is written to {}, below all other rules.",
                rule.toml, rule.tried, rule.path
            )
        }
        Some(Err(why)) => format!("No rule can be made of it: {why}"),
    };
    let all = lines(&text, 0, columns).into_iter().map(|line| (line, Style::new())).collect();
    let shown = text_in_front("Make a rule of this", all, from, height);
    let keys =
        if matches!(rule, Some(Ok(_))) { "Enter writes it, j, k scroll, Esc goes back" } else { shown.keys };
    Overlay { keys, ..shown }
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
    Overlay {
        title,
        lines: all.into_iter().skip(from).take(room).collect(),
        typed: None,
        keys,
        most: COLUMNS,
    }
}

impl Overlay<'_> {
    fn draw(self, (columns, height): (u16, u16), theme: Theme, frame: &mut Frame<'_>) {
        let typed =
            self.typed.map(|typed| line_of(typed, usize::from(self.most.min(columns)).saturating_sub(7)));
        let mut drawn: Vec<_> =
            self.lines.into_iter().map(|(text, style)| Line::styled(text, style)).collect();
        if let Some((line, _)) = &typed {
            drawn.push(Line::styled(format!("> {line}"), theme.strong()));
        }
        let typed_line = drawn.len();
        drawn.push(Line::styled(self.keys.to_owned(), theme.muted()));
        let wanted = u16::try_from(drawn.len()).unwrap_or(u16::MAX).saturating_add(2);
        let (width, lines) = (self.most.min(columns), wanted.min(height));
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
pub(super) fn line_of(typed: &Editor, columns: usize) -> (String, usize) {
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
