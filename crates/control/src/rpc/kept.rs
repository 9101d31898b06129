//! The methods for questions that no connection holds. What they do is left to `asked.rs` of the inbox.

use std::{sync::Arc, time::Duration};

use askbridge_core::{
    desk::{QuestionId, Record, Refusal},
    question::Question,
};
use jsonrpsee::{
    Extensions, RpcModule,
    core::{RegisterMethodError, RpcResult},
    types::{ErrorCode, ErrorObjectOwned},
};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;

use super::{
    connection::{Budgets, CallRoom, Connection, error},
    method,
};
use crate::{
    inbox::{AskedUnder, Inbox, NotKept, asked},
    limits,
};

#[derive(Deserialize)]
struct KeepParams {
    question: Question,
    key: Option<String>,
}

#[derive(Deserialize)]
struct OutcomeParams {
    id: String,
    milliseconds: Option<u64>,
}

#[derive(Deserialize)]
struct WithdrawParams {
    id: String,
}

/// Returns the methods over this inbox.
pub(super) fn methods<I: Inbox>(
    inbox: I,
    budgets: &Budgets,
) -> Result<RpcModule<(I, Budgets)>, RegisterMethodError> {
    let mut module = RpcModule::new((inbox, budgets.clone()));
    module.register_async_method(method::KEEP, async |params, context, extensions| {
        let KeepParams { question, key } = params.parse()?;
        let question = made_by_asker(question).map_err(error)?;
        let under = key.map(|key| AskedUnder::new(&key, &question)).transpose();
        let under = under.map_err(|why| invalid(why.to_owned()))?;
        let kept = asked::keep(&context.0, question, under).await.map_err(not_kept)?;
        reply(kept.record, &context.1, &extensions).await
    })?;
    module.register_async_method(method::OUTCOME, async |params, context, extensions| {
        let OutcomeParams { id, milliseconds } = params.parse()?;
        drop(params);
        let (id, within) = (full(&id)?, within(milliseconds)?);
        let (within, _room) = room(within, &context.1, &extensions)?;
        let record = asked::outcome(&context.0, &id, within).await.map_err(not_kept)?;
        reply(record, &context.1, &extensions).await
    })?;
    module.register_async_method(method::WITHDRAW, async |params, context, _| -> RpcResult<()> {
        let WithdrawParams { id } = params.parse()?;
        asked::withdraw(&context.0, &full(&id)?).await.map_err(not_kept)
    })?;
    Ok(module)
}

/// Checks that a question has nothing that the inbox makes from what its asker says: an action with another digest than that
/// of its subject would be allowed unseen. An outcome, which is what its asker gets, has the data of no image.
pub(super) fn made_by_asker(question: Question) -> Result<Question, Refusal> {
    let bad = |why: &str| Err(Refusal::BadQuestion(why.to_owned()));
    match question {
        Question { takes_images: true, .. } => bad("takesImages: a program gets no image in an answer"),
        Question { action: None, schema: None, .. } => Ok(question),
        _ => bad("action, schema: only `POST /v1/questions` takes them"),
    }
}

/// Reads a full ID.
fn full(id: &str) -> RpcResult<QuestionId> {
    id.parse().map_err(|_| error(Refusal::NotFound))
}

fn within(milliseconds: Option<u64>) -> RpcResult<Duration> {
    let within = Duration::from_millis(milliseconds.unwrap_or_default());
    match within <= limits::OUTCOME {
        true => Ok(within),
        false => Err(invalid(format!("milliseconds: {} at most", limits::OUTCOME.as_millis()))),
    }
}

/// Returns how long a call waits, and its room while it does. A call of a batch has no room of its own, and does not wait,
/// since it would delay the replies to the others.
fn room(
    within: Duration,
    budgets: &Budgets,
    extensions: &Extensions,
) -> RpcResult<(Duration, Option<OwnedSemaphorePermit>)> {
    let Some(call) = extensions.get::<CallRoom>().filter(|_| !within.is_zero()) else {
        return Ok((Duration::ZERO, None));
    };
    let room = budgets.outcome().ok_or_else(|| error(Refusal::TooManyRequests))?;
    call.give_back();
    Ok((within, Some(room)))
}

async fn reply(record: Arc<Record>, budgets: &Budgets, extensions: &Extensions) -> RpcResult<Arc<Record>> {
    if let Some(connection) = extensions.get::<Connection>() {
        connection.reserve(budgets, record.size()).await?;
    }
    Ok(record)
}

