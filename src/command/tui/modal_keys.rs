//! The keys of what stands in front: a confirmation, the reason of a rejection, a comment, a text that is only read.
//! Pure. What is drawn there is left to `overlay.rs`.

use std::time::Duration;

use askbridge_core::{
    desk::Submission,
    question::{Answer, comments::with_reason},
};

use super::{
    editor::Editor,
    event::{Effect, Key},
    state::{App, Modal, Pane},
};
use crate::present::caution::{WORD, confirms};

impl App {
    /// Handles a key while something stands in front.
    pub(super) fn modal_key(&mut self, key: Key) -> Vec<Effect> {
        // The modal is closed, unless one of the branches opens it again.
        let Some(modal) = self.modal.take() else { return Vec::new() };
        match modal {
            Modal::Help(line) => self.modal = self.scrolled(key, line).map(Modal::Help),
            Modal::Led(led, line) => self.modal = self.scrolled(key, line).map(|line| Modal::Led(led, line)),
            Modal::Image(view) => return self.image_key(key, view),
            Modal::Confirm(why, answer, mut typed) => match key {
                Key::Escape => self.say("Nothing was sent"),
                // A terminal that does not mark pastes sends them as keys, which may arrive in pieces.
                Key::Enter if self.is_burst => {
                    self.complain("Nothing was done: a paste does not confirm");
                    self.modal = Some(Modal::Confirm(why, answer, Editor::default()));
                }
                Key::Enter if confirms(typed.text()) => return self.answer(answer),
                // The confirmation stays open: text that is typed again must not act on the question behind it.
                Key::Enter => {
                    self.complain(format!("Nothing was sent: type {WORD}, or press Esc to go back"));
                    self.modal = Some(Modal::Confirm(why, answer, Editor::default()));
                }
                key => {
                    typed.key(key, false);
                    self.modal = Some(Modal::Confirm(why, answer, typed));
                }
            },
            Modal::Together(list) => return self.together_key(key, list),
            Modal::Rule(record, rule, line) => return self.rule_key(key, record, rule, line),
            Modal::Later(typed) => return self.later_key(key, typed),
            Modal::Comment(of, typed) => self.typed_comment(key, of, typed),
            Modal::Reason(answer, typed, is_sure) => return self.reason_key(key, answer, typed, is_sure),
            Modal::Empty(answer) => match key {
                Key::Escape => self.say("Nothing was sent"),
                Key::Send | Key::Control('s') if !self.is_rushed => {
                    return self.answer(answer);
                }
                _ => self.modal = Some(Modal::Empty(answer)),
            },
            Modal::Leave => self.leave_key(key),
            Modal::Quit if matches!(key, Key::Char('y' | 'Y')) && !self.is_rushed => {
                return vec![Effect::Quit];
            }
            Modal::Quit => {}
        }
        Vec::new()
    }

    fn reason_key(
        &mut self,
        key: Key,
        answer: Option<Answer>,
        mut typed: Editor,
        is_sure: bool,
    ) -> Vec<Effect> {
        match key {
            Key::Escape => {}
            // Only Enter sends a rejection: the key that sends an answer must not, if it is pressed by mistake. And only
            // a second one, by itself: a line that was typed for another program ends with Enter as well.
            Key::Enter if is_sure && !self.is_rushed => {
                let reason = Some(typed.text().trim().to_owned()).filter(|reason| !reason.is_empty());
                return match (with_reason(reason, &self.comments()), answer) {
                    (None, Some(answer)) => self.answer(answer),
                    (reason, _) => self.submit(Submission::Reject(reason)),
                };
            }
            Key::Enter => self.modal = Some(Modal::Reason(answer, typed, true)),
            key => {
                typed.key(key, false);
                self.modal = Some(Modal::Reason(answer, typed, false));
            }
        }
        Vec::new()
    }

    /// Asks until when to set the current question aside, or brings it back.
    pub(super) fn set_aside(&mut self) -> Vec<Effect> {
        let Some(item) = self.open_item() else { return Vec::new() };
        if item.record.later.is_some() {
            return self.submit(Submission::Later(Duration::ZERO));
        }
        self.modal = Some(Modal::Later(Editor::default()));
        Vec::new()
    }

    fn later_key(&mut self, key: Key, mut typed: Editor) -> Vec<Effect> {
        match key {
            Key::Escape => {}
            Key::Enter if !self.is_rushed && !typed.is_empty() => {
                let id = self.open_item().map(|item| item.record.id.clone());
                return id.map(|id| Effect::Later(id, typed.text().to_owned())).into_iter().collect();
            }
            Key::Enter => self.modal = Some(Modal::Later(typed)),
            key => {
                typed.key(key, false);
                self.modal = Some(Modal::Later(typed));
            }
        }
        Vec::new()
    }

    fn leave_key(&mut self, key: Key) {
        match key {
            Key::Char('d') if !self.is_rushed => {
                self.drafts.retain(|id, _| Some(id) != self.current.as_ref());
                self.pane = Pane::List;
                self.say("Your draft is discarded");
            }
            Key::Char('k') | Key::Enter => {
                self.pane = Pane::List;
                self.say("Your draft is kept");
            }
            Key::Escape => {}
            // No other key may lose the draft.
            _ => self.modal = Some(Modal::Leave),
        }
    }
}
