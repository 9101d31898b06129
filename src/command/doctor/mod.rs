//! `askbridge doctor`: looks at all that has to work together, and says what to do about what does not.
//! How it is printed is left to `present`.

mod agents;
mod checkup;
mod installed;
mod server;
mod sockets;
mod ways;

pub(super) use checkup::DoctorArgs;
pub use checkup::doctor;
