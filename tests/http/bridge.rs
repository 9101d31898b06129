//! A bridge that the test plays: a desk whose questions the test opens and ends, its inbox, and a server of that.

use std::{
    fs,
    future::poll_fn,
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::{Duration, SystemTime},
};

use askbridge_control::inbox::{BridgeInbox, Identity, Inbox, Port, wait_until};
use askbridge_core::{
    desk::{
        Asker, BridgeName, Desk, Notice, Opening, QuestionId, Setup, Snapshot, Submission, TicketedSubmission,
    },
    question::{Context as Led, Image, Outcome, Provenance, Question, Reason},
};
use askbridge_settings::resolved::HttpSettings;
use askbridge_web::Server;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    net::TcpStream,
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::http::client::{DEADLINE, Http, soon};

/// When questions are answered, after the bridge has started: they opened at its start.
const ANSWERED: Duration = Duration::from_secs(2);

/// What a bridge is told to do.
enum Order {
    Open(Box<Question>, Option<Arc<Led>>, oneshot::Sender<u64>),
    Settle(u64, Outcome, oneshot::Sender<bool>),
    /// From now on, outcomes are not delivered to the agent, or again they are.
    Hold(bool, oneshot::Sender<()>),
}

/// A bridge, its inbox, and a server of it.
pub(crate) struct Bridge {
    pub(crate) http: Http,
    pub(crate) inbox: BridgeInbox,
    /// What the agent got, in its order: the question's number, and the outcome.
    pub(crate) agent: Arc<Mutex<Vec<(u64, Outcome)>>>,
    /// All submissions, accepted or not.
    pub(crate) heard: mpsc::Receiver<Submission>,
    orders: mpsc::Sender<Order>,
    pub(crate) server: JoinHandle<()>,
    stop: CancellationToken,
    played: JoinHandle<()>,
    work: JoinHandle<()>,
    folder: TempDir,
}

impl Bridge {
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Starts a bridge whose server has further names.
    pub(crate) async fn start_with(hosts: &[&str]) -> Self {
        let allowed_hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        let settings = HttpSettings { allowed_hosts, ..HttpSettings::default() };
        Self::start_in(tempfile::tempdir().unwrap(), settings).await
    }

    /// Starts a bridge whose server is open to pages of these origins.
    pub(crate) async fn start_for(origins: &[&str]) -> Self {
        let allowed_origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
        let settings = HttpSettings { allowed_origins, ..HttpSettings::default() };
        Self::start_in(tempfile::tempdir().unwrap(), settings).await
    }

