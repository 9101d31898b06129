//! Removes old rows from the journal: settled questions that are too old or too many, from the beginning of the chain
//! on, and questions that died with their bridge. A question that is open in a live bridge is never removed.

use askbridge_control::inbox::Life;
use askbridge_core::desk::Timestamp;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::{JournalError, Options, connection::WritingConnection, entries, standing, stored::millis, used};
use crate::limits;

/// Bytes that a settlement takes beside its record: its columns, its hashes, and its entries in the indexes.
const ROW: i64 = 300;
/// Pages that are given back to the file system at once.
const PAGES: u32 = 2000;

/// Removes the questions that were settled before this time, and those that were opened before it and died with their
/// bridge. Returns how many questions were removed.
///
/// # Errors
/// The file cannot be written.
pub fn prune(options: &Options, before: Timestamp) -> Result<u64, JournalError> {
    let path = options.file.as_deref().ok_or(JournalError::NoFolder)?;
    if !path.exists() {
        return Ok(0);
    }
    let mut writing = WritingConnection::open(path)?;
    let (mut count, mut removed) = (0, usize::MAX);
    while removed > 0 {
        // No file reaches this size, so only the age counts.
        removed = remove(&mut writing.connection, options, before, u64::MAX)?;
        count += removed as u64;
    }
    Ok(count)
}

/// Removes one batch of the rows that are too old or too many. Returns whether there may be more.
pub(super) fn some(
    connection: &mut Connection,
    options: &Options,
    now: Timestamp,
) -> Result<bool, JournalError> {
    let kept = i64::try_from(options.keep.as_millis()).unwrap_or(i64::MAX);
    let before = u64::try_from(millis(now).saturating_sub(kept)).unwrap_or(0);
    let before = Timestamp::default().after(std::time::Duration::from_millis(before));
    Ok(remove(connection, options, before, options.size)? > 0)
}

fn remove(
    connection: &mut Connection,
    options: &Options,
    before: Timestamp,
    size: u64,
) -> Result<usize, JournalError> {
    let before = millis(before);
    // This precedes the transaction, since finding out whether a bridge lives takes milliseconds, and other processes
    // would wait for the lock meanwhile.
    let (last, old) = last_to_remove(connection, before, size)?;
    let dead = dead(connection, before, options)?;
    if old + dead.len() == 0 && !has_old_bridges(connection, before)? {
        return Ok(0);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // What is not found again counts as nothing: in a damaged file, it would be looked for without end.
    let mut count = 0;
    for row in dead {
        // The question may have been settled since it was read.
        count +=
            transaction.execute("DELETE FROM question WHERE rowid = ?1 AND record IS NOT NULL", [row])?;
    }
    entries::prune_homes(&transaction)?;
    transaction.execute("DELETE FROM gap WHERE at < ?1", [before])?;
    transaction.execute("DELETE FROM left_to_client WHERE at < ?1", [before])?;
    let hash: Option<Vec<u8>> = transaction
        .query_row("SELECT hash FROM settlement WHERE seq = ?1", [last], |row| row.get(0))
        .optional()?;
    // The row is missing if another process removed it meanwhile.
    if let Some(hash) = hash {
        transaction.execute(
            "DELETE FROM question WHERE record IS NULL AND (id, opened) IN
             (SELECT id, opened FROM settlement WHERE seq <= ?1)",
            [last],
        )?;
        count += transaction.execute("DELETE FROM settlement WHERE seq <= ?1", [last])?;
        transaction.execute(
            "UPDATE chain SET anchor_seq = ?1, anchor_hash = ?2 WHERE only = 0",
            params![last, hash],
        )?;
    }
    standing::prune(&transaction)?;
    used::prune(&transaction)?;
    transaction.commit()?;
    // Each step of the statement gives back one page, so all steps have to run.
    let mut pages = connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
    let mut pages = pages.query([])?;
    while pages.next()?.is_some() {}
    Ok(count)
}

/// Returns whether there is a `left_to_client` entry from before this time.
fn has_old_bridges(connection: &Connection, before: i64) -> Result<bool, JournalError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM left_to_client WHERE at < ?1)";
    Ok(connection.query_row(sql, [before], |row| row.get(0))?)
}

/// Returns the number of the last settlement to remove in this batch, and how many settlements there are up to it.
fn last_to_remove(connection: &Connection, before: i64, size: u64) -> Result<(i64, usize), JournalError> {
    let page = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    // Free pages do not count, since SQLite uses them again or gives them back.
    let used = (page("page_count")? - page("freelist_count")?).saturating_mul(page("page_size")?);
    let excess = used.saturating_sub(i64::try_from(size).unwrap_or(i64::MAX));
    let mut statement =
        connection.prepare("SELECT seq, at, octet_length(record) FROM settlement ORDER BY seq LIMIT ?1")?;
    let mut rows = statement.query([i64::try_from(limits::PRUNED).unwrap_or(i64::MAX)])?;
    let (mut last, mut count, mut removed) = (0, 0, 0_i64);
    while let Some(row) = rows.next()? {
        let is_wanted = row.get::<_, i64>(1)? < before || excess > removed;
        if !is_wanted || removed >= limits::PRUNED_BYTES {
            break;
        }
        (last, count) = (row.get(0)?, count + 1);
        removed = removed.saturating_add(row.get::<_, i64>(2)?.saturating_add(ROW));
    }
    Ok((last, count))
}

/// Returns the rows of questions that were opened before this time and died with their bridge.
fn dead(connection: &Connection, before: i64, options: &Options) -> Result<Vec<i64>, JournalError> {
    let mut statement = connection.prepare(
        "SELECT rowid, bridge FROM question WHERE record IS NOT NULL AND opened < ?1 ORDER BY opened LIMIT ?2",
    )?;
    let most = i64::try_from(limits::PRUNED).unwrap_or(i64::MAX);
    let rows = statement
        .query_map(params![before, most], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
        .collect::<Result<Vec<_>, _>>()?;
    let is_dead = |bridge: &str| {
        bridge.parse().is_ok_and(|bridge| entries::bridge_life(connection, options, &bridge) != Life::Lives)
    };
    Ok(rows.into_iter().filter(|(_, bridge)| is_dead(bridge)).map(|(row, _)| row).collect())
}
