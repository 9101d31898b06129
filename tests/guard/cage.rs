//! A cage for commands that nobody has read: bubblewrap shows them this system, and they can change nothing of it. They have
//! one folder, a `/tmp` and a `/dev` of their own, no network, and no process but theirs. What runs in it is left to `shells`.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// How long the commands of one run may take. They take some seconds.
const DEADLINE: &str = "100";

/// A cage that works here.
pub(crate) struct Cage(PathBuf);

impl Cage {
    /// Tries whether there is a cage.
    ///
    /// # Errors
    /// Why there is none, and what to do.
    pub(crate) fn new() -> Result<Self, String> {
        let Some(program) = installed("bwrap") else {
            return Err("there is no `bwrap`: install bubblewrap (`apt-get install bubblewrap`)".to_owned());
        };
        let cage = Cage(program);
        let folder = tempfile::tempdir().expect("a folder");
        let tried = cage.command(folder.path(), &[]).args(["/bin/sh", "-c", ": >a"]).output();
        let tried = tried.map_err(|error| format!("bubblewrap does not start: {error}"))?;
        if tried.status.success() && folder.path().join("a").exists() {
            return Ok(cage);
        }
        Err(format!(
            "bubblewrap makes no cage here ({}): allow user namespaces (`kernel.unprivileged_userns_clone`, \
             `kernel.apparmor_restrict_unprivileged_userns`, the container's seccomp profile), or run elsewhere",
            String::from_utf8_lossy(&tried.stderr).trim()
        ))
    }

    /// Returns the cage. Without it, the tests of every day leave out what needs it, and say so; a long run fails.
    pub(crate) fn find(what: &str) -> Option<Self> {
        let why = match Cage::new() {
            Ok(cage) => return Some(cage),
            Err(why) => why,
        };
        let is_long = std::env::var_os("GUARD").is_some();
        assert!(!is_long, "{what} runs random commands, and only in a cage: {why}");
        writeln!(std::io::stderr(), "{what}: LEFT OUT, since {why}").expect("stderr");
        None
    }

    /// Returns the beginning of a command in the cage, which may write this folder only. Each pair is a file that stands in
    /// the place of another one.
    pub(crate) fn command(&self, folder: &Path, instead: &[(PathBuf, PathBuf)]) -> Command {
        // A cage that hangs would outlive the test.
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", DEADLINE]).arg(&self.0);
        command.args([
            "--ro-bind",
            "/",
            "/",
            "--tmpfs",
            "/tmp",
            "--dev",
            "/dev",
            "--proc",
            "/proc",
            "--bind",
        ]);
        command.arg(folder).arg(folder);
        for (file, place) in instead {
            command.arg("--ro-bind").arg(file).arg(place);
        }
        command.args(["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--chdir"]);
        command.arg(folder).arg("--");
        command.stdin(Stdio::null());
        command
    }
}

/// Returns where a program of this system is.
pub(crate) fn installed(name: &str) -> Option<PathBuf> {
    let folders = ["/usr/bin", "/bin", "/usr/local/bin"];
    folders.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}
