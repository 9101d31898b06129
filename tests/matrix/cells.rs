//! Every agent with every client: which answers the client can carry, and how all other questions end.
//! The results are the tables of `docs/questions.md`. `UPDATE=1 cargo test --test suites matrix::` writes them.

use std::{fmt::Write, path::Path};

use askbridge_core::engine::UnansweredReason;
use serde_json::Value;

use crate::matrix::agents::Agent;
use crate::matrix::clients::{Client, Wish};
use crate::matrix::field::{Field, Given, Heard, Kind, MANY, TEXT};
use crate::matrix::world::World;
use crate::support::golden;

/// One question and its answer.
pub(crate) struct Case {
    /// The name in the table.
    pub(crate) name: &'static str,
    pub(crate) fields: Vec<Field>,
    pub(crate) given: Vec<Given>,
}

const NUMBER: Kind = Kind::Number { integer: true, least: 1.0, most: 10.0 };

/// Returns the questions that an agent can ask, with an answer to each.
pub(crate) fn cases(agent: Agent) -> Vec<Case> {
    let which =
        |key: &str, kind| Field::new(key, &format!("Which {key}?"), kind, &["Alpha", "Beta, too", "Gamma"]);
    let plain = |key: &str, kind| Field::new(key, &format!("What {key}?"), kind, &[]);
    let one = || which("one", Kind::One);
    let many = || which("some", MANY);
    let all = [
        ("choice", one(), Given::new(&["1"], None)),
        ("own text", one(), Given::new(&["Mine, \"all\" mine"], None)),
        ("remark", one(), Given::new(&["0"], Some("Only in prod"))),
        ("choices", many(), Given::new(&["1", "2"], None)),
        ("choices and own text", many(), Given::new(&["1", "Mine, too"], None)),
        ("text", plain("text", TEXT), Given::new(&["Two\nlines, \"quoted\""], None)),
        ("yes or no", plain("flag", Kind::Flag), Given::new(&["false"], None)),
        ("number", plain("number", NUMBER), Given::new(&["7"], None)),
    ];
    let mut cases: Vec<_> = all
        .into_iter()
        .filter(|(_, field, _)| agent.can_ask(field.kind))
        .map(|(name, field, given)| case(agent, name, vec![field], vec![given]))
        .filter(|case| can_say(agent, &case.fields[0], &case.given[0]))
        .collect();
    if agent.asks_several() {
        let both = [(one(), Given::new(&["2"], None)), (which("other", Kind::One), Given::new(&["0"], None))];
        let some = [
            (many(), Given::new(&["0", "1"], None)),
            (plain("flag", Kind::Flag), Given::new(&["true"], None)),
        ];
        let several = both.into_iter().chain(some).filter(|(field, _)| agent.can_ask(field.kind));
        let (fields, given) = several.unzip();
        cases.push(case(agent, "several fields", fields, given));
    }
    cases
}

/// Builds a case for this agent. A digit among the given texts stands for the option in that place.
fn case(agent: Agent, name: &'static str, fields: Vec<Field>, mut given: Vec<Given>) -> Case {
    let fields: Vec<_> =
        fields.into_iter().enumerate().map(|(place, field)| agent.fitted(field, place)).collect();
    for (field, given) in fields.iter().zip(&mut given) {
        for said in given.said.iter_mut().filter(|_| !field.options.is_empty()) {
            if let Ok(place) = said.parse::<usize>() {
                said.clone_from(&field.options[place].0);
            }
        }
    }
    Case { name, fields, given }
}

fn can_say(agent: Agent, field: &Field, given: &Given) -> bool {
    (field.typed || given.typed(field).is_none()) && (agent.asks_for_notes() || given.note.is_none())
}

/// The cases of one agent that a client can carry.
struct Cell {
    carried: Vec<&'static str>,
    left_open: Vec<&'static str>,
    /// Whether all requests and replies were forwarded unchanged.
    unchanged: bool,
}

impl Cell {
    fn text(&self) -> String {
        match (self.carried.is_empty(), self.left_open.is_empty()) {
            (true, _) => "stays open".to_owned(),
            (false, true) if self.unchanged => "unchanged".to_owned(),
            (false, true) => "all".to_owned(),
            (false, false) => {
                format!("{}; stays open: {}", self.carried.join(", "), self.left_open.join(", "))
            }
        }
    }
}

/// Plays all cases. A case that does not reach the agent exactly as chosen stays open, with a reason.
fn answered(agent: Agent, client: Client) -> Cell {
    let mut cell = Cell { carried: Vec::new(), left_open: Vec::new(), unchanged: true };
    for Case { name, fields, given } in cases(agent) {
        let mut world = World::new(agent, client, &fields, Wish::Answer(given.clone()));
        match world.heard() {
            Some(heard) => {
                assert_eq!(heard, Heard::Given(given), "{agent:?} before {client:?}: {name}");
                assert!(!world.is_open());
                cell.carried.push(name);
                cell.unchanged &= world.own;
                world.end();
            }
            None => {
                assert!(world.is_open(), "{agent:?} before {client:?}: {name}");
                check_reason(client, &world);
                cell.left_open.push(name);
                assert_eq!(agent.hears(&world.end()["result"], &fields), agent.cancelled());
            }
        }
    }
    cell
}

