//! What the server itself keeps from a user, whatever the program of the user does.

use std::sync::Arc;

use async_nats::{Client, ConnectOptions, Event};
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc,
    time::timeout,
};

use crate::{
    server::Server,
    support::DEADLINE,
    world::{Asked, World},
};

/// A connection with the credentials of a user, and what the server refuses on it.
struct Thief {
    runtime: Runtime,
    client: Client,
    refused: Arc<tokio::sync::Mutex<mpsc::Receiver<String>>>,
    user: String,
}

impl Thief {
    fn new(world: &World, user: &str) -> Self {
        Thief::at(&world.server, user, world.users.password(user))
    }

    fn at(server: &Server, user: &str, password: String) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (sender, refused) = mpsc::channel(1024);
        let options = ConnectOptions::with_user_and_password(user.to_owned(), password)
            .custom_inbox_prefix(format!("_INBOX.{user}"))
            .event_callback(move |event| {
                if let Event::ServerError(error) = event {
                    drop(sender.try_send(error.to_string()));
                }
                async {}
            });
        let client = runtime.block_on(options.connect(server.url())).unwrap();
        let refused = Arc::new(tokio::sync::Mutex::new(refused));
        Thief { runtime, client, refused, user: user.to_owned() }
    }

    /// Waits until the server has read all that was sent, and returns what it has refused.
    fn refusals(&self) -> Vec<String> {
        self.runtime.block_on(async {
            let who = self.client.request("$SYS.REQ.USER.INFO", "".into());
            timeout(DEADLINE, who).await.unwrap().unwrap();
            let mut refused = self.refused.lock().await;
            let mut all = Vec::new();
            // The events come from another task. One that is refused on purpose comes last.
            self.client.publish("refused.on.purpose", "".into()).await.unwrap();
            loop {
                let next = timeout(DEADLINE, refused.recv()).await.expect("the last refusal").unwrap();
                match next.contains("refused.on.purpose") {
                    true => return all,
                    false => all.push(next),
                }
            }
        })
    }

    #[track_caller]
    fn cannot_publish(&self, subject: &str) {
        self.runtime.block_on(self.client.publish(subject.to_owned(), "{}".into())).unwrap();
        let refused = self.refusals();
        let is_named =
            |text: &String| text.to_lowercase().contains(&format!("publish to \"{subject}\"").to_lowercase());
        assert!(refused.iter().any(is_named), "{} published to {subject}: {refused:?}", self.user);
    }

    #[track_caller]
    fn can_publish(&self, subject: &str) {
        self.runtime.block_on(self.client.publish(subject.to_owned(), "{}".into())).unwrap();
        assert_eq!(self.refusals(), [""; 0], "{subject}");
    }

    #[track_caller]
    fn cannot_subscribe(&self, subject: &str) {
        let subscriber = self.runtime.block_on(self.client.subscribe(subject.to_owned())).unwrap();
        let refused = self.refusals();
        let is_named = |text: &String| {
            text.to_lowercase().contains(&format!("subscription to \"{subject}\"").to_lowercase())
        };
        assert!(refused.iter().any(is_named), "{} subscribed to {subject}: {refused:?}", self.user);
        drop(subscriber);
    }

    #[track_caller]
    fn can_subscribe(&self, subject: &str) {
        let subscriber = self.runtime.block_on(self.client.subscribe(subject.to_owned())).unwrap();
        assert_eq!(self.refusals(), [""; 0], "{subject}");
        drop(subscriber);
    }
}

