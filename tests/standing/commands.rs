//! `askbridge ask --key`, `ask --detach` and `wait`: what they print, their exit codes, and what becomes of them when they or
//! the inbox end.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::answers::machine::{Run, end};
use crate::http::client::Http;
use crate::standing::home::{Home, left, open, question, show, with};
use crate::support::Process;

/// A port of its own, since other tests may have the default.
const ANY_PORT: &str = "[inbox]\naddress = 0\n";

fn start(home: &Home, args: &[&str]) -> Process {
    let mut process = Process::spawn(&mut home.command(args));
    process.close_stdin();
    process
}

fn run(home: &Home, args: &[&str]) -> Run {
    end(start(home, args))
}

/// Runs a command that prints one line, and returns that.
#[track_caller]
fn line(home: &Home, args: &[&str]) -> String {
    let run = run(home, args);
    assert_eq!(run.code, 0, "{args:?}: {run:?}");
    let line = run.stdout.strip_suffix('\n').unwrap_or_else(|| panic!("{args:?}: {run:?}"));
    assert!(!line.contains('\n'), "{args:?}: {run:?}");
    line.to_owned()
}

/// Waits until a command says that its question waits, and returns the ID.
fn waits(process: &Process) -> String {
    let said = process.expect_stderr("the hint", |text| text.contains(" waits: ") && text.ends_with('\n'));
    let hint = said.lines().find(|line| line.contains(" waits: ")).expect("the hint");
    hint.split_whitespace().nth(2).expect("an ID").to_owned()
}

async fn is_open(http: &Http, id: &str) -> bool {
    show(http, id).await.expect("a response").is(200).json()["state"] == "open"
}

