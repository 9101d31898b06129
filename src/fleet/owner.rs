//! Whose server on this machine is: without TLS, nothing but the kernel says who gets the password. The same look for
//! the servers of agents is in `adapters`.

use std::net::SocketAddr;

use askbridge_os::listeners::{self, TcpRow};
use tokio::task::spawn_blocking;

/// The user that runs services of the system.
const ROOT: u32 = 0;

/// Checks that the connections of this process to these ports of loopback lead to a server of this user, of root, or of
/// the user that the settings name. It looks at the connections, and not at who listens, so that no other process can
/// take the server's place in between. Other systems than Linux do not say whose a connection is.
///
/// # Errors
/// Another user has the other end, or it is not known who has it.
pub(super) async fn check(ports: Vec<u16>, named: Option<u32>) -> Result<(), String> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    // Reading the tables of the system blocks.
    let judged = spawn_blocking(move || {
        let rows = listeners::rows();
        let connections = listeners::own_connections(&rows, &ports);
        judge(&rows, &connections, &[rustix::process::geteuid().as_raw(), ROOT], named)
    });
    judged.await.map_err(|error| error.to_string())?
}

fn judge(
    rows: &[TcpRow],
    connections: &[(SocketAddr, SocketAddr)],
    trusted: &[u32],
    named: Option<u32>,
) -> Result<(), String> {
    let unknown = || {
        "askbridge cannot find out which user runs the server on this machine, and sends it no password: give it a \
         certificate, and use `tls://` in `fleet.url`"
            .to_owned()
    };
    if connections.is_empty() {
        return Err(unknown());
    }
    for (client, server) in connections {
        match listeners::user_of_server(rows, *client, *server) {
            Some(user) if trusted.contains(&user) || named == Some(user) => {}
            Some(user) => {
                return Err(format!(
                    "what listens at {server} gets no password: it runs as the user with the ID {user}, and neither as \
                     you nor as root; if it is your server, set `fleet.server-user` to that user \
                     (`askbridge config edit`)"
                ));
            }
            None => return Err(unknown()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use askbridge_os::listeners::State;

    use super::*;

    #[test]
    fn a_server_of_another_user_is_refused_unless_it_is_named() {
        let (client, server) = ("127.0.0.1:50000".parse().unwrap(), "127.0.0.1:4222".parse().unwrap());
        let row = |user, inode, state| TcpRow { local: server, remote: client, state, user, inode };
        let judged = |rows: &[TcpRow], named| judge(rows, &[(client, server)], &[1000, ROOT], named);
        for (user, named, is_trusted) in [
            (1000, None, true),
            (ROOT, None, true),
            (107, None, false),
            (107, Some(107), true),
            (65534, Some(107), false),
        ] {
            let said = judged(&[row(user, 7, State::Open)], named);
            assert_eq!(said.is_ok(), is_trusted, "{user} {named:?}: {said:?}");
            assert!(
                said.err()
                    .is_none_or(|why| why.contains(&user.to_string()) && why.contains("fleet.server-user"))
            );
        }
        // The server's end is closed already, or there is none.
        assert!(judged(&[row(1000, 7, State::Other)], None).is_err());
        assert!(judged(&[], None).is_err());
        assert!(judge(&[row(1000, 7, State::Open)], &[], &[1000], None).is_err());
    }
}
