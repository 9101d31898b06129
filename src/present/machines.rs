//! Other machines in words: how each is connected, which of them may have questions that a list lacks, and the table of
//! all. Also the JSON of that table.

use std::time::SystemTime;

use askbridge_core::desk::{MachineName, Timestamp};
use askbridge_os::terminal::printable_line;
use serde::Serialize;

use super::{
    layout::{NarrowingStep, Table},
    text::{self, span},
};
use crate::{
    inbox::{
        report::{ConnectedMachine, MachineReport},
        status::BridgeStatus,
    },
    machine::Gaps,
};

/// The least width of the column with the state of the connection: below it, `REACHED BY` is cut.
const LEAST: usize = 40;
/// The width to which `REACHED BY` is cut.
const ROUTE: usize = 20;

/// Returns how a machine is connected, such as `connected for 2h, askbridge 0.1.0`.
pub fn state(report: &MachineReport, now: Timestamp) -> String {
    if let Some(since) = report.connected_at {
        let version = report.version.as_deref().map(|version| format!(", askbridge {}", text::line(version)));
        let unasked = match report.unasked {
            0 => String::new(),
            1 => ", a bridge there did not reply".to_owned(),
            several => format!(", {several} bridges there did not reply"),
        };
        return format!("connected for {}{}{unasked}", span(now.since(since)), version.unwrap_or_default());
    }
    let Some(problem) = &report.problem else { return "connecting for the first time".to_owned() };
    let again = match report.retry_at.map(|at| at.since(now)) {
        Some(left) if left.as_secs() > 0 => format!("next attempt in {}", span(left)),
        _ => "connecting again".to_owned(),
    };
    format!("not connected: {}; {again}", printable_line(problem))
}

/// Returns a line for each machine whose questions may be missing.
pub(super) fn gap_lines(gaps: &Gaps) -> impl Iterator<Item = String> + use<'_> {
    gaps.machines.iter().map(|ConnectedMachine { name, report }| {
        match (&report.problem, report.connected_at) {
            (Some(problem), _) => format!("{name} is not connected: {}", printable_line(problem)),
            (None, None) => {
                format!("{name} has not replied yet: `askbridge list --host {name}` waits for it")
            }
            (None, Some(_)) => {
                let bridges = if report.unasked == 1 { "a bridge" } else { "bridges" };
                let count = if report.unasked == 1 { String::new() } else { format!("{} ", report.unasked) };
                format!("questions may be missing: {count}{bridges} did not reply on {name}")
            }
        }
    })
}

/// Returns one line that names the machines that did not reply, and what to do. `None` if all did.
pub(super) fn not_connected(gaps: &Gaps) -> Option<String> {
    match &gaps.machines[..] {
        [] => None,
        [ConnectedMachine { name, report }] => {
            let again = format!("`askbridge list --host {name}` tries again");
            gap_lines(gaps).next().map(|why| if report.is_new() { why } else { format!("{why}; {again}") })
        }
        several => {
            let names = several.iter().map(|machine| machine.name.as_str()).collect::<Vec<_>>().join(", ");
            Some(format!("{names} are not connected: `askbridge status` says why"))
        }
    }
}

/// The machines of the settings, and those of the fleet that are connected to.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "MachineList"))]
pub struct MachineList {
    /// The machines, in the order of their names.
    pub machines: Vec<ListedMachine>,
    /// Whether `askbridge inbox` runs in the background, which keeps all of them connected.
    pub has_inbox: bool,
}

/// One machine.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ListedMachine {
    /// The name that the settings or the fleet give to it, with which the IDs of its questions begin.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub name: MachineName,
    /// The host that ssh connects to. Absent if a command connects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssh: Option<String>,
    /// The command that connects. Absent if ssh does, and absent with `ssh` if the fleet does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// How it is connected, as the process that keeps the connection reports it. Absent if there is no such process, or
    /// if it does not reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<MachineReport>,
}

impl MachineList {
    /// Returns the machines as lines for people. On a terminal of `room` columns, the table is cut to fit.
    pub fn lines(&self, room: Option<usize>) -> Vec<String> {
        if self.machines.is_empty() {
            return vec!["no machine is set up: `askbridge machine add NAME --ssh HOST` adds one".to_owned()];
        }
        let now = SystemTime::now().into();
        let row = |machine: &ListedMachine| {
            let state = match &machine.report {
                Some(report) => state(report, now),
                None if self.has_inbox => "not connected: the inbox has not tried to connect yet".to_owned(),
                None => "not connected: no inbox runs here".to_owned(),
            };
            [machine.name.to_string(), reached_by(machine), state]
        };
        let steps =
            [(LEAST, NarrowingStep::Cut("REACHED BY", ROUTE)), (LEAST, NarrowingStep::Drop("REACHED BY"))];
        let table = Table::new(["MACHINE", "REACHED BY", "STATE"], self.machines.iter().map(row));
        let mut lines = table.lines(room, &steps);
        if !self.has_inbox && self.machines.iter().any(|machine| machine.report.is_none()) {
            lines.extend([String::new(), KEPT_BY.to_owned()]);
        }
        lines
    }
}

