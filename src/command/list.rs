//! `askbridge list`: the open questions, once. How it goes on with `--watch` is left to `watch.rs`.

use std::time::SystemTime;

use super::{
    CommandError,
    listed::{lines, listing},
    run::{print, shown, warn},
    screen::{Room, stdout_closed},
    watch::watch,
};
use crate::{
    control::client::Depth,
    desk::LostQuestion,
    exit, limits,
    machine::{Machine, discovery},
    present::{listing::QuestionList, past, text},
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
    let lost = lost();
    if options.json {
        return shown(print(&text::json(&QuestionList { lost, ..listing(&machine, &gaps) })?));
    }
    let mut lines = lines(&machine, &folder, &gaps, Room::now());
    let lost = past::lost(&lost, SystemTime::now().into());
    if !lost.is_empty() {
        lines.push(String::new());
        lines.extend(lost);
    }
    shown(print(&(lines.join("\n") + "\n")))
}

/// Returns the questions that were lost with their bridges. What is wrong with the journal is said, and hides no question.
#[cfg(feature = "journal")]
fn lost() -> Vec<LostQuestion> {
    super::history::lost().unwrap_or_else(|error| {
        super::run::say(&format!("questions that were lost are not listed: {error}"));
        Vec::new()
    })
}

#[cfg(not(feature = "journal"))]
fn lost() -> Vec<LostQuestion> {
    Vec::new()
}
