//! Explains why a machine cannot be reached, and what to do about it. ssh has one exit code for all of its errors, so
//! the texts below recognize its messages: they are those of OpenSSH, in English.

use std::fmt;

use askbridge_os::terminal::printable_line;

/// The most bytes of stderr that are kept, from its end.
const SAID: usize = 4096;
/// The most characters of a message that are quoted.
const REPEATED: usize = 200;

/// How the process of a route ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Ended {
    /// Its exit code. `None` if a signal ended it, or if it has not ended.
    pub code: Option<i32>,
    /// The last bytes that it wrote to stderr.
    pub said: Vec<u8>,
    /// Whether the person was at its terminal, where ssh wrote its own messages.
    pub at_terminal: bool,
    /// Whether a task of this process wrote `said`: nothing in it is a message of ssh.
    pub is_ours: bool,
}

/// The reason why a machine cannot be reached. It is displayed with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    what: String,
    lacks: Option<Lacks>,
    machine: String,
}

/// What ssh lacks. It can ask for both at a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lacks {
    /// The user's consent to the host's key.
    HostKey,
    /// A key or a password that the host accepts.
    Credentials,
}

impl Failure {
    /// Returns a reason that a first connection at a terminal would not change.
    pub(super) fn new(what: impl Into<String>) -> Self {
        Failure { what: what.into(), lacks: None, machine: String::new() }
    }

    /// Returns whether ssh wrote the reason to the terminal alone.
    pub fn is_shown_above(&self) -> bool {
        self.what == SHOWN_ABOVE
    }

    /// Returns the reason, and what to do after ssh could ask at a terminal: nothing of that is to let it ask again.
    pub fn without_terminal(&self, host: &str) -> String {
        let Failure { what, .. } = self;
        match self.lacks {
            Some(Lacks::Credentials) => format!(
                "{what}: `ssh-copy-id {host}` gives the machine a key of yours, `ssh-add` unlocks one with a passphrase"
            ),
            Some(Lacks::HostKey) | None => what.clone(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { what, machine, .. } = self;
        match self.lacks {
            Some(Lacks::HostKey) => write!(f, "{what}: `askbridge machine connect {machine}` shows it"),
            Some(Lacks::Credentials) => {
                write!(f, "{what}: `askbridge machine connect {machine}` asks for what it needs")
            }
            None => f.write_str(what),
        }
    }
}

/// Adds to the end of a text, of which only the last lines are kept.
pub(super) fn tail_of(kept: &mut Vec<u8>, bytes: &[u8]) {
    kept.extend_from_slice(bytes);
    if kept.len() > SAID {
        kept.drain(..kept.len() - SAID);
    }
}

/// Texts of OpenSSH, and what they mean.
const SSH: [(&str, &str, Option<Lacks>); 10] = [
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "its host key has changed: if you expect that, remove the old key as ssh says",
        None,
    ),
    ("Host key verification failed", "its host key is not known", Some(Lacks::HostKey)),
    ("Permission denied", "ssh was refused", Some(Lacks::Credentials)),
    ("Could not resolve hostname", "the host does not exist", None),
    ("No route to host", "no route to the host", None),
    ("Network is unreachable", "the network is unreachable", None),
    ("Connection refused", "no ssh server listens there", None),
    ("timed out", "the host does not reply", None),
    ("Connection reset", "the host closed the connection", None),
    ("Connection closed", "the host closed the connection", None),
];
/// The reason where only the terminal has it.
const SHOWN_ABOVE: &str = "ssh says above why";
/// The exit code of ssh for all errors of its own.
const OF_SSH: i32 = 255;

/// Returns why no `askbridge dial` replied, from the way in which its command ended.
pub(super) fn why_not(name: &str, ended: &Ended) -> Failure {
    let said = String::from_utf8_lossy(&ended.said);
    match SSH.iter().find(|(text, ..)| !ended.is_ours && said.contains(text)) {
        Some((_, what, lacks)) => {
            Failure { what: (*what).to_owned(), lacks: *lacks, machine: name.to_owned() }
        }
        None => Failure::new(what_else(&said, ended)),
    }
}

fn what_else(said: &str, ended: &Ended) -> String {
    // `sh` exits with 127 if the program does not exist; docker only prints a message.
    if ended.code == Some(127) || said.contains("executable file not found") {
        return "askbridge is not installed there, or not on its PATH: https://github.com/askbridge/askbridge says how"
            .to_owned();
    }
    if said.contains("unrecognized subcommand") {
        return "the askbridge there has no `dial` command: upgrade it".to_owned();
    }
    if ended.at_terminal && ended.code == Some(OF_SSH) {
        return SHOWN_ABOVE.to_owned();
    }
    let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty());
    match (last, ended.code) {
        (Some(line), _) => repeated(line),
        (None, Some(code)) => {
            format!("its command ended with exit code {code}, and printed nothing on stderr")
        }
        (None, None) => "its command ended without the greeting of askbridge".to_owned(),
    }
}

