//! Runs the relay: starts the agent, forwards bytes in both directions, and ends with the agent, or ends it.
//! Forwarding is left to `streams.rs`.

use std::{
    ffi::OsString,
    io,
    os::unix::process::CommandExt,
    process::{Child, Command, ExitCode, ExitStatus, Stdio},
    thread::{self, JoinHandle},
    time::Duration,
};

use askbridge_os::{
    exit,
    signals::{Signals, runtime},
};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::{sync::oneshot, time::timeout};

use super::{fault::RelayFault, side::Side, streams::Streams};

/// The time that an agent has to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// Settings of the relay.
#[derive(Clone, Debug)]
pub struct RelaySettings {
    /// The rule that it breaks.
    pub fault: Option<RelayFault>,
    /// The agent's command and its arguments.
    pub agent: Vec<OsString>,
}

/// Runs the relay, and returns the exit code of the agent.
///
/// # Errors
/// If the agent cannot be started, or a signal not be caught.
pub fn run(settings: &RelaySettings) -> io::Result<ExitCode> {
    let runtime = runtime()?;
    let code = runtime.block_on(relay(settings));
    // A read of stdin cannot be cancelled: the process must not wait for it.
    runtime.shutdown_background();
    code
}

async fn relay(settings: &RelaySettings) -> io::Result<ExitCode> {
    let fault = settings.fault;
    let is = |wanted| fault == Some(wanted);
    let mut signals = Signals::catch()?;
    let mut agent = start(settings)?;
    let pid = Pid::from_raw(agent.id().cast_signed());
    let _second = if is(RelayFault::StartsTwice) { Some(start(settings)?) } else { None };
    let (streams, from_agent) = Streams::of(&mut agent, fault)?;
    if is(RelayFault::Noise) {
        streams.write(Side::Client, b"relay: ready\n");
    }
    let back = streams.pass_on(from_agent, Side::Agent);
    let forth = streams.pass_on(io::stdin(), Side::Client);
    let (ended, end) = oneshot::channel();
    thread::spawn(move || {
        let waited = pid.map(|pid| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
        // The relay may have ended.
        ended.send(waited).unwrap_or_default();
    });
    tokio::pin!(end);
    if is(RelayFault::KillsAtEnd) {
        thread::spawn(move || {
            drop(forth.join());
            signal(pid, Signal::KILL);
        });
    }
    let signalled = loop {
        tokio::select! {
            _ = &mut end => break None,
            code = signals.next() => match fault {
                Some(RelayFault::IgnoresSignals) => {}
                Some(RelayFault::LeavesAgent) => return Ok(ExitCode::from(code)),
                _ => break Some(code),
            },
        }
    };
    if signalled.is_some() {
        signal(pid, Signal::TERM);
        if timeout(GRACE, &mut end).await.is_err() {
            signal(pid, Signal::KILL);
        }
    }
    finish(agent, fault, back)
}

/// Ends the rest of the agent's group, forwards the agent's last bytes, and returns its exit code.
fn finish(mut agent: Child, fault: Option<RelayFault>, back: JoinHandle<()>) -> io::Result<ExitCode> {
    let is = |wanted| fault == Some(wanted);
    if !is(RelayFault::LeavesChildren) {
        // The agent is not reaped yet, so its ID is its own.
        signal(Pid::from_raw(agent.id().cast_signed()), Signal::KILL);
    }
    let status: ExitStatus = agent.wait()?;
    if !is(RelayFault::LosesLastWords) && !is(RelayFault::LeavesChildren) {
        // A thread that panicked has said so on stderr.
        drop(back.join());
    }
    if is(RelayFault::Stays) {
        thread::park();
    }
    Ok(match is(RelayFault::SwallowsExitCode) {
        true => ExitCode::from(exit::OK),
        false => exit::of_agent(status),
    })
}

fn start(settings: &RelaySettings) -> io::Result<Child> {
    let (program, arguments) = settings.agent.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    match settings.fault {
        Some(RelayFault::SwallowsStderr) => command.stderr(Stdio::null()),
        Some(RelayFault::MixesStderr) => command.stderr(io::stdout()),
        _ => &mut command,
    };
    command.spawn()
}

/// Sends a signal to the agent's group. An error means that none of it is left.
fn signal(pid: Option<Pid>, signal: Signal) {
    if let Some(pid) = pid {
        kill_process_group(pid, signal).unwrap_or_default();
    }
}
