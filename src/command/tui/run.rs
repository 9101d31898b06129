//! `askbridge tui`: runs the full-screen inbox with its terminal, the bridges of the machine, and the clock. At the
//! start it asks the bridges for the questions that were settled last.
//! Handling events is left to `handle.rs`, drawing to `view.rs`.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    env,
    future::poll_fn,
    io::{self, IsTerminal, Stdout},
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use askbridge_core::{
    desk::{BridgeName, QuestionId, Record, Refusal},
    question::{Provenance, Responder},
};
use askbridge_os::{exit, signals::Signals};
use clap::Args;
use crossterm::event::{Event as Input, EventStream};
use futures::{Stream, StreamExt};
use ratatui::{Terminal, backend::CrosstermBackend, layout::Rect};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    event::{Effect, InboxState, Key, QuestionItem, TuiEvent},
    repaint::{self, Repainter},
    screen::{self, Screen},
    state::{App, Modal},
    theme::Theme,
    view::draw,
};
use crate::{
    command::{CommandError, inbox::SERVER, reach::MachineArgs},
    inbox::{BridgeStatus, Follower, Inbox},
    machine::{Gaps, Machine},
    present::{attention::TerminalKind, bridges::Bridges, listing},
};

/// The interval at which the screen is redrawn, to update the times on it.
const REDRAW: Duration = Duration::from_secs(1);
/// The settled questions that are listed.
const SETTLED: usize = 20;
/// The interval at which the bridges are notified that the user is present.
const WATCHED: Duration = Duration::from_secs(10);
/// How long a question that appeared by itself takes no decision: a person needs about this long to notice it.
const PAUSE: Duration = Duration::from_secs(1);
/// The maximum number of inputs before the screen is redrawn: without bracketed paste, a pasted text is many keys.
const INPUTS: usize = 512;

/// How long no key may come before a confirmation is shown. Keys that were typed ahead come at once, unless the machine
/// is busy.
const AHEAD: Duration = Duration::from_millis(200);

/// The keys of `askbridge tui`, and its exit codes.
const HELP: &str = "\
Keys: j and k move between questions, Enter opens one, digits choose, Ctrl+S sends, r rejects, Esc \
goes back, q quits, and ? shows all of them. NO_COLOR switches colours off.

Exit codes:
  0        you quit
  2        the command line was not understood, or there is no terminal
  125      the command itself failed
  128 + N  signal N ended the command";

/// Options of `askbridge tui`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct TuiArgs {
    /// Take clicks and the wheel of the mouse; hold Shift to select text then
    #[arg(long)]
    pub mouse: bool,

    /// The machine that is asked.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// The result of a submission.
type SubmissionResult = (QuestionId, Result<Arc<Record>, Refusal>);

/// Shows the inbox until the person leaves it, or until a signal ends it.
pub async fn tui(args: &TuiArgs) -> Result<u8, CommandError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let told = "`tui` needs a terminal: `askbridge list` and `askbridge answer` work without one";
        return Err(CommandError::Usage(told.to_owned()));
    }
    let machine = Machine::open_soon(args.machine.reach_to_follow().await?).await?;
    // Signals are caught before the terminal is taken, so that the terminal is restored after each of them.
    let mut signals = Signals::catch()?;
    let mut session = Session::begin(&machine, args)?;
    tokio::select! {
        followed = machine.follow() => Ok(followed.map(|()| exit::OK)?),
        ended = session.run() => Ok(ended.map(|()| exit::OK)?),
        code = signals.next() => Ok(code),
    }
}

/// The inbox on its terminal.
struct Session<'a> {
    machine: &'a Machine,
    app: App,
    theme: Theme,
    // The fields are dropped in this order: drawing ends before the terminal is given back.
    terminal: Terminal<CrosstermBackend<Stdout>>,
    screen: Screen,
    repainter: Repainter,
    inputs: EventStream,
    stops: Signal,
    follower: Follower,
    left_out: watch::Receiver<Gaps>,
    submissions: JoinSet<SubmissionResult>,
    /// The bridges that were asked for their settled questions, and their replies.
    asked: Vec<BridgeName>,
    replies: JoinSet<Vec<Arc<Record>>>,
    remembered: Vec<Arc<Record>>,
    /// Whether the terminal said that it has the focus.
    has_focus: bool,
    /// The number in the title.
    titled: Option<usize>,
    /// When the bridges were last told that the person is there.
    watched: Option<Instant>,
    /// The end of the pause in which the person reads a question that appeared by itself.
    read: Option<Instant>,
}

