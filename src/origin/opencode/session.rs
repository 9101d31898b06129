//! One opencode server: what is open there is open here, in each of its projects, from its events and its lists.
//!
//! The stream is opened before the lists are read, so that nothing falls between them. After a gap in the stream, the
//! lists are read again: opencode does not repeat events.

use std::{
    collections::BTreeSet,
    future::Future,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::time::{Instant, sleep};

use super::{
    http::Client,
    server::{self, ServerError},
    stream::Events,
};
use crate::{
    desk::Settlement,
    dialect::opencode::{Call, Ending, Event, Request, read_event},
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
pub(super) const NAME: &str = "opencode";

/// An open question or permission of a project.
struct Located {
    client: Client,
    directory: Arc<str>,
    request: Request,
}

impl Located {
    fn call(&self, settlement: &Settlement) -> Call {
        self.request.call(&settlement.outcome, settlement.remark.as_deref())
    }
}

impl Answerable for Located {
    type Ending = Ending;

    fn ending(&self, settlement: &Settlement) -> Ending {
        self.call(settlement).ending
    }

    fn outcome(&self, ending: &Ending) -> Outcome {
        ending.outcome(&self.request.question)
    }

    fn deliver(&self, settlement: &Settlement) -> impl Future<Output = Delivery> + Send {
        server::answer(&self.client, self.call(settlement), &self.directory)
    }
}

/// What is known of the process that serves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Process {
    /// Its ID.
    pub pid: Option<u32>,
    /// When it started, in milliseconds since 1970.
    pub started: Option<f64>,
}

/// Attaches to a server until it is gone.
///
/// # Errors
/// It cannot be reached, or is not opencode.
pub(super) async fn run(client: Client, process: Process, hosts: SharedHosts) -> Result<(), ServerError> {
    let mut events = server::events(&client).await?;
    let folder = server::folder(&client).await?;
    let who = Who { agent: NAME.to_owned(), folder: PathBuf::from(&folder), pid: process.pid };
    let hosted = match hosts.host(who) {
        Ok(hosted) => hosted,
        Err(error) => {
            tracing::warn!(%error, "opencode has no inbox");
            return Ok(());
        }
    };
    let dialog = Provenance { responder: Responder::Dialog, name: Some(NAME.to_owned()) };
    let book = Book::new(hosted.desk.clone(), dialog);
    let pid = process.pid;
    let mut session = Session { client, pid, folder: folder.into(), directories: BTreeSet::new(), book };
    session.begin(process).await?;
    tracing::info!(server = %session.client.address(), "attached to opencode");
    loop {
        tokio::select! {
            data = events.next() => match data {
                Some(data) => session.hear(&data).await,
                None => match session.rejoin().await {
                    Some(again) => events = again,
                    None => break,
                },
            },
            () = session.book.finished() => {}
        }
    }
    session.book.gone();
    session.book.finish().await;
    Ok(())
}

struct Session {
    client: Client,
    pid: Option<u32>,
    /// The folder that the server runs in. What names no other belongs there.
    folder: Arc<str>,
    /// The folders of the projects that are open in the server, as far as they are known.
    directories: BTreeSet<Arc<str>>,
    book: Book<Located>,
}

impl Session {
    /// Opens what was open before.
    async fn begin(&mut self, process: Process) -> Result<(), ServerError> {
        let mut directories = vec![self.folder.to_string()];
        if let Some(started) = process.started {
            directories.extend(server::projects(&self.client, started).await?);
        }
        for directory in directories {
            self.join(&directory).await?;
        }
        Ok(())
    }

    /// Opens what is open in a project that was not known yet.
    async fn join(&mut self, directory: &str) -> Result<(), ServerError> {
        let is_full = self.directories.len() >= limits::OPENCODE_PROJECTS;
        if is_full || !Path::new(directory).is_absolute() || self.directories.contains(directory) {
            return Ok(());
        }
        let directory: Arc<str> = directory.into();
        self.directories.insert(Arc::clone(&directory));
        let open = server::open(&self.client, &directory).await?;
        open.into_iter().for_each(|request| self.open(&directory, request));
        Ok(())
    }

    fn open(&mut self, directory: &Arc<str>, request: Request) {
        let question = Question {
            agent: Some(NAME.into()),
            project: Some(Arc::clone(directory)),
            ..request.question.clone()
        };
        let located = Located { client: self.client.clone(), directory: Arc::clone(directory), request };
        self.book.open(question, located);
    }

    async fn hear(&mut self, data: &[u8]) {
        let Some(located) = read_event(data) else { return };
        let directory = located.directory.unwrap_or_else(|| self.folder.to_string());
        // Events come from projects that are open: asking these for what is open starts nothing. One that was just closed
        // would be started again.
        if located.event != Event::Disposed
            && let Err(error) = self.join(&directory).await
        {
            tracing::debug!(%error, directory, "a project of opencode is not listed");
        }
        match located.event {
            Event::Asked(request) => self.open(&directory.into(), *request),
            Event::Ended { id, ending } => self.book.ended(&id, ending),
            Event::Disposed => {
                let gone = self.book.ids(|open| *open.directory == *directory);
                gone.iter().for_each(|id| self.book.withdrawn(id));
                self.directories.remove(&*directory);
            }
            _ => {}
        }
    }

    /// Opens the stream again after a gap, and learns what happened meanwhile. `None` where the server is gone.
    async fn rejoin(&mut self) -> Option<Events> {
        let give_up = Instant::now() + limits::ATTACH_REJOIN;
        for times in 0.. {
            let again = server::events(&self.client).await;
            if self.pid.is_some_and(|pid| !listeners::is_running(pid)) {
                // What listens there now is another process, which gets an inbox of its own.
                return None;
            }
            let listed = match again {
                Ok(events) => self.list_again().await.map(|()| events),
                Err(error) => Err(error),
            };
            match listed {
                Ok(events) => return Some(events),
                Err(error) => {
                    tracing::debug!(%error, server = %self.client.address(), "opencode does not reply")
                }
            }
            sleep(back_off(limits::ATTACH_AGAIN, times, limits::ATTACH_ANSWER)).await;
            if Instant::now() >= give_up {
                break;
            }
        }
        None
    }

    /// Opens what is open now, and ends what is not open any more.
    async fn list_again(&mut self) -> Result<(), ServerError> {
        let mut listed = Vec::new();
        for directory in &self.directories {
            let open = server::open(&self.client, directory).await?;
            listed.extend(open.into_iter().map(|request| (Arc::clone(directory), request)));
        }
        // How the others ended was told in the gap.
        let is_gone = |open: &Located| {
            !listed.iter().any(|(_, request)| request.question.id == open.request.question.id)
        };
        let gone = self.book.ids(is_gone);
        self.book.reconnected();
        gone.iter().for_each(|id| self.book.withdrawn(id));
        listed.into_iter().for_each(|(directory, request)| self.open(&directory, request));
        Ok(())
    }
}
