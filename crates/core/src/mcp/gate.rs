//! Asks for a permission before the tools that the user names. A call that is not allowed gets an ordinary result, which
//! the model reads.

use std::time::Duration;

use super::{calls::Call, core::Core, pending::Source};
use crate::{
    dialect::{
        Rejection,
        mcp::{ToolCall, refused},
    },
    engine::{Action, Peer},
    limits,
    question::{Answer, Question, Reason, Role, Value, form::options_with_role},
    wire::line,
};

impl Core {
    /// Returns whether a call, whose `params` these are, needs a permission. Where its tool cannot be told, it does.
    pub(super) fn is_gated(&self, params: &[u8], is_whole: bool) -> bool {
        if self.config.gated.is_empty() {
            return false;
        }
        let call = if is_whole { ToolCall::read(params) } else { None };
        call.is_none_or(|call| self.config.gated.iter().any(|gated| gated.matches(&call.tool)))
    }

    /// Holds a call, and asks for the permission.
    pub(super) fn ask_to_call(&mut self, mut call: Call, params: &[u8], is_whole: bool, now: Duration) {
        let Some(host) = call.host.clone() else { return };
        let read = if is_whole { ToolCall::read(params) } else { None };
        let tool = read.as_ref().map_or("The tool", |call| &*call.tool).to_owned();
        call.server = None;
        let asked = self.permission(read, params).and_then(|question| {
            if host.as_str().len() > limits::ID {
                return Err("its ID is too long".to_owned());
            }
            let number = self.calls.push(call);
            let has_line = self.calls.get(number).is_some_and(|call| call.line.is_some());
            let room = if has_line { Ok(()) } else { Err("too many calls wait".to_owned()) };
            let source = Source::Gate(number);
            let opened =
                room.and_then(|()| self.open(question, params.len(), source, Vec::new(), false, now));
            match (&opened, self.calls.get_mut(number)) {
                (Ok(question), Some(call)) => call.question = Some(*question),
                _ => drop(self.calls.remove(number)),
            }
            opened
        });
        if let Err(why) = asked {
            let rejection = Rejection { reason: self.closed.unwrap_or(Reason::Shutdown), remark: Some(&why) };
            let result = line::response(host.as_str(), &refused(&tool, rejection));
            self.base.actions.push(Action::Send(Peer::Client, result));
        }
    }

    fn permission(&self, read: Option<ToolCall>, params: &[u8]) -> Result<Question, String> {
        if self.closed.is_some() || !self.has_inbox() {
            return Err("There is no inbox that could ask.".to_owned());
        }
        let Some(call) = read else {
            return Err("It names no tool, or more than one, or is too long to be shown.".to_owned());
        };
        call.permission(params, self.server.as_deref().unwrap_or("MCP"))
    }
}

/// Returns whether an answer to such a permission allows the call.
pub(super) fn allows(question: &Question, answer: &Answer) -> bool {
    let chosen =
        |value: &str| answer.values.values().any(|it| matches!(it, Value::Text(text) if text == value));
    options_with_role(question, Role::AllowOnce).any(|option| chosen(&option.value))
}
