//! Two that answer at once, through the real program: each agent is asked by the keyboard or the host beside it, and by
//! responders here. One answer counts, and each responder is told what became of its own.

use std::{
    fs::{File, OpenOptions},
    io::{BufRead, BufReader, Write},
    mem,
    process::Command,
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::{Duration, Instant},
};

use askbridge_control::{inbox::Inbox, join::JoinedInbox};
use askbridge_core::{
    desk::{QuestionId, Refusal, Submission},
    question::{Answer, Provenance, Responder, Value},
};
use fastrand::Rng;
use serde_json::{Value as Json, json};
use tokio::{
    task::yield_now,
    time::{interval, timeout},
};

use crate::{
    answers::machine::{TestMachine, end},
    attach::{claude, codex, copilot::COPILOT, opencode::OPENCODE, races::rounds, scene::Scene},
    support::{DEADLINE, Process},
};

/// The races of each agent; more by `RACES=10000`.
const ROUNDS: u64 = 30;
/// The longest time until all know how a race ended, where that is measured: in the long runs.
const TOLD: Duration = Duration::from_secs(1);
/// How often the inboxes are looked at.
const LOOK: Duration = Duration::from_millis(2);
/// How much later than the other one of the two begins at first, in turns of the runtime.
const TURNS: i64 = 256;
/// How many races are in one session of Claude Code: each hook reads the transcript when it starts, which would take most of
/// the time if all races of a long run were in it.
const SESSION: u64 = 256;
/// The longest lead, in turns.
const LONGEST_LEAD: i64 = 1 << 17;

/// An agent with something beside it that answers "Postgres".
trait Rival {
    fn machine(&self) -> &TestMachine;
    /// Asks for a database: Postgres or SQLite. Nothing more was heard since the last time.
    fn ask(&mut self, round: u64);
    /// Answers beside the responders.
    fn answer(&mut self, round: u64);
    /// Waits until the agent has an answer, and returns it.
    fn heard(&mut self, round: u64) -> String;
}

#[derive(Debug, Default)]
struct Counts {
    here: u64,
    rejected: u64,
    there: u64,
    /// How often it was told that this is not known.
    unknown: u64,
    longest: Duration,
}

/// Lets both begin in such an order that either is first about as often, on a machine of any speed.
struct Lead {
    turns: i64,
    step: i64,
    /// Whether the responder here was first.
    was_here: bool,
}

impl Lead {
    fn learn(&mut self, is_here: bool) {
        self.step = if is_here == self.was_here { self.step * 2 } else { self.step / 2 };
        self.step = self.step.clamp(TURNS / 8, LONGEST_LEAD);
        self.turns += if is_here { -self.step } else { self.step };
        self.turns = self.turns.clamp(-LONGEST_LEAD, LONGEST_LEAD);
        self.was_here = is_here;
    }
}

async fn turns(count: i64) {
    for _ in 0..count {
        yield_now().await;
    }
}

/// Joins the inboxes once so many questions are open.
async fn open(machine: &TestMachine, count: usize) -> JoinedInbox {
    let looking = async {
        // Often enough not to hold up a race, and not so often that it takes the processor from what is waited for.
        let mut looks = interval(LOOK);
        loop {
            looks.tick().await;
            if let Ok(joined) = JoinedInbox::open(&machine.sockets()).await
                && joined.store().read(|_, snapshot| snapshot.open_count()) == count
            {
                return joined;
            }
        }
    };
    timeout(DEADLINE, looking).await.unwrap_or_else(|_| panic!("not {count} questions in time"))
}

async fn submits(joined: &JoinedInbox, id: &QuestionId, submission: Submission) -> Result<(), Refusal> {
    let by = Provenance { responder: Responder::CommandLine, name: None };
    let submitted = joined.submit(id, submission, by);
    timeout(DEADLINE, submitted).await.expect("a verdict in time").map(drop)
}

