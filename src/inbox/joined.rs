//! The inboxes of all the bridges of this machine, as one.
//! Where their sockets are is left to `discovery.rs`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use futures::future::join_all;
use jsonrpsee::core::client::{Client, Error, Subscription};
use tokio::{net::UnixStream, sync::watch, task::JoinSet, time};

use super::{
    book::Book,
    discovery::{self, DiscoveryError},
    input::AnswerInput,
    refusal::{Detail, Refusal},
    rpc::{Listing, QuestionsClient},
    socket,
    source::{Source, Status},
    view::{Settlement, View, timestamp},
};
use crate::{
    engine::Submission,
    limits,
    question::{Outcome, Provenance, Question, Reason},
};

/// The inboxes of all bridges. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Joined {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    book: watch::Sender<Book>,
    bridges: Mutex<BTreeMap<String, Bridge>>,
}

/// A bridge that is connected.
#[derive(Debug)]
struct Bridge {
    client: Arc<Client>,
    status: Status,
    path: PathBuf,
    /// Where it tells what changes, until somebody follows it. Until then it is kept: a connection on which it was
    /// cancelled may be closed before the reply to an answer is read.
    changes: Option<Subscription<Listing>>,
}

impl Joined {
    /// Joins the inboxes of the bridges whose sockets are in this folder now.
    pub async fn open(folder: &Path) -> Result<Self, DiscoveryError> {
        let book = watch::Sender::new(Book::default());
        let shared = Shared { folder: folder.to_owned(), book, bridges: Mutex::default() };
        let joined = Joined { shared: Arc::new(shared) };
        joined.look().await?;
        Ok(joined)
    }

    /// Follows the bridges, and those that come, until the future is dropped.
    pub async fn follow(&self) -> Result<(), DiscoveryError> {
        let mut followed = JoinSet::new();
        let mut again = time::interval(limits::LOOK);
        loop {
            again.tick().await;
            while followed.try_join_next().is_some() {}
            self.look().await?;
            self.settle_lost();
            let changes =
                |(name, bridge): (&String, &mut Bridge)| Some((name.clone(), bridge.changes.take()?));
            let new: Vec<_> = self.lock().iter_mut().filter_map(changes).collect();
            for (name, changes) in new {
                let joined = self.clone();
                followed.spawn(async move { joined.keep_up(&name, changes).await });
            }
        }
    }

    /// Connects to the bridges that are new.
    async fn look(&self) -> Result<(), DiscoveryError> {
        let streams = discovery::connect_all(&self.shared.folder, |path| !self.knows(path)).await?;
        let connected = join_all(streams.into_iter().map(|(path, stream)| connect(path, stream))).await;
        for (bridge, first) in connected.into_iter().flatten() {
            let name = bridge.status.bridge.clone();
            self.lock().insert(name.clone(), bridge);
            self.listed(&name, first).await;
        }
        Ok(())
    }

    fn knows(&self, path: &Path) -> bool {
        self.lock().values().any(|bridge| bridge.path == path)
    }

    /// Takes over what changes in a bridge, until the connection ends. If it only fell behind, it is found again.
    async fn keep_up(&self, bridge: &str, mut changes: Subscription<Listing>) {
        while let Some(Ok(listing)) = changes.next().await {
            self.listed(bridge, listing).await;
        }
        self.lock().remove(bridge);
    }

    /// Settles what is open in bridges that are gone.
    fn settle_lost(&self) {
        let mut lost_views = self.shared.book.borrow().open();
        lost_views.retain(|view| self.client(&view.bridge).is_none());
        self.shared.book.send_if_modified(|book| {
            for view in &lost_views {
                book.settle(&view.id, lost());
            }
            !lost_views.is_empty()
        });
    }

    fn open_in(&self, bridge: &str) -> Vec<Arc<View>> {
        let mut views = self.shared.book.borrow().open();
        views.retain(|view| view.bridge == bridge);
        views
    }

    /// Takes over what is open in a bridge now, and asks what became of the rest.
    async fn listed(&self, bridge: &str, listing: Listing) {
        let is_open = |id: &str| listing.questions.iter().any(|view| view.id == id);
        let over: Vec<_> = self.open_in(bridge).into_iter().filter(|view| !is_open(&view.id)).collect();
        let mut settled = Vec::new();
        if let Some(client) = self.client(bridge) {
            let answers = join_all(over.iter().map(|view| client.get(view.id.clone()))).await;
            for (view, answer) in over.iter().zip(answers) {
                let settlement = answer.ok().and_then(|view| view.settlement).unwrap_or_else(lost);
                settled.push((view.id.clone(), settlement));
            }
        }
        self.shared.book.send_if_modified(|book| {
            let before = book.revision;
            for (id, settlement) in settled {
                book.settle(&id, settlement);
            }
            for view in listing.questions {
                book.put(view);
            }
            book.revision != before
        });
    }

