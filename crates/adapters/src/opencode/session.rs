//! Finds opencode servers, one that was named or those that listen on this machine, and follows each: the open
//! requests of its projects become questions, from its events and its lists.
//!
//! The stream is opened before the lists are read, so that no event is missed in between. After a gap in the stream,
//! the lists are read again: opencode does not repeat events.

use std::{
    collections::BTreeSet,
    future::Future,
    path::{Path, PathBuf},
    sync::Arc,
};

use askbridge_core::{
    desk::Settlement,
    dialect::opencode::{Call, Ending, OpencodeEvent, OpencodeRequest, Voice, read_event},
    question::{Outcome, Provenance, Question, Recent, Responder},
};
use askbridge_os::{
    listeners::{self, Listener, SharedListeners},
    processes,
};
use askbridge_settings::addresses::TrustedServers;
use futures::future::{BoxFuture, join_all};
use tokio::{task::spawn_blocking, time::Instant};

use super::{
    address::Address,
    server::{self, Events, HttpClient, Password, ServerError},
};
use crate::{
    AgentIdentity,
    answering::{Answerable, Book, Delivery},
    attach::{Attachment, Complaints, Finder, FoundAgent, Retry, SharedInboxes},
    limits,
};

/// The agent's name, as responders see it.
pub(super) const NAME: &str = "opencode";

/// An open question or permission of a project.
struct OpenItem {
    client: HttpClient,
    directory: Arc<str>,
    request: OpencodeRequest,
}

impl OpenItem {
    fn call(&self, settlement: &Settlement) -> Call {
        self.request.call(&settlement.outcome, settlement.remark.as_deref())
    }
}

impl Answerable for OpenItem {
    type Ending = Ending;

    // Versions before 1.18 reply to a late answer that they took it.
    const EVENT_DECIDES: bool = true;

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

/// The process that serves, if it is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Process {
    /// The process ID.
    pub pid: Option<u32>,
    /// When it started, in milliseconds since 1970.
    pub started: Option<f64>,
}

