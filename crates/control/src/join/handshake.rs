//! The handshake with a bridge: checks its protocol and that its name is that of its socket, and subscribes to its
//! changes.

use std::{
    collections::BTreeSet,
    io, mem,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use askbridge_core::desk::{IdPrefix, MachineName, QuestionId, Record, Refusal};
use rustix::io::Errno;
use tokio::{
    net::UnixStream,
    time::{sleep, timeout},
    try_join,
};

use super::{
    discovery,
    name::LinkName,
    peer::{Flow, LinkEnd, Peer, Within},
    reported::LinkReport,
    selected::Selected,
};
use crate::{
    inbox::{AnyInbox, BridgeStatus, PROTOCOL},
    limits,
    rpc::{
        client::{CallError, Client, ConnectError, Depth, read_machine_once, read_machines_once, read_once},
        protocol::{Delta, ReadableList},
    },
};

/// A connection to a bridge.
#[derive(Debug)]
pub(super) struct BridgeConnection {
    pub peer: Peer,
    pub greeted: TimedStatus,
    /// What the other end has reported of machines.
    pub report: LinkReport,
}

impl BridgeConnection {
    fn new(peer: Peer, greeting: Vec<BridgeStatus>, report: LinkReport) -> Box<Self> {
        Box::new(BridgeConnection { peer, greeted: TimedStatus::now(greeting), report })
    }

    /// Returns the connection to a machine that was selected.
    pub(super) fn selected(Selected { client, report }: Selected) -> Box<Self> {
        let greeting = client.greeting().to_vec();
        BridgeConnection::new(Peer::Connected(client), greeting, report.into())
    }

    /// Follows what changes at the other end, which has greeted us so, and asks what it reports of machines.
    pub(super) async fn follow(
        name: &LinkName,
        peer: Peer,
        greeting: Vec<BridgeStatus>,
    ) -> Result<(Box<Self>, Box<Feed>), CallError> {
        let report = async {
            match peer.report_over(name, None).await {
                // It is of another version, and does not say what it leaves out.
                Err(_) if *name == LinkName::Dialed => Ok(LinkReport::Nothing),
                report => report,
            }
        };
        // Both calls in one round trip.
        let (report, flow) = try_join!(report, peer.follow())?;
        Ok((BridgeConnection::new(peer, greeting, report), Box::new(Feed::new(flow))))
    }
}

/// The status of a bridge, or of each bridge of a machine, and the time of its arrival.
#[derive(Debug)]
pub(super) struct TimedStatus {
    statuses: Vec<BridgeStatus>,
    at: Instant,
}

impl TimedStatus {
    pub(super) fn now(statuses: Vec<BridgeStatus>) -> Self {
        TimedStatus { statuses, at: Instant::now() }
    }

    /// Returns the latest known status of each bridge.
    pub(super) fn statuses(&self) -> Vec<BridgeStatus> {
        self.statuses.iter().map(|status| status.clone().later(self.at.elapsed())).collect()
    }
}

/// The changes of a bridge, while one link to it is up.
#[derive(Debug)]
pub(super) struct Feed {
    flow: Flow,
    /// The IDs in a snapshot that is not complete yet.
    pub listed: Option<BTreeSet<QuestionId>>,
    /// Whether the log has a warning that a record was not the bridge's own.
    pub warned: bool,
}

impl Feed {
    fn new(flow: Flow) -> Self {
        Feed { flow, listed: None, warned: false }
    }

    /// Waits for the next message. `None` once the connection ends, or after we read too slowly.
    pub(super) async fn next(&mut self) -> Option<Delta> {
        self.flow.next().await
    }

    /// Returns whether messages were lost, because we read too slowly.
    pub(super) fn has_lost(&self) -> bool {
        self.flow.has_lost()
    }
}

/// The result of a handshake.
#[derive(Debug)]
pub(super) enum Greeting<T> {
    /// A bridge that speaks our protocol, or a newer one.
    Met(T),
    /// A bridge that speaks a protocol from before protocols had versions.
    Older,
    /// No process listens there any more.
    Gone,
    /// The bridge has too many connections or calls now.
    Busy,
    /// The connection or the handshake failed.
    Unreachable,
}

/// Meets the bridge at the other end of a link, however long that takes, to follow its changes.
/// `is_short` hears of a lack of file descriptors, and of its end.
pub(super) async fn greet(
    name: &LinkName,
    end: &LinkEnd,
    is_short: impl Fn(bool),
) -> Greeting<(Box<BridgeConnection>, Box<Feed>)> {
    match end {
        LinkEnd::Socket(path) => meet(path, is_short, async |stream| connect(name, stream).await).await,
        LinkEnd::Within(inbox) => match open_within(name, inbox) {
            Some(within) => {
                let greeting = within.statuses();
                let followed = BridgeConnection::follow(name, Peer::Within(within), greeting).await;
                followed.map_or(Greeting::Unreachable, Greeting::Met)
            }
            None => Greeting::Gone,
        },
        // Its holder makes the stream.
        LinkEnd::Dialed => Greeting::Gone,
    }
}

/// Returns an inbox of this process as the other end of a link. `None` if it has ended.
fn open_within(name: &LinkName, inbox: &Arc<dyn AnyInbox>) -> Option<Within> {
    let machine = match name {
        LinkName::Machine(machine) => Some(machine.clone()),
        LinkName::Bridge(_) | LinkName::Dialed | LinkName::Elsewhere => None,
    };
    Some(Within::new(Arc::clone(inbox), machine)).filter(Within::is_open)
}

/// Connects to the process that holds the connection to a machine, without following what changes there. `is_short` is as
/// in [`greet`].
pub(super) async fn greet_machine(
    machine: &MachineName,
    end: &LinkEnd,
    is_short: impl Fn(bool),
) -> Greeting<Box<BridgeConnection>> {
    match end {
        LinkEnd::Socket(path) => {
            meet(path, is_short, async |stream| {
                let (client, report) = Client::connect_machine(stream, machine.clone()).await?;
                Ok(BridgeConnection::selected(Selected { client: Arc::new(client), report }))
            })
            .await
        }
        LinkEnd::Within(inbox) => match open_within(&LinkName::Machine(machine.clone()), inbox) {
            Some(within) => {
                let (greeting, report) = (within.statuses(), inbox.report(None).await);
                Greeting::Met(BridgeConnection::new(Peer::Within(within), greeting, report.into()))
            }
            None => Greeting::Gone,
        },
        LinkEnd::Dialed => Greeting::Gone,
    }
}

/// What is read of a bridge or a machine once: its status, how it is connected, and its open questions.
pub(super) type Looked = (Box<TimedStatus>, LinkReport, ReadableList<Record>);

/// Reads the open questions at the other end of a link once, however long that takes. `is_short` is as in [`greet`].
pub(super) async fn look(
    name: &LinkName,
    end: &LinkEnd,
    depth: Depth,
    is_short: impl Fn(bool),
) -> Greeting<Looked> {
    match end {
        LinkEnd::Socket(path) => look_over(name, path, depth, is_short).await,
        LinkEnd::Within(inbox) => match open_within(name, inbox) {
            Some(within) => {
                let report = match name {
                    LinkName::Machine(_) => inbox.report(None).await.into(),
                    LinkName::Bridge(_) | LinkName::Dialed | LinkName::Elsewhere => LinkReport::Nothing,
                };
                Greeting::Met((Box::new(TimedStatus::now(within.statuses())), report, within.list()))
            }
            None => Greeting::Gone,
        },
        LinkEnd::Dialed => Greeting::Gone,
    }
}

async fn look_over(name: &LinkName, path: &Path, depth: Depth, is_short: impl Fn(bool)) -> Greeting<Looked> {
    meet(path, is_short, async |stream| {
        let (statuses, report, questions) = match name {
            LinkName::Machine(machine) => {
                let (statuses, report, questions) = read_machine_once(stream, machine, depth).await?;
                (statuses, report.into(), questions)
            }
            LinkName::Elsewhere => {
                let (statuses, listing, questions) = read_machines_once(stream, depth).await?;
                (statuses, LinkReport::Machines(listing), questions)
            }
            LinkName::Bridge(_) | LinkName::Dialed => {
                let (status, questions) = read_once(stream, depth).await?;
                check(name, &status)?;
                (vec![status], LinkReport::Nothing, questions)
            }
        };
        Ok((Box::new(TimedStatus::now(statuses)), report, questions))
    })
    .await
}

async fn meet<T>(
    path: &Path,
    is_short: impl Fn(bool),
    talk: impl AsyncFnOnce(UnixStream) -> Result<T, Failure>,
) -> Greeting<T> {
    match reach(path, is_short).await {
        Ok(Some(stream)) => match talk(stream).await {
            Ok(met) => return Greeting::Met(met),
            Err(Failure::Older) => return Greeting::Older,
            Err(Failure::Busy) => return Greeting::Busy,
            Err(Failure::Other(error)) => {
                tracing::debug!(socket = %path.display(), error, "the handshake with a bridge failed");
            }
        },
        Ok(None) => return Greeting::Gone,
        Err(error) => {
            tracing::debug!(socket = %path.display(), %error, "cannot connect to a bridge");
            return Greeting::Unreachable;
        }
    }
    // A failed handshake often means that the bridge was about to end. Another try tells whether it is gone by now.
    match discovery::connect(path).await {
        Ok(None) => Greeting::Gone,
        _ => Greeting::Unreachable,
    }
}

/// Connects to the bridge behind a socket. If the backlog of the socket is full, the bridge lives but accepts no
/// connections yet, so this tries again without a timeout. The same holds while this process has no file descriptors.
async fn reach(path: &Path, is_short: impl Fn(bool)) -> io::Result<Option<UnixStream>> {
    let mut back_off = limits::DEBOUNCE;
    let mut was_short = false;
    loop {
        let reached = discovery::connect(path).await;
        let lacks = reached.as_ref().is_err_and(lacks_descriptors);
        if mem::replace(&mut was_short, lacks) != lacks {
            is_short(lacks);
        }
        match reached {
            Err(error) if is_passing(&error) => {}
            reached => return reached,
        }
        sleep(back_off).await;
        back_off = limits::DISCOVERY_INTERVAL.min(2 * back_off);
    }
}

/// Returns whether another attempt may succeed: the backlog of the socket is full, or there is no file descriptor now.
pub(super) fn is_passing(error: &io::Error) -> bool {
    // Linux reports a full backlog of a UNIX socket as EAGAIN, and no event says when there is room.
    Errno::from_io_error(error) == Some(Errno::AGAIN) || lacks_descriptors(error)
}

/// Returns whether this process, or the whole system, has no file descriptor left.
fn lacks_descriptors(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

/// Why a handshake failed.
enum Failure {
    Older,
    Busy,
    Other(String),
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::OlderProtocol => Failure::Older,
            ConnectError::Busy => Failure::Busy,
            other => Failure::Other(other.to_string()),
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(Refusal::TooManyRequests) => Failure::Busy,
            other => Failure::Other(other.to_string()),
        }
    }
}

