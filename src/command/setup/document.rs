//! A client's settings: JSON with comments and trailing commas, of which only the entries of agents are changed.
//! Deciding on the changes is left to `plan.rs`.

use std::collections::BTreeSet;

use jsonc_parser::{
    CollectOptions,
    ast::{Object, Value},
    cst::{CstArray, CstInputValue, CstObject, CstObjectProp, CstRootNode},
    parse_to_ast,
};

use super::{
    agents::{self, Launch},
    splice::{self, Entry, Own, Splice},
    tree::{BOM, DocumentError, Language, broken, mistake, of_object, options},
};

/// The settings of a client.
#[derive(Debug)]
pub struct Document {
    // The nodes hold weak references to their ancestors: the root must live as long as they do.
    root: CstRootNode,
    key: String,
    has_bom: bool,
}

/// An agent in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentEntry {
    /// Its name.
    pub name: String,
    /// How the client starts it.
    pub start: Start,
    /// The variables that it gets.
    pub env: Vec<(String, String)>,
}

/// How a client starts an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// By this command.
    Command(Launch),
    /// As the agent of the client's registry with this ID.
    Registry(String),
    /// In a way that cannot be changed here.
    Other,
}

impl AgentEntry {
    /// Returns the command that starts it.
    pub fn launch(&self) -> Option<&Launch> {
        match &self.start {
            Start::Command(launch) => Some(launch),
            _ => None,
        }
    }
}

impl Document {
    /// Reads settings, in which the member `key` holds the agents.
    ///
    /// # Errors
    /// Says where the text is not JSON with comments and trailing commas, or does not have the shape of settings.
    pub fn parse(text: &str, key: &str) -> Result<Self, DocumentError> {
        let (has_bom, text) = match text.strip_prefix(BOM) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        check(text, key)?;
        let root = CstRootNode::parse(text, &options()).map_err(|error| broken(&error))?;
        Ok(Document { root, key: key.to_owned(), has_bom })
    }

    /// Returns the settings as text.
    pub fn text(&self) -> String {
        format!("{}{}", if self.has_bom { BOM.to_string() } else { String::new() }, self.root)
    }

    /// Returns the agents, in their order.
    pub fn entries(&self) -> Vec<AgentEntry> {
        let Some(agents) = self.agents() else { return Vec::new() };
        agents.properties().iter().filter_map(entry).collect()
    }

    /// Returns whether there is a member for agents.
    pub fn has_agents(&self) -> bool {
        self.agents().is_some()
    }

    /// Returns whether an agent has a member for arguments.
    pub fn has_args(&self, name: &str) -> bool {
        self.entry(name).is_some_and(|entry| entry.get("args").is_some())
    }

    /// Makes askbridge, at this path, start the agent by `command`, in which `~` is expanded.
    pub fn wrap(&mut self, name: &str, askbridge: &str, command: &str) {
        let [before @ .., _] = agents::prefix(command);
        self.splice(name, |entry| splice::wrap(entry, askbridge, &before, command));
    }

    /// Makes another program start the agent, with the same arguments.
    pub fn start_by(&mut self, name: &str, program: &str) {
        self.splice(name, |entry| splice::start_by(entry, program));
    }

    /// Restores `command` as the agent's command. Removes the member for arguments unless the agent had one before.
    pub fn unwrap(&mut self, name: &str, command: &str, has_args: bool) {
        let entry = self.entry(name);
        let Some(at) = entry.and_then(|entry| launch(&entry)?.agent_at()) else { return };
        let command = splice::literal(command, Language::Json);
        let own = Own { command: &command, has_args, empty: None };
        self.splice(name, |entry| splice::unwrap(entry, at, &own));
    }

