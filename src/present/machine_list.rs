//! The machines of the settings, as a table and as JSON. How each is connected is put into words in `machines.rs`.

use std::time::SystemTime;

use askbridge_core::desk::MachineName;
use serde::Serialize;

use super::{
    layout::{Column, Columns, NarrowingStep},
    machines, text,
};
use crate::inbox::{report::MachineReport, status::BridgeStatus};

/// The least width of the column with the state of the connection: below it, `REACHED BY` is cut.
const LEAST: usize = 40;
/// The width to which `REACHED BY` is cut.
const ROUTE: usize = 20;

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
        let state = |machine: &ListedMachine| match &machine.report {
            Some(report) => machines::state(report, now),
            None if self.has_inbox => "not connected: the inbox has not tried to connect yet".to_owned(),
            None => "not connected: no inbox runs here".to_owned(),
        };
        let column = |head, cell: &dyn Fn(&ListedMachine) -> String| {
            Column::new(head, self.machines.iter().map(cell).collect())
        };
        let columns =
            vec![column("MACHINE", &|machine| machine.name.to_string()), column("REACHED BY", &reached_by)];
        let mut columns = Columns::new(columns, column("STATE", &state));
        if let Some(room) = room {
            let steps = [
                (LEAST, NarrowingStep::Cut("REACHED BY", ROUTE)),
                (LEAST, NarrowingStep::Drop("REACHED BY")),
            ];
            columns.fit(room, &steps);
        }
        let mut lines = columns.lines();
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
    use super::*;

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
