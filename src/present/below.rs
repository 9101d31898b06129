//! What stands below the fields of a question: how the same question ended before, what may be changed, and the commands
//! that decide.

use std::fmt::{self, Formatter};

use askbridge_core::{
    desk::{EarlierDecision, Record, Settlement, State},
    question::{Kind, Outcome, Purpose, Role, form},
};

use super::{
    answer, images, layout,
    question::{INDENT, QuestionText, schema_text},
    text::span,
};

/// Up to this many fields, the suggested command gives the values in order and not by name.
const MOST_IN_TURN: usize = 3;

impl QuestionText<'_> {
    /// Returns how the same question ended before.
    fn earlier(&self, earlier: &EarlierDecision) -> String {
        let EarlierDecision { id, outcome, by, at, was_delivered, may_have_arrived } = earlier;
        let settled = Settlement::new(outcome.clone(), by.clone(), *at);
        let said = answer::settlement(&self.record.question, &settled);
        let arrived = match (was_delivered, may_have_arrived) {
            (true, _) => "",
            (false, true) => "; the decision may not have reached the agent",
            (false, false) => "; the decision did not reach the agent",
        };
        format!("asked before as {id}, {} ago{arrived}: {said}", span(self.now.since(*at)))
    }

    pub(super) fn foot(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Record { id, question, kept, earlier, settlement, state, .. } = self.record;
        if let Some(kept) = kept {
            writeln!(out)?;
            self.line(&format!("answered so far: {}", answer::given(question, kept)), 0, out)?;
        }
        if let Some(earlier) = earlier {
            writeln!(out)?;
            self.line(&self.earlier(earlier), 0, out)?;
        }
        if question.images.first().is_some_and(|_| self.record.is_open()) {
            let ending = images::ending(question.images[0].format);
            writeln!(out, "\nThe image itself: askbridge show {id} --image 1 > image.{ending}")?;
        }
        if self.record.has_context {
            writeln!(out, "\nWhat led to it: askbridge show --context {id}")?;
        }
        if settlement.is_none() && *state != State::Delivering {
            // Commands are not wrapped, so that they can be copied.
            if question.purpose == Purpose::Permission {
                return self.decide(out);
            }
            let values = match question.fields.len() {
                fields @ ..=MOST_IN_TURN => vec!["VALUE"; fields].join(" "),
                _ => "--field NAME=VALUE …".to_owned(),
            };
            let image = if question.takes_images { " [--image FILE]" } else { "" };
            writeln!(out, "\naskbridge answer {id} {values}{image}\naskbridge reject {id}")?;
            if earlier.as_ref().is_some_and(|earlier| matches!(earlier.outcome, Outcome::Answered(_))) {
                writeln!(out, "askbridge answer {id} --again")?;
            }
        }
        Ok(())
    }

    /// Writes that the arguments may be changed, and what they must fit.
    pub(super) fn arguments(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Some(field) = self.record.question.arguments() else { return Ok(()) };
        writeln!(out)?;
        self.line("The arguments may be changed: they take", 0, out)?;
        match &field.kind {
            Kind::Json { schema } => {
                writeln!(out, "{}", layout::indented(&schema_text(schema), INDENT, usize::MAX))
            }
            _ => Ok(()),
        }
    }

    /// Writes the commands that decide on a permission. If several options allow it, the user chooses one by its
    /// number.
    fn decide(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Record { id, question, .. } = self.record;
        let with = |role| form::options_with_role(question, role).count();
        let allow = match with(Role::AllowOnce) {
            1 => format!("askbridge allow {id}"),
            _ => format!("askbridge answer {id} NUMBER"),
        };
        let always = match with(Role::AllowAlways) {
            1 => format!("\naskbridge allow {id} --always"),
            _ => String::new(),
        };
        let changed = match (question.arguments(), question.fields.first()) {
            (Some(field), Some(choice)) => {
                format!("\naskbridge answer {id} --field {}=NUMBER --field {}=JSON", choice.name, field.name)
            }
            _ => String::new(),
        };
        writeln!(out, "\n{allow}{always}{changed}\naskbridge reject {id}")
    }
}
