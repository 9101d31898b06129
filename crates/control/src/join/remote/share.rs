//! The socket of the process that holds the connections to other machines: other programs of this machine share its
//! connections over it, so that each machine is connected to once. How it is served is left to `rpc/select.rs`.

use std::{
    io,
    os::unix::net::UnixListener,
    path::{Path, PathBuf},
    sync::Arc,
};

use askbridge_core::desk::MachineName;
use tokio::{net::UnixStream, time::timeout};

use crate::{
    inbox::report::MachineListing,
    join::{
        Places,
        discovery::{self, DiscoveryError, NAMED, Socket},
        handshake::is_passing,
        selected::Selected,
    },
    limits,
    rpc::client::{Client, read_machine_list},
};

/// The name of the socket. No bridge can have this name, so the search for bridges ignores the socket.
const NAME: &str = "other-machines";

/// Returns the socket of the process that holds the machines, if it is in this directory of sockets.
pub fn socket(folder: &Path) -> PathBuf {
    folder.join(NAME).with_extension(NAMED)
}

/// Returns whether this is the path of such a socket.
pub fn is_socket(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == NAME)
}

/// Connects to the process that holds the connections to other machines. `None` if there is none.
///
/// # Errors
/// A socket cannot be connected to.
pub async fn connect(places: &Places) -> io::Result<Option<UnixStream>> {
    for folder in places.all() {
        // This removes the socket that a killed process left behind.
        if let Some(stream) = discovery::connect(&socket(&folder)).await? {
            return Ok(Some(stream));
        }
    }
    Ok(None)
}

/// Returns the machines of the process that holds the connections to them, if there is one that replies.
pub async fn listing(places: &Places) -> Option<MachineListing> {
    let asked = async { read_machine_list(connect(places).await.ok()??).await.ok() };
    timeout(limits::PATIENCE, asked).await.ok()?
}

/// Connects to one machine through the process that holds it. `None` if none does. A machine that the settings have only
/// just got is held from then on.
pub async fn select(places: &Places, machine: &MachineName) -> Option<Selected> {
    let selected = async {
        let stream = connect(places).await.ok()??;
        let (client, report) = Client::connect_machine(stream, machine.clone()).await.ok()?;
        Some(Selected { client: Arc::new(client), report })
    };
    timeout(limits::PATIENCE, selected).await.ok()?
}

/// What makes this process the one that holds the connections for all programs. Dropping it makes room for another one.
#[derive(Debug)]
pub struct Shared {
    _socket: Socket,
}

