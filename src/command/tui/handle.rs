//! The transitions of the full-screen inbox: what each event leads to, which answers are checked and confirmed before
//! they are sent, and how a refusal is shown.
//! Pure: the terminal, the bridges and the clock are left to `run.rs`, the keys of the current question to
//! `card_keys.rs`, those of what stands in front to `modal_keys.rs`.

use std::{borrow::Cow, sync::Arc, time::Duration};

use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Submission},
    question::{Answer, FieldError, Purpose, Question, Role, comments, form},
};

use super::{
    commented::lost,
    editor::Editor,
    event::{Effect, Key, QuestionItem, TuiEvent},
    list::ListLine,
    state::{App, Modal, Pane},
};
use crate::present::{
    answer,
    caution::{caution, role},
    text,
};

impl App {
    /// Handles an event, and returns its effects.
    pub fn handle(&mut self, event: TuiEvent) -> Vec<Effect> {
        let effects = self.take(event);
        self.prepare();
        effects
    }

    fn take(&mut self, event: TuiEvent) -> Vec<Effect> {
        match event {
            TuiEvent::World(world) => return self.update(world),
            TuiEvent::Key(key) => {
                self.is_rushed = std::mem::replace(&mut self.is_pressed, true);
                self.is_stray &= self.is_rushed;
                self.is_word &= self.is_rushed;
                let is_text = self.modal.is_some() || self.is_typing || self.search.is_typing;
                let effects = self.key(key);
                self.is_word |= !is_text && matches!(key, Key::Char(c) if c.is_alphabetic());
                return effects;
            }
            TuiEvent::Quiet => self.is_pressed = false,
            TuiEvent::Paste(text) => return self.pasted(&text),
            TuiEvent::Deferred(ids) => return self.deferred(ids),
            TuiEvent::TakenBack(id) => return self.taken_back(&id),
            TuiEvent::Submitted(id, result) => return self.submitted(&id, result),
            TuiEvent::Pictured(wanted, made) => self.pictured(&wanted, made),
            TuiEvent::Led(id, led) => self.led(&id, led),
            TuiEvent::Proposed(id, rule) => self.proposed(&id, rule),
            TuiEvent::Written(written) => self.rule_written(written),
            TuiEvent::Refused(why) => self.complain(why),
            TuiEvent::Read => self.is_fresh = false,
            TuiEvent::Resize(columns, lines) => {
                self.size = (columns, lines);
                return self.fit_image();
            }
            TuiEvent::Scroll(by) if self.pane == Pane::List => self.step(if by < 0 { -1 } else { 1 }),
            TuiEvent::Scroll(by) => self.scroll(isize::try_from(by).unwrap_or_default()),
            TuiEvent::Click(column, line) => return self.click(column, line),
        }
        Vec::new()
    }

    fn key(&mut self, key: Key) -> Vec<Effect> {
        // In raw mode, the terminal sends no signal for it, so it has to work whatever else takes keys.
        if key == Key::Control('c') {
            return self.quit();
        }
        let is_decision = match key {
            Key::Send | Key::Control('s') => true,
            Key::Enter | Key::Char('1'..='9' | 'r' | 'n' | 't' | 'c' | 'a' | 'l' | ' ') => !self.is_typing,
            _ => false,
        };
        // A key typed into a search decides nothing, so it is accepted during the pause as well.
        if self.search.is_typing && self.modal.is_none() {
            self.search_key(key);
            return Vec::new();
        }
        match (self.modal.is_some(), self.pane, self.is_typing) {
            (false, ..) if self.is_fresh && is_decision => self.too_early(),
            (false, ..) if self.is_hasty(key) => self.too_fast(key),
            (true, ..) => self.modal_key(key),
            (_, Pane::Card, true) => self.typing_key(key),
            (_, Pane::Card, false) if self.at.is_some() => self.comment_key(key),
            (_, Pane::Card, false) => self.card_key(key),
            (_, Pane::List, _) => self.list_key(key),
        }
    }

