//! The bridges behind a list of questions: the agent and the clock of each. Also the bridges with open questions that
//! this command cannot reach, because their sockets are in the folder of another environment, in a container, or gone;
//! only the journal knows of those.
//! Joining the bridges is left to `machine`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::SystemTime,
};

use askbridge_control::inbox::{BridgeStatus, Life, WaitingBridge};
use askbridge_core::desk::{BridgeName, Record, Timestamp};
use askbridge_os::terminal::printable_line;
use serde::Serialize;

use super::text;

/// The bridges that replied.
#[derive(Debug, Default)]
pub struct Bridges(BTreeMap<BridgeName, BridgeStatus>);

impl Bridges {
    /// Takes the bridges as they describe themselves now.
    pub fn new(statuses: Vec<BridgeStatus>) -> Self {
        Bridges(statuses.into_iter().map(|status| (status.bridge.clone(), status)).collect())
    }

    /// Returns the bridge of a question.
    pub fn status(&self, record: &Record) -> Option<&BridgeStatus> {
        self.0.get(&record.bridge)
    }

    /// Returns the short name of the agent that asks: the name that it gives itself, or else that of its command.
    pub fn agent(&self, record: &Record) -> Option<String> {
        let named = record.question.agent.as_deref().filter(|name| !name.trim().is_empty());
        named.map(text::agent).or_else(|| {
            let bridge = self.status(record)?;
            (!bridge.agent.trim().is_empty()).then(|| text::agent_of(bridge))
        })
    }

    /// Returns the current time by the clock of the question's bridge, or by ours if the bridge does not tell its time.
    pub fn now(&self, record: &Record) -> Timestamp {
        self.status(record).and_then(BridgeStatus::now).unwrap_or_else(|| SystemTime::now().into())
    }
}

/// Bridges with open questions that were not asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(rename = "Elsewhere", title = "Elsewhere"))]
pub struct UnreachableBridges {
    /// The directory of their sockets, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// Whether it is known that they run. Others may run in a container.
    pub running: bool,
    /// Whether no process has their questions now: the next `askbridge inbox` opens them again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// The bridges.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub bridges: Vec<BridgeName>,
    /// The IDs of their processes, where they are known.
    pub pids: Vec<u32>,
    /// How many open questions they have.
    pub questions: usize,
}

/// Returns the bridges with open questions whose sockets were not found, grouped by directory and by whether they run.
pub fn unreachable(waiting: &[WaitingBridge], found: &BTreeSet<BridgeName>) -> Vec<UnreachableBridges> {
    let mut by_place = BTreeMap::<_, UnreachableBridges>::new();
    for WaitingBridge { bridge, life, home, kept, questions } in waiting {
        if found.contains(bridge) {
            continue;
        }
        let directory = home.as_ref().map(|home| home.folder.clone());
        let (kept, running) = (*kept, *life == Life::Lives && !kept);
        let place =
            by_place.entry((directory.clone(), running, kept)).or_insert_with(|| UnreachableBridges {
                directory,
                running,
                kept,
                bridges: Vec::new(),
                pids: Vec::new(),
                questions: 0,
            });
        place.bridges.push(bridge.clone());
        // A process ID from within a container means nothing here.
        place.pids.extend(home.iter().filter(|_| running).map(|home| home.pid));
        place.questions += questions;
    }
    by_place.into_values().collect()
}

/// Returns the lines about unreachable bridges, each with its remedy, for a command that looked in these directories.
pub fn unreachable_lines(elsewhere: &[UnreachableBridges], looked_in: &[PathBuf]) -> Vec<String> {
    let path = |path: &Path| printable_line(&path.display().to_string()).into_owned();
    let said = elsewhere.iter().flat_map(|it| {
        let questions = count(it.questions, "open question waits", "open questions wait");
        let bridges = count(it.bridges.len(), "bridge", "bridges");
        if it.kept {
            return [
                format!("{questions} for `askbridge inbox`, which keeps them and does not run now"),
                "To see what waits there: askbridge inbox --detach".to_owned(),
            ];
        }
        match (&it.directory, it.running) {
            (Some(directory), true) if !looked_in.contains(directory) => {
                // The sockets are in a subfolder of the runtime directory, which is what the variable names.
                let base = directory.parent().unwrap_or(directory);
                [
                    format!(
                        "{questions} at {bridges} in {}, where this command did not look",
                        path(directory)
                    ),
                    format!("To see what waits there: XDG_RUNTIME_DIR={} askbridge list", path(base)),
                ]
            }
            // This directory was searched, so the bridge's socket is no longer in it.
            (Some(_), true) => {
                let processes = it.pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                [
                    format!("{questions} at {bridges} whose socket is gone (process {processes})"),
                    "To continue, answer in the client, or restart the agent there.".to_owned(),
                ]
            }
            (None, true) => [
                format!("{questions} at {bridges} in another folder, where this command did not look"),
                "To see what waits there, run askbridge list where the agent runs.".to_owned(),
            ],
            (_, false) => [
                format!("{questions} at {bridges} that cannot be seen from here"),
                "To see them, run askbridge list where the agent runs, such as in its container.".to_owned(),
            ],
        }
    });
    said.collect()
}

fn count(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

#[cfg(test)]
mod tests {
    use askbridge_control::inbox::Home;

    use super::*;

    fn waiting(bridge: &str, life: Life, folder: Option<&str>, questions: usize) -> WaitingBridge {
        let home = folder.map(|folder| Home { folder: folder.into(), pid: 42, started: 1, namespace: 1 });
        WaitingBridge { bridge: bridge.parse().expect("a name"), life, home, kept: false, questions }
    }

    #[test]
    fn each_place_is_named_with_what_to_do() {
        let waiting = [
            waiting("here", Life::Lives, Some("/state/askbridge"), 7),
            waiting("a", Life::Lives, Some("/run/user/1000/askbridge"), 1),
            waiting("b", Life::Lives, Some("/run/user/1000/askbridge"), 2),
            waiting("mute", Life::Lives, Some("/state/askbridge"), 1),
            waiting("c", Life::Unseen, Some("/run/user/0/askbridge"), 4),
            waiting("old", Life::Lives, None, 1),
            WaitingBridge { kept: true, ..waiting("kept", Life::Lives, Some("/state/askbridge"), 3) },
        ];
        let elsewhere = unreachable(&waiting, &["here".parse().expect("a name")].into());
        let said = unreachable_lines(&elsewhere, &["/state/askbridge".into()]);
        assert_eq!(
            said,
            [
                "1 open question waits at 1 bridge in another folder, where this command did not look",
                "To see what waits there, run askbridge list where the agent runs.",
                "4 open questions wait at 1 bridge that cannot be seen from here",
                "To see them, run askbridge list where the agent runs, such as in its container.",
                "3 open questions wait at 2 bridges in /run/user/1000/askbridge, where this command did not look",
                "To see what waits there: XDG_RUNTIME_DIR=/run/user/1000 askbridge list",
                "3 open questions wait for `askbridge inbox`, which keeps them and does not run now",
                "To see what waits there: askbridge inbox --detach",
                "1 open question waits at 1 bridge whose socket is gone (process 42)",
                "To continue, answer in the client, or restart the agent there.",
            ]
        );
    }
}
