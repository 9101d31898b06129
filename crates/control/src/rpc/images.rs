//! The data of an image, in pieces: a connection to another machine has short messages, and one call must not fill it.

use askbridge_core::{
    desk::{IdPrefix, Refusal},
    question::image::base64,
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
struct Images<I> {
    inbox: I,
    budgets: Budgets,
}

/// Returns the method over this inbox.
pub(super) fn methods<I: Inbox>(
    inbox: I,
    budgets: &Budgets,
) -> Result<RpcModule<impl Send + Sync + 'static>, RegisterMethodError> {
    let mut module = RpcModule::new(Images { inbox, budgets: budgets.clone() });
    module.register_async_method(method::IMAGE, async |params, images, extensions| {
        images.piece(&params, &extensions).await
    })?;
    Ok(module)
}

impl<I: Inbox> Images<I> {
    async fn piece(&self, params: &Params<'_>, extensions: &Extensions) -> RpcResult<ImagePiece> {
        let ImageParams { id, image, from } = params.parse()?;
        let typed: IdPrefix = id.parse().map_err(|_| error(Refusal::NotFound))?;
        let record = self.inbox.look_up(&typed).await.map_err(error)?;
        let data = self.inbox.image(&record, image).await.map_err(error)?;
        let piece = data.get(from..).unwrap_or_default();
        let piece = &piece[..piece.len().min(limits::IMAGE_PIECE)];
        reserve(&self.budgets, extensions, 2 * piece.len()).await?;
        Ok(ImagePiece { bytes: data.len(), data: base64(piece) })
    }
}
