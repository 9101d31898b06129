//! Verifies the whole file of a journal, and reports where its chain is broken.
//! The hash of a row and the rules of a whole chain are left to `chain`.

use std::fmt;

use askbridge_core::desk::{QuestionId, Record, Settlement, Timestamp};
use data_encoding::HEXLOWER;
use rusqlite::{Connection, OptionalExtension, Row, types::ValueRef};
use serde::Serialize;

use super::{
    JournalError,
    chain::{self, Cell, Fault, Verifier},
    schema,
    stored::millis,
};

/// The columns that are hashed, in their order.
pub(super) const HASHED: &str = "seq, id, opened, at, session, project, responder, name, texts, record";
/// The number of columns in [`HASHED`].
const COLUMNS: usize = 10;

/// The result of checking the whole chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Verification {
    /// The number of settlements.
    pub rows: u64,
    /// The number of the last settlement that was written.
    pub seq: i64,
    /// The hash of the last settlement. A copy of it elsewhere can prove later that nothing before it was changed.
    pub head: String,
    /// The number of the last settlement that was removed for its age or for size; 0 if none was.
    pub removed_up_to: i64,
    /// Each place where the chain is broken, in order, up to a limit.
    pub breaks: Vec<Break>,
    /// The number of breaks.
    pub broken: u64,
}

impl Verification {
    /// Returns whether the chain is whole.
    pub fn is_whole(&self) -> bool {
        self.broken == 0
    }
}

/// A place where the chain is broken.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Break {
    /// The number of the row.
    pub seq: i64,
    /// What is wrong.
    #[serde(flatten)]
    pub kind: BreakKind,
    /// The ID of the question, as the row has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it was settled, as the row has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// The kind of a break in the chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum BreakKind {
    /// The row was changed after it was written.
    Changed,
    /// The row does not follow from the row before it.
    Unlinked,
    /// The first row does not follow from the anchor that was recorded when older rows were removed.
    WrongAnchor,
    /// Rows are missing before this one.
    Missing {
        /// The number of the first.
        from: i64,
        /// The number of the last.
        to: i64,
    },
    /// The last rows are missing.
    Cut {
        /// The number of the first.
        from: i64,
        /// The number of the last.
        to: i64,
    },
    /// The recorded head of the chain is not the last row.
    WrongHead,
    /// The file has tables, and a format that no version writes: no bridge writes into it.
    WrongFormat {
        /// The format.
        format: i32,
    },
    /// SQLite cannot read on: the file is damaged.
    Damaged {
        /// What SQLite says.
        message: String,
    },
}

impl fmt::Display for Break {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Break { seq, kind, id, at } = self;
        match kind {
            BreakKind::Changed => write!(formatter, "row {seq} was changed")?,
            BreakKind::Unlinked => write!(formatter, "row {seq} does not follow from the row before it")?,
            BreakKind::WrongAnchor => {
                write!(formatter, "row {seq} does not follow from the rows that were removed before it")?;
            }
            BreakKind::Missing { from, to } => {
                write!(formatter, "rows {from} to {to} are missing before row {seq}")?;
            }
            BreakKind::Cut { from, to } => write!(formatter, "the last rows are missing: {from} to {to}")?,
            BreakKind::WrongHead => write!(formatter, "row {seq} is not the one that was written last")?,
            BreakKind::WrongFormat { format } => write!(
                formatter,
                "the file was changed: its format is {format}, which no askbridge writes, so bridges keep no journal \
                 until it is moved away"
            )?,
            BreakKind::Damaged { message } => {
                write!(formatter, "after row {seq} the file is damaged: {message}")?
            }
        }
        if let Some(id) = id {
            write!(formatter, "; its question is {id:?}")?;
        }
        if let Some(at) = at {
            write!(formatter, ", settled at {at}")?;
        }
        Ok(())
    }
}

/// Reads the whole chain.
pub(super) fn verify(connection: &Connection) -> Result<Verification, JournalError> {
    // All reads are in one transaction, so that they see the same state although other processes continue to write.
    let transaction = connection.unchecked_transaction()?;
    let head = read_head(&transaction);
    let (anchor, last) = match head {
        Ok(Some((head, anchor))) => (anchor, Some(head)),
        // Without a head, each row can still be checked against the row before it.
        Ok(None) | Err(_) => ((0, chain::START.to_vec()), None),
    };
    let mut verifier = Verifier::new(anchor.0, anchor.1);
    let mut places = Vec::new();
    let read = rows(&transaction, &mut verifier, &mut places);
    let ended = verifier.breaks.len();
    if read.is_ok() {
        verifier.end(last.as_ref().map(|(seq, hash)| (*seq, &**hash)));
    }
    let mut places = places.into_iter();
    let mut breaks: Vec<_> = (0..)
        .zip(std::mem::take(&mut verifier.breaks))
        .map(|(place, (seq, fault))| {
            // The breaks that `end` finds belong to no row.
            let (id, at) = if place < ended { places.next().unwrap_or_default() } else { (None, None) };
            Break { seq, kind: fault.into(), id, at }
        })
        .collect();
    // Apart from the chain's breaks, at most one more is reported, since damage makes the later checks meaningless.
    let mut broken = verifier.broken;
    let checks = || {
        check_pages(&transaction)?;
        schema::check(&transaction)?;
        check_questions(&transaction)
    };
    // The format is checked first: a file of an unknown format may also lack tables, and the wrong format is the better
    // explanation.
    let damage = schema::format(&transaction).and(read).and_then(|()| checks());
    if let Err(error) = damage {
        broken += 1;
        breaks.push(Break { seq: verifier.last(), kind: error.into(), id: None, at: None });
    }
    let (seq, head) = last.unwrap_or_default();
    Ok(Verification {
        rows: verifier.rows,
        seq,
        head: HEXLOWER.encode(&head),
        removed_up_to: anchor.0,
        breaks,
        broken,
    })
}

