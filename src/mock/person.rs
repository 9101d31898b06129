//! Asking a person, field by field, and turning what is typed into the answer of a question.
//! What a line means is left to `form.rs`, and when to ask to `conversation.rs`.

use std::{
    collections::VecDeque,
    io::{self, IsTerminal, Write},
};

use serde::Serialize;

use super::{
    conversation::Conversation,
    demo::DemoError,
    form::{Form, Typed},
    message::{self, Id},
};

/// A question that a person is being asked.
pub(super) struct Asking {
    pub(super) id: Id,
    form: Form,
    answers: Vec<Vec<String>>,
    /// How many fields were shown.
    shown: usize,
}

impl Asking {
    pub(super) fn new(id: Id, form: Form) -> Self {
        Self { id, form, answers: Vec::new(), shown: 0 }
    }
}

/// The answers of `--answer`: one for each field, and the last one for all that follow.
pub(super) struct Given(VecDeque<String>);

impl Given {
    pub(super) fn new(answers: &[String]) -> Self {
        Self(answers.iter().cloned().collect())
    }

    fn next(&mut self) -> Option<String> {
        if self.0.len() > 1 { self.0.pop_front() } else { self.0.front().cloned() }
    }
}

/// What the agent gets to hear.
#[derive(Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum Answer {
    Answered { answers: Vec<Vec<String>> },
    Rejected,
}

impl<W: Write> Conversation<W> {
    /// Sends the response to a question.
    pub(super) fn settle(&mut self, line: Vec<u8>) -> Result<(), DemoError> {
        self.caught_up = false;
        self.send(&line)
    }

    /// Asks for the next answer, until one must be typed or there is nothing more to ask.
    pub(super) fn ask(&mut self) -> Result<(), DemoError> {
        while let Some(asking) = &mut self.asking {
            let (at, count) = (asking.answers.len(), asking.form.fields.len());
            let field = &asking.form.fields[at];
            if asking.shown == at {
                asking.shown += 1;
                self.screen.ask(field, (at + 1, count))?;
            }
            self.screen.ask_typing(&field.hint(count))?;
            let Some(line) = self.given.next() else {
                self.client.ask_keyboard();
                return Ok(());
            };
            self.screen.typed(&line, false)?;
            self.take(Some(line))?;
        }
        Ok(())
    }

    /// Asks again for what is being typed, if something else was shown meanwhile.
    pub(super) fn ask_typing_again(&mut self) -> Result<(), DemoError> {
        match &self.asking {
            Some(asking) if !self.screen.is_typing() => {
                let field = &asking.form.fields[asking.answers.len()];
                self.screen.ask_typing(&field.hint(asking.form.fields.len()))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes a line that was typed, or the end of stdin, and asks for the next one.
    pub(super) fn take_typed(&mut self, line: Option<String>) -> Result<(), DemoError> {
        let shown = line.is_some() && io::stdin().is_terminal();
        self.screen.typed(line.as_deref().unwrap_or("(end of input)"), shown)?;
        self.take(line)?;
        self.ask()
    }

    /// Takes a line, or that there is none, as the answer to the field that was asked for.
    fn take(&mut self, line: Option<String>) -> Result<(), DemoError> {
        let Some(mut asking) = self.asking.take() else { return Ok(()) };
        let count = asking.form.fields.len();
        let typed = match line {
            Some(line) => asking.form.fields[asking.answers.len()].typed(&line),
            None => {
                self.screen.say("", "Nobody answers any more: the question is rejected.")?;
                Ok(Typed::Skip)
            }
        };
        match typed {
            Ok(Typed::Values(values)) => asking.answers.push(values),
            Ok(Typed::Nothing) if count > 1 => asking.answers.push(Vec::new()),
            Ok(Typed::Nothing | Typed::Skip) => asking.answers = vec![Vec::new(); count],
            Err(why) if self.given.0.is_empty() => self.screen.say("", &why)?,
            Err(why) => return Err(DemoError::DoesNotFit(why)),
        }
        if asking.answers.len() < count {
            self.asking = Some(asking);
            return Ok(());
        }
        let rejected = asking.answers.iter().all(Vec::is_empty);
        let result = if rejected { Answer::Rejected } else { Answer::Answered { answers: asking.answers } };
        self.settle(message::response(&asking.id, result)?)
    }
}
