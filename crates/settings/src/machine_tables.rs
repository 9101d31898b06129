//! The `[machine.NAME]` tables of the user's file: the other machines whose questions are shown here, and how each is
//! reached. Connecting to them is left to `machine::remote`.
//!
//! A project's file has none: it would decide which command runs.

use std::collections::BTreeMap;

use askbridge_core::desk::MachineName;
use serde_json::Value;
#[cfg(feature = "schema")]
use serde_json::json;

use super::{
    document::{Document, Mark},
    key::Setting,
    keys,
    kinds::Command,
    place::{self, Layer, StoredValue, printable, unknown_named},
};

/// The host as ssh knows it.
const SSH: &str = "ssh";
/// The command whose stdin and stdout are those of `askbridge dial` on the machine.
const COMMAND: &str = "command";

/// The keys of a table, each with its description: a sentence in the imperative without a full stop.
pub(crate) const KEYS: [(&str, &str); 2] = [
    (SSH, "Connect by your own ssh to this host, such as \"box\" or \"me@box.lan\""),
    (
        COMMAND,
        "Connect by this command, such as [\"docker\", \"exec\", \"-i\", \"dev\", \"askbridge\", \"dial\"]",
    ),
];

/// How a machine is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineRoute {
    /// By ssh, to this host.
    Ssh(String),
    /// By a command of the user's.
    Command(Vec<String>),
}

impl MachineRoute {
    /// Returns the key and the value that a table sets for this route.
    pub fn stored(&self) -> (&'static str, Value) {
        match self {
            MachineRoute::Ssh(host) => (SSH, host.as_str().into()),
            MachineRoute::Command(words) => (COMMAND, words.as_slice().into()),
        }
    }

    /// Checks the route as if it stood in a table.
    ///
    /// # Errors
    /// Fails with the mistake.
    pub fn check(self) -> Result<Self, String> {
        let (key, value) = self.stored();
        route(key, &value).map(|(_, route)| route)
    }
}

/// One `[machine.NAME]`.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineTable {
    /// The name of the machine.
    pub name: MachineName,
    /// How it is reached.
    pub route: MachineRoute,
    /// The value in its written form, with its key and its position.
    pub value: (&'static str, StoredValue),
}

/// Returns whether an entry of a file belongs to the machines.
pub(super) fn is_of_machine(path: &[String]) -> bool {
    path.first().is_some_and(|name| name == keys::MACHINES)
}

/// Returns whether a table of this path is the table of the machines, or in it.
pub(super) fn is_table(path: &str) -> bool {
    path.strip_prefix(keys::MACHINES).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns a problem if a project's file has machines.
pub(super) fn refuse(document: &Document) -> Vec<(Mark, String)> {
    let entries = document.entries.iter().filter(|entry| is_of_machine(&entry.path)).map(|entry| entry.name);
    let message = "only your own file may have machines: a project decides nothing about commands that run";
    // One problem at the first place is enough for all machines of the file.
    entries.min().map(|first| (first, message.to_owned())).into_iter().collect()
}

/// Reads the machines of the user's file, and its mistakes in them. A machine with a mistake is left out.
pub(super) fn read(
    document: &Document,
    origin: &dyn Fn(Mark) -> Layer,
) -> (Vec<MachineTable>, Vec<(Mark, String)>) {
    let (mut found, mut problems) = (BTreeMap::<String, (Mark, Vec<MachineTable>)>::new(), Vec::new());
    for head in &document.heads {
        if let [table, name] = &*head.path
            && table == keys::MACHINES
        {
            found.entry(name.clone()).or_insert((head.at, Vec::new()));
        }
    }
    for entry in document.entries.iter().filter(|entry| is_of_machine(&entry.path)) {
        let [_, name, key] = &*entry.path else {
            problems.push((entry.name, format!("each machine has a table: write [{}.NAME]", keys::MACHINES)));
            continue;
        };
        let table = found.entry(name.clone()).or_insert((entry.name, Vec::new()));
        match route(key, &entry.value) {
            Err(message) => problems.push((entry.at, message)),
            Ok((key, route)) => match name.parse() {
                Err(_) => problems.push((entry.name, bad_name(name))),
                Ok(name) => {
                    let stored = StoredValue { value: entry.value.clone(), origin: origin(entry.at) };
                    table.1.push(MachineTable { name, route, value: (key, stored) });
                }
            },
        }
    }
    let mut tables = Vec::new();
    for (name, (head, mut routes)) in found {
        match (routes.pop(), routes.is_empty()) {
            (Some(only), true) => tables.push(only),
            (Some(_), false) => problems.push((
                head,
                format!("[{}.{name}] has both `ssh` and `command`: remove one", keys::MACHINES),
            )),
            // Its only value may be invalid, which is reported already.
            (None, _) if problems.iter().any(|(mark, _)| *mark > head) => {}
            (None, _) => problems.push((head, format!("this machine needs `{SSH}` or `{COMMAND}`"))),
        }
    }
    (tables, problems)
}

fn bad_name(name: &str) -> String {
    format!("`{}` cannot be the name of a machine: use letters, digits, `_`, `-` and `.`", printable(name))
}

fn route(key: &str, value: &Value) -> Result<(&'static str, MachineRoute), String> {
    match key {
        SSH => match value.as_str() {
            Some(host) if is_host(host) => Ok((SSH, MachineRoute::Ssh(host.to_owned()))),
            _ => Err(format!(
                "`{SSH}`: {} is not a host such as \"box\" or \"me@box.lan\"",
                printable(&value.to_string())
            )),
        },
        COMMAND => {
            let command = Command::read(value).map_err(|message| format!("`{COMMAND}`: {message}"))?;
            Ok((COMMAND, MachineRoute::Command(command.0)))
        }
        other => {
            let meant = place::closest(other, KEYS.iter().map(|(name, _)| *name));
            Err(unknown_named(&format!("`{}` of a machine", printable(other)), meant))
        }
    }
}

/// Returns whether a text can be a host for ssh: not an option, and one word.
pub fn is_host(host: &str) -> bool {
    !host.is_empty()
        && !host.starts_with('-')
        && !host.chars().any(|char| char.is_whitespace() || char.is_control())
}

/// Returns the JSON Schema of one table.
#[cfg(feature = "schema")]
pub(super) fn schema() -> Value {
    let command = json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 });
    let mut properties = json!({ SSH: { "type": "string", "minLength": 1 }, COMMAND: command });
    for (name, about) in KEYS {
        properties[name]["description"] = about.into();
    }
    json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "minProperties": 1,
        "maxProperties": 1,
    })
}
