//! The editors of this machine: whether their settings can be read, and which of their agents run through askbridge.

use crate::{
    command::setup::{around::Environment, settings_file::SettingsFile},
    present::doctor::{Level, Report},
    setup::{
        agents,
        clients::SetupClient,
        document::{AgentEntry, Document, Start},
        launch::Launch,
    },
};

const CLIENTS: &str = "editors";
const AGENTS: &str = "agents";

/// Looks at the editors and the agents.
pub(super) fn look_at_clients(around: &Environment, report: &mut Report) {
    let before = report.findings.len();
    for client in SetupClient::ALL {
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

fn settings(around: &Environment, client: SetupClient, key: &str, report: &mut Report) {
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
    if entries.is_empty() && client == SetupClient::VsCode && !around.has_extension() {
        return;
    }
    if entries.is_empty() {
        let advice = format!("`askbridge setup {}` adds one", client.name());
        report.add(CLIENTS, Level::Note, format!("{title}: no agent is in its settings"), Some(&advice));
    }
    for entry in &entries {
        // Beside an agent of the client's registry, setup adds one that runs through askbridge.
        let has_other = match &entry.start {
            Start::Registry(id) => entries.iter().filter_map(AgentEntry::launch).any(|launch| {
                launch.is_wrapped()
                    && launch.known().is_some_and(|known| agents::registered(id) == Some(known))
            }),
            _ => false,
        };
        if !has_other {
            agent(around, client, entry, report);
        }
    }
}

fn agent(around: &Environment, client: SetupClient, entry: &AgentEntry, report: &mut Report) {
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
            None => {
                report.connected = true;
                report.add(CLIENTS, Level::Ok, format!("{title}: {name} runs through askbridge"), None);
            }
        },
        Start::Registry(id) => registered(around, client, name, id, report),
        Start::Command(_) => {
            let text = format!("{title}: {name} does not run through askbridge");
            report.add(CLIENTS, Level::Note, text, Some(&format!("`{command}`")));
        }
        Start::Other => {
            let text = format!("{title}: {name} has no command that could be wrapped");
            report.add(CLIENTS, Level::Note, text, None);
        }
    }
}

/// An agent of the client's registry has no command that could be wrapped: setup adds one beside it, if it knows how the
/// agent is started.
fn registered(around: &Environment, client: SetupClient, name: &str, id: &str, report: &mut Report) {
    let add = format!("`askbridge setup {} {name:?}`", client.name());
    let advice = match agents::registered(id) {
        Some(agent) if around.agents().iter().any(|found| found.agent == agent) => {
            format!("{add} adds one beside it that does")
        }
        Some(agent) => {
            let program = agent.programs.first().unwrap_or(&agent.key);
            let npx = agent.package.map(|_| " or npx").unwrap_or_default();
            format!("install {program}{npx}, then {add} adds one beside it that does")
        }
        None => "add an agent with a command of its own: `askbridge`, with the arguments `run`, `--` and the agent's \
                 command"
            .to_owned(),
    };
    let text =
        format!("{}: {name} comes from its registry, and does not run through askbridge", client.title());
    report.add(CLIENTS, Level::Note, text, Some(&advice));
}

/// Returns which of the two programs that a wrapped agent needs does not exist: askbridge, or the agent's own.
fn missing(around: &Environment, launch: &Launch) -> Option<String> {
    [launch.command.clone(), launch.agent().command].into_iter().find(|program| !around.has_program(program))
}
