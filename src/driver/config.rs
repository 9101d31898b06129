//! The engine's configuration, from what was typed on the command line.

use std::time::Duration;

use crate::{
    cli::{BridgeArgs, ClientQuestions},
    engine::{Config, Tier},
};

/// Returns what these arguments ask for, with so much time for the agent to end. `name` is that under which others find
/// the bridge's questions.
pub(super) fn of(args: &BridgeArgs, grace: Duration, name: Option<String>) -> Config {
    Config {
        timeout: args.timeout.map(Into::into),
        grace,
        tier: tier(args.client_questions),
        promise: !args.no_promise,
        name,
    }
}

fn tier(asked: ClientQuestions) -> Option<Tier> {
    match asked {
        ClientQuestions::Auto => None,
        ClientQuestions::Native => Some(Tier::Native),
        ClientQuestions::Elicitation => Some(Tier::Elicitation),
        ClientQuestions::Permission => Some(Tier::Permission),
        ClientQuestions::None => Some(Tier::None),
    }
}
