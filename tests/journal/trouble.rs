//! Disks and files that do not work: no call waits for long, and one warning is logged.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use askbridge::limits;
use askbridge_control::inbox::Ledger;
use askbridge_journal::{History, Journal, Options};

use crate::journal::support::{Place, answered, note_answer, open, page, submission};

/// A hang guard: each call may take [`limits::LEDGER_WAIT`], on a machine that is busy.
const SOON: Duration = Duration::from_secs(60);

/// Plays the life of a question against a journal that does not work.
async fn play(journal: &Journal) {
    let begun = Instant::now();
    let record = open("a-1", "Why?");
    journal.note(&record);
    assert_eq!(journal.earlier(&record).await, None);
    journal.accepting(&record, &submission("x"), &page()).await;
    assert!(!journal.claim(&"b-1".parse().expect("an ID"), &record.id).await);
    journal.refused(&record.id);
    journal.settled(&answered(&record, "x")).await;
    journal.flush().await;
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn nothing_waits_where_the_environment_names_no_folder() {
    play(&Journal::new(Options::new(None))).await;
}

#[tokio::test]
async fn nothing_waits_where_the_folder_cannot_be_made() {
    let place = Place::new();
    fs::write(place.folder.path().join("askbridge"), "").expect("a file");
    play(&place.journal()).await;
    // Root may write everywhere but in `/proc`.
    play(&Journal::new(Options::new(Some("/proc/askbridge/journal.db".into())))).await;
}

#[tokio::test]
async fn nothing_waits_where_the_file_is_no_journal() {
    let place = Place::new();
    fs::create_dir(place.folder.path().join("askbridge")).expect("a folder");
    let text = "This is a text, and it is longer than the head of a database. ".repeat(99);
    fs::write(place.file(), &text).expect("a file");
    play(&place.journal()).await;
    assert_eq!(fs::read_to_string(place.file()).expect("a file"), text, "it is left as it is");
    assert!(History::open(&place.file()).is_err());
}

#[tokio::test]
async fn symbolic_link_is_not_followed() {
    let place = Place::new();
    fs::create_dir(place.folder.path().join("askbridge")).expect("a folder");
    let target = place.folder.path().join("target");
    fs::write(&target, "").expect("a file");
    std::os::unix::fs::symlink(&target, place.file()).expect("a link");
    play(&place.journal()).await;
    assert_eq!(fs::metadata(&target).expect("a file").len(), 0);
    assert!(History::open(&place.file()).is_err());
}

#[tokio::test]
async fn nothing_waits_for_a_file_that_another_program_holds() {
    let place = Place::new();
    note_answer(&place.journal(), "z-1", "first").await;
    let holder = place.sql();
    holder.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    let journal = place.journal();
    journal.note(&open("b-1", "Why?"));
    play(&journal).await;
    // What was noted meanwhile is written once the file is free, and nothing is missing.
    holder.execute_batch("ROLLBACK").expect("a lock");
    let deadline = Instant::now() + Duration::from_secs(120);
    while place.history().list(&askbridge_control::inbox::HistoryFilter::default()).expect("a list").len() < 3
    {
        assert!(Instant::now() < deadline, "it is tried again");
        tokio::task::yield_now().await;
    }
    assert!(place.history().gaps().expect("gaps").is_empty());
    assert!(place.history().verify().expect("a chain").is_whole());
}

#[tokio::test]
async fn file_is_for_its_user_alone() {
    let place = Place::new();
    note_answer(&place.journal(), "a-1", "x").await;
    let mode = |path: &std::path::Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(&place.file()), 0o600);
    assert_eq!(mode(place.file().parent().expect("a folder")), 0o700);
    fs::set_permissions(place.file(), Permissions::from_mode(0o644)).expect("a file");
    note_answer(&place.journal(), "a-2", "x").await;
    assert_eq!(mode(&place.file()), 0o600);
}

#[tokio::test]
async fn journal_without_an_entry_touches_nothing() {
    let place = Place::new();
    let journal = place.journal();
    journal.flush().await;
    drop(journal);
    assert_eq!(fs::read_dir(place.folder.path()).expect("a folder").count(), 0);
    assert!(History::open(&place.file()).expect("no journal").is_none());
}

#[tokio::test]
async fn file_that_was_moved_away_is_begun_anew() {
    let place = Place::new();
    let journal = place.journal();
    note_answer(&journal, "a-1", "x").await;
    for end in ["", "-wal", "-shm"] {
        let name = format!("{}{end}", place.file().display());
        fs::rename(&name, format!("{name}.old")).expect("a file");
    }
    note_answer(&journal, "a-2", "x").await;
    assert_eq!(place.history().verify().expect("a chain").rows, 1);
}

#[tokio::test]
async fn entries_beyond_the_bound_are_counted() {
    let place = Place::new();
    let journal = place.journal();
    note_answer(&journal, "z-1", "first").await;
    let holder = place.sql();
    holder.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    let most = 3 * limits::journal::ENTRIES;
    let begun = Instant::now();
    for number in 1..=most {
        journal.note(&open(&format!("a-{number}"), "Why?"));
    }
    assert!(begun.elapsed() < SOON);
    holder.execute_batch("ROLLBACK").expect("a lock");
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let noted = place.history().unsettled(&[]).expect("a list").len();
        let missing: i64 = place.history().gaps().expect("gaps").iter().map(|gap| gap.missing).sum();
        if noted + usize::try_from(missing).expect("a count") == most {
            assert!(missing > 0 && noted >= limits::journal::ENTRIES);
            return;
        }
        assert!(Instant::now() < deadline, "{noted} and {missing} of {most}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_file_whose_maker_was_killed_is_read() {
    let place = Place::new();
    note_answer(&place.journal(), "a-1", "x").await;
    // Without the log, as a file is while it is made, and with a transaction that has reached the file and is not over.
    let made = place.folder.path().join("made.db");
    place.sql().execute("VACUUM INTO ?1", [made.to_str().expect("a path")]).expect("a copy");
    let connection = rusqlite::Connection::open(&made).expect("a file");
    connection.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN").expect("SQL");
    for number in 0..100 {
        connection
            .execute("INSERT INTO gap (at, missing) VALUES (?1, zeroblob(4000))", [number])
            .expect("a row");
    }
    let killed = Place::new();
    fs::create_dir(killed.folder.path().join("askbridge")).expect("a folder");
    fs::copy(&made, killed.file()).expect("a copy");
    let journal = killed.file().with_file_name("journal.db-journal");
    let hot = fs::copy(made.with_file_name("made.db-journal"), journal).expect("a copy");
    assert!(hot > 0, "there is something to roll back");
    let listed = killed.history().list(&askbridge_control::inbox::HistoryFilter::default()).expect("a list");
    assert_eq!(listed.len(), 1);
    assert!(killed.history().verify().expect("a chain").is_whole());
    assert!(killed.history().gaps().expect("gaps").is_empty(), "it is rolled back");
}
