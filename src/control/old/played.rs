//! A bridge that a test plays, with an inbox on a real socket.

use std::{
    os::unix::net,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{
    net::UnixStream,
    runtime,
    sync::oneshot,
    task::{JoinHandle, spawn_blocking},
    time::timeout,
};

use super::{Feed, Inbox, Owner, socket};
use crate::{
    acp::{Opened, Settled, Submission},
    question::{Field, Kind, Origin, Outcome, Provenance, Question},
};

/// Waits for what has to happen.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(30), future).await.expect("it takes too long")
}

/// Returns a question with this label.
pub(crate) fn question(label: &str) -> Question {
    let field = Field::at(0, label.to_owned(), None, Kind::free_text());
    Question::new(Origin::SandboxAgent, "q", vec![field])
}

/// Listens on a socket.
pub(crate) fn listen(path: &Path) -> net::UnixListener {
    let listener = net::UnixListener::bind(path).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

/// A bridge whose inbox is served on a socket, until this is dropped.
pub(crate) struct Bridge {
    pub(crate) inbox: Inbox,
    pub(crate) path: PathBuf,
    feed: Feed,
    served: JoinHandle<()>,
    stop: oneshot::Sender<()>,
}

impl Bridge {
    /// Starts one of this name in a folder.
    pub(crate) fn start(folder: &Path, name: &str) -> Self {
        let path = folder.join(name).with_extension("sock");
        Self::on(listen(&path), None, path, name)
    }

    /// Starts one of this name on a socket where somebody may wait already, and serves the `first` of them.
    pub(crate) fn on(
        listener: net::UnixListener,
        first: Option<UnixStream>,
        path: PathBuf,
        name: &str,
    ) -> Self {
        let owner = Owner { bridge: name.to_owned(), agent: String::new(), folder: String::new() };
        let (inbox, feed) = super::new(owner);
        let (served, stop) = serve(listener, first, inbox.clone());
        Bridge { inbox, path, feed, served, stop }
    }

    /// Is served by a thread of its own from now on, as in the program.
    pub(crate) async fn apart(mut self) -> Self {
        self.vanish().await;
        std::fs::remove_file(&self.path).unwrap();
        let (listener, inbox) = (listen(&self.path), self.inbox.clone());
        let (stop, stopped) = oneshot::channel();
        self.stop = stop;
        self.served = spawn_blocking(|| {
            let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(socket::serve(listener, None, inbox, stopped)).unwrap();
        });
        self
    }

    /// Asks.
    pub(crate) fn open(&self, number: u64, label: &str) {
        let question = question(label).into();
        self.feed.opened(&Opened {
            number,
            question,
            since: Duration::ZERO,
            deadline: None,
            elsewhere: false,
        });
    }

    /// It is settled.
    pub(crate) fn settle(&self, number: u64, outcome: Outcome, by: Provenance) {
        let (question, after) = (question("a").into(), Duration::ZERO);
        self.feed.settled(&Settled { number, question, outcome, by, remark: None, after }, after);
    }

    /// Does the next that is wanted.
    pub(crate) async fn obey(&mut self) {
        let command = soon(self.feed.next()).await.unwrap();
        let Submission::Answer(answer) = command.submission else { panic!("no answer") };
        self.settle(command.number, Outcome::Answered(answer), command.by);
        command.verdict.send(Ok(())).unwrap();
    }

    /// Is not there any more for others, and leaves its socket.
    pub(crate) async fn vanish(&mut self) {
        let (stop, _) = oneshot::channel();
        std::mem::replace(&mut self.stop, stop).send(()).unwrap();
        soon(&mut self.served).await.unwrap();
    }

    /// Is there again.
    pub(crate) fn reappear(&mut self) {
        drop(std::fs::remove_file(&self.path));
        (self.served, self.stop) = serve(listen(&self.path), None, self.inbox.clone());
    }

    pub(crate) async fn stream(&self) -> UnixStream {
        UnixStream::connect(&self.path).await.unwrap()
    }
}

fn serve(
    listener: net::UnixListener,
    first: Option<UnixStream>,
    inbox: Inbox,
) -> (JoinHandle<()>, oneshot::Sender<()>) {
    let (stop, stopped) = oneshot::channel();
    let first = first.map(|first| first.into_std().unwrap());
    let served = tokio::spawn(async { socket::serve(listener, first, inbox, stopped).await.unwrap() });
    (served, stop)
}
