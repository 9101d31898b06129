//! What is sent, and what comes of it: answers are checked and confirmed before, and refusals are shown.
//! Pure. What is submitted is left to `run.rs`.

use std::{sync::Arc, time::Duration};

use super::{
    editor::Editor,
    event::{Effect, QuestionItem},
    state::{App, Modal, Pane},
};
use crate::{
    desk::{QuestionId, Record, Refusal, Submission},
    form::caution::{caution, role},
    present::{answer, text},
    question::{Answer, FieldError, Purpose, Question, Role, permission},
};

/// How much more time the key for that gives.
const MORE_TIME: Duration = Duration::from_secs(600);

impl App {
    /// Sends what is given for the current question, or shows what is wrong with it, or asks to confirm it.
    pub(super) fn send(&mut self) -> Vec<Effect> {
        let Some((record, draft)) = self.draft_mut() else { return Vec::new() };
        let question = &record.question;
        match draft.answer(question) {
            Err(errors) => self.show_errors(question, errors),
            Ok(answer) => {
                draft.errors.clear();
                return self.confirm(&record, answer);
            }
        }
        Vec::new()
    }

    /// Shows what is wrong, at the first field that is.
    fn show_errors(&mut self, question: &Question, errors: Vec<FieldError>) {
        let place =
            errors.iter().find_map(|error| question.fields.iter().position(|it| it.name == error.field));
        let said = match (question.purpose, &*errors) {
            (Purpose::Permission, _) => "Choose an option: by its number, or with the arrows".to_owned(),
            (_, [error]) => answer::errors(question, std::slice::from_ref(error)),
            (_, several) => format!("{} fields are not right yet", several.len()),
        };
        if let Some((_, draft)) = self.draft_mut() {
            draft.tab = place.unwrap_or(draft.tab);
            draft.scroll = None;
            draft.errors = errors;
        }
        self.pane = Pane::Card;
        self.complain(said);
    }

    fn confirm(&mut self, record: &Arc<Record>, answer: Answer) -> Vec<Effect> {
        let question = &record.question;
        let is_refusal = role(question, &answer) == Some(Role::RejectOnce);
        if is_refusal && permission::options_with_role(question, Role::RejectOnce).count() == 1 {
            self.modal = Some(Modal::Reason(Some(answer), Editor::default()));
            return Vec::new();
        }
        if !self.may_allow(question, &answer) {
            self.complain("Read it to its end before you allow it: PgDn");
            return Vec::new();
        }
        match caution(question, &answer) {
            Some(why) => {
                self.modal = Some(Modal::Confirm(why, answer, Editor::default()));
                Vec::new()
            }
            None => self.submit(Submission::Answer(answer)),
        }
    }

    /// Returns whether all that would be done was in view, where that is more than plain (I12).
    fn may_allow(&self, question: &Question, answer: &Answer) -> bool {
        let refuses = matches!(role(question, answer), Some(Role::RejectOnce | Role::RejectAlways));
        let is_read = self.draft().is_some_and(|draft| draft.is_read) || self.first_line() >= self.overflow();
        refuses || is_read || question.purpose != Purpose::Permission || !question.risk().is_guarded()
    }

    /// Submits to the current question, once at a time.
    pub(super) fn submit(&mut self, submission: Submission) -> Vec<Effect> {
        let Some(item) = self.open_item() else { return Vec::new() };
        let id = item.record.id.clone();
        if !self.sending.insert(id.clone()) {
            return Vec::new();
        }
        (self.modal, self.is_typing) = (None, false);
        self.say(format!("{id}: sending …"));
        vec![Effect::Submit(id, submission)]
    }

    /// Asks for the reason of a rejection.
    pub(super) fn skip(&mut self) {
        if self.open_item().is_some() {
            self.modal = Some(Modal::Reason(None, Editor::default()));
        }
    }

    /// Gives the current question more time.
    pub(super) fn give_time(&mut self) -> Vec<Effect> {
        match self.open_item().map(|item| item.record.deadline.is_some()) {
            Some(true) => self.submit(Submission::Extend(MORE_TIME)),
            Some(false) => {
                self.say("The question has no deadline: it waits as long as it takes");
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// Shows what came of a submission.
    pub(super) fn submitted(&mut self, id: &QuestionId, result: Result<Arc<Record>, Refusal>) -> Vec<Effect> {
        self.sending.remove(id);
        match result {
            Ok(record) if record.is_open() => {
                let left = record.deadline.zip(self.item()).map(|(deadline, item)| deadline.since(item.now));
                self.say(format!("{id} ends in {}", text::span(left.unwrap_or_default())));
                self.replace(record);
            }
            Ok(record) => {
                let how =
                    record.settlement.as_deref().map(|ended| answer::settlement(&record.question, ended));
                self.say(format!("{id} {}", how.unwrap_or_else(|| "is done".to_owned())));
                self.drafts.remove(id);
                self.replace(record);
                if self.current.as_ref() == Some(id) {
                    return self.go_on();
                }
            }
            Err(Refusal::DoesNotFit(errors)) => {
                let question = self
                    .item()
                    .filter(|item| item.record.id == *id)
                    .map(|it| Arc::clone(&it.record.question));
                match question {
                    Some(question) => self.show_errors(&question, errors),
                    None => self.complain(format!("{id}: the answer does not fit")),
                }
            }
            Err(refusal) => self.complain(format!("{id}: {}", text::refusal(&refusal))),
        }
        Vec::new()
    }

    /// Takes over a question as it is after a submission, before the store tells it.
    fn replace(&mut self, record: Arc<Record>) {
        if let Some(item) = self.world.open.iter_mut().find(|item| item.record.id == record.id) {
            item.record = Arc::clone(&record);
        }
        if let Some(item) = self.item().cloned().filter(|item| item.record.id == record.id) {
            self.held = Some(QuestionItem { record, ..item });
        }
        self.world.open.retain(|item| item.record.is_open());
    }
}