/// How machines stay connected.
pub const KEPT_BY: &str =
    "`askbridge inbox --detach` keeps machines connected; without it, each command connects by itself";

fn reached_by(machine: &ListedMachine) -> String {
    match (&machine.ssh, &machine.command) {
        (Some(host), _) => text::line(&format!("ssh {host}")),
        (None, Some(words)) => text::line(&words.join(" ")),
        (None, None) => "the fleet".to_owned(),
    }
}

/// Returns what was found on a machine, such as `askbridge 0.1.0, 2 bridges, 1 open question`.
pub fn found(version: &str, bridges: &[BridgeStatus]) -> String {
    let counted = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    };
    let open = bridges.iter().map(|bridge| bridge.open).sum();
    format!(
        "askbridge {}, {}, {}",
        text::line(version),
        counted(bridges.len(), "bridge"),
        counted(open, "open question")
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_machine_is_connected_or_says_why_not_and_when_it_is_tried_again() {
        let now = Timestamp::from(SystemTime::UNIX_EPOCH + Duration::from_secs(10_000));
        let at = |seconds: u64| Some(Timestamp::from(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)));
        let mut report = MachineReport::default();
        assert_eq!(state(&report, now), "connecting for the first time");
        report.connected_at = at(2800);
        report.version = Some("0.1.0\u{1b}[2J".to_owned());
        assert_eq!(state(&report, now), "connected for 2h, askbridge 0.1.0\u{241b}[2J");
        report.connected_at = None;
        report.problem = Some("no route to the host\u{7}".to_owned());
        assert_eq!(state(&report, now), "not connected: no route to the host\u{2407}; connecting again");
        report.retry_at = at(10_012);
        assert_eq!(state(&report, now), "not connected: no route to the host\u{2407}; next attempt in 12s");

        let machine = |name: &str, report: &MachineReport| ConnectedMachine {
            name: name.parse().expect("a name"),
            report: report.clone(),
        };
        let new = MachineReport::default();
        let partly = MachineReport { connected_at: at(2800), unasked: 2, ..MachineReport::default() };
        let all = [machine("box", &report), machine("new", &new), machine("lab", &partly)];
        let gaps = Gaps { machines: all.into(), ..Gaps::default() };
        assert_eq!(
            gap_lines(&gaps).collect::<Vec<_>>(),
            [
                "box is not connected: no route to the host\u{2407}",
                "new has not replied yet: `askbridge list --host new` waits for it",
                "questions may be missing: 2 bridges did not reply on lab",
            ]
        );
        assert!(!gaps.has_asked_all());
        assert_eq!(state(&partly, now), "connected for 2h, 2 bridges there did not reply");
    }

    fn machine(name: &str, report: Option<MachineReport>) -> ListedMachine {
        let name = name.parse().expect("a name");
        ListedMachine { name, ssh: Some("me@box.lan".to_owned()), command: None, report }
    }

    #[test]
    fn each_machine_has_a_line_and_what_is_missing_is_said() {
        let report = MachineReport {
            connected_at: Some(SystemTime::now().into()),
            version: Some("9.9".to_owned()),
            ..MachineReport::default()
        };
        let command = Some(vec!["docker".to_owned(), "exec\u{1b}".to_owned()]);
        let dev = ListedMachine { ssh: None, command, ..machine("dev", None) };
        let machines = vec![machine("box", Some(report)), dev];
        let mut list = MachineList { machines, has_inbox: false };
        assert_eq!(
            list.lines(None),
            [
                "MACHINE  REACHED BY      STATE",
                "box      ssh me@box.lan  connected for 0s, askbridge 9.9",
                "dev      docker exec\u{241b}    not connected: no inbox runs here",
                "",
                KEPT_BY
            ]
        );
        list.has_inbox = true;
        assert!(
            list.lines(Some(60)).iter().all(|line| line.chars().count() <= 60),
            "{:?}",
            list.lines(Some(60))
        );
        list.machines.clear();
        assert_eq!(
            list.lines(None),
            ["no machine is set up: `askbridge machine add NAME --ssh HOST` adds one"]
        );
    }
}