/// Checks that a question stays open for a reason that is reported, or because the client is silent.
fn check_reason(client: Client, world: &World) {
    match (client, world.unanswered.last()) {
        (Client::Silent, None) | (Client::NotAsked, Some(UnansweredReason::NoWay)) => {}
        (Client::Prompts | Client::Approver, Some(UnansweredReason::Elsewhere(_))) => {}
        (client, why) => panic!("{client:?} leaves it open: {why:?}"),
    }
}

/// Plays every end without an answer. Returns the results that the agent receives when the user declines, if the client
/// can show the question, and when the turn is cancelled.
fn ended(agent: Agent, client: Client) -> [Value; 2] {
    let case = cases(agent).remove(0);
    let world = |wish| World::new(agent, client, &case.fields, wish);
    let shows = !matches!(client, Client::Approver | Client::Silent | Client::NotAsked);
    for (wish, expected) in [(Wish::Decline, agent.declined()), (Wish::Cancel, agent.cancelled())] {
        let mut world = world(wish.clone());
        assert_eq!(world.heard().is_some(), shows, "{agent:?} before {client:?}: {wish:?}");
        if let Some(heard) = world.heard() {
            assert_eq!(heard, expected, "{agent:?} before {client:?}: {wish:?}");
        }
        world.end();
    }
    let declined = if shows { world(Wish::Decline).response()["result"].clone() } else { Value::Null };
    let mut cancelled = world(Wish::Nothing);
    assert!(cancelled.is_open() && cancelled.heard().is_none(), "nothing was chosen");
    let result = cancelled.end()["result"].clone();
    assert_eq!(agent.hears(&result, &case.fields), agent.cancelled());
    let awaiting = matches!(client, Client::Native | Client::Forms | Client::Prompts | Client::Silent);
    assert_eq!(cancelled.taken_back, usize::from(awaiting), "{agent:?} before {client:?}");
    let withdrawn = world(Wish::Nothing).withdraw().clone();
    assert_eq!(withdrawn["error"]["code"], -32800, "{withdrawn}");
    [declined, result]
}

fn tables() -> String {
    let mut text = String::from("| agent | can ask |");
    Client::ALL.iter().for_each(|client| write!(text, " {} |", client.name()).expect("a string"));
    text.push_str("\n| --- | --- |");
    text.push_str(&" --- |".repeat(Client::ALL.len()));
    for agent in Agent::ALL {
        let names: Vec<_> = cases(agent).iter().map(|case| case.name).collect();
        write!(text, "\n| {} | {} |", agent.name(), names.join(", ")).expect("a string");
        for client in Client::ALL {
            write!(text, " {} |", answered(agent, client).text()).expect("a string");
        }
    }
    text + &end_table()
}

/// Returns the table of results without an answer. Agents with the same results share a row.
fn end_table() -> String {
    let mut rows: Vec<([String; 2], Vec<&str>)> = Vec::new();
    for agent in Agent::ALL {
        let results_of = Client::ALL.map(|client| ended(agent, client));
        let cancelled = |told: &[Value; 2]| told[1].clone();
        assert!(
            results_of.iter().all(|other| cancelled(other) == cancelled(&results_of[0])),
            "the client makes no difference"
        );
        // The results with permission prompts, all of which the bridge writes itself.
        let results = results_of[2].clone().map(|result| bare(result).to_string());
        let name = agent.name().split(':').next().unwrap_or_default();
        match rows.iter_mut().find(|(other, _)| *other == results) {
            Some((_, names)) => names.push(name),
            None => rows.push((results, vec![name])),
        }
    }
    let mut text =
        String::from("\n\n| agent | the person declines | the turn is cancelled |\n| --- | --- | --- |");
    for ([declined, cancelled], names) in rows {
        write!(text, "\n| {} | `{declined}` | `{cancelled}` |", names.join(", ")).expect("a string");
    }
    text
}

/// Removes the reason under `_meta`.
fn bare(result: Value) -> Value {
    match result {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(key, _)| key != "_meta");
            members.map(|(key, value)| (key, bare(value))).collect()
        }
        other => other,
    }
}

/// Compares tables with those of this name in `docs/questions.md`, and writes them on request.
#[track_caller]
pub(crate) fn write_table(name: &str, tables: &str) {
    let begin = format!("<!-- {name}: UPDATE=1 cargo test --test suites matrix:: writes it -->\n");
    let end = format!("\n<!-- end of {name} -->");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/questions.md");
    golden::is_between(&path, &begin, &end, tables);
}

#[test]
fn every_agent_with_every_client_is_answered_as_the_tables_say() {
    write_table("what each client can carry", &tables());
}

#[test]
fn client_that_approves_everything_answers_no_question() {
    for agent in Agent::ALL {
        for case in cases(agent) {
            let world = World::new(agent, Client::Approver, &case.fields, Wish::Answer(case.given.clone()));
            assert!(world.heard().is_none() && world.is_open(), "{agent:?}: {}", case.name);
            assert!(matches!(world.unanswered.last(), Some(UnansweredReason::Elsewhere(_))));
        }
    }
}

#[test]
fn a_client_that_approves_without_knowing_what_chooses_nothing() {
    for agent in Agent::ALL {
        for client in Client::BLIND {
            for Case { name, fields, given } in cases(agent) {
                let mut world = World::new(agent, client, &fields, Wish::Answer(given));
                assert_eq!(world.heard(), None, "{agent:?} before {client:?}: {name}");
                assert!(world.is_open(), "{agent:?} before {client:?}: {name}");
                world.end();
            }
        }
    }
}
