//! A file of 1 GB, of which most is too much: it is read and written as any other, and cut down to its size meanwhile.

use std::time::{Duration, Instant};

use askbridge::journal::{Filter, Journal};

use crate::support::{Place, note_answer};

const SIZE: i64 = 1_000_000_000;
/// Bytes of each record.
const RECORD: i64 = 50_000;
/// A hang guard.
const SOON: Duration = Duration::from_secs(120);

/// Writes a journal of that size: copies of one settlement, with white space behind their records.
async fn written() -> Place {
    let place = Place::new();
    note_answer(&place.journal(), "a-0", "x").await;
    let sql = place.sql();
    let copies = format!(
        "PRAGMA synchronous = OFF;
         INSERT INTO settlement SELECT n + 1, 'a-' || n, opened, at, session, project, responder, name, texts,
             replace(record, 'a-0', 'a-' || n) || printf('%{RECORD}s', ''), previous, hash
         FROM settlement, (WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers LIMIT {})
             SELECT n FROM numbers) WHERE seq = 1;
         UPDATE chain SET seq = (SELECT max(seq) FROM settlement);
         PRAGMA wal_checkpoint(TRUNCATE)",
        SIZE / RECORD
    );
    sql.execute_batch(&copies).expect("SQL");
    place
}

#[tokio::test]
async fn file_of_a_gigabyte_delays_no_question_and_is_cut_down() {
    let place = written().await;
    let sql = place.sql();
    let size = || -> i64 {
        let size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        sql.query_row(size, [], |row| row.get(0)).expect("a size")
    };
    assert!(size() >= SIZE, "{}", size());
    let history = place.history();
    let last = |limit| history.list(&Filter { limit: Some(limit), ..Filter::default() }).expect("a list");
    assert_eq!(last(50).len(), 50);
    assert_eq!(history.find(&"a-7".parse().expect("a prefix")).expect("a list").len(), 1);
    let options = place.options();
    let most = i64::try_from(options.size).expect("a size");
    let journal = Journal::new(options);
    let begun = Instant::now();
    for number in 1.. {
        let id = format!("b-{number}");
        note_answer(&journal, &id, "x").await;
        assert!(!journal.is_failing(), "question {number} waits for the journal");
        assert_eq!(last(1)[0].record.id.to_string(), id);
        if size() < 2 * most {
            break;
        }
        assert!(begun.elapsed() < SOON, "{} bytes are left", size());
    }
}
