//! What Linux knows of a process under `/proc`, and the process tree of an agent: all descendants of the bridge, or of
//! an agent that ran before the bridge, except for programs that the bridge started for the user. An agent must not
//! answer its own questions (I12). The control protocol decides which calls that concerns.

use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use rustix::process::{WaitId, WaitIdOptions, waitid};
use tokio::net::UnixStream;

use crate::limits;

/// Clock ticks of a second in `/proc`, which Linux has on all machines but Alpha.
const TICKS: f64 = 100.0;

/// A process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// The process ID of its parent; 0 where that is outside of our PID namespace.
    pub parent: u32,
    /// When it started, in clock ticks since the machine started. Together with its ID, it names one process: IDs are
    /// used again.
    pub started: u64,
    /// Whether it has ended and waits to be reaped.
    pub has_ended: bool,
}

/// Reads a process.
///
/// # Errors
/// Those of the file, such as `NotFound`; `InvalidData` where it has another shape.
pub fn read_process(pid: u32) -> io::Result<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat"))?;
    parse_stat(&String::from_utf8_lossy(&stat)).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Returns the inode of this process's PID namespace; 0 where that is not known.
pub fn namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino())
}

/// Reads a line of `/proc/PID/stat`, as proc_pid_stat(5) describes it.
fn parse_stat(stat: &str) -> Option<Process> {
    // The second field is the command's name in parentheses. The name may have parentheses and spaces of its own.
    let (_, rest) = stat.rsplit_once(')')?;
    // The rest begins with the third field.
    let mut fields = rest.split_ascii_whitespace();
    let has_ended = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    // Field 22. The next field of the iterator is the fifth, behind the parent.
    let started = fields.nth(22 - 5)?.parse().ok()?;
    Some(Process { parent, started, has_ended })
}

/// Returns the child processes of the calling thread. Those of other threads are not among them.
pub fn children() -> Vec<u32> {
    // This first check whether any child exists takes a tenth of the time of reading the list, and a bridge must start
    // fast.
    let any = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    if waitid(WaitId::All, any).is_err() {
        return Vec::new();
    }
    // The file is missing where the kernel was built without it.
    let children = fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    children.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Returns when a process started, in milliseconds since 1970.
pub fn started(pid: u32) -> Option<f64> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split_ascii_whitespace().next()?.parse().ok()?;
    #[expect(clippy::cast_precision_loss, reason = "a clock of 2^53 ticks has run for millions of years")]
    let started = read_process(pid).ok()?.started as f64 / TICKS;
    let age = Duration::try_from_secs_f64((uptime - started).max(0.0)).ok()?;
    let since = SystemTime::now().checked_sub(age)?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(since.as_secs_f64() * 1000.0)
}

/// Returns whether a process still runs. If that cannot be known, it counts as running.
pub fn is_running(pid: u32) -> bool {
    match read_process(pid) {
        Ok(process) => !process.has_ended,
        // Without `/proc`, no process is found there, not even one that runs.
        Err(error) => error.kind() != io::ErrorKind::NotFound || !Path::new("/proc/self").exists(),
    }
}

/// Returns the folder that a process works in.
pub fn folder(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// The processes of an agent.
#[derive(Clone, Debug)]
pub struct AgentTree {
    /// The bridge, or the agent where the bridge did not start it.
    root: u32,
    /// When the agent started, if the root is the agent.
    agent: Option<u64>,
    /// Children that the bridge had before it started the agent: where a shell starts a program and then replaces
    /// itself by the bridge, the shell's child becomes the bridge's.
    inherited: Arc<[ProcessIdentity]>,
    /// Children that the bridge started for the person, such as notifiers.
    own: Arc<Mutex<Vec<ProcessIdentity>>>,
}

/// One process, whose ID may be used again after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProcessIdentity {
    pid: u32,
    started: u64,
}

/// The other end of a connection, as it was when it connected.
#[derive(Clone, Debug)]
pub struct Peer {
    tree: AgentTree,
    /// `None` if it had ended already.
    process: Option<ProcessIdentity>,
}

/// The position of a process in relation to the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TreePosition {
    /// In the tree.
    Inside,
    /// Not in the tree.
    Outside,
    /// The process or an ancestor has ended, or its ID was used again.
    Unknown,
}

