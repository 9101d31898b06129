//! Texts of agents as Markdown, for a terminal. Parts of lines are left to `styled.rs`, tables to `table.rs`.

use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use askbridge_markdown::{Block, BlockKind, CodePart, Document, Inline, Item, Row, read};
use askbridge_os::terminal::{printable, printable_line, width};

use super::{
    layout,
    passage::{Passage, PlacedLine},
    styled::{Piece, StyledLine, Token, code_lines, coloured, piece, pieces, wrap},
    table,
};

/// The spaces before code.
const CODE: &str = "  ";

/// Returns a text as lines that are indented, and wrapped at these columns, each with the part that it belongs to. `name`
/// tells the text from the others of its question.
pub fn placed(name: &str, text: &str, indent: usize, columns: usize) -> Vec<PlacedLine> {
    let margin = " ".repeat(indent);
    let mut writer = Writer { name, columns, heading: None, at: None, out: Vec::new() };
    match read(text) {
        Document::Blocks(blocks) => writer.blocks(&blocks, &margin, &margin, false),
        Document::Source(why) => {
            let note = format!("(shown as it was written: {why})");
            let source = layout::indented(&format!("{note}\n{}", printable(text)), indent, columns);
            for (place, line) in source.lines().enumerate() {
                let of = (place > 0 && !line.trim().is_empty()).then(|| Passage::new(name, place, line));
                let line = vec![piece(line, Style::new())];
                writer.out.push(PlacedLine { line, of: of.map(Arc::new) });
            }
        }
    }
    writer.out
}

/// Returns a text as the lines of a terminal, without a line break at the end. In a pipe, which has no columns, it is as
/// it was written.
pub fn written(text: &str, indent: usize, columns: usize, colour: bool) -> String {
    if columns == usize::MAX {
        return layout::indented(&printable(text), indent, columns);
    }
    let line = |it: PlacedLine| it.line.iter().map(|it| styled(it, colour)).collect::<String>();
    placed("", text, indent, columns).into_iter().map(line).collect::<Vec<_>>().join("\n")
}

fn styled(Piece { text, style }: &Piece, colour: bool) -> String {
    if colour && !style.is_plain() { format!("{style}{text}{style:#}") } else { text.clone() }
}

/// Writes the blocks of a text, line by line.
struct Writer<'a> {
    name: &'a str,
    columns: usize,
    /// The heading above what is being written.
    heading: Option<String>,
    /// The part that is being written.
    at: Option<Arc<Passage>>,
    out: Vec<PlacedLine>,
}

