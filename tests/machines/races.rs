//! Persons who answer at both ends and in between, while the connection is cut and the agent withdraws.
//! `RACES=10000` plays more of them, `SEED` others.

use std::sync::Arc;

use askbridge_control::{join::remote, rpc::client::Client};
use tokio::{
    net::UnixStream,
    runtime::{Builder, Runtime},
};

use super::world::{BOX, World, on_box};
use crate::support::oracle::{Answerer, Asker, Counts, Race, Random, Way, join, pass, races};

/// Questions in the suite.
const RACES: usize = 200;
/// Questions that are open at the same time, since a cut connection takes most of the time.
const AT_ONCE: usize = 25;

/// Lets one answer at the bridge, one over the socket of the connection, and one over all machines of the person.
fn race(world: &World, runtime: &Runtime) -> Race {
    let asker = Asker::start(&world.far, |args| world.far.command(args));
    let folder = world.person.machine.sockets();
    let answerers = runtime.block_on(async {
        let stream = UnixStream::connect(remote::socket(&folder)).await.unwrap();
        let (between, _) = Client::connect_machine(stream, BOX.parse().unwrap()).await.unwrap();
        let (between, here) = (Way::Client(Arc::new(between)), Way::Joined(join(folder).await));
        let afar = |name, way| Answerer { name, way, prefix: on_box(""), recorded: None };
        vec![asker.connect().await, afar("between", between), afar("here", here)]
    });
    Race { asker, answerers }
}

#[test]
fn no_answer_is_lost_doubled_or_made_up_however_the_connection_is_cut() {
    let mut world = World::new();
    world.inbox();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (mut random, mut counts, mut race) = (Random::of(0), Counts::default(), race(&world, &runtime));
    while counts.questions < races(RACES) {
        match random.below(3) {
            0 => world.launcher.set(|faults| faults.loses = Some("question_answer")),
            1 => world.launcher.set(|faults| faults.swallows = Some("question_answer")),
            _ => {}
        }
        let cuts = |random: &mut Random| {
            let is_cut = random.below(2) == 0;
            if is_cut {
                runtime.block_on(pass(random.moment()));
                world.launcher.cut();
            }
            is_cut
        };
        let round = race.round(AT_ONCE, &runtime, &mut random, cuts);
        world.launcher.set(|faults| (faults.loses, faults.swallows) = (None, None));
        counts.add(round);
    }
    counts.add(race.end());
    counts.judge();
    assert_eq!(counts.unknown, 0, "each connection is made again in time");
}
