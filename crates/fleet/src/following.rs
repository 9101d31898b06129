//! Follows the directory over one connection: reads the bucket, hears each write, and asks each machine whether it is
//! there. Also how a machine writes its entry. What follows from it is left to `directory.rs`.
//!
//! The bucket is a stream of the broker that keeps the latest message of each subject for a while. Each write is a message
//! as well, which those who follow receive even if the stream cannot take it.

use std::{convert::Infallible, future::pending};

use askbridge_control::join::discovery;
use async_nats::{HeaderMap, Message, StatusCode, Subscriber};
use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    access::Access,
    broker::Broker,
    bucket::{self, Bucket},
    directory::{Directory, Entry},
    place::{Place, entries, replies_to},
    session::{NUMBER, PROCESS},
    subjects,
};
use crate::limits as limit;

/// The header of a write that removes an entry.
const OPERATION: &str = "KV-Operation";

/// Writes the entry of a machine. The broker confirms no write.
pub(super) async fn write(broker: &Broker, place: &Place, entry: &Entry) -> Result<(), String> {
    let bytes = serde_json::to_vec(entry).map_err(|error| error.to_string())?;
    broker.client().publish(place.entry(), bytes.into()).await.map_err(|error| error.to_string())
}

/// Removes the entry of a machine.
pub(super) async fn remove(broker: &Broker, place: &Place) {
    let mut headers = HeaderMap::new();
    headers.insert(OPERATION, "DEL");
    // Otherwise it runs out: ignore the errors.
    drop(broker.client().publish_with_headers(place.entry(), headers, Bytes::new()).await);
    timeout(limit::REPLY, broker.client().flush()).await.map(drop).unwrap_or_default();
}

/// Subscribes to what the broker says of changes of the bucket.
pub(super) async fn notices(broker: &Broker, access: &Access) -> Result<Subscriber, String> {
    let subject = subjects::notices(access.role()).ok_or("this user cannot follow the directory")?;
    broker.client().subscribe(subject).await.map_err(|error| error.to_string())
}

/// Looks at the bucket. Returns why it cannot be read, if it cannot.
///
/// # Errors
/// The broker must not be used.
pub(super) async fn look(broker: &Broker) -> Result<Option<String>, String> {
    match bucket::look(broker).await {
        Ok(found) => Ok((found.usable()? == Bucket::Absent).then(|| bucket::ABSENT.to_owned())),
        // Such as without a quorum. Nobody can change it then, either.
        Err(why) => Ok(Some(unread(&why))),
    }
}

fn unread(why: &str) -> String {
    format!("the directory of the fleet cannot be read: {why}")
}

/// Looks at the bucket each time that somebody has created, changed or removed it. Returns why the broker must not be used
/// any more.
pub(super) async fn watch_bucket(
    broker: &Broker,
    notices: &mut Subscriber,
    mut found: impl FnMut(Option<String>),
) -> String {
    while notices.next().await.is_some() {
        // Many changes in a row are one.
        sleep(limit::LOOK_AGAIN).await;
        while let Some(Some(_)) = notices.next().now_or_never() {}
        match look(broker).await {
            Ok(problem) => found(problem),
            Err(why) => return why,
        }
    }
    "the subscription ended".to_owned()
}

/// Follows the directory until the connection ends. `is_ready` is called once the broker may be used.
///
/// # Errors
/// The error says why the directory cannot be followed any more.
pub(super) async fn follow(
    broker: &Broker,
    access: &Access,
    directory: &watch::Sender<Directory>,
    is_ready: impl FnOnce(),
) -> Result<Infallible, String> {
    let following = Following { broker, access, directory, token: discovery::name() };
    following.run(is_ready).await
}

struct Following<'a> {
    broker: &'a Broker,
    access: &'a Access,
    directory: &'a watch::Sender<Directory>,
    /// The last but one token of the subjects on which machines say that they are there.
    token: String,
}

