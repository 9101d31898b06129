//! Two persons over the fleet and a responder on the machine itself answer the same questions, while the agent withdraws
//! some, the network is cut or frozen and the broker is killed or stopped. `RACES=10000` plays more of them, `SEED`
//! others.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use askbridge_core::question::{Provenance, Responder};
use rustix::process::Signal;
use tokio::runtime::{Builder, Runtime};

use crate::{
    link::Link,
    oracle::{Answerer, Asker, Counts, Race, Random, Way, join, pass, races},
    server::PERSONS,
    world::{Member, World},
};

/// Questions in the gate.
const RACES: usize = 300;
/// Questions of one agent that are open at the same time.
const AT_ONCE: usize = 30;
/// Questions of one agent. The pauses before the broker is tried again grow with each failure, so each world begins
/// anew after some.
const IN_WORLD: usize = 150;
/// Worlds side by side, since each waits most of the time.
const WORLDS: usize = 12;

/// What fails in a round.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Nothing,
    Cut,
    /// Answers arrive, and their verdicts are lost.
    Mute,
    Frozen,
    Killed,
    Stopped,
}

/// A broker, a machine, and two persons.
struct Fleet {
    world: World,
    link: Link,
    /// Each ends with its processes.
    _members: [Member; 3],
    runtime: Runtime,
    race: Race,
}

impl Fleet {
    fn new() -> Self {
        let world = World::new();
        let (mut far, link) = world.linked("box");
        let mut persons = PERSONS.map(|person| world.member(person));
        persons.iter_mut().for_each(|person| drop(person.inbox()));
        let machine = far.gateway();
        let asker = Asker::start(&far.person.machine, |args| far.command(args));
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let answerers = runtime.block_on(async {
            let mut answerers = vec![asker.connect().await];
            for (name, person) in PERSONS.into_iter().zip(&persons) {
                let joined = join(person.person.machine.sockets()).await;
                let recorded = Provenance { responder: Responder::Fleet, name: Some(name.to_owned()) };
                let (way, prefix) = (Way::Joined(joined), format!("{machine}/"));
                answerers.push(Answerer { name, way, prefix, recorded: Some(recorded) });
            }
            answerers
        });
        let [ana, bob] = persons;
        Fleet { world, link, _members: [far, ana, bob], runtime, race: Race { asker, answerers } }
    }

    fn round(&mut self, random: &mut Random) -> Counts {
        let Fleet { world, link, runtime, race, .. } = self;
        race.round(AT_ONCE, runtime, random, |random| {
            let fault = match random.below(10) {
                0..5 => Fault::Nothing,
                5 => Fault::Cut,
                6 => Fault::Mute,
                7 => Fault::Frozen,
                8 => Fault::Killed,
                _ => Fault::Stopped,
            };
            fail(fault, random.moment(), world, link, runtime);
            !matches!(fault, Fault::Nothing)
        })
    }
}

/// Lets something fail after a moment.
fn fail(fault: Fault, moment: Duration, world: &mut World, link: &Link, runtime: &Runtime) {
    runtime.block_on(pass(moment));
    match fault {
        Fault::Nothing => {}
        Fault::Cut => link.cut(),
        Fault::Mute => {
            link.mute();
            runtime.block_on(pass(4 * moment));
            link.cut();
        }
        Fault::Frozen => {
            link.freeze(true);
            runtime.block_on(pass(4 * moment));
            link.cut();
        }
        Fault::Killed => {
            world.server.kill();
            world.server.run();
        }
        Fault::Stopped => {
            world.server.signal(Signal::STOP);
            runtime.block_on(pass(4 * moment));
            world.server.signal(Signal::CONT);
        }
    }
}

#[test]
fn no_answer_is_lost_doubled_or_made_up_whatever_fails() {
    let (next, counts) = (AtomicUsize::new(0), Mutex::new(Counts::default()));
    let worlds = races(RACES).div_ceil(IN_WORLD);
    let play = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= worlds {
                return;
            }
            let (mut fleet, mut random) = (Fleet::new(), Random::of(number));
            for _ in 0..IN_WORLD / AT_ONCE {
                let round = fleet.round(&mut random);
                counts.lock().unwrap().add(round);
            }
            counts.lock().unwrap().add(fleet.race.end());
        }
    };
    thread::scope(|scope| {
        (0..WORLDS.min(worlds)).for_each(|_| drop(scope.spawn(play)));
    });
    counts.into_inner().unwrap().judge();
}
