//! Puts the parts together: the inbox of a bridge, its host with the services beside the socket, and the driver.
//! What the settings are is left to `cli`; what the parts do is left to them.

use std::{process::ExitCode, sync::Arc, time::Duration};

use askbridge::{
    config::{BridgeSettings, InboxSettings, ProxySettings, RunSettings},
    control::{
        BridgeInbox, Traffic, Work,
        host::{Host, Service},
    },
    driver::{self, FatalError, Opened},
    machine::{
        discovery::Socket,
        local::{self, LocalInbox},
    },
    serve::HttpService,
};

/// Runs a bridge around an agent that it starts.
pub(crate) fn run(settings: &RunSettings) -> Result<ExitCode, FatalError> {
    let words: Vec<_> = settings.agent.iter().map(|word| word.to_string_lossy()).collect();
    let traffic = Arc::new(Traffic::default());
    let parts = Parts {
        bridge: &settings.bridge,
        inbox: &settings.inbox,
        grace: settings.grace,
        agent: words.join(" "),
        traffic: Some(Arc::clone(&traffic)),
    };
    driver::run(&settings.agent, traffic, || parts.open())
}

/// Runs a bridge under a conductor.
pub(crate) fn proxy(settings: &ProxySettings) -> Result<ExitCode, FatalError> {
    let parts = Parts {
        bridge: &settings.bridge,
        inbox: &settings.inbox,
        // The conductor ends the agent: there is none to wait for.
        grace: Duration::ZERO,
        // Only the conductor knows the agent's command.
        agent: "an agent under an ACP conductor".to_owned(),
        // One connection carries both directions, so traffic is not counted.
        traffic: None,
    };
    driver::proxy(|| parts.open())
}

/// What a bridge is made of.
struct Parts<'a> {
    bridge: &'a BridgeSettings,
    inbox: &'a InboxSettings,
    grace: Duration,
    agent: String,
    traffic: Option<Arc<Traffic>>,
}

impl Parts<'_> {
    /// Opens the inbox, and serves it as the settings say. A bridge without a socket still bridges: problems are logged.
    fn open(self) -> Opened<Socket> {
        let LocalInbox { inbox, port, work, key } = LocalInbox::new(self.agent);
        let (bridge, started) = (inbox.identity().bridge.clone(), inbox.identity().started_at);
        let host = if self.inbox.no_inbox { None } else { host(self.inbox, inbox, work, self.traffic) };
        let name = host.is_some().then_some(bridge);
        let config = askbridge::acp::Config { name, started, key, ..self.bridge.core(self.grace) };
        Opened { config, port, host }
    }
}

fn host(
    settings: &InboxSettings,
    inbox: BridgeInbox,
    work: Work,
    traffic: Option<Arc<Traffic>>,
) -> Option<Host<Socket>> {
    let mut host = local::bind(inbox, work)
        .inspect_err(|error| {
            let also = if settings.serve.is_some() { ", and --serve serves nothing" } else { "" };
            tracing::warn!(%error, "questions can be answered by the client only{also}");
        })
        .ok()?;
    let http = settings.serve.clone().map(|settings| HttpService { settings, traffic });
    let services: Vec<_> = http.into_iter().map(|service| Box::new(service) as Box<dyn Service>).collect();
    // Without services, the thread that serves the socket starts with the first connection.
    if !services.is_empty()
        && let Err(error) = host.start(services)
    {
        tracing::warn!(%error, "nothing is served over HTTP");
    }
    Some(host)
}
