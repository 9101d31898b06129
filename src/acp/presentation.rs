//! Which way a question goes to the client, and which way next.
//! What the client makes of it is left to `response.rs`.

use std::sync::Arc;

use bytes::Bytes;

use super::{
    bridge::Bridge,
    event::{Action, Peer, Unanswered},
    pending::Open,
};
use crate::{
    dialect::{
        ReplyFormat,
        elicitation::{self, FormReply},
        permission::{PromptFlow, Protocol},
        sandboxagent,
    },
    question::Question,
    wire::{
        id::RequestId,
        line,
        method::{ELICITATION_CREATE, REQUEST_PERMISSION, REQUEST_QUESTION},
    },
};

/// One way to ask the client. They are tried in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// `_sandboxagent/session/request_question`.
    Native,
    /// `elicitation/create`, as a form.
    Elicitation,
    /// `session/request_permission`, one field after the other.
    Permission,
    /// Not at all: others answer.
    None,
}

/// How the client is asked a question.
#[derive(Clone, Debug)]
pub(super) enum Way {
    /// By the agent's own line, as it came.
    Own,
    /// By a native request.
    Native,
    /// By a form, and how its content is read.
    Form(FormReply),
    /// By permission prompts, and how far they have come.
    Prompts(PromptFlow),
    /// Not at all, or not any more.
    None,
}

impl Way {
    /// Returns its place in the order of the ways. The agent's own line comes before all of them.
    fn tier(&self) -> Option<Tier> {
        match self {
            Way::Own => None,
            Way::Native => Some(Tier::Native),
            Way::Form(_) => Some(Tier::Elicitation),
            Way::Prompts(_) => Some(Tier::Permission),
            Way::None => Some(Tier::None),
        }
    }
}

impl Bridge {
    /// Says whether the client takes the agent's own request as it is.
    pub(super) fn takes_own(&self, words: &ReplyFormat) -> bool {
        match (words, self.config.tier) {
            // Whoever did not say is asked: a client that does not know it says so.
            (ReplyFormat::SandboxAgent(_), None) => self.client.native != Some(false),
            (ReplyFormat::SandboxAgent(_), Some(tier)) => tier == Tier::Native,
            (ReplyFormat::Elicitation(words), _) if words.legacy => false,
            (ReplyFormat::Elicitation(_), None) => self.client.forms,
            (ReplyFormat::Elicitation(_), Some(tier)) => tier == Tier::Elicitation,
            (ReplyFormat::Kiro(_), None) => self.client.kiro,
            _ => false,
        }
    }

    /// Says whether a request of ours, in this tier, is worth a try.
    fn takes(&self, tier: Tier) -> bool {
        match self.config.tier {
            Some(only) => only == tier,
            None => match tier {
                Tier::Native => self.client.native == Some(true),
                Tier::Elicitation => self.client.forms,
                Tier::Permission => self.client.permissions,
                Tier::None => true,
            },
        }
    }

    /// Returns the first way to ask the client.
    pub(super) fn first_way(&mut self, question: &Question, words: &ReplyFormat) -> Way {
        if self.takes_own(words) { Way::Own } else { self.way_behind(None, question, words) }
    }

    fn way_behind(&mut self, tried: Option<Tier>, question: &Question, words: &ReplyFormat) -> Way {
        let next = |bridge: &Self, tier| tried < Some(tier) && bridge.takes(tier);
        if !matches!(words, ReplyFormat::SandboxAgent(_)) && next(self, Tier::Native) {
            return Way::Native;
        }
        // The same method again would say nothing new.
        let other = !matches!(words, ReplyFormat::Elicitation(words) if !words.legacy);
        if other
            && next(self, Tier::Elicitation)
            && let Some(words) = elicitation::form::reply_format(question)
        {
            return Way::Form(words);
        }
        if next(self, Tier::Permission) && question.session.is_some() {
            return Way::Prompts(PromptFlow::new(self.next_number()));
        }
        Way::None
    }

    /// Asks the client in the next way, because it cannot show this one or made nothing of it.
    pub(super) fn move_on(&mut self, id: &RequestId, why: Unanswered) {
        let Some(open) = self.pending.get(id.as_str()) else { return };
        let (tried, opened, words) = (open.way.tier(), Arc::clone(&open.opened), open.words.clone());
        self.actions.push(Action::Unanswered(Arc::clone(&opened), why));
        if let Way::Prompts(walk) = &open.way {
            // Nothing comes behind them.
            let kept = walk.answer();
            let left =
                if kept.values.is_empty() { Unanswered::NoWay } else { Unanswered::Elsewhere(kept.clone()) };
            return self.actions.push(Action::Unanswered(opened, left));
        }
        let way = self.way_behind(tried, &opened.question, &words);
        if let Some(open) = self.pending.get_mut(id.as_str()) {
            open.way = way;
        }
        self.show(id);
    }

    /// Sends the client the request that this question's way asks for.
    pub(super) fn show(&mut self, id: &RequestId) {
        let name = self.pending.get(id.as_str()).and_then(|open| self.name_of(&open.opened));
        let Some(open) = self.pending.get_mut(id.as_str()) else { return };
        self.actions.push(match open.request(self.protocol, name.as_deref()) {
            Some(request) => Action::Send(Peer::Client, request),
            None => Action::Unanswered(Arc::clone(&open.opened), Unanswered::NoWay),
        });
    }
}

impl Open {
    /// Says the request of ours by which the client is asked now, if there is one. From now on it owes a response.
    /// `name` is that by which others know the question.
    fn request(&mut self, protocol: Protocol, name: Option<&str>) -> Option<Bytes> {
        self.owes = false;
        let question = &self.opened.question;
        let (method, params) = match &self.way {
            Way::Own | Way::None => return None,
            Way::Native => (REQUEST_QUESTION, sandboxagent::ask::write(question)),
            Way::Form(words) => (ELICITATION_CREATE, elicitation::form::write(question, words)),
            Way::Prompts(walk) => (REQUEST_PERMISSION, walk.prompt(question, protocol, name)?),
        };
        self.owes = true;
        Some(line::request(self.shown_as.as_str(), method, &params))
    }
}

#[cfg(test)]
mod tests {
    use crate::acp::presentation::*;
    use crate::acp::{Config, Event, Line};

    #[test]
    fn a_question_opens_elsewhere_where_the_client_is_not_asked() {
        let mut seen = Vec::new();
        for tier in [Tier::Native, Tier::Elicitation, Tier::Permission, Tier::None] {
            for params in [r#"{"prompt":"?","sessionId":"s"}"#, r#"{"prompt":"?"}"#] {
                let line = format!(
                    r#"{{"id":1,"method":"_sandboxagent/session/request_question","params":{params}}}"#
                );
                let mut bridge = Bridge::new(Config { tier: Some(tier), ..Config::default() });
                let line = Line { bytes: line.into(), whole: true };
                let actions = bridge.handle(Event::Line(Peer::Agent, line), std::time::Duration::ZERO);
                let opened = actions.iter().find_map(|action| match action {
                    Action::Opened(opened) => Some(opened.elsewhere),
                    _ => None,
                });
                let is_unseen = |action: &Action| matches!(action, Action::Unanswered(_, Unanswered::NoWay));
                assert_eq!(opened, Some(actions.iter().any(is_unseen)), "{tier:?} {params}");
                seen.extend(opened);
            }
        }
        assert_eq!(seen, [false, false, false, true, false, true, true, true]);
    }
}
