//! `askbridge show`: one question, and how it can be answered.

use std::io;

use clap::Args;

use super::{
    CommandError, help,
    reach::MachineArgs,
    runner::{self, look_up, print, warn},
    screen::Room,
};
use crate::{
    inbox::Inbox,
    machine::Gaps,
    present::{bridges::Bridges, question::QuestionText, text},
};

/// Options of `askbridge show`.
#[derive(Debug, Args)]
#[command(after_help = help::SHOW)]
pub struct ShowArgs {
    /// The question's ID
    pub id: String,

    /// Print the question as JSON, with all that is known of it
    #[arg(long)]
    pub json: bool,

    /// The machine that is asked.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Shows a question.
pub async fn show(args: &ShowArgs) -> Result<u8, CommandError> {
    let (machine, _, record) = look_up(&args.id, &args.machine).await?;
    // The question was found, so it does not matter which bridges did not reply.
    warn(&Gaps::of_unreadable(machine.gaps().borrow().unreadable));
    let text = if args.json {
        text::json(&*record)?
    } else {
        // In a pipe, no text is wrapped.
        let columns = Room::now().map_or(usize::MAX, |room| room.columns);
        let bridges = Bridges::new(machine.status());
        let colour = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        let (status, now) = (bridges.status(&record), bridges.now(&record));
        QuestionText { record: &record, status, now, columns, colour }.to_string()
    };
    runner::shown(print(&text))
}
