//! `askbridge setup mcp` and `askbridge setup mcp --undo`, from the options to the written file.
//! Changing the text of the settings is left to `plan.rs`.

use std::{
    collections::BTreeSet,
    env,
    path::{Path, PathBuf},
};

use askbridge_os::exit;

use super::{
    args::SetupMcpArgs,
    hosts::{Host, Place},
    plan::{self, Plan, Request, WrappedServer},
    servers::{self, Part},
};
use crate::command::{
    CommandError,
    setup::{
        change::{agrees, show, tell, worst},
        environment::Environment,
        keep::{ChangeStore, Edit, Records},
        plan::AppliedChange,
        settings_file::{SettingsFile, broken},
        splice,
        tree::{self, DocumentError, Language, Node},
    },
};

/// The list of the changes of MCP servers.
const CHANGES: &str = "servers.json";

/// The context of every step.
struct Setup<'a> {
    args: &'a SetupMcpArgs,
    keep: ChangeStore<WrappedServer>,
    askbridge: String,
    home: String,
}

/// A settings file that exists, and its host.
struct Found {
    host: Host,
    place: Place,
}

/// Puts askbridge before MCP servers, or takes it out.
pub(in crate::command::setup) fn setup(
    around: &Environment,
    args: &SetupMcpArgs,
) -> Result<u8, CommandError> {
    let keep = ChangeStore::new(&around.state, CHANGES);
    if args.undo {
        return undo(&keep, args);
    }
    let askbridge = around.askbridge().and_then(|path| Some(path.to_str()?.to_owned()));
    let askbridge =
        askbridge.ok_or_else(|| CommandError::Setup("the path of this program is not text".to_owned()))?;
    let setup = Setup { args, keep, askbridge, home: around.folders.home.to_string_lossy().into_owned() };
    let found = found(around, args.host, args.project);
    if found.is_empty() {
        tell(&nothing_found(around, args))?;
    }
    exist(&found, &args.servers)?;
    let done = found.iter().map(|found| setup.file(found)).collect();
    if !args.project {
        names_projects(args.host)?;
    }
    Ok(worst(done))
}

