//! Permissions that are decided together, as a list: each with all that it would do.

use std::sync::Arc;

use askbridge_core::desk::Record;
use askbridge_os::terminal::printable_line;

use super::{
    subject::{SubjectText, command},
    text,
};

/// Returns the lines of a list: a command is one line, anything else has its whole subject below it.
pub fn list(records: &[Arc<Record>], columns: usize) -> Vec<String> {
    records.iter().flat_map(|record| entry(record, columns)).collect()
}

fn entry(record: &Record, columns: usize) -> Vec<String> {
    let question = &record.question;
    if let Some(command) = command(question) {
        let subject = question.subject.as_deref();
        let folder = subject.and_then(|subject| subject.folder.as_deref());
        let folder = folder.filter(|folder| question.project.as_deref() != Some(*folder));
        let folder = folder.map(|folder| format!("  in {}", printable_line(folder))).unwrap_or_default();
        // A line that is wrapped here could not be copied.
        return vec![format!("{}  {}{folder}", record.id, command.trim_end())];
    }
    let subject = SubjectText { question, columns, colour: false, whole: true }.to_string();
    let head = format!("{}  {}", record.id, printable_line(&text::headline(record)));
    std::iter::once(head).chain(subject.lines().filter(|line| !line.is_empty()).map(str::to_owned)).collect()
}

/// Returns how many they are, for a question: `all 4`.
pub fn all(count: usize) -> String {
    if count == 1 { "it".to_owned() } else { format!("all {count}") }
}
