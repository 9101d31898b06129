//! Random askers, persons and kills, and an oracle: what anybody was told holds for ever. `KILLS=10000` plays more of
//! them, `SEED` others.

use std::{
    collections::BTreeMap,
    env,
    io::{Write, stderr},
};

use askbridge_core::question::action::digest;
use serde_json::{Value, json};
use tokio::spawn;

use crate::http::client::{Http, soon};
use crate::standing::home::{
    Home, ask_under, id, left, open, question, reply, send, show, wait, with, withdraw,
};
use crate::support::oracle::{Random, pass};

/// Number of kills in the gate.
const KILLS: usize = 200;
/// Number of kills in one home, so that its journal stays small.
const KILLS_OF_HOME: usize = 20;
const KEYS: u64 = 4;
/// Number of programs and persons at once.
const ACTORS: u64 = 6;

/// What a program or a person does.
#[derive(Clone, Copy, Debug)]
enum Step {
    AskAndLeave,
    AskAndWait,
    Show,
    Wait,
    Reply,
    Withdraw,
    Consume,
}

use Step::{AskAndLeave, AskAndWait, Consume, Reply, Show, Wait, Withdraw};

/// What some programs and persons do one after the other, with one question each.
const ACTS: [&[Step]; 14] = [
    &[AskAndLeave],
    &[AskAndLeave, AskAndLeave, Show],
    &[AskAndLeave, Wait],
    &[AskAndWait],
    &[AskAndWait],
    &[Show, Show, Show],
    &[Wait],
    &[AskAndLeave, Reply, Show],
    &[Reply, Show],
    &[Reply, AskAndWait],
    &[AskAndLeave, Withdraw, Show],
    &[Withdraw, Withdraw, AskAndLeave],
    &[AskAndLeave, Reply, Consume, Consume],
    &[Reply, Consume, Consume],
];

/// One thing that was told, or that was sent without a response.
#[derive(Debug)]
enum Heard {
    /// The question of the key.
    Id(String),
    /// The question was asked just now.
    Asked,
    /// Its settlement.
    Settled(Value),
    /// This answer was sent.
    Sent(String),
    /// This answer was accepted.
    Accepted(String),
    /// A withdrawal was sent.
    Withdrawing,
    /// It is withdrawn.
    Withdrawn,
    /// This program took the approval.
    Consumed(String),
    /// The inbox ended before it told the result.
    Nothing,
}

/// A key, and what was told of it.
#[derive(Debug, Default)]
struct Key {
    name: String,
    timeout: Option<u64>,
    id: Option<String>,
    asked: usize,
    settlement: Option<Value>,
    sent: Vec<String>,
    accepted: Vec<String>,
    withdrawing: bool,
    withdrawn: bool,
    /// Whether it is a permission, whose approval is spent once.
    permits: bool,
    consumed: Option<String>,
}

#[derive(Debug, Default)]
struct Counts {
    kills: usize,
    stalls: usize,
    cut_off: usize,
    kept: usize,
    reopened: usize,
    answered: usize,
    withdrawn: usize,
    expired: usize,
    waited: usize,
    consumed: usize,
}

impl Key {
    fn body(&self) -> Value {
        let body = match self.permits {
            true => {
                json!({ "purpose": "permission", "subject": subject(&self.name), "message": format!("{}?", self.name) })
            }
            false => question(&format!("{}?", self.name)),
        };
        self.timeout.map_or(body.clone(), |timeout| with(body, &json!({ "timeoutMs": timeout })))
    }

