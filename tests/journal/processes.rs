//! Many processes on one file, and processes that are killed: what was acknowledged is in the file, and nothing is taken
//! twice.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use askbridge_control::inbox::{HistoryFilter, Ledger};
use askbridge_core::desk::QuestionId;
use askbridge_journal::{Journal, Options};

use crate::journal::support::{Place, answered, note_answer, open, page, submission};

/// Names the file to a process of the tests that writes.
const FILE: &str = "ASKBRIDGE_TEST_JOURNAL";
/// Names its bridge.
const BRIDGE: &str = "ASKBRIDGE_TEST_BRIDGE";

/// Not a test by itself: a process that writes until it is killed. It prints each settlement that returned.
#[tokio::test]
#[expect(clippy::print_stdout, reason = "the test that starts this process reads it")]
async fn writing_process() {
    let (Ok(file), Ok(bridge)) = (std::env::var(FILE), std::env::var(BRIDGE)) else { return };
    let mut options = Options::new(Some(file.into()));
    options.life = std::sync::Arc::new(|_, _| askbridge_control::inbox::Life::Ended);
    let journal = Journal::new(options);
    for number in 1.. {
        let id = format!("{bridge}-{number}");
        let record = open(&id, "Why?");
        journal.note(&record);
        if let Some(earlier) = journal.earlier(&record).await.filter(|earlier| !earlier.was_delivered)
            && journal.claim(&earlier.id, &record.id).await
        {
            println!("claimed {} {id}", earlier.id);
        }
        println!("accepting {id}");
        journal.accepting(&record, &submission("x"), &page()).await;
        // Where the journal gives up, it says so, and nothing is promised.
        if !journal.is_failing() {
            println!("accepted {id}");
        }
        journal.waits(&record.id);
        journal.flush().await;
        journal.begins(&record.id).await;
        println!("begun {id}");
        journal.settled(&answered(&record, "x")).await;
        if !journal.is_failing() {
            println!("settled {id}");
        }
    }
}

fn start(file: &Path, bridge: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "journal::processes::writing_process", "--nocapture"]);
    command.env(FILE, file).env(BRIDGE, bridge).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().expect("a process")
}

/// Kills a process once it has printed this many lines, and returns what it printed.
fn kill_after(mut child: Child, lines: usize, pause: Duration) -> Vec<String> {
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut said = Vec::new();
    let mut line = String::new();
    while said.len() < lines && output.read_line(&mut line).expect("a line") > 0 {
        said.push(std::mem::take(&mut line));
    }
    // So that it is killed at any point of what it does, and not only behind a line.
    std::thread::sleep(pause);
    child.kill().expect("a process");
    child.wait().expect("a process");
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("a text");
    said.extend(rest.lines().map(str::to_owned));
    said.into_iter().map(|line| line.trim().to_owned()).collect()
}

/// Processes that write one file, one after the other. A chain is read as a whole after each of them.
const KILLS_A_FILE: usize = 40;

#[test]
fn killed_process_loses_nothing_that_it_acknowledged_and_takes_no_answer_twice() {
    let kills = std::env::var("KILLS").map_or(KILLS_A_FILE, |kills| kills.parse().expect("a number"));
    let (mut acknowledged, mut claimed) = (0, 0);
    for first in (0..kills).step_by(KILLS_A_FILE) {
        let (settled, claims) = kill_each(first..kills.min(first + KILLS_A_FILE));
        acknowledged += settled;
        claimed += claims;
    }
    assert!(acknowledged >= kills / 2, "{acknowledged} were acknowledged as settled");
    // Few are killed between an answer and its delivery: none of some dozens may be.
    assert!(claimed >= kills / 50, "{claimed} were taken over");
    let said =
        format!("{kills} kills: {acknowledged} settlements acknowledged, {claimed} answers taken over\n");
    std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes()).expect("stderr");
}

/// Kills these processes on one file, one after the other. Returns how many questions were acknowledged as settled, and how
/// many answers were taken over.
fn kill_each(kills: std::ops::Range<usize>) -> (usize, usize) {
    let place = Place::new();
    let (mut settled, mut accepted, mut claims) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut begun = BTreeSet::new();
    for number in kills {
        let pause = Duration::from_micros((number as u64 * 7919) % 5000);
        let child = start(&place.file(), &format!("k{number}"));
        for line in kill_after(child, 3 + number % 12, pause) {
            match *line.split(' ').collect::<Vec<_>>() {
                ["settled", id] => assert!(settled.insert(id.to_owned())),
                ["begun", id] => assert!(begun.insert(id.to_owned())),
                ["accepted", id] => assert!(accepted.insert(id.to_owned())),
                ["claimed", earlier, _] => {
                    assert!(claims.insert(earlier.to_owned()), "{earlier} is given twice")
                }
                _ => {}
            }
        }
        let verified = place.history().verify().expect("a chain");
        assert!(verified.is_whole(), "{verified:?}");
    }
    let list = place.history().list(&HistoryFilter::default()).expect("a list");
    let find = |id: &str| {
        let id: QuestionId = id.parse().expect("an ID");
        list.iter().find(|past| past.record.id == id).unwrap_or_else(|| panic!("{id} is missing"))
    };
    for id in &settled {
        assert!(find(id).seq.is_some(), "{id} is not settled");
    }
    for id in accepted.difference(&settled) {
        let past = find(id);
        assert!(past.seq.is_some() || past.accepted.is_some(), "the answer to {id} is lost");
    }
    assert!(claims.is_disjoint(&begun), "an answer whose delivery had begun is given again");
    (settled.len(), claims.len())
}

#[test]
fn forty_processes_that_write_at_once_lose_nothing() {
    let place = Place::new();
    let children: Vec<_> = (0..40).map(|number| start(&place.file(), &format!("f{number}"))).collect();
    let said: Vec<_> = children
        .into_iter()
        .map(|child| std::thread::spawn(|| kill_after(child, 30, Duration::ZERO)))
        .collect();
    let said: Vec<_> = said.into_iter().flat_map(|thread| thread.join().expect("a thread")).collect();
    let settled = said.iter().filter_map(|line| line.strip_prefix("settled "));
    let history = place.history();
    let verified = history.verify().expect("a chain");
    assert!(verified.is_whole(), "{verified:?}");
    let list = history
        .list(&HistoryFilter { by: Some("page".to_owned()), ..HistoryFilter::default() })
        .expect("a list");
    let known: BTreeSet<_> = list.iter().map(|past| past.record.id.to_string()).collect();
    let missing: Vec<_> = settled.filter(|id| !known.contains(*id)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(known.len() >= 40);
}

#[test]
fn forty_journals_of_one_process_write_at_once() {
    let place = Place::new();
    let threads: Vec<_> = (0..40)
        .map(|number| {
            let options = place.options();
            std::thread::spawn(move || {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
                runtime.block_on(async {
                    let journal = Journal::new(options);
                    for question in 1..=10 {
                        note_answer(&journal, &format!("b{number}-{question}"), "x").await;
                    }
                    journal
                })
            })
        })
        .collect();
    // Each thread of a journal writes what is left before its last handle is gone.
    let journals: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("a thread")).collect();
    drop(journals);
    let deadline = std::time::Instant::now() + Duration::from_secs(120);
    while place.history().verify().expect("a chain").rows < 400 {
        assert!(std::time::Instant::now() < deadline);
        std::thread::yield_now();
    }
    let verified = place.history().verify().expect("a chain");
    assert!(verified.is_whole(), "{verified:?}");
    assert_eq!(verified.rows, 400);
    assert!(place.history().gaps().expect("gaps").is_empty());
}
