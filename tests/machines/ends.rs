//! How connections end: with the inbox, however that ends, all processes end that it started for them.

use std::{fs, path::Path, thread, time::Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::world::World;
use crate::answers::machine::ASKBRIDGE;
use crate::support::DEADLINE;

/// A wrapper that leaves a process behind which holds nothing of the connection, and stays itself until `dial` ends.
const WRAPPER: &str = r#"sleep 1000 </dev/null >/dev/null 2>&1 & echo "$!" >"$1.new"
    exec 3<&0; XDG_RUNTIME_DIR=$2 "$3" dial <&3 & dial=$!; echo "$$" >>"$1.new"; echo "$dial" >>"$1.new"; mv "$1.new" "$1"; wait "$dial""#;

fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited too long: {what}");
        thread::yield_now();
    }
}

/// Starts an inbox whose machine is reached by the wrapper, and returns the processes of the wrapper.
fn wrapped(world: &mut World) -> [u32; 3] {
    let file = world.person.machine.path().join("pids");
    let far = world.far.path().to_str().unwrap().to_owned();
    let words = ["sh", "-c", WRAPPER, "sh", file.to_str().unwrap(), &far, ASKBRIDGE];
    world.sets(&[("wrapped", &words)]);
    world.inbox_alone();
    until("the wrapper runs", || file.exists());
    until("it is connected", || world.run(&["status"]).stdout.contains("wrapped: connected"));
    let pids: Vec<_> = fs::read_to_string(&file).unwrap().lines().map(|pid| pid.parse().unwrap()).collect();
    pids.try_into().unwrap()
}

/// Returns whether a process runs. One that nobody has reaped has ended.
fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

fn end(world: &World, signal: Signal) {
    kill_process(Pid::from_raw(world.inbox_id().cast_signed()).unwrap(), signal).unwrap();
}

#[test]
fn an_inbox_that_ends_leaves_no_process_behind() {
    let mut world = World::new();
    let pids = wrapped(&mut world);
    assert!(pids.iter().all(|pid| runs(*pid)));
    end(&world, Signal::TERM);
    until("all have ended", || !pids.iter().any(|pid| runs(*pid)));
}

/// The end of their stdin is all that they notice then.
#[test]
fn an_inbox_that_is_killed_leaves_no_connection_behind() {
    let mut world = World::new();
    let [left, shell, dial] = wrapped(&mut world);
    end(&world, Signal::KILL);
    until("the connection has ended", || !runs(shell) && !runs(dial));
    kill_process(Pid::from_raw(left.cast_signed()).unwrap(), Signal::KILL).unwrap();
    world.launcher.until("that the other machine is left too", |seen| seen.alive == 0);
}