    /// Starts a bridge whose server has this token.
    pub(crate) async fn start_with_token(token: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, token).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        Self::start_in(folder, HttpSettings::default()).await
    }

    async fn start_in(token: TempDir, settings: HttpSettings) -> Self {
        let bridge: BridgeName = "bridge".parse().unwrap();
        let started_at = SystemTime::now().into();
        let (agent, folder) = ("agent".to_owned(), "/".to_owned());
        let identity = Identity { bridge: bridge.clone(), agent, folder, started_at };
        let (inbox, port, work) = BridgeInbox::new(identity, 1);
        let work = tokio::spawn(work.run());
        let desk = Desk::new(Setup { bridge, asker: Asker::Agent, started: started_at, key: 1 });
        let (orders, received) = mpsc::channel(16);
        let (heard_by, heard) = mpsc::channel(1024);
        let agent = Arc::new(Mutex::new(Vec::new()));
        let played = Played { desk, port, agent: Arc::clone(&agent), heard: heard_by, held: None };
        let played = tokio::spawn(played.run(received));
        let stop = CancellationToken::new();
        let (http, server) = serve(inbox.clone(), settings, &token, stop.clone()).await;
        Bridge { http, inbox, agent, heard, orders, server, stop, played, work, folder: token }
    }

    pub(crate) fn token_file(&self) -> PathBuf {
        self.folder.path().join("token")
    }

    async fn order<T>(&self, order: impl FnOnce(oneshot::Sender<T>) -> Order) -> T {
        let (done, is_done) = oneshot::channel();
        self.orders.send(order(done)).await.ok().unwrap();
        soon("the bridge obeys", is_done).await.unwrap()
    }

    pub(crate) async fn wait_until(&self, holds: impl Fn(&Snapshot) -> bool) {
        assert!(wait_until(self.inbox.store(), DEADLINE, holds).await, "the inbox takes it over");
    }

    /// Asks, and returns the number of the question, whose ID is `bridge-NUMBER`, once the inbox has it.
    pub(crate) async fn ask(&self, question: Question) -> u64 {
        self.ask_after(None, question).await
    }

    /// Asks a question to which this led.
    pub(crate) async fn ask_after(&self, led: Option<Led>, question: Question) -> u64 {
        let number = self.order(|done| Order::Open(Box::new(question), led.map(Arc::new), done)).await;
        self.wait_until(|snapshot| snapshot.get(&id(number)).is_some()).await;
        number
    }

    /// Ends a question as the bridge does by itself, and returns whether it was open, once the inbox knows.
    pub(crate) async fn settle(&self, number: u64, outcome: Outcome) -> bool {
        let was_open = self.order(|done| Order::Settle(number, outcome, done)).await;
        self.wait_until(|snapshot| snapshot.get(&id(number)).is_none_or(|record| !record.is_open())).await;
        was_open
    }

    pub(crate) async fn withdraw(&self, number: u64) -> bool {
        self.settle(number, Outcome::Rejected(Reason::Withdrawn)).await
    }

    pub(crate) async fn hold(&self, hold: bool) {
        self.order(|done| Order::Hold(hold, done)).await;
    }

    /// Tells the server to stop, and waits until it accepts no connection any more.
    pub(crate) async fn end(&mut self) {
        self.stop.cancel();
        let ended = async { while TcpStream::connect(self.http.address).await.is_ok() {} };
        soon("no connection is accepted", ended).await;
    }

    /// Ends the bridge, and leaves its inbox.
    pub(crate) fn die(&self) {
        self.played.abort();
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.server.abort();
        self.played.abort();
        self.work.abort();
    }
}

fn id(number: u64) -> QuestionId {
    format!("bridge-{number}").parse().unwrap()
}

/// Serves an inbox. Returns the address and the token, which is in this directory, and the server's task.
async fn serve(
    inbox: BridgeInbox,
    settings: HttpSettings,
    folder: &TempDir,
    stop: CancellationToken,
) -> (Http, JoinHandle<()>) {
    let token_file = folder.path().join("token");
    let settings = HttpSettings { token_file: Some(token_file.clone()), ..settings };
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), &settings).await.unwrap();
    // No machine is too slow to exceed it.
    let server = server.with_rate(1500);
    let token = std::fs::read_to_string(&token_file).unwrap().trim_end().to_owned();
    let http = Http { address: server.address(), token };
    (http, tokio::spawn(server.run(inbox, None, stop)))
}

struct Played {
    desk: Desk,
    port: Port,
    agent: Arc<Mutex<Vec<(u64, Outcome)>>>,
    heard: mpsc::Sender<Submission>,
    /// The questions whose outcome is not delivered, while it is held.
    held: Option<Vec<u64>>,
}

/// What the bridge does next.
enum Step {
    Obey(Order),
    Judge(TicketedSubmission),
    HandedOver,
}

