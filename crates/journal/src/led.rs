//! Reads what led to a question, where the settings had the journal keep it. How it is stored is left to `stored.rs`.

use askbridge_core::{desk::Record, question::Context};
use rusqlite::{OptionalExtension, params};
use serde::Deserialize;

use super::{History, JournalError, stored::millis};

impl History {
    /// Returns what led to a question, if the settings had the journal keep it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn context(&self, record: &Record) -> Result<Option<Context>, JournalError> {
        #[derive(Deserialize)]
        struct After {
            context: Option<Context>,
        }
        let sql = "SELECT record FROM settlement WHERE id = ?1 AND opened = ?2
            UNION ALL SELECT record FROM question WHERE id = ?1 AND opened = ?2 AND record IS NOT NULL LIMIT 1";
        let of = params![record.id.to_string(), millis(record.opened_at)];
        let json = self.connection.query_row(sql, of, |row| row.get::<_, String>(0)).optional()?;
        Ok(json.and_then(|json| serde_json::from_str::<After>(&json).ok()?.context))
    }
}
