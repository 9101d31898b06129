//! Reads the capabilities in `initialize`, and inserts those that the bridge adds, in both directions. The rest of the
//! line keeps its bytes.

use std::{borrow::Cow, sync::Arc};

use memchr::memmem;

use crate::{
    dialect::permission::Protocol,
    engine::Introduction,
    limits,
    wire::{scan, splice},
};

/// The path below the capabilities of the flag that a peer understands the extension.
const EXTENSION: [&str; 4] = ["_meta", "sandboxagent.dev", "extensions", "sessionRequestQuestion"];
/// The same path, with the other name of its last member.
const OTHER_EXTENSION: [&str; 4] = ["_meta", "sandboxagent.dev", "extensions", "requestQuestion"];
/// The path of the flag that the client shows forms.
const FORM: [&str; 2] = ["elicitation", "form"];
/// The path of the flag that the client shows notices.
const NOTICES: [&str; 2] = ["session", "notices"];
/// The path of the flag that the client shows Kiro's questions.
const KIRO: [&str; 3] = ["_meta", "kiro", "userInput"];

/// Returns what a peer says of itself in a part of `initialize`.
fn introduce(part: &[u8], name: Option<String>, promises: &[(bool, &'static str)]) -> Introduction {
    Introduction {
        name: name.filter(|name| name.len() <= limits::AGENT),
        protocol: if protocol(part) == Protocol::V2 { 2 } else { 1 },
        promises: promises.iter().filter(|(given, _)| *given).map(|(_, name)| *name).collect(),
    }
}

/// Reads what an agent says of itself in the `result` of its `initialize`.
pub(super) fn introduction_of_agent(result: &[u8]) -> Introduction {
    let capabilities = scan::member(result, names(result, "agentCapabilities", "capabilities"));
    let says = |path: &[&str]| member(capabilities?, path).and_then(flag);
    let questions = says(&EXTENSION).or_else(|| says(&OTHER_EXTENSION)) == Some(true);
    let name = agent_name(result).map(|name| name.as_ref().to_owned());
    introduce(result, name, &[(questions, "questions")])
}

/// The kinds of questions that the client can show, as far as it declared them.
#[derive(Clone, Debug)]
pub(super) struct Client {
    /// The extension.
    pub extension: bool,
    /// Forms.
    pub forms: bool,
    /// Kiro's questions.
    pub kiro: bool,
    /// Permission prompts. The bridge assumes that every client shows them, until the client refuses one.
    pub permissions: bool,
    /// Notices in a session.
    pub notices: bool,
    /// Requests with `_meta`: it has one in its own `initialize`.
    pub meta: bool,
    /// Its own name.
    pub name: Option<String>,
}

impl Default for Client {
    fn default() -> Self {
        Client {
            extension: false,
            forms: false,
            kiro: false,
            permissions: true,
            notices: false,
            meta: false,
            name: None,
        }
    }
}

impl Client {
    /// Reads the `params` of its `initialize`.
    pub(super) fn read(params: &[u8]) -> Self {
        let capabilities = scan::member(params, names(params, "clientCapabilities", "capabilities"));
        let says = |path: &[&str]| member(capabilities?, path).and_then(flag);
        let info = scan::member(params, names(params, "clientInfo", "info"));
        Client {
            extension: says(&EXTENSION).or_else(|| says(&OTHER_EXTENSION)) == Some(true),
            forms: says(&FORM) == Some(true),
            kiro: says(&KIRO) == Some(true),
            permissions: true,
            notices: says(&NOTICES) == Some(true),
            meta: memmem::find(params, b"\"_meta\"").is_some(),
            name: info.and_then(|info| scan::text(scan::member(info, "name")?)).map(Cow::into_owned),
        }
    }
}

impl Client {
    /// Returns how it introduced itself in these `params`.
    pub(super) fn introduction(&self, params: &[u8]) -> Introduction {
        let promises = [
            (self.extension, "questions"),
            (self.forms, "forms"),
            (self.notices, "notices"),
            (self.kiro, "kiro"),
        ];
        introduce(params, self.name.clone(), &promises)
    }
}

/// Reads a flag. Since version 2, a flag is an object, and `null` means that it is absent.
fn flag(value: &[u8]) -> Option<bool> {
    match value {
        b"null" => None,
        b"true" => Some(true),
        value => Some(value.starts_with(b"{")),
    }
}

/// Advertises to the agent that questions can be asked. `None` leaves the line unchanged.
pub(super) fn advertise_to_agent(line: &[u8]) -> Option<Vec<u8>> {
    let params = scan::member(line, "params").filter(|params| params.starts_with(b"{"))?;
    let capabilities = ["params", names(params, "clientCapabilities", "capabilities")];
    insert_all(line, &capabilities, &[(&FORM, "{}"), (&EXTENSION, "true"), (&KIRO, "true")])
}

/// Advertises to the client that questions will be asked. `None` leaves the line unchanged.
pub(super) fn advertise_to_client(line: &[u8]) -> Option<Vec<u8>> {
    let result = scan::member(line, "result")?;
    let name = names(result, "agentCapabilities", "capabilities");
    scan::member(result, name).filter(|capabilities| capabilities.starts_with(b"{"))?;
    insert_all(line, &["result", name], &[(&EXTENSION, "true")])
}

/// Returns the name of an agent in the result of its `initialize`: its title for people, or else its name.
pub(super) fn agent_name(result: &[u8]) -> Option<Arc<str>> {
    let info = scan::member(result, names(result, "agentInfo", "info"))?;
    let named = |name| scan::text(scan::member(info, name)?).filter(|name| !name.trim().is_empty());
    let name = named("title").or_else(|| named("name"))?;
    (name.len() <= limits::AGENT).then(|| name.into())
}

/// Agents that take a text of the person's own in place of each option of a form, which does not say so. Each entry names
/// the version that was run.
///
/// - mistral-vibe 3.0.3: its question tool gives any text to the model, as one that is "other".
const TAKE_OWN_TEXT: [&str; 1] = ["@mistralai/mistral-vibe"];

/// Returns whether the agent takes a text of the person's own in place of each option of a form, by its `initialize`
/// result.
pub(super) fn takes_own_text(result: &[u8]) -> bool {
    let info = scan::member(result, names(result, "agentInfo", "info"));
    let name = info.and_then(|info| scan::text(scan::member(info, "name")?));
    name.is_some_and(|name| TAKE_OWN_TEXT.contains(&&*name))
}

/// Returns the version of the protocol that this part of `initialize` names.
pub(super) fn protocol(part: &[u8]) -> Protocol {
    if scan::member(part, "protocolVersion") == Some(b"2") { Protocol::V2 } else { Protocol::V1 }
}

/// Returns the name of a member in the version that this part of `initialize` names.
fn names(part: &[u8], first: &'static str, second: &'static str) -> &'static str {
    match protocol(part) {
        Protocol::V1 => first,
        Protocol::V2 => second,
    }
}

fn member<'a>(json: &'a [u8], path: &[&str]) -> Option<&'a [u8]> {
    path.iter().try_fold(json, |json, name| scan::member(json, name))
}

fn insert_all(line: &[u8], below: &[&str], members: &[(&[&str], &str)]) -> Option<Vec<u8>> {
    let mut advertised = None;
    for (path, value) in members {
        let path = [below, path].concat();
        // A member that is there already or cannot be inserted does not keep the others out.
        if let Some(inserted) = splice::insert(advertised.as_deref().unwrap_or(line), &path, value) {
            advertised = Some(inserted);
        }
    }
    advertised
}
