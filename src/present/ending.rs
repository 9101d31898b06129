//! How a question ended, in words, and texts that stand beside others on a line.
//! How an answer reads is left to the caller: in the words of its question, or by the names of its fields.

use std::borrow::Cow;

use crate::{
    desk::Settlement,
    question::{Answer, Outcome, Provenance, Purpose, Question, Reason, Responder, Role, Value},
    terminal::{cut, printable_line},
};

/// The most columns of one value on a line that has other things on it.
const VALUE: usize = 200;

/// Returns how a question ended, and what was given or said with it. The question is known most often.
pub(super) fn ending<'a>(
    settlement: &'a Settlement,
    question: Option<&Question>,
    said: impl FnOnce(&Answer) -> String,
) -> (Cow<'static, str>, Option<Cow<'a, str>>) {
    let by = by(&settlement.by);
    let remark = settlement.remark.as_deref().map(printable_line);
    match &settlement.outcome {
        Outcome::Answered(answer) => {
            let done = question.map_or("answered", |question| done(question, answer));
            // Some agents do not say what was given at their own dialogs.
            let is_unknown = settlement.by.responder == Responder::Dialog && *answer == Answer::default();
            (format!("{done} by {by}").into(), (!is_unknown).then(|| said(answer).into()))
        }
        Outcome::Rejected(reason) => {
            let is_permission = question.is_some_and(|question| question.purpose == Purpose::Permission);
            let said = if is_permission { refused(reason, &by) } else { None };
            (said.map_or_else(|| rejected(reason, &by), Cow::from), remark)
        }
        Outcome::Failed => (format!("left to the agent by {by}").into(), remark),
        other => (format!("{} by {by}", printable_line(other.status())).into(), remark),
    }
}

/// Returns what an answer does: it grants or refuses a permission, and answers any other question.
pub(super) fn done(question: &Question, answer: &Answer) -> &'static str {
    let role = question.fields.iter().find_map(|field| match answer.values.get(&field.name)? {
        Value::Text(chosen) => field.kind.options().iter().find(|it| it.value == *chosen)?.role.as_deref(),
        _ => None,
    });
    match role {
        Some(Role::AllowOnce) => "allowed",
        Some(Role::AllowAlways) => "allowed from now on",
        Some(Role::RejectOnce) => "denied",
        Some(Role::RejectAlways) => "denied from now on",
        _ => "answered",
    }
}

/// Returns why a permission was refused, where that is said otherwise than of a question.
fn refused(reason: &Reason, by: &str) -> Option<String> {
    match reason {
        Reason::User => Some(format!("denied by {by}")),
        Reason::Cancelled => Some(format!("cancelled by {by}")),
        _ => None,
    }
}

/// Returns why a question was rejected. The bridge's own reasons say what happened, and not that it was the bridge.
fn rejected(reason: &Reason, by: &str) -> Cow<'static, str> {
    match reason {
        Reason::User => format!("rejected by {by}").into(),
        Reason::Cancelled => "rejected: the turn was cancelled".into(),
        Reason::Withdrawn => "withdrawn".into(),
        Reason::Timeout => "rejected: no answer came in time".into(),
        Reason::RepliedInChat => "rejected: the person replied in the chat".into(),
        Reason::ClientGone => "rejected: the client is gone".into(),
        Reason::AgentGone => "rejected: the agent is gone".into(),
        Reason::SessionClosed => "rejected: the session was closed".into(),
        Reason::Shutdown => "rejected: the bridge was told to end".into(),
        Reason::Policy => format!("rejected by a rule of {by}").into(),
        other => format!("rejected by {by}, {}", printable_line(other.name())).into(),
    }
}

fn by(by: &Provenance) -> String {
    let responder = match &by.responder {
        Responder::Client => "the client",
        Responder::Dialog => "the agent's own dialog",
        Responder::Bridge => "the bridge",
        Responder::CommandLine => "the command line",
        Responder::Terminal => "the terminal",
        Responder::Http => "HTTP",
        Responder::Rpc => "JSON-RPC",
        Responder::Page => "the page",
        Responder::Notification => "a notification",
        Responder::Rule => "a rule",
        Responder::Other(other) => &printable_line(other.as_str()),
    };
    match &by.name {
        Some(name) if by.responder == Responder::Rule => format!("rule \"{}\"", printable_line(name)),
        Some(name) => format!("{responder} ({})", printable_line(name)),
        None => responder.to_owned(),
    }
}

/// Returns a text in quotation marks where it could be taken for several.
pub(super) fn separable(text: &str) -> String {
    let is_plain = !text.is_empty() && text.trim() == text && !text.contains([',', ';', '“', '”']);
    if is_plain { cut(&printable_line(text), VALUE).into_owned() } else { quoted(text) }
}

pub(super) fn quoted(text: &str) -> String {
    format!("“{}”", cut(&printable_line(text), VALUE))
}