/// Returns an error if no file has a server of this name.
fn exist(found: &[Found], named: &[String]) -> Result<(), CommandError> {
    let read: Vec<_> = found.iter().map(|found| look(found.host, &found.place)).collect();
    // What cannot be read may have the server.
    if read.iter().any(Result::is_err) {
        return Ok(());
    }
    let known: BTreeSet<_> = read.iter().flatten().flatten().map(|server| server.name.as_str()).collect();
    let Some(missing) = named.iter().find(|name| !known.contains(name.as_str())) else { return Ok(()) };
    let known = match known.is_empty() {
        true => String::new(),
        false => format!("; known are {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    };
    Err(CommandError::Usage(format!("no MCP server {missing:?} is in the settings{known}")))
}

/// Returns the settings files that exist.
fn found(around: &Environment, host: Option<Host>, is_project: bool) -> Vec<Found> {
    let hosts = Host::ALL.into_iter().filter(|it| host.is_none_or(|host| host == *it));
    let places = |host: Host| match is_project {
        true => env::current_dir().map(|folder| host.project_places(&folder)).unwrap_or_default(),
        false => host.places(&around.folders),
    };
    let all = hosts.flat_map(|host| places(host).into_iter().map(move |place| Found { host, place }));
    // A symlink without a target counts as a file. The later read then reports the mistake.
    all.filter(|found| found.place.file.symlink_metadata().is_ok()).collect()
}

fn nothing_found(around: &Environment, args: &SetupMcpArgs) -> String {
    let place = |host: Host| match args.project {
        true => host.project_places(Path::new("")).into_iter().next(),
        false => host.places(&around.folders).into_iter().next(),
    };
    match args.host.map(|host| (host.title(), place(host))) {
        Some((title, Some(place))) => {
            format!("{title} has no settings for MCP servers: {} does not exist", place.file.display())
        }
        Some((title, None)) => format!("{title} has no settings in a project"),
        None if args.project => "no settings for MCP servers are in this folder".to_owned(),
        None => {
            let titles: Vec<_> = Host::ALL.into_iter().map(Host::title).collect();
            format!("no settings for MCP servers were found, of {}", titles.join(", "))
        }
    }
}

/// Names the files of the project in this folder that have servers without askbridge: they stay.
fn names_projects(host: Option<Host>) -> Result<(), CommandError> {
    let Ok(folder) = env::current_dir() else { return Ok(()) };
    for host in Host::ALL.into_iter().filter(|it| host.is_none_or(|host| host == *it)) {
        for place in host.project_places(&folder) {
            let Ok(servers) = look(host, &place) else { continue };
            if servers.iter().any(|server| server.part == Part::None && !server.is_off) {
                let file = place.file.strip_prefix(&folder).unwrap_or(&place.file).display().to_string();
                tell(&format!(
                    "{}: {file} belongs to this project and is shared with others, so it stays: `--project` is for it",
                    host.title()
                ))?;
            }
        }
    }
    Ok(())
}

/// A server, as `doctor` needs it.
#[derive(Debug)]
pub(in crate::command) struct Listed {
    /// Its name.
    pub(in crate::command) name: String,
    /// Its name, with its project if it is that of one.
    pub(in crate::command) shown: String,
    /// What it has to do with askbridge.
    pub(in crate::command) part: Part,
    /// Whether the host does not start it.
    pub(in crate::command) is_off: bool,
    /// How the host starts it.
    pub(in crate::command) start: servers::Start,
    /// Whether it looks for programs in folders of its own.
    pub(in crate::command) has_path: bool,
}

/// Reads the servers of a settings file, none if there is no file.
///
/// # Errors
/// Says why it cannot be read.
pub(in crate::command) fn look(host: Host, place: &Place) -> Result<Vec<Listed>, String> {
    let file = SettingsFile::read(&place.file).map_err(|error| error.to_string())?;
    let text = file.text.unwrap_or_default();
    let at = |error: DocumentError| format!("{}: {error}", place.file.display());
    let tree = tree::parse(&text, place.language).map_err(at)?;
    let servers = servers::of(&text, &tree, place.sections).map_err(at)?;
    let listed = |server: &servers::Server<'_>| Listed {
        name: server.name.to_owned(),
        shown: plan::shown(server),
        part: server.part(),
        is_off: server.is_off(host),
        start: server.start(),
        has_path: server.sets("PATH"),
    };
    Ok(servers.iter().map(listed).collect())
}

impl Setup<'_> {
    /// Wraps the servers of one file.
    fn file(&self, found: &Found) -> Result<u8, CommandError> {
        let Found { host, place } = found;
        let file = SettingsFile::read(&place.file)?;
        let path = &file.path;
        let before = file.text.as_deref().unwrap_or_default();
        let tree = tree::parse(before, place.language).map_err(|error| broken(path, &error))?;
        let servers = servers::of(before, &tree, place.sections).map_err(|error| broken(path, &error))?;
        let request = Request {
            host: *host,
            place,
            text: before,
            // The path of this machine means nothing to the others who share the file.
            askbridge: if place.is_shared { env!("CARGO_PKG_NAME") } else { &self.askbridge },
            home: &self.home,
            named: &self.args.servers,
        };
        let plan = plan::plan(&servers, &request);
        if plan.notes.is_empty() && plan.wrapped.is_empty() {
            return Ok(exit::OK);
        }
        tell(&format!("{}: {}", host.title(), path.display()))?;
        plan.notes.iter().try_for_each(|note| tell(note))?;
        if plan.wrapped.is_empty() {
            tell("nothing to change")?;
            return Ok(exit::OK);
        }
        if place.is_shared {
            tell("this file is shared with others: each of them needs askbridge on PATH")?;
        }
        self.change(found, &file, before, plan)
    }

    /// Shows the change of a file, and writes it once the person agrees.
    fn change(
        &self,
        found: &Found,
        file: &SettingsFile,
        before: &str,
        plan: Plan,
    ) -> Result<u8, CommandError> {
        let Found { host, place } = found;
        let after = splice::apply(before, plan.splices);
        // A text that does not parse must never be written.
        check(&after, place.language, &plan.wrapped).map_err(|error| broken(&file.path, &error))?;
        show(&file.path, Some(before), Some(&after))?;
        if self.args.print {
            return Ok(exit::OK);
        }
        if !agrees(self.args.yes, "Write this?")? {
            return Ok(exit::NOT_DONE);
        }
        let edit = Edit {
            file: file.path.clone(),
            client: host.name().to_owned(),
            at: String::new(),
            before: None,
            after: PathBuf::new(),
            added_agents: false,
            changes: plan.wrapped,
        };
        let backup = self.keep.write(file, edit, &after)?;
        tell(&format!("written; `askbridge setup mcp --host {} --undo` undoes it", host.name()))?;
        if let Some(backup) = backup {
            tell(&format!("a backup of the file: {}", backup.display()))?;
        }
        tell(&format!("restart {}, so that it starts the servers anew", host.title()))?;
        Ok(exit::OK)
    }
}

