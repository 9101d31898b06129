//! The MCP servers in a settings file: how each is started, and whether askbridge stands before it already.
//! What setup does about each is left to `plan.rs`.

use super::hosts::Host;
use crate::command::setup::{
    agents::{Launch, file_name},
    splice::Entry,
    tree::{self, DocumentError, Language, Member, Node, Value},
};

/// The subcommand that stands before a server.
pub(super) const PROXY: &str = "mcp-proxy";

/// A server in the settings.
#[derive(Clone, Debug)]
pub(in crate::command) struct Server<'a> {
    /// The path of the member in which it stands.
    pub(in crate::command) section: Vec<String>,
    /// Its name.
    pub(in crate::command) name: &'a str,
    /// Its entry.
    pub(super) node: &'a Node,
    /// Whether a list beside the section says that it is switched off.
    pub(super) is_listed_off: bool,
}

/// How a host starts a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::command) enum Start {
    /// By this command.
    Command(Launch),
    /// It runs somewhere else, and the host reaches it at this address.
    Url(String),
    /// In a way that cannot be read here.
    Other,
}

/// What a command has to do with askbridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) enum Part {
    /// Nothing.
    None,
    /// It is the tool of askbridge itself.
    Tool,
    /// askbridge stands before a server.
    Proxy,
}

impl<'a> Server<'a> {
    /// Returns the server of this member of a section.
    pub(super) fn of(member: &'a Member) -> Self {
        Server { section: Vec::new(), name: &member.name, node: &member.node, is_listed_off: false }
    }

    /// Returns the entry in its text.
    pub(super) fn entry(&self, text: &'a str, language: Language) -> Entry<'a> {
        Entry { text, language, node: self.node }
    }

    /// Returns how the host starts it.
    pub(in crate::command) fn start(&self) -> Start {
        let command = self.node.get("command");
        let url = self.node.get("url").and_then(Node::text);
        match (command.map(|command| (command, command.text())), url) {
            (Some((_, Some(program))), None) => match self.args() {
                Some(args) => Start::Command(Launch { command: program.to_owned(), args }),
                None => Start::Other,
            },
            (Some((list, None)), None) => match list.texts().as_deref() {
                Some([program, args @ ..]) => {
                    Start::Command(Launch { command: program.clone(), args: args.to_vec() })
                }
                _ => Start::Other,
            },
            (None, Some(url)) => Start::Url(url.to_owned()),
            _ => Start::Other,
        }
    }

    fn args(&self) -> Option<Vec<String>> {
        match self.node.get("args") {
            None => Some(Vec::new()),
            Some(Node { value: Value::Other, .. }) => Some(Vec::new()),
            Some(args) => args.texts(),
        }
    }

    /// Returns whether the host does not start it.
    pub(in crate::command) fn is_off(&self, host: Host) -> bool {
        // Claude Code starts an entry with `disabled`.
        if host == Host::ClaudeCode {
            return self.is_listed_off;
        }
        let is = |name: &str, flag: bool| self.node.get(name).is_some_and(|it| it.value == Value::Flag(flag));
        is("enabled", false) || is("disabled", true)
    }

    /// Returns what its command has to do with askbridge.
    pub(in crate::command) fn part(&self) -> Part {
        match self.start() {
            Start::Command(launch) => part(&launch),
            Start::Url(_) | Start::Other => Part::None,
        }
    }

    /// Returns whether the host gives it this variable.
    pub(super) fn sets(&self, variable: &str) -> bool {
        let members = ["env", "environment"].iter().filter_map(|name| self.node.get(name));
        members.into_iter().any(|variables| variables.get(variable).is_some())
    }

    /// Returns the text of a member.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.node.get(name)?.text()
    }
}

/// Returns what a command has to do with askbridge, which a launcher or a shell may start in it.
fn part(launch: &Launch) -> Part {
    let words = [launch.command.as_str()].into_iter().chain(launch.args.iter().map(String::as_str));
    let words: Vec<_> = words.flat_map(str::split_whitespace).collect();
    let follows = |word: &str| {
        words.windows(2).any(|pair| file_name(pair[0]) == env!("CARGO_PKG_NAME") && pair[1] == word)
    };
    match (follows(PROXY), follows("mcp")) {
        (true, _) => Part::Proxy,
        (false, true) => Part::Tool,
        (false, false) => Part::None,
    }
}

