//! A request to the person's own server, and another once the question is over.

use serde_json::{Value, json};

use super::{http, telling::NotifiedQuestion};
use crate::{
    desk::Record,
    notify::Message,
    settings::{kinds::Disclosure, notify::Webhook},
};

/// Says that the question waits.
pub(super) async fn send_opened(telling: &NotifiedQuestion, message: &Message) -> Result<(), String> {
    let Some(webhook) = &telling.settings.webhook else { return Ok(()) };
    let mut json = event("opened", &telling.record, message);
    if webhook.text == Disclosure::All {
        json["question"] = serde_json::to_value(&*telling.record.question).unwrap_or_default();
    }
    post_webhook(webhook, &json).await
}

/// Says how many more questions wait, or that this is a test.
pub(super) async fn send_text(webhook: &Webhook, message: &Message) -> Result<(), String> {
    post_webhook(webhook, &json!({ "event": "message", "title": message.title, "text": message.body })).await
}

/// Says that the question is over. How it was answered stays on the machine.
pub(super) async fn send_settled(telling: &NotifiedQuestion, message: &Message) -> Result<(), String> {
    let Some(webhook) = &telling.settings.webhook else { return Ok(()) };
    let title = Message { body: String::new(), ..message.clone() };
    post_webhook(webhook, &event("settled", &telling.record, &title)).await
}

fn event(event: &str, record: &Record, message: &Message) -> Value {
    let mut json = json!({
        "event": event,
        "id": record.id,
        "purpose": record.question.purpose,
        "title": message.title,
    });
    if !message.body.is_empty() {
        json["text"] = message.body.as_str().into();
    }
    json
}

async fn post_webhook(webhook: &Webhook, json: &Value) -> Result<(), String> {
    http::post(&webhook.url, None, json).await.map(drop)
}
