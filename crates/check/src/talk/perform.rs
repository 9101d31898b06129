//! Performs the steps of the client of an agent.
//! The meaning of a line is left to `receive.rs`, the content of a reply to `answer.rs`, what an agent can do with its sessions
//! to `sessions.rs`.

use std::time::Instant;

use askbridge_core::question::{FieldOption, Purpose, Role, form::options_with_role};
use serde_json::{Value, json};

use super::{
    action::{Asking, How, Talk},
    answer,
    receive::wants_sign_in,
    state::{Conversation, Replied, Response, ToolCall, Turn},
};
use crate::{
    expect::Expected,
    limits,
    play::{Play, Problem},
    rule::Rule,
    step::Side,
    wire::shown,
};

/// The first of the IDs of prompts. Those below are left to the lines of cases.
const FIRST_PROMPT: usize = 100;
/// Texts of this length may stand in a message by chance.
const SHORT: usize = 2;
/// The prompt for a permission.
const PERMISSION: &str = "permission";
/// The reasons for which a turn ends.
const REASONS: [&str; 5] = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];

impl Play {
    pub(crate) fn talk(&mut self, talk: &Talk) -> Result<(), Problem> {
        match talk {
            Talk::GetsAmong(text) => self.gets_among(text),
            Talk::Prompts { prompt, session } => self.prompt(prompt, session),
            Talk::IsAsked { what, at_once } => self.is_asked(*what, *at_once),
            Talk::IsAskedAgain => self.is_asked_again(),
            Talk::Answers { how, newest } => self.reply(*how, *newest),
            Talk::Hears => self.hear_the_agent(),
            Talk::Cancels => self.cancel(),
            Talk::TurnEnds { session, reason } => {
                let response = self.end_of_turn(session, false)?;
                check_stop_reason(&response, reason.as_deref())
            }
            Talk::TurnEndsSomehow => self.end_of_turn(SESSION, false).map(drop),
            Talk::NothingMore => self.end_of_turn(SESSION, true).map(drop),
            Talk::HearsNoMore => {
                let before = self.conversation()?.messages;
                self.settle()?;
                match self.conversation()?.messages == before {
                    true => Ok(()),
                    false => Err("the agent said more after the end of the turn".into()),
                }
            }
            Talk::CanRefuse => self.can_refuse(),
            Talk::NothingDone => self.nothing_done(),
            Talk::Done => match self.last_call()?.as_deref() {
                Some("failed") => Err("the tool call failed, although it was allowed".into()),
                _ => Ok(()),
            },
            Talk::IsRepeated => self.is_repeated(),
            Talk::WasPromised(path) => self.was_promised(path),
            Talk::History { is_told } => self.judge_history(*is_told),
            Talk::FindsItsSession(id) => self.finds_its_session(id),
            Talk::WasOffered(what) => self.was_offered(*what),
            Talk::FindsItsOptions(id) => self.finds_its_options(id),
        }
    }

    pub(super) fn conversation(&mut self) -> Result<&mut Conversation, Problem> {
        self.conversation.as_deref_mut().ok_or_else(|| "only the client of an agent does this".into())
    }

    fn gets_among(&mut self, text: &str) -> Result<(), Problem> {
        let expected = Expected::part(text);
        let (_, id) = self.expected_message(text);
        loop {
            if let Some(response) = id.as_ref().and_then(|id| self.take_response(id)) {
                if wants_sign_in(&response.line) {
                    return Err(Problem::Inconclusive(
                        "the agent wants its user to sign in first".to_owned(),
                    ));
                }
                return self.compare(expected, &response.line, "response");
            }
            let strays = self.breaches.line(Rule::ResponseIds).or(self.breaches.line(Rule::NoResponse));
            if let Some(stray) = strays.filter(|_| id.is_some()) {
                let what = "the client got a response under another ID".to_owned();
                return Err(Problem::Broken { what, expected: None, got: Some(stray.to_owned()) });
            }
            let Some(line) = self.next_message(self.deadline)? else {
                return Err("the client did not get it in time".into());
            };
            if id.is_none() && expected.compare(&line, &mut self.variables).is_ok() {
                return Ok(());
            }
        }
    }

    pub(super) fn take_response(&mut self, id: &str) -> Option<Response> {
        let responses = &mut self.conversation.as_deref_mut()?.responses;
        let at = responses.iter().position(|response| response.id == id)?;
        Some(responses.remove(at))
    }

    /// Returns the ID that a variable is bound to.
    pub(super) fn session(&self, variable: &str) -> Result<String, Problem> {
        let json = self.variables.get(variable).and_then(|json| serde_json::from_str(json).ok());
        json.ok_or_else(|| format!("`${variable}` is not bound to a session").into())
    }

