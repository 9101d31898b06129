//! One connection to the broker, which is never made again: what it had not sent when it ended is not sent at all.
//! Trying again is left to those who need a connection.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_nats::{
    Auth, AuthError, Client, ConnectErrorKind, ConnectOptions, Event, Message, RequestErrorKind, ServerAddr,
};
use bytes::Bytes;
use serde::Deserialize;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::{access::Access, place};
use crate::limits::fleet as limit;

/// The request that says as whom the server knows this connection.
pub(super) const WHO: &str = "$SYS.REQ.USER.INFO";

/// A connection to the broker. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Broker {
    client: Client,
    /// It is cancelled once the connection has ended.
    ended: CancellationToken,
}

/// What the server says of this connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Who {
    /// The account that the user belongs to.
    pub account: String,
    /// How long the reply took.
    pub latency: Duration,
}

#[derive(Deserialize)]
struct Reply {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    user: String,
    account: String,
}

impl Broker {
    /// Connects. The error says why not.
    pub(super) async fn connect(access: &Access) -> Result<Self, String> {
        let servers: Vec<ServerAddr> = access
            .servers
            .iter()
            .map(|server| server.parse().map_err(|error| format!("{server}: {error}")))
            .collect::<Result<_, _>>()?;
        let (ended, is_used) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
        let options = options(access, servers.len(), &ended, &is_used);
        match timeout(limit::CONNECT, options.connect(&servers[..])).await {
            Ok(Ok(client)) => {
                // Before anything is sent.
                is_used.store(true, Ordering::Relaxed);
                Ok(Broker { client, ended })
            }
            Ok(Err(error)) => Err(why_not(error.kind(), &error.to_string(), access)),
            Err(_) => Err(format!(
                "the broker did not reply within {} s: it may be frozen, or a firewall in between",
                limit::CONNECT.as_secs()
            )),
        }
    }

    /// Returns the client.
    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Waits until the connection has ended.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Returns whether the connection has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// Waits for a reply of the server.
    ///
    /// # Errors
    /// There is none in time.
    pub(super) async fn ping(&self) -> Result<Message, String> {
        let reply = self.client.request(WHO, Bytes::new()).await;
        reply.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => "the broker is older than 2.10".to_owned(),
            _ => format!("the broker does not reply: {error}"),
        })
    }

    /// Asks the server as whom it knows this connection. Afterwards, it has read all that was sent over the connection
    /// before, such as subscriptions.
    ///
    /// # Errors
    /// It does not reply, or knows the connection as another user than the credentials say.
    pub(super) async fn who(&self, access: &Access) -> Result<Who, String> {
        let begun = Instant::now();
        let reply = self.ping().await?;
        let latency = begun.elapsed();
        let Reply { data } = serde_json::from_slice(&reply.payload)
            .map_err(|error| format!("the broker's reply was not understood: {error}"))?;
        match data.user == access.user.as_str() {
            true => Ok(Who { account: data.account, latency }),
            false => Err(format!("the broker knows {} under another name", access.user)),
        }
    }
}

/// Texts of rustls in the errors of the client, and what they mean to who reads the settings.
const TLS: [(&str, &str); 4] = [
    (
        "UnknownIssuer",
        "its certificate is of an authority that is not known here: `fleet.ca` names the file with yours",
    ),
    ("NotValidForName", "its certificate is for another name than that in `fleet.url`"),
    ("Expired", "its certificate has expired"),
    (
        "InvalidContentType",
        "it does not speak TLS: it needs a certificate, or `nats://` in `fleet.url` on loopback",
    ),
];

/// Returns why there is no connection, and what to do about it.
fn why_not(kind: ConnectErrorKind, error: &str, access: &Access) -> String {
    let said = ["IO error: ", "TLS error: ", "DNS error: "]
        .iter()
        .fold(error, |text, prefix| text.strip_prefix(prefix).unwrap_or(text));
    match (kind, TLS.iter().find(|(text, _)| error.contains(text))) {
        (ConnectErrorKind::AuthorizationViolation, _) => format!(
            "the broker does not accept the user {} or its password: `fleet.credentials` must be of the `users.conf` \
             that the broker has read, and `nats-server --signal reload` lets it read that again",
            access.user
        ),
        (_, Some((_, why))) => format!("the broker cannot be used: {why}"),
        (ConnectErrorKind::Tls, None) if access.ca.is_some() => format!("`fleet.ca` cannot be used: {said}"),
        _ => format!("the broker cannot be reached: {said}: look whether it runs, and at `fleet.url`"),
    }
}

/// Returns the options of a client that connects once, to the first of some servers that accepts it. Once it `is_used`,
/// it cannot connect again.
fn options(
    access: &Access,
    servers: usize,
    ended: &CancellationToken,
    is_used: &Arc<AtomicBool>,
) -> ConnectOptions {
    let (user, password) = (access.user.to_string(), access.password.clone());
    let used = Arc::clone(is_used);
    let options = ConnectOptions::with_auth_callback(move |_| {
        let mut auth = Auth::new();
        (auth.username, auth.password) = (Some(user.clone()), Some(password.clone()));
        // The client connects again by itself, and this is where it can be kept from it.
        let is_used = used.load(Ordering::Relaxed);
        async move { if is_used { Err(AuthError::new("a connection is made once")) } else { Ok(auth) } }
    });
    let ended = ended.clone();
    let options = options
        .event_callback(move |event| {
            match &event {
                Event::Disconnected | Event::Closed => ended.cancel(),
                Event::ServerError(error) => tracing::warn!(%error, "the broker refused something"),
                // The client tries to connect again, and the callback above refuses that: this is no news.
                Event::ClientError(_) if ended.is_cancelled() => {}
                other => tracing::debug!(event = %other, "the connection to the broker"),
            }
            async {}
        })
        .name("askbridge")
        .custom_inbox_prefix(place::inbox(&access.user))
        .max_reconnects(servers)
        // Only the servers that the user named get the password, and not those that a server announces.
        .ignore_discovered_servers()
        .connection_timeout(limit::CONNECT)
        .request_timeout(Some(limit::REPLY))
        .ping_interval(limit::PING)
        .client_capacity(limit::UNSENT)
        .subscription_capacity(limit::UNSORTED);
    match &access.ca {
        Some(ca) => options.add_root_certificates(ca.clone()),
        None => options,
    }
    .require_tls(!access.servers.iter().all(|server| is_loopback(server)))
}

/// Returns whether a server is on this machine, where a password may be sent without TLS.
fn is_loopback(server: &str) -> bool {
    let is_plain = server.starts_with("nats://");
    let host = server.parse::<ServerAddr>().map(|address| address.host().to_owned()).unwrap_or_default();
    let host = host.trim_matches(['[', ']']);
    is_plain && (host == "localhost" || host.parse::<core::net::IpAddr>().is_ok_and(|ip| ip.is_loopback()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_is_left_out_on_loopback_alone() {
        for local in ["nats://127.0.0.1:4222", "nats://localhost", "nats://[::1]:4222"] {
            assert!(is_loopback(local), "{local}");
        }
        for other in
            ["nats://10.0.0.1:4222", "tls://localhost", "nats://localhost.example.org", "nats://broker"]
        {
            assert!(!is_loopback(other), "{other}");
        }
    }
}
