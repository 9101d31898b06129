//! `askbridge inbox --detach` and `--stop`: the inbox in the background. Each user has at most one.
//! How a command finds it is left to `hub/presence.rs`.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, ErrorKind, Read, Seek, SeekFrom},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
};

use askbridge_control::join::{Places, discovery};
use askbridge_os::{
    exit,
    lock::{Lock, LockFile},
    log, program,
};
use askbridge_settings::resolved::ServeSettings;
use askbridge_web::Token;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::Command,
    task::spawn_blocking,
    time::timeout,
};

use super::{CommandError, Context, runner};
use crate::{
    hub::presence::{Visit, log_file, visit},
    limits,
};

/// The file that is locked while an inbox is started, so that two never start at once.
const LOCK: &str = "inbox.lock";
/// The warning about an address that other machines can reach.
const EXPOSED: &str = "other machines can reach this address, and nothing is encrypted: put it behind a proxy that \
                       speaks TLS, or a tunnel";

/// An inbox in the background.
pub(super) struct BackgroundInbox {
    /// The address at which it serves.
    pub(super) address: SocketAddr,
    /// The directory of its socket, which has its token as well.
    pub(super) folder: PathBuf,
    pid: i32,
    /// The file with its output. `None` if it was running already.
    log: Option<PathBuf>,
}

/// Starts an inbox in the background, unless one runs.
pub(super) async fn detach(context: &Context, settings: &ServeSettings) -> Result<u8, CommandError> {
    let running = start(context, settings).await?;
    let (address, pid) = (running.address, running.pid);
    let text = match running.log {
        Some(ref log) => format!(
            "askbridge inbox runs in the background, at http://{address} (process {pid})\n\
             `askbridge open` shows it in a browser, `askbridge inbox --stop` ends it\n\
             programs show the token in {}; the log is {}\n",
            Token::file(settings.http.token_file.as_deref())?.display(),
            log.display()
        ),
        None => format!(
            "askbridge inbox runs in the background already, at http://{address} (process {pid})\n\
             `askbridge inbox --stop` ends it\n"
        ),
    };
    // The server warns as well, but in its log, where nobody at this terminal would see it.
    if running.log.is_some() && !address.ip().to_canonical().is_loopback() {
        runner::say(EXPOSED);
    }
    Ok(runner::done(exit::OK, &text))
}

/// Finds the inbox in the background, or starts one and waits until it serves.
pub(super) async fn start(
    context: &Context,
    settings: &ServeSettings,
) -> Result<BackgroundInbox, CommandError> {
    let places = context.places()?;
    // Two commands that find no inbox at the same time must not start two. They lock in the same order.
    let mut folders = places.all();
    folders.sort();
    let mut locks = Vec::new();
    for folder in folders {
        locks.push(lock(folder.join(LOCK)).await?);
    }
    match find(places).await? {
        Some(running) => Ok(running),
        None => spawn(settings, &context.log).await,
    }
}

/// Returns the inbox that runs in the background.
pub(super) async fn find(places: &Places) -> Result<Option<BackgroundInbox>, CommandError> {
    let Some(Visit { stream, pid, folder }) = visit(places).await? else { return Ok(None) };
    let mut line = String::new();
    // A line that never ends must not fill the memory.
    let mut stream = BufReader::new(stream.take(limits::NAME as u64));
    let read = timeout(limits::HANDSHAKE_TIMEOUT, stream.read_line(&mut line)).await;
    match (read, line.trim_end().parse()) {
        (Ok(Ok(_)), Ok(address)) => Ok(Some(BackgroundInbox { address, folder, pid, log: None })),
        // The process ended after it had accepted the connection.
        (Ok(_), _) if line.is_empty() => Ok(None),
        _ => Err(CommandError::Background(format!(
            "the inbox in the background (process {pid}) does not reply: `askbridge inbox --stop` ends it"
        ))),
    }
}

