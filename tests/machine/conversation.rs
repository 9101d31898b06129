//! Random conversations on the core: whatever happens in whatever order, each question gets exactly one response
//! (I4), each direction keeps its order (I2), the same events lead to the same (I3), and nothing is left open. Permissions
//! are among the questions; that nothing is allowed by itself (I12) is left to `consent.rs`, which watches all of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    time::Duration,
};

use askbridge_core::{
    acp::{Bridge, Config},
    desk::{Notice, Ticket, TicketedSubmission},
    engine::{Event, Output, Peer},
    question::{Provenance, Responder},
    wire::envelope::Message,
};
use proptest::{prelude::*, test_runner::FileFailurePersistence};
use serde_json::Value;

use crate::machine::asks;
use crate::machine::consent::Consent;
use crate::support::stage::{Out, Stage};

/// One event. The numbers choose among a few IDs and sessions, so that events often concern the same one.
#[derive(Clone, Debug)]
enum Move {
    Ask {
        id: u8,
        session: u8,
        how: usize,
    },
    Withdraw(u8),
    Answer {
        which: u8,
        how: usize,
    },
    /// Another responder submits something to a permission.
    Submit {
        which: usize,
        how: usize,
    },
    Prompt {
        id: u8,
        session: u8,
    },
    EndTurn(u8),
    CancelTurn(u8),
    CloseSession(u8),
    CancelPrompt(u8),
    Ordinary {
        from_client: bool,
    },
    Pass(u16),
    Signal,
    ClientEnds,
    AgentExits,
}

/// Returns any event, in which the agent asks in one of these ways.
fn any_move(asks: Range<usize>) -> impl Strategy<Value = Move> {
    let id = 0..4u8;
    let session = 0..2u8;
    prop_oneof![
        8 => (id.clone(), session.clone(), asks)
            .prop_map(|(id, session, how)| Move::Ask { id, session, how }),
        3 => id.clone().prop_map(Move::Withdraw),
        8 => (any::<u8>(), 0..24usize).prop_map(|(which, how)| Move::Answer { which, how }),
        4 => (0..8usize, 0..8usize).prop_map(|(which, how)| Move::Submit { which, how }),
        4 => (id.clone(), session.clone()).prop_map(|(id, session)| Move::Prompt { id, session }),
        4 => id.clone().prop_map(Move::EndTurn),
        2 => session.clone().prop_map(Move::CancelTurn),
        1 => session.prop_map(Move::CloseSession),
        2 => id.prop_map(Move::CancelPrompt),
        4 => any::<bool>().prop_map(|from_client| Move::Ordinary { from_client }),
        4 => (0..4000u16).prop_map(Move::Pass),
        // These end the conversation, so they are rare.
        1 => prop_oneof![20 => Just(Move::Pass(1)), 1 => Just(Move::Signal), 1 => Just(Move::ClientEnds),
            1 => Just(Move::AgentExits)],
    ]
}

struct World {
    stage: Stage,
    /// By ID: the number of questions, and the number of responses that the agent got.
    asked: BTreeMap<u8, usize>,
    responded: BTreeMap<u8, usize>,
    /// IDs that named two requests at a time, of which one was a permission. The bridge cannot tell their responses
    /// apart, and lets both go on as they are.
    ambiguous: BTreeSet<u8>,
    /// IDs under which the agent asked for a permission.
    permissions: BTreeSet<u8>,
    consent: Consent,
    /// By ID: the last request that the client got, and answers.
    shown: BTreeMap<String, Value>,
    ordinary: u32,
    sent: [Vec<u32>; 2],
    arrived: [Vec<u32>; 2],
    /// Whether its stdin is open.
    agent_listens: bool,
    agent_lives: bool,
    client_lives: bool,
    journal: Vec<String>,
}

