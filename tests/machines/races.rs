//! Persons who answer at both ends and in between, while the connection is cut and the agent withdraws, and an oracle that
//! counts what the agent heard: nothing is lost, nothing is doubled, and nobody is told "answered" for an answer that the
//! agent did not get. `RACES=10000` plays more of them, `SEED` others.

use std::{
    collections::BTreeMap,
    env, fs,
    io::Write,
    sync::Arc,
    time::{Duration, Instant},
};

use askbridge::{
    inbox::Inbox,
    machine::{Machine, Reach, remote},
    rpc::{client::Client, protocol::CallReply},
};
use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Submission},
    question::{Answer, Outcome, Provenance, Responder, Value},
};
use serde_json::json;
use tokio::{
    net::UnixStream,
    runtime::{Builder, Runtime},
    task::JoinSet,
    time::{Instant as TokioInstant, interval_at, timeout},
};

use super::world::{BOX, World, on_box};
use crate::support::{DEADLINE, Process};

/// Questions in the suite.
const RACES: usize = 200;
/// Questions that are open at the same time, since a cut connection takes most of the time.
const AT_ONCE: usize = 25;

/// The agent sends what it is told to, and writes down all else that it hears.
const AGENT: &str = r#"while read -r verb line; do case "$verb" in ask) printf '%s\n' "$line";; *) printf '%s %s\n' "$verb" "$line" >>"$1";; esac; done"#;

/// The persons, by what they answer.
const PERSONS: [&str; 3] = ["there", "between", "here"];

/// Numbers that look random, from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn moment(&mut self) -> Duration {
        Duration::from_micros(self.below(20_000))
    }
}

/// What became of all.
#[derive(Debug, Default)]
struct Counts {
    questions: usize,
    answered: usize,
    conflicts: usize,
    withdrawn: usize,
    cuts: usize,
    /// Answers of which it is not known whether the agent has them.
    unknown: usize,
    /// Answers that were not sent.
    unsent: usize,
    wrong: Vec<String>,
}