/// Returns an error if a text does not parse, or if askbridge does not stand before a server that was wrapped in it.
fn check(text: &str, language: Language, wrapped: &[WrappedServer]) -> Result<(), DocumentError> {
    let tree = tree::parse(text, language)?;
    for wrapped in wrapped {
        let section = wrapped.section.iter().try_fold(&tree, |node: &Node, name| node.get(name));
        let member = section.and_then(|section| section.member(&wrapped.server));
        let part = member.map(|member| servers::Server::of(member).part());
        if part != Some(Part::Proxy) {
            let at = member.map_or(0, |member| member.start);
            return Err(tree::mistake(text, at, "setup cannot change an entry of this shape".to_owned()));
        }
    }
    Ok(())
}

/// Undoes all changes that `askbridge setup mcp` has made.
pub(in crate::command::setup) fn undo_all(
    around: &Environment,
    yes: bool,
    print: bool,
) -> Result<u8, CommandError> {
    let args = SetupMcpArgs { yes, print, undo: true, ..SetupMcpArgs::default() };
    undo(&ChangeStore::new(&around.state, CHANGES), &args)
}

/// Undoes earlier changes: all of them, or those of one host, of some servers, or of the project in this folder.
fn undo(keep: &ChangeStore<WrappedServer>, args: &SetupMcpArgs) -> Result<u8, CommandError> {
    let records = keep.records()?;
    let folder = env::current_dir().and_then(|folder| folder.canonicalize()).ok();
    let is_meant = |edit: &&Edit<WrappedServer>| {
        args.host.is_none_or(|host| host.name() == edit.client)
            && (!args.project || folder.as_ref().is_some_and(|folder| edit.file.starts_with(folder)))
            && edit.changes.iter().any(|change| concerns(change, &args.servers))
    };
    let mut files: Vec<_> = records.edits.iter().filter(is_meant).map(|edit| edit.file.clone()).collect();
    // All changes of one file are undone together.
    files.sort();
    files.dedup();
    if files.is_empty() {
        tell("nothing to undo: setup has not wrapped such an MCP server")?;
        return Ok(exit::OK);
    }
    Ok(worst(files.iter().map(|file| undo_file(keep, file, args)).collect()))
}

fn concerns(change: &WrappedServer, named: &[String]) -> bool {
    named.is_empty() || named.contains(&change.server)
}

fn undo_file(
    keep: &ChangeStore<WrappedServer>,
    path: &Path,
    args: &SetupMcpArgs,
) -> Result<u8, CommandError> {
    // The records are read again for each file: undoing the previous one has changed them.
    let records = keep.records()?;
    let (edits, others): (Vec<_>, Vec<_>) = records.edits.into_iter().partition(|edit| edit.file == path);
    let host = edits.last().and_then(|edit| Host::named(&edit.client));
    let title = host.map_or("MCP", Host::title);
    let file = SettingsFile::read(path)?;
    tell(&format!("{title}: {}", path.display()))?;
    let Some(current) = &file.text else {
        tell("the file no longer exists, and neither does the change")?;
        keep.put(&Records { edits: others })?;
        edits.iter().for_each(ChangeStore::forget);
        return Ok(exit::OK);
    };
    let mut made: Vec<AppliedChange<WrappedServer>> = edits.iter().map(ChangeStore::made).collect();
    for made in &mut made {
        let count = made.changes.len();
        made.changes.retain(|change| concerns(change, &args.servers));
        if made.changes.len() < count {
            // A part of this change stays, so `plan` must not restore the whole text from before it.
            made.after = None;
        }
    }
    let is_toml = path.extension().is_some_and(|extension| extension == "toml");
    let language = if is_toml { Language::Toml } else { Language::Json };
    let undone = plan::undo(current, language, &made).map_err(|error| broken(path, &error))?;
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
    keep.forget_changes(edits, others, |change| concerns(change, &args.servers))?;
    let said = format!("undone: restart {title}, so that it starts the servers anew");
    tell(if is_changed { &said } else { "there is nothing to undo" })?;
    Ok(exit::OK)
}
