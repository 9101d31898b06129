//! Asks the person at this terminal a question in plain lines, submits the answer, and confirms it. For the sake of
//! screen readers, the cursor never moves back, and nothing is drawn again.
//! The order of the fields, and the meaning of a typed line, are left to `present/dialogue.rs`.

use std::{io, pin::pin, sync::Arc, time::Duration};

use askbridge_control::{
    inbox::{Follower, Inbox},
    join::JoinedInbox,
};
use askbridge_core::{
    desk::{Record, Refusal, State, Submission},
    question::{Provenance, Responder},
};
use askbridge_os::{exit, keyboard::Entry, signals::Signals};

use super::{
    CommandError,
    runner::{self, print, print_lines},
    screen::{is_coloured, wrap_column},
    typist::{Leftovers, Typist},
};
use crate::present::{
    answer,
    bridges::Bridges,
    dialogue::{Dialogue, DialogueReply},
    layout,
    question::{FieldText, QuestionHeader, QuestionText},
    text::{self, span},
};

/// The event that a conversation waits for.
enum ConversationEvent {
    /// The person gave something at the prompt.
    Entry(Entry),
    /// The question changed elsewhere.
    Changed,
    /// A signal ends the command.
    Signal(u8),
}

/// A question, and the person at the terminal.
struct Conversation<'a> {
    joined: &'a JoinedInbox,
    dialogue: Dialogue,
    follower: Follower,
    signals: Signals,
    person: Typist,
    /// Whether a prompt is shown. It stays there while the question changes.
    is_asked: bool,
    /// Whether the person was warned that little time is left.
    is_warned: bool,
}

/// Asks the person until the question is answered, here or elsewhere, or left open.
pub(super) async fn converse(
    joined: &JoinedInbox,
    dialogue: Dialogue,
    leftovers: Leftovers,
) -> Result<u8, CommandError> {
    let record = Arc::clone(dialogue.record());
    // While an answer is being delivered, the bridge refuses another one.
    if !record.is_open() || record.state == State::Delivering {
        return Err(CommandError::Refused(record.id.to_string(), Refusal::Conflict(record)));
    }
    let mut conversation = Conversation {
        joined,
        dialogue,
        follower: joined.store().follow(),
        signals: Signals::catch()?,
        person: Typist::begin(leftovers)?,
        is_asked: false,
        // The header that is printed below says how much time is left.
        is_warned: record.expiring,
    };
    print(&conversation.shown(|shown| QuestionHeader(shown).to_string()))?;
    let mut talked = pin!(conversation.talk());
    // The store changes only while the bridges are followed.
    tokio::select! {
        code = &mut talked => code,
        followed = joined.follow() => {
            followed?;
            talked.await
        }
    }
}

