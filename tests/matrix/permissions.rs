//! Every agent's permissions with every kind of client and of responder: the client gets the agent's own bytes, the agent
//! the client's own bytes or the one option that was chosen elsewhere, and nothing is allowed by itself (I12).
//! What the agents send is what the mock agent sends, in `fixtures/dialects/permission-*.txt`.

use std::{fs, path::Path, time::Duration};

use askbridge_core::{
    acp::{Bridge, Config, Tier},
    desk::{Notice, Submission, Ticket, TicketedSubmission},
    engine::{Event, Output, Peer},
    question::{Answer, Outcome, Provenance, Purpose, Question, Responder, Role, Value as Given},
};
use serde_json::{Value, json};

use crate::matrix::clients::Reply;
use crate::matrix::manners::Manner;
use crate::support::stage::{Out, Stage};

/// A permission of an agent, and the updates that came before it.
struct Asks {
    agent: String,
    before: Vec<String>,
    request: String,
}

impl Asks {
    fn id(&self) -> Value {
        serde_json::from_str::<Value>(&self.request).unwrap()["id"].clone()
    }

    fn options(&self) -> Vec<(String, String)> {
        let request: Value = serde_json::from_str(&self.request).unwrap();
        let text = |option: &Value, name: &str| option[name].as_str().unwrap().to_owned();
        let options = request["params"]["options"].as_array().unwrap();
        options.iter().map(|option| (text(option, "optionId"), text(option, "kind"))).collect()
    }
}

/// Returns all permissions that the mock agents ask for. pi's are questions.
fn all() -> Vec<Asks> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dialects");
    let mut asks = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if !name.starts_with("permission-") || name.ends_with("-pi") {
            continue;
        }
        let mut before = Vec::new();
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix("agent> ")) {
            if line.contains("session/request_permission") {
                asks.push(Asks { agent: name.clone(), before: before.clone(), request: line.to_owned() });
            } else {
                before.push(line.to_owned());
            }
        }
    }
    assert!(asks.len() > 40, "{}", asks.len());
    asks
}

/// A bridge between an agent that has asked and a client.
struct World {
    stage: Stage,
    question: Question,
}

impl World {
    fn new(asks: &Asks, config: Config, capabilities: &Value) -> Self {
        let mut stage = Stage::new(Bridge::new(config));
        let params = json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
        stage.line(
            Peer::Client,
            &json!({ "jsonrpc": "2.0", "id": "i", "method": "initialize", "params": params }).to_string(),
        );
        stage.line(Peer::Agent, r#"{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":1}}"#);
        for update in &asks.before {
            assert_eq!(bytes(&stage.line(Peer::Agent, update)), (vec![], line(update)), "{}", asks.agent);
        }
        let out = stage.line(Peer::Agent, &asks.request);
        assert_eq!(
            bytes(&out),
            (vec![], line(&asks.request)),
            "{}: the client gets the agent's own bytes",
            asks.agent
        );
        let question = out.iter().find_map(|out| match out {
            Out::Told(Output::Notice(Notice::Opened(record))) => Some((*record.question).clone()),
            _ => None,
        });
        let question =
            question.unwrap_or_else(|| panic!("{}: not in the inbox: {}", asks.agent, asks.request));
        assert_eq!(question.purpose, Purpose::Permission, "{}", asks.agent);
        World { stage, question }
    }

    fn submit(&mut self, submission: Submission) -> Vec<Out> {
        let by = Provenance { responder: Responder::CommandLine, name: None };
        self.stage.handle(Event::Submitted(TicketedSubmission {
            ticket: Ticket(1),
            number: 1,
            submission,
            by,
        }))
    }

    fn answers(&mut self, result: &Value, id: &Value) -> (String, Vec<Out>) {
        let line = json!({ "result": result, "id": id, "jsonrpc": "2.0" }).to_string();
        let out = self.stage.line(Peer::Client, &line);
        (line, out)
    }
}

/// Something that ends a permission without a choice.
type End<'a> = &'a dyn Fn(&mut World) -> Vec<Out>;

fn line(text: &str) -> Vec<u8> {
    format!("{text}\n").into_bytes()
}

/// Returns the bytes for the agent, and those for the client.
fn bytes(out: &[Out]) -> (Vec<u8>, Vec<u8>) {
    let to = |peer: Peer| {
        let of = |out: &Out| match out {
            Out::Bytes(to, bytes) if *to == peer => bytes.clone(),
            _ => Vec::new(),
        };
        out.iter().flat_map(of).collect()
    };
    (to(Peer::Agent), to(Peer::Client))
}

/// Returns how the permission was settled.
fn settled(out: &[Out]) -> Option<(Responder, Outcome)> {
    out.iter().find_map(|out| match out {
        Out::Told(Output::Notice(Notice::Decided { settlement, .. })) => {
            Some((settlement.by.responder, settlement.outcome.clone()))
        }
        _ => None,
    })
}

fn chosen(option: &str) -> Answer {
    Answer { values: [("q0".to_owned(), Given::Text(option.to_owned()))].into(), ..Answer::default() }
}

fn selected(option: &str) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option } })
}

