//! Several responders who answer the questions of one agent at the same time, and an oracle that compares what each was
//! told with what the agent heard: nothing is lost, nothing is doubled, and nobody is told "answered" for an answer that
//! the agent did not get. The way of each responder to the bridge, and what fails meanwhile, are left to the suites.

use std::{
    collections::BTreeMap,
    env,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::PathBuf,
    process::Command,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use askbridge_control::{
    inbox::Inbox,
    join::{JoinedInbox, Reach},
    rpc::{client::Client, protocol::CallReply},
};
use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Submission},
    question::{Answer, Outcome, Provenance, Responder, Value},
};
use fastrand::Rng;
use serde_json::json;
use tokio::{
    net::UnixStream,
    runtime::Runtime,
    task::JoinSet,
    time::{Instant as TokioInstant, interval_at, timeout},
};

use crate::{
    answers::machine::TestMachine,
    support::{DEADLINE, Process},
};

/// The agent sends what it is told to, and writes down all else that it hears.
const AGENT: &str = r#"while read -r verb line; do case "$verb" in ask) printf '%s\n' "$line";; *) printf '%s %s\n' "$verb" "$line" >>"$1";; esac; done"#;
/// Number of races after which the counts are printed.
const PROGRESS: usize = 1000;

/// What fails at random, and when.
pub(crate) struct Random(Rng);

impl Random {
    /// Returns the numbers of one of several sequences. `SEED` draws others.
    pub(crate) fn of(sequence: usize) -> Self {
        let seed: u64 = env::var("SEED").map_or(1, |seed| seed.parse().expect("a number"));
        Random(Rng::with_seed(seed << 32 | sequence as u64))
    }

    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0.u64(..most)
    }

    pub(crate) fn moment(&mut self) -> Duration {
        Duration::from_micros(self.below(20_000))
    }
}

/// Returns the number of races: that of `RACES`, or else this one.
pub(crate) fn races(by_default: usize) -> usize {
    env::var("RACES").map_or(by_default, |races| races.parse().expect("a number"))
}

/// Lets this time pass.
pub(crate) async fn pass(time: Duration) {
    interval_at(TokioInstant::now() + time, DEADLINE).tick().await;
}

/// Joins the machines that an inbox holds whose socket is in this directory, and follows them from now on.
pub(crate) async fn join(folder: PathBuf) -> JoinedInbox {
    let joined = JoinedInbox::open(Reach { machines: vec![folder], ..Reach::default() }).await.unwrap();
    let followed = joined.clone();
    tokio::spawn(async move { followed.follow().await });
    joined
}

/// The outcomes of races.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub questions: usize,
    answered: usize,
    conflicts: usize,
    withdrawn: usize,
    faults: usize,
    /// Answers of which it is not known whether the agent has them.
    pub unknown: usize,
    /// Answers that were certainly not given.
    unsent: usize,
    wrong: Vec<String>,
}

impl Counts {
    /// Adds those of a round, and prints all of them after each [`PROGRESS`] races.
    pub(crate) fn add(&mut self, round: Counts) {
        let before = self.questions / PROGRESS;
        self.questions += round.questions;
        self.answered += round.answered;
        self.conflicts += round.conflicts;
        self.withdrawn += round.withdrawn;
        self.faults += round.faults;
        self.unknown += round.unknown;
        self.unsent += round.unsent;
        self.wrong.extend(round.wrong);
        if self.questions / PROGRESS > before {
            self.print();
        }
    }

    fn line(&self) -> String {
        let Counts { questions, answered, conflicts, withdrawn, faults, unknown, unsent, wrong } = self;
        format!(
            "{questions} questions: {answered} answers accepted, {conflicts} refused, {withdrawn} withdrawn, {faults} \
             faults, {unknown} not known, {unsent} not given, {} wrong\n",
            wrong.len()
        )
    }

