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
