//! Decides what setup changes in a client's settings: which agents it wraps, which it adds, and which it leaves; and
//! how it removes exactly those changes again. Editing the text is left to `document.rs`, the record of earlier changes
//! to `keep.rs`.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    agents::{self, KnownAgent, Launch},
    document::{AgentEntry, Document, Start},
    tree::DocumentError,
};

/// The end of the name of an agent that setup adds.
const MARK: &str = " (askbridge)";

/// A change of one agent in the settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// The settings had the agent before; askbridge starts it now.
    Wrapped {
        /// Its name.
        entry: String,
        /// Its command before the change.
        command: String,
        /// Whether it had a member for arguments.
        has_args: bool,
        /// The key of the agent, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// The agent was added.
    Added {
        /// Its name.
        entry: String,
    },
    /// The agent was started by an askbridge that does not exist any more; this one starts it now.
    Moved {
        /// Its name.
        entry: String,
        /// The path of the askbridge that is gone.
        command: String,
    },
}

impl Change {
    /// Returns the name of the agent.
    pub fn entry(&self) -> &str {
        match self {
            Change::Wrapped { entry, .. } | Change::Added { entry } | Change::Moved { entry, .. } => entry,
        }
    }

    /// Returns the key of the wrapped agent, if it is known.
    pub fn agent(&self) -> Option<&str> {
        match self {
            Change::Wrapped { agent, .. } => agent.as_deref(),
            Change::Added { .. } | Change::Moved { .. } => None,
        }
    }
}

/// An agent that can be started on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AvailableAgent {
    /// The agent.
    pub agent: &'static KnownAgent,
    /// How it is started.
    pub launch: Launch,
    /// Whether it is installed, or fetched when it is started.
    pub is_installed: bool,
}

/// The input of a plan.
#[derive(Debug)]
pub struct SetupRequest<'a> {
    /// The path of askbridge.
    pub askbridge: &'a str,
    /// The agent that the person named.
    pub agent: Option<&'a str>,
    /// The agents of this machine.
    pub found: &'a [AvailableAgent],
    /// The home directory, for which `~` stands at the beginning of a command.
    pub home: &'a str,
    /// The commands of wrapped agents that do not exist: an askbridge was moved, or removed.
    pub gone: &'a [String],
    /// Whether the client's entries have a type, which says that they are commands.
    pub has_types: bool,
}

/// The result of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The changes, in their order.
    pub changes: Vec<Change>,
    /// Remarks for the user, in sentences.
    pub notes: Vec<String>,
}

/// Why there is no plan.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PlanError {
    /// The named agent is neither in the settings nor on this machine.
    #[error("{0}")]
    NoAgent(String),
}

/// Changes the settings on the user's request, and reports the changes.
///
/// # Errors
/// See [`PlanError`].
pub fn apply(document: &mut Document, request: &SetupRequest<'_>) -> Result<Plan, PlanError> {
    let entries = document.entries();
    let mut plan = Plan::default();
    match request.agent {
        Some(name) => one(document, &entries, name, request, &mut plan)?,
        None => all(document, &entries, request, &mut plan)?,
    }
    Ok(plan)
}

/// Wraps every agent of the settings, and adds those that are installed and missing.
fn all(
    document: &mut Document,
    entries: &[AgentEntry],
    request: &SetupRequest<'_>,
    plan: &mut Plan,
) -> Result<(), PlanError> {
    for entry in entries {
        match &entry.start {
            Start::Command(_) => wrap(document, entry, request, plan),
            Start::Registry(id) => replace(document, entries, entry, id, request, plan),
            Start::Other => plan.notes.push(cannot(&entry.name)),
        }
    }
    // What npx would have to fetch is only added if the person names it.
    let missing = request.found.iter().filter(|found| found.is_installed && !runs(entries, found.agent));
    for found in missing {
        // `replace` has added one for each agent that the client takes from its registry.
        if !plan.changes.iter().any(|change| change.entry() == name(found.agent)) {
            add(document, entries, found, &[], request, plan);
        }
    }
    if entries.is_empty() && plan.changes.is_empty() {
        return Err(PlanError::NoAgent(format!(
            "no agent is in the settings or on PATH; name one that npx can start, such as `claude` (known: {})",
            agents::keys().collect::<Vec<_>>().join(", ")
        )));
    }
    Ok(())
}

