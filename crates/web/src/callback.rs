//! What is sent to the callback of a question that is over: its event, signed as Standard Webhooks says
//! (<https://www.standardwebhooks.com>), for whose receivers there are libraries.
//! Sending it, and when, is left to others.

use askbridge_core::desk::Record;
use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::events::QuestionEvent;

/// A signed message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallbackMessage {
    /// The headers that identify and sign it.
    pub headers: [(&'static str, String); 3],
    /// The data of `question.resolved`, as JSON.
    pub body: String,
}

impl CallbackMessage {
    /// Returns the message that this question is over, as it is sent so many seconds after 1970. It has the same ID each time.
    ///
    /// # Errors
    /// The question cannot be written as JSON.
    pub fn new(record: &Record, secret: &[u8], seconds: u64) -> Result<Self, serde_json::Error> {
        Ok(Self::of(
            &record.id.to_string(),
            serde_json::to_string(&QuestionEvent::of(record))?,
            secret,
            seconds,
        ))
    }

    fn of(id: &str, body: String, secret: &[u8], seconds: u64) -> Self {
        // A MAC takes a key of any length, so that this cannot fail.
        let signature = Hmac::<Sha256>::new_from_slice(secret).map(|mac| {
            let mac = mac.chain_update(format!("{id}.{seconds}.")).chain_update(&body);
            STANDARD.encode(mac.finalize().into_bytes())
        });
        let signature = format!("v1,{}", signature.unwrap_or_default());
        let headers = [
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", seconds.to_string()),
            ("webhook-signature", signature),
        ];
        CallbackMessage { headers, body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the libraries of Standard Webhooks.
    #[test]
    fn it_is_signed_as_standard_webhooks_says() {
        let secret = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").expect("Base64");
        let body = r#"{"test": 2432232314}"#.to_owned();
        let message =
            CallbackMessage::of("msg_p5jXN8AQM9LWM0D4loKWxJek", body.clone(), &secret, 1_614_265_330);
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=".to_owned();
        assert_eq!(message.headers[2], ("webhook-signature", signature));
        assert_eq!(message.headers[1], ("webhook-timestamp", "1614265330".to_owned()));
        assert_eq!(message.body, body);
    }
}
