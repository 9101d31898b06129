//! `askbridge show`: one question, and how it can be answered.

use std::io;

use super::{
    CommandError,
    runner::{self, look_up, print, warn},
    screen::Room,
};
use crate::{
    inbox::Inbox,
    machine::Gaps,
    present::{bridges::Bridges, question::QuestionText, text},
};

/// What `show` prints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShowOptions {
    /// The ID of the question, or the beginning of it.
    pub id: String,
    /// Prints JSON.
    pub json: bool,
}

/// Shows a question.
pub async fn show(options: &ShowOptions) -> Result<u8, CommandError> {
    let (machine, _, record) = look_up(&options.id).await?;
    warn(&Gaps::of_unreadable(machine.gaps().borrow().unreadable));
    let text = if options.json {
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
