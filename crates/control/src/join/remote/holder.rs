//! The holder of the connection to one machine: it connects, notices when the connection ends or the other side is
//! frozen, and connects again. Offering the questions is left to `inbox.rs`, answers to `answer.rs`.
//!
//! The questions stay open while the machine is not connected: its bridges go on there, and a snapshot follows each new
//! connection.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    future::pending,
    mem,
    sync::Arc,
    time::{Duration, SystemTime},
};

use askbridge_core::desk::{BridgeName, MachineName};
use tokio::{
    join,
    sync::{Notify, Semaphore, watch},
    time::{Instant, MissedTickBehavior, interval_at, sleep, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    attempt::{Dialed, dial, own},
    failure::{repeated, why_not},
    route::{Route, Running},
};
use crate::{
    inbox::{
        BridgeStatus, Follower, Inbox, PROTOCOL,
        report::{MachineReport, UNREPLIED},
    },
    join::{
        JoinedInbox, Places, Reach,
        back_off::{BackOff, random},
        discovery,
        handshake::{BridgeConnection, Feed, TimedStatus},
        link::LinkState,
        name::LinkName,
        peer::{LinkEnd, Peer},
    },
    limits::remote as limit,
    rpc::client::{CallError, Client},
};

/// The reason for ending an open connection that does not reply.
pub(super) const FROZEN: &str = "it does not reply: the machine or the network may be frozen";

/// The same, if an answer has shown that.
pub(super) const SILENT: &str = "it did not reply while an answer waited";

/// Why a machine is not connected whose bridges are those of this machine. Over such a connection, an agent here could
/// answer itself (I12): its bridge would take it for a person at another machine.
pub(super) const THIS_MACHINE: &str = "it is this machine, whose questions are listed without it: remove it";

/// The connection to one machine, and its questions. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Holder {
    pub(super) shared: Arc<SharedHolder>,
}

#[derive(Debug)]
pub(super) struct SharedHolder {
    pub(super) name: MachineName,
    /// The directories with the sockets of the bridges of this machine.
    bridges: Places,
    /// From when on the times of the heartbeats are counted.
    beats_from: Instant,
    /// What is known of the machine: one link, to all of its bridges.
    pub(super) joined: JoinedInbox,
    pub(super) report: watch::Sender<MachineReport>,
    /// A person waits: the next try is to begin now.
    pub(super) is_wanted: Notify,
    /// Permits one call at a time whose reply may be long: each is held in memory while it is read.
    pub(super) turn: Semaphore,
    /// The connection does not reply to a person who waits: it is to end now.
    pub(super) is_silent: Notify,
    /// It is cancelled once the first attempt to connect has succeeded or failed.
    is_tried: CancellationToken,
}

/// A connection that has just begun.
struct Begun {
    running: Running,
    client: Arc<Client>,
}

impl Holder {
    /// Returns a holder that is not connected yet. Holders with the same `beats_from` show at the same times that their
    /// connections live, so that an idle process wakes up once for all of them.
    pub fn new(name: MachineName, bridges: Places, beats_from: Instant) -> Self {
        let report = MachineReport { protocol: PROTOCOL, ..MachineReport::default() };
        let shared = SharedHolder {
            name,
            bridges,
            beats_from,
            joined: JoinedInbox::new(Reach::default(), None),
            report: watch::Sender::new(report),
            is_wanted: Notify::new(),
            turn: Semaphore::new(1),
            is_silent: Notify::new(),
            is_tried: CancellationToken::new(),
        };
        Holder { shared: Arc::new(shared) }
    }

