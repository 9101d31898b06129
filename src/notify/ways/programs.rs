//! The ways that run a program of the user: a command, a sound or a voice, and the heartbeat. No shell reads their
//! arguments. A program that does not end is killed with all processes that it started. The question is passed on
//! stdin, in the environment and in a file that only the user can read, never as part of a command line.
//! When each is run is left to `dispatch.rs` and `follow.rs`.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::{fs::OpenOptionsExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use askbridge_control::join::discovery;
use askbridge_core::{desk::Record, wire::line};
use askbridge_settings::words::Disclosure;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::AsyncWriteExt,
    process::{Child, Command},
    time::timeout,
};

use super::telling::NotifiedQuestion;
use crate::{limits, notify::Message, present::text::headline};

/// The input of a program.
#[derive(Debug, Default)]
pub(super) struct ProgramInput {
    /// Arguments behind those of the settings.
    pub(super) arguments: Vec<OsString>,
    /// Environment variables.
    pub(super) variables: Vec<(&'static str, OsString)>,
    /// Its stdin.
    pub(super) stdin: String,
}

/// The process group of a program, which is killed when this is dropped.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // The call fails if no process of the group is left.
            kill_process_group(group, Signal::KILL).unwrap_or_default();
        }
    }
}

/// Runs a program to its end, for at most `most`. Dropping the future kills it.
///
/// # Errors
/// Returns why the program failed, without any text of an agent.
pub(super) async fn run(words: &[String], given: ProgramInput, most: Duration) -> Result<(), String> {
    let [program, arguments @ ..] = words else { return Err("no program is set".to_owned()) };
    let mut command = Command::new(program);
    command.args(arguments).args(given.arguments).envs(given.variables);
    // A group of its own, so that killing it does not kill the notifier.
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("{program}: {error}"))?;
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    // The group is also killed after a normal end: nothing that the program started may outlive it.
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
        // A program does not have to read its stdin: ignore a broken pipe.
        drop(stdin.write_all(text.as_bytes()).await);
    }
    child.wait().await
}

/// The file with the question, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct QuestionFile(PathBuf);

impl QuestionFile {
    /// Writes a question into a new file in `folder`, which only its owner can enter.
    pub(super) fn write(folder: &Path, record: &Record) -> io::Result<Self> {
        // The ID of a question of another machine has a slash.
        let id = record.id.to_string().replace('/', "+");
        let paper = QuestionFile(folder.join(format!("notify-{id}-{}.json", std::process::id())));
        let json = serde_json::to_string(record)?;
        // A killed process that had the same process ID may have left a file behind.
        drop(fs::remove_file(&paper.0));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&paper.0)?;
        file.write_all(line::escaped(&json).as_bytes())?;
        Ok(paper)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for QuestionFile {
    fn drop(&mut self) {
        // If the command removed the file itself, this fails.
        drop(fs::remove_file(&self.0));
    }
}

/// Runs the command of the settings.
pub(super) async fn run_command(telling: &NotifiedQuestion, message: &Message) -> Result<(), String> {
    let words = telling.settings.command.as_deref().unwrap_or_default();
    let folder = discovery::folder().map_err(|error| error.to_string())?;
    // The file is removed when `paper` is dropped, so it lives as long as the command runs.
    let paper =
        QuestionFile::write(&folder, &telling.record).map_err(|error| format!("the file for it: {error}"))?;
    let mut given = given(telling, message);
    given.arguments.push(paper.path().into());
    given.variables.push(("QUESTION_FILE", paper.path().into()));
    run(words, given, limits::NOTIFY_COMMAND).await
}

/// Runs the command that plays a sound or speaks.
pub(super) async fn play_sound(telling: &NotifiedQuestion, message: &Message) -> Result<(), String> {
    let words = telling.settings.sound.as_deref().unwrap_or_default();
    run(words, given(telling, message), limits::NOTIFY_COMMAND).await
}

/// Runs the heartbeat command, for no longer than its interval.
pub(super) async fn beat(telling: &NotifiedQuestion) -> Result<(), String> {
    let Some(heartbeat) = &telling.settings.heartbeat else { return Ok(()) };
    let most: Duration = heartbeat.every.min(limits::NOTIFY_COMMAND);
    run(&heartbeat.command, given(telling, &telling.message(Disclosure::Title)), most).await
}

/// Returns the input of a program. It stays on this machine, so it has the title of the question, on one line.
pub(super) fn given(telling: &NotifiedQuestion, message: &Message) -> ProgramInput {
    ProgramInput {
        arguments: Vec::new(),
        variables: vec![
            ("QUESTION_ID", telling.record.id.to_string().into()),
            ("QUESTION_TITLE", headline(&telling.record).into()),
        ],
        stdin: message.text() + "\n",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use askbridge_control::rpc::played::question;
    use askbridge_core::desk::{Record, Timestamp};
    use askbridge_settings::{NotifySettings, Settings, SettingsFile, Sources};
    use tokio::sync::{mpsc, watch};

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

    #[test]
    fn the_file_of_a_question_of_another_machine_is_in_the_folder_and_goes_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let id = "dev-box/b-1".parse().expect("an ID");
        let record = Record::new(id, Arc::new(question("Go?")), Timestamp::default());
        let file = QuestionFile::write(folder.path(), &record).expect("a file");
        assert_eq!(file.path().parent(), Some(folder.path()));
        let written: Record =
            serde_json::from_slice(&fs::read(file.path()).expect("it is read")).expect("JSON");
        assert_eq!(written, record);
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    fn telling(text: &str) -> NotifiedQuestion {
        let user = SettingsFile { path: "c".into(), text: text.to_owned(), is_readable_by_others: false };
        let settings = Settings::of(Sources { user: Some(user), ..Sources::default() });
        let settings = Arc::new(NotifySettings::of(&settings, None).expect("it is told"));
        let id = "b-1".parse().expect("an ID");
        let record = Arc::new(Record::new(id, Arc::new(question("Go?")), Timestamp::default()));
        let ((_, over), (said, _)) = (watch::channel(None), mpsc::channel(1));
        NotifiedQuestion { record, folder: String::new(), settings, terminal: None, over, said }
    }

    // The clock of the runtime stands still, and jumps to the next deadline while all programs sleep.
    #[tokio::test(start_paused = true)]
    async fn programs_that_hang_are_killed_when_their_time_is_over() {
        let hangs = "command = [\"sh\", \"-c\", \"sleep 600\"]\n";
        let telling = telling(&format!(
            "[notify.sound]\n{hangs}[notify.command]\n{hangs}[notify.heartbeat]\nevery = \"7s\"\n{hangs}"
        ));
        let message = telling.message(Disclosure::Title);
        let killed = |seconds| Err(format!("sh did not end within {seconds} s, and was killed"));
        assert_eq!(play_sound(&telling, &message).await, killed(60));
        assert_eq!(run_command(&telling, &message).await, killed(60));
        assert_eq!(beat(&telling).await, killed(7));
    }
}
