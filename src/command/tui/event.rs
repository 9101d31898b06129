//! The events that the full-screen inbox handles, and the effects that it wants.
//! Which keys a terminal sends is left to `screen.rs`.

use std::sync::Arc;

use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Submission, Timestamp},
    question::{Context, Purpose},
};

use super::picture::{Picture, Wanted};
use crate::command::tui::proposed_rule::ProposedRule;

/// A question, with what its record does not say.
#[derive(Clone, Debug)]
pub struct QuestionItem {
    /// The question.
    pub record: Arc<Record>,
    /// The agent that asks, if that is known.
    pub agent: Option<String>,
    /// The current time, by the clock that times the question.
    pub now: Timestamp,
}

impl QuestionItem {
    /// Returns whether it is a permission.
    pub fn is_permission(&self) -> bool {
        self.record.question.purpose == Purpose::Permission
    }
}

/// A snapshot of the questions of the machine.
#[derive(Clone, Debug, Default)]
pub struct InboxState {
    /// The open ones, oldest first.
    pub open: Vec<QuestionItem>,
    /// Those that were settled last, latest first.
    pub settled: Vec<QuestionItem>,
    /// The bridges that are left out, a line for each reason.
    pub gaps: Vec<String>,
    /// How many bridges of agents replied.
    pub bridges: usize,
}

/// A key, independent of the bytes that the terminal sends for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character that is typed.
    Char(char),
    /// A letter with Ctrl.
    Control(char),
    /// Enter.
    Enter,
    /// Enter with Ctrl or Alt, where the terminal tells them apart.
    Send,
    /// Esc.
    Escape,
    /// Tab.
    Tab,
    /// Tab with Shift.
    BackTab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// An arrow.
    Left,
    /// An arrow.
    Right,
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
}

/// An event that the inbox handles.
#[derive(Clone, Debug)]
pub enum TuiEvent {
    /// The questions changed, or time passed.
    World(InboxState),
    /// The person pressed a key.
    Key(Key),
    /// No key was pressed for a while: the next one is not the rest of a line that was typed for another program.
    Quiet,
    /// The person pasted a text.
    Paste(String),
    /// The person clicked at this column and line.
    Click(u16, u16),
    /// The person turned the wheel by this many lines.
    Scroll(i32),
    /// The terminal has this size, in columns and lines.
    Resize(u16, u16),
    /// Submissions wait for a while, in which they can be taken back as one.
    Deferred(Vec<QuestionId>),
    /// A submission was taken back.
    TakenBack(QuestionId),
    /// The result of a submission.
    Submitted(QuestionId, Result<Arc<Record>, Refusal>),
    /// The rule that would be made of the decision about this question, or why there is none.
    Proposed(QuestionId, Result<ProposedRule, String>),
    /// Where a rule was written, or why it was not.
    Written(Result<String, String>),
    /// Why something was not done.
    Refused(String),
    /// An image of a question, or why it cannot be shown.
    Pictured(Wanted, Result<Picture, String>),
    /// What led to a question.
    Led(QuestionId, Result<Arc<Context>, Refusal>),
    /// The pause after a question appeared by itself has ended: the user has had time to read it.
    Read,
}

/// An effect of an event, which the session carries out.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Submit to a question.
    Submit(QuestionId, Submission),
    /// Submit to several questions, as one.
    Together(Vec<(QuestionId, Submission)>),
    /// Make a rule of this decision, and try it on those of the past.
    Propose(Arc<Record>),
    /// Write the rule of this decision, if it still has this text.
    Write(Arc<Record>, String),
    /// Set a question aside until this time, as the person typed it.
    Later(QuestionId, String),
    /// Ask what led to this question.
    Lead(Arc<Record>),
    /// Make an image ready to be shown.
    Picture(Wanted),
    /// Take a submission back, if it still waits.
    TakeBack(QuestionId),
    /// Notify the person by a bell and by the terminal's own notification, with this text.
    Tell(String),
    /// Start, or start again, the pause in which the person reads. [`TuiEvent::Read`] reports its end.
    Pause,
    /// End.
    Quit,
}
