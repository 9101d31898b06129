//! Taps on the buttons of a phone, as they come back on the reply topic. Anything may be posted there by a program that
//! knows the topic: only the value of a button counts, which is random and belongs to this one question.

use std::collections::BTreeSet;

use serde::Deserialize;
use subtle::{Choice, ConstantTimeEq};

use crate::limits;

/// What a line of the reply topic means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tap {
    /// The button at this place was tapped.
    Button(usize),
    /// The same button once more: it changes nothing.
    Again,
    /// It is no tap.
    Nothing,
    /// There was too much that is no tap: the topic is not to be listened to any more.
    TooMuch,
}

/// The buttons of one message.
#[derive(Debug)]
pub struct Taps {
    values: Vec<String>,
    tapped: BTreeSet<usize>,
    strangers: usize,
}

/// Returns the ID of a message in a line of a topic, after which the next stream begins.
pub fn id(line: &str) -> Option<String> {
    let NtfyEvent { id, event, .. } = serde_json::from_str(line).ok()?;
    // It stands in the address of the next stream.
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
    pub fn new(values: Vec<String>) -> Self {
        Taps { values, tapped: BTreeSet::new(), strangers: 0 }
    }

    /// Reads a line of the reply topic.
    pub fn hear(&mut self, line: &str) -> Tap {
        let Ok(NtfyEvent { event, message, .. }) = serde_json::from_str(line) else { return self.stranger() };
        if event != "message" {
            // Opened, or a sign of life.
            return Tap::Nothing;
        }
        let Some(place) = self.place(&message) else { return self.stranger() };
        if self.tapped.insert(place) { Tap::Button(place) } else { Tap::Again }
    }

    /// Returns the button that has this value. All are compared in constant time: how long it takes tells nothing.
    fn place(&self, message: &str) -> Option<usize> {
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
    use serde_json::json;

    use super::*;

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
