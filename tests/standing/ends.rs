//! How each end of an asker's connection and of the inbox leaves a question, before, while and after it is answered.

use std::time::{Duration, SystemTime};

use askbridge_core::desk::Timestamp;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpStream, spawn, task::JoinHandle};

use crate::http::client::{Http, Reply, request, soon};
use crate::standing::home::{
    Home, Inbox, ask, ask_under, hold, id, left, open, question, reply, show, wait, with,
};
use crate::support::oracle::pass;

/// How the question was asked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Key,
    Left,
    Held,
}

/// When it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    Before,
    While,
    After,
}

/// What ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Asker,
    Killed,
    Stopped,
}

/// A process of the inbox.
enum Server {
    Foreground(Inbox),
    Background(Http),
}

impl Server {
    fn http(&self) -> Http {
        match self {
            Server::Foreground(inbox) => inbox.http.clone(),
            Server::Background(http) => http.clone(),
        }
    }

    fn end(self, home: &Home) {
        match self {
            Server::Foreground(inbox) => inbox.kill(),
            Server::Background(_) => home.stop(),
        }
    }
}

/// Returns the settlement that a waiter was told: that of the response, or of the record in it.
fn settlement(told: &Reply) -> Value {
    let told = told.is(200).json();
    let settlement = told.get("settlement").cloned().unwrap_or(told);
    assert!(settlement["outcome"].is_object(), "{settlement}");
    settlement
}

fn answered(text: &str) -> Value {
    json!({ "status": "answered", "values": { "a": text } })
}

fn rejected(reason: &str) -> Value {
    json!({ "status": "rejected", "reason": reason })
}

/// Asks in this way, and waits. Returns the ID, and what the asker will be told.
async fn ask_in(http: &Http, way: Way) -> (String, JoinHandle<Option<Reply>>) {
    match way {
        Way::Key => hold(http, &["Idempotency-Key: k".to_owned()], &question("Deploy?")).await,
        Way::Held => hold(http, &[], &question("Deploy?")).await,
        Way::Left => {
            let told = ask(http, &[], &left(question("Deploy?"))).await.expect("a response");
            let id = id(&told.is(201).json());
            let (waits, waited) = (http.clone(), id.clone());
            (id, spawn(async move { wait(&waits, &waited).await }))
        }
    }
}

/// Checks that a question is as it was left, and answers it if it is open. Returns its answer.
async fn answer_if_open(
    http: &Http,
    id: &str,
    opened: &Value,
    moment: Moment,
    is_accepted: bool,
    told: &Option<Value>,
    cell: &str,
) -> &'static str {
    let shown = show(http, id).await.expect("a response").is(200).json();
    assert_eq!(shown["openedAt"], opened["openedAt"], "{cell}");
    let is_open = shown["state"] == "open";
    assert!(moment != Moment::Before || is_open && told.is_none(), "{cell}: {shown}, {told:?}");
    assert!(!is_open || told.is_none() && !is_accepted, "{cell}: {shown}, {told:?}, {is_accepted}");
    let answer = if is_open { "later" } else { "because" };
    if is_open {
        assert_eq!(open(http).await.len(), 1, "{cell}");
        reply(http, id, answer).await.expect("a response").is(204);
    }
    answer
}

/// Returns the outcome that an asker was told, if it was. An inbox that ends in good order says so.
fn outcome_told(told: Option<Reply>, way: Way, at: (Moment, End), cell: &str) -> Option<Value> {
    if at == (Moment::Before, End::Stopped) {
        let told = told.as_ref().expect("a response");
        match way {
            Way::Left => assert_eq!(told.is(200).json()["state"], "open", "{cell}"),
            Way::Key => assert_eq!(told.is(503).json()["name"], "inbox_ends", "{cell}"),
            Way::Held => {}
        }
    }
    // A decision that is on its way is not told.
    let is_over = |told: &Reply| !matches!(told.json()["state"].as_str(), Some("open" | "delivering"));
    told.filter(|told| told.status == 200 && is_over(told)).as_ref().map(settlement)
}

