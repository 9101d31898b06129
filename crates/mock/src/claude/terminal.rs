//! A session of Claude Code in a terminal. It shows one dialog at a time, while a shell runs the hook of that dialog
//! in a separate process group. The first decision counts, whether it comes from the keyboard or from the hook.
//! What a dialog asks is left to `call.rs`.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{ExitCode, Stdio},
    time::Duration,
};

use rustix::process::{Signal, kill_process_group};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

use super::call::{self, Call};
use crate::keyboard::say;

/// The time that a hook has to end after SIGTERM, before it gets SIGKILL.
const TERMINATED: Duration = Duration::from_millis(1400);

/// The help text about the words that are typed.
pub const HELP: &str = "\
Words on stdin open a dialog: ask, bash, plan, form (of an MCP server), agent (a subagent asks). They act at the dialog:
answer TEXT, yes, no (as Esc), chat (a message instead of an answer), exit. Each line of stdout is JSON.";

/// The settings of the mock.
#[derive(Clone, Debug)]
pub struct ClaudeSettings {
    /// The `hooks.json` of a plugin.
    pub hooks: PathBuf,
    /// The transcript that is written.
    pub transcript: PathBuf,
    /// The ID of the session.
    pub session: String,
}

struct Session {
    settings: ClaudeSettings,
    hooks: Hooks,
    transcript: File,
    calls: u32,
    /// Hooks that still run although their dialog is closed.
    left: Vec<Child>,
}

struct Dialog {
    call: Call,
    /// `None` if no hook matches the call, or once the hook has ended without a decision.
    hook: Option<DialogHook>,
}

/// The hook of a dialog, and its output so far.
struct DialogHook {
    process: Child,
    stdout: Vec<u8>,
}

/// Runs a session until its keyboard ends.
///
/// # Errors
/// A file cannot be read or written.
pub fn run(settings: &ClaudeSettings) -> io::Result<ExitCode> {
    let hooks = Hooks::read(&settings.hooks)?;
    let transcript = File::options().append(true).create(true).open(&settings.transcript)?;
    let session = Session { settings: settings.clone(), hooks, transcript, calls: 0, left: Vec::new() };
    askbridge_os::signals::runtime()?.block_on(session.run())?;
    Ok(ExitCode::SUCCESS)
}

impl Session {
    async fn run(mut self) -> io::Result<()> {
        let mut keyboard = BufReader::new(tokio::io::stdin()).lines();
        let mut dialog = None;
        loop {
            tokio::select! {
                line = keyboard.next_line() => match line? {
                    Some(line) if line != "exit" => dialog = self.typed(dialog, &line).await?,
                    _ => return self.exit(dialog).await,
                },
                ended = ended(&mut dialog) => dialog = self.decided(dialog, ended?)?,
            }
        }
    }

    async fn typed(&mut self, dialog: Option<Dialog>, line: &str) -> io::Result<Option<Dialog>> {
        let (word, text) = line.split_once(' ').unwrap_or((line, ""));
        let Some(open) = dialog else { return self.open(word).await };
        // Claude Code shows no dialog yet, so the keyboard has nothing to answer.
        if !open.call.is_live() && open.hook.is_some() {
            say(json!({ "ignored": line }))?;
            return Ok(Some(open));
        }
        let told = match word {
            "answer" | "yes" => {
                let input = open.call.answered(text);
                let decision = json!({ "decision": "accept", "source": "user_temporary" });
                let more = json!({ "toolUseResult": input, "permissionDecision": decision });
                self.result(&open.call, false, &more)?;
                self.after("PostToolUse", &open.call, &input).await?;
                format!("answered {text}")
            }
            "no" => {
                let rejected =
                    json!({ "toolUseResult": "User rejected tool use", "toolDenialKind": "user-rejected" });
                self.result(&open.call, true, &rejected)?;
                // Esc ends a hook by a signal; no other hook reports it.
                if let Some(hook) = open.hook {
                    self.left.push(terminate(hook.process).await);
                }
                say(json!({ "closed": "keyboard", "told": "rejected" }))?;
                return Ok(None);
            }
            "chat" => {
                self.result(&open.call, true, &json!({}))?;
                self.after("Stop", &open.call, &Value::Null).await?;
                "chat".to_owned()
            }
            _ => {
                say(json!({ "ignored": line }))?;
                return Ok(Some(open));
            }
        };
        // Claude Code does not end a hook whose dialog was answered at the keyboard.
        self.left.extend(open.hook.map(|hook| hook.process));
        say(json!({ "closed": "keyboard", "told": told }))?;
        Ok(None)
    }

