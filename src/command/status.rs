//! `askbridge status`: the bridges of this machine, where they were looked for, and which of them did not reply.

use askbridge_control::{inbox::Inbox, join::JoinedInbox, rpc::client::Depth};
use askbridge_settings::keys;
use clap::Args;

use super::{
    CommandError, Context,
    list::lost_and_elsewhere,
    reach::MachineArgs,
    runner::{listed, print, print_lines},
    screen::columns,
    setup::{
        claude::{Plugin, plugin},
        environment::Environment,
    },
};
use crate::{
    hub::broker::fleet_status,
    limits,
    present::{status::MachineStatus, text},
};

/// The columns of `askbridge status`, and its exit codes.
const HELP: &str = "\
Columns:
  BRIDGE   the name that the IDs of its questions begin with
  PID      its process ID
  VERSION  the version of askbridge that it runs
  AGENT    the program that it wraps
  OPEN     how many of its questions are open
  UP       how long it has run
  FOLDER   the folder that it was started in
`askbridge ask` and `askbridge inbox` count as bridges. Below the table: where
askbridge looked for bridges, which of them did not reply, and which run another
version than this command.

Exit codes:
  0    the status was shown
  2    the command line was not understood
  6    the status is incomplete: it names each bridge and machine that did not
       reply, or says why the machines of the fleet are not known
  125  the command itself failed";

/// Options of `askbridge status`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct StatusArgs {
    /// Print JSON (schema: machine_status.schema.json)
    #[arg(long)]
    pub json: bool,

    /// The machine that is asked.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Shows the bridges of this machine.
pub async fn status(context: &Context, args: &StatusArgs) -> Result<u8, CommandError> {
    let places = context.places()?;
    let reach = args.machine.reach(context).await?;
    let joined = JoinedInbox::glance(reach, Depth::Outline, limits::PATIENCE).await?;
    let gaps = joined.gaps().borrow().clone();
    let (_, elsewhere) = lost_and_elsewhere(&joined).await;
    let status = MachineStatus::new(&places.all(), joined.status(), &gaps, joined.unreadable());
    let machines = joined.machines();
    let fleet = fleet_status(&context.settings).await.map(|fleet| fleet.followed(gaps.fleet.as_deref()));
    let status = MachineStatus { elsewhere, machines, fleet, ..status };
    if args.json {
        return listed(print(&text::json(&status)?), gaps.has_asked_all());
    }
    let lines = status.lines(columns()).into_iter().chain(of_claude(context)).collect::<Vec<_>>();
    listed(print_lines(&lines), gaps.has_asked_all())
}

/// Says that Claude Code has the plugin: no bridge of it runs until it asks.
fn of_claude(context: &Context) -> Option<String> {
    let is_installed = Environment::look().is_some_and(|around| plugin(&around) == Plugin::Installed);
    (is_installed && context.settings.get(&keys::CLAUDE_ENABLED))
        .then(|| "Claude Code: the plugin is installed; its questions appear when it asks".to_owned())
}
