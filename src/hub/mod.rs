//! The process that serves the questions of all bridges, `askbridge inbox`: what runs in it, one file each.
//! `run.rs` puts it together, `list.rs` has its services. How it gets into the background is left to `command/background.rs`.

mod attach;
pub mod broker;
mod error;
#[cfg(feature = "fleet")]
mod fleet;
mod gaps;
#[cfg(feature = "fleet")]
pub mod gateway;
mod hosts;
mod http;
mod list;
pub mod machines;
mod more;
#[cfg(feature = "notify")]
mod notify;
pub mod presence;
mod run;
mod service;
mod share;

pub use attach::Attached;
pub use error::HubError;
pub use hosts::LocalHosts;
pub use run::{SERVER, run};
