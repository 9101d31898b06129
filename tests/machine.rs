//! Random conversations on the engine: whatever happens in whatever order, each question gets exactly one response
//! (I4), each direction keeps its order (I2), the same events give the same actions (I3), and what is settled
//! takes no room (I6).

#![expect(clippy::expect_used, reason = "what does not hold ends the test, and says what it was")]

use std::{collections::BTreeMap, time::Duration};

use askbridge::{
    engine::{Action, Bridge, Config, Event, Line, Peer},
    limits,
    wire::{envelope::Message, frame::Verdict},
};
use bytes::Bytes;
use proptest::prelude::*;

/// One thing that happens. The numbers choose among a few ids and sessions, so that they meet often.
#[derive(Clone, Debug)]
enum Move {
    Ask { id: u8, session: u8, valid: bool },
    Withdraw(u8),
    Answer { id: u8, how: usize },
    Prompt { id: u8, session: u8 },
    EndTurn(u8),
    CancelTurn(u8),
    CloseSession(u8),
    CancelPrompt(u8),
    Ordinary { from_client: bool },
    Pass(u16),
    Signal,
    ClientEnds,
    AgentExits,
}

fn any_move() -> impl Strategy<Value = Move> {
    let id = 0..4u8;
    let session = 0..2u8;
    prop_oneof![
        8 => (id.clone(), session.clone(), prop::bool::weighted(0.9))
            .prop_map(|(id, session, valid)| Move::Ask { id, session, valid }),
        3 => id.clone().prop_map(Move::Withdraw),
        6 => (id.clone(), 0..ANSWERS.len()).prop_map(|(id, how)| Move::Answer { id, how }),
        4 => (id.clone(), session.clone()).prop_map(|(id, session)| Move::Prompt { id, session }),
        4 => id.clone().prop_map(Move::EndTurn),
        2 => session.clone().prop_map(Move::CancelTurn),
        1 => session.prop_map(Move::CloseSession),
        2 => id.prop_map(Move::CancelPrompt),
        4 => any::<bool>().prop_map(|from_client| Move::Ordinary { from_client }),
        4 => (0..4000u16).prop_map(Move::Pass),
        // These end the conversation: rarely before it has become interesting.
        1 => prop_oneof![20 => Just(Move::Pass(1)), 1 => Just(Move::Signal), 1 => Just(Move::ClientEnds),
            1 => Just(Move::AgentExits)],
    ]
}

/// What a client may say to a question.
const ANSWERS: [&str; 6] = [
    r#""result":{"status":"answered","answers":[["a"]]}"#,
    r#""result":{"status":"rejected"}"#,
    r#""result":{"action":"accept","content":{"x":"Option A"}}"#,
    r#""result":{"outcome":"cancelled"}"#,
    r#""result":{"who":"knows"}"#,
    r#""error":{"code":-32601,"message":"Method not found"}"#,
];

struct World {
    bridge: Bridge,
    now: Duration,
    /// How many questions were asked with an id, and how many responses the agent got.
    asked: BTreeMap<u8, usize>,
    responded: BTreeMap<u8, usize>,
    /// The client answers what it was shown only.
    shown: BTreeMap<u8, usize>,
    ordinary: u32,
    sent: [Vec<u32>; 2],
    arrived: [Vec<u32>; 2],
    agent_lives: bool,
    client_lives: bool,
    journal: Vec<String>,
}

impl World {
    fn new() -> Self {
        let config = Config { timeout: Some(Duration::from_secs(5)), ..Config::default() };
        World {
            bridge: Bridge::new(config),
            now: Duration::ZERO,
            asked: BTreeMap::new(),
            responded: BTreeMap::new(),
            shown: BTreeMap::new(),
            ordinary: 0,
            sent: [Vec::new(), Vec::new()],
            arrived: [Vec::new(), Vec::new()],
            agent_lives: true,
            client_lives: true,
            journal: Vec::new(),
        }
    }