/// The ways to set up a bridge, and what clients say that they can show: a permission goes to each of them.
fn worlds() -> Vec<(Config, Value)> {
    let tiers =
        [None, Some(Tier::Extension), Some(Tier::Elicitation), Some(Tier::Permission), Some(Tier::None)];
    let native =
        json!({ "_meta": { "sandboxagent.dev": { "extensions": { "sessionRequestQuestion": true } } } });
    let clients = [json!({}), json!({ "elicitation": { "form": {} } }), native];
    let config = |tier| Config { tier, ..Config::default() };
    let pairs =
        tiers.into_iter().flat_map(|tier| clients.iter().map(move |client| (config(tier), client.clone())));
    pairs.collect()
}

/// Returns what comes of a client's own reply to a permission, for all permissions of all agents.
pub(crate) fn decided_by(manner: Manner) -> String {
    match manner {
        Manner::NeverReplies => return "stays open".to_owned(),
        Manner::LabelsByKind | Manner::OneIdOnce => return "its person decides".to_owned(),
        _ => {}
    }
    let mut ends: Vec<&str> = Vec::new();
    for asks in all() {
        let mut config = Config::default();
        config.common.name = Some("k3f9q2".parse().unwrap());
        let mut world = World::new(&asks, config, &json!({}));
        world.stage.pass(Duration::from_millis(5));
        let request: Value = serde_json::from_str(&asks.request).unwrap();
        let reply = match manner.reply("session/request_permission", &request["params"]) {
            Reply::Result(result) => json!({ "jsonrpc": "2.0", "id": asks.id(), "result": result }),
            Reply::Error(code) => json!({ "jsonrpc": "2.0", "id": asks.id(), "error": { "code": code } }),
            Reply::Unknown | Reply::Nothing => panic!("{manner:?} replies"),
        };
        let out = world.stage.line(Peer::Client, &reply.to_string());
        let decided = out.iter().find_map(|out| match out {
            Out::Told(Output::Notice(Notice::Decided { settlement, .. })) => Some(settlement.clone()),
            _ => None,
        });
        match decided {
            Some(settlement) => {
                assert_eq!(bytes(&out).0, line(&reply.to_string()), "{}: {manner:?}", asks.agent);
                assert_eq!(settlement.reaction_ms, Some(5), "{}: {manner:?}", asks.agent);
                let is_refused = manner == Manner::DeclinesAtOnce;
                ends.push(if is_refused {
                    "rejected, by the client itself"
                } else {
                    "allowed, by the client itself"
                });
            }
            None => {
                assert_eq!(bytes(&out).0, b"", "{}: {manner:?}", asks.agent);
                assert_eq!(world.stage.bridge.open_questions(), 1);
                ends.push("stays open");
                let session = &request["params"]["sessionId"];
                let cancel = json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } });
                let out = world.stage.line(Peer::Client, &cancel.to_string());
                let told = String::from_utf8(bytes(&out).0).unwrap();
                assert!(told.contains(r#""outcome":{"outcome":"cancelled"}"#), "{}: {told}", asks.agent);
            }
        }
    }
    ends.sort_unstable();
    ends.dedup();
    ends.join("; or ")
}

#[test]
fn the_agent_gets_what_its_client_says() {
    for asks in all() {
        for (config, capabilities) in worlds() {
            let mut results: Vec<_> = asks.options().iter().map(|(id, _)| selected(id)).collect();
            results.extend([
                json!({ "outcome": { "outcome": "cancelled" } }),
                selected("of nobody"),
                json!(null),
            ]);
            for result in results {
                let mut world = World::new(&asks, config.clone(), &capabilities);
                let (line_of_client, out) = world.answers(&result, &asks.id());
                assert_eq!(bytes(&out), (line(&line_of_client), vec![]), "{}", asks.agent);
                let (by, outcome) = settled(&out).unwrap();
                assert_eq!(by, Responder::Client);
                let is_option = asks.options().iter().any(|(id, _)| result == selected(id));
                assert_eq!(matches!(outcome, Outcome::Answered(_)), is_option, "{}: {outcome:?}", asks.agent);
            }
        }
    }
}

