//! The editors of this machine: whether their settings can be read, and which of their agents run through askbridge.

use std::path::Path;

use crate::{
    command::setup::{
        around::{Around, is_program},
        settings_file::SettingsFile,
    },
    present::doctor::{Level, Report},
    setup::{
        clients::Client,
        document::{Document, Entry, Start},
        launch::Launch,
    },
};

const CLIENTS: &str = "editors";
const AGENTS: &str = "agents";

/// Looks at the editors and the agents.
pub(super) fn look(around: &Around, report: &mut Report) {
    let before = report.findings.len();
    for client in Client::ALL {
        match client.key() {
            Some(key) if around.place(client).is_some() => settings(around, client, key, report),
            None if around.has(client) => {
                let advice =
                    format!("`askbridge setup {}` prints what belongs into its settings", client.name());
                let text = format!("{}: its settings are a program, and not looked at", client.title());
                report.add(CLIENTS, Level::Note, text, Some(&advice));
            }
            _ => {}
        }
    }
    if report.findings.len() == before {
        report.add(CLIENTS, Level::Note, "no editor was found", None);
    }
    let found = around.agents();
    let names: Vec<_> = found.iter().filter(|it| it.is_installed).map(|it| it.agent.title).collect();
    match (names.is_empty(), found.is_empty()) {
        (false, _) => report.add(AGENTS, Level::Ok, format!("on PATH: {}", names.join(", ")), None),
        (true, false) => report.add(AGENTS, Level::Note, "none on PATH; npx can start some", None),
        (true, true) => report.add(
            AGENTS,
            Level::Note,
            "none on PATH, and no npx",
            Some("an editor may bring its own; to run one through askbridge, it must be a command"),
        ),
    }
}

fn settings(around: &Around, client: Client, key: &str, report: &mut Report) {
    let Some(place) = around.place(client) else { return };
    let title = client.title();
    let read = SettingsFile::read(&place.file).map_err(|error| error.to_string());
    let text = read.map(|file| file.text.unwrap_or_default());
    let document = text.and_then(|text| {
        let document = Document::parse(&text, key);
        document.map_err(|error| format!("{}: {error}", place.file.display()))
    });
    let entries = match document {
        Ok(document) => document.entries(),
        Err(error) => {
            let advice = format!("repair it, then run `askbridge setup {}`", client.name());
            return report.add(CLIENTS, Level::Problem, format!("{title}: {error}"), Some(&advice));
        }
    };
    // The extension keeps its agents in the settings of an editor that may be used for other things.
    if entries.is_empty() && client == Client::VsCode && !around.has_extension() {
        return;
    }
    if entries.is_empty() {
        let advice = format!("`askbridge setup {}` adds one", client.name());
        report.add(CLIENTS, Level::Note, format!("{title}: no agent is in its settings"), Some(&advice));
    }
    for entry in &entries {
        // Beside an agent of the client's registry, setup adds one that runs through askbridge.
        let has_other = match &entry.start {
            Start::Registry(id) => entries.iter().filter_map(Entry::launch).any(|launch| {
                launch.is_wrapped()
                    && launch.known().is_some_and(|known| known.registry.contains(&id.as_str()))
            }),
            _ => false,
        };
        if !has_other {
            agent(around, client, entry, report);
        }
    }
}

fn agent(around: &Around, client: Client, entry: &Entry, report: &mut Report) {
    let (title, name) = (client.title(), &entry.name);
    let command = format!("askbridge setup {} {name:?}", client.name());
    match &entry.start {
        Start::Command(launch) if launch.is_wrapped() => match missing(around, launch) {
            Some(program) => report.add(
                CLIENTS,
                Level::Problem,
                format!("{title}: {name} starts {program}, which is not there"),
                Some(&format!("install it, or correct the command; `{command} --undo` takes askbridge out")),
            ),
            None => report.add(CLIENTS, Level::Ok, format!("{title}: {name} runs through askbridge"), None),
        },
        Start::Command(_) | Start::Registry(_) => {
            let text = format!("{title}: {name} does not run through askbridge");
            report.add(CLIENTS, Level::Note, text, Some(&format!("`{command}`")));
        }
        Start::Other => {
            let text = format!("{title}: {name} has no command that could be wrapped");
            report.add(CLIENTS, Level::Note, text, None);
        }
    }
}

/// Returns which of the two programs that a wrapped agent needs does not exist: askbridge, or the agent's own.
fn missing(around: &Around, launch: &Launch) -> Option<String> {
    let exists = |program: &str| match program.contains('/') {
        true => is_program(Path::new(program)),
        false => around.program(program).is_some(),
    };
    [launch.command.clone(), launch.agent().command].into_iter().find(|program| !exists(program))
}
