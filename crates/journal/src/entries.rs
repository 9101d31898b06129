//! Writes the rows of the journal: questions, submissions, settlements with their place in the chain, gaps, and where
//! each bridge runs. When, and in which transaction, is left to `writer.rs`; earlier decisions are read by `again.rs`.

use askbridge_control::inbox::{AskedUnder, Home, KeptBefore, LeftToClient, Life};
use askbridge_core::{
    desk::{BridgeName, QuestionId, Settlement, Timestamp},
    question::{Outcome, Reason},
};
use rusqlite::{Connection, Row, params};

use super::{
    JournalError, Options,
    chain::{self, Cell},
    connection::{find, run},
    stored::{StoredQuestion, millis},
};

/// Writes the current state of a question: its record while it is open, then its settlement.
pub(super) fn note(connection: &Connection, stored: &StoredQuestion) -> Result<(), JournalError> {
    match &stored.record.settlement {
        Some(settlement) => settle(connection, stored, settlement),
        None if stored.record.is_open() => open(connection, stored),
        // The bridge of a lost question has already written what is known about it.
        None => Ok(()),
    }
}

fn open(connection: &Connection, stored: &StoredQuestion) -> Result<(), JournalError> {
    let record = &stored.record;
    let question = &record.question;
    // A late entry must not reopen a question that is settled.
    run(
        connection,
        "INSERT INTO question (id, opened, bridge, session, project, fingerprint, usable, record)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
         WHERE NOT EXISTS (SELECT 1 FROM settlement WHERE id = ?1 AND opened = ?2)
         ON CONFLICT (id, opened) DO UPDATE SET record = excluded.record
         WHERE record IS NOT NULL AND record <> excluded.record",
        params![
            record.id.to_string(),
            millis(record.opened_at),
            record.bridge.as_str(),
            question.session,
            question.project.as_deref(),
            stored.fingerprint,
            stored.is_usable,
            stored.json,
        ],
    )?;
    Ok(())
}

/// Writes a decision that is about to be given to the asker. From now on the asker may have it.
///
/// If the verdicts of two decisions are unknown, the asker may have taken either: neither is used again.
pub(super) fn accept(
    connection: &Connection,
    stored: &StoredQuestion,
    decision: &Settlement,
) -> Result<(), JournalError> {
    // The entry of the opening may have been dropped, so the row may be missing.
    open(connection, stored)?;
    let decision = serde_json::to_string(decision)?;
    run(
        connection,
        "UPDATE question SET accepted = iif(submissions = 0, ?3, NULL), submissions = submissions + 1
         WHERE id = ?1 AND opened = ?2 AND record IS NOT NULL",
        params![stored.record.id.to_string(), millis(stored.record.opened_at), decision],
    )?;
    Ok(())
}

/// Writes whether a decision still waits, with no byte of it written to the asker, or is on its way.
pub(super) fn waits(connection: &Connection, id: &QuestionId, is_so: bool) -> Result<(), JournalError> {
    let set = if is_so {
        "json_set(accepted, '$.waits', json('true'))"
    } else {
        "json_remove(accepted, '$.waits')"
    };
    // This selects the latest open row, since an ID can be used again.
    let latest =
        "(SELECT rowid FROM question WHERE id = ?1 AND record IS NOT NULL ORDER BY opened DESC LIMIT 1)";
    let sql = format!("UPDATE question SET accepted = {set} WHERE accepted IS NOT NULL AND rowid = {latest}");
    run(connection, &sql, [id.to_string()])?;
    Ok(())
}

/// Writes that a decision was not taken.
pub(super) fn refuse(connection: &Connection, id: &QuestionId) -> Result<(), JournalError> {
    run(
        connection,
        "UPDATE question SET accepted = NULL, submissions = max(submissions - 1, 0) WHERE rowid =
         (SELECT rowid FROM question WHERE id = ?1 AND record IS NOT NULL ORDER BY opened DESC LIMIT 1)",
        [id.to_string()],
    )?;
    Ok(())
}

/// Returns whether a settlement says that the agent is gone. An earlier decision may then never have reached the agent.
pub(super) fn is_of_dead_agent(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Rejected(Reason::AgentGone))
}

