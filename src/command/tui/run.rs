//! `askbridge tui`: runs the full-screen inbox with its terminal, the bridges of the machine, and the clock. At the
//! start it asks the bridges for the questions that were settled last.
//! Handling events is left to `handle.rs`, drawing to `view.rs`.

use std::{
    env,
    io::{self, IsTerminal},
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use askbridge_control::{
    inbox::{Follower, Inbox},
    join::{Gaps, JoinedInbox},
    rpc::deferrals::Deferrals,
};
use askbridge_core::desk::{Record, Submission};
use askbridge_os::{exit, keyboard::drain, limits, signals::Signals};
use askbridge_settings::keys;
use clap::Args;
use crossterm::event::Event as Input;
use futures::{FutureExt, StreamExt};
use jiff::Zoned;
use ratatui::{Terminal, backend::CrosstermBackend};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    bursts::{is_line_break, ready, together},
    calls::{self, Pictures},
    event::{Effect, Key, TuiEvent},
    graphics::{Graphics, without_replies},
    inputs::{Inputs, cell},
    painter::Painter,
    screen::{self, Screen},
    sending::{self, Submissions},
    settled::Asked,
    state::{App, Modal},
    theme::Theme,
    world::world,
};
use crate::{
    command::{CommandError, Context, reach::MachineArgs, until::until},
    present::{attention::TerminalKind, listing},
};

/// The interval at which the screen is redrawn, to update the times on it.
const REDRAW: Duration = Duration::from_secs(1);
/// The interval at which the bridges are notified that the user is present.
const WATCHED: Duration = Duration::from_secs(10);
/// How long a question that appeared by itself takes no decision: a person needs about this long to notice it.
const PAUSE: Duration = Duration::from_secs(1);
/// The maximum number of inputs before the screen is redrawn: without bracketed paste, a pasted text is many keys.
const INPUTS: usize = 512;

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

/// Shows the inbox until the person leaves it, or until a signal ends it.
pub async fn tui(context: &Context, args: &TuiArgs) -> Result<u8, CommandError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        let told = "`tui` needs a terminal: `askbridge list` and `askbridge answer` work without one";
        return Err(CommandError::Usage(told.to_owned()));
    }
    let joined = JoinedInbox::open_soon(args.machine.reach_to_follow(context).await?).await?;
    // Signals are caught before the terminal is taken, so that the terminal is restored after each of them.
    let mut signals = Signals::catch()?;
    let deferrals = Deferrals::new(context.settings.get(&keys::SEND_UNDO).0);
    let mut session = Session::begin(&joined, &deferrals, args)?;
    let mut following = pin!(sending::follow(&joined, &deferrals).fuse());
    let ended = tokio::select! {
        followed = &mut following => Ok(followed.map(|()| exit::OK)?),
        ended = session.run() => Ok(ended.map(|()| exit::OK)?),
        code = signals.next() => Ok(code),
    };
    drop(session);
    sending::leave(following, &deferrals).await;
    // The key that quits may begin a line for another program: the rest of it would run in the shell.
    drain(limits::QUIET);
    ended
}

/// The inbox on its terminal.
struct Session<'a> {
    joined: &'a JoinedInbox,
    app: App,
    /// Whether colours are shown.
    colour: bool,
    painter: Painter,
    inputs: Inputs,
    /// How the terminal shows images, once that is known.
    graphics: Option<Graphics>,
    pictures: Pictures,
    stops: Signal,
    follower: Follower,
    left_out: watch::Receiver<Gaps>,
    /// What was asked of the bridges, each with its result.
    calls: JoinSet<TuiEvent>,
    submissions: Submissions<'a>,
    asked: Asked,
    remembered: Vec<Arc<Record>>,
    /// Whether the terminal said that it has the focus.
    has_focus: bool,
    /// When the bridges were last told that the person is there.
    watched: Option<Instant>,
    /// The end of the pause in which the person reads a question that appeared by itself.
    read: Option<Instant>,
    /// When a key was pressed last.
    pressed: Option<Instant>,
    /// When the keyboard is quiet, unless another key is pressed until then.
    quiet: Option<Instant>,
}

