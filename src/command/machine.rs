//! `askbridge machine`: the other machines whose questions are shown here. Adds them to the user's own file, makes the
//! first connection at a terminal, lists them, and removes them.
//! Keeping the connections is left to `inbox`, and what runs on the machine to `dial`.

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
};

use askbridge_control::{
    inbox::report::{MachineListing, MachineReport},
    join::{
        Places,
        remote::{self, Failure, attempt},
    },
};
use askbridge_core::desk::MachineName;
use askbridge_os::{exit, terminal::printable};
use askbridge_settings::{MachineRoute, MachineTable, Settings, closest, files, machine_file};
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

use super::{
    CommandError, Context, background,
    config::{own_file, own_text, unchanged},
    reach::candidates,
    runner::{done, print, say, shown},
    screen::Room,
};
use crate::{
    hub::{broker::fleet_status, machines::route_of},
    limits::{self, remote as limit},
    present::{
        machines::{self, ListedMachine, MachineList},
        text,
    },
};

/// What a machine is, and the exit codes of `askbridge machine`.
const HELP: &str = "\
A machine is a server, a container or a virtual machine with an askbridge of its
own. `askbridge inbox --detach` keeps all of them connected by your own ssh, with
your keys and your configuration; nothing is copied to a machine, and no key is
made. docs/machines.md has an example for each way, and what to do when a machine
is not connected.

Exit codes:
  0    it is done; with `add` and `connect`, the machine replied
  2    the command line was not understood, or there is no such machine
  6    the machine cannot be reached: stderr says why (`add` has added it)
  125  the command itself failed";

/// Options of `askbridge machine`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct MachineCommandArgs {
    /// The action.
    #[command(subcommand)]
    pub action: MachineAction,
}

/// The actions of `askbridge machine`.
#[derive(Debug, Subcommand)]
pub enum MachineAction {
    /// Add a machine to your own file, and connect once
    Add {
        /// The name of the machine here, which the IDs of its questions begin with
        name: String,
        /// Connect by your ssh to this host, such as me@box.lan [default: the name]
        #[arg(long, value_name = "HOST", conflicts_with = "command")]
        ssh: Option<String>,
        /// Connect by this command, whose stdin and stdout are those of `askbridge dial` on the machine
        #[arg(last = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// Connect once at this terminal, where ssh may ask for what it needs
    Connect {
        /// The machine
        #[arg(add = ArgValueCandidates::new(candidates))]
        name: String,
    },
    /// List the machines, how each is reached, and how it is connected
    List {
        /// Print JSON (schema: machine_list.schema.json)
        #[arg(long)]
        json: bool,
    },
    /// Remove a machine from your own file
    Remove {
        /// The machine
        #[arg(add = ArgValueCandidates::new(candidates))]
        name: String,
    },
}

/// Adds, connects, lists or removes machines.
pub async fn machine(context: &Context, args: &MachineCommandArgs) -> Result<u8, CommandError> {
    match &args.action {
        MachineAction::Add { name, ssh, command } => add(context, name, ssh.as_deref(), command).await,
        MachineAction::Connect { name } => connect(context, name).await,
        MachineAction::List { json } => list(context, *json).await,
        MachineAction::Remove { name } => remove(&context.settings, name),
    }
}

async fn add(
    context: &Context,
    name: &str,
    ssh: Option<&str>,
    command: &[String],
) -> Result<u8, CommandError> {
    let path = own_file()?;
    let name = new_name(name, &context.settings)?;
    let route = match command {
        [] => MachineRoute::Ssh(ssh.unwrap_or(name.as_str()).to_owned()),
        words => MachineRoute::Command(words.to_vec()),
    };
    let route = route.check().map_err(CommandError::Usage)?;
    let table = machine_file::table(&name, &route);
    let text = machine_file::add(&own_text(&path)?, &table).map_err(|error| unchanged(&path, &error))?;
    files::write(&path, &text).map_err(|source| CommandError::Write { path: path.clone(), source })?;
    print(&format!("{}written to {}\n", changed('+', &table), path.display()))?;
    // The machine stays in the settings even if it does not reply now: it may only be switched off.
    first_connection(context, &name, &route).await
}

/// Checks the name of a machine that is to be added.
fn new_name(name: &str, settings: &Settings) -> Result<MachineName, CommandError> {
    let parsed: MachineName = name.parse().map_err(|_| {
        let allowed = "letters, digits, `_`, `-` and `.`, of which the first is a letter or a digit";
        CommandError::Usage(format!("{name:?} cannot be the name of a machine: use up to 64 {allowed}"))
    })?;
    if settings.machines().iter().any(|machine| machine.name == parsed) {
        return Err(CommandError::Usage(format!(
            "there is a machine {name} already: `askbridge machine remove {name}` removes it"
        )));
    }
    if settings.machines().len() >= limit::MACHINES {
        return Err(CommandError::Usage(format!(
            "there are {} machines already, the maximum",
            limit::MACHINES
        )));
    }
    Ok(parsed)
}

/// Returns the lines of a table as a diff: each behind the sign, `+` or `-`.
fn changed(sign: char, table: &str) -> String {
    table.lines().map(|line| format!("{sign} {}\n", printable(line))).collect()
}

/// Returns a line on how machines stay connected; empty if the inbox in the background does that already.
async fn kept(places: &Places) -> Result<String, CommandError> {
    let is_kept = background::find(places).await?.is_some();
    Ok(if is_kept { String::new() } else { format!("{}\n", machines::KEPT_BY) })
}

async fn connect(context: &Context, name: &str) -> Result<u8, CommandError> {
    let machine = known(name, &context.settings)?;
    first_connection(context, &machine.name, &machine.route).await
}

/// Connects to a machine, at the terminal if there is one, and says what was found, or why it cannot be reached.
async fn first_connection(
    context: &Context,
    name: &MachineName,
    route: &MachineRoute,
) -> Result<u8, CommandError> {
    let has_terminal = io::stdin().is_terminal();
    let patience = if has_terminal { limits::SSH_AT_TERMINAL } else { limit::GREETING };
    let asked = match route {
        MachineRoute::Ssh(host) if has_terminal => Some(host),
        MachineRoute::Ssh(_) | MachineRoute::Command(_) => None,
    };
    let in_background = async || attempt(name, &route_of(route, false), limit::GREETING).await;
    let why = |failure: Failure| match asked {
        Some(host) => failure.without_terminal(host),
        None => failure.to_string(),
    };
    let mut found = attempt(name, &route_of(route, has_terminal), patience).await;
    // Where ssh may not ask, it tells the reason here.
    if asked.is_some()
        && let Err(failure) = &found
        && failure.is_shown_above()
    {
        found = in_background().await;
    }
    let found = match found {
        Ok(found) => machines::found(&found.version, &found.bridges),
        Err(failure) => {
            say(&format!("{name} is not connected: {}", why(failure)));
            return Ok(exit::BRIDGE_GONE);
        }
    };
    print(&format!("{name}: {found}\n"))?;
    // In the background, ssh cannot ask for the password that it asked for here.
    if asked.is_some()
        && let Err(failure) = in_background().await
    {
        let why = why(failure);
        say(&format!("in the background, {name} is not connected, since ssh cannot ask there: {why}"));
        return Ok(exit::BRIDGE_GONE);
    }
    let places = context.places()?;
    // The process that keeps the connection tries it now, if there is such a process.
    if let Some(mut selected) = remote::select(places, name).await {
        selected.try_now().await;
    }
    Ok(done(exit::OK, &kept(places).await?))
}

/// Returns the machine of the settings that has this name.
fn known<'a>(name: &str, settings: &'a Settings) -> Result<&'a MachineTable, CommandError> {
    let found = settings.machines().iter().find(|machine| machine.name.as_str() == name);
    found.ok_or_else(|| unknown(name, settings))
}

