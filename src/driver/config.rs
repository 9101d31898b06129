//! The engine's configuration, from what was typed on the command line.

use crate::{
    cli::{ClientQuestions, RunArgs},
    engine::{Config, Tier},
};

/// Returns what these arguments ask for.
pub(super) fn of(args: &RunArgs) -> Config {
    Config {
        timeout: args.timeout.map(Into::into),
        grace: args.grace.into(),
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
