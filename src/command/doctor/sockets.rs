//! The folder of the sockets: whether it can be used, which bridges are in it, and which files are left over.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::{Path, PathBuf},
    time::SystemTime,
};

use askbridge_control::{
    inbox::{BridgeStatus, Inbox, PeerStatus, Peers, report::ConnectedMachine},
    join::{JoinedInbox, Places, Reach, discovery::DiscoveryError},
    rpc::client::Depth,
};
use askbridge_core::desk::BridgeName;
use askbridge_os::xdg;
use askbridge_settings::{MachineRoute, Settings};
use askbridge_web::Token;

use crate::{
    command::{
        Context,
        ask::ASKER,
        reach::MachineArgs,
        setup::{clients::SetupClient, environment::Environment},
    },
    hub::{SERVER, broker::fleet_status},
    limits,
    present::{
        doctor::{Level, Report},
        machines, text,
    },
};

const FOLDER: &str = "folder";
const BRIDGES: &str = "bridges";
const MACHINES: &str = "machines";
const FLEET: &str = "fleet";

/// Checks the folders and the bridges in them, and returns the bridges that replied.
pub(super) async fn look(
    context: &Context,
    around: Option<&Environment>,
    report: &mut Report,
) -> Vec<BridgeStatus> {
    let places = match context.places() {
        Ok(places) => places,
        Err(error) => {
            let advice = repair(&error, "no bridge can be found");
            report.add(FOLDER, Level::Problem, error.to_string(), Some(&advice));
            return Vec::new();
        }
    };
    folders(places, report);
    places.all().iter().for_each(|folder| token(folder, report));
    // `glance` removes the sockets of bridges that were killed: the names from before show which.
    let before = names(places);
    let reach = match MachineArgs::default().reach(context).await {
        Ok(reach) => reach,
        Err(error) => {
            report.add(MACHINES, Level::Problem, error.to_string(), None);
            // The bridges of this machine can be checked without the others.
            Reach::from(places)
        }
    };
    let joined = match JoinedInbox::glance(reach, Depth::Outline, limits::HANDSHAKE_TIMEOUT).await {
        Ok(joined) => joined,
        Err(error) => {
            report.add(BRIDGES, Level::Problem, error.to_string(), None);
            return Vec::new();
        }
    };
    let now = names(places);
    let removed = before.difference(&now).filter(|path| is_socket_name(path)).count();
    if removed > 0 {
        let were = if removed == 1 { "a socket".to_owned() } else { format!("{removed} sockets") };
        report.add(FOLDER, Level::Note, format!("removed {were} of bridges that were killed"), None);
    }
    leftovers(&now, report);
    look_at_machines(&context.settings, &joined, report);
    if let Some(fleet) = fleet_status(&context.settings).await {
        let level = if fleet.problem.is_none() { Level::Ok } else { Level::Problem };
        report.add(FLEET, level, fleet.line(), None);
    }
    bridges(around, &joined, report)
}

/// Reports how each other machine is connected.
fn look_at_machines(settings: &Settings, joined: &JoinedInbox, report: &mut Report) {
    let now = SystemTime::now().into();
    for ConnectedMachine { name, report: how } in joined.machines() {
        let is_connected = how.connected_at.is_some();
        let level = if is_connected { Level::Ok } else { Level::Problem };
        let of_settings = settings.machines().iter().find(|machine| machine.name == name);
        let advice = of_settings.filter(|_| !is_connected).map(|machine| match &machine.route {
            MachineRoute::Ssh(_) => {
                format!("`askbridge machine connect {name}` tries it, where ssh may ask you")
            }
            _ => format!("`askbridge machine connect {name}` tries it again"),
        });
        report.add(MACHINES, level, format!("{name}: {}", machines::state(&how, now)), advice.as_deref());
    }
}

/// Returns how a directory of sockets is repaired, and what does not work until then.
fn repair(why: &DiscoveryError, until: &str) -> String {
    match why {
        DiscoveryError::NotPrivate { path, .. } => {
            format!("`chmod 700 {}`: {until} until then", path.display())
        }
        _ => format!("{until} until this is repaired"),
    }
}

