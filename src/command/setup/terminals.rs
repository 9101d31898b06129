//! `askbridge setup codex`, and the other agents that the inbox attaches to in their terminals: changes the setting
//! that names these agents, and prints the next steps.
//! The plugin of Claude Code is left to `claude.rs`, and attaching to `adapters`.

use std::path::Path;

use askbridge_control::join::Places;
use askbridge_os::exit;
use askbridge_settings::{Settings, files, keys::INBOX_ATTACH, kinds::AgentKinds, render};

use super::{
    args::SetupArgs,
    change::{agrees, show, tell},
    target::AttachableAgent,
};
use crate::command::{CommandError, Context, background, config};

/// Adds agents to `inbox.attach` in the user's own settings, or removes them there.
pub(super) async fn setup(
    context: &Context,
    agents: &[&AttachableAgent],
    args: &SetupArgs,
) -> Result<u8, CommandError> {
    if args.agent.is_some() || args.file.is_some() {
        let what =
            "an agent in a terminal is set up in your own settings: leave out the second agent and --file";
        return Err(CommandError::Usage(what.to_owned()));
    }
    let path = config::own_file()?;
    let titles: Vec<_> = agents.iter().map(|agent| agent.title).collect();
    tell(&format!("{} in a terminal: {}", titles.join(", "), path.display()))?;
    let before = config::own_text(&path)?;
    let Some(after) = changed(&context.settings, agents, args.undo, &before, &path)? else {
        tell("nothing to change")?;
        return next(context.places()?, agents, args).await;
    };
    show(&path, Some(before.as_str()).filter(|text| !text.is_empty()), Some(&after))?;
    if args.print {
        return Ok(exit::OK);
    }
    if !agrees(args.yes, "Write this?")? {
        return Ok(exit::NOT_DONE);
    }
    files::write(&path, &after).map_err(|source| CommandError::Write { path: path.clone(), source })?;
    if !args.undo {
        let names: Vec<_> =
            agents.iter().map(|agent| format!("`askbridge setup {} --undo`", agent.program)).collect();
        tell(&format!("written; {} undoes it", names.join(", ")))?;
    }
    next(context.places()?, agents, args).await
}

/// Returns the text of the settings with the agents in `inbox.attach`, or without them. `None` if nothing changes.
fn changed(
    settings: &Settings,
    agents: &[&AttachableAgent],
    undo: bool,
    text: &str,
    path: &Path,
) -> Result<Option<String>, CommandError> {
    let AgentKinds(attached) = settings.get(&INBOX_ATTACH);
    let is_named = |kind: &&str| agents.iter().any(|agent| agent.program == *kind);
    let mut kinds: Vec<_> = attached.iter().copied().filter(|kind| !is_named(kind)).collect();
    if !undo {
        kinds.extend(agents.iter().map(|agent| agent.program));
    }
    // The named agents were left out above, so the same number means the same agents.
    if kinds.len() == attached.len() {
        return Ok(None);
    }
    let changed = match kinds.is_empty() {
        true => render::unset(text, &INBOX_ATTACH),
        false => render::set(text, &INBOX_ATTACH, &kinds.into()).map(Some),
    };
    changed.map_err(|error| config::unchanged(path, &error))
}

/// Prints the next steps. An inbox reads the setting only when it starts.
async fn next(places: &Places, agents: &[&AttachableAgent], args: &SetupArgs) -> Result<u8, CommandError> {
    let runs = background::find(places).await.is_ok_and(|found| found.is_some());
    match (args.undo, runs) {
        (true, false) => {}
        (true, true) => tell("the running inbox stays attached until it ends: `askbridge inbox --stop`")?,
        (false, _) => {
            tell(&format!("next: {}", switching_on(runs)))?;
            for agent in agents {
                if let Some(started) = agent.started {
                    tell(&format!("then start {} by `{started}`, so that it has a server", agent.title))?;
                }
            }
        }
    }
    Ok(exit::OK)
}

/// Returns the commands that let the inbox read `inbox.attach`.
pub(in crate::command) fn switching_on(inbox_runs: bool) -> &'static str {
    match inbox_runs {
        true => "`askbridge inbox --stop`, then `askbridge inbox --detach`",
        false => "`askbridge inbox --detach`",
    }
}