/// Appends a settlement to the chain, unless the question has one already.
fn settle(
    connection: &Connection,
    stored: &StoredQuestion,
    settlement: &Settlement,
) -> Result<(), JournalError> {
    let record = &stored.record;
    let (id, opened) = (record.id.to_string(), millis(record.opened_at));
    let known = "SELECT 1 FROM settlement WHERE id = ?1 AND opened = ?2";
    if find(connection, known, params![id, opened], |_| Ok(()))?.is_some() {
        return Ok(());
    }
    append(connection, stored, settlement, (&id, opened))?;
    // Without a fingerprint no later question can be recognized as the same, so the row has no further use.
    if stored.fingerprint.is_none() {
        run(connection, "DELETE FROM question WHERE id = ?1 AND opened = ?2", params![id, opened])?;
        return Ok(());
    }
    // The decision stays only if the agent died before it had it: a later question may claim it.
    open_settled(connection, stored)?;
    run(
        connection,
        "UPDATE question SET record = NULL, submissions = 0, accepted = iif(?3, accepted, NULL)
         WHERE id = ?1 AND opened = ?2",
        params![id, opened, is_of_dead_agent(&settlement.outcome)],
    )?;
    Ok(())
}

/// Inserts the row of the question if it is missing: an earlier entry may have been dropped.
fn open_settled(connection: &Connection, stored: &StoredQuestion) -> Result<(), JournalError> {
    let record = &stored.record;
    run(
        connection,
        "INSERT OR IGNORE INTO question (id, opened, bridge, session, project, fingerprint, usable)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            record.id.to_string(),
            millis(record.opened_at),
            record.bridge.as_str(),
            record.question.session,
            record.question.project.as_deref(),
            stored.fingerprint,
            stored.is_usable,
        ],
    )?;
    Ok(())
}

fn append(
    connection: &Connection,
    stored: &StoredQuestion,
    settlement: &Settlement,
    (id, opened): (&str, i64),
) -> Result<(), JournalError> {
    // The head is read in each transaction, since other processes append to the same chain.
    let head = find(connection, "SELECT seq, hash FROM chain WHERE only = 0", [], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
    });
    let (last, previous) = head?.ok_or_else(|| broken("the head of its chain is missing"))?;
    let seq = last.checked_add(1).ok_or_else(|| broken("the head of its chain is out of range"))?;
    let question = &stored.record.question;
    let (session, project) = (question.session.as_deref(), question.project.as_deref());
    let (responder, name) = (settlement.by.responder.name(), settlement.by.name.as_deref());
    let (at, texts) = (millis(settlement.at), i64::from(stored.has_texts));
    // The columns are in the order of `verify::HASHED`, by which the hash is checked.
    let hash = chain::hash(
        &previous,
        &[
            Cell::Integer(seq),
            Cell::Text(id.as_bytes()),
            Cell::Integer(opened),
            Cell::Integer(at),
            optional(session),
            optional(project),
            Cell::Text(responder.as_bytes()),
            optional(name),
            Cell::Integer(texts),
            Cell::Text(stored.json.as_bytes()),
        ],
    );
    run(connection,
        "INSERT INTO settlement (seq, id, opened, at, session, project, responder, name, texts, record, previous, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![seq, id, opened, at, session, project, responder, name, texts, stored.json, previous, hash],
    )?;
    run(connection, "UPDATE chain SET seq = ?1, hash = ?2 WHERE only = 0", params![seq, hash])?;
    Ok(())
}

fn optional(text: Option<&str>) -> Cell<'_> {
    text.map_or(Cell::Null, |text| Cell::Text(text.as_bytes()))
}

fn broken(what: &str) -> JournalError {
    JournalError::Broken(what.to_owned())
}

/// Writes that the permissions of a bridge are left to the client.
pub(super) fn left_to_client(connection: &Connection, left: &LeftToClient) -> Result<(), JournalError> {
    let LeftToClient { bridge, project, file, at } = left;
    run(
        connection,
        "INSERT OR IGNORE INTO left_to_client (bridge, project, file, at) VALUES (?1, ?2, ?3, ?4)",
        params![bridge.as_str(), project, file, millis(*at)],
    )?;
    Ok(())
}

