//! The client: its name, its folder, and how long its calls may wait before they return a ticket.
//! Decides only. The clock and the sending of progress are left to `server.rs`.

use std::{borrow::Cow, env, path::PathBuf, time::Duration};

use rmcp::{RoleServer, service::RequestContext};
use tokio::time::timeout;

use crate::limits;

/// The names that clients give themselves, each with the name that people know.
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

/// Returns the folder that the client works in. That is our folder, unless the client names folders and ours is in
/// none of them.
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
    // A client that does not reply must not hold up the question.
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

/// How long a call waits for the person before it returns a ticket. Claude Desktop gives a call up after about 240 s,
/// and Codex after 300 s, in spite of progress.
const WITH_PROGRESS: Duration = Duration::from_secs(210);
/// The same for a client that wants no progress. Kimi and others give a call up after 60 s.
pub(super) const WITHOUT_PROGRESS: Duration = Duration::from_secs(45);
/// The same for Claude Code, which never gives up while there is progress. It puts a call into the background after
/// 120 s, and tells the model of its result: a ticket would only cost the model another call.
const CLAUDE: Duration = Duration::from_secs(3600);

/// The longest wait that a person can set. A much longer one might overflow the clock.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Clients by the beginning of their name in lower case, and how long their calls may take.
const CLIENTS: [(&str, Duration); 3] = [
    ("claude-code", CLAUDE),
    // The other two are reported to end a call after 60 s, with any configuration.
    ("copilot", WITHOUT_PROGRESS),
    ("zed", WITHOUT_PROGRESS),
];

/// How long one call waits, and whether it reports progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    limit: Duration,
    reports: bool,
}

/// The next step of a waiting call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextStep {
    /// The call reports progress.
    Report,
    /// The call returns a ticket.
    Ticket,
}

impl Patience {
    /// Returns how a call of this client waits. `reports` says whether the client wants progress. `wanted` is what the
    /// person has set.
    pub(super) fn of(client: &str, reports: bool, wanted: Option<Duration>) -> Self {
        let client = client.to_lowercase();
        let known = CLIENTS.iter().find(|(name, _)| client.starts_with(name)).map(|(_, limit)| *limit);
        let limit = match (known, reports) {
            (known, true) => known.unwrap_or(WITH_PROGRESS),
            (known, false) => known.unwrap_or(WITH_PROGRESS).min(WITHOUT_PROGRESS),
        };
        Patience { limit: wanted.unwrap_or(limit).min(LONGEST), reports }
    }

    /// Returns the step that follows after this number of reports, and its time since the call arrived.
    pub(super) fn next(self, reports: u32) -> (Duration, NextStep) {
        let due = limits::mcp::PROGRESS.saturating_mul(reports);
        if self.reports && due < self.limit {
            (due, NextStep::Report)
        } else {
            (self.limit, NextStep::Ticket)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;

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

    fn seconds(client: &str, reports: bool, wanted: Option<u64>) -> u64 {
        Patience::of(client, reports, wanted.map(Duration::from_secs)).limit.as_secs()
    }

    #[test]
    fn call_ends_before_the_shortest_limit_of_its_client() {
        for (client, reports, limit) in [
            // Codex ends a call after 300 s in spite of progress, and Claude Desktop after about 240 s.
            ("codex-mcp-client", true, 240),
            ("claude-ai", true, 240),
            // Kimi and opencode end a call after 60 s without progress.
            ("kimi", false, 60),
            ("opencode", false, 60),
            ("Zed", true, 60),
            ("Copilot CLI", true, 60),
            ("", false, 60),
        ] {
            let wait = seconds(client, reports, None);
            assert!(wait <= limit - 15 && wait >= limit / 2, "{client} waits for {wait} s");
        }
    }

    #[test]
    fn claude_code_waits_for_an_hour_where_it_wants_progress() {
        assert_eq!(seconds("claude-code", true, None), 3600);
        assert_eq!(seconds("claude-code", false, None), 45);
    }

    #[test]
    fn setting_overrides_what_is_known_of_a_client() {
        assert_eq!(seconds("claude-code", true, Some(7)), 7);
        assert_eq!(seconds("zed", false, Some(7000)), 7000);
    }

    #[test]
    fn wait_beyond_all_clocks_is_a_year() {
        assert_eq!(seconds("zed", true, Some(u64::MAX)), 365 * 24 * 3600);
    }

    #[test]
    fn progress_is_reported_at_once_and_every_few_seconds_until_the_ticket() {
        let patience = Patience::of("", true, Some(Duration::from_secs(12)));
        let steps: Vec<_> = (0..4).map(|reports| patience.next(reports)).collect();
        let at = Duration::from_secs;
        assert_eq!(
            steps,
            [
                (at(0), NextStep::Report),
                (at(5), NextStep::Report),
                (at(10), NextStep::Report),
                (at(12), NextStep::Ticket)
            ]
        );
        assert!(limits::mcp::PROGRESS <= at(10), "a client may give up after 10 s without progress");
    }

    #[test]
    fn call_without_a_progress_token_reports_nothing() {
        let patience = Patience::of("", false, None);
        assert_eq!(patience.next(0), (Duration::from_secs(45), NextStep::Ticket));
    }

    #[test]
    fn limit_of_zero_returns_a_ticket_at_once() {
        let patience = Patience::of("", true, Some(Duration::ZERO));
        assert_eq!(patience.next(0), (Duration::ZERO, NextStep::Ticket));
    }
}
