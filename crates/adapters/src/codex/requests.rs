//! The requests of an app server that wait for the user, from their arrival to their end.
//!
//! The server reports that a request is over (`serverRequest/resolved`), but not whose response ended it. If the
//! report arrives before we have sent a response, another client was first, or the turn was interrupted. If it arrives
//! after that, another client can have been first only within the time that a message takes: about 2 ms. For questions
//! of the model, the thread's record has the answer, so even that case is known. An approval counts as ours.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use askbridge_core::{
    desk::Settlement,
    dialect::codex::{self, Changes},
    question::{Context, Origin, Outcome, Provenance, Question, Reason, Recent},
};
use serde_json::{Value as Json, value::RawValue};

use super::{
    message::{
        self, Amendable, CodexRequest, Effect, Effects, EndedRequest, ItemMessage, NAME, RequestPlace,
        RequestStage, ResolvedRequest, ThreadItem, TurnCompleted, dialog,
    },
    threads::Threads,
};
use crate::limits;

/// The requests, by the keys of their questions.
#[derive(Debug, Default)]
pub(super) struct Requests {
    last: u64,
    open: BTreeMap<u64, CodexRequest>,
    changes: Changes,
    /// What the agent said last in each thread.
    recent: Recent,
}

impl Requests {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Handles a request of the server.
    pub(super) fn request(
        &mut self,
        method: &str,
        id: &str,
        params: &str,
        threads: &Threads,
        now: Duration,
        effects: &mut Effects,
    ) {
        let (Ok(id), Ok(place)) =
            (serde_json::from_str::<Json>(id), serde_json::from_str::<RequestPlace>(params))
        else {
            return;
        };
        // Once a thread is being left, the server may not report here that its requests are over.
        if place.thread_id.as_deref().is_some_and(|thread| threads.is_leaving(thread)) {
            return;
        }
        // A thread that is joined again sends its open requests again.
        let is_known = |request: &CodexRequest| {
            request.id == id && request.place == place && !matches!(request.stage, RequestStage::Lost { .. })
        };
        if self.open.values().any(is_known) || self.open.len() >= limits::OPEN {
            return;
        }
        let fallback_id = format!("codex-{}", place.item_id.as_deref().unwrap_or("request"));
        let Some((mut question, reply)) = codex::read(method, params.as_bytes(), &fallback_id) else {
            return;
        };
        question.agent = Some(NAME.into());
        question.project = place.thread_id.as_deref().and_then(|thread| threads.folder(thread));
        let bare = (method == codex::request::FILE_CHANGE).then(|| question.clone());
        // The request to change files does not have the changes; the item before it does.
        self.changes.complete(&mut question);
        let amendable = bare.map(|bare| Box::new(Amendable { bare, first: question.clone() }));
        let method = method.to_owned();
        let mut request = CodexRequest {
            id,
            method,
            place,
            question: Box::new(question),
            amendable,
            reply,
            stage: RequestStage::Open,
        };
        if !self.rejoin(&mut request, now, effects) {
            self.last += 1;
            let context = self.context(&request.place);
            effects.push_back(Effect::Open(self.last, request.question.clone(), request.kept(), context));
            // The desk has them from now on. What is amended is a change of files, which has none.
            request.question.images.clear();
            self.open.insert(self.last, request);
        }
    }

    /// Returns what led to a request.
    fn context(&mut self, place: &RequestPlace) -> Option<Arc<Context>> {
        self.recent.context(place.thread_id.as_deref()?, place.item_id.as_deref())
    }

    /// Records what the agent says in a message, if it says anything.
    pub(super) fn hear(&mut self, message: &str) {
        codex::said_whole(message.as_bytes(), &mut |said| self.recent.take(said));
    }

    /// Continues the same request of an earlier connection. Returns whether there is one.
    fn rejoin(&mut self, request: &mut CodexRequest, now: Duration, effects: &mut Effects) -> bool {
        // The ID belongs to the old connection, so the request is recognized by its contents.
        let is_same = |(_, lost): &(&u64, &mut CodexRequest)| {
            matches!(lost.stage, RequestStage::Lost { .. })
                && (&lost.method, &lost.place) == (&request.method, &request.place)
                && lost.question.fields == request.question.fields
        };
        let Some((_, lost)) = self.open.iter_mut().find(is_same) else { return false };
        lost.id = request.id.take();
        lost.reply = request.reply.clone();
        if let RequestStage::Lost { decided, .. } = std::mem::replace(&mut lost.stage, RequestStage::Open)
            && let Some(result) = decided
        {
            lost.send(result, now, effects);
        }
        true
    }

    /// Records the present changes of an item, and shows them where somebody is asked about it.
    pub(super) fn changes_updated(&mut self, params: Option<&RawValue>, effects: &mut Effects) {
        let Some(place) = message::read::<RequestPlace>(params) else { return };
        self.changes.updated(params.map_or("", RawValue::get).as_bytes());
        self.amend(&place, effects);
    }

