//! Takes the measurements and prints them.
//! The bridges are left to `bridges.rs`.

use std::{
    hint::black_box,
    io::{self, Write},
    time::{Duration, Instant},
};

use askbridge::{
    control::{Inbox, protocol::Listing, store::wait_until},
    desk::{Asker, IdPrefix, QuestionId, Refusal, Submission},
    machine::Machine,
    question::{Answer, Provenance, Responder, Value},
};

use crate::bridges::{self, Bridge};

const BRIDGES: usize = 100;
const QUESTIONS: u64 = 100;
/// The number of samples of an operation on all bridges, and of an operation on one question.
const FEW: usize = 11;
const MANY: usize = 1000;
/// After this time, a question that is not seen is an error.
const DEADLINE: Duration = Duration::from_secs(30);

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
        let machine = Machine::open(folder.path()).await.map_err(io::Error::other)?;
        let open = machine.store().read(|_, snapshot| snapshot.open_count()) as u64;
        if open != BRIDGES as u64 * QUESTIONS {
            return Err(io::Error::other(format!("{open} questions are open")));
        }
        let mut rows = vec![("join all bridges", opens)];
        let measured = async {
            rows.push(("list all, as JSON", lists(&machine)?));
            rows.push(("find one by a shortened id", finds(&machine, &bridges)?));
            rows.push(("answer one", answers(&machine, &bridges).await?));
            rows.push(("a new question is seen", changes(&machine, &bridges).await?));
            Ok(())
        };
        tokio::select! {
            measured = measured => measured.map(|()| rows),
            followed = machine.follow() => Err(io::Error::other(format!("not followed: {followed:?}"))),
        }
    })?;
    show(rows)
}

fn lists(machine: &Machine) -> io::Result<Vec<Duration>> {
    let list = || {
        let start = Instant::now();
        let listing = machine.store().read(|revision, snapshot| Listing::new(revision, snapshot.open()));
        black_box(serde_json::to_vec(&listing)?);
        Ok(start.elapsed())
    };
    (0..FEW).map(|_| list()).collect()
}

fn finds(machine: &Machine, bridges: &[Bridge]) -> io::Result<Vec<Duration>> {
    let find = |place: usize| {
        let (bridge, number) = (&bridges[place % BRIDGES].name, 1 + (place / BRIDGES) as u64 % QUESTIONS);
        let bridge = bridge.as_str();
        let short: IdPrefix =
            format!("{}-{number}", &bridge[..bridge.len() - 1]).parse().map_err(io::Error::other)?;
        let start = Instant::now();
        match black_box(machine.find(&short)) {
            // The shortened ID is ambiguous if two names begin alike, which is rare.
            Ok(_) | Err(Refusal::Ambiguous(_)) => Ok(start.elapsed()),
            Err(other) => Err(io::Error::other(other)),
        }
    };
    (0..MANY).map(find).collect()
}

async fn answers(machine: &Machine, bridges: &[Bridge]) -> io::Result<Vec<Duration>> {
    let mut times = Vec::new();
    for place in 0..MANY {
        let id = id(&bridges[place % BRIDGES], 1 + (place / BRIDGES) as u64);
        let values = [("q0".to_owned(), Value::Text("a".to_owned()))].into();
        let submission = Submission::Answer(Answer { values, ..Answer::default() });
        let by = Provenance { responder: Responder::CommandLine, name: None };
        let start = Instant::now();
        machine.submit(&id, submission, by).await.map_err(io::Error::other)?;
        times.push(start.elapsed());
    }
    Ok(times)
}

async fn changes(machine: &Machine, bridges: &[Bridge]) -> io::Result<Vec<Duration>> {
    let mut times = Vec::new();
    for place in 0..MANY {
        let (bridge, number) = (&bridges[place % BRIDGES], 1 + QUESTIONS + (place / BRIDGES) as u64);
        let id = id(bridge, number);
        let start = Instant::now();
        bridge.ask(number);
        if !wait_until(machine.store(), DEADLINE, |snapshot| snapshot.get(&id).is_some()).await {
            return Err(io::Error::other(format!("{id} is not seen")));
        }
        times.push(start.elapsed());
    }
    Ok(times)
}

fn id(bridge: &Bridge, number: u64) -> QuestionId {
    QuestionId { bridge: bridge.name.clone(), asker: Asker::Agent, number }
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
