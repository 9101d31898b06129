//! Several elicitations that are asked as one question: all that a call needs before it goes on. What the person says to
//! the question is the answer to each of them.

use serde_json::value::RawValue;

use super::elicitation::{self, ElicitationReply, Mode, UNNAMED};
use crate::{
    dialect::agent_dialect::Rejection,
    question::{Answer, Origin, Outcome, Question, Reason},
    wire::scan,
};

/// The elicitations behind one question, each with the key by which its asker knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch(Vec<Part>);

#[derive(Clone, Debug, PartialEq)]
struct Part {
    key: String,
    mode: Mode,
    /// The question as this elicitation alone asks it.
    question: Question,
    reply: ElicitationReply,
}

/// What stands between the key of an elicitation and the name of its field.
const SEPARATOR: char = '/';

impl Batch {
    /// Reads elicitations, each by its key and its `params`, as one question. `None` if the mode of one is unknown, or
    /// there is none.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn read<'a>(
        elicitations: impl IntoIterator<Item = (String, &'a [u8])>,
    ) -> Result<Option<(Question, Self)>, String> {
        let mut parts = Vec::new();
        for (key, params) in elicitations {
            let read = elicitation::read(params).map_err(|why| match key.is_empty() {
                true => why,
                false => format!("{key}: {why}"),
            })?;
            let (Some((question, reply)), Some(mode)) = (read, Mode::of(params)) else { return Ok(None) };
            parts.push(Part { key, mode, question, reply });
        }
        let batch = Batch(parts);
        if batch.0.is_empty() { Ok(None) } else { Ok(Some((batch.question()?, batch))) }
    }

    /// Returns the question that asks all of them.
    ///
    /// # Errors
    /// Why they cannot be asked together.
    pub fn question(&self) -> Result<Question, String> {
        match &*self.0 {
            [only] => Ok(only.question.clone()),
            several => together(several),
        }
    }

    /// Returns whether one of them has this mode.
    pub fn has(&self, mode: Mode) -> bool {
        self.0.iter().any(|part| part.mode == mode)
    }

    /// Returns whether each of them has a key of this kind.
    pub fn has_keys(&self, is: impl Fn(&str) -> bool) -> bool {
        self.0.iter().all(|part| is(&part.key))
    }

    /// Returns how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        let part =
            |part: &Part| size_of::<Part>() + part.key.len() + part.reply.bytes() + part.question.most_json();
        self.0.iter().map(part).sum()
    }

    /// Writes an answer to the question as the result of each elicitation.
    pub fn write_answer(&self, answer: &Answer) -> Vec<(&str, Box<RawValue>)> {
        let own = |part: &Part| part.reply.write_answer(&part.question, &self.of_part(part, answer));
        self.0.iter().map(|part| (&*part.key, own(part))).collect()
    }

    /// Writes a rejection of the question as the result of each elicitation.
    pub fn write_rejection(&self, rejection: Rejection<'_>) -> Vec<(&str, Box<RawValue>)> {
        self.0.iter().map(|part| (&*part.key, part.reply.write_rejection(rejection))).collect()
    }

    /// Returns whether whoever accepts says no more than yes, to each of them.
    pub fn is_consent(&self) -> bool {
        self.0.iter().all(|part| part.reply.is_consent())
    }

    /// Returns whether the person says that the pages were opened: a batch of pages alone is a question of this.
    pub fn is_accepted(&self, answer: &Answer) -> bool {
        self.0.iter().all(|part| match part.reply {
            ElicitationReply::Page => elicitation::is_opened(&self.of_part(part, answer)),
            ElicitationReply::Form(_) => true,
        })
    }

    /// Reads the results of a host. `None` if one is missing, or has no known meaning.
    pub fn read_results<'a>(&self, result: impl Fn(&str) -> Option<&'a [u8]>) -> Option<Outcome> {
        let mut all = Answer::default();
        let mut rejected = None;
        for part in &self.0 {
            match part.reply.read(&part.question, result(&part.key)?)? {
                Outcome::Answered(answer) => {
                    let Answer { values, notes, .. } = answer;
                    all.values
                        .extend(values.into_iter().map(|(name, value)| (self.name(part, &name), value)));
                    all.notes.extend(notes.into_iter().map(|(name, note)| (self.name(part, &name), note)));
                }
                Outcome::Rejected(Reason::User) => rejected = Some(Reason::User),
                Outcome::Rejected(reason) => rejected = rejected.or(Some(reason)),
                other => return Some(other),
            }
        }
        Some(rejected.map_or(Outcome::Answered(all), Outcome::Rejected))
    }

    /// Returns the name in the question of a field of one elicitation.
    fn name(&self, part: &Part, name: &str) -> String {
        if self.0.len() == 1 { name.to_owned() } else { format!("{}{SEPARATOR}{name}", part.key) }
    }

    fn of_part(&self, part: &Part, answer: &Answer) -> Answer {
        if self.0.len() == 1 {
            return answer.clone();
        }
        let own = |name: &str| {
            let rest = name.strip_prefix(&*part.key)?.strip_prefix(SEPARATOR)?;
            part.question.fields.iter().any(|field| field.name == rest).then(|| rest.to_owned())
        };
        let Answer { values, notes, .. } = answer;
        let values = values.iter().filter_map(|(name, value)| Some((own(name)?, value.clone())));
        let notes = notes.iter().filter_map(|(name, note)| Some((own(name)?, note.clone())));
        Answer { values: values.collect(), notes: notes.collect(), ..Answer::default() }
    }
}

/// Joins several questions to one. The message of each is above its fields.
fn together(parts: &[Part]) -> Result<Question, String> {
    let mut whole = Question::new(Origin::McpServer, UNNAMED, Vec::new());
    for part in parts {
        let Question { message, fields, links, notes, .. } = &part.question;
        whole.notes &= notes;
        whole.links.extend(links.iter().cloned());
        let above = Some(message.trim()).filter(|message| !message.is_empty());
        for (place, field) in fields.iter().enumerate() {
            let mut field = field.clone();
            field.name = format!("{}{SEPARATOR}{}", part.key, field.name);
            field.required_with = field.required_with.map(|names| format!("{}{SEPARATOR}{names}", part.key));
            // The only field of a form has its message as its label already.
            if let Some(above) = above.filter(|above| place == 0 && *above != field.label) {
                field.header =
                    Some(field.header.map_or_else(|| above.to_owned(), |own| format!("{above}: {own}")));
            }
            whole.fields.push(field);
        }
    }
    whole.check_limits()?;
    Ok(whole)
}

/// Returns a member of an object of results, by its key.
pub fn replies<'a>(results: &'a [u8]) -> impl Fn(&str) -> Option<&'a [u8]> {
    move |key| scan::member(results, key)
}
