//! Carries out what the bridge decides: process commands, changes for the inbox, and lines for the log or stderr. It
//! decides nothing. The text of questions and answers stays out of the log, except at the level `trace`.

use std::{
    task::{Context, Poll},
    time::{Duration, Instant},
};

use askbridge_control::inbox::{PeerStatus, Peers, Port};
use askbridge_core::{
    desk::{Notice, Record, Settlement, TicketedSubmission},
    engine::{Bridge, Introduction, Introductions, Output, Peer, Protocol, UnansweredReason},
    question::{Outcome, Purpose},
};
use askbridge_os::{log, terminal::printable_bytes};
use bytes::Bytes;
use tokio::sync::mpsc;

use super::agent::Agent;

/// Receives changes of the timeout: how long a question may stay open, and when that was set. One change may wait.
pub type Timeouts = mpsc::Receiver<(Option<Duration>, Instant)>;

/// How far the bridge is on its way to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    Running,
    /// It ends as soon as the client's outbox is idle.
    Finishing,
    /// It ends at once.
    Abandoned,
}

/// The side effects of a bridge.
pub(super) struct Shell {
    pub port: Port,
    /// The agent's process, once it was started. Under a conductor there is no process.
    pub agent: Option<Agent>,
    /// Receives each new timeout from the settings.
    pub timeouts: Option<Timeouts>,
    /// Whether responders other than the client find the questions.
    pub has_inbox: bool,
    pub course: Course,
    /// Whether the agent was asked to end.
    pub agent_is_ending: bool,
    /// Whether the peer turned out to be a client instead of a conductor.
    pub lacks_conductor: bool,
}

impl Shell {
    /// Returns a shell without an agent.
    pub(super) fn new(port: Port, has_inbox: bool, timeouts: Option<Timeouts>) -> Self {
        Shell {
            port,
            agent: None,
            timeouts,
            has_inbox,
            course: Course::Running,
            agent_is_ending: false,
            lacks_conductor: false,
        }
    }

    /// Carries out all outputs of the bridge, in their order.
    pub(super) fn carry_out<P: Protocol>(&mut self, bridge: &mut Bridge<P>) {
        while let Some(output) = bridge.poll() {
            self.perform(output);
        }
    }

    /// Hands over the changes to the inbox, if the inbox has taken the hand-over before.
    pub(super) fn hand_over<P: Protocol>(&mut self, cx: &mut Context<'_>, bridge: &mut Bridge<P>) {
        self.port.introduce(cx, bridge.take_introductions().map(peers));
        let has_changes = bridge.has_changes();
        match self.port.poll_hand_over(cx, has_changes, || bridge.take_changes()) {
            // The inbox wakes the loop once it has room.
            Poll::Ready(()) | Poll::Pending => {}
        }
    }

    /// Hands over the last changes once the bridge has ended, even if the inbox has not taken the hand-over before.
    pub(super) fn finish<P: Protocol>(&mut self, bridge: &mut Bridge<P>) {
        self.port.finish(bridge.take_changes());
    }

    fn perform(&mut self, output: Output) {
        match output {
            // The line is in the outbox already, and the loop writes it.
            Output::Queued(..) | Output::EndClientOutput => {}
            Output::Intercepted(from, line) => log_intercepted(from, &line),
            Output::EndAgentInput => self.agent_is_ending = true,
            Output::Terminate => self.agent.iter_mut().for_each(Agent::terminate),
            Output::Kill => self.agent.iter_mut().for_each(Agent::kill),
            Output::Unanswered(record, why) => log_unanswered(&record, &why, self.has_inbox),
            Output::Notice(notice) => self.notice(notice),
            Output::Waits(id) => self.port.waits(id),
            Output::Begins(id) => self.port.begins(id),
            Output::Refused(why) => tracing::warn!(why, "a line of the conductor was not forwarded"),
            Output::NoConductor => self.lacks_conductor = true,
            Output::Finish if self.course == Course::Running => self.course = Course::Finishing,
            // A bridge that was abandoned stays so.
            Output::Finish => {}
            Output::Abandon => self.course = Course::Abandoned,
        }
    }

    fn notice(&mut self, notice: Notice) {
        log_notice(&notice, self.has_inbox);
        match notice {
            Notice::Opened(_) => self.port.opened(),
            Notice::Verdict(ticket, verdict) => self.port.verdict(ticket, verdict),
            _ => {}
        }
    }
}

/// Returns the introductions of the peers, in the form that responders receive.
fn peers(introduced: Introductions) -> Peers {
    let peer = |said: Introduction| PeerStatus {
        name: said.name,
        protocol: said.protocol,
        promises: said.promises.into_iter().map(str::to_owned).collect(),
    };
    Peers { client: introduced.client.map(peer), agent: introduced.agent.map(peer) }
}

