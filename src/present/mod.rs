//! Questions in words for people at a terminal, and the dialogue that puts a question to a person in plain lines.
//! Pure: printing and reading lines is left to `command`, the full screen to `command/tui`.

pub mod alike;
pub mod answer;
pub mod attention;
mod below;
pub mod bridges;
pub mod caution;
mod change;
pub mod dialogue;
pub mod doctor;
pub mod entry;
pub mod filter;
pub mod fleet;
pub mod images;
pub mod layout;
pub mod led;
pub mod listing;
pub mod machines;
pub mod markdown;
pub mod passage;
pub mod past;
pub mod prompt;
pub mod question;
pub mod status;
pub mod styled;
pub mod subject;
mod table;
pub mod text;
pub mod typed;
pub mod urgency;
