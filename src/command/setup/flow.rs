//! `askbridge setup` and `askbridge setup --undo`, from the options to the written file.
//! Changing the text of the settings is left to `plan.rs`, the plugin of Claude Code to `claude.rs`.

use std::path::PathBuf;

use askbridge_os::exit;

use super::{
    agents,
    args::SetupArgs,
    change::{confirm, show, tell},
    claude,
    clients::{SetupClient, snippet},
    document::Document,
    environment::Environment,
    keep::{ChangeStore, Edit, Records},
    plan::{self, AppliedChange, AvailableAgent, Change, PlanError, SetupRequest},
    settings_file::{SettingsFile, broken},
};
use crate::command::{
    CommandError,
    runner::{print, say, shown},
};

/// The context of every step.
struct Setup<'a> {
    args: &'a SetupArgs,
    around: Environment,
    keep: ChangeStore,
    askbridge: String,
    found: Vec<AvailableAgent>,
}

/// Puts askbridge between clients and their agents.
pub async fn setup(args: &SetupArgs) -> Result<u8, CommandError> {
    let around =
        Environment::look().ok_or_else(|| CommandError::Setup("no home directory: set HOME".to_owned()))?;
    if args.client.as_deref() == Some(claude::NAME) {
        return claude::setup(&around, args);
    }
    let client = args.client.as_deref().map(named).transpose()?;
    let keep = ChangeStore::new(&around.state);
    if args.undo {
        return undo(&keep, client, args);
    }
    let askbridge = around.askbridge().and_then(|path| Some(path.to_str()?.to_owned()));
    let askbridge =
        askbridge.ok_or_else(|| CommandError::Setup("the path of this program is not text".to_owned()))?;
    let found = around.agents();
    let setup = Setup { args, around, keep, askbridge, found };
    match client {
        Some(client) => setup.client(client),
        None => setup.every(),
    }
}

fn named(name: &str) -> Result<SetupClient, CommandError> {
    SetupClient::named(name).ok_or_else(|| {
        let known = SetupClient::ALL.map(SetupClient::name).join(", ");
        CommandError::Usage(format!("no client {name:?}; known are {known}"))
    })
}

