//! The inboxes of all the bridges of this machine, as one.
//! Where their sockets are is left to `discovery.rs`, and how each of them is followed to `follow.rs`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::join_all;
use jsonrpsee::core::client::{Client, Error, Subscription};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::discovery::{self, DiscoveryError};
use crate::{
    acp::Submission,
    limits,
    question::{Provenance, Question},
};
use crate::{
    control::old::{
        book::Book,
        port::Inbox,
        refusal::{self, Detail, Refusal},
        rpc::{Listing, QuestionsClient},
        source::{Source, Status},
        view::{Record, Settlement},
    },
    question::input::AnswerInput,
};

/// The inboxes of all bridges. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) folder: PathBuf,
    pub(crate) book: watch::Sender<Book>,
    bridges: Mutex<Bridges>,
    /// In which this process asks.
    own: Option<Inbox>,
}

#[derive(Debug, Default)]
pub(crate) struct Bridges {
    /// By their names.
    pub(crate) connected: BTreeMap<String, Bridge>,
    /// The sockets of the others.
    pub(crate) unreachable: BTreeSet<PathBuf>,
}

/// A bridge that is connected.
#[derive(Debug)]
pub(crate) struct Bridge {
    pub(crate) client: Arc<Client>,
    pub(crate) status: Status,
    pub(crate) path: PathBuf,
    /// Where it tells what changes, until somebody follows it. Until then it is kept: a connection on which it was
    /// cancelled may be closed before the reply to an answer is read.
    pub(crate) changes: Option<Subscription<Listing>>,
}

impl Machine {
    /// Joins the inboxes of the bridges whose sockets are in this folder now.
    pub async fn open(folder: &Path) -> Result<Self, DiscoveryError> {
        Self::join(folder, None).await
    }

    /// Joins them, and asks by `own`, whose socket is in this folder too: its questions are found like those of any
    /// bridge.
    pub async fn open_with(folder: &Path, own: Inbox) -> Result<Self, DiscoveryError> {
        Self::join(folder, Some(own)).await
    }

    async fn join(folder: &Path, own: Option<Inbox>) -> Result<Self, DiscoveryError> {
        let book = watch::Sender::new(Book::default());
        let shared = Shared { folder: folder.to_owned(), book, bridges: Mutex::default(), own };
        let joined = Machine { shared: Arc::new(shared) };
        let paths = discovery::sockets(folder).await?;
        join_all(paths.iter().map(|path| joined.visit(path))).await;
        Ok(joined)
    }

    /// Returns the sockets of the bridges that could not be asked. What is open there is not known.
    pub fn unreachable(&self) -> Vec<PathBuf> {
        self.lock().unreachable.iter().cloned().collect()
    }

    /// Asks all bridges for a question. One that says nothing in time counts as gone.
    async fn ask_all(&self, short: &str) -> Vec<Result<Record, Refusal>> {
        let clients: Vec<_> =
            self.lock().connected.values().map(|bridge| Arc::clone(&bridge.client)).collect();
        let get = async |client: &Client| get(client, short).await;
        join_all(clients.iter().map(|client| get(client))).await
    }

