//! What the journal says once a process has ended: every way in which a question and its bridge end, against an oracle, and
//! many conversations that are as short as can be.

use std::{
    fs,
    process::Command,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc::{RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use rusqlite::{Connection, TransactionBehavior};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::answers::machine::TestMachine;
use crate::answers::responders;
use crate::support::Process;

/// The agent asks what stands in its argument, and ends with its stdin.
const STAYS: &str = r#"printf '%s\n' "$1"; while IFS= read -r line; do printf 'got %s\n' "$line" >&2; done"#;
/// The agent asks, and ends once it is told something.
const LEAVES: &str = r#"printf '%s\n' "$1"; IFS= read -r line; printf 'got %s\n' "$line" >&2"#;
/// The agent asks, takes its question back on a signal, and goes on.
const TAKES_BACK: &str = r#"
    trap 'printf "%s\n" "{\"jsonrpc\":\"2.0\",\"method\":\"\$/cancel_request\",\"params\":{\"requestId\":1}}"' USR1
    printf '%s\n' "$1"; while :; do IFS= read -r line && printf 'got %s\n' "$line" >&2 || [ $? -gt 128 ] || exit 0; done"#;

/// Number of conversations that are as short as can be. The variable `CONVERSATIONS` sets another one.
const CONVERSATIONS: usize = 300;
/// Threads that have them.
const AT_ONCE: usize = 4;

/// How a question, and the bridge that has it, end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The client answers, and leaves at once.
    Client,
    /// The client answers, and the agent ends at once.
    ClientAndAgent,
    /// A rule answers.
    Rule,
    /// Somebody answers with `askbridge answer`, and the agent ends at once; so with all responders below.
    CommandLine,
    /// Somebody answers in the terminal's inbox.
    Terminal,
    /// A program answers over the bridge's socket.
    Rpc,
    /// A program answers over HTTP, which the bridge serves.
    Http,
    /// Somebody answers on the page, which the bridge serves.
    Page,
    /// Somebody rejects it at the command line.
    Rejected,
    /// The agent takes it back.
    Withdrawn,
    /// The client leaves.
    ClientGone,
    /// The agent ends.
    AgentGone,
    /// A signal ends the bridge.
    Signal(Signal),
    /// The bridge is killed.
    Killed,
    /// The bridge is killed once the agent was told the answer.
    AnsweredAndKilled,
}

const WAYS: [Way; 17] = [
    Way::Client,
    Way::ClientAndAgent,
    Way::Rule,
    Way::CommandLine,
    Way::Terminal,
    Way::Rpc,
    Way::Http,
    Way::Page,
    Way::Rejected,
    Way::Withdrawn,
    Way::ClientGone,
    Way::AgentGone,
    Way::Signal(Signal::TERM),
    Way::Signal(Signal::INT),
    Way::Signal(Signal::HUP),
    Way::Killed,
    Way::AnsweredAndKilled,
];

/// How the journal is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Journal {
    On,
    Off,
    /// Another program holds the file for a while.
    Slow,
}

/// What is said of the question afterwards: how it was settled and by whom, or that it was lost.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Settled(&'static str, &'static str),
    Lost,
    Nothing,
}

/// Returns what may be said of a question: by the way in which it ended, and how the journal was kept.
fn oracle(way: Way, journal: Journal) -> Vec<Said> {
    if journal == Journal::Off {
        return vec![Said::Nothing];
    }
    vec![match way {
        Way::Client | Way::ClientAndAgent => Said::Settled("answered", "client"),
        Way::Rule => Said::Settled("answered", "rule"),
        Way::CommandLine | Way::AnsweredAndKilled => Said::Settled("answered", "command_line"),
        Way::Terminal => Said::Settled("answered", "terminal"),
        Way::Rpc => Said::Settled("answered", "rpc"),
        Way::Http => Said::Settled("answered", "http"),
        Way::Page => Said::Settled("answered", "page"),
        Way::Rejected => Said::Settled("rejected", "command_line"),
        Way::Withdrawn | Way::ClientGone | Way::AgentGone | Way::Signal(_) => {
            Said::Settled("rejected", "bridge")
        }
        // It may be killed before anything is written.
        Way::Killed => return vec![Said::Lost, Said::Nothing],
    }]
}

fn question() -> Value {
    let params = json!({ "sessionId": "s", "prompt": "Which database?", "options": ["SQLite", "Postgres"] });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "_sandboxagent/session/request_question", "params": params })
}

