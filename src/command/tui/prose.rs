//! Lines of several styles: Markdown, and the subject of a permission. The latter are made once for a question and a width:
//! comparing the texts of a change takes time, and the screen is drawn at each key.
//! Pure. Which pieces a line has is left to `present`.

use anstyle::Style as Look;
use askbridge_core::{
    desk::{QuestionId, Record},
    question::Question,
};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::{
    lines::{CardLine, LINES, MEASURE, folded},
    theme::Theme,
};
use crate::present::{
    markdown,
    passage::PlacedLine,
    styled::{Piece, StyledLine, restyled},
    subject::SubjectText,
};

/// Returns a text of an agent as it is meant, at most this many columns wide. Up to its first blank line, it has this style.
/// `name` tells it from the other texts of its question.
pub(super) fn prose((name, text): (&str, &str), columns: usize, style: Style, theme: Theme) -> Vec<CardLine> {
    let mut style = style;
    let lines = markdown::placed(name, text, 0, columns);
    let line = |line: PlacedLine| {
        if line.line.is_empty() {
            style = Style::new();
        }
        let lines = folded_pieces(&line, 0, columns);
        lines.into_iter().map(|it| card_line(&it, style, theme)).collect::<Vec<_>>()
    };
    let mut out: Vec<_> = lines.into_iter().flat_map(line).take(LINES).collect();
    if out.is_empty() {
        out.push(CardLine::default());
    }
    out
}

/// Returns a line of the screen.
pub(super) fn card_line(line: &PlacedLine, style: Style, theme: Theme) -> CardLine {
    let span = |it: &Piece| Span::styled(it.text.clone(), style.patch(theme.look(it.style)));
    let of = line.of.clone();
    CardLine { line: Line::from(line.line.iter().map(span).collect::<Vec<_>>()), of, ..CardLine::default() }
}

/// The lines of the subject of one question at one width.
#[derive(Clone, Debug)]
pub(super) struct SubjectLines {
    id: QuestionId,
    edition: u32,
    columns: usize,
    whole: bool,
    /// Whether unchanged lines of a change are left out.
    pub(super) has_folds: bool,
    lines: Vec<PlacedLine>,
}

impl SubjectLines {
    /// Makes the lines of this question. If `whole`, unchanged lines of a change are not folded.
    pub(super) fn new(record: &Record, columns: usize, whole: bool) -> Self {
        SubjectLines {
            id: record.id.clone(),
            edition: record.edition,
            columns,
            whole,
            has_folds: !whole && has_folds(&record.question),
            lines: subject_lines(&record.question, columns, whole),
        }
    }

    /// Returns the lines, if they are those of this text at this width.
    pub(super) fn of(&self, record: &Record, columns: usize, whole: bool) -> Option<&[PlacedLine]> {
        let is_it = self.id == record.id && self.edition == record.edition;
        (is_it && self.columns == columns && self.whole == whole).then_some(&*self.lines)
    }
}

/// Returns the subject of a permission, as lines of at most this many columns.
pub(super) fn subject_lines(question: &Question, columns: usize, whole: bool) -> Vec<PlacedLine> {
    let about = SubjectText { question, columns: columns.min(MEASURE), colour: false, whole };
    let folded = |line: PlacedLine| {
        let text: String = line.line.iter().map(|it| &*it.text).collect();
        let indent = text.len() - text.trim_start_matches(' ').len();
        folded_pieces(&line, indent.max(4), columns)
    };
    about.lines().into_iter().flat_map(folded).collect()
}

/// Returns whether unchanged lines are folded in the changes of a permission.
pub(super) fn has_folds(question: &Question) -> bool {
    SubjectText { question, columns: MEASURE, colour: false, whole: false }.has_folds()
}

/// Folds a line at the columns, without regard to words. Further lines are indented.
fn folded_pieces(placed: &PlacedLine, indent: usize, columns: usize) -> Vec<PlacedLine> {
    let PlacedLine { line, of } = placed;
    let text: String = line.iter().map(|it| &*it.text).collect();
    let lines = folded(&text, indent, columns);
    let hang = if indent + 4 < columns { indent } else { 0 };
    let texts = lines.iter().enumerate();
    let texts = texts.map(|(place, line)| if place == 0 { &**line } else { &line[hang.min(line.len())..] });
    let mut styled: Vec<StyledLine> = restyled(texts, line);
    for line in styled.iter_mut().skip(1) {
        line.insert(0, Piece { text: " ".repeat(hang), style: Look::new() });
    }
    styled.into_iter().map(|line| PlacedLine { line, of: of.clone() }).collect()
}

#[cfg(test)]
mod tests {
    use askbridge_os::terminal::width;

    use super::*;

    fn texts(lines: &[CardLine]) -> Vec<String> {
        lines.iter().map(|line| line.line.spans.iter().map(|span| &*span.content).collect()).collect()
    }

    #[test]
    fn markdown_fits_the_screen_and_keeps_its_styles() {
        let text = "# A heading\n\n- one **two three** four\n\n```\nlet aver\u{e9}ylongline = 1;\n```";
        for columns in [10, 20, 40] {
            let lines = prose(("t", text), columns, Style::new(), Theme { colour: true });
            assert!(
                texts(&lines).iter().all(|line| width(line) <= columns),
                "{columns}: {:?}",
                texts(&lines)
            );
        }
        let lines = prose(("t", text), 40, Style::new(), Theme { colour: false });
        assert_eq!(texts(&lines)[2], "• one two three four");
        let bold = lines[2].line.spans.iter().find(|span| span.content == "two three");
        assert!(bold.is_some_and(|span| span.style == Theme { colour: false }.strong()), "{lines:?}");
    }
}
