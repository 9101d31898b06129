//! The answer to a request while it is being given, field by field.
//! Asking for the fields is left to `answering.rs`.

use super::request::AgentRequest;
use crate::mock::Consent;

/// An answer that is being given.
pub(super) struct Draft {
    pub(super) request: AgentRequest,
    /// The values of the fields that are answered.
    pub(super) answers: Vec<Vec<String>>,
    /// The number of fields that were shown.
    pub(super) shown: usize,
    /// How the person is asked for a permission.
    pub(super) consent: Option<Box<dyn Consent>>,
}

impl Draft {
    /// Returns an answer without a field yet.
    pub(super) fn new(request: AgentRequest) -> Self {
        Self { request, answers: Vec::new(), shown: 0, consent: None }
    }

    /// Returns what can be typed for the next field.
    pub(super) fn hint(&self) -> String {
        if let Some(consent) = &self.consent {
            return consent.prompt().trim_end().trim_end_matches(':').to_owned();
        }
        let fields = &self.request.form.fields;
        fields.get(self.answers.len()).map(|field| field.hint(fields.len())).unwrap_or_default()
    }
}