impl Played {
    async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        loop {
            match poll_fn(|cx| self.poll_step(&mut orders, cx)).await {
                Step::Obey(order) => self.obey(order),
                Step::Judge(submitted) => {
                    self.heard.send(submitted.submission.clone()).await.unwrap();
                    let number = submitted.number;
                    if self.desk.submit(submitted, ANSWERED).is_some() {
                        self.deliver(number);
                    }
                }
                Step::HandedOver => {}
            }
            while let Some(notice) = self.desk.poll() {
                if let Notice::Verdict(ticket, verdict) = notice {
                    self.port.verdict(ticket, verdict);
                }
            }
        }
    }

    fn poll_step(&mut self, orders: &mut mpsc::Receiver<Order>, cx: &mut Context<'_>) -> Poll<Step> {
        if let Poll::Ready(Some(order)) = orders.poll_recv(cx) {
            return Poll::Ready(Step::Obey(order));
        }
        if let Poll::Ready(submitted) = self.port.poll_next(cx) {
            return Poll::Ready(Step::Judge(submitted));
        }
        let has_changes = self.desk.has_changes();
        self.port.poll_hand_over(cx, has_changes, || self.desk.take_changes()).map(|()| Step::HandedOver)
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Open(question, context, done) => {
                let question = Arc::new(*question);
                let weight = self.desk.weigh(&question, 0);
                let opening = Opening { question, weight, timeout: None, elsewhere: false, context };
                done.send(self.desk.open(opening, Duration::ZERO)).unwrap();
            }
            Order::Settle(number, outcome, done) => {
                let was_open = self.desk.get(number).is_some() && self.desk.settlement(number).is_none();
                if was_open {
                    self.desk.end(number, outcome, Provenance::bridge(), ANSWERED);
                    self.deliver(number);
                }
                done.send(was_open).unwrap();
            }
            Order::Hold(hold, done) => {
                let held = std::mem::replace(&mut self.held, hold.then(Vec::new));
                held.into_iter().flatten().for_each(|number| self.deliver(number));
                done.send(()).unwrap();
            }
        }
    }

    fn deliver(&mut self, number: u64) {
        if let Some(held) = &mut self.held {
            held.push(number);
            return;
        }
        let settlement = self.desk.settlement(number).cloned().unwrap();
        self.agent.lock().unwrap().push((number, settlement.outcome));
        self.desk.delivered(number);
    }
}

/// A question of one choice, in session `s`.
pub(crate) fn choice(id: &str) -> Question {
    let options = json!([{ "value": "a", "label": "Option A" }, { "value": "b", "label": "Option B", "description": "The other." }]);
    let field =
        json!({ "name": "q0", "label": "Which?", "required": true, "kind": "choice", "options": options });
    question(id, json!([field]))
}

/// A GIF of one pixel, whose bytes are a text as well.
pub(crate) const PIXEL: &[u8] = b"GIF89a\x01\0\x01\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0\x3b";

/// A choice with an image.
pub(crate) fn with_image(id: &str) -> Question {
    let image = Image::of(PIXEL.to_vec(), Some("A pixel".to_owned())).unwrap();
    Question { images: vec![image], ..choice(id) }
}

/// A permission to run a command, in session `s`. It can be refused.
pub(crate) fn permission(id: &str) -> Question {
    let options = [("always", "allow_always"), ("allow", "allow_once"), ("no", "reject_once")];
    permission_of(id, &options)
}

/// A permission to run a command, in session `s`, with these options: the value, which is the label too, and the role.
pub(crate) fn permission_of(id: &str, options: &[(&str, &str)]) -> Question {
    let option = |(value, role): &(&str, &str)| json!({ "value": value, "label": value, "role": role });
    let options: Vec<_> = options.iter().map(option).collect();
    let field =
        json!({ "name": "q0", "label": "Run make", "required": true, "kind": "choice", "options": options });
    serde_json::from_value(json!({
        "sessionId": "s", "questionId": id, "message": "Run make", "fields": [field], "origin": "permission",
        "purpose": "permission", "subject": { "kind": "execute", "command": "make", "folder": "/work" },
        "toolCallId": "t", "dangerous": true, "blocking": true, "notes": false,
    }))
    .unwrap()
}

/// A question with this form, in session `s`.
pub(crate) fn question(id: &str, fields: Value) -> Question {
    serde_json::from_value(json!({
        "sessionId": "s", "questionId": id, "message": "Which?", "fields": fields, "origin": "sandboxagent",
        "dangerous": false, "blocking": true,
    }))
    .unwrap()
}
