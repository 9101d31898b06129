//! The requests of an app server that wait for their person, from the request to what became of it.
//!
//! The server says that a request is over (`serverRequest/resolved`), and not by which client's response. Where ours was
//! sent before that came, it counts as ours: another client's can have been first only within the time that a message
//! takes. Where it came before ours was sent, another client was first, or the turn was interrupted.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use serde_json::{Value as Json, value::RawValue};

use super::{
    core::{Effect, Effects},
    message::{self, Item, Place, Resolved, TurnCompleted},
    threads::Threads,
};
use crate::{
    desk::Settlement,
    dialect::{
        Rejection,
        codex::{self, CodexReply, request::FILE_CHANGE},
    },
    limits,
    question::{Answer, Outcome, Provenance, Question, Reason, Responder},
};

/// The name that people know.
pub(super) const NAME: &str = "Codex";

#[derive(Debug)]
struct Request {
    /// The ID, as it stands on this connection.
    id: Json,
    method: String,
    place: Place,
    question: Box<Question>,
    reply: CodexReply,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// It is opened when it is known which files change.
    Preparing { until: Duration },
    Open,
    /// The response was sent. The server has not said yet that the request is over.
    Sent { until: Duration },
    /// It is over, and the server did not say how yet.
    Ended { until: Duration },
    /// The connection is over. What was decided since waits for the next one.
    Lost { until: Duration, decided: Option<Box<RawValue>> },
    /// It is left to Codex' own dialog.
    Left,
}

/// The requests, by the keys of their questions.
#[derive(Debug, Default)]
pub(super) struct Requests {
    last: u64,
    open: BTreeMap<u64, Request>,
    /// The last changes of files: a request to make them names only their item.
    changes: VecDeque<(String, Box<RawValue>)>,
}

/// The person, at a dialog of Codex' own.
fn dialog() -> Provenance {
    Provenance { responder: Responder::Dialog, name: Some(NAME.to_owned()) }
}

/// It was answered there. What the answer was, the server does not say.
fn answered() -> Outcome {
    Outcome::Answered(Answer::default())
}

impl Requests {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes a request of the server. Returns the thread whose changes have to be read first.
    pub(super) fn request(
        &mut self,
        method: &str,
        id: &str,
        params: &str,
        threads: &Threads,
        now: Duration,
        effects: &mut Effects,
    ) -> Option<String> {
        let (Ok(id), Ok(place)) = (serde_json::from_str::<Json>(id), serde_json::from_str::<Place>(params))
        else {
            return None;
        };
        // A thread that is joined again sends its open requests again.
        let is_known = |request: &Request| {
            request.id == id && request.place == place && !matches!(request.stage, Stage::Lost { .. })
        };
        if self.open.values().any(is_known) || self.open.len() >= limits::OPEN {
            return None;
        }
        let fallback_id = format!("codex-{}", place.item_id.as_deref().unwrap_or("request"));
        let (mut question, reply) = codex::read(method, params.as_bytes(), &fallback_id)?;
        question.agent = Some(NAME.into());
        question.project = place.thread_id.as_deref().and_then(|thread| threads.folder(thread));
        let needs_changes = method == FILE_CHANGE && !self.complete(&place, &mut question);
        let method = method.to_owned();
        let mut request =
            Request { id, method, place, question: Box::new(question), reply, stage: Stage::Open };
        let Err(()) = self.rejoin(&mut request, now, effects) else { return None };
        self.last += 1;
        let thread = request.place.thread_id.clone().filter(|_| needs_changes);
        if thread.is_some() {
            request.stage = Stage::Preparing { until: now.saturating_add(limits::ATTACH_CHANGES) };
        } else {
            effects.push_back(Effect::Open(self.last, request.question.clone()));
        }
        self.open.insert(self.last, request);
        thread
    }

    /// Lets the same request of a connection before go on, if there is one.
    fn rejoin(&mut self, request: &mut Request, now: Duration, effects: &mut Effects) -> Result<(), ()> {
        let is_same = |(_, lost): &(&u64, &mut Request)| {
            matches!(lost.stage, Stage::Lost { .. })
                && (&lost.method, &lost.place) == (&request.method, &request.place)
                && lost.question.fields == request.question.fields
        };
        let (_, lost) = self.open.iter_mut().find(is_same).ok_or(())?;
        lost.id = request.id.take();
        lost.reply = request.reply.clone();
        if let Stage::Lost { decided, .. } = std::mem::replace(&mut lost.stage, Stage::Open)
            && let Some(result) = decided
        {
            lost.send(&result, now, effects);
        }
        Ok(())
    }

