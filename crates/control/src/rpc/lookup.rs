//! The methods that look one question up: the question itself, and what led to it.

use std::sync::Arc;

use askbridge_core::{
    desk::{IdPrefix, Record, Refusal},
    question::Context,
};
use jsonrpsee::{
    Extensions, RpcModule,
    core::{RegisterMethodError, RpcResult},
    types::Params,
};
use serde::Deserialize;

use super::{
    connection::{Budgets, error, reserve},
    method,
};
use crate::inbox::Inbox;

#[derive(Deserialize)]
struct LookupParams {
    id: String,
}

/// The inbox that is looked into, and the budgets of its callers.
struct Lookup<I> {
    inbox: I,
    budgets: Budgets,
}

/// Returns the methods over this inbox.
pub(super) fn methods<I: Inbox>(
    inbox: I,
    budgets: &Budgets,
) -> Result<RpcModule<impl Send + Sync + 'static>, RegisterMethodError> {
    let mut module = RpcModule::new(Lookup { inbox, budgets: budgets.clone() });
    module.register_async_method(method::GET, async |params, lookup, extensions| {
        lookup.question(&params, &extensions).await
    })?;
    module.register_async_method(method::CONTEXT, async |params, lookup, extensions| {
        lookup.context(&params, &extensions).await
    })?;
    Ok(module)
}

impl<I: Inbox> Lookup<I> {
    async fn question(&self, params: &Params<'_>, extensions: &Extensions) -> RpcResult<Arc<Record>> {
        let record = self.find(params).await?;
        reserve(&self.budgets, extensions, record.size()).await?;
        Ok(record)
    }

    async fn context(&self, params: &Params<'_>, extensions: &Extensions) -> RpcResult<Arc<Context>> {
        let record = self.find(params).await?;
        let context = self.inbox.context(&record).await.map_err(error)?;
        reserve(&self.budgets, extensions, context.size()).await?;
        Ok(context)
    }

    async fn find(&self, params: &Params<'_>) -> RpcResult<Arc<Record>> {
        let LookupParams { id } = params.parse()?;
        let typed: IdPrefix = id.parse().map_err(|_| error(Refusal::NotFound))?;
        // `look_up` and not `find`: only the bridge remembers a question that was settled before this server started.
        self.inbox.look_up(&typed).await.map_err(error)
    }
}
