//! The attachment to one Copilot: the open requests of the sessions that its terminal shows become questions.
//!
//! A session is joined before its log is read, so that no event is missed in between. Copilot repeats nothing to a
//! client that joins late. Earlier requests are in the log, and permissions also in a separate list.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    future::{Future, pending},
    sync::Arc,
};

use askbridge_core::{
    desk::Settlement,
    dialect::copilot::{
        Call, CopilotEvent, CopilotRequest, EVENTS, Ending, OpenPermissions, pending as pending_permissions,
        read_event, was_taken,
    },
    question::{Outcome, Provenance, Question, Recent, Responder},
};
use askbridge_os::processes;
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use tokio::{sync::watch, time::sleep};

use super::{
    connection::{
        CopilotConnection, Foreground, ServerPlace, connect, read, rejoin, shown, text, working_directory,
    },
    link::{CallError, Link, Notification},
};
use crate::{
    AgentIdentity,
    answering::{Answerable, Book, Delivery},
    attach::{Retry, SharedInboxes},
    limits,
};

/// The agent's name, as responders see it.
pub(super) const NAME: &str = "Copilot";

/// The current connection. Answers that wait during a reconnect use the new one.
type CurrentLink = watch::Receiver<Option<Arc<Link>>>;

/// An open request of a session.
struct OpenItem {
    session: String,
    link: CurrentLink,
    request: CopilotRequest,
}

impl OpenItem {
    fn call(&self, settlement: &Settlement) -> Call {
        self.request.call(&self.session, &settlement.outcome, settlement.remark.as_deref())
    }
}

impl Answerable for OpenItem {
    type Ending = Ending;

    const EVENT_DECIDES: bool = false;