impl Writer<'_> {
    /// Writes blocks. The first line begins with `first`, the others with `rest`: bars of quotes, and spaces.
    fn blocks(&mut self, blocks: &[Block], first: &str, rest: &str, is_item: bool) {
        for (place, block) in blocks.iter().enumerate() {
            let is_close = is_item && matches!(block.kind, BlockKind::List { .. });
            if place > 0 && !is_close {
                self.blank(rest);
            }
            let text = own_text(&block.kind);
            if matches!(block.kind, BlockKind::Heading { .. }) {
                self.heading = None;
            }
            self.at = text.as_deref().map(|text| self.passage(block.lines[0], text));
            if matches!(block.kind, BlockKind::Heading { .. }) {
                self.heading = text;
            }
            self.block(&block.kind, if place == 0 { first } else { rest }, rest);
            self.at = None;
        }
        if blocks.is_empty() && is_item {
            self.blank(first);
        }
    }

    /// Returns the part that begins on this line.
    fn passage(&self, line: usize, text: &str) -> Arc<Passage> {
        Arc::new(Passage::new(self.name, line, text).below(self.heading.as_deref()))
    }

    /// Writes a line with nothing but its margin.
    fn blank(&mut self, margin: &str) {
        self.out.push(vec![piece(margin.trim_end(), Style::new())].into());
    }

    fn block(&mut self, kind: &BlockKind, first: &str, rest: &str) {
        match kind {
            BlockKind::Paragraph { children } => self.text(children, Style::new(), first, rest),
            BlockKind::Heading { level, children } => {
                let style = Style::new().bold();
                self.text(children, if *level == 1 { style.underline() } else { style }, first, rest);
            }
            BlockKind::List { items } => {
                for (place, item) in items.iter().enumerate() {
                    self.item(item, if place == 0 { first } else { rest }, rest);
                }
            }
            BlockKind::Quote { blocks } => {
                let (first, rest) = (self.within(first, "│ "), self.within(rest, "│ "));
                self.blocks(blocks, &first, &rest, false);
            }
            BlockKind::Code { language, parts } => self.code(language, parts, first, rest),
            BlockKind::Table { alignments, head, rows } => {
                let columns = self.columns.saturating_sub(width(rest));
                let mut first = first;
                for (line, place) in table::lines(alignments, head, rows, columns) {
                    let row = place.and_then(|place| rows.get(place));
                    self.at = row.map(|row| self.passage(row.lines[0], &row_text(row)));
                    self.lines(vec![line], first, rest);
                    first = rest;
                }
            }
            BlockKind::Rule => {
                let room = self.columns.saturating_sub(width(rest)).min(40);
                self.lines(vec![vec![piece(&"─".repeat(room), Style::new().dimmed())]], first, rest);
            }
        }
    }

    /// Returns a margin with a mark behind it. On a narrow terminal, it would leave no room for the text.
    fn within(&self, margin: &str, mark: &str) -> String {
        let is_narrow = width(margin) + width(mark) + layout::LEAST > self.columns;
        if is_narrow { margin.to_owned() } else { format!("{margin}{mark}") }
    }

    fn item(&mut self, item: &Item, first: &str, rest: &str) {
        let number = item.number.map_or("• ".to_owned(), |number| format!("{number}. "));
        let mark = match item.done {
            Some(true) => "☑ ",
            Some(false) => "☐ ",
            None => &*number,
        };
        let rest = self.within(rest, &" ".repeat(width(mark)));
        self.blocks(&item.blocks, &format!("{first}{mark}"), &rest, true);
    }

    fn text(&mut self, parts: &[Inline], style: Style, first: &str, rest: &str) {
        let mut first = first;
        for line in pieces(parts, style) {
            let lines = wrap(&line, width(first), width(rest), self.columns);
            self.lines(lines, first, rest);
            first = rest;
        }
    }

    /// A line break would change the meaning of code, so it is not wrapped.
    fn code(&mut self, language: &str, parts: &[CodePart], first: &str, rest: &str) {
        let name = Some(language.trim()).filter(|name| !name.is_empty());
        let name = name.map(|name| vec![piece(&printable_line(name), Style::new().dimmed())]);
        // Code without roles is seen to be code by one colour.
        let has_roles = parts.iter().any(|part| part.role().is_some());
        let style = Style::new().fg_color((!has_roles).then(|| AnsiColor::Cyan.into()));
        let token = |(text, role): &Token| piece(text, coloured(style, *role));
        let line = |line: Vec<Token>| {
            let margin = piece(CODE, Style::new());
            [margin].into_iter().chain(line.iter().map(token)).collect()
        };
        let lines: Vec<_> = name.into_iter().chain(code_lines(parts).into_iter().map(line)).collect();
        self.lines(lines, first, rest);
    }

    /// Writes lines behind their margins.
    fn lines(&mut self, lines: Vec<StyledLine>, first: &str, rest: &str) {
        for (place, line) in lines.into_iter().enumerate() {
            let margin = if place == 0 { first } else { rest };
            let is_blank = line.iter().all(|it| it.text.trim().is_empty());
            let margin = if is_blank { margin.trim_end() } else { margin };
            let begin = (!margin.is_empty()).then(|| piece(margin, Style::new()));
            let line = begin.into_iter().chain(if is_blank { Vec::new() } else { line }).collect();
            self.out.push(PlacedLine { line, of: self.at.clone() });
        }
    }
}