/// Returns a line of another program, made printable and cut to a limit.
pub(super) fn repeated(line: &str) -> String {
    printable_line(line).chars().take(REPEATED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(code: Option<i32>, said: &str) -> String {
        failure(code, said).to_string()
    }

    fn failure(code: Option<i32>, said: &str) -> Failure {
        why_not("box", &Ended { code, said: said.as_bytes().to_vec(), ..Ended::default() })
    }

    #[test]
    fn what_to_do_depends_on_whether_the_person_was_asked() {
        let refused = failure(Some(255), "me@box: Permission denied (publickey,password).\r\n");
        assert!(refused.without_terminal("me@box").contains("`ssh-copy-id me@box`"), "{refused:?}");
        let shown = why_not("box", &Ended { code: Some(255), at_terminal: true, ..Ended::default() });
        assert!(shown.is_shown_above() && !refused.is_shown_above());
        let of_broker = "the broker cannot be reached: Connection refused";
        let ours = Ended { said: of_broker.into(), is_ours: true, ..Ended::default() };
        assert_eq!(why_not("box", &ours).to_string(), of_broker);
    }

    #[test]
    fn each_failure_says_what_to_do() {
        for (code, said, shown) in [
            (
                255,
                "ssh: Could not resolve hostname box: Name or service not known\r\n",
                "the host does not exist",
            ),
            (
                255,
                "me@box: Permission denied (publickey).\r\n",
                "ssh was refused: `askbridge machine connect box`",
            ),
            (
                255,
                "Host key verification failed.\r\n",
                "its host key is not known: `askbridge machine connect box`",
            ),
            (
                255,
                "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
                "has changed",
            ),
            (255, "ssh: connect to host box port 22: No route to host\r\n", "no route to the host"),
            (255, "ssh: connect to host box port 22: Connection timed out\r\n", "the host does not reply"),
            (127, "sh: 1: exec: askbridge: not found\n", "askbridge is not installed there"),
            (
                2,
                "error: unrecognized subcommand 'dial'\n\nUsage: askbridge",
                "has no `dial` command: upgrade it",
            ),
            (1, "Error response from daemon: No such container: dev\n", "No such container: dev"),
            (3, "", "ended with exit code 3"),
        ] {
            assert!(why(Some(code), said).contains(shown), "{said}: {}", why(Some(code), said));
        }
    }

    #[test]
    fn what_another_program_says_cannot_change_the_screen_and_is_bounded() {
        let shown = why(Some(1), &format!("\u{1b}[2J{}", "x".repeat(5000)));
        assert!(!shown.contains('\u{1b}') && shown.chars().count() == REPEATED, "{shown}");
        let mut kept = Vec::new();
        for _ in 0..100 {
            tail_of(&mut kept, &[b'x'; 3000]);
        }
        assert_eq!(kept.len(), SAID);
    }
}
