//! Decides which MCP servers of a settings file setup wraps, and says of each of the others why it stays; and how the
//! wrapped ones become as they were again. Changing the text is left to `splice.rs`, the record of earlier changes to
//! `keep.rs`.

use serde::{Deserialize, Serialize};

use super::{
    address::{self, Address},
    hosts::{Host, Place},
    servers::{PROXY, Part, Server, Start, own_at, own_url},
};
use crate::command::setup::{
    agents::Launch,
    plan::{AppliedChange, UndoResult},
    splice::{self, Entry, Own, Splice, literal},
    tree::{self, DocumentError, Language, Node, Value},
};

/// A server that was wrapped, and what it was before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::command) struct WrappedServer {
    /// The path of the member in which it stands.
    pub(in crate::command) section: Vec<String>,
    /// Its name.
    pub(in crate::command) server: String,
    /// How it was started before.
    pub(in crate::command) before: Before,
}

/// How a server was started before it was wrapped. Texts are as they stood in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub(in crate::command) enum Before {
    /// By a command, and arguments beside it.
    Command {
        /// The text of the command.
        text: String,
        /// The command that is an argument now.
        command: String,
        /// Whether there was a member for arguments.
        has_args: bool,
        /// The text of that member's value, if it had no argument in it.
        empty: Option<String>,
    },
    /// By a list that has the command and its arguments.
    List,
    /// At an address.
    Url {
        /// The text of the member with the address.
        text: String,
        /// The address.
        url: String,
        /// The text of the type, if there was one.
        kind: Option<String>,
    },
}

/// What to do about the servers of a file.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The changes of the text.
    pub(super) splices: Vec<Splice>,
    /// The servers that they wrap.
    pub(super) wrapped: Vec<WrappedServer>,
    /// Remarks for the person, in sentences.
    pub(super) notes: Vec<String>,
}

/// The input of a plan.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) host: Host,
    pub(super) place: &'a Place,
    /// The text of the file.
    pub(super) text: &'a str,
    /// The path of askbridge.
    pub(super) askbridge: &'a str,
    /// The home directory, for which `~` stands at the beginning of a command.
    pub(super) home: &'a str,
    /// The servers that the person named; all if none is named.
    pub(super) named: &'a [String],
}

impl Request<'_> {
    fn is_named(&self, server: &Server<'_>) -> bool {
        self.named.iter().any(|name| name == server.name)
    }
}

