//! Connects and reconnects to a Copilot, and reads its descriptions of sessions. Calls are left to `link.rs`.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use askbridge_os::processes;
use askbridge_settings::addresses::TrustedServers;
use serde::Deserialize;
use serde_json::json;
use tokio::{
    net::TcpStream,
    sync::mpsc,
    time::{Instant, timeout},
};

use super::link::{CallError, Link, Notification};
use crate::{
    attach::{Retry, Secret},
    limits, trust,
};

/// The address of a Copilot, and the credentials for it.
#[derive(Clone, Debug)]
pub(super) struct ServerPlace {
    pub host: String,
    pub port: u16,
    /// The token of the server, from `COPILOT_CONNECTION_TOKEN`, if it is set.
    pub token: Option<Secret>,
    /// The servers that get the token, even if other users run them.
    pub trusted: Arc<TrustedServers>,
    pub pid: Option<u32>,
}

/// The session that the terminal shows.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Foreground {
    pub session_id: Option<String>,
}

/// Copilot's description of a session. Its `workspacePath`, here and elsewhere, is a folder that Copilot keeps for the
/// session, and not the project.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    working_directory: PathBuf,
}

/// A connection, and the notifications that arrive over it.
pub(super) struct CopilotConnection {
    pub link: Arc<Link>,
    pub heard: mpsc::Receiver<Notification>,
    pub foreground: Foreground,
}

pub(super) async fn connect(place: &ServerPlace) -> Result<CopilotConnection, String> {
    let stream = open(place).await.map_err(|error| format!("cannot be reached: {error}"))?;
    // Another user's process may have taken the port, and must not get the token.
    if place.token.is_some() {
        let checked = trust::check(&stream, (&place.host, place.port), &place.trusted).await;
        checked.map_err(|error| format!("does not get COPILOT_CONNECTION_TOKEN: {error}"))?;
    }
    let (link, heard) = Link::over(stream);
    let token = place.token.as_ref().map_or_else(|| json!({}), |token| json!({ "token": token.expose() }));
    link.call_within(limits::ATTACH_CONNECT, "connect", token).await.map_err(|error| match error {
        CallError::Refused(why) => {
            format!(
                "refused this program: {why}; set COPILOT_CONNECTION_TOKEN to the same value as for Copilot"
            )
        }
        CallError::Lost(why) => format!("is not Copilot: {why}"),
    })?;
    let foreground =
        shown(&link).await.map_err(|error| format!("was not started with --ui-server: {error}"))?;
    Ok(CopilotConnection { link: Arc::new(link), heard, foreground })
}

async fn open(place: &ServerPlace) -> io::Result<TcpStream> {
    let connected = timeout(limits::ATTACH_CONNECT, TcpStream::connect((&*place.host, place.port)));
    let stream = connected.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    // A small call must not wait for the acknowledgement of an earlier one.
    stream.set_nodelay(true)?;
    Ok(stream)
}

pub(super) async fn shown(link: &Link) -> Result<Foreground, CallError> {
    read(&link.call("session.getForeground", json!({})).await?)
}

/// Returns the folder that a session works in. `None` for a version that does not say.
pub(super) async fn working_directory(link: &Link, session: &str) -> Option<PathBuf> {
    let metadata = link.call("session.metadata.snapshot", json!({ "sessionId": session })).await.ok()?;
    Some(read::<Metadata>(&metadata).ok()?.working_directory)
}

pub(super) fn text(folder: &Path) -> Arc<str> {
    folder.to_string_lossy().into()
}

/// Connects again after the connection broke. `None` if Copilot is gone.
pub(super) async fn rejoin(place: &ServerPlace, retry: &mut Retry) -> Option<CopilotConnection> {
    let give_up = Instant::now() + limits::ATTACH_REJOIN;
    let is_gone = || place.pid.is_some_and(|pid| !processes::is_running(pid));
    loop {
        retry.pause().await;
        // After the end of Copilot, another process may listen there. It must not get the token, and gets a separate
        // inbox.
        if is_gone() {
            return None;
        }
        let again = connect(place).await;
        // Copilot may have ended while we connected: then this is another process.
        if is_gone() {
            return None;
        }
        match again {
            Ok(connection) => return Some(connection),
            Err(error) => tracing::debug!(error, port = place.port, "Copilot does not reply"),
        }
        if Instant::now() >= give_up {
            return None;
        }
    }
}

pub(super) fn read<'a, T: Deserialize<'a>>(result: &'a str) -> Result<T, CallError> {
    serde_json::from_str(result)
        .map_err(|error| CallError::Refused(format!("the result is not known: {error}")))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::{net::TcpListener, process::Command};

    use super::*;

    #[tokio::test]
    async fn nothing_is_sent_to_what_took_the_port_of_a_copilot_that_ended() {
        let other = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut copilot = Command::new("true").spawn().expect("a process");
        copilot.wait().expect("its end");
        let place = ServerPlace {
            host: "127.0.0.1".to_owned(),
            port: other.local_addr().expect("an address").port(),
            token: Some("top secret".to_owned().into()),
            trusted: Arc::default(),
            pid: Some(copilot.id()),
        };
        assert!(rejoin(&place, &mut Retry::default()).await.is_none());
        other.set_nonblocking(true).expect("a socket");
        assert!(other.accept().is_err(), "something connected");
        assert!(!format!("{place:?}").contains("top secret"));
    }
}