impl Conversation<'_> {
    async fn talk(&mut self) -> Result<u8, CommandError> {
        let mut described = None;
        loop {
            let field = self.dialogue.field().map(|field| field.name.clone());
            if field != described && self.dialogue.is_new_field() {
                self.describe()?;
            }
            described = field;
            let entry = loop {
                match self.event().await? {
                    ConversationEvent::Entry(entry) => break entry,
                    ConversationEvent::Signal(code) => return self.left_open(code),
                    ConversationEvent::Changed => {
                        if let Some(code) = self.changed()? {
                            return Ok(code);
                        }
                    }
                }
            };
            match self.dialogue.entered(entry) {
                DialogueReply::Say(lines) => self.say_all(&lines)?,
                DialogueReply::Leave => return self.left_open(exit::LEFT_OPEN),
                DialogueReply::MoreTime => self.extend().await?,
                DialogueReply::Submit(submission) => {
                    if let Some(code) = self.submit(submission).await? {
                        return Ok(code);
                    }
                }
            }
        }
    }

    /// Shows the prompt, and waits for the next event.
    async fn event(&mut self) -> Result<ConversationEvent, CommandError> {
        if !self.is_asked {
            self.dialogue.above().iter().try_for_each(|line| say(line))?;
            // What was typed before the prompt can be read was meant for something else.
            tokio::select! {
                () = self.person.quiet(self.dialogue.pause()) => {}
                code = self.signals.next() => return Ok(ConversationEvent::Signal(code)),
            }
            self.person.ask(self.dialogue.prompt(), self.dialogue.takes());
            self.is_asked = true;
        }
        let event = tokio::select! {
            entry = self.person.entry() => ConversationEvent::Entry(entry?),
            Some(_) = self.follower.next() => ConversationEvent::Changed,
            code = self.signals.next() => ConversationEvent::Signal(code),
        };
        self.is_asked &= !matches!(event, ConversationEvent::Entry(_));
        Ok(event)
    }

    /// Prints what changed. Returns the exit code once the question is settled.
    fn changed(&mut self) -> Result<Option<u8>, CommandError> {
        let id = &self.dialogue.record().id;
        let Some(now) = self.joined.store().read(|_, snapshot| snapshot.get(id).cloned()) else {
            return Ok(None);
        };
        // The follower reports the changes of all questions.
        if now == *self.dialogue.record() {
            return Ok(None);
        }
        let has_changed = now.edition != self.dialogue.record().edition;
        self.dialogue.update(Arc::clone(&now));
        if let Some(settlement) = &now.settlement {
            say(&format!("\n{} is over: {}.", now.id, answer::settlement(&now.question, settlement)))?;
            return Ok(Some(exit::SETTLED));
        }
        if has_changed {
            self.changed_text()?;
        }
        if now.expiring && !self.is_warned {
            let left = self.left(&now).unwrap_or_default();
            // The message breaks the line of the prompt, so the prompt is printed again.
            print(&format!("\n{left}; /more gives more time.\n"))?;
            self.person.ask_again()?;
        }
        self.is_warned = now.expiring;
        Ok(None)
    }

    fn left(&self, record: &Record) -> Option<String> {
        let bridges = Bridges::new(self.joined.status());
        let left = record.deadline?.since(bridges.now(record));
        Some(format!("The question ends in {}", span(left)))
    }

    async fn extend(&mut self) -> Result<(), CommandError> {
        let id = self.dialogue.record().id.clone();
        match self.joined.submit(&id, Submission::Extend(MORE_TIME), by()).await {
            Ok(now) => {
                say(&format!("{}.", self.left(&now).unwrap_or_default()))?;
                self.dialogue.update(now);
            }
            Err(Refusal::NoDeadline) => say("The question has no deadline: it waits without limit.")?,
            Err(refusal) => return Err(CommandError::Refused(id.to_string(), refusal)),
        }
        Ok(())
    }

    /// Submits the answer. Returns `None` if it does not fit, and the exit code otherwise.
    async fn submit(&mut self, submission: Submission) -> Result<Option<u8>, CommandError> {
        let id = self.dialogue.record().id.clone();
        match self.joined.submit(&id, submission.clone(), by()).await {
            Ok(now) => {
                let text = format!("{id} {}", said(&now, &submission));
                let done = layout::wrapped(&text, 0, 0, wrap_column());
                Ok(Some(runner::done(exit::OK, &format!("{done}\n"))))
            }
            Err(Refusal::DoesNotFit(errors)) => {
                let lines = self.dialogue.refused(&errors);
                self.say_all(&lines)?;
                Ok(None)
            }
            // The change arrives here before it arrives over the connection that is followed.
            Err(Refusal::Changed(now)) => {
                if self.dialogue.record().edition != now.edition {
                    self.dialogue.update(now);
                    self.changed_text()?;
                }
                Ok(None)
            }
            Err(refusal) => Err(CommandError::Refused(id.to_string(), refusal)),
        }
    }

    /// Shows the present text of a question that has changed, and drops what was typed for the earlier one.
    fn changed_text(&mut self) -> io::Result<()> {
        say(&format!("\n{} has changed while you looked. It now asks:\n", self.dialogue.record().id))?;
        print(&self.shown(|shown| QuestionHeader(shown).to_string()))?;
        self.describe()?;
        // What was typed so far was meant for the text before.
        self.is_asked = false;
        Ok(())
    }

    fn left_open(&mut self, code: u8) -> Result<u8, CommandError> {
        say(&format!("\n{} stays open.", self.dialogue.record().id))?;
        Ok(code)
    }

    fn describe(&self) -> io::Result<()> {
        let Some(field) = self.dialogue.field() else { return Ok(()) };
        print(&self.shown(|shown| FieldText(shown, field).to_string()))
    }

    fn shown(&self, show: impl FnOnce(&QuestionText<'_>) -> String) -> String {
        let record = self.dialogue.record();
        let bridges = Bridges::new(self.joined.status());
        let (columns, colour) = (wrap_column(), is_coloured());
        let (status, now) = (bridges.status(record), bridges.now(record));
        // What acts is allowed only after all of it was in sight (I12).
        let whole = record.question.risk().is_guarded();
        show(&QuestionText { record, status, now, columns, colour, whole })
    }

    fn say_all(&self, lines: &[String]) -> io::Result<()> {
        lines.iter().try_for_each(|line| say(line))
    }
}

/// Says a line, wrapped at the width of the terminal.
fn say(line: &str) -> io::Result<()> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let lines: Vec<_> =
        line.split('\n').map(|line| layout::wrapped(line, 0, indent, wrap_column())).collect();
    print_lines(&lines)
}

/// The extension of a deadline if the person names none.
pub(super) const MORE_TIME: Duration = Duration::from_secs(600);

/// Returns the sentence for an accepted submission.
pub(super) fn said(record: &Record, submission: &Submission) -> String {
    match submission {
        Submission::Answer { answer: given, .. } if record.turn_over => {
            let given = answer::understood(&record.question, given);
            format!("{given}; but its turn was over: the agent may not read it")
        }
        Submission::Answer { answer: given, .. } => answer::understood(&record.question, given),
        _ => format!("rejected: {}", text::headline(record)),
    }
}

/// Returns the provenance of what the person at the command line submits.
pub(super) fn by() -> Provenance {
    let name = std::env::var("USER").ok().filter(|name| !name.is_empty());
    Provenance { responder: Responder::CommandLine, name }
}
