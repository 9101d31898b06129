//! Files with damage at random places: nothing panics, no question waits, and what is wrong is said.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use askbridge_control::inbox::{HistoryFilter, Ledger, PastQuestion};
use askbridge_core::{
    desk::{Record, Settlement, Timestamp},
    question::Outcome,
};
use askbridge_journal::{History, Journal, JournalError, Options, prune};
use proptest::{prelude::*, test_runner::FileFailurePersistence};
use rusqlite::config::DbConfig;

use crate::journal::support::{Place, answer, answered, open, page, question, submission};

/// A hang guard.
const SOON: Duration = Duration::from_secs(120);

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// Questions that are settled, and as many that are not.
const COUNT: usize = 40;

/// The bytes of a journal with some questions: the same in every run.
fn template() -> &'static [u8] {
    static TEMPLATE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    TEMPLATE.get_or_init(|| {
        block_on(async {
            let place = Place::new();
            let journal = Journal::new(Options { keep: Duration::MAX, ..place.options() });
            let at = |seconds| Timestamp::default().after(Duration::from_secs(1_800_000_000 + seconds));
            let asked = |id: String, seconds| {
                Record::new(id.parse().expect("an ID"), question("Why?").into(), at(seconds))
            };
            for number in 1..=COUNT as u64 {
                let record = Arc::new(asked(format!("a-{number}"), number));
                let text = "x".repeat(number as usize);
                let settlement = Settlement::new(Outcome::Answered(answer(&text)), page(), at(number));
                journal.note(&record);
                journal.accepting(&record, &submission(&text), &page()).await;
                journal.settled(&Arc::new(Record::clone(&record).settled(settlement))).await;
                journal.note(&asked(format!("b-{number}"), number).into());
            }
            journal.flush().await;
            place.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("a checkpoint");
            std::fs::read(place.file()).expect("a file")
        })
    })
}

/// What a reader sees: each settlement as it is listed, found and exported with its place in the chain; and how many
/// questions are not settled. Nothing more is promised of those: what stands in them has no hash, as it changes until they
/// are settled.
#[derive(Debug, PartialEq)]
struct Seen {
    listed: Vec<PastQuestion>,
    found: Vec<PastQuestion>,
    exported: Vec<serde_json::Value>,
    lost: usize,
    all: usize,
}

fn seen(history: &History) -> Result<Seen, JournalError> {
    let mut exported = history
        .export()
        .map(|line| Ok(serde_json::from_str::<serde_json::Value>(&line?)?))
        .collect::<Result<Vec<_>, JournalError>>()?;
    exported.retain(|line| line.get("seq").is_some());
    Ok(Seen {
        listed: history.list(&HistoryFilter { by: Some("page".to_owned()), ..HistoryFilter::default() })?,
        found: history.find(&"a-3".parse().expect("a prefix"))?,
        exported,
        lost: history.unsettled(&[])?.len(),
        all: history.list(&HistoryFilter::default())?.len(),
    })
}

/// Returns what a reader sees of the template.
fn sound() -> &'static Seen {
    static SOUND: std::sync::OnceLock<Seen> = std::sync::OnceLock::new();
    SOUND.get_or_init(|| {
        let place = written(template());
        assert!(place.history().verify().expect("a chain").is_whole());
        let seen = seen(&place.history()).expect("a journal");
        assert_eq!(
            (seen.listed.len(), seen.exported.len(), seen.lost, seen.all),
            (COUNT, COUNT, COUNT, 2 * COUNT)
        );
        seen
    })
}

fn written(bytes: &[u8]) -> Place {
    let place = Place::new();
    std::fs::create_dir(place.file().parent().expect("a folder")).expect("a folder");
    std::fs::write(place.file(), bytes).expect("a file");
    place
}

/// Reads a damaged file: nothing panics or hangs, and where `verify` says that it is whole, everything is seen that is in
/// the template.
fn check_reading(place: &Place) {
    let history = match History::open(&place.file()) {
        Ok(Some(history)) => history,
        Ok(None) => {
            let length = std::fs::metadata(place.file()).expect("a file").len();
            return assert_eq!(length, 0, "a damaged file is taken for an empty one");
        }
        Err(_) => return,
    };
    let seen = seen(&history);
    drop(history.gaps());
    if history.verify().is_ok_and(|verified| verified.is_whole()) {
        assert_eq!(&seen.expect("a journal that is whole"), sound());
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        ..ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds"))
    })]

    #[test]
    fn damaged_file_costs_the_journal_and_never_a_question(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut bytes = template().to_vec();
        for (place, byte) in places {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let place = written(&bytes);
        check_reading(&place);
        let begun = Instant::now();
        block_on(async {
            let journal = place.journal();
            let record = open("c-1", "Why?");
            journal.note(&record);
            drop(journal.earlier(&record).await);
            journal.accepting(&record, &submission("x"), &page()).await;
            journal.settled(&answered(&record, "x")).await;
            journal.flush().await;
        });
        prop_assert!(begun.elapsed() < SOON);
    }

    #[test]
    fn one_changed_byte_is_found_or_changes_nothing_that_was_settled(
        place in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut bytes = template().to_vec();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        check_reading(&written(&bytes));
    }
}

