//! The commands by which people and scripts answer, and ask, from anywhere on the machine.
//! What is said to the bridges is left to `machine` and `control`.

mod run;

mod elsewhere;

mod error;

mod typed;

mod screen;

mod listed;

mod list;

mod watch;

mod status;

mod show;

mod said;

mod converse;

mod submit;

mod next;

mod permit;

mod own;

#[cfg(feature = "notify")]
mod notify;

mod ask;

mod attach;

mod background;

mod inbox;

mod open;

mod config;

mod rules;

#[cfg(feature = "journal")]
mod history;

#[cfg(feature = "journal")]
mod ledger;

mod setup;

mod doctor;

mod offer;

#[cfg(feature = "mock")]
mod consent;

pub use ask::{AskOptions, ask};
pub use attach::attach;
pub use config::{ConfigOptions, config};
#[cfg(feature = "mock")]
pub use consent::consent;
pub use doctor::{DoctorOptions, doctor};
pub use error::CommandError;
#[cfg(feature = "journal")]
pub use history::{HistoryOptions, history};
pub use inbox::{AttachTargets, InboxMode, InboxOptions, inbox};
#[cfg(feature = "journal")]
pub use ledger::journal_options;
pub use list::{ListOptions, list};
pub use next::next;
#[cfg(feature = "notify")]
pub use notify::{NotifyOptions, notify};
pub use offer::{Offer, offers};
pub use open::{OpenOptions, open};
pub use permit::{allow, deny};
pub use rules::{RulesOptions, rules};
pub use run::run;
pub use setup::{SetupOptions, setup};
pub use show::{ShowOptions, show};
pub use status::{StatusOptions, status};
pub use submit::{answer, extend, reject};
pub use typed::AnswerOptions;
