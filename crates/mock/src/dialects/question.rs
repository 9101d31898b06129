//! A question of the mock agent that has no answer yet, and the request that asks it: a template of its dialect.
//! Reading the response is left to `dispatch.rs`.

use std::io;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::field::{MockField, SEVERAL, fields};
use crate::{MockDialect, behaviour::Shape, template::fill};

/// A question that the mock agent asks.
#[derive(Clone, Debug)]
pub(crate) struct MockQuestion {
    pub(crate) session: String,
    /// Its number in the process, counted from 1.
    pub(crate) number: u64,
    pub(crate) dialect: MockDialect,
    pub(crate) shape: Shape,
    /// Its place among questions that are asked together, counted from 1; `None` if it is asked alone.
    pub(crate) place: Option<usize>,
}

/// The JSON-RPC request that asks a question.
#[derive(Debug)]
pub(crate) struct QuestionRequest {
    pub(crate) method: &'static str,
    pub(crate) params: Box<RawValue>,
}

/// The requests of a dialect: the method, and the parameters for each shape of a question.
#[derive(Deserialize)]
struct Requests {
    method: &'static str,
    #[serde(borrow)]
    options: &'static RawValue,
    #[serde(borrow)]
    confirm: &'static RawValue,
    #[serde(borrow)]
    free: &'static RawValue,
    #[serde(borrow)]
    many: &'static RawValue,
    #[serde(borrow)]
    fields: &'static RawValue,
}

/// The first method name of the standard's form.
const HISTORIC: &str = "session/elicitation";

impl MockQuestion {
    /// Returns the request that asks it.
    pub(crate) fn request(&self) -> io::Result<QuestionRequest> {
        let requests: Requests = serde_json::from_str(self.dialect.spec().questions)?;
        let template = match self.shape {
            Shape::Options => requests.options,
            Shape::Confirm => requests.confirm,
            Shape::Free => requests.free,
            Shape::Many => requests.many,
            Shape::Fields => requests.fields,
        };
        let place = self.place.map(|place| format!(" ({place} of {SEVERAL})")).unwrap_or_default();
        let (id, call) = (self.id(), self.tool_call());
        let values = [("session", &*self.session), ("id", &*id), ("call", &*call), ("place", &*place)];
        let params = RawValue::from_string(fill(template.get(), &values))?;
        let method = if self.dialect == MockDialect::Historic { HISTORIC } else { requests.method };
        Ok(QuestionRequest { method, params })
    }

    /// Returns its ID, unique in the process: `q-1`, `q-2` and so on.
    pub(super) fn id(&self) -> String {
        format!("q-{}", self.number)
    }

    /// Returns the ID of the tool call that asks it, in the spelling of the dialect.
    pub(super) fn tool_call(&self) -> String {
        match self.dialect {
            MockDialect::Claude => format!("toolu_{:02}", self.number),
            MockDialect::Pi => format!("pi-ui-{}", self.number),
            _ => format!("call-{}", self.number),
        }
    }

    /// Returns its fields, as far as the dialect can ask them.
    pub(super) fn fields(&self) -> Vec<MockField> {
        fields(self.shape, self.place, self.dialect)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_dialect_has_a_template_for_every_shape_that_asks_its_fields() {
        for dialect in MockDialect::ALL
            .into_iter()
            .filter(|it| ![MockDialect::Gemini, MockDialect::Opencode].contains(it))
        {
            for shape in [Shape::Options, Shape::Confirm, Shape::Free, Shape::Many, Shape::Fields] {
                let question =
                    MockQuestion { session: "s\"1".to_owned(), number: 7, dialect, shape, place: Some(2) };
                let request = question.request().expect("a template");
                let params: Value = serde_json::from_str(request.params.get()).expect("JSON");
                assert!(
                    !request.params.get().contains('\n'),
                    "{dialect:?} {shape:?}: write them on one line"
                );
                assert!(!request.params.get().contains("{{"), "{dialect:?} {shape:?}: {params}");
                let names_none = [MockDialect::Cursor, MockDialect::Hrns].contains(&dialect);
                assert!(names_none || params["sessionId"] == "s\"1", "{params}");
                // The standard's form has fields of its own, one of each type.
                let has_own =
                    shape == Shape::Fields && dialect.spec().questions == MockDialect::Form.spec().questions;
                for field in question.fields().iter().filter(|_| !has_own) {
                    let texts = field.choices.iter().map(|choice| choice.label).chain([&*field.question]);
                    for text in texts {
                        assert!(
                            request.params.get().contains(text),
                            "{dialect:?} {shape:?}: {text}: {params}"
                        );
                    }
                }
            }
        }
    }
}