    fn play(&mut self, step: &Move) {
        let call = |id: &dyn std::fmt::Display, method: &str, session: u8| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"sessionId":"{session}"}}}}"#
            )
        };
        match step {
            Move::Ask { id, session, valid } if self.agent_lives => {
                let prompt = if *valid { r#""?""# } else { "5" };
                let options = r#""options":[["a","Option A"],["b","Option B"]]"#;
                let params = format!(r#"{{"sessionId":"{session}","prompt":{prompt},{options}}}"#);
                *self.asked.entry(*id).or_default() += 1;
                self.line(Peer::Agent, &format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"_sandboxagent/session/request_question","params":{params}}}"#
                ));
            }
            Move::Withdraw(id) if self.agent_lives => self.line(Peer::Agent, &cancel(*id)),
            Move::EndTurn(id) if self.agent_lives => {
                self.line(
                    Peer::Agent,
                    &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"stopReason":"end_turn"}}}}"#),
                );
            }
            Move::Answer { id, how } if self.client_lives && self.shown.contains_key(id) => {
                self.line(Peer::Client, &format!(r#"{{"jsonrpc":"2.0","id":{id},{}}}"#, ANSWERS[*how]));
            }
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
                self.happen(Event::ClientEnded);
            }
            Move::AgentExits if self.agent_lives => {
                self.agent_lives = false;
                self.happen(Event::AgentExited { group: false });
            }
            _ => {}
        }
    }

    fn ordinary(&mut self, from: Peer) {
        if (from == Peer::Client && !self.client_lives) || (from == Peer::Agent && !self.agent_lives) {
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
        let until = self.now + time;
        while let Some(deadline) = self.bridge.next_deadline().filter(|deadline| *deadline <= until) {
            self.now = self.now.max(deadline);
            self.happen(Event::Tick);
        }
        self.now = until;
    }

    fn line(&mut self, from: Peer, text: &str) {
        self.journal.push(format!("{from:?} says {text}"));
        let line = Line { bytes: Bytes::from(format!("{text}\n")), whole: true };
        if self.bridge.judge(from, &line.bytes) == Verdict::Ordinary {
            return self.arrive(from, &line.bytes);
        }
        let actions = self.bridge.handle(Event::Line(from, line.clone()), self.now);
        self.perform(&actions, Some((from, &line)));
    }

    fn happen(&mut self, event: Event) {
        self.journal.push(format!("{event:?}"));
        let actions = self.bridge.handle(event, self.now);
        self.perform(&actions, None);
    }

    fn perform(&mut self, actions: &[Action], line: Option<(Peer, &Line)>) {
        for action in actions {
            self.journal.push(format!("  {action:?}"));
            match (action, line) {
                (Action::Forward, Some((from, line))) => self.arrive(from, &line.bytes),
                (Action::Forward, None) => panic!("only a line can be forwarded"),
                (Action::Send(Peer::Agent, bytes), _) => self.arrive(Peer::Client, bytes),
                (Action::Send(Peer::Client, bytes), _) => self.arrive(Peer::Agent, bytes),
                _ => {}
            }
        }
    }

    /// A line from this side, or our own in its place, reaches the other one.
    fn arrive(&mut self, from: Peer, bytes: &Bytes) {
        let message = Message::read(bytes).expect("all lines are messages");
        let number: Option<u32> = message
            .param("n")
            .map(|text| std::str::from_utf8(text).expect("digits").parse().expect("a number"));
        self.arrived[from as usize].extend(number);
        let id = message.id.and_then(|id| id.parse::<u8>().ok());
        match (from, id, message.method) {
            (Peer::Client, Some(id), None) if self.agent_lives => *self.responded.entry(id).or_default() += 1,
            (Peer::Agent, Some(id), Some(method)) if method.starts_with('_') => {
                *self.shown.entry(id).or_default() += 1;
            }
            _ => {}
        }
        for (id, responses) in &self.responded {
            let asked = self.asked.get(id).copied().unwrap_or(0);
            assert!(*responses <= asked, "{responses} responses to {asked} questions with id {id}");
        }
    }
}

fn cancel(id: u8) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_question_gets_exactly_one_response_and_every_line_keeps_its_place(
        moves in prop::collection::vec(any_move(), 0..60),
    ) {
        let mut world = World::new();
        for step in &moves {
            world.play(step);
        }
        let before_the_end = world.agent_lives;
        world.play(&Move::ClientEnds);
        if before_the_end {
            prop_assert_eq!(&world.responded, &world.asked, "{}", world.journal.join("\n"));
        }
        prop_assert_eq!(&world.arrived, &world.sent, "{}", world.journal.join("\n"));
        prop_assert_eq!(world.bridge.open_questions(), 0);
    }

    #[test]
    fn the_same_events_give_the_same_actions(moves in prop::collection::vec(any_move(), 0..60)) {
        let [mut one, mut other] = [World::new(), World::new()];
        for step in &moves {
            one.play(step);
            other.play(step);
        }
        prop_assert_eq!(one.journal, other.journal);
    }
}

fn question(id: usize, session: usize, text: &str) -> String {
    let params = format!(r#"{{"sessionId":"{session}","prompt":"{text}"}}"#);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"_sandboxagent/session/request_question","params":{params}}}"#
    )
}

fn say(bridge: &mut Bridge, from: Peer, text: &str) -> Vec<Action> {
    let line = Line { bytes: Bytes::from(format!("{text}\n")), whole: true };
    assert_eq!(bridge.judge(from, &line.bytes), Verdict::Wanted);
    bridge.handle(Event::Line(from, line), Duration::ZERO)
}

fn refusal(actions: &[Action]) -> Option<String> {
    match actions {
        [Action::Send(Peer::Agent, error)] => Some(String::from_utf8_lossy(error).into_owned()),
        _ => None,
    }
}

fn bridge() -> Bridge {
    Bridge::new(Config::default())
}

