//! Conversations in `fixtures/transcripts` and the folders in it, played on the core alone with a virtual clock.
//!
//! What comes in: `client> LINE` and `agent> LINE`, `client>| TEXT` for a last line without terminator,
//! `event> EVENT`, `+2s` for time that passes, `config> timeout=10s` before anything else, with `protocol=claude`,
//! `protocol=codex` or `protocol=mcp` where the peers do not speak ACP; from another responder
//! `other> answer NUMBER ANSWER` (`NUMBER@EDITION` where the responder saw another edition than the first), `other> reject NUMBER [WHY]` and `other> extend NUMBER 10s`.
//! What comes out stands behind what led to it: `client< LINE` and `agent< LINE`, `other< VERDICT`, and what is done
//! with `agent!`, `client!`, `bridge!` and `question!`. `UPDATE=1 cargo test --test suites transcripts::` writes what comes out.
use crate::support::{files, golden};

use std::{fmt::Write, fs};

use crate::support::stage::{Out, Stage};
use askbridge_core::{
    acp::{Bridge, Config, Tier},
    desk::{Notice, Record, Refusal, Submission, Ticket, TicketedSubmission},
    engine::{self, Event, Output, Peer, Protocol, UnansweredReason},
    hosted::{ClaudeBridge, CodexBridge},
    mcp,
    question::{Outcome, Provenance, Question, Responder, Risk},
};

struct Play<P: Protocol> {
    stage: Stage<P>,
    transcript: String,
}

impl<P: Protocol> Play<P> {
    fn new(bridge: engine::Bridge<P>) -> Self {
        Play { stage: Stage::new(bridge), transcript: String::new() }
    }

    fn play(&mut self, line: &str) {
        self.note(line);
        if let Some(time) = line.strip_prefix('+') {
            let out = self.stage.pass(time.parse::<humantime::Duration>().expect("a duration").into());
            return self.show(out);
        }
        let Some((prefix, text)) = line.split_once("> ").or_else(|| line.split_once(">| ")) else {
            panic!("not a line of a transcript: {line}");
        };
        let out = match (prefix, line.contains(">| ")) {
            ("client", false) => self.stage.line(Peer::Client, text),
            ("agent", false) => self.stage.line(Peer::Agent, text),
            ("client", true) => self.stage.receive(Peer::Client, text.as_bytes()),
            ("agent", true) => self.stage.receive(Peer::Agent, text.as_bytes()),
            ("event", false) => happen(&mut self.stage, text),
            ("other", false) => self.stage.handle(Event::Submitted(submitted(text))),
            _ => panic!("not a line of a transcript: {line}"),
        };
        self.show(out);
    }

    fn show(&mut self, out: Vec<Out>) {
        for out in out {
            match out {
                Out::Bytes(at, bytes) => self.arrive(at, &bytes),
                Out::Told(Output::Notice(notice)) => self.notice(&notice),
                Out::Told(output) => self.output(&output),
            }
        }
    }

    fn output(&mut self, output: &Output) {
        match output {
            Output::EndAgentInput => self.note("agent! its stdin is closed"),
            Output::Terminate => self.note("agent! SIGTERM"),
            Output::Kill => self.note("agent! SIGKILL"),
            Output::EndClientOutput => self.note("client! our stdout is closed"),
            Output::Finish => self.note("bridge! ends when the client has read all"),
            Output::Abandon => self.note("bridge! ends at once"),
            Output::Unanswered(record, why) => {
                self.note(&format!("question! {} stays open: {}", record.question.id, unanswered(why)));
            }
            output => panic!("{output:?} between an agent and a client"),
        }
    }

    /// Notes what a question has beside its texts.
    fn beside(&mut self, record: &Record) {
        let Question { id, images, unshown, .. } = &*record.question;
        for image in images {
            let data = image.data.get().map_or(0, |data| data.len());
            let image = serde_json::to_string(image).expect("JSON");
            self.note(&format!("question! {id} has an image of {data} bytes: {image}"));
        }
        for sentence in unshown {
            self.note(&format!("question! {id} lacks: {sentence}"));
        }
    }

    fn opened(&mut self, record: &Record) {
        let session = record.question.session.as_deref().unwrap_or("no session");
        let of = |name, value: &Option<_>| value.as_ref().map(|value| format!("{name}{value}"));
        let project = of(" of ", &record.question.project).unwrap_or_default();
        let agent = of(", asked by ", &record.question.agent).unwrap_or_default();
        self.note(&format!("question! {} opens in {session}{project}{agent}", record.question.id));
        if let Some(subject) = &record.question.subject {
            let subject = serde_json::to_string(subject).expect("JSON");
            let risk = match record.question.risk() {
                Risk::Plain => String::new(),
                risk => format!("{risk} "),
            };
            self.note(&format!("question! {} is about {risk}{subject}", record.question.id));
        }
        self.beside(record);
        if let Some(context) = &record.context {
            let context = serde_json::to_string(context).expect("JSON");
            self.note(&format!("question! {} comes after {context}", record.question.id));
        }
    }

    fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::Opened(record) => self.opened(record),
            Notice::Changed(record) => {
                let subject = serde_json::to_string(&record.question.subject).expect("JSON");
                let (id, edition, risk) = (&record.question.id, record.edition, record.question.risk());
                let heading = record.question.heading();
                self.note(&format!(
                    "question! {id} changes, edition {edition}: {risk} {heading:?} {subject}"
                ));
                self.beside(record);
            }
            Notice::TurnOver(record) => {
                self.note(&format!("question! {} is open, and its turn is over", record.question.id));
            }
            Notice::Warned(record) => {
                self.note(&format!("question! {} has a fifth of its time left", record.question.id));
            }
            Notice::Extended(record, deadline) => {
                self.note(&format!("question! {} ends at {deadline:?}", record.question.id));
            }
            Notice::Decided { record, settlement, after } => {
                let outcome = match &settlement.outcome {
                    Outcome::Answered(answer) if answer.notes.is_empty() => {
                        format!("answered {:?}", answer.values)
                    }
                    Outcome::Answered(answer) => {
                        format!("answered {:?}, remarked {:?}", answer.values, answer.notes)
                    }
                    Outcome::Rejected(reason) => format!("rejected, {}", reason.name()),
                    other => other.status().to_owned(),
                };
                let (id, by) = (&record.question.id, settlement.by.responder);
                let reaction = settlement.reaction_ms.map(|time| format!(" itself within {time}ms"));
                let reaction = reaction.unwrap_or_default();
                self.note(&format!("question! {id} settles after {after:?} by {by:?}{reaction}: {outcome}"));
                if let Some(remark) = &settlement.remark {
                    self.note(&format!("question! {id} was rejected because of {remark:?}"));
                }
            }
            Notice::Verdict(_, Ok(())) => self.note("other< accepted"),
            Notice::Verdict(_, Err(refused)) => self.note(&format!("other< {}", refusal(refused))),
        }
    }

    fn arrive(&mut self, at: Peer, bytes: &[u8]) {
        let at = if at == Peer::Client { "client" } else { "agent" };
        for line in String::from_utf8_lossy(bytes).split_inclusive('\n') {
            let mark = if line.ends_with('\n') { "<" } else { "<|" };
            self.note(&format!("{at}{mark} {}", line.trim_end_matches('\n')));
        }
    }

    fn note(&mut self, line: &str) {
        writeln!(self.transcript, "{line}").expect("a string takes all");
    }
}

fn happen<P: Protocol>(stage: &mut Stage<P>, text: &str) -> Vec<Out> {
    match text {
        "the client's output ends" => stage.end(Peer::Client),
        "the client reads no more" => stage.break_off(Peer::Client),
        "the agent's output ends" => stage.end(Peer::Agent),
        "the agent exits" => stage.handle(Event::AgentExited { group: false }),
        "the agent exits, its children do not" => stage.handle(Event::AgentExited { group: true }),
        "the agent's children end" => stage.handle(Event::GroupEnded),
        "a signal" => stage.handle(Event::Signal),
        _ => panic!("not an event: {text}"),
    }
}

fn submitted(text: &str) -> TicketedSubmission {
    let mut words = text.splitn(3, ' ');
    let (verb, number, rest) = (words.next(), words.next(), words.next());
    let (number, seen) = match number.map(|number| number.split_once('@').unwrap_or((number, ""))) {
        Some((number, seen)) => (Some(number), seen.parse::<u32>().ok()),
        None => (None, None),
    };
    let submission = match (verb, rest) {
        (Some("answer"), Some(answer)) => {
            Submission::answer(serde_json::from_str(answer).expect("an answer"), seen)
        }
        (Some("reject"), remark) => Submission::Reject(remark.map(str::to_owned)),
        (Some("extend"), Some(time)) => {
            Submission::Extend(time.parse::<humantime::Duration>().expect("a duration").into())
        }
        _ => panic!("not a submission: {text}"),
    };
    let number = number.and_then(|number| number.parse().ok()).expect("the number of a question");
    let by = Provenance { responder: Responder::CommandLine, name: None };
    TicketedSubmission { ticket: Ticket(1), number, submission, by }
}

