//! Which servers get a password or a token: those that run as this user on this machine, and those that the user's own
//! settings name. Requests are left to `opencode` and `copilot`; a UNIX socket names its peer by itself.

use std::{io, net::SocketAddr};

use askbridge_os::listeners;
use askbridge_settings::addresses::TrustedServers;
use thiserror::Error;
use tokio::{net::TcpStream, task::spawn_blocking};

/// Why a server gets no secret.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "{why}; if you trust it, add \"{server}\" to inbox.trusted-servers in your own settings (`askbridge config edit`)"
)]
pub(super) struct Untrusted {
    server: String,
    why: Why,
}

/// Why a server is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
enum Why {
    #[error("the process that listens there is not yours: it runs as the user with the ID {0}")]
    OtherUser(u32),
    #[error("it is on another machine")]
    OtherMachine,
    #[error("askbridge cannot find out which user it runs as")]
    Unknown,
}

/// Checks that a secret may be sent over this connection, to the server that is called `host` and `port`. Looking at
/// the connection itself, and not at who listens there, leaves no moment in which another process could take its place.
pub(super) async fn check(
    stream: &TcpStream,
    (host, port): (&str, u16),
    named: &TrustedServers,
) -> Result<(), Untrusted> {
    if named.has(host, port) {
        return Ok(());
    }
    let why = match (stream.local_addr(), stream.peer_addr()) {
        (Ok(client), Ok(server)) => match user_of(client, server).await {
            Ok(Some(user)) if user == rustix::process::geteuid().as_raw() => return Ok(()),
            Ok(Some(user)) => Why::OtherUser(user),
            // An IPv4 address may be written as an IPv6 address.
            Ok(None) if server.ip().to_canonical().is_loopback() => Why::Unknown,
            Ok(None) => Why::OtherMachine,
            Err(_) => Why::Unknown,
        },
        _ => Why::Unknown,
    };
    Err(Untrusted { server: TrustedServers::written(host, port), why })
}

/// Returns the user whose process has the server's end of this connection. `None` if that is not on this machine.
///
/// # Errors
/// The system does not list this connection at all.
async fn user_of(client: SocketAddr, server: SocketAddr) -> io::Result<Option<u32>> {
    // Reading the tables of the system blocks.
    let rows = spawn_blocking(listeners::rows).await?;
    // If even our own end is missing, the list is not complete, and a missing server's end proves nothing.
    match rows.iter().any(|row| row.is_end(client, server)) {
        true => Ok(listeners::user_of_server(&rows, client, server)),
        false => Err(io::ErrorKind::Unsupported.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_says_why_and_what_to_do() {
        let refused = |why| Untrusted { server: "box.lan:4096".to_owned(), why }.to_string();
        assert_eq!(
            refused(Why::OtherMachine),
            "it is on another machine; if you trust it, add \"box.lan:4096\" to inbox.trusted-servers in your own \
             settings (`askbridge config edit`)"
        );
        assert!(refused(Why::OtherUser(65_534)).contains("the user with the ID 65534"));
    }

    #[cfg(target_os = "linux")]
    mod on_linux {
        use std::{net::TcpListener, thread};

        use rustix::{process::Uid, thread::set_thread_res_uid};

        use super::super::*;

        /// Connects to a listener, and returns why it gets no secret.
        async fn refused(listener: &TcpListener) -> Option<Why> {
            let address = listener.local_addr().unwrap();
            let stream = TcpStream::connect(address).await.unwrap();
            let nobody = TrustedServers::default();
            let checked = check(&stream, ("localhost", address.port()), &nobody).await;
            let named = TrustedServers(vec![("localhost".to_owned(), address.port())]);
            assert_eq!(check(&stream, ("localhost", address.port()), &named).await, Ok(()));
            checked.err().map(|untrusted| untrusted.why)
        }

        #[tokio::test]
        async fn own_server_gets_a_secret_before_and_after_it_accepts() {
            for address in ["127.0.0.1:0", "0.0.0.0:0", "[::1]:0", "[::]:0"] {
                // A machine may have no IPv6.
                let Ok(listener) = TcpListener::bind(address) else { continue };
                assert_eq!(refused(&listener).await, None, "{address}");
                let accepting = listener.try_clone().unwrap();
                let accepted = thread::spawn(move || accepting.accept());
                assert_eq!(refused(&listener).await, None, "{address}");
                drop(accepted.join());
            }
        }

        /// Runs this as another user.
        fn as_another<T: Send + 'static>(user: u32, run: impl FnOnce() -> T + Send + 'static) -> T {
            let running = thread::spawn(move || {
                let user = Uid::from_raw(user);
                set_thread_res_uid(user, user, user).unwrap();
                run()
            });
            running.join().unwrap()
        }

        /// The other tests of this need root as well, which CI has: see `tests/attach/credentials.rs`.
        #[tokio::test]
        #[expect(
            clippy::print_stderr,
            reason = "whoever runs the tests must know that this one tested nothing"
        )]
        async fn server_of_another_user_gets_no_secret_before_and_after_it_accepts() {
            const OTHER: u32 = 65_534;
            if !rustix::process::geteuid().is_root() {
                return eprintln!("not tested: only root can listen as another user");
            }
            let listener = as_another(OTHER, || TcpListener::bind("127.0.0.1:0").unwrap());
            assert_eq!(refused(&listener).await, Some(Why::OtherUser(OTHER)));
            // A listener of ours whose connections another user accepts.
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let stream = TcpStream::connect(address).await.unwrap();
            let accepted = as_another(OTHER, move || listener.accept().unwrap());
            let none = TrustedServers::default();
            let checked = check(&stream, ("127.0.0.1", address.port()), &none).await;
            assert_eq!(checked.err().map(|untrusted| untrusted.why), Some(Why::OtherUser(OTHER)));
            drop(accepted);
        }
    }
}
