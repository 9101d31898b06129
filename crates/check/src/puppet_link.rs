//! The checker's end of the connection to a puppet: who it is, the streams that it hands over, its orders and reports.
//! The puppet itself is `puppet.rs`.

use std::{
    io::{IoSliceMut, Write},
    mem::MaybeUninit,
    os::{fd::OwnedFd, unix::net::UnixStream},
};

use rustix::{
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg},
    process::{Pid, Signal, kill_process},
};

use crate::{
    end::End,
    limits,
    puppet::{AGENT, CHILD, DONE, Order, RAN, SIGTERM},
};

/// Linux has it; elsewhere, a descriptor is inherited by a process that starts in the moment between.
#[cfg(target_os = "linux")]
const RECEIVE: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const RECEIVE: RecvFlags = RecvFlags::empty();

/// The process that a puppet stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Agent,
    Child,
}

/// A puppet that has connected.
#[derive(Debug)]
pub(crate) struct Puppet {
    socket: UnixStream,
    said: Vec<u8>,
    pid: Option<Pid>,
    /// Known once it has said so.
    pub(crate) role: Option<Role>,
    /// How many orders wait to be carried out.
    pub(crate) waiting: usize,
    /// How often it got SIGTERM while it trapped it.
    pub(crate) terminations: usize,
    /// The exit code of the last program that it ran.
    pub(crate) ran: Option<u8>,
    /// Whether its process has ended, or closed the connection by its end.
    pub(crate) has_ended: bool,
}

impl Puppet {
    pub(crate) fn new(socket: UnixStream) -> Self {
        let (said, pid, role) = (Vec::new(), None, None);
        Self { socket, said, pid, role, waiting: 0, terminations: 0, ran: None, has_ended: false }
    }

    pub(crate) fn socket(&self) -> &UnixStream {
        &self.socket
    }

    /// Orders something. It is carried out once `waiting` is 0, except for an exit and a child, which show by themselves.
    pub(crate) fn order(&mut self, order: &Order) {
        self.waiting += usize::from(!matches!(order, Order::Exit(_) | Order::StartChild));
        // One that has ended does nothing: its end is reported by `has_ended`.
        self.socket.write_all(format!("{}\n", order.line()).as_bytes()).unwrap_or_default();
    }

    /// Kills the process. Its ID is its own for as long as the connection stands.
    pub(crate) fn kill(&mut self) {
        if let Some(pid) = self.pid.filter(|_| !self.has_ended) {
            kill_process(pid, Signal::KILL).unwrap_or_default();
        }
    }

    /// Receives a message of the puppet. Returns its end of the conversation if the message passes one.
    pub(crate) fn receive(&mut self) -> Option<End> {
        let mut bytes = [0; limits::PUPPET_LINE];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let count = match recvmsg(&self.socket, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, RECEIVE) {
            Ok(message) => message.bytes,
            Err(rustix::io::Errno::INTR) => return None,
            Err(_) => 0,
        };
        let mut handed: Vec<OwnedFd> = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                handed.extend(descriptors);
            }
        }
        if count == 0 {
            self.has_ended = true;
        }
        self.said.extend_from_slice(bytes.get(..count).unwrap_or_default());
        while let Some(at) = memchr::memchr(b'\n', &self.said) {
            let line: Vec<u8> = self.said.drain(..=at).collect();
            self.heard(String::from_utf8_lossy(&line).trim_end());
        }
        // An agent reads from its stdin what the command writes to it.
        match <[OwnedFd; 2]>::try_from(handed) {
            Ok([stdin, stdout]) => Some(End::new(stdout, stdin)),
            Err(_) => None,
        }
    }

    fn heard(&mut self, line: &str) {
        for (mark, role) in [(AGENT, Role::Agent), (CHILD, Role::Child)] {
            if let Some(pid) = line.strip_prefix(mark) {
                self.role = Some(role);
                self.pid = pid.parse().ok().and_then(Pid::from_raw);
            }
        }
        if let Some(code) = line.strip_prefix(RAN) {
            self.ran = code.parse().ok();
        }
        match line {
            DONE => self.waiting = self.waiting.saturating_sub(1),
            SIGTERM => self.terminations += 1,
            _ => {}
        }
    }
}
