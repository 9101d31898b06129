//! Nobody is told that an answer is accepted which the agent has not got, and the agent gets one (I9).

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::Duration,
};

use askbridge::{
    acp::{Opened, Refused, Settled, Submission, Unanswered},
    control::{
        self,
        old::{Book, Inbox, Owner, Refusal, Settlement, Source, Status, rpc::QuestionsClient, socket},
    },
    exit, limits,
    machine::bridges::Machine,
    question::{
        Answer, Field, Kind, Origin, Outcome, Provenance, Question, Responder, Value, input::AnswerInput,
    },
};
use futures::{FutureExt, future::join_all};
use serde_json::json;
use tokio::{
    net::UnixStream,
    sync::{oneshot, watch},
};

use crate::{
    machine::{TestMachine, end},
    support::Process,
};

const DEADLINE: Duration = Duration::from_secs(30);

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
    machine.start(&[&["run", "--"], &agent[..]].concat())
}

/// A bridge that cannot hand on an answer: half a line is on its way to the agent, which has read it.
fn stuck(machine: &TestMachine) -> (Process, Receiver<String>) {
    let first = r#"head -c 5000 >/dev/null; echo '{"jsonrpc":"2.0","method":"got"}';"#;
    let (agent, heard) = agent(machine, "heard", first);
    let mut bridge = bridge(machine, &agent);
    bridge.expect("the question", |line| line.contains("\"ask\""));
    let half = format!(r#"{{"jsonrpc":"2.0","method":"x","params":"{}"#, "y".repeat(5000));
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
fn an_answer_that_is_on_its_way_when_the_bridge_dies_was_not_accepted() {
    let machine = TestMachine::new();
    let (mut bridge, heard) = stuck(&machine);
    let id = machine.question();
    let answers = machine.start(&["answer", &id, "a"]);
    is_judged(&mut bridge);
    // Nobody has seen it settled either: the agent does not know yet.
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
fn whoever_was_told_that_it_is_accepted_before_the_bridge_died_was_told_the_truth() {
    const ROUNDS: usize = 16;
    let machine = TestMachine::new();
    let mut accepted = 0;
    for round in 0..ROUNDS {
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
fn of_a_hundred_who_answer_at_once_one_wins_and_the_others_are_told() {
    let machine = TestMachine::new();
    let (agent, heard) = agent(&machine, "heard", "");
    let mut bridge = bridge(&machine, &agent);
    let id = machine.question();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let results: Vec<(String, Result<(), Refusal>)> = runtime.block_on(async {
        let joined = join_all((0..100).map(|_| open(&machine))).await;
        let answers = joined.into_iter().enumerate().map(|(number, joined)| {
            let (id, value) = (id.clone(), if number % 2 == 0 { "a" } else { "b" }.to_owned());
            tokio::spawn(async move {
                let done = joined.submit(&id, Submission::Answer(text(&value)), by(number)).await;
                (value, done)
            })
        });
        join_all(answers).await.into_iter().map(Result::unwrap).collect()
    });
    let won = results.iter().find(|(_, done)| done.is_ok()).map(|(value, _)| value.clone()).unwrap();
    for (value, done) in &results {
        match done {
            Ok(()) => assert_eq!(*value, won),
            Err(Refusal::Conflict(view)) => {
                assert_ne!(*value, won);
                let outcome = view.settlement.as_ref().map(|settlement| settlement.outcome.clone());
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

async fn open(machine: &TestMachine) -> Machine {
    Machine::open(&machine.sockets()).await.unwrap()
}

fn text(value: &str) -> Answer {
    let values = [("q0".to_owned(), Value::Text(value.to_owned()))].into();
    Answer { values, ..Answer::default() }
}

fn by(number: usize) -> Provenance {
    Provenance { responder: Responder::CommandLine, name: Some(number.to_string()) }
}

/// A question as an engine opens it.
fn opened() -> Opened {
    let field = Field::at(0, "?".to_owned(), None, Kind::free_text());
    let question = Question::new(Origin::SandboxAgent, "q", vec![field]);
    Opened { number: 1, question: question.into(), since: Duration::ZERO, deadline: None, elsewhere: false }
}

fn settled(opened: &Opened, answer: Answer) -> Settled {
    Settled {
        number: opened.number,
        question: opened.question.clone(),
        outcome: Outcome::Answered(answer),
        by: by(1),
        after: Duration::ZERO,
        remark: None,
    }
}

#[test]
fn a_question_that_the_client_is_not_asked_opens_once() {
    let (inbox, feed) = control::old::new(Owner::here("agent".to_owned()));
    let opened = Opened { elsewhere: true, ..opened() };
    let mut book = inbox.book();
    feed.opened(&opened);
    assert!(book.borrow_and_update().open()[0].elsewhere);
    feed.unanswered(&opened, &Unanswered::NoWay);
    assert!(!book.has_changed().unwrap(), "it was said before");
}

#[tokio::test]
async fn the_same_answer_again_waits_until_the_agent_has_the_first() {
    let (inbox, mut feed) = control::old::new(Owner::here("agent".to_owned()));
    let opened = opened();
    feed.opened(&opened);
    let id = opened.name(inbox.bridge());
    let mut again = Box::pin(inbox.submit(&id, Submission::Answer(text("a")), by(2)));
    assert_eq!(again.as_mut().now_or_never(), None);
    // The engine has judged an answer before, which is still to be written.
    feed.next().await.unwrap().verdict.send(Err(Refused::NotOpen)).unwrap();
    assert_eq!(again.as_mut().now_or_never(), None, "it was told before the agent has it");
    feed.settled(&settled(&opened, text("a")), Duration::ZERO);
    assert_eq!(again.await, Ok(()));
    assert!(matches!(
        inbox.submit(&id, Submission::Answer(text("b")), by(3)).await,
        Err(Refusal::Conflict(_))
    ));
}

/// An inbox whose answers arrive when a test says so.
#[derive(Clone)]
struct Slow {
    inbox: Inbox,
    arrives: watch::Sender<bool>,
    wanted: watch::Sender<bool>,
}

impl Source for Slow {
    fn book(&self) -> watch::Receiver<Book> {
        self.inbox.book()
    }

    async fn submit(&self, _: &str, _: Submission, _: Provenance) -> Result<(), Refusal> {
        self.wanted.send_replace(true);
        self.arrives.subscribe().wait_for(|arrives| *arrives).await.unwrap();
        Ok(())
    }

    async fn ask(&self, question: Question) -> Result<Settlement, Refusal> {
        self.inbox.ask(question).await
    }

    fn status(&self) -> Vec<Status> {
        self.inbox.status()
    }
}

#[tokio::test]
async fn whoever_waits_for_a_reply_gets_it_when_the_inbox_is_closed() {
    let machine = TestMachine::new();
    let (inbox, feed) = control::old::new(Owner::here("agent".to_owned()));
    let opened = opened();
    feed.opened(&opened);
    let id = opened.name(inbox.bridge());
    let slow = Slow { inbox, arrives: watch::Sender::new(false), wanted: watch::Sender::new(false) };
    let path = machine.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let (stop, stopped) = oneshot::channel();
    let source = slow.clone();
    let server = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(socket::serve(listener, None, source, stopped)).unwrap();
    });
    let client = socket::connect(UnixStream::connect(&path).await.unwrap()).await.unwrap();
    let answer = AnswerInput::from(text("a"));
    let reply = tokio::spawn(async move { client.answer(id, answer, None).await });
    slow.wanted.subscribe().wait_for(|wanted| *wanted).await.unwrap();
    stop.send(()).unwrap();
    // It listens no more: it was told.
    while UnixStream::connect(&path).await.is_ok() {
        tokio::task::yield_now().await;
    }
    slow.arrives.send_replace(true);
    assert_eq!(reply.await.unwrap().unwrap().question.id, "q");
    server.join().unwrap();
}

#[tokio::test]
async fn nobody_waits_for_a_bridge_that_is_gone() {
    let (inbox, mut feed) = control::old::new(Owner::here("agent".to_owned()));
    let opened = opened();
    feed.opened(&opened);
    let id = opened.name(inbox.bridge());
    let answer = || Submission::Answer(text("a"));
    let (mut judged, mut waits) =
        (Box::pin(inbox.submit(&id, answer(), by(1))), Box::pin(inbox.submit(&id, answer(), by(2))));
    assert_eq!(judged.as_mut().now_or_never(), None);
    feed.next().await.unwrap().verdict.send(Err(Refused::NotOpen)).unwrap();
    assert_eq!(judged.as_mut().now_or_never(), None);
    assert_eq!(waits.as_mut().now_or_never(), None);
    let mut asks = Box::pin(inbox.ask((*opened.question).clone()));
    assert_eq!(asks.as_mut().now_or_never(), None);
    drop(feed);
    assert_eq!((judged.await, waits.await), (Err(Refusal::Unavailable), Err(Refusal::Unavailable)));
    assert_eq!(asks.await, Err(Refusal::Unavailable));
    assert_eq!(inbox.submit(&id, answer(), by(3)).await, Err(Refusal::Unavailable));
}

#[tokio::test]
async fn a_secret_is_not_kept() {
    let (inbox, feed) = control::old::new(Owner::here("agent".to_owned()));
    let mut opened = opened();
    let mut question = (*opened.question).clone();
    question.fields[0].secret = true;
    opened.question = question.into();
    feed.opened(&opened);
    feed.settled(&settled(&opened, text("hunter2")), Duration::ZERO);
    let view = inbox.find(&opened.name(inbox.bridge())).unwrap();
    assert_eq!(view.settlement.as_ref().unwrap().outcome, Outcome::Answered(Answer::default()));
    // That it is the same can be told all the same.
    let submit = async |value| inbox.submit(&view.id, Submission::Answer(text(value)), by(2)).await;
    assert_eq!(submit("hunter2").await, Ok(()));
    assert!(matches!(submit("hunter3").await, Err(Refusal::Conflict(_))));
}

#[tokio::test]
async fn more_than_can_wait_for_the_agent_is_refused() {
    let (inbox, mut feed) = control::old::new(Owner::here("agent".to_owned()));
    let opened = opened();
    feed.opened(&opened);
    let id = opened.name(inbox.bridge());
    let big = "x".repeat(limits::WAITING_BYTES / 2);
    let answer = || inbox.submit(&id, Submission::Answer(text(&big)), by(1));
    let mut one = Box::pin(answer());
    assert_eq!(one.as_mut().now_or_never(), None);
    assert_eq!(answer().await, Err(Refusal::TooManyRequests));
    feed.next().await.unwrap().verdict.send(Ok(())).unwrap();
    assert_eq!(one.await, Ok(()));
    // Whoever leaves is in the queue all the same.
    assert_eq!(answer().now_or_never(), None, "there is room again");
    assert_eq!(answer().await, Err(Refusal::TooManyRequests));
    drop(feed.next().await);
    assert_eq!(answer().now_or_never(), None);
}

#[test]
fn whoever_answers_sees_that_the_time_is_nearly_over() {
    let (inbox, feed) = control::old::new(Owner::here("agent".to_owned()));
    let opened = opened();
    let id = opened.name(inbox.bridge());
    let is_expiring = || inbox.find(&id).unwrap().expiring;
    feed.opened(&opened);
    assert!(!is_expiring());
    feed.warned(&opened);
    assert!(is_expiring());
    feed.extended(&opened, Duration::from_secs(3600));
    assert!(!is_expiring());
}
