//! `askbridge attach`: answers agents that run in terminals, until a signal ends it.
//! How they are found and reached is left to `origin`.

use super::{CommandError, run::say};
use crate::{
    origin::attach::{self, Finder, SharedInboxes},
    signals::Signals,
};

/// Attaches to the agents that these find. What is open in them when a signal comes stays open there.
pub async fn attach(finders: Vec<Box<dyn Finder>>, hosts: SharedInboxes) -> Result<u8, CommandError> {
    // Signals are caught before a socket is bound, so that no signal leaves one behind.
    let mut signals = Signals::catch()?;
    let names: Vec<_> = finders.iter().map(|finder| finder.name()).collect();
    say(&format!("looking for {}; `askbridge list` shows what they ask", names.join(", ")));
    tokio::select! {
        never = attach::attach(finders, hosts) => match never {},
        code = signals.next() => Ok(code),
    }
}
