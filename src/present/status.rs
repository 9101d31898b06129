//! What runs on this machine, as a table and as JSON: the bridges, where they were looked for, and what does not reply.
//! Joining the bridges is left to `machine`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use askbridge_control::{
    inbox::{BridgeStatus, report::ConnectedMachine},
    join::Gaps,
};
use askbridge_core::desk::QuestionId;
use askbridge_os::terminal::printable_line;
use serde::Serialize;

use super::{
    bridges::{self, UnreachableBridges},
    fleet::BrokerStatus,
    layout::{NarrowingStep, Table},
    machines,
    text::{self, NONE, span},
};

/// The version of this program.
const THIS_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The name of the inbox in the background, as an agent.
pub const INBOX: &str = "askbridge inbox";

/// With so many columns, most folders can be read as a whole.
const COMFORT: usize = 30;
/// The least width of a folder, and of an agent. Below that, the column of the agent is left out.
const LEAST: usize = 12;

/// The bridges of this machine.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "MachineStatus"))]
pub struct MachineStatus {
    /// The directory that was searched first for the sockets of bridges.
    pub directory: PathBuf,
    /// The other directories that were searched: those of processes with another environment.
    pub other_directories: Vec<PathBuf>,
    /// The bridges that replied, oldest first. A program that asks, and `askbridge inbox`, count as bridges.
    pub bridges: Vec<BridgeStatus>,
    /// The sockets of bridges that did not reply.
    pub unreachable: Vec<PathBuf>,
    /// The sockets of bridges that could not be asked, since the command had no file descriptor left.
    pub no_descriptors: Vec<PathBuf>,
    /// The sockets of bridges that were too busy to reply: they had too many connections or calls.
    pub busy: Vec<PathBuf>,
    /// The sockets of bridges that speak a protocol of a version before 1.
    pub older: Vec<PathBuf>,
    /// The other machines.
    pub machines: Vec<ConnectedMachine>,
    /// The broker of the fleet. Absent if the settings name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet: Option<BrokerStatus>,
    /// The IDs of the open questions that need a newer askbridge, as far as they can be read.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub unreadable: Vec<QuestionId>,
    /// Bridges with open questions that could not be asked, because their sockets are in another directory.
    pub elsewhere: Vec<UnreachableBridges>,
}

impl MachineStatus {
    /// Builds the status of the bridges in these directories, including the bridges that did not reply.
    pub fn new(
        directories: &[PathBuf],
        bridges: Vec<BridgeStatus>,
        gaps: &Gaps,
        unreadable: Vec<QuestionId>,
    ) -> Self {
        MachineStatus {
            directory: directories.first().cloned().unwrap_or_default(),
            other_directories: directories.iter().skip(1).cloned().collect(),
            bridges,
            unreachable: gaps.unreachable.clone(),
            no_descriptors: gaps.no_descriptors.clone(),
            busy: gaps.busy.clone(),
            older: gaps.older.clone(),
            machines: Vec::new(),
            fleet: None,
            unreadable,
            elsewhere: Vec::new(),
        }
    }

