//! What a list shows of an open question, read from its record without the rest: several times as fast as reading the
//! whole of it. Records as a whole are left to `protocol.rs`.

use std::sync::Arc;

use serde::Deserialize;

use super::protocol::Readable;
use crate::{
    desk::{BridgeName, QuestionId, Record, State, Timestamp},
    question::{Field, Kind, Origin, Question},
};

/// The open questions of a listing, in outline.
#[derive(Deserialize)]
pub(super) struct ListingOutline {
    questions: Readable<Outline>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outline {
    id: QuestionId,
    bridge: BridgeName,
    #[serde(default)]
    state: State,
    question: QuestionOutline,
    opened_at: Timestamp,
    deadline: Option<Timestamp>,
    #[serde(default)]
    elsewhere: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QuestionOutline {
    agent: Option<Arc<str>>,
    project: Option<Arc<str>>,
    question_id: String,
    title: Option<String>,
    message: String,
    fields: Vec<FieldOutline>,
    origin: Origin,
}

#[derive(Deserialize)]
struct FieldOutline {
    label: String,
}

impl ListingOutline {
    /// Returns the questions as records in which everything that a list does not show is left out: their fields are
    /// not to be answered.
    pub(super) fn into_records(self) -> Readable<Record> {
        let Readable { items, sizes, unreadable } = self.questions;
        let items = items.into_iter().filter_map(Arc::into_inner);
        Readable { items: items.map(|outline| Record::from(outline).into()).collect(), sizes, unreadable }
    }
}

impl From<Outline> for Record {
    fn from(outline: Outline) -> Self {
        let Outline { id, bridge, state, question: asked, opened_at, deadline, elsewhere } = outline;
        let kind = Kind::Boolean { default: None };
        let fields = asked.fields.into_iter().enumerate();
        let fields = fields.map(|(place, field)| Field::at(place, field.label, None, kind.clone())).collect();
        let question = Question {
            agent: asked.agent,
            project: asked.project,
            title: asked.title,
            message: asked.message,
            ..Question::new(asked.origin, &asked.question_id, fields)
        };
        let record = Record::new(id, question.into(), opened_at);
        Record { bridge, state, deadline, elsewhere, ..record }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::control::{played::question, protocol::Listing};

    #[test]
    fn an_outline_shows_what_a_list_shows() {
        let id: QuestionId = "b-1".parse().expect("an ID");
        let mut record = Record::new(id, question("Why?").into(), Timestamp::default());
        record.deadline = Some(Timestamp::default());
        record.state = State::Delivering;
        record.elsewhere = true;
        let listing = serde_json::to_value(Listing::new(1, vec![record.clone().into()])).expect("JSON");
        let outline: ListingOutline = serde_json::from_value(listing).expect("a listing");
        let read = outline.into_records().items.remove(0);
        assert_eq!(read.question.headline(), record.question.headline());
        assert_eq!(read.question.id, record.question.id);
        let shown = |record: &Record| {
            (record.id.clone(), record.state, record.opened_at, record.deadline, record.elsewhere)
        };
        assert_eq!(shown(&read), shown(&record));
    }

    #[test]
    fn a_question_that_has_no_outline_is_counted() {
        let listing = json!({ "questions": [{ "id": "b-1", "question": "a hum" }, { "id": "b-2" }] });
        let outline: ListingOutline = serde_json::from_value(listing).expect("a listing");
        let records = outline.into_records();
        assert_eq!((records.items.len(), records.unreadable.len()), (0, 2));
    }
}
