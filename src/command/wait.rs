//! `askbridge wait`: waits for the outcome of a question that `askbridge inbox` keeps, and prints it as `askbridge ask` does.

use std::sync::Arc;

use askbridge_core::desk::{Record, Refusal};
use askbridge_os::{exit, signals::Signals};
use clap::Args;
use tokio::time::timeout;

use super::{
    CommandError, Context, arguments, keeper,
    outcome::{tell, waits},
    reach::MachineArgs,
    runner::{look_up, say},
};
use crate::limits;

/// The output of `askbridge wait`, and its exit codes.
const HELP: &str = "\
Waits for as long as it takes, also for the next inbox after a restart. It may be called again, and by \
several programs, for as long as the journal keeps the answer.

  id=$(askbridge ask --detach --confirm 'Deploy?')
  askbridge wait \"$id\" && ./deploy

Exit codes:
  0        the question was answered; if it asks for a yes or a no, with yes
  1        the question was rejected; if it asks for a yes or a no, it was answered with no
  2        the command line was not understood
  3        no such question, or the ID is ambiguous
  6        the bridge does not reply
  7        the question asks for a yes or a no, and was rejected
  124      no answer came in time
  125      the inbox could not be started, or does not keep the question
  128 + N  signal N interrupted the command; the question stays open";

/// Options of `askbridge wait`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct WaitArgs {
    /// The ID that `askbridge ask --detach` printed
    pub id: String,

    /// How long to wait, such as 90s, 10m or 500ms; the question stays open after that [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = arguments::timeout)]
    pub timeout: Option<humantime::Duration>,

    /// Print the result as JSON: the `outcome` of the question, and `by` whom it was settled
    #[arg(long)]
    pub json: bool,
}

/// Waits for the outcome of a question, and prints it.
pub async fn wait(context: &Context, args: &WaitArgs) -> Result<u8, CommandError> {
    let mut signals = Signals::catch()?;
    let within = args.timeout.map_or(limits::WAIT, Into::into);
    let waited = async {
        let record = find(context, &args.id).await?;
        if !record.is_open() {
            return Ok(record);
        }
        say(&waits(&record.id));
        keeper::over(context, &record.id).await.map(Arc::new)
    };
    tokio::select! {
        waited = timeout(within, waited) => match waited {
            Ok(over) => {
                let over = over?;
                tell(&over, args.json)
            }
            Err(_) => {
                say(&format!("no answer came in time, and {} stays open", args.id));
                Ok(exit::TIMED_OUT)
            }
        },
        code = signals.next() => Ok(code),
    }
}

/// Finds the question. Starts the inbox if the journal alone has it.
async fn find(context: &Context, id: &str) -> Result<Arc<Record>, CommandError> {
    let machine = MachineArgs::default();
    match look_up(context, id, &machine).await {
        Err(CommandError::Refused(_, Refusal::NotFound)) if is_recorded(id) => {
            keeper::start(context).await?;
            Ok(look_up(context, id, &machine).await?.2)
        }
        found => Ok(found?.2),
    }
}

/// Returns whether the journal has a question with this ID. A wrong one must not start an inbox.
#[cfg(feature = "journal")]
fn is_recorded(id: &str) -> bool {
    let found = id.parse().ok().and_then(|typed| super::ledger::open().ok()??.find(&typed).ok());
    found.is_some_and(|found| !found.is_empty())
}

#[cfg(not(feature = "journal"))]
fn is_recorded(_: &str) -> bool {
    false
}
