//! Round trips: a random question of any dialect, shown to every kind of client and answered there. The agent receives
//! exactly the choices, or nothing.

use askbridge_core::engine::UnansweredReason;
use proptest::{prelude::*, test_runner::FileFailurePersistence};

use crate::matrix::clients::{Client, Wish};
use crate::matrix::field::{Field, Given, Heard, Kind};
use crate::matrix::random::{Asked, asked, broken};
use crate::matrix::world::World;

/// Returns whether the user of this client can give all of this answer.
fn is_sayable(client: Client, fields: &[Field], given: &[Given]) -> bool {
    let mut all = fields.iter().zip(given);
    match client {
        Client::Native => true,
        Client::Forms => all.all(|(_, given)| given.note.is_none()),
        _ => {
            let by_choice = |(field, given): (&Field, &Given)| match field.kind {
                _ if given.note.is_some() || given.typed(field).is_some() => false,
                Kind::One | Kind::Flag => given.said.len() == 1,
                Kind::Many { least, .. } => given.said.len() >= least as usize,
                Kind::Text { .. } | Kind::Number { .. } => given.is_empty(),
            };
            all.all(by_choice) && fields.iter().any(Field::is_choice)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 250,
        ..ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds"))
    })]

    #[test]
    fn agent_receives_exactly_the_choices_or_nothing(asked in asked()) {
        let Asked { agent, fields, given, .. } = asked;
        for client in [Client::Native, Client::Forms, Client::Prompts] {
            let mut world = World::new(agent, client, &fields, Wish::Answer(given.clone()));
            match world.heard() {
                Some(heard) => prop_assert_eq!(heard, Heard::Given(given.clone()), "before {:?}", client),
                None => {
                    prop_assert!(!is_sayable(client, &fields, &given), "{:?} says nothing", client);
                    prop_assert!(world.is_open());
                }
            }
            world.end();
        }
    }

    #[test]
    fn answer_that_does_not_fit_is_refused_and_not_adjusted(asked in asked()) {
        let Asked { agent, fields, mut given, breaks: (place, way) } = asked;
        let place = place.index(fields.len());
        let Some(said) = broken(&fields[place], way) else { return Ok(()) };
        given[place].said = said;
        for client in [Client::Native, Client::Forms] {
            let mut world = World::new(agent, client, &fields, Wish::Broken(given.clone()));
            // The agent itself judges a reply to its own request.
            if !world.own {
                prop_assert_eq!(world.heard(), None, "before {:?}", client);
                prop_assert!(world.is_open());
                let refused = |why: &UnansweredReason| matches!(why, UnansweredReason::DoesNotFit(_));
                prop_assert!(world.unanswered.iter().any(refused), "{:?}", world.unanswered);
            }
            world.end();
        }
    }
}
