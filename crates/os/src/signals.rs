//! The signals that ask a process to end. The bridge and the commands that wait catch them in the same way, so that
//! neither an agent nor a socket is left behind (I8). What a signal leads to is left to the caller.

use std::{
    fs,
    future::{pending, poll_fn},
    io,
    ops::RangeInclusive,
    os::fd::AsFd,
    task::{Context, Poll},
};

use rustix::process::Signal as Number;
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc::{Receiver, Sender, channel},
};

use crate::exit;

/// Signals that end a process unless it catches them, on every Unix system.
const DEADLY: [Number; 13] = [
    Number::HUP,
    Number::INT,
    Number::QUIT,
    Number::TERM,
    Number::USR1,
    Number::USR2,
    Number::ALARM,
    Number::VTALARM,
    Number::PROF,
    Number::XCPU,
    Number::ABORT,
    Number::SYS,
    Number::TRAP,
];
/// SIGSTKFLT, SIGIO and SIGPWR, which end a process on Linux only.
#[cfg(target_os = "linux")]
const LINUX: [Number; 3] = [Number::STKFLT, Number::IO, Number::POWER];
#[cfg(not(target_os = "linux"))]
const LINUX: [Number; 0] = [];
/// The real-time signals.
#[cfg(target_os = "linux")]
const REAL_TIME: RangeInclusive<i32> = 34..=64;
#[cfg(not(target_os = "linux"))]
#[expect(clippy::reversed_empty_ranges, reason = "only Linux lets these be registered")]
const REAL_TIME: RangeInclusive<i32> = 1..=0;

/// Signals that may wait for the caller: more than the ladder that ends an agent has rungs.
const WAITING: usize = 8;
/// File descriptors that must be free before a runtime is built. The runtime takes 6, its signal pipe among them.
const DESCRIPTORS: usize = 8;

/// The caught signals, as one stream. A task of its own waits for them: the pump polls this stream at every step, and
/// polling one channel is much cheaper than polling each signal.
///
/// These are all signals that end a process by default, except for:
/// - SIGKILL, which cannot be caught;
/// - SIGSEGV, SIGBUS, SIGILL and SIGFPE, which report a fault of the program, after which it cannot continue;
/// - SIGPIPE, which Rust programs ignore;
/// - SIGXFSZ, which reports a write beyond the largest file size (`ulimit -f`). The write fails as well, and its caller
///   handles that: a log that has grown too large must not end a session (I7).
#[derive(Debug)]
pub struct Signals(Receiver<u8>);

impl Signals {
    /// Catches the signals from now on. Must be called within a runtime, and before anything is made that the process must
    /// not leave behind.
    ///
    /// A signal that was ignored when the process started stays ignored, as under `nohup` or after `trap '' INT`. On
    /// Linux, `/proc/self/status` tells which ones these are. Other systems tell only through `sigaction`, which takes
    /// unsafe code: there, and without `/proc`, signals that were ignored are caught as well.
    pub fn catch() -> io::Result<Self> {
        // A parent may have left SIGCHLD ignored. The kernel would then reap the agent itself, and its exit code would
        // be lost. A handler stays installed for the life of the process, even when its stream is dropped.
        drop(signal(SignalKind::child())?);
        let ignored = ignored();
        let is_ignored = |number: i32| ignored >> (number - 1) & 1 == 1;
        if !is_ignored(Number::XFSZ.as_raw()) {
            // The stream is dropped, and the handler stays: the write fails, and the process does not end.
            drop(signal(SignalKind::from_raw(Number::XFSZ.as_raw()))?);
        }
        let caught = DEADLY.into_iter().chain(LINUX).map(Number::as_raw);
        let mut signals =
            caught.filter(|number| !is_ignored(*number)).map(register).collect::<io::Result<Vec<_>>>()?;
        // The C library refuses a handler for the real-time signals that it uses itself.
        signals.extend(
            REAL_TIME.filter(|number| !is_ignored(*number)).filter_map(|number| register(number).ok()),
        );
        Ok(Signals(forward(signals)))
    }

    /// Waits for the next signal, and returns the exit code that reports it: 128 and its number. Signals that arrive at
    /// the same time may count as one.
    pub async fn next(&mut self) -> u8 {
        match self.0.recv().await {
            Some(code) => code,
            // The sending task ends with the runtime, and not before it.
            None => pending().await,
        }
    }
}

/// Builds the runtime of the calling thread.
///
/// tokio panics where it cannot open its signal pipe. This returns an error instead when too few file descriptors are
/// free.
pub fn runtime() -> io::Result<Runtime> {
    let free =
        (0..DESCRIPTORS).map(|_| io::stdin().as_fd().try_clone_to_owned()).collect::<io::Result<Vec<_>>>()?;
    drop(free);
    Builder::new_current_thread().enable_all().build()
}

/// Catches a signal.
fn register(number: i32) -> io::Result<(i32, Signal)> {
    Ok((number, signal(SignalKind::from_raw(number))?))
}

/// Starts the task that waits for these signals.
fn forward(mut signals: Vec<(i32, Signal)>) -> Receiver<u8> {
    let (sender, receiver) = channel(WAITING);
    tokio::spawn(async move { send_all(&mut signals, &sender).await });
    receiver
}

/// Sends the exit code of each signal that arrives, until there is no receiver.
async fn send_all(signals: &mut [(i32, Signal)], sender: &Sender<u8>) {
    loop {
        let number = poll_fn(|cx| poll_all(signals, cx)).await;
        // A shell reports a process that a signal ended in the same way.
        let code = u8::try_from(number).map_or(exit::FAILED, |number| 128 + number);
        if sender.send(code).await.is_err() {
            return;
        }
    }
}

/// Returns the number of a signal that arrived.
fn poll_all(signals: &mut [(i32, Signal)], cx: &mut Context<'_>) -> Poll<i32> {
    let mut arrived = Poll::Pending;
    // Every signal is polled, even after one was ready, so that each of them wakes the task.
    for (number, signal) in signals {
        if signal.poll_recv(cx).is_ready() {
            arrived = Poll::Ready(*number);
        }
    }
    arrived
}

/// Returns the signals that this process ignores, bit N - 1 for signal N; none where that cannot be read.
fn ignored() -> u128 {
    let status = fs::read("/proc/self/status").unwrap_or_default();
    ignored_in(&String::from_utf8_lossy(&status))
}

fn ignored_in(status: &str) -> u128 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u128::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status_of_the_process() {
        let status = "Name:\tSigIgn: 1\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001003\n";
        assert_eq!(ignored_in(status), 0x1003);
        assert_eq!(ignored_in("Name:\tx\n"), 0);
        assert_eq!(ignored_in("SigIgn:\tunreadable\n"), 0);
    }

    #[test]
    fn no_signal_without_a_deadly_default_is_caught() {
        let others = [Number::CHILD, Number::CONT, Number::TSTP, Number::URG, Number::WINCH, Number::PIPE];
        let faults = [Number::SEGV, Number::BUS, Number::ILL, Number::FPE];
        let caught: Vec<i32> = DEADLY.into_iter().chain(LINUX).map(Number::as_raw).chain(REAL_TIME).collect();
        for other in others.into_iter().chain(faults) {
            assert!(!caught.contains(&other.as_raw()), "{other:?}");
        }
    }
}
