//! What is sent and is on its way: what can be taken back, and what became of what was decided together.
//! Pure. How long it waits is left to `sending.rs`, what the result of one submission is to `handle.rs`.

use std::{collections::BTreeSet, sync::Arc};

use askbridge_core::desk::{QuestionId, Record, Refusal, Submission};

use super::{
    event::Effect,
    group::Group,
    state::{App, Pane},
};
use crate::present::text;

impl App {
    /// Returns how many submissions can be taken back.
    pub fn waits(&self) -> usize {
        self.waiting.iter().map(Vec::len).sum()
    }

    /// Returns whether a submission to this question can be taken back.
    pub fn is_waiting(&self, id: &QuestionId) -> bool {
        self.waiting.iter().any(|group| group.contains(id))
    }

    /// Sends submissions together.
    pub(super) fn send_together(
        &mut self,
        submissions: Vec<(QuestionId, Submission)>,
        allows: bool,
    ) -> Vec<Effect> {
        let ids: BTreeSet<_> = submissions.iter().map(|(id, _)| id.clone()).collect();
        let Some((opened, _)) = submissions.first() else { return Vec::new() };
        let opened = opened.clone();
        self.sending.extend(ids.iter().cloned());
        (self.modal, self.is_typing) = (None, false);
        self.say(format!("{}: sending …", ids.len()));
        let all = ids.len();
        let left = BTreeSet::new();
        self.groups.push(Group { opened, ids, all, done: 0, allows, left, is_back: false });
        vec![Effect::Together(submissions)]
    }

    /// Submissions wait: the next question is shown, and nothing is said to be sent yet.
    pub(super) fn deferred(&mut self, ids: Vec<QuestionId>) -> Vec<Effect> {
        match &*ids {
            [] => return Vec::new(),
            [id] => self.say(format!("{id}: sending … u takes it back")),
            several => self.say(format!("{}: sending … u takes them back", several.len())),
        }
        let is_current = self.current.as_ref().is_some_and(|current| ids.contains(current));
        self.waiting.push(ids);
        if is_current { self.go_on() } else { Vec::new() }
    }

    /// Takes back what was sent last, if it still waits.
    pub(super) fn undo(&self) -> Vec<Effect> {
        // What waits together comes back by one of it.
        let last = self.waiting.last().and_then(|group| group.first());
        last.cloned().map(Effect::TakeBack).into_iter().collect()
    }

    /// A submission waits no more.
    pub(super) fn left(&mut self, id: &QuestionId) {
        self.sending.remove(id);
        self.waiting.iter_mut().for_each(|group| group.retain(|waiting| waiting != id));
        self.waiting.retain(|group| !group.is_empty());
    }

    /// Opens what was taken back, with what was typed. A key that is on its way decides nothing.
    pub(super) fn taken_back(&mut self, id: &QuestionId) -> Vec<Effect> {
        self.left(id);
        let mut opened = id.clone();
        let mut said = format!("{id} is taken back: nothing was sent");
        if let Some(group) = self.groups.iter_mut().find(|group| group.ids.contains(id)) {
            let is_known = std::mem::replace(&mut group.is_back, true);
            group.ids.remove(id);
            opened = group.opened.clone();
            said = format!("{} are taken back: nothing was sent", group.all - group.done - group.left.len());
            self.groups.retain(|group| !group.ids.is_empty());
            if is_known {
                return Vec::new();
            }
        }
        self.select(Some(opened));
        self.pane = Pane::Card;
        self.say(said);
        vec![self.appear()]
    }

    /// Counts the result of one of several that were decided together. Returns whether it is one, and what follows.
    pub(super) fn counted(
        &mut self,
        id: &QuestionId,
        result: &Result<Arc<Record>, Refusal>,
    ) -> Option<Vec<Effect>> {
        let group = self.groups.iter_mut().find(|group| group.ids.contains(id))?;
        group.ids.remove(id);
        match result {
            Ok(_) => group.done += 1,
            Err(refusal) => drop(group.left.insert(text::refusal(refusal))),
        }
        let (is_over, done, all) = (group.ids.is_empty(), group.done, group.all);
        let verb = if group.allows { "allowed" } else { "rejected" };
        let why: Vec<_> = group.left.iter().cloned().collect();
        let opened = group.opened.clone();
        self.groups.retain(|group| !group.ids.is_empty());
        if let Ok(record) = result {
            self.drafts.remove(id);
            // A rule is made of the one that was opened.
            if *id == opened || self.told.as_ref().is_none_or(|told| told.id != opened) {
                self.told = Some(Arc::clone(record));
            }
            self.replace(Arc::clone(record));
        }
        if !is_over {
            return Some(Vec::new());
        }
        match done == all {
            true => self.say(format!("{verb} {done}")),
            false => self.complain(format!("{verb} {done} of {all}; left out: {}", why.join("; "))),
        }
        // The user may have turned to another question since.
        let is_there = self.current.as_ref() == Some(&opened) && done > 0;
        Some(if is_there { self.go_on() } else { Vec::new() })
    }
}
