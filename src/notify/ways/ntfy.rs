//! A message to the user's phone through an ntfy server, and the taps on its buttons.
//!
//! The buttons post to a reply topic of the same server, and the notifier subscribes to it: no port is opened here. The
//! topic and the value that each button posts are random and belong to one question. Any program that knows the topic
//! may post there, so only the value of a button counts. ntfy takes `message` as plain text unless `markdown` is set,
//! which it never is here (I10).

use std::{
    collections::BTreeSet,
    pin::pin,
    time::{Duration, Instant},
};

use askbridge_settings::Ntfy;
use data_encoding::HEXLOWER;
use serde::Deserialize;
use serde_json::{Value, json};
use subtle::{Choice, ConstantTimeEq};
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
    notify::{Message, Way},
};

/// Capacity of the channel for lines of the reply topic.
const WAITING: usize = 16;
/// The least time between two streams, so that a server that ends them early is not flooded with requests.
const PAUSE: Duration = Duration::from_secs(5);
/// How many streams in a row may fail before the subscription is given up.
const FAILURES: usize = 2;

/// ntfy's second highest priority, for dangerous questions; its default priority; and its lowest, which makes no sound.
const PRIORITIES: [u8; 3] = [4, 3, 1];

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

/// Returns the JSON of a message with its buttons. `sequence` names the message, so that a later one can replace it;
/// `reply` is the address of the reply topic, and `values` has the value that each button posts there.
fn publication(topic: &str, message: &Message, sequence: &str, reply: &str, values: &[String]) -> Value {
    let [urgent, usual, _] = PRIORITIES;
    let actions = message.buttons.iter().zip(values).map(|(button, value)| {
        // `clear` removes the message from the phone only once the server has accepted the tap.
        json!({
            "action": "http", "label": button.label, "url": reply, "method": "POST", "body": value, "clear": true,
        })
    });
    let mut json = text(topic, message, if message.is_urgent { urgent } else { usual });
    json["sequence_id"] = sequence.into();
    json["actions"] = actions.collect();
    json
}

/// Returns the JSON that replaces a message whose question is settled: it has no buttons and makes no sound.
fn update(topic: &str, message: &Message, sequence: &str, ended: &str) -> Value {
    let [.., silent] = PRIORITIES;
    let over = Message { body: ended.to_owned(), ..message.clone() };
    let mut json = text(topic, &over, silent);
    json["sequence_id"] = sequence.into();
    json
}

/// Returns the JSON of the reply to a tap that changed nothing.
fn late(topic: &str, told: &str) -> Value {
    let [_, usual, _] = PRIORITIES;
    let message = Message { title: told.to_owned(), ..Message::default() };
    text(topic, &message, usual)
}

fn text(topic: &str, message: &Message, priority: u8) -> Value {
    // ntfy shows "triggered" for an empty text, so the title takes its place.
    let (title, body) = match message.body.is_empty() {
        true => ("askbridge", &message.title),
        false => (&*message.title, &message.body),
    };
    json!({ "topic": topic, "title": title, "message": body, "priority": priority })
}

/// The meaning of a line of the reply topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tap {
    /// The button at this place was tapped.
    Button(usize),
    /// A button that was tapped before: it changes nothing.
    Again,
    /// The line is not a tap.
    Nothing,
    /// Too many lines were not taps: stop listening to the topic.
    TooMuch,
}

/// The buttons of one message.
#[derive(Debug)]
struct Taps {
    values: Vec<String>,
    tapped: BTreeSet<usize>,
    strangers: usize,
}

/// Returns the ID of the message in a line of a topic. The next stream starts after the message with this ID.
fn id(line: &str) -> Option<String> {
    let NtfyEvent { id, event, .. } = serde_json::from_str(line).ok()?;
    // The ID becomes part of the URL of the next stream, so the server must not choose other characters.
    let is_plain = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (event == "message" && is_plain).then_some(id)
}

#[derive(Deserialize)]
struct NtfyEvent {
    id: String,
    event: String,
    #[serde(default)]
    message: String,
}

impl Taps {
    /// Returns the buttons with these values.
    fn new(values: Vec<String>) -> Self {
        Taps { values, tapped: BTreeSet::new(), strangers: 0 }
    }

