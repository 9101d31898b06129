//! Guard: what may be allowed without a closer look, and what may not. The risk of a permission is decided here, by
//! what the permission would do, and nowhere else (I12): each responder reads the risk from the question. Pure.
//!
//! An agent is not to be believed: it may call a command a read, or say one thing in one member and another in the
//! next. So all of its claims are checked, and the worst one counts. A request that is not understood is dangerous.

mod active;
mod assess;
pub mod beyond;
pub mod command;
pub mod files;
mod input;
mod json;
mod look;
mod members;
pub mod programs;
mod quoted;
mod replaced;
mod scripts;
mod split;
pub mod subject;

pub use active::{ActiveFiles, active};
pub use assess::{assess, assess_links};
pub use files::Files;
pub use look::look;
pub use members::wants_rights;
pub use split::is_hidden;
