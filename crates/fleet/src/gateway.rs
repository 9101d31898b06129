//! The gateway of a machine: it shows itself in the directory, and serves a session for each person's process that asks
//! for one, over all bridges of this user here.

use std::{
    collections::BTreeMap, convert::Infallible, future::pending, io, path::Path, sync::Arc, time::Duration,
};

use askbridge_control::{
    inbox::{Inbox, PROTOCOL},
    join::{
        JoinedInbox,
        back_off::{BackOff, random},
        discovery,
    },
    rpc::{
        caller::Caller,
        client::DIAL,
        methods::Methods,
        session,
        socket::{LineWriter, PipedLines},
    },
};
use askbridge_core::question::{Provenance, Responder};
use async_nats::{Message, Subject, Subscriber};
use futures::{StreamExt, channel::mpsc};
use tokio::{
    io::{AsyncWriteExt, duplex, split},
    sync::{Notify, Semaphore},
    task::{Id, JoinSet, coop::unconstrained},
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    access::Access,
    broker::Broker,
    directory::Entry,
    following,
    lock::Lock,
    place::{Place, UserName},
    session::{Incoming, Kind, Session, kind, queue, refuse, refuse_as, replies},
};
use crate::limits as limit;

/// The file that the gateway of this user locks, in the directory of the sockets.
const LOCK: &str = "fleet.lock";

/// The right to be the gateway of this user. It ends with the process, or when this is dropped.
#[derive(Debug)]
pub struct Gateway {
    lock: Lock,
    host: String,
    /// Letters that no other process of the machine has.
    process: String,
    /// The name of the machine in an earlier process, if there was one.
    before: String,
}

impl Gateway {
    /// Takes the lock. `None` if another process has it.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub async fn claim(folder: &Path) -> io::Result<Option<Self>> {
        let Some(lock) = Lock::take(folder, LOCK).await? else { return Ok(None) };
        let before = Lock::read(folder, LOCK).unwrap_or_default();
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let host = host.split('.').next().unwrap_or_default().to_owned();
        Ok(Some(Gateway { lock, host, process: discovery::name(), before }))
    }

    /// Returns whether a process is the gateway of this user.
    pub fn runs(folder: &Path) -> bool {
        Lock::is_taken(folder, LOCK)
    }

    /// Returns the place of this machine, and writes it down for the other processes here. It is that of the process
    /// before, so that questions keep their IDs.
    fn place(&mut self, access: &Access) -> Place {
        let named = |letters: &str| Place::new(access.user.clone(), &self.host, letters);
        let name_of = |place: &Place| place.name().map(|name| name.to_string()).unwrap_or_default();
        let before = self.before.rsplit_once('-').map(|(_, letters)| named(letters));
        let place =
            before.filter(|place| name_of(place) == self.before).unwrap_or_else(|| named(&self.process));
        let name = name_of(&place);
        if let Err(error) = self.lock.write(&name) {
            tracing::warn!(%error, "this machine may be listed twice here");
        }
        place
    }
}

/// Returns the name under which this machine is in the directory, if it is.
pub(super) fn own_name(folder: &Path) -> Option<String> {
    Lock::read(folder, LOCK).ok()
}

/// Serves the questions of this machine to persons until `stop` is cancelled, or until there has been no bridge for
/// `idle`. Returns whether there has been none.
pub async fn run(
    mut gateway: Gateway,
    access: &Access,
    joined: &JoinedInbox,
    idle: Option<Duration>,
    stop: &CancellationToken,
) -> bool {
    let (place, process) = (gateway.place(access), gateway.process.clone());
    let methods = Methods::new(joined.clone(), Caller::Ours);
    let ending = stop.child_token();
    let alone = async {
        alone(joined, idle).await;
        ending.cancel();
        pending().await
    };
    tokio::select! {
        () = Served { access, place: &place, process: &process, joined, methods: &methods, stop: &ending }.serve() => {}
        () = alone => {}
    }
    !stop.is_cancelled()
}

/// Waits until there has been no bridge for this long.
async fn alone(joined: &JoinedInbox, idle: Option<Duration>) {
    let Some(idle) = idle else { return pending().await };
    let mut since = None;
    loop {
        sleep(idle / 10).await;
        match joined.status().is_empty() {
            true if since.get_or_insert_with(Instant::now).elapsed() >= idle => return,
            true => {}
            false => since = None,
        }
    }
}

/// What is served, and to whom.
#[derive(Clone, Copy)]
struct Served<'a> {
    access: &'a Access,
    place: &'a Place,
    process: &'a str,
    joined: &'a JoinedInbox,
    methods: &'a Methods,
    stop: &'a CancellationToken,
}