type Verdict = (&'static str, Result<Arc<Record>, Refusal>);

/// One agent, and the persons who answer it.
struct Race {
    world: World,
    runtime: Runtime,
    bridge: Process,
    /// The name of the bridge on its own machine.
    name: String,
    there: Arc<Client>,
    between: Arc<Client>,
    here: Machine,
    asked: usize,
}

fn values(text: &str) -> Answer {
    Answer { values: [("q0".to_owned(), Value::Text(text.to_owned()))].into(), ..Answer::default() }
}

fn by() -> Provenance {
    Provenance { responder: Responder::CommandLine, name: None }
}

/// Lets this time pass.
async fn pass(time: Duration) {
    interval_at(TokioInstant::now() + time, DEADLINE).tick().await;
}

fn record(reply: CallReply<Record>) -> Arc<Record> {
    Arc::new(reply.value.expect("a record of this version"))
}

impl Race {
    fn new() -> Self {
        let mut world = World::new();
        let heard = world.far.path().join("heard");
        let agent = ["--", "sh", "-c", AGENT, "sh", heard.to_str().unwrap()];
        let mut bridge = world.far.start(&[&["run", "--client-questions", "none"][..], &agent].concat());
        bridge.send(r#"ask {"jsonrpc":"2.0","method":"ready"}"#);
        bridge.expect("that the agent is there", |line| line.contains("ready"));
        let names = world.far.names();
        let socket = names.iter().find(|name| name.ends_with(".sock")).expect("a socket").clone();
        let name = socket.trim_end_matches(".sock").to_owned();
        world.inbox();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let machines = remote::folder(&world.person.machine.sockets());
        let (far, hub) = (world.far.sockets().join(socket), machines.join(format!("{BOX}.sock")));
        let (there, between, here) = runtime.block_on(async {
            let there = Client::connect(UnixStream::connect(far).await.unwrap()).await.unwrap();
            let stream = UnixStream::connect(hub).await.unwrap();
            let between = Client::connect_machine(stream, BOX.parse().unwrap()).await.unwrap();
            let here = Machine::open(Reach { machines: vec![machines], ..Reach::default() }).await.unwrap();
            let followed = here.clone();
            tokio::spawn(async move { followed.follow().await });
            (Arc::new(there), Arc::new(between), here)
        });
        Race { world, runtime, bridge, name, there, between, here, asked: 0 }
    }

    fn own(&self, number: usize) -> QuestionId {
        format!("{}-{number}", self.name).parse().unwrap()
    }

    fn on_box(&self, number: usize) -> QuestionId {
        on_box(&self.own(number).to_string()).parse().unwrap()
    }

    /// Asks some questions, and waits until they are open where the persons are.
    fn ask(&mut self, count: usize) -> Vec<usize> {
        let numbers: Vec<_> = (self.asked + 1..=self.asked + count).collect();
        self.asked += count;
        for number in &numbers {
            let params = json!({ "sessionId": "s", "prompt": format!("Which {number}?") });
            let method = "_sandboxagent/session/request_question";
            let call = json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params });
            self.bridge.send(&format!("ask {call}"));
        }
        self.until("all are open", count);
        numbers
    }

    /// Waits until so many questions are open here.
    fn until(&self, what: &str, count: usize) {
        let open = || self.here.store().read(|_, snapshot| snapshot.open_count());
        self.runtime.block_on(async {
            let mut follower = self.here.store().follow();
            let waited = timeout(DEADLINE, async {
                while open() != count {
                    follower.next().await.expect("the store is there");
                }
            });
            assert!(waited.await.is_ok(), "not in time: {what}: {} open", open());
        });
    }

    /// Lets one person answer after a moment.
    fn answers(
        &self,
        tasks: &mut JoinSet<(usize, Verdict)>,
        person: &'static str,
        number: usize,
        moment: Duration,
    ) {
        let (there, between, here) = (Arc::clone(&self.there), Arc::clone(&self.between), self.here.clone());
        let (own, on_box, answer) =
            (self.own(number), self.on_box(number), Submission::Answer(values(person)));
        let submit = async move {
            pass(moment).await;
            match person {
                "there" => there.submit(&own, answer, by()).await.map(record).map_err(Refusal::from),
                "between" => between.submit(&on_box, answer, by()).await.map(record).map_err(Refusal::from),
                _ => here.submit(&on_box, answer, by()).await,
            }
        };
        let told =
            async move { (number, (person, timeout(DEADLINE, submit).await.expect("a verdict in time"))) };
        tasks.spawn_on(told, self.runtime.handle());
    }

    /// Plays some questions, and compares what the persons were told with what the agent heard.
    fn round(&mut self, count: usize, random: &mut Random, counts: &mut Counts) {
        let numbers = self.ask(count);
        let (mut tasks, mut withdrawn) = (JoinSet::new(), Vec::new());
        match random.below(4) {
            0 => self.world.launcher.set(|faults| faults.loses = Some("question_answer")),
            1 => self.world.launcher.set(|faults| faults.swallows = Some("question_answer")),
            _ => {}
        }
        for &number in &numbers {
            for person in PERSONS {
                if random.below(3) > 0 {
                    self.answers(&mut tasks, person, number, random.moment());
                }
            }
            if random.below(8) == 0 {
                withdrawn.push(number);
            }
        }
        if random.below(2) == 0 {
            counts.cuts += 1;
            let (launcher, moment) = (self.world.launcher.clone(), random.moment());
            self.runtime.spawn(async move {
                pass(moment).await;
                launcher.cut();
            });
        }
        for number in &withdrawn {
            let params = json!({ "requestId": number });
            let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": params });
            self.bridge.send(&format!("ask {cancel}"));
        }
        let mut told: BTreeMap<usize, Vec<Verdict>> = BTreeMap::new();
        self.runtime.block_on(async {
            while let Some(done) = tasks.join_next().await {
                let (number, verdict) = done.unwrap();
                told.entry(number).or_default().push(verdict);
            }
        });
        self.settle_the_rest(&numbers);
        // What was settled there is settled here, also over the next connection.
        self.until("none is open", 0);
        self.world.launcher.set(|faults| (faults.loses, faults.swallows) = (None, None));
        for number in numbers {
            let told = told.remove(&number).unwrap_or_default();
            self.judge(number, &told, withdrawn.contains(&number), counts);
        }
    }

    /// Answers at the other machine what nobody has answered.
    fn settle_the_rest(&self, numbers: &[usize]) {
        self.runtime.block_on(async {
            for number in numbers {
                let own = self.own(*number);
                let last = self.there.submit(&own, Submission::Answer(values("last")), by());
                // Most are settled by now.
                drop(timeout(DEADLINE, last).await.expect("a verdict in time"));
            }
        });
    }

    /// Returns the responses that the agent has heard to a question, once there is one.
    fn heard(&self, number: usize) -> Vec<String> {
        let deadline = Instant::now() + DEADLINE;
        let id = format!("\"id\":{number},");
        loop {
            let text = fs::read_to_string(self.world.far.path().join("heard")).unwrap_or_default();
            let heard: Vec<_> = text.lines().filter(|line| line.contains(&id)).map(str::to_owned).collect();
            if !heard.is_empty() {
                return heard;
            }
            assert!(Instant::now() < deadline, "the agent has heard nothing of {number}: {text}");
            std::thread::yield_now();
        }
    }

    fn judge(&self, number: usize, told: &[Verdict], is_withdrawn: bool, counts: &mut Counts) {
        let heard = self.heard(number);
        counts.questions += 1;
        counts.withdrawn += usize::from(is_withdrawn && !heard[0].contains("answered"));
        let got =
            |person: &str| heard.iter().filter(|line| line.contains(&format!("[[\"{person}\"]]"))).count();
        let mut wrong = Vec::new();
        if heard.len() != 1 {
            wrong.push("it did not hear one response");
        }
        for (person, verdict) in told {
            match verdict {
                Ok(record) => {
                    counts.answered += 1;
                    let outcome = record.settlement.as_ref().map(|settlement| &settlement.outcome);
                    if got(person) != 1 || outcome != Some(&Outcome::Answered(values(person))) {
                        wrong.push(
                            "a person was told that an answer is accepted, which the agent did not get",
                        );
                    }
                    continue;
                }
                Err(Refusal::Unavailable) => {
                    counts.unknown += 1;
                    continue;
                }
                Err(Refusal::Conflict(_) | Refusal::Gone(_)) => counts.conflicts += 1,
                Err(Refusal::Unreached(_)) => counts.unsent += 1,
                Err(_) => wrong.push("a refusal that nothing explains"),
            }
            if got(person) != 0 {
                wrong.push("a person was refused, and the agent has the answer");
            }
        }
        if !wrong.is_empty() {
            counts.wrong.push(format!("{number}: {wrong:?}: told {told:?}, heard {heard:?}"));
        }
    }
}

#[test]
fn no_answer_is_lost_doubled_or_made_up_however_the_connection_is_cut() {
    let races = env::var("RACES").map_or(RACES, |races| races.parse().expect("a number"));
    let mut random = Random(env::var("SEED").map_or(1, |seed| seed.parse().expect("a number")));
    let (mut counts, mut race) = (Counts::default(), Race::new());
    while counts.questions < races {
        race.round(AT_ONCE, &mut random, &mut counts);
    }
    let Counts { questions, answered, conflicts, withdrawn, cuts, unknown, unsent, wrong } = &counts;
    let said = format!(
        "{questions} questions: {answered} answers accepted, {conflicts} refused, {withdrawn} withdrawn, {cuts} cuts, \
         {unknown} not known, {unsent} not sent, {} wrong\n",
        wrong.len()
    );
    std::io::stderr().write_all(said.as_bytes()).unwrap();
    assert!(wrong.is_empty(), "{said}{wrong:#?}");
    assert!(*answered > 0 && *conflicts > 0 && *withdrawn > 0 && *cuts > 0 && *unknown == 0, "{said}");
}
