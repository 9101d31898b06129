//! Conversations in `fixtures/transcripts` and the folders in it, played on the engine alone with a virtual clock.
//!
//! What comes in: `client> LINE` and `agent> LINE`, `client>| TEXT` for a last line without terminator,
//! `event> EVENT`, `+2s` for time that passes, `config> timeout=10s` before anything else; from another responder
//! `other> answer NUMBER ANSWER`, `other> reject NUMBER [WHY]` and `other> extend NUMBER 10s`.
//! What comes out stands behind what led to it: `client< LINE` and `agent< LINE`, `other< VERDICT`, and what is done
//! with `agent!`, `client!`, `bridge!` and `question!`. `UPDATE=1 cargo test --test transcripts` writes what comes out.

#![expect(clippy::expect_used, reason = "what does not hold ends the test, and says what it was")]

#[path = "support/files.rs"]
mod files;

use std::{fmt::Write, fs, time::Duration};

use askbridge::{
    acp::{
        Action, Bridge, Config, Event, Line, Peer, Refused, Submission, Submitted, Ticket, Tier, Unanswered,
    },
    question::{Outcome, Provenance, Responder},
    wire::frame::{Piece, Splitter},
};
use bytes::Bytes;

struct Stage {
    bridge: Bridge,
    splitters: [Splitter; 2],
    now: Duration,
    transcript: String,
}

impl Stage {
    fn new(config: Config) -> Self {
        let splitters = [Splitter::default(), Splitter::default()];
        Stage { bridge: Bridge::new(config), splitters, now: Duration::ZERO, transcript: String::new() }
    }