impl Served<'_> {
    /// Serves over one connection after the other.
    async fn serve(self) {
        let mut back_off = BackOff::new(limit::BACK_OFF, limit::BACK_OFF_MOST, limit::STEADY);
        let mut cut_off = Vec::new();
        while !self.stop.is_cancelled() {
            let why = self.serve_once(&mut back_off, &mut cut_off).await.err();
            tracing::info!(broker = self.access.broker(), why, "this machine is not in the fleet");
            timeout(back_off.pause(random()), self.stop.cancelled()).await.unwrap_or_default();
        }
    }

    /// Serves over one connection. Returns `Ok` when `stop` is cancelled. `cut_off` has the names of the sessions that
    /// ended with the connection before, and gets those that end with this one.
    async fn serve_once(self, back_off: &mut BackOff, cut_off: &mut Vec<String>) -> Result<(), String> {
        let Served { access, place, process, joined, methods, stop } = self;
        let broker = tokio::select! {
            connected = Broker::connect(access, limit::CALLS) => connected?,
            () = stop.cancelled() => return Ok(()),
        };
        let calls = broker.client().subscribe(place.calls()).await.map_err(|error| error.to_string())?;
        let mut notices = following::notices(&broker, access).await?;
        // What is said over a broker whose bucket is a wrong one, others may read.
        following::look(&broker).await?;
        // The entry is written only once the server has the subscription: a person calls at once.
        let who = broker.who(access).await?;
        tracing::info!(broker = access.broker(), account = who.account, %place, "this machine is in the fleet");
        // A person who only waits for questions would not notice it before the next heartbeat.
        for session in cut_off.drain(..) {
            refuse(broker.client(), replies(&session), "it was cut off from the broker").await;
        }
        let mut sessions = Sessions {
            broker: &broker,
            place,
            process,
            methods,
            open: BTreeMap::new(),
            refusing: BTreeMap::new(),
            tasks: JoinSet::new(),
        };
        let (since, is_changed) = (Instant::now(), Notify::new());
        let announced = Announced { broker: &broker, place, process, joined, is_changed: &is_changed };
        let ended = tokio::select! {
            () = broker.ended() => Err("the connection ended".to_owned()),
            never = announced.write() => match never {},
            // A bucket that was created just now is empty.
            why = following::watch_bucket(&broker, &mut notices, |_| is_changed.notify_one()) => Err(why),
            why = sessions.serve(calls) => Err(why),
            () = stop.cancelled() => Ok(()),
        };
        back_off.lasted(since.elapsed());
        if broker.has_ended() {
            cut_off.extend(sessions.open.into_keys());
            return ended;
        }
        sessions.end().await;
        following::remove(&broker, place).await;
        ended
    }
}

/// The entry of this machine.
struct Announced<'a> {
    broker: &'a Broker,
    place: &'a Place,
    process: &'a str,
    joined: &'a JoinedInbox,
    /// Notified when the bucket may lack the entry.
    is_changed: &'a Notify,
}

impl Announced<'_> {
    /// Writes the entry when it changes, and renews it.
    async fn write(&self) -> Infallible {
        let mut follower = self.joined.store().follow();
        loop {
            let open = self.joined.store().read(|_, snapshot| snapshot.open_count());
            let version = env!("CARGO_PKG_VERSION").to_owned();
            let entry = Entry { version, open, process: self.process.to_owned() };
            if let Err(why) = following::write(self.broker, self.place, &entry).await {
                tracing::debug!(why, "the entry of this machine was not written");
            }
            let until = Instant::now() + limit::RENEW;
            // Questions that open and end in quick succession cause one write in this time, not one each.
            sleep(limit::RENEW_LEAST).await;
            let changed = async {
                while self.joined.store().read(|_, snapshot| snapshot.open_count()) == open {
                    if follower.next().await.is_none() {
                        return pending().await;
                    }
                }
            };
            tokio::select! {
                () = changed => {}
                () = self.is_changed.notified() => {}
                () = tokio::time::sleep_until(until) => {}
            }
        }
    }
}

/// The sessions over one connection.
struct Sessions<'a> {
    broker: &'a Broker,
    place: &'a Place,
    process: &'a str,
    methods: &'a Methods,
    /// The sessions, by what their subjects begin with.
    open: BTreeMap<String, Open>,
    /// The room for refusals that are on their way, of each person that has got one.
    refusing: BTreeMap<UserName, Arc<Semaphore>>,
    /// The sessions, and the refusals.
    tasks: JoinSet<()>,
}

