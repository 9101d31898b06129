//! Two persons over the fleet and a responder on the machine itself answer the same questions, while the agent withdraws
//! some, the network is cut or frozen and the broker is killed or stopped, and an oracle counts what the agent heard:
//! nothing is lost, nothing is doubled, and nobody is told "answered" for an answer that the agent did not get.
//! `RACES=10000` plays more of them, `SEED` others.

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
use rustix::process::Signal;
use serde_json::json;
use tokio::{
    net::UnixStream,
    runtime::{Builder, Runtime},
    task::JoinSet,
    time::{Instant as TokioInstant, interval_at, timeout},
};

use crate::{
    link::Link,
    support::{DEADLINE, Process},
    world::{Member, World},
};

/// Questions in the gate.
const RACES: usize = 300;
/// Questions that are open at the same time, since a failure takes most of the time.
const AT_ONCE: usize = 30;

/// The agent sends what it is told to, and writes down all else that it hears.
const AGENT: &str = r#"while read -r verb line; do case "$verb" in ask) printf '%s\n' "$line";; *) printf '%s %s\n' "$verb" "$line" >>"$1";; esac; done"#;

/// The responders, by what they answer.
const RESPONDERS: [&str; 3] = ["there", "ana", "bob"];

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
    /// Failures of the network and of the broker.
    faults: usize,
    /// Answers of which it is not known whether the agent has them.
    unknown: usize,
    /// Answers that were certainly not given.
    unsent: usize,
    wrong: Vec<String>,
}

type Verdict = (&'static str, Result<Arc<Record>, Refusal>);

/// What fails in a round.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Nothing,
    Cut,
    Frozen,
    Killed,
    Stopped,
}

/// One agent, and those who answer it.
struct Race {
    world: World,
    /// Its gateway ends with it.
    _far: Member,
    _persons: [Member; 2],
    link: Link,
    runtime: Runtime,
    bridge: Process,
    /// The name of the bridge on its own machine.
    name: String,
    machine: String,
    heard: std::path::PathBuf,
    there: Arc<Client>,
    persons: [Machine; 2],
    asked: usize,
}

fn values(text: &str) -> Answer {
    Answer { values: [("q0".to_owned(), Value::Text(text.to_owned()))].into(), ..Answer::default() }
}

/// Lets this time pass.
async fn pass(time: Duration) {
    interval_at(TokioInstant::now() + time, DEADLINE).tick().await;
}

fn record(reply: CallReply<Record>) -> Arc<Record> {
    Arc::new(reply.value.expect("a record of this version"))
}

/// What a payload says of who answers, which counts for local responders alone.
fn by() -> Provenance {
    Provenance { responder: Responder::CommandLine, name: Some("somebody".to_owned()) }
}

