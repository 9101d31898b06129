//! The `[[mcp.servers]]` tables of the user's file: what is sent to an MCP server that is reached over HTTP. Sending it
//! is left to `adapters`.
//!
//! A project's file has none: it would decide to which address a secret is sent.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::Value;
#[cfg(feature = "schema")]
use serde_json::json;

use super::{
    addresses::Url,
    document::{Document, DocumentEntry, Mark},
    key::{Setting, text},
    keys,
    place::{self, Layer, StoredValue, printable, unknown_named},
};

/// The address of the server.
const URL: &str = "url";
/// The headers of each request.
const HEADERS: &str = "headers";
/// Whether an address without TLS may be used.
const PLAIN_HTTP: &str = "plain-http";

/// The keys of a table, each with its description.
pub(crate) const KEYS: [(&str, &str); 3] = [
    (URL, "The address of the server, as `askbridge mcp-proxy --url` has it"),
    (
        HEADERS,
        "Headers of each request to it: for each name a text, or { env = \"VARIABLE\" }, or { file = \"/path\" }; \
        { env = \"TOKEN\", prefix = \"Bearer \" } puts a text before the value",
    ),
    (
        PLAIN_HTTP,
        "Send the headers and the messages to an address that begins with http:// and is not on this machine, where \
        all that the network carries can be read",
    ),
];

/// What stands in for the text of a header when it is shown.
const HIDDEN: &str = "(hidden)";
/// The form of a header's value.
const SOURCE: &str = "a text, { env = \"VARIABLE\" } or { file = \"/path\" }";

/// Where the value of a header comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum HeaderOrigin {
    /// It is this text.
    Text(String),
    /// It is the value of this environment variable.
    Variable(String),
    /// It is in this file.
    File(PathBuf),
}

/// A header of a server's table.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerHeader {
    /// Its name.
    pub name: String,
    /// The text before the value.
    pub prefix: String,
    /// Where the value comes from.
    pub origin: HeaderOrigin,
}

/// One `[[mcp.servers]]`.
#[derive(Clone, PartialEq)]
pub struct McpServer {
    /// The address, as it was written.
    pub url: String,
    /// The headers of each request.
    pub headers: Vec<ServerHeader>,
    /// Whether an address without TLS may be used.
    pub plain_http: bool,
    /// Why the table cannot be used. Without one of its headers, a request could mean something else.
    pub mistake: Option<String>,
    /// The values in their written form, without secrets.
    pub values: Vec<(&'static str, StoredValue)>,
}

/// Values of headers are secrets.
impl std::fmt::Debug for McpServer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("McpServer").field("values", &self.values).finish_non_exhaustive()
    }
}

/// Returns whether an entry of a file belongs to the servers.
pub(super) fn is_of_server(path: &[String]) -> bool {
    matches!(path, [table, list, ..] if keys::MCP_SERVERS.split_once('.') == Some((table, list)))
}

/// Returns whether this is the table that the servers stand in.
pub(super) fn is_table(path: &str) -> bool {
    keys::MCP_SERVERS.split_once('.').is_some_and(|(table, _)| table == path)
}

/// Returns a problem if a project's file has servers.
pub(super) fn refuse(document: &Document) -> Vec<(Mark, String)> {
    let entries = document.entries.iter().filter(|entry| is_of_server(&entry.path)).map(|entry| entry.name);
    let heads = document.heads.iter().filter(|head| is_of_server(&head.path)).map(|head| head.at);
    let message = format!(
        "only your own file may have [[{}]]: a project decides nothing about what is sent, and where",
        keys::MCP_SERVERS
    );
    entries.chain(heads).min().map(|first| (first, message)).into_iter().collect()
}