/// Wraps or adds the agent that the person named.
fn one(
    document: &mut Document,
    entries: &[AgentEntry],
    name: &str,
    request: &SetupRequest<'_>,
    plan: &mut Plan,
) -> Result<(), PlanError> {
    // The name of an entry goes before that of an agent: the person reads it in their own settings.
    if let Some(entry) = entries.iter().find(|entry| entry.name == name) {
        match &entry.start {
            Start::Command(_) => wrap(document, entry, request, plan),
            Start::Registry(id) => replace(document, entries, entry, id, request, plan),
            Start::Other => return Err(PlanError::NoAgent(cannot(name))),
        }
        return Ok(());
    }
    let Some(agent) = agents::named(name) else { return Err(unknown(entries, name)) };
    let mut same = entries.iter().filter(|entry| starts(entry, agent)).peekable();
    if same.peek().is_some() {
        same.for_each(|entry| wrap(document, entry, request, plan));
        return Ok(());
    }
    let Some(found) = find(request, agent) else {
        let programs = agent.programs.join(" or ");
        let why = match agent.package {
            Some(_) => format!("neither {programs} nor npx is on PATH"),
            None => format!("{programs} is not on PATH"),
        };
        return Err(PlanError::NoAgent(format!("{}: {why}", agent.title)));
    };
    // The agent of the registry may need its variables, so the added one gets them too.
    let registered = entries.iter().find(|entry| is_registered(entry, agent));
    add(document, entries, found, registered.map_or(&[][..], |entry| &entry.env), request, plan);
    Ok(())
}

fn wrap(document: &mut Document, entry: &AgentEntry, request: &SetupRequest<'_>, plan: &mut Plan) {
    let Some(launch) = entry.launch() else { return };
    if launch.is_wrapped() {
        // A second run must change nothing but a path that leads nowhere.
        if request.gone.contains(&launch.command) {
            document.start_by(&entry.name, request.askbridge);
            let (entry, command) = (entry.name.clone(), launch.command.clone());
            plan.changes.push(Change::Moved { entry, command });
        }
        return;
    }
    let has_args = document.has_args(&entry.name);
    // A client expands `~` in its own command, and not in arguments.
    let command = match launch.command.strip_prefix("~/") {
        Some(rest) => format!("{}/{rest}", request.home),
        None => launch.command.clone(),
    };
    document.wrap(&entry.name, request.askbridge, &command);
    let agent = launch.known().map(|agent| agent.key.to_owned());
    let (entry, command) = (entry.name.clone(), launch.command.clone());
    plan.changes.push(Change::Wrapped { entry, command, has_args, agent });
}

/// Adds an agent beside one that the client takes from its registry, whose command is not in the settings.
fn replace(
    document: &mut Document,
    entries: &[AgentEntry],
    entry: &AgentEntry,
    id: &str,
    request: &SetupRequest<'_>,
    plan: &mut Plan,
) {
    let Some(agent) = agents::registered(id) else {
        let name = &entry.name;
        plan.notes.push(format!("{name} comes from the client's registry, and its command is not known"));
        return;
    };
    if runs(entries, agent) {
        return;
    }
    match find(request, agent) {
        Some(found) => {
            add(document, entries, found, &entry.env, request, plan);
            let (name, new) = (&entry.name, name(agent));
            plan.notes
                .push(format!("{name} comes from the client's registry and stays unchanged: use {new}"));
        }
        None => plan.notes.push(format!(
            "{} comes from the client's registry: install {} to run it through askbridge",
            entry.name,
            agent.programs.first().unwrap_or(&agent.key)
        )),
    }
}

fn add(
    document: &mut Document,
    entries: &[AgentEntry],
    found: &AvailableAgent,
    env: &[(String, String)],
    request: &SetupRequest<'_>,
    plan: &mut Plan,
) {
    let entry = name(found.agent);
    if entries.iter().any(|known| known.name == entry) {
        plan.notes.push(format!("{entry} exists already, with another command"));
        return;
    }
    if document.add(&entry, &found.launch.wrapped(request.askbridge), env, request.has_types) {
        plan.changes.push(Change::Added { entry });
    }
}

/// Returns the name of the entry that runs this agent through askbridge.
pub(super) fn name(agent: &KnownAgent) -> String {
    format!("{}{MARK}", agent.title)
}

fn find<'a>(request: &SetupRequest<'a>, agent: &KnownAgent) -> Option<&'a AvailableAgent> {
    request.found.iter().find(|found| found.agent == agent)
}

