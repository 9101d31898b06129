//! Asking field by field, and turning what is typed into the answer of a question, whoever types it.
//! What a line means is left to `form.rs`, and when to ask to `conversation.rs`.

use std::io::{self, IsTerminal, Write};

use super::{asked::Asked, conversation::Conversation, error::ClientError, form::Typed, given::Next};
use crate::mock::message;

/// A question that is being answered.
pub(super) struct Asking {
    pub(super) asked: Asked,
    answers: Vec<Vec<String>>,
    /// How many fields were shown.
    shown: usize,
}

impl Asking {
    pub(super) fn new(asked: Asked) -> Self {
        Self { asked, answers: Vec::new(), shown: 0 }
    }

    /// What may be typed now.
    fn hint(&self) -> String {
        let fields = &self.asked.form.fields;
        fields.get(self.answers.len()).map(|field| field.hint(fields.len())).unwrap_or_default()
    }
}

impl<W: Write> Conversation<W> {
    /// Sends the response to a question.
    pub(super) fn settle(&mut self, line: Vec<u8>) -> Result<(), ClientError> {
        self.caught_up = false;
        self.send(&line)
    }

    /// Shows what is asked before its fields, and asks for them. Without fields, all that can be said is yes.
    pub(super) fn begin(&mut self, asked: Asked) -> Result<(), ClientError> {
        if let Some(message) = &asked.form.message {
            self.screen.say("form", message)?;
        }
        if asked.form.fields.is_empty() {
            return self.settle(message::response(&asked.id, asked.result(&[]))?);
        }
        self.asking = Some(Asking::new(asked));
        self.ask()
    }

    /// Asks for the next answer, until one must be typed or there is nothing more to ask.
    fn ask(&mut self) -> Result<(), ClientError> {
        while let Some(asking) = &mut self.asking {
            let (at, count) = (asking.answers.len(), asking.asked.form.fields.len());
            let field = &asking.asked.form.fields[at];
            if asking.shown == at {
                asking.shown += 1;
                self.screen.ask(field, (at + 1, count))?;
            }
            let next = self.given.next(&asking.asked, field);
            self.screen.ask_typing(&asking.hint())?;
            let line = match next {
                Next::AskPerson => {
                    self.process.ask_keyboard();
                    return Ok(());
                }
                Next::Reject => None,
                Next::Type(line) => Some(line),
            };
            self.screen.typed(line.as_deref().unwrap_or("(rejected)"), false)?;
            if let Some(why) = self.take(line)? {
                return Err(ClientError::DoesNotFit(why));
            }
        }
        Ok(())
    }

    /// Asks again for what is being typed, if something else was shown meanwhile.
    pub(super) fn ask_typing_again(&mut self) -> Result<(), ClientError> {
        match &self.asking {
            Some(asking) if !self.screen.is_typing() => Ok(self.screen.ask_typing(&asking.hint())?),
            _ => Ok(()),
        }
    }

    /// Takes a line that was typed, or the end of stdin, and asks for the next one.
    pub(super) fn take_typed(&mut self, line: Option<String>) -> Result<(), ClientError> {
        let shown = line.is_some() && io::stdin().is_terminal();
        self.screen.typed(line.as_deref().unwrap_or("(end of input)"), shown)?;
        if line.is_none() && self.asking.is_some() {
            self.screen.say("", "Nobody answers any more: the question is rejected.")?;
        }
        if let Some(why) = self.take(line)? {
            self.screen.say("", &why)?;
        }
        self.ask()
    }

    /// Takes a line as the answer to the field that was asked for, or rejects the question; returns why the line
    /// does not fit.
    fn take(&mut self, line: Option<String>) -> Result<Option<String>, ClientError> {
        let Some(mut asking) = self.asking.take() else { return Ok(None) };
        let fields = &asking.asked.form.fields;
        let count = fields.len();
        let typed = match line {
            Some(line) => fields[asking.answers.len()].typed(&line),
            None => Ok(Typed::Skip),
        };
        match typed {
            Ok(Typed::Values(values)) => asking.answers.push(values),
            Ok(Typed::Nothing) if count > 1 => asking.answers.push(Vec::new()),
            Ok(Typed::Nothing | Typed::Skip) => asking.answers = vec![Vec::new(); count],
            Err(why) => {
                self.asking = Some(asking);
                return Ok(Some(why));
            }
        }
        if asking.answers.len() < count {
            self.asking = Some(asking);
            return Ok(None);
        }
        self.settle(message::response(&asking.asked.id, asking.asked.result(&asking.answers))?)?;
        Ok(None)
    }
}