/// Reports where bridges are looked for, and where they cannot be: a process with another environment may have put its
/// own there.
fn folders(places: &Places, report: &mut Report) {
    for folder in places.all() {
        let mode = fs::metadata(&folder).map_or(0, |metadata| metadata.mode() & 0o7777);
        report.add(FOLDER, Level::Ok, format!("looked in {}, mode {mode:04o}", folder.display()), None);
    }
    for why in places.refused() {
        let advice = repair(&why, "questions of agents whose bridges look there first are not seen");
        report.add(FOLDER, Level::Problem, why.to_string(), Some(&advice));
    }
    let state = ("XDG_STATE_HOME", xdg::state(), xdg::state_of_home(), "journal.db");
    let config = ("XDG_CONFIG_HOME", xdg::config(), xdg::config_of_home(), "config.toml");
    for (variable, used, usual, file) in [state, config] {
        let Some(usual) = usual.filter(|usual| used.as_ref() != Some(usual)) else { continue };
        let file = usual.join(env!("CARGO_PKG_NAME")).join(file);
        if file.exists() {
            let text = format!("programs that do not have {variable} use {}", file.display());
            let advice =
                format!("set {variable} for your whole session, or nowhere: an agent's host may drop it");
            report.add(FOLDER, Level::Warning, text, Some(&advice));
        }
    }
}

fn token(folder: &Path, report: &mut Report) {
    let path = folder.join("token");
    // A check must not create the token, which `read_or_make` would do.
    if path.symlink_metadata().is_err() {
        return;
    }
    match Token::read_or_make(&path) {
        Ok(_) => report.add(FOLDER, Level::Ok, "the token of the HTTP server can be read by you alone", None),
        Err(error) => {
            let advice = format!("remove {}: the server makes a new one", path.display());
            report.add(FOLDER, Level::Problem, error.to_string(), Some(&advice));
        }
    }
}

/// Reports the files that no process uses any more.
fn leftovers(paths: &BTreeSet<PathBuf>, report: &mut Report) {
    let is_left = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_socket = path.symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_socket());
        name.starts_with("token.") || (is_socket_name(path) && !is_socket)
    };
    for path in paths.iter().filter(is_left) {
        report.add(FOLDER, Level::Warning, format!("no process uses {}", path.display()), Some("remove it"));
    }
}

fn is_socket_name(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "sock")
}

/// Returns the files in all of these directories.
fn names(places: &Places) -> BTreeSet<PathBuf> {
    let of = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().take(limits::LISTED);
    places.all().into_iter().flat_map(of).map(|entry| entry.path()).collect()
}

fn bridges(around: Option<&Environment>, joined: &JoinedInbox, report: &mut Report) -> Vec<BridgeStatus> {
    let (statuses, gaps) = (joined.status(), joined.gaps().borrow().clone());
    statuses.iter().for_each(|status| bridge(status, report));
    for path in &gaps.unreachable {
        let text = format!("{} does not reply", path.display());
        let advice = "its process hangs or is stopped: continue it, or end it and remove the socket";
        report.add(BRIDGES, Level::Problem, text, Some(advice));
    }
    for path in &gaps.no_descriptors {
        let text = format!("{} was not asked: this command has no file descriptor left", path.display());
        report.add(BRIDGES, Level::Problem, text, Some("raise the limit with `ulimit -n`"));
    }
    for path in &gaps.busy {
        let text = format!("{} is too busy: all its connections or calls are in use", path.display());
        let advice = "end the programs that are connected to it, or try again later";
        report.add(BRIDGES, Level::Warning, text, Some(advice));
    }
    for path in &gaps.older {
        let text = format!("{} speaks an older protocol: its questions cannot be answered", path.display());
        report.add(BRIDGES, Level::Problem, text, Some("restart the agent that it wraps"));
    }
    if gaps.unreadable > 0 {
        let text = format!("{} open questions need a newer askbridge", gaps.unreadable);
        report.add(BRIDGES, Level::Warning, text, Some("update this program"));
    }
    if statuses.is_empty() && gaps.has_asked_all() {
        let has_editor = |around: &Environment| SetupClient::ALL.into_iter().any(|client| around.has(client));
        let advice = "start an agent in your editor; `askbridge setup` puts askbridge before it";
        let advice = Some(advice).filter(|_| around.is_some_and(has_editor));
        report.add(BRIDGES, Level::Note, "no bridge runs", advice);
    }
    // Neither the inbox nor `askbridge ask` shows that an agent is connected: the one has no agent, the other is a
    // script.
    report.connected |= statuses.iter().any(|status| ![SERVER, ASKER].contains(&&*status.agent));
    statuses
}