const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"status":"answered","answers":[["SQLite"]]}}"#;

impl Way {
    /// Returns what the agent does.
    fn agent(self) -> &'static str {
        match self {
            Way::Client
            | Way::ClientGone
            | Way::AgentGone
            | Way::Signal(_)
            | Way::Killed
            | Way::AnsweredAndKilled => STAYS,
            Way::Withdrawn => TAKES_BACK,
            _ => LEAVES,
        }
    }

    /// Returns whether the client shows the question.
    fn is_shown(self) -> bool {
        matches!(
            self,
            Way::Client
                | Way::ClientAndAgent
                | Way::Withdrawn
                | Way::ClientGone
                | Way::AgentGone
                | Way::Signal(_)
                | Way::Killed
        )
    }
}

/// Starts a bridge around the agent of this way.
fn bridge(machine: &TestMachine, way: Way) -> Process {
    let tier = if way.is_shown() { "native" } else { "none" };
    let mut command: Command = machine.command(&["run", "--client-questions", tier]);
    if matches!(way, Way::Http | Way::Page) {
        command.args(["--serve", "127.0.0.1:0"]);
    }
    command.args(["--", "sh", "-c", way.agent(), "sh"]);
    command.env("XDG_CONFIG_HOME", machine.path().join("config")).arg(question().to_string());
    Process::spawn(&mut command)
}

fn signal(process: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Lets this much time pass with the question open. It is no synchronisation: any time is as good.
fn stays_open(time: Duration) {
    let (_keeps, never) = sync_channel::<()>(1);
    assert_eq!(never.recv_timeout(time), Err(RecvTimeoutError::Timeout));
}

/// Decides a question from outside of its client.
fn decide(machine: &TestMachine, bridge: &Process, way: Way, id: &str) {
    match way {
        Way::Rejected => drop(machine.ok(&["reject", id])),
        Way::Terminal => responders::at_the_terminal(machine),
        Way::Rpc => responders::over_the_socket(machine, id),
        Way::Http => responders::over_http(machine, bridge, id),
        Way::Page => responders::on_the_page(machine, bridge, id),
        _ => drop(machine.ok(&["answer", id, responders::CHOICE])),
    }
}

/// Plays one life of a question and its bridge, which is open for about this long.
fn play(machine: &TestMachine, way: Way, open: Duration) {
    let mut bridge = bridge(machine, way);
    if way.is_shown() {
        bridge.expect("the question", |line| line.contains("request_question"));
        stays_open(open);
    } else if way != Way::Rule {
        let id = machine.question();
        stays_open(open);
        decide(machine, &bridge, way, &id);
    }
    match way {
        Way::Client => {
            bridge.send(ANSWER);
            bridge.close_stdin();
        }
        Way::ClientAndAgent => bridge.send(ANSWER),
        Way::Withdrawn => {
            // The shell is the bridge's only child.
            let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", bridge.id())).unwrap();
            signal(children.trim().parse().unwrap(), Signal::USR1);
            bridge.expect("the withdrawal", |line| line.contains("cancel_request"));
            bridge.close_stdin();
        }
        Way::ClientGone => bridge.close_stdin(),
        Way::AgentGone => {
            let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", bridge.id())).unwrap();
            signal(children.trim().parse().unwrap(), Signal::KILL);
        }
        Way::Signal(kind) => signal(bridge.id(), kind),
        Way::Killed | Way::AnsweredAndKilled => signal(bridge.id(), Signal::KILL),
        _ => {}
    }
    bridge.wait();
}

fn said(question: &Value) -> Said {
    let settlement = &question["record"]["settlement"];
    let status = settlement["outcome"]["status"].as_str().unwrap_or_default();
    let by = settlement["by"]["responder"].as_str().unwrap_or_default();
    let known = |text: &str, all: &[&'static str]| all.iter().find(|known| **known == text).copied();
    match question["record"]["state"].as_str() {
        Some("lost") => Said::Lost,
        Some("settled") => Said::Settled(
            known(status, &["answered", "rejected"]).expect("a status"),
            known(by, &["bridge", "client", "command_line", "http", "page", "rpc", "rule", "terminal"])
                .expect("a responder"),
        ),
        state => panic!("{state:?}: {question}"),
    }
}

fn history(machine: &TestMachine) -> Vec<Value> {
    // What is long past is history as well.
    let listed: Value =
        serde_json::from_str(&machine.run(&["history", "--json", "--limit", "9999"]).stdout).unwrap();
    assert_eq!(listed["gaps"], json!([]));
    listed["questions"].as_array().unwrap().clone()
}

/// Holds the journal as a slow disk does, until the end of what is returned or for this long.
fn slow_disk(machine: &TestMachine) -> SyncSender<()> {
    let file = machine.path().join("state/askbridge/journal.db");
    let mut connection = Connection::open(file).unwrap();
    connection.busy_timeout(crate::support::DEADLINE).unwrap();
    let (held, holds) = sync_channel(1);
    let (begins, begun) = sync_channel(1);
    thread::spawn(move || {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        begins.send(()).unwrap();
        // It says that the time is over, or that the test is.
        holds.recv_timeout(Duration::from_millis(200)).unwrap_or_default();
        transaction.rollback().unwrap();
    });
    begun.recv_timeout(crate::support::DEADLINE).unwrap();
    held
}

fn check(way: Way, journal: Journal, open: Duration) {
    let machine = TestMachine::new();
    let settings = machine.path().join("config/askbridge");
    fs::create_dir_all(&settings).unwrap();
    let mut text = String::new();
    if journal == Journal::Off {
        text.push_str("[journal]\nenabled = false\n");
    }
    if way == Way::Rule {
        text.push_str("[[rule]]\nname = \"db\"\nsession = \"s\"\nthen = \"answer\"\nanswer = \"SQLite\"\n");
    }
    fs::write(settings.join("config.toml"), text).unwrap();
    let _held = (journal == Journal::Slow).then(|| {
        // The file is made by a conversation before.
        play(&machine, Way::Client, Duration::ZERO);
        slow_disk(&machine)
    });
    play(&machine, way, open);
    let listed: Value = serde_json::from_str(&machine.ok(&["list", "--json"])).unwrap();
    let what = format!("{way:?}, journal {journal:?}, open for {open:?}");
    assert_eq!(listed["questions"], json!([]), "{what}");
    let mut history = history(&machine);
    if journal == Journal::Slow {
        history.pop().expect("the conversation before");
    }
    assert!(history.len() <= 1, "{what}: {history:?}");
    let said = history.first().map_or(Said::Nothing, said);
    assert!(oracle(way, journal).contains(&said), "{what}: {said:?}");
    let lost = listed["lost"].as_array().unwrap();
    assert_eq!(lost.len(), usize::from(said == Said::Lost), "{what}: {lost:?}");
}

/// Calls this with each number below `count`, on some threads.
fn at_once(count: usize, play: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    play(number);
                }
            });
        }
    });
}

