//! Callbacks: the outcome of a question that no connection holds is sent to where its asker said, once it survives a power
//! loss, and until it has arrived there. When it is sent is left to `Callbacks` of the core.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use askbridge_control::{
    inbox::{BridgeInbox, CallbackNote, CallbackSender, KeptCallback, Ledger},
    rpc::host::{Service, Starts},
};
use askbridge_core::desk::{AfterCallback, Callback, Callbacks, QuestionId, Record, Timestamp};
use askbridge_settings::{Settings, callbacks::CallbackHosts, files::Live, keys};
use askbridge_web::CallbackMessage;
use futures::{
    StreamExt,
    future::{BoxFuture, pending},
    stream::FuturesUnordered,
};
use tokio::{sync::Notify, time::sleep};
use tokio_util::sync::CancellationToken;
use ureq::http::Uri;

use crate::{limits, notify::ways};

/// The callbacks of the questions that this process keeps.
pub(super) struct CallbackQueue {
    live: Live,
    ledger: Arc<dyn Ledger>,
    state: Mutex<QueueState>,
    /// Wakes the service when another callback may be due.
    news: Notify,
}

#[derive(Default)]
struct QueueState {
    /// Where the outcomes of open questions are sent, and when these opened.
    open: BTreeMap<QuestionId, (Timestamp, String)>,
    over: Callbacks,
}

impl fmt::Debug for CallbackQueue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An address may have a secret.
        formatter.debug_struct("CallbackQueue").finish_non_exhaustive()
    }
}

impl CallbackQueue {
    /// Returns a queue with the callbacks that an earlier process kept.
    pub(super) fn new(ledger: Arc<dyn Ledger>, kept: Vec<KeptCallback>) -> Self {
        let queue =
            CallbackQueue { live: Live::of_user(), ledger, state: Mutex::default(), news: Notify::new() };
        for KeptCallback { id, opened_at, url, attempts, due, ended_at } in kept {
            match ended_at {
                None => drop(queue.lock().open.insert(id, (opened_at, url))),
                Some(ended_at) => {
                    let due = due.unwrap_or(ended_at);
                    queue.add(Callback { id, opened_at, url, ended_at, attempts, due });
                }
            }
        }
        queue
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // No code panics while it holds the lock, so its data is consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, callback: Callback) {
        let host = place(&callback.url).map_or_else(|_| String::new(), |place| place.host);
        self.lock().over.add(callback, &host);
        self.news.notify_one();
    }

    /// Sends what is due, until `stop` is cancelled.
    async fn run(&self, stop: &CancellationToken) {
        let mut sending = FuturesUnordered::new();
        loop {
            while let Some(callback) = self.next() {
                sending.push(async move { (self.send(&callback).await, callback) });
            }
            let wakes = self.lock().over.wakes_at().map(|due| due.since(now()));
            let due = async {
                match wakes {
                    // What is due may have no place, and what is due later may have one.
                    Some(wait) => sleep(wait.max(limits::CALLBACK_BACK_OFF)).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.news.notified() => {}
                () = due => {}
                Some((sent, callback)) = sending.next(), if !sending.is_empty() => self.sent(sent, callback),
            }
        }
    }

    fn next(&self) -> Option<Callback> {
        self.lock().over.next(now())
    }

    /// Sends the outcome of a question once.
    ///
    /// # Errors
    /// Why it did not arrive. No error names the address.
    async fn send(&self, callback: &Callback) -> Result<(), String> {
        let record = self.ledger.recall(callback.id.clone()).await.map_err(|error| error.to_string())?;
        // The journal has forgotten the question, and nobody can be told of it any more.
        let Some(record) = record else { return Ok(()) };
        let settings = self.live.settings();
        let secret = permitted(&callback.url, &settings)?;
        let seconds = now().since(Timestamp::default()).as_secs();
        let message = CallbackMessage::new(&record, &secret, seconds).map_err(|error| error.to_string())?;
        ways::send(&callback.url, &message.headers, message.body).await
    }

    fn sent(&self, sent: Result<(), String>, callback: Callback) {
        let Callback { id, opened_at, attempts, .. } = callback;
        let Some(after) = self.lock().over.sent(&id, sent.is_ok(), now()) else { return };
        match (after, sent) {
            (AfterCallback::GivenUp, Err(why)) => {
                tracing::warn!("the callback of {id} did not arrive, and is given up: {why}");
            }
            (AfterCallback::Again { .. }, Err(why)) if attempts == 0 => {
                tracing::warn!("the callback of {id} did not arrive, and is sent again for a day: {why}");
            }
            (_, Err(why)) => tracing::debug!("the callback of {id} did not arrive: {why}"),
            (_, Ok(())) => tracing::debug!("the callback of {id} has arrived"),
        }
        self.ledger.note_callback(CallbackNote { id, opened_at, after });
    }
}

impl CallbackSender for CallbackQueue {
    fn check(&self, url: &str) -> Result<(), String> {
        permitted(url, &self.live.settings()).map(drop)
    }

