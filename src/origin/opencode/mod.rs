//! opencode in a terminal, or a server of its own: attached to as one more client of its HTTP interface.
//! What is asked and replied is in `dialect::opencode`.

mod address;

mod http;

mod stream;

mod server;

mod session;

mod finder;

pub use address::{Address, AddressError};
pub use finder::OpencodeFinder;
pub use http::Password;
