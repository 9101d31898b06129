//! One Copilot: what is open in the sessions that its terminal shows is open here.
//!
//! A session is joined before its log is read, so that nothing falls between them. Copilot repeats nothing to a client
//! that joins late: what is open then is in the log, and for permissions in a list of its own.

use std::{
    collections::BTreeMap,
    future::{Future, pending},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep},
};

use super::link::{CallError, Heard, Link};
use crate::{
    desk::Settlement,
    dialect::copilot::{
        Call, EVENTS, Ending, Event, Request, pending as pending_permissions, read_event, was_taken,
    },
    limits,
    origin::{
        Who,
        answering::{Answerable, Book, Delivery},
        attach::{SharedHosts, back_off},
        listeners,
    },
    question::{Outcome, Provenance, Question, Responder},
};

/// The name that people know it by.
pub(super) const NAME: &str = "Copilot";

/// Where a Copilot is, and how it is connected to.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub host: String,
    pub port: u16,
    /// What the server was started with in `COPILOT_CONNECTION_TOKEN`, if anything.
    pub token: Option<String>,
    pub pid: Option<u32>,
}

/// The connection that there is now. Answers that wait while it is opened again take the new one.
type Current = watch::Receiver<Option<Arc<Link>>>;

/// Something that is open in a session.
struct Located {
    session: String,
    link: Current,
    request: Request,
}

impl Located {
    fn call(&self, settlement: &Settlement) -> Call {
        self.request.call(&self.session, &settlement.outcome, settlement.remark.as_deref())
    }
}

impl Answerable for Located {
    type Ending = Ending;

    fn ending(&self, settlement: &Settlement) -> Ending {
        self.call(settlement).ending
    }

    fn outcome(&self, ending: &Ending) -> Outcome {
        self.request.outcome(ending)
    }

    fn deliver(&self, settlement: &Settlement) -> impl Future<Output = Delivery> + Send {
        let Call { method, params, .. } = self.call(settlement);
        let link = self.link.borrow().clone();
        async move {
            let Some(link) = link else { return Delivery::Unknown("there is no connection".to_owned()) };
            match link.call_within(limits::ATTACH_ANSWER, method, params).await {
                Ok(result) => match was_taken(&result) {
                    Some(true) => Delivery::Taken,
                    Some(false) => Delivery::TooLate,
                    None => Delivery::Refused("the result is not known".to_owned()),
                },
                Err(CallError::Refused(why)) => Delivery::Refused(why),
                Err(CallError::Lost(why)) => Delivery::Unknown(why),
            }
        }
    }
}

/// The session that the terminal shows.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Foreground {
    session_id: Option<String>,
}

/// What Copilot says of a session. Its `workspacePath`, here and elsewhere, is a folder that Copilot keeps for the session,
/// and not the project.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    working_directory: PathBuf,
}

/// A page of a session's log.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<'a> {
    #[serde(borrow)]
    events: Vec<&'a RawValue>,
    cursor: Option<String>,
    #[serde(default)]
    has_more: bool,
}

/// A connection, and what Copilot tells over it.
struct Connection {
    link: Arc<Link>,
    heard: mpsc::Receiver<Heard>,
    foreground: Foreground,
}

/// Attaches to a Copilot until it is gone.
///
/// # Errors
/// It cannot be reached, or does not speak as Copilot does.
pub(super) async fn run(place: Place, hosts: SharedHosts) -> Result<(), String> {
    let mut connection = connect(&place).await?;
    let folder = match &connection.foreground.session_id {
        Some(session) => working_directory(&connection.link, session).await,
        None => None,
    };
    let folder = folder.or_else(|| listeners::folder(place.pid?));
    let who = Who { agent: NAME.to_owned(), folder: folder.clone().unwrap_or_default(), pid: place.pid };
    let hosted = hosts.host(who).map_err(|error| format!("has no inbox: {error}"))?;
    let dialog = Provenance { responder: Responder::Dialog, name: Some(NAME.to_owned()) };
    let (now, current) = watch::channel(Some(Arc::clone(&connection.link)));
    let mut attached = Attached {
        book: Book::new(hosted.desk.clone(), dialog),
        folder: folder.as_deref().map(text),
        sessions: BTreeMap::new(),
        link: Arc::clone(&connection.link),
        current,
    };
    loop {
        attached.follow(connection).await;
        // Answers wait for the next connection.
        now.send_replace(None);
        let Some(again) = rejoin(&place).await else { break };
        connection = again;
        attached.link = Arc::clone(&connection.link);
        now.send_replace(Some(Arc::clone(&connection.link)));
        attached.list_again().await;
    }
    attached.book.gone();
    attached.book.finish().await;
    Ok(())
}

