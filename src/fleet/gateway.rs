//! The gateway of a machine: it shows itself in the directory, and serves a session for each person's process that asks
//! for one, over all bridges of this user here.

use std::{collections::BTreeMap, convert::Infallible, future::pending, io, path::Path, time::Duration};

use askbridge_core::question::{Provenance, Responder};
use async_nats::{Message, Subscriber};
use futures::StreamExt;
use tokio::{
    io::{AsyncWriteExt, duplex, split},
    sync::mpsc,
    task::{Id, JoinSet},
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    access::Access,
    broker::Broker,
    directory::{self, Entry},
    lock::Lock,
    place::{Place, UserName},
    session::{Kind, Session, kind, refuse, replies},
};
use crate::{
    inbox::{Inbox, status::PROTOCOL},
    limits::{fleet as limit, machine::STREAM},
    machine::{
        Machine,
        back_off::{BackOff, random},
        discovery,
    },
    rpc::{
        client::DIAL,
        methods::{Caller, Methods},
        session,
        socket::{LineWriter, PipedLines},
    },
};

/// The file that the gateway of this user locks, in the directory of the sockets.
const LOCK: &str = "fleet.lock";

/// The right to be the gateway of this user. It ends with the process, or when this is dropped.
#[derive(Debug)]
pub struct Gateway {
    lock: Lock,
    host: String,
    fresh: String,
}

impl Gateway {
    /// Takes the lock. `None` if another process has it.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn claim(folder: &Path) -> io::Result<Option<Self>> {
        let Some(lock) = Lock::take(folder, LOCK)? else { return Ok(None) };
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let host = host.split('.').next().unwrap_or_default().to_owned();
        Ok(Some(Gateway { lock, host, fresh: discovery::name() }))
    }

    /// Returns whether a process is the gateway of this user.
    pub fn runs(folder: &Path) -> bool {
        Lock::is_taken(folder, LOCK)
    }

    /// Returns the place of this machine, and writes it down for the other processes here.
    fn place(&mut self, access: &Access) -> Place {
        let place = Place::new(access.user.clone(), &self.host, &self.fresh);
        let name = place.name().map(|name| name.to_string()).unwrap_or_default();
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
    machine: &Machine,
    idle: Option<Duration>,
    stop: &CancellationToken,
) -> bool {
    let place = gateway.place(access);
    let methods = Methods::new(machine.clone(), Caller::Ours);
    let ending = stop.child_token();
    let alone = async {
        alone(machine, idle).await;
        ending.cancel();
        pending().await
    };
    tokio::select! {
        () = Served { access, place: &place, machine, methods: &methods, stop: &ending }.serve() => {}
        () = alone => {}
    }
    !stop.is_cancelled()
}

