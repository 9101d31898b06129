//! A file of six times its size: it is read and written as any other, and cut down to its size meanwhile.

use std::time::{Duration, Instant};

use askbridge::limits;
use askbridge_control::inbox::HistoryFilter;
use askbridge_journal::{Journal, Options};

use crate::journal::support::{Place, note_answer};

/// Bytes of the file. What is too much of it is cut off in some sixty parts.
const SIZE: i64 = 400_000_000;
/// Bytes of each record.
const RECORD: i64 = 50_000;
/// A hang guard.
const SOON: Duration = Duration::from_secs(300);

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
    // What comes to the disk from here on is what the journal writes.
    std::fs::File::open(place.file()).and_then(|file| file.sync_all()).expect("a file");
    place
}

#[tokio::test]
async fn file_that_is_far_too_large_delays_no_question_and_is_cut_down() {
    let place = written().await;
    let sql = place.sql();
    let size = || -> i64 {
        let size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        sql.query_row(size, [], |row| row.get(0)).expect("a size")
    };
    assert!(size() >= SIZE, "{}", size());
    let history = place.history();
    let last = |limit| {
        history.list(&HistoryFilter { limit: Some(limit), ..HistoryFilter::default() }).expect("a list")
    };
    assert_eq!(last(50).len(), 50);
    assert_eq!(history.find(&"a-7".parse().expect("a prefix")).expect("a list").len(), 1);
    let most = 64 * 1024 * 1024_u32;
    let journal = Journal::new(Options { size: most.into(), ..place.options() });
    let most = i64::from(most);
    let begun = Instant::now();
    let mut noted = 0;
    while size() >= 2 * most {
        noted += 1;
        let id = format!("b-{noted}");
        note_answer(&journal, &id, "x").await;
        // On a disk that is busy, a question does not wait for that.
        while last(1)[0].record.id.to_string() != id {
            assert!(begun.elapsed() < SOON, "question {noted} is not noted, and {} bytes are left", size());
            tokio::task::yield_now().await;
        }
    }
    // How long each part takes is up to the machine: no question waited for more than some of them.
    let parts = (SIZE - 2 * most) / limits::journal::PRUNED_BYTES;
    assert!(noted > parts / 4, "{noted} questions came between {parts} parts");
}
