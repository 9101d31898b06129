//! The bounds of a text that is read as Markdown. One that exceeds them is shown as its source.

/// Bytes of a text. The longest that a question or a permission has is a quarter of it.
pub const TEXT: usize = 64 * 1024;
/// The nodes of a tree. A browser lays out some hundred of them in a millisecond, and a plan of 2,000 lines has some 6,000.
pub const NODES: usize = 20_000;
/// The nodes that stand within each other. Readers and writers of a tree call themselves for each level; what people
/// write has four or five.
pub const DEPTH: usize = 32;
/// Bytes of code that is coloured. What people read in one piece is far shorter.
pub const CODE: usize = 32 * 1024;
/// The parts of all code in a tree, and of one file. A block with more is not coloured, so that its size does not count
/// against the tree: a plan of 2,000 lines that is code has some 14,000.
pub const PARTS: usize = 20_000;
