//! The raw input of a tool: its commands, files and addresses, in any of its members.
//!
//! Agents name the same thing in many ways (`command`, `cmd`, `fullCommandText`; `file_path`, `filePath`, `uri`), so
//! members are recognised by their names without case and `_`. The whole input is read, at any depth, and so is each
//! value of a name that occurs twice in an object: agents and this program need not agree on which of the two counts.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

use crate::question::subject::quoted_words;

/// The parts of a tool's input.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Input {
    /// The commands, as texts.
    pub commands: Vec<String>,
    /// The files and folders.
    pub paths: Vec<String>,
    /// Whether it names a search term.
    pub has_terms: bool,
    /// Whether it has an address on the network.
    pub has_address: bool,
    /// Whether it asks to leave the sandbox, or for more rights.
    pub escalates: bool,
    /// Its members, at any depth.
    pub members: Vec<Member>,
    /// The parts with an unknown shape.
    pub unclear: Option<&'static str>,
}

/// A member of the input.
#[derive(Debug, PartialEq)]
pub(super) struct Member {
    /// Its name in lower case, with letters and digits only.
    pub name: String,
    pub is_command: bool,
}

/// Members that are a command, or code.
const COMMANDS: [&str; 18] = [
    "argv",
    "bash",
    "cmd",
    "cmds",
    "code",
    "command",
    "commandline",
    "commands",
    "commandtext",
    "exec",
    "execute",
    "fullcommandtext",
    "powershell",
    "program",
    "script",
    "scripts",
    "shell",
    "shellcommand",
];

/// The members among [`COMMANDS`] of which a list has a command, and not a word, in each item.
const SEVERAL: [&str; 3] = ["cmds", "commands", "scripts"];

/// Members that are a file or a folder, beside those whose name has `path` in it.
const FILES: [&str; 16] = [
    "cwd",
    "destination",
    "dest",
    "dir",
    "directory",
    "file",
    "filename",
    "filenames",
    "files",
    "folder",
    "from",
    "target",
    "targetfile",
    "to",
    "workdir",
    "workingdirectory",
];

/// Members that are an address.
const ADDRESSES: [&str; 7] = ["endpoint", "host", "hostname", "uri", "uris", "url", "urls"];

/// Members that have a search term.
const TERMS: [&str; 7] = ["glob", "pattern", "patterns", "q", "query", "regex", "searchterm"];

/// Parts of the names of members that ask for more rights.
const RIGHTS: [&str; 7] =
    ["additionalpermission", "asroot", "elevat", "escalat", "privileged", "sandbox", "unrestricted"];

/// Values of such members that ask for nothing.
const NO_RIGHTS: [&str; 7] = ["default", "enabled", "false", "no", "none", "usedefault", "workspacewrite"];

/// The maximum depth at which the input is read.
const DEPTH: usize = 16;

impl Input {
    /// Reads the raw input of a tool. `None` if it is no JSON, as after a cut.
    pub(super) fn read(raw: &str) -> Option<Self> {
        let json = Json::read(raw)?;
        let mut input = Input::default();
        input.value(&json, DEPTH);
        Some(input)
    }

    /// Returns whether the input names an action or the target of one.
    pub(super) fn says_something(&self) -> bool {
        self.has_terms || self.has_address || !self.commands.is_empty() || !self.paths.is_empty()
    }

    fn value(&mut self, json: &Json, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else {
            self.unclear = Some("its input is nested too deep");
            return;
        };
        match json {
            Json::List(items) => items.iter().for_each(|item| self.value(item, depth)),
            Json::Object(members) => members.iter().for_each(|(name, value)| self.member(name, value, depth)),
            Json::Nothing | Json::Scalar | Json::Text(_) => {}
        }
    }

    fn member(&mut self, name: &str, value: &Json, depth: usize) {
        let name: String =
            name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        // In Copilot CLI, this member only says whether the tool waits for its command.
        let waits =
            name == "mode" && [Json::Text("sync".to_owned()), Json::Text("async".to_owned())].contains(value);
        if *value == Json::Nothing || waits {
            return;
        }
        let is_command = COMMANDS.contains(&&*name);
        if is_command {
            self.command(&name, value);
        } else if ADDRESSES.contains(&&*name) {
            self.address(value);
        } else if FILES.contains(&&*name) || name.contains("path") {
            self.file(value);
        } else if TERMS.contains(&&*name) {
            self.has_terms = true;
        }
        if RIGHTS.iter().any(|part| name.contains(part)) && !asks_for_nothing(value) {
            self.escalates = true;
        }
        self.members.push(Member { name, is_command });
        self.value(value, depth);
    }

    fn command(&mut self, name: &str, value: &Json) {
        match value {
            Json::Text(text) => self.commands.push(text.clone()),
            Json::List(items) => match texts(items) {
                Some(commands) if SEVERAL.contains(&name) => {
                    self.commands.extend(commands.into_iter().map(str::to_owned));
                }
                // The list may have the words of one command, or several commands: the whole counts as one, and so does
                // each word with a space.
                Some(words) => {
                    self.commands.push(quoted_words(&words));
                    self.commands
                        .extend(words.into_iter().filter(|word| word.contains(' ')).map(str::to_owned));
                }
                None => self.unclear = Some("its command has an unknown shape"),
            },
            _ => self.unclear = Some("its command has an unknown shape"),
        }
    }

    fn address(&mut self, value: &Json) {
        match value {
            Json::Text(text) if text.starts_with("file:") => self.paths.push(text.clone()),
            _ => self.has_address = true,
        }
    }

    fn file(&mut self, value: &Json) {
        match value {
            Json::Text(text) => self.paths.push(text.clone()),
            Json::List(items) if let Some(paths) = texts(items) => {
                self.paths.extend(paths.into_iter().map(str::to_owned));
            }
            // The members inside are read on their own.
            Json::List(_) | Json::Object(_) => {}
            _ => self.unclear = Some("one of its files has an unknown shape"),
        }
    }
}

fn texts(items: &[Json]) -> Option<Vec<&str>> {
    let mut texts = Vec::new();
    for item in items {
        let Json::Text(text) = item else { return None };
        texts.push(text.as_str());
    }
    Some(texts)
}

fn asks_for_nothing(value: &Json) -> bool {
    match value {
        Json::Nothing => true,
        Json::Text(text) => {
            let text: String = text
                .chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|char| char.to_ascii_lowercase())
                .collect();
            NO_RIGHTS.contains(&&*text)
        }
        _ => false,
    }
}

/// A JSON value.
#[derive(Debug, PartialEq)]
pub(super) enum Json {
    /// `null`, `false`, an empty text, list or object: it says nothing.
    Nothing,
    /// `true` or a number.
    Scalar,
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a text. `None` if it is no JSON, as after a cut.
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Nothing)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Json, E> {
        Ok(if flag { Json::Scalar } else { Json::Nothing })
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Scalar)
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(if text.is_empty() { Json::Nothing } else { Json::Text(text.to_owned()) })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(if list.is_empty() { Json::Nothing } else { Json::List(list) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        // A list keeps both values of a name that occurs twice, unlike a map.
        let mut object = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            object.push((name, members.next_value()?));
        }
        Ok(if object.is_empty() { Json::Nothing } else { Json::Object(object) })
    }
}
