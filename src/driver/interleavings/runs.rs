//! Three hundred random runs.

use std::collections::BTreeMap;

use proptest::{
    prelude::*,
    test_runner::{FileFailurePersistence, TestRunner, contextualize_config},
};

use super::{
    moves::{Move, any_move},
    world::World,
};

#[test]
fn whatever_a_responder_is_told_is_what_the_agent_has_got() {
    // Paused time, since the inbox has timers, and no run is to wait for them.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    // The futures of the responders are polled outside of `block_on`, and need the runtime's context.
    let _context = runtime.enter();
    let mut told = BTreeMap::new();
    // Like the `proptest!` macro, this lets the environment set the seed and the number of cases.
    let mut runner = TestRunner::new(contextualize_config(ProptestConfig {
        cases: 300,
        source_file: Some(file!()),
        ..ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds"))
    }));
    let worlds = (any::<bool>(), any::<bool>(), prop::collection::vec(any_move(), 1..80));
    let told_all = std::cell::RefCell::new(&mut told);
    let run = runner.run(&worlds, |(timeout, shown, moves)| {
        let mut world = World::new(&runtime, timeout, shown);
        world.play(&Move::Ask { session: 0 });
        for step in &moves {
            world.play(step);
        }
        world.end();
        for (name, count) in world.told {
            *told_all.borrow_mut().entry(name).or_insert(0) += count;
        }
        Ok(())
    });
    if let Err(error) = run {
        panic!("{error}");
    }
    for name in ["ok", "conflict", "changed", "gone", "does_not_fit", "no_deadline", "unavailable"] {
        assert!(told.get(name).is_some_and(|count| *count >= 2), "too rarely {name}: {told:?}");
    }
}