/// Reads the servers of the user's file, and its mistakes in them.
pub(super) fn read(
    document: &Document,
    home: Option<&Path>,
    origin: &dyn Fn(Mark) -> Layer,
) -> (Vec<McpServer>, Vec<(Mark, String)>) {
    let mut tables: BTreeMap<usize, (Mark, Vec<&DocumentEntry>)> = BTreeMap::new();
    let number = |path: &[String]| path.get(2).and_then(|number| number.parse::<usize>().ok());
    let mut problems = Vec::new();
    for head in document.heads.iter().filter(|head| is_of_server(&head.path) && head.path.len() == 3) {
        if let Some(number) = number(&head.path) {
            tables.insert(number, (head.at, Vec::new()));
        }
    }
    for entry in document.entries.iter().filter(|entry| is_of_server(&entry.path)) {
        match number(&entry.path).and_then(|number| tables.get_mut(&number)) {
            Some((_, entries)) => entries.push(entry),
            None => problems.push((entry.name, single_brackets())),
        }
    }
    let heads: Vec<_> = document.heads.iter().map(|head| (head.at.line, head.path.clone())).collect();
    let mut servers = Vec::new();
    for (number, (head, entries)) in &tables {
        let own = [keys::MCP_SERVERS.replace('.', "\0"), number.to_string()].join("\0");
        let is_own = |path: &[String]| path.join("\0").starts_with(&own);
        let end =
            heads.iter().filter(|(line, path)| *line > head.line && !is_own(path)).map(|(line, _)| *line);
        let end = end.min().unwrap_or(usize::MAX);
        let broken = document.broken.range(head.line..end).next();
        servers.push(server(*head, entries, broken, home, origin, &mut problems));
    }
    (servers, problems)
}

fn single_brackets() -> String {
    format!("each server has a table of its own: write [[{}]], with two brackets", keys::MCP_SERVERS)
}

fn server(
    head: Mark,
    entries: &[&DocumentEntry],
    broken: Option<&usize>,
    home: Option<&Path>,
    origin: &dyn Fn(Mark) -> Layer,
    problems: &mut Vec<(Mark, String)>,
) -> McpServer {
    let mut server = McpServer {
        url: String::new(),
        headers: Vec::new(),
        plain_http: false,
        mistake: None,
        values: Vec::new(),
    };
    let mut found: Vec<(Mark, String)> = Vec::new();
    if let Some(line) = broken {
        found.push((head, format!("this [[{}]] is not used: line {line} is not TOML", keys::MCP_SERVERS)));
    }
    for entry in entries {
        let name = entry.path.get(3).map(String::as_str).unwrap_or_default();
        let read = match name {
            URL => Url::read(&entry.value).map(|url| server.url = url.0),
            PLAIN_HTTP => bool::read(&entry.value).map(|flag| server.plain_http = flag),
            HEADERS => headers(&entry.value, home).map(|headers| server.headers = headers),
            other => {
                let meant = place::closest(other, KEYS.iter().map(|(name, _)| *name));
                let what = format!("`{}` of a server", printable(other));
                found.push((entry.name, unknown_named(&what, meant)));
                continue;
            }
        };
        match read {
            Err(message) => found.push((entry.at, format!("`{name}`: {message}"))),
            Ok(()) => {
                let key = KEYS.iter().map(|(key, _)| *key).find(|key| *key == name).unwrap_or_default();
                let value = if key == HEADERS { shown(&entry.value) } else { entry.value.clone() };
                server.values.push((key, StoredValue { value, origin: origin(entry.at) }));
            }
        }
    }
    if server.url.is_empty() && found.is_empty() {
        found.push((head, format!("this server needs `{URL}`")));
    }
    server.mistake = found.first().map(|(at, message)| format!("{}: {message}", origin(*at)));
    problems.append(&mut found);
    server
}

/// Reads the headers of a server. No message quotes a value.
fn headers(value: &Value, home: Option<&Path>) -> Result<Vec<ServerHeader>, String> {
    let named = value.as_object().ok_or_else(|| format!("it is not a table of names, each with {SOURCE}"))?;
    named.iter().map(|(name, value)| header(name, value, home)).collect()
}