fn refusal(refused: &Refusal) -> String {
    match refused {
        Refusal::NotFound | Refusal::Conflict(_) | Refusal::Gone(_) | Refusal::Unavailable => {
            "refused: it is not open".to_owned()
        }
        Refusal::DoesNotFit(errors) => {
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            format!("refused: it does not fit, {}", errors.join("; "))
        }
        Refusal::Changed(record) => format!("refused: it has changed, edition {}", record.edition),
        Refusal::NoDeadline => "refused: it has no deadline".to_owned(),
        refused => panic!("{refused:?} is not for a submission"),
    }
}

fn unanswered(why: &UnansweredReason) -> String {
    match why {
        UnansweredReason::Elsewhere(answer) => format!("to be answered elsewhere, kept {:?}", answer.values),
        UnansweredReason::DoesNotFit(errors) => {
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            format!("the answer does not fit, {}", errors.join("; "))
        }
        UnansweredReason::NotUnderstood => "the answer is not understood".to_owned(),
        UnansweredReason::Refused(code) => format!("refused with {code}"),
        UnansweredReason::ByItself(reaction) => format!("refused after {reaction:?}, which no person does"),
        UnansweredReason::NoWay => "the client cannot be asked".to_owned(),
        UnansweredReason::Silent => "the client is silent".to_owned(),
    }
}

fn config(options: &str) -> Config {
    let mut config = Config::default();
    for option in options.split_whitespace() {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let duration = || value.parse::<humantime::Duration>().expect("a duration").into();
        match name {
            "timeout" => config.common.timeout = Some(duration()),
            "grace" => config.common.grace = duration(),
            "name" => config.common.name = Some(value.parse().expect("the name of a bridge")),
            "client-permissions" => config.common.permissions = false,
            "no-promise" => config.advertise = false,
            "no-chat-hint" => config.chat_hint = false,
            "client-questions" => config.tier = Some(tier(value)),
            // Which bridge it is for, and the options of a bridge for MCP.
            "protocol" | "elicitation" | "session" | "server" | "ask" => {}
            _ => panic!("not an option: {name}"),
        }
    }
    config
}

fn mcp_config(options: &str, common: engine::Config) -> mcp::Config {
    let mut config = mcp::Config { common, ..mcp::Config::default() };
    for (name, value) in options.split_whitespace().filter_map(|option| option.split_once('=')) {
        match (name, value) {
            ("elicitation", "inbox") => config.elicitation = mcp::Elicitation::Inbox,
            ("elicitation", "host") => config.elicitation = mcp::Elicitation::Host,
            ("session", "any") => config.session = mcp::Session::Any,
            ("server", name) => config.server = Some(name.to_owned()),
            ("ask", tool) => config.gated.push(mcp::ToolName::new(tool)),
            _ => {}
        }
    }
    config
}

fn tier(name: &str) -> Tier {
    match name {
        "native" => Tier::Extension,
        "elicitation" => Tier::Elicitation,
        "permission" => Tier::Permission,
        "none" => Tier::None,
        _ => panic!("not a tier: {name}"),
    }
}

/// Plays a transcript and returns it with what really comes out.
fn played(text: &str) -> String {
    let options = text.lines().find_map(|line| line.strip_prefix("config> "));
    let options = options.unwrap_or_default();
    let config = config(options);
    match options.split_whitespace().find_map(|option| option.strip_prefix("protocol=")) {
        None => played_by(Bridge::new(config), text),
        Some("claude") => played_by(ClaudeBridge::new(config.common), text),
        Some("mcp") => played_by(mcp::Bridge::new(mcp_config(options, config.common)), text),
        Some("codex") => played_by(CodexBridge::new(config.common), text),
        Some(other) => panic!("not a protocol: {other}"),
    }
}

fn played_by<P: Protocol>(bridge: engine::Bridge<P>, text: &str) -> String {
    let mut play = Play::new(bridge);
    for line in text.lines() {
        let comes_out = ["client<", "agent<", "other<", "client!", "agent!", "bridge!", "question!"];
        if comes_out.iter().any(|prefix| line.starts_with(prefix)) {
            continue;
        }
        if line.is_empty() || line.starts_with('#') || line.starts_with("config> ") {
            play.note(line);
        } else {
            play.play(line);
        }
    }
    play.transcript
}

#[test]
fn every_transcript_comes_out_as_it_is_written() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in files::below("transcripts") {
        let written = fs::read_to_string(&path).expect("a readable transcript");
        let played = played(&written);
        count += 1;
        wrong.extend(golden::difference(&path, &played));
    }
    assert!(count > 30, "only {count} transcripts");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
