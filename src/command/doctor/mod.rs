//! `askbridge doctor`: checks all parts that a question passes through, and gives advice on those that do not work.
//! How the report is printed is left to `present`.

mod agents;
mod checkup;
mod installed;
mod server;
mod servers;
mod sockets;
mod ways;

pub(super) use checkup::DoctorArgs;
pub use checkup::doctor;