    fn print(&self) {
        io::stderr().write_all(self.line().as_bytes()).unwrap();
    }

    /// Prints them. Fails if an answer was wrong, or if there was nothing to race.
    pub(crate) fn judge(&self) {
        self.print();
        assert!(self.wrong.is_empty(), "{}{:#?}", self.line(), self.wrong);
        let has_all =
            [self.answered, self.conflicts, self.withdrawn, self.faults].iter().all(|count| *count > 0);
        assert!(has_all, "{}", self.line());
    }
}

/// A way to the bridge.
#[derive(Clone)]
pub(crate) enum Way {
    /// A connection to the bridge, or to the process that holds the connection to its machine.
    Client(Arc<Client>),
    /// All machines that a person sees.
    Joined(JoinedInbox),
}

/// Somebody who answers.
#[derive(Clone)]
pub(crate) struct Answerer {
    /// The text of each answer.
    pub name: &'static str,
    pub way: Way,
    /// What precedes the IDs of the bridge here, such as `box/`.
    pub prefix: String,
    /// Who has to be recorded, if it matters.
    pub recorded: Option<Provenance>,
}

impl Answerer {
    /// Answers a question of the bridge.
    async fn answer(self, own: &QuestionId) -> Result<Arc<Record>, Refusal> {
        let id: QuestionId = format!("{}{own}", self.prefix).parse().unwrap();
        let answer = Submission::answer(values(self.name), None);
        // What a payload says of who answers counts for local responders alone.
        let by = Provenance { responder: Responder::CommandLine, name: Some("somebody".to_owned()) };
        match self.way {
            Way::Client(client) => client.submit(&id, answer, by).await.map(record).map_err(Refusal::from),
            Way::Joined(joined) => joined.submit(&id, answer, by).await,
        }
    }
}

fn values(text: &str) -> Answer {
    Answer { values: [("q0".to_owned(), Value::Text(text.to_owned()))].into(), ..Answer::default() }
}

fn record(reply: CallReply<Record>) -> Arc<Record> {
    Arc::new(reply.value.expect("a record of this version"))
}

/// An agent behind a bridge.
pub(crate) struct Asker {
    bridge: Process,
    /// The name of the bridge.
    name: String,
    socket: PathBuf,
    asked: usize,
    heard: Heard,
}

impl Asker {
    /// Starts it on a machine without bridges, whose commands are these.
    pub(crate) fn start(machine: &TestMachine, command: impl FnOnce(&[&str]) -> Command) -> Self {
        let heard = machine.path().join("heard");
        let agent = ["--", "sh", "-c", AGENT, "sh", heard.to_str().unwrap()];
        let run = [&["run", "--client-questions", "none"][..], &agent].concat();
        let mut bridge = Process::spawn(&mut command(&run));
        bridge.send(r#"ask {"jsonrpc":"2.0","method":"ready"}"#);
        bridge.expect("that the agent is there", |line| line.contains("ready"));
        let names = machine.names();
        let is_socket = |name: &&String| name.ends_with(".sock");
        let socket = names.iter().find(is_socket).unwrap_or_else(|| panic!("no socket: {names:?}"));
        Asker {
            bridge,
            name: socket.trim_end_matches(".sock").to_owned(),
            socket: machine.sockets().join(socket),
            asked: 0,
            heard: Heard { path: heard, read: 0, responses: BTreeMap::new() },
        }
    }

    /// Connects to the bridge as a responder of its machine.
    pub(crate) async fn connect(&self) -> Answerer {
        let client = Client::connect(UnixStream::connect(&self.socket).await.unwrap()).await.unwrap();
        Answerer { name: "there", way: Way::Client(Arc::new(client)), prefix: String::new(), recorded: None }
    }

    fn id(&self, number: usize) -> QuestionId {
        format!("{}-{number}", self.name).parse().unwrap()
    }

    /// Asks some questions, and returns their numbers.
    fn ask(&mut self, count: usize) -> Vec<usize> {
        let numbers: Vec<_> = (self.asked + 1..=self.asked + count).collect();
        self.asked += count;
        for number in &numbers {
            let params = json!({ "sessionId": "s", "prompt": format!("Which {number}?") });
            let method = "_sandboxagent/session/request_question";
            let call = json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params });
            self.bridge.send(&format!("ask {call}"));
        }
        numbers
    }

    fn withdraw(&mut self, number: usize) {
        let params = json!({ "requestId": number });
        let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": params });
        self.bridge.send(&format!("ask {cancel}"));
    }
}

