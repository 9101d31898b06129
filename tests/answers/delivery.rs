//! An answer is reported as accepted only once the agent has it, and the agent gets one answer (I9).

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::{
        Arc,
        mpsc::{Receiver, sync_channel},
    },
    thread,
    time::Duration,
};

use askbridge::limits;
use askbridge_control::{
    inbox::{BridgeInbox, BridgeStatus, Inbox, Store},
    join::JoinedInbox,
    rpc::{client::Client, socket},
};
use askbridge_core::{
    desk::{IdPrefix, QuestionId, Record, Refusal, Settlement, State, Submission},
    question::{Answer, Outcome, Provenance, Question, Reason, Responder, Value},
};
use askbridge_os::exit;
use futures::{FutureExt, future::join_all};
use serde_json::json;
use tokio::{net::UnixStream, sync::watch};
use tokio_util::sync::CancellationToken;

use crate::{
    answers::{
        asker::{self, TestAsker},
        machine::{TestMachine, end},
    },
    support::Process,
};

const DEADLINE: Duration = Duration::from_secs(120);

fn question() -> String {
    let params = json!({ "sessionId": "s", "prompt": "?", "options": ["a", "b"] });
    let method = "_sandboxagent/session/request_question";
    json!({ "jsonrpc": "2.0", "id": "ask", "method": method, "params": params }).to_string()
}

/// An agent that asks, and hands on all that it hears; and where that can be read to its end.
fn agent(machine: &TestMachine, name: &str, first: &str) -> (Vec<String>, Receiver<String>) {
    let path = machine.path().join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let script = format!(r#"printf '%s\n' "$1"; {first} cat > "$2"; :"#);
    let command = ["sh", "-c", &script, "sh", &question(), path.to_str().unwrap()];
    (command.map(str::to_owned).to_vec(), heard(path))
}

fn heard(path: PathBuf) -> Receiver<String> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || sender.send(fs::read_to_string(path).unwrap()));
    receiver
}

fn bridge(machine: &TestMachine, agent: &[String]) -> Process {
    let agent: Vec<_> = agent.iter().map(String::as_str).collect();
    machine.start(&[&["run", "--client-questions", "native", "--"], &agent[..]].concat())
}

