//! The keyboard of a person at a terminal, for programs that ask in plain lines. What was typed or pasted before a prompt
//! could be read answers nothing, and nothing of it is left to the shell.

mod line;
mod queue;
mod strokes;
mod taken;

pub use line::{Entry, Takes};
pub use queue::{drain, forget, more_lines};
pub use taken::Keyboard;
