//! Clients that reply twice or late: a reply answers only the request that it belongs to.

use serde_json::{Value, json};

use crate::matrix::agents::Agent;
use crate::matrix::clients::{Client, Wish};
use crate::matrix::field::{Field, Given, Heard, Kind};
use crate::matrix::world::World;

fn fields(agent: Agent) -> Vec<Field> {
    let field = |key, text| Field::new(key, text, Kind::One, &["Alpha", "Beta"]);
    let fields = [field("one", "Which one?"), field("other", "Which other?")];
    let most = if agent.asks_several() { 2 } else { 1 };
    fields.into_iter().take(most).enumerate().map(|(place, field)| agent.fitted(field, place)).collect()
}

fn pick(prompt: &Value, name: &str) -> Value {
    let options = prompt["params"]["options"].as_array().expect("a prompt");
    let option = options.iter().find(|option| option["name"] == name).expect("an option");
    json!({ "outcome": { "outcome": "selected", "optionId": option["optionId"] } })
}

#[test]
fn second_reply_to_a_prompt_is_ignored() {
    for agent in Agent::ALL.into_iter().filter(|agent| agent.asks_several()) {
        let fields = fields(agent);
        let mut world = World::new(agent, Client::Prompts, &fields, Wish::Nothing);
        let first = world.shown.clone();
        let alpha = pick(&first, "Alpha");
        world.replies(&first, &alpha);
        let second = world.shown.clone();
        assert_ne!(second, first);
        world.replies(&first, &alpha);
        assert_eq!(world.heard(), None, "{agent:?}: the second prompt was not answered");
        world.replies(&second, &pick(&second, "Beta"));
        let said = [&fields[0].options[0].0, &fields[1].options[1].0].map(|value| Given::new(&[value], None));
        assert_eq!(world.heard(), Some(Heard::Given(said.into())), "{agent:?}");
        world.replies(&second, &pick(&second, "Beta"));
        world.end();
    }
}

#[test]
fn reply_after_answering_elsewhere_is_ignored() {
    for agent in Agent::ALL {
        let mut world = World::new(agent, Client::Prompts, &fields(agent), Wish::Nothing);
        let prompt = world.shown.clone();
        for name in ["Answer elsewhere", "Alpha", "Skip"] {
            world.replies(&prompt, &pick(&prompt, name));
            assert!(world.heard().is_none() && world.is_open(), "{agent:?}: {name}");
        }
        world.end();
    }
}

#[test]
fn late_answer_does_not_answer_the_next_question_with_the_same_id() {
    for agent in Agent::ALL {
        let fields = fields(agent);
        let mut world = World::new(agent, Client::Prompts, &fields, Wish::Nothing);
        let earlier = world.shown.clone();
        world.cancel();
        world.asks();
        let later = world.shown.clone();
        assert_ne!(later["id"], earlier["id"], "{agent:?}");
        for name in ["Alpha", "Skip"] {
            world.replies(&earlier, &pick(&earlier, name));
            assert!(world.heard().is_none() && world.is_open(), "{agent:?}: {name}");
        }
        world.wait();
        world.replies(&later, &pick(&later, "Skip"));
        assert_eq!(world.heard(), Some(agent.declined()), "{agent:?}");
    }
}