#[test]
fn a_session_has_room_for_so_many_questions_and_gets_it_back() {
    let mut bridge = bridge();
    for round in 0..3 {
        for id in 0..limits::OPEN_PER_SESSION {
            assert_eq!(refusal(&say(&mut bridge, Peer::Agent, &question(id, 0, "?"))), None, "round {round}");
        }
        let refused = refusal(&say(&mut bridge, Peer::Agent, &question(9999, 0, "?"))).expect("one too many");
        assert!(refused.contains("-32602") && refused.contains("too many open questions"), "{refused}");
        assert_eq!(refusal(&say(&mut bridge, Peer::Agent, &question(5000 + round, 1, "?"))), None);
        let cancel = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"0"}}"#;
        drop(say(&mut bridge, Peer::Client, cancel));
        assert_eq!(bridge.open_questions(), round + 1, "only those of the other session are open");
    }
}

#[test]
fn all_sessions_together_have_room_for_so_many_questions() {
    let mut bridge = bridge();
    for id in 0..limits::OPEN {
        assert_eq!(refusal(&say(&mut bridge, Peer::Agent, &question(id, id, "?"))), None);
    }
    let refused = refusal(&say(&mut bridge, Peer::Agent, &question(9999, 9999, "?"))).expect("one too many");
    assert!(refused.contains("too many open questions"), "{refused}");
}

#[test]
fn the_bytes_of_settled_questions_are_given_back() {
    let mut bridge = bridge();
    let options: Vec<_> = (0..60).map(|number| format!("{number}{}", "x".repeat(3900))).collect();
    let params = serde_json::json!({ "sessionId": "s", "prompt": "?", "options": options });
    let large = |id| {
        serde_json::json!({
            "jsonrpc": "2.0", "id": id, "method": "_sandboxagent/session/request_question", "params": params
        })
        .to_string()
    };
    for round in 0..3 {
        let asked = (0..).take_while(|id| refusal(&say(&mut bridge, Peer::Agent, &large(*id))).is_none());
        let opened = asked.count();
        let most = limits::OPEN_BYTES / params.to_string().len();
        assert_eq!(opened, most, "round {round}");
        let cancel = r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#;
        drop(say(&mut bridge, Peer::Client, cancel));
    }
}

#[test]
fn the_last_settled_questions_are_remembered_and_no_more() {
    let mut bridge = bridge();
    let answer = |id: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"status":"rejected"}}}}"#);
    for id in 0..=limits::SETTLED {
        drop(say(&mut bridge, Peer::Agent, &question(id, 0, "?")));
        drop(say(&mut bridge, Peer::Client, &answer(id)));
    }
    let judge = |id: usize| bridge.judge(Peer::Client, answer(id).as_bytes());
    assert_eq!((judge(0), judge(1)), (Verdict::Ordinary, Verdict::Wanted));
    assert_eq!(judge(limits::SETTLED), Verdict::Wanted);
}

#[test]
fn many_short_options_count_for_what_they_take_in_memory() {
    let mut bridge = bridge();
    let options = vec!["a"; limits::OPTIONS];
    let fields = vec![serde_json::json!({ "question": "?", "options": options }); limits::FIELDS];
    let ask = |id: usize| {
        serde_json::json!({
            "jsonrpc": "2.0", "id": id, "method": "_sandboxagent/session/request_question",
            "params": { "sessionId": id.to_string(), "questions": fields }
        })
        .to_string()
    };
    let opened = (0..).take_while(|id| refusal(&say(&mut bridge, Peer::Agent, &ask(*id))).is_none()).count();
    let json = ask(0).len();
    assert!(opened > 2 && opened * json < limits::OPEN_BYTES / 10, "{opened} questions of {json} bytes");
}

fn prompt(id: usize, session: &str, text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"session/prompt","params":{{"sessionId":"{session}","prompt":"{text}"}}}}"#
    )
}

#[test]
fn a_turn_in_a_session_with_an_endless_name_is_not_followed() {
    let mut bridge = bridge();
    let answer = br#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    for (length, verdict) in [(limits::SESSION, Verdict::Wanted), (limits::SESSION + 1, Verdict::Ordinary)] {
        let prompted = say(&mut bridge, Peer::Client, &prompt(1, &"x".repeat(length), ""));
        assert_eq!(prompted, [Action::Forward]);
        assert_eq!(bridge.judge(Peer::Agent, answer), verdict, "a name of {length} bytes");
        let line = Line { bytes: Bytes::from_static(answer), whole: true };
        drop(bridge.handle(Event::Line(Peer::Agent, line), Duration::ZERO));
    }
}

#[test]
fn prompts_that_are_held_take_no_more_than_their_room() {
    let mut bridge = bridge();
    drop(say(&mut bridge, Peer::Client, &prompt(0, "0", "")));
    drop(say(&mut bridge, Peer::Agent, &question(0, 0, "?")));
    let large = "x".repeat(limits::HOLD - 200);
    // The first one rejects the question; all that fit wait without a word.
    let held = (1..).take_while(|id| {
        !say(&mut bridge, Peer::Client, &prompt(*id, "0", &large)).contains(&Action::Forward)
    });
    assert_eq!(held.count(), limits::HELD_BYTES / large.len());
}