    /// Takes in what was told. Whatever was told before holds.
    fn hear(&mut self, heard: Heard, what: &str) {
        match heard {
            Heard::Id(id) => {
                let known = self.id.get_or_insert_with(|| id.clone());
                assert_eq!(*known, id, "another question under the same key: {what}");
            }
            Heard::Asked => self.asked += 1,
            Heard::Settled(settlement) => {
                let known = self.settlement.get_or_insert_with(|| settlement.clone());
                assert_eq!(*known, settlement, "another outcome: {what}");
            }
            Heard::Sent(text) => self.sent.push(text),
            Heard::Accepted(text) if self.accepted.contains(&text) => {}
            Heard::Accepted(text) => self.accepted.push(text),
            Heard::Consumed(by) => {
                let first = self.consumed.get_or_insert_with(|| by.clone());
                assert_eq!(*first, by, "spent twice: {what}");
            }
            Heard::Withdrawing => self.withdrawing = true,
            Heard::Withdrawn => self.withdrawn = true,
            Heard::Nothing => {}
        }
        assert!(self.asked <= 1, "asked twice under one key: {what}");
        assert!(self.accepted.len() <= 1, "two answers were accepted: {what}");
    }

    /// Checks what is known of the question against all that was told.
    fn check(&self, shown: &Value, what: &str, counts: &mut Counts) {
        let what = format!("{what}: {shown}, of {self:?}");
        // A decision that is on its way was told to nobody.
        if matches!(shown["state"].as_str(), Some("open" | "delivering")) {
            let is_told = self.settlement.is_some()
                || !self.accepted.is_empty()
                || self.withdrawn
                || self.consumed.is_some();
            assert!(!is_told, "it is open again: {what}");
            counts.reopened += 1;
            return;
        }
        assert_eq!(shown["state"], "settled", "{what}");
        let outcome = &shown["settlement"]["outcome"];
        let text = outcome["values"][if self.permits { "q0" } else { "a" }].as_str();
        match (outcome["status"].as_str(), outcome["reason"].as_str()) {
            (Some("answered"), _) => {
                assert!(text.is_some_and(|text| self.sent.iter().any(|sent| sent == text)), "{what}");
                counts.answered += 1;
            }
            (Some("rejected"), Some("withdrawn")) => {
                assert!(self.withdrawing, "{what}");
                counts.withdrawn += 1;
            }
            (Some("rejected"), Some("timeout")) => {
                assert!(self.timeout.is_some(), "{what}");
                counts.expired += 1;
            }
            _ => panic!("nobody gave this outcome: {what}"),
        }
        assert!(
            self.accepted.iter().all(|accepted| text == Some(accepted)),
            "not the accepted answer: {what}"
        );
        assert!(self.consumed.is_none() || shown["use"]["consumedAt"].is_string(), "it is not spent: {what}");
        assert!(!self.withdrawn || outcome["reason"] == "withdrawn", "it was withdrawn: {what}");
        assert!(
            self.settlement.as_ref().is_none_or(|known| *known == shown["settlement"]),
            "another outcome: {what}"
        );
    }
}

/// What a program asks to be allowed under a key.
fn subject(name: &str) -> Value {
    json!({ "tool": name })
}

/// A program or a person with one question.
struct Actor {
    http: Http,
    key: String,
    permits: bool,
    body: Value,
    id: Option<String>,
    heard: Vec<Heard>,
}

impl Actor {
    async fn play(mut self, steps: &[Step], run: String) -> Vec<Heard> {
        for step in steps {
            let Some(heard) = self.step(*step, &run).await else {
                self.heard.push(Heard::Nothing);
                break;
            };
            for heard in &heard {
                if let Heard::Id(id) = heard {
                    self.id = Some(id.clone());
                }
            }
            self.heard.extend(heard);
        }
        self.heard
    }

