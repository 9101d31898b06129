//! The processes and streams of one case: the command under test, the ends that the checker plays, and the puppets that stand
//! for the agent and its children. One thread moves all bytes, whenever a step waits.
//! The steps are left to `play.rs`.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::{fd::AsFd, unix::fs::symlink, unix::net::UnixListener},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::Signal,
};

use crate::{
    end::End,
    kind::Kind,
    limits,
    peer::{Peer, Surroundings},
    puppet::SOCKET,
    puppet_link::{Puppet, Role},
    step::Side,
    wire::Wire,
};

/// The name of the script that starts a puppet.
pub(crate) const SCRIPT: &str = "agent";

/// The world of one case.
pub(crate) struct Stage {
    /// The command under test.
    pub(crate) peer: Peer,
    pub(crate) wire: Wire,
    client: Option<End>,
    agent: Option<End>,
    /// The bytes of a line from which on an end reads nothing more.
    longest: usize,
    /// The agent and its children, in the order of their connections.
    puppets: Vec<Puppet>,
    listener: UnixListener,
    /// Whether the exit of the command has been seen.
    has_exited: bool,
    /// Ends every wait once it is set.
    pub(crate) stop: Arc<AtomicBool>,
}

/// What a descriptor belongs to.
#[derive(Clone, Copy)]
enum Source {
    Input(Side),
    Output(Side),
    Listener,
    Puppet(usize),
    Exit,
}

impl Stage {
    /// Starts the command. The placeholder in it becomes the path of a script that starts the puppet.
    pub(crate) fn start(kind: Kind, command: &[OsString], script: &Path, folder: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(folder.join(SOCKET))?;
        let agent = folder.join(SCRIPT);
        symlink(script, &agent)?;
        let command: Vec<_> = command.iter().map(|word| with_agent(word, kind, &agent)).collect();
        let mut wire = Wire::new();
        wire.note(format!("(start) {}", shlex_line(&command)));
        let (peer, client) = Peer::start(&command, Surroundings { kind, folder })?;
        // The lines of the cases of a bridge are longer.
        let longest = if kind.is_between() { usize::MAX } else { limits::MESSAGE };
        let client = client.map(|end| end.up_to(longest));
        let (agent, puppets, stop) = (None, Vec::new(), Arc::default());
        Ok(Self { peer, wire, client, agent, longest, puppets, listener, has_exited: false, stop })
    }

    /// Returns an end, if it is connected.
    pub(crate) fn end(&mut self, side: Side) -> Option<&mut End> {
        match side {
            Side::Client => self.client.as_mut(),
            Side::Agent => self.agent.as_mut(),
        }
    }

    /// Returns the newest puppet in this role.
    pub(crate) fn puppet(&mut self, role: Role) -> Option<&mut Puppet> {
        self.puppets.iter_mut().rev().find(|puppet| puppet.role == Some(role))
    }

    /// Returns how many agents the command has started.
    pub(crate) fn agents(&self) -> usize {
        self.puppets.iter().filter(|puppet| puppet.role == Some(Role::Agent)).count()
    }

    /// Returns whether the command has exited and every puppet has ended.
    pub(crate) fn is_empty(&self) -> bool {
        self.has_exited && self.puppets.iter().all(|puppet| puppet.has_ended)
    }

    /// Returns whether the command has exited.
    pub(crate) fn has_exited(&self) -> bool {
        self.has_exited
    }

    /// Returns when an end last read or wrote bytes.
    pub(crate) fn moved_at(&self) -> Option<Instant> {
        [&self.client, &self.agent].into_iter().flatten().map(End::moved_at).max()
    }

