//! A question that was asked and is not answered yet: which dialect says it, reads its answer, and goes on how.
//! Each dialect's own spelling is left to its file.

use std::io;

use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use super::{
    claude, codex, cursor,
    field::{Field, fields},
    grok,
    heard::{Heard, How},
    kimi, kiro, labelled, native, permission, schema,
};
use crate::{
    cli::Dialect,
    mock::{
        behaviour::Shape,
        message::{CANCELLED, RpcError},
    },
};

/// A question that was asked and is not answered yet.
#[derive(Clone, Debug)]
pub(in crate::mock) struct Question {
    pub(in crate::mock) session: String,
    /// Its number in the process, from 1.
    pub(in crate::mock) number: u64,
    pub(in crate::mock) dialect: Dialect,
    pub(in crate::mock) shape: Shape,
    /// Its place among those that were asked at once, from 1. None if it was asked alone.
    pub(in crate::mock) place: Option<usize>,
}

/// The request that asks a question.
#[derive(Debug)]
pub(in crate::mock) struct Request {
    pub(in crate::mock) method: &'static str,
    pub(in crate::mock) params: Box<RawValue>,
}

impl Request {
    pub(super) fn new(method: &'static str, params: &impl serde::Serialize) -> io::Result<Self> {
        Ok(Self { method, params: to_raw_value(params)? })
    }
}

impl Question {
    /// Its name, unique in the process: `q-1`, `q-2` and so on.
    pub(super) fn name(&self) -> String {
        format!("q-{}", self.number)
    }

    /// The tool call that asks it.
    pub(super) fn tool_call(&self) -> String {
        match self.dialect {
            Dialect::Claude => format!("toolu_{:02}", self.number),
            Dialect::Pi => format!("pi-ui-{}", self.number),
            _ => format!("call-{}", self.number),
        }
    }

    pub(super) fn fields(&self) -> Vec<Field> {
        fields(self.shape, self.place, self.dialect)
    }

    /// The request that asks it.
    pub(in crate::mock) fn request(&self) -> io::Result<Request> {
        match self.dialect {
            Dialect::Sandboxagent => native::ask(self),
            Dialect::Claude => claude::ask(self),
            Dialect::Codex => codex::ask(self),
            Dialect::CodexAsync => codex::ask_async(self),
            Dialect::Kimi => kimi::ask(self),
            Dialect::OhMyPi => labelled::ask_oh_my_pi(self),
            Dialect::Devin => labelled::ask_devin(self),
            Dialect::Form => schema::ask(self),
            Dialect::Historic => schema::ask_historic(self),
            Dialect::KimiPermission => permission::ask_kimi(self),
            Dialect::Qwen => permission::ask_qwen(self),
            Dialect::Pi => permission::ask_pi(self),
            Dialect::Cursor => cursor::ask(self),
            Dialect::Grok => grok::ask(self),
            Dialect::Kiro => kiro::ask(self),
        }
    }

    /// Reads what came back, as strictly as the dialect's agent does.
    pub(in crate::mock) fn hear(&self, outcome: Result<&RawValue, &RpcError>) -> Heard {
        let result = match outcome {
            Ok(result) => result.get(),
            Err(error) => return Heard::Failed(error.clone()),
        };
        let heard = match self.dialect {
            Dialect::Sandboxagent => native::hear(self, result),
            Dialect::Claude => claude::hear(self, result),
            Dialect::Codex => codex::hear(self, result),
            Dialect::CodexAsync => codex::hear_async(self, result),
            Dialect::Kimi => kimi::hear(self, result),
            Dialect::OhMyPi => labelled::hear_oh_my_pi(self, result),
            Dialect::Devin => labelled::hear_devin(self, result),
            Dialect::Form | Dialect::Historic => schema::hear(self, result),
            Dialect::KimiPermission => permission::hear_kimi(self, result),
            Dialect::Qwen => permission::hear_qwen(self, result),
            Dialect::Pi => permission::hear_pi(self, result),
            Dialect::Cursor => cursor::hear(self, result),
            Dialect::Grok => grok::hear(self, result),
            Dialect::Kiro => kiro::hear(self, result),
        };
        heard.unwrap_or_else(|| Heard::garbled(result))
    }

    /// Says in a sentence what came back, and what the agent makes of it.
    pub(in crate::mock) fn told(&self, heard: &Heard) -> String {
        let consequence = self.consequence(heard).map(|what| format!(" ({what})")).unwrap_or_default();
        let told = format!("{}{consequence}", heard.sentence());
        match self.place {
            Some(_) => format!("[{}] {told}", self.name()),
            None => told,
        }
    }

    /// What the agent's model hears in the place of an answer, where that is known.
    fn consequence(&self, heard: &Heard) -> Option<&'static str> {
        match (self.dialect, heard) {
            (Dialect::Claude, Heard::Failed(_)) => Some("could not present the question to the user"),
            (Dialect::Claude, Heard::Unanswered(How::Cancelled, _)) => Some("tool use aborted"),
            (Dialect::Claude, _) if heard.is_nothing() => Some("the user did not answer the questions"),
            (Dialect::Codex | Dialect::CodexAsync, Heard::Failed(_)) => Some("no answers"),
            (Dialect::Codex | Dialect::CodexAsync, _) if heard.is_nothing() => Some("no answers"),
            (Dialect::Kimi, Heard::Failed(_)) if self.falls_back(heard) => {
                Some("asking for permission instead")
            }
            (Dialect::Kimi | Dialect::KimiPermission, _) if heard.is_nothing() => Some("dismissed"),
            (Dialect::Qwen, Heard::Answered(_)) if heard.is_nothing() => {
                Some("No valid answers were provided")
            }
            _ => None,
        }
    }

    /// The question that is asked in the place of this one, which failed.
    pub(in crate::mock) fn instead(&self, heard: &Heard) -> Option<Self> {
        self.falls_back(heard).then(|| Self { dialect: Dialect::KimiPermission, ..self.clone() })
    }

    /// What was cancelled is not asked again.
    fn falls_back(&self, heard: &Heard) -> bool {
        let failed = matches!(heard, Heard::Failed(error) if error.code != CANCELLED);
        self.dialect == Dialect::Kimi && failed
    }

    /// The tool call, as it is told before the question.
    pub(in crate::mock) fn announcement(&self) -> Option<Value> {
        self.has_tool_call().then(|| {
            json!({
                "sessionUpdate": "tool_call", "toolCallId": self.tool_call(), "status": "pending",
                "kind": "other", "title": "AskUserQuestion",
            })
        })
    }

    /// The end of the tool call, as it is told before what was answered.
    pub(in crate::mock) fn conclusion(&self, heard: &Heard) -> Option<Value> {
        let failed =
            matches!(heard, Heard::Failed(_) | Heard::Garbled(_) | Heard::Unanswered(How::Cancelled, _));
        let status = if failed { "failed" } else { "completed" };
        self.has_tool_call().then(|| {
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": self.tool_call(), "status": status })
        })
    }

    /// Cursor's question names no session: only its tool call leads to one.
    fn has_tool_call(&self) -> bool {
        matches!(self.dialect, Dialect::Claude | Dialect::Cursor)
    }
}