    /// Adds the changes of files to the question, if their item was seen.
    fn complete(&self, place: &Place, question: &mut Question) -> bool {
        let of_item = |(id, _): &&(String, Box<RawValue>)| Some(id) == place.item_id.as_ref();
        let Some((_, item)) = self.changes.iter().rev().find(of_item) else { return false };
        codex::complete(question, item.get().as_bytes());
        true
    }

    /// Takes note of an item: the changes of files that are about to be asked for, or what became of one.
    pub(super) fn item(&mut self, raw: &RawValue, effects: &mut Effects) {
        let Some(item) = message::read::<Item>(Some(raw)) else { return };
        if item.kind == "fileChange" && raw.get().len() <= limits::CODEX_CHANGE {
            self.changes.retain(|(id, _)| *id != item.id);
            self.changes.push_back((item.id.clone(), raw.to_owned()));
            if self.changes.len() > limits::CODEX_CHANGES {
                self.changes.pop_front();
            }
        }
        if item.status == "declined" {
            let is_of_item =
                |request: &Request| request.place.item_id.as_ref() == Some(&item.id) && request.has_ended();
            self.end_all(is_of_item, &Outcome::Rejected(Reason::User), &dialog(), effects);
        }
    }

    /// Opens what waited for the changes of files in this thread.
    pub(super) fn changes_read(&mut self, thread: &str, effects: &mut Effects) {
        self.open_prepared(|request, _| request.place.thread_id.as_deref() == Some(thread), effects);
    }

    fn open_prepared(&mut self, is_due: impl Fn(&Request, Duration) -> bool, effects: &mut Effects) {
        let mut due = Vec::new();
        for (key, request) in &self.open {
            if let Stage::Preparing { until } = request.stage
                && is_due(request, until)
            {
                due.push(*key);
            }
        }
        for key in due {
            let Some(mut request) = self.open.remove(&key) else { continue };
            self.complete(&request.place, &mut request.question);
            request.stage = Stage::Open;
            effects.push_back(Effect::Open(key, request.question.clone()));
            self.open.insert(key, request);
        }
    }

    /// Gives the server what was decided.
    pub(super) fn decided(
        &mut self,
        key: u64,
        settlement: &Settlement,
        now: Duration,
        effects: &mut Effects,
    ) {
        let Some(request) = self.open.get_mut(&key) else {
            effects.push_back(Effect::Undeliverable(key));
            return;
        };
        let Some(result) = request.result(settlement) else {
            // The time is over here. Codex' own dialog stays.
            request.stage = Stage::Left;
            effects.push_back(Effect::Delivered(key));
            return;
        };
        match &mut request.stage {
            Stage::Open => request.send(&result, now, effects),
            Stage::Lost { until, decided } => {
                *until = now.saturating_add(limits::ATTACH_ANSWER);
                *decided = Some(result);
            }
            // How it ended follows, and tells the responder that it came too late.
            Stage::Ended { .. } => {}
            Stage::Preparing { .. } | Stage::Sent { .. } | Stage::Left => {
                effects.push_back(Effect::Undeliverable(key));
            }
        }
    }

    pub(super) fn leave(&mut self, key: u64) {
        if let Some(request) = self.open.get_mut(&key) {
            request.stage = Stage::Left;
        }
    }

    /// Ends a request: the server has a response to it, or does not wait for one any more.
    pub(super) fn resolved(&mut self, resolved: &Resolved, now: Duration, effects: &mut Effects) {
        let is_meant = |(_, request): &(&u64, &mut Request)| {
            request.id == resolved.request_id
                && (resolved.thread_id.is_none() || resolved.thread_id == request.place.thread_id)
                && !matches!(request.stage, Stage::Lost { .. } | Stage::Ended { .. })
        };
        let Some((&key, request)) = self.open.iter_mut().find(is_meant) else { return };
        match request.stage {
            Stage::Open => {
                request.stage = Stage::Ended { until: now.saturating_add(limits::ATTACH_REASON) };
                return;
            }
            Stage::Sent { .. } => effects.push_back(Effect::Delivered(key)),
            // It was never opened, or is settled already.
            _ => {}
        }
        self.open.remove(&key);
    }

