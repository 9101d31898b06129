//! `askbridge setup --undo`: takes out of a client's settings what setup put there.

use std::path::PathBuf;

use super::{
    change::{confirm, show, tell},
    keep::ChangeStore,
    options::{SetupOptions, broken},
    settings_file::SettingsFile,
};
use crate::{
    command::CommandError,
    exit,
    setup::{
        agents,
        clients::SetupClient,
        plan::Change,
        record::{Edit, Records},
        undo::{self, AppliedChange},
    },
};

/// Takes out what was changed: all of it, or that of one client, of one file, or of one agent.
pub(super) fn undo(
    keep: &ChangeStore,
    client: Option<SetupClient>,
    options: &SetupOptions,
) -> Result<u8, CommandError> {
    let records = keep.records()?;
    let file = options.file.as_ref().map(|file| SettingsFile::read(file)).transpose()?;
    let is_meant = |edit: &&Edit| {
        client.is_none_or(|client| client.name() == edit.client)
            && file.as_ref().is_none_or(|file| file.path == edit.file)
            && edit.changes.iter().any(|change| concerns(change, options.agent.as_deref()))
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
        code = code.max(undo_file(keep, &file, options)?);
    }
    Ok(code)
}

fn undo_file(keep: &ChangeStore, path: &PathBuf, options: &SetupOptions) -> Result<u8, CommandError> {
    // Read anew for each file: the one before may have changed it.
    let records = keep.records()?;
    let agent = options.agent.as_deref();
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
    let undone = undo::undo(current, key, &made).map_err(|error| broken(path, &error))?;
    undone.notes.iter().try_for_each(|note| tell(note))?;
    let is_changed = undone.text.as_ref() != Some(current);
    if is_changed {
        show(path, Some(current), undone.text.as_deref())?;
    }
    if options.print {
        return Ok(exit::OK);
    }
    if is_changed {
        if !confirm(options.yes, "Take this out?")? {
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
