//! The life of tool calls and of the permissions that wait for them: every sequence of six steps, beside a model that is
//! written from the text of I13, and random updates between a permission and its answer.

use std::{sync::Arc, time::Duration};

use proptest::{prelude::*, test_runner::FileFailurePersistence};
use serde_json::{Value as Json, json};

use super::{Config, Core};
use crate::{
    desk::{Notice, Record, Submission, Ticket, TicketedSubmission},
    engine::{self, Action, Line, Output, Peer},
    limits,
    question::{Answer, Provenance, Question},
};

/// A core with a session `s`, and what came out of it.
struct World {
    core: Core,
    now: Duration,
    /// The results of the agent's requests, in the order in which it got them.
    results: Vec<Json>,
    /// The questions that were decided on, as they were when that happened.
    decided: Vec<Arc<Record>>,
    /// The requests that the client was sent, and the requests that were withdrawn from it.
    asked: Vec<Json>,
    cancelled: usize,
}

impl World {
    fn new() -> Self {
        let common = engine::Config { name: "b".parse().ok(), ..engine::Config::default() };
        let config = Config { common, chat_hint: false, ..Config::default() };
        World {
            core: Core::new(config),
            now: Duration::ZERO,
            results: Vec::new(),
            decided: Vec::new(),
            asked: Vec::new(),
            cancelled: 0,
        }
    }

    fn line(&mut self, from: Peer, json: &Json) {
        let line = Line { bytes: json.to_string().into(), whole: true };
        match from {
            Peer::Agent => self.core.agent_line(&line, self.now),
            Peer::Client => self.core.client_line(&line, self.now),
        }
        self.carry_out(Some((from, json)));
    }

    fn carry_out(&mut self, came: Option<(Peer, &Json)>) {
        for action in std::mem::take(&mut self.core.base.actions) {
            match action {
                Action::Forward => {
                    let (from, json) = came.expect("a line");
                    self.arrives(from.other(), json.clone());
                }
                Action::ForwardAs(bytes) => {
                    let (from, _) = came.expect("a line");
                    self.arrives(from.other(), serde_json::from_slice(&bytes).expect("JSON"));
                }
                Action::Send(to, bytes) => self.arrives(to, serde_json::from_slice(&bytes).expect("JSON")),
                Action::Respond(number, bytes) => {
                    self.arrives(Peer::Agent, serde_json::from_slice(&bytes).expect("JSON"));
                    self.core.base.desk.delivered(number);
                }
                Action::Deliver(number) => self.core.base.desk.delivered(number),
                Action::Tell(Output::Notice(Notice::Decided { record, .. })) => self.decided.push(record),
                Action::Tell(_) => {}
            }
        }
        self.core.base.tell();
        let told = std::mem::take(&mut self.core.base.actions);
        let decided = told.into_iter().filter_map(|action| match action {
            Action::Tell(Output::Notice(Notice::Decided { record, .. })) => Some(record),
            _ => None,
        });
        self.decided.extend(decided);
    }

    fn arrives(&mut self, at: Peer, json: Json) {
        match at {
            Peer::Agent if json.get("result").is_some() => self.results.push(json["result"].clone()),
            Peer::Client if json["method"] == "$/cancel_request" => self.cancelled += 1,
            Peer::Client if json["method"] == "session/request_permission" => self.asked.push(json),
            _ => {}
        }
    }

    fn update(&mut self, kind: &str, more: Json) {
        let mut update = json!({ "sessionUpdate": kind, "toolCallId": "t" });
        let members = more.as_object().expect("members").clone();
        update.as_object_mut().expect("an object").extend(members);
        let params = json!({ "sessionId": "s", "update": update });
        self.line(Peer::Agent, &json!({ "method": "session/update", "params": params }));
    }

    fn asks(&mut self, id: usize) {
        let option = |id, kind| json!({ "optionId": id, "name": id, "kind": kind });
        let options = [option("y", "allow_once"), option("n", "reject_once")];
        let tool_call = json!({ "toolCallId": "t", "title": "Run", "kind": "execute" });
        let params = json!({ "sessionId": "s", "toolCall": tool_call, "options": options });
        self.line(
            Peer::Agent,
            &json!({ "id": id, "method": "session/request_permission", "params": params }),
        );
    }

    /// Returns the permission that is open.
    fn open(&self) -> Option<&Arc<Record>> {
        self.core.base.desk.get(self.core.base.desk.next_number() - 1)
    }

