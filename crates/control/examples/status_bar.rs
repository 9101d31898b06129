//! A line for a status bar: how many questions of all agents on this computer wait, and which of them has waited longest.
//! Prints it anew each time that it changes, and ends when nobody reads it any more. Run it with
//! `cargo run -p askbridge-control --example status_bar`.

use std::{
    error::Error,
    io::{self, Write},
    time::Duration,
};

use askbridge_control::{Inbox, JoinedInbox, Places, printable_line};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let inbox = JoinedInbox::open(&Places::here()?).await?;
    tokio::select! {
        followed = inbox.follow() => Ok(followed?),
        shown = show(&inbox) => Ok(shown?),
    }
}

async fn show(inbox: &JoinedInbox) -> io::Result<()> {
    let (mut changes, mut gaps) = (inbox.store().follow(), inbox.gaps());
    // The age changes although nothing happens, and so does whether somebody reads.
    let mut again = tokio::time::interval(Duration::from_secs(5));
    let mut shown = String::new();
    while is_read() {
        let line = line(inbox);
        if line != shown {
            writeln!(io::stdout(), "{line}")?;
            shown = line;
        }
        tokio::select! { _ = changes.next() => {} _ = gaps.changed() => {} _ = again.tick() => {} }
    }
    Ok(())
}

fn line(inbox: &JoinedInbox) -> String {
    let open = inbox.store().read(|_, now| now.open());
    // A bar must not say that nothing waits when a bridge could not be asked.
    let unknown = if inbox.gaps().borrow().is_empty() { "" } else { " (some are not known)" };
    let Some(oldest) = open.first() else { return format!("nothing waits{unknown}") };
    let minutes = inbox.age(oldest).as_secs() / 60;
    let waits = if minutes == 0 { "less than 1 min".to_owned() } else { format!("{minutes} min") };
    let (count, asked, id) = (open.len(), oldest.question.summary(), &oldest.id);
    format!("{count} open{unknown}, the oldest waits {waits}: \"{}\" ({id})", printable_line(&asked))
}

/// Returns whether the pipe at our output, if it is one, still has a reader.
fn is_read() -> bool {
    let stdout = io::stdout();
    let mut ends = [PollFd::new(&stdout, PollFlags::empty())];
    poll(&mut ends, Some(&Timespec::default())).is_err() || ends[0].revents().is_empty()
}