#[test]
fn the_agent_gets_the_option_that_is_chosen_elsewhere_and_nothing_of_the_late_client() {
    for asks in all() {
        for (option, kind) in asks.options() {
            let mut world = World::new(&asks, Config::default(), &json!({}));
            let role = world.question.fields[0]
                .kind
                .options()
                .iter()
                .find(|it| it.value == option)
                .unwrap()
                .role
                .as_deref();
            assert_eq!(role.map(Role::name), Some(&*kind), "{}", asks.agent);
            let out = world.submit(Submission::answer(chosen(&option), None));
            let (to_agent, to_client) = bytes(&out);
            let told: Value = serde_json::from_slice(&to_agent).unwrap();
            assert_eq!(
                told,
                json!({ "jsonrpc": "2.0", "id": asks.id(), "result": selected(&option) }),
                "{}",
                asks.agent
            );
            let cancel: Value = serde_json::from_slice(&to_client).unwrap();
            assert_eq!(
                (&cancel["method"], &cancel["params"]["requestId"]),
                (&json!("$/cancel_request"), &asks.id())
            );
            let (_, out) = world.answers(&selected("late"), &asks.id());
            let (to_agent, to_client) = bytes(&out);
            assert_eq!(to_agent, b"", "{}: the late answer is dropped", asks.agent);
            let told = String::from_utf8(to_client).unwrap();
            let why = if kind.starts_with("allow") { "allowed" } else { "rejected" };
            let words = format!("came too late and was not used: it was {why} elsewhere before");
            assert!(told.contains(&words), "{}: {told}", asks.agent);
        }
    }
}

#[test]
fn nothing_but_a_choice_allows_anything() {
    for asks in all() {
        let mut config = Config::default();
        config.common.timeout = Some(Duration::from_secs(60));
        let session = serde_json::from_str::<Value>(&asks.request).unwrap()["params"]["sessionId"].clone();
        let note = |method: &str| {
            json!({ "jsonrpc": "2.0", "method": method, "params": { "sessionId": session } }).to_string()
        };
        let prompt = json!({ "jsonrpc": "2.0", "id": 99, "method": "session/prompt", "params": { "sessionId": session, "prompt": [] } });
        let ends: [(&str, End<'_>); 6] = [
            ("a rejection", &|world| world.submit(Submission::Reject(None))),
            ("a timeout", &|world| world.stage.pass(Duration::from_secs(60))),
            ("a cancelled turn", &|world| {
                world.stage.line(Peer::Client, &note("session/cancel"));
                world.stage.pass(Duration::from_secs(2))
            }),
            ("a closed session", &|world| {
                let close = json!({ "jsonrpc": "2.0", "id": 98, "method": "session/close", "params": { "sessionId": session } });
                world.stage.line(Peer::Client, &close.to_string())
            }),
            ("the end of the client", &|world| world.stage.end(Peer::Client)),
            ("a signal", &|world| world.stage.handle(Event::Signal)),
        ];
        for (what, end) in ends {
            let mut world = World::new(&asks, config.clone(), &json!({}));
            let out = world.stage.line(Peer::Client, &prompt.to_string());
            assert_eq!(bytes(&out).0, line(&prompt.to_string()), "a chat message goes on at once");
            assert_eq!(settled(&out), None, "{}: a chat message settles nothing", asks.agent);
            let out = end(&mut world);
            let to_agent = String::from_utf8(bytes(&out).0).unwrap();
            let told = to_agent.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let told: Vec<_> =
                told.filter(|told| told["id"] == asks.id() && told.get("method").is_none()).collect();
            let [told] = &*told else { panic!("{}, {what}: {to_agent}", asks.agent) };
            let result = &told["result"]["outcome"];
            let option = result["optionId"].as_str();
            let role =
                option.map(|id| asks.options().into_iter().find(|(option, _)| option == id).unwrap().1);
            assert!(
                result["outcome"] == "cancelled"
                    || role.as_deref().is_some_and(|role| role.starts_with("reject_")),
                "{}, {what}: {told}",
                asks.agent
            );
            assert!(option.is_none() || what == "a rejection", "{}, {what}: {told}", asks.agent);
            assert!(matches!(settled(&out), Some((_, Outcome::Rejected(_)))), "{}, {what}", asks.agent);
        }
    }
}

#[test]
fn every_agents_permission_says_what_it_is_for() {
    for asks in all() {
        let world = World::new(&asks, Config::default(), &json!({}));
        let question = &world.question;
        assert!(!question.message.is_empty(), "{}", asks.agent);
        let subject = question
            .subject
            .as_deref()
            .unwrap_or_else(|| panic!("{}: no subject: {}", asks.agent, asks.request));
        if asks.request.contains("rm -rf")
            || asks.before.iter().any(|line| {
                line.contains("rm -rf")
                    && line.contains(&format!("{:?}", question.tool_call.as_deref().unwrap_or("?")))
            })
        {
            assert!(question.dangerous, "{}: {question:?}", asks.agent);
            let says = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains("rm -rf"));
            assert!(
                says(&subject.command) || says(&subject.content) || question.message.contains("rm -rf"),
                "{}: {question:?}",
                asks.agent
            );
        }
    }
}
