//! Which machines a command asks: this one and all of the settings, or the one that `--host` or `--via` names. Machines
//! are connected to by the command itself where no process shares its connections to them.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
    sync::Arc,
};

use askbridge_control::join::{
    Places, Reach, Selected, discovery,
    remote::{self, Route},
};
use askbridge_core::desk::{IdPrefix, MachineName};
use askbridge_os::terminal::printable_line;
use askbridge_settings::{files, is_host};
use clap::Args;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use futures::future::join_all;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use super::{CommandError, Context};
use crate::{
    hub::machines::{HeldMachines, VIA, is_shared, more_machines, routes},
    limits::{self, remote as limit},
};

/// How long a command waits for the machines that it connects to, where none was named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Patience {
    /// It shows what comes.
    None,
    /// Until each machine is connected, has failed, or takes longer than a list waits for it.
    Short,
    /// For as long as an answer waits for a connection.
    Long,
}

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
    pub async fn reach(&self, context: &Context) -> Result<Reach, CommandError> {
        self.reach_within(context, None, Patience::Short).await
    }

    /// Returns what a command asks that follows the questions: it waits for no machine, and finds those that come later.
    pub async fn reach_to_follow(&self, context: &Context) -> Result<Reach, CommandError> {
        self.reach_within(context, None, Patience::None).await
    }

    /// Returns what a command asks for this question: one machine alone, where that can be told from the ID.
    pub async fn reach_for(
        &self,
        context: &Context,
        typed: Option<&IdPrefix>,
    ) -> Result<Reach, CommandError> {
        self.reach_within(context, typed, Patience::Long).await
    }

    /// Connects to machines, and waits for them no longer than this, where several are asked.
    async fn reach_within(
        &self,
        context: &Context,
        typed: Option<&IdPrefix>,
        patience: Patience,
    ) -> Result<Reach, CommandError> {
        let (settings, places) = (&context.settings, context.places()?);
        for why in places.refused() {
            let line = printable_line(&why.to_string()).into_owned();
            // If stderr is closed, the list is as good.
            drop(writeln!(io::stderr(), "askbridge: {line}; questions there are not shown"));
        }
        let routes_of_all = routes(settings);
        let of_settings = self.named(typed, |machine| routes_of_all.contains_key(machine));
        if of_settings.is_none()
            && self.via.is_none()
            && let Some(typed) = typed
            && discovery::sockets_in(places).await?.keys().any(|bridge| typed.may_be_in(bridge))
        {
            // An ID without a machine means this machine first, so that no other one delays the command.
            return Ok(Reach::from(places));
        }
        // The process that shares its connections knows what is a machine. It reads the settings again where it knows none of
        // this name.
        if self.via.is_none()
            && let Some(machine) = self.named(typed, |_| true).and_then(|name| name.parse().ok())
            && let Some(selected) = remote::select(places, &machine).await
        {
            return Ok(self.reach_selected(places, machine, selected, patience).await);
        }
        match self.via.is_none() && is_shared(places).await {
            true => self.reach_shared(context, patience, routes_of_all).await,
            false => self.reach_alone(context, typed, patience, routes_of_all).await,
        }
    }

    /// Returns what a command asks that needs one machine alone, which another process holds.
    async fn reach_selected(
        &self,
        places: &Places,
        machine: MachineName,
        mut selected: Selected,
        patience: Patience,
    ) -> Reach {
        if selected.report.is_new() || (self.host.is_some() && patience != Patience::None) {
            selected.try_now().await;
        }
        // Other commands read the machine once, or follow it, over a connection for that.
        let selected = (patience == Patience::Long).then_some(selected);
        Reach { only: Some(machine), machines: places.all(), selected, ..Reach::default() }
    }

    /// Returns what a command asks where a process shares its connections to other machines.
    async fn reach_shared(
        &self,
        context: &Context,
        patience: Patience,
        of_settings: BTreeMap<MachineName, Route>,
    ) -> Result<Reach, CommandError> {
        let places = context.places()?;
        let reach = Reach { machines: places.all(), ..Reach::default() };
        match &self.host {
            // Nobody else is connected to it: this command connects to it.
            Some(host) => {
                let (only, routes) = named_machine(host, &of_settings)?;
                let machines = HeldMachines::own(places, None);
                Ok(connect(Reach { only, ..reach }, machines, routes, patience).await)
            }
            // What is said of all machines tells why one is missing, such as that the fleet is not connected.
            None => Ok(all_shared(places, of_settings.keys(), patience).await),
        }
    }

    /// Returns what a command asks where it connects to machines by itself.
    async fn reach_alone(
        &self,
        context: &Context,
        typed: Option<&IdPrefix>,
        patience: Patience,
        mut routes_of_all: BTreeMap<MachineName, Route>,
    ) -> Result<Reach, CommandError> {
        let (settings, places) = (&context.settings, context.places()?);
        let mut more = more_machines(places.own());
        let of_settings = self.named(typed, |machine| routes_of_all.contains_key(machine));
        let is_of_settings =
            of_settings.is_some_and(|name| routes_of_all.keys().any(|of| of.as_str() == name));
        // The broker is asked only if the machine may be one of the fleet: this takes a while.
        if self.via.is_none()
            && !is_of_settings
            && let Some(more) = &mut more
        {
            more.routes(settings);
            let patience = match patience {
                Patience::None if !self.is_named() => limits::FLEET_SOON,
                Patience::Short if !self.is_named() => limit::PATIENCE,
                _ => limits::FLEET,
            };
            more.known(patience).await;
            for (name, route) in more.routes(settings) {
                routes_of_all.entry(name).or_insert(route);
            }
        }
        let is_known = |name: &MachineName| routes_of_all.contains_key(name);
        let (only, routes) = match (self.named(typed, is_known), &self.via) {
            (_, Some(command)) => via(command),
            (Some(name), None) => named_machine(name, &routes_of_all)?,
            (None, None) => (None, routes_of_all),
        };
        let bridges = only.is_none().then(|| places.clone());
        // Who names a machine does not ask for the others.
        let fleet = more.as_ref().filter(|_| only.is_none()).map(|more| more.problem());
        let reach = Reach { bridges, only, machines: places.all(), fleet, ..Reach::default() };
        let is_set = more.as_ref().is_some_and(|more| more.is_set());
        let is_kept = patience == Patience::None && reach.only.is_none() && is_set;
        if routes.is_empty() && !is_kept {
            return Ok(reach);
        }
        Ok(connect(reach, HeldMachines::own(places, more), routes, patience).await)
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

/// Returns this machine and all others whose connections a process shares. Those that the settings have only just got are
/// waited for.
async fn all_shared(
    places: &Places,
    of_settings: impl Iterator<Item = &MachineName>,
    patience: Patience,
) -> Reach {
    let reach = Reach { machines: places.all(), ..Reach::from(places) };
    let patience = match patience {
        Patience::None => return kept(HeldMachines::own(places, more_machines(places.own())), reach),
        Patience::Short => limit::PATIENCE,
        Patience::Long => limit::CONNECT,
    };
    let mut of_settings = of_settings.peekable();
    // The list of a large fleet is long, and is only needed to tell which machines of the settings it lacks.
    if of_settings.peek().is_none() {
        return reach;
    }
    let listing = remote::listing(places).await.unwrap_or_default();
    let shared: BTreeSet<_> = listing.machines.iter().map(|machine| &machine.name).collect();
    let tried = of_settings.filter(|name| !shared.contains(name)).map(async |name| {
        if let Some(mut selected) = remote::select(places, name).await {
            selected.try_now().await;
        }
    });
    timeout(patience, join_all(tried)).await.map(drop).unwrap_or_default();
    reach
}

/// Returns the names of the machines, for shells.
pub(super) fn candidates() -> Vec<CompletionCandidate> {
    let settings = files::read(None);
    let machines = settings.machines().iter();
    machines.map(|machine| CompletionCandidate::new(machine.name.as_str())).collect()
}

type Only = (Option<MachineName>, BTreeMap<MachineName, Route>);

fn via(command: &str) -> Only {
    let route = Route::command(["sh", "-c", command].map(str::to_owned).to_vec(), false);
    // A constant name, so that it can be parsed.
    let name: Option<MachineName> = VIA.parse().ok();
    (name.clone(), name.into_iter().map(|name| (name, route.clone())).collect())
}

fn named_machine(name: &str, routes: &BTreeMap<MachineName, Route>) -> Result<Only, CommandError> {
    let machine = name.parse::<MachineName>();
    if let Ok(machine) = &machine
        && let Some(route) = routes.get(machine)
    {
        return Ok((Some(machine.clone()), [(machine.clone(), route.clone())].into()));
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

/// Adds the machines of these routes, by connections of this process.
async fn connect(
    reach: Reach,
    mut machines: HeldMachines,
    routes: BTreeMap<MachineName, Route>,
    patience: Patience,
) -> Reach {
    machines.set_to(routes);
    match (patience, &reach.only) {
        (Patience::None, Some(_)) => {}
        (Patience::None, None) => return kept(machines, reach),
        // There is nothing to show without the machine that was named.
        (_, Some(_)) => machines.hub().tried().await,
        (Patience::Short, None) => machines.hub().tried_soon().await,
        (Patience::Long, None) => {
            timeout(limit::CONNECT, machines.hub().tried()).await.unwrap_or_default();
        }
    }
    let reach = machines.own_reach(reach);
    Reach { keeper: Some(Arc::new(machines)), ..reach }
}

/// Adds all machines, by connections that follow the settings. Another process may begin to share its own meanwhile, or end
/// to do so.
fn kept(mut machines: HeldMachines, reach: Reach) -> Reach {
    let reach = machines.own_reach(reach);
    let keeping = tokio::spawn(async move { machines.keep().await });
    Reach { keeper: Some(Arc::new(AbortOnDropHandle::new(keeping))), ..reach }
}