    /// Ends the requests of a turn that is over.
    pub(super) fn turn_completed(&mut self, completed: &TurnCompleted<'_>, effects: &mut Effects) {
        let is_of_turn = |request: &Request| {
            request.place.thread_id.as_ref() == Some(&completed.thread_id)
                && request.place.turn_id.as_ref().is_none_or(|turn| *turn == completed.turn.id)
        };
        let bridge = Provenance::bridge();
        if completed.turn.status == "interrupted" {
            return self.end_all(is_of_turn, &Outcome::Rejected(Reason::Cancelled), &bridge, effects);
        }
        let was_answered = |request: &Request| is_of_turn(request) && request.has_ended();
        self.end_all(was_answered, &answered(), &dialog(), effects);
        // Requests without a turn may outlive it.
        let is_over = |request: &Request| is_of_turn(request) && request.place.turn_id.is_some();
        self.end_all(is_over, &Outcome::Rejected(Reason::Withdrawn), &bridge, effects);
    }

    pub(super) fn thread_closed(&mut self, thread: &str, effects: &mut Effects) {
        let is_of_thread = |request: &Request| request.place.thread_id.as_deref() == Some(thread);
        let closed = Outcome::Rejected(Reason::SessionClosed);
        self.end_all(is_of_thread, &closed, &Provenance::bridge(), effects);
    }

    fn end_all(
        &mut self,
        is_over: impl Fn(&Request) -> bool,
        outcome: &Outcome,
        by: &Provenance,
        effects: &mut Effects,
    ) {
        self.open.retain(|key, request| {
            if !is_over(request) {
                return true;
            }
            if request.is_on_desk() {
                effects.push_back(Effect::End(*key, outcome.clone(), by.clone()));
            }
            false
        });
    }

    pub(super) fn disconnected(&mut self, now: Duration, effects: &mut Effects) {
        self.changes.clear();
        self.open.retain(|key, request| match request.stage {
            Stage::Open => {
                let until = now.saturating_add(limits::ATTACH_REJOIN);
                request.stage = Stage::Lost { until, decided: None };
                true
            }
            Stage::Lost { .. } => true,
            Stage::Sent { .. } => {
                effects.push_back(Effect::Undeliverable(*key));
                false
            }
            Stage::Ended { .. } => {
                effects.push_back(Effect::End(*key, answered(), dialog()));
                false
            }
            Stage::Preparing { .. } | Stage::Left => false,
        });
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        let due = |request: &Request| match request.stage {
            Stage::Preparing { until }
            | Stage::Sent { until }
            | Stage::Ended { until }
            | Stage::Lost { until, .. } => Some(until),
            Stage::Open | Stage::Left => None,
        };
        self.open.values().filter_map(due).min()
    }

    /// Does what is due. `is_settled` says that the server has sent all its open requests again.
    pub(super) fn tick(&mut self, now: Duration, is_settled: bool, effects: &mut Effects) {
        self.open_prepared(|_, until| until <= now, effects);
        self.open.retain(|key, request| match &request.stage {
            Stage::Sent { until } if *until <= now => {
                effects.push_back(Effect::Undeliverable(*key));
                request.stage = Stage::Left;
                true
            }
            Stage::Ended { until } if *until <= now => {
                effects.push_back(Effect::End(*key, answered(), dialog()));
                false
            }
            Stage::Lost { until, decided } if is_settled || *until <= now => {
                let withdrawn = Outcome::Rejected(Reason::Withdrawn);
                effects.push_back(match decided {
                    Some(_) => Effect::Undeliverable(*key),
                    None => Effect::End(*key, withdrawn, Provenance::bridge()),
                });
                false
            }
            _ => true,
        });
    }
}

impl Request {
    fn send(&mut self, result: &RawValue, now: Duration, effects: &mut Effects) {
        effects.push_back(Effect::Send(message::response(&self.id.to_string(), result)));
        self.stage = Stage::Sent { until: now.saturating_add(limits::ATTACH_ANSWER) };
    }

    /// Returns the result for what was decided. `None` for an end that no person decided.
    fn result(&self, settlement: &Settlement) -> Option<Box<RawValue>> {
        match &settlement.outcome {
            Outcome::Answered(answer) => Some(self.reply.write_answer(&self.question, answer)),
            Outcome::Rejected(Reason::User | Reason::Policy) => {
                // A rule refuses in the person's place.
                let rejection = Rejection { reason: Reason::User, remark: settlement.remark.as_deref() };
                Some(self.reply.write_rejection(&self.question, rejection))
            }
            _ => None,
        }
    }

    fn has_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended { .. })
    }

    /// Returns whether its question is open on the desk.
    fn is_on_desk(&self) -> bool {
        !matches!(self.stage, Stage::Preparing { .. } | Stage::Left)
    }
}