/// Plays one race. Returns whether a responder here was first.
async fn race(rival: &mut impl Rival, round: u64, random: &mut Rng, lead: i64, counts: &mut Counts) -> bool {
    rival.ask(round);
    let joined = open(rival.machine(), 1).await;
    let (id, field) = joined.store().read(|_, snapshot| {
        let [record] = &snapshot.open()[..] else { panic!("it is open") };
        (record.id.clone(), record.question.fields[0].clone())
    });
    let sqlite = field.kind.options().iter().find(|option| option.label == "SQLite").expect("an option");
    let values = [(field.name.clone(), Value::Text(sqlite.value.clone()))].into();
    let answer = Submission::answer(Answer { values, ..Answer::default() }, None);
    let mut jitter = || random.i64(-TURNS..TURNS);
    let (first, second, lead) = (jitter(), jitter(), lead + jitter());
    let answered = async {
        turns(first - lead).await;
        submits(&joined, &id, answer).await
    };
    let rejected = async {
        if !round.is_multiple_of(3) {
            return None;
        }
        turns(second - lead).await;
        Some(submits(&joined, &id, Submission::Reject(None)).await)
    };
    let beside = async {
        turns(lead).await;
        rival.answer(round);
        Instant::now()
    };
    // Which of them is looked at first in a turn must not decide either.
    let (answered, rejected, began) = match round % 2 {
        0 => tokio::join!(answered, rejected, beside),
        _ => {
            let (rejected, answered, began) = tokio::join!(rejected, answered, beside);
            (answered, rejected, began)
        }
    };
    let heard = rival.heard(round);
    drop(open(rival.machine(), 0).await);
    counts.longest = counts.longest.max(began.elapsed());
    let winner = ["SQLite", "Postgres"].into_iter().find(|name| heard.contains(name));
    for (verdict, is_mine) in [(Some(answered), winner == Some("SQLite")), (rejected, winner.is_none())] {
        match verdict {
            None => assert!(!is_mine, "round {round}: rejected by none: {heard}"),
            Some(Ok(())) => assert!(is_mine, "round {round}: told to be in force: {heard}"),
            // The agent did not confirm it within a second, or the process with the question ended before it replied.
            Some(Err(Refusal::Unavailable)) => counts.unknown += 1,
            Some(Err(refusal)) => {
                assert!(!is_mine, "round {round}: told {refusal:?}, and in force: {heard}");
            }
        }
    }
    match winner {
        Some("SQLite") => counts.here += 1,
        Some(_) => counts.there += 1,
        None => counts.rejected += 1,
    }
    winner != Some("Postgres")
}

#[expect(clippy::print_stdout, reason = "a person reads the counts of the long runs")]
fn races(rival: &mut impl Rival) -> Counts {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (mut random, mut counts) = (Rng::with_seed(1), Counts::default());
    let mut lead = Lead { turns: 0, step: TURNS, was_here: false };
    let rounds = rounds(ROUNDS);
    runtime.block_on(async {
        for round in 0..rounds {
            let is_here = race(rival, round, &mut random, lead.turns, &mut counts).await;
            lead.learn(is_here);
        }
    });
    // Nothing more was heard.
    rival.ask(rounds);
    println!("{rounds} races, the last lead is {} turns: {counts:?}", lead.turns);
    assert!(counts.here > 0 && counts.there > 0, "the races are not mixed: {counts:?}");
    assert!(counts.unknown < rounds / 2, "too much is not known: {counts:?}");
    assert!(rounds == ROUNDS || counts.longest < TOLD, "the last was told late: {counts:?}");
    counts
}

/// A mock of an agent in a terminal.
struct Terminal<'a> {
    machine: &'a TestMachine,
    agent: &'a mut Process,
    ask: &'static str,
    /// What its lines have that say that it has asked, and what the model is told.
    asked: &'static str,
    told: &'static str,
    /// Starts another session for this round, where one cannot go on for long.
    renew: Option<fn(&TestMachine, u64) -> Process>,
}

impl Rival for Terminal<'_> {
    fn machine(&self) -> &TestMachine {
        self.machine
    }

    fn ask(&mut self, round: u64) {
        let (asked, told) = (self.asked, self.told);
        if let Some(renew) = self.renew.filter(|_| round > 0 && round.is_multiple_of(SESSION)) {
            self.agent.close_stdin();
            let before = mem::replace(self.agent, renew(self.machine, round));
            assert!(!end(before).stdout.contains(told), "told twice");
        }
        self.agent.send(self.ask);
        self.agent.expect("that it asks", |line| {
            assert!(!line.contains(told), "told twice: {line}");
            line.contains(asked)
        });
    }

    fn answer(&mut self, _: u64) {
        self.agent.send("answer Postgres");
    }

    fn heard(&mut self, _: u64) -> String {
        let told = self.told;
        self.agent.expect("an end", |line| line.contains(told))
    }
}

/// Races at a mock that asks and tells in words.
fn races_in_words(machine: &TestMachine, agent: &mut Process) {
    races(&mut Terminal { machine, agent, ask: "ask question", asked: "asked ", told: "told ", renew: None });
}

#[test]
fn opencode() {
    let Scene { machine, agent, .. } = &mut Scene::new(&OPENCODE);
    races_in_words(machine, agent);
}

#[test]
fn copilot() {
    let Scene { machine, agent, .. } = &mut Scene::new(&COPILOT);
    races_in_words(machine, agent);
}