fn header(name: &str, value: &Value, home: Option<&Path>) -> Result<ServerHeader, String> {
    let wrong = || format!("the value of `{}` is not {SOURCE}", printable(name));
    let mut prefix = String::new();
    let origin = match value {
        Value::String(text) if !text.trim().is_empty() => HeaderOrigin::Text(text.clone()),
        Value::Object(members) => {
            let known = |member: &String| matches!(&**member, "env" | "file" | "prefix");
            if !members.keys().all(known) {
                return Err(wrong());
            }
            if let Some(text) = members.get("prefix") {
                text.as_str().ok_or_else(wrong)?.clone_into(&mut prefix);
            }
            match (members.get("env"), members.get("file")) {
                (Some(variable), None) => {
                    let variable = text(variable, "a name").map_err(|_| wrong())?;
                    HeaderOrigin::Variable(variable.to_owned())
                }
                (None, Some(path)) => {
                    let path =
                        PathBuf::read(path).map_err(|message| format!("`{}`: {message}", printable(name)))?;
                    HeaderOrigin::File(at_home(path, home))
                }
                _ => return Err(wrong()),
            }
        }
        _ => return Err(wrong()),
    };
    Ok(ServerHeader { name: name.to_owned(), prefix, origin })
}

fn at_home(path: PathBuf, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

/// Returns headers as they are shown: a text is a secret.
fn shown(headers: &Value) -> Value {
    let members = headers.as_object().into_iter().flatten();
    let shown = members.map(|(name, value)| {
        let shown = if value.is_string() { HIDDEN.into() } else { value.clone() };
        (name.clone(), shown)
    });
    Value::Object(shown.collect())
}

impl McpServer {
    /// Returns whether a secret itself is in the table.
    pub(super) fn has_secret(&self) -> bool {
        self.headers.iter().any(|header| matches!(header.origin, HeaderOrigin::Text(_)))
    }
}

/// Returns the JSON Schema of one table.
#[cfg(feature = "schema")]
pub(super) fn schema() -> Value {
    let text = json!({ "type": "string", "minLength": 1 });
    let source = |name: &str, value: Value| {
        let mut source = json!({
            "type": "object",
            "properties": { "prefix": { "type": "string" } },
            "required": [name],
            "additionalProperties": false,
        });
        source["properties"][name] = value;
        source
    };
    let header = json!({ "anyOf": [text, source("env", text.clone()), source("file", PathBuf::schema())] });
    let mut properties = json!({
        URL: Url::schema(),
        HEADERS: { "type": "object", "additionalProperties": header },
        PLAIN_HTTP: { "type": "boolean", "default": false },
    });
    for (name, about) in KEYS {
        properties[name]["description"] = about.into();
    }
    json!({
        "type": "object",
        "description": keys::MCP_SERVERS_ABOUT,
        "properties": properties,
        "additionalProperties": false,
        "required": [URL],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, SettingsFile, Sources, render};

    const SERVER: &str = "[[mcp.servers]]\nurl = 'https://a.example/mcp'\n";

    fn of(user: &str, project: &str, is_readable_by_others: bool) -> Settings {
        let file = |path: &str, text: &str| {
            Some(SettingsFile { path: path.into(), text: text.to_owned(), is_readable_by_others })
        };
        Settings::of(Sources {
            user: file("config.toml", user),
            project: file(".askbridge.toml", project),
            home: Some("/people/ada".into()),
            ..Sources::default()
        })
    }

    fn problems(settings: &Settings) -> Vec<String> {
        settings.problems().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_server_has_headers_from_three_places() {
        let text = format!(
            "{SERVER}headers = {{ A = 's3cret', B = {{ env = 'TOKEN', prefix = 'Bearer ' }} }}\n\
            [[mcp.servers]]\nplain-http = true\nurl = 'http://b.example/mcp'\n[mcp.servers.headers]\nC = {{ file = '~/token' }}\n"
        );
        let settings = of(&text, "", false);
        assert_eq!(problems(&settings), [""; 0]);
        let [first, second] = settings.mcp_servers() else { panic!("{:?}", settings.mcp_servers()) };
        let header = |name: &str, prefix: &str, origin| ServerHeader {
            name: name.to_owned(),
            prefix: prefix.to_owned(),
            origin,
        };
        let expected = [
            header("A", "", HeaderOrigin::Text("s3cret".to_owned())),
            header("B", "Bearer ", HeaderOrigin::Variable("TOKEN".to_owned())),
        ];
        assert!(first.headers == expected && !first.plain_http && first.mistake.is_none());
        let file = header("C", "", HeaderOrigin::File("/people/ada/token".into()));
        assert!(second.headers == [file] && second.plain_http);
        assert!(!format!("{settings:?}").contains("s3cret"), "{settings:?}");
        for with_origin in [false, true] {
            let shown = render::file(&settings, with_origin);
            assert!(shown.contains("(hidden)") && !shown.contains("s3cret"), "{shown}");
            assert_eq!(problems(&of(&shown, "", false)), [""; 0]);
        }
        let json = serde_json::to_string(&render::SettingsList::new(&settings, None)).expect("JSON");
        assert!(json.contains("https://a.example/mcp") && !json.contains("s3cret"), "{json}");
    }

    #[test]
    fn a_server_with_a_mistake_is_not_used() {
        for (text, problem) in [
            ("[[mcp.servers]]\n", "config.toml:1:1: this server needs `url`"),
            (
                "[[mcp.servers]]\nurl = 'a.example'\n",
                "config.toml:2:7: `url`: \"a.example\" is not an address",
            ),
            (
                "[[mcp.servers]]\nurl = 'https://a'\nheader = {}\n",
                "config.toml:3:1: there is no `header` of a server; did you mean `headers`?",
            ),
            (
                "[[mcp.servers]]\nurl = 'https://a'\nheaders = 's3cret'\n",
                "config.toml:3:11: `headers`: it is not a table of names",
            ),
            (
                "[[mcp.servers]]\nurl = 'https://a'\nheaders = { A = ['s3cret'] }\n",
                "config.toml:3:11: `headers`: the value of `A` is not a text, ",
            ),
            (
                "[[mcp.servers]]\nurl = 'https://a'\nheaders = { A = { env = 'T', file = '/t' } }\n",
                "config.toml:3:11: `headers`: the value of `A` is not",
            ),
            (
                "[[mcp.servers]]\nurl = 'https://a'\nheaders = { A = { enw = 's3cret' } }\n",
                "config.toml:3:11: `headers`: the value of `A` is not",
            ),
            (
                "[[mcp.servers]]\nurl = 'https://a'\nheaders = { A = { file = 't' } }\n",
                "config.toml:3:11: `headers`: `A`: \"t\" does not begin with / or ~/",
            ),
            (
                "[[mcp.servers]]\nurl = 'https://a'\nplain-http = 1\n",
                "config.toml:3:14: `plain-http`: 1 is not true or false",
            ),
            (
                "[[mcp.servers]]\nurl = 'https://a'\nheaders = { A = s3cret }\n",
                "config.toml:1:1: this [[mcp.servers]] is not used: line 3 is not TOML",
            ),
        ] {
            let settings = of(&format!("{text}[bridge]\ngrace = '1s'\n"), "", false);
            let found = problems(&settings);
            assert!(found.iter().any(|found| found.starts_with(problem)), "{text}: {found:?}");
            assert!(!found.concat().contains("s3cret"), "{found:?}");
            let [server] = settings.mcp_servers() else { panic!("{text}") };
            assert!(server.mistake.is_some(), "{text}");
            assert_eq!(settings.get(&keys::BRIDGE_GRACE).as_secs(), 1, "the rest counts");
        }
        for single in ["[mcp.servers]\nurl = 'https://a'\n", "[mcp]\nservers = 1\n"] {
            let found = problems(&of(single, "", false));
            assert!(found.concat().contains("write [[mcp.servers]], with two brackets"), "{found:?}");
        }
    }

    #[test]
    fn a_project_has_no_servers_and_others_do_not_read_a_secret() {
        let settings = of("", &format!("{SERVER}[notify]\ndelay = '1m'\n"), false);
        assert!(settings.mcp_servers().is_empty());
        let found = problems(&settings);
        assert!(
            found.len() == 1 && found[0].contains("only your own file may have [[mcp.servers]]"),
            "{found:?}"
        );
        assert_eq!(settings.get(&keys::NOTIFY_DELAY).as_secs(), 60, "the rest counts");
        let secret = format!("{SERVER}headers = {{ A = 'x' }}\n");
        assert!(problems(&of(&secret, "", true)).concat().contains("chmod 600 config.toml"));
        let variable = format!("{SERVER}headers = {{ A = {{ env = 'X' }} }}\n");
        assert_eq!(problems(&of(&variable, "", true)), [""; 0]);
    }
}
