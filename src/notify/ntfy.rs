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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{desk::Submission, notify::Button};

    fn message(is_urgent: bool) -> Message {
        let button = Button { label: "Deny".to_owned(), submission: Submission::Reject(None) };
        Message { title: "title".to_owned(), body: "body".to_owned(), buttons: vec![button], is_urgent }
    }

    #[test]
    fn buttons_post_their_values_to_the_reply_topic() {
        let json = publication("topic", &message(false), "seq", "https://n/reply", &["secret".to_owned()]);
        let action = json!({
            "action": "http", "label": "Deny", "url": "https://n/reply", "method": "POST", "body": "secret",
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
}
