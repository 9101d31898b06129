//! Other machines in words: how each is connected, which of them may have questions that a list lacks, and the table of
//! all. Also the JSON of that table.

use std::time::SystemTime;

use askbridge_control::{
    inbox::{
        BridgeStatus,
        report::{ConnectedMachine, MachineReport, UNREPLIED},
    },
    join::Gaps,
};
use askbridge_core::desk::{MachineName, Timestamp};
use askbridge_os::terminal::printable_line;
use serde::Serialize;

use super::{
    fleet::BrokerStatus,
    layout::{NarrowingStep, Table},
    text::{self, span},
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
    if report.is_slow() {
        return format!("connecting for the first time: {UNREPLIED}");
    }
    let again = match report.retry_at.map(|at| at.since(now)) {
        Some(left) if left.as_secs() > 0 => format!("next attempt in {}", span(left)),
        _ => "connecting again".to_owned(),
    };
    format!("not connected: {}; {again}", printable_line(problem))
}

/// Returns the lines on the machines whose questions may be missing: one for each reason, since a broker that fails
/// takes many with it. Those that are missing with the fleet are not named, where the reason is the same.
pub(super) fn gap_lines(gaps: &Gaps) -> Vec<String> {
    let (mut partly, mut new, mut away) = (Vec::new(), Vec::new(), Vec::<(&str, Vec<_>)>::new());
    for machine in &gaps.machines {
        match machine.report.problem.as_deref() {
            None if machine.report.is_new() => new.push(machine),
            None => partly.push(partly_asked(machine)),
            Some(problem) if gaps.fleet.as_ref().is_some_and(|fleet| fleet.ends_with(problem)) => {}
            Some(problem) => match away.iter_mut().find(|(reason, _)| *reason == problem) {
                Some((_, machines)) => machines.push(machine),
                None => away.push((problem, vec![machine])),
            },
        }
    }
    let away = away.iter().map(|(problem, machines)| not_reached(problem, machines));
    away.chain(partly).chain(connecting(&new)).collect()
}

fn partly_asked(ConnectedMachine { name, report }: &ConnectedMachine) -> String {
    let bridges =
        if report.unasked == 1 { "a bridge".to_owned() } else { format!("{} bridges", report.unasked) };
    format!("questions may be missing: {bridges} did not reply on {name}")
}

/// Returns a line on machines that are not connected for the same reason.
fn not_reached(problem: &str, machines: &[&ConnectedMachine]) -> String {
    let (is, has, host) = match machines {
        [only] => ("is", "has", only.name.as_str()),
        _ => ("are", "have", "MACHINE"),
    };
    match problem {
        UNREPLIED => {
            format!("{} {has} not replied yet: `askbridge list --host {host}` waits for it", names(machines))
        }
        _ => format!("{} {is} not connected: {}", names(machines), printable_line(problem)),
    }
}

/// The most machines that one line names.
const NAMED: usize = 3;
/// The end of the line on the machines that are being connected to for the first time.
const CONNECTING: &str = " being connected to";

/// Returns a line on the machines that are being connected to for the first time, if there are any.
fn connecting(new: &[&ConnectedMachine]) -> Option<String> {
    let are = if new.len() == 1 { "is" } else { "are" };
    (!new.is_empty()).then(|| format!("{} {are}{CONNECTING}", names(new)))
}

/// Returns whether a line is the one on the machines that are being connected to. It changes with each of them.
pub(super) fn is_connecting(line: &str) -> bool {
    line.ends_with(CONNECTING)
}

/// Names the machines that have questions that are not listed. `None` if there are none.
pub(super) fn hidden_on(gaps: &Gaps) -> Option<String> {
    (!gaps.hidden_on.is_empty()).then(|| named(gaps.hidden_on.iter()))
}

/// Names the first of these machines, and counts the others.
fn names(machines: &[&ConnectedMachine]) -> String {
    named(machines.iter().map(|machine| &machine.name))
}

fn named<'a>(machines: impl ExactSizeIterator<Item = &'a MachineName>) -> String {
    let count = machines.len();
    let named: Vec<_> = machines.take(NAMED).map(MachineName::as_str).collect();
    match count - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more machines", named.join(", ")),
    }
}