/// Returns whether a command in the settings starts this agent.
fn runs(entries: &[AgentEntry], agent: &KnownAgent) -> bool {
    entries.iter().any(|entry| starts(entry, agent))
}

fn starts(entry: &AgentEntry, agent: &KnownAgent) -> bool {
    entry.launch().and_then(Launch::known) == Some(agent)
}

fn is_registered(entry: &AgentEntry, agent: &KnownAgent) -> bool {
    matches!(&entry.start, Start::Registry(id) if agents::registered(id) == Some(agent))
}

fn cannot(name: &str) -> String {
    format!("{name} has no command that could be wrapped")
}

fn unknown(entries: &[AgentEntry], name: &str) -> PlanError {
    let mut known: Vec<_> = entries.iter().map(|entry| entry.name.clone()).collect();
    known.extend(agents::keys().map(str::to_owned));
    PlanError::NoAgent(format!("no agent {name:?}; known are {}", known.join(", ")))
}

/// A change that was made, with the whole text before and after it.
#[derive(Clone, Debug)]
pub struct AppliedChange<C = Change> {
    /// The text before. `None` if there was no file.
    pub before: Option<String>,
    /// The text after. `None` if it is not known any more.
    pub after: Option<String>,
    /// Whether the member that holds the agents was added.
    pub added_agents: bool,
    /// The changes.
    pub changes: Vec<C>,
}

/// The settings without the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoResult {
    /// The text. `None` if the file is to be removed.
    pub text: Option<String>,
    /// The changes that could not be undone, in sentences.
    pub notes: Vec<String>,
}

/// Takes the changes out, the last one first. If nothing else was changed since, this restores the text byte for byte.
/// Otherwise, what others changed stays.
///
/// # Errors
/// Says where the settings are broken.
pub fn undo(current: &str, key: &str, made: &[AppliedChange]) -> Result<UndoResult, DocumentError> {
    let mut text = current.to_owned();
    let mut notes = Vec::new();
    for made in made.iter().rev() {
        // An edited text keeps what others changed, so only an unedited one is replaced as a whole.
        if made.after.as_ref() == Some(&text) {
            match &made.before {
                Some(before) => text.clone_from(before),
                None => return Ok(UndoResult { text: None, notes }),
            }
            continue;
        }
        let mut document = Document::parse(&text, key)?;
        made.changes.iter().rev().for_each(|change| notes.extend(take_out(&mut document, change)));
        if made.added_agents {
            document.remove_empty_agents();
        }
        if made.before.is_none() && document.is_empty() {
            return Ok(UndoResult { text: None, notes });
        }
        text = document.text();
    }
    Ok(UndoResult { text: Some(text), notes })
}

