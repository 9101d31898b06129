//! The tree of a text. Reading it is left to `read.rs`.

use serde::Serialize;

/// A text as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Document {
    /// Its blocks, from the first line to the last.
    Blocks(Vec<Block>),
    /// Why it has no tree, and is shown as its source.
    Source(String),
}

/// The first and the last line of the source that a block stands on, from 1.
pub type Lines = [usize; 2];

/// A block: what begins on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Block {
    /// Where it stands.
    pub lines: Lines,
    /// What it is.
    #[serde(flatten)]
    pub kind: BlockKind,
}

/// The kinds of blocks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum BlockKind {
    /// A paragraph.
    Paragraph {
        /// Its text.
        children: Vec<Inline>,
    },
    /// A heading.
    Heading {
        /// Its level, from 1 to 6.
        level: u8,
        /// Its text.
        children: Vec<Inline>,
    },
    /// A list.
    List {
        /// Its items.
        items: Vec<Item>,
    },
    /// What is quoted.
    Quote {
        /// What stands in it.
        blocks: Vec<Block>,
    },
    /// Code, in which each character counts.
    Code {
        /// What is written behind its fence, which begins with the language; may be empty.
        language: String,
        /// The code: its parts together.
        parts: Vec<CodePart>,
    },
    /// A table.
    Table {
        /// How its columns are aligned.
        alignments: Vec<Alignment>,
        /// The heads of its columns.
        head: Row,
        /// Its rows. One may have more cells than the head.
        rows: Vec<Row>,
    },
    /// A line across the text.
    Rule,
}

/// A part of code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum CodePart {
    /// A text that is no more than a text.
    Plain(String),
    /// A text with a role.
    Token {
        /// Its role.
        role: Role,
        /// The text.
        text: String,
    },
}

impl CodePart {
    /// Returns the text.
    pub fn text(&self) -> &str {
        let (CodePart::Plain(text) | CodePart::Token { text, .. }) = self;
        text
    }

    /// Returns the role, if it has one.
    pub fn role(&self) -> Option<Role> {
        if let CodePart::Token { role, .. } = self { Some(*role) } else { None }
    }
}

/// What a part of code is. Whoever shows it gives it a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CodeRole"))]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// A comment.
    Comment,
    /// A text between quotation marks.
    String,
    /// A number.
    Number,
    /// A word of the language.
    Keyword,
    /// A name: what is called, a key, a property, an attribute, a variable of a shell.
    Name,
    /// A line that a patch adds.
    Added,
    /// A line that a patch removes.
    Removed,
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Where it stands.
    pub lines: Lines,
    /// Its number, in an ordered list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// Whether it is ticked off, in a list of tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<bool>,
    /// What stands in it.
    pub blocks: Vec<Block>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// Where it stands.
    pub lines: Lines,
    /// Its cells.
    pub cells: Vec<Vec<Inline>>,
}

/// How a column of a table is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Alignment {
    /// As the direction of the text is.
    Start,
    /// In the middle.
    Center,
    /// At the end, as numbers are.
    End,
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Inline {
    /// A text.
    Text(String),
    /// What is more than a text.
    Node(Node),
}

/// The parts of a line that are more than a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Node {
    /// What counts most.
    Strong {
        /// The text.
        children: Vec<Inline>,
    },
    /// What is stressed.
    Emphasis {
        /// The text.
        children: Vec<Inline>,
    },
    /// What no longer holds.
    Struck {
        /// The text.
        children: Vec<Inline>,
    },
    /// Code within a line.
    Code {
        /// The code.
        text: String,
    },
    /// A page or an address of mail that can be opened.
    Link {
        /// The address: `http`, `https` or `mailto`.
        address: String,
        /// Whether the text is the address. Otherwise it is to be shown behind the text.
        #[serde(rename = "isAddress")]
        is_address: bool,
        /// The text.
        children: Vec<Inline>,
    },
    /// The end of a line.
    Break,
}

impl Inline {
    /// Returns the text of these parts, without their marks. The address of a link stands behind its text.
    pub fn text(parts: &[Inline]) -> String {
        let mut out = String::new();
        for part in parts {
            part.write(&mut out);
        }
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Inline::Text(text) | Inline::Node(Node::Code { text }) => out.push_str(text),
            Inline::Node(Node::Break) => out.push('\n'),
            Inline::Node(
                Node::Strong { children } | Node::Emphasis { children } | Node::Struck { children },
            ) => {
                children.iter().for_each(|child| child.write(out));
            }
            Inline::Node(Node::Link { address, is_address, children }) => {
                children.iter().for_each(|child| child.write(out));
                if !is_address {
                    out.push_str(&format!(" ({address})"));
                }
            }
        }
    }
}
