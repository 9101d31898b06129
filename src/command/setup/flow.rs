//! What `askbridge setup` does, from the options to the written file.

use std::path::PathBuf;

use super::{
    around::Environment,
    change::{confirm, show, tell},
    claude,
    keep::ChangeStore,
    options::{SetupOptions, broken},
    settings_file::SettingsFile,
    take_out,
};
use crate::{
    command::{
        CommandError,
        run::{print, say, shown},
    },
    exit,
    setup::{
        agents,
        clients::SetupClient,
        document::Document,
        plan::{self, AvailableAgent, PlanError, SetupRequest},
        record::Edit,
        snippet::snippet,
    },
};

/// What every step has to know.
struct Setup<'a> {
    options: &'a SetupOptions,
    around: Environment,
    keep: ChangeStore,
    askbridge: String,
    found: Vec<AvailableAgent>,
}

/// Puts askbridge between clients and their agents.
pub async fn setup(options: &SetupOptions) -> Result<u8, CommandError> {
    let around =
        Environment::look().ok_or_else(|| CommandError::Setup("no home directory: set HOME".to_owned()))?;
    if options.client.as_deref() == Some(claude::NAME) {
        return claude::setup(&around, options);
    }
    let client = options.client.as_deref().map(named).transpose()?;
    let keep = ChangeStore::new(&around.state);
    if options.undo {
        return take_out::undo(&keep, client, options);
    }
    let askbridge = around.askbridge().and_then(|path| Some(path.to_str()?.to_owned()));
    let askbridge =
        askbridge.ok_or_else(|| CommandError::Setup("the path of this program is not text".to_owned()))?;
    let found = around.agents();
    let setup = Setup { options, around, keep, askbridge, found };
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
            // What is wrong with one client does not stop the next.
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
        let Some(path) = self.options.file.clone().or(place) else {
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
            agent: self.options.agent.as_deref(),
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
        if self.options.print {
            return Ok(exit::OK);
        }
        if !confirm(self.options.yes, "Write this?")? {
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

    /// Writes the file, after what is needed to undo that.
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
        let name = self.options.agent.as_deref();
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
        match self.options.agent {
            Some(_) => CommandError::Usage(format!("{}: {why}", client.title())),
            None => CommandError::Setup(format!("{}: {why}", client.title())),
        }
    }
}
