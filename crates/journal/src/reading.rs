//! Reads the journal: questions, decisions, and the questions that were lost with their bridges.
//! Their display is left to the commands, and the journal as lines of JSON to `export`.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use askbridge_control::inbox::{HistoryFilter, LeftToClient, Life, PastQuestion, SearchWords, WaitingBridge};
use askbridge_core::desk::{Asker, BridgeName, IdPrefix, LostQuestion, QuestionId, Record, State, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;

use super::{
    JournalError, Options, Verification, connection, entries, schema,
    stored::{AcceptedDecision, millis},
    verify::{self, time_of},
};
use crate::limits;

/// The journal, opened for reading. Other processes may write to it at the same time.
#[derive(Debug)]
pub struct History {
    pub(super) connection: Connection,
    format: i32,
}

/// Entries that are missing, since the queue had no room for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Gap {
    /// When the gap was written to the journal.
    pub at: Timestamp,
    /// The number of missing entries.
    pub missing: i64,
}

/// Questions that were asked lately and are not settled in the journal.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UnsettledQuestions {
    /// The questions of agents that are lost, and that the user may still want to continue with: their bridge has
    /// ended, and no later question replaced them. Oldest first.
    pub lost: Vec<LostQuestion>,
    /// The bridges that still have open questions, and live or may live.
    pub waiting: Vec<WaitingBridge>,
}

const SETTLED: &str = "SELECT s.seq, s.record, q.accepted, q.claimed, s.at
    FROM settlement s LEFT JOIN question q ON q.id = s.id AND q.opened = s.opened";
const UNSETTLED: &str = "SELECT NULL, q.record, q.accepted, q.claimed, q.opened
    FROM question q WHERE q.record IS NOT NULL";

impl History {
    /// Opens the journal. Returns `None` if nothing was ever written.
    ///
    /// # Errors
    /// The file cannot be read, or its format was changed.
    pub fn open(path: &Path) -> Result<Option<Self>, JournalError> {
        let Some(history) = Self::open_to_verify(path)? else { return Ok(None) };
        schema::format(&history.connection).map(|_| Some(history))
    }

