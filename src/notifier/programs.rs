//! Programs of the person's that are run: no shell reads their arguments, and one that does not end is ended with all that
//! it started.

use std::{ffi::OsString, io, os::unix::process::ExitStatusExt, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::AsyncWriteExt,
    process::{Child, Command},
    time::timeout,
};

/// What a program is given.
#[derive(Debug, Default)]
pub(super) struct ProgramInput {
    /// Arguments after those that are set.
    pub(super) arguments: Vec<OsString>,
    /// Environment variables.
    pub(super) variables: Vec<(&'static str, OsString)>,
    /// What it reads on stdin.
    pub(super) stdin: String,
}

/// The process group of a program, which is killed when this is dropped.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // It fails where nothing of the group is left.
            kill_process_group(group, Signal::KILL).unwrap_or_default();
        }
    }
}

/// Runs a program to its end, for at most this long. Dropping the future ends it.
///
/// # Errors
/// Why it did not do what it was to do, without any text of an agent.
pub(super) async fn run(words: &[String], given: ProgramInput, most: Duration) -> Result<(), String> {
    let [program, arguments @ ..] = words else { return Err("no program is set".to_owned()) };
    let mut command = Command::new(program);
    command.args(arguments).args(given.arguments).envs(given.variables);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let _group = Group(group);
    let ended = timeout(most, feed(&mut child, &given.stdin)).await;
    match ended {
        Err(_) => Err(format!("{program} did not end within {} s, and was killed", most.as_secs())),
        Ok(Err(error)) => Err(format!("{program}: {error}")),
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(match (status.code(), status.signal()) {
            (Some(code), _) => format!("{program} ended with exit code {code}"),
            (None, signal) => format!("{program} was ended by signal {}", signal.unwrap_or_default()),
        }),
    }
}

async fn feed(child: &mut Child, text: &str) -> io::Result<std::process::ExitStatus> {
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read its stdin need not.
        drop(stdin.write_all(text.as_bytes()).await);
    }
    child.wait().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Vec<String> {
        ["sh", "-c", script, "sh"].map(str::to_owned).to_vec()
    }

    #[tokio::test]
    async fn a_program_gets_its_texts_beside_its_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("told");
        let hostile = "$(touch x); `y` \"z\" 'w'";
        let given = ProgramInput {
            arguments: vec![file.clone().into(), hostile.into()],
            variables: vec![("QUESTION_TITLE", hostile.into())],
            stdin: hostile.to_owned(),
        };
        let script = "cd / && { printf '%s\\n' \"$2\" \"$QUESTION_TITLE\"; cat; } >\"$1\"";
        run(&shell(script), given, Duration::from_secs(120)).await.expect("it runs");
        let told = std::fs::read_to_string(file).expect("a file");
        assert_eq!(told, format!("{hostile}\n{hostile}\n{hostile}"));
    }

    #[tokio::test]
    async fn a_program_that_hangs_is_killed_with_all_that_it_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let fifo = folder.path().join("alive");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::from_raw_mode(0o600)).expect("a pipe");
        // Both processes hold the pipe open until they end.
        let script = format!("exec 3<>'{}'; (sleep 600) & sleep 600", fifo.display());
        let failed = run(&shell(&script), ProgramInput::default(), Duration::from_millis(300)).await;
        assert_eq!(failed.expect_err("it hangs"), "sh did not end within 0 s, and was killed");
        let group_is_gone = async {
            use std::os::unix::fs::OpenOptionsExt;
            let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
            // Opening for writing without a reader fails.
            while std::fs::OpenOptions::new().write(true).custom_flags(nonblocking).open(&fifo).is_ok() {
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(120), group_is_gone).await.expect("all of it is killed");
    }

    #[tokio::test]
    async fn it_is_said_how_a_program_failed() {
        let failed = async |words: &[String]| {
            run(words, ProgramInput::default(), Duration::from_secs(120)).await.expect_err("it fails")
        };
        assert_eq!(failed(&shell("exit 3")).await, "sh ended with exit code 3");
        assert_eq!(failed(&shell("kill -9 $$")).await, "sh was ended by signal 9");
        assert!(failed(&["/nowhere/x".to_owned()]).await.starts_with("/nowhere/x: No such file"));
    }
}
