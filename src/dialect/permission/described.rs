//! Permissions of agents that ask in a protocol of their own: from what their dialect found out to the same question as
//! over ACP. How such a request stands on the wire is left to the dialect.

use super::subject::Draft;
use crate::{
    limits,
    question::{Field, FieldOption, Kind, Origin, Purpose, Question, Subject, subject},
};

/// What a dialect knows of a permission.
#[derive(Debug, Default)]
pub(in crate::dialect) struct PermissionDescription {
    /// The session that it belongs to.
    pub session: Option<String>,
    /// The tool call that waits for it.
    pub tool_call: Option<String>,
    /// The heading. Without one, the subject says what is asked.
    pub title: Option<String>,
    /// What it is about.
    pub subject: Subject,
    /// Whether the agent says by itself that a wrong answer can do harm.
    pub is_marked: bool,
    /// The options, with their roles.
    pub options: Vec<FieldOption>,
}

impl PermissionDescription {
    /// Returns the permission as a question. Texts that are too long are cut.
    ///
    /// Returns `None` without options, and where two options have the same value: an answer could not name its option.
    pub(in crate::dialect) fn question(self, origin: Origin, fallback_id: &str) -> Option<Question> {
        let PermissionDescription { session, tool_call, title, subject, is_marked, mut options } = self;
        let is_known = |(place, option): (usize, &FieldOption)| {
            options[..place].iter().any(|other| other.value == option.value)
        };
        if options.is_empty() || options.iter().enumerate().any(is_known) {
            return None;
        }
        options.iter_mut().for_each(|option| option.label = subject::cut(&option.label, limits::TEXT));
        let draft = Draft::of_known(subject);
        let (message, subject) = draft.with_heading(title, None);
        let message = subject::cut(&message, limits::TEXT);
        let field = Field::at(0, message.clone(), None, Kind::choice(options, false, false));
        Some(Question {
            session,
            tool_call,
            message,
            purpose: Purpose::Permission,
            subject: (!subject.is_empty()).then(|| Box::new(subject)),
            dangerous: is_marked,
            // Such agents read the chosen option, and nothing beside it.
            notes: false,
            ..Question::new(origin, fallback_id, vec![field])
        })
    }
}