#[test]
fn codex() {
    let codex::Scene { machine, daemon: agent, .. } = &mut codex::Scene::new();
    races_in_words(machine, agent);
}

#[test]
fn hook_of_claude() {
    let claude::Scene { machine, claude: agent } = &mut claude::Scene::new(&[]);
    let (asked, told) = (r#""dialog":"ask""#, r#""closed""#);
    let renew = |machine: &TestMachine, round| claude::session(machine, &format!("{round}.jsonl"), &[]);
    races(&mut Terminal { machine, agent, ask: "ask", asked, told, renew: Some(renew) });
}

/// An agent that the program that hosts it answers beside responders: one bridge for all races.
struct Hosted {
    machine: TestMachine,
    bridge: Process,
    is_claude: bool,
    /// Where the test writes what the agent says.
    says: File,
    /// What the agent hears.
    hears: Receiver<String>,
}

impl Hosted {
    fn start(protocol: &str) -> Self {
        let machine = TestMachine::new();
        let pipes = ["says", "hears"].map(|name| machine.path().join(name));
        assert!(Command::new("mkfifo").args(&pipes).status().expect("mkfifo").success());
        let [says, hears] = &pipes;
        let agent = ["sh", "-c", r#"cat "$1" & exec cat >"$2""#, "sh"].map(str::to_owned);
        let paths = pipes.iter().map(|path| path.display().to_string());
        let run = ["run", "--protocol", protocol, "--"].map(str::to_owned);
        let args: Vec<_> = run.into_iter().chain(agent).chain(paths).collect();
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        let bridge = machine.start(&args);
        let (sender, receiver) = sync_channel(16);
        let says = OpenOptions::new().write(true).open(says).expect("a pipe");
        let heard = BufReader::new(File::open(hears).expect("a pipe"));
        thread::spawn(move || heard.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Hosted { machine, bridge, is_claude: protocol == "claude", says, hears: receiver }
    }

    fn say(&mut self, line: &Json) {
        writeln!(self.says, "{line}").expect("the agent runs");
    }
}

impl Rival for Hosted {
    fn machine(&self) -> &TestMachine {
        &self.machine
    }

    fn ask(&mut self, round: u64) {
        assert_eq!(self.hears.try_recv().ok(), None, "heard twice");
        let options =
            json!([{ "label": "Postgres", "description": "" }, { "label": "SQLite", "description": "" }]);
        let asked =
            json!([{ "id": "db", "header": "Database", "question": "Which one?", "options": options }]);
        let request = if self.is_claude {
            let request = json!({
                "subtype": "can_use_tool", "tool_name": "AskUserQuestion", "input": { "questions": asked },
            });
            json!({ "type": "control_request", "request_id": round.to_string(), "request": request })
        } else {
            let params = json!({ "threadId": "t", "turnId": "u", "itemId": "i", "questions": asked });
            json!({ "id": round, "method": "item/tool/requestUserInput", "params": params })
        };
        self.say(&request);
        let request = request.to_string();
        self.bridge.expect("the request", |line| line == request);
    }

    fn answer(&mut self, round: u64) {
        let response = if self.is_claude {
            let allow =
                json!({ "behavior": "allow", "updatedInput": { "answers": { "Which one?": "Postgres" } } });
            let success = json!({ "subtype": "success", "request_id": round.to_string(), "response": allow });
            json!({ "type": "control_response", "response": success })
        } else {
            json!({ "id": round, "result": { "answers": { "db": { "answers": ["Postgres"] } } } })
        };
        self.bridge.send(&response.to_string());
    }

    fn heard(&mut self, round: u64) -> String {
        let line = self.hears.recv_timeout(DEADLINE).expect("an answer in time");
        let heard: Json = serde_json::from_str(&line).expect("JSON");
        let id = if self.is_claude { &heard["response"]["request_id"] } else { &heard["id"] };
        assert_eq!(id.to_string().trim_matches('"'), round.to_string(), "of another round: {line}");
        if !self.is_claude {
            self.say(&json!({ "method": "serverRequest/resolved", "params": { "threadId": "t", "requestId": round } }));
        }
        // The agent's input is named in Claude Code's answers too.
        let answers = heard.pointer("/response/response/updatedInput/answers");
        answers.unwrap_or(&heard["result"]["answers"]).to_string()
    }
}

#[test]
fn hosted_claude() {
    assert_eq!(races(&mut Hosted::start("claude")).unknown, 0);
}

#[test]
fn hosted_codex() {
    assert_eq!(races(&mut Hosted::start("codex")).unknown, 0);
}