fn bridge(status: &BridgeStatus, report: &mut Report) {
    let BridgeStatus { bridge, pid, version, folder, open, address, peers, .. } = status;
    let started = starter(*pid).map(|name| format!(", started by {name}")).unwrap_or_default();
    let at = address.as_ref().map(|address| format!(", serves http://{address}")).unwrap_or_default();
    let agent = text::agent_of(status);
    let text = format!(
        "{bridge}: {agent} in {folder}, {open} open (process {pid}, askbridge {version}{started}{at})"
    );
    match version == env!("CARGO_PKG_VERSION") {
        true => report.add(BRIDGES, Level::Ok, text, None),
        false => {
            let advice = format!(
                "this is askbridge {}: restart the agent, so that its bridge is the same",
                env!("CARGO_PKG_VERSION")
            );
            report.add(BRIDGES, Level::Warning, text, Some(&advice));
        }
    }
    // Only agents that speak ACP declare capabilities.
    if status.other_agent().is_none() {
        promises(bridge, peers, report);
    }
}

/// Reports the capabilities that a client and its agent declared to each other, as far as they concern questions.
fn promises(bridge: &BridgeName, peers: &Peers, report: &mut Report) {
    if let Some(client) = &peers.client {
        let shows: Vec<_> = ["questions", "forms", "kiro"]
            .into_iter()
            .filter(|known| client.promises.iter().any(|promise| promise == known))
            .collect();
        let who = format!("{bridge}: the client, {}", introduced(client));
        if shows.is_empty() {
            let advice = "several fields come one after the other there, and texts not at all: `askbridge open`, \
                          `askbridge tui` and `askbridge next` show all at once";
            let text =
                format!("{who}, declares no support for forms: it gets questions as permission prompts");
            report.add(BRIDGES, Level::Note, text, Some(advice));
        } else {
            report.add(BRIDGES, Level::Ok, format!("{who}, shows questions: {}", shows.join(", ")), None);
        }
    }
    match (&peers.client, &peers.agent) {
        (_, Some(agent)) => {
            report.add(BRIDGES, Level::Ok, format!("{bridge}: the agent, {}", introduced(agent)), None);
        }
        (Some(_), None) => {
            let advice =
                "it may wait for a sign-in or a download: start its command by hand, and see what it says";
            let text = format!("{bridge}: the agent has not replied to `initialize`");
            report.add(BRIDGES, Level::Warning, text, Some(advice));
        }
        (None, None) => {}
    }
}

fn introduced(peer: &PeerStatus) -> String {
    let name = peer.name.as_deref().filter(|name| !name.trim().is_empty());
    let name = name.map_or_else(|| "which has no name".to_owned(), |name| text::short(name, 40));
    format!("{name}, with ACP {}", peer.protocol)
}

/// Returns the name of the program that started a process. A bridge is started by its client.
fn starter(pid: u32) -> Option<String> {
    // Without `/proc`, as on macOS, the parent is unknown.
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let parent: u32 = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    let name = fs::read_to_string(format!("/proc/{parent}/comm")).ok()?;
    // Process 1 adopts a process whose parent has ended: it did not start this one.
    (parent > 1).then(|| name.trim_end().to_owned())
}
