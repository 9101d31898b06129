//! A question of the mock agent that has no answer yet, and the request that asks it.
//! Choosing the dialect's own functions is left to `dispatch.rs`.

use std::io;

use serde_json::value::{RawValue, to_raw_value};

use super::field::{MockField, fields};
use crate::mock::{MockDialect, behaviour::Shape};

/// A question that the mock agent asks.
#[derive(Clone, Debug)]
pub(in crate::mock) struct MockQuestion {
    pub(in crate::mock) session: String,
    /// Its number in the process, counted from 1.
    pub(in crate::mock) number: u64,
    pub(in crate::mock) dialect: MockDialect,
    pub(in crate::mock) shape: Shape,
    /// Its place among questions that are asked together, counted from 1; `None` if it is asked alone.
    pub(in crate::mock) place: Option<usize>,
}

/// The JSON-RPC request that asks a question.
#[derive(Debug)]
pub(in crate::mock) struct QuestionRequest {
    pub(in crate::mock) method: &'static str,
    pub(in crate::mock) params: Box<RawValue>,
}

impl QuestionRequest {
    /// Serializes the parameters.
    pub(super) fn new(method: &'static str, params: &impl serde::Serialize) -> io::Result<Self> {
        Ok(Self { method, params: to_raw_value(params)? })
    }
}

impl MockQuestion {
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