    /// Returns the status as lines for people. On a terminal of `room` columns, the table is cut to fit.
    pub fn lines(&self, room: Option<usize>) -> Vec<String> {
        let directories: Vec<_> =
            [&self.directory].into_iter().chain(&self.other_directories).cloned().collect();
        let directory = super::listing::folders(&directories);
        let elsewhere = bridges::unreachable_lines(&self.elsewhere, &directories);
        let unasked = [&self.unreachable, &self.no_descriptors, &self.busy, &self.older];
        let is_empty = self.bridges.is_empty() && self.machines.is_empty() && self.fleet.is_none();
        if is_empty && unasked.iter().all(|sockets| sockets.is_empty()) {
            let none = match elsewhere.is_empty() {
                true => format!("no bridge runs (looked in {directory})"),
                false => format!("no bridge runs in {directory}"),
            };
            return [none].into_iter().chain(elsewhere).collect();
        }
        let mut lines = if self.bridges.is_empty() { Vec::new() } else { self.table(room) };
        let mut notes = vec![format!("looked in {directory}")];
        let now = SystemTime::now().into();
        notes.extend(self.fleet.as_ref().map(|fleet| format!("fleet: {}", fleet.line())));
        notes.extend(
            self.machines
                .iter()
                .map(|machine| format!("{}: {}", machine.name, machines::state(&machine.report, now))),
        );
        notes.extend(self.unreachable.iter().map(|path| format!("did not reply: {}", socket(path))));
        let advice = "raise the limit with `ulimit -n`";
        notes.extend(
            self.no_descriptors
                .iter()
                .map(|path| format!("not asked for want of file descriptors: {}: {advice}", socket(path))),
        );
        notes.extend(self.busy.iter().map(|path| format!("is too busy: {}", socket(path))));
        notes.extend(self.older.iter().map(|path| super::listing::older(path)));
        notes.extend(self.unreadable.iter().map(|id| format!("{id} needs a newer askbridge")));
        // A bridge counts every unreadable question, also those whose IDs are listed above.
        let unnamed = self.bridges.iter().map(|bridge| bridge.unreadable).sum::<usize>();
        match unnamed.saturating_sub(self.unreadable.len()) {
            0 => {}
            1 => notes.push("1 more question without a readable ID needs a newer askbridge".to_owned()),
            more => notes.push(format!("{more} more questions without a readable ID need a newer askbridge")),
        }
        notes.extend(self.other_versions());
        notes.extend(elsewhere);
        if !lines.is_empty() {
            lines.push(String::new());
        }
        // Instructions are not cut: the terminal wraps them.
        lines.extend(notes);
        lines
    }

    /// Names the bridges that run another askbridge than this one, a line for each version.
    fn other_versions(&self) -> Vec<String> {
        let mut versions = BTreeMap::<&str, Vec<String>>::new();
        for bridge in self.bridges.iter().filter(|bridge| bridge.version != THIS_VERSION) {
            versions.entry(&bridge.version).or_default().push(bridge.bridge.to_string());
        }
        let line = |(version, names): (&str, Vec<String>)| {
            let (verb, agents) =
                if names.len() == 1 { ("runs", "its agent") } else { ("run", "their agents") };
            let (names, version) = (names.join(", "), text::line(version));
            format!(
                "{names} {verb} askbridge {version}, and this is {THIS_VERSION}: restart {agents} to change that"
            )
        };
        versions.into_iter().map(line).collect()
    }

    fn table(&self, room: Option<usize>) -> Vec<String> {
        let up = |uptime| span(Duration::from_millis(uptime));
        let row = |bridge: &BridgeStatus| {
            [
                bridge.bridge.to_string(),
                bridge.pid.to_string(),
                text::line(&bridge.version),
                text::line(&text::agent_of(bridge)),
                bridge.open.to_string(),
                bridge.uptime_ms.map_or_else(|| NONE.to_owned(), up),
                // The inbox in the background is in no folder of the person's.
                if bridge.agent == INBOX { NONE.to_owned() } else { text::line(&bridge.folder) },
            ]
        };
        let steps = [
            (COMFORT, NarrowingStep::Cut("AGENT", LEAST)),
            (LEAST, NarrowingStep::Drop("VERSION")),
            (LEAST, NarrowingStep::Drop("AGENT")),
            (LEAST, NarrowingStep::Drop("UP")),
        ];
        let heads = ["BRIDGE", "PID", "VERSION", "AGENT", "OPEN", "UP", "FOLDER"];
        Table::new(heads, self.bridges.iter().map(row)).lines(room, &steps)
    }
}