    fn prompt(&mut self, prompt: &str, session: &str) -> Result<(), Problem> {
        let session = self.session(session)?;
        let conversation = self.conversation()?;
        let id = FIRST_PROMPT + conversation.turns.len();
        let text = [json!({ "type": "text", "text": conversation.prompts.text(prompt) })];
        let params = json!({ "sessionId": session, "prompt": text });
        conversation.said.clear();
        conversation.turns.push(Turn { id: id.to_string(), session, has_ended: false });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params }))
    }

    fn send(&mut self, message: &Value) -> Result<(), Problem> {
        self.write(Side::Client, format!("{message}\n").as_bytes())
    }

    fn cancel(&mut self) -> Result<(), Problem> {
        let session = self.session(SESSION)?;
        self.receive_pending()?;
        // The end of the turn may be among the lines that have come already.
        if !self.conversation()?.runs(None) {
            return Err(Problem::Inconclusive("the turn ended before it could be cancelled".to_owned()));
        }
        let params = json!({ "sessionId": session });
        self.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": params }))
    }

    fn hear_the_agent(&mut self) -> Result<(), Problem> {
        loop {
            let conversation = self.conversation()?;
            if !conversation.said.is_empty() {
                return Ok(());
            }
            let silent = |why: &str| Err(Problem::Inconclusive(format!("the agent said nothing {why}")));
            if !conversation.runs(None) {
                return silent("before the end of the turn");
            }
            if self.next_message(self.deadline)?.is_none() {
                return silent("in time");
            }
        }
    }

    fn is_asked(&mut self, what: Asking, at_once: bool) -> Result<(), Problem> {
        let until = if at_once { Instant::now() + limits::AT_ONCE } else { self.deadline };
        loop {
            let conversation = self.conversation()?;
            if let Some(asked) = conversation.asked.iter_mut().find(|asked| !asked.is_seen) {
                asked.is_seen = true;
                let question = &asked.asked.question;
                let is_permission = question.purpose == Purpose::Permission;
                // An agent's model decides what it asks for, so a request of the other kind breaks no rule.
                if is_permission != (what == Asking::Permission) {
                    return Err(Problem::Inconclusive("the agent asked for something else".to_owned()));
                }
                let id = asked.id.clone();
                self.variables.bind("asked", &id);
                return Ok(());
            }
            if !conversation.runs(None) {
                return Err(Problem::Inconclusive(format!(
                    "the turn ended, and the agent did not ask for {}",
                    what.name()
                )));
            }
            if self.next_message(until)?.is_none() {
                return Err(Problem::Inconclusive(format!(
                    "the agent did not ask for {} in time",
                    what.name()
                )));
            }
        }
    }

    /// An agent that did the same again without permission breaks the rule. If it did something else, the case is inconclusive.
    fn is_asked_again(&mut self) -> Result<(), Problem> {
        let conversation = self.conversation()?;
        let before = conversation.last_seen().and_then(|asked| conversation.call_of(asked)).cloned();
        self.prompt(PERMISSION, SESSION)?;
        self.is_asked(Asking::Permission, false).map_err(|problem| {
            let calls = self.conversation.iter().flat_map(|conversation| conversation.calls.values());
            let is_same = |call: &&ToolCall| {
                before.as_ref().is_some_and(|it| (&it.title, &it.status) == (&call.title, &call.status))
            };
            // One of these is the call that was allowed.
            match calls.filter(is_same).count() {
                0 | 1 => problem,
                _ => "the agent did what was allowed once, and did not ask again".into(),
            }
        })
    }

    fn reply(&mut self, how: How, newest: bool) -> Result<(), Problem> {
        let conversation = self.conversation()?;
        let line = if how == How::Again {
            let replied = conversation.replied.as_ref().ok_or("nothing was answered before")?;
            replied.line.clone()
        } else {
            let mut waiting =
                conversation.asked.iter().enumerate().filter(|(_, it)| it.is_seen && !it.is_replied);
            let found = if newest { waiting.next_back() } else { waiting.next() };
            let (at, asked) = found.ok_or("nothing waits for an answer")?;
            let id = &asked.id;
            let body = match how {
                How::Error => {
                    r#""error":{"code":-32603,"message":"the question cannot be shown"}"#.to_owned()
                }
                _ => match answer::result(&asked.asked, how) {
                    Some(result) => format!(r#""result":{result}"#),
                    None => {
                        return Err(Problem::Inconclusive(
                            "the agent's question cannot be answered in the way of the case".to_owned(),
                        ));
                    }
                },
            };
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},{body}}}"#);
            conversation.replied = Some(Replied { line: line.clone(), how, at });
            // Only what the agent says after this reply shows how it understood the reply.
            conversation.said.clear();
            conversation.asked[at].is_replied = true;
            line
        };
        self.write(Side::Client, format!("{line}\n").as_bytes())
    }

    /// Waits for the response to the last prompt in a session. Questions that come meanwhile are cancelled; a strict step fails
    /// at them.
    fn end_of_turn(&mut self, session: &str, is_strict: bool) -> Result<Response, Problem> {
        let session = self.session(session)?;
        loop {
            let turns = &self.conversation()?.turns;
            let turn = turns.iter().rev().find(|turn| turn.session == session);
            let id = turn.ok_or("no turn was begun in this session")?.id.clone();
            if let Some(response) = self.take_response(&id) {
                return Ok(response);
            }
            let asked = &mut self.conversation()?.asked;
            if let Some(asked) = asked.iter_mut().find(|asked| !asked.is_seen) {
                if is_strict {
                    return Err(broken("the agent asked once more", &asked.line));
                }
                (asked.is_seen, asked.is_replied) = (true, true);
                let result = answer::result(&asked.asked, How::Cancelled).unwrap_or_default();
                let line = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, asked.id);
                self.write(Side::Client, format!("{line}\n").as_bytes())?;
            }
            if self.next_message(self.deadline)?.is_none() {
                return Err("the turn did not end in time".into());
            }
        }
    }

    fn can_refuse(&mut self) -> Result<(), Problem> {
        let asked = self.conversation()?.last_seen().ok_or("nothing was asked")?;
        let can = |role| options_with_role(&asked.asked.question, role).next().is_some();
        match can(Role::RejectOnce) || can(Role::RejectAlways) {
            true => Ok(()),
            false => Err(broken("no option of the permission refuses it", &asked.line)),
        }
    }

    /// Returns the last status of the tool call of the last permission.
    fn last_call(&mut self) -> Result<Option<String>, Problem> {
        let conversation = self.conversation()?;
        let call = conversation.last_seen().and_then(|asked| conversation.call_of(asked));
        Ok(call.map(|call| call.status.clone()))
    }

    fn nothing_done(&mut self) -> Result<(), Problem> {
        self.settle()?;
        if self.last_call()?.as_deref() == Some("completed") {
            return Err("the agent completed the tool call without permission".into());
        }
        match self.conversation()?.project.changed() {
            Some(path) => {
                Err(format!("the agent changed `{}` in its project without permission", path.display())
                    .into())
            }
            None => Ok(()),
        }
    }

    fn is_repeated(&mut self) -> Result<(), Problem> {
        let conversation = self.conversation()?;
        let replied = conversation.replied.as_ref().ok_or("nothing was answered before")?;
        let question = &conversation.asked[replied.at].asked.question;
        let (chosen, others) = answer::chosen(question, replied.how).ok_or("no option was chosen")?;
        let said = conversation.said.to_lowercase();
        // A value may be a mere number, which many texts have.
        let has = |text: &str| text.len() > SHORT && said.contains(&text.to_lowercase());
        let repeats = |option: &FieldOption| has(&option.label) || has(&option.value);
        match (repeats(chosen), others.iter().find(|option| repeats(option))) {
            (true, _) => Ok(()),
            (false, Some(other)) => Err(Problem::Broken {
                what: format!("the agent says that `{}` was chosen", other.label),
                expected: Some(chosen.label.clone()),
                got: Some(shown(conversation.said.as_bytes())),
            }),
            (false, None) => {
                Err(Problem::Inconclusive("the agent did not repeat what was chosen".to_owned()))
            }
        }
    }
}

/// The session that most steps are in.
pub(super) const SESSION: &str = "session";

/// Returns the problem that this line breaks a rule.
pub(super) fn broken(what: &str, line: &[u8]) -> Problem {
    Problem::Broken { what: what.to_owned(), expected: None, got: Some(shown(line)) }
}

/// Judges the response to a prompt.
fn check_stop_reason(response: &Response, reason: Option<&str>) -> Result<(), Problem> {
    let got = response.result.as_ref().and_then(|result| result["stopReason"].as_str());
    let what = match (got, reason) {
        (None, _) if response.result.is_none() => "the prompt got an error",
        (Some(got), None) if REASONS.contains(&got) => return Ok(()),
        (Some(got), Some(reason)) if got == reason => return Ok(()),
        (Some(_), Some(_)) => "the turn ended for another reason",
        (Some(_) | None, _) => "the turn ended for no reason that the protocol has",
    };
    let expected = reason.map(|reason| format!(r#""stopReason":"{reason}""#));
    Err(Problem::Broken { what: what.to_owned(), expected, got: Some(shown(&response.line)) })
}