impl Shared {
    /// Makes this process the one that holds the connections, unless another one does: then this returns `None`. The
    /// listener is to be served.
    ///
    /// # Errors
    /// The socket cannot be made, or it cannot be said whether another process listens.
    pub async fn claim(places: &Places) -> Result<Option<(Self, UnixListener)>, DiscoveryError> {
        match connect(places).await {
            Ok(None) => {}
            Ok(Some(_)) => return Ok(None),
            // It listens, and is only too busy to accept; or this process has no file descriptors now.
            Err(error) if is_passing(&error) => return Ok(None),
            Err(source) => return Err(DiscoveryError::Path { path: socket(places.own()), source }),
        }
        match Socket::bind(places.own(), NAME) {
            Ok((socket, listener)) => Ok(Some((Shared { _socket: socket }, listener))),
            // Another one was faster.
            Err(DiscoveryError::Path { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use askbridge_core::{
        desk::{IdPrefix, QuestionId, Refusal, State, Submission},
        question::{Answer, Provenance, Value},
    };
    use futures::future::{BoxFuture, FutureExt, ready};
    use tempfile::TempDir;
    use tokio::{sync::watch, task::JoinHandle};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::{
        inbox::{self, Inbox, wait_until},
        join::{Held, JoinedInbox, Reach, connections::Connections, name::LinkName, peer::LinkEnd},
        rpc::{
            client::CallError,
            played::{PlayedBridge, soon},
            select::SelectMachine,
            socket::serve_machines,
        },
    };

    struct Fixed(Held);

    impl SelectMachine for Fixed {
        fn select<'a>(&'a self, name: &'a MachineName) -> BoxFuture<'a, Option<Arc<dyn inbox::AnyInbox>>> {
            ready(self.0.get(name).cloned()).boxed()
        }
    }

    /// A process that holds two machines, and has a bridge of its own machine.
    struct Holding {
        folder: TempDir,
        places: Places,
        near: PlayedBridge,
        far: [PlayedBridge; 2],
        joined: JoinedInbox,
        shared: Option<Shared>,
        _tasks: [JoinHandle<()>; 2],
    }

    impl Holding {
        async fn start() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let places = Places::from(folder.path());
            let mut near = PlayedBridge::start(folder.path(), "near");
            let away = folder.path().join("away");
            std::fs::create_dir(&away).unwrap();
            let mut far = ["one", "two"].map(|name| PlayedBridge::start(&away, name));
            near.open("here").await;
            for bridge in &mut far {
                bridge.open("there").await;
            }
            let inbox =
                |bridge: &PlayedBridge| -> Arc<dyn inbox::AnyInbox> { Arc::new(bridge.inbox.clone()) };
            let held: Held =
                [("a".parse().unwrap(), inbox(&far[0])), ("b".parse().unwrap(), inbox(&far[1]))].into();
            let reach =
                Reach { held: Some(watch::channel(Some(held.clone())).1), ..Reach::from(folder.path()) };
            let joined = soon(JoinedInbox::open(reach)).await.unwrap();
            let (shared, listener) =
                Shared::claim(&places).await.unwrap().expect("no other process holds any");
            let (followed, elsewhere) = (joined.clone(), joined.elsewhere());
            let following = tokio::spawn(async move { drop(followed.follow().await) });
            let serving = tokio::spawn(async move {
                let stop = CancellationToken::new();
                drop(serve_machines(listener, elsewhere, Arc::new(Fixed(held)), stop).await);
            });
            Holding { folder, places, near, far, joined, shared: Some(shared), _tasks: [following, serving] }
        }

        /// Returns what another program asks: this machine and all others, or one of the others alone.
        fn reach(&self, only: Option<&str>) -> Reach {
            let bridges = only.is_none().then(|| self.places.clone());
            let only = only.map(|name| name.parse().unwrap());
            Reach { bridges, machines: vec![self.folder.path().to_owned()], only, ..Reach::default() }
        }
    }

    fn ids(joined: &JoinedInbox) -> Vec<String> {
        joined.store().read(|_, now| now.open_ids().map(ToString::to_string).collect())
    }

    fn answer() -> Submission {
        let values = [("q0".to_owned(), Value::Text("yes".to_owned()))].into();
        Submission::answer(Answer { values, ..Answer::default() }, None)
    }

    fn typed(text: &str) -> IdPrefix {
        text.parse().unwrap()
    }

    #[tokio::test]
    async fn all_machines_are_read_and_answered_over_one_socket() {
        let mut held = Holding::start().await;
        let joined = soon(JoinedInbox::open(held.reach(None))).await.unwrap();
        assert_eq!(ids(&joined), ["a/one-1", "b/two-1", "near-1"]);
        let names: Vec<_> = joined.machines().into_iter().map(|machine| machine.name.to_string()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(soon(joined.look_up(&typed("b/two-1"))).await.unwrap().id.to_string(), "b/two-1");
        let id: QuestionId = "b/two-1".parse().unwrap();
        let (done, ()) =
            tokio::join!(soon(joined.submit(&id, answer(), Provenance::bridge())), held.far[1].obey());
        assert_eq!(done.unwrap().state, State::Settled);
        assert_eq!(ids(&joined), ["a/one-1", "near-1"], "the store knows it when the caller is told");

        // What opens there later is followed, as is the end of the process.
        let followed = joined.clone();
        let following = tokio::spawn(async move { followed.follow().await });
        held.far[0].open("later").await;
        let later: QuestionId = "a/one-2".parse().unwrap();
        assert!(wait_until(joined.store(), crate::limits::WAIT, |now| now.get(&later).is_some()).await);
        following.abort();
        let read =
            JoinedInbox::glance(held.reach(None), crate::rpc::client::Depth::Outline, limits::PATIENCE);
        assert_eq!(ids(&soon(read).await.unwrap()), ["a/one-1", "a/one-2", "near-1"]);
    }

    #[tokio::test]
    async fn one_machine_is_selected_under_the_names_that_it_uses() {
        let mut held = Holding::start().await;
        let joined = soon(JoinedInbox::open(held.reach(Some("a")))).await.unwrap();
        assert_eq!(ids(&joined), ["a/one-1"]);
        let stream = connect(&held.places).await.unwrap().unwrap();
        let (client, _) = soon(Client::connect_machine(stream, "b".parse().unwrap())).await.unwrap();
        let found = soon(client.get(&typed("b/two-1"))).await.unwrap().value.unwrap();
        assert_eq!(found.id.to_string(), "b/two-1");
        assert!(matches!(
            soon(client.get(&typed("one-1"))).await,
            Err(CallError::Refused(Refusal::NotFound))
        ));
        let id: QuestionId = "b/two-1".parse().unwrap();
        let (done, ()) =
            tokio::join!(soon(client.submit(&id, answer(), Provenance::bridge())), held.far[1].obey());
        assert_eq!(done.unwrap().value.unwrap().id, id);
        let stream = connect(&held.places).await.unwrap().unwrap();
        let unknown = soon(Client::connect_machine(stream, "c".parse().unwrap())).await;
        assert!(unknown.is_err(), "{unknown:?}");
    }

    #[tokio::test]
    async fn the_connection_that_selected_a_machine_is_the_one_that_answers() {
        let held = Holding::start().await;
        let machine: MachineName = "b".parse().unwrap();
        let selected = select(&held.places, &machine).await.expect("a process holds it");
        let nowhere = LinkEnd::Socket(held.folder.path().join("nowhere"));
        for (selected, is_up) in [(None, false), (Some(selected), true)] {
            let connections = Connections::default();
            connections.call_on(&machine, &nowhere, selected).await;
            let peer = connections.peer(&LinkName::Machine(machine.clone()));
            assert_eq!(peer.is_some(), is_up);
            if let Some(peer) = peer {
                let found = soon(peer.get(&typed("b/two-1"))).await.unwrap();
                assert_eq!(found.unwrap().id.to_string(), "b/two-1");
            }
        }
    }

    #[tokio::test]
    async fn no_question_of_this_machine_is_seen_or_answered_over_the_socket() {
        let mut held = Holding::start().await;
        let stream = connect(&held.places).await.unwrap().unwrap();
        let client = soon(Client::connect_machines(stream)).await.unwrap();
        let statuses = soon(client.statuses()).await.unwrap();
        assert!(statuses.iter().all(|status| status.bridge.machine().is_some()), "{statuses:?}");
        let near: QuestionId = "near-1".parse().unwrap();
        let refused = soon(client.submit(&near, answer(), Provenance::bridge())).await;
        assert!(matches!(refused, Err(CallError::Refused(_))), "{refused:?}");
        assert!(soon(client.get(&typed("near-1"))).await.is_err());
        let near = held.near.inbox.find(&typed("near-1")).unwrap();
        assert_eq!(near.state, State::Open);
        let elsewhere = held.joined.elsewhere();
        assert_eq!(ids(&elsewhere), ["a/one-1", "b/two-1"]);
        // Both parts follow what changes.
        held.near.open("again").await;
        held.far[0].open("again").await;
        let opened: QuestionId = "a/one-2".parse().unwrap();
        assert!(wait_until(elsewhere.store(), limits::WAIT, |now| now.get(&opened).is_some()).await);
        assert_eq!(ids(&elsewhere), ["a/one-1", "a/one-2", "b/two-1"]);
    }

    #[tokio::test]
    async fn one_process_shares_its_connections_at_a_time() {
        let mut held = Holding::start().await;
        assert!(Shared::claim(&held.places).await.unwrap().is_none());
        drop(held.shared.take());
        assert!(Shared::claim(&held.places).await.unwrap().is_some());
    }
}