    fn play(&mut self, line: &str) {
        self.note(line);
        if let Some(time) = line.strip_prefix('+') {
            return self.pass(time.parse::<humantime::Duration>().expect("a duration").into());
        }
        let Some((prefix, text)) = line.split_once("> ").or_else(|| line.split_once(">| ")) else {
            panic!("not a line of a transcript: {line}");
        };
        match (prefix, line.contains(">| ")) {
            ("client", false) => self.read(Peer::Client, &format!("{text}\n")),
            ("agent", false) => self.read(Peer::Agent, &format!("{text}\n")),
            ("client", true) => self.read_last(Peer::Client, text),
            ("agent", true) => self.read_last(Peer::Agent, text),
            ("event", false) => self.happen(event(text)),
            ("other", false) => self.happen(Event::Submitted(submitted(text))),
            _ => panic!("not a line of a transcript: {line}"),
        }
    }

    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(deadline) = self.bridge.next_deadline().filter(|deadline| *deadline <= until) {
            self.now = self.now.max(deadline);
            self.happen(Event::Tick);
        }
        self.now = until;
    }

    fn read(&mut self, from: Peer, bytes: &str) {
        self.splitters[from as usize].space().extend_from_slice(bytes.as_bytes());
        while let Some(piece) = self.splitters[from as usize].next(|line| self.bridge.judge(from, line)) {
            self.take(from, piece);
        }
    }

    fn read_last(&mut self, from: Peer, text: &str) {
        self.read(from, text);
        if let Some(piece) = self.splitters[from as usize].end(|line| self.bridge.judge(from, line)) {
            self.take(from, piece);
        }
    }

    fn take(&mut self, from: Peer, piece: Piece) {
        match piece {
            Piece::Run(bytes) => self.arrive(other(from), &bytes),
            Piece::Line(bytes) | Piece::Head(bytes) => {
                let line = Line { bytes: bytes.clone(), whole: true };
                let actions = self.bridge.handle(Event::Line(from, line), self.now);
                self.perform(actions, Some((other(from), bytes)));
            }
        }
    }

    fn happen(&mut self, event: Event) {
        let actions = self.bridge.handle(event, self.now);
        self.perform(actions, None);
    }

    fn perform(&mut self, actions: Vec<Action>, line: Option<(Peer, Bytes)>) {
        for action in actions {
            match action {
                Action::Forward => {
                    let (to, bytes) = line.clone().expect("only a line can be forwarded");
                    self.arrive(to, &bytes);
                }
                Action::Send(to, bytes) => self.arrive(to, &bytes),
                Action::EndAgentInput => self.note("agent! its stdin is closed"),
                Action::Terminate => self.note("agent! SIGTERM"),
                Action::Kill => self.note("agent! SIGKILL"),
                Action::EndClientOutput => self.note("client! our stdout is closed"),
                Action::Finish => self.note("bridge! ends when the client has read all"),
                Action::Abandon => self.note("bridge! ends at once"),
                Action::Opened(opened) => {
                    let session = opened.question.session.as_deref().unwrap_or("no session");
                    self.note(&format!("question! {} opens in {session}", opened.question.id));
                }
                Action::Unanswered(opened, why) => {
                    self.note(&format!("question! {} stays open: {}", opened.question.id, unanswered(&why)));
                }
                Action::Warned(question) => {
                    let id = &question.question.id;
                    self.note(&format!("question! {id} has a fifth of its time left"));
                }
                Action::Extended(question, deadline) => {
                    self.note(&format!("question! {} ends at {deadline:?}", question.question.id));
                }
                Action::Judged(_, Ok(())) => self.note("other< accepted"),
                Action::Judged(_, Err(refused)) => self.note(&format!("other< {}", refusal(&refused))),
                Action::Settled(settled) => {
                    let outcome = match &settled.outcome {
                        Outcome::Answered(answer) if answer.notes.is_empty() => {
                            format!("answered {:?}", answer.values)
                        }
                        Outcome::Answered(answer) => {
                            format!("answered {:?}, remarked {:?}", answer.values, answer.notes)
                        }
                        Outcome::Rejected(reason) => format!("rejected, {}", reason.name()),
                        other => other.status().to_owned(),
                    };
                    let (id, by, after) = (&settled.question.id, settled.by.responder, settled.after);
                    self.note(&format!("question! {id} settles after {after:?} by {by:?}: {outcome}"));
                    if let Some(remark) = &settled.remark {
                        self.note(&format!("question! {id} was rejected because of {remark:?}"));
                    }
                }
            }
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

fn other(peer: Peer) -> Peer {
    if peer == Peer::Client { Peer::Agent } else { Peer::Client }
}

fn event(text: &str) -> Event {
    match text {
        "the client's output ends" => Event::ClientEnded,
        "the client reads no more" => Event::ClientBroke,
        "the agent's output ends" => Event::AgentOutputEnded,
        "the agent exits" => Event::AgentExited { group: false },
        "the agent exits, its children do not" => Event::AgentExited { group: true },
        "the agent's children end" => Event::GroupEnded,
        "a signal" => Event::Signal,
        _ => panic!("not an event: {text}"),
    }
}

fn submitted(text: &str) -> Submitted {
    let mut words = text.splitn(3, ' ');
    let (verb, number, rest) = (words.next(), words.next(), words.next());
    let submission = match (verb, rest) {
        (Some("answer"), Some(answer)) => {
            Submission::Answer(serde_json::from_str(answer).expect("an answer"))
        }
        (Some("reject"), remark) => Submission::Reject(remark.map(str::to_owned)),
        (Some("extend"), Some(time)) => {
            Submission::Extend(time.parse::<humantime::Duration>().expect("a duration").into())
        }
        _ => panic!("not a submission: {text}"),
    };
    let number = number.and_then(|number| number.parse().ok()).expect("the number of a question");
    let by = Provenance { responder: Responder::CommandLine, name: None };
    Submitted { ticket: Ticket(1), number, submission, by }
}

fn refusal(refused: &Refused) -> String {
    match refused {
        Refused::NotOpen => "refused: it is not open".to_owned(),
        Refused::DoesNotFit(errors) => {
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            format!("refused: it does not fit, {}", errors.join("; "))
        }
        Refused::NoDeadline => "refused: it has no deadline".to_owned(),
    }
}

fn unanswered(why: &Unanswered) -> String {
    match why {
        Unanswered::Elsewhere(answer) => format!("to be answered elsewhere, kept {:?}", answer.values),
        Unanswered::DoesNotFit(errors) => {
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            format!("the answer does not fit, {}", errors.join("; "))
        }
        Unanswered::NotUnderstood => "the answer is not understood".to_owned(),
        Unanswered::Refused(code) => format!("refused with {code}"),
        Unanswered::NoWay => "the client cannot be asked".to_owned(),
    }
}

fn config(options: &str) -> Config {
    let mut config = Config::default();
    for option in options.split_whitespace() {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let duration = || value.parse::<humantime::Duration>().expect("a duration").into();
        match name {
            "timeout" => config.timeout = Some(duration()),
            "grace" => config.grace = duration(),
            "name" => config.name = Some(value.to_owned()),
            "no-promise" => config.promise = false,
            "client-questions" => config.tier = Some(tier(value)),
            _ => panic!("not an option: {name}"),
        }
    }
    config
}

fn tier(name: &str) -> Tier {
    match name {
        "native" => Tier::Native,
        "elicitation" => Tier::Elicitation,
        "permission" => Tier::Permission,
        "none" => Tier::None,
        _ => panic!("not a tier: {name}"),
    }
}

/// Plays a transcript and returns it with what really comes out.
fn played(text: &str) -> String {
    let options = text.lines().find_map(|line| line.strip_prefix("config> "));
    let mut stage = Stage::new(config(options.unwrap_or_default()));
    for line in text.lines() {
        let comes_out = ["client<", "agent<", "other<", "client!", "agent!", "bridge!", "question!"];
        if comes_out.iter().any(|prefix| line.starts_with(prefix)) {
            continue;
        }
        if line.is_empty() || line.starts_with('#') || line.starts_with("config> ") {
            stage.note(line);
        } else {
            stage.play(line);
        }
    }
    stage.transcript
}

#[test]
fn every_transcript_comes_out_as_it_is_written() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for path in files::below("transcripts") {
        let written = fs::read_to_string(&path).expect("a readable transcript");
        let played = played(&written);
        count += 1;
        if played != written {
            if std::env::var_os("UPDATE").is_some() {
                fs::write(&path, &played).expect("a writable transcript");
            }
            wrong.push(format!("{}:\n{}", path.display(), difference(&written, &played)));
        }
    }
    assert!(count > 30, "only {count} transcripts");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn difference(written: &str, played: &str) -> String {
    let place = written.lines().zip(played.lines()).take_while(|(one, other)| one == other).count();
    let from = |text: &str| text.lines().skip(place).take(5).collect::<Vec<_>>().join("\n  ");
    format!("line {}, written:\n  {}\nplayed:\n  {}", place + 1, from(written), from(played))
}
