//! What a line of the client leads to.

use std::time::Duration;

use bytes::Bytes;
use serde_json::json;

use super::{
    bridge::Bridge,
    capabilities,
    event::{Action, Line, Peer},
    pending::Open,
    turns::Held,
};
use crate::{
    limits,
    question::Reason,
    wire::{
        envelope::{Envelope, Message, is_json, peek},
        id::RequestId,
        line,
    },
};

impl Bridge {
    /// Handles a wanted line of the client.
    pub(super) fn client_line(&mut self, line: &Line, now: Duration) {
        let Some(message) = line.message() else { return self.unclear(line, now) };
        match (message.method.as_deref(), message.id) {
            (Some("initialize"), Some(id)) => self.client_initialize(id, &message, line),
            (Some("session/prompt"), Some(id)) => self.prompt(id, &message, line, now),
            (Some("session/cancel"), _) => self.cancel_turn(&message, now),
            (Some("session/close" | "session/delete"), _) => self.close_session(&message, now),
            (Some("$/cancel_request"), None) => self.client_cancels(&message),
            (None, Some(id)) if message.responds() => self.client_response(id, &message, line, now),
            _ => self.actions.push(Action::Forward),
        }
    }

    /// A response that says one of its parts twice is a response all the same, whatever the agent makes of it.
    /// What is no JSON is none: the agent cannot hear it.
    fn unclear(&mut self, line: &Line, now: Duration) {
        match peek(&line.bytes) {
            Envelope::Response(id) if !line.whole || is_json(&line.bytes) => {
                self.client_response(id, &Message::default(), line, now);
            }
            _ => self.actions.push(Action::Forward),
        }
    }

    fn client_initialize(&mut self, id: &str, message: &Message<'_>, line: &Line) {
        self.client = message.params.map(capabilities::Client::read).unwrap_or_default();
        let promises = self.config.promise && line.whole;
        let promised = if promises { capabilities::promise_to_agent(&line.bytes) } else { None };
        if id.len() <= limits::ID {
            self.initialize = Some(RequestId::new(id));
        }
        self.actions.push(match promised {
            Some(bytes) => Action::Send(Peer::Agent, bytes.into()),
            None => Action::Forward,
        });
    }

    /// A prompt while a question is open is the person's answer, given in the chat.
    fn prompt(&mut self, id: &str, message: &Message<'_>, line: &Line, now: Duration) {
        let Some(session) = message.session() else { return self.actions.push(Action::Forward) };
        let session = session.into_owned();
        let in_session =
            |open: &Open| open.question().blocking && open.question().session.as_deref() == Some(&*session);
        let replied = self.reject_where(in_session, Reason::RepliedInChat, now);
        let id = RequestId::new(id);
        // Behind a held prompt of the session, another one waits as well: prompts keep their order.
        if line.whole && self.turns.runs_in(&session) && (replied || self.turns.holds(&session)) {
            // A copy, since the line may share its memory with a whole read.
            let held = Held { id, session, line: Bytes::copy_from_slice(&line.bytes) };
            if let Err(refused) = self.turns.hold(held) {
                self.turns.start(&refused.id, refused.session);
                self.actions.push(Action::Forward);
            }
            return;
        }
        self.turns.start(&id, session);
        self.actions.push(Action::Forward);
    }

    fn cancel_turn(&mut self, message: &Message<'_>, now: Duration) {
        self.actions.push(Action::Forward);
        if let Some(session) = message.session() {
            self.end_session(&session, Reason::Cancelled, now);
        }
    }

    fn close_session(&mut self, message: &Message<'_>, now: Duration) {
        if let Some(session) = message.session() {
            self.end_session(&session, Reason::SessionClosed, now);
        }
        self.actions.push(Action::Forward);
    }

    fn end_session(&mut self, session: &str, reason: Reason, now: Duration) {
        self.reject_where(|open| open.question().session.as_deref() == Some(session), reason, now);
        while let Some(held) = self.turns.release(session) {
            let cancelled = line::response(held.id.as_str(), &json!({"stopReason": "cancelled"}));
            self.actions.push(Action::Send(Peer::Client, cancelled));
        }
    }

