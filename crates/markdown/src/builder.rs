//! Puts the nodes of a tree together. What of the source no event stands for is kept in sight as text: definitions of
//! references, cells beyond the last column.

use std::{fmt, mem, ops::Range};

use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, Tag};

use crate::{
    autolinks, code,
    frame::{Frame, aligned, mark, number},
    limits,
    tree::{Block, BlockKind, Inline, Item, Lines, Node, Row},
};

/// Why a text has no tree.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TooMuch {
    Nodes,
    Depth,
}

impl fmt::Display for TooMuch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooMuch::Nodes => write!(out, "it has more than {} parts", limits::NODES),
            TooMuch::Depth => {
                write!(out, "its parts stand within each other more than {} deep", limits::DEPTH)
            }
        }
    }
}

/// A tree that is being built.
pub(crate) struct Builder<'a> {
    source: &'a str,
    /// Where each line begins.
    lines: Vec<usize>,
    /// The open nodes, from the root to the innermost one.
    frames: Vec<Frame<'a>>,
    /// How much of the source is in the tree.
    seen: usize,
    nodes: usize,
    /// How many parts of code there may still be.
    room: usize,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        let breaks = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = [0].into_iter().chain(breaks).collect();
        Builder { source, lines, frames: vec![Frame::default()], seen: 0, nodes: 0, room: limits::PARTS }
    }

    /// Takes the next event, and the source that it stands for.
    pub(crate) fn take(&mut self, event: Event<'a>, range: Range<usize>) -> Result<(), TooMuch> {
        match event {
            Event::Start(tag) => return self.open(tag, range),
            Event::End(_) => {
                self.close(range.end);
                return Ok(());
            }
            _ => {}
        }
        self.skip_to(range.start);
        self.count()?;
        match event {
            Event::Code(text) => {
                self.push(Inline::Node(Node::Code { text: text.into_string() }), range.start)
            }
            Event::SoftBreak | Event::HardBreak => self.push(Inline::Node(Node::Break), range.start),
            Event::Rule => {
                let block = Block { lines: self.lines(&range), kind: BlockKind::Rule };
                self.flush();
                self.top().blocks.push(block);
            }
            Event::TaskListMarker(done) => self.tick(done),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text, range.start),
            // Their extensions are off.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text, range.start);
            }
            Event::Start(_) | Event::End(_) => {}
        }
        self.seen = self.seen.max(range.end);
        Ok(())
    }

    /// Returns the blocks of the whole text.
    pub(crate) fn end(mut self) -> Result<Vec<Block>, TooMuch> {
        self.skip_to(self.source.len());
        self.flush();
        self.count()?;
        Ok(mem::take(&mut self.top().blocks))
    }

    /// Returns a block of code, if this is one.
    fn code(&mut self, frame: &mut Frame<'a>) -> Option<BlockKind> {
        let Some(Tag::CodeBlock(kind)) = &frame.tag else { return None };
        let language = match kind {
            CodeBlockKind::Fenced(language) => language.to_string(),
            CodeBlockKind::Indented => String::new(),
        };
        let parts = code::parts(&language, mem::take(&mut frame.code), &mut self.room);
        Some(BlockKind::Code { language, parts })
    }

    fn count(&mut self) -> Result<(), TooMuch> {
        self.nodes += 1;
        if self.nodes > limits::NODES { Err(TooMuch::Nodes) } else { Ok(()) }
    }

    fn top(&mut self) -> &mut Frame<'a> {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn open(&mut self, tag: Tag<'a>, range: Range<usize>) -> Result<(), TooMuch> {
        self.skip_to(range.start);
        self.count()?;
        if self.frames.len() > limits::DEPTH {
            return Err(TooMuch::Depth);
        }
        let mark = mark(&tag, self.source.get(range.clone()).unwrap_or_default());
        self.seen = self.seen.max(range.start + mark);
        let frame = Frame { tag: Some(tag), range, ..Frame::default() };
        if frame.is_block() {
            self.flush();
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Completes the innermost node.
    fn close(&mut self, end: usize) {
        // The address of a link is in the tree.
        let is_link = matches!(self.top().tag, Some(Tag::Link { .. } | Tag::Image { .. }));
        if !is_link {
            self.skip_to(end);
        }
        self.seen = self.seen.max(end);
        if self.top().has_blocks() {
            self.flush();
        }
        let mut parts = mem::take(&mut self.top().inlines);
        // The HTML of a block ends with the end of its line.
        while parts.pop_if(|last| *last == Inline::Node(Node::Break)).is_some() {}
        let children = self.linked(parts);
        let Some(mut frame) = self.frames.pop() else { return };
        let (lines, at) = (self.lines(&frame.range), frame.range.start);
        let code = self.code(&mut frame);
        let parent = self.top();
        let mut block = |kind| parent.blocks.push(Block { lines, kind });
        match frame.tag {
            Some(Tag::Heading { level, .. }) => block(BlockKind::Heading { level: level as u8, children }),
            Some(Tag::BlockQuote(_)) => block(BlockKind::Quote { blocks: frame.blocks }),
            Some(Tag::List(_)) => block(BlockKind::List { items: frame.items }),
            Some(Tag::CodeBlock(_)) => parent.blocks.extend(code.map(|kind| Block { lines, kind })),
            Some(Tag::Table(alignments)) => {
                let mut rows = frame.rows.into_iter();
                let head = rows.next().unwrap_or(Row { lines, cells: Vec::new() });
                let alignments = alignments.into_iter().map(aligned).collect();
                block(BlockKind::Table { alignments, head, rows: rows.collect() });
            }
            Some(Tag::TableHead | Tag::TableRow) => parent.rows.push(Row { lines, cells: frame.cells }),
            Some(Tag::TableCell) => parent.cells.push(children),
            Some(Tag::Item) => self.item(frame, lines),
            Some(Tag::Emphasis) => self.push(Inline::Node(Node::Emphasis { children }), at),
            Some(Tag::Strong) => self.push(Inline::Node(Node::Strong { children }), at),
            Some(Tag::Strikethrough) => self.push(Inline::Node(Node::Struck { children }), at),
            Some(Tag::Link { link_type, dest_url, title, .. }) => {
                let mail = if link_type == LinkType::Email { "mailto:" } else { "" };
                self.link(&format!("{mail}{dest_url}"), &title, children, at);
            }
            Some(Tag::Image { dest_url, title, .. }) => self.image(&dest_url, &title, children, at),
            // A paragraph, and the HTML of a block.
            _ if !children.is_empty() => block(BlockKind::Paragraph { children }),
            _ => {}
        }
    }

    fn item(&mut self, frame: Frame<'a>, lines: Lines) {
        let parent = self.top();
        let is_ordered = matches!(parent.tag, Some(Tag::List(Some(_))));
        let last = parent.items.last().and_then(|item| item.number);
        // Where the numbers do not rise, the list counts: many write `1.` before each item.
        let own = number(self.source.get(frame.range.clone()).unwrap_or_default()).map_or(1, |(own, _)| own);
        let number = match last {
            Some(last) if own <= last => last + 1,
            _ => own,
        };
        let number = is_ordered.then_some(number);
        self.top().items.push(Item { lines, number, done: frame.done, blocks: frame.blocks });
    }

    fn link(&mut self, address: &str, title: &str, children: Vec<Inline>, at: usize) {
        for part in autolinks::link(address, title, children) {
            self.push(part, at);
        }
    }

    /// An image is not loaded: its description and its address are text.
    fn image(&mut self, address: &str, title: &str, mut children: Vec<Inline>, at: usize) {
        children.insert(0, Inline::Text("image: ".to_owned()));
        match self.is_in_link() {
            // A link has no links in it.
            true => {
                let text = Inline::text(&autolinks::link(address, title, children));
                self.push(Inline::Text(text), at);
            }
            false => self.link(address, title, children, at),
        }
    }

    fn is_in_link(&self) -> bool {
        self.frames.iter().any(|frame| matches!(frame.tag, Some(Tag::Link { .. } | Tag::Image { .. })))
    }

    /// Makes addresses in texts links.
    fn linked(&self, parts: Vec<Inline>) -> Vec<Inline> {
        if self.is_in_link() {
            return parts;
        }
        let split = |part| match part {
            Inline::Text(text) => autolinks::split(text),
            node => vec![node],
        };
        parts.into_iter().flat_map(split).collect()
    }

    fn tick(&mut self, done: bool) {
        let item = self.frames.iter_mut().rev().find(|frame| matches!(frame.tag, Some(Tag::Item)));
        if let Some(item) = item {
            item.done = Some(done);
        }
    }

    /// Adds a text, which may have several lines.
    fn text(&mut self, text: &CowStr<'_>, at: usize) {
        if let Some(Tag::CodeBlock(_)) = self.top().tag {
            self.top().code.push_str(text);
            return;
        }
        for (place, line) in text.trim_end_matches(['\n', '\r']).split('\n').enumerate() {
            if place > 0 {
                self.push(Inline::Node(Node::Break), at);
            }
            self.push(Inline::Text(line.trim_end_matches('\r').to_owned()), at);
        }
        // HTML comes line by line.
        if text.ends_with('\n') {
            self.push(Inline::Node(Node::Break), at);
        }
    }

    /// Adds a part of a line. A text continues the one before it.
    fn push(&mut self, part: Inline, at: usize) {
        let top = self.top();
        if top.inlines.is_empty() {
            top.inlines_at = at;
        }
        match (top.inlines.last_mut(), part) {
            (_, Inline::Text(text)) if text.is_empty() => {}
            (Some(Inline::Text(last)), Inline::Text(text)) => last.push_str(&text),
            (_, part) => top.inlines.push(part),
        }
    }

    /// Makes a paragraph of what stands in a container without one.
    fn flush(&mut self) {
        let top = self.top();
        if !top.has_blocks() || top.inlines.is_empty() {
            return;
        }
        let range = top.inlines_at..self.seen;
        let children = mem::take(&mut self.top().inlines);
        let children = self.linked(children);
        let lines = self.lines(&range);
        self.top().blocks.push(Block { lines, kind: BlockKind::Paragraph { children } });
    }

    /// Shows what no event stands for, up to this place.
    fn skip_to(&mut self, place: usize) {
        let gap = self.source.get(self.seen..place).unwrap_or_default();
        let (source, at) = (self.source, self.seen);
        self.seen = self.seen.max(place);
        let top = self.top();
        let is_row = matches!(top.tag, Some(Tag::TableHead | Tag::TableRow));
        let counts = |c: char| match is_row {
            true => !c.is_whitespace() && c != '|',
            // Marks of Markdown are no more than that.
            false => !c.is_ascii_whitespace() && !c.is_ascii_punctuation(),
        };
        if !gap.contains(counts) {
            return;
        }
        let margin = |c: char| c.is_whitespace() || c == '>';
        if is_row {
            let text = gap.trim().trim_matches('|').trim().to_owned();
            top.cells.push(vec![Inline::Text(text)]);
            return;
        }
        let start = at + gap.len() - gap.trim_start().len();
        // A list and a table have nothing but items and rows: it stands before them.
        let holds = |frame: &Frame<'_>| {
            frame.has_blocks() || !matches!(frame.tag, Some(Tag::List(_) | Tag::Table(_)))
        };
        let depth = self.frames.iter().rposition(holds).unwrap_or(0);
        let inner = self.frames.split_off(depth + 1);
        self.flush();
        // The last line may be no more than the margin of what comes next.
        let mut text = source[start..place].trim_end();
        while let Some((before, last)) = text.rsplit_once('\n')
            && last.trim_matches(margin).is_empty()
        {
            text = before.trim_end();
        }
        let lines: Vec<_> = text.lines().map(|line| line.trim_start_matches(margin).trim_end()).collect();
        self.seen = start + text.len();
        self.text(&lines.join("\n").into(), start);
        self.flush();
        self.seen = place;
        self.frames.extend(inner);
    }

    fn lines(&self, range: &Range<usize>) -> Lines {
        let text = self.source.get(range.clone()).unwrap_or_default();
        let line = |at: usize| self.lines.partition_point(|start| *start <= at).max(1);
        let end = range.start + text.trim_end().len();
        [line(range.start), line(end.saturating_sub(1).max(range.start))]
    }
}