    async fn open(&mut self, word: &str) -> io::Result<Option<Dialog>> {
        self.calls += 1;
        let Some(call) = Call::of(word, self.calls) else {
            say(json!({ "unknown": word }))?;
            return Ok(None);
        };
        let used = json!({ "type": "tool_use", "id": call.id, "name": call.tool, "input": call.input });
        // The call is written before the hook starts, because the hook looks for its call in the transcript.
        self.write(&json!({ "type": "assistant", "message": { "role": "assistant", "content": [used] } }))?;
        let command = self.hooks.of(call.event, call.tool).next().map(str::to_owned);
        let hook = match command {
            Some(command) => {
                let process = start(&command, &self.stdin(call.event, &call, &call.input)).await?;
                Some(DialogHook { process, stdout: Vec::new() })
            }
            None => None,
        };
        say(json!({ "dialog": word }))?;
        Ok(Some(Dialog { call, hook }))
    }

    /// Closes the dialog, if the output of its hook does so.
    fn decided(
        &mut self,
        dialog: Option<Dialog>,
        (code, stdout): (Option<i32>, Vec<u8>),
    ) -> io::Result<Option<Dialog>> {
        let Some(Dialog { call, .. }) = dialog else { return Ok(None) };
        match call::told(&call, code, &stdout) {
            Some(told) => {
                self.result(&call, false, &json!({ "permissionDecision": { "source": "hook" } }))?;
                say(json!({ "closed": "hook", "told": told }))?;
                Ok(None)
            }
            None => {
                // As in Claude Code, the dialog stays open for the keyboard.
                say(json!({ "hook": "no decision" }))?;
                Ok(Some(Dialog { call, hook: None }))
            }
        }
    }

    async fn exit(mut self, dialog: Option<Dialog>) -> io::Result<()> {
        // Any call will do: with a null input, the stdin of the hook names no tool.
        let call = Call::of("ask", 0);
        self.left.extend(dialog.and_then(|dialog| dialog.hook).map(|hook| hook.process));
        for hook in std::mem::take(&mut self.left) {
            drop(terminate(hook).await);
        }
        match call {
            Some(call) => self.after("SessionEnd", &call, &Value::Null).await,
            None => Ok(()),
        }
    }

    /// Runs the hooks of an event to their end.
    async fn after(&mut self, event: &str, call: &Call, input: &Value) -> io::Result<()> {
        let commands: Vec<_> = self.hooks.of(event, call.tool).map(str::to_owned).collect();
        for command in commands {
            start(&command, &self.stdin(event, call, input)).await?.wait_with_output().await?;
        }
        Ok(())
    }

    fn stdin(&self, event: &str, call: &Call, input: &Value) -> String {
        let mut stdin = json!({
            "session_id": self.settings.session,
            "transcript_path": self.settings.transcript,
            "cwd": std::env::current_dir().unwrap_or_default(),
            "permission_mode": "default",
            "hook_event_name": event,
        });
        if !call.tool.is_empty() && !input.is_null() {
            stdin["tool_name"] = call.tool.into();
            stdin["tool_input"] = input.clone();
        }
        for (name, value) in call.more.as_object().into_iter().flatten() {
            stdin[name] = value.clone();
        }
        stdin.to_string()
    }

    fn result(&mut self, call: &Call, is_error: bool, more: &Value) -> io::Result<()> {
        let result =
            json!({ "type": "tool_result", "tool_use_id": call.id, "is_error": is_error, "content": "" });
        let mut line = json!({ "type": "user", "message": { "role": "user", "content": [result] } });
        for (name, value) in more.as_object().into_iter().flatten() {
            line[name] = value.clone();
        }
        self.write(&line)
    }

    fn write(&mut self, line: &Value) -> io::Result<()> {
        self.transcript.write_all(format!("{line}\n").as_bytes())
    }
}

