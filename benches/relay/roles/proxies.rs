//! The proxies that the bridge is compared with: one that only copies, and one that parses each line.
//! Both end when the agent has ended, with its exit code.

use std::{
    fs::File,
    io,
    os::fd::{AsFd, OwnedFd},
    os::unix::net::UnixStream as BlockingUnixStream,
    process::{ExitCode, ExitStatus, Stdio},
};

use rustix::fs::{FileType, fstat};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, copy_buf},
    net::{UnixStream, unix::pipe},
    process::{Child, Command},
    runtime::Builder,
};
use tokio_util::either::Either;

/// The buffer size of a pipe.
const BUFFER: usize = 64 << 10;

/// Copies bytes both ways on one thread, without looking at them.
pub(super) fn relay(agent: &[String]) -> io::Result<ExitCode> {
    Builder::new_current_thread().enable_io().build()?.block_on(async {
        let mut child = spawn(agent)?;
        let (to_agent, from_agent) = child_pipes(&mut child)?;
        let (input, output) = our_stdio()?;
        let forward = tokio::spawn(copy(input, to_agent));
        copy(from_agent, output).await?;
        let status = child.wait().await?;
        forward.abort();
        Ok(exit_code(status))
    })
}

/// Reads lines, parses each, and prints it again, as proxies for ACP commonly do.
pub(super) fn naive(agent: &[String]) -> io::Result<ExitCode> {
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let mut child = spawn(agent)?;
        let (to_agent, from_agent) = child.stdin.take().zip(child.stdout.take()).ok_or_else(no_pipe)?;
        tokio::spawn(reprint(tokio::io::stdin(), to_agent));
        reprint(from_agent, tokio::io::stdout()).await?;
        child.wait().await
    });
    // A pending read of stdin cannot be stopped, so the runtime does not wait for it.
    runtime.shutdown_background();
    Ok(exit_code(ended?))
}

async fn reprint(input: impl AsyncRead + Unpin, mut output: impl AsyncWrite + Unpin) -> io::Result<()> {
    let mut lines = BufReader::new(input).lines();
    while let Some(line) = lines.next_line().await? {
        let message: Value = serde_json::from_str(&line)?;
        let mut line = message.to_string();
        line.push('\n');
        output.write_all(line.as_bytes()).await?;
        output.flush().await?;
    }
    Ok(())
}

/// Copies bytes. Dropping the output at the end passes on the end of the input.
async fn copy(input: impl AsyncRead + Unpin, mut output: impl AsyncWrite + Unpin) -> io::Result<u64> {
    copy_buf(&mut BufReader::with_capacity(BUFFER, input), &mut output).await
}

fn spawn(agent: &[String]) -> io::Result<Child> {
    let (program, arguments) = agent.split_first().ok_or_else(|| io::Error::other("no agent to start"))?;
    Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
}

fn child_pipes(child: &mut Child) -> io::Result<(pipe::Sender, pipe::Receiver)> {
    let (input, output) = child.stdin.take().zip(child.stdout.take()).ok_or_else(no_pipe)?;
    Ok((
        pipe::Sender::from_owned_fd(input.into_owned_fd()?)?,
        pipe::Receiver::from_owned_fd(output.into_owned_fd()?)?,
    ))
}

type Input = Either<pipe::Receiver, UnixStream>;
type Output = Either<pipe::Sender, UnixStream>;

/// Returns our stdin and stdout for the runtime as the only handles, so that dropping one closes it for the client.
fn our_stdio() -> io::Result<(Input, Output)> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    let input = match file_type(&input)? {
        FileType::Fifo => Either::Left(pipe::Receiver::from_owned_fd(input)?),
        _ => Either::Right(socket(input)?),
    };
    let output = match file_type(&output)? {
        FileType::Fifo => Either::Left(pipe::Sender::from_owned_fd(output)?),
        _ => Either::Right(socket(output)?),
    };
    Ok((input, output))
}

fn file_type(fd: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(fd)?.st_mode))
}

fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
    let socket = BlockingUnixStream::from(fd);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}

fn exit_code(status: ExitStatus) -> ExitCode {
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

fn no_pipe() -> io::Error {
    io::Error::other("the agent was started without pipes")
}
