//! Bridges that are killed around an answer, and an oracle that counts what the agent heard: an answer that was accepted is
//! not lost, and none is heard twice by itself. `tests/explore MINUTES kills` plays thousands of them.

use std::{
    fs,
    io::{Read, Write},
    path::Path,
    sync::{
        Arc,
        mpsc::{Receiver, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use askbridge_control::{
    inbox::{HistoryFilter, PastQuestion},
    rpc::{client::Client, protocol::CallReply},
};
use askbridge_core::{
    desk::{Record, State, Submission},
    question::{Answer, Outcome, Provenance, Responder, Value},
};
use askbridge_journal::History;
use fastrand::Rng;
use rustix::{
    fs::{CWD, FileType, Mode, mknodat},
    process::{Pid, Signal, kill_process},
};
use serde_json::json;
use tokio::{net::UnixStream, runtime::Runtime, time::timeout};

use crate::{
    answers::machine::TestMachine,
    support::{DEADLINE, Process},
};

/// The agent asks two questions, and writes what it hears about the first into a file, which is read by the test. With
/// `waits` it does not read before it is told to, and with `kills` it kills its bridge as soon as it has heard.
const AGENT: &str = r#"
exec 3>"$3"
printf '%s\n' "$1" "$2" '{"jsonrpc":"2.0","method":"asked"}'
case $5 in *waits*) read -r _ <"$4" ;; esac
case $5 in
*kills*) grep --line-buffered -m1 '"id":1,.*SQLite' >&3; kill -9 $PPID ;;
*) exec grep --line-buffered '"id":1,.*SQLite' >&3 ;;
esac
"#;

/// Kills in the suite.
const KILLS: u64 = 60;
/// Rounds on one journal.
const ROUNDS: u64 = 24;
/// Bytes that fill the pipe to an agent that does not read, and wait in the bridge behind that.
const PAD: usize = 150_000;

/// What happens to a bridge.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// It is killed so long after the answer was handed in, or after it has started.
    Soon(Duration),
    /// Its agent kills it as soon as it has heard.
    Heard,
    /// Its agent does not read, and it is killed while the answer waits.
    Waiting,
    /// Its agent does not read for some time, and it is killed so long after the agent reads.
    Released(Duration),
    /// The same, and its agent kills it as soon as it has heard.
    ReleasedHeard,
    /// It ends in order.
    Lives,
}

impl Way {
    fn waits(self) -> bool {
        matches!(self, Way::Waiting | Way::Released(_) | Way::ReleasedHeard)
    }

    fn agent(self) -> &'static str {
        match self {
            Way::Soon(_) | Way::Lives => "reads",
            Way::Heard => "kills",
            Way::Waiting | Way::Released(_) => "waits",
            Way::ReleasedHeard => "waits and kills",
        }
    }
}

/// What happens to a conversation at random, from a seed.
struct Random(Rng);

impl Random {
    /// Most answers are settled within some milliseconds.
    fn moment(&mut self) -> Duration {
        let most = [300, 3_000, 12_000][self.0.usize(..3)];
        Duration::from_micros(self.0.u64(..most))
    }

    fn first(&mut self) -> Way {
        match self.0.u8(..10) {
            0..5 => Way::Soon(self.moment()),
            5 => Way::Heard,
            6 => Way::Waiting,
            7..9 => Way::Released(self.moment()),
            _ => Way::ReleasedHeard,
        }
    }

    fn second(&mut self) -> Option<Way> {
        match self.0.u8(..4) {
            0 => Some(Way::Soon(self.moment())),
            1 => Some(Way::Heard),
            _ => None,
        }
    }
}

/// What became of all.
#[derive(Debug, Default)]
struct Counts {
    kills: u64,
    accepted: u64,
    given: u64,
    offered: u64,
    /// The journal could not keep up, and said so.
    void: u64,
    twice: Vec<String>,
    lost: Vec<String>,
}

/// What came of one bridge.
struct Played {
    /// Whether the person was told that the answer was accepted.
    is_told: bool,
    /// How often the agent heard the answer.
    heard: usize,
    /// The question as it was last, where the bridge lived.
    last: Option<Record>,
}

/// A running bridge whose agent has asked.
struct Running {
    process: Process,
    /// `None` where the agent has killed the bridge already.
    client: Option<Arc<Client>>,
    name: String,
    gate: fs::File,
    heard: Receiver<usize>,
}

impl Running {
    fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.name)
    }

    /// Kills the bridge as a crash does.
    fn kill(&self) {
        let pid = Pid::from_raw(i32::try_from(self.process.id()).unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
    }

    /// Lets the agent read.
    fn open_gate(&self) {
        (&self.gate).write_all(b"on\n").unwrap();
    }

    fn is_without_journal(&self) -> bool {
        self.process.expect_stderr("anything", |_| true).contains("without the journal")
    }
}