impl World {
    fn new(client: usize) -> Self {
        let mut world = World {
            stage: stage(client),
            asked: BTreeMap::new(),
            responded: BTreeMap::new(),
            ambiguous: BTreeSet::new(),
            permissions: BTreeSet::new(),
            consent: Consent::default(),
            shown: BTreeMap::new(),
            ordinary: 0,
            sent: [Vec::new(), Vec::new()],
            arrived: [Vec::new(), Vec::new()],
            agent_listens: true,
            agent_lives: true,
            client_lives: true,
            journal: Vec::new(),
        };
        let (capabilities, _) = asks::client(client);
        let params = format!(r#"{{"protocolVersion":1,"clientCapabilities":{capabilities}}}"#);
        world.line(
            Peer::Client,
            &format!(r#"{{"jsonrpc":"2.0","id":99,"method":"initialize","params":{params}}}"#),
        );
        world.line(Peer::Agent, r#"{"jsonrpc":"2.0","id":99,"result":{"protocolVersion":1}}"#);
        world
    }

    fn play(&mut self, step: &Move) {
        let call = |id: &dyn std::fmt::Display, method: &str, session: u8| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"sessionId":"{session}"}}}}"#
            )
        };
        match step {
            Move::Ask { id, session, how } if self.agent_lives => self.ask(*id, *session, *how),
            Move::Withdraw(id) if self.agent_lives => self.line(Peer::Agent, &cancel(*id)),
            Move::EndTurn(id) if self.agent_lives => {
                self.line(
                    Peer::Agent,
                    &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"stopReason":"end_turn"}}}}"#),
                );
            }
            Move::Answer { which, how } if self.client_lives && !self.shown.is_empty() => {
                let place = usize::from(*which) % self.shown.len();
                let (id, request) = self.shown.iter().nth(place).expect("it is shown");
                let said = format!(r#"{{"jsonrpc":"2.0","id":{id},{}}}"#, asks::answer(request, *how));
                self.consent.client_said(&said);
                self.line(Peer::Client, &said);
            }
            Move::Submit { which, how } => self.submit(*which, *how),
            Move::Prompt { id, session } if self.client_lives => {
                self.line(Peer::Client, &call(id, "session/prompt", *session));
            }
            Move::CancelTurn(session) if self.client_lives => {
                self.line(Peer::Client, &format!(
                    r#"{{"jsonrpc":"2.0","method":"session/cancel","params":{{"sessionId":"{session}"}}}}"#
                ));
            }
            Move::CloseSession(session) if self.client_lives => {
                self.line(Peer::Client, &call(&99, "session/close", *session));
            }
            Move::CancelPrompt(id) if self.client_lives => self.line(Peer::Client, &cancel(*id)),
            Move::Ordinary { from_client } => {
                self.ordinary(if *from_client { Peer::Client } else { Peer::Agent })
            }
            Move::Pass(milliseconds) => self.pass(Duration::from_millis((*milliseconds).into())),
            Move::Signal => self.happen(Event::Signal),
            Move::ClientEnds if self.client_lives => {
                self.client_lives = false;
                self.journal.push("the client ends".to_owned());
                let out = self.stage.end(Peer::Client);
                self.perform(&out);
            }
            Move::AgentExits if self.agent_lives => {
                self.agent_lives = false;
                self.happen(Event::AgentExited { group: false });
            }
            _ => {}
        }
    }

    fn ask(&mut self, id: u8, session: u8, how: usize) {
        let (asked, responded) = (&mut self.asked, &self.responded);
        let number = asked.values().sum();
        let (method, params) = asks::ask(how, session, number);
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        if self.agent_listens {
            let asked = asked.entry(id).or_default();
            let waits = *asked > responded.get(&id).copied().unwrap_or(0);
            if waits && (asks::PERMISSIONS.contains(&how) || self.permissions.contains(&id)) {
                self.ambiguous.insert(id);
            }
            *asked += 1;
            if asks::PERMISSIONS.contains(&how) {
                self.permissions.insert(id);
                self.consent.asked(id, &params);
            }
        }
        self.line(Peer::Agent, &line);
    }

    fn submit(&mut self, which: usize, how: usize) {
        if let Some((number, submission)) = self.consent.submit(which, how) {
            let by = Provenance { responder: Responder::CommandLine, name: None };
            self.happen(Event::Submitted(TicketedSubmission { ticket: Ticket(1), number, submission, by }));
        }
    }

    fn ordinary(&mut self, from: Peer) {
        let lives = if from == Peer::Client { self.client_lives } else { self.agent_lives };
        // A client is not read any more once the agent's stdin is closed.
        if !lives || !self.stage.bridge.reads(from) {
            return;
        }
        self.ordinary += 1;
        self.sent[from as usize].push(self.ordinary);
        self.line(
            from,
            &format!(r#"{{"jsonrpc":"2.0","method":"ordinary","params":{{"n":{}}}}}"#, self.ordinary),
        );
    }

    fn pass(&mut self, time: Duration) {
        let out = self.stage.pass(time);
        self.perform(&out);
    }

    fn line(&mut self, from: Peer, text: &str) {
        self.journal.push(format!("{from:?} says {text}"));
        let out = self.stage.line(from, text);
        self.perform(&out);
    }

    fn happen(&mut self, event: Event) {
        self.journal.push(format!("{event:?}"));
        let out = self.stage.handle(event);
        self.perform(&out);
    }

    fn perform(&mut self, out: &[Out]) {
        for out in out {
            self.journal.push(format!("  {out:?}"));
            self.agent_listens &= *out != Out::Told(Output::EndAgentInput);
            if let Out::Told(Output::Notice(Notice::Opened(record))) = out {
                self.consent.opened(record);
            }
            if let Out::Bytes(to, bytes) = out {
                for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                    self.arrive(to.other(), line);
                }
            }
        }
    }

    /// A line from this side, or the bridge's own in its place, reaches the other one.
    fn arrive(&mut self, from: Peer, bytes: &[u8]) {
        let message = Message::read(bytes).expect("all lines are messages");
        let number: Option<u32> = message
            .param("n")
            .map(|text| std::str::from_utf8(text).expect("digits").parse().expect("a number"));
        self.arrived[from as usize].extend(number);
        let id = message.id.and_then(|id| id.parse::<u8>().ok());
        if from == Peer::Client {
            self.consent.agent_hears(bytes, |id| !self.ambiguous.contains(&id));
        }
        match (from, id, &message.method) {
            (Peer::Client, Some(id), None) if self.agent_lives => *self.responded.entry(id).or_default() += 1,
            (Peer::Agent, _, Some(_)) if message.id.is_some() => {
                let request = serde_json::from_slice(bytes).expect("JSON");
                self.shown.insert(message.id.expect("an id").to_owned(), request);
            }
            _ => {}
        }
        for (id, responses) in &self.responded {
            let asked = self.asked.get(id).copied().unwrap_or(0);
            let is_clear = !self.ambiguous.contains(id);
            assert!(
                *responses <= asked || !is_clear,
                "{responses} responses to {asked} questions with id {id}"
            );
        }
    }
}

