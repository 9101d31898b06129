//! `askbridge list`: the open questions, once. How it goes on with `--watch` is left to `watch.rs`.

use super::{
    CommandError,
    run::{join, print, shown, warn},
    screen::Room,
    watch::watch,
};
use crate::{
    control::{Inbox, protocol::Listing},
    exit,
    present::{table::table, text},
};

/// What `list` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Prints JSON.
    pub json: bool,
    /// Goes on, and prints what changes.
    pub watch: bool,
}

/// Lists the open questions.
pub async fn list(options: &ListOptions) -> Result<u8, CommandError> {
    let machine = join().await?;
    if options.watch {
        let followed = machine.clone();
        return tokio::select! {
            followed = followed.follow() => Ok(followed.map(|()| exit::OK)?),
            watched = watch(&machine, options.json) => shown(watched),
        };
    }
    let gaps = machine.gaps().borrow().clone();
    warn(&gaps);
    let (revision, open) = machine.store().read(|revision, snapshot| (revision, snapshot.open()));
    let text = if options.json {
        text::json(&Listing::new(revision, open).with_unreadable(gaps.unreadable))?
    } else {
        table(&open, Room::now().columns)
    };
    shown(print(&text))
}
