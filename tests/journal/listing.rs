//! What is listed, found, exported and removed.

use std::time::Duration;

use askbridge_control::inbox::{HistoryFilter, Ledger};
use askbridge_core::{
    desk::{Record, Refusal, Settlement, Timestamp},
    question::{Outcome, Provenance, Reason, Responder},
};
use askbridge_journal::{Journal, Options, prune};

use crate::journal::support::{
    Place, answered, asked, note_answer, now, open, page, question, settled, submission,
};

fn ids(place: &Place, filter: &HistoryFilter) -> Vec<String> {
    let list = place.history().list(filter).expect("a list");
    list.iter().map(|past| past.record.id.to_string()).collect()
}

fn at(seconds: u64) -> Timestamp {
    Timestamp::default().after(Duration::from_secs(1_795_000_000 + seconds))
}

/// Notes a question that was opened and settled at these times.
async fn note(journal: &Journal, id: &str, (project, session): (&str, &str), by: Provenance, seconds: u64) {
    let mut asked = question("Why?");
    (asked.project, asked.session) = (Some(project.into()), Some(session.to_owned()));
    let record = Record::new(id.parse().expect("an ID"), asked.into(), at(seconds));
    let settlement = Settlement::new(Outcome::Rejected(Reason::User), by, at(seconds + 1));
    journal.settled(&record.settled(settlement).into()).await;
}

fn named(responder: Responder, name: Option<&str>) -> Provenance {
    Provenance { responder, name: name.map(str::to_owned) }
}

