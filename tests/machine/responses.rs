//! Whatever an agent may take for a response to its question settles it, and nothing else does (I4).

use askbridge_core::{
    acp::{Bridge, Config, Tier},
    desk::{Notice, Submission, Ticket, TicketedSubmission},
    engine::{Event, Output, Peer, UnansweredReason},
    question::{Outcome, Provenance, Reason, Responder},
};

use crate::support::stage::{Out, Stage, arrived, lines};

const METHOD: &str = "_sandboxagent/session/request_question";

/// A bridge whose client takes native requests.
fn stage() -> Stage {
    let mut stage = Stage::new(Bridge::new(Config::default()));
    let takes = r#"{"_meta":{"sandboxagent.dev":{"extensions":{"sessionRequestQuestion":true}}}}"#;
    let params = format!(r#"{{"protocolVersion":1,"clientCapabilities":{takes}}}"#);
    drop(stage.line(Peer::Client, &format!(r#"{{"id":"i","method":"initialize","params":{params}}}"#)));
    stage
}

/// A bridge whose agent has asked something under this id, so long ago that a person can have read it.
fn asked(id: &str) -> Stage {
    let mut stage = stage();
    let question = format!(r#"{{"id":{id},"method":"{METHOD}","params":{{"prompt":"?"}}}}"#);
    assert_eq!(lines(&stage.line(Peer::Agent, &question), Peer::Client), [question]);
    assert_eq!(stage.bridge.open_questions(), 1);
    drop(stage.pass(askbridge::limits::REACTION));
    stage
}

/// Returns how a question was settled.
fn settled(out: &[Out]) -> Option<&Outcome> {
    out.iter().find_map(|out| match out {
        Out::Told(Output::Notice(Notice::Decided { settlement, .. })) => Some(&settlement.outcome),
        _ => None,
    })
}

/// A response settles the question under this id, in this way, and the agent gets the response as it is. One that
/// comes after it is dropped.
#[track_caller]
fn check(id: &str, response: &[u8], outcome: Option<&Outcome>) {
    let mut stage = asked(id);
    let out = stage.receive(Peer::Client, response);
    let shown = response[..response.len().min(80)].escape_ascii();
    assert!(settled(&out).is_some(), "{shown} settles nothing");
    assert!(outcome.is_none_or(|outcome| settled(&out) == Some(outcome)), "{shown}: {:?}", settled(&out));
    assert_eq!(arrived(&out, Peer::Agent), response, "{shown}");
    assert_eq!(arrived(&stage.receive(Peer::Client, response), Peer::Agent), b"", "{shown} again");
}

#[test]
fn response_with_a_part_twice_is_no_answer() {
    for response in [r#"{"id":1,"result":{},"result":{}}"#, r#"{"id":1,"error":null,"error":{}}"#] {
        let mut stage = asked("1");
        let out = stage.line(Peer::Client, response);
        assert_eq!((lines(&out, Peer::Agent), settled(&out)), (vec![], None), "{response}");
        assert_eq!(stage.bridge.open_questions(), 1, "{response}");
    }
}

#[test]
fn response_with_a_null_method_settles() {
    for response in [
        r#"{"method":null,"id":1,"result":{"status":"rejected"}}"#,
        r#"{"id":1,"method":null,"result":{"status":"rejected"}}"#,
        r#"{"id":1,"result":{"status":"rejected"},"method":null}"#,
    ] {
        check("1", format!("{response}\n").as_bytes(), None);
    }
}

/// Returns these in every order.
fn orders(parts: &[String]) -> Vec<Vec<&str>> {
    let Some((first, rest)) = parts.split_first() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for order in orders(rest) {
        for place in 0..=order.len() {
            let mut order = order.clone();
            order.insert(place, first);
            all.push(order);
        }
    }
    all
}

/// The methods that mean something to the bridge, and another.
const METHODS: [&str; 8] = [
    "x",
    "initialize",
    "session/new",
    "session/load",
    "session/prompt",
    "session/cancel",
    "session/close",
    "$/cancel_request",
];

#[test]
fn response_with_a_method_settles_in_any_order_of_its_members() {
    // Some agents take such a line for a request, others for a response: they get what both take for a response.
    let ask = format!(r#"{{"id":1,"method":"{METHOD}","params":{{"prompt":"?","sessionId":"s"}}}}"#);
    let permission = r#"{"id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}}"#;
    let selected = r#""result":{"outcome":{"outcome":"selected","optionId":"a"}}"#;
    let failed = r#""error":{"code":-1,"message":"x"}"#;
    let mut tried = 0;
    for (asked, said) in
        [(&*ask, r#""result":{"status":"rejected"}"#), (permission, selected), (permission, failed)]
    {
        for method in METHODS {
            let parts = [
                r#""jsonrpc":"2.0""#.to_owned(),
                r#""id":1"#.to_owned(),
                format!(r#""method":"{method}""#),
                r#""params":{"sessionId":"s","cwd":"/","prompt":[],"requestId":1}"#.to_owned(),
                said.to_owned(),
            ];
            for order in orders(&parts) {
                let line = format!("{{{}}}", order.join(","));
                let mut stage = stage();
                drop(stage.line(Peer::Agent, asked));
                drop(stage.pass(askbridge::limits::REACTION));
                let out = stage.line(Peer::Client, &line);
                let plain = format!(r#"{{"jsonrpc":"2.0","id":1,{said}}}"#);
                assert_eq!(lines(&out, Peer::Agent), [plain], "{line}");
                assert_eq!(stage.bridge.open_questions(), 0, "{line}");
                assert_eq!(lines(&stage.line(Peer::Client, &line), Peer::Agent), [""; 0], "{line} again");
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 3 * 8 * 120);
}

#[test]
fn line_with_a_result_behind_its_method_is_a_response_at_any_chunking() {
    let padding = "x".repeat(2 * askbridge::limits::STREAM);
    let line = format!(
        "{{\"id\":1,\"method\":\"x\",\"params\":\"{padding}\",\"result\":{{\"status\":\"rejected\"}}}}\n"
    );
    for piece in [1000, askbridge::limits::STREAM + 1, line.len()] {
        let mut stage = asked("1");
        let out: Vec<_> =
            line.as_bytes().chunks(piece).flat_map(|piece| stage.receive(Peer::Client, piece)).collect();
        assert_eq!(lines(&out, Peer::Agent), [r#"{"jsonrpc":"2.0","id":1,"result":{"status":"rejected"}}"#]);
    }
}

#[test]
fn call_without_a_result_is_a_call_whatever_its_id() {
    for line in [
        r#"{"id":1,"method":"x","params":{"result":{}}}"#,
        r#"{"id":2,"method":"x","result":{}}"#,
        r#"{"method":"x","result":{}}"#,
        // Some clients write every member into every message, and count their requests from 0 as agents do.
        r#"{"id":1,"method":"x","params":{},"result":null,"error":null}"#,
        r#"{"error":null,"id":1,"result":null,"method":"x"}"#,
    ] {
        let mut stage = asked("1");
        assert_eq!(lines(&stage.line(Peer::Client, line), Peer::Agent), [line]);
        assert_eq!(stage.bridge.open_questions(), 1, "{line}");
    }
}

#[test]
fn response_with_a_method_needs_no_envelope_under_a_conductor() {
    let mut stage = Stage::new(Bridge::under_conductor(Config::default()));
    let takes = r#"{"_meta":{"sandboxagent.dev":{"extensions":{"sessionRequestQuestion":true}}}}"#;
    let params = format!(r#"{{"protocolVersion":1,"clientCapabilities":{takes}}}"#);
    drop(stage.line(Peer::Client, &format!(r#"{{"id":0,"method":"proxy/initialize","params":{params}}}"#)));
    let ask = format!(
        r#"{{"id":1,"method":"proxy/successor","params":{{"method":"{METHOD}","params":{{"prompt":"?","sessionId":"s"}}}}}}"#
    );
    drop(stage.line(Peer::Client, &ask));
    assert_eq!(stage.bridge.open_questions(), 1);
    drop(stage.pass(askbridge::limits::REACTION));
    let out = stage.line(Peer::Client, r#"{"id":1,"method":"x","result":{"status":"rejected"}}"#);
    let plain = r#"{"jsonrpc":"2.0","id":1,"result":{"status":"rejected"}}"#;
    assert_eq!((lines(&out, Peer::Client), stage.bridge.open_questions()), (vec![plain.to_owned()], 0));
}

#[test]
fn response_behind_a_byte_order_mark_settles() {
    check("1", b"\xEF\xBB\xBF{\"id\":1,\"result\":{\"status\":\"rejected\"}}\n", None);
}

#[test]
fn response_with_two_ids_is_no_answer_to_the_last() {
    for response in [
        r#"{"id":99,"result":{"status":"rejected"},"id":1}"#,
        r#"{"id":99,"id":1,"result":{"status":"rejected"}}"#,
        r#"{"id":1,"result":{},"id":99}"#,
    ] {
        let mut stage = asked("1");
        let out = stage.line(Peer::Client, response);
        assert_eq!((settled(&out), stage.bridge.open_questions()), (None, 1), "{response}");
        // An agent may take the last ID, which is that of no question in the last of these lines.
        let is_other = response.ends_with("99}");
        assert_eq!(lines(&out, Peer::Agent).len(), usize::from(is_other), "{response}");
    }
}

#[test]
fn id_may_come_back_in_another_spelling_of_its_value() {
    for (id, back) in [("1", "1.0"), ("1.0", "1"), ("1", "1e0"), ("100", "1E2"), ("-0", "0")] {
        check(id, format!("{{\"id\":{back},\"result\":{{\"status\":\"rejected\"}}}}\n").as_bytes(), None);
    }
}

#[test]
fn rounded_id_settles_and_reaches_the_agent_under_its_own() {
    let mut stage = asked("9007199254740993");
    let response = r#"{"id":9007199254740992,"result":{"status":"rejected"}}"#;
    let out = stage.line(Peer::Client, response);
    assert_eq!(lines(&out, Peer::Agent), [r#"{"id":9007199254740993,"result":{"status":"rejected"}}"#]);
    assert!(settled(&out).is_some());
    assert_eq!(lines(&stage.line(Peer::Client, response), Peer::Agent), Vec::<String>::new());
    // Both may be open at once: then each is answered under its own.
    let mut stage = asked("9007199254740992");
    let asks = format!(r#"{{"id":9007199254740993,"method":"{METHOD}","params":{{"prompt":"?"}}}}"#);
    drop(stage.line(Peer::Agent, &asks));
    assert_eq!(lines(&stage.line(Peer::Client, response), Peer::Agent), [response]);
    assert_eq!(stage.bridge.open_questions(), 1);
}

#[test]
fn beginning_of_a_long_response_settles() {
    for beginning in [
        &br#"{"id":1,"result":{"status":"#[..],
        br#"{"method":null,"id":1,"result":{"#,
        br#"{"id":1,"result":{},"method":"x","#,
        br#"{"id":1,"method":"x","result":{},"#,
        b"\xEF\xBB\xBF{\"id\":1,\"result\":{",
    ] {
        let mut stage = asked("1");
        let out = stage.long_line(Peer::Client, beginning);
        assert_eq!(settled(&out), Some(&Outcome::Failed), "{}", beginning.escape_ascii());
        assert!(arrived(&out, Peer::Agent).starts_with(beginning));
        assert_eq!(arrived(&stage.long_line(Peer::Client, beginning), Peer::Agent), b"", "again");
    }
}

#[test]
fn beginning_of_a_long_error_is_no_answer() {
    let mut stage = asked("1");
    let out = stage.long_line(Peer::Client, br#"{"id":1.0,"error":{"#);
    assert_eq!((arrived(&out, Peer::Agent), settled(&out)), (vec![], None));
    assert_eq!(stage.bridge.open_questions(), 1);
}

#[test]
fn beginning_of_a_line_is_no_response_before_it_says_so() {
    // A method may follow: a client counts its own requests from 0 as well.
    let mut stage = asked("1");
    let begun = stage.long_line(Peer::Client, br#"{"id":1,"params":{"sessionId":"s","#);
    assert_eq!(settled(&begun), None);
}

#[test]
fn long_response_is_on_its_way_until_its_end_has_left() {
    let mut stage = asked("1");
    let response = crate::support::stage::long_line(br#"{"id":1,"result":{"status":"#);
    let (beginning, end) = response.split_at(response.len() - 1);
    assert!(settled(&stage.receive(Peer::Client, beginning)).is_some());
    let state = |stage: &mut Stage| {
        stage.bridge.take_changes().and_then(|changes| Some(changes.questions.first()?.state))
    };
    assert_eq!(state(&mut stage), Some(askbridge_core::desk::State::Delivering));
    drop(stage.receive(Peer::Client, end));
    assert_eq!(state(&mut stage), Some(askbridge_core::desk::State::Settled));
}

#[test]
fn invalid_json_is_not_a_response() {
    let mut stage = asked("1");
    let broken = r#"{"id":1,"result":{"#;
    let out = stage.line(Peer::Client, broken);
    assert_eq!((lines(&out, Peer::Agent), settled(&out)), (vec![broken.to_owned()], None));
    assert!(settled(&stage.line(Peer::Client, r#"{"id":1,"result":{"values":["a"]}}"#)).is_some());
}

#[test]
fn long_request_may_have_taken_any_id_that_is_settled() {
    let mut stage = asked("1");
    let answer = r#"{"id":1,"result":{"status":"rejected"}}"#;
    assert!(settled(&stage.line(Peer::Client, answer)).is_some());
    assert_eq!(arrived(&stage.line(Peer::Client, answer), Peer::Agent), b"", "one too many");
    drop(stage.long_line(Peer::Agent, br#"{"method":"fs/write_text_file","params":{"content":"and so on"#));
    assert_eq!(lines(&stage.line(Peer::Client, answer), Peer::Agent), [answer]);
}

#[test]
fn question_with_an_id_that_is_still_awaited_is_shown_under_another() {
    let mut stage = asked("1");
    drop(stage.line(Peer::Agent, r#"{"method":"$/cancel_request","params":{"requestId":1}}"#));
    drop(stage.pass(askbridge::limits::WITHDRAW));
    let again = format!(r#"{{"id":1,"method":"{METHOD}","params":{{"prompt":"Again?"}}}}"#);
    let shown = lines(&stage.line(Peer::Agent, &again), Peer::Client);
    assert_eq!(shown, [again.replace("\"id\":1", "\"id\":\"askbridge-3\"")], "in the agent's own words");
    let late = r#"{"id":1,"result":{"status":"answered","answers":[["no"]]}}"#;
    assert_eq!(arrived(&stage.line(Peer::Client, late), Peer::Agent), b"", "it is to the first question");
    let answer = r#"{"id":"askbridge-3","result":{"status":"answered","answers":[["yes"]]}}"#;
    let out = stage.line(Peer::Client, answer);
    assert_eq!(lines(&out, Peer::Agent), [answer.replace("\"askbridge-3\"", "1")]);
    assert!(matches!(settled(&out), Some(Outcome::Answered(_))));
}

#[test]
fn question_opens_elsewhere_where_the_client_is_not_asked() {
    let mut seen = Vec::new();
    for tier in [Tier::Extension, Tier::Elicitation, Tier::Permission, Tier::None] {
        for params in [r#"{"prompt":"?","sessionId":"s"}"#, r#"{"prompt":"?"}"#] {
            let mut stage = Stage::new(Bridge::new(Config { tier: Some(tier), ..Config::default() }));
            let line = format!(r#"{{"id":1,"method":"{METHOD}","params":{params}}}"#);
            let out = stage.line(Peer::Agent, &line);
            let opened = out.iter().find_map(|out| match out {
                Out::Told(Output::Notice(Notice::Opened(record))) => Some(record.elsewhere),
                _ => None,
            });
            let is_unseen =
                |out: &Out| matches!(out, Out::Told(Output::Unanswered(_, UnansweredReason::NoWay)));
            assert_eq!(opened, Some(out.iter().any(is_unseen)), "{tier:?} {params}");
            seen.extend(opened);
        }
    }
    assert_eq!(seen, [false, false, false, true, false, true, true, true]);
}

#[test]
fn response_to_two_requests_does_not_answer_the_settled_one() {
    let permission = |id: u8| {
        format!(
            r#"{{"id":{id},"method":"session/request_permission","params":{{"sessionId":"s","toolCall":{{"toolCallId":"t"}},"options":[{{"optionId":"a","name":"A","kind":"allow_once"}}]}}}}"#
        )
    };
    let mut stage = Stage::new(Bridge::new(Config::default()));
    for id in [1, 2] {
        drop(stage.line(Peer::Agent, &permission(id)));
    }
    let by = Provenance { responder: Responder::CommandLine, name: None };
    let submission = Submission::Reject(None);
    let submitted = TicketedSubmission { ticket: Ticket(1), number: 2, submission, by };
    assert_eq!(lines(&stage.handle(Event::Submitted(submitted)), Peer::Agent).len(), 1);
    let both = r#"{"id":1,"result":{"outcome":{"outcome":"selected","optionId":"a"}},"id":2}"#;
    assert_eq!(lines(&stage.line(Peer::Client, both), Peer::Agent), [""; 0]);
    assert_eq!(stage.bridge.open_questions(), 1);
}

#[test]
fn response_to_an_agent_that_reads_no_more_is_undeliverable() {
    let mut stage = asked("1");
    stage.agent_reads = false;
    drop(stage.line(Peer::Client, r#"{"id":1,"result":{"status":"rejected"}}"#));
    drop(stage.break_off(Peer::Agent));
    let changes = stage.bridge.take_changes().expect("it is settled");
    let outcomes: Vec<_> =
        changes.questions.iter().map(|it| it.settlement.as_ref().map(|it| it.outcome.clone())).collect();
    assert_eq!(outcomes, [Some(Outcome::Rejected(Reason::AgentGone))]);
}