type ChainLink = (i64, Vec<u8>);

/// Returns the head and the anchor.
fn read_head(connection: &Connection) -> Result<Option<(ChainLink, ChainLink)>, JournalError> {
    let sql = "SELECT seq, hash, anchor_seq, anchor_hash FROM chain WHERE only = 0";
    let read = |row: &Row<'_>| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?)));
    Ok(connection.query_row(sql, [], read).optional()?)
}

/// Reads every row into the verifier. `places` gets the ID and the time of the row for each break that is found.
fn rows(
    connection: &Connection,
    verifier: &mut Verifier,
    places: &mut Vec<(Option<String>, Option<Timestamp>)>,
) -> Result<(), JournalError> {
    let sql = format!("SELECT {HASHED}, previous, hash FROM settlement ORDER BY seq");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut cells = [Cell::Null; COLUMNS];
        for (place, cell) in cells.iter_mut().enumerate() {
            *cell = cell_of(row.get_ref(place)?);
        }
        let (previous, hash) = (row.get_ref(COLUMNS)?, row.get_ref(COLUMNS + 1)?);
        let (previous, hash) = (bytes_of(&previous), bytes_of(&hash));
        let seq = row.get(0)?;
        let before = verifier.breaks.len();
        verifier.row(seq, previous, hash, chain::hash(previous, &cells) == hash);
        let place = || (row.get(1).ok(), row.get(3).ok().map(time_of));
        places.extend((before..verifier.breaks.len()).map(|_| place()));
    }
    Ok(())
}

/// Returns the time that a column stores.
pub(super) fn time_of(millis: i64) -> Timestamp {
    let passed = std::time::Duration::from_millis(u64::try_from(millis).unwrap_or(0));
    Timestamp::default().after(passed)
}

fn cell_of(value: ValueRef<'_>) -> Cell<'_> {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => Cell::Text(text),
        ValueRef::Blob(bytes) => Cell::Blob(bytes),
    }
}

/// Returns the bytes of a hash. A value of another kind yields no bytes, which equal no hash.
fn bytes_of<'a>(value: &ValueRef<'a>) -> &'a [u8] {
    match value {
        ValueRef::Blob(bytes) => bytes,
        _ => &[],
    }
}

/// Checks the structure of the whole file, and that each index has every row, since lists are read by the indexes.
fn check_pages(connection: &Connection) -> Result<(), JournalError> {
    // One error is enough to call the file damaged.
    let mut found = connection.prepare("PRAGMA integrity_check(1)")?;
    let said: String = found.query_row([], |row| row.get(0))?;
    if said == "ok" { Ok(()) } else { Err(JournalError::Broken(said)) }
}

/// Checks that each row of `question` can be read, and that its columns agree with the record in it. These rows have no
/// hash, since they change until the question is settled.
fn check_questions(connection: &Connection) -> Result<(), JournalError> {
    let sql = "SELECT rowid, id, opened, bridge, session, project, record, accepted, claimed
        FROM question ORDER BY rowid";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        let is_whole = is_whole(row).map_err(|error| error.to_string());
        let problem = is_whole.map(|is_whole| (!is_whole).then(|| "it is about another question".to_owned()));
        if let Some(problem) = problem.unwrap_or_else(Some) {
            return Err(JournalError::Broken(format!(
                "row {number} of `question` cannot be read: {problem}"
            )));
        }
    }
    Ok(())
}

/// Returns whether the columns of a row of `question` agree with the record in it.
fn is_whole(row: &Row<'_>) -> Result<bool, JournalError> {
    let (id, opened, bridge): (String, i64, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
    let text = |place| row.get::<_, Option<String>>(place);
    let (session, project) = (text(4)?, text(5)?);
    let record: Option<Record> = text(6)?.map(|json| serde_json::from_str(&json)).transpose()?;
    let _: Option<Settlement> = text(7)?.map(|json| serde_json::from_str(&json)).transpose()?;
    let is_claimed_well = text(8)?.is_none_or(|claimed| claimed.parse::<QuestionId>().is_ok());
    let is_same = |record: Record| {
        let Record { id: own, bridge: of, question, opened_at, .. } = record;
        (own.to_string(), of.as_str(), millis(opened_at)) == (id, &bridge, opened)
            && (question.session.as_deref(), question.project.as_deref())
                == (session.as_deref(), project.as_deref())
    };
    Ok(is_claimed_well && record.is_none_or(is_same))
}

impl From<JournalError> for BreakKind {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Changed { format, .. } => BreakKind::WrongFormat { format },
            error => BreakKind::Damaged { message: error.to_string() },
        }
    }
}

impl From<Fault> for BreakKind {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Changed => BreakKind::Changed,
            Fault::Unlinked => BreakKind::Unlinked,
            Fault::WrongAnchor => BreakKind::WrongAnchor,
            Fault::Missing(from, to) => BreakKind::Missing { from, to },
            Fault::Cut(from, to) => BreakKind::Cut { from, to },
            Fault::WrongHead => BreakKind::WrongHead,
        }
    }
}
