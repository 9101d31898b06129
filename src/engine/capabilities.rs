//! What `initialize` promises, both ways. Only the named members are put in; the rest of the line keeps its bytes.

use crate::wire::{scan, splice};

/// The members below the capabilities that say the native dialect is understood.
const EXTENSION: [&str; 4] = ["_meta", "sandboxagent.dev", "extensions", "sessionRequestQuestion"];

/// Promises the agent that questions can be asked. `None` where the line is to stay as it is.
pub(super) fn promise_to_agent(line: &[u8]) -> Option<Vec<u8>> {
    is_object(line, "params").then(|| insert(line, "params", "clientCapabilities")).flatten()
}

/// Promises the client that questions will be asked. `None` where the line is to stay as it is.
pub(super) fn promise_to_client(line: &[u8]) -> Option<Vec<u8>> {
    let result = scan::member(line, "result")?;
    is_object(result, "agentCapabilities").then(|| insert(line, "result", "agentCapabilities")).flatten()
}

fn insert(line: &[u8], part: &str, capabilities: &str) -> Option<Vec<u8>> {
    splice::insert(line, &[&[part, capabilities], &EXTENSION[..]].concat(), "true")
}

fn is_object(json: &[u8], name: &str) -> bool {
    scan::member(json, name).is_some_and(|value| value.starts_with(b"{"))
}