/// A machine, and the journal on it.
struct Place {
    machine: TestMachine,
    runtime: Runtime,
    starts: usize,
}

fn asks(id: u64, session: &str) -> String {
    let params =
        json!({ "sessionId": session, "prompt": "Which database?", "options": ["SQLite", "Postgres"] });
    let method = "_sandboxagent/session/request_question";
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// Lets time pass without giving up the processor: a pause of the system is much longer than what is tried here.
fn spin(time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_bits_truncate(0o600), 0).unwrap();
}

impl Place {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let mut place = Place { machine: TestMachine::new(), runtime: runtime.unwrap(), starts: 0 };
        place.play("first", Way::Lives, true, true);
        place
    }

    fn start(&mut self, session: &str, agent: &str) -> Running {
        self.starts += 1;
        let file = |what: &str| self.machine.path().join(format!("{what}{}", self.starts));
        let (gate, heard) = (file("gate"), file("heard"));
        fifo(&gate);
        fifo(&heard);
        // With an end to read as well, to open it waits for nobody.
        let gate_end = fs::OpenOptions::new().read(true).write(true).open(&gate).unwrap();
        let (tell, told) = sync_channel(1);
        let path = heard.clone();
        thread::spawn(move || {
            let mut text = String::new();
            fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text)).unwrap();
            tell.send(text.lines().count())
        });
        let before = self.machine.names();
        let mut command =
            self.machine.command(&["run", "--client-questions", "none", "--", "sh", "-c", AGENT]);
        command.args(["sh", &asks(1, session), &asks(2, "last")]).args([&heard, &gate]).arg(agent);
        let mut process = Process::spawn(&mut command);
        process.expect("that it has asked", |line| line.contains("asked"));
        let names = self.machine.names();
        let socket = names.iter().find(|name| !before.contains(name) && name.ends_with(".sock")).unwrap();
        let path = self.machine.sockets().join(socket);
        let connect = async { Client::connect(UnixStream::connect(path).await?).await };
        let client = match self.runtime.block_on(connect) {
            Ok(client) => Some(Arc::new(client)),
            // The answer from before was given at once.
            Err(_) if agent == Way::Heard.agent() => None,
            Err(error) => process.fail(&format!("the bridge is gone: {error}")),
        };
        let name = socket.trim_end_matches(".sock").to_owned();
        Running { process, client, name, gate: gate_end, heard: told }
    }

    /// Waits until this holds of a question. Returns nothing where its bridge is gone, or keeps no journal.
    fn until(&self, running: &Running, number: u64, holds: impl Fn(&Record) -> bool) -> Option<Record> {
        let client = running.client.as_ref()?;
        let id = running.id(number);
        let deadline = Instant::now() + DEADLINE;
        loop {
            match self.runtime.block_on(client.get(&id.parse().expect("an ID"))) {
                Ok(CallReply { value: Some(record), .. }) if holds(&record) => return Some(record),
                _ if !client.is_connected() || running.is_without_journal() => return None,
                last => assert!(Instant::now() < deadline, "{last:?}"),
            }
            thread::yield_now();
        }
    }

    fn submit(&self, running: &Running, number: u64) -> tokio::task::JoinHandle<bool> {
        let client = running.client.clone().expect("a bridge that is there");
        let id = running.id(number).parse().unwrap();
        let values = [("q0".to_owned(), Value::Text("SQLite".to_owned()))].into();
        let answer = Submission::answer(Answer { values, ..Answer::default() }, None);
        let by = Provenance { responder: Responder::CommandLine, name: None };
        self.runtime.spawn(async move { client.submit(&id, answer, by).await.is_ok() })
    }

    /// Plays one bridge to its end. `answers` says whether the person answers.
    fn play(&mut self, session: &str, way: Way, answers: bool, is_first: bool) -> Played {
        let mut running = self.start(session, way.agent());
        if way.waits() {
            let line = json!({ "jsonrpc": "2.0", "method": "pad", "params": "x".repeat(1000) }).to_string();
            (0..PAD / line.len()).for_each(|_| running.process.send(&line));
        }
        if answers {
            self.until(&running, 1, |_| true);
        }
        let told = answers.then(|| self.submit(&running, 1));
        let mut last = None;
        match way {
            Way::Soon(moment) => {
                spin(moment);
                running.kill();
            }
            Way::Heard if answers => {}
            Way::Heard => {
                // It is killed if the answer is given by itself.
                self.until(&running, 2, |record| record.earlier.is_some());
                if !self.is_claimed(session, &running.id(1)) {
                    running.kill();
                }
            }
            Way::Waiting | Way::Released(_) | Way::ReleasedHeard => {
                self.until(&running, 1, |record| record.state != State::Open);
                if way != Way::Waiting {
                    running.open_gate();
                }
                match way {
                    Way::Released(moment) => {
                        spin(moment);
                        running.kill();
                    }
                    Way::Waiting => running.kill(),
                    _ => {}
                }
            }
            Way::Lives => last = self.live(&mut running, session, is_first),
        }
        running.process.wait();
        if way == Way::Waiting {
            running.open_gate();
        }
        let told = told.map(|told| self.runtime.block_on(async { timeout(DEADLINE, told).await }));
        let is_told = told.is_some_and(|told| told.expect("it is told").unwrap());
        let heard = running.heard.recv_timeout(DEADLINE).expect("the agent ends");
        Played { is_told, heard, last }
    }

    /// Waits until the bridge has done by itself what it does, and lets it end. The second question is looked up behind the
    /// first, so that the first is done with once it is known how the second was answered.
    fn live(&self, running: &mut Running, session: &str, is_first: bool) -> Option<Record> {
        let mut last = None;
        if is_first || self.until(running, 2, |record| record.earlier.is_some()).is_some() {
            let is_given = self.is_claimed(session, &running.id(1));
            last = self.until(running, 1, |record| !is_given || !record.is_open());
        }
        let told = self.submit(running, 2);
        self.runtime.block_on(async { timeout(DEADLINE, told).await }).unwrap().unwrap();
        running.process.close_stdin();
        last.filter(|_| !running.is_without_journal())
    }

    fn past(&self, session: &str) -> Vec<PastQuestion> {
        let file = self.machine.path().join("state/askbridge/journal.db");
        let filter = HistoryFilter { session: Some(session.to_owned()), ..HistoryFilter::default() };
        // The first question may not be written yet.
        History::open(&file).unwrap().map(|history| history.list(&filter).unwrap()).unwrap_or_default()
    }

    /// Returns whether submitted the earlier answer to the same question to this question.
    fn is_claimed(&self, session: &str, id: &str) -> bool {
        self.past(session).iter().any(|past| past.claimed_by.as_ref().is_some_and(|by| by.to_string() == id))
    }

    /// Returns whether the journal has an answer that was accepted.
    fn is_accepted(&self, session: &str) -> bool {
        let is_answer = |outcome: &Outcome| matches!(outcome, Outcome::Answered(_));
        self.past(session).iter().any(|past| {
            let settled = past.record.settlement.as_ref().map(|settlement| &settlement.outcome);
            past.accepted.as_ref().map(|it| &it.outcome).or(settled).is_some_and(is_answer)
        })
    }

    /// Asks the same in one bridge after another, of which all but the last are killed, and counts what is heard.
    fn round(&mut self, session: &str, random: &mut Random, counts: &mut Counts) {
        let (first, second) = (random.first(), random.second());
        let mut played = vec![self.play(session, first, true, false)];
        let is_accepted = self.is_accepted(session) || played[0].is_told;
        played.extend(second.map(|way| self.play(session, way, false, false)));
        counts.kills += u64::try_from(played.len()).unwrap();
        played.push(self.play(session, Way::Lives, false, false));
        let Some(last) = played.last().and_then(|played| played.last.clone()) else {
            counts.void += 1;
            return;
        };
        let heard: Vec<_> = played.iter().map(|played| played.heard).collect();
        let (all, is_offered) = (heard.iter().sum::<usize>(), last.is_open() && last.earlier.is_some());
        let said = format!("{session}: {first:?}, {second:?}: heard {heard:?}, {last:?}");
        counts.accepted += u64::from(is_accepted);
        counts.given += u64::from(heard[1..].iter().sum::<usize>() > 0);
        counts.offered += u64::from(is_offered);
        if all > 1 {
            counts.twice.push(said);
        } else if all == 0 && is_accepted && !is_offered {
            counts.lost.push(said);
        }
    }
}

#[test]
fn no_answer_is_lost_or_heard_twice_by_itself_however_its_bridge_is_killed() {
    let kills = std::env::var("KILLS").map_or(KILLS, |kills| kills.parse().expect("a number"));
    let seed = std::env::var("SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let mut random = Random(Rng::with_seed(seed));
    let (mut counts, mut place) = (Counts::default(), Place::new());
    for round in 1.. {
        if counts.kills >= kills {
            break;
        }
        if round % ROUNDS == 0 {
            place = Place::new();
        }
        place.round(&format!("s{round}"), &mut random, &mut counts);
    }
    let Counts { kills, accepted, given, offered, void, twice, lost } = &counts;
    let said = format!(
        "{kills} kills: {accepted} answers accepted, {given} given by itself, {offered} offered, {} heard twice, {} lost; \
         {void} without the journal\n",
        twice.len(),
        lost.len()
    );
    Write::write_all(&mut std::io::stderr(), said.as_bytes()).unwrap();
    assert!(twice.is_empty() && lost.is_empty(), "{said}{twice:#?}\n{lost:#?}");
    assert!(*given > 0 && *offered > 0 && void * 10 <= *kills, "{said}");
}