/// Takes one change out. Returns a note for the user if the settings do not have it any more.
fn take_out(document: &mut Document, change: &Change) -> Option<String> {
    let name = change.entry();
    let entries = document.entries();
    let Some(entry) = entries.iter().find(|entry| entry.name == name) else {
        return Some(format!("{name} is no longer in the settings"));
    };
    // The person has changed the command since: it is no longer what setup wrote.
    if !entry.launch().is_some_and(|launch| launch.is_wrapped()) {
        return Some(format!("{name} no longer runs askbridge, and stays unchanged"));
    }
    match change {
        Change::Added { .. } => document.remove(name),
        Change::Wrapped { command, has_args, .. } => document.unwrap(name, command, *has_args),
        Change::Moved { command, .. } => document.start_by(name, command),
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::setup::agents::{self, Launch};

    const HOME: &str = "/h";

    fn found(key: &str, is_installed: bool) -> AvailableAgent {
        let agent = agents::named(key).unwrap();
        let launch = match is_installed {
            true => Launch::new(&format!("/bin/{}", agent.programs[0]), agent.args),
            false => Launch::new("/bin/npx", &["-y", agent.package.unwrap()]),
        };
        AvailableAgent { agent, launch, is_installed }
    }

    fn planned(
        text: &str,
        agent: Option<&str>,
        found: &[AvailableAgent],
    ) -> (String, Result<Plan, PlanError>) {
        let mut document = Document::parse(text, "agent_servers").unwrap();
        let gone = &["/gone/askbridge".to_owned()];
        let request =
            SetupRequest { askbridge: "/bin/askbridge", agent, found, home: HOME, gone, has_types: true };
        let plan = apply(&mut document, &request);
        (document.text(), plan)
    }

    fn names(plan: &Result<Plan, PlanError>) -> Vec<&str> {
        plan.as_ref().unwrap().changes.iter().map(Change::entry).collect()
    }

    #[test]
    fn without_a_name_all_agents_are_wrapped_and_the_installed_ones_are_added() {
        let text = r#"{ "agent_servers": {
"Mine": { "command": "~/bin/mine", "args": ["--acp"] },
"claude-acp": { "type": "registry", "env": { "K": "v" } },
"Odd": { "type": "custom", "command": { "path": "x" } }
} }"#;
        let all = [found("claude", false), found("codex", false), found("gemini", true)];
        let (after, plan) = planned(text, None, &all);
        assert_eq!(names(&plan), ["Mine", "Claude Agent (askbridge)", "Gemini CLI (askbridge)"]);
        assert!(after.contains(r#""args": ["run", "--", "/h/bin/mine", "--acp"]"#), "{after}");
        assert!(after.contains(r#""K": "v""#), "{after}");
        let notes = plan.unwrap().notes;
        assert!(notes.iter().any(|note| note.starts_with("claude-acp comes from")), "{notes:?}");
        assert!(notes.iter().any(|note| note.starts_with("Odd has no command")), "{notes:?}");
        let (again, plan) = planned(&after, None, &all);
        assert_eq!((again, names(&plan)), (after, vec![]));
    }

    #[test]
    fn a_named_agent_is_wrapped_or_added_and_no_other() {
        let text = r#"{"agent_servers":{"A":{"command":"qwen"},"B":{"command":"x"}}}"#;
        let all = [found("claude", false), found("qwen", true)];
        for (name, changed) in [("qwen", "A"), ("B", "B"), ("claude", "Claude Agent (askbridge)")] {
            let (after, plan) = planned(text, Some(name), &all);
            assert_eq!(names(&plan), [changed], "{name}");
            assert_eq!(names(&planned(&after, Some(name), &all).1), [""; 0], "{name}");
        }
        for (name, why) in [("gemini", "gemini nor npx"), ("clawd", "known are A, B, claude, codex")] {
            let error = planned(text, Some(name), &all).1.unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_path_of_askbridge_that_leads_nowhere_is_replaced_by_its_own() {
        let text = r#"{"agent_servers":{
"A":{"command":"/gone/askbridge", /* mine */ "args":["run","--timeout","1m","--","qwen"]},
"B":{"command":"/opt/askbridge","args":["run","--","x"]}}}"#;
        let (after, plan) = planned(text, None, &[]);
        assert_eq!(after, text.replace("/gone/askbridge", "/bin/askbridge"));
        let changes = plan.unwrap().changes;
        let made = AppliedChange { before: Some(text.to_owned()), after: None, added_agents: false, changes };
        let undone = undo(&after, "agent_servers", &[made]).unwrap();
        assert_eq!((undone.text.as_deref(), undone.notes.len()), (Some(text), 0));
        assert_eq!(names(&planned(&after, Some("A"), &[]).1), [""; 0]);
    }

    #[test]
    fn a_machine_without_agents_is_said() {
        let error = planned("{}", None, &[found("claude", false)]).1.unwrap_err().to_string();
        assert!(error.contains("such as `claude`"), "{error}");
        let (after, plan) = planned("", Some("claude"), &[found("claude", false)]);
        assert_eq!(names(&plan), ["Claude Agent (askbridge)"]);
        assert!(after.contains(r#""type": "custom""#), "{after}");
    }

    const ZED: &str = include_str!("../../../fixtures/setup/zed.jsonc");
    const KEY: &str = "agent_servers";

    fn made(before: Option<&str>, agent: Option<&str>) -> AppliedChange {
        let mut document = Document::parse(before.unwrap_or_default(), KEY).unwrap();
        let added_agents = !document.has_agents();
        let agent_found = agents::named("gemini").unwrap();
        let found = [AvailableAgent {
            agent: agent_found,
            launch: Launch::new("/bin/gemini", &["--acp"]),
            is_installed: true,
        }];
        let request = SetupRequest {
            askbridge: "/bin/askbridge",
            agent,
            found: &found,
            home: "/h",
            gone: &[],
            has_types: true,
        };
        let plan = apply(&mut document, &request).unwrap();
        assert!(!plan.changes.is_empty());
        let after = Some(document.text());
        AppliedChange { before: before.map(str::to_owned), after, added_agents, changes: plan.changes }
    }

    fn after(made: &AppliedChange) -> String {
        made.after.clone().unwrap()
    }

    #[test]
    fn undone_at_once_it_is_byte_for_byte_as_before() {
        let bom = format!("\u{feff}{}", ZED.replace('\n', "\r\n"));
        for before in [ZED, &bom, "{}", "", "{ \"agent_servers\": { } }", "// only\n{\n}\n"] {
            let made = made(Some(before), None);
            let undone = undo(&after(&made), KEY, &[made]).unwrap();
            assert_eq!(undone, UndoResult { text: Some(before.to_owned()), notes: vec![] });
        }
        let made = made(None, None);
        assert_eq!(undo(&after(&made), KEY, &[made]).unwrap().text, None);
    }

    #[test]
    fn taken_out_of_another_text_each_shape_is_as_before() {
        for entry in [
            r#"{"command":"x"}"#,
            r#"{ "command": "x", "args": [], "env": {} }"#,
            r#"{"args":["q", "r",],"command":"x"}"#,
            r#"{"command":"x","args":["q"/*1*/,/*2*/"r"]}"#,
            "{\n    \"command\": \"x\", // c\n  }",
            "{\n    \"command\": \"x\",\n    \"env\": {},\n  }",
            "{\n\t\"command\": \"x\",\n\t\"args\": [ // c\n\t\t\"q\", // d\n\t\t\"r\" ] }",
            "{ \"command\": \"x\", \"args\": [ /* c\n */ \"q\",\n \"r\" ] }",
            "{\r\n  \"command\": \"x\",\r\n  \"args\": [\r\n    // c\r\n    \"q\"\r\n  ]\r\n}",
            r#"{ "type": "custom", "command": "a \"b\" \\ é", "args": ["--x=\"y\""] }"#,
        ] {
            let before = format!("{{ \"agent_servers\": {{ // all\n  \"A\": {entry} }} }}\n");
            let mut made = made(Some(&before), Some("A"));
            let wrapped = Document::parse(&after(&made), KEY).unwrap().entries();
            let own = Document::parse(&before, KEY).unwrap().entries();
            assert_eq!(wrapped[0].launch().unwrap().agent(), *own[0].launch().unwrap(), "{}", after(&made));
            let text = made.after.take().unwrap();
            assert_eq!(undo(&text, KEY, &[made]).unwrap().text.as_deref(), Some(&*before), "{text}");
        }
    }

    #[test]
    fn several_changes_are_undone_in_turn() {
        let first = made(Some(ZED), Some("gemini"));
        let second = made(first.after.as_deref(), None);
        let undone = undo(&after(&second), KEY, &[first, second]).unwrap();
        assert_eq!(undone.text.as_deref(), Some(ZED));
    }

    #[test]
    fn what_was_edited_since_stays() {
        let made = made(Some(ZED), None);
        for (old, new) in [
            ("\"vim_mode\": true,", "\"vim_mode\": false, // no more"),
            ("\"--verbose\"", "\"--verbose\", \"--more\""),
            ("\"agent_servers\": {", "\"agent_servers\": { // mine"),
        ] {
            let edited = after(&made).replacen(old, new, 1);
            assert_ne!(edited, after(&made), "{old}");
            let undone = undo(&edited, KEY, std::slice::from_ref(&made)).unwrap();
            assert_eq!(undone.notes, [""; 0]);
            assert_eq!(undone.text.unwrap(), ZED.replacen(old, new, 1));
        }
    }

    #[test]
    fn an_added_member_goes_with_its_last_agent_and_the_persons_own_stays() {
        for (before, is_kept) in
            [("{ \"vim_mode\": true }", false), ("{ \"vim_mode\": true, \"agent_servers\": {} }", true)]
        {
            let made = made(Some(before), None);
            let edited = after(&made).replace("true", "false");
            let text = undo(&edited, KEY, std::slice::from_ref(&made)).unwrap().text.unwrap();
            assert!(text.contains("\"vim_mode\": false") && !text.contains("askbridge"), "{text}");
            assert_eq!(text.contains(KEY), is_kept, "{text}");
        }
    }

    #[test]
    fn what_is_gone_is_said() {
        let made = made(Some(ZED), None);
        let text =
            after(&made).replace("/bin/askbridge", "/bin/other").replace("Gemini CLI (askbridge)", "G");
        let notes = undo(&text, KEY, &[made]).unwrap().notes;
        assert!(
            notes.iter().any(|note| note.contains("(askbridge) is no longer in the settings")),
            "{notes:?}"
        );
        assert!(notes.iter().any(|note| note.contains("no longer runs askbridge")), "{notes:?}");
    }
}
