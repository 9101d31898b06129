//! The engine's configuration and the bridge's inbox, from what was typed on the command line.

use std::{sync::Arc, time::Duration};

use crate::{
    cli::{BridgeArgs, ClientQuestions},
    engine::{Config, Tier},
    inbox::host::{self, Hosted},
    serve::{self, Traffic},
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

/// Makes the inbox in which these arguments let others find what this agent asks, and serves it as they say.
pub(super) fn inbox(args: &BridgeArgs, agent: String, traffic: Option<Arc<Traffic>>) -> Hosted {
    host::open(agent, !args.no_inbox, serve::run::of(args.serve, args.http.clone(), traffic))
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
