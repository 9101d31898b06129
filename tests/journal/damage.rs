//! Files with damage at random places: nothing panics, no question waits, and what is wrong is said.

use std::time::{Duration, Instant};

use askbridge::{
    control::Ledger,
    journal::{Filter, History},
};
use proptest::{prelude::*, test_runner::FileFailurePersistence};

use crate::support::{Place, answered, note_answer, open, page, submission};

/// A hang guard.
const SOON: Duration = Duration::from_secs(20);

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

/// The bytes of a journal with some questions.
fn template() -> &'static [u8] {
    static TEMPLATE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    TEMPLATE.get_or_init(|| {
        block_on(async {
            let place = Place::new();
            let journal = place.journal();
            for number in 1..=40 {
                note_answer(&journal, &format!("a-{number}"), &"x".repeat(number)).await;
                journal.note(&open(&format!("b-{number}"), "Why?"));
            }
            journal.flush().await;
            place.sql().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("a checkpoint");
            std::fs::read(place.file()).expect("a file")
        })
    })
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
        let place = Place::new();
        std::fs::create_dir(place.file().parent().expect("a folder")).expect("a folder");
        std::fs::write(place.file(), &bytes).expect("a file");
        // What is said is either an error, or a list: neither panics nor hangs.
        if let Ok(Some(history)) = History::open(&place.file()) {
            drop(history.list(&Filter::default()));
            drop(history.lost(&[]));
            drop(history.gaps());
            drop(history.find(&"a-3".parse().expect("a prefix")));
            drop(history.export().count());
            // A single byte of a row of the chain does not go unnoticed; one of a free page may.
            let rows: usize = history.list(&Filter { by: Some("page".to_owned()), ..Filter::default() }).map_or(0, |list| list.len());
            if rows < 40 && let Ok(verified) = history.verify() {
                prop_assert!(!verified.is_whole());
            }
        }
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
}