    /// Quits, or first asks for a confirmation if a draft would be lost. A second request quits.
    fn quit(&mut self) -> Vec<Effect> {
        if self.has_drafts() && self.modal != Some(Modal::Quit) {
            self.modal = Some(Modal::Quit);
            return Vec::new();
        }
        vec![Effect::Quit]
    }

    fn list_key(&mut self, key: Key) -> Vec<Effect> {
        self.said = None;
        match key {
            Key::Down => self.step(1),
            Key::Up => self.step(-1),
            Key::Home => self.step(isize::MIN),
            Key::End => self.step(isize::MAX),
            Key::PageDown => self.step(self.list_page()),
            Key::PageUp => self.step(-self.list_page()),
            Key::Enter | Key::Right | Key::Tab => self.enter(),
            Key::Escape => self.search_ends(),
            _ => return self.common_key(key),
        }
        Vec::new()
    }

    /// Handles the keys that the list and a question have in common. None of them decides anything, so a word that is
    /// typed into the list by mistake does no harm.
    pub(super) fn common_key(&mut self, key: Key) -> Vec<Effect> {
        match key {
            Key::Char('j') => self.step(1),
            Key::Char('k') => self.step(-1),
            Key::Char('g') => self.step(isize::MIN),
            Key::Char('G') => self.step(isize::MAX),
            Key::Char('/') => self.search_begins(),
            Key::Char('?') => self.modal = Some(Modal::Help(0)),
            Key::Char('w') => return self.lead(),
            Key::Char('i') => return self.show_images(),
            Key::Char('q') => return self.quit(),
            Key::Char('u') => return self.undo(),
            Key::Char('m') => {
                // A line for another program may begin with it.
                self.is_stray = true;
                return self.make_rule();
            }
            Key::Char(_) => self.is_stray = true,
            _ => {}
        }
        Vec::new()
    }

    fn click(&mut self, column: u16, line: u16) -> Vec<Effect> {
        if self.modal.is_some() {
            return Vec::new();
        }
        let in_list = if self.is_wide() { column < self.list_columns() } else { self.pane == Pane::List };
        // A click that was meant for the question before must not choose an option of this one.
        if !in_list && self.is_fresh {
            return self.too_early();
        }
        if !in_list {
            self.pane = Pane::Card;
            if let Some(place) = self.option_at(line) {
                self.choose(place + 1);
            }
            return Vec::new();
        }
        let lines = self.list();
        // The first line of the screen is the header.
        let clicked =
            usize::from(line).checked_sub(1).and_then(|line| lines.get(line + self.first_in_list()));
        if let Some(line) = clicked.filter(|line| !matches!(line, ListLine::Heading(_))) {
            let id = self.of_line(line).map(|item| item.record.id.clone());
            self.pane = Pane::List;
            self.select(id);
        }
        Vec::new()
    }
}

/// The extension of the deadline that the key `t` gives.
const MORE_TIME: Duration = Duration::from_secs(600);

impl App {
    /// Sends the draft of the current question, or shows the mistakes in it, or asks to confirm it.
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

    /// Shows the mistakes, at the first field that has one.
    fn show_errors(&mut self, question: &Question, errors: Vec<FieldError>) {
        let place =
            errors.iter().find_map(|error| question.fields.iter().position(|it| it.name == error.field));
        let said = match (question.purpose, &*errors) {
            (Purpose::Permission, _) => "Choose an option: by its number, or with the arrows".to_owned(),
            (_, [error]) => answer::errors(question, std::slice::from_ref(error)),
            (_, several) => format!("{} fields have mistakes", several.len()),
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
        if is_refusal && form::options_with_role(question, Role::RejectOnce).count() == 1 {
            self.modal = Some(Modal::Reason(Some(answer), Editor::default(), false));
            return Vec::new();
        }
        if question.purpose == Purpose::Question && answer.values.is_empty() && answer.notes.is_empty() {
            self.modal = Some(Modal::Empty(answer));
            return Vec::new();
        }
        if let Some(unread) = self.unread(question, &answer) {
            self.complain(unread);
            return Vec::new();
        }
        match self.confirmed(question, &answer) {
            Some(why) => {
                self.modal = Some(Modal::Confirm(why, answer, Editor::default()));
                Vec::new()
            }
            None => self.answer(answer),
        }
    }

    /// Returns why the answer must be confirmed: for what it may do, or since comments are lost.
    fn confirmed(&self, question: &Question, answer: &Answer) -> Option<Cow<'static, str>> {
        let count = self.comments().len();
        let is_lost = count > 0 && comments::field(question).is_none();
        match (caution(question, answer), is_lost.then(|| lost(count))) {
            (Some(why), Some(lost)) => Some(format!("{why} {lost}").into()),
            (why, lost) => why.or(lost.map(Cow::Owned)),
        }
    }

