//! The notify service: starts a notifier process for each question that waits for long enough. It runs beside the
//! socket, on the inbox's thread, so the thread that forwards is not disturbed (I7).

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
    path::PathBuf,
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use askbridge_control::{
    inbox::{BridgeInbox, Inbox, Store, real_files::RealFiles},
    rpc::host::{Service, Starts},
};
use askbridge_core::desk::{QuestionId, Record, State};
use askbridge_os::program;
use askbridge_settings::{NotifySettings, Settings, files::Live};
use futures::future::BoxFuture;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::{Child, Command},
    task::JoinSet,
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use super::context::{Context, LogOnce};
use crate::notify::{
    Circumstances, NotifierStarts, Plan, ruled,
    ways::{BUSY, minute},
};

/// The most bytes of a notifier's stderr that are read.
const SAID: u64 = 16 * 1024;
/// The most projects whose settings are cached.
const PROJECTS: usize = 32;

/// Starts a notifier for each question that waits.
#[derive(Debug)]
pub struct NotifyService {
    /// The user's own file: no other file can add a notifier.
    live: Arc<Live>,
    /// The terminal that the bridge was started in, if it is used only for the bridge's log.
    terminal: Option<PathBuf>,
}

impl NotifyService {
    /// Returns the service, which every inbox has: notifiers may be set up while it runs.
    #[expect(clippy::unnecessary_wraps, reason = "the list of services asks each whether this inbox has it")]
    pub(super) fn of(context: &Context) -> Option<Box<dyn Service>> {
        // A terminal at stdout shows the lines of the protocol, which sequences would garble.
        let terminal = (io::stderr().is_terminal() && !io::stdout().is_terminal())
            .then(|| rustix::termios::ttyname(io::stderr(), Vec::new()).ok())
            .flatten()
            .and_then(|name| name.into_string().ok());
        let live = Arc::clone(&context.live);
        Some(Box::new(NotifyService { live, terminal: terminal.map(PathBuf::from) }))
    }
}

impl Service for NotifyService {
    fn name(&self) -> &'static str {
        "notifiers"
    }

    fn starts(&self) -> Starts {
        let (live, has_terminal) = (Arc::clone(&self.live), self.terminal.is_some());
        Starts::WithQuestion(Arc::new(move || NotifySettings::is_set(&live.settings(), has_terminal)))
    }

    fn run(self: Box<Self>, inbox: BridgeInbox, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let running = NotifierPool::new(self.terminal, inbox.store().clone(), inbox, false);
            // Notifiers end by themselves when the bridge is gone, so it does not wait for them (I8).
            stop.run_until_cancelled(running.run()).await;
        })
    }
}

/// The result of a notifier.
struct NotifierExit {
    id: QuestionId,
    said: Vec<String>,
}

/// The settings of one project.
struct Project {
    folder: PathBuf,
    live: Live,
    /// The settings that [`settings`](Self::settings) were derived from.
    source: Arc<Settings>,
    settings: Option<NotifySettings>,
}

impl Project {
    fn new(folder: PathBuf) -> Self {
        let live = Live::of(Some(folder.clone()));
        let source = live.settings();
        let settings = NotifySettings::of(&source, Some(&folder));
        Project { folder, live, source, settings }
    }

    /// Reads the files again if they have changed.
    fn refresh(&mut self) {
        let source = self.live.settings();
        // The files are read into a new object only if they have changed.
        if !Arc::ptr_eq(&source, &self.source) {
            self.settings = NotifySettings::of(&source, Some(&self.folder));
            self.source = source;
        }
    }
}

/// Starts the notifiers for the questions of one store.
pub struct NotifierPool {
    terminal: Option<PathBuf>,
    /// Where the questions are.
    store: Store,
    /// The inbox of this process.
    inbox: BridgeInbox,
    /// Whether the questions are those of other machines.
    is_elsewhere: bool,
    starts: NotifierStarts,
    /// The cached settings of projects, at most [`PROJECTS`].
    projects: BTreeMap<Option<Arc<str>>, Project>,
    notifiers: JoinSet<NotifierExit>,
    logged: LogOnce,
}

impl NotifierPool {
    /// Returns what notifies the user of the questions of other machines in this store. `inbox` is that of this process,
    /// which knows whether a person is looking.
    pub fn elsewhere(store: Store, inbox: BridgeInbox) -> Self {
        NotifierPool::new(None, store, inbox, true)
    }

    fn new(terminal: Option<PathBuf>, store: Store, inbox: BridgeInbox, is_elsewhere: bool) -> Self {
        NotifierPool {
            terminal,
            store,
            inbox,
            is_elsewhere,
            starts: NotifierStarts::default(),
            projects: BTreeMap::new(),
            notifiers: JoinSet::new(),
            logged: LogOnce::default(),
        }
    }