/// Returns the template with the rows of this table in the opposite order: they all stand on one page.
fn out_of_order(table: &str) -> Place {
    let mut bytes = template().to_vec();
    let root = written(&bytes).sql().query_row(
        "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = ?1",
        [table],
        |row| Ok((row.get::<_, u32>(0)? as usize, row.get::<_, u32>(1)? as usize)),
    );
    let (root, size) = root.expect("a table");
    let word = |bytes: &[u8], at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
    // The first leaf: the root itself, or the first page below it.
    let mut page = (root - 1) * size;
    while bytes[page] == 5 {
        let cell = page + word(&bytes, page + 12);
        let below = u32::from_be_bytes(bytes[cell..cell + 4].try_into().expect("4 bytes"));
        page = (below as usize - 1) * size;
    }
    assert_eq!(bytes[page], 13, "a leaf of a table");
    let (count, first) = (word(&bytes, page + 3), page + 8);
    assert!(count > 2, "{count}");
    let mut cells: Vec<_> = bytes[first..first + 2 * count].chunks(2).map(<[u8]>::to_vec).collect();
    cells.reverse();
    bytes[first..first + 2 * count].copy_from_slice(&cells.concat());
    written(&bytes)
}

#[test]
fn rows_that_are_out_of_order_are_not_read_and_not_removed_for_ever() {
    for table in ["settlement", "question"] {
        let place = out_of_order(table);
        let exported: Result<Vec<_>, _> = place.history().export().collect();
        assert!(exported.is_err(), "{table}: {exported:?}");
        // What cannot be found again may stay.
        drop(prune(&place.options(), "9999-01-01T00:00:00Z".parse().expect("a time")));
    }
}

/// Returns what `verify` says of the template with this change.
fn said_after(sql: &str) -> String {
    let place = written(template());
    let connection = place.sql();
    // The schema and the entries of an index are changed as damage would change them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).expect("a connection");
    connection.pragma_update(None, "writable_schema", true).expect("a connection");
    connection.execute_batch(sql).expect(sql);
    drop(connection);
    let verified = place.history().verify().expect("a chain");
    verified.breaks.iter().map(|found| format!("{found}\n")).collect()
}

#[test]
fn damage_beside_the_chain_is_named() {
    let schema = |from: &str, to: &str| {
        format!("UPDATE sqlite_schema SET sql = replace(sql, '{from}', '{to}') WHERE name = 'question'")
    };
    for (sql, said) in [
        // A column that is called otherwise from now on: no list can be read, and nothing written.
        (&*schema("\n    session TEXT", "A    session TEXT"), "`question` is not defined as format 103 defines it"),
        (&schema("usable INTEGER NOT NULL DEFAULT 0", "usable INTEGER NOT NULL DEFAULT 1"), "`question` is not defined"),
        ("CREATE TABLE mood (name TEXT)", "`mood` is not defined as format 103 defines it"),
        ("DROP INDEX question_same", "`question_same` is not defined as format 103 defines it"),
        ("PRAGMA user_version = 104", "its format is 104, and its tables are not those of that format"),
        ("PRAGMA user_version = 100", "`bridge` is not defined as format 100 defines it"),
        // A question that the index does not name is in no list.
        (
            "UPDATE sqlite_schema SET sql = replace(sql, 'IS NOT NULL', 'IS NULL') WHERE name = 'question_unsettled';
             PRAGMA schema_version = 99; REINDEX question_unsettled;
             UPDATE sqlite_schema SET sql = replace(sql, 'IS NULL', 'IS NOT NULL') WHERE name = 'question_unsettled'",
            "question_unsettled",
        ),
        ("UPDATE question SET record = x'00' WHERE id = 'b-7'", "of `question` cannot be read: "),
        ("UPDATE question SET record = '{' WHERE id = 'b-7'", "of `question` cannot be read: "),
        ("UPDATE question SET accepted = '{' WHERE id = 'a-7'", "of `question` cannot be read: "),
        ("UPDATE question SET claimed = '' WHERE id = 'a-7'", "cannot be read: it is about another question"),
        ("UPDATE question SET id = 'b-99' WHERE id = 'b-7'", "cannot be read: it is about another question"),
        ("UPDATE question SET opened = 7 WHERE id = 'b-7'", "cannot be read: it is about another question"),
        ("UPDATE question SET bridge = 'a' WHERE id = 'b-7'", "cannot be read: it is about another question"),
        ("UPDATE question SET session = 'a' WHERE id = 'b-7'", "cannot be read: it is about another question"),
        ("UPDATE question SET project = NULL WHERE id = 'b-7'", "cannot be read: it is about another question"),
    ] {
        let found = said_after(sql);
        assert!(found.starts_with("after row 40 the file is damaged: ") && found.contains(said), "{sql}: {found:?}");
    }
    assert_eq!(said_after("UPDATE question SET usable = usable"), "");
}