/// Returns the index in the arguments of the command that askbridge starts, or `None` if askbridge does not start one.
pub(in crate::command) fn own_at(launch: &Launch) -> Option<usize> {
    let is_proxy = file_name(&launch.command) == env!("CARGO_PKG_NAME") && launch.args.first()? == PROXY;
    let dashes = launch.args.iter().position(|arg| arg == "--")?;
    (is_proxy && dashes + 1 < launch.args.len()).then_some(dashes + 1)
}

/// Returns the address of the server that askbridge reaches, or `None` if it reaches none.
pub(super) fn own_url(launch: &Launch) -> Option<&str> {
    let is_proxy = file_name(&launch.command) == env!("CARGO_PKG_NAME") && launch.args.first()? == PROXY;
    let at = launch.args.iter().position(|arg| arg == "--url")?;
    launch.args.get(at + 1).filter(|_| is_proxy).map(String::as_str)
}

/// Returns the servers of a settings file that was read.
///
/// # Errors
/// Says where the settings do not have the shape that they must have to be changed.
pub(in crate::command) fn of<'a>(
    text: &str,
    root: &'a Node,
    sections: &[&[&str]],
) -> Result<Vec<Server<'a>>, DocumentError> {
    if !matches!(root.value, Value::Members(_)) {
        return Err(tree::mistake(text, root.start, "the settings must be an object".to_owned()));
    }
    let mut servers = Vec::new();
    for section in sections {
        within(text, (root, root), section, &mut Vec::new(), &mut servers)?;
    }
    Ok(servers)
}

/// Adds the servers below a node, which stands in `parent` and is reached by `path`.
fn within<'a>(
    text: &str,
    (parent, node): (&'a Node, &'a Node),
    rest: &[&str],
    path: &mut Vec<String>,
    servers: &mut Vec<Server<'a>>,
) -> Result<(), DocumentError> {
    let Some((first, rest)) = rest.split_first() else {
        return entries(text, (parent, node), path, servers);
    };
    // Only what is followed must be unique: the rest of the file is not ours to judge.
    let followed: Vec<_> =
        node.members().iter().filter(|member| *first == "*" || member.name == *first).cloned().collect();
    tree::unique(text, &followed)?;
    for member in node.members().iter().filter(|member| *first == "*" || member.name == *first) {
        path.push(member.name.clone());
        within(text, (node, &member.node), rest, path, servers)?;
        path.pop();
    }
    Ok(())
}

fn entries<'a>(
    text: &str,
    (parent, node): (&'a Node, &'a Node),
    path: &[String],
    servers: &mut Vec<Server<'a>>,
) -> Result<(), DocumentError> {
    // In version 1 of opencode, a server may have the name of the section of version 2.
    if path == ["mcp", "servers"] && node.get("type").and_then(Node::text).is_some() {
        return Ok(());
    }
    let Value::Members(members) = &node.value else {
        let name = path.last().map(String::as_str).unwrap_or_default();
        return Err(tree::mistake(text, node.start, format!("{name:?} must be an object")));
    };
    tree::unique(text, members)?;
    // Claude Code keeps this list in the project.
    let off = parent.get("disabledMcpServers").and_then(Node::texts).unwrap_or_default();
    for member in members.iter().filter(|member| is_entry(path, member)) {
        tree::unique(text, member.node.members())?;
        servers.push(Server {
            section: path.to_vec(),
            name: &member.name,
            node: &member.node,
            is_listed_off: path.len() > 1 && off.contains(&member.name),
        });
    }
    Ok(())
}