#[test]
fn however_a_question_ends_the_journal_and_the_list_say_what_happened() {
    let times = [0, 30, 300].map(Duration::from_millis);
    let journals = [Journal::On, Journal::Off, Journal::Slow];
    let cells: Vec<_> = WAYS
        .into_iter()
        .flat_map(|way| journals.map(|journal| (way, journal)))
        .flat_map(|(way, journal)| times.map(|time| (way, journal, time)))
        .collect();
    at_once(cells.len(), |number| {
        let (way, journal, time) = cells[number];
        check(way, journal, time);
    });
}

#[test]
fn many_short_conversations_are_in_the_journal_as_they_ended() {
    let set = std::env::var("CONVERSATIONS").ok();
    let conversations = set.map_or(CONVERSATIONS, |count| count.parse().expect("a number")) / 4 * 4;
    let machine = TestMachine::new();
    let ways = [Way::Client, Way::ClientAndAgent, Way::ClientGone, Way::Client];
    at_once(conversations, |number| play(&machine, ways[number % ways.len()], Duration::ZERO));
    let history = history(&machine);
    let count = |wanted: &Said| history.iter().filter(|past| said(past) == *wanted).count();
    let (answered, gone) =
        (count(&Said::Settled("answered", "client")), count(&Said::Settled("rejected", "bridge")));
    assert_eq!((answered, gone, history.len()), (conversations / 4 * 3, conversations / 4, conversations));
    let listed: Value = serde_json::from_str(&machine.ok(&["list", "--json"])).unwrap();
    assert_eq!((&listed["questions"], &listed["lost"]), (&json!([]), &json!([])));
}