impl Race {
    fn new() -> Self {
        let world = World::new();
        let (mut far, link) = world.linked("box");
        let mut persons = [world.member("ana"), world.member("bob")];
        persons.iter_mut().for_each(|person| drop(person.inbox()));
        let machine = far.gateway();
        let heard = far.person.machine.path().join("heard");
        let agent = ["--", "sh", "-c", AGENT, "sh", heard.to_str().unwrap()];
        let mut bridge =
            Process::spawn(&mut far.command(&[&["run", "--client-questions", "none"][..], &agent].concat()));
        bridge.send(r#"ask {"jsonrpc":"2.0","method":"ready"}"#);
        bridge.expect("that the agent is there", |line| line.contains("ready"));
        let names = far.person.machine.names();
        let socket = names.iter().find(|name| name.ends_with(".sock")).expect("a socket").clone();
        let name = socket.trim_end_matches(".sock").to_owned();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let socket = far.person.machine.sockets().join(socket);
        let folders = persons.each_ref().map(|person| remote::folder(&person.person.machine.sockets()));
        let (there, persons_here) = runtime.block_on(async {
            let there = Client::connect(UnixStream::connect(socket).await.unwrap()).await.unwrap();
            let mut here = Vec::new();
            for folder in folders {
                let reach = Reach { machines: vec![folder], ..Reach::default() };
                let machine = Machine::open(reach).await.unwrap();
                let followed = machine.clone();
                tokio::spawn(async move { followed.follow().await });
                here.push(machine);
            }
            (Arc::new(there), here)
        });
        let here = persons_here.try_into().expect("two persons");
        Race {
            world,
            _far: far,
            _persons: persons,
            link,
            runtime,
            bridge,
            name,
            machine,
            heard,
            there,
            persons: here,
            asked: 0,
        }
    }

    fn own(&self, number: usize) -> QuestionId {
        format!("{}-{number}", self.name).parse().unwrap()
    }

    fn on_machine(&self, number: usize) -> QuestionId {
        format!("{}/{}-{number}", self.machine, self.name).parse().unwrap()
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

    /// Waits until so many questions are open where the persons are.
    fn until(&self, what: &str, count: usize) {
        for person in &self.persons {
            let open = || person.store().read(|_, snapshot| snapshot.open_count());
            self.runtime.block_on(async {
                let mut follower = person.store().follow();
                let waited = timeout(DEADLINE, async {
                    while open() != count {
                        follower.next().await.expect("the store is there");
                    }
                });
                assert!(waited.await.is_ok(), "not in time: {what}: {} open", open());
            });
        }
    }

    /// Lets one responder answer after a moment.
    fn answers(
        &self,
        tasks: &mut JoinSet<(usize, Verdict)>,
        responder: &'static str,
        number: usize,
        moment: Duration,
    ) {
        let (there, [ana, bob]) = (Arc::clone(&self.there), self.persons.clone());
        let (own, on_machine) = (self.own(number), self.on_machine(number));
        let answer = Submission::Answer(values(responder));
        let submit = async move {
            pass(moment).await;
            match responder {
                "there" => there.submit(&own, answer, by()).await.map(record).map_err(Refusal::from),
                "ana" => ana.submit(&on_machine, answer, by()).await,
                _ => bob.submit(&on_machine, answer, by()).await,
            }
        };
        let told = async move {
            let verdict = timeout(DEADLINE, submit).await.expect("a verdict in time");
            (number, (responder, verdict))
        };
        tasks.spawn_on(told, self.runtime.handle());
    }

    /// Lets something fail after a moment.
    fn fail(&mut self, fault: Fault, moment: Duration) {
        self.runtime.block_on(pass(moment));
        match fault {
            Fault::Nothing => {}
            Fault::Cut => self.link.cut(),
            Fault::Frozen => {
                self.link.freeze(true);
                self.runtime.block_on(pass(4 * moment));
                self.link.cut();
            }
            Fault::Killed => {
                self.world.server.kill();
                self.world.server.run();
            }
            Fault::Stopped => {
                self.world.server.signal(Signal::STOP);
                self.runtime.block_on(pass(4 * moment));
                self.world.server.signal(Signal::CONT);
            }
        }
    }

    /// Plays some questions, and compares what the responders were told with what the agent heard.
    fn round(&mut self, count: usize, random: &mut Random, counts: &mut Counts) {
        let numbers = self.ask(count);
        let (mut tasks, mut withdrawn) = (JoinSet::new(), Vec::new());
        for &number in &numbers {
            for responder in RESPONDERS {
                if random.below(3) > 0 {
                    self.answers(&mut tasks, responder, number, random.moment());
                }
            }
            if random.below(8) == 0 {
                withdrawn.push(number);
            }
        }
        for number in &withdrawn {
            let params = json!({ "requestId": number });
            let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": params });
            self.bridge.send(&format!("ask {cancel}"));
        }
        let fault = match random.below(10) {
            0..5 => Fault::Nothing,
            5..7 => Fault::Cut,
            7 => Fault::Frozen,
            8 => Fault::Killed,
            _ => Fault::Stopped,
        };
        counts.faults += usize::from(!matches!(fault, Fault::Nothing));
        self.fail(fault, random.moment());
        let mut told: BTreeMap<usize, Vec<Verdict>> = BTreeMap::new();
        self.runtime.block_on(async {
            while let Some(done) = tasks.join_next().await {
                let (number, verdict) = done.unwrap();
                told.entry(number).or_default().push(verdict);
            }
        });
        self.settle_the_rest(&numbers);
        // What was settled there is settled here, also over the next session.
        self.until("none is open", 0);
        for number in numbers {
            let told = told.remove(&number).unwrap_or_default();
            self.judge(number, &told, withdrawn.contains(&number), counts);
        }
    }

    /// Answers on the machine what nobody has answered.
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
            let text = fs::read_to_string(&self.heard).unwrap_or_default();
            let heard: Vec<_> = text.lines().filter(|line| line.contains(&id)).map(str::to_owned).collect();
            if !heard.is_empty() {
                return heard;
            }
            assert!(Instant::now() < deadline, "the agent has heard nothing of {number}");
            std::thread::yield_now();
        }
    }

    fn judge(&self, number: usize, told: &[Verdict], is_withdrawn: bool, counts: &mut Counts) {
        let heard = self.heard(number);
        counts.questions += 1;
        counts.withdrawn += usize::from(is_withdrawn && !heard[0].contains("answered"));
        let got = |who: &str| heard.iter().filter(|line| line.contains(&format!("[[\"{who}\"]]"))).count();
        let mut wrong = Vec::new();
        if heard.len() != 1 {
            wrong.push("it did not hear one response");
        }
        for (who, verdict) in told {
            match verdict {
                Ok(record) => {
                    counts.answered += 1;
                    let settlement = record.settlement.as_ref();
                    let outcome = settlement.map(|settlement| &settlement.outcome);
                    if got(who) != 1 || outcome != Some(&Outcome::Answered(values(who))) {
                        wrong.push(
                            "somebody was told that an answer is accepted, which the agent did not get",
                        );
                    }
                    let by = settlement.map(|settlement| &settlement.by);
                    let fleet = Provenance { responder: Responder::Fleet, name: Some((*who).to_owned()) };
                    if *who != "there" && by != Some(&fleet) {
                        wrong.push("somebody else is recorded");
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
            if got(who) != 0 {
                wrong.push("somebody was refused, and the agent has the answer");
            }
        }
        if !wrong.is_empty() {
            counts.wrong.push(format!("{number}: {wrong:?}: told {told:?}, heard {heard:?}"));
        }
    }
}

#[test]
fn no_answer_is_lost_doubled_or_made_up_whatever_fails() {
    let races = env::var("RACES").map_or(RACES, |races| races.parse().expect("a number"));
    let mut random = Random(env::var("SEED").map_or(1, |seed| seed.parse().expect("a number")));
    let (mut counts, mut race) = (Counts::default(), Race::new());
    while counts.questions < races {
        race.round(AT_ONCE, &mut random, &mut counts);
    }
    let Counts { questions, answered, conflicts, withdrawn, faults, unknown, unsent, wrong } = &counts;
    let said = format!(
        "{questions} questions: {answered} answers accepted, {conflicts} refused, {withdrawn} withdrawn, {faults} \
         failures, {unknown} not known, {unsent} not given, {} wrong\n",
        wrong.len()
    );
    std::io::stderr().write_all(said.as_bytes()).unwrap();
    assert!(wrong.is_empty(), "{said}{wrong:#?}");
    assert!(*answered > 0 && *conflicts > 0 && *withdrawn > 0 && *faults > 0, "{said}");
}
