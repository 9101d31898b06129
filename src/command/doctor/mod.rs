//! `askbridge doctor`: looks at all that has to work together, and says what to do about what does not.
//! How it is printed is left to `present`.

mod program;

mod settings;

mod sockets;

mod server;

mod desktop;

mod ways;

mod clients;

mod terminals;

#[cfg(feature = "notify")]
mod notifiers;

mod checkup;

pub use checkup::{DoctorOptions, doctor};
