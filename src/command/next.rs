//! `askbridge next`: puts the first question that waits to the person at the terminal: what ends soon, or the oldest.
//! The dialogue is left to `converse.rs`.

use askbridge_control::{inbox::Inbox, join::JoinedInbox};
use askbridge_core::desk::State;
use askbridge_os::exit;
use clap::Args;

use super::{
    CommandError, Context,
    converse::converse,
    filter::FilterArgs,
    list::{lines, lost_and_elsewhere, unreachable_lines},
    reach::MachineArgs,
    runner::{print, say, warn},
    typist::{Leftovers, can_ask},
};
use crate::present::{bridges::Bridges, dialogue::Dialogue};

/// The words that `askbridge next` knows, and its exit codes.
const HELP: &str = "\
What ends within ten minutes comes first, and then what is oldest. \
Asks in plain lines, as `askbridge answer ID` does at a terminal: type `?` for help. Nothing is sent \
before the last field, and Ctrl-C leaves the question open.

Exit codes:
  0    the question was answered, or rejected on request
  2    the command line was not understood, or there is no terminal
  3    no question waits
  4    the question was settled elsewhere meanwhile
  6    no question waits in the bridges that replied, or a bridge does not reply:
       unknown whether the agent received it
  8    the agent that asked started this command: it cannot answer itself
  125  the command itself failed
  130  you left the question open, by Ctrl-C, Ctrl-D or /quit";

/// Options of `askbridge next`.
#[derive(Debug, Default, Args)]
#[command(after_help = HELP)]
pub struct NextArgs {
    /// Which questions are asked.
    #[command(flatten)]
    pub only: FilterArgs,

    /// The machine that is asked.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Asks the first question that waits.
pub async fn next(context: &Context, args: &NextArgs) -> Result<u8, CommandError> {
    if !can_ask() {
        let told = "`next` asks at a terminal: `askbridge list` and `askbridge answer` work without one";
        return Err(CommandError::Usage(told.to_owned()));
    }
    let leftovers = Leftovers::of_person();
    let joined = JoinedInbox::open_soon(args.machine.reach(context).await?).await?;
    let gaps = joined.gaps().borrow().clone();
    warn(&gaps);
    let mut open = joined.store().read(|_, snapshot| snapshot.open());
    // A question whose answer is being delivered no longer waits for a person.
    open.retain(|record| record.state == State::Open);
    let all = open.len();
    open.retain(|record| record.later.is_none() || args.only.later);
    let aside = all - open.len();
    let bridges = Bridges::new(joined.status());
    let open = args.only.listed(open, &bridges);
    let more = open.len().saturating_sub(1);
    let Some(first) = open.into_iter().next() else {
        if aside > 0 {
            say(&format!("{aside} set aside until later: `askbridge next --later` asks them"));
        }
        let (_, elsewhere) = lost_and_elsewhere(&joined).await;
        lines(&joined, &gaps, &elsewhere, None, &args.only).iter().for_each(|line| say(line));
        unreachable_lines(&joined, &elsewhere).iter().for_each(|line| say(line));
        // A bridge that did not reply may have a question that waits.
        return Ok(if gaps.is_empty() { exit::NO_QUESTION } else { exit::BRIDGE_GONE });
    };
    let code = converse(&joined, Dialogue::new(first), leftovers).await?;
    if code == exit::OK && more > 0 {
        let waits = if more == 1 { "1 more waits".to_owned() } else { format!("{more} more wait") };
        print(&format!("{waits}: askbridge next\n"))?;
    }
    Ok(code)
}
