//! `askbridge doctor`: runs all checks in their order, and checks the program itself and the settings. Every command
//! reads the settings, so a mistake in them is a problem.
//! The other checks are left to the files beside this one.

use std::{env, fs, path::Path};

use askbridge_os::{exit, log};
use askbridge_settings::{Layer, Settings, files, keys};
use clap::Args;

use super::{
    agents,
    installed::{COPIED, Installer, is_launcher},
    server, servers, sockets, ways,
};
use crate::{
    command::{
        CommandError, Context,
        runner::{print, shown},
        screen::{is_coloured, wrap_column},
        setup::{clients::SetupClient, environment::Environment},
    },
    present::{
        doctor::{Level, Report},
        text,
    },
};

/// The checks of `askbridge doctor`, and its exit codes.
const HELP: &str = "\
Looks at this program, the folder of the sockets, the bridges that run, the HTTP server, the desktop, the settings \
of editors, the agents on PATH, and MCP servers. It changes nothing, but for removing the sockets of bridges that were killed.

Exit codes:
  0    nothing is wrong; there may be warnings
  1    something does not work
  2    the command line was not understood
  125  the command itself failed";

/// Options of `askbridge doctor`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct DoctorArgs {
    /// Print JSON (schema: doctor_report.schema.json)
    #[arg(long)]
    pub json: bool,

    /// Send a test through each notifier that is set up
    #[cfg(feature = "notify")]
    #[arg(long)]
    pub notify: bool,
}

/// Runs all checks, and reports what does not work.
pub async fn doctor(context: &Context, args: &DoctorArgs) -> Result<u8, CommandError> {
    let mut report = Report::new(env!("CARGO_PKG_VERSION"));
    let around = Environment::look();
    match &around {
        Some(around) => look_at_program(around, &mut report),
        None => report.add("program", Level::Problem, "there is no home directory", Some("set HOME")),
    }
    let set = context.settings_here();
    look_at_settings(&set, &mut report);
    #[cfg(feature = "mcp")]
    look_at_headers(&set, &mut report);
    let statuses = sockets::look(context, around.as_ref(), &mut report).await;
    let inbox = server::look(&set, &statuses, &mut report);
    if let Some(around) = &around {
        ways::look_at_desktop(around, &inbox, &mut report);
        // `--notify` sends a test through each notifier, which says more than this check of its settings.
        if !tries_notifiers(args) {
            ways::look(around, &set, &mut report);
        }
        agents::look_at_clients(around, &mut report);
        agents::look_at_terminals(around, &set, inbox.runs, &mut report);
        servers::look_at_servers(around, &mut report);
        // A user whose agents are connected needs no first step.
        report.first = (!report.connected).then(|| first(around, &set));
    }
    #[cfg(feature = "notify")]
    if args.notify {
        crate::command::notify::try_out(context, &mut report).await;
    }
    let text = match args.json {
        true => text::json(&report)?,
        false => report.text(wrap_column(), is_coloured()),
    };
    shown(print(&text))?;
    Ok(if report.healthy { exit::OK } else { exit::PROBLEM })
}

#[cfg(feature = "notify")]
fn tries_notifiers(args: &DoctorArgs) -> bool {
    args.notify
}

#[cfg(not(feature = "notify"))]
fn tries_notifiers(_: &DoctorArgs) -> bool {
    false
}

/// Returns the advice on what to do first, for a user whose agents are not connected.
fn first(around: &Environment, settings: &Settings) -> String {
    if around.program("claude").is_some() {
        return "`askbridge setup claude` connects Claude Code".to_owned();
    }
    if let Some(attaching) = agents::attaching(around, settings) {
        return attaching.to_owned();
    }
    if SetupClient::ALL.into_iter().any(|client| around.has(client)) {
        return "`askbridge setup` puts askbridge before the agents of your editor".to_owned();
    }
    "`askbridge setup` lists the agents and editors that it supports; `askbridge demo` shows an example question"
        .to_owned()
}

