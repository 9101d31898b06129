//! A bridge that the test plays: what it is told to open and settle, and what it hears. The first that comes wins, as
//! in the engine.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use askbridge::{
    acp::{Opened, Refused, Settled, Submission},
    config::HttpSettings,
    control::{
        self,
        old::{Feed, Owner, port::Command},
    },
    question::{Outcome, Provenance, Question, Reason, check},
    serve::Server,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    net::TcpStream,
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use crate::client::{Http, soon};

/// What a bridge is told.
enum Order {
    Open(Box<Question>, oneshot::Sender<u64>),
    Settle(u64, Outcome, oneshot::Sender<bool>),
    /// From now on, or no more, it hears and says nothing.
    Hold(bool, oneshot::Sender<()>),
}

/// A bridge, an inbox, and a server of it.
pub(crate) struct Bridge {
    pub(crate) http: Http,
    /// What the agent got, in its order: the question's number, and the outcome.
    pub(crate) agent: Arc<Mutex<Vec<(u64, Outcome)>>>,
    /// What was heard, whatever came of it.
    pub(crate) heard: mpsc::Receiver<Submission>,
    orders: mpsc::Sender<Order>,
    pub(crate) server: JoinHandle<()>,
    ends: Option<oneshot::Sender<()>>,
    played: JoinHandle<()>,
    _folder: TempDir,
}

impl Bridge {
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Serves under further names.
    pub(crate) async fn start_with(hosts: &[&str]) -> Self {
        let owner = Owner { bridge: "bridge".to_owned(), agent: "agent".to_owned(), folder: "/".to_owned() };
        let (inbox, feed) = control::old::new(owner);
        let folder = tempfile::tempdir().unwrap();
        let token_file = folder.path().join("token");
        let allowed_hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        let args = HttpSettings { token_file: Some(token_file.clone()), allowed_hosts };
        let server = Server::bind("127.0.0.1:0".parse().unwrap(), &args).await.unwrap();
        let token = std::fs::read_to_string(&token_file).unwrap().trim_end().to_owned();
        let http = Http { address: server.address(), token };
        let (orders, received) = mpsc::channel(16);
        let (heard_by, heard) = mpsc::channel(1024);
        let agent = Arc::new(Mutex::new(Vec::new()));
        let played =
            Played { feed, agent: Arc::clone(&agent), heard: heard_by, open: BTreeMap::new(), last: 0 };
        let played = tokio::spawn(played.run(received));
        let (ends, ended) = oneshot::channel();
        let server = tokio::spawn(server.run(inbox, None, async { ended.await.unwrap_or_default() }));
        Bridge { http, agent, heard, orders, server, ends: Some(ends), played, _folder: folder }
    }

    async fn order<T>(&self, order: impl FnOnce(oneshot::Sender<T>) -> Order) -> T {
        let (done, is_done) = oneshot::channel();
        self.orders.send(order(done)).await.ok().unwrap();
        soon("the bridge obeys", is_done).await.unwrap()
    }

    /// Asks, and returns the number of the question, which is `bridge-NUMBER` for others.
    pub(crate) async fn ask(&self, question: Question) -> u64 {
        self.order(|done| Order::Open(Box::new(question), done)).await
    }

    /// Settles it as the bridge does by itself. Says whether it was open.
    pub(crate) async fn settle(&self, number: u64, outcome: Outcome) -> bool {
        self.order(|done| Order::Settle(number, outcome, done)).await
    }

    pub(crate) async fn withdraw(&self, number: u64) -> bool {
        self.settle(number, Outcome::Rejected(Reason::Withdrawn)).await
    }

    pub(crate) async fn hold(&self, hold: bool) {
        self.order(|done| Order::Hold(hold, done)).await;
    }

    /// Tells the server to end, and waits until nobody can connect any more.
    pub(crate) async fn end(&mut self) {
        self.ends.take().unwrap().send(()).unwrap();
        while TcpStream::connect(self.http.address).await.is_ok() {}
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
    }
}

struct Played {
    feed: Feed,
    agent: Arc<Mutex<Vec<(u64, Outcome)>>>,
    heard: mpsc::Sender<Submission>,
    open: BTreeMap<u64, Arc<Question>>,
    last: u64,
}

impl Played {
    async fn run(mut self, mut orders: mpsc::Receiver<Order>) {
        let (mut hold, mut held) = (false, Vec::new());
        loop {
            tokio::select! {
                Some(order) = orders.recv() => match order {
                    Order::Open(question, done) => done.send(self.opened(*question)).unwrap(),
                    Order::Settle(number, outcome, done) => {
                        let settled = self.settle(number, outcome, Provenance::bridge(), None);
                        done.send(settled).unwrap();
                    }
                    Order::Hold(whether, done) => {
                        hold = whether;
                        held.drain(..).for_each(|command| self.submitted(command));
                        done.send(()).unwrap();
                    }
                },
                Some(command) = self.feed.next() => {
                    self.heard.send(command.submission.clone()).await.unwrap();
                    if hold { held.push(command) } else { self.submitted(command) }
                }
            }
        }
    }

    fn opened(&mut self, question: Question) -> u64 {
        self.last += 1;
        let (number, question) = (self.last, Arc::new(question));
        self.open.insert(number, Arc::clone(&question));
        self.feed.opened(&Opened {
            number,
            question,
            since: Duration::ZERO,
            deadline: None,
            elsewhere: false,
        });
        number
    }

    fn submitted(&mut self, command: Command) {
        let Command { number, submission, by, verdict, .. } = command;
        let remark = match &submission {
            Submission::Reject(remark) => remark.clone(),
            _ => None,
        };
        let outcome = match (self.open.get(&number), submission) {
            (None, _) => Err(Refused::NotOpen),
            (Some(question), Submission::Answer(answer)) => {
                check(question, &answer).map_err(Refused::DoesNotFit).map(|()| Outcome::Answered(answer))
            }
            (Some(_), Submission::Reject(_)) => Ok(Outcome::Rejected(Reason::User)),
            (Some(_), Submission::Extend(_)) => Err(Refused::NoDeadline),
        };
        let judged = outcome.map(|outcome| assert!(self.settle(number, outcome, by, remark)));
        // Whoever asked may be gone.
        drop(verdict.send(judged));
    }

    fn settle(&mut self, number: u64, outcome: Outcome, by: Provenance, remark: Option<String>) -> bool {
        let Some(question) = self.open.remove(&number) else { return false };
        self.agent.lock().unwrap().push((number, outcome.clone()));
        let settled = Settled { number, question, outcome, by, remark, after: Duration::ZERO };
        self.feed.settled(&settled, Duration::from_secs(2));
        true
    }
}

/// A question of one choice, in session `s`.
pub(crate) fn choice(id: &str) -> Question {
    let options = json!([{ "value": "a", "label": "Option A" }, { "value": "b", "label": "Option B", "description": "The other." }]);
    let field =
        json!({ "name": "q0", "label": "Which?", "required": true, "kind": "choice", "options": options });
    question(id, json!([field]))
}

/// A question with this form, in session `s`.
pub(crate) fn question(id: &str, fields: Value) -> Question {
    serde_json::from_value(json!({
        "sessionId": "s", "questionId": id, "message": "Which?", "fields": fields, "origin": "sandboxagent",
        "dangerous": false, "blocking": true,
    }))
    .unwrap()
}