    /// Reads a line of the reply topic.
    fn hear(&mut self, line: &str) -> Tap {
        let Ok(NtfyEvent { event, message, .. }) = serde_json::from_str(line) else { return self.stranger() };
        if event != "message" {
            // The stream was opened, or this is a keepalive.
            return Tap::Nothing;
        }
        let Some(place) = self.place(&message) else { return self.stranger() };
        if self.tapped.insert(place) { Tap::Button(place) } else { Tap::Again }
    }

    /// Returns the button that has this value. All values are compared in constant time, so that the duration does not
    /// reveal how much of a guess was right.
    fn place(&self, message: &str) -> Option<usize> {
        // The matches are collected first: a search that stops at the first match would reveal by its duration which
        // button it was.
        let equal: Vec<Choice> =
            self.values.iter().map(|value| value.as_bytes().ct_eq(message.as_bytes())).collect();
        equal.into_iter().position(bool::from)
    }

    fn stranger(&mut self) -> Tap {
        self.strangers += 1;
        if self.strangers > limits::NOTIFY_STRANGERS { Tap::TooMuch } else { Tap::Nothing }
    }
}

#[cfg(test)]
mod tests {
    use askbridge_core::desk::Submission;

    use super::*;
    use crate::notify::Button;

    fn message(is_urgent: bool) -> Message {
        let button = Button { label: "Reject".to_owned(), submission: Submission::Reject(None) };
        Message { title: "title".to_owned(), body: "body".to_owned(), buttons: vec![button], is_urgent }
    }

    #[test]
    fn buttons_post_their_values_to_the_reply_topic() {
        let json = publication("topic", &message(false), "seq", "https://n/reply", &["secret".to_owned()]);
        let action = json!({
            "action": "http", "label": "Reject", "url": "https://n/reply", "method": "POST", "body": "secret",
            "clear": true,
        });
        let expected = json!({
            "topic": "topic", "title": "title", "message": "body", "priority": 3, "sequence_id": "seq",
            "actions": [action],
        });
        assert_eq!(json, expected);
    }

    #[test]
    fn urgent_message_has_a_higher_priority_and_its_update_makes_no_sound() {
        let urgent = message(true);
        assert_eq!(publication("topic", &urgent, "seq", "", &[String::new()])["priority"], 4);
        let expected = json!({
            "topic": "topic", "title": "title", "message": "It is over", "priority": 1, "sequence_id": "seq",
        });
        assert_eq!(update("topic", &urgent, "seq", "It is over"), expected);
    }

    #[test]
    fn message_of_one_line_has_the_name_of_the_program_above_it() {
        let expected = json!({ "topic": "t", "title": "askbridge", "message": "Too late", "priority": 3 });
        assert_eq!(late("t", "Too late"), expected);
    }

    fn line(id: &str, message: &str) -> String {
        json!({ "id": id, "time": 1, "event": "message", "topic": "t", "message": message }).to_string()
    }

    #[test]
    fn only_the_value_of_a_button_counts_and_only_once() {
        let mut taps = Taps::new(vec!["aaaa".to_owned(), "bbbb".to_owned()]);
        assert_eq!(taps.hear(r#"{"id":"x1","event":"open","topic":"t"}"#), Tap::Nothing);
        for stranger in ["", "aaab", "aaa", "aaaaa", "0", "A"] {
            assert_eq!(taps.hear(&line("x2", stranger)), Tap::Nothing, "{stranger}");
        }
        assert_eq!(taps.hear(&line("x3", "bbbb")), Tap::Button(1));
        assert_eq!(taps.hear(&line("x4", "bbbb")), Tap::Again);
        assert_eq!(taps.hear(&line("x5", "aaaa")), Tap::Button(0));
        assert_eq!(taps.hear("not json"), Tap::Nothing);
    }

    #[test]
    fn an_id_of_the_server_cannot_change_the_address() {
        assert_eq!(id(&line("x1", "?")).as_deref(), Some("x1"));
        for odd in ["x/../y?z", "", "x&y", "é"] {
            assert_eq!(id(&line(odd, "?")), None, "{odd}");
        }
        assert_eq!(id(r#"{"id":"x1","event":"keepalive"}"#), None);
    }

    #[test]
    fn a_flood_on_the_topic_ends_the_listening() {
        let mut taps = Taps::new(vec!["aaaa".to_owned()]);
        for _ in 0..limits::NOTIFY_STRANGERS {
            assert_eq!(taps.hear(&line("x", "?")), Tap::Nothing);
        }
        assert_eq!(taps.hear(&line("x", "?")), Tap::TooMuch);
    }
}
