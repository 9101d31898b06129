//! The journal as it is read: what was asked and decided, what is lost, and everything for an export.
//! What is shown of it, and how, is left to the commands.

use std::{
    collections::{BTreeSet, VecDeque},
    path::Path,
    sync::Arc,
};

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    JournalError, Verified, chain, connection, schema,
    verify::{self, time_of},
};
use crate::{
    desk::{Asker, BridgeName, IdPrefix, LostQuestion, QuestionId, Record, Settlement, State, Timestamp},
    limits,
};

/// The journal, open to read. Other processes go on writing meanwhile.
#[derive(Debug)]
pub struct History {
    connection: Connection,
    format: i32,
}

/// Which questions are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Those of this session.
    pub session: Option<String>,
    /// Those of this project, or of a folder in it.
    pub project: Option<String>,
    /// Those that were settled by this kind of responder, or by the responder or rule of this name.
    pub by: Option<String>,
    /// Those that were settled at this time or later; of those that were not, those that were opened then.
    pub since: Option<Timestamp>,
    /// The most that are listed, of the latest; `None` lists all.
    pub limit: Option<usize>,
}

/// A question of the journal.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Past {
    /// The number of its settlement. Absent where it was not settled: it is open, or lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    /// The question, as it was noted last.
    pub record: Record,
    /// What was decided, where it is not known that the asker got it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Settlement>,
    /// The question that took the decision over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<QuestionId>,
}

/// Entries that are missing, because there was no room for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Gap {
    /// When that was noted.
    pub at: Timestamp,
    /// The number of entries.
    pub missing: i64,
}

const SETTLED: &str = "SELECT s.seq, s.record, q.accepted, q.claimed, s.at
    FROM settlement s LEFT JOIN question q ON q.id = s.id AND q.opened = s.opened";
const UNSETTLED: &str = "SELECT NULL, q.record, q.accepted, q.claimed, q.opened
    FROM question q WHERE q.record IS NOT NULL";

