//! Checks the agents of this machine: whether the settings of editors can be read and which of their agents run through
//! askbridge, and whether the questions of agents in terminals reach the inbox. How each agent in a terminal is reached
//! is left to `adapters`.

use askbridge_settings::{Settings, keys};

use crate::{
    command::setup::{
        agents::{self, Launch},
        claude::{Plugin, plugin},
        clients::SetupClient,
        document::{AgentEntry, Document, Start},
        environment::Environment,
        mcp::{hosts::Host, look, servers::Part},
        settings_file::SettingsFile,
        target::{ATTACHABLE, AttachableAgent},
    },
    present::doctor::{Level, Report},
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
                let advice = format!("`askbridge setup {}` prints the lines for its settings", client.name());
                let text = format!("{}: its settings are a program, which is not checked", client.title());
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
    // The settings file of VS Code exists without the extension, whose agents it would list.
    if entries.is_empty() && client == SetupClient::VsCode && !around.has_extension() {
        return;
    }
    if entries.is_empty() {
        let advice = adding(around, client);
        report.add(CLIENTS, Level::Note, format!("{title}: its settings have no agent"), Some(&advice));
    }
    for entry in &entries {
        // An agent of the client's registry is no problem if setup has added one beside it that runs through askbridge.
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

/// Returns the advice on how to add an agent to an editor whose settings have none.
fn adding(around: &Environment, client: SetupClient) -> String {
    let (agents, name) = (around.agents(), client.name());
    match (agents.iter().any(|found| found.is_installed), agents.first()) {
        (true, _) => format!("`askbridge setup {name}` adds those on PATH"),
        (false, Some(found)) => format!("`askbridge setup {name} {}` adds one by npx", found.agent.key),
        (false, None) => {
            format!("install an agent; then `askbridge setup {name} --print` shows the change")
        }
    }
}

fn agent(around: &Environment, client: SetupClient, entry: &AgentEntry, report: &mut Report) {
    let (title, name) = (client.title(), &entry.name);
    let command = format!("askbridge setup {} {name:?}", client.name());
    match &entry.start {
        Start::Command(launch) if launch.is_wrapped() => match missing(around, launch) {
            Some(program) => {
                let advice = match program == launch.command {
                    true => format!("`{command}` puts the path of this askbridge there"),
                    false => {
                        format!("install it, or correct the command; `{command} --undo` takes askbridge out")
                    }
                };
                let text = format!("{title}: {name} starts {program}, which does not exist");
                report.add(CLIENTS, Level::Problem, text, Some(&advice));
            }
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

/// Reports an agent of the client's registry. Such an agent has no command that could be wrapped, so setup adds a
/// second entry if it knows how the agent is started.
fn registered(around: &Environment, client: SetupClient, name: &str, id: &str, report: &mut Report) {
    let add = format!("`askbridge setup {} {name:?}`", client.name());
    let advice = match agents::registered(id) {
        Some(agent) if around.agents().iter().any(|found| found.agent == agent) => {
            format!("{add} adds an entry that runs it through askbridge")
        }
        Some(agent) => {
            let program = agent.programs.first().unwrap_or(&agent.key);
            let npx = agent.package.map(|_| " or npx").unwrap_or_default();
            format!("install {program}{npx}, then {add} adds an entry that runs it through askbridge")
        }
        None => "add an agent with a command of its own: `askbridge`, with the arguments `run`, `--` and the agent's \
                 command"
            .to_owned(),
    };
    let text =
        format!("{}: {name} comes from its registry, and does not run through askbridge", client.title());
    report.add(CLIENTS, Level::Note, text, Some(&advice));
}

/// Returns the program that a wrapped agent needs and that does not exist: askbridge, or the agent itself.
fn missing(around: &Environment, launch: &Launch) -> Option<String> {
    [launch.command.clone(), launch.agent().command].into_iter().find(|program| !around.has_program(program))
}

const AREA: &str = "terminals";

/// Checks each agent that is installed. `inbox_runs` says whether an inbox runs that could attach to agents.
pub(super) fn look_at_terminals(
    around: &Environment,
    settings: &Settings,
    inbox_runs: bool,
    report: &mut Report,
) {
    let before = report.findings.len();
    claude(around, settings, report);
    for agent in ATTACHABLE.iter().filter(|agent| around.program(agent.program).is_some()) {
        attachable(agent, settings, inbox_runs, report);
    }
    if report.findings.len() == before {
        let text = "none of claude, codex, opencode and copilot is on PATH";
        report.add(AREA, Level::Note, text, None);
    }
    let with_tool = with_tool(around);
    if !with_tool.is_empty() {
        report.connected = true;
        let text = format!("MCP: the tool of askbridge is set up in {}", with_tool.join(", "));
        return report.add(AREA, Level::Ok, text, None);
    }
    let advice =
        "for an agent that cannot ask by itself, `askbridge mcp` is an MCP server whose tool asks you";
    report.add(AREA, Level::Note, "MCP: no agent has the tool of askbridge", Some(advice));
}

fn claude(around: &Environment, settings: &Settings, report: &mut Report) {
    let mut add = |level, text: &str, advice| {
        report.add(AREA, level, format!("Claude Code: {text}"), advice);
    };
    match plugin(around) {
        Plugin::Missing if around.program("claude").is_none() => {}
        Plugin::Missing => {
            let text = "the plugin is not installed: its questions stay in its own terminal";
            add(Level::Note, text, Some("`askbridge setup claude`"));
        }
        Plugin::Broken(program) => {
            let text = format!("the plugin starts {program}, which does not exist");
            add(
                Level::Problem,
                &text,
                Some("`askbridge setup claude` installs it with the path of this program"),
            );
        }
        Plugin::Disabled => {
            let advice = "`claude plugin enable askbridge@askbridge`";
            add(Level::Warning, "the plugin is installed, and switched off", Some(advice));
        }
        Plugin::Installed if !settings.get(&keys::CLAUDE_ENABLED) => {
            let advice = "`askbridge config set claude.enabled true`";
            add(Level::Warning, "the plugin is installed, and claude.enabled is false", Some(advice));
        }
        Plugin::Installed => {
            add(Level::Ok, "the plugin is installed", None);
            report.connected = true;
        }
    }
}

fn attachable(agent: &AttachableAgent, settings: &Settings, inbox_runs: bool, report: &mut Report) {
    let AttachableAgent { title, program, started } = agent;
    let started = started.map(|started| format!(", where it is started by `{started}`")).unwrap_or_default();
    match (settings.get(&keys::INBOX_ATTACH).has(program), inbox_runs) {
        (true, true) => {
            report.connected = true;
            report.add(AREA, Level::Ok, format!("{title}: the inbox attaches to it{started}"), None);
        }
        (true, false) => {
            let text = format!("{title}: inbox.attach is on, but no inbox runs that could attach to it");
            report.add(AREA, Level::Warning, text, Some("`askbridge inbox --detach`"));
        }
        (false, _) => {
            let text = format!("{title}: inbox.attach is off: its questions stay in its own terminal");
            report.add(AREA, Level::Note, text, Some(&format!("`askbridge setup {program}`")));
        }
    }
}

/// Returns the advice on how to let the inbox attach to the agents that are installed. `None` if none is.
pub(super) fn attaching(around: &Environment, settings: &Settings) -> Option<&'static str> {
    let mut installed = ATTACHABLE.iter().filter(|agent| around.program(agent.program).is_some()).peekable();
    installed.peek()?;
    let attached = settings.get(&keys::INBOX_ATTACH);
    Some(match installed.any(|agent| attached.has(agent.program)) {
        true => "`askbridge inbox --detach` attaches to the agents in your terminals",
        false => "`askbridge setup` connects the agents in your terminals",
    })
}

/// Returns the programs whose own settings have the MCP server of askbridge.
fn with_tool(around: &Environment) -> Vec<&'static str> {
    // These are files of other programs: one that is missing or broken just does not start our server.
    let has_tool = |host: &Host| {
        let servers = host.places(&around.folders).into_iter().filter_map(|place| look(*host, &place).ok());
        servers.flatten().any(|server| server.part == Part::Tool && !server.is_off)
    };
    Host::ALL.into_iter().filter(has_tool).map(Host::title).collect()
}
