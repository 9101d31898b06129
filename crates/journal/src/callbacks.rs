//! The callbacks of questions that no connection holds: where each outcome is sent, until it has arrived there.

use askbridge_control::inbox::{CallbackNote, KeptCallback};
use askbridge_core::desk::{AfterCallback, Record};
use rusqlite::{Connection, params};

use super::{JournalError, connection::run, stored::millis, verify::time_of};

/// Writes where the outcome of a question is sent.
pub(super) fn add(connection: &Connection, record: &Record, url: &str) -> Result<(), JournalError> {
    run(
        connection,
        "INSERT OR REPLACE INTO standing_callback (id, opened, url) VALUES (?1, ?2, ?3)",
        params![record.id.to_string(), millis(record.opened_at), url],
    )?;
    Ok(())
}

/// Writes what became of a callback that was sent.
pub(super) fn note(connection: &Connection, note: &CallbackNote) -> Result<(), JournalError> {
    let (id, opened) = (note.id.to_string(), millis(note.opened_at));
    match note.after {
        AfterCallback::Again { attempts, due } => run(
            connection,
            "UPDATE standing_callback SET attempts = ?3, due = ?4 WHERE id = ?1 AND opened = ?2",
            params![id, opened, attempts, millis(due)],
        )?,
        AfterCallback::Done | AfterCallback::GivenUp => run(
            connection,
            "DELETE FROM standing_callback WHERE id = ?1 AND opened = ?2",
            params![id, opened],
        )?,
    };
    Ok(())
}

/// Returns the callbacks of questions that are open, and of those whose outcome has not arrived.
pub(super) fn all(connection: &Connection) -> Result<Vec<KeptCallback>, JournalError> {
    let mut statement = connection.prepare(
        "SELECT c.id, c.opened, c.url, c.attempts, c.due, s.at FROM standing_callback c
         LEFT JOIN settlement s ON s.id = c.id AND s.opened = c.opened ORDER BY c.opened",
    )?;
    let rows = statement.query_map([], |row| {
        let id = row.get::<_, String>(0)?.parse().ok();
        let (url, attempts) = (row.get(2)?, row.get(3)?);
        let (due, ended_at) =
            (row.get::<_, Option<i64>>(4)?.map(time_of), row.get::<_, Option<i64>>(5)?.map(time_of));
        let opened_at = time_of(row.get(1)?);
        Ok(id.map(|id| KeptCallback { id, opened_at, url, attempts, due, ended_at }))
    })?;
    Ok(rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Forgets the callbacks of questions that are forgotten.
pub(super) fn prune(connection: &Connection) -> Result<(), JournalError> {
    run(
        connection,
        "DELETE FROM standing_callback WHERE NOT EXISTS
             (SELECT 1 FROM question q WHERE q.id = standing_callback.id AND q.opened = standing_callback.opened)
         AND NOT EXISTS
             (SELECT 1 FROM settlement s WHERE s.id = standing_callback.id AND s.opened = standing_callback.opened)",
        [],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use askbridge_control::inbox::{Keeping, Ledger, Life};
    use askbridge_core::desk::{BridgeName, Timestamp};

    use super::*;
    use crate::{
        Journal, Options, prune,
        samples::{answered, open, question},
    };

    /// Returns the callbacks that the next process gets.
    async fn resumed(options: &Options) -> Vec<KeptCallback> {
        let name: BridgeName = "kept".parse().expect("a name");
        Journal::new(options.clone()).resume(&name).await.expect("what is kept").callbacks
    }

    #[tokio::test]
    async fn a_callback_is_kept_until_its_outcome_has_arrived() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options::new(Some(folder.path().join("journal.db")));
        let records = ["kept-p1", "kept-p2", "kept-p3"].map(|id| open(id, question("Why?")));
        assert_eq!(resumed(&options).await, []);
        let journal = Journal::new(options.clone());
        for (record, callback) in records.iter().zip([Some("http://a/"), Some("http://b/"), None]) {
            let callback = callback.map(str::to_owned);
            let keeping = Keeping { record: Arc::clone(record), asked_under: None, callback };
            assert_eq!(journal.keep(keeping).await, Ok(None));
        }
        let over = answered(&records[0], "x");
        assert!(journal.settled(&over).await);
        drop(journal);

        let ended_at = over.settlement.as_ref().map(|settlement| settlement.at);
        let of = |record: &Record, url: &str| KeptCallback {
            id: record.id.clone(),
            opened_at: record.opened_at,
            url: url.to_owned(),
            attempts: 0,
            due: None,
            ended_at: None,
        };
        let first = KeptCallback { ended_at, ..of(&records[0], "http://a/") };
        let second = of(&records[1], "http://b/");
        assert_eq!(resumed(&options).await, [first.clone(), second.clone()]);

        let note = |after| CallbackNote { id: first.id.clone(), opened_at: first.opened_at, after };
        let journal = Journal::new(options.clone());
        let due = records[0].opened_at.after(Duration::from_secs(7));
        journal.note_callback(note(AfterCallback::Again { attempts: 3, due }));
        assert!(journal.flush().await);
        let again = KeptCallback { attempts: 3, due: Some(due), ..first.clone() };
        assert_eq!(resumed(&options).await, [again, second.clone()]);
        journal.note_callback(note(AfterCallback::Done));
        assert!(journal.flush().await);
        assert_eq!(resumed(&options).await, std::slice::from_ref(&second));

        // What is forgotten has no callback any more, and what is open keeps it.
        assert!(journal.settled(&answered(&records[1], "x")).await);
        drop(journal);
        assert_eq!(resumed(&options).await.len(), 1);
        let never = "9999-01-01T00:00:00Z".parse::<Timestamp>().expect("a time");
        let ended = Options { life: Arc::new(|_, _| Life::Ended), ..options.clone() };
        prune(&ended, never).expect("a journal");
        assert_eq!(resumed(&options).await, []);
    }
}
