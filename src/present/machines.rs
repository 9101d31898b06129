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

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

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
}