/// Logs a line that was intercepted.
pub(super) fn log_intercepted(from: Peer, line: &Bytes) {
    tracing::debug!(?from, bytes = line.len(), "intercepted");
    tracing::trace!(?from, line = %printable_bytes(line.trim_ascii_end()), "intercepted");
}

/// Reports what happened to a question. `has_inbox` says whether responders other than the client find it.
pub(super) fn log_notice(notice: &Notice, has_inbox: bool) {
    match notice {
        Notice::Opened(record) => opened(record),
        Notice::Changed(record) => changed(record),
        Notice::Warned(record) => warned(record, has_inbox),
        Notice::Decided { record, settlement, after } => settled(record, settlement, *after),
        _ => {}
    }
}

fn opened(record: &Record) {
    let question = &record.question;
    let (origin, fields) = (question.origin.name(), question.fields.len());
    tracing::info!(session = question.session, question = question.id, origin, fields, "question opened");
}

fn changed(record: &Record) {
    let (session, question, edition) = (&record.question.session, &record.question.id, record.edition);
    tracing::info!(session, question, edition, "question changed while it was open");
}

fn warned(record: &Record, has_inbox: bool) {
    let why = "will soon be rejected, because four fifths of its time are over";
    let what = what(record);
    match id(record, has_inbox) {
        Some(id) => log::notice(&format!("{what} {id} {why}: askbridge extend {id} 10m")),
        None => log::notice(&format!("a {what} {why}")),
    }
}

fn settled(record: &Record, settlement: &Settlement, after: Duration) {
    let outcome = match &settlement.outcome {
        Outcome::Answered(_) => "answered",
        Outcome::Rejected(reason) => reason.name(),
        other => other.status(),
    };
    let (session, question) = (&record.question.session, &record.question.id);
    tracing::info!(session, question, outcome, by = ?settlement.by.responder, ?after, "question settled");
}

/// Reports that the client did not answer a question.
pub(super) fn log_unanswered(record: &Record, why: &UnansweredReason, has_inbox: bool) {
    not_by_client(record, why);
    match why {
        UnansweredReason::NoWay | UnansweredReason::Elsewhere(_) => waits(record, has_inbox),
        // Without an inbox, only the client can answer the question, and no command would help the user.
        UnansweredReason::Silent if has_inbox => waits(record, true),
        _ => {}
    }
}

fn not_by_client(record: &Record, why: &UnansweredReason) {
    let (session, question) = (&record.question.session, &record.question.id);
    match why {
        UnansweredReason::Elsewhere(answer) => {
            let answered = answer.values.len();
            tracing::info!(session, question, answered, "to be answered elsewhere");
        }
        UnansweredReason::NoWay => {
            tracing::info!(session, question, "the client cannot show the question: it stays open");
        }
        UnansweredReason::Silent => {
            tracing::info!(
                session,
                question,
                "the client has not responded to the question yet: it stays open"
            );
        }
        UnansweredReason::Refused(code) => {
            tracing::info!(session, question, code, "the client refused the question");
        }
        UnansweredReason::ByItself(reaction) => {
            tracing::info!(session, question, ?reaction, "the client refused by itself");
        }
        UnansweredReason::NotUnderstood => {
            tracing::warn!(session, question, "the client's answer was not understood");
        }
        UnansweredReason::DoesNotFit(errors) => {
            let fields: Vec<_> = errors.iter().map(|error| &*error.field).collect();
            tracing::warn!(session, question, ?fields, "the client's answer does not fit the question");
        }
    }
}

/// Tells the user how to answer a question that the client does not show. The notice has no text of the agent.
fn waits(record: &Record, has_inbox: bool) {
    let what = what(record);
    match id(record, has_inbox) {
        Some(id) => {
            log::notice(&format!("{what} {id} waits: askbridge answer {id} shows it and asks you"));
        }
        None => {
            log::notice(&format!("the client cannot show a {what}, and nothing else can answer it: it waits"))
        }
    }
}

fn what(record: &Record) -> &'static str {
    if record.question.purpose == Purpose::Permission { "permission" } else { "question" }
}

/// Reports a submission of another responder. Its content stays out of the log.
pub(super) fn submitted(submitted: &TicketedSubmission) {
    tracing::debug!(question = submitted.number, by = ?submitted.by.responder, "submitted");
}

fn id(record: &Record, has_inbox: bool) -> Option<String> {
    has_inbox.then(|| record.id.to_string())
}