impl AgentTree {
    /// Returns the tree of this process. Must be called before it starts the agent. `None` if the system does not
    /// tell about processes: there, none is refused.
    pub fn of_this_process() -> Option<Self> {
        let inherited = || children().into_iter().filter_map(ProcessIdentity::read).collect();
        cfg!(target_os = "linux").then(|| AgentTree {
            root: std::process::id(),
            agent: None,
            inherited: inherited(),
            own: Arc::default(),
        })
    }

    /// Returns the tree of an agent that this process did not start: the agent and what descends from it. An orphan of
    /// such an agent leaves its tree. `None` if the system does not tell about processes.
    pub fn of(agent: u32) -> Option<Self> {
        let started = ProcessIdentity::read(agent)?.started;
        cfg!(target_os = "linux").then(|| AgentTree {
            root: agent,
            agent: Some(started),
            inherited: Arc::default(),
            own: Arc::default(),
        })
    }

    /// Takes a child of this process out of the tree, with its descendants for as long as it lives: it is no part of the
    /// agent. Must be called before the child is reaped, so that its ID is still its own.
    pub fn leave_out(&self, pid: u32) {
        let bridge = std::process::id();
        let is_child = |process: &Process| process.parent == bridge && !process.has_ended;
        let Some(process) = read_process(pid).ok().filter(is_child) else { return };
        // No code panics while it holds the lock, so its data is consistent.
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        // Children that have ended are dropped, so that the list does not grow for as long as the bridge runs.
        own.retain(|named| ProcessIdentity::read(named.pid).as_ref() == Some(named));
        own.push(ProcessIdentity { pid, started: process.started });
    }

    fn is_own(&self, child: ProcessIdentity) -> bool {
        self.inherited.contains(&child)
            || self.own.lock().unwrap_or_else(PoisonError::into_inner).contains(&child)
    }

    /// Returns the process that connected. `None` for one outside of our PID namespace: no process of the tree can
    /// leave that.
    pub fn peer(&self, stream: &UnixStream) -> Option<Peer> {
        // If the system does not tell the ID, the process counts as unknown.
        let pid = stream.peer_cred().ok().and_then(|peer| peer.pid()).map(i32::cast_unsigned);
        match pid {
            Some(0) => None,
            pid => Some(Peer { tree: self.clone(), process: pid.and_then(ProcessIdentity::read) }),
        }
    }

    /// Finds the position of a process by walking up its ancestors. `find` returns the process that has an ID now.
    fn place(&self, peer: ProcessIdentity, find: impl Fn(u32) -> Option<Process>) -> TreePosition {
        let root = find(self.root);
        if self.agent.is_some_and(|started| root.is_none_or(|root| root.started != started || root.has_ended))
        {
            // Nothing descends from an agent that has ended.
            return TreePosition::Outside;
        }
        let (Some(root), Some(mut process)) = (root, find(peer.pid)) else {
            return TreePosition::Unknown;
        };
        if process.has_ended || process.started != peer.started {
            return TreePosition::Unknown;
        }
        let mut pid = peer.pid;
        if pid == self.root && self.agent.is_some() {
            return TreePosition::Inside;
        }
        for _ in 0..limits::ANCESTORS {
            // What is older than the bridge does not descend from it. A parent of 0 is outside of our PID namespace, which
            // no descendant of the bridge can leave.
            if process.started < root.started || process.parent == 0 {
                return TreePosition::Outside;
            }
            // This precedes the comparison of the parent, since the bridge is the parent of these children, too.
            if self.is_own(ProcessIdentity { pid, started: process.started }) {
                return TreePosition::Outside;
            }
            if process.parent == self.root {
                return TreePosition::Inside;
            }
            let Some(parent) = find(process.parent) else { return TreePosition::Unknown };
            // A parent is older than its child. This one is younger, so another process has taken the parent's ID.
            if parent.started > process.started {
                return TreePosition::Unknown;
            }
            (pid, process) = (process.parent, parent);
        }
        TreePosition::Unknown
    }
}

impl ProcessIdentity {
    fn read(pid: u32) -> Option<Self> {
        read_process(pid).ok().map(|Process { started, .. }| ProcessIdentity { pid, started })
    }
}

