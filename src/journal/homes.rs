//! Where the bridges run whose questions are in the journal, and whether they live.

use rusqlite::{Connection, OptionalExtension, params};

use super::{JournalError, Options};
use crate::{
    control::{Home, Life},
    desk::BridgeName,
};

/// Writes where a bridge runs. It stays the same for as long as the bridge lives.
pub(super) fn note_home(
    connection: &Connection,
    bridge: &BridgeName,
    home: &Home,
) -> Result<(), JournalError> {
    let Home { folder, pid, started, namespace } = home;
    // A folder whose name is not Unicode is not written: its bridge counts as one of which this is not known.
    let Some(folder) = folder.to_str() else { return Ok(()) };
    let number = |number: u64| i64::try_from(number).unwrap_or_default();
    connection.execute(
        "INSERT OR IGNORE INTO bridge (name, folder, pid, started, namespace) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![bridge.as_str(), folder, pid, number(*started), number(*namespace)],
    )?;
    Ok(())
}

/// Returns where a bridge runs or ran, if that was noted.
pub(super) fn find_home(connection: &Connection, bridge: &BridgeName) -> Result<Option<Home>, JournalError> {
    let sql = "SELECT folder, pid, started, namespace FROM bridge WHERE name = ?1";
    let number = |number: i64| u64::try_from(number).unwrap_or_default();
    let home = connection.query_row(sql, [bridge.as_str()], |row| {
        Ok(Home {
            folder: row.get::<_, String>(0)?.into(),
            pid: row.get(1)?,
            started: number(row.get(2)?),
            namespace: number(row.get(3)?),
        })
    });
    Ok(home.optional()?)
}

/// Returns whether a bridge lives. A home that cannot be read counts as missing.
pub(super) fn bridge_life(connection: &Connection, options: &Options, bridge: &BridgeName) -> Life {
    let home = find_home(connection, bridge).unwrap_or_else(|error| {
        tracing::debug!(%bridge, %error, "where the bridge runs cannot be read");
        None
    });
    (options.life)(bridge, home.as_ref())
}

/// Forgets the bridges that have no question that may be lost.
pub(super) fn prune_homes(connection: &Connection) -> Result<(), JournalError> {
    connection.execute(
        "DELETE FROM bridge WHERE name NOT IN (SELECT bridge FROM question WHERE record IS NOT NULL)",
        [],
    )?;
    Ok(())
}
