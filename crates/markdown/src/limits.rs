//! The bounds of a text that is read as Markdown. One that exceeds them is shown as its source.

/// Bytes of a text. The longest that a question or a permission has is a quarter of it.
pub const TEXT: usize = 64 * 1024;
/// The nodes of a tree. A browser lays out some hundred of them in a millisecond, and a plan of 2,000 lines has some 6,000.
pub const NODES: usize = 20_000;
/// The nodes that stand within each other. Readers and writers of a tree call themselves for each level; what people
/// write has four or five.
pub const DEPTH: usize = 32;