    fn allow(&mut self, seen: u32) {
        let submission = Submission::answer(Answer::text("q0", "y"), seen);
        let number = self.core.base.desk.next_number() - 1;
        let submitted =
            TicketedSubmission { ticket: Ticket(1), number, submission, by: Provenance::bridge() };
        self.core.submitted(submitted, self.now);
        self.carry_out(None);
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// A call begins, with a command of its own.
    Begins,
    /// An update names another command.
    Says,
    Completes,
    /// The turn begins, or ends.
    Turns,
    Asks,
    /// Somebody allows what is shown now.
    Allows,
    /// Somebody allows what was shown at first.
    AllowsFirst,
}

const STEPS: [Step; 7] =
    [Step::Begins, Step::Says, Step::Completes, Step::Turns, Step::Asks, Step::Allows, Step::AllowsFirst];

#[derive(Clone, Copy, Default, PartialEq)]
struct Call {
    command: Option<usize>,
    is_over: bool,
    in_turn: bool,
}

#[derive(Clone, Copy, PartialEq)]
struct Waiting {
    shows: Option<usize>,
    edition: u32,
    in_turn: bool,
}

/// What has to happen, by the text of I13.
#[derive(Clone, Default, PartialEq)]
struct Model {
    in_turn: bool,
    call: Option<Call>,
    permission: Option<Waiting>,
    /// Whether each request of the agent was granted.
    granted: Vec<bool>,
}

impl Model {
    fn play(&mut self, step: Step, place: usize) {
        let in_turn = self.in_turn;
        match step {
            Step::Begins => {
                self.call = Some(Call { command: Some(place), is_over: false, in_turn });
                self.shows(place);
            }
            Step::Says => {
                let call = self.call.get_or_insert_default();
                call.in_turn |= in_turn;
                if !call.is_over {
                    call.command = Some(place);
                }
                self.shows(place);
            }
            Step::Completes => {
                self.call = Some(Call { command: None, is_over: true, in_turn });
                self.ends(|_| true);
            }
            Step::Turns if in_turn => {
                self.in_turn = false;
                self.call.iter_mut().filter(|call| call.in_turn).for_each(|call| call.is_over = true);
                self.ends(|permission| permission.in_turn);
            }
            Step::Turns => self.in_turn = true,
            Step::Asks if self.permission.is_none() => {
                let shows = self.call.filter(|call| !call.is_over).and_then(|call| call.command);
                if let Some(call) = self.call.as_mut().filter(|call| call.is_over) {
                    *call = Call { command: None, is_over: false, in_turn };
                }
                self.permission = Some(Waiting { shows, edition: 0, in_turn });
            }
            Step::Allows | Step::AllowsFirst => {
                let is_present = |permission: &mut Waiting| step == Step::Allows || permission.edition == 0;
                if self.permission.take_if(is_present).is_some() {
                    self.granted.push(true);
                }
            }
            Step::Asks => {}
        }
    }

    fn shows(&mut self, place: usize) {
        if let Some(permission) = &mut self.permission {
            (permission.shows, permission.edition) = (Some(place), permission.edition + 1);
        }
    }