struct Open {
    person: UserName,
    incoming: mpsc::Sender<Message>,
    task: Id,
}

impl Sessions<'_> {
    /// Tells the persons that this machine ends.
    async fn end(&self) {
        for name in self.open.keys() {
            refuse(self.broker.client(), replies(name), "it has ended").await;
        }
    }

    /// Gives each message to its session, until the connection ends. The messages of all persons come in one queue, which
    /// drops what it has no room for, whoever sent it: nothing is waited for here while there are any.
    async fn serve(&mut self, mut calls: Subscriber) -> String {
        loop {
            tokio::select! {
                Some(ended) = self.tasks.join_next_with_id() => {
                    let task = ended.map_or_else(|error| error.id(), |(task, ())| task);
                    self.open.retain(|_, open| open.task != task);
                }
                // In a flood, the runtime would let the connection read on before the queue is empty.
                message = unconstrained(calls.next()) => match message {
                    Some(message) => self.take(message),
                    None => return "the subscription ended".to_owned(),
                },
            }
        }
    }

    fn take(&mut self, message: Message) {
        // The permissions of the broker let no other user publish on this subject.
        let Some(person) = self.place.caller(&message.subject) else { return };
        // What the broker itself sends to a subject that a request has named has no subject for a reply.
        let Some(reply) = message.reply.clone() else { return };
        // A subject of another kind could be any that this machine may publish on.
        let Some(session) = self.place.session_of(&person, &reply) else { return };
        let (reply, kind) = (replies(session), kind(&message));
        if let Some(open) = self.open.get_mut(session) {
            // A long one is not kept until the session reads it.
            if message.payload.len() > limit::CHUNK || open.incoming.try_send(message).is_err() {
                // Without a sender, the session ends.
                self.open.remove(session);
                self.refuse(person, reply, "it sends more than is allowed", None);
            }
            return;
        }
        match kind {
            Some(Kind::Bytes(0)) => self.open(person, session, message),
            // Persons ask in this way whether the machine is there.
            Some(Kind::Bytes(_)) => {
                self.refuse(person, reply, "there is no such session", Some(self.process.to_owned()));
            }
            Some(Kind::Seen(_) | Kind::End(_) | Kind::Undelivered(_)) | None => {}
        }
    }

    /// Refuses something. Of a person who gets so many refusals that the broker does not keep up, the others are left out.
    fn refuse(&mut self, person: UserName, reply: Subject, why: &'static str, process: Option<String>) {
        let room = self.refusing.entry(person).or_insert_with(|| Arc::new(Semaphore::new(limit::REFUSALS)));
        let Ok(permit) = Arc::clone(room).try_acquire_owned() else { return };
        let client = self.broker.client().clone();
        self.tasks.spawn(async move {
            refuse_as(&client, reply, why, process.as_deref()).await;
            drop(permit);
        });
    }

    fn open(&mut self, person: UserName, name: &str, first: Message) {
        let reply = replies(name);
        let of_person = self.open.values().filter(|open| open.person == person).count();
        if self.open.len() >= limit::SESSIONS || of_person >= limit::SESSIONS_OF_PERSON {
            return self.refuse(person, reply, "it has as many sessions as are allowed", None);
        }
        let (mut incoming, messages) = queue();
        // The channel is new, so that it has room.
        drop(incoming.try_send(first));
        let by = Provenance { responder: Responder::Fleet, name: Some(person.to_string()) };
        let methods = self.methods.clone().answering_as(by);
        let session = Session::new(self.broker.client().clone(), reply, None);
        let task = self.tasks.spawn(run_session(session, messages, methods)).id();
        self.open.insert(name.to_owned(), Open { person, incoming, task });
    }
}

/// Serves one session as `askbridge dial` serves its stdin and stdout.
async fn run_session(session: Session, messages: Incoming, methods: Methods) {
    let (ours, theirs) = duplex(limit::STREAM);
    let (reader, mut writer) = split(ours);
    let serving = async {
        let greeting = format!("{DIAL}{PROTOCOL} {}\n", env!("CARGO_PKG_VERSION"));
        writer.write_all(greeting.as_bytes()).await?;
        let mut requests = PipedLines::new(reader, &methods);
        session::serve(&methods, &mut requests, &mut LineWriter(writer), CancellationToken::new()).await
    };
    let (why, served) = tokio::join!(session.carry(theirs, messages), serving);
    tracing::debug!(why, ?served, "a session of a person has ended");
}