async fn connect(place: &Place) -> Result<Connection, String> {
    let (link, heard) = Link::connect(&place.host, place.port)
        .await
        .map_err(|error| format!("cannot be reached: {error}"))?;
    let token = place.token.as_ref().map_or_else(|| json!({}), |token| json!({ "token": token }));
    link.call_within(limits::ATTACH_CONNECT, "connect", token).await.map_err(|error| match error {
        CallError::Refused(why) => {
            format!("does not let this program in: {why}; set COPILOT_CONNECTION_TOKEN as for Copilot")
        }
        CallError::Lost(why) => format!("is not Copilot: {why}"),
    })?;
    let foreground =
        shown(&link).await.map_err(|error| format!("was not started with --ui-server: {error}"))?;
    Ok(Connection { link: Arc::new(link), heard, foreground })
}

async fn shown(link: &Link) -> Result<Foreground, CallError> {
    read(&link.call("session.getForeground", json!({})).await?)
}

/// Returns the folder that a session works in. `None` for a version that does not say.
async fn working_directory(link: &Link, session: &str) -> Option<PathBuf> {
    let metadata = link.call("session.metadata.snapshot", json!({ "sessionId": session })).await.ok()?;
    Some(read::<Metadata>(&metadata).ok()?.working_directory)
}

fn text(folder: &Path) -> Arc<str> {
    folder.to_string_lossy().into()
}

/// Connects again after the connection broke. `None` where Copilot is gone.
async fn rejoin(place: &Place) -> Option<Connection> {
    let give_up = Instant::now() + limits::ATTACH_REJOIN;
    for times in 0.. {
        let again = connect(place).await;
        if place.pid.is_some_and(|pid| !listeners::is_running(pid)) {
            // What listens there now is another process, which gets an inbox of its own.
            return None;
        }
        match again {
            Ok(connection) => return Some(connection),
            Err(error) => tracing::debug!(error, port = place.port, "Copilot does not reply"),
        }
        sleep(back_off(limits::ATTACH_AGAIN, times, limits::ATTACH_ANSWER)).await;
        if Instant::now() >= give_up {
            break;
        }
    }
    None
}

struct Attached {
    book: Book<Located>,
    folder: Option<Arc<str>>,
    /// The sessions that were joined over this connection, each with the folder that it works in.
    sessions: BTreeMap<String, Option<Arc<str>>>,
    link: Arc<Link>,
    current: Current,
}

impl Attached {
    /// Opens and ends what Copilot tells of, until the connection ends.
    async fn follow(&mut self, connection: Connection) {
        let Connection { mut heard, foreground, .. } = connection;
        if let Some(session) = foreground.session_id {
            self.join(session).await;
        }
        loop {
            let is_without = self.sessions.is_empty();
            let look = async {
                match is_without {
                    true => sleep(limits::COPILOT_LOOK).await,
                    false => pending().await,
                }
            };
            tokio::select! {
                heard = heard.recv() => match heard {
                    Some(Heard::Foreground(session)) => self.join(session).await,
                    Some(Heard::Event(session, Event::Asked(request))) => self.open(&session, *request),
                    Some(Heard::Event(_, Event::Ended { id, ending })) => self.book.ended(&id, ending),
                    Some(Heard::Event(..)) => {}
                    None => return,
                },
                () = self.book.finished() => {}
                () = look => {
                    if let Ok(Foreground { session_id: Some(session), .. }) = shown(&self.link).await {
                        self.join(session).await;
                    }
                }
            }
        }
    }