impl History {
    /// Opens the journal. Returns `None` where nothing was ever noted.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn open(path: &Path) -> Result<Option<Self>, JournalError> {
        let Some(connection) = connection::open_for_reading(path)? else { return Ok(None) };
        let format = schema::format(&connection)?;
        // A process that was killed may have left an empty file.
        Ok((format != 0).then_some(History { connection, format }))
    }

    /// Returns whether a newer version wrote it in a way that this version does not know: something may be missing in what
    /// is read.
    pub fn is_newer(&self) -> bool {
        self.format / 100 > schema::FORMAT / 100
    }

    /// Returns questions, the latest first: by when they were settled, or opened where they were not.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Past>, JournalError> {
        let Filter { session, project, by, since, limit } = filter;
        let most = limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let since = since.map(super::stored::millis);
        let same = |table: &str, time: &str| {
            format!(
                "(?1 IS NULL OR {table}.session = ?1)
                 AND (?2 IS NULL OR {table}.project = ?2
                      OR substr({table}.project, 1, length(?2) + 1) = ?2 || '/')
                 AND (?3 IS NULL OR {table}.{time} >= ?3)"
            )
        };
        let settled = format!(
            "{SETTLED} WHERE {} AND (?4 IS NULL OR s.responder = ?4 OR s.name = ?4) ORDER BY s.seq DESC LIMIT ?5",
            same("s", "at")
        );
        let unsettled =
            format!("{UNSETTLED} AND {} AND ?4 IS NULL ORDER BY q.opened DESC LIMIT ?5", same("q", "opened"));
        let mut found = self.read(&settled, params![session, project, since, by, most])?;
        found.extend(self.read(&unsettled, params![session, project, since, by, most])?);
        found.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        found.truncate(limit.unwrap_or(usize::MAX));
        Ok(found.into_iter().map(|(_, past)| past).collect())
    }

    /// Returns the questions that a typed ID may stand for, the latest first, up to a limit.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn find(&self, prefix: &IdPrefix) -> Result<Vec<Past>, JournalError> {
        // `~` comes after everything that may be in an ID. The number is the end of the ID: without looking at it, each
        // record of the bridge would be read.
        let fits = |table: &str| {
            format!(
                "{table}.id >= ?1 AND {table}.id < ?1 || '~'
                 AND (?2 = '' OR substr({table}.id, -length(?2)) = ?2)"
            )
        };
        let settled = format!("{SETTLED} WHERE {} ORDER BY s.seq DESC LIMIT ?3", fits("s"));
        let unsettled = format!("{UNSETTLED} AND {} LIMIT ?3", fits("q"));
        let number = prefix.to_string().strip_prefix(prefix.bridge()).unwrap_or_default().to_owned();
        let most = i64::try_from(limits::journal::FOUND).unwrap_or(i64::MAX);
        let mut found = self.read(&settled, params![prefix.bridge(), number, most])?;
        found.extend(self.read(&unsettled, params![prefix.bridge(), number, most])?);
        found.retain(|(_, past)| prefix.matches(&past.record.id));
        found.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        Ok(found.into_iter().map(|(_, past)| past).collect())
    }

    fn read(&self, sql: &str, params: impl rusqlite::Params) -> Result<Vec<(i64, Past)>, JournalError> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query(params)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            // One that cannot be read hides no other: `verify` names it.
            match past(row) {
                Ok(past) => found.push((row.get(4)?, past)),
                Err(JournalError::Json(error)) => tracing::debug!("a record cannot be read: {error}"),
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Hands on one question after the other, so that not all of them are in memory: those that were not settled, and the
    /// settled ones, each the latest first; since a time, if one is given.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn each(&self, since: Option<Timestamp>, mut take: impl FnMut(Record)) -> Result<(), JournalError> {
        let since = since.map_or(i64::MIN, super::stored::millis);
        for sql in [
            "SELECT record FROM question WHERE record IS NOT NULL AND opened >= ?1 ORDER BY opened DESC",
            "SELECT record FROM settlement WHERE at >= ?1 ORDER BY seq DESC",
        ] {
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query([since])?;
            while let Some(row) = rows.next()? {
                // As in a list, one that cannot be read hides no other.
                match serde_json::from_slice(row.get_ref(0)?.as_bytes().unwrap_or_default()) {
                    Ok(record) => take(record),
                    Err(error) => tracing::debug!("a record cannot be read: {error}"),
                }
            }
        }
        Ok(())
    }

    /// Returns the questions that were never settled and whose bridge is not alive, oldest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn lost(&self, alive: &[BridgeName]) -> Result<Vec<LostQuestion>, JournalError> {
        let unsettled = self.read(&format!("{UNSETTLED} ORDER BY q.opened"), [])?;
        let mut lost = Vec::new();
        for (_, Past { mut record, accepted, claimed_by, .. }) in unsettled {
            if alive.contains(&record.bridge) {
                continue;
            }
            let replaced_by = claimed_by.map_or_else(|| self.later(&record), |id| Ok(Some(id)))?;
            record.state = State::Lost;
            lost.push(LostQuestion { record: Arc::new(record), accepted, replaced_by });
        }
        Ok(lost)
    }

    /// Returns the lost questions, oldest first, that a person may still go on with: an agent asked them, which may be
    /// resumed; no later one replaced them; and they were asked within [`limits::LOST_SHOWN`].
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn lately_lost(
        &self,
        now: Timestamp,
        is_alive: impl Fn(&BridgeName) -> bool,
    ) -> Result<Vec<LostQuestion>, JournalError> {
        let mut lost = self.lost(&[])?;
        lost.retain(|LostQuestion { record, replaced_by, .. }| {
            record.id.asker == Asker::Agent
                && replaced_by.is_none()
                && now.since(record.opened_at) <= limits::LOST_SHOWN
        });
        // A bridge may have many.
        let bridges: BTreeSet<_> = lost.iter().map(|lost| lost.record.bridge.clone()).collect();
        let alive: Vec<_> = bridges.into_iter().filter(is_alive).collect();
        lost.retain(|lost| !alive.contains(&lost.record.bridge));
        Ok(lost)
    }

    /// Returns the last question that is the same and came later.
    fn later(&self, record: &Record) -> Result<Option<QuestionId>, JournalError> {
        let sql = "SELECT later.id FROM question q JOIN question later
            ON later.fingerprint = q.fingerprint AND (later.opened, later.rowid) > (q.opened, q.rowid)
            WHERE q.id = ?1 AND q.opened = ?2 ORDER BY later.opened DESC, later.rowid DESC LIMIT 1";
        let parameters = params![record.id.to_string(), super::stored::millis(record.opened_at)];
        let id = self.connection.query_row(sql, parameters, |row| row.get::<_, String>(0)).optional()?;
        Ok(id.and_then(|id| id.parse().ok()))
    }

    /// Returns the entries that are missing, oldest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn gaps(&self) -> Result<Vec<Gap>, JournalError> {
        let mut statement = self.connection.prepare("SELECT at, missing FROM gap ORDER BY at")?;
        let gap = |row: &Row<'_>| Ok(Gap { at: time_of(row.get(0)?), missing: row.get(1)? });
        let gaps = statement.query_map([], gap)?.collect::<Result<_, _>>()?;
        Ok(gaps)
    }

    /// Reads the whole chain of settlements, and says where it is broken.
    ///
    /// # Errors
    /// The file cannot be read at all. What is damaged within it is a break.
    pub fn verify(&self) -> Result<Verified, JournalError> {
        verify::verify(&self.connection)
    }

    /// Returns everything as lines of JSON, oldest first: settlements with their place in the chain, then what is not
    /// settled, then gaps.
    pub fn export(&self) -> Export<'_> {
        Export { history: self, part: Part::Settled, after: i64::MIN, lines: VecDeque::new() }
    }
}

