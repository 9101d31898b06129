//! The subcommands of the program, one file or folder each, with their arguments.
//! What is said to the bridges is left to `machine` and `rpc`.

mod arguments;
mod ask;
pub mod attach;
mod background;
mod bridge;
pub mod cli;
mod config;
mod converse;
mod conversion;
mod doctor;
mod error;
mod help;
#[cfg(feature = "journal")]
mod history;
mod hook;
mod inbox;
#[cfg(feature = "journal")]
mod ledger;
mod list;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "mock")]
pub mod mock;
mod next;
#[cfg(feature = "notify")]
mod notify;
pub mod open;
pub mod parse;
mod permit;
mod rules;
mod runner;
mod screen;
pub mod setup;
mod shell;
mod show;
mod status;
mod submit;
#[cfg(feature = "tui")]
pub mod tui;

pub use ask::{AskOptions, ask};
pub use attach::attach;
pub use config::{ConfigOptions, config};
pub use doctor::{DoctorOptions, doctor};
pub use error::CommandError;
#[cfg(feature = "journal")]
pub use history::{HistoryOptions, history};
#[cfg(not(feature = "journal"))]
pub use inbox::ledger;
pub use inbox::{AttachTargets, InboxMode, InboxOptions, inbox};
#[cfg(feature = "journal")]
pub use ledger::ledger;
pub use list::{ListOptions, list};
#[cfg(feature = "mock")]
pub use mock::consent;
pub use next::next;
#[cfg(feature = "notify")]
pub use notify::{NotifyOptions, notify};
pub use open::{OpenOptions, open};
pub use permit::{allow, deny};
pub use rules::{RulesOptions, rules};
pub use runner::run;
pub use setup::{SetupOptions, setup};
pub use shell::{Offer, offers};
pub use show::{ShowOptions, show};
pub use status::{StatusOptions, status};
pub use submit::{AnswerOptions, answer, extend, reject};
