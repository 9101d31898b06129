//! Copilot CLI in a terminal: askbridge attaches to the server that `copilot --ui-server --port N` runs beside its
//! dialog. The requests and replies are in `dialect::copilot`.

mod connection;
mod finder;
mod link;
mod session;

pub use finder::CopilotFinder;
