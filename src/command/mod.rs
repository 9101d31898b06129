//! The subcommands of the program, one file or folder each, with their arguments.
//! What runs in the process that serves all questions is left to `hub`.

mod alike;
mod answer_args;
mod arguments;
mod ask;
mod attach;
mod background;
mod bridge;
#[cfg(feature = "check")]
mod check;
pub mod cli;
mod config;
mod confirm;
#[cfg(feature = "mock")]
mod consent;
mod context;
mod converse;
mod dial;
mod doctor;
mod error;
mod extend;
mod filter;
#[cfg(feature = "fleet")]
mod fleet;
mod help;
#[cfg(feature = "journal")]
mod history;
mod hook;
mod inbox;
mod keeper;
#[cfg(feature = "journal")]
mod ledger;
mod list;
mod machine;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "mcp")]
mod mcp_http;
mod mcp_proxy;
#[cfg(feature = "mock")]
pub mod mock;
mod next;
#[cfg(feature = "notify")]
mod notify;
pub mod open;
mod outcome;
mod overview;
pub mod parse;
mod permit;
mod propose;
mod reach;
mod rules;
mod runner;
mod screen;
mod second_step;
pub mod setup;
mod shell;
mod show;
mod status;
mod submit;
#[cfg(feature = "tui")]
pub mod tui;
mod typist;
mod until;
mod wait;

pub use ask::ask;
pub use attach::attach;
#[cfg(feature = "check")]
pub use check::check;
pub use config::config;
#[cfg(feature = "mock")]
pub use consent::consent;
pub use context::Context;
pub use dial::dial;
pub use doctor::doctor;
pub use error::CommandError;
pub use extend::{extend, later};
#[cfg(feature = "fleet")]
pub use fleet::fleet;
#[cfg(feature = "journal")]
pub use history::history;
pub use hook::hook;
pub use inbox::inbox;
pub use list::list;
pub use machine::machine;
#[cfg(feature = "mcp")]
pub use mcp::mcp;
#[cfg(feature = "mcp")]
pub use mcp_http::mcp_http;
pub use next::next;
#[cfg(feature = "notify")]
pub use notify::notify;
pub use overview::overview;
pub use permit::allow;
pub use rules::rules;
pub use runner::run;
pub use shell::{Offer, offers};
pub use show::show;
pub use status::status;
pub use submit::{answer, reject};
pub use wait::wait;
