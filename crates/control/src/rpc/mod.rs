//! The control protocol, by which programs reach an inbox: JSON-RPC over a UNIX socket. This room has its messages, its
//! server, its client, and the thread that serves. What an inbox does is left to `inbox`, finding sockets to `join`.

pub mod caller;
pub mod client;
pub mod connection;
pub mod deferrals;
pub mod deferred;
pub mod history;
pub mod host;
mod kept;
mod line;
pub mod lookup;
mod machines;
pub mod markdown;
pub mod method;
pub mod methods;
pub(crate) mod on_machine;
#[cfg(any(test, feature = "testing"))]
#[expect(clippy::expect_used, reason = "tests use it")]
pub mod played;
pub mod protocol;
pub mod select;
pub mod session;
pub mod socket;
pub mod waiting;