    /// Returns what is told. `None` if the inbox ends first.
    async fn step(&mut self, step: Step, run: &str) -> Option<Vec<Heard>> {
        // A permission has one option that allows.
        let answer = if self.permits { "allow" } else { run };
        let known = self.id.clone();
        let Actor { http, key, body, heard, permits, .. } = self;
        let (http, key) = (&*http, key.as_str());
        let told = match (step, &known) {
            (AskAndLeave, _) => ask_under(http, key, &left(body.clone())).await?,
            (AskAndWait, _) => ask_under(http, key, body).await?,
            // The key has no question yet that this actor knows.
            (_, None) => return Some(Vec::new()),
            (Show, Some(id)) => show(http, id).await?,
            (Wait, Some(id)) => wait(http, id).await?,
            (Reply, Some(id)) => {
                heard.push(Heard::Sent(answer.to_owned()));
                reply(http, id, answer).await?
            }
            (Consume, _) if !*permits => return Some(Vec::new()),
            (Consume, Some(id)) => {
                let digest = digest(subject(key).as_object().expect("an object")).expect("a digest");
                // Each program has a key of its own, under which it may ask again.
                let run = format!("Idempotency-Key: {run}");
                send(http, id, "consume", &[&run], &json!({ "digest": digest })).await?
            }
            (Withdraw, Some(id)) => {
                heard.push(Heard::Withdrawing);
                withdraw(http, id).await?
            }
        };
        let said = format!("{step:?}: {told:?}");
        Some(match (step, told.status) {
            (AskAndWait, 200) => vec![Heard::Settled(told.json())],
            (AskAndLeave, 201) => vec![Heard::Asked, Heard::Id(id(&told.json()))],
            (AskAndLeave | Show | Wait, 200) => {
                let record = told.json();
                let settlement = record.get("settlement").cloned().map(Heard::Settled);
                assert!(settlement.is_some() == (record["state"] == "settled"), "{said}");
                [Heard::Id(id(&record))].into_iter().chain(settlement).collect()
            }
            (Reply, 204) => vec![Heard::Accepted(answer.to_owned())],
            (Withdraw, 204) => vec![Heard::Withdrawn],
            (Consume, 200) => vec![Heard::Consumed(run.to_owned())],
            // It was spent, or nothing is allowed.
            (Consume, 409) if matches!(told.json()["name"].as_str(), Some("spent" | "not_allowed")) => {
                Vec::new()
            }
            // The journal is stalled.
            (_, 503) if matches!(told.json()["name"].as_str(), Some("not_kept" | "unknown")) => {
                vec![Heard::Nothing]
            }
            // It was over before.
            (Reply | Withdraw, 409 | 410) => {
                let settlement = told.json()["question"].get("settlement").cloned();
                settlement.map(Heard::Settled).into_iter().collect()
            }
            _ => panic!("{said}"),
        })
    }
}

/// The keys of a home, and how often its inbox was killed.
struct World {
    home: Home,
    keys: Vec<Key>,
    /// The number of the next key, and of the next answer.
    next: usize,
}

impl World {
    fn new() -> Self {
        World { home: Home::new(), keys: Vec::new(), next: 0 }
    }

    /// Adds keys until there are enough that are not over.
    fn add_keys(&mut self, random: &mut Random) {
        while self.keys.iter().filter(|key| key.settlement.is_none()).count() < KEYS as usize {
            self.next += 1;
            let timeout = (random.below(6) == 0).then(|| 1 + random.below(40));
            let permits = random.below(2) == 0;
            self.keys.push(Key { name: format!("key {}", self.next), timeout, permits, ..Key::default() });
        }
    }

