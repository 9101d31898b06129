//! Who makes the calls of a connection, and which questions that caller may settle.

use std::sync::Arc;

use askbridge_core::{
    desk::{Asker, IdPrefix, QuestionId, Record, Refusal},
    question::{Provenance, Responder},
};
use jsonrpsee::{Extensions, core::RpcResult};

use super::connection::{Connection, error, is_of_agent};
use crate::{inbox::Inbox, limits};

/// How the responder of a connection's calls is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The caller may be any program. The kind of responder is fixed, and the caller only gives its name.
    Of(Responder),
    /// The caller is a program of ours that passes on the decisions of others, and names the kind of responder itself.
    Ours,
}

impl Caller {
    /// Returns the responder of a call: the one that the connection is known to be, or else the one that the call names.
    pub(super) fn responder(self, by: Option<Provenance>, extensions: &Extensions) -> Provenance {
        let known = extensions.get::<Connection>().and_then(|connection| connection.by.clone());
        known.unwrap_or_else(|| self.provenance(by))
    }

    fn provenance(self, by: Option<Provenance>) -> Provenance {
        let responder = match self {
            Caller::Of(responder) => responder,
            Caller::Ours => by.as_ref().map_or(Responder::CommandLine, |by| by.responder),
        };
        let name = by.and_then(|by| by.name).filter(|name| name.len() <= limits::NAME);
        Provenance { responder, name }
    }
}

/// Returns the question with this ID, if the caller may settle it. Settling a question requires its full ID.
pub(super) async fn named(inbox: &impl Inbox, id: &str, extensions: &Extensions) -> RpcResult<Arc<Record>> {
    let id: QuestionId = id.parse().map_err(|_| error(Refusal::NotFound))?;
    // `look_up`: an answer given again may be to a question that only its bridge remembers.
    let record = inbox.look_up(&IdPrefix::from(&id)).await.map_err(error)?;
    if id.asker == Asker::Agent && is_of_agent(extensions) {
        return Err(error(Refusal::OwnAgent));
    }
    Ok(record)
}