    fn bytes(&self) -> usize {
        self.request.bytes()
    }

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
            let Some(link) = link else { return Delivery::NotSent("there is no connection".to_owned()) };
            match link.call(method, params).await {
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

/// The open requests of a session, as Copilot lists them.
struct OpenList {
    open: BTreeMap<String, CopilotRequest>,
    /// The IDs of all open permissions; `None` if Copilot did not list them.
    permissions: Option<BTreeSet<String>>,
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

/// Attaches to a Copilot until it is gone.
///
/// # Errors
/// Copilot cannot be reached, the peer is not Copilot, or no inbox can be opened for it.
pub(super) async fn run(place: ServerPlace, hosts: SharedInboxes) -> Result<(), String> {
    let mut connection = connect(&place).await?;
    let folder = match &connection.foreground.session_id {
        Some(session) => working_directory(&connection.link, session).await,
        None => None,
    };
    let folder = folder.or_else(|| processes::folder(place.pid?));
    let who =
        AgentIdentity { agent: NAME.to_owned(), folder: folder.clone().unwrap_or_default(), pid: place.pid };
    let hosted = hosts.host(who).map_err(|error| format!("has no inbox: {error}"))?;
    let dialog = Provenance { responder: Responder::Dialog, name: Some(NAME.to_owned()) };
    let (now, current) = watch::channel(Some(Arc::clone(&connection.link)));
    let mut attached = CopilotSession {
        book: Book::new(hosted.desk.clone(), dialog),
        folder: folder.as_deref().map(text),
        sessions: VecDeque::new(),
        link: Arc::clone(&connection.link),
        current,
        recent: Recent::default(),
    };
    let mut retry = Retry::default();
    loop {
        attached.follow(connection).await;
        // Without a link, answers wait for the next connection.
        now.send_replace(None);
        let Some(again) = rejoin(&place, &mut retry).await else { break };
        connection = again;
        attached.link = Arc::clone(&connection.link);
        // Read Copilot's events before any answer is sent again: one may report that an earlier attempt arrived.
        attached.list_again().await;
        now.send_replace(Some(Arc::clone(&connection.link)));
    }
    attached.book.gone();
    attached.book.finish().await;
    Ok(())
}

struct CopilotSession {
    book: Book<OpenItem>,
    folder: Option<Arc<str>>,
    /// The sessions that were joined, the oldest one first, each with the folder that it works in.
    sessions: VecDeque<(String, Option<Arc<str>>)>,
    link: Arc<Link>,
    current: CurrentLink,
    /// What the agent said last in each session.
    recent: Recent,
}

impl CopilotSession {
    /// Opens and ends questions as Copilot reports them, until the connection ends.
    async fn follow(&mut self, connection: CopilotConnection) {
        let CopilotConnection { mut heard, foreground, .. } = connection;
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
                    Some(Notification::Foreground(session)) => self.join(session).await,
                    Some(Notification::Said(said)) => self.recent.take(said),
                    Some(Notification::Event(session, CopilotEvent::Asked(request))) => {
                        // Copilot still sends the events of a session that was left to its own dialog.
                        if self.is_joined(&session) {
                            self.open(&session, *request);
                        }
                    }
                    Some(Notification::Event(_, CopilotEvent::Ended { id, ending })) => self.book.ended(&id, ending),
                    Some(Notification::Event(session, CopilotEvent::Moved(folder))) => self.moved(&session, &folder),
                    Some(Notification::Event(..)) => {}
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

    /// Joins a session, and opens its open requests.
    async fn join(&mut self, session: String) {
        if self.is_joined(&session) {
            return;
        }
        let resume = json!({ "sessionId": session, "disableResume": true });
        if let Err(error) = self.link.call("session.resume", resume).await {
            tracing::warn!(%error, "a session of Copilot cannot be joined");
            return;
        }
        // The folder is recorded before the requests are opened, because their questions have the folder of the
        // session.
        self.learn(&session).await;
        if self.sessions.len() > limits::COPILOT_SESSIONS
            && let Some((oldest, _)) = self.sessions.pop_front()
        {
            tracing::warn!(
                session = oldest,
                "too many sessions: the questions of this one stay in its own dialog"
            );
            self.withdraw(|located| located.session == oldest);
        }
        match self.listed(&session).await {
            Ok(OpenList { open, .. }) => {
                open.into_values().for_each(|request| self.open(&session, request));
                tracing::info!(session, "attached to Copilot");
            }
            Err(error) => tracing::warn!(%error, "cannot list the requests that were open in Copilot before"),
        }
    }

    fn is_joined(&self, session: &str) -> bool {
        self.sessions.iter().any(|(joined, _)| joined == session)
    }

    /// Records a joined session, and the folder that it works in.
    async fn learn(&mut self, session: &str) {
        let folder = working_directory(&self.link, session).await;
        let folder = folder.as_deref().map(text).or_else(|| self.folder.clone());
        self.sessions.push_back((session.to_owned(), folder));
    }

    /// Records that later requests of a session belong to another folder.
    fn moved(&mut self, session: &str, folder: &str) {
        if let Some((_, known)) = self.sessions.iter_mut().find(|(joined, _)| joined == session) {
            *known = Some(folder.into());
        }
    }

    fn open(&mut self, session: &str, request: CopilotRequest) {
        let joined = self.sessions.iter().find(|(joined, _)| joined == session);
        let question = Question {
            agent: Some(NAME.into()),
            project: joined.map_or(&self.folder, |(_, folder)| folder).clone(),
            session: Some(session.to_owned()),
            ..request.question.clone()
        };
        let located = OpenItem { session: session.to_owned(), link: self.current.clone(), request };
        let context = self.recent.context(session, question.tool_call.as_deref());
        self.book.open(context, question, located);
    }

    fn withdraw(&mut self, is_meant: impl Fn(&OpenItem) -> bool) {
        self.book.ids(is_meant).iter().for_each(|id| self.book.withdrawn(id));
    }

    /// Joins the sessions again over a new connection, and learns what happened meanwhile.
    async fn list_again(&mut self) {
        self.book.reconnected();
        // `learn` adds the sessions again that still exist.
        for (session, folder) in std::mem::take(&mut self.sessions) {
            let resume = json!({ "sessionId": session, "disableResume": true });
            let listed = match self.link.call("session.resume", resume).await {
                Ok(_) => self.listed(&session).await,
                Err(CallError::Refused(why)) => {
                    tracing::debug!(why, session, "a session of Copilot has ended");
                    self.withdraw(|located| located.session == session);
                    continue;
                }
                Err(error) => Err(error),
            };
            match listed {
                Ok(OpenList { open, permissions }) => {
                    self.learn(&session).await;
                    // Only permissions are withdrawn, because their list is complete. A form may be open although the
                    // log does not have it: Copilot keeps only the last events of forms.
                    if let Some(permissions) = permissions {
                        self.withdraw(|OpenItem { session: of, request, .. }| {
                            let id = &request.question.id;
                            let is_listed = permissions.contains(id) || open.contains_key(id);
                            *of == session && request.is_permission() && !is_listed
                        });
                    }
                    open.into_values().for_each(|request| self.open(&session, request));
                }
                // If the connection broke, the requests are listed over the next one.
                Err(error) => {
                    tracing::debug!(%error, session, "cannot list the requests that are open in Copilot");
                    self.sessions.push_back((session, folder));
                }
            }
        }
    }

    /// Returns the open requests of a session. If the log has the end of a question, the question is ended at once.
    async fn listed(&mut self, session: &str) -> Result<OpenList, CallError> {
        let (mut open, mut cursor) = (BTreeMap::new(), None);
        for _ in 0..limits::COPILOT_PAGES {
            let page = self.page(session, cursor.as_deref()).await?;
            let Page { events, cursor: next, has_more } = read(&page)?;
            for event in events {
                match read_event(event.get()) {
                    CopilotEvent::Asked(request) => drop(open.insert(request.question.id.clone(), *request)),
                    CopilotEvent::Ended { id, ending } => {
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
        let of_session = json!({ "sessionId": session });
        let listed = self.link.call("session.permissions.pendingRequests", of_session).await;
        let listed = listed.ok().and_then(|listed| pending_permissions(&listed));
        let permissions = listed.map(|OpenPermissions { ids, requests }| {
            open.extend(requests.into_iter().map(|request| (request.question.id.clone(), request)));
            ids
        });
        Ok(OpenList { open, permissions })
    }

    async fn page(&self, session: &str, cursor: Option<&str>) -> Result<String, CallError> {
        let mut params = json!({ "sessionId": session, "max": limits::COPILOT_PAGE, "types": EVENTS });
        if let Some(cursor) = cursor {
            params["cursor"] = cursor.into();
        }
        match self.link.call("session.eventLog.read", params).await {
            // A version without the filter refuses it, and has all events on one page.
            Err(CallError::Refused(_)) if cursor.is_none() => {
                self.link.call("session.eventLog.read", json!({ "sessionId": session })).await
            }
            page => page,
        }
    }
}