fn not_kept(why: NotKept) -> ErrorObjectOwned {
    error(why.into())
}

fn invalid(why: String) -> ErrorObjectOwned {
    ErrorObjectOwned::owned(ErrorCode::InvalidParams.code(), why, None::<()>)
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::SystemTime};

    use askbridge_core::{desk::Report, question::Responder};
    use futures::{FutureExt, future::BoxFuture};
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        inbox::{BridgeInbox, Consuming, Identity, Kept, NotUsed, Standing},
        rpc::{
            caller::Caller,
            methods::Methods,
            played::question,
            session::{Incoming, call},
        },
    };

    /// It has one question, which nobody answers.
    #[derive(Debug)]
    struct Waiting(Arc<Record>);

    impl Standing for Waiting {
        fn id(&self, _: u64) -> QuestionId {
            self.0.id.clone()
        }

        fn has(&self, id: &QuestionId) -> bool {
            *id == self.0.id
        }

        fn ask(
            &self,
            _: Question,
            _: Option<AskedUnder>,
            _: Option<String>,
        ) -> BoxFuture<'static, Result<Kept, NotKept>> {
            let record = Arc::clone(&self.0);
            async { Ok(Kept { record, is_new: true }) }.boxed()
        }

        fn outcome(
            &self,
            _: &QuestionId,
            within: Duration,
        ) -> BoxFuture<'static, Result<Arc<Record>, NotKept>> {
            let record = Arc::clone(&self.0);
            let waits = !within.is_zero();
            async move { if waits { futures::future::pending().await } else { Ok(record) } }.boxed()
        }

        fn withdraw(&self, _: &QuestionId) -> BoxFuture<'static, Result<(), NotKept>> {
            async { Ok(()) }.boxed()
        }

        fn consume(&self, _: Consuming) -> BoxFuture<'static, Result<Arc<Record>, NotUsed>> {
            async { Err(NotUsed::NotAllowed("it is a question")) }.boxed()
        }

        fn report(&self, _: &QuestionId, _: Report) -> BoxFuture<'static, Result<(), NotUsed>> {
            async { Err(NotUsed::NotAllowed("it is a question")) }.boxed()
        }
    }

    #[tokio::test]
    async fn calls_that_wait_for_an_outcome_are_bounded_and_keep_no_others_out() {
        let (bridge, started_at) = ("b".parse().expect("a name"), SystemTime::now().into());
        let identity = Identity { bridge, agent: "inbox".to_owned(), folder: String::new(), started_at };
        let (inbox, _port, _work) = BridgeInbox::new(identity, 1);
        let id: QuestionId = "kept-p1".parse().expect("an ID");
        let record = Record::new(id.clone(), question("Why?").into(), started_at);
        inbox.kept_by().set(Ok(Arc::new(Waiting(record.into()))));
        let methods = Methods::new(inbox, Caller::Of(Responder::Rpc));
        let begin =
            |request: &Value| Box::pin(call(&methods, Incoming { text: request.to_string(), room: None }));
        let reply = |request: &Value| {
            let reply = begin(request).now_or_never()?.expect("a reply");
            Some(serde_json::from_slice::<Value>(reply.as_ref()).expect("JSON"))
        };
        let request = |params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "question_outcome", "params": params });
        let now = request(json!({ "id": id }));
        let waits = request(json!({ "id": id, "milliseconds": 600_000 }));
        assert_eq!(reply(&json!([waits])).expect("no wait")[0]["result"]["id"], json!(id));
        let mut waiting: Vec<_> = (0..limits::OUTCOMES).map(|_| begin(&waits)).collect();
        assert!(waiting.iter_mut().all(|call| call.now_or_never().is_none()));
        assert_eq!(reply(&waits).expect("a refusal")["error"]["data"]["name"], "too_many_requests");
        assert_eq!(reply(&now).expect("no wait")["result"]["id"], json!(id), "they take no room of others");
        drop(waiting);
        assert_eq!(reply(&waits), None);
        // What binds a decision is made by the inbox alone.
        let forged = json!({ "action": { "digest": "sha256:00", "request": {} }, "schema": {} });
        for (name, value) in forged.as_object().expect("members") {
            for method in ["question_ask", "question_keep"] {
                let mut asked = serde_json::to_value(question("Why?")).expect("JSON");
                asked[name] = value.clone();
                let call =
                    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "question": asked } });
                assert_eq!(
                    reply(&call).expect("a refusal")["error"]["data"]["name"],
                    "bad_question",
                    "{method}"
                );
            }
        }
    }
}