fn socket(path: &Path) -> String {
    printable_line(&path.display().to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn status() -> MachineStatus {
        let bridge = |name: &str, agent: &str, folder: &str, unreadable: usize| {
            let status = json!({
                "protocol": 1, "bridge": name, "pid": 4321, "version": THIS_VERSION, "agent": agent, "folder": folder,
                "startedAt": "2026-11-21T12:00:00Z", "uptimeMs": 7_200_000, "open": 2, "unreadable": unreadable,
            });
            serde_json::from_value(status).expect("a status")
        };
        let bridges = vec![
            bridge("k3f9q2", "npx @zed-industries/claude-code-acp", "/data/me/src/payments", 2),
            bridge("m4b7xa", "/opt/bin/\u{1b}agent --acp", "/data/me/a-project-with-a-long-name", 0),
            bridge("x2c8wd", INBOX, "/", 0),
        ];
        let gaps = Gaps {
            unreachable: vec!["/run/mute.sock".into()],
            busy: vec!["/run/busy.sock".into()],
            ..Gaps::default()
        };
        let unreadable = vec!["k3f9q2-4".parse().expect("an ID")];
        MachineStatus::new(&["/run".into()], bridges, &gaps, unreadable)
    }

    #[test]
    fn each_bridge_is_a_line_and_what_is_missing_is_named() {
        let notes = "
looked in /run
did not reply: /run/mute.sock
is too busy: /run/busy.sock
k3f9q2-4 needs a newer askbridge
1 more question without a readable ID needs a newer askbridge";
        let whole = "BRIDGE  PID   VERSION  AGENT            OPEN  UP  FOLDER
k3f9q2  4321  0.1.0    claude-code-acp  2     2h  /data/me/src/payments
m4b7xa  4321  0.1.0    \u{241b}agent           2     2h  /data/me/a-project-with-a-long-name
x2c8wd  4321  0.1.0    askbridge inbox  2     2h  -
";
        let at_80 = "BRIDGE  PID   VERSION  AGENT            OPEN  UP  FOLDER
k3f9q2  4321  0.1.0    claude-code-acp  2     2h  /data/me/src/payments
m4b7xa  4321  0.1.0    \u{241b}agent           2     2h  /data/me/a-project-with-a-lon…
x2c8wd  4321  0.1.0    askbridge inbox  2     2h  -
";
        let at_40 = "BRIDGE  PID   OPEN  UP  FOLDER
k3f9q2  4321  2     2h  /data/me/src/pa…
m4b7xa  4321  2     2h  /data/me/a-proj…
x2c8wd  4321  2     2h  -
";
        for (room, shown) in [(None, whole), (Some(200), whole), (Some(80), at_80), (Some(40), at_40)] {
            let shown = shown.replace("0.1.0", THIS_VERSION);
            assert_eq!(status().lines(room).join("\n"), shown + notes, "{room:?}");
        }
    }

    #[test]
    fn bridges_of_another_version_are_named() {
        let mut status = status();
        let [first, second, ..] = status.bridges.as_mut_slice() else { panic!("two bridges") };
        first.version = "0.0.9".to_owned();
        let notes = |status: &MachineStatus| {
            let lines = status.lines(None).into_iter();
            lines.filter(|line| line.contains("and this is")).collect::<Vec<_>>()
        };
        let first_only = format!(
            "k3f9q2 runs askbridge 0.0.9, and this is {THIS_VERSION}: restart its agent to change that"
        );
        second.version = THIS_VERSION.to_owned();
        assert_eq!(notes(&status), [first_only]);
        status.bridges[1].version = "0.0.9".to_owned();
        let both = format!(
            "k3f9q2, m4b7xa run askbridge 0.0.9, and this is {THIS_VERSION}: restart their agents to change that"
        );
        assert_eq!(notes(&status), [both]);
    }

    #[test]
    fn an_empty_machine_says_where_it_looked() {
        let mut status = MachineStatus::new(&["/run".into()], Vec::new(), &Gaps::default(), Vec::new());
        assert_eq!(status.lines(None), ["no bridge runs (looked in /run)"]);
        status.unreachable.push("/run/mute.sock".into());
        assert_eq!(status.lines(None), ["looked in /run", "did not reply: /run/mute.sock"]);
    }
}