    /// Keeps the machine connected until the future is dropped. If `is_told` returns true, this process notifies its
    /// user of the machine's questions, so that the machine does not.
    pub async fn hold(&self, route: &Route, is_told: impl Fn() -> bool) {
        let mut back_off = BackOff::new(limit::BACK_OFF, limit::BACK_OFF_MOST, limit::STEADY);
        // From now on, since nothing is known before the first connection.
        let mut known_until = Instant::now() + limit::KEPT;
        loop {
            self.change(|report| report.retry_at = None);
            // The boxed futures of the handshake and of the pause take no memory while the machine is connected.
            let begun = Box::pin(self.begin_or_say(route)).await;
            self.shared.is_tried.cancel();
            let why = match begun {
                Ok(begun) => {
                    let since = Instant::now();
                    let why = self.keep(begun, &is_told).await;
                    back_off.lasted(since.elapsed());
                    known_until = Instant::now() + limit::KEPT;
                    why
                }
                Err(why) => why,
            };
            tracing::info!(machine = %self.shared.name, why, "the machine is not connected");
            let pause = back_off.pause(random());
            self.change(|report| {
                report.problem = Some(why);
                report.connected_at = None;
                report.retry_at =
                    Some(SystemTime::now().checked_add(pause).unwrap_or_else(SystemTime::now).into());
            });
            Box::pin(self.rest(pause, known_until, route)).await;
        }
    }

    /// Waits before the next try, unless a person waits for it or the machine is there again.
    async fn rest(&self, pause: Duration, known_until: Instant, route: &Route) {
        let until = Instant::now() + pause;
        let hurried = async {
            self.shared.is_wanted.notified().await;
            // A pause remains even if many callers ask for another try, to spare the host.
            sleep_until(until.min(Instant::now() + limit::BACK_OFF / 4)).await;
        };
        let rest = async {
            tokio::select! {
                () = sleep_until(until) => {}
                () = hurried => {}
                // A machine that says so all the time must not keep us busy.
                () = async { tokio::join!(route.revived(), sleep(limit::BACK_OFF / 4)); } => {}
            }
        };
        tokio::pin!(rest);
        tokio::select! {
            () = &mut rest => {}
            () = sleep_until(known_until), if known_until <= until => {
                self.shared.joined.connections().lose(&LinkName::Dialed);
                rest.await;
            }
        }
    }

    /// Connects. If that takes long for the first time, the report says so meanwhile.
    async fn begin_or_say(&self, route: &Route) -> Result<Begun, String> {
        let beginning = self.begin(route);
        tokio::pin!(beginning);
        if let Ok(begun) = timeout(limit::PATIENCE, &mut beginning).await {
            return begun;
        }
        if self.shared.report.borrow().is_new() {
            self.change(|report| report.problem = Some(UNREPLIED.to_owned()));
        }
        beginning.await
    }

    /// Connects, and takes over the first snapshot. The error says why not.
    async fn begin(&self, route: &Route) -> Result<Begun, String> {
        let dialed = dial(&self.shared.name, route, limit::GREETING).await;
        let Dialed { running, mut client, version } = dialed.map_err(|failure| failure.to_string())?;
        let followed = async {
            let greeting = mem::take(&mut client.greeting);
            let client = Arc::new(client);
            let peer = Peer::Connected(Arc::clone(&client));
            let followed = BridgeConnection::follow(&LinkName::Dialed, peer, greeting).await;
            let (mut connection, feed) = followed.map_err(|error| Some(error.to_string()))?;
            let statuses = own(connection.greeted.statuses());
            if self.is_this_machine(&statuses) {
                return Err(Some(THIS_MACHINE.to_owned()));
            }
            connection.greeted = TimedStatus::now(statuses);
            match self.take_over(connection, feed).await {
                true => Ok(client),
                false if client.is_connected() => {
                    Err(Some("its list of questions exceeds a limit".to_owned()))
                }
                false => Err(None),
            }
        };
        match timeout(limit::REPLY, followed).await {
            Ok(Ok(client)) => {
                self.change(|report| {
                    report.version = Some(version);
                    report.connected_at = Some(SystemTime::now().into());
                    report.problem = None;
                    self.count_hidden(report);
                });
                Ok(Begun { running, client })
            }
            Ok(Err(Some(why))) => Err(repeated(&why)),
            // What its command says on stderr tells more.
            Ok(Err(None)) => Err(why_not(self.shared.name.as_str(), &running.end().await).to_string()),
            Err(_) => Err(FROZEN.to_owned()),
        }
    }

    async fn take_over(&self, connection: Box<BridgeConnection>, feed: Box<Feed>) -> bool {
        self.shared.joined.connections().begin(&LinkName::Dialed, &LinkEnd::Dialed, connection, feed).await
    }

