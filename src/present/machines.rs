//! How other machines are connected, as lines for people and as JSON.

use askbridge_core::desk::Timestamp;
use askbridge_os::terminal::printable_line;

use super::text::{self, span};
use crate::{
    inbox::report::{ConnectedMachine, MachineReport},
    machine::Gaps,
};

/// Returns how a machine is connected, such as `connected for 2h, askbridge 0.1.0`.
pub fn state(report: &MachineReport, now: Timestamp) -> String {
    if let Some(since) = report.connected_at {
        let version = report.version.as_deref().map(|version| format!(", askbridge {}", text::line(version)));
        return format!("connected for {}{}", span(now.since(since)), version.unwrap_or_default());
    }
    let Some(problem) = &report.problem else { return "being connected to for the first time".to_owned() };
    let again = match report.retry_at.map(|at| at.since(now)) {
        Some(left) if left.as_secs() > 0 => format!("tried again in {}", span(left)),
        _ => "being tried again".to_owned(),
    };
    format!("not connected: {}; {again}", printable_line(problem))
}

/// Returns a line for each machine that is not connected.
pub(super) fn gap_lines(gaps: &Gaps) -> impl Iterator<Item = String> + use<'_> {
    gaps.machines.iter().map(|ConnectedMachine { name, report }| match &report.problem {
        Some(problem) => format!("{name} is not connected: {}", printable_line(problem)),
        None => format!("{name} is not connected yet"),
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_machine_is_connected_or_says_why_not_and_when_it_is_tried_again() {
        let now = Timestamp::from(SystemTime::UNIX_EPOCH + Duration::from_secs(10_000));
        let at = |seconds: u64| Some(Timestamp::from(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)));
        let mut report = MachineReport::default();
        assert_eq!(state(&report, now), "being connected to for the first time");
        report.connected_at = at(2800);
        report.version = Some("0.1.0\u{1b}[2J".to_owned());
        assert_eq!(state(&report, now), "connected for 2h, askbridge 0.1.0\u{241b}[2J");
        report.connected_at = None;
        report.problem = Some("no route to the host\u{7}".to_owned());
        assert_eq!(state(&report, now), "not connected: no route to the host\u{2407}; being tried again");
        report.retry_at = at(10_012);
        assert_eq!(state(&report, now), "not connected: no route to the host\u{2407}; tried again in 12s");

        let machines = vec![ConnectedMachine { name: "box".parse().expect("a name"), report }];
        let gaps = Gaps { machines, ..Gaps::default() };
        assert_eq!(
            gap_lines(&gaps).collect::<Vec<_>>(),
            ["box is not connected: no route to the host\u{2407}"]
        );
        assert!(!gaps.has_asked_all());
    }
}