async fn connect(name: &LinkName, stream: UnixStream) -> Result<(Box<BridgeConnection>, Box<Feed>), Failure> {
    let mut client = match name {
        LinkName::Machine(machine) => Client::connect_machine(stream, machine.clone()).await?.0,
        LinkName::Elsewhere => Client::connect_machines(stream).await?,
        LinkName::Bridge(_) | LinkName::Dialed => Client::connect(stream).await?,
    };
    let greeting = mem::take(&mut client.greeting);
    if let LinkName::Bridge(_) | LinkName::Dialed = name {
        greeting.iter().try_for_each(|status| check(name, status))?;
    }
    Ok(BridgeConnection::follow(name, Peer::Connected(Arc::new(client)), greeting).await?)
}

/// Checks that a bridge speaks a protocol that we understand, and has the name of its socket.
fn check(name: &LinkName, status: &BridgeStatus) -> Result<(), Failure> {
    if status.protocol == 0 {
        return Err(Failure::Older);
    }
    if !name.has(&status.bridge) {
        // Otherwise one process could put its questions in the place of those of another bridge.
        return Err(Failure::Other(format!("the bridge says that its name is {}", status.bridge)));
    }
    // A newer protocol is no reason to refuse: both sides ignore what they do not know (I11).
    if status.protocol > PROTOCOL {
        tracing::debug!(bridge = %name, protocol = status.protocol, "a bridge speaks a newer protocol");
    }
    Ok(())
}

