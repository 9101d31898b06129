//! Asks for the fields of a question one by one, and sends the answer.
//! The meaning of a line is left to `form.rs`, and the time to ask to `conversation.rs`.

use std::io::{self, IsTerminal, Write};

use rustix::termios::{QueueSelector, tcflush};

use super::{
    answers::NextInput, conversation::Conversation, draft::Draft, error::ClientError, form::TypedLine,
    request::AgentRequest,
};
use crate::mock::{ConsentReply, message};

impl<W: Write> Conversation<W> {
    /// Sends the response to a request.
    pub(super) fn settle(&mut self, line: Vec<u8>) -> Result<(), ClientError> {
        self.caught_up = false;
        self.send(&line)
    }

    /// Shows the message of the form and asks for its fields. A form without fields is accepted at once.
    pub(super) fn begin(&mut self, request: AgentRequest) -> Result<(), ClientError> {
        if let Some(message) = &request.form.message {
            self.screen.say("form", message)?;
        }
        if request.form.fields.is_empty() {
            return self.settle(message::response(&request.id, request.result(&[]))?);
        }
        self.draft = Some(Draft::new(request));
        self.ask()
    }

    /// Asks for the fields, until a person must type one or all are answered.
    fn ask(&mut self) -> Result<(), ClientError> {
        while let Some(draft) = &mut self.draft {
            let (at, count) = (draft.answers.len(), draft.request.form.fields.len());
            let field = &draft.request.form.fields[at];
            if draft.shown == at {
                draft.shown += 1;
                self.screen.ask(field, (at + 1, count))?;
            }
            let next = self.answers.next(&draft.request, field);
            if next == NextInput::AskPerson && draft.consent.is_none() {
                let asks = self.settings.consent.zip(draft.request.permission());
                draft.consent = asks.and_then(|(ask, params)| ask(params));
            }
            for line in draft.consent.iter().flat_map(|consent| consent.above()) {
                self.screen.say("", &line)?;
            }
            if draft.consent.as_ref().is_some_and(|consent| consent.is_caution()) {
                // What was pasted must not confirm what it ends with. A pipe has nothing to throw away.
                tcflush(io::stdin(), QueueSelector::IFlush).unwrap_or_default();
            }
            self.screen.ask_typing(&draft.hint())?;
            let line = match next {
                NextInput::AskPerson => {
                    self.process.ask_keyboard();
                    return Ok(());
                }
                NextInput::Reject => None,
                NextInput::Type(line) => Some(line),
            };
            self.screen.typed(line.as_deref().unwrap_or("(rejected)"), false)?;
            if let Some(why) = self.take(line)? {
                return Err(ClientError::DoesNotFit(why));
            }
        }
        Ok(())
    }

    /// Repeats the input line if something else was shown after it.
    pub(super) fn ask_typing_again(&mut self) -> Result<(), ClientError> {
        match &self.draft {
            Some(draft) if !self.screen.is_typing() => Ok(self.screen.ask_typing(&draft.hint())?),
            _ => Ok(()),
        }
    }

    /// Takes a typed line, or `None` for the end of stdin, and asks for the next field.
    pub(super) fn take_typed(&mut self, line: Option<String>) -> Result<(), ClientError> {
        let shown = line.is_some() && io::stdin().is_terminal();
        self.screen.typed(line.as_deref().unwrap_or("(end of input)"), shown)?;
        if line.is_none() && self.draft.is_some() {
            self.screen.say("", "stdin has ended: the question is rejected.")?;
        }
        match (line, self.draft.as_mut().and_then(|draft| draft.consent.as_mut())) {
            (Some(line), Some(consent)) => {
                let consented = consent.typed(&line);
                self.consented(consented)?;
            }
            (line, _) => {
                if let Some(why) = self.take(line)? {
                    self.screen.say("", &why)?;
                }
            }
        }
        self.ask()
    }

    /// Does what the person decided on a permission.
    fn consented(&mut self, consented: ConsentReply) -> Result<(), ClientError> {
        let values = match consented {
            ConsentReply::Say(lines) => {
                return Ok(lines.iter().try_for_each(|line| self.screen.say("", line))?);
            }
            ConsentReply::Option(option) => vec![option],
            ConsentReply::Denied => Vec::new(),
        };
        let Some(draft) = self.draft.take() else { return Ok(()) };
        self.settle(message::response(&draft.request.id, draft.request.result(&[values]))?)
    }

    /// Takes a line as the answer to the current field, or rejects the question without a line. Returns why the
    /// line does not fit, if it does not.
    fn take(&mut self, line: Option<String>) -> Result<Option<String>, ClientError> {
        let Some(mut draft) = self.draft.take() else { return Ok(None) };
        let fields = &draft.request.form.fields;
        let count = fields.len();
        let typed = match line {
            Some(line) => fields[draft.answers.len()].typed(&line),
            None => Ok(TypedLine::Skip),
        };
        match typed {
            Ok(TypedLine::Values(values)) => draft.answers.push(values),
            Ok(TypedLine::Nothing) if count > 1 && fields[draft.answers.len()].required => {
                self.draft = Some(draft);
                return Ok(Some("an answer is required here; skip rejects the question".to_owned()));
            }
            Ok(TypedLine::Nothing) if count > 1 => draft.answers.push(Vec::new()),
            Ok(TypedLine::Nothing | TypedLine::Skip) => draft.answers = vec![Vec::new(); count],
            Err(why) => {
                self.draft = Some(draft);
                return Ok(Some(why));
            }
        }
        if draft.answers.len() < count {
            self.draft = Some(draft);
            return Ok(None);
        }
        self.settle(message::response(&draft.request.id, draft.request.result(&draft.answers))?)?;
        Ok(None)
    }
}
