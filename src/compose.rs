//! The composition root: puts together the inbox of a bridge, its host with the services beside the socket, and the
//! driver.
//! The values of the settings are left to `settings`, the parts to their modules.

use std::{process::ExitCode, sync::Arc, time::Duration};

use askbridge::{
    command::cli::{Cli, Command},
    driver::{self, BridgeParts, FatalError, Timeouts},
    service::{self, AgentEndFlag, BridgeContext, Context, Renewal, services},
};
use askbridge_control::{
    inbox::{BridgeInbox, Ledger, LeftToClient, Traffic, Work},
    join::discovery::{self, LocalInbox, Socket},
    rpc::host::Host,
};
use askbridge_core::{
    acp::{self, Bridge},
    engine,
    hosted::{ClaudeBridge, CodexBridge},
    mcp,
};
use askbridge_os::{
    exit,
    log::{self, Log, LogError, LogSettings},
    terminal::printable_line,
};
use askbridge_settings::{
    Settings,
    files::Live,
    resolved::{BridgeSettings, InboxSettings, McpProxySettings, Protocol, ProxySettings, RunSettings},
};
use tokio::sync::mpsc;

/// Starts the log, and reports the mistakes in the settings to it.
///
/// # Errors
/// Fails if the log file of the command line cannot be opened. A log file of the settings never stops the program, and
/// none stops a hook.
pub(crate) fn log(cli: &Cli, settings: &Settings) -> Result<Log, LogError> {
    let wanted = cli.log.settings(settings);
    let (log, failed) = match log::start(&wanted) {
        Err(error) if cli.log.log_file.is_none() || matches!(cli.command, Command::Hook(_)) => {
            (log::start(&LogSettings { file: None, ..wanted })?, Some(error))
        }
        started => (started?, None),
    };
    // The others report the problems themselves, or a shell reads their output.
    if cli.command.names_problems() {
        let problems = settings.problems().iter().map(ToString::to_string);
        for problem in problems.chain(failed.map(|error| format!("log.file: {error}"))) {
            tracing::warn!("settings: {}", printable_line(&problem));
        }
    }
    Ok(log)
}

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
        failed: AgentEndFlag::default(),
    };
    let (agent, failed) = (&settings.agent, parts.failed.clone());
    let code = match settings.protocol {
        Protocol::Acp => driver::run(agent, traffic, || parts.open(Bridge::new)),
        Protocol::Claude => {
            driver::run(agent, traffic, || parts.open(|config| ClaudeBridge::new(config.common)))
        }
        Protocol::Codex => {
            driver::run(agent, traffic, || parts.open(|config| CodexBridge::new(config.common)))
        }
    };
    ended(code, &failed)
}

/// Returns the exit code of a bridge. It is a code of its own if the agent was ended because nobody could answer a
/// question.
fn ended(code: Result<ExitCode, FatalError>, failed: &AgentEndFlag) -> Result<ExitCode, FatalError> {
    code.map(|code| if failed.is_set() { ExitCode::from(exit::UNATTENDED) } else { code })
}

/// Runs a bridge around an MCP server that it starts.
pub(crate) fn mcp_proxy(settings: &McpProxySettings) -> Result<ExitCode, FatalError> {
    let words: Vec<_> = settings.server.iter().map(|word| word.to_string_lossy()).collect();
    let traffic = Arc::new(Traffic::default());
    let parts = Parts {
        bridge: &settings.bridge,
        inbox: &settings.inbox,
        grace: settings.grace,
        agent: settings.name.clone().unwrap_or_else(|| words.join(" ")),
        traffic: Some(Arc::clone(&traffic)),
        failed: AgentEndFlag::default(),
    };
    let (server, failed) = (&settings.server, parts.failed.clone());
    let around = |config: acp::Config| mcp::Bridge::new(settings.core(config.common));
    ended(driver::run(server, traffic, || parts.open(around)), &failed)
}

