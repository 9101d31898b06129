//! The file of answers: how its lines are read, and what they say about a question. Has no I/O.

use std::{borrow::Cow, collections::BTreeMap, str::FromStr};

use askbridge_control::core::question::{
    Answer, Field, Kind, Purpose, Question,
    input::AnswerInput,
    naming::{look, named},
};
use wildmatch::WildMatchPattern;

/// The lines of a file of answers.
#[derive(Debug, Default)]
pub(crate) struct Answers(Vec<Line>);

#[derive(Debug)]
struct Line {
    asked: WildMatchPattern<'*', '\0'>,
    answer: String,
}

impl FromStr for Answers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lines =
            (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
        let read = lines.map(|(number, line)| {
            let (asked, answer) =
                line.split_once(" = ").ok_or_else(|| format!("line {number} has no ` = `"))?;
            let (asked, answer) = (look(asked), answer.trim().to_owned());
            match asked.is_empty() || answer.is_empty() {
                true => Err(format!("line {number} lacks the question or the answer")),
                false => Ok(Line { asked: WildMatchPattern::new(&asked), answer }),
            }
        });
        read.collect::<Result<_, _>>().map(Answers)
    }
}

impl Answers {
    /// Returns the answer to a question, and in the words of the file, or else why it waits for the person.
    pub(crate) fn answer(&self, question: &Question) -> Result<(Answer, String), Cow<'static, str>> {
        // A file that answers questions must not approve what its author did not see.
        if question.purpose != Purpose::Question {
            return Err("a permission is yours alone".into());
        }
        if question.dangerous || question.takes_second_step() {
            return Err("a wrong answer could do harm".into());
        }
        if question.fields.iter().any(|field| field.secret) {
            return Err("it asks for a secret".into());
        }
        let answers = question.fields.iter().map(|field| self.find(question, field));
        let answers: Vec<_> = answers.collect::<Option<_>>().ok_or("the file has no answer")?;
        for (field, texts) in question.fields.iter().zip(&answers) {
            // Where another text is taken as well, a mistyped option would be sent as one.
            let options = field.kind.options();
            let other = texts.iter().find(|text| !options.is_empty() && named(text, options).is_none());
            if let Some(text) = other {
                return Err(format!("none of its options is {text:?}").into());
            }
        }
        let said = answers.concat().join(", ");
        // Labels become the values of their options, and `true` and `7` what the field takes.
        let read =
            AnswerInput::ByPlace { answers, notes: BTreeMap::new(), images: Vec::new() }.read(question);
        read.map(|answer| (answer, said)).map_err(|errors| {
            let told: Vec<_> = errors.iter().map(ToString::to_string).collect();
            told.join("; ").into()
        })
    }

    /// Returns the texts of the first line that fits a field, by its label or, if it is the only one, by the question.
    fn find(&self, question: &Question, field: &Field) -> Option<Vec<String>> {
        let is_only = question.fields.len() == 1;
        let mut names = vec![look(&field.label)];
        names.extend(is_only.then(|| look(question.heading())));
        let line = self.0.iter().find(|line| names.iter().any(|name| line.asked.matches(name)))?;
        Some(match field.kind {
            Kind::Choices { .. } | Kind::Texts { .. } => {
                line.answer.split(" | ").map(|text| text.trim().to_owned()).collect()
            }
            _ => vec![line.answer.clone()],
        })
    }
}
