//! What `askbridge doctor` looks at, in its order.

use std::io;

use super::{clients, desktop, program, server, settings, sockets, terminals, ways};
use crate::{
    command::{
        CommandError,
        run::{print, shown},
        screen::Room,
        setup::around::Environment,
    },
    exit,
    present::{
        doctor::{Level, Report},
        text,
    },
    settings_files,
    setup::clients::SetupClient,
};

/// What `doctor` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DoctorOptions {
    /// Prints JSON.
    pub json: bool,
    /// Sends a test in each way in which the person is told.
    #[cfg(feature = "notify")]
    pub notify: bool,
}

/// Looks at everything, and says what does not work.
pub async fn doctor(options: &DoctorOptions) -> Result<u8, CommandError> {
    let mut report = Report::new(env!("CARGO_PKG_VERSION"));
    let around = Environment::look();
    match &around {
        Some(around) => program::look_at_program(around, &mut report),
        None => report.add("program", Level::Problem, "there is no home directory", Some("set HOME")),
    }
    let set = settings_files::read_here();
    settings::look_at_settings(&set, &mut report);
    let statuses = sockets::look(around.as_ref(), &mut report).await;
    let inbox = server::look(&set, &statuses, &mut report);
    if let Some(around) = &around {
        desktop::look_at_desktop(around, &inbox, &mut report);
        // A test says more than a look.
        if !tries_notifiers(options) {
            ways::look(around, &set, &mut report);
        }
        clients::look_at_clients(around, &mut report);
        terminals::look_at_terminals(around, &set, inbox.runs, &mut report);
        report.first = (!report.connected).then(|| first(around, inbox.runs));
    }
    #[cfg(feature = "notify")]
    if options.notify {
        super::notifiers::try_out(&mut report).await;
    }
    let text = match options.json {
        true => text::json(&report)?,
        false => {
            let colour = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
            report.text(Room::now().map_or(usize::MAX, |room| room.columns), colour)
        }
    };
    shown(print(&text))?;
    Ok(if report.healthy { exit::OK } else { exit::PROBLEM })
}

#[cfg(feature = "notify")]
fn tries_notifiers(options: &DoctorOptions) -> bool {
    options.notify
}

#[cfg(not(feature = "notify"))]
fn tries_notifiers(_: &DoctorOptions) -> bool {
    false
}

/// Returns what to do first, where no agent's question would come here.
fn first(around: &Environment, inbox_runs: bool) -> String {
    if around.program("claude").is_some() {
        return "`askbridge setup claude` connects Claude Code".to_owned();
    }
    if terminals::has_attachable(around) {
        return format!("{} connects the agents in your terminals", terminals::switching_on(inbox_runs));
    }
    if SetupClient::ALL.into_iter().any(|client| around.has(client)) {
        return "`askbridge setup` puts askbridge before the agents of your editor".to_owned();
    }
    "install an agent, such as Claude Code, or an editor that runs one; `askbridge demo` shows a question meanwhile"
        .to_owned()
}
