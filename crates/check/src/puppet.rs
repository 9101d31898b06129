//! The puppet: the process that a bridge or a client starts as its agent. It hands its stdin and stdout over to the checker,
//! which reads and writes them itself, and then does what the checker orders: it exits, closes a stream, traps a signal,
//! starts a child. It ends with the checker.
//! Which orders a case needs is left to `play.rs`.

use std::{
    env,
    fs::OpenOptions,
    io::{self, BufRead, BufReader, IoSlice, Write},
    os::{fd::AsFd, unix::net::UnixStream},
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use askbridge_os::{exit, signals::runtime};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use tokio::signal::unix::{SignalKind, signal};

/// The socket of a case, in the folder of the script that starts the puppet.
pub(crate) const SOCKET: &str = "socket";
/// The first line of an agent. The process ID follows.
pub(crate) const AGENT: &str = "agent ";
/// The first line of a child of an agent. The process ID follows.
pub(crate) const CHILD: &str = "child ";
/// The line by which the puppet says that an order is carried out.
pub(crate) const DONE: &str = "done";
/// The line by which the puppet says that it got a signal that it traps.
pub(crate) const SIGTERM: &str = "SIGTERM";
/// The line by which the puppet says that a program which it ran has ended. The exit code follows.
pub(crate) const RAN: &str = "ran ";

/// An order to a puppet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Exit(u8),
    CloseStdin,
    CloseStdout,
    TrapTerm,
    StartChild,
    /// Writes a line to stderr.
    Stderr(String),
    /// Runs this program with these arguments, and reports its exit code.
    Run(String),
}

impl Order {
    /// Returns the line of the order.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Exit(code) => format!("exit {code}"),
            Self::CloseStdin => "close stdin".to_owned(),
            Self::CloseStdout => "close stdout".to_owned(),
            Self::TrapTerm => "trap SIGTERM".to_owned(),
            Self::StartChild => "child".to_owned(),
            Self::Stderr(text) => format!("stderr {text}"),
            Self::Run(arguments) => format!("run {arguments}"),
        }
    }

    fn read(line: &str) -> Option<Self> {
        match line {
            "close stdin" => Some(Self::CloseStdin),
            "close stdout" => Some(Self::CloseStdout),
            "trap SIGTERM" => Some(Self::TrapTerm),
            "child" => Some(Self::StartChild),
            _ => match line.split_once(' ')? {
                ("exit", code) => code.parse().ok().map(Self::Exit),
                ("stderr", text) => Some(Self::Stderr(text.to_owned())),
                ("run", arguments) => Some(Self::Run(arguments.to_owned())),
                _ => None,
            },
        }
    }
}

/// Runs the puppet until it is ordered to exit, or the checker is gone. Returns its exit code.
///
/// # Errors
/// If the checker cannot be reached.
pub fn run(folder: &Path, is_child: bool) -> io::Result<u8> {
    let socket = UnixStream::connect(folder.join(SOCKET))?;
    let says = Arc::new(Mutex::new(socket.try_clone()?));
    if is_child {
        say(&says, &format!("{CHILD}{}", std::process::id()))?;
    } else {
        hand_over(&socket)?;
    }
    for line in BufReader::new(socket).lines() {
        match Order::read(&line?) {
            Some(Order::Exit(code)) => return Ok(code),
            // A descriptor that was only closed would be given to the next file that is opened, which would then be
            // stdin.
            Some(Order::CloseStdin) => {
                rustix::stdio::dup2_stdin(OpenOptions::new().read(true).open("/dev/null")?)?;
            }
            Some(Order::CloseStdout) => {
                rustix::stdio::dup2_stdout(OpenOptions::new().write(true).open("/dev/null")?)?;
            }
            Some(Order::TrapTerm) => trap(&says)?,
            Some(Order::Stderr(text)) => writeln!(io::stderr(), "{text}")?,
            Some(Order::Run(arguments)) => {
                let arguments = shlex::split(&arguments).ok_or(io::ErrorKind::InvalidData)?;
                let mut command = Command::new(env::current_exe()?);
                // Its stdout is the checker's.
                let run = command.args(arguments).stdin(Stdio::null()).stdout(io::stderr()).status()?;
                say(&says, &format!("{RAN}{}", run.code().unwrap_or_default()))?;
            }
            // Its first line tells the checker that it runs.
            Some(Order::StartChild) => {
                let program = env::current_exe()?;
                drop(Command::new(program).args(["check", "puppet", "--child"]).arg(folder).spawn()?);
                continue;
            }
            None => return Err(io::ErrorKind::InvalidData.into()),
        }
        say(&says, DONE)?;
    }
    Ok(exit::OK)
}

/// Sends our process ID to the checker, and our stdin and stdout with it.
fn hand_over(socket: &UnixStream) -> io::Result<()> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let descriptors = [stdin.as_fd(), stdout.as_fd()];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let hello = format!("{AGENT}{}\n", std::process::id());
    sendmsg(socket, &[IoSlice::new(hello.as_bytes())], &mut ancillary, SendFlags::empty())?;
    Ok(())
}

/// Reports SIGTERM from now on, instead of ending by it.
fn trap(says: &Arc<Mutex<UnixStream>>) -> io::Result<()> {
    let runtime = runtime()?;
    let mut signals = {
        let _entered = runtime.enter();
        signal(SignalKind::terminate())?
    };
    let says = Arc::clone(says);
    thread::spawn(move || {
        runtime.block_on(async {
            while signals.recv().await.is_some() {
                // The checker may be gone, which ends this process as well.
                say(&says, SIGTERM).unwrap_or_default();
            }
        });
    });
    Ok(())
}

fn say(socket: &Mutex<UnixStream>, line: &str) -> io::Result<()> {
    let mut socket = socket.lock().unwrap_or_else(PoisonError::into_inner);
    socket.write_all(format!("{line}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn each_order_is_read_as_it_is_written() {
        let orders = [Order::CloseStdin, Order::CloseStdout, Order::TrapTerm, Order::StartChild];
        for order in orders.into_iter().chain([
            Order::Exit(7),
            Order::Stderr("a b".to_owned()),
            Order::Run("a 'b c'".to_owned()),
        ]) {
            assert_eq!(Order::read(&order.line()), Some(order));
        }
        assert_eq!(Order::read("dance"), None);
    }
}
