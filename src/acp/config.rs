//! What can be set for a bridge that speaks ACP.

use super::presentation::Tier;
use crate::engine;

/// The settings of a bridge.
#[derive(Clone, Debug)]
pub struct Config {
    /// What can be set for a bridge of any protocol.
    pub common: engine::Config,
    /// The one way in which the client is asked; `None` for whatever it says that it can show.
    pub tier: Option<Tier>,
    /// Whether `initialize` advertises to each peer what the bridge adds to the other.
    pub advertise: bool,
    /// Whether the bridge says in the chat that a question waits for other responders.
    pub chat_hint: bool,
}

impl Default for Config {
    /// Asks the client in the way that it can show, and advertises what the bridge adds.
    fn default() -> Self {
        Config { common: engine::Config::default(), tier: None, advertise: true, chat_hint: true }
    }
}
