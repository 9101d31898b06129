//! Asks the client: chooses the way in which a question is shown, and the next way when one fails. Lists the clients,
//! by the name that they give themselves, that must not be asked by prompts. The client's responses are left to
//! `responding.rs`.

use std::time::Duration;

use serde_json::value::RawValue;

use super::{
    config::{Presentation, Tier},
    core::Core,
    pending::OpenQuestion,
};
use crate::{
    dialect::{
        ReplyFormat, ShownBy, elicitation,
        permission::{self, Protocol},
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
    /// Returns whether the client can show the agent's own request unchanged.
    pub(super) fn shows(&self, shown_by: ShownBy) -> bool {
        match (shown_by, self.config.tier) {
            (ShownBy::All, _) => true,
            // Many clients that do not know the request respond to it with a result of no meaning, or never.
            (ShownBy::Extension, None) => self.client.extension,
            (ShownBy::Extension, Some(tier)) => tier == Tier::Extension,
            (ShownBy::Forms, None) => self.client.forms,
            (ShownBy::Forms, Some(tier)) => tier == Tier::Elicitation,
            (ShownBy::Kiro, None) => self.client.kiro,
            (ShownBy::Kiro, Some(_)) => false,
        }
    }

    /// Returns whether a request of the bridge's own, in this tier, is worth a try.
    fn takes(&self, tier: Tier) -> bool {
        match self.config.tier {
            // This holds even if the user forces the tier: such a client would answer for its user.
            _ if tier == Tier::Permission && self.labels_by_kind() => false,
            Some(only) => only == tier,
            None => match tier {
                Tier::Extension => self.client.extension,
                Tier::Elicitation => self.client.forms,
                Tier::Permission => self.client.permissions,
                Tier::None => true,
            },
        }
    }

    /// Returns whether the client's permission prompts show the kinds of the options instead of their names.
    fn labels_by_kind(&self) -> bool {
        self.client.name.as_deref().is_some_and(labels_by_kind)
    }

    /// Returns the first way to ask the client.
    pub(super) fn first_presentation(
        &mut self,
        question: &Question,
        reply_format: &ReplyFormat,
    ) -> Presentation {
        if reply_format.shown_by().is_some_and(|clients| self.shows(clients)) {
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
        // The agent's own request had this method already: repeating it gains nothing.
        let shown_by = reply_format.shown_by();
        if shown_by != Some(ShownBy::Extension) && next(self, Tier::Extension) {
            return Presentation::Extension;
        }
        if shown_by != Some(ShownBy::Forms)
            && next(self, Tier::Elicitation)
            && let Some(reply_format) = elicitation::form::reply_format(question)
        {
            return Presentation::Form(reply_format);
        }
        // `session/request_permission` requires a session ID.
        if next(self, Tier::Permission) && question.session.is_some() {
            return Presentation::Prompts(permission::PromptFlow::new(self.next_number()));
        }
        Presentation::None
    }

    /// Asks the client in the next way, because it could not show the question in this one, or its response is no
    /// answer.
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
            // Prompts are the last way to ask. What the client has chosen so far is kept for other responders.
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
        let name = self.config.common.name.as_ref().map(|_| self.base.desk.id(number).to_string());
        let (protocol, has_meta) = (self.protocol, self.client.meta);
        let request =
            self.pending.get(number).and_then(|open| open.request(protocol, has_meta, name.as_deref()));
        let Some((method, params)) = request else {
            return self.unanswered(number, UnansweredReason::NoWay, now);
        };
        let id = self.made_up_id();
        let request = line::request(id.as_str(), method, &params);
        self.base.actions.push(Action::Send(Peer::Client, request));
        self.pending.ask(number, id, now);
        self.listen(number, now);
    }
}

impl OpenQuestion {
    /// Returns the method and the parameters of the bridge's own request by which the client is asked now, if there is
    /// one. `has_meta` is whether the client knows `_meta`, `name` the question's ID where other responders find it.
    fn request(
        &self,
        protocol: Protocol,
        has_meta: bool,
        name: Option<&str>,
    ) -> Option<(&'static str, Box<RawValue>)> {
        let question = &self.question;
        Some(match &self.presentation {
            Presentation::Own | Presentation::None => return None,
            Presentation::Extension => (REQUEST_QUESTION, sandboxagent::ask::write(question)),
            Presentation::Form(reply_format) => {
                (ELICITATION_CREATE, elicitation::form::write(question, reply_format, has_meta))
            }
            Presentation::Prompts(walk) => (REQUEST_PERMISSION, walk.prompt(question, protocol, name)?),
        })
    }
}

/// Clients that label the options of a permission request by their kind, and not by their name: their user cannot tell
/// the option behind a button, and would answer a prompt by chance. Each entry names the version of the client's source
/// in which this was seen.
///
/// - CodeCompanion.nvim, `interactions/chat/acp/request_permission.lua` at f1afd025 (2026-08-08): one label and one key
///   for each kind, and the last option of a kind has the key. Older versions open a dialog whose default is the second
///   option.
/// - telegram-acp-bot 0.3.0, `_permission_keyboard` in `telegram/bridge.py`: the buttons are "Always", "This time" and
///   "Deny", and each takes the first option of its kind.
const LABEL_BY_KIND: [&str; 2] = ["CodeCompanion.nvim", "telegram-acp-bot"];

/// Returns whether this client shows the kinds of options instead of their names.
pub(super) fn labels_by_kind(name: &str) -> bool {
    LABEL_BY_KIND.contains(&name)
}
