//! Finds opencode servers: one that was named, or those that listen on this machine.

use std::{future::Future, path::Path, pin::Pin, sync::Arc};

use tokio::task::spawn_blocking;

use super::{
    address::Address,
    http::{HttpClient, Password},
    server,
    session::{self, NAME, Process},
};
use crate::control::processes;
use crate::{
    origin::{
        SharedListeners,
        attach::{Attachment, Complaints, Finder, FoundAgent, SharedInboxes},
        listeners::{self, Listener},
    },
    settings::attached::TrustedServers,
};

/// Finds opencode servers.
#[derive(Debug)]
pub struct OpencodeFinder {
    /// The server that was named. Without one, all that listen on this machine are found.
    named: Option<Address>,
    password: Option<Password>,
    trusted: Arc<TrustedServers>,
    listeners: SharedListeners,
    complaints: Complaints,
}

impl OpencodeFinder {
    /// Returns a finder of the server at this address, or of those on this machine. The password is that of the server; only
    /// a server of this user gets it, or one that is trusted.
    pub fn new(
        named: Option<Address>,
        password: Option<Password>,
        trusted: TrustedServers,
        listeners: SharedListeners,
    ) -> Self {
        let trusted = Arc::new(trusted);
        OpencodeFinder { named, password, trusted, listeners, complaints: Complaints::default() }
    }

    fn found(&self, address: Address, pid: Option<u32>) -> FoundAgent {
        let client = HttpClient::new(address, self.password.as_ref(), Arc::clone(&self.trusted));
        let key = format!("{NAME} {}", client.address());
        let (complaints, is_named) = (self.complaints.clone(), self.named.is_some());
        let attach = move |hosts| Box::pin(attach(client, pid, hosts, complaints, is_named)) as Attachment;
        FoundAgent { key, attach: Box::new(attach) }
    }

    async fn find(&self) -> Vec<FoundAgent> {
        if let Some(address) = &self.named {
            return vec![self.found(address.clone(), None)];
        }
        let servers = self.listeners.look().await.into_iter().filter(is_opencode);
        servers.map(|found| self.found(Address::local(found.ip, found.port), Some(found.pid))).collect()
    }
}

impl Finder for OpencodeFinder {
    fn name(&self) -> &'static str {
        NAME
    }

    fn look(&mut self) -> Pin<Box<dyn Future<Output = Vec<FoundAgent>> + Send + '_>> {
        Box::pin(self.find())
    }
}

/// Returns whether a process is opencode by its name. What listens is asked as well before it is used.
fn is_opencode(listener: &Listener) -> bool {
    let names = listener.command.iter().take(2).filter_map(|word| Path::new(word).file_name()?.to_str());
    names.into_iter().any(|name| matches!(name, "opencode" | ".opencode" | "opencode-cli"))
}

async fn attach(
    client: HttpClient,
    pid: Option<u32>,
    hosts: SharedInboxes,
    complaints: Complaints,
    is_named: bool,
) {
    let address = client.address().clone();
    let process = spawn_blocking(move || {
        let pid = pid.or_else(|| listeners::process_at(address.local_port()?));
        Process { pid, started: pid.and_then(processes::started) }
    });
    let process = process.await.unwrap_or_default();
    let run = async {
        if !is_named {
            server::is_opencode(&client).await?;
        }
        session::run(client.clone(), process, hosts).await
    };
    let problem = run.await.err().map(|error| error.to_string());
    complaints.note(&format!("opencode at {}", client.address()), problem);
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn a_process_is_known_by_the_names_of_its_program() {
        let is = |command: &[&str]| {
            let command = command.iter().map(|word| (*word).to_owned()).collect();
            is_opencode(&Listener { ip: Ipv4Addr::LOCALHOST.into(), port: 1, pid: 1, command })
        };
        assert!(
            is(&["opencode", "serve"]) && is(&["node", "/usr/lib/node_modules/opencode-ai/bin/.opencode"])
        );
        assert!(!is(&["vim", "notes", "opencode"]) && !is(&["askbridge", "inbox"]) && !is(&[]));
    }
}
