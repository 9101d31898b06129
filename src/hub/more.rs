//! Machines that no settings name one by one: those of a fleet, where the program has that.

use std::{collections::BTreeMap, fmt, time::Duration};

use askbridge_control::join::remote::Route;
use askbridge_core::desk::MachineName;
use askbridge_settings::Settings;
use futures::future::BoxFuture;
use tokio::sync::watch;

/// A source of machines that come and go.
pub trait MoreMachines: fmt::Debug + Send + Sync {
    /// Returns a receiver of the reason why machines may be missing. `None` inside if all are known.
    fn problem(&self) -> watch::Receiver<Option<String>>;

    /// Returns whether the settings name the source, even if nothing is known of its machines.
    fn is_set(&self) -> bool;

    /// Returns the machines that are there now, by these settings.
    fn routes(&mut self, settings: &Settings) -> BTreeMap<MachineName, Route>;

    /// Leaves the machines to another process.
    fn leave(&mut self);

    /// Waits until a machine comes or goes, or until it may have changed why machines are missing.
    fn changed(&mut self) -> BoxFuture<'_, ()>;

    /// Waits until the machines that are there now are known, or are known to be out of reach, but no longer than this.
    fn known(&mut self, patience: Duration) -> BoxFuture<'_, ()>;
}
