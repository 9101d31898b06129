//! A message to the user's phone through an ntfy server, and the taps on its buttons.
//!
//! The buttons post to a reply topic of the same server, and the notifier subscribes to it: no port is opened here. The
//! topic and the value that each button posts are random and belong to one question.

use std::{
    pin::pin,
    time::{Duration, Instant},
};

use data_encoding::HEXLOWER;
use serde_json::Value;
use tokio::{
    sync::mpsc,
    task::spawn_blocking,
    time::{sleep, timeout},
};

use super::{
    http,
    telling::{NotifiedQuestion, WayReport, too_late},
};
use crate::{
    limits,
    notify::{Message, Tap, Taps, Way, id, late, publication, update},
    settings::services::Ntfy,
};

/// Capacity of the channel for lines of the reply topic.
const WAITING: usize = 16;
/// The least time between two streams, so that a server that ends them early is not flooded with requests.
const PAUSE: Duration = Duration::from_secs(5);
/// How many streams in a row may fail before the subscription is given up.
const FAILURES: usize = 2;

/// A message that was sent.
#[derive(Debug)]
pub(super) struct SentMessage {
    sequence: String,
    /// Whether a later message can replace this one: servers before 2.16 do not support that.
    is_replaced: bool,
    /// The address of the reply topic. `values` has what each button posts there.
    reply: String,
    values: Vec<String>,
}

/// Sends a message with its buttons.
pub(super) async fn tell(ntfy: &Ntfy, message: &Message) -> Result<SentMessage, String> {
    let reply = format!("{}/askbridge-{}", server(ntfy), random()?);
    let values = message.buttons.iter().map(|_| random()).collect::<Result<Vec<_>, _>>()?;
    let sequence = random()?;
    let json = publication(&ntfy.topic, message, &sequence, &reply, &values);
    let published = publish(ntfy, &json).await?;
    // An older server ignores the sequence ID and does not return it. An update would be a second message there.
    let is_replaced = published["sequence_id"] == *sequence;
    Ok(SentMessage { sequence, is_replaced, reply, values })
}

/// Handles taps until the question is settled, withdraws the message, and replies to later taps that they were too
/// late.
pub(super) async fn attend(telling: &NotifiedQuestion, ntfy: &Ntfy, message: &Message, sent: SentMessage) {
    let take_back = async {
        let ended = telling.ended().await;
        if sent.is_replaced {
            let over = update(&ntfy.topic, message, &sent.sequence, &ended);
            report(telling, publish(ntfy, &over).await.map(drop)).await;
        }
    };
    // Without a button, there is no tap to subscribe for.
    if sent.values.is_empty() {
        return take_back.await;
    }
    let mut late = pin!(async {
        take_back.await;
        sleep(limits::NOTIFY_LATE).await;
    });
    tokio::select! {
        () = &mut late => {}
        // If the subscription breaks, the message must still be withdrawn when the question ends.
        () = listen(telling, ntfy, message, &sent) => late.await,
    }
}

/// Carries out the taps until the subscription breaks or the topic is flooded.
async fn listen(telling: &NotifiedQuestion, ntfy: &Ntfy, message: &Message, sent: &SentMessage) {
    let (sender, mut lines) = mpsc::channel::<String>(WAITING);
    let mut taps = Taps::new(sent.values.clone());
    let carry_out = async {
        while let Some(line) = lines.recv().await {
            match taps.hear(&line) {
                Tap::Button(place) => tapped(telling, ntfy, message, place).await,
                Tap::Again | Tap::Nothing => {}
                Tap::TooMuch => return "the reply topic is flooded".to_owned(),
            }
        }
        "the stream broke".to_owned()
    };
    let why = tokio::select! {
        why = carry_out => why,
        why = subscribe(ntfy, &sent.reply, sender) => why,
    };
    report(telling, Err(format!("the buttons no longer work: {why}"))).await;
}

/// Reads the reply topic, one stream after another, each from where the one before ended. Returns why that failed.
async fn subscribe(ntfy: &Ntfy, reply: &str, sender: mpsc::Sender<String>) -> String {
    let mut failures = 0;
    // A tap may arrive between the message and the first stream.
    let mut since = "all".to_owned();
    loop {
        let (url, begun) = (format!("{reply}/json?since={since}"), Instant::now());
        let (token, sender) = (ntfy.token.clone(), sender.clone());
        // The thread outlives a dropped future until its stream times out; a closed channel ends it with the next line.
        let reading = spawn_blocking(move || {
            let mut last = None;
            let read = http::lines(&url, token.as_deref(), |line| {
                last = id(&line).or_else(|| last.take());
                sender.blocking_send(line).is_ok()
            });
            (read, last)
        });
        let Ok((read, last)) = reading.await else { return "the stream broke".to_owned() };
        since = last.unwrap_or(since);
        match read {
            Ok(()) => failures = 0,
            Err(error) if failures == FAILURES => return error,
            Err(_) => failures += 1,
        }
        // A stream that lasted longer is followed at once, so that taps are not delayed.
        sleep(PAUSE.saturating_sub(begun.elapsed())).await;
    }
}

async fn tapped(telling: &NotifiedQuestion, ntfy: &Ntfy, message: &Message, place: usize) {
    let Some(button) = message.buttons.get(place) else { return };
    if let Some(Err(refusal)) = telling.choose(Way::Ntfy, button.submission.clone()).await {
        let told = late(&ntfy.topic, &too_late(&refusal));
        report(telling, publish(ntfy, &told).await.map(drop)).await;
    }
}

/// Sends a message without buttons.
pub(super) async fn say(ntfy: &Ntfy, message: &Message) -> Result<(), String> {
    tell(ntfy, &Message { buttons: Vec::new(), ..message.clone() }).await.map(drop)
}

async fn publish(ntfy: &Ntfy, json: &Value) -> Result<Value, String> {
    let server = server(ntfy);
    let published = http::post(&server, ntfy.token.as_deref(), json);
    timeout(limits::NOTIFY_REQUEST, published).await.unwrap_or_else(|_| Err("no reply in time".to_owned()))
}

async fn report(telling: &NotifiedQuestion, done: Result<(), String>) {
    if let Err(error) = done {
        telling.say(WayReport::Failed(Way::Ntfy, error)).await;
    }
}

fn server(ntfy: &Ntfy) -> String {
    ntfy.server.trim_end_matches('/').to_owned()
}

/// Returns 128 random bits in hexadecimal.
fn random() -> Result<String, String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| format!("no random numbers: {error}"))?;
    Ok(HEXLOWER.encode(&bytes))
}