/// What a machine must not publish on.
const FOREIGN: &[&str] = &[
    // Answers, as a person or as another machine.
    "askbridge.v1.other.other-aaaaaa.call.ana",
    "askbridge.v1.other.other-aaaaaa.call.box",
    "askbridge.v1.box.box-aaaaaa.call.ana",
    "askbridge.v1.box.box-aaaaaa.call.box",
    // Questions in the name of another machine.
    "askbridge.v1.other.other-aaaaaa.reply.ana.t.s",
    "$KV.askbridge.other.other-aaaaaa",
    "$KV.askbridge.ana.x-aaaaaa",
    // Subjects of its own that no machine uses.
    "askbridge.v1.box.box-aaaaaa.reply.ana.t.7",
    "askbridge.v1.box.box-aaaaaa.reply.ana",
    "askbridge.v1.box.box-aaaaaa.reply.ana.t.s.s",
    "$KV.askbridge.box.box-aaaaaa.more",
    "$KV.askbridge.box",
    // The directory, its stream, and any other stream.
    "$JS.API.INFO",
    "$JS.API.STREAM.INFO.x",
    "$JS.API.STREAM.LIST",
    "$JS.API.STREAM.LEADER.STEPDOWN.KV_askbridge",
    "$JS.API.STREAM.SNAPSHOT.KV_askbridge",
    "$JS.EVENT.ADVISORY.STREAM.UPDATED.KV_askbridge",
    "$JS.API.DIRECT.GET.KV_askbridge",
    "$JS.API.STREAM.MSG.GET.KV_askbridge",
    "$JS.API.CONSUMER.CREATE.KV_askbridge",
    "$JS.API.STREAM.CREATE.KV_askbridge",
    "$JS.API.STREAM.CREATE.x",
    "$JS.API.STREAM.UPDATE.KV_askbridge",
    "$JS.API.STREAM.PURGE.KV_askbridge",
    "$JS.API.STREAM.DELETE.KV_askbridge",
    "$JS.API.STREAM.NAMES",
    // The replies that others wait for.
    "_INBOX.ana.x",
    "_INBOX.other.x",
    "$SYS.REQ.SERVER.PING",
];

/// What a machine must not subscribe to.
const HEARD: &[&str] = &[
    ">",
    "askbridge.>",
    "askbridge.v1.other.*.call.*",
    "askbridge.v1.other.*.reply.>",
    "askbridge.v1.box.*.reply.>",
    "$KV.askbridge.>",
    "$KV.askbridge.box.>",
    "_INBOX.>",
    "_INBOX.ana.>",
    "$JS.API.>",
    "$SYS.>",
];

#[test]
fn a_stolen_credential_of_a_bridge_shows_its_own_questions_and_nothing_else() {
    let world = World::new();
    let mut person = world.member("ana");
    person.inbox();
    let thief = Thief::new(&world, "box");
    // What it is for.
    for own in [
        "askbridge.v1.box.box-aaaaaa.reply.ana.t.s",
        "$KV.askbridge.box.box-aaaaaa",
        "$JS.API.STREAM.INFO.KV_askbridge",
    ] {
        thief.can_publish(own);
    }
    for own in
        ["askbridge.v1.box.box-aaaaaa.call.*", "_INBOX.box.x", "$JS.EVENT.ADVISORY.STREAM.*.KV_askbridge"]
    {
        thief.can_subscribe(own);
    }
    for other in FOREIGN {
        thief.cannot_publish(other);
    }
    for other in HEARD {
        thief.cannot_subscribe(other);
    }
}

/// The queues of a machine and of a person are bounded by a number of messages, so that their size has to be as well.
#[test]
fn a_message_larger_than_any_of_a_session_ends_the_connection() {
    let world = World::new();
    let thief = Thief::new(&world, "box");
    let subject = "askbridge.v1.box.box-aaaaaa.reply.ana.t.s";
    thief.runtime.block_on(thief.client.publish(subject, vec![b' '; 64 * 1024].into())).unwrap();
    assert_eq!(thief.refusals(), [""; 0]);
    thief.runtime.block_on(async {
        // The client may know the limit, and refuse by itself.
        drop(thief.client.publish(subject, vec![b' '; 80 * 1024].into()).await);
        let mut refused = thief.refused.lock().await;
        let why = timeout(DEADLINE, refused.recv()).await.expect("a refusal").unwrap();
        assert!(why.to_lowercase().contains("maximum payload"), "{why}");
    });
}

