//! The steps about what an agent can do with its sessions: what it promises of them, their history, lists, modes and options.
//! Prompts and what is asked in a session are left to `perform.rs`.

use serde_json::Value;

use super::{
    action::Offer,
    perform::{SESSION, broken},
    state::Response,
};
use crate::play::{Play, Problem};

impl Play {
    /// Fails where the agent did not promise a capability: the case is not about such agents.
    pub(super) fn was_promised(&mut self, path: &str) -> Result<(), Problem> {
        let promise = self.conversation()?.agent.pointer(path).cloned().unwrap_or_default();
        match promise.is_object() || promise == Value::Bool(true) {
            true => Ok(()),
            false => Err(Problem::Inconclusive(format!("the agent did not promise `{}`", &path[1..]))),
        }
    }

    /// Judges what the agent told while a session was loaded or resumed.
    pub(super) fn judge_history(&mut self, is_told: bool) -> Result<(), Problem> {
        match (self.conversation()?.retold > 0, is_told) {
            (true, true) | (false, false) => Ok(()),
            (false, true) => Err("the agent did not tell the conversation again before the response".into()),
            (true, false) => Err("the agent told the conversation again".into()),
        }
    }

    /// Waits for the list that a request gets, and looks for the session in it.
    pub(super) fn finds_its_session(&mut self, id: &str) -> Result<(), Problem> {
        let session = self.session(SESSION)?;
        let response = self.awaited(id, "the list")?;
        let sessions = response.result.as_ref().map(|result| result["sessions"].clone()).unwrap_or_default();
        let is_listed = sessions.as_array().into_iter().flatten().any(|it| it["sessionId"] == session);
        match (is_listed, response.result.as_ref().map(|result| &result["nextCursor"])) {
            (true, _) => Ok(()),
            (false, Some(Value::String(_))) => {
                Err(Problem::Inconclusive("the session may be on another page of the list".to_owned()))
            }
            (false, _) => Err(broken("the list does not have the session", &response.line)),
        }
    }

    /// Binds a choice that the agent offered with its session: the one that is set, because others may need an account.
    pub(super) fn was_offered(&mut self, what: Offer) -> Result<(), Problem> {
        let opened = self.conversation()?.opened.clone();
        let chosen = match what {
            Offer::Modes => vec![("mode", opened["modes"]["currentModeId"].clone())],
            Offer::Options => {
                // An option without a list of values is set in another way.
                let mut options = opened["configOptions"].as_array().into_iter().flatten();
                let option = options.find(|option| option["currentValue"].is_string());
                let member = |name: &str| option.map(|option| option[name].clone()).unwrap_or_default();
                vec![("option", member("id")), ("value", member("currentValue"))]
            }
        };
        if chosen.iter().any(|(_, value)| value.is_null()) {
            return Err(Problem::Inconclusive(format!("the agent offered no {}", what.name())));
        }
        chosen.iter().for_each(|(name, value)| self.variables.bind(name, &value.to_string()));
        Ok(())
    }

    /// Waits for the options that a request gets, and looks for each one that was offered.
    pub(super) fn finds_its_options(&mut self, id: &str) -> Result<(), Problem> {
        let offered = self.conversation()?.opened["configOptions"].clone();
        let response = self.awaited(id, "the options")?;
        let options = response.result.as_ref().map(|result| &result["configOptions"]);
        let has = |wanted: &Value| {
            options.and_then(Value::as_array).into_iter().flatten().any(|option| option["id"] == wanted["id"])
        };
        match offered.as_array().into_iter().flatten().find(|offered| !has(offered)) {
            None => Ok(()),
            Some(lost) => {
                Err(broken(&format!("the response does not have the option {}", lost["id"]), &response.line))
            }
        }
    }

    fn awaited(&mut self, id: &str, what: &str) -> Result<Response, Problem> {
        loop {
            if let Some(response) = self.take_response(id) {
                return Ok(response);
            }
            if self.next_message(self.deadline)?.is_none() {
                return Err(format!("the client did not get {what} in time").into());
            }
        }
    }
}
