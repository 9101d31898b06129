//! Random races between a responder, another responder, a cancellation, a ticket and the end of stdin, under a virtual
//! clock: no answer is given twice, and none is lost without its responder hearing so.

use std::time::Duration;

use askbridge_core::desk::{QuestionId, Refusal};
use fastrand::Rng;
use serde_json::{Value as Json, json};
use tokio::{
    task::{JoinHandle, yield_now},
    time::{advance, timeout},
};

use super::{
    McpOptions,
    client::WITHOUT_PROGRESS,
    stage::{TestClient, answer},
};
use crate::limits;

/// Races of each of four tests: 10,000 in all.
const RACES: u64 = 2_500;
/// The request that asks, and the later request that waits with the ticket.
const ASK: u64 = 1;
const WAIT: u64 = 2;
/// The request that fetches the answer at the end.
const FETCH: u64 = 3;

async fn pause(random: &mut Rng) {
    for _ in 0..random.u32(..12) {
        yield_now().await;
    }
}

/// The events that may happen to a question.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RaceEvent {
    Answer(&'static str),
    CancelAsking,
    CancelWaiting,
    Ticket,
    WaitAgain,
    Read,
    End,
}

const EVENTS: [RaceEvent; 8] = [
    RaceEvent::Answer("one"),
    RaceEvent::Answer("two"),
    RaceEvent::CancelAsking,
    RaceEvent::CancelWaiting,
    RaceEvent::Ticket,
    RaceEvent::WaitAgain,
    RaceEvent::Read,
    RaceEvent::End,
];

/// One race, and what came of it.
struct Race {
    client: TestClient,
    id: QuestionId,
    responders: Vec<(&'static str, JoinHandle<Result<(), Refusal>>)>,
    messages: Option<JoinHandle<Vec<Json>>>,
    cancelled: Vec<u64>,
    requested: Vec<u64>,
    ended: bool,
}

impl Race {
    async fn start() -> Self {
        let mut client = TestClient::initialized(McpOptions::default(), "test").await;
        let id = client.ask(ASK, None).await;
        Race {
            client,
            id,
            responders: Vec::new(),
            messages: None,
            cancelled: Vec::new(),
            requested: vec![ASK],
            ended: false,
        }
    }

    fn read(&mut self) {
        if self.messages.is_none() {
            self.messages = Some(self.client.read_all());
        }
    }

    async fn step(&mut self, event: RaceEvent) {
        match event {
            RaceEvent::Answer(text) => {
                let (inbox, id) = (self.client.inbox(), self.id.clone());
                let told = async move { answer(&inbox, &id, text).await };
                self.responders.push((text, tokio::spawn(told)));
            }
            RaceEvent::CancelAsking if !self.ended => {
                self.client.cancel(ASK).await;
                self.cancelled.push(ASK);
            }
            RaceEvent::CancelWaiting if !self.ended => {
                self.client.cancel(WAIT).await;
                self.cancelled.push(WAIT);
            }
            RaceEvent::WaitAgain if !self.ended => {
                let ticket = json!({ "ticket": self.id.to_string() });
                self.client.call(WAIT, "wait_for_answer", ticket, None).await;
                self.requested.push(WAIT);
            }
            RaceEvent::Ticket => advance(WITHOUT_PROGRESS).await,
            RaceEvent::Read => self.read(),
            RaceEvent::End => {
                self.client.close_stdin();
                self.ended = true;
            }
            _ => {}
        }
    }

    /// Brings the race to its end, and checks what came of it.
    async fn finish(mut self, has_time: bool) -> Result<(), String> {
        self.read();
        let fetches = has_time && !self.ended;
        if fetches {
            advance(limits::mcp::FETCH + Duration::from_secs(1)).await;
            settle().await;
            let ticket = json!({ "ticket": self.id.to_string() });
            self.client.call(FETCH, "wait_for_answer", ticket, None).await;
            settle().await;
        }
        self.client.close_stdin();
        let messages = self.messages.take().ok_or("nothing is read")?;
        let messages = soon(messages).await.ok_or("the server does not end")?;
        let mut accepted = Vec::new();
        for (text, told) in self.responders {
            if soon(told).await.ok_or("a responder is never told")?.is_ok() {
                accepted.push(text);
            }
        }
        if accepted.len() > 1 {
            return Err(format!("both answers were accepted: {messages:?}"));
        }
        let replies = |id: u64| messages.iter().filter(move |message| message["id"] == id);
        for id in [ASK, WAIT] {
            let (count, is_sure) = (replies(id).count(), !self.ended && !self.cancelled.contains(&id));
            let expected = usize::from(self.requested.contains(&id));
            if count > expected || has_time && is_sure && count < expected && !accepted.is_empty() {
                return Err(format!("request {id} has {count} replies: {messages:?}"));
            }
        }
        let all: String = messages.iter().map(Json::to_string).collect();
        let has_ticket =
            replies(ASK).any(|reply| reply["result"]["structuredContent"]["status"] == "waiting");
        for text in ["one", "two"] {
            let has_answer = all.contains(&format!("In their own words: {text}"));
            let was_accepted = accepted.contains(&text);
            // The answer to a ticket is kept until it is fetched.
            if has_answer != was_accepted && !(was_accepted && has_ticket && !fetches) {
                return Err(format!("{text}: accepted {was_accepted}, given {has_answer}: {messages:?}"));
            }
        }
        Ok(())
    }
}

/// Lets every task run until it waits.
async fn settle() {
    for _ in 0..100 {
        yield_now().await;
    }
}

async fn soon<T>(task: JoinHandle<T>) -> Option<T> {
    timeout(Duration::from_secs(3600), task).await.ok()?.ok()
}

#[tokio::test(start_paused = true)]
async fn first_races_give_no_answer_twice_and_lose_none_unheard() {
    run(0).await;
}

#[tokio::test(start_paused = true)]
async fn second_races_give_no_answer_twice_and_lose_none_unheard() {
    run(1).await;
}

#[tokio::test(start_paused = true)]
async fn third_races_give_no_answer_twice_and_lose_none_unheard() {
    run(2).await;
}

#[tokio::test(start_paused = true)]
async fn fourth_races_give_no_answer_twice_and_lose_none_unheard() {
    run(3).await;
}

async fn run(part: u64) {
    let (mut accepted_late, mut withdrawn) = (0, 0);
    for seed in part * RACES..(part + 1) * RACES {
        let mut random = Rng::with_seed(seed);
        let mut race = Race::start().await;
        let mut events = Vec::new();
        for _ in 0..=random.u32(..6) {
            let event = EVENTS[random.usize(..EVENTS.len())];
            // The client uses a request ID once, and a responder answers once.
            if !events.contains(&event) {
                events.push(event);
            }
        }
        for event in &events {
            race.step(*event).await;
            pause(&mut random).await;
        }
        accepted_late += u64::from(events.contains(&RaceEvent::Ticket));
        withdrawn += u64::from(events.contains(&RaceEvent::End));
        let has_time = random.bool();
        if let Err(problem) = race.finish(has_time).await {
            panic!("race {seed}, {events:?}: {problem}");
        }
    }
    assert!(accepted_late > RACES / 10 && withdrawn > RACES / 10, "the races are not mixed");
}