impl Peer {
    /// Returns whether the peer must not settle what the agent asked. A peer whose position is unknown must not settle
    /// it either: a program that answers lives until it has the reply.
    ///
    /// The position is looked up each time, since a process may end and leave its connection to a child.
    pub fn is_of_agent(&self) -> bool {
        if matches!(read_process(std::process::id()), Err(error) if error.kind() == ErrorKind::NotFound) {
            // There is no `/proc`, as in some sandboxes.
            return false;
        }
        let Some(process) = self.process else { return true };
        let place = || self.tree.place(process, |pid| read_process(pid).ok());
        // A process whose parent has just ended soon has a new parent, so a further walk may succeed.
        let mut places = (0..limits::WALKS).map(|_| place());
        places.find(|place| *place != TreePosition::Unknown) != Some(TreePosition::Outside)
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, collections::BTreeMap};

    use super::*;
    use crate::limits;

    #[test]
    fn the_name_of_a_command_does_not_shift_the_fields_behind_it() {
        let rest = "7 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 1234 5 6 7";
        for name in ["sh", "", "a b", ")", "((", "x) Z 9 9 9", "a)\n(b", "(sd-pam)"] {
            let expected = Process { parent: 7, started: 1234, has_ended: false };
            assert_eq!(parse_stat(&format!("43 ({name}) S {rest}\n")), Some(expected), "{name:?}");
            for ended in ["Z", "X"] {
                let process = parse_stat(&format!("43 ({name}) {ended} {rest}\n")).expect("a process");
                assert!(process.has_ended && process.parent == 7, "{name:?}");
            }
        }
        for text in ["", "43", "43 (sh", "43 (sh)", "43 (sh) S", "43 (sh) S 7 42", "43 (sh) S x 42 42 0"] {
            assert_eq!(parse_stat(text), None, "{text:?}");
        }
        assert_eq!(parse_stat(&format!("43 (sh) S {}", rest.replace("1234", "-1"))), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_read() {
        let process = read_process(std::process::id()).expect("this process");
        assert_eq!(process.parent, std::os::unix::process::parent_id());
        assert!(!process.has_ended && process.started > 0);
        assert_eq!(read_process(u32::MAX).expect_err("no process").kind(), io::ErrorKind::NotFound);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_started_in_the_past() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock").as_secs_f64();
        let started = started(std::process::id()).expect("a time");
        assert!(started / 1000.0 <= now + 1.0 && started > 0.0, "{started}");
    }

    const BRIDGE: u32 = 100;

    /// Processes by their IDs: the parent, and the start.
    type Table = BTreeMap<u32, (u32, u64)>;

    /// A shell (50) started the bridge (100), which started the agent (101); a second shell (60), and a third that is
    /// younger (70).
    fn table() -> Table {
        [(1, (0, 1)), (50, (1, 10)), (BRIDGE, (50, 20)), (101, (BRIDGE, 21)), (60, (1, 5)), (70, (1, 30))]
            .into()
    }

    fn place_in(table: &Table, pid: u32, started: u64, inherited: &[ProcessIdentity]) -> TreePosition {
        let tree = AgentTree { root: BRIDGE, agent: None, inherited: inherited.into(), own: Arc::default() };
        let find = |pid| {
            let (parent, started) = *table.get(&pid)?;
            Some(Process { parent, started, has_ended: false })
        };
        tree.place(ProcessIdentity { pid, started }, find)
    }

    /// Adds processes, and returns the place of the last.
    fn place(more: &[(u32, u32, u64)]) -> TreePosition {
        let mut table = table();
        table.extend(more.iter().map(|(pid, parent, started)| (*pid, (*parent, *started))));
        let (pid, _, started) = more[more.len() - 1];
        place_in(&table, pid, started, &[])
    }

    #[test]
    fn descendants_of_the_bridge_are_inside() {
        for (what, more) in [
            ("the agent", &[(101, BRIDGE, 21)][..]),
            ("a child of it", &[(200, 101, 30)]),
            ("a grandchild", &[(200, 101, 30), (201, 200, 31)]),
            ("an orphan that the bridge adopted", &[(300, BRIDGE, 40)]),
            ("a child of such an orphan", &[(300, BRIDGE, 40), (301, 300, 41)]),
            ("one that started in the same tick as the bridge", &[(102, BRIDGE, 20)]),
            ("one whose ID is lower than the bridge's", &[(3, 101, 50)]),
        ] {
            assert_eq!(place(more), TreePosition::Inside, "{what}");
        }
    }

    #[test]
    fn processes_beside_and_above_the_bridge_are_outside() {
        for (what, more) in [
            ("the bridge itself", &[(BRIDGE, 50, 20)][..]),
            ("its parent", &[(50, 1, 10)]),
            ("a sibling", &[(200, 50, 30)]),
            ("a child of a sibling", &[(200, 50, 30), (201, 200, 31)]),
            ("an older process", &[(60, 1, 5)]),
            ("a young child of an older process", &[(200, 60, 99)]),
            ("a child of a younger shell", &[(200, 70, 31)]),
            ("the init process", &[(1, 0, 1)]),
            ("one whose parent is in another PID namespace", &[(200, 0, 30)]),
        ] {
            assert_eq!(place(more), TreePosition::Outside, "{what}");
        }
    }

    #[test]
    fn a_process_older_than_the_bridge_is_outside_whatever_is_above_it() {
        // `hidepid` hides the processes of other users.
        assert_eq!(place(&[(200, 199, 19)]), TreePosition::Outside);
        assert_eq!(place(&[(200, 199, 21)]), TreePosition::Unknown);
    }

    #[test]
    fn what_cannot_be_judged_is_unknown() {
        for (what, more) in [
            ("its parent is gone", &[(200, 199, 30)][..]),
            ("a grandparent is gone", &[(199, 198, 30), (200, 199, 31)]),
            ("its parent is younger: the ID was used again", &[(199, 70, 32), (200, 199, 31)]),
            ("a cycle", &[(199, 200, 30), (200, 199, 30)]),
            ("its own parent", &[(200, 200, 30)]),
        ] {
            assert_eq!(place(more), TreePosition::Unknown, "{what}");
        }
        // It is gone, or its ID was used again.
        assert_eq!(place_in(&table(), 200, 30, &[]), TreePosition::Unknown);
        assert_eq!(place_in(&table(), 70, 29, &[]), TreePosition::Unknown);
        assert_eq!(place_in(&table(), 101, 22, &[]), TreePosition::Unknown);
        assert_eq!(place_in(&Table::new(), BRIDGE, 20, &[]), TreePosition::Unknown);
    }

    #[test]
    fn a_process_that_has_ended_is_unknown_even_before_it_is_reaped() {
        let tree = AgentTree { root: BRIDGE, agent: None, inherited: Arc::default(), own: Arc::default() };
        let place = |has_ended| {
            let find = |pid| {
                let (parent, started) = *table().get(&pid)?;
                Some(Process { parent, started, has_ended: has_ended && pid == 70 })
            };
            tree.place(ProcessIdentity { pid: 70, started: 30 }, find)
        };
        assert_eq!((place(false), place(true)), (TreePosition::Outside, TreePosition::Unknown));
    }

    #[test]
    fn a_walk_is_bounded() {
        let chain = |length: u32| {
            let mut table = table();
            table
                .extend((0..length).map(|step| (1000 + step, (if step == 0 { 70 } else { 999 + step }, 40))));
            let steps = Cell::new(0);
            let tree =
                AgentTree { root: BRIDGE, agent: None, inherited: Arc::default(), own: Arc::default() };
            let find = |pid| {
                steps.set(steps.get() + 1);
                let (parent, started) = *table.get(&pid)?;
                Some(Process { parent, started, has_ended: false })
            };
            (tree.place(ProcessIdentity { pid: 999 + length, started: 40 }, find), steps.get())
        };
        assert_eq!(chain(100).0, TreePosition::Outside);
        let (place, steps) = chain(100_000);
        assert_eq!((place, steps), (TreePosition::Unknown, limits::ANCESTORS + 2));
    }

    #[test]
    fn children_that_the_bridge_had_before_the_agent_are_outside() {
        let mut table = table();
        table.extend([(80, (BRIDGE, 20)), (81, (80, 40)), (82, (BRIDGE, 41))]);
        let inherited = [ProcessIdentity { pid: 80, started: 20 }];
        for (pid, started, expected) in [
            (80, 20, TreePosition::Outside),
            (81, 40, TreePosition::Outside),
            (82, 41, TreePosition::Inside),
            (101, 21, TreePosition::Inside),
        ] {
            assert_eq!(place_in(&table, pid, started, &inherited), expected, "{pid}");
        }
        // Another process has its ID by now.
        table.insert(80, (BRIDGE, 50));
        assert_eq!(place_in(&table, 80, 50, &inherited), TreePosition::Inside);
    }

    #[test]
    fn what_the_bridge_started_for_the_person_is_outside_with_its_descendants() {
        let mut table = table();
        // A notifier of the bridge, a command that it runs, and a process that has the number of another notifier by now.
        table.extend([(90, (BRIDGE, 40)), (91, (90, 41)), (92, (BRIDGE, 50))]);
        let own = vec![ProcessIdentity { pid: 90, started: 40 }, ProcessIdentity { pid: 92, started: 42 }];
        let tree = AgentTree {
            root: BRIDGE,
            agent: None,
            inherited: Arc::default(),
            own: Arc::new(Mutex::new(own)),
        };
        let find = |pid| {
            let (parent, started) = *table.get(&pid)?;
            Some(Process { parent, started, has_ended: false })
        };
        let place = |pid: u32| tree.place(ProcessIdentity { pid, started: table[&pid].1 }, find);
        assert_eq!((place(90), place(91)), (TreePosition::Outside, TreePosition::Outside));
        assert_eq!((place(92), place(101)), (TreePosition::Inside, TreePosition::Inside));
    }

    #[test]
    fn an_agent_that_was_there_before_is_inside_with_its_descendants() {
        let mut table = table();
        // The agent is 60. It started a hook, which started a notifier for the person.
        table.extend([(200, (60, 30)), (201, (200, 40)), (202, (201, 41)), (203, (200, 42))]);
        let own = Arc::new(Mutex::new(vec![ProcessIdentity { pid: 201, started: 40 }]));
        let tree = AgentTree { root: 60, agent: Some(5), inherited: Arc::default(), own };
        let find = |pid| {
            let (parent, started) = *table.get(&pid)?;
            Some(Process { parent, started, has_ended: false })
        };
        let place = |pid: u32| tree.place(ProcessIdentity { pid, started: table[&pid].1 }, find);
        for (pid, expected) in [
            (60, TreePosition::Inside),
            (200, TreePosition::Inside),
            (203, TreePosition::Inside),
            (201, TreePosition::Outside),
            (202, TreePosition::Outside),
            (50, TreePosition::Outside),
            (1, TreePosition::Outside),
        ] {
            assert_eq!(place(pid), expected, "{pid}");
        }
    }

    #[test]
    fn nothing_is_inside_once_the_agent_has_ended() {
        let (inherited, own) = (Arc::default(), Arc::default());
        let tree = AgentTree { root: 60, agent: Some(5), inherited, own };
        let places = |agent: Option<Process>| {
            [(60, 5), (200, 30), (50, 10)].map(|(pid, started)| {
                let mut table = table();
                table.insert(200, (60, 30));
                let find = |pid| {
                    let (parent, started) = *table.get(&pid)?;
                    if pid == 60 { agent } else { Some(Process { parent, started, has_ended: false }) }
                };
                tree.place(ProcessIdentity { pid, started }, find)
            })
        };
        let agent = Process { parent: 1, started: 5, has_ended: false };
        assert_eq!(places(Some(agent)), [TreePosition::Inside, TreePosition::Inside, TreePosition::Outside]);
        // It is gone, it was not reaped yet, or another process has its ID by now.
        for agent in
            [None, Some(Process { has_ended: true, ..agent }), Some(Process { started: 31, ..agent })]
        {
            assert_eq!(places(agent), [TreePosition::Outside; 3], "{agent:?}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn only_a_child_of_the_bridge_is_left_out() {
        let tree = AgentTree::of_this_process().expect("a tree");
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().expect("a child");
        let place = |pid: u32| {
            let named = ProcessIdentity::read(pid).expect("a process");
            tree.place(named, |pid| read_process(pid).ok())
        };
        assert_eq!(place(child.id()), TreePosition::Inside);
        tree.leave_out(child.id());
        assert_eq!(place(child.id()), TreePosition::Outside);
        tree.leave_out(std::os::unix::process::parent_id());
        assert_eq!(tree.own.lock().expect("a list").len(), 1);
        child.kill().expect("it ends");
        child.wait().expect("it has ended");
    }
}