const PROGRAM: &str = "program";

/// Checks the program itself.
pub(super) fn look_at_program(around: &Environment, report: &mut Report) {
    let own = env::current_exe().ok();
    let path =
        own.as_ref().map_or_else(|| "its path is not known".to_owned(), |path| path.display().to_string());
    report.add(PROGRAM, Level::Ok, format!("askbridge {}: {path}", env!("CARGO_PKG_VERSION")), None);
    // Installers are known by their folders, which a symlink on `PATH` would hide.
    let real = own.and_then(|own| own.canonicalize().ok());
    let installer = real.as_ref().map(|real| Installer::of(real, |file| fs::read_to_string(file).ok()));
    if let Some(installer) = installer {
        let said = installer.map_or_else(|| COPIED.to_owned(), |installer| installer.sentence());
        report.add(PROGRAM, Level::Ok, said, None);
    }
    match around.program(env!("CARGO_PKG_NAME")) {
        None => report.add(
            PROGRAM,
            Level::Warning,
            "askbridge is not on PATH",
            Some("settings of editors need the whole path: `askbridge setup` writes it"),
        ),
        Some(other) if !is_this(&other, real.as_deref()) => report.add(
            PROGRAM,
            Level::Warning,
            format!("PATH has another askbridge first: {}", other.display()),
            Some("remove one of them, so that commands and editors run the same"),
        ),
        Some(_) => {}
    }
    if !cfg!(target_os = "linux") {
        report.add(
            PROGRAM,
            Level::Note,
            "only on Linux can askbridge prevent that an agent answers its own questions",
            None,
        );
    }
}

/// Returns whether a program on `PATH` is this one, or the launcher that starts it.
fn is_this(on_path: &Path, real: Option<&Path>) -> bool {
    let on_path = on_path.canonicalize().ok();
    on_path.as_deref() == real || on_path.zip(real).is_some_and(|(on_path, real)| is_launcher(&on_path, real))
}

const SETTINGS: &str = "settings";

/// Checks the settings, in the files and in the environment.
pub(super) fn look_at_settings(settings: &Settings, report: &mut Report) {
    let before = report.findings.len();
    for problem in settings.problems() {
        let advice = match &problem.origin {
            Some(Layer::Project(place)) => format!("edit {}", place.path.display()),
            Some(Layer::Environment(name)) => format!("correct {name}, or unset it"),
            Some(Layer::User(_) | Layer::Default) | None => "`askbridge config edit`".to_owned(),
        };
        report.add(SETTINGS, Level::Problem, problem.to_string(), Some(&advice));
    }
    // Only opening the file shows whether it can be written, although this creates it.
    if let Some(file) = settings.path(&keys::LOG_FILE)
        && let Err(error) = log::open(&file)
    {
        let text = format!("log.file: {}: {error}", file.display());
        report.add(SETTINGS, Level::Problem, text, Some("`askbridge config unset log.file` logs to stderr"));
    }
    if report.findings.len() == before {
        let text = match files::user_file().filter(|file| file.exists()) {
            Some(file) => format!("{}: no mistakes", file.display()),
            None => "no settings file of your own: the defaults apply".to_owned(),
        };
        report.add(SETTINGS, Level::Ok, text, None);
    }
}

/// Checks whether each header that the settings name for an MCP server has a value.
#[cfg(feature = "mcp")]
fn look_at_headers(settings: &Settings, report: &mut Report) {
    // Mistakes in the settings are reported already.
    for server in settings.mcp_servers().iter().filter(|server| server.mistake.is_none()) {
        match crate::command::mcp_http::check(server) {
            Ok((address, count)) => {
                report.add(SETTINGS, Level::Ok, format!("{address}: {count} headers have a value"), None);
            }
            Err(why) => {
                let text = format!("nothing is sent to an MCP server: {why}");
                let advice = "set it in the settings of your host, or `askbridge config edit`";
                report.add(SETTINGS, Level::Problem, text, Some(advice));
            }
        }
    }
}
