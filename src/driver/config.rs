//! The engine's configuration and the bridge's inbox, from what was typed on the command line.

use std::{sync::Arc, time::Duration};

use crate::{
    acp::{Config, Tier},
    cli::{BridgeArgs, ClientQuestions},
    control::{
        self, Traffic,
        old::{Feed, Inbox, Owner, host::Host},
    },
    serve,
};

/// Returns what these arguments ask for, with so much time for the agent to end. `host` is where others find
/// its questions.
pub(super) fn of(args: &BridgeArgs, grace: Duration, host: Option<&Host>) -> Config {
    Config {
        timeout: args.timeout.map(Into::into),
        grace,
        tier: tier(args.client_questions),
        promise: !args.no_promise,
        name: host.map(|host| host.name().to_owned()),
    }
}

/// Makes the inbox of this agent's questions, and serves it as these arguments say. A bridge that cannot be reached
/// still bridges: what is wrong is logged.
pub(super) fn inbox(args: &BridgeArgs, agent: String, traffic: Option<Arc<Traffic>>) -> (Feed, Option<Host>) {
    let (inbox, feed) = control::old::new(Owner::here(agent));
    let host = if args.no_inbox { None } else { host(args, inbox, traffic) };
    (feed, host)
}

fn host(args: &BridgeArgs, inbox: Inbox, traffic: Option<Arc<Traffic>>) -> Option<Host> {
    let mut host = Host::bind(inbox)
        .inspect_err(|error| {
            let also = if args.serve.is_some() { ", and --serve serves nothing" } else { "" };
            tracing::warn!(%error, "questions can be answered by the client only{also}");
        })
        .ok()?;
    if let Some(address) = args.serve {
        let beside = serve::run::beside(address, args.http.clone(), traffic);
        if let Err(error) = host.serve(beside) {
            tracing::warn!(%error, "nothing is served over HTTP");
        }
    }
    Some(host)
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
