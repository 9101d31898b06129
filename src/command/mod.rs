//! The commands by which people and scripts answer, and ask, from anywhere on the machine.
//! What they say to the bridges is left to `inbox`.

mod run;

mod error;

mod typed;

mod list;

mod show;

mod submit;

mod ask;

pub use ask::{AskOptions, ask};
pub use error::CommandError;
pub use list::{ListOptions, list};
pub use run::run;
pub use show::{ShowOptions, show};
pub use submit::{answer, extend, reject};
pub use typed::AnswerOptions;
