//! The questions that no connection holds: the name of their inbox, which outlives its process, those that are open, and
//! the keys under which they were asked.

use askbridge_control::inbox::{AskedUnder, Keeping, KeptBefore, KeptQuestions};
use askbridge_core::desk::{BridgeName, Record};
use rusqlite::{Connection, params};

use super::{
    History, JournalError, Options, callbacks,
    connection::{find, run},
    entries,
    stored::{StoredQuestion, millis},
};

/// Returns what an earlier process kept, under the name of its inbox, or the given name if there was none.
pub(super) fn resume(
    connection: &Connection,
    options: &Options,
    new: &BridgeName,
) -> Result<KeptQuestions, JournalError> {
    run(
        connection,
        "INSERT OR IGNORE INTO standing_inbox (only, bridge, last) VALUES (0, ?1, 0)",
        [new.as_str()],
    )?;
    let read = "SELECT bridge, last FROM standing_inbox WHERE only = 0";
    let row = find(connection, read, [], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
    let broken = || JournalError::Broken("the name of the inbox of standing questions is missing".to_owned());
    let (bridge, last) = row.ok_or_else(broken)?;
    let bridge: BridgeName = bridge.parse().map_err(|_| broken())?;
    if let Some(home) = &options.home {
        // It runs in another process now.
        run(connection, "DELETE FROM bridge WHERE name = ?1", [bridge.as_str()])?;
        entries::note_home(connection, &bridge, home)?;
    }
    let open = "SELECT record FROM question WHERE record IS NOT NULL AND bridge = ?1 ORDER BY opened";
    let mut statement = connection.prepare(open)?;
    let rows = statement.query_map([bridge.as_str()], |row| row.get::<_, String>(0))?;
    let mut questions = Vec::new();
    for row in rows {
        // A record that cannot be read must not hide the others: a newer version reads it.
        match serde_json::from_str::<Record>(&row?) {
            Ok(record) => questions.push(record),
            Err(error) => tracing::warn!("a question that was kept cannot be read: {error}"),
        }
    }
    let (last, callbacks) = (u64::try_from(last).unwrap_or_default(), callbacks::all(connection)?);
    Ok(KeptQuestions { bridge, last, questions, callbacks })
}

/// Writes a question that no connection holds, unless one was asked under the same key.
pub(super) fn keep(
    connection: &Connection,
    keeping: &Keeping,
    stored: &StoredQuestion,
) -> Result<Option<KeptBefore>, JournalError> {
    let record = &keeping.record;
    if let Some(under) = &keeping.asked_under {
        if let Some(before) = entries::asked_before(connection, under)? {
            return Ok(Some(before));
        }
        let AskedUnder { key, digest } = under;
        run(
            connection,
            "INSERT OR REPLACE INTO standing_key (key, digest, id, opened) VALUES (?1, ?2, ?3, ?4)",
            params![key, digest, record.id.to_string(), millis(record.opened_at)],
        )?;
    }
    let number = i64::try_from(record.id.number).unwrap_or(i64::MAX);
    run(connection, "UPDATE standing_inbox SET last = max(last, ?1) WHERE only = 0", [number])?;
    if let Some(url) = &keeping.callback {
        callbacks::add(connection, record, url)?;
    }
    entries::note(connection, stored)?;
    Ok(None)
}

/// Forgets a question that was just written, since its asker was told that it is not kept.
pub(super) fn forget(connection: &Connection, record: &Record) -> Result<(), JournalError> {
    let (id, opened) = (record.id.to_string(), millis(record.opened_at));
    for table in ["standing_key", "standing_callback"] {
        run(connection, &format!("DELETE FROM {table} WHERE id = ?1 AND opened = ?2"), params![id, opened])?;
    }
    run(connection, "DELETE FROM question WHERE id = ?1 AND opened = ?2", params![id, opened])?;
    Ok(())
}

impl History {
    /// Returns the question that was asked under this key, if there is one.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn asked_before(&self, under: &AskedUnder) -> Result<Option<KeptBefore>, JournalError> {
        entries::asked_before(&self.connection, under)
    }
}

/// Forgets the keys and the callbacks of questions that are forgotten.
pub(super) fn prune(connection: &Connection) -> Result<(), JournalError> {
    run(
        connection,
        "DELETE FROM standing_key WHERE NOT EXISTS
             (SELECT 1 FROM question q WHERE q.id = standing_key.id AND q.opened = standing_key.opened)
         AND NOT EXISTS
             (SELECT 1 FROM settlement s WHERE s.id = standing_key.id AND s.opened = standing_key.opened)",
        [],
    )?;
    callbacks::prune(connection)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use askbridge_control::inbox::Ledger;
    use askbridge_core::desk::Timestamp;

    use super::*;
    use crate::{
        Journal, prune,
        samples::{answered, open, question},
    };

    fn keeping(record: &Arc<Record>, key: &str) -> Keeping {
        let asked_under = Some(AskedUnder { key: key.to_owned(), digest: vec![1] });
        Keeping { record: Arc::clone(record), asked_under, callback: None }
    }

    #[tokio::test]
    async fn what_is_kept_outlives_its_process_and_its_keys_the_question() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options::new(Some(folder.path().join("journal.db")));
        let names = ["kept", "another"].map(|name| name.parse::<BridgeName>().expect("a name"));
        let [first, second] = ["kept-p1", "kept-p4"].map(|id| open(id, question("Why?")));
        let journal = Journal::new(options.clone());
        let none =
            KeptQuestions { bridge: names[0].clone(), last: 0, questions: Vec::new(), callbacks: Vec::new() };
        assert_eq!(journal.resume(&names[0]).await, Ok(none));
        assert_eq!(journal.keep(keeping(&first, "a")).await, Ok(None));
        assert_eq!(journal.keep(keeping(&second, "b")).await, Ok(None));
        assert!(journal.settled(&answered(&first, "x")).await);
        drop(journal);

        let journal = Journal::new(options.clone());
        let kept = journal.resume(&names[1]).await.expect("what is kept");
        assert_eq!((kept.bridge, kept.last), (names[0].clone(), 4));
        assert_eq!(kept.questions, [(*second).clone()]);
        let again = KeptBefore { id: first.id.clone(), is_same: true };
        let third = open("kept-p5", question("Why?"));
        assert_eq!(journal.keep(keeping(&third, "a")).await, Ok(Some(again.clone())));
        let other = Keeping {
            asked_under: Some(AskedUnder { key: "a".to_owned(), digest: vec![2] }),
            ..keeping(&third, "")
        };
        assert_eq!(journal.keep(other).await, Ok(Some(KeptBefore { is_same: false, ..again })));

        // The settled question is forgotten, and its key with it. The open one stays, whoever prunes.
        let never = "9999-01-01T00:00:00Z".parse::<Timestamp>().expect("a time");
        let others = Options { life: Arc::new(|_, _| askbridge_control::inbox::Life::Ended), ..options };
        assert_eq!(prune(&others, never).expect("a journal"), 1);
        assert_eq!(journal.keep(keeping(&third, "a")).await, Ok(None));
        let before = journal.keep(keeping(&third, "b")).await.expect("a journal").expect("it is known");
        assert_eq!(before.id, second.id);
    }

    #[tokio::test]
    async fn a_journal_without_texts_keeps_no_question() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = Some(folder.path().join("journal.db"));
        let journal = Journal::new(Options { texts: false, ..Options::new(file) });
        let refused = journal.resume(&"kept".parse().expect("a name")).await.expect_err("no texts");
        assert!(refused.contains("journal.texts"), "{refused}");
    }
}