/// Plays one cell of the matrix.
async fn play(way: Way, moment: Moment, end: End) {
    let cell = format!("{way:?}, {moment:?}, {end:?}");
    let home = Home::new();
    let mut server = match end {
        End::Stopped => Server::Background(home.detach()),
        End::Asker | End::Killed => Server::Foreground(home.start()),
    };
    let http = server.http();
    let (id, asker) = ask_in(&http, way).await;
    let opened = show(&http, &id).await.expect("a response").is(200).json();
    let (replies, replied) = (http.clone(), id.clone());
    let replying = spawn(async move {
        match moment {
            Moment::Before => None,
            Moment::While | Moment::After => reply(&replies, &replied, "because").await,
        }
    });
    let (told, verdict);
    if moment == Moment::After {
        verdict = replying.await.unwrap();
        told = asker.await.unwrap();
        if end != End::Asker {
            server.end(&home);
            server = Server::Foreground(home.start());
        }
    } else if end == End::Asker {
        asker.abort();
        (verdict, told) = (replying.await.unwrap(), None);
    } else {
        server.end(&home);
        (verdict, told) = (replying.await.unwrap(), asker.await.unwrap());
        server = Server::Foreground(home.start());
    }
    let http = server.http();
    let told = outcome_told(told, way, (moment, end), &cell);
    let is_accepted = verdict.is_some_and(|verdict| verdict.status == 204);
    assert!(moment != Moment::After || is_accepted && told.is_some(), "{cell}");
    match way {
        Way::Held => check_held(&http, &id, (moment, end), is_accepted, told).await,
        Way::Key | Way::Left => {
            let answer = answer_if_open(&http, &id, &opened, moment, is_accepted, &told, &cell).await;
            check_kept(&http, &id, way, answer, told.as_ref(), &cell).await;
            server.end(&home);
            let last = home.start();
            check_kept(&last.http, &id, way, answer, told.as_ref(), &cell).await;
        }
    }
}

/// Checks that everybody is told the same of a question that is kept, and answered so.
async fn check_kept(http: &Http, id: &str, way: Way, answer: &str, told: Option<&Value>, cell: &str) {
    let outcome = settlement(&wait(http, id).await.expect("a response"));
    assert_eq!(outcome["outcome"], answered(answer), "{cell}");
    assert!(told.is_none_or(|told| *told == outcome), "{cell}: {told:?}, {outcome}");
    assert_eq!(settlement(&show(http, id).await.expect("a response")), outcome, "{cell}");
    if way == Way::Key {
        for body in [question("Deploy?"), left(question("Deploy?"))] {
            let again = ask_under(http, "k", &body).await.expect("a response");
            assert_eq!(settlement(&again), outcome, "{cell}");
        }
    }
    assert_eq!(open(http).await, Vec::<Value>::new(), "{cell}");
}

/// Checks how a question is over that its connection held.
async fn check_held(
    http: &Http,
    id: &str,
    (moment, end): (Moment, End),
    is_accepted: bool,
    told: Option<Value>,
) {
    let cell = format!("Held, {moment:?}, {end:?}");
    let shown = wait(http, id).await.expect("a response");
    let ended = match end {
        End::Asker => rejected("withdrawn"),
        End::Stopped => rejected("shutdown"),
        End::Killed => Value::Null,
    };
    assert_eq!(open(http).await, Vec::<Value>::new(), "{cell}");
    let outcome = (shown.status == 200).then(|| shown.json()["settlement"].clone());
    let outcome = outcome.filter(|settlement| !settlement.is_null());
    // A kill leaves no outcome behind: the question is lost with its process.
    let is_lost = outcome.is_none() && end == End::Killed && told.is_none() && !is_accepted;
    assert!(is_lost || outcome.is_some(), "{cell}: {shown:?}");
    let Some(outcome) = outcome else { return };
    assert!(told.is_none_or(|told| told == outcome), "{cell}: {outcome}");
    let is_answered = outcome["outcome"] == answered("because");
    assert!(is_answered || outcome["outcome"] == ended, "{cell}: {outcome}");
    // A person whose answer is accepted and an asker that hears something else would both be wrong of each other.
    assert!(!is_accepted || is_answered, "{cell}: {outcome}");
    assert!(moment != Moment::Before || !is_answered, "{cell}: {outcome}");
}

