//! `askbridge list`: the open questions, once. How it goes on with `--watch` is left to `watch.rs`.

use std::time::SystemTime;

use super::{
    CommandError,
    elsewhere::lost_and_elsewhere,
    listed::{lines, listing},
    run::{listed, print, warn},
    screen::{Room, stdout_closed},
    watch::watch,
};
use crate::{
    control::client::Depth,
    exit, limits,
    machine::{Machine, discovery},
    present::{elsewhere, listing::QuestionList, past, text},
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
    let folder = discovery::folder()?;
    if options.watch {
        let machine = Machine::open_soon(&folder).await?;
        return tokio::select! {
            followed = machine.follow() => Ok(followed.map(|()| exit::OK)?),
            watched = watch(&machine, &folder, options.json) => watched,
            () = stdout_closed() => Ok(exit::OK),
        };
    }
    let depth = if options.json { Depth::Whole } else { Depth::Outline };
    let machine = Machine::glance(&folder, depth, limits::PATIENCE).await?;
    let gaps = machine.gaps().borrow().clone();
    warn(&gaps);
    let (lost, elsewhere) = lost_and_elsewhere(&folder).await;
    if options.json {
        let list = QuestionList { lost, elsewhere, ..listing(&machine, &gaps) };
        return listed(print(&text::json(&list)?), gaps.is_empty());
    }
    let room = Room::now();
    let mut lines = lines(&machine, &folder, &gaps, &elsewhere, room);
    lines.extend(elsewhere::unreachable_lines(&elsewhere, &folder));
    let lost = past::lost(&lost, SystemTime::now().into(), room.map(|room| room.columns));
    if !lost.is_empty() {
        lines.push(String::new());
        lines.extend(lost);
    }
    listed(print(&(lines.join("\n") + "\n")), gaps.is_empty())
}
