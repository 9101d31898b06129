//! Random lives of questions.

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::FileFailurePersistence};

    use super::super::{steps::any_step, world::World};

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 60,
            ..ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds"))
        })]

        #[test]
        fn every_submission_gets_one_verdict_and_followers_see_what_the_desk_has(
            steps in prop::collection::vec(any_step(), 1..120), arrives in any::<bool>(),
        ) {
            let mut world = World::new();
            steps.iter().for_each(|step| world.play(step));
            world.finish(arrives);
        }
    }
}