    /// Opens the journal to check it, even if its format is unknown. Returns `None` if nothing was ever written.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn open_to_verify(path: &Path) -> Result<Option<Self>, JournalError> {
        let Some(connection) = connection::open_for_reading(path)? else { return Ok(None) };
        Ok(match schema::file_format(&connection)? {
            // A process that was killed may have left an empty file.
            schema::FileFormat::Empty => None,
            schema::FileFormat::Format(format) | schema::FileFormat::Changed(format) => {
                Some(History { connection, format })
            }
        })
    }

    /// Returns whether a newer version of the program wrote the file in a format that this version does not know, so
    /// that a read may miss something.
    pub fn is_newer(&self) -> bool {
        self.format / 100 > schema::FORMAT / 100
    }

    /// Returns questions, the latest first. A settled question counts by its settlement, any other by its opening.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list(&self, filter: &HistoryFilter) -> Result<Vec<PastQuestion>, JournalError> {
        self.list_of(filter, |_| true)
    }

    /// Returns the same without the unsettled questions of bridges that are not listed: they do not count into the limit.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list_of(
        &self,
        filter: &HistoryFilter,
        is_listed: impl Fn(&BridgeName) -> bool,
    ) -> Result<Vec<PastQuestion>, JournalError> {
        let HistoryFilter { search, session, project, by, since, until, unsettled: is_unsettled, limit } =
            filter;
        let words = search.as_deref().map(SearchWords::new);
        let is_found = |past: &PastQuestion| words.as_ref().is_none_or(|words| words.are_in(past));
        let limit = limit.unwrap_or(usize::MAX);
        let [since, until] = [since, until].map(|time| time.map(millis));
        // The query uses `substr` and not `LIKE`, for which `%` and `_` in the name of a folder would be wildcards.
        let same = |table: &str, time: &str| {
            format!(
                "(?1 IS NULL OR {table}.session = ?1)
                 AND (?2 IS NULL OR {table}.project = ?2
                      OR substr({table}.project, 1, length(?2) + 1) = ?2 || '/')
                 AND (?3 IS NULL OR {table}.{time} >= ?3) AND (?5 IS NULL OR {table}.{time} <= ?5)"
            )
        };
        let settled = format!(
            "{SETTLED} WHERE {} AND (?4 IS NULL OR s.responder = ?4 OR s.name = ?4) ORDER BY s.seq DESC",
            same("s", "at")
        );
        let unsettled =
            format!("{UNSETTLED} AND {} AND ?4 IS NULL ORDER BY q.opened DESC", same("q", "opened"));
        let settled_most = if *is_unsettled { 0 } else { limit };
        // The words are not searched in SQL: they must match texts, and not the JSON around them.
        let params = params![session, project, since, by, until];
        let mut found = self.read(&settled, params, settled_most, is_found)?;
        let is_over = |past: &PastQuestion| is_found(past) && is_listed(&past.record.bridge);
        found.extend(self.read(&unsettled, params, limit, is_over)?);
        found.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        found.truncate(limit);
        Ok(found.into_iter().map(|(_, past)| past).collect())
    }

    /// Reads questions, and looks whether the bridges of the unsettled ones live, which `read` may ask as well. If one of
    /// them has ended, the questions are read again, since the bridge may have written more between the read and its end.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn with_lives(
        &self,
        options: &Options,
        read: impl Fn(&dyn Fn(&BridgeName) -> Life) -> Result<Vec<PastQuestion>, JournalError>,
    ) -> Result<(Vec<PastQuestion>, BTreeMap<BridgeName, Life>), JournalError> {
        let lives = RefCell::new(BTreeMap::new());
        let has_ended = Cell::new(false);
        let life = |bridge: &BridgeName| {
            if let Some(life) = lives.borrow().get(bridge) {
                return *life;
            }
            let life = self.life(bridge, options);
            has_ended.set(has_ended.get() || life == Life::Ended);
            lives.borrow_mut().insert(bridge.clone(), life);
            life
        };
        // This ends, since each bridge is looked at only once.
        loop {
            let mut found = read(&life)?;
            for past in found.iter_mut().filter(|past| past.seq.is_none()) {
                if life(&past.record.bridge) == Life::Ended {
                    past.record.state = State::Lost;
                }
            }
            if !has_ended.take() {
                return Ok((found, lives.into_inner()));
            }
        }
    }

    /// Returns the questions that a typed ID may stand for, the latest first, up to a limit.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn find(&self, prefix: &IdPrefix) -> Result<Vec<PastQuestion>, JournalError> {
        // `~` sorts after every character of an ID, so the comparison finds all IDs of the bridge by the index. The
        // comparison of the end, where the number is, keeps the other records of the bridge from being parsed.
        let fits = |table: &str| {
            format!(
                "{table}.id >= ?1 AND {table}.id < ?1 || '~'
                 AND (?2 = '' OR substr({table}.id, -length(?2)) = ?2)"
            )
        };
        let settled = format!("{SETTLED} WHERE {} ORDER BY s.seq DESC LIMIT ?3", fits("s"));
        let unsettled = format!("{UNSETTLED} AND {} LIMIT ?3", fits("q"));
        let number = prefix.own().to_string().strip_prefix(prefix.bridge()).unwrap_or_default().to_owned();
        let most = i64::try_from(limits::FOUND).unwrap_or(i64::MAX);
        let params = params![prefix.bridge(), number, most];
        let mut found = self.read(&settled, params, usize::MAX, |_| true)?;
        found.extend(self.read(&unsettled, params, usize::MAX, |_| true)?);
        found.retain(|(_, past)| prefix.matches(&past.record.id));
        found.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        Ok(found.into_iter().map(|(_, past)| past).collect())
    }

    /// Returns the first `most` questions that are wanted.
    fn read(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
        most: usize,
        is_wanted: impl Fn(&PastQuestion) -> bool,
    ) -> Result<Vec<(i64, PastQuestion)>, JournalError> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query(params)?;
        let mut found = Vec::new();
        while found.len() < most
            && let Some(row) = rows.next()?
        {
            // A record that cannot be read must not hide the others. `verify` names it.
            match past(row) {
                Ok(mut past) if is_wanted(&past.1) => {
                    self.with_use(&mut past.1.record);
                    found.push(past);
                }
                Ok(_) => {}
                Err(error) => tracing::debug!("a record cannot be read: {error}"),
            }
        }
        Ok(found)
    }

    /// Passes one record after the other to `take`, so that not all of them are in memory: first the unsettled
    /// questions, then the settled ones, each from the latest on, and only those since a time if one is given.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn each(&self, since: Option<Timestamp>, mut take: impl FnMut(Record)) -> Result<(), JournalError> {
        let since = since.map_or(i64::MIN, millis);
        for sql in [
            "SELECT record FROM question WHERE record IS NOT NULL AND opened >= ?1 ORDER BY opened DESC",
            "SELECT record FROM settlement WHERE at >= ?1 ORDER BY seq DESC",
        ] {
            let mut statement = self.connection.prepare(sql)?;
            let mut rows = statement.query([since])?;
            while let Some(row) = rows.next()? {
                // As in a list, a record that cannot be read must not hide the others.
                match serde_json::from_slice(row.get_ref(0)?.as_bytes().unwrap_or_default()) {
                    Ok(record) => take(record),
                    Err(error) => tracing::debug!("a record cannot be read: {error}"),
                }
            }
        }
        Ok(())
    }

    /// Returns the questions that were never settled, oldest first, except for those of the bridges in `alive`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn unsettled(&self, alive: &[BridgeName]) -> Result<Vec<LostQuestion>, JournalError> {
        let unsettled = self.read(&format!("{UNSETTLED} ORDER BY q.opened"), [], usize::MAX, |_| true)?;
        let mut lost = Vec::new();
        for (_, PastQuestion { mut record, accepted, may_have_arrived, claimed_by, .. }) in unsettled {
            if alive.contains(&record.bridge) {
                continue;
            }
            let replaced_by = claimed_by.map_or_else(|| self.later(&record), |id| Ok(Some(id)))?;
            record.state = State::Lost;
            lost.push(LostQuestion { record: Arc::new(record), accepted, may_have_arrived, replaced_by });
        }
        Ok(lost)
    }

    /// Returns the questions asked within [`limits::LOST_SHOWN`] that were never settled: the lost ones, and the number
    /// that each bridge that may live still has.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn lately_unsettled(
        &self,
        now: Timestamp,
        options: &Options,
    ) -> Result<UnsettledQuestions, JournalError> {
        let open = self.recent(now)?;
        // This is a set, since a bridge may have many questions, and looking whether it lives takes time.
        let bridges: BTreeSet<_> = open.iter().map(|lost| &lost.record.bridge).collect();
        let (mut waiting, mut ended) = (Vec::new(), BTreeSet::new());
        for bridge in bridges {
            let life = entries::bridge_life(&self.connection, options, bridge);
            if life == Life::Ended {
                ended.insert(bridge.clone());
                continue;
            }
            let home = entries::find_home(&self.connection, bridge).ok().flatten();
            let questions = open.iter().filter(|lost| lost.record.bridge == *bridge).count();
            let kept = entries::is_standing(&self.connection, bridge)
                && (options.life)(bridge, home.as_ref()) == Life::Ended;
            waiting.push(WaitingBridge { bridge: bridge.clone(), life, home, kept, questions });
        }
        // The questions are read again: a bridge that shuts down in order writes how its questions ended, perhaps after
        // the first read.
        let mut lost = if ended.is_empty() { Vec::new() } else { self.recent(now)? };
        // A program's questions ended with the program, and a question that was asked again continues as the later
        // question.
        lost.retain(|LostQuestion { record, replaced_by, .. }| {
            record.id.asker == Asker::Agent && replaced_by.is_none() && ended.contains(&record.bridge)
        });
        Ok(UnsettledQuestions { lost, waiting })
    }

    /// Returns the questions that were never settled and were asked within [`limits::LOST_SHOWN`].
    fn recent(&self, now: Timestamp) -> Result<Vec<LostQuestion>, JournalError> {
        let mut unsettled = self.unsettled(&[])?;
        unsettled.retain(|lost| now.since(lost.record.opened_at) <= limits::LOST_SHOWN);
        Ok(unsettled)
    }

    /// Returns whether the bridge of this name lives.
    pub fn life(&self, bridge: &BridgeName, options: &Options) -> Life {
        entries::bridge_life(&self.connection, options, bridge)
    }

    /// Returns the ID of the latest question that repeats this one.
    fn later(&self, record: &Record) -> Result<Option<QuestionId>, JournalError> {
        let sql = "SELECT later.id FROM question q JOIN question later
            ON later.fingerprint = q.fingerprint AND (later.opened, later.rowid) > (q.opened, q.rowid)
            WHERE q.id = ?1 AND q.opened = ?2 ORDER BY later.opened DESC, later.rowid DESC LIMIT 1";
        let parameters = params![record.id.to_string(), millis(record.opened_at)];
        let id = self.connection.query_row(sql, parameters, |row| row.get::<_, String>(0)).optional()?;
        Ok(id.and_then(|id| id.parse().ok()))
    }

    /// Returns the bridges whose permissions were left to the client, the latest first. A bridge has only a project and
    /// a time, so a filter by anything else finds none.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn left_to_client(&self, filter: &HistoryFilter) -> Result<Vec<LeftToClient>, JournalError> {
        let HistoryFilter { search, session, project, by, since, until, unsettled, limit } = filter;
        // A file of another format may not have them.
        let has_table = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'left_to_client')";
        let has_table: bool = self.connection.query_row(has_table, [], |row| row.get(0))?;
        if !has_table || *unsettled || search.is_some() || session.is_some() || by.is_some() {
            return Ok(Vec::new());
        }
        let sql = "SELECT bridge, project, file, at FROM left_to_client
            WHERE (?1 IS NULL OR project = ?1 OR substr(project, 1, length(?1) + 1) = ?1 || '/')
            AND (?2 IS NULL OR at >= ?2) AND (?4 IS NULL OR at <= ?4) ORDER BY at DESC, bridge LIMIT ?3";
        // SQLite reads a negative limit as no limit.
        let most = limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query(params![project, since.map(millis), most, until.map(millis)])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            match left(row) {
                Ok(left) => found.push(left),
                Err(error) => tracing::debug!("an entry of a bridge cannot be read: {error}"),
            }
        }
        Ok(found)
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

    /// Reads the whole chain of settlements, and reports where it is broken.
    ///
    /// # Errors
    /// The file cannot be read at all. Damage within the file is reported as a break.
    pub fn verify(&self) -> Result<Verification, JournalError> {
        verify::verify(&self.connection)
    }
}

fn left(row: &Row<'_>) -> Result<LeftToClient, JournalError> {
    let name: String = row.get(0)?;
    let bridge =
        name.parse().map_err(|_| JournalError::Broken(format!("{name:?} is not the name of a bridge")))?;
    Ok(LeftToClient { bridge, project: row.get(1)?, file: row.get(2)?, at: time_of(row.get(3)?) })
}

/// Reads a question, and the time by which lists are sorted.
fn past(row: &Row<'_>) -> Result<(i64, PastQuestion), JournalError> {
    let accepted: Option<String> = row.get(2)?;
    let accepted: Option<AcceptedDecision> = accepted.map(|json| serde_json::from_str(&json)).transpose()?;
    let claimed: Option<String> = row.get(3)?;
    let past = PastQuestion {
        seq: row.get(0)?,
        record: serde_json::from_str(&row.get::<_, String>(1)?)?,
        may_have_arrived: accepted.as_ref().is_some_and(|accepted| !accepted.waits),
        accepted: accepted.map(|accepted| accepted.settlement),
        claimed_by: claimed.and_then(|id| id.parse().ok()),
    };
    Ok((row.get(4)?, past))
}