    /// Changes the text of one agent.
    fn splice(&mut self, name: &str, splices: impl FnOnce(&Entry<'_>) -> Vec<Splice>) {
        // The text parsed before the change, and must parse after it. Otherwise, the settings stay unchanged.
        let text = self.root.to_string();
        let Ok(parsed) = parse_to_ast(&text, &CollectOptions::default(), &options()) else { return };
        let root = parsed.value.as_ref().and_then(|root| root.as_object());
        let agents = root.and_then(|root| root.get_object(&self.key));
        let Some(entry) = agents.and_then(|agents| agents.get_object(name)) else { return };
        let node = of_object(entry);
        let entry = Entry { text: &text, language: Language::Json, node: &node };
        let changed = splice::apply(&text, splices(&entry));
        if let Ok(root) = CstRootNode::parse(&changed, &options()) {
            self.root = root;
        }
    }

    /// Adds an agent behind the others. Returns `false` if the settings are not an object.
    pub fn add(&self, name: &str, launch: &Launch, env: &[(String, String)], has_type: bool) -> bool {
        let agents =
            self.root.object_value_or_create().and_then(|root| root.object_value_or_create(&self.key));
        let Some(agents) = agents else { return false };
        let mut members = Vec::new();
        if has_type {
            members.push(("type".to_owned(), CstInputValue::from("custom")));
        }
        members.push(("command".to_owned(), CstInputValue::from(launch.command.clone())));
        members.push(("args".to_owned(), CstInputValue::from(launch.args.clone())));
        let env = env.iter().map(|(name, value)| (name.clone(), CstInputValue::from(value.clone())));
        members.push(("env".to_owned(), CstInputValue::Object(env.collect())));
        agents.append(name, CstInputValue::Object(members));
        true
    }

    /// Removes an agent.
    pub fn remove(&self, name: &str) {
        if let Some(entry) = self.agents().and_then(|agents| agents.get(name)) {
            entry.remove();
        }
    }

    /// Removes the member for agents if it has neither an agent nor a comment.
    pub fn remove_empty_agents(&self) {
        let Some(agents) = self.agents() else { return };
        if agents.properties().is_empty()
            && !agents.children().iter().any(|child| child.is_comment())
            && let Some(member) = self.root.object_value().and_then(|root| root.get(&self.key))
        {
            member.remove();
        }
    }

    /// Returns whether the settings have no member and no comment.
    pub fn is_empty(&self) -> bool {
        // Without members, a slash can only begin a comment.
        let root = self.root.object_value();
        root.is_none_or(|root| root.properties().is_empty()) && !self.root.to_string().contains('/')
    }

    fn agents(&self) -> Option<CstObject> {
        self.root.object_value()?.object_value(&self.key)
    }

    fn entry(&self, name: &str) -> Option<CstObject> {
        self.agents()?.object_value(name)
    }
}

/// Refuses settings that could not be edited without losing something.
fn check(text: &str, key: &str) -> Result<(), DocumentError> {
    let parsed =
        parse_to_ast(text, &CollectOptions::default(), &options()).map_err(|error| broken(&error))?;
    let at = |start: usize, what: String| mistake(text, start, what);
    let members = |object: &Object<'_>| {
        let mut names = BTreeSet::new();
        let twice = object.properties.iter().find(|member| !names.insert(member.name.as_str().to_owned()));
        twice.map(|member| at(member.range.start, format!("{:?} occurs twice", member.name.as_str())))
    };
    let root = match &parsed.value {
        None => return Ok(()),
        Some(Value::Object(root)) => root,
        Some(_) => return Err(at(0, "the settings must be an object".to_owned())),
    };
    let Some(agents) = root.get(key) else { return Ok(()) };
    // Of two members with one name, clients read the last: the first must not be edited in its place.
    if root.properties.iter().filter(|member| member.name.as_str() == key).count() > 1 {
        return Err(at(agents.range.start, format!("{key:?} occurs twice")));
    }
    let Value::Object(agents) = &agents.value else {
        return Err(at(agents.range.start, format!("{key:?} must be an object")));
    };
    let entries = agents.properties.iter().filter_map(|member| member.value.as_object());
    let error = members(agents).or_else(|| entries.filter_map(members).next());
    error.map_or(Ok(()), Err)
}

fn entry(member: &CstObjectProp) -> Option<AgentEntry> {
    let name = member.decoded_name()?;
    let Some(object) = member.object_value() else {
        return Some(AgentEntry { name, start: Start::Other, env: Vec::new() });
    };
    let env = object.object_value("env").map(|env| env.properties()).unwrap_or_default();
    let env = env.iter().filter_map(|member| Some((member.decoded_name()?, text(member)?))).collect();
    let kind = object.get("type").and_then(|kind| text(&kind));
    let start = match (kind.as_deref(), launch(&object)) {
        (None | Some("custom"), Some(launch)) => Start::Command(launch),
        (Some("registry"), _) => Start::Registry(name.clone()),
        _ => Start::Other,
    };
    Some(AgentEntry { name, start, env })
}

fn launch(entry: &CstObject) -> Option<Launch> {
    let command = text(&entry.get("command")?)?;
    let args = match entry.get("args") {
        None => Vec::new(),
        Some(args) if args.value()?.as_null_keyword().is_some() => Vec::new(),
        Some(args) => texts(&args.array_value()?)?,
    };
    Some(Launch { command, args })
}

fn texts(array: &CstArray) -> Option<Vec<String>> {
    array.elements().iter().map(|element| element.as_string_lit()?.decoded_value().ok()).collect()
}

fn text(member: &CstObjectProp) -> Option<String> {
    member.value()?.as_string_lit()?.decoded_value().ok()
}
