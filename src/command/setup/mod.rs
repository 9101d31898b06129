//! `askbridge setup`: puts askbridge between a client and its agents, in the client's settings, and takes it out again.
//! What is changed is decided by the room `setup`.

pub(super) mod around;

pub(super) mod settings_file;

mod keep;

mod options;

mod change;

mod take_out;

pub(super) mod claude;

mod flow;

pub use flow::setup;
pub use options::SetupOptions;