/// The responses that the agent has written down.
struct Heard {
    path: PathBuf,
    /// Number of bytes of the file that were read.
    read: u64,
    responses: BTreeMap<usize, Vec<String>>,
}

impl Heard {
    /// Reads the lines that are new.
    fn read(&mut self) {
        let mut text = String::new();
        // The first response makes the file.
        let Ok(mut file) = File::open(&self.path) else { return };
        file.seek(SeekFrom::Start(self.read)).unwrap();
        file.read_to_string(&mut text).unwrap();
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        self.read += whole.len() as u64;
        for line in whole.lines() {
            let response: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
            let number = response["id"].as_u64().unwrap_or_else(|| panic!("no response: {line}"));
            self.responses.entry(number.try_into().unwrap()).or_default().push(line.to_owned());
        }
    }

    /// Returns the responses to a question, once there is one.
    fn to(&mut self, number: usize) -> Vec<String> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            self.read();
            if let Some(responses) = self.responses.get(&number) {
                return responses.clone();
            }
            let count = self.responses.len();
            assert!(Instant::now() < deadline, "the agent has heard {count} responses, and none to {number}");
            thread::yield_now();
        }
    }
}

type Verdict = Result<Arc<Record>, Refusal>;
/// The verdicts that the responders got, by the number of the question.
type Verdicts = BTreeMap<usize, Vec<(Answerer, Verdict)>>;

/// An agent, and those who answer it.
pub(crate) struct Race {
    pub asker: Asker,
    /// The first is connected to the bridge.
    pub answerers: Vec<Answerer>,
}

impl Race {
    /// Plays some questions, and compares the verdicts with what the agent heard. `fails` lets something fail while the
    /// answers are on their way, and returns whether it did.
    pub(crate) fn round(
        &mut self,
        count: usize,
        runtime: &Runtime,
        random: &mut Random,
        fails: impl FnOnce(&mut Random) -> bool,
    ) -> Counts {
        let (numbers, mut counts) = (self.asker.ask(count), Counts::default());
        self.until_open(runtime, count);
        let (mut tasks, mut withdrawn) = (JoinSet::new(), Vec::new());
        for &number in &numbers {
            for answerer in &self.answerers {
                if random.below(3) > 0 {
                    let (answerer, id, moment) = (answerer.clone(), self.asker.id(number), random.moment());
                    let answering = async move {
                        pass(moment).await;
                        let verdict = timeout(DEADLINE, answerer.clone().answer(&id)).await;
                        (number, (answerer, verdict.expect("a verdict in time")))
                    };
                    tasks.spawn_on(answering, runtime.handle());
                }
            }
            if random.below(8) == 0 {
                withdrawn.push(number);
            }
        }
        withdrawn.iter().for_each(|number| self.asker.withdraw(*number));
        counts.faults += usize::from(fails(random));
        let mut told = Verdicts::new();
        runtime.block_on(async {
            while let Some(done) = tasks.join_next().await {
                let (number, verdict) = done.unwrap();
                told.entry(number).or_default().push(verdict);
            }
        });
        self.settle_the_rest(runtime, &numbers);
        // What is settled at the bridge is settled everywhere, also over the next connection.
        self.until_open(runtime, 0);
        for number in numbers {
            let told = told.remove(&number).unwrap_or_default();
            self.judge(number, &told, withdrawn.contains(&number), &mut counts);
        }
        counts
    }