    /// Follows the machine until its connection ends or stops replying. Returns why.
    async fn keep(&self, begun: Begun, is_told: impl Fn() -> bool) -> String {
        let Begun { running, client } = begun;
        let connections = self.shared.joined.connections();
        let why = tokio::select! {
            () = connections.keep_up(&LinkName::Dialed, &LinkEnd::Dialed) => None,
            never = self.report_hidden() => match never {},
            why = self.beat(&client, is_told) => Some(why.to_owned()),
            () = self.shared.is_silent.notified() => Some(SILENT.to_owned()),
        };
        connections.disconnect(&LinkName::Dialed);
        // The questions of this machine are listed without the holder. If it kept them, each would appear twice.
        if why.as_deref() == Some(THIS_MACHINE) {
            connections.lose(&LinkName::Dialed);
        }
        match why {
            Some(why) => {
                drop(running);
                why
            }
            // The end of a stream has no reason. The command, such as ssh, writes one to stderr when it ends.
            None => match running.end().await {
                ended if ended.said.is_empty() => "the connection ended".to_owned(),
                ended => why_not(self.shared.name.as_str(), &ended).to_string(),
            },
        }
    }

    /// Reports how many questions are not listed, each time that the number may have changed.
    async fn report_hidden(&self) -> Infallible {
        let mut gaps = self.shared.joined.gaps();
        while gaps.changed().await.is_ok() {
            self.change(|report| self.count_hidden(report));
        }
        pending().await
    }

    /// Counts the questions that are left out here, and those that the machine itself leaves out.
    fn count_hidden(&self, report: &mut MachineReport) {
        let gaps = self.shared.joined.gaps();
        let gaps = gaps.borrow();
        (report.unreadable, report.left_out) = (gaps.unreadable, gaps.left_out);
        report.unasked = gaps.unasked;
    }

