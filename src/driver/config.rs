//! The engine's configuration, from what was typed on the command line.

use std::time::Duration;

use crate::{
    cli::{BridgeArgs, ClientQuestions},
    engine::{Config, Tier},
};

/// Returns what these arguments ask for, with so much time for the agent to end.
pub(super) fn of(args: &BridgeArgs, grace: Duration) -> Config {
    Config {
        timeout: args.timeout.map(Into::into),
        grace,
        tier: tier(args.client_questions),
        promise: !args.no_promise,
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
