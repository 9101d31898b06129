//! One call of a hook of Claude Code: from its input on stdin to its output.
//! The dialog's own decision is left to `ends.rs`.

use std::{
    env,
    fs::File,
    future::pending,
    io::{self, Read, Write},
    os::unix::process::parent_id,
    time::Duration,
};

use askbridge_control::inbox::QuestionHandle;
use askbridge_core::{
    desk::Settlement,
    dialect::claude::{HookCall, HookEvent, HookReply},
    question::{Outcome, Provenance, Purpose, Question, Reason, Responder},
};
use askbridge_os::signals::{Signals, runtime};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::{
    ends::{self, CountedDecision, DialogWatcher, Spool, has_ended},
    led,
};
use crate::{AgentIdentity, AgentInbox, AgentInboxes, limits};

/// The agent's name, as responders see it.
const AGENT: &str = "Claude Code";
/// The interval at which the hook looks for the dialog's own decision, which it must see within a second.
const LOOK: Duration = Duration::from_millis(200);
/// The time that the transcript has to show whether a decision counted. It shows that at once, but a busy machine may
/// be slow.
const CONFIRM: Duration = Duration::from_secs(5);
/// The same time for a permission: an allowed tool may run for long, and the hook must tell the responder within a
/// second.
const CONFIRM_PERMISSION: Duration = Duration::from_millis(900);
/// The interval at which the hook reads the transcript after a decision. It is short because the responder waits.
const CONFIRM_LOOK: Duration = Duration::from_millis(20);

/// The settings of a hook.
#[derive(Clone, Debug)]
pub struct HookSettings {
    /// Whether the hook asks at all.
    pub is_on: bool,
    /// Whether permissions are asked as well.
    pub permissions: bool,
    /// How long the hook holds back the decision of a responder, while the person may be typing at the dialog.
    pub grace: Duration,
    /// How long the hook waits while it locks the dialog.
    pub pass_after: Duration,
    /// Whether a responder is told only when the transcript shows whether its decision counted. Claude Code takes a
    /// decision when the process that it waits for has ended, so it must wait for another process than this one.
    pub confirms: bool,
}

/// Runs one call. There is no error: if anything fails, the dialog decides.
pub fn run(settings: &HookSettings, hosts: &impl AgentInboxes) {
    if !settings.is_on {
        return;
    }
    let mut stdin = Vec::new();
    // One byte more than the limit tells an input that is too long from one that fits.
    let most = limits::HOOK + 1;
    let read = io::stdin().lock().take(most as u64).read_to_end(&mut stdin);
    let Some(call) = read.ok().filter(|_| stdin.len() < most).and_then(|_| HookCall::read(&stdin)) else {
        tracing::debug!("a call of a hook is not understood");
        return;
    };
    match &call.event {
        HookEvent::Permission { .. } | HookEvent::Elicitation(_) => ask(&call, settings, hosts),
        HookEvent::Used { .. } | HookEvent::Stopped | HookEvent::SessionEnded => ends::tell(&call),
        _ => {}
    }
}

fn ask(call: &HookCall, settings: &HookSettings, hosts: &impl AgentInboxes) {
    let Some((question, reply)) = call.question(&format!("hook-{}", std::process::id())) else { return };
    if question.purpose == Purpose::Permission && !settings.permissions {
        return;
    }
    let done = runtime().map_err(|error| error.to_string()).and_then(|runtime| {
        runtime.block_on(async {
            // Signals are caught before the socket is bound, so that no signal leaves the socket behind.
            let signals = Signals::catch().map_err(|error| error.to_string())?;
            WaitingQuestion::new(call, settings, hosts, question, reply)?.run(signals).await;
            Ok(())
        })
    });
    if let Err(error) = done {
        tracing::warn!(error, "the question is left to the dialog");
    }
}

/// A question that waits beside its dialog.
struct WaitingQuestion {
    asked: QuestionHandle,
    question: Question,
    reply: HookReply,
    ends: DialogWatcher,
    /// The time until which the hook holds back the decision of a responder.
    held_until: Instant,
    confirms: bool,
    agent: u32,
    /// The inbox that serves the question until it is dropped.
    _hosted: AgentInbox,
}

/// How the wait ended.
enum End {
    /// A responder decided.
    Decided(Settlement),
    /// The dialog decided, or nothing can be decided any more.
    Over(Outcome, Provenance),
}