    /// Waits until so many questions are open for each person.
    fn until_open(&self, runtime: &Runtime, count: usize) {
        for answerer in &self.answerers {
            let Way::Joined(joined) = &answerer.way else { continue };
            let open = || joined.store().read(|_, snapshot| snapshot.open_count());
            runtime.block_on(async {
                let mut follower = joined.store().follow();
                let waited = timeout(DEADLINE, async {
                    while open() != count {
                        follower.next().await.expect("the store is there");
                    }
                });
                let name = answerer.name;
                assert!(waited.await.is_ok(), "not in time: {count} open for {name}: {} are", open());
            });
        }
    }

    /// Answers at the bridge what nobody has answered.
    fn settle_the_rest(&self, runtime: &Runtime, numbers: &[usize]) {
        runtime.block_on(async {
            for number in numbers {
                let last = Answerer { name: "last", ..self.answerers[0].clone() };
                let id = self.asker.id(*number);
                // Most are settled by now, which refuses it.
                drop(timeout(DEADLINE, last.answer(&id)).await.expect("a verdict in time"));
            }
        });
    }

    fn judge(
        &mut self,
        number: usize,
        told: &[(Answerer, Verdict)],
        is_withdrawn: bool,
        counts: &mut Counts,
    ) {
        let heard = self.asker.heard.to(number);
        counts.questions += 1;
        counts.withdrawn += usize::from(is_withdrawn && !heard[0].contains("answered"));
        let mut wrong = Vec::new();
        if heard.len() != 1 {
            wrong.push("the agent did not hear one response");
        }
        for (answerer, verdict) in told {
            let name = answerer.name;
            let got = heard.iter().filter(|line| line.contains(&format!("[[\"{name}\"]]"))).count();
            match verdict {
                Ok(record) => {
                    counts.answered += 1;
                    wrong.extend(wrongly_accepted(answerer, record, got));
                    continue;
                }
                Err(Refusal::Unavailable | Refusal::Unknown) => {
                    counts.unknown += 1;
                    continue;
                }
                Err(Refusal::Conflict(_) | Refusal::Gone(_)) => counts.conflicts += 1,
                Err(Refusal::Unreached(_)) => counts.unsent += 1,
                Err(_) => wrong.push("a refusal that nothing explains"),
            }
            if got != 0 {
                wrong.push("somebody was refused, and the agent has the answer");
            }
        }
        if !wrong.is_empty() {
            let told: Vec<_> = told.iter().map(|(answerer, verdict)| (answerer.name, verdict)).collect();
            counts.wrong.push(format!("{number}: {wrong:?}: told {told:?}, heard {heard:?}"));
        }
    }

    /// Lets the agent end, and returns what it has heard wrongly after the verdicts.
    pub(crate) fn end(mut self) -> Counts {
        self.asker.bridge.close_stdin();
        self.asker.bridge.wait();
        self.asker.heard.read();
        let heard = &self.asker.heard.responses;
        let doubled =
            heard.values().filter(|responses| responses.len() != 1).map(|responses| format!("{responses:?}"));
        Counts { wrong: doubled.collect(), ..Counts::default() }
    }
}

/// Returns what is wrong with an acceptance of an answer that the agent has heard so often.
fn wrongly_accepted(answerer: &Answerer, record: &Record, got: usize) -> Option<&'static str> {
    let settlement = record.settlement.as_ref();
    let outcome = settlement.map(|settlement| &settlement.outcome);
    if got != 1 || outcome != Some(&Outcome::Answered(values(answerer.name))) {
        return Some("somebody was told that an answer is accepted, which the agent did not get");
    }
    let by = settlement.map(|settlement| &settlement.by);
    let is_other = answerer.recorded.is_some() && by != answerer.recorded.as_ref();
    is_other.then_some("somebody else is recorded")
}
