//! Files of other versions: the first format, one with more columns, one that this version does not know.

use askbridge_control::inbox::{HistoryFilter, Ledger};
use askbridge_journal::prune;
use rusqlite::Connection;

use crate::journal::support::{Place, note_answer, now, open};

/// The first format, as it was written then. This text is never changed.
const FIRST: &str = "
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
CREATE TABLE question (id TEXT NOT NULL, opened INTEGER NOT NULL, bridge TEXT NOT NULL, session TEXT, project TEXT,
    fingerprint BLOB, usable INTEGER NOT NULL DEFAULT 0, record TEXT, accepted TEXT,
    submissions INTEGER NOT NULL DEFAULT 0, claimed TEXT, PRIMARY KEY (id, opened));
CREATE INDEX question_same ON question (fingerprint, opened) WHERE fingerprint IS NOT NULL;
CREATE INDEX question_unsettled ON question (opened) WHERE record IS NOT NULL;
CREATE TABLE settlement (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, opened INTEGER NOT NULL, at INTEGER NOT NULL,
    session TEXT, project TEXT, responder TEXT NOT NULL, name TEXT, texts INTEGER NOT NULL DEFAULT 1,
    record TEXT NOT NULL, previous BLOB NOT NULL, hash BLOB NOT NULL);
CREATE UNIQUE INDEX settlement_id ON settlement (id, opened);
CREATE TABLE chain (only INTEGER PRIMARY KEY CHECK (only = 0), seq INTEGER NOT NULL, hash BLOB NOT NULL,
    anchor_seq INTEGER NOT NULL, anchor_hash BLOB NOT NULL, syncs INTEGER NOT NULL DEFAULT 0);
CREATE TABLE gap (at INTEGER NOT NULL, missing INTEGER NOT NULL);
INSERT INTO chain (only, seq, hash, anchor_seq, anchor_hash) VALUES (0, 1,
    x'36ec24908da2031d36300adcad0a3725ef5ca717ddc3a499527088f1e9e5a943', 0, zeroblob(32));
INSERT INTO settlement (seq, id, opened, at, session, project, responder, name, texts, record, previous, hash) VALUES
    (1, 'a-1', 1795000000000, 1795000001000, 's', '/p', 'page', NULL, 1,
    '{\"id\":\"a-1\",\"bridge\":\"a\",\"state\":\"settled\",\"question\":{\"sessionId\":\"s\",\"project\":\"/p\",\"questionId\":\"q\",\"message\":\"Why?\",\"fields\":[{\"name\":\"f\",\"label\":\"F\",\"required\":true,\"kind\":\"text\"}],\"origin\":\"elicitation\",\"dangerous\":false,\"blocking\":true},\"openedAt\":\"2026-11-18T10:26:40.000Z\",\"expiring\":false,\"elsewhere\":false,\"settlement\":{\"outcome\":{\"status\":\"answered\",\"values\":{\"f\":\"x\"}},\"by\":{\"responder\":\"page\"},\"at\":\"2026-11-18T10:26:41.000Z\"}}',
    zeroblob(32), x'36ec24908da2031d36300adcad0a3725ef5ca717ddc3a499527088f1e9e5a943');
PRAGMA user_version = 100;
";

fn made(sql: &str) -> Place {
    let place = Place::new();
    std::fs::create_dir(place.file().parent().expect("a folder")).expect("a folder");
    let connection = Connection::open(place.file()).expect("a file");
    connection.execute_batch(sql).expect("SQL");
    place
}

fn format(place: &Place) -> i32 {
    place.sql().pragma_query_value(None, "user_version", |row| row.get(0)).expect("a format")
}

#[tokio::test]
async fn file_of_the_first_format_is_read_written_and_verified() {
    let place = made(FIRST);
    let verified = place.history().verify().expect("a chain");
    assert!(verified.is_whole(), "{verified:?}");
    note_answer(&place.journal(), "b-1", "x").await;
    let ids: Vec<_> = place.history().list(&HistoryFilter::default()).expect("a list");
    let ids: Vec<_> = ids.iter().map(|past| past.record.id.to_string()).collect();
    assert_eq!(ids, ["b-1", "a-1"]);
    assert!(place.history().verify().expect("a chain").is_whole());
}

#[tokio::test]
async fn new_columns_and_tables_of_a_newer_version_stay_as_they_are() {
    let newer = format!(
        "{FIRST}; ALTER TABLE settlement ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm';
         ALTER TABLE question ADD COLUMN mood TEXT; CREATE TABLE mood (name TEXT);
         CREATE TABLE bridge (name TEXT PRIMARY KEY, folder TEXT NOT NULL, pid INTEGER NOT NULL, started INTEGER NOT NULL,
             namespace INTEGER NOT NULL, mood TEXT) WITHOUT ROWID;
         CREATE TABLE left_to_client (bridge TEXT PRIMARY KEY, project TEXT NOT NULL, file TEXT NOT NULL,
             at INTEGER NOT NULL, mood TEXT) WITHOUT ROWID; INSERT INTO mood VALUES ('grim');
         UPDATE settlement SET mood = 'grim'; PRAGMA user_version = 142"
    );
    let place = made(&newer);
    note_answer(&place.journal(), "b-1", "x").await;
    assert_eq!(format(&place), 142);
    assert!(place.history().verify().expect("a chain").is_whole());
    assert_eq!(place.history().list(&HistoryFilter::default()).expect("a list").len(), 2);
    let moods = "SELECT group_concat(mood) FROM (SELECT mood FROM settlement ORDER BY seq)";
    let moods: String = place.sql().query_row(moods, [], |row| row.get(0)).expect("moods");
    assert_eq!(moods, "grim,calm");
    let kept: String = place.sql().query_row("SELECT name FROM mood", [], |row| row.get(0)).expect("a row");
    assert_eq!(kept, "grim");
}

#[tokio::test]
async fn file_of_an_unknown_format_is_read_and_never_written() {
    let place = made(&format!("{FIRST}; PRAGMA user_version = 200; PRAGMA wal_checkpoint(TRUNCATE)"));
    let before = std::fs::read(place.file()).expect("a file");
    let journal = place.journal();
    let record = open("b-1", "Why?");
    journal.note(&record);
    assert_eq!(journal.earlier(&record).await, None);
    note_answer(&journal, "b-2", "x").await;
    journal.flush().await;
    assert!(prune(&place.options(), now()).is_err());
    assert!(place.history().is_newer());
    assert_eq!(place.history().list(&HistoryFilter::default()).expect("a list").len(), 1);
    let after = std::fs::read(place.file()).expect("a file");
    assert!(after == before, "not a byte of it is changed");
}

#[tokio::test]
async fn history_of_a_folder_that_cannot_be_written_is_read() {
    let place = made(FIRST);
    drop(place.sql());
    let folder = place.file().parent().expect("a folder").to_owned();
    let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(&folder, mode(0o500)).expect("a folder");
    let listed = place.history().list(&HistoryFilter::default()).expect("a list").len();
    std::fs::set_permissions(&folder, mode(0o700)).expect("a folder");
    assert_eq!(listed, 1);
}
