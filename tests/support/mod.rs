//! What several suites of tests need: a process under test, and the parts of its world. Each file says which.

pub(crate) mod asking;
pub(crate) mod cutting;
pub(crate) mod files;
pub(crate) mod golden;
pub(crate) mod hostile;
pub(crate) mod lines;
pub(crate) mod members;
#[cfg(feature = "mock")]
pub(crate) mod oracle;
pub(crate) mod process;
pub(crate) mod procfs;
pub(crate) mod reference;
pub(crate) mod replying;
pub(crate) mod running;
pub(crate) mod saying;
pub(crate) mod stage;

pub(crate) use process::{DEADLINE, Process};
