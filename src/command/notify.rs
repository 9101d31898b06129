//! `askbridge notify`: tells the person that a question waits, and ends with the question.

use std::{
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use rustix::process::setsid;

use super::{
    CommandError,
    run::{look_up, say},
};
use crate::{
    control::Inbox,
    desk::{Record, State},
    exit,
    machine::discovery,
    notifier::{BUSY, NotifierStart, follow, take},
    notify::{Plan, ruled},
    present::bridges::Bridges,
    real_files::RealFiles,
    settings::NotifySettings,
    settings_files,
    signals::Signals,
};

/// Which question is told, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotifyOptions {
    /// The ID of the question.
    pub id: String,
    /// Tells at once, whatever the time is and wherever the person is.
    pub now: bool,
    /// A bridge started it, and reads what it says on stderr.
    pub background: bool,
    /// The terminal of that bridge.
    pub terminal: Option<PathBuf>,
}

/// Tells the person, and takes it back once the question is over.
pub async fn notify(options: &NotifyOptions) -> Result<u8, CommandError> {
    if options.background {
        // Ctrl-C in the terminal of the bridge is not meant for it. It fails for the leader of a session.
        setsid().ok();
    }
    tell(options).await
}

async fn tell(options: &NotifyOptions) -> Result<u8, CommandError> {
    let (machine, _, record) = look_up(&options.id).await?;
    if record.state != State::Open {
        return Ok(done(options, "the question does not wait any more", exit::OK));
    }
    let Some(slot) = take(&discovery::folder()?)? else {
        if options.background {
            drop(writeln!(io::stderr(), "{BUSY}"));
            return Ok(exit::OK);
        }
        return Ok(done(options, "as many notifiers run already as may", exit::FAILED));
    };
    let bridges = Bridges::new(machine.status());
    let folder = bridges.status(&record).map(|status| status.folder.clone()).unwrap_or_default();
    let project = PathBuf::from(record.question.project.as_deref().unwrap_or(&folder));
    let Some(settings) = settings(&project, &record) else {
        return Ok(done(options, "the settings say that nothing is told of this project", exit::OK));
    };
    let terminal = terminal(options);
    let Some(plan) = Plan::new(&settings, &record.question, terminal.is_some()) else {
        return Ok(done(options, NOTHING, exit::OK));
    };
    let plan = if options.now { plan.now() } else { plan };
    let age = bridges.now(&record).since(record.opened_at);
    let says_all = !options.background;
    let notifying = NotifierStart { machine, record, age, folder, settings, plan, terminal, slot, says_all };
    let mut signals = Signals::catch()?;
    let told = follow(notifying, async move { signals.next().await }).await;
    Ok(if told > 0 || options.background { exit::OK } else { exit::FAILED })
}

/// What is said where nothing is to be done.
const NOTHING: &str =
    "no notifier is set for it: `askbridge config edit` sets one, and docs/notify.md says how";

fn settings(project: &Path, record: &Record) -> Option<NotifySettings> {
    let settings = settings_files::read(Some(project));
    NotifySettings::of(&settings, Some(project))
        .map(|notify| ruled(notify, settings.rules(), record, &RealFiles))
}

fn terminal(options: &NotifyOptions) -> Option<PathBuf> {
    if options.background { options.terminal.clone() } else { own_terminal() }
}

/// Returns the terminal that stderr is.
pub(super) fn own_terminal() -> Option<PathBuf> {
    let name = io::stderr().is_terminal().then(|| rustix::termios::ttyname(io::stderr(), Vec::new()).ok());
    name.flatten().and_then(|name| name.into_string().ok()).map(PathBuf::from)
}

/// Says why nothing is done. A bridge need not know.
fn done(options: &NotifyOptions, why: &str, code: u8) -> u8 {
    if !options.background {
        say(&format!("{}: {why}", options.id));
    }
    code
}
