//! Explains why a machine cannot be reached, and what to do about it. ssh has one exit code for all of its errors, so
//! the texts below recognize its messages: they are those of OpenSSH, in English.

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
    /// The end of what it wrote to stderr.
    pub said: Vec<u8>,
}

/// Adds to the end of a text, of which only the last lines are kept.
pub(super) fn tail_of(kept: &mut Vec<u8>, bytes: &[u8]) {
    kept.extend_from_slice(bytes);
    if kept.len() > SAID {
        kept.drain(..kept.len() - SAID);
    }
}

/// Texts of OpenSSH, and what they mean.
const SSH: [(&str, &str); 10] = [
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "its host key has changed: if you expect that, remove the old key as ssh says",
    ),
    (
        "Host key verification failed",
        "its host key is not known: `askbridge machine connect {name}` shows it",
    ),
    ("Permission denied", "ssh was refused: `askbridge machine connect {name}` asks for what it needs"),
    ("Could not resolve hostname", "the host does not exist"),
    ("No route to host", "no route to the host"),
    ("Network is unreachable", "the network is unreachable"),
    ("Connection refused", "no ssh server listens there"),
    ("timed out", "the host does not reply"),
    ("Connection reset", "the host closed the connection"),
    ("Connection closed", "the host closed the connection"),
];

/// Returns why no `askbridge dial` replied, from the way in which its command ended.
pub(super) fn why_not(name: &str, ended: &Ended) -> String {
    let said = String::from_utf8_lossy(&ended.said);
    if let Some((_, meaning)) = SSH.iter().find(|(text, _)| said.contains(text)) {
        return meaning.replace("{name}", name);
    }
    // `sh` exits with 127 if the program does not exist; docker only prints a message.
    if ended.code == Some(127) || said.contains("executable file not found") {
        return "askbridge is not installed there, or not on its PATH: https://github.com/askbridge/askbridge says how"
            .to_owned();
    }
    if said.contains("unrecognized subcommand") {
        return "the askbridge there has no `dial` command: upgrade it".to_owned();
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
        why_not("box", &Ended { code, said: said.as_bytes().to_vec() })
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