#[test]
fn question_that_cannot_be_read_hides_no_other() {
    for (column, value) in
        [("record", "x'00'"), ("accepted", "x'00'"), ("claimed", "x'00'"), ("opened", "'now'")]
    {
        let place = written(template());
        let sql = format!("UPDATE question SET {column} = {value} WHERE id = 'b-7'");
        place.sql().execute(&sql, []).expect("a row");
        let history = place.history();
        let lost = history.unsettled(&[]).expect("a list");
        assert_eq!(lost.len(), COUNT - 1, "{column}");
        assert_eq!(history.list(&HistoryFilter::default()).expect("a list").len(), 2 * COUNT - 1, "{column}");
    }
}

#[test]
fn format_of_no_version_is_a_change_and_not_an_empty_file() {
    for format in [0, 36, 99, -1] {
        let place = written(template());
        place.sql().pragma_update(None, "user_version", format).expect("a file");
        let error = History::open(&place.file()).expect_err("a changed file").to_string();
        let said = format!(
            "the journal was changed: it has tables, and its format is {format}, which no askbridge writes"
        );
        let file = place.file().display().to_string();
        assert!(
            error.starts_with(&said)
                && error.ends_with(&format!("to start a new journal, move this one away: {file}")),
            "{error}"
        );
        let history = History::open_to_verify(&place.file()).expect("a file").expect("a journal");
        let verified = history.verify().expect("a chain");
        assert_eq!((verified.rows, verified.broken), (40, 1));
        let kind = serde_json::to_value(&verified.breaks[0].kind).expect("JSON");
        assert_eq!(kind, serde_json::json!({ "kind": "wrong_format", "format": format }));
        let said = verified.breaks[0].to_string();
        assert!(said.starts_with(&format!("the file was changed: its format is {format}, ")), "{said}");
    }
    // Without tables there is nothing that could have been changed.
    let place = written(b"");
    place.sql().pragma_update(None, "user_version", 36).expect("a file");
    assert!(History::open(&place.file()).expect("an empty file").is_none());
}

#[test]
fn export_goes_on_behind_a_row_that_was_changed_and_names_it() {
    for (sql, named) in [
        ("UPDATE settlement SET hash = 'no hash' WHERE seq = 3", "row 3 was changed; its question is \"a-"),
        ("UPDATE settlement SET previous = 7 WHERE seq = 3", "row 3 was changed; its question is \"a-"),
        ("UPDATE settlement SET record = x'00' WHERE seq = 3", "row 3 was changed; its question is \"a-"),
        ("UPDATE question SET accepted = x'00' WHERE id = 'b-7'", "after row 40 the file is damaged: row "),
    ] {
        let place = written(template());
        let before = place.history().export().count();
        place.sql().execute(sql, []).expect(sql);
        let history = place.history();
        let mut export = history.export();
        let lines: Vec<_> = export.by_ref().map(|line| line.expect("a line")).collect();
        assert_eq!(lines.len(), before, "{sql}");
        let (changed, more) = export.changed();
        let [found] = changed else { panic!("{sql}: {changed:?}") };
        assert!(found.to_string().starts_with(named) && more == 0, "{sql}: {found}");
        assert!(!history.verify().expect("a chain").is_whole(), "{sql}");
    }
    let place = written(template());
    let history = place.history();
    let mut export = history.export();
    export.by_ref().for_each(drop);
    assert!(export.changed().0.is_empty());
}
