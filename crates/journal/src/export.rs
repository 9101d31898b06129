//! The whole journal as lines of JSON, for other programs.

use std::collections::VecDeque;

use askbridge_control::inbox::HistoryFilter;
use data_encoding::HEXLOWER;
use rusqlite::{
    Row, params,
    types::ValueRef::{self, Null},
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{Break, BreakKind, History, JournalError, verify::time_of};
use crate::limits;

impl History {
    /// Returns everything as lines of JSON, oldest first: settlements with their place in the chain, then what is not
    /// settled, then bridges whose permissions were left to the client, then gaps.
    pub fn export(&self) -> Export<'_> {
        Export {
            history: self,
            part: Part::Settled,
            after: i64::MIN,
            lines: VecDeque::new(),
            last: 0,
            changed: Vec::new(),
            more: 0,
        }
    }
}

/// Everything in the journal, line by line.
#[derive(Debug)]
pub struct Export<'a> {
    history: &'a History,
    part: Part,
    after: i64,
    lines: VecDeque<String>,
    /// The number of the last settlement.
    last: i64,
    /// The first rows with a value that no version writes.
    changed: Vec<Break>,
    /// The number of further rows with such a value.
    more: u64,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    Settled,
    Unsettled,
    Gaps,
    Done,
}

/// A line of an export.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExportLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'a RawValue>,
    /// The text of a record that is not JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_by: Option<&'a str>,
}

impl Export<'_> {
    /// Returns the rows so far that hold a value that no version writes, as [`History::verify`] names them, and how
    /// many more there are. Their lines have what could be read.
    pub fn changed(&self) -> (&[Break], u64) {
        (&self.changed, self.more)
    }

    /// Reads the next lines.
    fn fill(&mut self) -> Result<(), JournalError> {
        let sql = match self.part {
            Part::Settled => {
                "SELECT s.seq, s.seq, s.record, s.previous, s.hash, q.accepted, q.claimed, s.id, s.at
                 FROM settlement s LEFT JOIN question q ON q.id = s.id AND q.opened = s.opened
                 WHERE s.seq > ?1 ORDER BY s.seq LIMIT ?2"
            }
            Part::Unsettled => {
                "SELECT rowid, NULL, record, NULL, NULL, accepted, claimed, id, NULL FROM question
                 WHERE record IS NOT NULL AND rowid > ?1 ORDER BY rowid LIMIT ?2"
            }
            Part::Gaps => {
                self.part = Part::Done;
                let mut left = self.history.left_to_client(&HistoryFilter::default())?;
                // An export is oldest first, unlike a list.
                left.reverse();
                for left in left {
                    self.lines
                        .push_back(serde_json::to_string(&serde_json::json!({ "leftToClient": left }))?);
                }
                for gap in self.history.gaps()? {
                    self.lines.push_back(serde_json::to_string(&serde_json::json!({ "gap": gap }))?);
                }
                return Ok(());
            }
            Part::Done => return Ok(()),
        };
        let mut statement = self.history.connection.prepare(sql)?;
        let most = i64::try_from(limits::PAGE).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![self.after, most])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            let number = row.get(0)?;
            // Without this, a file whose rows are out of order would be read for ever.
            if number <= self.after {
                return Err(JournalError::Broken(format!("row {number} comes after row {}", self.after)));
            }
            (self.after, count) = (number, count + 1);
            if matches!(self.part, Part::Settled) {
                self.last = self.after;
            }
            let (line, is_changed) = line(row)?;
            self.lines.push_back(line);
            if is_changed && self.changed.len() < limits::BREAKS {
                self.changed.push(found(row, self.after, self.last));
            } else {
                self.more += u64::from(is_changed);
            }
        }
        if count == 0 {
            (self.part, self.after) = match self.part {
                Part::Settled => (Part::Unsettled, i64::MIN),
                _ => (Part::Gaps, i64::MIN),
            };
        }
        Ok(())
    }
}

/// Returns the line of a row, and whether the row holds a value that no version writes. The line lacks such a value.
fn line(row: &Row<'_>) -> Result<(String, bool), JournalError> {
    let mut is_changed = false;
    let mut bytes = |place| match row.get_ref(place)? {
        ValueRef::Blob(bytes) => Ok(Some(HEXLOWER.encode(bytes))),
        value => {
            is_changed |= value != Null;
            Ok::<_, JournalError>(None)
        }
    };
    let (previous, hash) = (bytes(3)?, bytes(4)?);
    // The conversion is lossy, since SQLite does not check that a text is UTF-8.
    let mut text = |place| match row.get_ref(place)? {
        ValueRef::Text(text) => Ok(Some(String::from_utf8_lossy(text))),
        value => {
            is_changed |= value != Null;
            Ok::<_, JournalError>(None)
        }
    };
    let (written, accepted, claimed) = (text(2)?.unwrap_or_default(), text(5)?, text(6)?);
    let record = serde_json::from_str::<&RawValue>(&written).ok();
    let line = ExportLine {
        seq: row.get(1)?,
        record,
        unreadable: record.is_none().then_some(&*written),
        previous,
        hash,
        accepted: accepted.as_deref().and_then(|json| serde_json::from_str(json).ok()),
        claimed_by: claimed.as_deref(),
    };
    Ok((serde_json::to_string(&line)?, is_changed))
}

/// Returns the break that `verify` would report for the row of this number. The last settlement so far has the number
/// `last`.
fn found(row: &Row<'_>, number: i64, last: i64) -> Break {
    let kind = match row.get_ref(1) {
        Ok(Null) => BreakKind::Damaged { message: format!("row {number} of `question` cannot be read") },
        _ => BreakKind::Changed,
    };
    Break { seq: last, kind, id: row.get(7).ok(), at: row.get(8).ok().map(time_of) }
}

impl Iterator for Export<'_> {
    type Item = Result<String, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.lines.is_empty() && !matches!(self.part, Part::Done) {
            if let Err(error) = self.fill() {
                self.part = Part::Done;
                return Some(Err(error));
            }
        }
        self.lines.pop_front().map(Ok)
    }
}