    /// Joins a session, and opens what is open in it.
    async fn join(&mut self, session: String) {
        if self.sessions.len() >= limits::COPILOT_SESSIONS || self.sessions.contains_key(&session) {
            return;
        }
        let resume = json!({ "sessionId": session, "disableResume": true });
        if let Err(error) = self.link.call("session.resume", resume).await {
            tracing::warn!(%error, "a session of Copilot cannot be joined");
            return;
        }
        self.learn(&session).await;
        match self.listed(&session).await {
            Ok(open) => {
                open.into_values().for_each(|request| self.open(&session, request));
                tracing::info!(session, "attached to Copilot");
            }
            Err(error) => tracing::warn!(%error, "what was open in Copilot before is not known"),
        }
    }

    /// Takes note of a session that was joined, and of the folder that it works in.
    async fn learn(&mut self, session: &str) {
        let folder = working_directory(&self.link, session).await;
        let folder = folder.as_deref().map(text).or_else(|| self.folder.clone());
        self.sessions.insert(session.to_owned(), folder);
    }

    fn open(&mut self, session: &str, request: Request) {
        let question = Question {
            agent: Some(NAME.into()),
            project: self.sessions.get(session).or(Some(&self.folder)).cloned().flatten(),
            session: Some(session.to_owned()),
            ..request.question.clone()
        };
        let located = Located { session: session.to_owned(), link: self.current.clone(), request };
        self.book.open(question, located);
    }

    /// Joins the sessions again over a new connection, and learns what happened meanwhile.
    async fn list_again(&mut self) {
        self.book.reconnected();
        for session in std::mem::take(&mut self.sessions).into_keys() {
            let resume = json!({ "sessionId": session, "disableResume": true });
            let listed = match self.link.call("session.resume", resume).await {
                Ok(_) => self.listed(&session).await,
                Err(error) => Err(error),
            };
            let open = match listed {
                Ok(open) => open,
                Err(error) => {
                    tracing::debug!(%error, "a session of Copilot cannot be joined again");
                    continue;
                }
            };
            let is_gone = |located: &Located| {
                located.session == session && !open.contains_key(&located.request.question.id)
            };
            let gone = self.book.ids(is_gone);
            gone.iter().for_each(|id| self.book.withdrawn(id));
            self.learn(&session).await;
            open.into_values().for_each(|request| self.open(&session, request));
        }
    }

    /// Returns what is open in a session, by its ID. What the log says of the end of a question is told at once.
    async fn listed(&mut self, session: &str) -> Result<BTreeMap<String, Request>, CallError> {
        let (mut open, mut cursor) = (BTreeMap::new(), None);
        for _ in 0..limits::COPILOT_PAGES {
            let page = self.page(session, cursor.as_deref()).await?;
            let Page { events, cursor: next, has_more } = read(&page)?;
            for event in events {
                match read_event(event.get()) {
                    Event::Asked(request) => drop(open.insert(request.question.id.clone(), *request)),
                    Event::Ended { id, ending } => {
                        open.remove(&id);
                        self.book.ended(&id, ending);
                    }
                    _ => {}
                }
            }
            if !has_more || next.is_none() {
                break;
            }
            cursor = next;
        }
        let permissions = json!({ "sessionId": session });
        if let Ok(listed) = self.link.call("session.permissions.pendingRequests", permissions).await {
            let listed = pending_permissions(&listed).unwrap_or_default();
            open.extend(listed.into_iter().map(|request| (request.question.id.clone(), request)));
        }
        Ok(open)
    }

    async fn page(&self, session: &str, cursor: Option<&str>) -> Result<String, CallError> {
        let mut params = json!({ "sessionId": session, "max": limits::COPILOT_PAGE, "types": EVENTS });
        if let Some(cursor) = cursor {
            params["cursor"] = cursor.into();
        }
        match self.link.call("session.eventLog.read", params).await {
            // A version that knows no filter has all events on one page.
            Err(CallError::Refused(_)) if cursor.is_none() => {
                self.link.call("session.eventLog.read", json!({ "sessionId": session })).await
            }
            page => page,
        }
    }
}

fn read<'a, T: Deserialize<'a>>(result: &'a str) -> Result<T, CallError> {
    serde_json::from_str(result)
        .map_err(|error| CallError::Refused(format!("the result is not known: {error}")))
}