fn stage(client: usize) -> Stage {
    let mut config = Config { tier: asks::client(client).1, ..Config::default() };
    config.common.timeout = Some(Duration::from_secs(5));
    Stage::new(Bridge::new(config))
}

/// Returns what the shell was told.
pub(crate) fn told(out: &[Out]) -> Vec<Output> {
    let told = out.iter().filter_map(|out| match out {
        Out::Told(output) => Some(output.clone()),
        Out::Bytes(..) => None,
    });
    told.collect()
}

fn cancel(id: u8) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        ..ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds"))
    })]

    #[test]
    fn every_question_gets_one_response_and_lines_keep_their_order(
        client in 0..asks::CLIENTS,
        moves in prop::collection::vec(any_move(0..asks::COUNT), 0..60),
    ) {
        let mut world = World::new(client);
        for step in &moves {
            world.play(step);
        }
        let before_the_end = world.agent_lives;
        world.play(&Move::ClientEnds);
        if before_the_end {
            world.asked.retain(|id, _| !world.ambiguous.contains(id));
            world.responded.retain(|id, _| !world.ambiguous.contains(id));
            prop_assert_eq!(&world.responded, &world.asked, "{}", world.journal.join("\n"));
        }
        prop_assert_eq!(&world.arrived, &world.sent, "{}", world.journal.join("\n"));
        prop_assert_eq!(world.stage.bridge.open_questions(), 0);
    }

    /// I12.
    #[test]
    fn nothing_is_allowed_that_was_not_chosen(
        client in 0..asks::CLIENTS,
        moves in prop::collection::vec(any_move(asks::PERMISSIONS), 0..60),
    ) {
        let mut world = World::new(client);
        for step in &moves {
            world.play(step);
        }
        world.play(&Move::ClientEnds);
        prop_assert_eq!(world.stage.bridge.open_questions(), 0);
    }

    #[test]
    fn the_same_events_lead_to_the_same(
        client in 0..asks::CLIENTS, moves in prop::collection::vec(any_move(0..asks::COUNT), 0..60),
    ) {
        let [mut one, mut other] = [World::new(client), World::new(client)];
        for step in &moves {
            one.play(step);
            other.play(step);
        }
        prop_assert_eq!(one.journal, other.journal);
    }
}