/// The event that the session waits for.
enum LoopEvent {
    Input(Option<io::Result<Input>>),
    Submitted(SubmissionResult),
    Remembered(Vec<Arc<Record>>),
    World,
    Read,
    Stopped,
}

impl<'a> Session<'a> {
    fn begin(machine: &'a Machine, args: &TuiArgs) -> io::Result<Self> {
        // The signal is caught before the terminal is taken, so that a stop gives it back.
        let stops = signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let size = terminal.size()?;
        let known = TerminalKind::of(|name| env::var(name).ok());
        // An empty value does not count: https://no-color.org
        let colour = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Ok(Session {
            machine,
            app: App::new((size.width, size.height)),
            theme: Theme { colour },
            terminal,
            screen: Screen::enter(known, args.mouse)?,
            repainter: Repainter::default(),
            inputs: EventStream::new(),
            stops,
            follower: machine.store().follow(),
            left_out: machine.gaps(),
            submissions: JoinSet::new(),
            asked: Vec::new(),
            replies: JoinSet::new(),
            remembered: Vec::new(),
            has_focus: false,
            titled: None,
            watched: None,
            read: None,
        })
    }

    async fn run(&mut self) -> io::Result<()> {
        let world = self.world();
        self.app.handle(TuiEvent::World(world));
        loop {
            self.draw()?;
            self.watch();
            let effects = match self.next().await {
                LoopEvent::Input(None) => return Ok(()),
                LoopEvent::Input(Some(input)) => self.input(input?).await?,
                LoopEvent::Submitted((id, result)) => {
                    let mut effects = self.app.handle(TuiEvent::Submitted(id, result));
                    // The store has the outcome already, but the follower returns it only after a debounce.
                    let world = self.world();
                    effects.extend(self.app.handle(TuiEvent::World(world)));
                    effects
                }
                LoopEvent::Read => {
                    self.read = None;
                    self.app.handle(TuiEvent::Read)
                }
                LoopEvent::Remembered(records) => {
                    self.remembered = records;
                    let world = self.world();
                    self.app.handle(TuiEvent::World(world))
                }
                LoopEvent::World => {
                    let world = self.world();
                    self.app.handle(TuiEvent::World(world))
                }
                LoopEvent::Stopped => self.stop()?,
            };
            if self.act(effects)? {
                return Ok(());
            }
        }
    }

    /// Tells the bridges that the person is there, while the terminal has the focus: then notifiers stay silent.
    fn watch(&mut self) {
        let is_fresh = self.watched.is_some_and(|at| at.elapsed() < WATCHED);
        if self.has_focus && !is_fresh {
            self.watched = Some(Instant::now());
            let machine = self.machine.clone();
            // A bridge that does not reply must not delay the keys.
            tokio::spawn(async move { machine.watch().await });
        }
    }

    async fn next(&mut self) -> LoopEvent {
        let unread = self.read.map(|at| at.saturating_duration_since(Instant::now()));
        tokio::select! {
            input = self.inputs.next() => LoopEvent::Input(input),
            Some(Ok(submitted)) = self.submissions.join_next() => LoopEvent::Submitted(submitted),
            Some(Ok(records)) = self.replies.join_next() => LoopEvent::Remembered(records),
            Some(_) = self.follower.next() => LoopEvent::World,
            Ok(()) = self.left_out.changed() => LoopEvent::World,
            Some(()) = self.stops.recv() => LoopEvent::Stopped,
            () = sleep(unread.unwrap_or_default()), if unread.is_some() => LoopEvent::Read,
            () = sleep(REDRAW) => LoopEvent::World,
        }
    }

    /// Handles an input, and the inputs after it that are ready.
    async fn input(&mut self, first: Input) -> io::Result<Vec<Effect>> {
        let (mut next, mut effects) = (Some(first), Vec::new());
        let was_confirming = self.is_confirming();
        for _ in 0..INPUTS {
            let Some(input) = next else { break };
            effects.extend(self.take(input)?);
            if self.is_confirming() && !was_confirming {
                effects.extend(self.drop_typed_ahead().await?);
                break;
            }
            next = ready(&mut self.inputs).await.transpose()?;
        }
        Ok(effects)
    }