impl Setup<'_> {
    /// Goes through the clients that are installed.
    fn every(&self) -> Result<u8, CommandError> {
        let installed: Vec<_> =
            SetupClient::ALL.into_iter().filter(|client| self.around.has(*client)).collect();
        if installed.is_empty() {
            let known = SetupClient::ALL.map(SetupClient::name).join(", ");
            return Err(CommandError::Setup(format!("no client was found; name one of {known}")));
        }
        let (mut code, mut failed) = (exit::OK, None);
        for client in installed {
            if client.key().is_none() {
                let (title, name) = (client.title(), client.name());
                tell(&format!("{title}: `askbridge setup {name}` prints what to put into its settings"))?;
                continue;
            }
            // A mistake at one client does not stop the next.
            match self.client(client) {
                Ok(done) => code = code.max(done),
                Err(error) => {
                    say(&error.to_string());
                    failed = Some(error.exit_code());
                }
            }
        }
        Ok(failed.unwrap_or(code))
    }

    fn client(&self, client: SetupClient) -> Result<u8, CommandError> {
        let Some(key) = client.key() else { return self.snippet(client) };
        let usual = || client.places(&self.around.folders).into_iter().next();
        let place = self.around.place(client).or_else(usual).map(|place| place.file);
        let Some(path) = self.args.file.clone().or(place) else {
            return Err(CommandError::Setup(format!("{}: no place for its settings", client.title())));
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
        let added_agents = !document.has_agents();
        let request = SetupRequest {
            askbridge: &self.askbridge,
            agent: self.args.agent.as_deref(),
            found: &self.found,
            home: &self.around.folders.home.to_string_lossy(),
            has_types: client.has_types(),
        };
        let plan = plan::apply(&mut document, &request).map_err(|error| self.no_agent(client, error))?;
        plan.notes.iter().try_for_each(|note| tell(note))?;
        if plan.changes.is_empty() {
            tell("nothing to change")?;
            return Ok(exit::OK);
        }
        let after = document.text();
        parse(&after)?;
        show(path, before, Some(&after))?;
        if self.args.print {
            return Ok(exit::OK);
        }
        if !confirm(self.args.yes, "Write this?")? {
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

    /// Writes the file, after the record that undoes it.
    fn write(
        &self,
        client: SetupClient,
        file: &SettingsFile,
        mut edit: Edit,
        after: &str,
    ) -> Result<u8, CommandError> {
        let mut records = self.keep.records()?;
        self.keep.texts(&mut edit, file.text.as_deref(), after)?;
        let backup = edit.before.clone();
        records.edits.push(edit.clone());
        self.keep.put(&records)?;
        if let Err(error) = file.replace(Some(after)) {
            records.edits.pop();
            self.keep.put(&records)?;
            ChangeStore::forget(&edit);
            return Err(error.into());
        }
        tell(&format!("written; `askbridge setup {} --undo` takes it out again", client.name()))?;
        if let Some(backup) = backup {
            tell(&format!("the file as it was: {}", backup.display()))?;
        }
        tell(&format!("restart the agent in {}, then `askbridge status` shows its bridge", client.title()))?;
        Ok(exit::OK)
    }

    fn snippet(&self, client: SetupClient) -> Result<u8, CommandError> {
        let name = self.args.agent.as_deref();
        let found = match name {
            Some(name) => {
                let agent = agents::named(name);
                self.found.iter().find(|found| Some(found.agent) == agent)
            }
            None => self.found.iter().find(|found| found.is_installed).or(self.found.first()),
        };
        let Some(text) = found.and_then(|found| snippet(client, found, &self.askbridge)) else {
            let known = agents::keys().collect::<Vec<_>>().join(", ");
            let name = name.map_or_else(|| "an agent".to_owned(), |name| format!("{name:?}"));
            return Err(CommandError::Usage(format!("{name} is not on PATH; known are {known}")));
        };
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
    keep: &ChangeStore,
    client: Option<SetupClient>,
    args: &SetupArgs,
) -> Result<u8, CommandError> {
    let records = keep.records()?;
    let file = args.file.as_ref().map(|file| SettingsFile::read(file)).transpose()?;
    let is_meant = |edit: &&Edit| {
        client.is_none_or(|client| client.name() == edit.client)
            && file.as_ref().is_none_or(|file| file.path == edit.file)
            && edit.changes.iter().any(|change| concerns(change, args.agent.as_deref()))
    };
    let mut files: Vec<PathBuf> =
        records.edits.iter().filter(is_meant).map(|edit| edit.file.clone()).collect();
    files.sort();
    files.dedup();
    if files.is_empty() {
        tell("setup remembers no such change: there is nothing to undo")?;
        return Ok(exit::OK);
    }
    let mut code = exit::OK;
    for file in files {
        code = code.max(undo_file(keep, &file, args)?);
    }
    Ok(code)
}

fn undo_file(keep: &ChangeStore, path: &PathBuf, args: &SetupArgs) -> Result<u8, CommandError> {
    // Read anew for each file: the one before may have changed it.
    let records = keep.records()?;
    let agent = args.agent.as_deref();
    let (edits, others): (Vec<_>, Vec<_>) = records.edits.into_iter().partition(|edit| edit.file == *path);
    let client = edits.last().and_then(|edit| SetupClient::named(&edit.client));
    let Some((client, key)) = client.and_then(|client| Some((client, client.key()?))) else {
        return Err(CommandError::Setup(format!("{}: changed for an unknown client", path.display())));
    };
    let file = SettingsFile::read(path)?;
    tell(&format!("{}: {}", client.title(), path.display()))?;
    let Some(current) = &file.text else {
        tell("the file is gone, and so is the change")?;
        keep.put(&Records { edits: others })?;
        edits.iter().for_each(ChangeStore::forget);
        return Ok(exit::OK);
    };
    let mut made: Vec<AppliedChange> = edits.iter().map(ChangeStore::made).collect();
    for made in &mut made {
        let count = made.changes.len();
        made.changes.retain(|change| concerns(change, agent));
        if made.changes.len() < count {
            // Only a part of this change is taken out.
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
        if !confirm(args.yes, "Take this out?")? {
            return Ok(exit::NOT_DONE);
        }
        file.replace(undone.text.as_deref())?;
    }
    forget(keep, edits, others, agent)?;
    tell(if is_changed { "taken out: restart the agent in the client" } else { "there is nothing to undo" })?;
    Ok(exit::OK)
}

/// Forgets the changes that were taken out.
fn forget(
    keep: &ChangeStore,
    edits: Vec<Edit>,
    others: Vec<Edit>,
    agent: Option<&str>,
) -> Result<(), CommandError> {
    let (mut kept, mut forgotten) = (others, Vec::new());
    for mut edit in edits {
        edit.changes.retain(|change| !concerns(change, agent));
        if edit.changes.is_empty() { forgotten.push(edit) } else { kept.push(edit) }
    }
    keep.put(&Records { edits: kept })?;
    forgotten.iter().for_each(ChangeStore::forget);
    Ok(())
}

/// Returns whether the change is one of the agent that the person named.
fn concerns(change: &Change, agent: Option<&str>) -> bool {
    let Some(name) = agent else { return true };
    let entry = change.entry();
    entry == name || agents::named(name).is_some_and(|agent| entry.starts_with(agent.title))
}
