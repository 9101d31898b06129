//! The directory: which machines are there, as the bucket `askbridge` of the broker says. A machine writes its entry and
//! renews it, and a person follows all entries. What a machine is asked is left to its sessions.
//!
//! The bucket is a stream of the broker that keeps the latest message of each subject for a while, in memory. Each write
//! is a message as well, which those who follow receive even if the stream cannot take it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use async_nats::{HeaderMap, Message, RequestErrorKind};
use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    broker::Broker,
    place::{Place, UserName, entries},
};
use crate::limits::fleet as limit;

/// The name of the stream of the bucket.
pub(super) const STREAM: &str = "KV_askbridge";
/// The header of a write that removes an entry.
const OPERATION: &str = "KV-Operation";

/// What a machine says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The version of its askbridge.
    pub version: String,
    /// The number of its open questions.
    pub open: usize,
}

/// Writes the entry of a machine. The error says why the bucket does not have it; those who follow may have it all the
/// same.
pub(super) async fn write(broker: &Broker, place: &Place, entry: &Entry) -> Result<(), String> {
    let bytes = serde_json::to_vec(entry).map_err(|error| error.to_string())?;
    let reply = broker.client().request(place.entry(), bytes.into()).await;
    match reply.map(|reply| serde_json::from_slice::<Value>(&reply.payload)) {
        Ok(Ok(reply)) if reply.get("error").is_none() => Ok(()),
        Ok(Ok(reply)) => Err(format!("the broker refused it: {}", reply["error"]["description"])),
        Ok(Err(error)) => Err(error.to_string()),
        Err(error) if error.kind() == RequestErrorKind::NoResponders => {
            Err("the broker has no bucket yet: the first person who connects makes it".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Removes the entry of a machine.
pub(super) async fn remove(broker: &Broker, place: &Place) {
    let mut headers = HeaderMap::new();
    headers.insert(OPERATION, "DEL");
    // Otherwise it runs out: ignore the errors.
    drop(broker.client().publish_with_headers(place.entry(), headers, Bytes::new()).await);
    timeout(limit::REPLY, broker.client().flush()).await.map(drop).unwrap_or_default();
}

/// What is known of one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    /// Until when its entry is valid.
    until: Instant,
    /// The number of its latest entry.
    number: u64,
}

/// The machines that are there.
#[derive(Clone, Debug, Default)]
pub(super) struct Directory {
    places: BTreeMap<Place, Seen>,
    /// Number of entries that came.
    count: u64,
    /// Notified at each entry, also at those that change no route.
    renewed: Arc<Notify>,
    /// Whether the bucket was read, or could not be.
    pub is_read: bool,
    /// Why machines are missing that have not renewed their entries since the connection began.
    pub problem: Option<String>,
}

impl Directory {
    /// Returns the machines, in an order.
    pub(super) fn places(&self) -> impl Iterator<Item = &Place> {
        self.places.keys()
    }

    /// Returns whether a machine is there.
    pub(super) fn has(&self, place: &Place) -> bool {
        self.places.contains_key(place)
    }

    /// Adds or renews an entry. Where there are too many, the user that has the most of them loses one.
    fn put(&mut self, place: Place, until: Instant) {
        if !self.places.contains_key(&place) && self.places.len() >= limit::MACHINES {
            let mut counts: BTreeMap<&UserName, (usize, &Place)> = BTreeMap::new();
            for known in self.places.keys() {
                let count = counts.entry(known.user()).or_insert((0, known));
                *count = (count.0 + 1, known);
            }
            let own = counts.get(place.user()).map_or(0, |(count, _)| *count);
            // The other user must have at least two entries more. With one more, these two users would take the last
            // place from each other with every renewal.
            let most = counts.values().max_by_key(|(count, _)| *count).filter(|(count, _)| *count > own + 1);
            let Some(last) = most.map(|(_, last)| (*last).clone()) else { return };
            self.places.remove(&last);
        }
        self.count += 1;
        self.places.insert(place, Seen { until, number: self.count });
        self.renewed.notify_waiters();
    }

    /// Returns the number of the latest entry of a machine, or 0 if it has none. Each new entry has a higher number.
    pub(super) fn latest(&self, place: &Place) -> u64 {
        self.places.get(place).map_or(0, |seen| seen.number)
    }

    /// Lets each entry be valid for at least this long, since none was received while there was no connection.
    pub(super) fn reconnected(&mut self, until: Instant) {
        for seen in self.places.values_mut() {
            seen.until = until.max(seen.until);
        }
    }
}

/// Waits for an entry of a machine after the one of this number.
pub(super) async fn renewed(directory: watch::Receiver<Directory>, place: &Place, number: u64) {
    let renewed = Arc::clone(&directory.borrow().renewed);
    loop {
        // Before the look, so that no entry is missed.
        let notified = renewed.notified();
        tokio::pin!(notified);
        notified.as_mut().enable();
        if directory.borrow().latest(place) > number {
            return;
        }
        notified.await;
    }
}

/// Follows the directory until the connection ends. Returns why it cannot be followed.
pub(super) async fn follow(broker: &Broker, directory: &watch::Sender<Directory>) -> String {
    // The subscription precedes the reading, so that no entry that is written in between is missed.
    let mut writes = match broker.client().subscribe(entries()).await {
        Ok(writes) => writes,
        Err(error) => return error.to_string(),
    };
    let reading = async {
        let problem = make(broker).await.and(read(broker, directory).await).err();
        if let Some(why) = &problem {
            tracing::warn!(
                why,
                "the directory cannot be read; machines are found when they renew their entries"
            );
        }
        directory.send_modify(|directory| (directory.is_read, directory.problem) = (true, problem));
        // By then, each machine has renewed its entry.
        sleep(limit::RENEW + limit::RENEW_LEAST).await;
        directory.send_if_modified(|directory| directory.problem.take().is_some());
        // The loop below polls this future until the end, and a future must not be polled after it is ready.
        std::future::pending::<()>().await;
    };
    tokio::pin!(reading);
    loop {
        let next = directory.borrow().places.values().map(|seen| seen.until).min();
        let runs_out = async {
            match next {
                Some(next) => sleep_until(next).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = &mut reading => {}
            () = broker.ended() => return "the connection ended".to_owned(),
            () = runs_out => {
                // A broker that does not reply has passed on no renewal either: nothing is known of the machines.
                if let Err(why) = broker.ping().await {
                    return why;
                }
                while let Some(Some(message)) = writes.next().now_or_never() {
                    take(&message.subject, &message, directory);
                }
                directory.send_if_modified(|directory| {
                    let before = directory.places.len();
                    directory.places.retain(|_, seen| seen.until > Instant::now());
                    directory.places.len() < before
                });
            }
            message = writes.next() => match message {
                Some(message) => take(&message.subject, &message, directory),
                None => return "the subscription ended".to_owned(),
            },
        }
    }
}

/// Takes over one entry.
fn take(subject: &str, message: &Message, directory: &watch::Sender<Directory>) {
    let Some(place) = Place::of_entry(subject) else { return };
    let is_removed = message.headers.as_ref().is_some_and(|headers| headers.get(OPERATION).is_some());
    let is_entry =
        message.payload.len() <= limit::ENTRY && serde_json::from_slice::<Entry>(&message.payload).is_ok();
    directory.send_if_modified(|directory| match (is_removed, is_entry) {
        (true, _) => directory.places.remove(&place).is_some(),
        (false, true) => {
            let before = directory.places.len();
            directory.put(place, Instant::now() + limit::VALID);
            // A renewal changes no route, so it does not wake those who wait for changes.
            directory.places.len() != before
        }
        (false, false) => false,
    });
}

/// Makes the bucket, unless there is one.
async fn make(broker: &Broker) -> Result<(), String> {
    // Three copies, so that a node may fail. A broker of one node refuses that.
    let mut why = String::new();
    for replicas in if broker.client().server_info().cluster.is_some() { &[3, 1][..] } else { &[1] } {
        match request(broker, &format!("$JS.API.STREAM.CREATE.{STREAM}"), &bucket(*replicas)).await {
            Ok(reply) if reply.get("error").is_none() => return Ok(()),
            // There is one, with other replicas or of another version.
            Ok(reply) if reply["error"]["err_code"] == 10058 => return Ok(()),
            Ok(reply) => why = reply["error"]["description"].to_string(),
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Returns the configuration of the stream: that of a bucket for the clients of the broker.
fn bucket(replicas: u8) -> Value {
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    json!({
        "name": STREAM,
        "description": "the machines of askbridge",
        "subjects": [entries()],
        "retention": "limits",
        "discard": "new",
        // Each machine renews its entry every 10 seconds, so entries need not survive a restart of the broker.
        "storage": "memory",
        "num_replicas": replicas,
        "max_age": nanoseconds(limit::VALID),
        "duplicate_window": nanoseconds(limit::VALID),
        "max_msgs_per_subject": 1,
        "max_msgs": -1,
        "max_bytes": limit::ENTRIES_BYTES,
        "max_msg_size": limit::ENTRY,
        "max_consumers": -1,
        "allow_direct": true,
        "allow_rollup_hdrs": true,
        "deny_delete": true,
    })
}

/// Reads all entries of the bucket.
pub(super) async fn read(broker: &Broker, directory: &watch::Sender<Directory>) -> Result<(), String> {
    let subject = format!("$JS.API.DIRECT.GET.{STREAM}");
    let mut next = Some(1);
    while let Some(first) = next {
        let client = broker.client();
        let inbox = client.new_inbox();
        let mut replies = client.subscribe(inbox.clone()).await.map_err(|error| error.to_string())?;
        let page = json!({ "seq": first, "batch": limit::PAGE, "next_by_subj": entries() });
        client
            .publish_with_reply(subject.clone(), inbox, page.to_string().into())
            .await
            .map_err(|error| error.to_string())?;
        next = None;
        loop {
            let reply = timeout(limit::REPLY, replies.next()).await;
            let Ok(Some(message)) = reply else { return Err("the bucket is not available".to_owned()) };
            let header = |name: &str| message.headers.as_ref().and_then(|headers| headers.get(name));
            match message.status.map(|status| status.as_u16()) {
                None => {}
                // The end of the page, and a bucket without entries.
                Some(204 | 404) => break,
                Some(status) => return Err(format!("the bucket cannot be read: status {status}")),
            }
            let number = |name: &str| header(name).and_then(|value| value.as_str().parse::<u64>().ok());
            if let Some(entry) = header("Nats-Subject") {
                take(entry.as_str(), &message, directory);
            }
            let is_more = number("Nats-Num-Pending").is_some_and(|pending| pending > 0);
            next = number("Nats-Sequence").filter(|_| is_more).map(|sequence| sequence + 1);
        }
    }
    Ok(())
}

async fn request(broker: &Broker, subject: &str, body: &Value) -> Result<Value, String> {
    let reply = broker.client().request(subject.to_owned(), body.to_string().into()).await;
    let reply = reply.map_err(|error| match error.kind() {
        RequestErrorKind::NoResponders => "the broker has no JetStream".to_owned(),
        _ => error.to_string(),
    })?;
    serde_json::from_slice(&reply.payload).map_err(|error| error.to_string())
}

/// Returns the subjects on which a person publishes to read the directory.
pub(super) fn requests() -> Vec<String> {
    ["STREAM.CREATE", "DIRECT.GET"].map(|call| format!("$JS.API.{call}.{STREAM}")).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(user: &str, number: usize) -> Place {
        Place::new(user.parse().expect("a name"), "host", &format!("{number:06}"))
    }

    #[tokio::test(start_paused = true)]
    async fn one_user_cannot_take_the_place_of_the_others() {
        let mut directory = Directory::default();
        let until = Instant::now() + limit::VALID;
        for number in 0..2 * limit::MACHINES {
            directory.put(place("thief", number), until);
        }
        assert_eq!(directory.places.len(), limit::MACHINES);
        for number in 0..10 {
            directory.put(place("box", number), until);
        }
        assert_eq!(directory.places.len(), limit::MACHINES);
        assert_eq!(directory.places().filter(|place| place.user().as_str() == "box").count(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_renewal_revives_the_machine_although_no_route_changes() {
        let (directory, until) = (watch::Sender::new(Directory::default()), Instant::now() + limit::VALID);
        let put = || {
            directory.send_if_modified(|directory| {
                directory.put(place("box", 1), until);
                false
            })
        };
        put();
        let place = place("box", 1);
        let first = directory.borrow().latest(&place);
        let renewed = renewed(directory.subscribe(), &place, first);
        tokio::pin!(renewed);
        assert!(renewed.as_mut().now_or_never().is_none(), "the entry is the same");
        put();
        assert!(renewed.now_or_never().is_some());
    }
}