    /// Moves bytes until this returns something, or the time is over.
    pub(crate) fn until<T>(
        &mut self,
        deadline: Instant,
        mut look: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<T> {
        loop {
            // The deadline is checked afterwards, so that what has already arrived counts even if the time is over.
            if let Some(found) = look(self) {
                return Some(found);
            }
            let rest = deadline.saturating_duration_since(Instant::now());
            if rest.is_zero() || self.stop.load(Ordering::Relaxed) {
                return None;
            }
            self.turn(rest.min(limits::STOP));
        }
    }

    /// Waits until any descriptor is ready, and serves all that are.
    fn turn(&mut self, most: Duration) {
        for source in self.ready(most) {
            match source {
                Source::Input(side) => self.end(side).map_or((), End::receive),
                Source::Output(side) => self.end(side).map_or((), End::send),
                Source::Exit => self.has_exited = true,
                Source::Listener => {
                    let accepted = self.listener.accept();
                    self.puppets.extend(accepted.map(|(socket, _)| Puppet::new(socket)));
                }
                Source::Puppet(index) => self.receive(index),
            }
        }
    }

    /// Receives a message of a puppet. The streams of an agent that has ended are closed: our copies must not outlive it.
    fn receive(&mut self, index: usize) {
        let Some(puppet) = self.puppets.get_mut(index) else { return };
        let end = puppet.receive();
        let has_ended = puppet.has_ended && puppet.role == Some(Role::Agent);
        if let Some(end) = end {
            self.agent = Some(end.up_to(self.longest));
        }
        if let Some(agent) = self.agent.as_mut().filter(|_| has_ended) {
            agent.close_output();
            agent.close_input();
        }
    }

    fn ready(&self, most: Duration) -> Vec<Source> {
        let mut sources = vec![Source::Listener];
        let mut fds = vec![PollFd::new(&self.listener, PollFlags::IN)];
        if !self.has_exited {
            sources.push(Source::Exit);
            fds.push(PollFd::new(self.peer.exit(), PollFlags::IN));
        }
        for (side, end) in [(Side::Client, &self.client), (Side::Agent, &self.agent)] {
            let Some(end) = end else { continue };
            if let Some(fd) = end.wants_to_read() {
                sources.push(Source::Input(side));
                fds.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
            }
            if let Some(fd) = end.wants_to_write() {
                sources.push(Source::Output(side));
                fds.push(PollFd::from_borrowed_fd(fd, PollFlags::OUT));
            }
        }
        for (index, puppet) in self.puppets.iter().enumerate().filter(|(_, puppet)| !puppet.has_ended) {
            sources.push(Source::Puppet(index));
            fds.push(PollFd::from_borrowed_fd(puppet.socket().as_fd(), PollFlags::IN));
        }
        let most = Timespec::try_from(most).ok();
        match poll(&mut fds, most.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // The descriptors are ours and open, and the sizes are small.
            Err(_) => return Vec::new(),
        }
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        sources.into_iter().zip(&fds).filter(|(_, fd)| is_ready(fd)).map(|(source, _)| source).collect()
    }

    /// Ends the command as a client would: it closes the command's stdin, sends SIGTERM after a while, and then kills it with
    /// all that is left of its processes. The puppets end with their connections.
    pub(crate) fn close(mut self) {
        (self.client, self.agent) = (None, None);
        self.puppets.clear();
        for signal in [None, Some(Signal::TERM)] {
            if let Some(signal) = signal {
                self.peer.signal_group(signal);
            }
            let deadline = Instant::now() + limits::LEAVE;
            // The command may have started a second agent meanwhile.
            if self
                .until(deadline, |stage| {
                    stage.puppets.clear();
                    stage.has_exited.then_some(())
                })
                .is_some()
            {
                return;
            }
        }
    }
}

/// Replaces the placeholder in a word of the command.
fn with_agent(word: &OsStr, kind: Kind, agent: &Path) -> OsString {
    let placeholder = kind.placeholder();
    match word.to_str() {
        Some(word) if word.contains(placeholder) => {
            word.replace(placeholder, &agent.to_string_lossy()).into()
        }
        _ => word.to_owned(),
    }
}

/// Returns a command as one could type it.
pub(crate) fn shlex_line(command: &[OsString]) -> String {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    shlex::try_join(words.iter().map(AsRef::as_ref)).unwrap_or_else(|_| words.join(" "))
}
