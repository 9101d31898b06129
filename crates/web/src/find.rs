//! Finds the question that a path names.

use std::sync::Arc;

use askbridge_control::inbox::Inbox;
use askbridge_core::desk::{Record, Refusal};
use serde::Deserialize;

use super::app::App;

/// The parameters of a path of one question.
#[derive(Deserialize)]
pub(super) struct QuestionPath {
    /// The session, under which the agent's own ID of the question is accepted as well.
    session: Option<String>,
    id: String,
}

/// Finds a question. Prefers an open question to settled ones, and the latest of these: an agent may reuse an ID.
pub(super) async fn find<I: Inbox>(app: &App<I>, name: &QuestionPath) -> Result<Arc<Record>, Refusal> {
    let QuestionPath { session, id } = name;
    let Some(session) = session else { return app.look_up(id).await };
    let is_meant = |record: &&Arc<Record>| {
        record.question.session.as_ref() == Some(session)
            && (record.question.id == *id || record.id.to_string() == *id)
    };
    let (_, open) = app.open();
    let open: Vec<_> = open.iter().filter(is_meant).collect();
    match open[..] {
        [] => {
            let settled = app
                .inbox
                .store()
                .read(|_, snapshot| snapshot.settled().rfind(is_meant).map(|record| record.id.to_string()));
            // The look-up also tells whether the question was lost, which the snapshot's record alone does not.
            let record = app.look_up(settled.as_ref().unwrap_or(id)).await?;
            Some(record).filter(|record| is_meant(&record)).ok_or(Refusal::NotFound)
        }
        [only] => Ok(Arc::clone(only)),
        // Two agents may use the same IDs for a session and a question.
        _ => Err(Refusal::Ambiguous(open.iter().map(|record| record.id.clone()).collect())),
    }
}
