//! `askbridge notify`: notifies the user that a question waits, and ends when the question is settled. For `askbridge
//! doctor
//! --notify`, it sends a test through each notifier that is set up.
//! Deciding when and how to notify is left to `notify`.

use std::{
    env,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use askbridge_control::inbox::{Inbox, real_files::RealFiles};
use askbridge_core::desk::{Record, State};
use askbridge_os::{exit, signals::Signals};
use askbridge_settings::NotifySettings;
use clap::Args;
use rustix::process::setsid;

use super::{
    CommandError, Context,
    reach::MachineArgs,
    runner::{look_up, say},
};
use crate::{
    notify::{
        Plan, ruled,
        ways::{self, BUSY, NotifierStart, follow, take},
    },
    present::{
        bridges::Bridges,
        doctor::{Level, Report},
    },
};

/// The notifiers, and the exit codes of `askbridge notify`.
const HELP: &str = "\
A bridge starts it for each question that waits longer than the delay. It ends when the question is settled, and \
withdraws its notifications. The table [notify] of the settings says how you are notified: on the desktop, by a \
sound, a command, a webhook, your phone by ntfy, the terminal. `askbridge doctor --notify` tries out each of \
them.

  askbridge config set notify.desktop.enabled true
  askbridge notify 3f1c-2 --now

Exit codes:
  0    you were notified, or the question no longer waits
  2    the command line was not understood
  3    there is no such question, or the ID is ambiguous
  6    the bridge cannot be reached
  125  no notification could be sent";

/// Options of `askbridge notify`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct NotifyArgs {
    /// The question's ID
    pub id: String,

    /// Notify at once: ignore the delay, quiet hours and your presence
    #[arg(long)]
    pub now: bool,

    /// Print only failures on stderr, where a bridge reads them
    #[arg(long, hide = true)]
    pub background: bool,

    /// The terminal of the bridge
    #[arg(long, hide = true, value_name = "PATH")]
    pub terminal: Option<PathBuf>,
}

/// Notifies the user, and withdraws the notification once the question is settled.
pub async fn notify(context: &Context, args: &NotifyArgs) -> Result<u8, CommandError> {
    if args.background {
        // Ctrl-C in the terminal of the bridge must not end this process. `setsid` fails for the leader of a process
        // group, which a bridge does not start.
        setsid().ok();
    }
    tell(context, args).await
}

async fn tell(context: &Context, args: &NotifyArgs) -> Result<u8, CommandError> {
    let (joined, _, record) = look_up(context, &args.id, &MachineArgs::default()).await?;
    if record.state != State::Open {
        return Ok(done(args, "the question no longer waits", exit::OK));
    }
    // Each notifier is a process of its own, so their number is limited.
    let Some(slot) = take(context.places()?.own())? else {
        if args.background {
            // The bridge recognises this line. If the bridge is gone, the failed write does not matter.
            drop(writeln!(io::stderr(), "{BUSY}"));
            return Ok(exit::OK);
        }
        return Ok(done(args, "the maximum number of notifiers runs already", exit::FAILED));
    };
    let bridges = Bridges::new(joined.status());
    let folder = bridges.status(&record).map(|status| status.folder.clone()).unwrap_or_default();
    let project = PathBuf::from(record.question.project.as_deref().unwrap_or(&folder));
    let Some(settings) = settings(context, &project, &record) else {
        return Ok(done(args, "the settings switch off notifications of this project", exit::OK));
    };
    let terminal = terminal(args);
    let Some(plan) = Plan::new(&settings, &record.question, terminal.is_some()) else {
        return Ok(done(args, NOTHING, exit::OK));
    };
    let plan = if args.now { plan.now() } else { plan };
    // The bridge's clock said when the question opened, so it also says how long ago that was.
    let age = bridges.now(&record).since(record.opened_at);
    let says_all = !args.background;
    let notifying = NotifierStart { joined, record, age, folder, settings, plan, terminal, slot, says_all };
    let mut signals = Signals::catch()?;
    let told = follow(notifying, async move { signals.next().await }).await;
    // A bridge reads on stderr what failed, so the exit code is for a person.
    Ok(if told > 0 || args.background { exit::OK } else { exit::FAILED })
}

/// The message if no notifier is set up.
const NOTHING: &str =
    "no notifier is set up: `askbridge config edit` opens the settings, and docs/notify.md says how";

fn settings(context: &Context, project: &Path, record: &Record) -> Option<NotifySettings> {
    let settings = context.settings_of(Some(project));
    NotifySettings::of(&settings, Some(project))
        .map(|notify| ruled(notify, settings.rules(), record, &RealFiles))
}

fn terminal(args: &NotifyArgs) -> Option<PathBuf> {
    if args.background { args.terminal.clone() } else { own_terminal() }
}

/// Returns the path of the terminal that stderr writes to.
pub(super) fn own_terminal() -> Option<PathBuf> {
    let name = io::stderr().is_terminal().then(|| rustix::termios::ttyname(io::stderr(), Vec::new()).ok());
    name.flatten().and_then(|name| name.into_string().ok()).map(PathBuf::from)
}

/// Prints why no notification is sent, unless a bridge has started this command.
fn done(args: &NotifyArgs, why: &str, code: u8) -> u8 {
    if !args.background {
        say(&format!("{}: {why}", args.id));
    }
    code
}

const NOTIFIERS: &str = "notifiers";

/// Sends a test through each notifier, and reports the results.
pub(super) async fn try_out(context: &Context, report: &mut Report) {
    let folder = env::current_dir().ok();
    let settings = NotifySettings::of(&context.settings_of(folder.as_deref()), folder.as_deref());
    let Some(settings) = settings else {
        return report.add(NOTIFIERS, Level::Note, "notifications of this project are switched off", None);
    };
    let trials = ways::try_out(settings, own_terminal()).await;
    if trials.is_empty() {
        report.add(NOTIFIERS, Level::Note, "no notifier is set, so no test was sent", None);
    }
    for trial in trials {
        match trial.told {
            Ok(()) => report.add(NOTIFIERS, Level::Ok, format!("{}: the test was sent", trial.way), None),
            Err(error) => {
                let advice = format!("correct it in [notify.{}]: `askbridge config edit`", trial.way);
                report.add(NOTIFIERS, Level::Problem, format!("{}: {error}", trial.way), Some(&advice));
            }
        }
    }
}