/// The event that the session waits for.
enum LoopEvent {
    Input(Option<io::Result<Input>>),
    Called(TuiEvent),
    Remembered(Vec<Arc<Record>>),
    World,
    Read,
    Quiet,
    Stopped,
}

impl<'a> Session<'a> {
    fn begin(joined: &'a JoinedInbox, deferrals: &Deferrals, args: &TuiArgs) -> io::Result<Self> {
        // The signal is caught before the terminal is taken, so that a stop gives it back.
        let stops = signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        let size = terminal.size()?;
        let known = TerminalKind::of(|name| env::var(name).ok());
        // An empty value does not count: https://no-color.org
        let colour = env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Ok(Session {
            joined,
            app: App::new((size.width, size.height)),
            colour,
            painter: Painter::new(Theme { colour }, terminal, Screen::enter(known, args.mouse)?),
            inputs: Inputs::new(),
            graphics: None,
            pictures: Pictures::default(),
            stops,
            follower: joined.store().follow(),
            left_out: joined.gaps(),
            calls: JoinSet::new(),
            submissions: Submissions::new(joined, deferrals),
            asked: Asked::default(),
            remembered: Vec::new(),
            has_focus: false,
            watched: None,
            read: None,
            pressed: None,
            quiet: None,
        })
    }

