//! In which way a question goes to the client, and in which way next.
//! What the client makes of it is left to `response.rs`.

use std::time::Duration;

use bytes::Bytes;

use super::{
    core::Core,
    known_clients,
    pending::OpenQuestion,
    presentation::{Presentation, Tier},
};
use crate::{
    dialect::{
        ReplyFormat, elicitation,
        permission::{self, PermissionReply, Protocol},
        sandboxagent,
    },
    engine::{Action, Peer, UnansweredReason},
    question::Question,
    wire::{
        line,
        method::{ELICITATION_CREATE, REQUEST_PERMISSION, REQUEST_QUESTION},
    },
};

impl Core {
    /// Returns whether the client takes the agent's own request as it is.
    pub(super) fn takes_own(&self, reply_format: &ReplyFormat) -> bool {
        match (reply_format, self.config.tier) {
            // A client that did not say is asked: if it does not know the request, it says so.
            (ReplyFormat::SandboxAgent(_), None) => self.client.native != Some(false),
            (ReplyFormat::SandboxAgent(_), Some(tier)) => tier == Tier::Native,
            (ReplyFormat::Elicitation(reply_format), _) if reply_format.legacy => false,
            (ReplyFormat::Elicitation(_), None) => self.client.forms,
            (ReplyFormat::Elicitation(_), Some(tier)) => tier == Tier::Elicitation,
            (ReplyFormat::Kiro(_), None) => self.client.kiro,
            (ReplyFormat::Permission(PermissionReply::Grant { .. }), _) => true,
            _ => false,
        }
    }

    /// Returns whether a request of the bridge's own, in this tier, is worth a try.
    fn takes(&self, tier: Tier) -> bool {
        match self.config.tier {
            // Whatever the user forces: such a client would answer for its person.
            _ if tier == Tier::Permission && self.labels_by_kind() => false,
            Some(only) => only == tier,
            None => match tier {
                Tier::Native => self.client.native == Some(true),
                Tier::Elicitation => self.client.forms,
                Tier::Permission => self.client.permissions,
                Tier::None => true,
            },
        }
    }

    /// Returns whether the client's permission prompts show the kinds of the options instead of their names.
    fn labels_by_kind(&self) -> bool {
        self.client.name.as_deref().is_some_and(known_clients::labels_by_kind)
    }

    /// Returns the first way to ask the client.
    pub(super) fn first_presentation(
        &mut self,
        question: &Question,
        reply_format: &ReplyFormat,
    ) -> Presentation {
        if self.takes_own(reply_format) {
            Presentation::Own
        } else {
            self.presentation_after(None, question, reply_format)
        }
    }

    fn presentation_after(
        &mut self,
        tried: Option<Tier>,
        question: &Question,
        reply_format: &ReplyFormat,
    ) -> Presentation {
        let next = |core: &Self, tier| tried < Some(tier) && core.takes(tier);
        if !matches!(reply_format, ReplyFormat::SandboxAgent(_)) && next(self, Tier::Native) {
            return Presentation::Native;
        }
        // The same method again would say nothing new.
        let other = !matches!(reply_format, ReplyFormat::Elicitation(reply_format) if !reply_format.legacy);
        if other
            && next(self, Tier::Elicitation)
            && let Some(reply_format) = elicitation::form::reply_format(question)
        {
            return Presentation::Form(reply_format);
        }
        if next(self, Tier::Permission) && question.session.is_some() {
            return Presentation::Prompts(permission::PromptFlow::new(self.next_number()));
        }
        Presentation::None
    }

    /// Asks the client in the next way, because it cannot show this one, or its response is no answer.
    pub(super) fn move_on(&mut self, number: u64, why: UnansweredReason, now: Duration) {
        let Some(open) = self.pending.get(number) else { return };
        let (tried, question, reply_format) =
            (open.presentation.tier(), open.question.clone(), open.reply_format.clone());
        let kept = match &open.presentation {
            Presentation::Prompts(walk) => Some(walk.answer().clone()),
            _ => None,
        };
        self.unanswered(number, why, now);
        if let Some(kept) = kept {
            // Prompts are the last of the ways.
            let left = if kept.values.is_empty() {
                UnansweredReason::NoWay
            } else {
                UnansweredReason::Elsewhere(kept)
            };
            return self.unanswered(number, left, now);
        }
        let presentation = self.presentation_after(tried, &question, &reply_format);
        if let Some(open) = self.pending.get_mut(number) {
            open.presentation = presentation;
        }
        self.show(number, now);
    }

    /// Sends the client the request that this question's presentation asks for.
    pub(super) fn show(&mut self, number: u64, now: Duration) {
        let id = self.config.common.name.as_ref().map(|_| self.base.desk.id(number).to_string());
        let Some(open) = self.pending.get_mut(number) else { return };
        match open.request(self.protocol, id.as_deref()) {
            Some(request) => {
                self.base.actions.push(Action::Send(Peer::Client, request));
                self.listen(number, now);
            }
            None => self.unanswered(number, UnansweredReason::NoWay, now),
        }
    }
}

impl OpenQuestion {
    /// Returns the request of the bridge's own by which the client is asked now, if there is one. From now on the
    /// client's response is awaited. `id` is the question's ID where other responders find it.
    fn request(&mut self, protocol: Protocol, id: Option<&str>) -> Option<Bytes> {
        self.awaiting_response = false;
        let question = &self.question;
        let (method, params) = match &self.presentation {
            Presentation::Own | Presentation::None => return None,
            Presentation::Native => (REQUEST_QUESTION, sandboxagent::ask::write(question)),
            Presentation::Form(reply_format) => {
                (ELICITATION_CREATE, elicitation::form::write(question, reply_format))
            }
            Presentation::Prompts(walk) => (REQUEST_PERMISSION, walk.prompt(question, protocol, id)?),
        };
        self.awaiting_response = true;
        Some(line::request(self.shown_as.as_str(), method, &params))
    }
}
