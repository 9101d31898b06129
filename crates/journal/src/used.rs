//! What became of what programs were allowed to do: an approval is spent once, and what came of it is reported once.

use askbridge_control::inbox::{Used, Using};
use askbridge_core::desk::{Record, Use};
use rusqlite::{Connection, Row, params};

use super::{
    History, JournalError,
    connection::{find, run},
    stored::millis,
    verify::time_of,
};

/// Writes what a program does with an approval, unless it did so before. Returns what was known before.
pub(super) fn make_use(
    connection: &Connection,
    record: &Record,
    using: &Using,
) -> Result<Used, JournalError> {
    let before = of(connection, record)?;
    let (id, opened) = (record.id.to_string(), millis(record.opened_at));
    run(connection, "INSERT OR IGNORE INTO used (id, opened) VALUES (?1, ?2)", params![id, opened])?;
    match using {
        Using::Consume { at, key } => run(
            connection,
            "UPDATE used SET consumed = ?3, key = ?4 WHERE id = ?1 AND opened = ?2 AND consumed IS NULL",
            params![id, opened, millis(*at), key],
        )?,
        Using::Report(report, at) => run(
            connection,
            "UPDATE used SET report = ?3, reported = ?4 WHERE id = ?1 AND opened = ?2 AND report IS NULL",
            params![id, opened, serde_json::to_string(report)?, millis(*at)],
        )?,
    };
    Ok(before)
}

/// Returns what is known of the use of an approval.
pub(super) fn of(connection: &Connection, record: &Record) -> Result<Used, JournalError> {
    type Columns = (Option<i64>, Option<String>, Option<String>, Option<i64>);
    let read = |row: &Row<'_>| Ok::<Columns, _>((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let sql = "SELECT consumed, key, report, reported FROM used WHERE id = ?1 AND opened = ?2";
    let row = find(connection, sql, params![record.id.to_string(), millis(record.opened_at)], read)?;
    let Some((consumed, key, report, reported)) = row else { return Ok(Used::default()) };
    let report = report.map(|report| serde_json::from_str(&report)).transpose()?;
    let (consumed_at, reported_at) = (consumed.map(time_of), reported.map(time_of));
    Ok(Used { used: Use { consumed_at, report, reported_at }, key })
}

impl History {
    /// Returns what is known of the use of an approval.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn used(&self, record: &Record) -> Result<Used, JournalError> {
        of(&self.connection, record)
    }

    /// Adds what became of what a program was allowed to do. A file of an earlier format says nothing about it.
    pub(super) fn with_use(&self, record: &mut Record) {
        let is_granted = record.settlement.as_deref().is_some_and(|settlement| settlement.grant.is_some());
        if is_granted && let Ok(Used { used, .. }) = self.used(record) {
            record.used = (used != Use::default()).then(|| Box::new(used));
        }
    }
}

/// Forgets the use of what is forgotten.
pub(super) fn prune(connection: &Connection) -> Result<(), JournalError> {
    run(
        connection,
        "DELETE FROM used WHERE NOT EXISTS
             (SELECT 1 FROM settlement s WHERE s.id = used.id AND s.opened = used.opened)",
        [],
    )?;
    Ok(())
}
