//! Outcomes, refusals, times and answers in words. Text of an agent is made printable here (I10).

use std::{
    io,
    time::{Duration, SystemTime},
};

use serde::Serialize;

use crate::{
    desk::{Record, Refusal, Settlement, State, Timestamp},
    question::{Answer, Outcome, Provenance, Responder, Value},
    terminal::{cut, printable_json, printable_line},
};

/// The most columns of a question on one line.
const HEADING: usize = 80;

/// Returns a value as JSON, over several lines.
pub fn json(value: &impl Serialize) -> io::Result<String> {
    Ok(printable_json(&serde_json::to_string_pretty(value)?).into_owned() + "\n")
}

/// Returns a value as JSON on one line.
pub fn json_line(value: &impl Serialize) -> io::Result<String> {
    Ok(printable_json(&serde_json::to_string(value)?).into_owned() + "\n")
}

/// Returns a time span in one unit.
pub fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7200 => format!("{}m", seconds / 60),
        7200..172_800 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Returns how long ago a time is.
pub fn since(time: Timestamp) -> Duration {
    Timestamp::from(SystemTime::now()).since(time)
}

/// Returns how far away a time is.
pub fn until(time: Timestamp) -> Duration {
    time.since(SystemTime::now().into())
}

/// Returns where a question is shown, or that its answer is on its way to the agent.
pub fn place(record: &Record) -> &'static str {
    match record.state {
        State::Delivering => "delivering",
        _ if record.elsewhere => "elsewhere",
        _ => "client",
    }
}

/// Returns a text on one line that takes no more columns than this.
pub fn short(text: &str, most: usize) -> String {
    cut(&printable_line(text.trim()), most).into_owned()
}

/// Returns what a question asks, on one line.
pub fn heading(record: &Record) -> String {
    short(record.question.heading(), HEADING)
}

/// Returns how a question was settled.
pub fn settlement(settlement: &Settlement) -> String {
    let by = by(&settlement.by);
    let said = match &settlement.outcome {
        Outcome::Answered(answered) => format!("answered by {by}: {}", answer(answered)),
        Outcome::Rejected(reason) => format!("rejected by {by}, {}", reason.name()),
        Outcome::Failed => format!("left to the agent by {by}"),
        other => format!("{} by {by}", printable_line(other.status())),
    };
    let remark = settlement.remark.as_ref().map(|remark| format!(": {}", printable_line(remark)));
    said + &remark.unwrap_or_default()
}

fn by(by: &Provenance) -> String {
    let responder = match &by.responder {
        Responder::Client => "the client",
        Responder::Bridge => "the bridge",
        Responder::CommandLine => "the command line",
        Responder::Http => "HTTP",
        Responder::Rpc => "JSON-RPC",
        Responder::Other(other) => &printable_line(other.as_str()),
    };
    match &by.name {
        Some(name) => format!("{responder} ({})", printable_line(name)),
        None => responder.to_owned(),
    }
}

/// Returns an answer on one line.
pub fn answer(answer: &Answer) -> String {
    let values = answer.values.iter().map(|(name, value)| {
        let values: Vec<_> = values(value).iter().map(|text| printable_line(text).into_owned()).collect();
        format!("{}={}", printable_line(name), values.join(", "))
    });
    let notes = answer
        .notes
        .iter()
        .map(|(name, note)| format!("note {}={}", printable_line(name), printable_line(note)));
    let all: Vec<_> = values.chain(notes).collect();
    if all.is_empty() { "nothing to show".to_owned() } else { all.join("; ") }
}

/// Returns the texts of a value.
pub fn values(value: &Value) -> Vec<String> {
    match value {
        Value::Text(text) => vec![text.clone()],
        Value::Many(texts) => texts.clone(),
        Value::Flag(flag) => vec![flag.to_string()],
        Value::Number(number) => vec![number.to_string()],
    }
}

/// Returns why a submission was refused, and how the question was settled.
pub fn refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Conflict(record) | Refusal::Gone(record) => match &record.settlement {
            Some(settled) => format!("{} ago it was {}", span(since(settled.at)), settlement(settled)),
            None => refusal.to_string(),
        },
        Refusal::NotFound => {
            "there is no such question: `askbridge list` shows those that are open".to_owned()
        }
        _ => refusal.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn span_has_one_unit() {
        for (seconds, said) in
            [(0, "0s"), (119, "119s"), (120, "2m"), (7199, "119m"), (7200, "2h"), (172_800, "2d")]
        {
            assert_eq!(span(Duration::from_secs(seconds)), said);
        }
    }

    #[test]
    fn time_in_the_other_direction_is_none_away() {
        let past = Timestamp::default();
        assert_eq!(until(past), Duration::ZERO);
        assert_eq!(since(past.after(Duration::MAX)), Duration::ZERO);
        assert!(since(past) > Duration::from_secs(1));
    }

    #[test]
    fn answer_is_one_printable_line() {
        let values = BTreeMap::from([
            ("a".to_owned(), Value::Many(vec!["x".to_owned(), "y\nz".to_owned()])),
            ("b".to_owned(), Value::Flag(true)),
        ]);
        let notes = BTreeMap::from([("a".to_owned(), "\x1b".to_owned())]);
        assert_eq!(answer(&Answer { values, notes }), "a=x, y\u{240a}z; b=true; note a=\u{241b}");
        assert_eq!(answer(&Answer::default()), "nothing to show");
    }
}