#[test]
fn a_person_cannot_be_another_person_nor_a_machine_of_another() {
    let world = World::new();
    let ana = Thief::new(&world, "ana");
    ana.can_publish("askbridge.v1.box.box-aaaaaa.call.ana");
    ana.can_subscribe("$KV.askbridge.>");
    for other in [
        "askbridge.v1.box.box-aaaaaa.call.bob",
        "askbridge.v1.box.box-aaaaaa.reply.bob.t.s",
        "askbridge.v1.box.box-aaaaaa.reply.ana.t.s",
        "$KV.askbridge.box.box-aaaaaa",
        "$JS.API.STREAM.CREATE.KV_askbridge",
        "$JS.API.STREAM.CREATE.x",
        "$JS.API.STREAM.MSG.GET.KV_askbridge",
        "$JS.API.DIRECT.GET.KV_askbridge",
        "$JS.API.CONSUMER.CREATE.KV_askbridge",
        "$JS.API.STREAM.UPDATE.KV_askbridge",
        "$JS.API.STREAM.PURGE.KV_askbridge",
        "$JS.API.STREAM.DELETE.KV_askbridge",
        "_INBOX.bob.x",
    ] {
        ana.cannot_publish(other);
    }
    for other in [
        ">",
        "askbridge.v1.*.*.reply.>",
        "askbridge.v1.*.*.reply.bob.*.*",
        "askbridge.v1.box.*.call.*",
        "_INBOX.bob.>",
    ] {
        ana.cannot_subscribe(other);
    }
}

#[test]
fn the_operator_creates_the_directory_and_sees_no_question() {
    let world = World::new();
    let operator = Thief::new(&world, "operator");
    for other in [
        "askbridge.v1.box.box-aaaaaa.call.operator",
        "askbridge.v1.box.box-aaaaaa.call.ana",
        "askbridge.v1.box.box-aaaaaa.reply.ana.t.s",
        "$KV.askbridge.box.box-aaaaaa",
        "$JS.API.STREAM.CREATE.x",
        "$JS.API.DIRECT.GET.KV_askbridge",
        "$JS.API.STREAM.UPDATE.KV_askbridge",
    ] {
        operator.cannot_publish(other);
    }
    for other in
        [">", "askbridge.>", "askbridge.v1.*.*.reply.>", "$KV.askbridge.>", "_INBOX.>", "_INBOX.ana.>"]
    {
        operator.cannot_subscribe(other);
    }
}