/// Subscribes to a bridge again after a pause, from a snapshot on. Returns `None` if the bridge is gone.
pub(super) async fn subscribe(peer: &Peer, pause: Duration) -> Option<Feed> {
    if !peer.is_there() {
        return None;
    }
    // A bridge that ends each subscription at once must not keep us busy.
    sleep(pause).await;
    timeout(limits::HANDSHAKE_TIMEOUT, peer.follow()).await.ok()?.ok().map(Feed::new)
}

/// Asks a bridge for a question. A bridge that does not reply in time counts as gone.
pub(super) async fn get(peer: &Peer, typed: &IdPrefix) -> Result<Option<Arc<Record>>, CallError> {
    timeout(limits::HANDSHAKE_TIMEOUT, peer.get(typed)).await.unwrap_or(Err(CallError::Gone))
}

/// Waits until a bridge no longer replies. A closed connection does not show that, as a stopped process keeps its
/// connections.
pub(super) async fn silence(peer: &Peer) {
    loop {
        sleep(limits::HANDSHAKE_TIMEOUT).await;
        match timeout(limits::HANDSHAKE_TIMEOUT, peer.statuses()).await {
            // A bridge that is too busy is not silent.
            Ok(Ok(_) | Err(CallError::Refused(_))) => {}
            _ => return,
        }
    }
}