/// Returns the text of a block that has one of its own; the others consist of blocks and rows.
fn own_text(kind: &BlockKind) -> Option<String> {
    match kind {
        BlockKind::Paragraph { children } | BlockKind::Heading { children, .. } => Some(plain(children)),
        BlockKind::Code { parts, .. } => Some(parts.iter().map(CodePart::text).collect()),
        _ => None,
    }
}

fn row_text(row: &Row) -> String {
    row.cells.iter().map(|cell| plain(cell)).collect::<Vec<_>>().join(" | ")
}

/// Returns parts of a line without their styles.
fn plain(parts: &[Inline]) -> String {
    let lines = pieces(parts, Style::new()).into_iter();
    lines.map(|line| line.iter().map(|it| &*it.text).collect()).collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, columns: usize) -> String {
        written(text, 0, columns, false)
    }

    #[test]
    fn blocks_are_laid_out_for_a_terminal() {
        for (source, columns, expected) in [
            ("# Move the **ledger**\n\ntext", 80, "Move the ledger\n\ntext"),
            ("one\ntwo", 80, "one\ntwo"),
            ("- a\n- b\n  1. c\n  2. d\n- [x] e", 80, "• a\n• b\n  1. c\n  2. d\n☑ e"),
            ("- one two three four five six", 24, "• one two three four\n  five six"),
            ("10. a\n\n    b", 80, "10. a\n\n    b"),
            ("> a\n>\n> > b", 80, "│ a\n│\n│ │ b"),
            ("```sh\nls\t-l\n\nrm\n```", 8, "sh\n  ls    -l\n\n  rm"),
            ("a [b](https://c.example/) `d` ~~e~~", 80, "a b (https://c.example/) d ~~e~~"),
            ("<!-- a -->\n\nb", 80, "<!-- a -->\n\nb"),
            ("a\n\n---\n\nb", 10, "a\n\n──────────\n\nb"),
            ("a\u{1b}[2J\u{202e}", 80, "a␛[2J\\u{202e}"),
            ("-\n- a", 80, "•\n• a"),
            ("", 80, ""),
        ] {
            assert_eq!(shown(source, columns), expected, "{source:?}");
        }
    }

    #[test]
    fn styles_are_kept_where_lines_are_wrapped() {
        let bold = Style::new().bold();
        assert_eq!(written("a **b c** d", 0, 3, true), format!("a {bold}b{bold:#}\n{bold}c{bold:#} d"));
    }

    #[test]
    fn code_has_the_colours_of_its_language() {
        let [keyword, text] = [AnsiColor::Magenta.on_default(), AnsiColor::Cyan.on_default()];
        let comment = Style::new().dimmed();
        let dim = |text: &str| format!("{comment}{text}{comment:#}");
        assert_eq!(
            written("```rs\nlet a = \"b\n\tc\u{202e}\"; // d\n```", 0, 80, true),
            format!(
                "{}\n  {keyword}let{keyword:#} a = {text}\"b{text:#}\n  {text}    c\\u{{202e}}\"{text:#}; {}",
                dim("rs"),
                dim("// d")
            )
        );
        // Without a language, it is of one colour; without colours, it is the text alone.
        assert_eq!(written("```\nlet a;\n```", 0, 80, true), format!("  {text}let a;{text:#}"));
        assert_eq!(written("```rs\nlet a;\n```", 0, 80, false), "rs\n  let a;");
    }

    #[test]
    fn a_pipe_has_the_source() {
        assert_eq!(written("# a\n\n**b**", 2, usize::MAX, false), "  # a\n\n  **b**");
    }

    #[test]
    fn what_has_no_tree_says_so() {
        let deep = ">".repeat(99);
        let lines = shown(&deep, 80);
        assert!(
            lines.starts_with("(shown as it was written: its parts") && lines.ends_with(&deep),
            "{lines}"
        );
    }
}
