//! Which machines a command asks: this one and all of the settings, or the one that `--host` or `--via` names. Machines
//! that no inbox in the background holds are connected to by the command itself.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use askbridge_core::desk::{IdPrefix, MachineName};
use clap::Args;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use tokio::time::timeout;

use super::CommandError;
use crate::{
    limits::machine as limit,
    machine::{
        PrivateFolder, Reach, discovery, machines,
        remote::{self, Hub, Route},
    },
    settings::{MachineRoute, Settings, files, machine_tables::is_host},
};

/// The name of the machine that `--via` reaches.
const VIA: &str = "via";

/// Options that name another machine.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Another machine")]
pub struct MachineArgs {
    /// Ask this machine alone: one of `askbridge machine list`, or a host that ssh knows
    #[arg(long, value_name = "MACHINE", add = ArgValueCandidates::new(candidates))]
    pub host: Option<String>,

    /// Ask the machine alone whose `askbridge dial` this command reaches; a shell reads it
    #[arg(long, value_name = "COMMAND", conflicts_with = "host")]
    pub via: Option<String>,
}

impl MachineArgs {
    /// Returns whether a machine was named.
    pub fn is_named(&self) -> bool {
        self.host.is_some() || self.via.is_some()
    }

    /// Returns what a command asks that shows all questions. One machine that is slow delays it for a short time only,
    /// unless the machine was named.
    pub async fn reach(&self) -> Result<Reach, CommandError> {
        self.reach_within(None, limit::PATIENCE).await
    }

    /// Returns what a command asks that follows the questions: it waits for no machine.
    pub async fn reach_to_follow(&self) -> Result<Reach, CommandError> {
        self.reach_within(None, Duration::ZERO).await
    }

    /// Returns what a command asks for this question: one machine alone, where that can be told from the ID.
    pub async fn reach_for(&self, typed: Option<&IdPrefix>) -> Result<Reach, CommandError> {
        self.reach_within(typed, limit::CONNECT).await
    }

    /// Connects to machines for no longer than this, where several are asked.
    async fn reach_within(
        &self,
        typed: Option<&IdPrefix>,
        patience: Duration,
    ) -> Result<Reach, CommandError> {
        let folder = discovery::folder()?;
        let settings = files::read(None);
        let routes_of_all = routes(&settings);
        let named = match (&self.host, typed.and_then(IdPrefix::machine)) {
            (Some(host), _) => Some(host.as_str()),
            // An agent may give its question an ID such as `ask/1`, which names no machine.
            (None, Some(machine)) if self.via.is_none() && routes_of_all.contains_key(machine) => {
                Some(machine.as_str())
            }
            _ => None,
        };
        if named.is_none()
            && self.via.is_none()
            && let Some(typed) = typed
            && discovery::sockets(&folder).await?.keys().any(|bridge| typed.may_be_in(bridge))
        {
            // An ID without a machine means this machine first, so that no other one delays the command.
            return Ok(Reach::from(&folder));
        }
        let (only, routes) = match (named, &self.via) {
            (_, Some(command)) => via(command),
            (Some(name), None) => named_machine(name, &settings)?,
            (None, None) => (None, routes_of_all),
        };
        let bridges = only.is_none().then(|| folder.clone());
        // There is nothing to show without the machine that was named.
        let patience = if only.is_some() && patience != Duration::ZERO { None } else { Some(patience) };
        let reach = Reach { bridges, only, ..Reach::default() };
        connect(reach, &folder, routes, patience).await
    }
}

/// Returns the names of the machines, for shells.
pub(super) fn candidates() -> Vec<CompletionCandidate> {
    let settings = files::read(None);
    let machines = settings.machines().iter();
    machines.map(|machine| CompletionCandidate::new(machine.name.as_str())).collect()
}

/// Returns the machines of the settings, and how each is reached from a command or the inbox.
pub(super) fn routes(settings: &Settings) -> BTreeMap<MachineName, Route> {
    let machines = settings.machines().iter();
    machines.map(|machine| (machine.name.clone(), route_of(&machine.route, false))).collect()
}

/// Returns the command that reaches a machine. `has_terminal` lets it ask its person for what it needs.
pub(super) fn route_of(route: &MachineRoute, has_terminal: bool) -> Route {
    match route {
        MachineRoute::Ssh(host) => Route::ssh(host, has_terminal),
        MachineRoute::Command(words) => Route::command(words.clone(), has_terminal),
    }
}

type Only = (Option<MachineName>, BTreeMap<MachineName, Route>);

fn via(command: &str) -> Only {
    let route = Route::command(["sh", "-c", command].map(str::to_owned).to_vec(), false);
    // A constant name, so that it can be parsed.
    let name: Option<MachineName> = VIA.parse().ok();
    (name.clone(), name.into_iter().map(|name| (name, route.clone())).collect())
}

fn named_machine(name: &str, settings: &Settings) -> Result<Only, CommandError> {
    let route = match settings.machines().iter().find(|machine| machine.name.as_str() == name) {
        Some(machine) => machine.route.clone(),
        None if is_host(name) => MachineRoute::Ssh(name.to_owned()),
        None => {
            return Err(CommandError::Usage(format!("--host: {name:?} is no machine, and no host for ssh")));
        }
    };
    let machine: MachineName = name.parse().map_err(|_| {
        CommandError::Usage(format!(
            "--host: {name:?} is not the name of a machine: `askbridge machine add NAME --ssh {name:?}` gives it one"
        ))
    })?;
    Ok((Some(machine.clone()), [(machine, route_of(&route, false))].into()))
}

/// Adds the machines: those that another process holds by its sockets, and the others by connections of this process,
/// for which it waits no longer than `patience`, or else until each machine is connected or has failed.
async fn connect(
    mut reach: Reach,
    folder: &Path,
    mut routes: BTreeMap<MachineName, Route>,
    patience: Option<Duration>,
) -> Result<Reach, CommandError> {
    if routes.is_empty() {
        return Ok(reach);
    }
    let shared = remote::folder(folder);
    for (name, path) in machines(&shared)? {
        // `--via` is never what another process holds.
        if name.as_str() != VIA && discovery::connect(&path).await.is_ok_and(|stream| stream.is_some()) {
            routes.remove(&name);
        }
    }
    reach.machines.push(shared);
    if !routes.is_empty() {
        let own = PrivateFolder::new(folder)?;
        let mut hub = Hub::new(own.path().to_owned(), folder.to_owned(), Arc::new(|| false));
        hub.set(routes).await;
        match patience {
            Some(patience) => timeout(patience, hub.tried()).await.unwrap_or_default(),
            None => hub.tried().await,
        }
        reach.machines.push(own.path().to_owned());
        reach.held = Some(Arc::new((hub, own)));
    }
    Ok(reach)
}