/// Returns whether a member is an entry of a server.
fn is_entry(path: &[String], member: &Member) -> bool {
    let is_object = matches!(member.node.value, Value::Members(_));
    // Version 2 of opencode has the servers there; a server of version 1 has a type.
    let is_section =
        path == ["mcp"] && member.name == "servers" && member.node.get("type").and_then(Node::text).is_none();
    is_object && !is_section
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str, sections: &[&[&str]]) -> Result<Vec<String>, String> {
        let tree = tree::parse(text, Language::Json).map_err(|error| error.to_string())?;
        let servers = of(text, &tree, sections).map_err(|error| error.to_string())?;
        Ok(servers.iter().map(|server| format!("{}/{}", server.section.join("/"), server.name)).collect())
    }

    #[test]
    fn servers_are_found_in_every_section() {
        let claude: &[&[&str]] = &[&["mcpServers"], &["projects", "*", "mcpServers"]];
        let text = r#"{"mcpServers":{"a":{}},"projects":{"/p":{"mcpServers":{"a":{},"b":{}}},"/q":{}}}"#;
        assert_eq!(
            names(text, claude).unwrap(),
            ["mcpServers/a", "projects//p/mcpServers/a", "projects//p/mcpServers/b"]
        );
        let opencode: &[&[&str]] = &[&["mcp", "servers"], &["mcp"]];
        let text = r#"{"mcp":{"timeout":5,"servers":{"a":{"type":"local"}}}}"#;
        assert_eq!(names(text, opencode).unwrap(), ["mcp/servers/a"]);
        let text = r#"{"mcp":{"servers":{"type":"local","environment":{}},"b":{"type":"local"}}}"#;
        assert_eq!(names(text, opencode).unwrap(), ["mcp/servers", "mcp/b"]);
        for none in ["", "{}", r#"{"mcpServers":{}}"#, r#"{"projects":[]}"#] {
            assert_eq!(names(none, claude).unwrap(), [""; 0], "{none}");
        }
    }

    #[test]
    fn what_could_lose_something_is_refused_with_its_place() {
        for (text, why) in [
            ("[]", "line 1, column 1: the settings must be an object"),
            (r#"{"mcpServers":[]}"#, "column 15: \"mcpServers\" must be an object"),
            ("{\"mcpServers\":{},\n\"mcpServers\":{}}", "line 2, column 1: \"mcpServers\" occurs twice"),
            (r#"{"mcpServers":{"a":{},"a":{}}}"#, "\"a\" occurs twice"),
            (r#"{"mcpServers":{"a":{"command":"x","command":"y"}}}"#, "\"command\" occurs twice"),
            (r#"{"mcpServers":{"a":"#, "line 1, column"),
        ] {
            let error = names(text, &[&["mcpServers"]]).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        // What setup does not look at may be as it likes.
        assert!(names(r#"{"a":1,"a":2,"mcpServers":{}}"#, &[&["mcpServers"]]).is_ok());
    }

    #[test]
    fn the_own_programs_are_known_by_whatever_starts_them() {
        for (words, expected) in [
            (&["askbridge", "mcp"][..], Part::Tool),
            (&["/opt/askbridge", "mcp", "--wait", "1m"], Part::Tool),
            (&["npx", "-y", "askbridge", "mcp"], Part::Tool),
            (&["sh", "-c", "exec askbridge mcp"], Part::Tool),
            (&["/opt/askbridge", "mcp-proxy", "--", "npx"], Part::Proxy),
            (&["sh", "-c", "exec askbridge mcp-proxy -- npx"], Part::Proxy),
            (&["askbridge", "list"], Part::None),
            (&["notaskbridge", "mcp"], Part::None),
            (&["npx", "mcp", "askbridge"], Part::None),
        ] {
            let launch = Launch::new(words[0], &words[1..]);
            assert_eq!(part(&launch), expected, "{words:?}");
        }
    }

    #[test]
    fn only_a_whole_command_of_the_proxy_has_a_server_in_it() {
        let whole = Launch::new("/b/askbridge", &["mcp-proxy", "--name", "x", "--", "npx", "--", "y"]);
        assert_eq!(own_at(&whole), Some(4));
        for args in [&["mcp-proxy"][..], &["mcp-proxy", "--"], &["run", "--", "x"]] {
            assert_eq!(own_at(&Launch::new("askbridge", args)), None, "{args:?}");
        }
        let reached = Launch::new("askbridge", &["mcp-proxy", "--url", "https://x"]);
        assert_eq!((own_url(&reached), own_at(&reached)), (Some("https://x"), None));
        assert_eq!(own_url(&Launch::new("askbridge", &["mcp-proxy", "--url"])), None);
    }
}
