//! Which machines a command asks: this one and all of the settings, or the one that `--host` or `--via` names. Machines
//! that no inbox in the background holds are connected to by the command itself.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use askbridge_core::desk::{IdPrefix, MachineName};
use clap::Args;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use tokio::time::timeout;

use super::{CommandError, fleet_machines::FleetMachines};
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
        let mut routes_of_all = routes(&settings);
        let of_settings = self.named(typed, |machine| routes_of_all.contains_key(machine));
        if of_settings.is_none()
            && self.via.is_none()
            && let Some(typed) = typed
            && discovery::sockets(&folder).await?.keys().any(|bridge| typed.may_be_in(bridge))
        {
            // An ID without a machine means this machine first, so that no other one delays the command.
            return Ok(Reach::from(&folder));
        }
        let mut fleet = FleetMachines::new(folder.clone());
        let is_of_settings =
            of_settings.is_some_and(|name| routes_of_all.keys().any(|of| of.as_str() == name));
        // The broker is asked only if the machine may be one of the fleet, and no other process holds the fleet's
        // machines: this takes a while.
        let mut fleet_problem = None;
        if self.via.is_none() && !is_of_settings && fleet.is_held() {
            fleet_problem = fleet.problem_of_holder();
        } else if self.via.is_none() && !is_of_settings {
            fleet.routes(&settings);
            fleet.known().await;
            fleet_problem = fleet.problem();
            for (name, route) in fleet.routes(&settings) {
                routes_of_all.entry(name).or_insert(route);
            }
        }
        let held = machines(&remote::folder(&folder))?;
        let is_known = |name: &MachineName| routes_of_all.contains_key(name) || held.contains_key(name);
        let (only, routes) = match (self.named(typed, is_known), &self.via) {
            (_, Some(command)) => via(command),
            (Some(name), None) => named_machine(name, &routes_of_all, &held)?,
            (None, None) => (None, routes_of_all),
        };
        let bridges = only.is_none().then(|| folder.clone());
        // There is nothing to show without the machine that was named.
        let patience = if only.is_some() && patience != Duration::ZERO { None } else { Some(patience) };
        // Who names a machine does not ask for the others.
        let fleet_problem = fleet_problem.filter(|_| only.is_none());
        let machines = vec![remote::folder(&folder)];
        let reach = Reach { bridges, only, machines, fleet_problem, held: None };
        connect(reach, &folder, routes, held, fleet, patience).await
    }

    /// Returns the name of the only machine that is meant.
    fn named<'a>(
        &'a self,
        typed: Option<&'a IdPrefix>,
        is_known: impl Fn(&MachineName) -> bool,
    ) -> Option<&'a str> {
        match (&self.host, typed.and_then(IdPrefix::machine)) {
            (Some(host), _) => Some(host.as_str()),
            // An agent may give its question an ID such as `ask/1`, which names no machine.
            (None, Some(machine)) if self.via.is_none() && is_known(machine) => Some(machine.as_str()),
            _ => None,
        }
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

fn named_machine(
    name: &str,
    routes: &BTreeMap<MachineName, Route>,
    held: &BTreeMap<MachineName, PathBuf>,
) -> Result<Only, CommandError> {
    let machine = name.parse::<MachineName>();
    if let Ok(machine) = &machine
        && (routes.contains_key(machine) || held.contains_key(machine))
    {
        let route = routes.get(machine).map(|route| (machine.clone(), route.clone()));
        return Ok((Some(machine.clone()), route.into_iter().collect()));
    }
    if !is_host(name) {
        return Err(CommandError::Usage(format!("--host: {name:?} is no machine, and no host for ssh")));
    }
    let machine = machine.map_err(|_| {
        CommandError::Usage(format!(
            "--host: {name:?} is not the name of a machine: `askbridge machine add NAME --ssh {name:?}` gives it one"
        ))
    })?;
    Ok((Some(machine.clone()), [(machine, Route::ssh(name, false))].into()))
}

/// Adds the machines: those that another process holds by its sockets, and the others by connections of this process,
/// for which it waits no longer than `patience`, or else until each machine is connected or has failed.
async fn connect(
    mut reach: Reach,
    folder: &Path,
    mut routes: BTreeMap<MachineName, Route>,
    held: BTreeMap<MachineName, PathBuf>,
    fleet: FleetMachines,
    patience: Option<Duration>,
) -> Result<Reach, CommandError> {
    for (name, path) in held {
        if !routes.contains_key(&name) {
            continue;
        }
        // `--via` is never what another process holds.
        // A process that was killed leaves its sockets behind, so a socket counts only if it accepts a connection.
        if name.as_str() != VIA && discovery::connect(&path).await.is_ok_and(|stream| stream.is_some()) {
            routes.remove(&name);
        }
    }
    if !routes.is_empty() {
        let own = PrivateFolder::new(folder)?;
        let mut hub = Hub::new(own.path().to_owned(), folder.to_owned(), Arc::new(|| false));
        hub.set(routes).await;
        match patience {
            Some(patience) => timeout(patience, hub.tried()).await.unwrap_or_default(),
            None => hub.tried().await,
        }
        reach.machines.push(own.path().to_owned());
        reach.held = Some(Arc::new((hub, own, fleet)));
    }
    Ok(reach)
}