    /// Runs until the store ends.
    pub async fn run(mut self) {
        let mut follower = self.store.follow();
        loop {
            self.look();
            let deadline = self.starts.next_deadline().map(|at| at.saturating_sub(self.inbox.uptime()));
            tokio::select! {
                batch = follower.next() => if batch.is_none() { return },
                () = after(deadline) => {}
                Some(Ok(ended)) = self.notifiers.join_next() => self.ended(ended),
            }
        }
    }

    /// Starts the notifiers that are due now.
    fn look(&mut self) {
        self.projects.values_mut().for_each(Project::refresh);
        let mut open = self.store.read(|_, snapshot| snapshot.open());
        open.retain(|record| record.id.bridge.machine().is_some() == self.is_elsewhere);
        // A question whose answer is being delivered needs no notification.
        open.retain(|record| record.state == State::Open);
        // And neither does one that the user has set aside; once it is back, it is like a new one.
        open.retain(|record| record.later.is_none());
        let open: BTreeMap<_, _> = open.iter().map(|record| (&record.id, record)).collect();
        let now = self.inbox.uptime();
        // The starts are taken out, because the closures below borrow all of `self`.
        let mut starts = std::mem::take(&mut self.starts);
        starts.open(open.keys().copied(), |id| self.plan(open.get(id)?)?.first().map(|delay| now + delay));
        // The circumstances are the same for all projects; their settings decide what follows.
        let around = Circumstances { minute: minute(), is_present: self.inbox.is_watched() };
        let due = starts.poll(now, |id| {
            open.get(id).and_then(|record| self.plan(record)).is_some_and(|plan| plan.is_held(around))
        });
        self.starts = starts;
        for id in due {
            self.start(id);
        }
    }

    /// Returns the plan for a question. `None` if the settings ask for nothing.
    fn plan(&mut self, record: &Record) -> Option<Plan> {
        // A folder of another machine has no settings here.
        let project = record.question.project.clone().filter(|_| !self.is_elsewhere);
        let has_terminal = self.terminal.is_some();
        if !self.projects.contains_key(&project) {
            if self.projects.len() >= PROJECTS {
                // The files are only read again: evicting single projects is not worth the code.
                self.projects.clear();
            }
            let folder = project.as_deref().unwrap_or(&self.inbox.identity().folder);
            self.projects.insert(project.clone(), Project::new(PathBuf::from(folder)));
        }
        let held = self.projects.get(&project)?;
        let settings = ruled(held.settings.clone()?, held.source.rules(), record, &RealFiles);
        Plan::new(&settings, &record.question, has_terminal)
    }

    fn start(&mut self, id: QuestionId) {
        match self.spawn(&id) {
            Ok(mut child) => {
                if let (Some(tree), Some(pid)) = (self.inbox.agent_tree(), child.id()) {
                    // A notifier may answer, unlike the agent's own processes: the user has set it up.
                    tree.leave_out(pid);
                }
                self.notifiers.spawn(async move {
                    let said = said(&mut child).await;
                    // The reaper of the agent's orphans may have reaped the process already: ignore the error.
                    drop(child.wait().await);
                    NotifierExit { id, said }
                });
            }
            Err(error) => {
                self.log(&format!("it could not be started: {error}"));
                // The failed start counts as if too many notifiers ran, so that another attempt follows after a pause.
                self.starts.ended(&id, true, self.inbox.uptime());
            }
        }
    }

    fn spawn(&self, id: &QuestionId) -> io::Result<Child> {
        let mut command = Command::from(program::command(["notify", "--background"])?);
        if let Some(terminal) = &self.terminal {
            command.arg("--terminal").arg(terminal);
        }
        command.arg(id.to_string()).stderr(Stdio::piped()).spawn()
    }

    fn ended(&mut self, ended: NotifierExit) {
        let NotifierExit { id, said } = ended;
        let was_busy = said.iter().any(|line| line == BUSY);
        for line in said.iter().filter(|line| *line != BUSY) {
            self.log(line);
        }
        self.starts.ended(&id, was_busy, self.inbox.uptime());
    }

    /// Logs a line of a notifier, each different line once.
    fn log(&mut self, line: &str) {
        if self.logged.is_new(line) {
            tracing::warn!("a notifier: {}", line.trim_start_matches("askbridge: "));
        }
    }
}

/// Reads the stderr of a notifier until it ends.
async fn said(child: &mut Child) -> Vec<String> {
    let Some(stderr) = child.stderr.take() else { return Vec::new() };
    let mut lines = BufReader::new(stderr.take(SAID)).lines();
    let mut said = Vec::new();
    while let Ok(Some(line)) = lines.next_line().await {
        said.push(line);
    }
    said
}

async fn after(time: Option<Duration>) {
    match time {
        Some(time) => sleep(time).await,
        None => std::future::pending().await,
    }
}