/// Writes that so many entries are missing.
pub(super) fn gap(connection: &Connection, missing: u64, now: Timestamp) -> Result<(), JournalError> {
    let missing = i64::try_from(missing).unwrap_or(i64::MAX);
    run(connection, "INSERT INTO gap (at, missing) VALUES (?1, ?2)", params![millis(now), missing])?;
    Ok(())
}

/// Makes the transaction change something, so that its commit syncs the write-ahead log. The log also has what earlier
/// transactions wrote without a sync.
pub(super) fn touch(connection: &Connection) -> Result<(), JournalError> {
    run(connection, "UPDATE chain SET syncs = syncs + 1 WHERE only = 0", [])?;
    Ok(())
}

/// Writes where a bridge runs. It stays the same for as long as the bridge lives.
pub(super) fn note_home(
    connection: &Connection,
    bridge: &BridgeName,
    home: &Home,
) -> Result<(), JournalError> {
    let Home { folder, pid, started, namespace } = home;
    // A folder whose name is not Unicode is not written: its bridge counts as one whose home is not known.
    let Some(folder) = folder.to_str() else { return Ok(()) };
    let number = |number: u64| i64::try_from(number).unwrap_or_default();
    run(
        connection,
        "INSERT OR IGNORE INTO bridge (name, folder, pid, started, namespace) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![bridge.as_str(), folder, pid, number(*started), number(*namespace)],
    )?;
    Ok(())
}

/// Returns where a bridge runs or ran, if that was noted.
pub(super) fn find_home(connection: &Connection, bridge: &BridgeName) -> Result<Option<Home>, JournalError> {
    let sql = "SELECT folder, pid, started, namespace FROM bridge WHERE name = ?1";
    let number = |number: i64| u64::try_from(number).unwrap_or_default();
    let home = find(connection, sql, [bridge.as_str()], |row| {
        Ok(Home {
            folder: row.get::<_, String>(0)?.into(),
            pid: row.get(1)?,
            started: number(row.get(2)?),
            namespace: number(row.get(3)?),
        })
    });
    Ok(home?)
}

/// Returns whether a bridge lives. A home that cannot be read counts as missing. The inbox whose questions no connection
/// holds always does: its next process opens them again.
pub(super) fn bridge_life(connection: &Connection, options: &Options, bridge: &BridgeName) -> Life {
    if is_standing(connection, bridge) {
        return Life::Lives;
    }
    let home = find_home(connection, bridge).unwrap_or_else(|error| {
        tracing::debug!(%bridge, %error, "cannot read where the bridge runs");
        None
    });
    (options.life)(bridge, home.as_ref())
}

/// Returns the question that was asked under this key and that no connection held, if there is one.
pub(super) fn asked_before(
    connection: &Connection,
    under: &AskedUnder,
) -> Result<Option<KeptBefore>, JournalError> {
    let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?));
    let found = find(connection, "SELECT id, digest FROM standing_key WHERE key = ?1", [&under.key], read)?;
    let before = |(id, digest): (String, Vec<u8>)| {
        Some(KeptBefore { id: id.parse().ok()?, is_same: digest == under.digest })
    };
    Ok(found.and_then(before))
}

/// Returns whether this is the name of the inbox whose questions no connection holds. They are not lost with a process.
pub(super) fn is_standing(connection: &Connection, bridge: &BridgeName) -> bool {
    // A file of an earlier format has no such table, and no such inbox.
    let sql = "SELECT 1 FROM standing_inbox WHERE bridge = ?1";
    find(connection, sql, [bridge.as_str()], |_| Ok(())).is_ok_and(|found| found.is_some())
}

/// Forgets where a bridge ran once it has no open question, since only such a question can be lost with it.
pub(super) fn prune_homes(connection: &Connection) -> Result<(), JournalError> {
    run(
        connection,
        "DELETE FROM bridge WHERE name NOT IN (SELECT bridge FROM question WHERE record IS NOT NULL)",
        [],
    )?;
    Ok(())
}
