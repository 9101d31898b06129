//! Takes the measurements and prints them.
//! The bridges are left to `bridges.rs`.

use std::{
    hint::black_box,
    io::{self, Write},
    time::{Duration, Instant},
};

use askbridge::{
    acp::Submission,
    control::old::{Refusal, Source, rpc::Listing},
    machine::bridges::Machine,
    question::{Answer, Provenance, Responder, Value},
};

use crate::bridges::{self, Bridge};

const BRIDGES: usize = 100;
const QUESTIONS: u64 = 100;
/// The number of samples of an operation on all bridges, and of an operation on one question.
const FEW: usize = 11;
const MANY: usize = 1000;

/// Takes and prints all measurements.
pub(crate) fn all() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let bridges = bridges::start(folder.path(), BRIDGES, QUESTIONS)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let rows = runtime.block_on(async {
        let mut opens = Vec::new();
        for _ in 0..FEW {
            let start = Instant::now();
            black_box(Machine::open(folder.path()).await.map_err(io::Error::other)?);
            opens.push(start.elapsed());
        }
        let joined = Machine::open(folder.path()).await.map_err(io::Error::other)?;
        let open = joined.book().borrow().open().len() as u64;
        if open != BRIDGES as u64 * QUESTIONS {
            return Err(io::Error::other(format!("{open} questions are open")));
        }
        let mut rows = vec![("join all bridges", opens)];
        let measured = async {
            rows.push(("list all, as JSON", lists(&joined)?));
            rows.push(("find one by a shortened id", finds(&joined, &bridges)?));
            rows.push(("answer one", answers(&joined, &bridges).await?));
            rows.push(("a new question is seen", changes(&joined, &bridges).await?));
            Ok(())
        };
        tokio::select! {
            measured = measured => measured.map(|()| rows),
            followed = joined.follow() => Err(io::Error::other(format!("not followed: {followed:?}"))),
        }
    })?;
    show(rows)
}

fn lists(joined: &Machine) -> io::Result<Vec<Duration>> {
    let list = || {
        let start = Instant::now();
        black_box(serde_json::to_vec(&Listing::of(&joined.book().borrow()))?);
        Ok(start.elapsed())
    };
    (0..FEW).map(|_| list()).collect()
}

fn finds(joined: &Machine, bridges: &[Bridge]) -> io::Result<Vec<Duration>> {
    let find = |place: usize| {
        let (bridge, number) = (&bridges[place % BRIDGES].name, 1 + (place / BRIDGES) as u64 % QUESTIONS);
        let short = format!("{}-{number}", &bridge[..bridge.len() - 1]);
        let start = Instant::now();
        match black_box(joined.find(&short)) {
            // The shortened ID is ambiguous if two names begin alike, which is rare.
            Ok(_) | Err(Refusal::Ambiguous(_)) => Ok(start.elapsed()),
            Err(other) => Err(io::Error::other(other)),
        }
    };
    (0..MANY).map(find).collect()
}

async fn answers(joined: &Machine, bridges: &[Bridge]) -> io::Result<Vec<Duration>> {
    let mut times = Vec::new();
    for place in 0..MANY {
        let id = format!("{}-{}", bridges[place % BRIDGES].name, 1 + place / BRIDGES);
        let values = [("q0".to_owned(), Value::Text("a".to_owned()))].into();
        let submission = Submission::Answer(Answer { values, ..Answer::default() });
        let by = Provenance { responder: Responder::CommandLine, name: None };
        let start = Instant::now();
        joined.submit(&id, submission, by).await.map_err(io::Error::other)?;
        times.push(start.elapsed());
    }
    Ok(times)
}

async fn changes(joined: &Machine, bridges: &[Bridge]) -> io::Result<Vec<Duration>> {
    let (mut book, mut times) = (joined.book(), Vec::new());
    for place in 0..MANY {
        let (bridge, number) = (&bridges[place % BRIDGES], 1 + QUESTIONS + (place / BRIDGES) as u64);
        let id = format!("{}-{number}", bridge.name);
        let start = Instant::now();
        bridge.ask(number);
        book.wait_for(|book| book.find(&id).is_some()).await.map_err(io::Error::other)?;
        times.push(start.elapsed());
    }
    Ok(times)
}

fn show(rows: Vec<(&str, Vec<Duration>)>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let title = format!("{} open questions of {BRIDGES} bridges, ms", BRIDGES as u64 * QUESTIONS);
    writeln!(out, "{title:<42}{:>10}{:>10}{:>10}", "median", "p99", "times")?;
    for (name, mut times) in rows {
        times.sort();
        let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
        writeln!(out, "{name:<42}{:>10.3}{:>10.3}{:>10}", at(50), at(99), times.len())?;
    }
    Ok(())
}
