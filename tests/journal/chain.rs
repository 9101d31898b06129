//! The chain of settlements: every change, cut and gap is found, with its place.

use askbridge_control::inbox::Ledger;
use askbridge_journal::{Break, BreakKind, Verification, prune};
use proptest::{prelude::*, test_runner::FileFailurePersistence};
use rusqlite::{Connection, params, types::Value};

use crate::journal::support::{Place, note_answer, now};

/// Settlements of the journal that is changed.
const ROWS: i64 = 8;

async fn written() -> Place {
    let place = Place::new();
    let journal = place.journal();
    for number in 1..=ROWS {
        note_answer(&journal, &format!("a-{number}"), "x").await;
    }
    journal.flush().await;
    place
}

fn verified(place: &Place) -> Verification {
    place.history().verify().expect("a chain")
}

fn kinds(verified: &Verification) -> Vec<(i64, BreakKind)> {
    verified.breaks.iter().map(|found| (found.seq, found.kind.clone())).collect()
}

#[tokio::test]
async fn chain_that_nothing_changed_is_whole() {
    let place = written().await;
    let verified = verified(&place);
    assert!(verified.is_whole(), "{verified:?}");
    assert_eq!((verified.rows, verified.seq, verified.removed_up_to), (8, 8, 0));
    assert_eq!(verified.head.len(), 64);
}

#[tokio::test]
async fn each_cut_and_gap_is_found_with_its_place() {
    for (sql, found) in [
        ("DELETE FROM settlement WHERE seq = 4", vec![(5, BreakKind::Missing { from: 4, to: 4 })]),
        ("DELETE FROM settlement WHERE seq IN (4, 5)", vec![(6, BreakKind::Missing { from: 4, to: 5 })]),
        ("DELETE FROM settlement WHERE seq < 3", vec![(3, BreakKind::Missing { from: 1, to: 2 })]),
        ("DELETE FROM settlement WHERE seq > 6", vec![(8, BreakKind::Cut { from: 7, to: 8 })]),
        ("DELETE FROM settlement", vec![(8, BreakKind::Cut { from: 1, to: 8 })]),
        (
            "UPDATE settlement SET seq = 99 WHERE seq = 4; UPDATE settlement SET seq = 4 WHERE seq = 5;
             UPDATE settlement SET seq = 5 WHERE seq = 99",
            vec![
                (4, BreakKind::Unlinked),
                (4, BreakKind::Changed),
                (5, BreakKind::Unlinked),
                (5, BreakKind::Changed),
                (6, BreakKind::Unlinked),
            ],
        ),
        ("UPDATE chain SET anchor_hash = randomblob(32)", vec![(1, BreakKind::WrongAnchor)]),
        (
            "DELETE FROM settlement WHERE seq < 3; UPDATE chain SET anchor_seq = 2",
            vec![(3, BreakKind::WrongAnchor)],
        ),
        ("UPDATE chain SET hash = randomblob(32)", vec![(8, BreakKind::WrongHead)]),
        ("UPDATE chain SET seq = 7", vec![(8, BreakKind::WrongHead)]),
        ("DELETE FROM chain", vec![(8, BreakKind::WrongHead)]),
    ] {
        let place = written().await;
        place.sql().execute_batch(sql).expect(sql);
        let verified = verified(&place);
        assert_eq!(kinds(&verified), found, "{sql}");
        assert_eq!(verified.broken, found.len() as u64, "{sql}");
    }
}

#[tokio::test]
async fn break_names_the_question_and_its_time() {
    let place = written().await;
    place.sql().execute("UPDATE settlement SET name = 'Eve' WHERE seq = 3", []).expect("a row");
    let verified = verified(&place);
    let [Break { seq: 3, kind: BreakKind::Changed, id: Some(id), at: Some(_), .. }] = &*verified.breaks
    else {
        panic!("{verified:?}");
    };
    assert_eq!(id, "a-3");
    assert!(
        verified.breaks[0].to_string().starts_with("row 3 was changed; its question is \"a-3\", settled at ")
    );
}

#[tokio::test]
async fn chain_goes_on_after_its_beginning_was_removed() {
    let place = written().await;
    let removed = prune(&place.options(), now().after(std::time::Duration::from_secs(1))).expect("a file");
    assert_eq!(removed, 8);
    let empty = verified(&place);
    assert!(empty.is_whole(), "{empty:?}");
    assert_eq!((empty.rows, empty.removed_up_to), (0, 8));
    let journal = place.journal();
    note_answer(&journal, "a-9", "x").await;
    let verified = verified(&place);
    assert!(verified.is_whole(), "{verified:?}");
    assert_eq!((verified.rows, verified.seq, verified.removed_up_to), (1, 9, 8));
}

/// The columns of a settlement.
const COLUMNS: [&str; 12] = [
    "seq",
    "id",
    "opened",
    "at",
    "session",
    "project",
    "responder",
    "name",
    "texts",
    "record",
    "previous",
    "hash",
];

/// Changes one bit of a value, or its kind where it has none.
fn change(value: Value, bit: usize) -> Value {
    let flip = |mut bytes: Vec<u8>| {
        let place = bit % (8 * bytes.len()).max(1);
        match bytes.get_mut(place / 8) {
            Some(byte) => *byte ^= 1 << (place % 8),
            None => bytes.push(0),
        }
        bytes
    };
    match value {
        Value::Null => Value::Text(String::new()),
        Value::Integer(number) => Value::Integer(number ^ (1 << (bit % 63))),
        Value::Real(_) => Value::Null,
        Value::Text(text) => {
            let mut bytes = text.into_bytes();
            let place = bit % bytes.len().max(1);
            match bytes.get_mut(place) {
                Some(byte) => *byte = if *byte == b'x' { b'y' } else { b'x' },
                None => bytes.push(b'x'),
            }
            Value::Text(String::from_utf8(bytes).expect("ASCII"))
        }
        Value::Blob(bytes) => Value::Blob(flip(bytes)),
    }
}

fn copy(template: &Place) -> Place {
    let place = Place::new();
    std::fs::create_dir(place.file().parent().expect("a folder")).expect("a folder");
    let target = place.file().display().to_string();
    template.sql().execute("VACUUM INTO ?1", [target]).expect("a copy");
    place
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        ..ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds"))
    })]

    #[test]
    fn any_change_of_any_column_of_any_row_is_found(seq in 1..=ROWS, column in 0..COLUMNS.len(), bit in 0..5000usize) {
        let place = copy(template());
        let connection: Connection = place.sql();
        let column = COLUMNS[column];
        let select = format!("SELECT {column} FROM settlement WHERE seq = ?1");
        let value: Value = connection.query_row(&select, [seq], |row| row.get(0)).expect("a value");
        let changed = change(value.clone(), bit);
        prop_assume!(changed != value);
        let update = format!("UPDATE OR REPLACE settlement SET {column} = ?1 WHERE seq = ?2");
        connection.execute(&update, params![changed, seq]).expect("a row");
        let verified = verified(&place);
        prop_assert!(!verified.is_whole(), "{column} of {seq}");
        if column != "seq" {
            prop_assert_eq!(verified.breaks[0].seq, seq, "{}", column);
        }
    }
}

/// A journal that is copied for each case.
fn template() -> &'static Place {
    static TEMPLATE: std::sync::OnceLock<Place> = std::sync::OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(written())
    })
}