    fn opens(&self, record: &Record, url: String) {
        self.lock().open.insert(record.id.clone(), (record.opened_at, url));
    }

    fn over(&self, record: &Record) {
        let Some((opened_at, url)) = self.lock().open.remove(&record.id) else { return };
        let ended_at = record.settlement.as_ref().map_or_else(now, |settlement| settlement.at);
        self.add(Callback { id: record.id.clone(), opened_at, url, ended_at, attempts: 0, due: ended_at });
    }
}

fn now() -> Timestamp {
    SystemTime::now().into()
}

/// Where a callback is sent.
struct Place {
    host: String,
    port: u16,
    /// The port that the scheme has if none is named.
    default: u16,
}

/// Returns where a callback is sent.
///
/// # Errors
/// Why nothing can be sent to this address.
fn place(url: &str) -> Result<Place, String> {
    const FORM: &str = "it is not an address such as https://hooks.example/path";
    if url.len() > limits::CALLBACK_URL {
        return Err(format!("it is longer than {} bytes", limits::CALLBACK_URL));
    }
    if url.contains('#') {
        return Err("it has a fragment (`#`), which is never sent".to_owned());
    }
    // The same type reads the address when something is sent, so that it cannot mean another host then.
    let uri: Uri = url.parse().map_err(|_| FORM)?;
    let default = match uri.scheme_str() {
        Some("https") => 443,
        Some("http") => 80,
        _ => return Err("it begins with neither https:// nor http://".to_owned()),
    };
    let authority = uri.authority().ok_or(FORM)?;
    if authority.as_str().contains('@') {
        return Err("it has a user: the signature says who sent a callback".to_owned());
    }
    let port = match authority.as_str().strip_prefix(authority.host()) {
        Some("") => default,
        rest => rest.and_then(|rest| rest.strip_prefix(':')?.parse().ok()).ok_or(FORM)?,
    };
    let host = authority.host().trim_matches(['[', ']']).to_owned();
    if host.is_empty() || port == 0 {
        return Err(FORM.to_owned());
    }
    Ok(Place { host, port, default })
}

/// Returns the secret for what is sent to this address, if the settings permit that.
///
/// # Errors
/// Why they do not, or why nothing can be sent there.
fn permitted(url: &str, settings: &Settings) -> Result<Vec<u8>, String> {
    let hosts: CallbackHosts = settings.get(&keys::CALLBACKS_HOSTS);
    let Place { host, port, default } = place(url)?;
    if !hosts.has(&host, port, default) {
        let named =
            CallbackHosts(vec![(host, Some(port).filter(|port| *port != default))]).written().concat();
        return Err(format!("the host {named} is not among `callbacks.hosts` in the user's settings"));
    }
    let secret = settings.get(&keys::CALLBACKS_SECRET);
    let secret = secret.ok_or("the user's settings have no `callbacks.secret`, which signs what is sent")?;
    Ok(secret.bytes())
}

/// Sends callbacks for as long as the inbox runs.
pub(super) struct CallbackService(pub(super) Arc<CallbackQueue>);

impl Service for CallbackService {
    fn name(&self) -> &'static str {
        "callbacks"
    }

    fn starts(&self) -> Starts {
        Starts::AtOnce
    }

    fn run(self: Box<Self>, _: BridgeInbox, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.0.run(&stop).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_sent_to() {
        for (url, expected) in [
            ("https://hooks.example/path?query", Ok("hooks.example 443")),
            ("http://hooks.example", Ok("hooks.example 80")),
            ("HTTPS://Hooks.Example:8443/", Ok("Hooks.Example 8443")),
            ("http://[::1]:7/", Ok("::1 7")),
            ("http://[::1]/", Ok("::1 80")),
            ("", Err("not an address")),
            ("hooks.example", Err("neither")),
            ("/path", Err("neither")),
            ("ftp://hooks.example/", Err("neither")),
            ("file:///etc/passwd", Err("")),
            ("https:///path", Err("")),
            ("https://ada@hooks.example/", Err("has a user")),
            ("https://hooks.example@evil.example/", Err("has a user")),
            ("https://hooks.example:@evil.example/", Err("")),
            ("https://hooks.example#@evil.example/", Err("fragment")),
            ("https://hooks.example:0/", Err("not an address")),
            ("https://hooks.example:65536/", Err("not an address")),
            ("https://hooks.example:/", Err("not an address")),
            ("https://hooks.example\\@evil.example/", Err("")),
            ("https://hooks.example /", Err("not an address")),
            ("https://bücher.example/", Err("")),
        ] {
            let read = place(url).map(|Place { host, port, .. }| format!("{host} {port}"));
            match (&read, expected) {
                (Ok(read), Ok(expected)) => assert_eq!(read, expected, "{url}"),
                (Err(why), Err(part)) => assert!(why.contains(part), "{url}: {why}"),
                _ => panic!("{url}: {read:?}"),
            }
        }
        assert!(place(&format!("https://hooks.example/{}", "x".repeat(limits::CALLBACK_URL))).is_err());
    }
}