/// The broker sends its reply to a request to any subject that the request names, past the permissions of its user.
#[test]
fn what_the_broker_can_be_made_to_send_changes_no_machine_of_another_user() {
    let world = World::new();
    let Asked { far: _far, person, machine, agent, id, .. } = world.asked("other", "ana");
    let place = machine.trim_start_matches("other.");
    let (entry, call) =
        (format!("$KV.askbridge.other.{place}"), format!("askbridge.v1.other.{place}.call.ana"));
    let (bridge, bob) = (Thief::new(&world, "box"), Thief::new(&world, "bob"));
    let own_entry = |user: &str| format!("$KV.askbridge.{user}.{user}-aaaaaa");
    let bounce = |thief: &Thief, request: &str, body: &str, to: &str| {
        let sent = thief.client.publish_with_reply(request.to_owned(), to.to_owned(), body.to_owned().into());
        thief.runtime.block_on(sent).unwrap();
        thief.refusals();
    };
    let stream = |call: &str| format!("$JS.API.STREAM.{call}.KV_askbridge");
    for to in [entry, call, stream("PURGE"), stream("DELETE"), stream("UPDATE"), stream("CREATE")] {
        let to = to.as_str();
        bounce(&bridge, &own_entry("box"), r#"{"version":"0","open":0}"#, to);
        bounce(&bridge, "$JS.API.STREAM.INFO.KV_askbridge", "{x", to);
        bounce(&bridge, "$SYS.REQ.USER.INFO", "", to);
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("KV-Operation", "DEL");
        headers.insert("Askbridge-Number", "0");
        let stored = bob.client.publish_with_headers(own_entry("bob"), headers, "{}".into());
        bob.runtime.block_on(stored).unwrap();
        bob.refusals();
        // This one, with a reply that bob has chosen, the server must refuse.
        let get = serde_json::json!({ "last_by_subj": own_entry("bob") }).to_string();
        bounce(&bob, "$JS.API.DIRECT.GET.KV_askbridge", &get, to);
        bounce(&bob, "$JS.API.STREAM.INFO.KV_askbridge", r#"{"subjects_filter":">"}"#, to);
    }
    // One write removes no entry of another user, either.
    let mut headers = async_nats::HeaderMap::new();
    headers.insert("Nats-Rollup", "all");
    let rolled = bridge.client.publish_with_headers(own_entry("box"), headers, "{}".into());
    bridge.runtime.block_on(rolled).unwrap();
    bridge.refusals();
    // A person who comes now, and reads the bucket, finds the machine and its question, and nothing else.
    let late = world.member("bob");
    let listed = late.run(&["list", "--json"]);
    assert_eq!((listed.code, crate::world::ids(&listed.stdout)), (0, vec![id.clone()]), "{listed:?}");
    person.ok(&["answer", &id, "a"]);
    assert_eq!(agent.end().0, 1);
}

/// An agent takes the file of its sandbox, and says in it that it is a person.
#[test]
fn a_bridge_that_says_that_it_is_a_person_sees_nothing_and_answers_nothing() {
    let world = World::new();
    let Asked { far: _far, person, agent, own, id, .. } = world.asked("other", "ana");

    let forged = world.users.folder().join("forged.json");
    let text = std::fs::read_to_string(world.users.file("box")).unwrap();
    std::fs::write(&forged, text.replace("\"bridge\"", "\"person\"")).unwrap();
    std::fs::set_permissions(&forged, std::fs::metadata(world.users.file("box")).unwrap().permissions())
        .unwrap();
    let thief = world.member("box");
    thief.sets(&forged, &world.server.url());
    let listed = thief.run(&["list", "--json"]);
    assert!(!listed.stdout.contains(&own), "{listed:?}");
    // An empty list would look like one of a fleet where nothing waits.
    let listed = thief.run(&["list"]);
    assert_eq!(listed.code, i32::from(askbridge_os::exit::BRIDGE_GONE), "{listed:?}");
    assert!(listed.stderr.contains("box is not a person there"), "{listed:?}");
    assert!(!listed.stderr.contains("WARN"), "{listed:?}");
    let answered = thief.run(&["answer", &id, "a"]);
    assert_ne!(answered.code, 0, "{answered:?}");
    person.ok(&["answer", &id, "b"]);
    agent.has_heard("b");
}

/// A message with another name in its payload, over the subject of its user.
#[test]
fn whoever_a_payload_names_the_user_of_the_broker_is_recorded() {
    let world = World::new();
    let mut far = world.member("box");
    let machine = far.gateway();
    let (agent, own) = far.asks("Which?");
    // The gateway knows the question once a person is shown it.
    world.member("ana").until_listed("the question", |ids| ids == [format!("{machine}/{own}")]);
    let bob = Thief::new(&world, "bob");
    let place = format!("askbridge.v1.box.{}", machine.trim_start_matches("box."));
    let answer = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "question_answer",
        "params": {
            "id": own, "answer": { "values": { "q0": "a" } },
            "by": { "responder": "command_line", "name": "ana" }
        }
    });
    bob.runtime.block_on(async {
        use futures::StreamExt;
        let session = format!("{place}.reply.bob.t0ken");
        let mut replies = bob.client.subscribe(format!("{session}.*")).await.unwrap();
        for (number, payload) in [String::new(), format!("{answer}\n")].into_iter().enumerate() {
            let mut headers = async_nats::HeaderMap::new();
            headers.insert("Askbridge-Number", number.to_string());
            let reply = format!("{session}.{number}");
            let subject = format!("{place}.call.bob");
            bob.client.publish_with_reply_and_headers(subject, reply, headers, payload.into()).await.unwrap();
        }
        let until = async {
            while let Some(message) = replies.next().await {
                let text = String::from_utf8_lossy(&message.payload).into_owned();
                // The first line greets.
                if text.contains("\"id\":1") {
                    return text;
                }
            }
            panic!("the connection ended");
        };
        let reply = timeout(DEADLINE, until).await.expect("a reply");
        assert!(reply.contains(r#""responder":"fleet","name":"bob""#), "{reply}");
    });
    assert_eq!(agent.end().0, 1);
    let kept = far.ok(&["history"]);
    assert!(kept.contains("answered by bob over the fleet") && !kept.contains("ana"), "{kept}");
}
