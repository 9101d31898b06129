//! Finds Copilot's servers: one whose port was named, or those that listen on this machine.

use std::{net::Ipv4Addr, path::Path, sync::Arc};

use askbridge_os::listeners::{self, Listener, SharedListeners};
use askbridge_settings::addresses::TrustedServers;
use futures::future::BoxFuture;
use tokio::task::spawn_blocking;

use super::{
    connection::ServerPlace,
    session::{self, NAME},
};
use crate::attach::{Attachment, Complaints, Finder, FoundAgent, Secret, SharedInboxes};

/// Finds Copilot's servers.
#[derive(Debug)]
pub struct CopilotFinder {
    /// The port that was named. Without one, all that listen on this machine are found.
    named: Option<u16>,
    token: Option<Secret>,
    trusted: Arc<TrustedServers>,
    listeners: SharedListeners,
    complaints: Complaints,
}

impl CopilotFinder {
    /// Returns a finder of the server at this port, or of those on this machine. `token` is what the server was started
    /// with in `COPILOT_CONNECTION_TOKEN`; only a server of this user gets it, or one that is trusted.
    pub fn new(
        named: Option<u16>,
        token: Option<Secret>,
        trusted: TrustedServers,
        listeners: SharedListeners,
    ) -> Self {
        let trusted = Arc::new(trusted);
        CopilotFinder { named, token, trusted, listeners, complaints: Complaints::default() }
    }

    fn found(&self, host: String, port: u16, pid: Option<u32>) -> FoundAgent {
        let key = format!("{NAME} {host} {port}");
        let place =
            ServerPlace { host, port, token: self.token.clone(), trusted: Arc::clone(&self.trusted), pid };
        let complaints = self.complaints.clone();
        let attach = move |hosts| Box::pin(attach(place, hosts, complaints)) as Attachment;
        FoundAgent { key, attach: Box::new(attach) }
    }

    async fn find(&self) -> Vec<FoundAgent> {
        if let Some(port) = self.named {
            return vec![self.found(Ipv4Addr::LOCALHOST.to_string(), port, None)];
        }
        let servers = self.listeners.look().await.into_iter().filter(is_copilot);
        servers.map(|found| self.found(found.ip.to_string(), found.port, Some(found.pid))).collect()
    }
}

impl Finder for CopilotFinder {
    fn name(&self) -> &'static str {
        "copilot"
    }

    fn look(&mut self) -> BoxFuture<'_, Vec<FoundAgent>> {
        Box::pin(self.find())
    }
}

/// Returns whether a process is a Copilot with a server beside its terminal, by its command line. Copilot may listen
/// for other purposes as well, where it does not expect this client.
fn is_copilot(listener: &Listener) -> bool {
    let is_name = |word: &String| {
        let name = Path::new(word).file_name().and_then(|name| name.to_str());
        name == Some("copilot") || word.contains("@github/copilot")
    };
    // The program itself, or a script behind its interpreter, such as `node`.
    listener.command.iter().take(2).any(is_name) && listener.command.iter().any(|word| word == "--ui-server")
}

async fn attach(mut place: ServerPlace, hosts: SharedInboxes, complaints: Complaints) {
    let port = place.port;
    if place.pid.is_none() {
        // The search reads tables of the system, which blocks.
        place.pid = spawn_blocking(move || listeners::process_at(port)).await.unwrap_or_default();
    }
    let problem = session::run(place, hosts).await.err();
    complaints.note(&format!("Copilot at port {port}"), problem);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_copilot_with_a_server_is_found() {
        let is = |command: &[&str]| {
            let command = command.iter().map(|word| (*word).to_owned()).collect();
            is_copilot(&Listener { ip: Ipv4Addr::LOCALHOST.into(), port: 1, pid: 1, command })
        };
        assert!(is(&["copilot", "--ui-server", "--port", "8850"]));
        assert!(is(&["node", "/usr/lib/node_modules/@github/copilot/index.js", "--ui-server"]));
        assert!(!is(&["copilot"]) && !is(&["vim", "x", "copilot", "--ui-server"]));
    }
}
