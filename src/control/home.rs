//! Where a bridge runs, as a ledger keeps it: a command in another environment finds no socket, and must not take a bridge
//! for dead that it cannot see. How it is found out whether a bridge lives is left to `machine`.

use std::path::PathBuf;

use crate::desk::BridgeName;

/// Where a bridge runs: the folder of its socket, and its process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The folder of its socket.
    pub folder: PathBuf,
    /// The ID of its process.
    pub pid: u32,
    /// When the process started, in clock ticks since the machine started; 0 where that is not known. Together with its
    /// ID, it names one process: IDs are used again.
    pub started: u64,
    /// The inode of its PID namespace: in another one, the ID means another process. 0 where that is not known.
    pub namespace: u64,
}

/// Whether a bridge lives, as far as that can be seen from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It listens, or its process runs.
    Lives,
    /// Its process has ended.
    Ended,
    /// It may run where neither its socket nor its process can be seen, such as in a container.
    Unseen,
}

/// A bridge that has open questions, by a ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingBridge {
    /// Its name.
    pub bridge: BridgeName,
    /// Whether it lives. One of which this cannot be seen may have ended.
    pub life: Life,
    /// Where it runs, if that was noted.
    pub home: Option<Home>,
    /// The number of its open questions.
    pub questions: usize,
}
