//! What a listing leaves out, in words: a line for each reason.

use std::path::{Path, PathBuf};

use crate::{machine::Gaps, terminal::printable_line};

/// Returns a line for each reason why questions are left out.
pub fn gap_lines(gaps: &Gaps) -> Vec<String> {
    let missing = unreachable(gaps).chain(busy(gaps)).map(|why| format!("questions may be missing: {why}"));
    let mut lines: Vec<_> = missing.chain(gaps.older.iter().map(|path| older(path))).collect();
    lines.extend(count(gaps.unreadable, "needs a newer askbridge", "need a newer askbridge"));
    let full = "left out: there is no room for more";
    lines.extend(count(gaps.left_out, &format!("is {full}"), &format!("are {full}")));
    lines
}

/// Says which bridges could not be asked, on one line.
pub fn unasked(gaps: &Gaps) -> String {
    let older = gaps.older.iter().map(|path| older(path));
    unreachable(gaps).chain(busy(gaps)).chain(older).collect::<Vec<_>>().join("; ")
}

fn unreachable(gaps: &Gaps) -> impl Iterator<Item = String> + use<> {
    bridges(&gaps.unreachable, "did not reply", "did not reply")
}

fn busy(gaps: &Gaps) -> impl Iterator<Item = String> + use<> {
    bridges(&gaps.busy, "is too busy", "are too busy")
}

/// Says something of the bridges behind these sockets, if there are any.
fn bridges(sockets: &[PathBuf], one: &str, several: &str) -> impl Iterator<Item = String> + use<> {
    let names: Vec<_> = sockets.iter().map(|path| path.display().to_string()).collect();
    let which = match names.len() {
        0 => None,
        1 => Some(format!("a bridge {one}")),
        count => Some(format!("{count} bridges {several}")),
    };
    which.map(|which| printable_line(&format!("{which}: {}", names.join(", "))).into_owned()).into_iter()
}

/// Says that a bridge speaks an older protocol, and what to do.
pub(super) fn older(path: &Path) -> String {
    let socket = path.display().to_string();
    format!("{} speaks an older protocol: restart the agent that it wraps", printable_line(&socket))
}

fn count(count: usize, one: &str, several: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 question {one}")),
        _ => Some(format!("{count} questions {several}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_one_line() {
        let mut gaps = Gaps::default();
        assert_eq!(gap_lines(&gaps), [""; 0]);
        gaps.unreadable = 1;
        assert_eq!(gap_lines(&gaps), ["1 question needs a newer askbridge"]);
        gaps.unreadable = 2;
        gaps.left_out = 1;
        gaps.unreachable = vec!["/r/a.sock".into(), "/r/b.sock".into()];
        gaps.busy = vec!["/r/c.sock".into()];
        gaps.older = vec!["/r/old.sock".into()];
        assert_eq!(
            gap_lines(&gaps),
            [
                "questions may be missing: 2 bridges did not reply: /r/a.sock, /r/b.sock",
                "questions may be missing: a bridge is too busy: /r/c.sock",
                "/r/old.sock speaks an older protocol: restart the agent that it wraps",
                "2 questions need a newer askbridge",
                "1 question is left out: there is no room for more",
            ]
        );
        assert_eq!(
            unasked(&gaps),
            "2 bridges did not reply: /r/a.sock, /r/b.sock; a bridge is too busy: /r/c.sock; \
             /r/old.sock speaks an older protocol: restart the agent that it wraps"
        );
    }
}