    /// Finds a question as [`Source::find`] does, and one that was settled before these inboxes were joined.
    pub async fn look_up(&self, short: &str) -> Result<Arc<View>, Refusal> {
        let found = self.find(short);
        if found != Err(Refusal::NotFound) {
            return found;
        }
        let clients: Vec<_> = self.lock().values().map(|bridge| Arc::clone(&bridge.client)).collect();
        let answers = join_all(clients.iter().map(|client| client.get(short.to_owned()))).await;
        let (mut views, mut ids) = (Vec::new(), Vec::new());
        for answer in answers {
            match answer.map_err(refusal) {
                Ok(view) => {
                    ids.push(view.id.clone());
                    views.push(view);
                }
                Err(Refusal::Ambiguous(several)) => ids.extend(several),
                Err(_) => {}
            }
        }
        match (views.pop(), ids.len()) {
            (_, 0) => Err(Refusal::NotFound),
            (Some(view), 1) => Ok(Arc::new(view)),
            _ => Err(Refusal::Ambiguous(ids)),
        }
    }

    fn client(&self, bridge: &str) -> Option<Arc<Client>> {
        self.lock().get(bridge).map(|bridge| Arc::clone(&bridge.client))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Bridge>> {
        // Nothing that holds it can leave it half changed.
        self.shared.bridges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is said of a question whose bridge is gone.
fn lost() -> Settlement {
    let outcome = Outcome::Rejected(Reason::AgentGone);
    Settlement { outcome, by: Provenance::bridge(), at: timestamp(SystemTime::now()), remark: None }
}

/// Reads the inbox of a bridge for the first time. `None` where it is gone meanwhile, or says nothing.
async fn connect(path: PathBuf, stream: UnixStream) -> Option<(Bridge, Listing)> {
    let shown = path.display().to_string();
    match time::timeout(limits::HELLO, first(path, stream)).await {
        Ok(connected) => connected,
        Err(_) => {
            tracing::warn!(socket = shown, "a bridge does not say what is open; its questions are left out");
            None
        }
    }
}

async fn first(path: PathBuf, stream: UnixStream) -> Option<(Bridge, Listing)> {
    let client = Arc::new(socket::connect(stream).await.ok()?);
    let status = client.status().await.ok()?.pop()?;
    let mut changes = client.changes().await.ok()?;
    let first = changes.next().await?.ok()?;
    Some((Bridge { client, status, path, changes: Some(changes) }, first))
}

impl Source for Joined {
    fn book(&self) -> watch::Receiver<Book> {
        self.shared.book.subscribe()
    }

    async fn submit(&self, id: &str, submission: Submission, by: Provenance) -> Result<(), Refusal> {
        let bridge = id.rsplit_once('-').map_or("", |(bridge, _)| bridge);
        let Some(client) = self.client(bridge) else {
            return super::refusal::over(&self.shared.book.borrow(), id, &submission);
        };
        let id = id.to_owned();
        let done = match submission {
            Submission::Answer(answer) => client.answer(id, AnswerInput::from(answer), Some(by)).await,
            Submission::Reject(reason) => client.reject(id, reason, Some(by)).await,
            Submission::Extend(time) => {
                client.extend(id, time.as_millis().try_into().unwrap_or(u64::MAX)).await
            }
        };
        done.map(drop).map_err(refusal)
    }

    async fn ask(&self, question: Question) -> Result<Settlement, Refusal> {
        let first = self.lock().keys().next().cloned();
        let client = first.and_then(|bridge| self.client(&bridge)).ok_or(Refusal::Unavailable)?;
        client.ask(question).await.map_err(refusal)
    }

    fn status(&self) -> Vec<Status> {
        let open = self.shared.book.borrow().open();
        let bridges = self.lock();
        let count = |name: &str| open.iter().filter(|view| view.bridge == name).count();
        bridges
            .values()
            .map(|bridge| Status { open: count(&bridge.status.bridge), ..bridge.status.clone() })
            .collect()
    }
}

/// Reads why a bridge refused.
fn refusal(error: Error) -> Refusal {
    let Error::Call(error) = error else { return Refusal::Unavailable };
    let detail = error.data().and_then(|data| serde_json::from_str::<Detail>(data.get()).ok());
    detail.map_or(Refusal::Unavailable, Refusal::of)
}