/// Returns one line that names the machines that did not reply, and what to do. `None` if all did.
pub(super) fn not_connected(gaps: &Gaps) -> Option<String> {
    let is_with_fleet = |machine: &&ConnectedMachine| match (&gaps.fleet, &machine.report.problem) {
        (Some(fleet), Some(problem)) => fleet.ends_with(problem),
        _ => false,
    };
    let (waits, others): (Vec<_>, Vec<_>) = gaps
        .machines
        .iter()
        .filter(|machine| !is_with_fleet(machine))
        .partition(|machine| machine.report.is_new() || machine.report.is_slow());
    let machines = match &others[..] {
        [] if waits.len() > 1 => connecting(&waits),
        [] => gap_lines(gaps).into_iter().next(),
        [only] if waits.is_empty() => {
            let why = gap_lines(gaps).into_iter().next();
            why.map(|why| format!("{why}; `askbridge list --host {}` tries again", only.name))
        }
        _ => {
            let all: Vec<_> = waits.into_iter().chain(others).collect();
            Some(format!("{} are not connected: `askbridge status` says why", names(&all)))
        }
    };
    // The reason stands above, on stderr.
    let what = gaps.fleet.as_deref().map(|why| why.split_once(": ").map_or(why, |(what, _)| what));
    let fleet = what.map(|what| printable_line(what).into_owned());
    let both: Vec<_> = machines.into_iter().chain(fleet).collect();
    (!both.is_empty()).then(|| both.join("; "))
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
    /// The broker of the fleet. Absent if the settings name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fleet: Option<BrokerStatus>,
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
            let none = "no machine is set up: `askbridge machine add NAME --ssh HOST` adds one";
            return if self.fleet.is_none() { vec![none.to_owned()] } else { self.notes() };
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
        let notes = self.notes();
        if !notes.is_empty() {
            lines.push(String::new());
        }
        lines.extend(notes);
        lines
    }

    /// Returns the lines below the table. They are not cut: the terminal wraps them.
    fn notes(&self) -> Vec<String> {
        let fleet = self.fleet.as_ref().map(|fleet| format!("fleet: {}", fleet.line()));
        let is_of_person = self.fleet.as_ref().is_some_and(|fleet| fleet.machines.is_some());
        let is_kept_by_none =
            !self.has_inbox && (is_of_person || self.machines.iter().any(|machine| machine.report.is_none()));
        fleet.into_iter().chain(is_kept_by_none.then(|| KEPT_BY.to_owned())).collect()
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
        let slow = MachineReport { problem: Some(UNREPLIED.to_owned()), ..MachineReport::default() };
        assert_eq!(state(&slow, now), "connecting for the first time: it has not replied yet");
        let partly = MachineReport { connected_at: at(2800), unasked: 2, ..MachineReport::default() };
        let all =
            [machine("box", &report), machine("new", &new), machine("slow", &slow), machine("lab", &partly)];
        let gaps = Gaps { machines: all.into(), ..Gaps::default() };
        assert_eq!(
            gap_lines(&gaps),
            [
                "box is not connected: no route to the host\u{2407}",
                "slow has not replied yet: `askbridge list --host slow` waits for it",
                "questions may be missing: 2 bridges did not reply on lab",
                "new is being connected to",
            ]
        );
        assert!(!gaps.has_asked_all());
        for (count, said) in [
            (2, "m0, m1 are being connected to"),
            (3, "m0, m1, m2 are being connected to"),
            (1000, "m0, m1, m2 and 997 more machines are being connected to"),
        ] {
            let machines = (0..count).map(|number| machine(&format!("m{number}"), &new)).collect();
            let gaps = Gaps { machines, ..Gaps::default() };
            assert_eq!(gap_lines(&gaps), [said]);
        }
        let ended =
            MachineReport { problem: Some("the connection ended".to_owned()), ..MachineReport::default() };
        let machines = (0..5).map(|number| machine(&format!("m{number}"), &ended)).collect();
        let mut gaps = Gaps { machines, ..Gaps::default() };
        assert_eq!(
            gap_lines(&gaps),
            ["m0, m1, m2 and 2 more machines are not connected: the connection ended"]
        );
        gaps.fleet = Some("the fleet is not connected: the connection ended".to_owned());
        assert!(gap_lines(&gaps).is_empty());
        assert_eq!(not_connected(&gaps).as_deref(), Some("the fleet is not connected"));
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
        let mut list = MachineList { machines, has_inbox: false, fleet: None };
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
        list.fleet = Some(BrokerStatus {
            broker: "tls://broker".to_owned(),
            machines: Some(2),
            ..BrokerStatus::default()
        });
        assert_eq!(
            list.lines(None).last().map(String::as_str),
            Some("fleet: tls://broker, 2 machines in its directory")
        );
        // No list names this machine.
        list.fleet.as_mut().unwrap().has_this = true;
        assert!(
            list.lines(None).last().unwrap().ends_with("2 machines in its directory, of which this is one")
        );
        list.fleet = None;
        list.machines.clear();
        assert_eq!(
            list.lines(None),
            ["no machine is set up: `askbridge machine add NAME --ssh HOST` adds one"]
        );
    }
}