/// Ends the inbox in the background, and waits until it is gone.
pub(super) async fn stop(places: &Places) -> Result<u8, CommandError> {
    let Some(Visit { mut stream, pid, .. }) = visit(places).await? else {
        return Ok(runner::done(exit::OK, "no askbridge inbox runs in the background\n"));
    };
    // The process holds the other end of the open connection, so its ID was not reused.
    let process = Pid::from_raw(pid).ok_or(io::Error::from(ErrorKind::NotFound))?;
    kill_process(process, Signal::TERM).map_err(io::Error::from)?;
    let mut rest = Vec::new();
    // The kernel closes the connection when the process ends. A failed read means the same.
    let ended = timeout(limits::BACKGROUND, stream.read_to_end(&mut rest)).await;
    match ended {
        Ok(_) => Ok(runner::done(exit::OK, &format!("ended askbridge inbox (process {pid})\n"))),
        Err(_) => Err(CommandError::Background(format!(
            "process {pid} got SIGTERM, and still runs after {} s",
            limits::BACKGROUND.as_secs()
        ))),
    }
}

/// Waits until no other command starts an inbox.
async fn lock(path: PathBuf) -> Result<Lock, CommandError> {
    // This blocks until the lock is free. After the timeout, its thread ends with the process.
    let locking = spawn_blocking(move || LockFile::open(&path)?.take());
    // The holder of the lock waits for its inbox for `BACKGROUND` at most.
    let locked = timeout(2 * limits::BACKGROUND, locking).await;
    let failed =
        || CommandError::Background("another command has been starting the inbox for too long".to_owned());
    Ok(locked.map_err(|_| failed())?.map_err(|_| failed())??)
}

async fn spawn(settings: &ServeSettings, log: &[OsString]) -> Result<BackgroundInbox, CommandError> {
    let path = log_file()?;
    let mut output = log::open_bounded(&path)?;
    // The log may have the output of an earlier inbox, which must not be quoted as the reason of a failure.
    let start = output.seek(SeekFrom::End(0))?;
    let mut command = Command::from(program::command(["inbox", "--detached"])?);
    command.args(["--addr", &settings.address.to_string()]).args(log);
    if let Some(file) = &settings.http.token_file {
        // The inbox runs in another directory.
        command.arg("--token-file").arg(std::path::absolute(file)?);
    }
    for host in &settings.http.allowed_hosts {
        command.args(["--allow-host", host]);
    }
    command.stdout(Stdio::piped()).stderr(output.try_clone()?);
    let mut child = command.spawn()?;
    // `id` is `None` only for a child that was waited for.
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).unwrap_or_default();
    let mut line = String::new();
    let said = child.stdout.take().map(|stdout| BufReader::new(stdout.take(limits::NAME as u64)));
    let mut said = said.ok_or(io::Error::from(ErrorKind::BrokenPipe))?;
    let read = timeout(limits::BACKGROUND, said.read_line(&mut line)).await;
    match (read, line.trim_end().parse()) {
        (Ok(Ok(_)), Ok(address)) => {
            Ok(BackgroundInbox { address, folder: discovery::folder()?, pid, log: Some(path) })
        }
        (Ok(_), _) => Err(CommandError::Background(reason(output, start, &path))),
        (Err(_), _) => {
            // A half-started inbox would be in the way of the next attempt.
            child.kill().await.unwrap_or_default();
            let seconds = limits::BACKGROUND.as_secs();
            Err(CommandError::Background(format!(
                "it did not start to serve within {seconds} s; its log is {}",
                path.display()
            )))
        }
    }
}

/// Returns why the process ended: the last line that it wrote.
fn reason(mut output: File, start: u64, path: &Path) -> String {
    let mut written = Vec::new();
    let read = output
        .seek(SeekFrom::Start(start))
        .and_then(|_| output.take(limits::STDERR_TAIL as u64).read_to_end(&mut written));
    let text = String::from_utf8_lossy(&written);
    match (read, text.lines().rfind(|line| !line.trim().is_empty())) {
        // The caller puts the same prefix before its own message.
        (Ok(_), Some(line)) => line.strip_prefix("askbridge: ").unwrap_or(line).to_owned(),
        _ => format!("it ended at once; its log is {}", path.display()),
    }
}
