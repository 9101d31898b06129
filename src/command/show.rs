//! `askbridge show`: one question, how it can be answered, what led to it, and its images.

use std::{
    io::{self, IsTerminal, Write},
    sync::Arc,
};

use askbridge_control::{
    inbox::Inbox,
    join::{Gaps, JoinedInbox},
};
use askbridge_core::desk::{Record, Refusal};
use clap::Args;

use super::{
    CommandError, Context,
    reach::MachineArgs,
    runner::{self, look_up, print, warn},
    screen::{is_coloured, wrap_column},
};
use crate::present::{bridges::Bridges, images::ending, led::ContextText, question::QuestionText, text};

/// How an ID may be shortened for `askbridge show`, and its exit codes.
const HELP: &str = "\
An ID may be shortened: k3f9q2-1 to k3-1, and to k3 while only one question of that bridge is open. The agent's own \
ID of an open question works as well, if it is unique.

Exit codes:
  0    the question was shown
  2    the command line was not understood
  3    no such question or image, or the ID is ambiguous
  6    the bridge does not reply
  125  the command itself failed";

/// Options of `askbridge show`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ShowArgs {
    /// The question's ID
    pub id: Option<String>,

    /// Print the question as JSON, with all that is known of it
    #[arg(long)]
    pub json: bool,

    /// Print all lines of a change: long runs of unchanged ones are folded otherwise
    #[arg(long)]
    pub whole: bool,

    /// Print what led to the question: the last words of the agent and its last tool calls before it asked
    #[arg(long)]
    pub context: bool,

    /// Write the bytes of an image of the question, by its number, into a pipe or a file
    #[arg(long, value_name = "N", conflicts_with_all = ["json", "whole", "context"])]
    pub image: Option<usize>,

    /// The machine that is asked.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Shows a question.
pub async fn show(context: &Context, args: &ShowArgs) -> Result<u8, CommandError> {
    let id = args.id.as_deref().ok_or(CommandError::NoId)?;
    let (joined, _, record) = look_up(context, id, &args.machine).await?;
    // The question was found, so it does not matter which bridges did not reply.
    warn(&Gaps::of_unreadable(joined.gaps().borrow().unreadable));
    if let Some(number) = args.image {
        return image(&joined, record, number).await;
    }
    if args.context {
        let led = joined.context(&record).await;
        let led = led.map_err(|refusal| CommandError::Refused(id.to_owned(), refusal))?;
        let shown = ContextText { context: &led, columns: wrap_column() };
        let text = if args.json { text::json(&*led)? } else { shown.to_string() };
        return runner::shown(print(&text));
    }
    let text = if args.json {
        text::json(&*record)?
    } else {
        let bridges = Bridges::new(joined.status());
        let (columns, colour) = (wrap_column(), is_coloured());
        let (status, now) = (bridges.status(&record), bridges.now(&record));
        QuestionText { record: &record, status, now, columns, colour, whole: args.whole }.to_string()
    };
    runner::shown(print(&text))
}

/// Writes the bytes of an image.
async fn image(joined: &JoinedInbox, record: Arc<Record>, number: usize) -> Result<u8, CommandError> {
    let Some(known) = record.image(number) else { return Err(CommandError::NoImage { record, number }) };
    if io::stdout().is_terminal() {
        let file = format!("image.{}", ending(known.format));
        let how = format!(
            "an image is not written to a terminal: `askbridge show {} --image {number} > {file}`",
            record.id
        );
        return Err(CommandError::Usage(how));
    }
    let data = match joined.image(&record, number).await {
        Err(Refusal::NotFound) => return Err(CommandError::NoImage { record, number }),
        data => data.map_err(|refusal| CommandError::Refused(record.id.to_string(), refusal))?,
    };
    let mut stdout = io::stdout().lock();
    runner::shown(stdout.write_all(&data).and_then(|()| stdout.flush()))
}
