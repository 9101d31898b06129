//! Texts of agents as trees of Markdown. Whoever shows a tree builds nodes of its own: the tree has no HTML, and nothing
//! in it loads anything. What a renderer would hide stays in sight, because a person decides by what they can read: the
//! addresses of links and images, comments and tags of HTML, definitions of references, cells beyond the last column.
//!
//! Pure. [`read()`] makes a tree, [`line()`] a title, [`code()`] finds the roles of code. Showing them is left to the page and to `present` of the program.

mod autolinks;
mod builder;
mod code;
mod frame;
pub mod limits;
mod read;
mod tree;

pub use code::{code, patch};
pub use read::{line, read, read_code, read_patch};
pub use tree::{Alignment, Block, BlockKind, CodePart, Document, Inline, Item, Lines, Node, Role, Row};