    /// Returns what the person has to do before the answer may be sent: to allow a guarded permission, all of its text
    /// must have been in view (I12).
    fn unread(&self, question: &Question, answer: &Answer) -> Option<&'static str> {
        let refuses = matches!(role(question, answer), Some(Role::RejectOnce | Role::RejectAlways));
        if refuses || question.purpose != Purpose::Permission || !question.risk().is_guarded() {
            return None;
        }
        let is_read = self.draft().is_some_and(|draft| draft.is_read) || self.first_line() >= self.overflow();
        if self.has_folds() {
            Some("Read all of it before you allow it: f shows what is folded")
        } else {
            (!is_read).then_some("Read it to its end before you allow it: PgDn")
        }
    }

    /// Answers the current question, as it is on the screen.
    pub(super) fn answer(&mut self, answer: Answer) -> Vec<Effect> {
        let edition = self.open_item().map(|item| item.record.edition);
        self.submit(Submission::answer(answer, edition))
    }

    /// Submits to the current question, unless a submission to it is under way.
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
    pub(super) fn reject(&mut self) {
        if self.open_item().is_some() {
            self.modal = Some(Modal::Reason(None, Editor::default(), false));
        }
    }

    /// Gives the current question more time.
    pub(super) fn give_time(&mut self) -> Vec<Effect> {
        match self.open_item().map(|item| item.record.deadline.is_some()) {
            Some(true) => self.submit(Submission::Extend(MORE_TIME)),
            Some(false) => {
                self.say("The question has no deadline: it waits without limit");
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// Shows the result of a submission.
    pub(super) fn submitted(&mut self, id: &QuestionId, result: Result<Arc<Record>, Refusal>) -> Vec<Effect> {
        self.left(id);
        if let Some(effects) = self.counted(id, &result) {
            return effects;
        }
        let was_aside = self.known(id).and_then(|item| item.record.later);
        match result {
            // Only an extension leaves the question open.
            Ok(record) if record.is_open() && was_aside != record.later => {
                let now = self.item().map_or(record.opened_at, |item| item.now);
                self.say(format!("{id} {}", text::aside(&record, now, was_aside.is_none())));
                let is_away = record.later.is_some() && self.current.as_ref() == Some(id);
                self.replace(record);
                if is_away {
                    return self.go_on();
                }
            }
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
                self.told = Some(Arc::clone(&record));
                self.replace(record);
                // The user may have turned to another question since.
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
            // The draft stays: where the bridge was only busy, it can be sent again.
            Err(refusal) => self.complain(format!("{id}: {}", text::refusal(&refusal))),
        }
        Vec::new()
    }

    /// Takes over the state of a question after a submission, before the store reports it.
    pub(super) fn replace(&mut self, record: Arc<Record>) {
        if let Some(item) = self.world.open.iter_mut().find(|item| item.record.id == record.id) {
            item.record = Arc::clone(&record);
        }
        if let Some(item) = self.item().cloned().filter(|item| item.record.id == record.id) {
            self.held = Some(QuestionItem { record, ..item });
        }
        self.world.open.retain(|item| item.record.is_open());
    }
}