fn unknown(name: &str, settings: &Settings) -> CommandError {
    let names = settings.machines().iter().map(|machine| machine.name.as_str());
    CommandError::Usage(match closest(name, names) {
        Some(meant) => format!("there is no machine {name:?}; did you mean {meant:?}?"),
        None => format!("there is no machine {name:?}: `askbridge machine list` shows all"),
    })
}

async fn list(context: &Context, json: bool) -> Result<u8, CommandError> {
    let (settings, places) = (&context.settings, context.places()?);
    let MachineListing { machines: held, fleet: missing, .. } =
        remote::listing(places).await.unwrap_or_default();
    let mut held: BTreeMap<_, _> = held.into_iter().map(|machine| (machine.name, machine.report)).collect();
    let of_settings = settings.machines().iter().map(|table| listed(table, held.remove(&table.name)));
    let mut machines: Vec<_> = of_settings.collect();
    // The others are of the fleet.
    machines.extend(held.into_iter().map(|(name, report)| ListedMachine {
        name,
        ssh: None,
        command: None,
        report: Some(report),
    }));
    machines.sort_by(|one, other| one.name.cmp(&other.name));
    let has_inbox = background::find(places).await?.is_some();
    let fleet = fleet_status(settings).await.map(|status| status.followed(missing.as_deref()));
    let list = MachineList { machines, has_inbox, fleet };
    shown(print(&match json {
        true => text::json(&list)?,
        false => list.lines(Room::now().map(|room| room.columns)).join("\n") + "\n",
    }))
}

fn listed(machine: &MachineTable, report: Option<MachineReport>) -> ListedMachine {
    let (ssh, command) = match machine.route.clone() {
        MachineRoute::Ssh(host) => (Some(host), None),
        MachineRoute::Command(words) => (None, Some(words)),
    };
    ListedMachine { name: machine.name.clone(), ssh, command, report }
}

fn remove(settings: &Settings, name: &str) -> Result<u8, CommandError> {
    let path = own_file()?;
    let text = machine_file::remove(&own_text(&path)?, name).map_err(|error| unchanged(&path, &error))?;
    let text = text.ok_or_else(|| unknown(name, settings))?;
    files::write(&path, &text).map_err(|source| CommandError::Write { path: path.clone(), source })?;
    // A table with a mistake is no known machine, but can be removed as well.
    let table = known(name, settings).map(|machine| machine_file::table(&machine.name, &machine.route));
    let removed = table.map(|table| changed('-', &table)).unwrap_or_default();
    Ok(done(exit::OK, &format!("{removed}{name} is no longer in {}\n", path.display())))
}