    fn amend(&mut self, place: &RequestPlace, effects: &mut Effects) {
        let is_of_item = |request: &CodexRequest| {
            matches!(request.stage, RequestStage::Open)
                && (&request.place.thread_id, &request.place.item_id) == (&place.thread_id, &place.item_id)
        };
        for (key, request) in self.open.iter_mut().filter(|(_, request)| is_of_item(request)) {
            if request.amend(&self.changes) {
                effects.push_back(Effect::Amend(*key, request.question.clone(), request.kept()));
            }
        }
    }

    /// Records an item: file changes that a request asks about, or the end of an item that was asked about.
    pub(super) fn item(&mut self, message: &ItemMessage<'_>, effects: &mut Effects) {
        let Some(item) = message::read::<ThreadItem>(Some(message.item)) else { return };
        self.changes.push(message.item.get().as_bytes());
        if item.status == "inProgress" {
            let (thread_id, item_id) = (message.thread_id.clone(), Some(item.id.clone()));
            self.amend(&RequestPlace { thread_id, item_id, ..RequestPlace::default() }, effects);
        }
        if item.status == "declined" {
            let is_of_item = |request: &CodexRequest| {
                request.place.item_id.as_ref() == Some(&item.id) && request.has_ended()
            };
            self.end_all(is_of_item, &Outcome::Rejected(Reason::User), &dialog(), effects);
        }
    }