/// A bridge that cannot hand on an answer: half a line is on its way to the agent, which has read it.
fn stuck(machine: &TestMachine) -> (Process, Receiver<String>) {
    let first = r#"head -c 5000 >/dev/null; echo '{"jsonrpc":"2.0","method":"got"}';"#;
    let (agent, heard) = agent(machine, "heard", first);
    let mut bridge = bridge(machine, &agent);
    bridge.expect("the question", |line| line.contains("\"ask\""));
    // The beginning of a response to another request goes on before its end has come.
    let half = format!(r#"{{"jsonrpc":"2.0","id":77,"error":"{}"#, "y".repeat(5000));
    bridge.send_bytes(half.as_bytes());
    bridge.expect("that the agent has the half line", |line| line.contains("got"));
    (bridge, heard)
}

fn is_judged(bridge: &mut Process) {
    bridge.expect("that the client is told", |line| line.contains("$/cancel_request"));
}

fn kill(process: &Process) {
    let killed = Command::new("kill").args(["-9", &process.id().to_string()]).status();
    assert!(killed.unwrap().success());
}

#[test]
fn an_answer_on_its_way_when_the_bridge_dies_is_not_accepted() {
    let machine = TestMachine::new();
    let (mut bridge, heard) = stuck(&machine);
    let id = machine.question();
    let answers = machine.start(&["answer", &id, "a"]);
    is_judged(&mut bridge);
    // It is not shown as settled either: the agent does not have it yet.
    assert_eq!(machine.question(), id);
    let again = machine.start(&["answer", &id, "a"]);
    kill(&bridge);
    assert_eq!(end(answers).code, i32::from(exit::BRIDGE_GONE));
    assert!([exit::BRIDGE_GONE, exit::NO_QUESTION].map(i32::from).contains(&end(again).code));
    assert!(!heard.recv_timeout(DEADLINE).unwrap().contains("result"));
}

#[test]
fn an_answer_is_accepted_once_the_agent_has_it() {
    let machine = TestMachine::new();
    let (mut bridge, heard) = stuck(&machine);
    let id = machine.question();
    let answers = machine.start(&["answer", &id, "a"]);
    is_judged(&mut bridge);
    let (again, other) = (machine.start(&["answer", &id, "a"]), machine.start(&["answer", &id, "b"]));
    bridge.send("\"}");
    assert_eq!(end(answers).code, 0);
    assert_eq!((end(again).code, end(other).code), (0, i32::from(exit::SETTLED)));
    bridge.close_stdin();
    let heard = heard.recv_timeout(DEADLINE).unwrap();
    assert_eq!(heard.matches("result").count(), 1, "{heard}");
    assert!(heard.ends_with("\"}\n{\"jsonrpc\":\"2.0\",\"id\":\"ask\",\"result\":{\"status\":\"answered\",\"answers\":[[\"a\"]]}}\n"));
}

#[test]
fn an_answer_reported_as_accepted_before_the_bridge_died_reached_the_agent() {
    const ROUNDS: usize = 16;
    let mut accepted = 0;
    for round in 0..ROUNDS {
        // In one journal, an answer that did not arrive would be given in the next round.
        let machine = TestMachine::new();
        let (agent, heard) = agent(&machine, &format!("heard-{round}"), "");
        let bridge = bridge(&machine, &agent);
        let id = machine.question();
        let answers: Vec<_> = (0..3).map(|_| machine.start(&["answer", &id, "a"])).collect();
        for _ in 0..(round / 2) {
            assert!(Command::new("true").status().unwrap().success());
        }
        let codes: Vec<_> = if round + 1 == ROUNDS {
            let codes = answers.into_iter().map(|process| end(process).code).collect();
            kill(&bridge);
            codes
        } else {
            kill(&bridge);
            answers.into_iter().map(|process| end(process).code).collect()
        };
        let heard = heard.recv_timeout(DEADLINE).unwrap();
        let told = codes.contains(&0);
        accepted += usize::from(told);
        assert!(!told || heard.contains("\"result\""), "round {round}: {codes:?}, the agent got {heard:?}");
        assert!(heard.matches("\"result\"").count() <= 1, "{heard}");
    }
    assert!(accepted > 0, "no answer came through at all");
}

#[test]
fn one_of_a_hundred_answers_at_once_wins_and_the_others_are_told() {
    let machine = TestMachine::new();
    let (agent, heard) = agent(&machine, "heard", "");
    let mut bridge = bridge(&machine, &agent);
    let id = machine.question();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let results: Vec<(String, Result<Arc<Record>, Refusal>)> = runtime.block_on(async {
        let all = join_all((0..100).map(|_| open(&machine))).await;
        let answers = all.into_iter().enumerate().map(|(number, joined)| {
            let (id, value) = (id.parse().unwrap(), if number % 2 == 0 { "a" } else { "b" }.to_owned());
            tokio::spawn(async move {
                let done = joined.submit(&id, Submission::answer(text(&value), None), by(number)).await;
                (value, done)
            })
        });
        join_all(answers).await.into_iter().map(Result::unwrap).collect()
    });
    let won = results.iter().find(|(_, done)| done.is_ok()).map(|(value, _)| value.clone()).unwrap();
    for (value, done) in &results {
        match done {
            Ok(_) => assert_eq!(*value, won),
            Err(Refusal::Conflict(record)) => {
                assert_ne!(*value, won);
                let outcome = record.settlement.as_ref().map(|settlement| settlement.outcome.clone());
                assert_eq!(outcome, Some(Outcome::Answered(text(&won))));
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(results.iter().filter(|(_, done)| done.is_ok()).count(), 50);
    bridge.close_stdin();
    let heard = heard.recv_timeout(DEADLINE).unwrap();
    assert_eq!(heard.matches("\"result\"").count(), 1, "{heard}");
    assert!(heard.contains(&format!("[[\"{won}\"]]")), "{heard}");
}

async fn open(machine: &TestMachine) -> JoinedInbox {
    JoinedInbox::open(&machine.sockets()).await.unwrap()
}

fn text(value: &str) -> Answer {
    let values = [("q0".to_owned(), Value::Text(value.to_owned()))].into();
    Answer { values, ..Answer::default() }
}

fn by(number: usize) -> Provenance {
    Provenance { responder: Responder::CommandLine, name: Some(number.to_string()) }
}

fn answer(value: &str) -> Submission {
    Submission::answer(text(value), None)
}

#[tokio::test]
async fn the_same_answer_again_waits_until_the_agent_has_the_first() {
    let mut asker = TestAsker::start();
    let id = asker.open(asker::question(), None).await;
    let inbox = asker.inbox.clone();
    let mut first = Box::pin(inbox.submit(&id, answer("a"), by(1)));
    assert_eq!(first.as_mut().now_or_never(), None);
    assert_eq!(asker.judge().await, Some(id.number));
    let state = inbox.find(&IdPrefix::from(&id)).unwrap().state;
    assert_eq!(state, State::Delivering, "it is shown as on its way, and not as settled");
    let mut again = Box::pin(inbox.submit(&id, answer("a"), by(2)));
    assert_eq!(again.as_mut().now_or_never(), None);
    assert_eq!(asker.judge().await, None);
    assert_eq!((first.as_mut().now_or_never(), again.as_mut().now_or_never()), (None, None));
    asker.deliver(id.number).await;
    let (first, again) = (first.await.unwrap(), again.await.unwrap());
    assert_eq!((&first, first.settlement.as_ref().unwrap().by.clone()), (&again, by(1)));
    let mut other = Box::pin(inbox.submit(&id, answer("b"), by(3)));
    assert_eq!(other.as_mut().now_or_never(), None);
    assert_eq!(asker.judge().await, None);
    assert!(matches!(other.await, Err(Refusal::Conflict(_))));
}

/// An inbox whose answers arrive when a test says so.
#[derive(Clone)]
struct Slow {
    inbox: BridgeInbox,
    arrives: watch::Sender<bool>,
    submitted: watch::Sender<bool>,
}

impl Inbox for Slow {
    fn store(&self) -> &Store {
        self.inbox.store()
    }

    async fn submit(&self, id: &QuestionId, _: Submission, _: Provenance) -> Result<Arc<Record>, Refusal> {
        self.submitted.send_replace(true);
        self.arrives.subscribe().wait_for(|arrives| *arrives).await.unwrap();
        self.find(&IdPrefix::from(id))
    }

    async fn ask(&self, question: Question) -> Result<Settlement, Refusal> {
        self.inbox.ask(question).await
    }

    fn status(&self) -> Vec<BridgeStatus> {
        self.inbox.status()
    }
}

#[tokio::test]
async fn a_caller_that_waits_for_a_reply_gets_it_when_the_inbox_closes() {
    let machine = TestMachine::new();
    let mut asker = TestAsker::start();
    let id = asker.open(asker::question(), None).await;
    let inbox = asker.inbox.clone();
    let slow = Slow { inbox, arrives: watch::Sender::new(false), submitted: watch::Sender::new(false) };
    let path = machine.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let stop = CancellationToken::new();
    let (served, stopped) = (slow.clone(), stop.clone());
    let server = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(socket::serve(listener, None, served, stopped)).unwrap();
    });
    let client = Client::connect(UnixStream::connect(&path).await.unwrap()).await.unwrap();
    let reply = tokio::spawn(async move { client.submit(&id, answer("a"), by(1)).await });
    slow.submitted.subscribe().wait_for(|submitted| *submitted).await.unwrap();
    stop.cancel();
    // Once it does not listen any more, it was told to stop.
    while UnixStream::connect(&path).await.is_ok() {
        tokio::task::yield_now().await;
    }
    slow.arrives.send_replace(true);
    assert_eq!(reply.await.unwrap().unwrap().value.unwrap().question.id, "q");
    server.join().unwrap();
}

#[tokio::test]
async fn no_caller_waits_for_a_bridge_that_is_gone() {
    let mut asker = TestAsker::start();
    let id = asker.open(asker::question(), None).await;
    let inbox = asker.inbox.clone();
    let mut judged = Box::pin(inbox.submit(&id, answer("a"), by(1)));
    assert_eq!(judged.as_mut().now_or_never(), None);
    assert_eq!(asker.judge().await, Some(id.number));
    let mut waits = Box::pin(inbox.submit(&id, answer("a"), by(2)));
    let mut asks = Box::pin(inbox.ask(asker::question()));
    assert_eq!(judged.as_mut().now_or_never(), None);
    assert_eq!(waits.as_mut().now_or_never(), None);
    assert_eq!(asks.as_mut().now_or_never(), None);
    drop(asker);
    assert_eq!((judged.await, waits.await), (Err(Refusal::Unavailable), Err(Refusal::Unavailable)));
    // An asker is told how its question ended, although it was never opened.
    let Ok(settlement) = asks.await else { panic!("an end") };
    assert_eq!(settlement.outcome, Outcome::Rejected(Reason::Shutdown));
    assert_eq!(inbox.submit(&id, answer("a"), by(3)).await, Err(Refusal::Unavailable));
}

#[tokio::test]
async fn a_secret_is_not_kept_and_compared_all_the_same() {
    let mut asker = TestAsker::start();
    let mut question = asker::question();
    question.fields[0].secret = true;
    let id = asker.open(question, None).await;
    let inbox = asker.inbox.clone();
    let mut first = Box::pin(inbox.submit(&id, answer("hunter2"), by(1)));
    assert_eq!(first.as_mut().now_or_never(), None);
    asker.judge().await;
    asker.deliver(id.number).await;
    let settlement = first.await.unwrap().settlement.clone().unwrap();
    assert_eq!(settlement.outcome, Outcome::Answered(text("(secret)")));
    for (value, is_same) in [("hunter2", true), ("hunter3", false)] {
        let mut again = Box::pin(inbox.submit(&id, answer(value), by(2)));
        assert_eq!(again.as_mut().now_or_never(), None);
        asker.judge().await;
        assert_eq!(again.await.is_ok(), is_same, "{value}");
    }
}

#[tokio::test]
async fn submissions_beyond_the_room_for_them_are_refused() {
    let mut asker = TestAsker::start();
    let id = asker.open(asker::question(), None).await;
    let inbox = asker.inbox.clone();
    let large = "x".repeat(limits::WAITING_BYTES / 2);
    let submit = || inbox.submit(&id, answer(&large), by(1));
    let mut one = Box::pin(submit());
    assert_eq!(one.as_mut().now_or_never(), None);
    assert_eq!(submit().await, Err(Refusal::TooManyRequests));
    asker.judge().await;
    asker.deliver(id.number).await;
    assert!(one.await.is_ok());
    // A submission takes its room until it is judged, even after its caller has left.
    assert_eq!(submit().now_or_never(), None, "there is room again");
    assert_eq!(submit().await, Err(Refusal::TooManyRequests));
    asker.judge().await;
    assert_eq!(submit().now_or_never(), None);
}

#[tokio::test]
async fn responders_see_that_the_time_is_nearly_over() {
    let mut asker = TestAsker::start();
    let time = Duration::from_secs(10);
    let id = asker.open(asker::question(), Some(time)).await;
    let inbox = asker.inbox.clone();
    let is_expiring = || inbox.find(&IdPrefix::from(&id)).unwrap().expiring;
    assert!(!is_expiring());
    assert_eq!(asker.desk.tick(time * 9 / 10), [0; 0]);
    asker.hand_over().await;
    assert!(is_expiring());
    let mut more = Box::pin(inbox.submit(&id, Submission::Extend(time), by(1)));
    assert_eq!(more.as_mut().now_or_never(), None);
    asker.judge().await;
    assert!(!more.await.unwrap().expiring);
}
