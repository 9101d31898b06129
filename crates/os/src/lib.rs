//! What askbridge uses of the operating system: terminals, signals, exit codes, the log, file locks, processes and sockets.

pub mod exit;
pub mod files;
pub mod keyboard;
pub mod limits;
pub mod listeners;
pub mod lock;
pub mod log;
pub mod processes;
pub mod program;
pub mod signals;
pub mod terminal;
pub mod xdg;
