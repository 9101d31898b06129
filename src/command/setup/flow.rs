//! `askbridge setup` and `askbridge setup --undo`, from the options to the written file.
//! Changing the text of the settings is left to `plan.rs`, the plugin of Claude Code to `claude.rs`.

use std::path::{Path, PathBuf};

use askbridge_os::exit;
use askbridge_settings::keys;

use super::{
    agents::{self, KnownAgent},
    args::{SetupArgs, SetupPart},
    change::{agrees, show, tell, worst},
    claude,
    clients::{SetupClient, snippet},
    document::{AgentEntry, Document},
    environment::Environment,
    keep::{ChangeStore, Edit, Records},
    mcp,
    plan::{self, AppliedChange, AvailableAgent, Change, PlanError, SetupRequest},
    settings_file::{SettingsFile, broken},
    target::{ATTACHABLE, CLAUDE, Target},
    terminals,
};
use crate::command::{
    CommandError, Context,
    runner::{print, say, shown},
};

/// The agent in the printed example if none is installed.
const EXAMPLE: &str = "claude";

/// The list of the changes of agents.
const CHANGES: &str = "changes.json";

/// The text that `askbridge setup` prints if it finds nothing to set up.
const NOTHING_FOUND: &str = "\
Nothing to set up was found: no editor that runs agents, and none of claude, codex, opencode and copilot on PATH.

Once you have one of them:
  askbridge setup claude       Claude Code in a terminal: a plugin
  askbridge setup codex        Codex in a terminal: the inbox attaches to it; so do opencode and copilot
  askbridge setup zed claude   an editor (zed, jetbrains, vscode, emacs, neovim), and the agent that it runs
  askbridge mcp --help         any other agent that takes MCP servers
  askbridge setup mcp          what MCP servers ask, whatever starts them

Each of the first three shows with --print what it would change, before you install anything.
`askbridge demo` shows a question now.
";

/// The context of every step.
struct Setup<'a> {
    context: &'a Context,
    args: &'a SetupArgs,
    around: Environment,
    keep: ChangeStore<Change>,
    askbridge: String,
    found: Vec<AvailableAgent>,
}

/// Puts askbridge between clients and their agents.
pub async fn setup(context: &Context, args: &SetupArgs) -> Result<u8, CommandError> {
    let around =
        Environment::look().ok_or_else(|| CommandError::Setup("no home directory: set HOME".to_owned()))?;
    if let Some(SetupPart::Mcp(args)) = &args.part {
        return mcp::setup(&around, args);
    }
    let keep = ChangeStore::new(&around.state, CHANGES);
    let client = match args.client.as_deref().and_then(Target::named) {
        Some(Target::Claude) => return claude::setup(&around, args),
        Some(Target::Terminal(agent)) => return terminals::setup(context, &[agent], args).await,
        Some(Target::Editor(client)) => Some(client),
        None => None,
    };
    if args.undo {
        return match client {
            Some(_) => undo(&keep, client, args),
            None => undo_all(context, &around, &keep, args).await,
        };
    }
    let askbridge = around.askbridge().and_then(|path| Some(path.to_str()?.to_owned()));
    let askbridge =
        askbridge.ok_or_else(|| CommandError::Setup("the path of this program is not text".to_owned()))?;
    let mut found = around.agents();
    if args.print {
        found.extend(around.missing_agent(args.agent.as_deref().unwrap_or(EXAMPLE)));
    }
    let setup = Setup { context, args, around, keep, askbridge, found };
    match client {
        Some(client) => setup.client(client),
        None => setup.every().await,
    }
}

/// Undoes all changes that setup has made.
async fn undo_all(
    context: &Context,
    around: &Environment,
    keep: &ChangeStore<Change>,
    args: &SetupArgs,
) -> Result<u8, CommandError> {
    // Each part is undone even if another one fails: the results are only compared at the end.
    let mut done = vec![undo(keep, None, args), mcp::undo_all(around, args.yes, args.print)];
    if around.has_program(CLAUDE) {
        done.push(claude::setup(around, args));
    }
    let attached = context.settings.get(&keys::INBOX_ATTACH);
    let terminals: Vec<_> = ATTACHABLE.iter().filter(|agent| attached.has(agent.program)).collect();
    if !terminals.is_empty() {
        done.push(terminals::setup(context, &terminals, args).await);
    }
    Ok(worst(done))
}

