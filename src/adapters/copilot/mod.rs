//! Copilot CLI in a terminal: attached to by the server that `copilot --ui-server --port N` has beside its dialog.
//! The requests and replies are in `dialect::copilot`.

mod connection;
mod finder;
mod link;
mod session;

pub use finder::CopilotFinder;
