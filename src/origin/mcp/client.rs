//! What is known of the client: its name, and the folder that it works in.

use std::{borrow::Cow, env, path::PathBuf};

use rmcp::{RoleServer, service::RequestContext};
use tokio::time::timeout;

use crate::limits;

/// Clients by the names that they give themselves, and by those that people know.
const NAMES: [(&str, &str); 4] = [
    ("claude-code", "Claude Code"),
    ("claude-ai", "Claude Desktop"),
    ("codex-mcp-client", "Codex"),
    ("qwen-cli-mcp-client", "Qwen Code"),
];

/// Returns the name that the client gives itself; empty if it gives none.
pub(super) fn name(context: &RequestContext<RoleServer>) -> String {
    context.client_info().map(|info| info.name).unwrap_or_default()
}

/// Returns the name by which people know the client.
pub(super) fn shown_name(context: &RequestContext<RoleServer>) -> String {
    let info = context.client_info();
    let title = info.as_ref().and_then(|info| info.title.clone());
    known_name(title.as_deref(), info.as_ref().map_or("", |info| &info.name))
}

fn known_name(title: Option<&str>, name: &str) -> String {
    let known = NAMES.iter().find(|(own, _)| *own == name).map(|(_, known)| *known);
    let shown = known.or(title.filter(|title| !title.trim().is_empty())).unwrap_or(name).trim();
    match shown {
        "" => "an agent over MCP".to_owned(),
        shown => shown.chars().take(limits::AGENT).collect(),
    }
}

/// Returns the folder that the client works in: ours, unless it names its folders and ours is in none of them.
pub(super) async fn folder(context: &RequestContext<RoleServer>) -> PathBuf {
    let own = env::current_dir().unwrap_or_default();
    let roots = roots(context).await;
    if roots.iter().any(|root| own.starts_with(root)) {
        return own;
    }
    roots.into_iter().next().unwrap_or(own)
}

/// Asks the client for the folders that it works in.
#[expect(deprecated, reason = "clients name their folders in no other way")]
async fn roots(context: &RequestContext<RoleServer>) -> Vec<PathBuf> {
    // The protocol of 2026-07-28 has no such request.
    let asked = async {
        context.client_capabilities()?.roots?;
        context.peer.list_roots().await.ok()
    };
    let listed = timeout(limits::mcp::ROOTS, asked).await.ok().flatten();
    let listed = listed.map(|listed| listed.roots).unwrap_or_default();
    listed.iter().filter_map(|root| path(&root.uri)).collect()
}

/// Returns the path of a `file:` URI on this machine.
fn path(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = PathBuf::from(decoded(path)?.into_owned());
    (path.is_absolute() && path.as_os_str().len() <= limits::FOLDER).then_some(path)
}

/// Decodes `%20` and the like.
fn decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(text.into());
    }
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_have_the_names_that_people_know() {
        assert_eq!(known_name(None, "claude-code"), "Claude Code");
        assert_eq!(known_name(Some("Visual Studio Code"), "vscode"), "Visual Studio Code");
        assert_eq!(known_name(Some(" "), "opencode"), "opencode");
        assert_eq!(known_name(None, ""), "an agent over MCP");
        assert_eq!(known_name(None, &"ä".repeat(999)).chars().count(), limits::AGENT);
    }

    #[test]
    fn roots_are_paths_of_this_machine() {
        for (uri, expected) in [
            ("file:///a/b", Some("/a/b")),
            ("file://localhost/a", Some("/a")),
            ("file:///a%20b/%C3%A4", Some("/a b/ä")),
            ("file:///a%2", None),
            ("file:///a%zz", None),
            ("file:///%ff", None),
            ("file://host/a", None),
            ("https://host/a", None),
        ] {
            assert_eq!(path(uri), expected.map(PathBuf::from), "{uri}");
        }
    }
}
