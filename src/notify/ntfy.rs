//! Messages as ntfy's JSON publishing has them. Sending them is left to `notifier`.
//!
//! Each button posts its value to the reply topic, which is random and belongs to this one question. ntfy takes `message`
//! as plain text unless `markdown` is set, which it never is here (I10).

use serde_json::{Value, json};

use super::message::Message;

/// ntfy's highest priority but one, for what is dangerous; its default; and its lowest, which makes no sound.
const PRIORITIES: [u8; 3] = [4, 3, 1];

/// Returns a message with its buttons. `sequence` names the message, so that a later one can take its place; `reply` is
/// the address of the reply topic, and `values` has what each button posts there.
pub fn publication(topic: &str, message: &Message, sequence: &str, reply: &str, values: &[String]) -> Value {
    let [urgent, usual, _] = PRIORITIES;
    let actions = message.buttons.iter().zip(values).map(|(button, value)| {
        json!({
            "action": "http", "label": button.label, "url": reply, "method": "POST", "body": value, "clear": true,
        })
    });
    let mut json = text(topic, message, if message.is_urgent { urgent } else { usual });
    json["sequence_id"] = sequence.into();
    json["actions"] = actions.collect();
    json
}

/// Returns what takes the place of a message whose question is over: it has no buttons and makes no sound.
pub fn update(topic: &str, message: &Message, sequence: &str, ended: &str) -> Value {
    let [.., silent] = PRIORITIES;
    let over = Message { body: ended.to_owned(), ..message.clone() };
    let mut json = text(topic, &over, silent);
    json["sequence_id"] = sequence.into();
    json
}

/// Returns what a tap is told that changed nothing.
pub fn late(topic: &str, told: &str) -> Value {
    let [_, usual, _] = PRIORITIES;
    let message = Message { title: told.to_owned(), ..Message::default() };
    text(topic, &message, usual)
}

fn text(topic: &str, message: &Message, priority: u8) -> Value {
    // ntfy says "triggered" where the text is empty.
    let (title, body) = match message.body.is_empty() {
        true => ("askbridge", &message.title),
        false => (&*message.title, &message.body),
    };
    json!({ "topic": topic, "title": title, "message": body, "priority": priority })
}
