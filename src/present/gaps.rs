//! What a listing leaves out, in words: a line for each reason.

use std::path::Path;

use crate::{machine::Gaps, terminal::printable_line};

/// Returns a line for each reason why questions are left out.
pub fn lines(gaps: &Gaps) -> Vec<String> {
    let unreachable = unreachable(gaps).map(|sockets| format!("questions may be missing: {sockets}"));
    let mut lines: Vec<_> =
        unreachable.into_iter().chain(gaps.older.iter().map(|path| older(path))).collect();
    lines.extend(count(gaps.unreadable, "needs a newer askbridge", "need a newer askbridge"));
    let full = "left out: there is no room for more";
    lines.extend(count(gaps.left_out, &format!("is {full}"), &format!("are {full}")));
    lines
}

/// Says which bridges did not reply, on one line.
pub fn unasked(gaps: &Gaps) -> String {
    let older = gaps.older.iter().map(|path| older(path));
    unreachable(gaps).into_iter().chain(older).collect::<Vec<_>>().join("; ")
}

fn unreachable(gaps: &Gaps) -> Option<String> {
    let sockets: Vec<_> = gaps.unreachable.iter().map(|path| path.display().to_string()).collect();
    let count = match sockets.len() {
        0 => return None,
        1 => "a bridge".to_owned(),
        several => format!("{several} bridges"),
    };
    Some(printable_line(&format!("{count} did not reply: {}", sockets.join(", "))).into_owned())
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
        assert_eq!(lines(&gaps), [""; 0]);
        gaps.unreadable = 1;
        assert_eq!(lines(&gaps), ["1 question needs a newer askbridge"]);
        gaps.unreadable = 2;
        gaps.left_out = 1;
        gaps.unreachable = vec!["/r/a.sock".into(), "/r/b.sock".into()];
        gaps.older = vec!["/r/old.sock".into()];
        assert_eq!(
            lines(&gaps),
            [
                "questions may be missing: 2 bridges did not reply: /r/a.sock, /r/b.sock",
                "/r/old.sock speaks an older protocol: restart the agent that it wraps",
                "2 questions need a newer askbridge",
                "1 question is left out: there is no room for more",
            ]
        );
    }
}