impl Setup<'_> {
    /// Sets up the editors and the agents of terminals that are installed.
    async fn every(&self) -> Result<u8, CommandError> {
        let editors: Vec<_> =
            SetupClient::ALL.into_iter().filter(|client| self.around.has(*client)).collect();
        let terminals: Vec<_> =
            ATTACHABLE.iter().filter(|agent| self.around.has_program(agent.program)).collect();
        let has_claude = self.around.has_program(CLAUDE);
        if editors.is_empty() && terminals.is_empty() && !has_claude {
            return shown(print(NOTHING_FOUND));
        }
        let mut done = Vec::new();
        for client in editors {
            done.push(match client.key() {
                Some(_) => self.client(client),
                None => self.names_snippet(client),
            });
        }
        if has_claude {
            done.push(claude::setup(&self.around, self.args));
        }
        if !terminals.is_empty() {
            done.push(terminals::setup(self.context, &terminals, self.args).await);
        }
        Ok(worst(done))
    }

    fn names_snippet(&self, client: SetupClient) -> Result<u8, CommandError> {
        let (title, name) = (client.title(), client.name());
        tell(&format!("{title}: `askbridge setup {name}` prints what to put into its settings"))?;
        Ok(exit::OK)
    }

    fn client(&self, client: SetupClient) -> Result<u8, CommandError> {
        let Some(key) = client.key() else { return self.snippet(client) };
        let usual = || client.places(&self.around.folders).into_iter().next();
        let place = self.around.place(client).or_else(usual).map(|place| place.file);
        let Some(path) = self.args.file.clone().or(place) else {
            return Err(CommandError::Setup(format!("{}: no known place for its settings", client.title())));
        };
        let file = SettingsFile::read(&path)?;
        let path = &file.path;
        tell(&format!("{}: {}", client.title(), path.display()))?;
        if client == SetupClient::VsCode && !self.around.has_extension() {
            tell("the extension ACP Client (formulahendry.acp-client) was not found: install it first")?;
        }
        let before = file.text.as_deref();
        let parse = |text: &str| Document::parse(text, key).map_err(|error| broken(path, &error));
        let mut document = parse(before.unwrap_or_default())?;
        // The plan may add this member below, and undoing removes it only then.
        let added_agents = !document.has_agents();
        let gone = self.gone(&document);
        let request = SetupRequest {
            askbridge: &self.askbridge,
            gone: &gone,
            agent: self.args.agent.as_deref(),
            found: &self.found,
            home: &self.around.folders.home.to_string_lossy(),
            has_types: client.has_types(),
        };
        let plan = match plan::apply(&mut document, &request) {
            // `--print` is also for those who have not installed anything yet.
            Err(_) if self.args.print && self.args.agent.is_none() => {
                tell(&format!("no agent is in the settings or on PATH; {EXAMPLE} is shown as an example"))?;
                plan::apply(&mut document, &SetupRequest { agent: Some(EXAMPLE), ..request })
            }
            plan => plan,
        };
        let plan = plan.map_err(|error| self.no_agent(client, error))?;
        plan.notes.iter().try_for_each(|note| tell(note))?;
        if plan.changes.is_empty() {
            tell("nothing to change")?;
            return Ok(exit::OK);
        }
        let after = document.text();
        // A text that does not parse must never be written.
        parse(&after)?;
        show(path, before, Some(&after))?;
        if self.args.print {
            self.names_missing(&plan.changes)?;
            return Ok(exit::OK);
        }
        if !agrees(self.args.yes, "Write this?")? {
            return Ok(exit::NOT_DONE);
        }
        let edit = Edit {
            file: path.clone(),
            client: client.name().to_owned(),
            at: String::new(),
            before: None,
            after: PathBuf::new(),
            added_agents,
            changes: plan.changes,
        };
        self.write(client, &file, edit, &after)
    }

    /// Returns the commands of agents that an askbridge starts which does not exist any more.
    fn gone(&self, document: &Document) -> Vec<String> {
        let entries = document.entries();
        let launches = entries.iter().filter_map(AgentEntry::launch);
        let gone = launches.filter(|launch| launch.is_wrapped() && !self.around.has_program(&launch.command));
        gone.map(|launch| launch.command.clone()).collect()
    }

    /// Prints which programs of the added agents are not installed.
    fn names_missing(&self, changes: &[Change]) -> Result<(), CommandError> {
        let is_added =
            |found: &&AvailableAgent| changes.iter().any(|change| change.entry() == plan::name(found.agent));
        for missing in self.found.iter().filter(is_added).filter_map(|found| self.missing(found)) {
            tell(&missing)?;
        }
        Ok(())
    }

    /// Returns a sentence if the program that starts an agent is not installed.
    fn missing(&self, found: &AvailableAgent) -> Option<String> {
        let (program, title) = (&found.launch.command, found.agent.title);
        let is_there = self.around.has_program(program);
        (!is_there).then(|| format!("{title} needs {program}, which is not on PATH: install it first"))
    }

    fn write(
        &self,
        client: SetupClient,
        file: &SettingsFile,
        edit: Edit<Change>,
        after: &str,
    ) -> Result<u8, CommandError> {
        let backup = self.keep.write(file, edit, after)?;
        tell(&format!("written; `askbridge setup {} --undo` undoes it", client.name()))?;
        if let Some(backup) = backup {
            tell(&format!("a backup of the file: {}", backup.display()))?;
        }
        tell(&format!("restart the agent in {}, then `askbridge status` shows its bridge", client.title()))?;
        Ok(exit::OK)
    }

    fn snippet(&self, client: SetupClient) -> Result<u8, CommandError> {
        let name = self.args.agent.as_deref();
        let mut all = self.around.agents();
        all.extend(self.around.missing_agent(name.unwrap_or(EXAMPLE)));
        let found = match name {
            Some(name) => {
                let agent = agents::named(name);
                all.iter().find(|found| Some(found.agent) == agent)
            }
            None => all.iter().find(|found| found.is_installed).or(all.first()),
        };
        let Some(text) = found.and_then(|found| snippet(client, found, &self.askbridge)) else {
            let known = agents::keys().collect::<Vec<_>>().join(", ");
            let name = name.unwrap_or("an agent");
            return Err(CommandError::Usage(format!("unknown agent {name:?}; known are {known}")));
        };
        // The note goes to stderr, because stdout has only what is to be pasted.
        if let Some(missing) = found.and_then(|found| self.missing(found)) {
            say(&missing);
        }
        shown(print(&text))
    }

    fn no_agent(&self, client: SetupClient, error: PlanError) -> CommandError {
        let PlanError::NoAgent(why) = error;
        match self.args.agent {
            Some(_) => CommandError::Usage(format!("{}: {why}", client.title())),
            None => CommandError::Setup(format!("{}: {why}", client.title())),
        }
    }
}

