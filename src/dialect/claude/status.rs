//! What Claude Code writes down of its terminal while it runs: whether a dialog waits for the person.
//!
//! A permission that was given at the keyboard is told by nothing else until the tool has ended, which may take hours.
//! Nothing of it is documented: without it, the transcript and the hooks tell the same, later.

use serde::Deserialize;

/// Watches for the moment from which no dialog waits.
#[derive(Debug, Default)]
pub struct Status {
    has_waited: bool,
    /// How often in a row no dialog waited.
    looks: u8,
}

/// Looks without a dialog after which none is coming: one dialog may follow another.
const LOOKS: u8 = 2;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatusFile<'a> {
    session_id: &'a str,
    status: &'a str,
}

impl Status {
    /// Returns the name of the file in the folder `sessions`, beside the folder of the transcripts.
    pub fn file(pid: u32) -> String {
        format!("{pid}.json")
    }

    /// Reads the file. Returns whether a dialog of this session waited before, and none waits any more.
    pub fn has_ended(&mut self, session: &str, file: &[u8]) -> bool {
        // What is just being written is read the next time.
        let written = serde_json::from_slice::<StatusFile<'_>>(file).ok();
        match written.filter(|written| written.session_id == session).map(|written| written.status) {
            Some("waiting") => *self = Status { has_waited: true, looks: 0 },
            Some("busy" | "idle") if self.has_waited => self.looks = self.looks.saturating_add(1),
            _ => {}
        }
        self.looks >= LOOKS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITS: &[u8] = br#"{"pid":7,"sessionId":"s","kind":"interactive","status":"waiting","updatedAt":1,"waitingFor":"permission prompt"}"#;
    const BUSY: &[u8] = br#"{"pid":7,"sessionId":"s","kind":"interactive","status":"busy","updatedAt":2}"#;

    #[test]
    fn a_dialog_has_ended_once_none_waits_for_two_looks() {
        let mut status = Status::default();
        for (file, has_ended) in [
            (BUSY, false),
            (BUSY, false),
            (BUSY, false),
            (WAITS, false),
            (BUSY, false),
            (WAITS, false),
            (b"", false),
            (BUSY, false),
            (b"{", false),
            (BUSY, true),
        ] {
            assert_eq!(status.has_ended("s", file), has_ended, "{}", String::from_utf8_lossy(file));
        }
    }

    #[test]
    fn another_session_and_another_status_say_nothing() {
        let mut status = Status::default();
        assert!(!status.has_ended("s", WAITS));
        for _ in 0..3 {
            assert!(!status.has_ended("x", BUSY));
            assert!(!status.has_ended("s", br#"{"sessionId":"s","status":"new"}"#));
            assert!(!status.has_ended("s", br#"{"sessionId":"s"}"#));
        }
    }
}