#[tokio::test]
async fn listing_is_filtered_and_begins_with_the_latest() {
    let place = Place::new();
    let journal = place.journal();
    note(&journal, "a-1", ("/p", "s"), named(Responder::Page, None), 0).await;
    note(&journal, "a-2", ("/p/deep", "s"), named(Responder::CommandLine, Some("Ada")), 10).await;
    note(&journal, "a-3", ("/pp", "t"), named(Responder::CommandLine, Some("read-only")), 20).await;
    let mut asked = question("Why?");
    asked.session = Some("t".to_owned());
    journal.note(&Record::new("b-1".parse().expect("an ID"), asked.into(), at(15)).into());
    journal.flush().await;
    let all = HistoryFilter::default();
    assert_eq!(ids(&place, &all), ["a-3", "b-1", "a-2", "a-1"]);
    let text = |text: &str| Some(text.to_owned());
    for (filter, found) in [
        (HistoryFilter { session: text("s"), ..all.clone() }, vec!["a-2", "a-1"]),
        (HistoryFilter { session: text("t"), ..all.clone() }, vec!["a-3", "b-1"]),
        (HistoryFilter { project: text("/p"), ..all.clone() }, vec!["a-2", "a-1"]),
        (HistoryFilter { project: text("/project"), ..all.clone() }, vec!["b-1"]),
        (HistoryFilter { by: text("command_line"), ..all.clone() }, vec!["a-3", "a-2"]),
        (HistoryFilter { by: text("read-only"), ..all.clone() }, vec!["a-3"]),
        (HistoryFilter { since: Some(at(11)), ..all.clone() }, vec!["a-3", "b-1", "a-2"]),
        (HistoryFilter { limit: Some(2), ..all.clone() }, vec!["a-3", "b-1"]),
        (HistoryFilter { session: text("s"), project: text("/p/deep"), ..all.clone() }, vec!["a-2"]),
        (HistoryFilter { session: text("%"), ..all.clone() }, vec![]),
    ] {
        assert_eq!(ids(&place, &filter), found, "{filter:?}");
    }
    let find = |typed: &str| {
        let found = place.history().find(&typed.parse().expect("a prefix")).expect("a list");
        found.iter().map(|past| past.record.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(find("a"), ["a-3", "a-2", "a-1"]);
    assert_eq!(find("a-2"), ["a-2"]);
    assert_eq!(find("b"), ["b-1"]);
    assert_eq!(find("a-12"), Vec::<String>::new());
}

#[tokio::test]
async fn question_is_noted_once_whatever_comes_late() {
    let place = Place::new();
    let journal = place.journal();
    let record = open("a-1", "Why?");
    journal.note(&record);
    journal.note(&answered(&record, "x"));
    journal.settled(&answered(&record, "x")).await;
    journal.note(&record);
    journal.note(&settled(&record, Outcome::Failed));
    journal.flush().await;
    assert_eq!(ids(&place, &HistoryFilter::default()), ["a-1"]);
    let past = place.history().list(&HistoryFilter::default()).expect("a list").remove(0);
    assert!(matches!(past.record.settlement.expect("a settlement").outcome, Outcome::Answered(_)));
    // A bridge of the same name, months later.
    let later = Record::new(
        "a-1".parse().expect("an ID"),
        question("Why?").into(),
        now().after(Duration::from_secs(9)),
    );
    journal.settled(&answered(&later.into(), "y")).await;
    assert_eq!(ids(&place, &HistoryFilter::default()), ["a-1", "a-1"]);
}

#[tokio::test]
async fn lost_questions_are_those_of_dead_bridges_that_were_never_settled() {
    let place = Place::new();
    let journal = place.journal();
    let first = open("a-1", "Which?");
    journal.note(&first);
    journal.accepting(&first, &submission("SQLite"), &page()).await;
    journal.note(&asked("b-1", question("Alive?")));
    journal.note(&asked("a-2", question("Without an answer?")));
    note_answer(&journal, "a-3", "x").await;
    let again = open("c-1", "Which?");
    journal.settled(&answered(&again, "DuckDB")).await;
    let alive = ["b".parse().expect("a name")];
    let lost = place.history().unsettled(&alive).expect("a list");
    let ids: Vec<_> = lost.iter().map(|lost| lost.record.id.to_string()).collect();
    assert_eq!(ids, ["a-1", "a-2"]);
    assert!(lost.iter().all(|lost| lost.record.state == askbridge_core::desk::State::Lost));
    assert!(lost[0].accepted.is_some() && lost[1].accepted.is_none());
    assert_eq!((lost[0].replaced_by.as_ref(), &lost[1].replaced_by), (Some(&again.id), &None));
}

#[tokio::test]
async fn only_what_was_lost_lately_and_was_not_asked_again_is_shown_to_a_person() {
    let place = Place::new();
    assert_eq!(place.journal().lost().await, Ok(Vec::new()), "nothing was ever noted");
    let journal = place.journal();
    place.lives("alive");
    // A program took its question with it.
    for (id, text) in
        [("alive-1", "Open?"), ("dead-1", "Asked again?"), ("dead-2", "Where?"), ("dead-p5", "Deploy?")]
    {
        journal.note(&open(id, text));
    }
    journal.note(&Record::new("dead-3".parse().expect("an ID"), question("Old?").into(), at(1)).into());
    let last = open("dead-4", "Which?");
    journal.accepting(&last, &submission("SQLite"), &page()).await;
    journal.note(&open("alive-2", "Asked again?"));
    journal.flush().await;
    let lost = journal.lost().await.unwrap();
    let ids: Vec<_> = lost.iter().map(|lost| lost.record.id.to_string()).collect();
    assert_eq!(ids, ["dead-2", "dead-4"]);
    assert_eq!(lost[1].accepted.as_ref().map(|accepted| &accepted.by), Some(&page()));
    place.dies("alive");
    assert_eq!(journal.lost().await.unwrap().len(), 4);
    let broken = Place::new();
    std::fs::create_dir(broken.folder.path().join("askbridge")).expect("a folder");
    std::fs::write(broken.file(), "no database").expect("a file");
    let unread = broken.journal().lost().await;
    assert!(
        matches!(unread, Err(Refusal::HistoryUnavailable(_))),
        "an unreadable list is not empty: {unread:?}"
    );
}

#[tokio::test]
async fn export_has_a_line_of_json_for_each_row() {
    let place = Place::new();
    let journal = place.journal();
    for number in 1..=150 {
        journal.note(&answered(&open(&format!("a-{number}"), "Why?"), "x"));
    }
    journal.accepting(&open("b-1", "Which?"), &submission("SQLite"), &page()).await;
    place.sql().execute("INSERT INTO gap VALUES (1795000000000, 3)", []).expect("a row");
    let history = place.history();
    let lines: Vec<serde_json::Value> =
        history.export().map(|line| serde_json::from_str(&line.expect("a line")).expect("JSON")).collect();
    assert_eq!(lines.len(), 152);
    assert_eq!((&lines[0]["seq"], &lines[0]["record"]["id"]), (&1.into(), &"a-1".into()));
    assert_eq!(lines[148]["hash"], lines[149]["previous"]);
    assert_eq!(lines[149]["hash"], history.verify().expect("a chain").head);
    assert_eq!(lines[150]["accepted"]["outcome"]["values"]["f"], "SQLite");
    assert_eq!(lines[151]["gap"]["missing"], 3);
}

#[tokio::test]
async fn settled_questions_and_dead_ones_are_removed_by_their_age_and_open_ones_are_not() {
    let place = Place::new();
    place.lives("alive");
    let journal = place.journal();
    for number in 1..=1200 {
        let record =
            Record::new(format!("a-{number}").parse().expect("an ID"), question("Why?").into(), at(number));
        let settlement = Settlement::new(Outcome::Failed, page(), at(number));
        journal.note(&record.settled(settlement).into());
        if number % 500 == 0 {
            journal.flush().await;
        }
    }
    for id in ["alive-1", "dead-1"] {
        journal.note(&Record::new(id.parse().expect("an ID"), question("Why?").into(), at(1)).into());
    }
    journal.flush().await;
    drop(journal);
    assert_eq!(prune(&place.options(), at(1101)).expect("a file"), 1101);
    let verified = place.history().verify().expect("a chain");
    assert!(verified.is_whole(), "{verified:?}");
    assert_eq!((verified.rows, verified.removed_up_to), (100, 1100));
    let unsettled = place.history().unsettled(&[]).expect("a list");
    assert_eq!(unsettled.iter().map(|lost| lost.record.id.to_string()).collect::<Vec<_>>(), ["alive-1"]);
    let questions: i64 =
        place.sql().query_row("SELECT count(*) FROM question", [], |row| row.get(0)).expect("a count");
    assert_eq!(questions, 101, "what belonged to what was removed is removed as well");
}

#[tokio::test]
async fn journal_that_is_too_large_loses_its_oldest_settlements_and_gives_the_room_back() {
    let place = Place::new();
    let journal = place.journal();
    for number in 1..=1500 {
        journal.note(&answered(&open(&format!("a-{number}"), &"Why? ".repeat(200)), "x"));
        if number % 500 == 0 {
            journal.flush().await;
        }
    }
    drop(journal);
    let size = || std::fs::metadata(place.file()).expect("a file").len();
    place.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("a checkpoint");
    let before = size();
    let most = 1_000_000;
    assert!(before > 2 * most, "{before}");
    // The writer removes at its start what is too much.
    let journal = Journal::new(Options { size: most, ..place.options() });
    note_answer(&journal, "b-1", "x").await;
    let deadline = std::time::Instant::now() + Duration::from_secs(120);
    loop {
        place.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("a checkpoint");
        if size() < most + 200_000 {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{} of {before} bytes are left", size());
        tokio::task::yield_now().await;
    }
    let verified = place.history().verify().expect("a chain");
    assert!(verified.is_whole() && verified.rows > 100, "{verified:?}");
    assert_eq!(ids(&place, &HistoryFilter { limit: Some(1), ..HistoryFilter::default() }), ["b-1"]);
}