/// Undoes earlier changes: all of them, or those of one client, of one file, or of one agent.
pub(super) fn undo(
    keep: &ChangeStore<Change>,
    client: Option<SetupClient>,
    args: &SetupArgs,
) -> Result<u8, CommandError> {
    let records = keep.records()?;
    // Reading the file resolves symlinks, as in the records.
    let file = args.file.as_ref().map(|file| SettingsFile::read(file)).transpose()?;
    let is_meant = |edit: &&Edit<Change>| {
        client.is_none_or(|client| client.name() == edit.client)
            && file.as_ref().is_none_or(|file| file.path == edit.file)
            && edit.changes.iter().any(|change| concerns(change, args.agent.as_deref()))
    };
    let mut files: Vec<PathBuf> =
        records.edits.iter().filter(is_meant).map(|edit| edit.file.clone()).collect();
    // All changes of one file are undone together.
    files.sort();
    files.dedup();
    if files.is_empty() {
        tell("nothing to undo: setup has not changed the settings of an editor")?;
        return Ok(exit::OK);
    }
    Ok(worst(files.iter().map(|file| undo_file(keep, file, args)).collect()))
}

fn undo_file(keep: &ChangeStore<Change>, path: &Path, args: &SetupArgs) -> Result<u8, CommandError> {
    // The records are read again for each file: undoing the previous one has changed them.
    let records = keep.records()?;
    let agent = args.agent.as_deref();
    let (edits, others): (Vec<_>, Vec<_>) = records.edits.into_iter().partition(|edit| edit.file == path);
    let client = edits.last().and_then(|edit| SetupClient::named(&edit.client));
    let Some((client, key)) = client.and_then(|client| Some((client, client.key()?))) else {
        return Err(CommandError::Setup(format!("{}: changed for an unknown client", path.display())));
    };
    let file = SettingsFile::read(path)?;
    tell(&format!("{}: {}", client.title(), path.display()))?;
    let Some(current) = &file.text else {
        tell("the file no longer exists, and neither does the change")?;
        keep.put(&Records { edits: others })?;
        edits.iter().for_each(ChangeStore::forget);
        return Ok(exit::OK);
    };
    let mut made: Vec<AppliedChange> = edits.iter().map(ChangeStore::made).collect();
    for made in &mut made {
        let count = made.changes.len();
        made.changes.retain(|change| concerns(change, agent));
        if made.changes.len() < count {
            // A part of this change stays, so `plan` must not restore the whole text from before it.
            made.after = None;
            made.added_agents = false;
        }
    }
    made.retain(|made| !made.changes.is_empty());
    let undone = plan::undo(current, key, &made).map_err(|error| broken(path, &error))?;
    undone.notes.iter().try_for_each(|note| tell(note))?;
    let is_changed = undone.text.as_ref() != Some(current);
    if is_changed {
        show(path, Some(current), undone.text.as_deref())?;
    }
    if args.print {
        return Ok(exit::OK);
    }
    if is_changed {
        if !agrees(args.yes, "Undo this?")? {
            return Ok(exit::NOT_DONE);
        }
        file.replace(undone.text.as_deref())?;
    }
    // The records go last: if this process ends before, the file can be undone again.
    keep.forget_changes(edits, others, |change| concerns(change, agent))?;
    tell(if is_changed { "undone: restart the agent in the client" } else { "there is nothing to undo" })?;
    Ok(exit::OK)
}

/// Returns whether the change concerns the agent that the person named. Without a name, every change does.
fn concerns(change: &Change, agent: Option<&str>) -> bool {
    let Some(name) = agent else { return true };
    let entry = change.entry();
    let is_of = |agent: &KnownAgent| {
        entry == agent.title || entry == plan::name(agent) || change.agent() == Some(agent.key)
    };
    entry == name || agents::named(name).is_some_and(is_of)
}
