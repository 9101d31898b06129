//! The methods by which a person can take back what they have sent: it waits, and its sender says so in time, or goes.
//! They are for connections, since the end of one submits what waits. Waiting is left to `deferrals.rs`.

use std::sync::Arc;

use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Submission},
    question::{
        Answer, Comment, Provenance, check,
        comments::{with_answer, with_reason},
        input::AnswerInput,
    },
};
use jsonrpsee::{
    Extensions, RpcModule,
    core::{RegisterMethodError, RpcResult},
};
use serde::{Deserialize, Serialize};

use super::{
    caller::{Caller, named},
    connection::{Connection, error, wait},
    deferrals::Sender,
    method,
};
use crate::inbox::Inbox;

#[derive(Deserialize)]
struct DeferParams {
    id: String,
    /// What answers it. Without it, the question is rejected.
    answer: Option<AnswerInput>,
    seen: Option<u32>,
    reason: Option<String>,
    #[serde(default)]
    comments: Vec<Comment>,
    by: Option<Provenance>,
    /// The name of what it is sent together with.
    together: Option<Arc<str>>,
}

#[derive(Deserialize)]
struct IdParams {
    id: String,
}

/// How long a submission waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Deferral {
    /// The time until it is submitted. 0 if it does not wait: the caller submits it with `question_answer` or
    /// `question_reject`.
    pub milliseconds: u64,
}

/// Returns the methods over this inbox.
pub(super) fn methods<I: Inbox>(
    inbox: I,
    caller: Caller,
) -> Result<RpcModule<(I, Caller)>, RegisterMethodError> {
    let mut module = RpcModule::new((inbox, caller));
    module.register_async_method(
        method::DEFER,
        async |params, context, extensions| -> RpcResult<Deferral> {
            let DeferParams { id, answer, seen, reason, comments, by, together } = params.parse()?;
            let (inbox, caller) = &*context;
            let record = named(inbox, &id, &extensions).await?;
            let submission = match answer {
                Some(answer) => Submission::answer(fitting(answer, &comments, &record).map_err(error)?, seen),
                None => Submission::Reject(with_reason(reason, &comments)),
            };
            let by = caller.responder(by, &extensions);
            let sender = sender(&extensions)?;
            let time = sender.defer_together(inbox, &record, submission, by, together).unwrap_or_default();
            Ok(Deferral { milliseconds: u64::try_from(time.as_millis()).unwrap_or(u64::MAX) })
        },
    )?;
    module.register_async_method(
        method::DEFERRED,
        async |params, _, extensions| -> RpcResult<Option<Arc<Record>>> {
            let verdict = sender(&extensions)?.verdict(&id(params.parse()?)?);
            let verdict = verdict.ok_or_else(|| error(Refusal::NotFound))?;
            drop(params);
            wait(&extensions);
            // The server ends: it is not known what became of it.
            verdict.await.unwrap_or(Err(Refusal::Unknown)).map_err(error)
        },
    )?;
    module.register_async_method(method::UNDO, async |params, _, extensions| -> RpcResult<bool> {
        Ok(sender(&extensions)?.take_back(&id(params.parse()?)?))
    })?;
    Ok(module)
}

/// Reads an answer. One that does not fit is refused before it waits, while the person is still there.
fn fitting(answer: AnswerInput, comments: &[Comment], record: &Record) -> Result<Answer, Refusal> {
    let question = &record.question;
    let answer = answer.read(question).and_then(|answer| with_answer(question, answer, comments));
    let answer = answer.map_err(Refusal::DoesNotFit)?;
    check(question, &answer).map_err(Refusal::DoesNotFit)?;
    Ok(answer)
}

fn id(IdParams { id }: IdParams) -> RpcResult<QuestionId> {
    id.parse().map_err(|_| error(Refusal::NotFound))
}

fn sender(extensions: &Extensions) -> RpcResult<&Sender> {
    let sender = extensions.get::<Connection>().and_then(|connection| connection.sender.as_deref());
    // Methods with deferrals give each connection a sender.
    sender.ok_or_else(|| error(Refusal::NotFound))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use askbridge_core::question::Responder;
    use serde_json::{Value, json};

    use super::*;
    use crate::rpc::{
        deferrals::Deferrals,
        methods::Methods,
        played::played,
        session::{Incoming, call},
    };

    #[tokio::test]
    async fn a_connection_that_only_reads_sends_nothing_later_either() {
        let (inbox, _port, _work) = played("b");
        let deferrals = Deferrals::new(Duration::from_secs(3));
        let methods = Methods::with_undo(inbox, Caller::Of(Responder::Page), deferrals).read_only();
        for method in [method::DEFER, method::REJECT] {
            let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "id": "b-1" } });
            let reply = call(&methods, Incoming { text: request.to_string(), room: None }).await;
            let reply: Value = serde_json::from_slice(reply.unwrap().as_ref()).unwrap();
            assert_eq!(reply["error"]["data"]["name"], "read_only", "{method}");
        }
    }
}
