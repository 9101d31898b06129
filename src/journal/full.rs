//! A disk that is full: the journal gives up, says so once, and goes on once there is room.

use super::{
    Filter, History, Journal, Options,
    samples::{answered, block_on, open, options, question, submission},
};
use crate::{control::Ledger, question::Provenance};

async fn answer(journal: &Journal, id: &str) {
    let record = open(id, question(&"Why? ".repeat(2000)));
    journal.note(&record);
    journal.accepting(&record, &submission("x"), &Provenance::bridge()).await;
    journal.settled(&answered(&record, "x")).await;
}

#[test]
fn full_disk_costs_entries_and_no_question_waits_for_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    block_on(async {
        let journal = Journal::new(Options { pages: Some(40), ..options(&path) });
        for number in 1..=40 {
            answer(&journal, &format!("a-{number}")).await;
        }
        assert!(journal.is_failing());
    });
    let history = History::open(&path).expect("a journal").expect("a file");
    let before = history.list(&Filter::default()).expect("a list").len();
    assert!((1..40).contains(&before), "{before}");
    assert!(history.verify().expect("a chain").is_whole());
    block_on(async {
        let journal = Journal::new(options(&path));
        answer(&journal, "b-1").await;
        assert!(!journal.is_failing());
    });
    assert_eq!(
        history.list(&Filter { limit: Some(1), ..Filter::default() }).expect("a list")[0]
            .record
            .id
            .to_string(),
        "b-1"
    );
}
