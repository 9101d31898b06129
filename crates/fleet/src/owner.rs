//! Whose server on this machine is: without TLS, nothing but the kernel says who gets the password. The same look for
//! the servers of agents is in `adapters`.

use std::net::SocketAddr;

use askbridge_os::listeners::{self, TcpRow};
use tokio::task::spawn_blocking;

use crate::limits as limit;

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
    let look = move || {
        let rows = listeners::rows();
        let connections = listeners::own_connections(&rows, &ports);
        judge(&rows, &connections, &[rustix::process::geteuid().as_raw(), ROOT], named)
    };
    let unknown = || {
        Err("askbridge cannot find out which user runs the server on this machine, and sends it no password: give it a \
             certificate, and use `tls://` in `fleet.url`"
            .to_owned())
    };
    // Reading the tables of the system blocks.
    let judged = spawn_blocking(move || (0..limit::LOOKS).find_map(|_| look()).unwrap_or_else(unknown));
    judged.await.map_err(|error| error.to_string())?
}

/// Returns whether these connections lead to a server of one of these users; `None` if the rows do not tell.
fn judge(
    rows: &[TcpRow],
    connections: &[(SocketAddr, SocketAddr)],
    trusted: &[u32],
    named: Option<u32>,
) -> Option<Result<(), String>> {
    let users = connections
        .iter()
        .map(|(client, server)| listeners::user_of_server(rows, *client, *server).map(|user| (user, server)));
    let users: Vec<_> = users.collect::<Option<_>>()?;
    let is_trusted = |user: &u32| trusted.contains(user) || named == Some(*user);
    (!users.is_empty()).then(|| match users.iter().find(|(user, _)| !is_trusted(user)) {
        None => Ok(()),
        Some((user, server)) => Err(format!(
            "what listens at {server} gets no password: it runs as the user with the ID {user}, and neither as \
             you nor as root; if it is your server, set `fleet.server-user` to that user \
             (`askbridge config edit`)"
        )),
    })
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
            let said = judged(&[row(user, 7, State::Open)], named).expect("it is known");
            assert_eq!(said.is_ok(), is_trusted, "{user} {named:?}: {said:?}");
            assert!(
                said.err()
                    .is_none_or(|why| why.contains(&user.to_string()) && why.contains("fleet.server-user"))
            );
        }
        // The server's end is closed already, or there is none.
        assert_eq!(judged(&[row(1000, 7, State::Other)], None), None);
        assert_eq!(judged(&[], None), None);
        assert_eq!(judge(&[row(1000, 7, State::Open)], &[], &[1000], None), None);
    }
}
