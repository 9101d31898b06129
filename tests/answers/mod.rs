//! Answering from anywhere on the machine: the real commands, the real bridge, and the sockets between them.
//! What an answer leads to, line by line, is left to the transcripts.

#[cfg(test)]
mod alike;
#[cfg(test)]
mod asker;
#[cfg(test)]
mod asking;
#[cfg(test)]
mod bare;
#[cfg(test)]
mod by_hand;
#[cfg(test)]
mod changed;
#[cfg(test)]
mod commands;
#[cfg(test)]
#[cfg(feature = "tui")]
mod comments;
#[cfg(test)]
mod configured;
#[cfg(test)]
mod delivery;
#[cfg(test)]
mod demo;
#[cfg(test)]
#[cfg(feature = "tui")]
mod drawn;
#[cfg(test)]
#[cfg(all(feature = "journal", feature = "tui"))]
mod ends;
#[cfg(test)]
mod filtered;
#[cfg(test)]
#[cfg(feature = "fleet")]
mod fleet;
#[cfg(test)]
#[cfg(feature = "tui")]
mod folds;
#[cfg(test)]
#[cfg(feature = "journal")]
mod forms;
#[cfg(test)]
mod hints;
#[cfg(test)]
#[cfg(feature = "journal")]
mod history;
#[cfg(test)]
mod hosted;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod images;
#[cfg(test)]
#[cfg(feature = "journal")]
mod kills;
#[cfg(test)]
mod later;
#[cfg(test)]
mod led;
#[cfg(test)]
#[cfg(feature = "journal")]
mod left;
#[cfg(test)]
mod lines;
mod listed;
#[cfg(test)]
pub(crate) mod machine;
#[cfg(test)]
mod machine_tables;
#[cfg(test)]
mod manners;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod once;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod own_agent;
#[cfg(test)]
mod permits;
#[cfg(test)]
pub(crate) mod person;
#[cfg(test)]
#[cfg(feature = "tui")]
mod pictures;
#[cfg(test)]
mod played;
#[cfg(test)]
mod readme;
#[cfg(test)]
#[cfg(feature = "tui")]
mod recording;
#[cfg(test)]
#[cfg(all(feature = "journal", feature = "tui"))]
mod responders;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod screen;
#[cfg(test)]
#[cfg(feature = "tui")]
mod screens;
#[cfg(test)]
#[cfg(feature = "journal")]
mod secrets;
#[cfg(test)]
mod shells;
#[cfg(test)]
mod shown;
#[cfg(test)]
mod sockets;
#[cfg(test)]
mod terminal;
#[cfg(test)]
#[cfg(feature = "tui")]
mod together;
#[cfg(test)]
#[cfg(feature = "tui")]
mod tui;
#[cfg(test)]
#[cfg(feature = "tui")]
mod undo;
#[cfg(test)]
mod unread;
#[cfg(test)]
mod values;
#[cfg(test)]
mod versions;
