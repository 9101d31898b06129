//! A node that is not complete yet. Which nodes stand in it is left to `builder.rs`.

use std::ops::Range;

use pulldown_cmark::{Alignment as Aligned, CodeBlockKind, Tag};

use crate::tree::{Alignment, Block, Inline, Item, Row};

/// A node whose end has not come, with what stands in it so far.
#[derive(Default)]
pub(crate) struct Frame<'a> {
    /// What it is; the root is nothing.
    pub(crate) tag: Option<Tag<'a>>,
    /// The source that it stands on.
    pub(crate) range: Range<usize>,
    /// The blocks in it.
    pub(crate) blocks: Vec<Block>,
    /// The parts of a line in it. Those of a container are a paragraph that has no tag of its own.
    pub(crate) inlines: Vec<Inline>,
    /// Where the first of these parts begins.
    pub(crate) inlines_at: usize,
    /// The items of a list.
    pub(crate) items: Vec<Item>,
    /// The rows of a table.
    pub(crate) rows: Vec<Row>,
    /// The cells of a row.
    pub(crate) cells: Vec<Vec<Inline>>,
    /// The text of code.
    pub(crate) code: String,
    /// Whether an item is ticked off.
    pub(crate) done: Option<bool>,
}

impl Frame<'_> {
    /// Whether it has lines of its own.
    pub(crate) fn is_block(&self) -> bool {
        !matches!(
            self.tag,
            Some(
                Tag::Emphasis
                    | Tag::Strong
                    | Tag::Strikethrough
                    | Tag::Link { .. }
                    | Tag::Image { .. }
                    | Tag::TableCell
            )
        )
    }

    /// Whether blocks stand in it.
    pub(crate) fn has_blocks(&self) -> bool {
        matches!(self.tag, None | Some(Tag::BlockQuote(_) | Tag::Item))
    }
}

/// Returns how many bytes of its source stand for the node itself: the bullet or the number of an item, and the line of a
/// fence, which the tree keeps elsewhere.
pub(crate) fn mark(tag: &Tag<'_>, source: &str) -> usize {
    match tag {
        Tag::Item => number(source).map_or_else(|| bullet(source), |(_, end)| end),
        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => source.find('\n').unwrap_or(source.len()),
        _ => 0,
    }
}

/// Returns where the bullet of an item ends.
fn bullet(source: &str) -> usize {
    source.find(['-', '*', '+']).map_or(0, |at| at + 1)
}

/// Returns the number of an item, and where it ends.
pub(crate) fn number(source: &str) -> Option<(u64, usize)> {
    let start = source.len() - source.trim_start().len();
    let digits = source[start..].bytes().take_while(u8::is_ascii_digit).count();
    let number = source[start..start + digits].parse().ok()?;
    Some((number, start + digits))
}

/// Returns how a column is aligned.
pub(crate) fn aligned(alignment: Aligned) -> Alignment {
    match alignment {
        Aligned::None | Aligned::Left => Alignment::Start,
        Aligned::Center => Alignment::Center,
        Aligned::Right => Alignment::End,
    }
}