/// Waits until there has been no bridge for this long.
async fn alone(machine: &Machine, idle: Option<Duration>) {
    let Some(idle) = idle else { return pending().await };
    let mut since = None;
    loop {
        sleep(idle / 10).await;
        match machine.status().is_empty() {
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
    machine: &'a Machine,
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
        let Served { access, place, machine, methods, stop } = self;
        let broker = tokio::select! {
            connected = Broker::connect(access) => connected?,
            () = stop.cancelled() => return Ok(()),
        };
        let calls = broker.client().subscribe(place.calls()).await.map_err(|error| error.to_string())?;
        // The entry is written only once the server has the subscription: a person calls at once.
        let who = broker.who(access).await?;
        tracing::info!(broker = access.broker(), account = who.account, %place, "this machine is in the fleet");
        // A person who only waits for questions would not notice it before the next heartbeat.
        for session in cut_off.drain(..) {
            refuse(broker.client(), replies(&session), "it was cut off from the broker").await;
        }
        let mut sessions =
            Sessions { broker: &broker, place, methods, open: BTreeMap::new(), tasks: JoinSet::new() };
        let since = Instant::now();
        let ended = tokio::select! {
            () = broker.ended() => Err("the connection ended".to_owned()),
            never = announce(&broker, place, machine) => match never {},
            why = sessions.serve(calls) => Err(why),
            () = stop.cancelled() => Ok(()),
        };
        back_off.lasted(since.elapsed());
        if broker.has_ended() {
            cut_off.extend(sessions.open.into_keys());
            return ended;
        }
        sessions.end().await;
        directory::remove(&broker, place).await;
        ended
    }
}

/// Writes the entry of this machine when it changes, and renews it.
async fn announce(broker: &Broker, place: &Place, machine: &Machine) -> Infallible {
    let mut follower = machine.store().follow();
    let mut said = None;
    loop {
        let open = machine.store().read(|_, snapshot| snapshot.open_count());
        let entry = Entry { version: env!("CARGO_PKG_VERSION").to_owned(), open };
        let written = directory::write(broker, place, &entry).await.err();
        if written != said {
            match &written {
                Some(why) => tracing::warn!(why, "the directory does not have this machine"),
                None => tracing::debug!("the directory has this machine"),
            }
            said = written;
        }
        // A machine that came before the bucket is to be found soon after the first person has made it.
        let until = Instant::now() + if said.is_some() { limit::REWRITE } else { limit::RENEW };
        // Questions that open and end in quick succession cause one write in this time, not one each.
        sleep(limit::RENEW_LEAST).await;
        let changed = async {
            while machine.store().read(|_, snapshot| snapshot.open_count()) == open {
                if follower.next().await.is_none() {
                    return pending().await;
                }
            }
        };
        tokio::select! {
            () = changed => {}
            () = tokio::time::sleep_until(until) => {}
        }
    }
}

/// The sessions over one connection.
struct Sessions<'a> {
    broker: &'a Broker,
    place: &'a Place,
    methods: &'a Methods,
    /// The sessions, by what their subjects begin with.
    open: BTreeMap<String, Open>,
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

    /// Gives each message to its session, until the connection ends.
    async fn serve(&mut self, mut calls: Subscriber) -> String {
        loop {
            tokio::select! {
                Some(ended) = self.tasks.join_next_with_id() => {
                    let task = ended.map_or_else(|error| error.id(), |(task, ())| task);
                    self.open.retain(|_, open| open.task != task);
                }
                message = calls.next() => match message {
                    Some(message) => self.take(message).await,
                    None => return "the subscription ended".to_owned(),
                },
            }
        }
    }

    async fn take(&mut self, message: Message) {
        // The permissions of the broker let no other user publish on this subject.
        let Some(person) = self.place.caller(&message.subject) else { return };
        let Some(reply) = message.reply.clone() else { return };
        // A subject of another kind could be any that this machine may publish on.
        let Some(session) = self.place.session_of(&person, &reply) else { return };
        let (reply, kind) = (replies(session), kind(&message));
        if let Some(open) = self.open.get(session) {
            // A long one is not kept until the session reads it.
            if message.payload.len() > limit::CHUNK || open.incoming.try_send(message).is_err() {
                // Without a sender, the session ends.
                self.open.remove(session);
                refuse(self.broker.client(), reply, "it sends more than is allowed").await;
            }
            return;
        }
        match kind {
            Some(Kind::Bytes(0)) => self.open(person, session, message).await,
            Some(Kind::Bytes(_)) => refuse(self.broker.client(), reply, "there is no such session").await,
            Some(Kind::Seen(_) | Kind::End(_) | Kind::Undelivered(_)) | None => {}
        }
    }

    async fn open(&mut self, person: UserName, name: &str, first: Message) {
        let reply = replies(name);
        let of_person = self.open.values().filter(|open| open.person == person).count();
        if self.open.len() >= limit::SESSIONS || of_person >= limit::SESSIONS_OF_PERSON {
            return refuse(self.broker.client(), reply, "it has as many sessions as are allowed").await;
        }
        let (incoming, messages) = mpsc::channel(limit::UNREAD);
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
async fn run_session(session: Session, messages: mpsc::Receiver<Message>, methods: Methods) {
    let (ours, theirs) = duplex(STREAM);
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