/// Waits until the hook of a dialog has ended, and returns its exit code and its stdout. Cancel safe.
async fn ended(dialog: &mut Option<Dialog>) -> io::Result<(Option<i32>, Vec<u8>)> {
    let Some(hook) = dialog.as_mut().and_then(|dialog| dialog.hook.as_mut()) else {
        return std::future::pending().await;
    };
    // The output is read first: a hook does not end while its pipe is full.
    if let Some(pipe) = &mut hook.process.stdout {
        while pipe.read_buf(&mut hook.stdout).await? > 0 {}
    }
    let status = hook.process.wait().await?;
    Ok((status.code(), std::mem::take(&mut hook.stdout)))
}

/// Sends SIGTERM to the process group of a hook, and SIGKILL to a hook that has not ended in time.
async fn terminate(mut hook: Child) -> Child {
    let group = hook.id().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed()));
    let is_sent = group.is_some_and(|group| kill_process_group(group, Signal::TERM).is_ok());
    if is_sent && timeout(TERMINATED, hook.wait()).await.is_err() {
        say(json!({ "killed": hook.id() })).unwrap_or_default();
        // Ignore the error: the hook may have ended in the meantime.
        drop(hook.kill().await);
    }
    hook
}

/// The hooks of a plugin, by their events.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Hooks {
    hooks: BTreeMap<String, Vec<HookMatcher>>,
}

#[derive(Clone, Debug, Deserialize)]
struct HookMatcher {
    #[serde(default)]
    matcher: Option<String>,
    hooks: Vec<Hook>,
}

#[derive(Clone, Debug, Deserialize)]
struct Hook {
    command: String,
}

impl Hooks {
    /// Reads a `hooks.json`.
    ///
    /// # Errors
    /// The file cannot be read, or has another shape.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&std::fs::read(path)?)?)
    }

    /// Returns the commands for an event of this tool.
    pub fn of<'a>(&'a self, event: &str, tool: &'a str) -> impl Iterator<Item = &'a str> {
        let fits = move |matched: &&HookMatcher| match matched.matcher.as_deref() {
            None | Some("" | "*") => true,
            Some(matcher) => matcher.split('|').any(|name| name == tool),
        };
        let matched = self.hooks.get(event).into_iter().flatten().filter(fits);
        matched.flat_map(|matched| &matched.hooks).map(|hook| hook.command.as_str())
    }
}

/// Starts a hook and writes `stdin` to it.
///
/// # Errors
/// The shell cannot be started.
pub async fn start(command: &str, stdin: &str) -> io::Result<Child> {
    let mut hook = Command::new("sh")
        .args(["-c", command])
        .env("CLAUDE_PID", std::process::id().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // The shell may start children, which `terminate` reaches only as a group.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()?;
    if let Some(mut pipe) = hook.stdin.take() {
        // Ignore the error: a hook may end without reading its stdin.
        drop(pipe.write_all(stdin.as_bytes()).await);
    }
    Ok(hook)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A generous guard against hangs.
    const DEADLINE: Duration = Duration::from_secs(60);
    /// More than any pipe holds.
    const LONG: usize = 1 << 21;

    #[test]
    fn a_hook_with_more_output_than_a_pipe_holds_is_read_to_its_end() {
        let played = async {
            let print = format!("head -c {LONG} /dev/zero; exec sh -c 'exit 3'");
            let hook = DialogHook { process: start(&print, "").await?, stdout: Vec::new() };
            let call = Call::of("ask", 1).ok_or(io::ErrorKind::NotFound)?;
            let mut dialog = Some(Dialog { call, hook: Some(hook) });
            // Whatever else happens meanwhile, such as a typed line, loses no output.
            for _ in 0..10 {
                tokio::select! {
                    biased;
                    _ = ended(&mut dialog) => {}
                    () = tokio::task::yield_now() => {}
                }
            }
            timeout(DEADLINE, ended(&mut dialog)).await?
        };
        let runtime = askbridge_os::signals::runtime().expect("a runtime");
        let (code, stdout) = runtime.block_on(played).expect("the end of the hook");
        assert_eq!((code, stdout.len()), (Some(3), LONG));
    }
}
