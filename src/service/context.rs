//! The context of services: an inbox passes it to each service, which takes what it needs.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use askbridge_control::inbox::{Ledger, Traffic};
use askbridge_settings::{files::Live, resolved::InboxSettings};
use tokio::sync::mpsc;

/// The context of the services of one inbox.
#[derive(Debug)]
pub struct Context {
    /// The settings of the user, without those of a project.
    pub live: Arc<Live>,
    /// The ledger that keeps the questions beyond this process.
    pub ledger: Option<Arc<dyn Ledger>>,
    /// The part that only the inbox of a bridge has.
    pub bridge: Option<BridgeContext>,
}

impl Context {
    /// Returns the context of an inbox that belongs to no bridge.
    pub fn new(ledger: Option<Arc<dyn Ledger>>) -> Self {
        Context { live: Arc::new(Live::of_user()), ledger, bridge: None }
    }
}

/// The context of the services of a bridge's inbox.
#[derive(Debug)]
pub struct BridgeContext {
    /// The settings of the folder that the bridge runs in.
    pub live: Arc<Live>,
    /// The settings as the bridge started.
    pub inbox: InboxSettings,
    /// The bytes that pass through the bridge. `None` if they are not counted.
    pub traffic: Option<Arc<Traffic>>,
    /// The flag that a service sets when it ends the agent.
    pub failed: AgentEndFlag,
    /// The timeout that the settings may change; `None` if the command line fixes it.
    pub renewal: Option<Renewal>,
}

/// The timeout of a bridge, and the channel to change it.
#[derive(Clone, Debug)]
pub struct Renewal {
    /// The timeout at the start. `None` keeps questions open.
    pub timeout: Option<Duration>,
    /// Takes another timeout, and the time of the change.
    pub timeouts: mpsc::Sender<(Option<Duration>, Instant)>,
}

/// A flag that says whether the agent was ended because of a question. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct AgentEndFlag(Arc<AtomicBool>);

impl AgentEndFlag {
    /// Returns whether the agent was ended because of a question.
    pub fn is_set(&self) -> bool {
        // No other data is published by the flag.
        self.0.load(Ordering::Relaxed)
    }

    /// Records that the agent was ended because of a question.
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The lines that were logged. Each is logged once, up to a number of lines.
#[derive(Debug, Default)]
pub(super) struct LogOnce(BTreeSet<String>);

impl LogOnce {
    /// The most different lines.
    const LINES: usize = 64;

    /// Returns whether a line must be logged now, and remembers it.
    pub(super) fn is_new(&mut self, line: &str) -> bool {
        self.0.len() < Self::LINES && self.0.insert(line.to_owned())
    }
}