    async fn run(&mut self) -> io::Result<()> {
        self.renew();
        loop {
            self.draw()?;
            self.watch();
            let effects = match self.next().await {
                LoopEvent::Input(None) => return Ok(()),
                LoopEvent::Input(Some(input)) => self.input(input?).await?,
                LoopEvent::Called(event) => {
                    let mut effects = self.app.handle(event);
                    // The store has the outcome already, but the follower returns it only after a debounce.
                    effects.extend(self.renew());
                    effects
                }
                LoopEvent::Read => {
                    self.read = None;
                    self.app.handle(TuiEvent::Read)
                }
                LoopEvent::Quiet => {
                    self.quiet = None;
                    self.app.handle(TuiEvent::Quiet)
                }
                LoopEvent::Remembered(records) => {
                    self.remembered = records;
                    self.renew()
                }
                LoopEvent::World => self.renew(),
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
            let joined = self.joined.clone();
            // A bridge that does not reply must not delay the keys.
            tokio::spawn(async move { joined.watch().await });
        }
    }

    async fn next(&mut self) -> LoopEvent {
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        let (unread, unquiet) = (self.read.map(left), self.quiet.map(left));
        tokio::select! {
            input = self.inputs.next() => LoopEvent::Input(input),
            // A call that was given up has no result.
            Some(called) = self.calls.join_next() => called.map_or(LoopEvent::World, LoopEvent::Called),
            Some(submitted) = self.submissions.next() => LoopEvent::Called(submitted),
            Some(Ok(records)) = self.asked.replies.join_next() => LoopEvent::Remembered(records),
            Some(_) = self.follower.next() => LoopEvent::World,
            Ok(()) = self.left_out.changed() => LoopEvent::World,
            Some(()) = self.stops.recv() => LoopEvent::Stopped,
            () = sleep(unread.unwrap_or_default()), if unread.is_some() => LoopEvent::Read,
            () = sleep(unquiet.unwrap_or_default()), if unquiet.is_some() => LoopEvent::Quiet,
            () = sleep(REDRAW) => LoopEvent::World,
        }
    }

    /// Handles an input, and the inputs after it that are ready.
    async fn input(&mut self, first: Input) -> io::Result<Vec<Effect>> {
        let mut effects = Vec::new();
        let (was_confirming, now) = (self.is_confirming(), Instant::now());
        let is_burst = |before: Instant| now.duration_since(before) < limits::BURST;
        self.app.is_burst = self.pressed.replace(now).is_some_and(is_burst);
        self.quiet = Some(now + limits::QUIET);
        for input in together(without_replies(self.arrived(first).await?)) {
            effects.extend(self.take(input)?);
            if self.is_confirming() && !was_confirming {
                effects.extend(self.drop_typed_ahead().await?);
                break;
            }
        }
        Ok(effects)
    }

    /// Returns the inputs that arrived together. Lines of a paste that is not marked may come in pieces.
    async fn arrived(&mut self, first: Input) -> io::Result<Vec<Input>> {
        let mut inputs = vec![first];
        while inputs.len() < INPUTS {
            let next = match inputs.iter().any(is_line_break) {
                true => timeout(limits::BURST, self.inputs.next()).await.ok().flatten(),
                false => ready(&mut self.inputs).await,
            };
            match next.transpose()? {
                Some(next) => inputs.push(next),
                None => break,
            }
        }
        Ok(inputs)
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
        while let Ok(Some(input)) = timeout(limits::QUIET, self.inputs.next()).await {
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
        matches!(
            self.app.modal,
            Some(Modal::Confirm(..) | Modal::Empty(_) | Modal::Together(_) | Modal::Rule(..))
        )
    }

    /// Stops the process as Ctrl-Z does, and draws everything again once it is continued.
    fn stop(&mut self) -> io::Result<Vec<Effect>> {
        self.painter.stop()?;
        let mut effects = self.renew();
        effects.extend(self.app.fit_image());
        Ok(effects)
    }

    /// Carries out the effects; returns whether the session ends.
    fn act(&mut self, effects: Vec<Effect>) -> io::Result<bool> {
        for effect in effects {
            let Some(effect) = calls::begin(effect, self.joined, &mut self.calls) else { continue };
            match effect {
                Effect::Quit => return Ok(true),
                Effect::Pause => self.read = Some(Instant::now() + PAUSE),
                // The terminal has the focus, so its user sees the screen and needs no notification.
                Effect::Tell(_) if self.has_focus => {}
                Effect::Tell(text) => self.painter.screen.tell(&text)?,
                Effect::TakeBack(id) => self.submissions.take_back(&id),
                Effect::Submit(id, submission) => {
                    if self.submissions.send(id.clone(), submission, None) {
                        let effects = self.app.handle(TuiEvent::Deferred(vec![id]));
                        self.act(effects)?;
                    }
                }
                Effect::Together(submissions) => {
                    let waiting = self.submissions.send_together(submissions);
                    let effects = self.app.handle(TuiEvent::Deferred(waiting));
                    self.act(effects)?;
                }
                Effect::Later(id, typed) => match until(&typed, &Zoned::now()) {
                    Ok(time) => drop(self.submissions.send(id, Submission::Later(time), None)),
                    Err(why) => drop(self.app.handle(TuiEvent::Refused(format!("{typed:?}: {why}")))),
                },
                Effect::Picture(wanted) => {
                    let (graphics, typed) = self.graphics()?;
                    self.pictures.begin(self.joined.clone(), wanted, graphics, &mut self.calls);
                    for input in typed {
                        let effects = self.take(input)?;
                        if self.act(effects)? {
                            return Ok(true);
                        }
                    }
                }
                // `calls.rs` has done it.
                Effect::Propose(_) | Effect::Write(..) | Effect::Lead(_) => {}
            }
        }
        Ok(false)
    }

    /// Returns how the terminal shows images, and what was typed while it was asked. It is asked when the first image is to be
    /// shown, and again unless it replied.
    fn graphics(&mut self) -> io::Result<(Graphics, Vec<Input>)> {
        if let Some(known) = self.graphics {
            return Ok((known, Vec::new()));
        }
        if self.painter.screen.is_plain() {
            return Ok((Graphics::Nothing, Vec::new()));
        }
        // The person waits meanwhile.
        self.painter.draw(&mut self.app)?;
        let replies = self.inputs.query()?;
        // A terminal that does not know the query may have printed it.
        self.painter.clear()?;
        let graphics = Graphics::of(&replies, cell(), self.colour, |name| env::var(name).ok());
        self.graphics = Some(graphics).filter(|_| replies.is_whole);
        Ok((graphics, replies.typed))
    }

    fn draw(&mut self) -> io::Result<()> {
        let effects = self.painter.draw(&mut self.app)?;
        self.act(effects).map(drop)
    }

    /// Shows the questions as they are now.
    fn renew(&mut self) -> Vec<Effect> {
        let gaps = listing::gap_lines(&self.left_out.borrow_and_update());
        let world = world(self.joined, &mut self.asked, &self.remembered, gaps);
        self.app.handle(TuiEvent::World(world))
    }
}
