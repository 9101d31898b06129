//! Takes the measurements and prints them.
//! The bridges are left to `bridges.rs`.

use std::{
    fs,
    hint::black_box,
    io::{self, Write},
    os::unix::{fs::DirBuilderExt, net::UnixListener},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use askbridge_control::{
    inbox::{Inbox, wait_until},
    join::JoinedInbox,
    rpc::protocol::Listing,
};
use askbridge_core::{
    desk::{Asker, IdPrefix, QuestionId, Refusal, Submission},
    question::{Answer, Provenance, Responder, Value},
};

use crate::bridges::{self, Bridge};

const BRIDGES: usize = 100;
const QUESTIONS: u64 = 100;
/// The number of samples of an operation on all bridges, and of an operation on one question.
const FEW: usize = 11;
const MANY: usize = 1000;
/// The number of runs of a command.
const SOME: usize = 25;
/// The name of each operation, and how long it took each time.
type Rows = Vec<(&'static str, Vec<Duration>)>;

/// After this time, a question that is not seen is an error.
const DEADLINE: Duration = Duration::from_secs(30);

/// Takes and prints all measurements.
pub(crate) fn all() -> io::Result<()> {
    let runtime_folder = tempfile::tempdir()?;
    let folder = runtime_folder.path().join("askbridge");
    fs::DirBuilder::new().mode(0o700).create(&folder)?;
    let bridges = bridges::start(&folder, BRIDGES, QUESTIONS)?;
    let commands = commands(runtime_folder.path(), &folder, &bridges)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let rows = runtime.block_on(async {
        let mut opens = Vec::new();
        for _ in 0..FEW {
            let start = Instant::now();
            black_box(JoinedInbox::open(&folder).await.map_err(io::Error::other)?);
            opens.push(start.elapsed());
        }
        let joined = JoinedInbox::open(&folder).await.map_err(io::Error::other)?;
        let open = joined.store().read(|_, snapshot| snapshot.open_count()) as u64;
        // The commands have answered some.
        if open != BRIDGES as u64 * QUESTIONS - 2 * SOME as u64 {
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
    show(commands.into_iter().chain(rows).collect())
}

/// Measures commands from their start to their exit.
fn commands(runtime_folder: &Path, folder: &Path, bridges: &[Bridge]) -> io::Result<Rows> {
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_askbridge"));
        command
            .args(args)
            .env("XDG_RUNTIME_DIR", runtime_folder)
            .env("XDG_STATE_HOME", runtime_folder)
            .stdin(Stdio::null());
        command.env("XDG_CONFIG_HOME", runtime_folder);
        let start = Instant::now();
        let output = command.output()?;
        let took = start.elapsed();
        match output.status.success() && output.stderr.is_empty() {
            true => Ok(took),
            false => Err(io::Error::other(format!("{args:?}: {output:?}"))),
        }
    };
    let answer = |place: usize| run(&["answer", &id(&bridges[place], QUESTIONS).to_string(), "a"]);
    let mut rows: Rows = vec![
        ("`list`, from start to exit", (0..SOME).map(|_| run(&["list"])).collect::<io::Result<_>>()?),
        ("`list --json`", (0..SOME).map(|_| run(&["list", "--json"])).collect::<io::Result<_>>()?),
        ("`answer`", (0..SOME).map(answer).collect::<io::Result<_>>()?),
    ];
    let frozen = folder.join("frozen.sock");
    let listener = UnixListener::bind(&frozen)?;
    rows.push((
        "`answer` while a bridge is frozen",
        (SOME..2 * SOME).map(answer).collect::<io::Result<_>>()?,
    ));
    drop(listener);
    fs::remove_file(frozen)?;
    Ok(rows)
}

fn lists(joined: &JoinedInbox) -> io::Result<Vec<Duration>> {
    let list = || {
        let start = Instant::now();
        let listing = joined.store().read(|revision, snapshot| Listing::new(revision, snapshot.open()));
        black_box(serde_json::to_vec(&listing)?);
        Ok(start.elapsed())
    };
    (0..FEW).map(|_| list()).collect()
}

fn finds(joined: &JoinedInbox, bridges: &[Bridge]) -> io::Result<Vec<Duration>> {
    let find = |place: usize| {
        let (bridge, number) =
            (&bridges[place % BRIDGES].name, 1 + (place / BRIDGES) as u64 % (QUESTIONS - 1));
        let bridge = bridge.as_str();
        let short: IdPrefix =
            format!("{}-{number}", &bridge[..bridge.len() - 1]).parse().map_err(io::Error::other)?;
        let start = Instant::now();
        match black_box(joined.find(&short)) {
            // The shortened ID is ambiguous if two names begin alike, which is rare.
            Ok(_) | Err(Refusal::Ambiguous(_)) => Ok(start.elapsed()),
            Err(other) => Err(io::Error::other(other)),
        }
    };
    (0..MANY).map(find).collect()
}

async fn answers(joined: &JoinedInbox, bridges: &[Bridge]) -> io::Result<Vec<Duration>> {
    let mut times = Vec::new();
    for place in 0..MANY {
        // The questions from the other end were answered by the commands.
        let id = id(&bridges[place % BRIDGES], 1 + (place / BRIDGES) as u64);
        let values = [("q0".to_owned(), Value::Text("a".to_owned()))].into();
        let submission = Submission::answer(Answer { values, ..Answer::default() }, None);
        let by = Provenance { responder: Responder::CommandLine, name: None };
        let start = Instant::now();
        joined.submit(&id, submission, by).await.map_err(io::Error::other)?;
        times.push(start.elapsed());
    }
    Ok(times)
}

async fn changes(joined: &JoinedInbox, bridges: &[Bridge]) -> io::Result<Vec<Duration>> {
    let mut times = Vec::new();
    for place in 0..MANY {
        let (bridge, number) = (&bridges[place % BRIDGES], 1 + QUESTIONS + (place / BRIDGES) as u64);
        let id = id(bridge, number);
        let start = Instant::now();
        bridge.ask(number);
        if !wait_until(joined.store(), DEADLINE, |snapshot| snapshot.get(&id).is_some()).await {
            return Err(io::Error::other(format!("{id} is not seen")));
        }
        times.push(start.elapsed());
    }
    Ok(times)
}

fn id(bridge: &Bridge, number: u64) -> QuestionId {
    QuestionId { bridge: bridge.name.clone(), asker: Asker::Agent, number }
}

fn show(rows: Rows) -> io::Result<()> {
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