/// Attaches to a server until it is gone.
///
/// # Errors
/// The server cannot be reached, is not opencode, or no inbox can be opened for it.
pub(super) async fn run(
    client: HttpClient,
    process: Process,
    hosts: SharedInboxes,
) -> Result<(), ServerError> {
    let mut events = server::events(&client).await?;
    let folder = server::folder(&client).await?;
    let who = AgentIdentity { agent: NAME.to_owned(), folder: PathBuf::from(&folder), pid: process.pid };
    let hosted = hosts.host(who).map_err(ServerError::Inbox)?;
    let dialog = Provenance { responder: Responder::Dialog, name: Some(NAME.to_owned()) };
    let book = Book::new(hosted.desk.clone(), dialog);
    let pid = process.pid;
    let (voice, recent) = (Voice::default(), Recent::default());
    let (folder, directories) = (folder.into(), BTreeSet::new());
    let mut session = Session { client, pid, folder, directories, book, voice, recent };
    session.begin(process).await?;
    tracing::info!(server = %session.client.address(), "attached to opencode");
    let mut retry = Retry::default();
    loop {
        tokio::select! {
            data = events.next() => match data {
                Some(data) => session.hear(&data).await,
                None => match session.rejoin(&mut retry).await {
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

/// A folder, and its open requests, if they could be listed.
type ListedProject = (Arc<str>, Option<Vec<OpencodeRequest>>);

struct Session {
    client: HttpClient,
    pid: Option<u32>,
    /// The folder that the server runs in. An event that names no folder belongs to it.
    folder: Arc<str>,
    /// The folders of the projects known to be open in the server.
    directories: BTreeSet<Arc<str>>,
    book: Book<OpenItem>,
    voice: Voice,
    /// What the agent said last in each session.
    recent: Recent,
}

impl Session {
    /// Opens the requests that were open before this program attached.
    async fn begin(&mut self, process: Process) -> Result<(), ServerError> {
        let mut directories = vec![Arc::clone(&self.folder)];
        // Only a project that was used since the server started is open: a list of another one would start that
        // project.
        if let Some(started) = process.started {
            let projects = server::projects(&self.client, started).await?;
            directories.extend(projects.into_iter().map(Arc::from));
        }
        directories.retain(|directory| Path::new(&**directory).is_absolute());
        // The server's own folder is first, so the limit never drops it.
        directories.truncate(limits::OPENCODE_PROJECTS);
        for (directory, open) in self.list(directories).await? {
            self.directories.insert(Arc::clone(&directory));
            open.into_iter().flatten().for_each(|request| self.open(&directory, request));
        }
        Ok(())
    }

    /// Lists the open requests of these folders, all at once. A folder whose list fails gets `None`, and the others
    /// are not affected. If the list of the server's own folder fails, the whole call fails.
    async fn list(&self, directories: Vec<Arc<str>>) -> Result<Vec<ListedProject>, ServerError> {
        let list = |directory: Arc<str>| async {
            let open = server::open(&self.client, &directory).await;
            (directory, open)
        };
        let listed = join_all(directories.into_iter().map(list)).await;
        let take = |(directory, open): (Arc<str>, Result<_, _>)| match open {
            Ok(open) => Ok((directory, Some(open))),
            Err(error) if directory != self.folder => {
                tracing::debug!(%error, %directory, "a project of opencode is not listed");
                Ok((directory, None))
            }
            Err(error) => Err(error),
        };
        listed.into_iter().map(take).collect()
    }

    /// Opens the requests of a project that was not known yet.
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

    fn open(&mut self, directory: &Arc<str>, request: OpencodeRequest) {
        let question = Question {
            agent: Some(NAME.into()),
            project: Some(Arc::clone(directory)),
            ..request.question.clone()
        };
        let located = OpenItem { client: self.client.clone(), directory: Arc::clone(directory), request };
        let context = question.session.as_deref();
        let context = context.and_then(|it| self.recent.context(it, question.tool_call.as_deref()));
        self.book.open(context, question, located);
    }

    async fn hear(&mut self, data: &[u8]) {
        self.voice.said(data, &mut |said| self.recent.take(said));
        let Some(located) = read_event(data) else { return };
        let directory = located.directory.unwrap_or_else(|| self.folder.to_string());
        // Only open projects send events, and listing the requests of an open project starts nothing. A project that
        // was just closed would be started again.
        if located.event != OpencodeEvent::Disposed
            && let Err(error) = self.join(&directory).await
        {
            tracing::debug!(%error, directory, "a project of opencode is not listed");
        }
        match located.event {
            OpencodeEvent::Asked(request) => self.open(&directory.into(), *request),
            OpencodeEvent::Ended { id, ending } => self.book.ended(&id, ending),
            OpencodeEvent::Disposed => {
                let gone = self.book.ids(|open| *open.directory == *directory);
                gone.iter().for_each(|id| self.book.withdrawn(id));
                self.directories.remove(&*directory);
            }
            _ => {}
        }
    }

    /// Opens the stream again after a gap, and learns what happened meanwhile. `None` if the server is gone.
    async fn rejoin(&mut self, retry: &mut Retry) -> Option<Events> {
        let give_up = Instant::now() + limits::ATTACH_REJOIN;
        let pid = self.pid;
        let is_gone = || pid.is_some_and(|pid| !processes::is_running(pid));
        loop {
            retry.pause().await;
            // After the end of the server, another process may listen there. It must not get the password, and gets a
            // separate inbox.
            if is_gone() {
                return None;
            }
            let again = server::events(&self.client).await;
            // The server may have ended while we connected: then this is another process.
            if is_gone() {
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
            if Instant::now() >= give_up {
                return None;
            }
        }
    }

    /// Opens the current requests, and ends those that are not open any more.
    async fn list_again(&mut self) -> Result<(), ServerError> {
        // This precedes the reading of the lists: a question that ends here from now on may still be listed, and must
        // not open again.
        self.book.reconnected();
        let listed = self.list(self.directories.iter().cloned().collect()).await?;
        // The events that ended the others were lost in the gap.
        let gone = self.book.ids(|open| {
            let is_known =
                !listed.iter().any(|(folder, open_there)| *folder == open.directory && open_there.is_none());
            let mut requests = listed.iter().flat_map(|(_, open_there)| open_there.iter().flatten());
            is_known && !requests.any(|request| request.question.id == open.request.question.id)
        });
        gone.iter().for_each(|id| self.book.withdrawn(id));
        for (directory, open) in listed {
            open.into_iter().flatten().for_each(|request| self.open(&directory, request));
        }
        Ok(())
    }
}

/// Finds opencode servers.
#[derive(Debug)]
pub struct OpencodeFinder {
    /// The server that was named. Without one, all that listen on this machine are found.
    named: Option<Address>,
    password: Option<Password>,
    trusted: Arc<TrustedServers>,
    listeners: SharedListeners,
    complaints: Complaints,
}

impl OpencodeFinder {
    /// Returns a finder of the server at this address, or of those on this machine. The password is that of the server;
    /// only a server of this user gets it, or one that is trusted.
    pub fn new(
        named: Option<Address>,
        password: Option<Password>,
        trusted: TrustedServers,
        listeners: SharedListeners,
    ) -> Self {
        let trusted = Arc::new(trusted);
        OpencodeFinder { named, password, trusted, listeners, complaints: Complaints::default() }
    }

    fn found(&self, address: Address, pid: Option<u32>) -> FoundAgent {
        let client = HttpClient::new(address, self.password.as_ref(), Arc::clone(&self.trusted));
        let key = format!("{NAME} {}", client.address());
        let (complaints, is_named) = (self.complaints.clone(), self.named.is_some());
        let attach = move |hosts| Box::pin(attach(client, pid, hosts, complaints, is_named)) as Attachment;
        FoundAgent { key, attach: Box::new(attach) }
    }

    async fn find(&self) -> Vec<FoundAgent> {
        if let Some(address) = &self.named {
            return vec![self.found(address.clone(), None)];
        }
        let servers = self.listeners.look().await.into_iter().filter(is_opencode);
        servers.map(|found| self.found(Address::local(found.ip, found.port), Some(found.pid))).collect()
    }
}

impl Finder for OpencodeFinder {
    fn name(&self) -> &'static str {
        NAME
    }

    fn look(&mut self) -> BoxFuture<'_, Vec<FoundAgent>> {
        Box::pin(self.find())
    }
}

/// Returns whether a process is opencode by its name. Its server is also asked, before it is used.
fn is_opencode(listener: &Listener) -> bool {
    // The program itself, or a script behind its interpreter, such as `node`.
    let names = listener.command.iter().take(2).filter_map(|word| Path::new(word).file_name()?.to_str());
    names.into_iter().any(|name| matches!(name, "opencode" | ".opencode" | "opencode-cli"))
}

async fn attach(
    client: HttpClient,
    pid: Option<u32>,
    hosts: SharedInboxes,
    complaints: Complaints,
    is_named: bool,
) {
    let address = client.address().clone();
    // The search reads tables of the system, which blocks.
    let process = spawn_blocking(move || {
        let pid = pid.or_else(|| listeners::process_at(address.local_port()?));
        Process { pid, started: pid.and_then(processes::started) }
    });
    let process = process.await.unwrap_or_default();
    let run = async {
        if !is_named {
            server::is_opencode(&client).await?;
        }
        run(client.clone(), process, hosts).await
    };
    let problem = run.await.err().map(|error| error.to_string());
    complaints.note(&format!("opencode at {}", client.address()), problem);
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::{
        net::{Ipv4Addr, TcpListener},
        process::Command,
        time::SystemTime,
    };

    use askbridge_control::{
        inbox::{BridgeInbox, Identity},
        join::discovery::bridge_name,
    };

    use super::*;
    use crate::{
        attach::Secret,
        opencode::{Address, Password},
    };

    #[tokio::test]
    async fn nothing_is_sent_to_what_took_the_port_of_a_server_that_ended() {
        let other = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut server = Command::new("true").spawn().expect("a process");
        server.wait().expect("its end");
        let address = other.local_addr().expect("an address");
        let password = Password::new(None, Secret::from("top secret".to_owned()));
        let identity = Identity {
            bridge: bridge_name(),
            agent: NAME.to_owned(),
            folder: "/p".to_owned(),
            started_at: SystemTime::UNIX_EPOCH.into(),
        };
        let (_inbox, desk, _work) = BridgeInbox::of_desk(identity, 7, None);
        let mut session = Session {
            client: HttpClient::new(
                Address::local(address.ip(), address.port()),
                Some(&password),
                Arc::default(),
            ),
            pid: Some(server.id()),
            folder: "/p".into(),
            directories: BTreeSet::new(),
            book: Book::new(desk, Provenance::bridge()),
            voice: Voice::default(),
            recent: Recent::default(),
        };
        assert!(session.rejoin(&mut Retry::default()).await.is_none());
        other.set_nonblocking(true).expect("a socket");
        assert!(other.accept().is_err(), "something connected");
        assert!(!format!("{password:?} {:?}", session.client).contains("secret"));
    }

    #[test]
    fn a_process_is_known_by_the_names_of_its_program() {
        let is = |command: &[&str]| {
            let command = command.iter().map(|word| (*word).to_owned()).collect();
            is_opencode(&Listener { ip: Ipv4Addr::LOCALHOST.into(), port: 1, pid: 1, command })
        };
        assert!(
            is(&["opencode", "serve"]) && is(&["node", "/usr/lib/node_modules/opencode-ai/bin/.opencode"])
        );
        assert!(!is(&["vim", "notes", "opencode"]) && !is(&["askbridge", "inbox"]) && !is(&[]));
    }
}
