//! What an agent says and does in ACP, in lines of which most pass without being intercepted. What the bridge itself has
//! to know of tool calls is left to `tool_calls.rs`.

use std::borrow::Cow;

use crate::{
    question::{Said, SaidCall},
    wire::{
        envelope::{Envelope, peek},
        method::SESSION_UPDATE,
        scan,
    },
};

/// Tells what an agent says in a line. What it thinks is not for others, and what its client says is not its own.
pub(super) fn read(line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
    if let Some(said) = said(line) {
        tell(said);
    }
}

fn said(line: &[u8]) -> Option<Said<'_>> {
    if !matches!(peek(line), Envelope::Call(method) if method.is(SESSION_UPDATE)) {
        return None;
    }
    let params = scan::member(line, "params")?;
    let update = scan::member(params, "update")?;
    let session = scan::text(scan::member(params, "sessionId")?)?;
    let kind = scan::member(update, "sessionUpdate").and_then(scan::text);
    match kind.as_deref().unwrap_or("tool_call_update") {
        "agent_message_chunk" => {
            let content = scan::member(update, "content")?;
            let text = scan::text(scan::member(content, "text")?)?;
            let message = scan::member(update, "messageId").and_then(scan::text);
            Some(Said::Words { session, message, text })
        }
        "tool_call" | "tool_call_update" => call(session, update).map(Said::Call),
        "agent_thought_chunk" | "user_message_chunk" => Some(Said::Pause(session)),
        _ => None,
    }
}

/// Returns what an update, or its beginning, says of a tool call. `None` if it does not name one.
pub(super) fn call<'a>(session: Cow<'a, str>, update: &'a [u8]) -> Option<SaidCall<'a>> {
    let member = |name| scan::member(update, name).and_then(scan::text);
    Some(SaidCall {
        session,
        id: member("toolCallId")?,
        begins: member("sessionUpdate").is_some_and(|kind| kind == "tool_call"),
        title: member("title"),
        kind: member("kind"),
        status: member("status"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tells(update: &str) -> String {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s\",\"update\":{update}}}}}\n"
        );
        match said(line.as_bytes()) {
            Some(Said::Words { session, message, text }) => {
                format!("{session}/{} {text}", message.as_deref().unwrap_or("-"))
            }
            Some(Said::Pause(session)) => format!("{session} pauses"),
            Some(Said::Call(call)) => {
                let part = |part: &Option<Cow<'_, str>>| part.as_deref().unwrap_or("-").to_owned();
                let [title, kind, status] = [&call.title, &call.kind, &call.status].map(part);
                let begins = if call.begins { "begins " } else { "" };
                format!("{} {begins}{}: {title}, {kind}, {status}", call.session, call.id)
            }
            None => "nothing".to_owned(),
        }
    }

    #[test]
    fn only_what_the_agent_says_counts() {
        for (update, told) in [
            (
                r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a \"b\"\n"}}"#,
                "s/- a \"b\"\n",
            ),
            (
                r#"{"content":{"text":"late kind"},"messageId":"m","sessionUpdate":"agent_message_chunk"}"#,
                "s/m late kind",
            ),
            (r#"{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"Hm"}}"#, "s pauses"),
            (r#"{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Do"}}"#, "s pauses"),
            (
                r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"AA=="}}"#,
                "nothing",
            ),
            (r#"{"sessionUpdate":"agent_message_chunk","content":[{"text":"a list"}]}"#, "nothing"),
            (r#"{"sessionUpdate":"agent_message_chunk","content":{"text":7}}"#, "nothing"),
            (r#"{"sessionUpdate":"agent_message_chunk","content":{"text":"\ud800"}}"#, "nothing"),
            (
                r#"{"sessionUpdate":"agent_message_chunk","sessionUpdate":"plan","content":{"text":"x"}}"#,
                "nothing",
            ),
            (r#"{"sessionUpdate":"plan","entries":[{"content":"agent_message_chunk"}]}"#, "nothing"),
            (r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"x"}"#, "s begins t: x, -, -"),
            (
                r#"{"kind":"read","status":"pending","toolCallId":"t","sessionUpdate":"tool_call_update"}"#,
                "s t: -, read, pending",
            ),
            (r#"{"toolCallId":"t","status":"failed"}"#, "s t: -, -, failed"),
            (r#"{"sessionUpdate":"tool_call","title":"x"}"#, "nothing"),
            ("null", "nothing"),
        ] {
            assert_eq!(tells(update), told, "{update}");
        }
        for line in [
            &b""[..],
            b"\n",
            b"{",
            b"\xff\n",
            br#"{"method":"session/update"}"#,
            br#"{"id":1,"result":{"sessionId":"s"}}"#,
            br#"[{"method":"session/update"}]"#,
        ] {
            assert_eq!(said(line), None);
        }
    }
}