    pub(crate) fn client(&self, bridge: &str) -> Option<Arc<Client>> {
        self.lock().connected.get(bridge).map(|bridge| Arc::clone(&bridge.client))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Bridges> {
        // Nothing that holds it can leave it half changed.
        self.shared.bridges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks a bridge for a question.
pub(crate) async fn get(client: &Client, id: &str) -> Result<Record, Refusal> {
    match timeout(limits::HELLO, client.get(id.to_owned())).await {
        Ok(answer) => answer.map_err(refusal),
        Err(_) => Err(Refusal::Unavailable),
    }
}

/// Submits to a bridge, however long its agent takes to read.
async fn submit(
    client: &Client,
    id: String,
    submission: Submission,
    by: Provenance,
) -> Result<Record, Error> {
    match submission {
        Submission::Answer(answer) => client.answer(id, AnswerInput::from(answer), Some(by)).await,
        Submission::Reject(reason) => client.reject(id, reason, Some(by)).await,
        Submission::Extend(time) => client.extend(id, time.as_millis().try_into().unwrap_or(u64::MAX)).await,
    }
}

/// Waits until a bridge says nothing any more. One that was stopped keeps its connections.
async fn silence(client: &Client) {
    loop {
        sleep(limits::HELLO).await;
        match timeout(limits::HELLO, client.status()).await {
            Ok(Ok(_)) => {}
            _ => return,
        }
    }
}

impl Source for Machine {
    fn book(&self) -> watch::Receiver<Book> {
        self.shared.book.subscribe()
    }

    async fn submit(&self, id: &str, submission: Submission, by: Provenance) -> Result<(), Refusal> {
        let bridge = id.rsplit_once('-').map_or("", |(bridge, _)| bridge);
        let Some(client) = self.client(bridge) else {
            let book = self.shared.book.borrow();
            return match book.find(id) {
                Some(_) => refusal::over(&book, id, &submission),
                None => {
                    drop(book);
                    Err(self.missing(id))
                }
            };
        };
        let done = tokio::select! {
            biased;
            done = submit(&client, id.to_owned(), submission, by) => done.map_err(refusal),
            () = silence(&client) => Err(Refusal::Unavailable),
        };
        // Before anybody is told, so that whoever looks next sees it.
        match done {
            Ok(view) => {
                self.change(|book| book.put(view));
                Ok(())
            }
            Err(refused) => {
                if let Refusal::Conflict(view) | Refusal::Gone(view) = &refused {
                    self.change(|book| book.put((**view).clone()));
                }
                Err(refused)
            }
        }
    }

    /// Settled before these inboxes were joined, for one. One that no bridge has which could be asked is not found,
    /// whatever the others have: see [`Machine::unreachable`].
    async fn look_up(&self, short: &str) -> Result<Arc<Record>, Refusal> {
        let found = self.find(short);
        if !matches!(found, Err(Refusal::NotFound | Refusal::Unavailable)) {
            return found;
        }
        let (mut views, mut ids) = (Vec::new(), Vec::new());
        let mut is_unknown = self.shared.book.borrow().has_lost(short);
        for answer in self.ask_all(short).await {
            match answer {
                Ok(view) => {
                    ids.push(view.id.clone());
                    views.push(view);
                }
                Err(Refusal::Ambiguous(several)) => ids.extend(several),
                Err(Refusal::NotFound) => {}
                Err(_) => is_unknown = true,
            }
        }
        match (views.pop(), ids.len()) {
            (_, 0) if is_unknown => Err(Refusal::Unavailable),
            (_, 0) => Err(Refusal::NotFound),
            (Some(view), 1) => Ok(Arc::new(view)),
            _ => Err(Refusal::Ambiguous(ids)),
        }
    }

    async fn ask(&self, question: Question) -> Result<Settlement, Refusal> {
        match &self.shared.own {
            Some(own) => own.ask(question).await,
            None => Err(Refusal::Unavailable),
        }
    }

    fn status(&self) -> Vec<Status> {
        let mut all: Vec<_> = self.lock().connected.values().map(|bridge| bridge.status.clone()).collect();
        let book = self.shared.book.borrow();
        all.iter_mut().for_each(|status| status.open = book.open_in(&status.bridge).count());
        all
    }

    fn missing(&self, short: &str) -> Refusal {
        let is_lost = self.shared.book.borrow().has_lost(short);
        let bridge = short.rsplit_once('-').map_or(short, |(bridge, _)| bridge);
        let bridges = self.lock();
        // It may be in a bridge that could not be asked, unless it names one that could.
        let may_be_hidden = !bridges.unreachable.is_empty() && !bridges.connected.contains_key(bridge);
        if is_lost || may_be_hidden { Refusal::Unavailable } else { Refusal::NotFound }
    }
}

/// Reads why a bridge refused.
fn refusal(error: Error) -> Refusal {
    let Error::Call(error) = error else { return Refusal::Unavailable };
    let detail = error.data().and_then(|data| serde_json::from_str::<Detail>(data.get()).ok());
    detail.map_or(Refusal::Unavailable, Refusal::of)
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::copy_bidirectional,
        net::{UnixListener, UnixStream},
        time::Instant,
    };

    use crate::machine::bridges::*;
    use crate::{
        control::old::played::{Bridge, listen, soon},
        question::{Answer, Value},
    };

    #[tokio::test(start_paused = true)]
    async fn a_bridge_that_froze_is_not_waited_for() {
        let (folder, behind) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let bridge = Bridge::start(behind.path(), "b");
        bridge.open(1, "a");
        let listener = UnixListener::from_std(listen(&folder.path().join("b.sock"))).unwrap();
        let mut streams: Option<(UnixStream, UnixStream)> = None;
        let passes_on = async {
            let (near, _) = listener.accept().await.unwrap();
            let (near, far) = streams.insert((near, bridge.stream().await));
            copy_bidirectional(near, far).await
        };
        let joined = tokio::select! {
            joined = soon(Machine::open(folder.path())) => joined.unwrap(),
            passed = passes_on => panic!("{passed:?}"),
        };
        let start = Instant::now();
        let rejection = Submission::Reject(None);
        let refused = soon(joined.submit("b-1", rejection, Provenance::bridge())).await;
        assert_eq!((refused, start.elapsed()), (Err(Refusal::Unavailable), 2 * limits::HELLO));
        assert_eq!(joined.find("b-1").unwrap().settlement, None, "nobody knows");
        drop(streams);
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_does_not_read_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = Bridge::start(folder.path(), "b");
        bridge.open(1, "a");
        let joined = soon(Machine::open(folder.path())).await.unwrap();
        let values = [("q0".to_owned(), Value::Text("yes".to_owned()))].into();
        let answer = Submission::Answer(Answer { values, ..Answer::default() });
        let submitted = joined.submit("b-1", answer, Provenance::bridge());
        tokio::pin!(submitted);
        assert!(timeout(20 * limits::HELLO, &mut submitted).await.is_err());
        let (done, ()) = tokio::join!(soon(submitted), bridge.obey());
        assert_eq!(done, Ok(()));
    }
}
