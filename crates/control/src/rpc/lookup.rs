//! The methods that look one question up: the question itself, what led to it, and its images. The data of an image comes in
//! pieces: a connection to another machine has short messages, and one call must not fill it.

use std::sync::Arc;

use askbridge_core::{
    desk::{IdPrefix, Record, Refusal},
    question::{Context, image::base64},
};
use jsonrpsee::{
    Extensions, RpcModule,
    core::{RegisterMethodError, RpcResult},
    types::Params,
};
use serde::{Deserialize, Serialize};

use super::{
    connection::{Budgets, error, reserve},
    method,
};
use crate::{inbox::Inbox, limits};

#[derive(Deserialize)]
struct LookupParams {
    id: String,
}

#[derive(Deserialize)]
struct ImageParams {
    id: String,
    image: usize,
    #[serde(default)]
    from: usize,
}

/// A piece of an image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "ImagePiece"))]
pub struct ImagePiece {
    /// The size of the whole image, in bytes.
    pub bytes: usize,
    /// The bytes of this piece, as Base64. It is empty behind the end of the image.
    pub data: String,
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
    module.register_async_method(method::IMAGE, async |params, lookup, extensions| {
        lookup.image(&params, &extensions).await
    })?;
    Ok(module)
}

impl<I: Inbox> Lookup<I> {
    async fn question(&self, params: &Params<'_>, extensions: &Extensions) -> RpcResult<Arc<Record>> {
        let record = self.find(params.parse()?).await?;
        reserve(&self.budgets, extensions, record.size()).await?;
        Ok(record)
    }

    async fn context(&self, params: &Params<'_>, extensions: &Extensions) -> RpcResult<Arc<Context>> {
        let record = self.find(params.parse()?).await?;
        let context = self.inbox.context(&record).await.map_err(error)?;
        reserve(&self.budgets, extensions, context.size()).await?;
        Ok(context)
    }

    async fn image(&self, params: &Params<'_>, extensions: &Extensions) -> RpcResult<ImagePiece> {
        let ImageParams { id, image, from } = params.parse()?;
        let record = self.find(LookupParams { id }).await?;
        let data = self.inbox.image(&record, image).await.map_err(error)?;
        let piece = data.get(from..).unwrap_or_default();
        let piece = &piece[..piece.len().min(limits::IMAGE_PIECE)];
        reserve(&self.budgets, extensions, 2 * piece.len()).await?;
        Ok(ImagePiece { bytes: data.len(), data: base64(piece) })
    }

    async fn find(&self, LookupParams { id }: LookupParams) -> RpcResult<Arc<Record>> {
        let typed: IdPrefix = id.parse().map_err(|_| error(Refusal::NotFound))?;
        // `look_up` and not `find`: only the bridge remembers a question that was settled before this server started.
        self.inbox.look_up(&typed).await.map_err(error)
    }
}