impl Following<'_> {
    async fn run(&self, is_ready: impl FnOnce()) -> Result<Infallible, String> {
        // The subscriptions precede the reading, so that nothing that is written in between is missed.
        let mut writes = self.subscribe(entries()).await?;
        let mut replies = self.subscribe(replies_to(self.access.user(), &self.token)).await?;
        let mut notices = notices(self.broker, self.access).await?;
        let problem = look(self.broker).await?;
        is_ready();
        let reading = self.read_all(problem);
        let watching = watch_bucket(self.broker, &mut notices, |problem| {
            self.change(|directory| directory.problem = problem);
        });
        tokio::pin!(reading, watching);
        // When each machine that is there has renewed its entry, after which none is missing.
        let (mut is_reading, mut complete_at) = (true, None);
        loop {
            self.ask().await?;
            let (runs_out, next) = {
                let directory = self.directory.borrow();
                (directory.runs_out(), directory.next(Instant::now()))
            };
            tokio::select! {
                () = &mut reading, if is_reading => {
                    is_reading = false;
                    complete_at = Some(Instant::now() + limit::RENEW + limit::RENEW_LEAST);
                }
                () = until(complete_at) => {
                    complete_at = None;
                    self.change(|directory| directory.problem = None);
                }
                () = self.broker.ended() => return Err("the connection ended".to_owned()),
                why = &mut watching => return Err(why),
                () = until(runs_out) => {
                    // A broker that does not reply has passed on no renewal either: nothing is known of the machines.
                    self.broker.ping().await?;
                    for _ in 0..limit::UNSORTED {
                        let Some(Some(write)) = writes.next().now_or_never() else { break };
                        take(&write.subject, &write, self.directory);
                    }
                    self.change(|directory| directory.expire(Instant::now()));
                }
                () = until(next) => self.change(|_| ()),
                message = writes.next() => {
                    let first = message.ok_or("the subscription ended")?;
                    take(&first.subject, &first, self.directory);
                    // Those that have come with it, so that a flood is not looked at one by one.
                    for _ in 0..limit::UNSORTED {
                        let Some(Some(write)) = writes.next().now_or_never() else { break };
                        take(&write.subject, &write, self.directory);
                    }
                }
                message = replies.next() => {
                    let first = message.ok_or("the subscription ended")?;
                    self.change(|directory| {
                        self.hear(&first, directory);
                        for _ in 0..limit::UNSORTED {
                            let Some(Some(reply)) = replies.next().now_or_never() else { break };
                            self.hear(&reply, directory);
                        }
                    });
                }
            }
        }
    }

    async fn subscribe(&self, subject: String) -> Result<Subscriber, String> {
        self.broker.client().subscribe(subject).await.map_err(|error| error.to_string())
    }

    /// Reads the bucket, unless it is known why it cannot be read.
    async fn read_all(&self, problem: Option<String>) {
        let problem = match problem {
            Some(why) => Some(why),
            None => read(self.broker, self.directory).await.err().map(|why| unread(&why)),
        };
        tracing::debug!(
            problem,
            "the directory was read; what is missing comes when machines renew their entries"
        );
        self.change(|directory| (directory.is_read, directory.problem) = (true, problem));
    }

    /// Changes the directory, and tells those who follow it if they see a difference.
    fn change(&self, change: impl FnOnce(&mut Directory)) {
        self.directory.send_if_modified(|directory| {
            let before = (directory.is_settled(), directory.missing());
            change(directory);
            directory.refresh(Instant::now()) || before != (directory.is_settled(), directory.missing())
        });
    }

    /// Asks the machines that are to be asked whether they are there.
    async fn ask(&self) -> Result<(), String> {
        let mut asked = Vec::new();
        self.directory.send_if_modified(|directory| {
            asked = directory.ask(Instant::now());
            false
        });
        for place in asked {
            let mut headers = HeaderMap::new();
            // A message in the middle of a session that there is not: the machine says so, and keeps nothing of it.
            headers.insert(NUMBER, "1");
            let reply = format!("{}.1", place.session(self.access.user(), &self.token));
            let call = place.call(self.access.user());
            let sent =
                self.broker.client().publish_with_reply_and_headers(call, reply, headers, Bytes::new());
            sent.await.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Takes over a reply. The permissions of the broker let no other user send it.
    fn hear(&self, reply: &Message, directory: &mut Directory) {
        let Some((place, _)) = Place::of_reply(self.access.user(), &self.token, &reply.subject) else {
            return;
        };
        match reply.status {
            Some(StatusCode::NO_RESPONDERS) => directory.fail(&place, false, Instant::now()),
            _ => {
                let process = reply.headers.as_ref().and_then(|headers| headers.get(PROCESS));
                directory.answer(&place, process.map_or("", |process| process.as_str()));
            }
        }
    }
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}

/// Takes over one entry. Whoever has made the broker write it, it only says whom to ask.
fn take(subject: &str, message: &Message, directory: &watch::Sender<Directory>) {
    let Some(place) = Place::of_entry(subject) else { return };
    if message.payload.len() > limit::ENTRY {
        return;
    }
    let headers = message.headers.as_ref();
    let is_removed = headers.is_some_and(|headers| headers.get(OPERATION).is_some());
    let entry = serde_json::from_slice::<Entry>(&message.payload).unwrap_or_default();
    directory.send_if_modified(|directory| match is_removed {
        true => {
            directory.leave(&place);
            false
        }
        false => directory.put(place, &entry.process, Instant::now()),
    });
}

/// Reads which entries the bucket has. Their content comes when machines renew them.
///
/// Reading the entries themselves would let a person choose what the broker replies, and with that what it sends in the
/// broker's own name to any subject, such as one on which streams are created.
pub(super) async fn read(broker: &Broker, directory: &watch::Sender<Directory>) -> Result<(), String> {
    let reply = broker.request(&subjects::info(), &json!({ "subjects_filter": entries() })).await?;
    let Some(state) = reply["state"].as_object() else {
        return Err("the bucket is not available".to_owned());
    };
    let subjects = state.get("subjects").and_then(Value::as_object);
    let now = Instant::now();
    directory.send_if_modified(|directory| {
        for place in subjects.into_iter().flatten().filter_map(|(subject, _)| Place::of_entry(subject)) {
            directory.put(place, "", now);
        }
        false
    });
    let read = subjects.map_or(0, serde_json::Map::len) as u64;
    match reply["total"].as_u64() {
        Some(total) if total > read => Err(format!("it has {total} entries, of which {read} were read")),
        _ => Ok(()),
    }
}