    fn ends(&mut self, holds: impl Fn(&Waiting) -> bool) {
        if self.permission.take_if(|permission| holds(permission)).is_some() {
            self.granted.push(false);
        }
    }
}

fn play(world: &mut World, model: &Model, step: Step, place: usize) {
    let input = json!({ "rawInput": { "command": format!("run {place}") } });
    match step {
        Step::Begins => world.update("tool_call", input),
        Step::Says => world.update("tool_call_update", input),
        Step::Completes => world.update("tool_call_update", json!({ "status": "completed" })),
        Step::Turns if model.in_turn => {
            world.line(Peer::Agent, &json!({ "id": "p", "result": { "stopReason": "end_turn" } }));
        }
        Step::Turns => {
            let params = json!({ "sessionId": "s", "prompt": [] });
            world.line(Peer::Client, &json!({ "id": "p", "method": "session/prompt", "params": params }));
        }
        Step::Asks if model.permission.is_none() => world.asks(place),
        Step::Asks => {}
        Step::Allows => world.allow(model.permission.map_or(0, |permission| permission.edition)),
        Step::AllowsFirst => world.allow(0),
    }
}

fn check(world: &World, model: &Model, steps: &[Step]) {
    let shown = world.open().map(|record| {
        let subject = record.question.subject.as_deref();
        (subject.and_then(|subject| subject.command.clone()), record.edition)
    });
    let wanted = model.permission.map(|it| (it.shows.map(|place| format!("run {place}")), it.edition));
    assert_eq!(shown, wanted, "{steps:?}");
    let granted: Vec<_> =
        world.results.iter().map(|result| result["outcome"]["outcome"] == "selected").collect();
    assert_eq!(granted, model.granted, "{steps:?}");
    assert_eq!(world.cancelled, granted.len(), "the client takes back what it shows: {steps:?}");
}

/// Plays every sequence that continues these steps. A step that the model knows to change nothing ends its sequence. The
/// first `checked` steps were checked with an earlier sequence that begins like this one.
fn explore(steps: &mut Vec<Step>, model: &Model, count: &mut usize, checked: &mut usize) {
    const DEPTH: usize = 6;
    for step in STEPS {
        let place = steps.len();
        steps.push(step);
        let mut after = model.clone();
        after.play(step, place);
        if place + 1 < DEPTH && after != *model {
            explore(steps, &after, count, checked);
        } else {
            *count += 1;
            let (mut world, mut model) = (World::new(), Model::default());
            for (place, step) in steps.iter().enumerate() {
                play(&mut world, &model, *step, place);
                model.play(*step, place);
                if place >= *checked {
                    check(&world, &model, &steps[..=place]);
                }
            }
            *checked = steps.len();
        }
        steps.pop();
        *checked = steps.len().min(*checked);
    }
}

#[test]
fn permissions_show_what_their_call_is_about_in_every_order() {
    let mut count = 0;
    explore(&mut Vec::new(), &Model::default(), &mut count, &mut 0);
    assert!(count > 10_000, "only {count} sequences");
}

/// What an agent may say of a tool call, in any shape.
fn any_update() -> impl Strategy<Value = Json> {
    let texts = || prop::sample::select(vec!["", "ls", "rm -rf /", "\u{202e}x", "Read"]);
    let member = prop_oneof![
        texts().prop_map(|text| json!({ "rawInput": { "command": text } })),
        texts().prop_map(|text| json!({ "rawInput": { "expression": text, "n": [text] } })),
        texts().prop_map(|text| json!({ "title": text })),
        prop::sample::select(vec!["read", "edit", "execute", "delete", "other", "x"])
            .prop_map(|kind| json!({ "kind": kind })),
        texts().prop_map(|text| json!({ "locations": [{ "path": format!("/p/{text}") }] })),
        texts().prop_map(
            |text| json!({ "content": [{ "type": "diff", "path": "/p/a", "oldText": "a", "newText": text }] })
        ),
        texts().prop_map(
            |text| json!({ "content": [{ "type": "content", "content": { "type": "text", "text": text } }] })
        ),
        Just(json!({ "content": 1, "locations": "x", "rawInput": null })),
        Just(json!({ "status": "in_progress" })),
        Just(json!({ "_meta": { "dangerous": true } })),
        (1..20_000usize).prop_map(|length| json!({ "rawInput": { "command": "x".repeat(length) } })),
    ];
    prop::collection::vec(member, 1..3).prop_map(|members| {
        let members = members.into_iter().flat_map(|member| member.as_object().cloned().unwrap_or_default());
        Json::Object(members.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds")))]

    #[test]
    fn an_approval_is_for_what_its_responder_saw(
        before in prop::collection::vec(any_update(), 0..3),
        updates in prop::collection::vec((any_update(), 0..2000u64, any::<bool>()), 0..6),
        looks in 0..7usize,
        is_client in any::<bool>(),
    ) {
        let mut world = World::new();
        before.into_iter().for_each(|update| world.update("tool_call_update", update));
        world.asks(0);
        let (mut seen, mut changed_at) = (world.open().cloned(), Duration::ZERO);
        for (place, (update, wait, begins)) in updates.into_iter().enumerate() {
            if place == looks {
                seen = world.open().cloned();
            }
            world.now += Duration::from_millis(wait);
            let edition = world.open().map(|record| record.edition);
            world.update(if begins { "tool_call" } else { "tool_call_update" }, update);
            if world.open().map(|record| record.edition) != edition {
                changed_at = world.now;
            }
        }
        let (Some(seen), Some(present)) = (seen, world.open().cloned()) else { panic!("it is open") };
        let question = |record: &Record| Question::clone(&record.question);
        // Another text is another edition. A text may come back, and is a new edition all the same.
        prop_assert!(seen.edition != present.edition || question(&seen) == question(&present));
        // What is shown to a client is what it was told a moment ago.
        let is_unread = present.edition > 0
            && world.now - changed_at < limits::REACTION
            && world.now >= limits::REACTION;
        if is_client {
            let answer = json!({ "outcome": { "outcome": "selected", "optionId": "y" } });
            world.line(Peer::Client, &json!({ "id": 0, "result": answer }));
            prop_assert_eq!(world.results.is_empty(), is_unread);
            prop_assert_eq!(world.asked.len(), 1 + usize::from(is_unread));
        } else {
            world.allow(seen.edition);
            prop_assert_eq!(world.results.len(), usize::from(seen.edition == present.edition));
            prop_assert_eq!(world.decided.len(), world.results.len());
        }
        // An approval reaches the agent only if what was shown to its responder is what was open.
        for decided in &world.decided {
            prop_assert_eq!(question(decided), question(&present));
            let was_shown = if is_client { !is_unread } else { question(&seen) == question(&present) };
            prop_assert!(was_shown);
        }
    }
}