    fn take(&mut self, input: Input) -> io::Result<Vec<Effect>> {
        match input {
            Input::FocusGained => self.has_focus = true,
            Input::FocusLost => self.has_focus = false,
            input => match screen::event(input) {
                Some(TuiEvent::Key(Key::Control('z'))) => return self.stop(),
                Some(event) => return Ok(self.app.handle(event)),
                None => {}
            },
        }
        Ok(Vec::new())
    }

    /// Drops the keys that were typed before the person could see what they confirm (I12). It waits for them: one write of
    /// a terminal may be read in pieces, and late on a busy machine.
    async fn drop_typed_ahead(&mut self) -> io::Result<Vec<Effect>> {
        let mut effects = Vec::new();
        while let Ok(Some(input)) = timeout(AHEAD, self.inputs.next()).await {
            let input = input?;
            let is_interrupt =
                matches!(screen::event(input.clone()), Some(TuiEvent::Key(Key::Control('c' | 'z'))));
            if is_interrupt || !matches!(input, Input::Key(_) | Input::Paste(_)) {
                effects.extend(self.take(input)?);
            }
        }
        Ok(effects)
    }

    fn is_confirming(&self) -> bool {
        matches!(self.app.modal, Some(Modal::Confirm(..)))
    }

    /// Stops the process as Ctrl-Z does, and draws everything again once it is continued.
    fn stop(&mut self) -> io::Result<Vec<Effect>> {
        self.screen.stop()?;
        // `resize` clears the screen as well. `clear` would ask the terminal where the cursor is, and wait for the
        // reply.
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))?;
        (self.titled, self.repainter) = (None, Repainter::default());
        let world = self.world();
        Ok(self.app.handle(TuiEvent::World(world)))
    }

    /// Carries out the effects; returns whether the session ends.
    fn act(&mut self, effects: Vec<Effect>) -> io::Result<bool> {
        for effect in effects {
            match effect {
                Effect::Quit => return Ok(true),
                Effect::Pause => self.read = Some(Instant::now() + PAUSE),
                // The terminal has the focus, so its user sees the screen and needs no notification.
                Effect::Tell(_) if self.has_focus => {}
                Effect::Tell(text) => self.screen.tell(&text)?,
                Effect::Submit(id, submission) => {
                    let machine = self.machine.clone();
                    self.submissions.spawn(async move {
                        let result = machine.submit(&id, submission, by()).await;
                        (id, result)
                    });
                }
            }
        }
        Ok(false)
    }

    fn draw(&mut self) -> io::Result<()> {
        let open = self.app.world.open.len();
        if self.titled != Some(open) {
            self.screen.title(open)?;
            self.titled = Some(open);
        }
        let size = self.terminal.size()?;
        if (size.width, size.height) != self.app.size {
            // The terminal paints the whole screen now, so what the repainter knows of it is stale.
            self.repainter = Repainter::default();
            self.app.handle(TuiEvent::Resize(size.width, size.height));
        }
        let drawn = self.terminal.draw(|frame| draw(&self.app, self.theme, frame))?;
        let again = self.repainter.changed(drawn.buffer);
        repaint::paint(&again, self.terminal.backend_mut())
    }

    /// Asks each bridge once for the settled questions that it remembers. The store only has those that were settled
    /// since it began to follow the bridges.
    fn ask(&mut self, status: &[BridgeStatus]) {
        let names: Vec<_> = status.iter().map(|bridge| bridge.bridge.clone()).collect();
        // There is one round at a time: bridges that appear meanwhile are asked in the next round.
        if names.iter().any(|name| !self.asked.contains(name)) && self.replies.is_empty() {
            let machine = self.machine.clone();
            self.replies.spawn(async move { machine.settled(SETTLED).await });
            self.asked = names;
        }
    }

    fn world(&mut self) -> InboxState {
        let status = self.machine.status();
        self.ask(&status);
        // The inbox in the background has no agent.
        let count = status.iter().filter(|bridge| bridge.agent != SERVER).count();
        let bridges = Bridges::new(status);
        let item = |record: Arc<Record>| {
            let (agent, now) = (bridges.agent(&record), bridges.now(&record));
            QuestionItem { record, agent, now }
        };
        let (open, settled) = self.machine.store().read(|_, snapshot| {
            let settled: Vec<_> = snapshot.settled().rev().take(SETTLED).cloned().collect();
            (snapshot.open(), settled)
        });
        InboxState {
            open: open.into_iter().map(item).collect(),
            settled: latest(settled, &self.remembered, SETTLED).into_iter().map(item).collect(),
            gaps: listing::gap_lines(&self.left_out.borrow_and_update()),
            bridges: count,
        }
    }
}