/// Runs a bridge under a conductor.
pub(crate) fn proxy(settings: &ProxySettings) -> Result<ExitCode, FatalError> {
    let parts = Parts {
        bridge: &settings.bridge,
        inbox: &settings.inbox,
        // The conductor ends the agent, so there is no agent to wait for.
        grace: Duration::ZERO,
        // Only the conductor knows the agent's command.
        agent: "an agent under an ACP conductor".to_owned(),
        // One connection carries both directions, so traffic is not counted.
        traffic: None,
        failed: AgentEndFlag::default(),
    };
    let failed = parts.failed.clone();
    ended(driver::proxy(|| parts.open(Bridge::under_conductor)), &failed)
}

/// The parts of a bridge.
struct Parts<'a> {
    bridge: &'a BridgeSettings,
    inbox: &'a InboxSettings,
    grace: Duration,
    agent: String,
    traffic: Option<Arc<Traffic>>,
    failed: AgentEndFlag,
}

impl Parts<'_> {
    /// Opens the inbox, and serves it according to the settings. A bridge without a socket still runs, and logs the
    /// problem.
    fn open<P: engine::Protocol>(
        self,
        around: impl FnOnce(acp::Config) -> engine::Bridge<P>,
    ) -> BridgeParts<P, Socket> {
        let LocalInbox { inbox, port, work, key } = LocalInbox::new(self.agent.clone());
        let (bridge, started) = (inbox.identity().bridge.clone(), inbox.identity().started_at);
        let (renewal, timeouts) = self.renewal();
        // Only the inbox writes to the journal.
        let ledger = service::ledger(self.inbox.journal.filter(|_| !self.inbox.no_inbox));
        let has_ledger = ledger.is_some();
        // The user must be able to see in the history that a project's file has switched something off.
        if let Some((ledger, file)) = ledger.as_deref().zip(self.bridge.permissions_left_by.as_deref()) {
            let project = inbox.identity().folder.clone();
            let (bridge, file) = (bridge.clone(), file.display().to_string());
            ledger.left_to_client(LeftToClient { bridge, project, file, at: started });
        }
        let inbox = inbox.with_ledger(ledger.clone()).guarding(self.inbox.guarding);
        let host = if self.inbox.no_inbox { None } else { host(&self, inbox, ledger, work, renewal) };
        let name = host.is_some().then_some(bridge);
        let config = self.bridge.core(self.grace);
        let common = engine::Config { name, has_ledger, started, key, ..config.common };
        let config = acp::Config { common, ..config };
        BridgeParts { bridge: around(config), port, host, timeouts }
    }

    /// Returns the two ends of the channel for timeout changes. A timeout of the command line is fixed, and needs no
    /// channel.
    fn renewal(&self) -> (Option<Renewal>, Option<Timeouts>) {
        if self.bridge.timeout_is_fixed || self.inbox.no_inbox {
            return (None, None);
        }
        // The channel needs room for one change only: the service waits until the bridge has taken it.
        let (tell, timeouts) = mpsc::channel(1);
        (Some(Renewal { timeout: self.bridge.timeout, timeouts: tell }), Some(timeouts))
    }
}

fn host(
    parts: &Parts<'_>,
    inbox: BridgeInbox,
    ledger: Option<Arc<dyn Ledger>>,
    work: Work,
    renewal: Option<Renewal>,
) -> Option<Host<Socket>> {
    let host = discovery::bind_inbox(inbox, work)
        .inspect_err(|error| {
            let also = if parts.inbox.serve.is_some() { ", and --serve has no effect" } else { "" };
            tracing::warn!(%error, "only the client can answer questions{also}");
        })
        .ok()?;
    let bridge = BridgeContext {
        live: Arc::new(Live::here()),
        inbox: parts.inbox.clone(),
        traffic: parts.traffic.clone(),
        failed: parts.failed.clone(),
        renewal,
    };
    let context = Context { bridge: Some(bridge), ..Context::new(ledger) };
    let mut host = host.with(services(&context));
    if let Err(error) = host.start_if_needed() {
        tracing::warn!(%error, "nothing is served over HTTP");
    }
    Some(host)
}