    /// Sends the decision to the server.
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
            // The question expired here, but Codex' own dialog stays open.
            request.stage = RequestStage::Left;
            effects.push_back(Effect::Delivered(key));
            return;
        };
        match &mut request.stage {
            RequestStage::Open => request.send(result, now, effects),
            RequestStage::Lost { until, decided } => {
                // The next connection may come late: after a pause, or on a busy machine.
                *until = (*until).max(now.saturating_add(limits::ATTACH_ANSWER));
                *decided = Some(result);
            }
            // `Effect::End` follows, and tells the responder that the decision was too late.
            RequestStage::Ended(_) => {}
            RequestStage::Sent { .. } | RequestStage::Left => {
                effects.push_back(Effect::Undeliverable(key));
            }
        }
    }

    pub(super) fn leave(&mut self, key: u64) {
        if let Some(request) = self.open.get_mut(&key) {
            request.stage = RequestStage::Left;
            // Only the place is needed, to recognize the request when it comes again. The question would use memory
            // here that the desk did not grant.
            *request.question = Question::new(Origin::Codex, "", Vec::new());
            request.amendable = None;
        }
    }

    /// Ends a request: the server has a response to it, or no longer waits for one.
    pub(super) fn resolved(
        &mut self,
        resolved: &ResolvedRequest,
        threads: &Threads,
        now: Duration,
        effects: &mut Effects,
    ) {
        // The ID of a lost request belongs to an earlier connection, and may be used again for another request.
        let is_meant = |(_, request): &(&u64, &mut CodexRequest)| {
            request.id == resolved.request_id
                && (resolved.thread_id.is_none() || resolved.thread_id == request.place.thread_id)
                && !matches!(request.stage, RequestStage::Lost { .. } | RequestStage::Ended(_))
        };
        let Some((&key, request)) = self.open.iter_mut().find(is_meant) else { return };
        let record = request.place.thread_id.as_deref().and_then(|thread| threads.record(thread));
        let look = record.filter(|_| request.is_recorded()).zip(request.place.item_id.clone());
        let time = if look.is_some() { limits::ATTACH_RECORD } else { limits::ATTACH_REASON };
        // `Left` is a placeholder: the stage is set below, or the request is removed.
        let sent = match std::mem::replace(&mut request.stage, RequestStage::Left) {
            RequestStage::Open => None,
            RequestStage::Sent { result, .. } if look.is_some() => Some(result),
            stage => {
                // A resolved approval counts as ours. A request that was left to Codex' own dialog is only forgotten.
                if matches!(stage, RequestStage::Sent { .. }) {
                    effects.push_back(Effect::Delivered(key));
                }
                self.open.remove(&key);
                return;
            }
        };
        let (until, is_looked_up) = (now.saturating_add(time), look.is_some());
        request.stage =
            RequestStage::Ended(EndedRequest { until, sent, is_looked_up, is_interrupted: false });
        effects.extend(look.map(|(record, item)| Effect::Look(key, record, item)));
    }

    /// Ends a request by the result in the thread's record.
    pub(super) fn recorded(&mut self, key: u64, output: &str, effects: &mut Effects) {
        let Some(request) = self.open.get(&key) else { return };
        let RequestStage::Ended(EndedRequest { sent, .. }) = &request.stage else { return };
        if sent.as_ref().is_some_and(|sent| is_same(sent.get(), output)) {
            effects.push_back(Effect::Delivered(key));
        } else {
            // An output that is not an answer is the text for an interrupted turn, which another message reports.
            let Some(outcome) = request.reply.read(&request.question, output.as_bytes()) else { return };
            effects.push_back(Effect::End(key, outcome, dialog()));
        }
        self.open.remove(&key);
    }

    /// Ends the requests of a thread in which no turn runs any more. Each waits a short time for its reason: the
    /// server reports the status of an interrupted thread before the reason.
    pub(super) fn turns_over(&mut self, thread: &str, now: Duration) {
        let until = now.saturating_add(limits::ATTACH_REASON);
        self.open.retain(|_, request| {
            let is_of_thread = request.place.thread_id.as_deref() == Some(thread);
            match request.stage {
                RequestStage::Open if is_of_thread && request.place.turn_id.is_some() => {
                    // The server would have reported an answer before this status, so the turn was interrupted.
                    let ended = EndedRequest { until, sent: None, is_looked_up: false, is_interrupted: true };
                    request.stage = RequestStage::Ended(ended);
                    true
                }
                RequestStage::Left => !is_of_thread,
                _ => true,
            }
        });
    }

    /// Ends the requests of a turn that has ended.
    pub(super) fn turn_completed(&mut self, completed: &TurnCompleted, now: Duration, effects: &mut Effects) {
        let is_of_turn = |request: &CodexRequest| {
            request.place.thread_id.as_ref() == Some(&completed.thread_id)
                && request.place.turn_id.as_ref().is_none_or(|turn| *turn == completed.turn.id)
        };
        let is_interrupted = completed.turn.status == "interrupted";
        let soon = now.saturating_add(limits::ATTACH_REASON);
        self.open.retain(|key, request| {
            if !is_of_turn(request) {
                return true;
            }
            match &mut request.stage {
                RequestStage::Ended(ended) => {
                    ended.is_interrupted |= is_interrupted;
                    if ended.is_looked_up {
                        // An answer may have been taken just before the turn was interrupted.
                        ended.until = if is_interrupted { ended.until.min(soon) } else { ended.until };
                        return true;
                    }
                    effects.push_back(ended.assumed(*key));
                }
                RequestStage::Left => {}
                // Requests without a turn may outlive it.
                _ if request.place.turn_id.is_none() && !is_interrupted => return true,
                RequestStage::Open | RequestStage::Sent { .. } | RequestStage::Lost { .. } => {
                    let reason = if is_interrupted { Reason::Cancelled } else { Reason::Withdrawn };
                    effects.push_back(Effect::End(*key, Outcome::Rejected(reason), Provenance::bridge()));
                }
            }
            false
        });
    }

    pub(super) fn thread_closed(&mut self, thread: &str, effects: &mut Effects) {
        let is_of_thread = |request: &CodexRequest| request.place.thread_id.as_deref() == Some(thread);
        self.recent.forget(thread);
        let closed = Outcome::Rejected(Reason::SessionClosed);
        self.end_all(is_of_thread, &closed, &Provenance::bridge(), effects);
    }

    fn end_all(
        &mut self,
        is_over: impl Fn(&CodexRequest) -> bool,
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
            RequestStage::Open => {
                let until = now.saturating_add(limits::ATTACH_REJOIN);
                request.stage = RequestStage::Lost { until, decided: None };
                true
            }
            RequestStage::Lost { .. } => true,
            // No later message tells whether the response arrived before the connection broke.
            RequestStage::Sent { .. } => {
                effects.push_back(Effect::Undeliverable(*key));
                false
            }
            // A lookup needs no connection.
            RequestStage::Ended(_) => true,
            RequestStage::Left => false,
        });
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.open.values().filter_map(CodexRequest::due).min()
    }

    /// Performs the actions that are due. `is_settled` says that the server has sent all its open requests again.
    pub(super) fn tick(&mut self, now: Duration, is_settled: bool, threads: &Threads, effects: &mut Effects) {
        self.open.retain(|key, request| match &request.stage {
            RequestStage::Sent { until, .. } if *until <= now => {
                effects.push_back(Effect::Undeliverable(*key));
                request.stage = RequestStage::Left;
                // Keep the request only while it may come again: a thread that was left does not send it.
                request.place.thread_id.as_deref().is_none_or(|thread| threads.has_joined(thread))
            }
            RequestStage::Ended(ended) if ended.until <= now => {
                effects.push_back(ended.assumed(*key));
                false
            }
            // A decision since the connection broke was never sent, so it cannot count.
            RequestStage::Lost { until, .. } if is_settled || *until <= now => {
                let withdrawn = Outcome::Rejected(Reason::Withdrawn);
                effects.push_back(Effect::End(*key, withdrawn, Provenance::bridge()));
                false
            }
            _ => true,
        });
    }
}

/// Returns whether two texts are the same JSON.
fn is_same(one: &str, other: &str) -> bool {
    let read = |text| serde_json::from_str::<Json>(text).ok();
    read(one).is_some_and(|one| Some(one) == read(other))
}