/// Returns the next item if it is ready. Otherwise the item wakes this task: the reader of the terminal wakes only the
/// task that polled last, so a poll without a task (`now_or_never`) would leave the next key unseen until something
/// else happens.
async fn ready<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|cx| match stream.poll_next_unpin(cx) {
        Poll::Ready(item) => Poll::Ready(item),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

fn by() -> Provenance {
    let name = env::var("USER").ok().filter(|name| !name.is_empty());
    Provenance { responder: Responder::Terminal, name }
}

/// Returns the questions that were settled last, latest first. `seen` is in this order too, and wins over `remembered`
/// for the same question.
pub(super) fn latest(seen: Vec<Arc<Record>>, remembered: &[Arc<Record>], limit: usize) -> Vec<Arc<Record>> {
    let mut ids: BTreeSet<_> = seen.iter().map(|record| record.id.clone()).collect();
    let mut all = seen;
    all.extend(remembered.iter().filter(|record| ids.insert(record.id.clone())).cloned());
    let at = |record: &Arc<Record>| record.settlement.as_ref().map(|settlement| settlement.at);
    // The sort is stable: what settled in the same millisecond stays in its order.
    all.sort_by_key(|record| Reverse(at(record)));
    all.truncate(limit);
    all
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::atomic::{AtomicUsize, Ordering},
        task::{Context, Wake},
        time::Duration,
    };

    use askbridge_core::{
        desk::{QuestionId, Settlement, Timestamp},
        question::{Origin, Outcome, Provenance, Question, Reason},
    };
    use futures::channel::mpsc::channel;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_task_that_took_all_keys_is_woken_by_the_next_one() {
        let (mut sender, mut keys) = channel(8);
        let woken = Arc::new(Woken::default());
        let waker = woken.clone().into();
        let mut take = || {
            let taken = pin!(ready(&mut keys)).poll(&mut Context::from_waker(&waker));
            let Poll::Ready(key) = taken else { panic!("it waits for a key") };
            key
        };
        sender.try_send('a').expect("it is open");
        sender.try_send('b').expect("it is open");
        assert_eq!([take(), take(), take()], [Some('a'), Some('b'), None]);
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
        sender.try_send('c').expect("it is open");
        assert_eq!(woken.0.load(Ordering::Relaxed), 1, "the next key is waited for");
        assert_eq!(take(), Some('c'));
    }

    fn record(number: u64, at: u64, reason: Reason) -> Arc<Record> {
        let id: QuestionId = format!("b-{number}").parse().unwrap();
        let question = Arc::new(Question::new(Origin::Program, "q", Vec::new()));
        let at = Timestamp::default().after(Duration::from_secs(at));
        let settlement = Settlement::new(Outcome::Rejected(reason), Provenance::bridge(), at);
        Arc::new(Record::new(id, question, Timestamp::default()).settled(settlement))
    }

    #[test]
    fn each_question_is_listed_once_and_the_latest_first() {
        let seen = vec![record(5, 50, Reason::User), record(2, 20, Reason::User)];
        let remembered =
            [record(4, 40, Reason::User), record(2, 20, Reason::Cancelled), record(1, 10, Reason::User)];
        let numbers = |limit| {
            let listed = latest(seen.clone(), &remembered, limit);
            listed.iter().map(|record| record.id.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(9), [5, 4, 2, 1]);
        assert_eq!(numbers(2), [5, 4]);
        assert_eq!(latest(seen.clone(), &remembered, 9)[2], seen[1]);
    }
}
