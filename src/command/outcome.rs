//! The outcome of a question as `askbridge ask` and `askbridge wait` print it, and the exit code for it.

use std::io::{self, IsTerminal};

use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Settlement},
    question::{Answer, Kind, Outcome, Question, Reason, Value},
};
use askbridge_os::{exit, terminal::printable};

use super::{
    CommandError,
    runner::{done, say},
};
use crate::present::text;

/// What of a question decides how its outcome is printed.
pub(super) struct AskedForm {
    /// The names of the fields in their order: the values of an answer are sorted by name.
    names: Vec<String>,
    /// Whether it is a confirmation, whose exit code says yes or no.
    confirms: bool,
}

impl AskedForm {
    pub(super) fn of(question: &Question) -> Self {
        let names = question.fields.iter().map(|field| field.name.clone()).collect();
        let confirms = matches!(&*question.fields, [field] if matches!(field.kind, Kind::Confirm { .. }));
        AskedForm { names, confirms }
    }

    /// Prints the answer, or the whole outcome as JSON, and returns the exit code.
    pub(super) fn tell(&self, settled: &Settlement, json: bool) -> Result<u8, CommandError> {
        let code = self.code(settled);
        if json {
            return Ok(done(code, &text::json(settled)?));
        }
        let Outcome::Answered(answer) = &settled.outcome else { return Ok(code) };
        let values = self.names.iter().filter_map(|name| answer.values.get(name));
        Ok(done(code, &lines(values.flat_map(|value| self.values_of(value)))))
    }

    /// Returns the exit code for the outcome of the question, and prints the outcome on stderr unless it is an answer.
    fn code(&self, settled: &Settlement) -> u8 {
        match &settled.outcome {
            Outcome::Answered(answer) if self.confirms && !is_yes(answer) => exit::REJECTED,
            Outcome::Answered(_) => exit::OK,
            Outcome::Rejected(Reason::Timeout) => {
                say("no answer came in time");
                exit::TIMED_OUT
            }
            Outcome::Rejected(_) | Outcome::Failed | Outcome::Unknown(_) => {
                say(&format!("the question was {}", text::settlement(settled)));
                // A rejected confirmation is neither a yes nor a no, so it must not exit with the code of either.
                if self.confirms { exit::UNCONFIRMED } else { exit::REJECTED }
            }
        }
    }

    /// Returns the lines to print for a value: several for an answer with several options.
    fn values_of(&self, value: &Value) -> Vec<String> {
        match value {
            Value::Flag(flag) if self.confirms => vec![if *flag { "yes" } else { "no" }.to_owned()],
            value => text::values(value),
        }
    }
}

/// Prints how a question is over, and returns the exit code.
pub(super) fn tell(record: &Record, json: bool) -> Result<u8, CommandError> {
    match &record.settlement {
        Some(settled) => AskedForm::of(&record.question).tell(settled, json),
        None => Err(CommandError::Refused(record.id.to_string(), Refusal::Unavailable)),
    }
}

/// Returns how a question can be answered.
pub(super) fn waits(id: &QuestionId) -> String {
    format!("question {id} waits: askbridge answer {id} shows it and asks you")
}

/// Returns whether a confirmation was given. Any answer other than yes is a no.
fn is_yes(answer: &Answer) -> bool {
    answer.values.values().eq([&Value::Flag(true)])
}

/// Prints each value on a line of its own: raw for a program, printable for a terminal.
fn lines(values: impl Iterator<Item = String>) -> String {
    let text: String = values.map(|value| value + "\n").collect();
    if io::stdout().is_terminal() { printable(&text).into_owned() } else { text }
}
