//! A bridge that a test plays, without an agent and a process: a desk and its inbox, served on a real socket. It opens and
//! changes questions as an agent would, and carries out what responders submit when the test says so, so that a test can
//! put anything in between.

use std::{
    future::{Future, poll_fn},
    os::unix::net,
    path::{Path, PathBuf},
    sync::Arc,
    task::Poll,
    time::{Duration, SystemTime},
};

use askbridge_core::{
    desk::{Asker, Desk, Notice, Opening, Setup, TicketedSubmission},
    question::{Field, Kind, Origin, Outcome, Provenance, Question},
};
use tokio::{net::UnixStream, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

use super::socket;
use crate::inbox::{BridgeInbox, Identity, Port, Work};

/// Waits for a future that has to complete soon, and panics if it does not.
pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(120), future).await.expect("it takes too long")
}

/// Returns a question with this label.
pub fn question(label: &str) -> Question {
    let field = Field::at(0, label.to_owned(), None, Kind::free_text());
    Question::new(Origin::SandboxAgent, "q", vec![field])
}

/// Listens on a socket.
pub fn listen(path: &Path) -> net::UnixListener {
    let listener = net::UnixListener::bind(path).expect("a socket");
    listener.set_nonblocking(true).expect("a socket that does not block");
    listener
}

/// Returns the inbox of a bridge of this name, whose work does not run yet.
pub fn played(name: &str) -> (BridgeInbox, Port, Work) {
    let bridge = name.parse().expect("a bridge name");
    let started_at = SystemTime::now().into();
    BridgeInbox::new(Identity { bridge, agent: String::new(), folder: String::new(), started_at }, 1)
}

/// A bridge whose inbox is served on a socket, until this is dropped.
pub struct PlayedBridge {
    /// Its inbox.
    pub inbox: BridgeInbox,
    /// Its socket.
    pub path: PathBuf,
    desk: Desk,
    port: Port,
    served: JoinHandle<()>,
    stop: CancellationToken,
    _work: JoinHandle<()>,
}

impl PlayedBridge {
    /// Starts a bridge of this name in a folder.
    pub fn start(folder: &Path, name: &str) -> Self {
        let path = folder.join(name).with_extension("sock");
        Self::on(listen(&path), None, path, name)
    }

    /// Starts a bridge of this name on a socket that may have a connection already.
    pub fn on(listener: net::UnixListener, first: Option<UnixStream>, path: PathBuf, name: &str) -> Self {
        let (inbox, port, work) = played(name);
        let Identity { bridge, started_at: started, .. } = inbox.identity().clone();
        let desk = Desk::new(Setup { bridge, asker: Asker::Agent, started, key: 1 });
        let stop = CancellationToken::new();
        let served = serve(listener, first, inbox.clone(), stop.clone());
        PlayedBridge { inbox, path, desk, port, served, stop, _work: tokio::spawn(work.run()) }
    }

    /// Asks for a text under this label, and returns the number of the question once the inbox has it.
    pub async fn open(&mut self, label: &str) -> u64 {
        self.ask(question(label)).await
    }

    /// Asks, and returns the number of the question once the inbox has it.
    pub async fn ask(&mut self, question: Question) -> u64 {
        let opening = Opening {
            question: Arc::new(question),
            weight: 1,
            timeout: None,
            elsewhere: false,
            context: None,
        };
        let number = self.desk.open(opening, Duration::ZERO);
        self.hand_over().await;
        number
    }

    /// Replaces the text of an open question, as an agent does whose tool call changes, and returns once the inbox has it.
    pub async fn amend(&mut self, number: u64, question: Question) {
        self.desk.amend(number, Arc::new(question), 1).expect("room for the question");
        self.hand_over().await;
    }

    /// Settles a question, and returns once the inbox has it.
    pub async fn settle(&mut self, number: u64, outcome: Outcome, by: Provenance) {
        self.desk.end(number, outcome, by, Duration::ZERO);
        self.desk.delivered(number);
        self.hand_over().await;
    }

    /// Carries out the next submission, and delivers it: its responder gets the verdict.
    pub async fn obey(&mut self) {
        let submitted = self.submitted().await;
        self.carry_out(submitted).await;
    }

    /// Takes the next submission.
    pub async fn submitted(&mut self) -> TicketedSubmission {
        soon(poll_fn(|cx| self.port.poll_next(cx))).await
    }

    /// Carries out a submission, and delivers it.
    pub async fn carry_out(&mut self, submitted: TicketedSubmission) {
        let number = submitted.number;
        if self.desk.submit(submitted, Duration::ZERO).is_some() {
            self.desk.delivered(number);
        }
        self.hand_over().await;
    }

    async fn hand_over(&mut self) {
        while let Some(notice) = self.desk.poll() {
            if let Notice::Verdict(ticket, verdict) = notice {
                self.port.verdict(ticket, verdict);
            }
        }
        let (port, desk) = (&mut self.port, &mut self.desk);
        let handed_over = poll_fn(|cx| match desk.has_changes() {
            true => {
                let has_changes = desk.has_changes();
                port.poll_hand_over(cx, has_changes, || desk.take_changes())
            }
            false => match port.poll_hand_over(cx, false, || None) {
                // `Pending` also means that there is nothing to hand over.
                Poll::Pending => Poll::Ready(()),
                ready => ready,
            },
        });
        soon(handed_over).await;
        soon(self.port.taken()).await;
    }

    /// Stops serving, and leaves the socket's file.
    pub async fn vanish(&mut self) {
        self.stop.cancel();
        soon(&mut self.served).await.expect("it is served");
    }

    /// Serves again.
    pub fn reappear(&mut self) {
        drop(std::fs::remove_file(&self.path));
        self.stop = CancellationToken::new();
        self.served = serve(listen(&self.path), None, self.inbox.clone(), self.stop.clone());
    }

    /// Connects to the socket.
    pub async fn stream(&self) -> UnixStream {
        UnixStream::connect(&self.path).await.expect("a connection")
    }
}

impl Drop for PlayedBridge {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn serve(
    listener: net::UnixListener,
    first: Option<UnixStream>,
    inbox: BridgeInbox,
    stop: CancellationToken,
) -> JoinHandle<()> {
    let first = first.map(|first| first.into_std().expect("a stream"));
    tokio::spawn(async move { socket::serve(listener, first, inbox, stop).await.expect("it is served") })
}