    /// Starts an inbox, lets some programs and persons act, and kills it meanwhile. What they were told must hold in the
    /// inbox that starts then.
    async fn round(&mut self, random: &mut Random, what: &str, counts: &mut Counts) {
        self.add_keys(random);
        let inbox = self.home.start();
        let mut acting = Vec::new();
        for _ in 0..1 + random.below(ACTORS) {
            let number = self.keys.len() as u64;
            // Mostly one of the latest keys, sometimes one that may be over for long.
            let among = if random.below(4) == 0 { number } else { KEYS.min(number) };
            let index = (number - 1 - random.below(among)) as usize;
            let key = &self.keys[index];
            let steps = ACTS[random.below(ACTS.len() as u64) as usize];
            self.next += 1;
            let (moment, run) = (random.moment() / 4, format!("run {}", self.next));
            let actor = Actor {
                http: inbox.http.clone(),
                key: key.name.clone(),
                permits: key.permits,
                body: key.body(),
                id: key.id.clone(),
                heard: Vec::new(),
            };
            acting.push((
                index,
                spawn(async move {
                    pass(moment).await;
                    actor.play(steps, run).await
                }),
            ));
        }
        pass(random.moment()).await;
        // In some rounds, nothing can be written from a moment on: then nobody may be told anything new either.
        let stalled = (random.below(2) == 0).then(|| self.home.stall());
        pass(random.moment()).await;
        inbox.kill();
        counts.stalls += usize::from(stalled.is_some());
        drop(stalled);
        counts.kills += 1;
        for (index, actor) in acting {
            let heard = soon("the end of an actor", actor).await.unwrap_or_else(|_| panic!("{what}"));
            let what = format!("{what}: {heard:?}, of {:?}", self.keys[index]);
            for heard in heard {
                counts.cut_off += usize::from(matches!(heard, Heard::Nothing));
                counts.waited += usize::from(matches!(heard, Heard::Settled(_)));
                self.keys[index].hear(heard, &what);
            }
        }
        self.check(random, what, counts).await;
    }

    /// Starts an inbox, and checks all keys in it.
    async fn check(&mut self, random: &mut Random, what: &str, counts: &mut Counts) {
        let inbox = self.home.start();
        let http = &inbox.http;
        let mut listed: BTreeMap<String, usize> = BTreeMap::new();
        for record in open(http).await {
            *listed
                .entry(record["question"]["message"].as_str().unwrap_or_default().to_owned())
                .or_default() += 1;
        }
        assert!(listed.values().all(|count| *count == 1), "two questions of one key: {what}: {listed:?}");
        for key in &mut self.keys {
            // Of those whose response was lost, some are asked again, others not yet.
            if key.id.is_none() && random.below(2) == 0 {
                let told = ask_under(http, &key.name, &left(key.body())).await.expect("a response");
                let is_new = told.status == 201;
                assert!(is_new || told.status == 200, "{what}: {told:?}");
                assert!(
                    key.timeout.is_some()
                        || is_new != listed.contains_key(&format!("{}?", key.name))
                        || told.json()["state"] == "settled",
                    "{what}: {told:?}"
                );
                key.hear(Heard::Id(id(&told.json())), what);
            }
            let Some(known) = key.id.clone() else { continue };
            counts.kept += 1;
            counts.consumed += usize::from(key.consumed.is_some());
            let shown = show(http, &known).await.expect("a response");
            assert_eq!(shown.status, 200, "a question is lost: {what}: {shown:?}, {key:?}");
            key.check(&shown.json(), what, counts);
            if let Some(settlement) = shown.json().get("settlement").cloned() {
                key.hear(Heard::Settled(settlement), what);
            }
            if random.below(8) == 0 {
                let again = ask_under(http, &key.name, &left(key.body())).await.expect("a response");
                assert_eq!((again.status, id(&again.json())), (200, known), "{what}: {again:?}");
            }
        }
        inbox.kill();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_anybody_was_told_outlives_each_kill() {
    let kills = env::var("KILLS").map_or(KILLS, |kills| kills.parse().expect("a number"));
    let mut counts = Counts::default();
    let mut world = World::new();
    for round in 0..kills {
        if round % KILLS_OF_HOME == 0 {
            world = World::new();
        }
        let mut random = Random::of(round);
        let seed = env::var("SEED").unwrap_or_else(|_| "1".to_owned());
        world.round(&mut random, &format!("SEED={seed}, round {round}"), &mut counts).await;
    }
    let said = format!("{counts:?}");
    Write::write_all(&mut stderr(), format!("{said}\n").as_bytes()).unwrap();
    let few = kills / 8;
    assert!(counts.cut_off > few && counts.reopened > few && counts.waited > few, "{said}");
    assert!(counts.answered > few && counts.withdrawn > few && counts.expired > 0, "{said}");
    assert!(counts.consumed > kills / 100, "{said}");
}