fn past(row: &Row<'_>) -> Result<Past, JournalError> {
    let accepted: Option<String> = row.get(2)?;
    let claimed: Option<String> = row.get(3)?;
    Ok(Past {
        seq: row.get(0)?,
        record: serde_json::from_str(&row.get::<_, String>(1)?)?,
        accepted: accepted.map(|json| serde_json::from_str(&json)).transpose()?,
        claimed_by: claimed.and_then(|id| id.parse().ok()),
    })
}

/// Everything in the journal, line by line.
#[derive(Debug)]
pub struct Export<'a> {
    history: &'a History,
    part: Part,
    after: i64,
    lines: VecDeque<String>,
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
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'a RawValue>,
    /// A record that is not JSON, as it stands in the file.
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
    /// Reads the next lines.
    fn fill(&mut self) -> Result<(), JournalError> {
        let sql = match self.part {
            Part::Settled => {
                "SELECT s.seq, s.seq, s.record, s.previous, s.hash, q.accepted, q.claimed
                 FROM settlement s LEFT JOIN question q ON q.id = s.id AND q.opened = s.opened
                 WHERE s.seq > ?1 ORDER BY s.seq LIMIT ?2"
            }
            Part::Unsettled => {
                "SELECT rowid, NULL, record, NULL, NULL, accepted, claimed FROM question
                 WHERE record IS NOT NULL AND rowid > ?1 ORDER BY rowid LIMIT ?2"
            }
            Part::Gaps => {
                self.part = Part::Done;
                for gap in self.history.gaps()? {
                    self.lines.push_back(serde_json::to_string(&serde_json::json!({ "gap": gap }))?);
                }
                return Ok(());
            }
            Part::Done => return Ok(()),
        };
        let mut statement = self.history.connection.prepare(sql)?;
        let most = i64::try_from(limits::journal::PAGE).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![self.after, most])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            (self.after, count) = (row.get(0)?, count + 1);
            self.lines.push_back(line(row)?);
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

fn line(row: &Row<'_>) -> Result<String, JournalError> {
    let bytes =
        |place| row.get::<_, Option<Vec<u8>>>(place).map(|bytes| bytes.map(|bytes| chain::hex(&bytes)));
    let text: String = row.get(2)?;
    let record = serde_json::from_str::<&RawValue>(&text).ok();
    let accepted: Option<String> = row.get(5)?;
    let claimed: Option<String> = row.get(6)?;
    let line = Line {
        seq: row.get(1)?,
        record,
        unreadable: record.is_none().then_some(&*text),
        previous: bytes(3)?,
        hash: bytes(4)?,
        accepted: accepted.as_deref().and_then(|json| serde_json::from_str(json).ok()),
        claimed_by: claimed.as_deref(),
    };
    Ok(serde_json::to_string(&line)?)
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