/// Decides about each server.
pub(super) fn plan(servers: &[Server<'_>], request: &Request<'_>) -> Plan {
    let mut plan = Plan::default();
    for server in servers.iter().filter(|it| request.named.is_empty() || request.is_named(it)) {
        match decide(server, request) {
            Err(why) => plan.notes.push(format!("{} {why}", shown(server))),
            Ok(()) => {
                let (splices, before) = wrap(server, request);
                plan.splices.extend(splices);
                let (section, name) = (server.section.clone(), server.name.to_owned());
                plan.wrapped.push(WrappedServer { section, server: name, before });
            }
        }
    }
    plan
}

/// Returns the name of a server as the person reads it.
pub(in crate::command) fn shown(server: &Server<'_>) -> String {
    match server.section.as_slice() {
        [projects, folder, _] if projects == "projects" => format!("{} in {folder}", server.name),
        _ => server.name.to_owned(),
    }
}

/// Decides whether a server can be wrapped.
///
/// # Errors
/// Says in the rest of a sentence why it stays as it is.
fn decide(server: &Server<'_>, request: &Request<'_>) -> Result<(), String> {
    match server.part() {
        Part::Proxy => return Err("runs through askbridge already".to_owned()),
        Part::Tool => return Err("is the tool of askbridge itself, and stays".to_owned()),
        Part::None => {}
    }
    if server.is_off(request.host) {
        return Err("is switched off, and stays".to_owned());
    }
    elsewhere(server, request.host)?;
    match server.start() {
        Start::Command(launch) if request.place.is_shared && launch.command.starts_with("~/") => {
            Err("stays: its command is below a home directory, and this file is shared with others"
                .to_owned())
        }
        Start::Command(_) => Ok(()),
        Start::Other
            if server.node.get("command").is_some_and(|it| matches!(it.value, Value::Members(_))) =>
        {
            Err("stays: its command has an older shape, which its host itself brings up to date".to_owned())
        }
        Start::Url(url) => remote(server, &url, request),
        Start::Other
            if server.text("source") == Some("extension") || server.node.get("settings").is_some() =>
        {
            Err("stays: an extension starts it, and its command is not in the settings".to_owned())
        }
        Start::Other => Err("stays: it has neither a command nor an address that setup can read".to_owned()),
    }
}

/// Refuses servers that the host starts in a way into which askbridge cannot come.
fn elsewhere(server: &Server<'_>, host: Host) -> Result<(), String> {
    let is = |name: &str| server.node.get(name).is_some_and(|it| it.value == Value::Flag(true));
    let title = host.title();
    match host {
        Host::VsCode if is("sandboxEnabled") => {
            Err(format!("stays: {title} runs it in a sandbox, in which askbridge does not reach the inbox"))
        }
        Host::VsCode if server.node.get("dev").is_some_and(|dev| dev.get("debug").is_some()) => {
            Err(format!("stays: {title} debugs it (`dev`), and has to start it itself"))
        }
        Host::Zed if is("remote") => Err(format!("stays: {title} runs it on another machine (`remote`)")),
        Host::Codex if server.text("experimental_environment").is_some_and(|it| it != "local") => {
            Err(format!("stays: {title} runs it in another environment (`experimental_environment`)"))
        }
        _ => Ok(()),
    }
}

/// Members of a remote server that may hold a secret. A host sends them, and askbridge would get them as arguments.
const SECRET: [&str; 6] =
    ["headers", "headersHelper", "http_headers", "env_http_headers", "bearer_token_env_var", "bearer_token"];
/// Members of a remote server for which the host signs in.
const SIGN_IN: [&str; 5] = ["oauth", "auth", "oauth_resource", "scopes", "authProviderType"];

/// Decides whether a remote server can be wrapped.
fn remote(server: &Server<'_>, url: &str, request: &Request<'_>) -> Result<(), String> {
    let has = |name: &&&str| server.node.get(name).is_some();
    match server.text("type") {
        None | Some("http" | "streamable-http" | "streamableHttp" | "streamable_http" | "remote") => {}
        Some("sse") => return Err(sse()),
        Some(kind) => return Err(format!("stays: askbridge does not speak {kind:?} to a server")),
    }
    if let Some(member) = SECRET.iter().find(has) {
        return Err(format!(
            "stays: by `{member}` it gets what may be a secret, which must not become an argument; docs/mcp.md says \
             how askbridge sends it"
        ));
    }
    if let Some(member) = SIGN_IN.iter().find(has) {
        return Err(format!(
            "stays: {} signs in there (`{member}`), which askbridge does not",
            request.host.title()
        ));
    }
    match address::read(url) {
        Address::Here => Ok(()),
        Address::There if request.is_named(server) => Ok(()),
        Address::There => Err(format!(
            "is remote, and stays: if it asks for no sign-in, `askbridge setup mcp {}` wraps it",
            server.name
        )),
        Address::Plain => Err("stays: its connection is not encrypted".to_owned()),
        Address::Secret => {
            Err("stays: its address may have a secret in it, which must not become an argument".to_owned())
        }
        Address::Sse => Err(sse()),
        Address::Unknown => Err("stays: its address is none of http or https that setup can read".to_owned()),
    }
}

fn sse() -> String {
    "stays: it speaks SSE, the transport before streamable HTTP, which askbridge does not".to_owned()
}

/// Wraps a server that [`decide`] has allowed.
fn wrap(server: &Server<'_>, request: &Request<'_>) -> (Vec<Splice>, Before) {
    let entry = server.entry(request.text, request.place.language);
    let mut words = named(server.name);
    match server.start() {
        Start::Url(url) => {
            words.extend(["--url".to_owned(), url.clone()]);
            let mut splices = splice::reach(&entry, request.askbridge, &words, request.host.has_list());
            let kind = server.node.get("type");
            let new = literal(request.host.command_type(), request.place.language);
            splices.extend(kind.map(|kind| splice::exchange(kind, new)));
            let text = server.node.member("url").map(|url| entry.raw_member(url).to_owned());
            let kind = kind.map(|kind| entry.raw(kind).to_owned());
            (splices, Before::Url { text: text.unwrap_or_default(), url, kind })
        }
        Start::Command(Launch { command, .. }) => {
            words.push("--".to_owned());
            // A host expands `~` in its own command, if at all, and not in arguments.
            let command = match command.strip_prefix("~/") {
                Some(rest) => format!("{}/{rest}", request.home),
                None => command,
            };
            let splices = splice::wrap(&entry, request.askbridge, &words, &command);
            (splices, before(&entry, command))
        }
        Start::Other => (Vec::new(), Before::List),
    }
}

/// Returns the arguments that begin with askbridge's own subcommand, and name the server.
fn named(server: &str) -> Vec<String> {
    let proxy = PROXY.to_owned();
    // A host would expand a variable in an argument, which it does not in the name of a server.
    if server.contains(['$', '{']) {
        return vec![proxy];
    }
    match server.starts_with('-') {
        true => vec![proxy, format!("--name={server}")],
        false => vec![proxy, "--name".to_owned(), server.to_owned()],
    }
}

fn before(entry: &Entry<'_>, command: String) -> Before {
    let program = entry.node.get("command");
    if program.is_some_and(|program| matches!(program.value, Value::List(_))) {
        return Before::List;
    }
    let args = entry.node.get("args");
    let is_empty = |args: &&Node| !matches!(&args.value, Value::List(nodes) if !nodes.is_empty());
    Before::Command {
        text: program.map(|program| entry.raw(program).to_owned()).unwrap_or_default(),
        command,
        has_args: args.is_some(),
        empty: args.filter(is_empty).map(|args| entry.raw(args).to_owned()),
    }
}

/// Takes the changes of a file out, the last one first. If nothing else was changed since, this restores the text byte
/// for byte. Otherwise, what others changed stays.
///
/// # Errors
/// Says where the settings are broken.
pub(super) fn undo(
    current: &str,
    language: Language,
    made: &[AppliedChange<WrappedServer>],
) -> Result<UndoResult, DocumentError> {
    let mut text = current.to_owned();
    let mut notes = Vec::new();
    for made in made.iter().rev() {
        if let (Some(before), true) = (&made.before, made.after.as_ref() == Some(&text)) {
            text.clone_from(before);
            continue;
        }
        for wrapped in made.changes.iter().rev() {
            let tree = tree::parse(&text, language)?;
            match unwrap(&text, language, &tree, wrapped) {
                Ok(splices) => text = splice::apply(&text, splices),
                Err(why) => notes.push(format!("{} {why}", wrapped.server)),
            }
        }
    }
    tree::parse(&text, language)?;
    Ok(UndoResult { text: Some(text), notes })
}

/// Returns what makes a server as it was before.
///
/// # Errors
/// Says in the rest of a sentence why it stays.
fn unwrap(
    text: &str,
    language: Language,
    tree: &Node,
    wrapped: &WrappedServer,
) -> Result<Vec<Splice>, String> {
    let section = wrapped.section.iter().try_fold(tree, |node, name| node.get(name));
    let Some(member) = section.and_then(|section| section.member(&wrapped.server)) else {
        return Err("is no longer in the settings".to_owned());
    };
    let server = Server::of(member);
    let entry = server.entry(text, language);
    let Start::Command(launch) = server.start() else { return Err(other_command()) };
    match &wrapped.before {
        Before::Url { text, url, kind } => {
            let now = own_url(&launch).ok_or_else(other_command)?;
            // The person has changed the address since.
            let text = if now == url { text.clone() } else { replaced(text, url, now, language) };
            let mut splices = splice::leave(&entry, &text);
            let is_ours = |node: &&Node| node.text().is_some_and(|it| ["local", "stdio"].contains(&it));
            let now = server.node.get("type").filter(is_ours);
            splices.extend(now.zip(kind.clone()).map(|(now, kind)| splice::exchange(now, kind)));
            Ok(splices)
        }
        before => {
            let place = own_at(&launch).ok_or_else(other_command)?;
            let now = launch.args[place].clone();
            let now_text = literal(&now, language);
            let own = match before {
                Before::Command { text, command, has_args, empty } => {
                    // The person has changed the command since.
                    let command = if now == *command { text } else { &now_text };
                    Own { command, has_args: *has_args, empty: empty.as_deref() }
                }
                Before::List | Before::Url { .. } => Own { command: &now_text, has_args: true, empty: None },
            };
            // In a list, the command of askbridge comes before its arguments.
            let is_list = *before == Before::List;
            Ok(splice::unwrap(&entry, if is_list { place + 1 } else { place }, &own))
        }
    }
}

/// Returns the text of a member with another address.
fn replaced(text: &str, old: &str, new: &str, language: Language) -> String {
    let sign = match language {
        Language::Json => ':',
        Language::Toml => '=',
    };
    let key = text.find(sign).map_or(text, |at| &text[..=at]);
    match text.contains(&literal(old, language)) {
        true => text.replace(&literal(old, language), &literal(new, language)),
        false => format!("{key} {}", literal(new, language)),
    }
}

fn other_command() -> String {
    "no longer runs through askbridge, and stays unchanged".to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::command::setup::mcp::servers;

    const SECTION: &[&[&str]] = &[&["s"]];

    fn place(language: Language, is_shared: bool) -> Place {
        Place { file: PathBuf::from("/f"), language, sections: SECTION, is_shared }
    }

    /// Plans for a text, and returns the text after it as well.
    fn planned(host: Host, text: &str, named: &[&str], is_shared: bool) -> (String, Plan) {
        let language = if host == Host::Codex { Language::Toml } else { Language::Json };
        let place = place(language, is_shared);
        let tree = tree::parse(text, language).unwrap();
        let servers = servers::of(text, &tree, SECTION).unwrap();
        let named: Vec<_> = named.iter().map(|&name| name.to_owned()).collect();
        let request =
            Request { host, place: &place, text, askbridge: "/b/askbridge", home: "/h", named: &named };
        let plan = plan(&servers, &request);
        let after = splice::apply(text, plan.splices.clone());
        tree::parse(&after, language).unwrap();
        (after, plan)
    }

    /// Returns how the only server of a text is started.
    fn started(host: Host, text: &str) -> Vec<String> {
        let language = if host == Host::Codex { Language::Toml } else { Language::Json };
        let tree = tree::parse(text, language).unwrap();
        match servers::of(text, &tree, SECTION).unwrap()[0].start() {
            Start::Command(Launch { command, args }) => [vec![command], args].concat(),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn undone(host: Host, before: Option<&str>, after: Option<&str>, plan: &Plan, now: &str) -> UndoResult {
        let language = if host == Host::Codex { Language::Toml } else { Language::Json };
        let made = AppliedChange {
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
            added_agents: false,
            changes: plan.wrapped.clone(),
        };
        undo(now, language, &[made]).unwrap()
    }

    /// Entries of a command `q` with the arguments `x` and `y`, or with none.
    const COMMANDS: [(Host, &str); 25] = [
        (Host::Cursor, r#"{"s":{"a":{"command":"q","args":["x","y"]}}}"#),
        (Host::Cursor, r#"{"s":{"a":{"args":["x", "y",],"command":"q"}}}"#),
        (Host::Cursor, "{ \"s\": {\n  \"a\": { // c\n    \"command\": \"q\",\n    \"env\": {}\n  } } }"),
        (Host::Cursor, "{\"s\":{\"a\":{\n\t\"command\": \"q\" // c\n\t}}}"),
        (Host::Cursor, r#"{"s":{"a":{"command":"q","args":[ ]}}}"#),
        (Host::Cursor, r#"{"s":{"a":{"command":"q","args":[/* c */],"x":1}}}"#),
        (Host::Cursor, r#"{"s":{"a":{"command":"q","args":null}}}"#),
        (Host::Cursor, "{\"s\":{\"a\":{\"command\":\"q\",\"args\":[ // c\n  \"x\", // d\n  \"y\"\n ]}}}"),
        (Host::Cursor, "{\"s\":{\"a\":{\"command\":\"q\",\"args\":[\"x\"/*1*/,/*2*/\"y\"]}}}"),
        (
            Host::Cursor,
            "\u{feff}{\r\n \"s\":{\r\n  \"a\":{\r\n   \"command\":\"q\",\r\n   \"args\":[\r\n    \"x\",\r\n    \"y\"\r\n   ]}}}",
        ),
        (Host::VsCode, r#"{"s":{"a":{"type":"stdio","command":"\u0071","args":["x","\u0079"],"cwd":"."}}}"#),
        (Host::Zed, r#"{"s":{"a":{"source":"custom","enabled":true,"command":"q","args":[],"env":{},}}}"#),
        (Host::Opencode, r#"{"s":{"a":{"type":"local","command":["q","x","y"],"enabled":true}}}"#),
        (Host::Opencode, r#"{"s":{"a":{"type":"local","command":[ /* c */ "q" ]}}}"#),
        (
            Host::Opencode,
            "{\"s\":{\"a\":{\"type\":\"local\",\"command\":[\n  // c\n  \"q\", // d\n  \"x\",\n  \"y\",\n]}}}",
        ),
        (Host::Codex, "[s.a]\ncommand = \"q\"\nargs = [\"x\", 'y']\n\n[s.a.env]\nA = \"1\"\n"),
        (Host::Codex, "[s.a]\n# c\ncommand = 'q' # d\nstartup_timeout_sec = 20\n"),
        (Host::Codex, "[s.a]\n  command = 'q'\n  args = [\n    # c\n    'x', # d\n    'y',\n  ]\n"),
        (Host::Codex, "[s.a]\r\ncommand = 'q'\r\nargs = [ ]\r\n"),
        (Host::Codex, "[s]\na = { command = 'q', args = ['x', 'y'] }\n"),
        (Host::Codex, "[s]\na = { command = 'q' }\n"),
        (Host::Codex, "[s]\na = {\n  command = 'q', # c\n  enabled = true,\n}\n"),
        (Host::Codex, "s.a.command = 'q'\ns.a.enabled = true\n"),
        (Host::Codex, "[s]\na.args = ['x', 'y']\na.command = \"\"\"q\"\"\"\n"),
        (Host::Codex, "[s.\"a\"]\n\"command\" = 'q'"),
    ];

    #[test]
    fn each_shape_of_a_command_is_wrapped_and_given_back_byte_for_byte() {
        for (host, text) in COMMANDS {
            let (after, plan) = planned(host, text, &[], false);
            let own = started(host, text);
            let words = ["/b/askbridge", "mcp-proxy", "--name", "a", "--"].map(str::to_owned);
            assert_eq!(started(host, &after), [&words[..], &own].concat(), "{text}\n{after}");
            assert_eq!(plan.notes, [""; 0], "{text}");
            // At once, and where the text is only known by what stands in it.
            for (kept, now) in [(Some(after.as_str()), after.as_str()), (None, after.as_str())] {
                let undone = undone(host, Some(text), kept, &plan, now);
                assert_eq!(undone.text.as_deref(), Some(text), "{after}");
                assert_eq!(undone.notes, [""; 0]);
            }
            // A second run changes nothing.
            let (again, plan) = planned(host, &after, &[], false);
            assert_eq!((again, plan.notes), (after, vec!["a runs through askbridge already".to_owned()]));
        }
    }

    /// Entries of an address.
    const ADDRESSES: [(Host, &str); 12] = [
        (Host::ClaudeCode, r#"{"s":{"a":{"type":"http","url":"http://localhost:1/mcp"}}}"#),
        (
            Host::ClaudeCode,
            "{\"s\":{\"a\":{\n  \"type\": \"streamable-http\",\n  \"url\": \"http://localhost:1/mcp\",\n  \"timeout\": 5\n}}}",
        ),
        (Host::Cursor, r#"{"s":{"a":{"url":"http:\/\/localhost:1/mcp","x":1}}}"#),
        (
            Host::VsCode,
            "{\"s\":{\"a\":{ // c\n  \"url\": \"http://localhost:1/mcp\", // d\n  \"type\": \"http\",\n}}}",
        ),
        (Host::Zed, r#"{"s":{"a":{"source":"custom","url":"http://localhost:1/mcp","timeout":9}}}"#),
        (Host::Opencode, r#"{"s":{"a":{"type":"remote","url":"http://localhost:1/mcp","enabled":true}}}"#),
        (
            Host::Opencode,
            "{\"s\":{\"a\":{\n  \"type\": \"remote\",\n  \"url\": \"http://localhost:1/mcp\"\n}}}",
        ),
        (Host::Codex, "[s.a]\nurl = \"http://localhost:1/mcp\" # c\ntool_timeout_sec = 9\n"),
        (Host::Codex, "[s]\na = { url = 'http://localhost:1/mcp' }\n"),
        (Host::Codex, "s.a.url = 'http://localhost:1/mcp'\n"),
        (Host::Codex, "[s.a]\n# c\n  url = 'http://localhost:1/mcp'"),
        (Host::Codex, "[s]\na = {\n  url = 'http://localhost:1/mcp', # c\n}\n"),
    ];

    #[test]
    fn each_shape_of_an_address_becomes_a_command_and_is_given_back_byte_for_byte() {
        for (host, text) in ADDRESSES {
            let (after, plan) = planned(host, text, &[], false);
            let words = ["/b/askbridge", "mcp-proxy", "--name", "a", "--url", "http://localhost:1/mcp"];
            assert_eq!(started(host, &after), words, "{text}\n{after}");
            assert!(!after.contains("\"http\"") && !after.contains("remote"), "{after}");
            for kept in [Some(after.as_str()), None] {
                let undone = undone(host, Some(text), kept, &plan, &after);
                assert_eq!(undone.text.as_deref(), Some(text), "{after}");
                assert_eq!(undone.notes, [""; 0]);
            }
        }
    }

    #[test]
    fn what_the_person_changed_since_stays() {
        for (host, text, edits) in [
            (
                Host::Cursor,
                r#"{"s":{"a":{"command":"q","args":["x"],"env":{"A":"1"}}}}"#,
                &[("\"A\":\"1\"", "\"A\":\"2\",\"B\":\"3\""), ("\"x\"]", "\"x\", \"z\"]")][..],
            ),
            (Host::Cursor, r#"{"s":{"a":{"command":"q","args":["x"]}}}"#, &[("\"q\"", "\"r\"")]),
            (Host::Opencode, r#"{"s":{"a":{"command":["q","x"]}}}"#, &[("\"q\"", "\"r\"")]),
            (
                Host::Codex,
                "[s.a]\ncommand = \"q\"\n",
                &[("[s.a]", "[s.a]\nenabled = true"), ("\"q\"", "\"r\"")],
            ),
            (
                Host::Codex,
                "[s.a]\nurl = \"http://localhost:1/mcp\"\n",
                &[("localhost:1", "localhost:2"), ("[s.a]", "# c\n[s.a]\nenabled = true")],
            ),
            (
                Host::VsCode,
                r#"{"s":{"a":{"type":"http","url":"http://localhost:1/mcp"}}}"#,
                &[("localhost:1", "localhost:2"), ("\"type\"", "\"x\":1,\"type\"")],
            ),
        ] {
            let (after, plan) = planned(host, text, &[], false);
            for (old, new) in edits {
                let edited = after.replacen(old, new, 1);
                assert_ne!(edited, after, "{old}: {after}");
                let undone = undone(host, Some(text), Some(&after), &plan, &edited);
                assert_eq!(undone.text.unwrap(), text.replacen(old, new, 1), "{edited}");
                assert_eq!(undone.notes, [""; 0]);
            }
        }
    }

    #[test]
    fn members_in_another_order_are_given_back_all_the_same() {
        let text = r#"{"s":{"a":{"type":"http","url":"http://localhost:1/mcp","timeout":9}}}"#;
        let (_, plan) = planned(Host::Cursor, text, &[], false);
        let moved = r#"{"s":{"a":{
            "args": ["mcp-proxy", "--name", "a", "--elicitation", "inbox", "--url", "http://localhost:1/mcp"],
            "timeout": 9, "command": "/other/askbridge", "type": "stdio"}}}"#;
        let back = undone(Host::Cursor, Some(text), None, &plan, moved).text.unwrap();
        let value: serde_json::Value = serde_json::from_str(&back).unwrap();
        assert_eq!(value, serde_json::from_str::<serde_json::Value>(text).unwrap(), "{back}");
    }

    #[test]
    fn what_is_gone_or_starts_otherwise_is_said() {
        let text = r#"{"s":{"a":{"command":"q"},"b":{"command":"q"},"c":{"command":"q"}}}"#;
        let (after, plan) = planned(Host::Cursor, text, &[], false);
        let mut edited = after.replacen("\"a\"", "\"z\"", 1);
        edited = edited.replacen("/b/askbridge", "x", 2).replacen("\"x\"", "\"/b/askbridge\"", 1);
        let undone = undone(Host::Cursor, Some(text), Some(&after), &plan, &edited);
        assert!(undone.notes.iter().any(|note| note == "a is no longer in the settings"), "{undone:?}");
        let other = "b no longer runs through askbridge, and stays unchanged";
        assert!(undone.notes.iter().any(|note| note == other), "{undone:?}");
        assert!(undone.text.unwrap().contains(r#""c":{"command":"q"}"#));
    }

    /// Entries of JSON that stay, and a part of the reason.
    const STAYING: &[(Host, &str, &str)] = &[
        (Host::Cursor, r#""command":"askbridge","args":["mcp"]"#, "is the tool of askbridge itself"),
        (Host::Opencode, r#""command":["/b/askbridge","mcp"]"#, "is the tool of askbridge itself"),
        (Host::Cursor, r#""command":"askbridge","args":["mcp-proxy","--","q"]"#, "already"),
        (Host::Cursor, r#""command":"q","disabled":true"#, "switched off"),
        (Host::Opencode, r#""type":"local","command":["q"],"disabled":true"#, "switched off"),
        (Host::Opencode, r#""type":"local","command":["q"],"enabled":false"#, "switched off"),
        (Host::VsCode, r#""command":"q","sandboxEnabled":true"#, "in a sandbox"),
        (Host::VsCode, r#""command":"node","dev":{"debug":{"type":"node"}}"#, "debugs it"),
        (Host::Zed, r#""command":"q","remote":true"#, "on another machine"),
        (Host::Zed, r#""source":"extension","settings":{}"#, "an extension starts it"),
        (Host::Zed, r#""settings":{"key":"v"}"#, "an extension starts it"),
        (Host::Zed, r#""command":{"path":"q","args":[]},"settings":{}"#, "an older shape"),
        (Host::Opencode, r#""enabled":true"#, "neither a command nor an address"),
        (Host::Opencode, r#""type":"local","command":[]"#, "neither a command nor an address"),
        (Host::Cursor, r#""command":"q","args":[1]"#, "neither a command nor an address"),
        (Host::Cursor, r#""command":"q","url":"https://x/mcp""#, "neither a command nor an address"),
        (Host::Cursor, r#""type":"sse","url":"http://localhost/mcp""#, "it speaks SSE"),
        (Host::Cursor, r#""url":"http://localhost/sse""#, "it speaks SSE"),
        (Host::ClaudeCode, r#""type":"ws","url":"http://localhost/mcp""#, "does not speak \"ws\""),
        (
            Host::Cursor,
            r#""url":"http://localhost/mcp","headers":{"K":"v"}"#,
            "by `headers` it gets what may be a secret",
        ),
        (
            Host::ClaudeCode,
            r#""url":"http://localhost/mcp","headersHelper":"x""#,
            "by `headersHelper` it gets",
        ),
        (Host::VsCode, r#""url":"http://localhost/mcp","oauth":{"clientId":"x"}"#, "VS Code signs in there"),
        (Host::Cursor, r#""url":"http://localhost/mcp","auth":{}"#, "Cursor signs in there"),
        (Host::Cursor, r#""url":"https://mcp.example.com/mcp""#, "`askbridge setup mcp a` wraps it"),
        (Host::Cursor, r#""url":"http://mcp.example.com/mcp""#, "not encrypted"),
        (Host::Cursor, r#""url":"http://localhost/mcp?key=1""#, "its address may have a secret"),
        (Host::Cursor, r#""url":"${env:URL}""#, "none of http or https"),
    ];

    /// The same for whole settings of Codex.
    const STAYING_OF_CODEX: &[(&str, &str)] = &[
        ("[s.a]\ncommand = 'q'\nenabled = false\n", "switched off"),
        ("[s.a]\ncommand = 'q'\nexperimental_environment = 'remote'\n", "in another environment"),
        (
            "[s.a]\nurl = 'http://localhost/mcp'\nbearer_token_env_var = 'T'\n",
            "by `bearer_token_env_var` it gets",
        ),
        ("[s.a]\nurl = 'http://localhost/mcp'\n[s.a.http_headers]\nK = 'v'\n", "by `http_headers` it gets"),
        ("[s.a]\nurl = 'http://localhost/mcp'\nscopes = ['x']\n", "Codex signs in there"),
        ("s = { a.command = 'q' }\n", "neither a command nor an address"),
    ];

    #[test]
    fn what_cannot_be_wrapped_stays_and_the_reason_is_said() {
        let json = |entry: &str| format!("{{\"s\":{{\"a\":{{{entry}}}}}}}");
        for &(host, entry, why) in STAYING {
            let text = json(entry);
            let (after, plan) = planned(host, &text, &[], false);
            assert_eq!((after, plan.wrapped.len()), (text.clone(), 0), "{text}");
            assert!(plan.notes.len() == 1 && plan.notes[0].contains(why), "{text}: {:?}", plan.notes);
            assert!(plan.notes[0].starts_with("a "), "{:?}", plan.notes);
        }
        for &(text, why) in STAYING_OF_CODEX {
            let (after, plan) = planned(Host::Codex, text, &[], false);
            assert_eq!(after, text);
            assert!(plan.notes.len() == 1 && plan.notes[0].contains(why), "{text}: {:?}", plan.notes);
        }
    }

    #[test]
    fn a_remote_server_is_wrapped_by_its_name_and_others_are_left_out() {
        let text = r#"{"s":{"a":{"url":"https://mcp.example.com/mcp"},"b":{"command":"q"}}}"#;
        let (after, plan) = planned(Host::Cursor, text, &["a"], false);
        assert_eq!((plan.wrapped.len(), plan.notes.len()), (1, 0));
        assert!(after.contains(r#""--url", "https://mcp.example.com/mcp"]"#), "{after}");
        assert!(after.ends_with(r#""b":{"command":"q"}}}"#), "{after}");
    }

    #[test]
    fn variables_and_everything_else_mean_the_same_to_the_host() {
        // Each host expands variables in arguments as it does in a command or an address.
        for (host, command, url) in [
            (Host::ClaudeCode, "${BIN:-/opt}/q", "http://localhost:${PORT:-80}/mcp"),
            (Host::Cursor, "${workspaceFolder}${/}q", "http://localhost:${env:PORT}/mcp"),
            (Host::VsCode, "${workspaceFolder}/${config:x}/q", "http://localhost:${input:port}/mcp"),
            (Host::Opencode, "{env:BIN}/q", "http://localhost:{env:PORT}/mcp"),
        ] {
            let value = match host.has_list() {
                true => format!(r#""command":["{command}","--key=${{input:k}}","{{file:x}}"]"#),
                false => format!(r#""command":"{command}","args":["--key=${{input:k}}","{{file:x}}"]"#),
            };
            let rest = r#""cwd":"${workspaceFolder}","env":{"A":"${env:B}"},"envFile":"${userHome}/.env","timeout":7"#;
            let text = format!(r#"{{"s":{{"a":{{{value},{rest}}}}}}}"#);
            let (after, _) = planned(host, &text, &[], false);
            let last = started(host, &after)[5..].to_vec();
            assert_eq!(last, [command, "--key=${input:k}", "{file:x}"], "{after}");
            assert!(after.contains(rest), "{after}");
            let (after, _) = planned(host, &format!(r#"{{"s":{{"a":{{"url":"{url}"}}}}}}"#), &[], false);
            assert_eq!(started(host, &after).last().unwrap(), url, "{after}");
        }
    }

    #[test]
    fn a_home_directory_is_expanded_for_the_person_alone() {
        let text = r#"{"s":{"a":{"command":"~/bin/q"}}}"#;
        let (after, plan) = planned(Host::Cursor, text, &[], false);
        assert_eq!(started(Host::Cursor, &after).last().unwrap(), "/h/bin/q");
        assert_eq!(undone(Host::Cursor, Some(text), None, &plan, &after).text.as_deref(), Some(text));
        let (after, plan) = planned(Host::Cursor, text, &[], true);
        assert!(after == text && plan.notes[0].contains("below a home directory"), "{:?}", plan.notes);
    }

    #[test]
    fn a_name_never_becomes_an_option_or_a_variable() {
        for (name, words) in [
            ("-x", &["mcp-proxy", "--name=-x", "--"][..]),
            ("${HOME}", &["mcp-proxy", "--"]),
            ("{env:HOME}", &["mcp-proxy", "--"]),
            ("a b", &["mcp-proxy", "--name", "a b", "--"]),
        ] {
            let text = format!(r#"{{"s":{{"{name}":{{"command":"q"}}}}}}"#);
            let (after, plan) = planned(Host::Cursor, &text, &[], false);
            assert_eq!(started(Host::Cursor, &after)[1..=words.len()], *words, "{after}");
            assert_eq!(undone(Host::Cursor, Some(&text), None, &plan, &after).text, Some(text));
        }
    }

    #[test]
    fn a_server_of_a_project_is_shown_with_it() {
        let text = r#"{"projects":{"/p":{"mcpServers":{"a":{},"b":{}},"disabledMcpServers":["b"]}}}"#;
        let tree = tree::parse(text, Language::Json).unwrap();
        let servers = servers::of(text, &tree, &[&["projects", "*", "mcpServers"]]).unwrap();
        let read: Vec<_> = servers.iter().map(|it| (shown(it), it.is_off(Host::ClaudeCode))).collect();
        assert_eq!(read, [("a in /p".to_owned(), false), ("b in /p".to_owned(), true)]);
    }
}
