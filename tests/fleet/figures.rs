//! What it costs: many machines with ten open questions each on one broker, a person's list and answers, the memory of a
//! gateway, and the load of the directory. `FIGURES` says how many machines; all but two are tasks of processes of the test.

use std::{
    collections::HashSet,
    env, fs,
    io::{self, Write},
    ops::Range,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use askbridge_control::join::JoinedInbox;
use askbridge_fleet::{Access, Gateway, limits::PLACES, run};
use futures::{FutureExt, StreamExt};
use rustix::process::Signal;
use serde::Deserialize;
use serde_json::json;
use tokio::{
    runtime::Builder,
    time::{timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use crate::{
    support::{DEADLINE, Process},
    world::{Member, World},
};

/// Open questions of each machine.
const OPEN: usize = 10;
/// Gateways of one process: each looks whose server it connects to, in all files of its process.
const PART: usize = 100;
/// The variable that says what a process of gateways needs.
const GATEWAYS: &str = "ASKBRIDGE_TEST_GATEWAYS";
/// Rounds of each measurement.
const ROUNDS: usize = 15;

fn say(what: &str, value: impl std::fmt::Display) {
    writeln!(std::io::stderr(), "{what:<60} {value}").unwrap();
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

/// Returns a line of a process's status, in KiB.
fn memory(id: u32, line: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|of| of.strip_prefix(line)).expect("its memory");
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn asks(member: &Member, what: &str) -> Process {
    Process::spawn(&mut member.command(&["ask", what, "--option", "a", "--option", "b"]))
}

#[test]
fn many_machines_on_one_broker() {
    let count: usize = env::var("FIGURES").map_or(20, |count| count.parse().expect("a number"));
    let world = World::patient();
    // A user has a bounded number of machines.
    let users: Vec<_> = (0..count.div_ceil(PLACES)).map(|number| format!("m{number}")).collect();
    world.users.add_bridges(&users);
    world.server.signal(Signal::HUP);
    let mut far = world.member("box");
    let name = far.gateway();
    // The other machines share the questions of another folder: what is asked below is a change of one machine alone.
    let others = world.member("box");
    let members =
        [&far, &others].into_iter().flat_map(|member| (0..OPEN).map(move |number| (member, number)));
    let asking: Vec<_> =
        members.map(|(member, number)| asks(member, &format!("Question {number}?"))).collect();
    far.person.machine.questions(OPEN);
    others.person.machine.questions(OPEN);
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut entries = runtime.block_on(Entries::follow(&world));
    // Besides these, there are the gateway above, and one that the first question of the others starts.
    let starts: Vec<_> = (2..count).step_by(PART).collect();
    let started = starts.into_iter().map(|start| {
        let numbers = start..count.min(start + PART);
        let end = numbers.end;
        let process = gateways(&world, &others.person.machine.sockets(), numbers);
        runtime.block_on(entries.until(end));
        process
    });
    let started: Vec<_> = started.collect();
    runtime.block_on(entries.until(count));
    let mut person = world.member("ana");
    person.inbox();
    let begun = Instant::now();
    person.until_listed("all questions", |ids| ids.len() == count * OPEN);
    say(
        &format!("{count} machines with {OPEN} questions each are listed after"),
        milliseconds(begun.elapsed()),
    );
    let list = |_| {
        let begun = Instant::now();
        let listed = person.ok(&["list"]);
        let elapsed = begun.elapsed();
        assert_eq!(listed.lines().filter(|line| line.contains("Question ")).count(), count * OPEN);
        elapsed
    };
    say(
        "a person's list, in a process of its own (goal: 300 ms)",
        milliseconds(median((0..ROUNDS).map(list).collect())),
    );
    answers(&far, &person, &name);
    let gateway = far.serving().id();
    say("the gateway of a machine: resident", format!("{} KiB", memory(gateway, "VmRSS:")));
    say("  of these not shared with its file (goal: 12 MiB)", format!("{} KiB", memory(gateway, "RssAnon:")));
    let inbox = person.serving().id();
    say("a person's inbox: resident", format!("{} KiB", memory(inbox, "VmRSS:")));
    say("  of these not shared with its file", format!("{} KiB", memory(inbox, "RssAnon:")));
    say("writes of the directory in a second", format!("{:.1}", runtime.block_on(entries.in_a_second())));
    drop((asking, started));
}

/// Starts a process that is the gateways with these numbers.
fn gateways(world: &World, sockets: &Path, numbers: Range<usize>) -> Process {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["figures::gateways_of_a_part", "--exact", "--nocapture"]);
    let part = json!({
        "url": world.server.url(),
        "users": world.users.folder().join("creds"),
        "folder": world.users.folder().join("locks"),
        "sockets": sockets,
        "numbers": numbers,
    });
    Process::spawn(command.env(GATEWAYS, part.to_string()))
}

#[derive(Deserialize)]
struct Part {
    url: String,
    users: PathBuf,
    folder: PathBuf,
    sockets: PathBuf,
    numbers: Range<usize>,
}

/// No test: what a process of [`gateways`] runs.
#[test]
fn gateways_of_a_part() {
    let Ok(part) = env::var(GATEWAYS) else { return };
    let Part { url, users, folder, sockets, numbers } = serde_json::from_str(&part).unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let joined = runtime.block_on(JoinedInbox::open(&sockets)).unwrap();
    let followed = joined.clone();
    runtime.spawn(async move { followed.follow().await });
    for number in numbers {
        let folder = folder.join(number.to_string());
        fs::create_dir_all(&folder).unwrap();
        let gateway = runtime.block_on(Gateway::claim(&folder)).unwrap().expect("a lock");
        let user = users.join(format!("m{}.json", number / PLACES));
        let access = Access::read(vec![url.clone()], &user, None).unwrap();
        let joined = joined.clone();
        runtime.spawn(async move { run(gateway, &access, &joined, None, &CancellationToken::new()).await });
    }
    // It ends with the test, which closes its input.
    drop(io::copy(&mut io::stdin(), &mut io::sink()));
}

/// Measures how long answers from here take, and answers on the machine itself.
fn answers(far: &Member, person: &Member, name: &str) {
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        for is_here in [true, false] {
            let before = far.person.machine.questions(OPEN);
            let mut asking = asks(far, &format!("Round {round}?"));
            let now = far.person.machine.questions(OPEN + 1);
            let new = now.iter().find(|question| !before.contains(question)).expect("the new question");
            let own = new["id"].as_str().unwrap().to_owned();
            let id = format!("{name}/{own}");
            person.until_said(&["show", &id], "Round");
            let begun = Instant::now();
            match is_here {
                true => person.ok(&["answer", &id, "a"]),
                false => far.ok(&["answer", &own, "a"]),
            };
            if is_here { &mut here } else { &mut there }.push(begun.elapsed());
            asking.expect("the answer", |line| line == "a");
        }
    }
    let (here, there) = (median(here), median(there));
    say("an answer from a person, in a process of its own", milliseconds(here));
    say("the same on the machine itself", milliseconds(there));
    say("what the fleet adds (goal: 20 ms)", milliseconds(here.saturating_sub(there)));
}

/// What is written to the directory.
struct Entries {
    written: async_nats::Subscriber,
    machines: HashSet<String>,
}

impl Entries {
    async fn follow(world: &World) -> Self {
        let (user, password) = ("ana".to_owned(), world.users.password("ana"));
        let options = async_nats::ConnectOptions::with_user_and_password(user, password);
        let client = options.connect(world.server.url()).await.unwrap();
        let written = client.subscribe("$KV.askbridge.>").await.unwrap();
        client.flush().await.unwrap();
        Self { written, machines: HashSet::new() }
    }

    /// Waits until this many machines have an entry.
    async fn until(&mut self, count: usize) {
        while self.machines.len() < count {
            let next = timeout(DEADLINE, self.written.next()).await.expect("an entry in time");
            self.machines.insert(next.expect("the connection").subject.to_string());
        }
    }

    /// Counts the writes for ten seconds.
    async fn in_a_second(&mut self) -> f64 {
        while self.written.next().now_or_never().is_some() {}
        let until = (Instant::now() + Duration::from_secs(10)).into();
        let mut count = 0;
        while let Ok(Some(_)) = timeout_at(until, self.written.next()).await {
            count += 1;
        }
        f64::from(count) / 10.0
    }
}