    /// Shows that the connection lives, and reads which bridges there are. Returns why the connection is to end.
    async fn beat(&self, client: &Client, is_told: impl Fn() -> bool) -> &'static str {
        let mut follower = self.store().follow();
        let mut beats = interval_at(self.shared.beats_from, limit::HEARTBEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            // The first tick comes at once. A new bridge has to hear soon that this machine tells of its questions.
            tokio::select! {
                _ = beats.tick() => {}
                () = self.new_bridge(&mut follower) => {}
            }
            let watch = async {
                if is_told() {
                    // This keeps the machine from notifying its own user as well. A read-only connection refuses the
                    // call, and an older version does not know it; ignore both errors.
                    drop(client.watch().await);
                }
            };
            let asked = Box::pin(async { join!(watch, client.statuses()).1 });
            match timeout(limit::REPLY, asked).await {
                Ok(Ok(statuses)) if self.is_this_machine(&statuses) => return THIS_MACHINE,
                Ok(Ok(statuses)) => self.know(statuses),
                Ok(Err(CallError::Refused(_))) => {}
                Ok(Err(CallError::Gone)) | Err(_) => return FROZEN,
            }
        }
    }

    fn is_this_machine(&self, statuses: &[BridgeStatus]) -> bool {
        statuses.iter().any(|status| self.is_here(&status.bridge))
    }

    /// Returns whether a bridge runs on this machine.
    pub(super) fn is_here(&self, bridge: &BridgeName) -> bool {
        discovery::place_of(&self.shared.bridges, bridge).is_some()
    }

    /// Waits until a question opens in a bridge whose status is not known.
    async fn new_bridge(&self, follower: &mut Follower) {
        while follower.next().await.is_some() {
            let known: BTreeSet<_> = self.status().into_iter().map(|status| status.bridge).collect();
            if self.store().read(|_, now| now.open_ids().any(|id| !known.contains(&id.bridge))) {
                return;
            }
        }
        pending().await
    }

    /// Stores the list of the machine's bridges.
    fn know(&self, statuses: Vec<BridgeStatus>) {
        let statuses = own(statuses);
        let connections = self.shared.joined.connections();
        let names = |statuses: &[BridgeStatus]| -> Vec<_> {
            statuses.iter().map(|status| (status.bridge.clone(), status.peers.clone())).collect()
        };
        let before = connections.change(&LinkName::Dialed, &LinkEnd::Dialed, |link| match &mut link.state {
            LinkState::Connected(connection, _) => {
                let before = connection.greeted.statuses();
                let is_other = names(&before) != names(&statuses);
                connection.greeted = TimedStatus::now(statuses);
                is_other
            }
            _ => false,
        });
        if before {
            // Followers read the list again.
            self.change(|_| ());
        }
    }

    fn change(&self, change: impl FnOnce(&mut MachineReport)) {
        self.shared.report.send_modify(|report| {
            change(report);
            report.revision += 1;
        });
    }

    /// Ends the questions for those that they were handed over to. The machine is not connected from then on.
    pub(super) fn end(&self) {
        self.store().end();
    }

    /// Waits until the first attempt to connect has succeeded or failed.
    pub async fn tried(&self) {
        self.shared.is_tried.cancelled().await;
    }

    /// The same, for no longer than a list waits for a machine.
    pub async fn tried_soon(&self) {
        // The wait only fails without a sender, and the holder has one.
        drop(self.shared.report.subscribe().wait_for(|report| !report.is_new()).await);
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, pin::Pin, sync::Mutex};

    use askbridge_core::{
        desk::{Record, Refusal, Submission},
        question::{Answer, Provenance, Value},
    };
    use tempfile::TempDir;
    use tokio::{
        io::{AsyncWriteExt, DuplexStream, split},
        net::UnixStream,
        sync::mpsc,
        task::JoinHandle,
    };

    use super::*;
    use crate::{
        inbox::wait_until,
        join::remote::route::Dial,
        rpc::{
            caller::Caller,
            client::DIAL,
            methods::Methods,
            played::{PlayedBridge, listen, soon},
            session,
            socket::{LineWriter, PipedLines},
        },
    };

    const SECOND: Duration = Duration::from_secs(1);

    /// Connections that wait for the test to accept them.
    const WAITING: usize = 4;

    /// Another machine, whose side of each connection the test plays. Where the test does not listen any more, each
    /// connection ends at once.
    #[derive(Debug)]
    struct Far(mpsc::Sender<DuplexStream>);

    impl Dial for Far {
        fn carry(&self, stream: DuplexStream) -> Pin<Box<dyn Future<Output = String> + Send>> {
            let sender = self.0.clone();
            Box::pin(async move {
                drop(sender.send(stream).await);
                String::new()
            })
        }
    }

    /// The person's side of a machine, and the machine.
    struct World {
        holder: Holder,
        holding: JoinHandle<()>,
        connections: Option<mpsc::Receiver<DuplexStream>>,
        /// The directories of the sockets of both machines.
        here: TempDir,
        there: TempDir,
    }

    impl World {
        fn start() -> Self {
            let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let (sender, connections) = mpsc::channel(WAITING);
            let holder = Holder::new("box".parse().unwrap(), here.path().into(), Instant::now());
            let (held, route) = (holder.clone(), Route::dial(Arc::new(Far(sender))));
            let holding = tokio::spawn(async move { held.hold(&route, || false).await });
            World { holder, holding, connections: Some(connections), here, there }
        }

        /// Accepts the next connection.
        async fn accept(&mut self) -> DuplexStream {
            soon(self.connections.as_mut().unwrap().recv()).await.unwrap()
        }

        /// Accepts the next connection, and serves an inbox over it.
        async fn serve(&mut self, inbox: impl Inbox) -> Served {
            let served = Served::start(self.accept().await, inbox);
            self.until("connected", |report| report.connected_at.is_some()).await;
            served
        }

        /// Waits until this holds of how the machine is connected.
        async fn until(&self, what: &str, holds: impl Fn(&MachineReport) -> bool) -> MachineReport {
            let mut reports = self.holder.shared.report.subscribe();
            let waited = timeout(2 * limit::KEPT, reports.wait_for(holds)).await;
            waited.unwrap_or_else(|_| panic!("never {what}")).unwrap().clone()
        }

        async fn until_open(&self, count: usize) {
            assert!(wait_until(self.holder.store(), 2 * limit::KEPT, |now| now.open_count() == count).await);
        }
    }

    impl Drop for World {
        fn drop(&mut self) {
            self.holding.abort();
        }
    }

    /// What serves a connection on the other machine. Dropping it ends the connection.
    struct Served {
        serving: JoinHandle<()>,
        freezes: Arc<Notify>,
    }

    impl Served {
        fn start(stream: DuplexStream, inbox: impl Inbox) -> Self {
            let freezes = Arc::new(Notify::new());
            let frozen = Arc::clone(&freezes);
            let serving = tokio::spawn(async move {
                let (reader, mut writer) = split(stream);
                let greeting = format!("{DIAL}{PROTOCOL} 0.1.0\n");
                writer.write_all(greeting.as_bytes()).await.unwrap();
                let methods = Methods::new(inbox, Caller::Ours);
                let mut requests = PipedLines::new(reader, &methods);
                let mut replies = LineWriter(writer);
                tokio::select! {
                    _ = session::serve(&methods, &mut requests, &mut replies, CancellationToken::new()) => {}
                    // The connection stays open.
                    () = frozen.notified() => pending().await,
                }
            });
            Served { serving, freezes }
        }
    }

    impl Drop for Served {
        fn drop(&mut self) {
            self.serving.abort();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_machine_that_is_frozen_is_noticed_within_45_s_in_the_background() {
        let mut world = World::start();
        let bridge = PlayedBridge::start(world.there.path(), "k3");
        let served = world.serve(bridge.inbox.clone()).await;
        // Just after a heartbeat, so that the next one is as late as it can be.
        soon(world.until("the first heartbeat", |_| !world.holder.status().is_empty())).await;
        let begun = Instant::now();
        served.freezes.notify_one();
        let report = world.until("noticed", |report| report.problem.is_some()).await;
        assert_eq!(report.problem.as_deref(), Some(FROZEN));
        let took = begun.elapsed();
        assert!(took > limit::REPLY && took <= Duration::from_secs(45), "{took:?}");
        // It is connected to again, although the old connection was never closed.
        let _again = world.serve(bridge.inbox.clone()).await;
    }

    #[tokio::test(start_paused = true)]
    async fn questions_of_a_machine_that_is_away_are_kept_for_ten_minutes() {
        let mut world = World::start();
        let mut bridge = PlayedBridge::start(world.there.path(), "k3");
        bridge.open("a").await;
        let served = world.serve(bridge.inbox.clone()).await;
        world.until_open(1).await;
        world.connections = None;
        drop(served);
        world.until("away", |report| report.problem.is_some()).await;
        let away = Instant::now();
        world.until_open(0).await;
        let took = away.elapsed();
        assert!(
            took > limit::KEPT - Duration::from_secs(1) && took < limit::KEPT + Duration::from_secs(1),
            "{took:?}"
        );
        let found = world.holder.look_up(&"k3-1".parse().unwrap()).await;
        assert!(found.is_err(), "{found:?}");
    }

    /// Returns how long it takes from the end of a connection to the next one.
    async fn pause(world: &mut World, served: Served) -> (Duration, DuplexStream) {
        drop(served);
        let ended = Instant::now();
        let next = timeout(2 * limit::BACK_OFF_MOST, world.connections.as_mut().unwrap().recv()).await;
        (ended.elapsed(), next.expect("it is tried again").unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_machine_that_greets_and_ends_is_tried_less_and_less_often() {
        let mut world = World::start();
        let bridge = PlayedBridge::start(world.there.path(), "k3");
        let mut stream = world.accept().await;
        let mut whole = limit::BACK_OFF;
        for _ in 0..9 {
            let served = Served::start(stream, bridge.inbox.clone());
            world.until("connected", |report| report.connected_at.is_some()).await;
            let (took, next) = pause(&mut world, served).await;
            // The timer of a paused clock counts whole milliseconds.
            let most = whole + Duration::from_millis(5);
            assert!(took >= whole.mul_f64(0.75) && took <= most, "{took:?} instead of {whole:?}");
            (stream, whole) = (next, limit::BACK_OFF_MOST.min(2 * whole));
        }
        let served = Served::start(stream, bridge.inbox.clone());
        world.until("connected", |report| report.connected_at.is_some()).await;
        // The paused clock goes on at once.
        assert!(timeout(limit::STEADY, pending::<()>()).await.is_err());
        let (took, _) = pause(&mut world, served).await;
        assert!(took <= limit::BACK_OFF + Duration::from_millis(5), "{took:?} after a steady connection");
    }

    /// Lets the machine end each connection soon after it has begun, until the pauses are as long as they get. Returns the
    /// connection after that.
    async fn grow_pauses(world: &mut World, bridge: &PlayedBridge) -> Served {
        let mut served = world.serve(bridge.inbox.clone()).await;
        for _ in 0..8 {
            let (_, next) = pause(world, served).await;
            served = Served::start(next, bridge.inbox.clone());
            world.until("connected", |report| report.connected_at.is_some()).await;
        }
        served
    }

    /// How the connection is lost that an answer went over.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Loss {
        Ends,
        Freezes,
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_verdict_is_known_however_long_the_pauses_have_grown() {
        use Loss::{Ends, Freezes};
        // How each connection is lost, what each try after that fails with, and by when the verdict is known.
        for (losses, failures, most) in [
            (&[Ends][..], 0, 2 * SECOND),
            (&[Ends, Ends], 0, 3 * SECOND),
            (&[Ends, Ends, Ends], 0, 6 * SECOND),
            (&[Ends], 3, 10 * SECOND),
            (&[Freezes], 0, 7 * SECOND),
            (&[Ends, Freezes], 0, 9 * SECOND),
            (&[Freezes, Ends], 0, 9 * SECOND),
        ] {
            let mut world = World::start();
            let mut bridge = PlayedBridge::start(world.there.path(), "k3");
            bridge.open("a").await;
            let mut served = grow_pauses(&mut world, &bridge).await;
            let mut answering = answers(&world);
            for loss in losses {
                match loss {
                    Ends => {
                        bridge.submitted().await;
                        drop(served);
                    }
                    // It is kept, since its stream stays open.
                    Freezes => served.freezes.notify_one(),
                }
                for _ in 0..failures {
                    drop(world.accept().await);
                }
                served = world.serve(bridge.inbox.clone()).await;
            }
            // A connection that froze may have carried the answer before.
            let (told, took) = loop {
                tokio::select! {
                    told = &mut answering => break told.unwrap(),
                    () = bridge.obey() => {}
                }
            };
            assert!(told.is_ok(), "{losses:?}: {told:?}");
            assert!(took <= most, "{losses:?}: {took:?} instead of {most:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_answer_over_a_silent_connection_is_given_up_in_time_whichever_finds_it() {
        let mut world = World::start();
        let mut bridge = PlayedBridge::start(world.there.path(), "k3");
        bridge.open("a").await;
        let served = world.serve(bridge.inbox.clone()).await;
        served.freezes.notify_one();
        let first = answers(&world);
        // The paused clock goes on at once.
        assert!(timeout(2 * SECOND, pending::<()>()).await.is_err());
        let second = answers(&world);
        for answering in [first, second] {
            let (told, took) = timeout(2 * limit::RECONNECT, answering).await.expect("it is told").unwrap();
            assert_eq!(told, Err(Refusal::Unknown));
            assert!(took <= limit::FROZEN + SECOND / 10, "{took:?}");
        }
    }

    /// Answers "yes" to the first question of the machine.
    fn answers(world: &World) -> JoinHandle<(Result<Arc<Record>, Refusal>, Duration)> {
        let holder = world.holder.clone();
        tokio::spawn(async move {
            let values = [("q0".to_owned(), Value::Text("yes".to_owned()))].into();
            let answer = Submission::answer(Answer { values, ..Answer::default() }, None);
            let begun = Instant::now();
            let told = holder.submit(&"k3-1".parse().unwrap(), answer, Provenance::bridge()).await;
            (told, begun.elapsed())
        })
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_to_a_machine_that_ends_each_time_is_sent_a_few_times_within_45_s() {
        let mut world = World::start();
        let mut bridge = PlayedBridge::start(world.there.path(), "k3");
        bridge.open("a").await;
        let mut served = world.serve(bridge.inbox.clone()).await;
        let answering = answers(&world);
        let mut sent = 0;
        while !answering.is_finished() {
            // It takes the answer, says nothing, and ends.
            let taken = timeout(limit::RECONNECT, bridge.submitted()).await.is_ok();
            sent += usize::from(taken);
            drop(served);
            let connections = world.connections.as_mut().unwrap();
            let Ok(next) = timeout(2 * limit::RECONNECT, connections.recv()).await else { break };
            served = Served::start(next.unwrap(), bridge.inbox.clone());
        }
        let (told, took) = answering.await.unwrap();
        assert_eq!(told, Err(Refusal::Unknown));
        assert!((3..=8).contains(&sent), "it was sent {sent} times");
        assert!(took <= limit::RECONNECT + SECOND / 10, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_not_known_after_the_deadline_that_fits_the_silence() {
        // The machine is frozen; or it lives, and its agent does not read.
        for (freezes, most) in [(true, limit::FROZEN), (false, limit::RECONNECT)] {
            let mut world = World::start();
            let mut bridge = PlayedBridge::start(world.there.path(), "k3");
            bridge.open("a").await;
            let served = world.serve(bridge.inbox.clone()).await;
            if freezes {
                // No other connection is accepted.
                served.freezes.notify_one();
            }
            let told = timeout(2 * limit::RECONNECT, answers(&world)).await.expect("it is told");
            let (told, took) = told.unwrap();
            assert_eq!(told, Err(Refusal::Unknown));
            assert!(took > most - 3 * SECOND && took <= most + SECOND / 10, "{took:?} instead of {most:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_machine_itself_misses_is_said_here() {
        let mut world = World::start();
        let frozen = listen(&world.there.path().join("mute.sock"));
        let far = JoinedInbox::open(world.there.path()).await.unwrap();
        let _served = world.serve(far.clone()).await;
        world.until("one is missing", |report| report.unasked == 1).await;
        assert!(!world.holder.shared.joined.gaps().borrow().has_asked_all());
        let followed = far.clone();
        let following = tokio::spawn(async move { followed.follow().await });
        let _bridge = PlayedBridge::on(frozen, None, world.there.path().join("mute.sock"), "mute");
        world.until("none is missing", |report| report.unasked == 0).await;
        following.abort();
    }

    #[tokio::test(start_paused = true)]
    async fn a_machine_that_is_this_one_is_not_connected_to() {
        for has_begun in [false, true] {
            let mut world = World::start();
            let mut bridge = PlayedBridge::start(world.there.path(), "k3");
            bridge.open("a").await;
            let link = |folder: &Path| {
                std::fs::hard_link(&bridge.path, folder.join("k3.sock")).unwrap();
            };
            if has_begun {
                let _served = world.serve(bridge.inbox.clone()).await;
                world.until_open(1).await;
                link(world.here.path());
                // Before the next heartbeat notices it, no answer is taken.
                let id = "k3-1".parse().unwrap();
                let refused = world.holder.submit(&id, Submission::Reject(None), Provenance::bridge()).await;
                assert!(
                    matches!(&refused, Err(Refusal::Unreached(why)) if why.contains(THIS_MACHINE)),
                    "{refused:?}"
                );
                world.until("noticed", |report| report.problem.as_deref() == Some(THIS_MACHINE)).await;
                world.until_open(0).await;
            } else {
                link(world.here.path());
                let _served = Served::start(world.accept().await, bridge.inbox.clone());
                world.until("noticed", |report| report.problem.as_deref() == Some(THIS_MACHINE)).await;
                assert_eq!(world.holder.store().read(|_, now| now.open_count()), 0);
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_process_wakes_up_once_for_all_connections() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let bridge = PlayedBridge::start(there.path(), "b");
        let from = Instant::now();
        let beats = Mutex::new(Vec::new());
        let connect = async || {
            let stream = UnixStream::connect(&bridge.path).await.unwrap();
            (
                Holder::new("box".parse().unwrap(), here.path().into(), from),
                Client::connect(stream).await.unwrap(),
            )
        };
        let is_told = || {
            beats.lock().unwrap().push(from.elapsed().as_secs());
            false
        };
        let (first, its_client) = connect().await;
        let (second, other_client) = connect().await;
        let later = async {
            interval_at(from + Duration::from_secs(7), limit::HEARTBEAT).tick().await;
            second.beat(&other_client, is_told).await;
        };
        let three = 3 * limit::HEARTBEAT;
        let both = async { join!(first.beat(&its_client, is_told), later) };
        assert!(timeout(three - Duration::from_secs(1), both).await.is_err(), "the bridge lives");
        assert_eq!(*beats.lock().unwrap(), [0, 7, 25, 25, 50, 50]);
    }
}
