//! The comments on a question as lines: each below what it is about, and where all of them go. The keys are left to
//! `comments.rs`.
//! Pure.

use std::{collections::BTreeSet, sync::Arc};

use askbridge_core::question::{Question, comments};
use askbridge_os::terminal::printable_line;
use ratatui::style::Style;

use super::{
    draft::Draft,
    lines::{CardLine, lines},
    state::App,
    theme::Theme,
};
use crate::present::passage::Passage;

/// The columns of what a comment stands behind.
const MARGIN: usize = 4;

/// Returns how many comments there are, in words: `your 3 comments`.
pub(super) fn yours(count: usize) -> String {
    if count == 1 { "your comment".to_owned() } else { format!("your {count} comments") }
}

/// Returns what becomes of comments if this question is answered.
fn way(question: &Question, count: usize) -> String {
    let (goes, reaches) = if count == 1 { ("goes", "reaches") } else { ("go", "reach") };
    match comments::field(question) {
        Some(_) => format!("Y{} {goes} with your answer, and with a rejection.", &yours(count)[1..]),
        None => format!("Y{} {reaches} this agent with a rejection only.", &yours(count)[1..]),
    }
}

/// Returns what is lost if this question is answered now.
pub(super) fn lost(count: usize) -> String {
    let are = if count == 1 { "is" } else { "are" };
    format!("Y{} {are} not sent with this: only a rejection takes them.", &yours(count)[1..])
}

/// Returns the lines of a question with the comments on it, each below what it is about, and the cursor.
pub(super) fn with_comments(
    app: &App,
    draft: &Draft,
    card: Vec<CardLine>,
    question: &Question,
    theme: Theme,
    columns: usize,
) -> Vec<CardLine> {
    let mut out = Vec::with_capacity(card.len());
    let (mut shown, mut is_told) = (BTreeSet::new(), draft.comments.is_empty());
    let mut card = card.into_iter().peekable();
    while let Some(mut line) = card.next() {
        // Before what is chosen or typed: the comments whose lines are not there any more, and where all of them go.
        if line.row.is_some() && !is_told {
            is_told = true;
            out.extend(loose(draft, &shown, theme, columns));
            out.extend(paragraph(&way(question, draft.comments.len()), 0, theme.muted(), columns));
            out.push(CardLine::default());
        }
        let of = line.of.clone();
        if of.as_ref().is_some_and(|of| app.at.as_ref() == Some(&of.at)) {
            line.line = line.line.patch_style(theme.selected(true));
        }
        out.push(line);
        let is_last = |of: &&Arc<Passage>| card.peek().is_none_or(|next| next.of.as_ref() != Some(of));
        if let Some(comment) = of.as_ref().filter(is_last).and_then(|of| draft.comment_at(of)) {
            shown.insert(comment.of.at.clone());
            out.extend(said(&comment.text, theme, columns));
        }
    }
    out
}

/// Returns comments on what does not stand there: in another field, or before the question changed.
fn loose<'a>(
    draft: &'a Draft,
    shown: &'a BTreeSet<String>,
    theme: Theme,
    columns: usize,
) -> impl Iterator<Item = CardLine> + 'a {
    let loose = draft.comments.iter().filter(|comment| !shown.contains(&comment.of.at));
    loose.flat_map(move |comment| {
        let quote = comment.of.place.iter().chain([&comment.of.quote]).map(|text| printable_line(text));
        let quote = quote.collect::<Vec<_>>().join(": ");
        paragraph(&format!("> {quote}"), 0, theme.muted(), columns).chain(said(&comment.text, theme, columns))
    })
}

fn said(text: &str, theme: Theme, columns: usize) -> impl Iterator<Item = CardLine> + use<> {
    let mut said = lines(text.trim(), MARGIN, columns);
    if let Some(first) = said.first_mut() {
        *first = format!("  \u{bb} {}", first.trim_start());
    }
    said.into_iter().map(move |line| CardLine::new(line, theme.accent()))
}

fn paragraph(
    text: &str,
    indent: usize,
    style: Style,
    columns: usize,
) -> impl Iterator<Item = CardLine> + use<> {
    lines(text, indent, columns).into_iter().map(move |line| CardLine::new(line, style))
}
