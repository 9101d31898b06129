//! Attaches to opencode, in a terminal or as a separate server, as one more client of its HTTP interface. The requests
//! and replies are in `dialect::opencode`.

mod address;
mod server;
mod session;

pub use address::{Address, AddressError};
pub use server::Password;
pub use session::OpencodeFinder;
