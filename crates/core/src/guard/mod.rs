//! Guard: what may be allowed without a closer look, and what may not. The risk of a permission is decided here, by
//! what the permission would do, and nowhere else (I12): each responder reads the risk from the question. Pure.
//!
//! An agent is not to be believed: it may call a command a read, or say one thing in one member and another in the
//! next. So all of its claims are checked, and the worst one counts. A request that is not understood is dangerous.

mod active;
mod alike;
mod argument;
mod assess;
pub mod beyond;
mod code;
pub mod command;
mod degree;
pub mod files;
mod grammar;
mod hidden;
mod input;
mod json;
mod judge;
mod look;
mod members;
mod places;
pub mod programs;
mod quoted;
mod replaced;
mod scripts;
mod shell;
mod sql;
pub mod subject;
mod variables;

pub use active::{ActiveFiles, active};
pub use alike::alike;
pub use assess::{assess, assess_links};
pub use files::Files;
pub use hidden::is_hidden;
pub use look::{as_acting, look};
pub use members::wants_rights;