async fn play_all(way: Way) {
    for moment in [Moment::Before, Moment::While, Moment::After] {
        for end in [End::Asker, End::Killed, End::Stopped] {
            play(way, moment, end).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_with_a_key_outlives_each_end() {
    play_all(Way::Key).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_nobody_waits_for_outlives_each_end() {
    play_all(Way::Left).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_of_a_connection_ends_with_it() {
    play_all(Way::Held).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_who_wait_are_told_the_same() {
    let home = Home::new();
    let inbox = home.start();
    let http = &inbox.http;
    let key = ["Idempotency-Key: k".to_owned()];
    let (id, first) = hold(http, &key, &question("Deploy?")).await;
    let mut waiters = vec![first];
    for waiter in 0..4 {
        let (http, id) = (http.clone(), id.clone());
        waiters.push(spawn(async move {
            if waiter % 2 == 0 {
                wait(&http, &id).await
            } else {
                ask_under(&http, "k", &question("Deploy?")).await
            }
        }));
    }
    reply(http, &id, "because").await.expect("a response").is(204);
    for waiter in waiters {
        let told = settlement(&soon("the outcome", waiter).await.unwrap().expect("a response"));
        assert_eq!(told, settlement(&show(http, &id).await.expect("a response")));
        assert_eq!(told["outcome"], answered("because"));
    }
}

/// Waits until a deadline of a record is over.
async fn until(deadline: &Value) {
    let left = time(deadline).since(SystemTime::now().into());
    pass(left + Duration::from_millis(1)).await;
}

fn time(time: &Value) -> Timestamp {
    serde_json::from_value(time.clone()).expect("a time")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_passes_though_no_inbox_runs() {
    let home = Home::new();
    let inbox = home.start();
    let body = left(with(question("Deploy?"), &json!({ "timeoutMs": 500 })));
    let asked = ask_under(&inbox.http, "k", &body).await.expect("a response").is(201).json();
    inbox.kill();
    until(&asked["deadline"]).await;
    let inbox = home.start();
    let over = wait(&inbox.http, &id(&asked)).await.expect("a response");
    let told = settlement(&over);
    assert_eq!(told["outcome"], rejected("timeout"));
    let late = reply(&inbox.http, &id(&asked), "because").await.expect("a response");
    assert!(matches!(late.status, 409 | 410), "{late:?}");
    inbox.kill();
    let inbox = home.start();
    assert_eq!(settlement(&show(&inbox.http, &id(&asked)).await.expect("a response")), told);
    assert_eq!(settlement(&ask_under(&inbox.http, "k", &body).await.expect("a response")), told);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_time_outlives_a_kill() {
    let home = Home::new();
    let mut inbox = home.start();
    let body = left(with(question("Deploy?"), &json!({ "timeoutMs": 600_000 })));
    let asked = ask_under(&inbox.http, "k", &body).await.expect("a response").is(201).json();
    let path = format!("/v1/questions/{}", id(&asked));
    let mut before = time(&asked["deadline"]);
    for round in 0..20 {
        let more = inbox.http.post(&format!("{path}/extend"), r#"{"milliseconds":60000}"#).await;
        let deadline = more.is(200).json()["deadline"].clone();
        assert!(time(&deadline) > before, "{round}: {deadline}");
        before = time(&deadline);
        inbox.kill();
        inbox = home.start();
        let shown = inbox.http.get(&path).await.is(200).json();
        assert_eq!((&shown["deadline"], &shown["openedAt"]), (&deadline, &asked["openedAt"]), "{round}");
        assert_eq!(shown["state"], "open", "{round}");
    }
}

/// The connection ends right after the last byte of the request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_asker_that_hangs_up_at_once_has_asked() {
    const ASKERS: usize = 40;
    let home = Home::new();
    let inbox = home.start();
    let http = &inbox.http;
    let mut listener = http.listen("/v1/events", &[]).await;
    assert_eq!(listener.next().await.event, "snapshot");
    let (host, bearer) = (format!("Host: {}", http.address), http.bearer());
    for asker in 0..ASKERS {
        let key = format!("Idempotency-Key: k{asker}");
        let headers = [&*host, &bearer, &key, "Content-Type: application/json"];
        let body = question(&format!("Asker {asker}?"));
        let mut stream = TcpStream::connect(http.address).await.unwrap();
        let request = request("POST", "/v1/questions", &headers, &body.to_string());
        stream.write_all(request.as_bytes()).await.unwrap();
        drop(stream);
        let asked = soon("a question", listener.requested()).await;
        let again = ask_under(http, &format!("k{asker}"), &left(body)).await.expect("a response");
        assert_eq!(id(&again.is(200).json()), asked);
    }
    assert_eq!(open(http).await.len(), ASKERS);
}