    /// A prompt that is held back was never sent, so that its cancellation is answered here.
    fn client_cancels(&mut self, message: &Message<'_>) {
        let id = message.param("requestId").and_then(|id| std::str::from_utf8(id).ok());
        self.actions.push(match id.and_then(|id| self.turns.cancel(id)) {
            Some(held) => {
                let error =
                    line::error(held.id.as_str(), line::REQUEST_CANCELLED, "the prompt was cancelled");
                Action::Send(Peer::Client, error)
            }
            None => Action::Forward,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::acp::client::*;
    use crate::{
        acp::{Config, Event},
        question::Outcome,
        wire::frame::Verdict,
    };

    const QUESTION: &str =
        r#"{"id":1,"method":"_sandboxagent/session/request_question","params":{"prompt":"?"}}"#;

    /// A bridge whose agent has asked something.
    fn asked() -> Bridge {
        let mut bridge = Bridge::new(Config::default());
        let actions = hears(&mut bridge, Peer::Agent, QUESTION, true);
        assert!(matches!(actions[..], [Action::Forward, Action::Opened(_)]), "{actions:?}");
        bridge
    }

    fn hears(bridge: &mut Bridge, from: Peer, line: &str, whole: bool) -> Vec<Action> {
        let line = Line { bytes: Bytes::copy_from_slice(line.as_bytes()), whole };
        bridge.handle(Event::Line(from, line), Duration::ZERO)
    }

    fn failed(action: &Action) -> bool {
        matches!(action, Action::Settled(settled) if settled.outcome == Outcome::Failed)
    }

    #[test]
    fn a_response_that_says_a_part_twice_is_the_only_response() {
        for response in [r#"{"id":1,"result":{},"result":{}}"#, r#"{"id":1,"error":null,"error":{}}"#] {
            let mut bridge = asked();
            let actions = hears(&mut bridge, Peer::Client, response, true);
            assert!(
                matches!(&actions[..], [Action::Forward, settled] if failed(settled)),
                "{response}: {actions:?}"
            );
            assert_eq!(hears(&mut bridge, Peer::Client, response, true), []);
        }
    }

    #[test]
    fn a_long_request_may_have_taken_any_id_that_is_settled() {
        let mut bridge = asked();
        let answer = r#"{"id":1,"result":{"status":"rejected"}}"#;
        let actions = hears(&mut bridge, Peer::Client, answer, true);
        assert!(matches!(actions[..], [Action::Forward, Action::Settled(_)]), "{actions:?}");
        assert_eq!(hears(&mut bridge, Peer::Client, answer, true), [], "one too many");
        let begun = r#"{"method":"fs/write_text_file","params":{"content":"and so on"#;
        assert_eq!(hears(&mut bridge, Peer::Agent, begun, false), [Action::Forward]);
        let response = r#"{"id":1,"result":{}}"#;
        assert!(bridge.judge(Peer::Client, response.as_bytes()) == Verdict::Ordinary);
    }

    #[test]
    fn what_is_no_json_is_no_response() {
        let mut bridge = asked();
        let broken = hears(&mut bridge, Peer::Client, r#"{"id":1,"result":{"#, true);
        assert_eq!(broken, [Action::Forward]);
        let answered = hears(&mut bridge, Peer::Client, r#"{"id":1,"result":{"values":["a"]}}"#, true);
        assert!(matches!(answered[..], [Action::Send(Peer::Agent, _), Action::Settled(_)]), "{answered:?}");
    }

    #[test]
    fn the_beginning_of_a_line_is_no_response_before_it_says_so() {
        // What follows may well be a method: a client counts its own requests from 0 as well.
        let mut bridge = asked();
        let begun = hears(&mut bridge, Peer::Client, r#"{"id":1,"params":{"sessionId":"s","#, false);
        assert_eq!(begun, [Action::Forward]);
        let begun = hears(&mut bridge, Peer::Client, r#"{"id":1,"result":{"status":"#, false);
        assert!(matches!(&begun[..], [Action::Forward, settled] if failed(settled)), "{begun:?}");
    }
}