/// What a person has set aside is so in the next process as well, however the one before ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_set_aside_stays_so_where_the_question_survives() {
    let home = Home::new();
    let inbox = home.start();
    let id = line(&home, &["ask", "--detach", "Deploy?"]);
    assert_eq!(line(&home, &["later", &id, "2h"]), format!("{id} set aside: back in 2h"));
    let later = show(&inbox.http, &id).await.expect("a response").is(200).json()["later"].clone();
    assert!(later.is_string(), "{later}");
    inbox.kill();
    let inbox = home.start();
    let after = show(&inbox.http, &id).await.expect("a response").is(200).json()["later"].clone();
    // To the second: the clock of the next process has begun at another moment.
    let second = |time: &Value| time.as_str().expect("a time")[..18].to_owned();
    assert_eq!(second(&after), second(&later));
    assert_eq!(line(&home, &["later", &id, "now"]), format!("{id} back in the list"));
    inbox.kill();
    let inbox = home.start();
    assert!(show(&inbox.http, &id).await.expect("a response").is(200).json()["later"].is_null());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_key_and_question_is_the_same_answer() {
    let home = Home::new();
    let inbox = home.start();
    let ask = ["ask", "--key", "k", "Why?"];
    let (first, second) = (start(&home, &ask), start(&home, &ask));
    let id = waits(&first);
    assert_eq!(waits(&second), id);
    assert_eq!(line(&home, &["ask", "--detach", "--key", "k", "Why?"]), id);
    assert_eq!(run(&home, &["answer", &id, "because"]).code, 0);
    for asked in
        [first, second, start(&home, &ask), start(&home, &["wait", &id]), start(&home, &["wait", &id])]
    {
        let run = end(asked);
        assert_eq!((run.code, run.stdout.as_str()), (0, "because\n"), "{run:?}");
    }
    assert_eq!(line(&home, &["ask", "--detach", "--key", "k", "Why?"]), id, "it is known when it is over");
    for other in [&["Why not?"][..], &["Why?", "--timeout", "1h"], &["Why?", "--option", "a"]] {
        let refused = run(&home, &[&ask[..3], other].concat());
        assert_eq!((refused.code, refused.stdout.as_str()), (125, ""), "{other:?}: {refused:?}");
        assert!(refused.stderr.contains(&format!("another question, {id}: take a new key")), "{refused:?}");
    }
    assert_ne!(line(&home, &["ask", "--detach", "--key", "other", "Why?"]), id);
    let ids = [(); 2].map(|()| line(&home, &["ask", "--detach", "Why?"]));
    assert_ne!(ids[0], ids[1], "without a key, each is another");
    assert_eq!(open(&inbox.http).await.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wait_tells_each_outcome_as_ask_does() {
    let home = Home::new();
    let _inbox = home.start();
    let asked = |more: &[&str]| line(&home, &[&["ask", "--detach"][..], more].concat());
    let confirm = ["--confirm", "Deploy?"];
    let choose = ["Where?", "--option", "eu=Europe", "--option", "us=America", "--many"];
    for (ask, settle, code, printed) in [
        (&confirm[..], &["answer", "ID", "yes"][..], 0, "yes\n"),
        (&confirm, &["answer", "ID", "No"], 1, "no\n"),
        (&confirm, &["reject", "ID"], 7, ""),
        (&choose, &["answer", "ID", "America,Europe"], 0, "eu\nus\n"),
        (&choose, &["reject", "ID", "--reason", "not on a Friday"], 1, ""),
        (&["Why?"], &["answer", "ID", "two\nlines"], 0, "two\nlines\n"),
    ] {
        let id = asked(ask);
        let waiting = start(&home, &["wait", &id]);
        let settle: Vec<_> = settle.iter().map(|word| if *word == "ID" { &*id } else { word }).collect();
        assert_eq!(run(&home, &settle).code, 0, "{settle:?}");
        for told in [end(waiting), run(&home, &["wait", &id])] {
            let sorted: String = {
                let mut lines: Vec<_> = told.stdout.lines().collect();
                if ask.contains(&"--many") {
                    lines.sort_unstable();
                }
                lines.iter().map(|line| format!("{line}\n")).collect()
            };
            assert_eq!((told.code, &*sorted), (code, printed), "{ask:?} {settle:?}: {told:?}");
            assert_eq!(told.stderr.contains("not on a Friday"), settle.contains(&"--reason"), "{told:?}");
        }
    }
    let id = asked(&["Why?", "--timeout", "50ms"]);
    let over = run(&home, &["wait", &id]);
    assert_eq!((over.code, over.stdout.as_str()), (124, ""), "{over:?}");
    let asked_and_over = run(&home, &["ask", "--key", "k", "Why?", "--timeout", "50ms"]);
    assert_eq!((asked_and_over.code, asked_and_over.stdout.as_str()), (124, ""), "{asked_and_over:?}");

    let id = asked(&["Why?"]);
    let unanswered = run(&home, &["wait", &id, "--timeout", "50ms"]);
    assert_eq!((unanswered.code, unanswered.stdout.as_str()), (124, ""), "{unanswered:?}");
    assert!(unanswered.stderr.contains("stays open"), "{unanswered:?}");
    assert_eq!(run(&home, &["answer", &id, "because"]).code, 0);
    let told: Value = serde_json::from_str(&run(&home, &["wait", &id, "--json"]).stdout).expect("JSON");
    assert_eq!(told["outcome"]["values"], json!({ "q0": "because" }));
    assert_eq!(told["by"]["responder"], "command_line");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupted_command_leaves_the_question_open() {
    let home = Home::new();
    let inbox = home.start();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let key = format!("k{code}");
        let asking = start(&home, &["ask", "--key", &key, "--confirm", "Deploy?"]);
        let id = waits(&asking);
        asking.signal(signal);
        let left = end(asking);
        assert_eq!((left.code, left.stdout.as_str()), (code, ""), "{left:?}");
        assert!(left.stderr.contains(&format!("{id} stays open: `askbridge wait {id}`")), "{left:?}");
        let waiting = start(&home, &["wait", &id]);
        assert_eq!(waits(&waiting), id);
        waiting.signal(signal);
        assert_eq!(end(waiting).code, code);
        assert!(is_open(&inbox.http, &id).await);
        assert_eq!(run(&home, &["answer", &id, "y"]).code, 0);
        assert_eq!(line(&home, &["wait", &id]), "yes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_finds_the_next_inbox() {
    let home = Home::new();
    let inbox = home.start();
    let asking = start(&home, &["ask", "--key", "k", "Why?"]);
    let id = waits(&asking);
    let waiting = start(&home, &["wait", &id]);
    assert_eq!(waits(&waiting), id);
    inbox.kill();
    for process in [&asking, &waiting] {
        process.expect_stderr("that it waits on", |text| {
            text.contains("waiting for the next `askbridge inbox`")
        });
    }
    // Another end, and another beginning.
    let mut second = home.start();
    second.process.signal(Signal::TERM);
    second.process.wait();
    let third = home.start();
    assert!(is_open(&third.http, &id).await);
    assert_eq!(run(&home, &["answer", &id, "because"]).code, 0);
    for process in [asking, waiting] {
        let told = end(process);
        assert_eq!((told.code, told.stdout.as_str()), (0, "because\n"), "{told:?}");
        assert_eq!(told.stderr.matches("waiting for the next").count(), 1, "{told:?}");
    }
}

#[test]
fn an_inbox_is_started_where_it_is_needed() {
    let home = Home::with(ANY_PORT);
    home.may_start_inbox();
    let runs = || !run(&home, &["inbox", "--stop"]).stdout.starts_with("no ");
    assert!(!runs());
    let unknown = run(&home, &["wait", "k3f9q2-p1"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (3, ""), "{unknown:?}");
    assert!(!runs(), "a wrong ID starts nothing");

    let asked = run(&home, &["ask", "--detach", "Why?"]);
    assert!(asked.stderr.contains("started the inbox in the background"), "{asked:?}");
    let id = asked.stdout.trim_end().to_owned();
    let again = run(&home, &["ask", "--detach", "Why not?"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, ""), "{again:?}");
    assert!(runs());

    let waiting = start(&home, &["wait", &id]);
    waiting.expect_stderr("the start", |text| text.contains("started the inbox in the background"));
    assert_eq!(run(&home, &["answer", &id, "because"]).code, 0);
    assert_eq!(end(waiting).stdout, "because\n");
    assert!(runs());

    assert_eq!(line(&home, &["wait", &id]), "because", "the journal tells it");
    assert!(!runs());
}

#[test]
fn what_cannot_be_kept_is_not_asked() {
    for (settings, why) in
        [("[journal]\nenabled = false\n", "journal.enabled"), ("[journal]\ntexts = false\n", "journal.texts")]
    {
        let home = Home::with(settings);
        let _inbox = home.start();
        for ask in [&["ask", "--key", "k", "Why?"][..], &["ask", "--detach", "Why?"]] {
            let refused = run(&home, ask);
            assert_eq!((refused.code, refused.stdout.as_str()), (125, ""), "{refused:?}");
            assert!(refused.stderr.contains(why), "{refused:?}");
        }
    }
    let home = Home::new();
    let (_inbox, _second) = (home.start(), home.start());
    let fields = json!([{ "name": "a", "label": "Token?", "kind": "text", "secret": true }]);
    let form = json!({ "_meta": { "askbridge": { "fields": fields } } }).to_string();
    let mut secret = Process::spawn(&mut home.command(&["ask", "--detach", "--form", "-"]));
    secret.send_bytes(form.as_bytes());
    secret.close_stdin();
    let refused = end(secret);
    assert_eq!((refused.code, refused.stdout.as_str()), (125, ""), "{refused:?}");
    assert!(refused.stderr.contains("the journal keeps no secret"), "{refused:?}");
    // A second inbox keeps nothing, and the first is found beside it.
    line(&home, &["ask", "--detach", "Why?"]);

    let held = start(&home, &["ask", "Why not?"]);
    let id = waits(&held);
    let waiting = run(&home, &["wait", &id]);
    assert_eq!((waiting.code, waiting.stdout.as_str()), (125, ""), "{waiting:?}");
    assert!(waiting.stderr.contains("does not keep this question"), "{waiting:?}");
    for key in ["", "a\nb", &"k".repeat(256)] {
        assert_eq!(run(&home, &["ask", "--key", key, "Why?"]).code, 2, "{key:?}");
    }
}

/// Calls a method over JSON-RPC, and returns the result, or the name of the error.
async fn call(http: &Http, method: &str, params: &Value) -> Result<Value, Value> {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let reply = http.post("/rpc", &request.to_string()).await.is(200).json();
    match reply.get("error") {
        Some(error) if error["data"].is_null() => Err(error["code"].clone()),
        Some(error) => Err(error["data"]["name"].clone()),
        None => Ok(reply["result"].clone()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_control_protocol_keeps_questions_too() {
    let home = Home::new();
    let inbox = home.start();
    let http = &inbox.http;
    let typed = with(
        question("Deploy?"),
        &json!({ "questionId": "q", "origin": "program", "dangerous": false, "blocking": true }),
    );
    let keep = json!({ "question": typed, "key": "k" });
    let kept = call(http, "question_keep", &keep).await.expect("a question");
    let id = kept["id"].as_str().expect("an ID").to_owned();
    let list = call(http, "question_list", &json!({})).await.expect("a list");
    assert_eq!(list["questions"][0]["id"], *id);
    assert_eq!(call(http, "question_keep", &keep).await.expect("the same")["id"], *id);
    let other = with(typed.clone(), &json!({ "message": "Delete?" }));
    let other = json!({ "question": other, "key": "k" });
    assert_eq!(call(http, "question_keep", &other).await, Err("key_used".into()));
    let no_key = json!({ "question": typed, "key": "k".repeat(256) });
    assert_eq!(call(http, "question_keep", &no_key).await, Err((-32602).into()));

    let now = call(http, "question_outcome", &json!({ "id": id })).await.expect("the question");
    assert_eq!(now["state"], "open");
    let soon = json!({ "id": id, "milliseconds": 20 });
    assert_eq!(call(http, "question_outcome", &soon).await.expect("the question")["state"], "open");
    let long = json!({ "id": id, "milliseconds": 600_000 });
    // A batch does not wait.
    let request = json!([{ "jsonrpc": "2.0", "id": 1, "method": "question_outcome", "params": long }]);
    let batch = http.post("/rpc", &request.to_string()).await.is(200).json();
    assert_eq!(batch[0]["result"]["state"], "open");
    let (waiter, params) = (http.clone(), long.clone());
    let waiting = tokio::spawn(async move { call(&waiter, "question_outcome", &params).await });
    let answer = json!({ "id": id, "answer": { "values": { "a": "because" } } });
    call(http, "question_answer", &answer).await.expect("it is open");
    let told = waiting.await.expect("a call").expect("the outcome");
    assert_eq!(told["settlement"]["outcome"]["values"]["a"], "because");
    assert_eq!(call(http, "question_withdraw", &json!({ "id": id })).await, Err("conflict".into()));

    let second = call(http, "question_keep", &json!({ "question": typed })).await.expect("a question");
    let withdraw = json!({ "id": second["id"] });
    for _ in 0..2 {
        assert_eq!(call(http, "question_withdraw", &withdraw).await, Ok(Value::Null));
    }
    let over = call(http, "question_outcome", &withdraw).await.expect("the outcome");
    assert_eq!(over["settlement"]["outcome"], json!({ "status": "rejected", "reason": "withdrawn" }));
    assert_eq!(open(http).await, Vec::<Value>::new());
    let unknown = json!({ "id": "nobody-p1" });
    for method in ["question_outcome", "question_withdraw"] {
        assert_eq!(call(http, method, &unknown).await, Err("not_found".into()), "{method}");
    }
    // The one way finds what was kept by the other.
    let by_http = http.post("/v1/questions", &left(question("Why?")).to_string()).await.is(201).json();
    let found = call(http, "question_outcome", &json!({ "id": by_http["id"] })).await.expect("the question");
    assert_eq!(found["id"], by_http["id"]);
}