impl WaitingQuestion {
    fn new(
        call: &HookCall,
        settings: &HookSettings,
        hosts: &impl AgentInboxes,
        question: Question,
        reply: HookReply,
    ) -> Result<Self, String> {
        let folder = call.folder.as_deref().unwrap_or_default().into();
        let agent = agent();
        // Ignore the error: the transcript and the status show the end of a dialog as well.
        let spool = Spool::new(&call.session).ok();
        // The watcher is created before the question opens: it skips lines that exist already, and must not skip the
        // end of this dialog.
        let ends = DialogWatcher::new(call, question.clone(), agent, spool);
        let hosted = hosts.host(AgentIdentity { agent: AGENT.to_owned(), folder, pid: Some(agent) });
        let hosted = hosted.map_err(|error| error.to_string())?;
        let is_locked = call.locks_the_dialog();
        // At its deadline, a question ends without a decision, so that the dialog opens.
        let timeout = is_locked.then_some(settings.pass_after).or(question.timeout);
        let asking = Question { agent: Some(AGENT.into()), timeout, ..question.clone() };
        // A locked dialog does not show the question, so the desk must know that only responders can answer.
        let context = led::before(call, ends.call());
        let asked =
            hosted.desk.open_after(context, asking, is_locked, 0).map_err(|error| error.to_string())?;
        let now = Instant::now();
        Ok(WaitingQuestion {
            asked,
            question,
            reply,
            ends,
            held_until: if is_locked { now } else { now + settings.grace },
            // Nobody can decide at a locked dialog, so there is nothing to confirm.
            confirms: settings.confirms && !is_locked,
            agent,
            _hosted: hosted,
        })
    }

    async fn run(mut self, mut signals: Signals) {
        let end = self.wait(&mut signals).await;
        match end {
            End::Over(outcome, by) => self.asked.end(outcome, by),
            End::Decided(settlement) => {
                let remark = settlement.remark.as_deref();
                match self.reply.write(&self.question, &settlement.outcome, remark) {
                    Some(output) if print(&output).is_err() => self.asked.undeliverable(),
                    Some(_) if self.confirms && self.ends.is_written() => self.confirm().await,
                    // Without an output, the dialog stays: the question ended without a decision of the user.
                    _ => self.asked.delivered(),
                }
            }
        }
    }

    /// Waits until the transcript says whether the decision that was printed counted, and tells the responder.
    async fn confirm(mut self) {
        let is_permission = self.question.purpose == Purpose::Permission;
        let until = Instant::now() + if is_permission { CONFIRM_PERMISSION } else { CONFIRM };
        let mut looks = interval(CONFIRM_LOOK);
        loop {
            looks.tick().await;
            let is_over = Instant::now() >= until;
            match self.ends.counted() {
                Some(CountedDecision::Dialog(outcome)) => return self.asked.end(outcome, dialog()),
                Some(CountedDecision::Printed) => return self.asked.delivered(),
                // The allowed tool runs, so the transcript has no result yet.
                None if is_over && is_permission => return self.asked.delivered(),
                None if is_over => return self.asked.undeliverable(),
                None => {}
            }
        }
    }

    async fn wait(&mut self, signals: &mut Signals) -> End {
        let mut decided = None;
        let mut looks = interval(LOOK);
        // After a pause of the machine, one look is enough.
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let due = at(decided.is_some().then_some(self.held_until));
            tokio::select! {
                // Signals and looks come first, so that no deadline or decision overtakes an end of the dialog.
                biased;
                _ = signals.next() => return self.ended(),
                _ = looks.tick() => {
                    if let Some(outcome) = self.ends.look() {
                        return End::Over(outcome, dialog());
                    }
                    // Claude Code cannot end its hooks if it was killed.
                    if has_ended(self.agent) {
                        return End::Over(Outcome::Rejected(Reason::AgentGone), Provenance::bridge());
                    }
                }
                // A last look: the dialog may have been answered while the decision was held back.
                () = due => return match (self.ends.look(), decided) {
                    (None, Some(settlement)) => End::Decided(settlement),
                    (outcome, _) => End::Over(outcome.unwrap_or(Outcome::Failed), dialog()),
                },
                settlement = self.asked.decided(), if decided.is_none() => decided = Some(settlement),
            }
        }
    }

    /// Claude Code ends a hook whose dialog was dismissed, and all hooks when it ends itself.
    fn ended(&mut self) -> End {
        match self.ends.look() {
            Some(outcome) => End::Over(outcome, dialog()),
            None => End::Over(Outcome::Rejected(Reason::Cancelled), Provenance::bridge()),
        }
    }
}

fn dialog() -> Provenance {
    Provenance { responder: Responder::Dialog, name: Some(AGENT.to_owned()) }
}

async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}

/// Returns the process of Claude Code. The command of the plugin names it, because a shell is between Claude Code and
/// this hook.
fn agent() -> u32 {
    let named = env::var("CLAUDE_PID").ok().and_then(|pid| pid.parse().ok());
    named.unwrap_or_else(parent_id)
}

fn print(output: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{output}")?;
    stdout.flush()?;
    // The reader waits for the end of the output, but this process may stay to confirm the decision.
    Ok(rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?)
}
