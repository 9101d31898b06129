//! The method that reads texts of agents as Markdown, for front ends that have no reader of their own. Reading is left to
//! `askbridge-markdown`.

use askbridge_core::desk::Refusal;
use askbridge_markdown::{Document, read};
use jsonrpsee::{
    Extensions, RpcModule,
    core::{RegisterMethodError, RpcResult},
    types::{ErrorCode, ErrorObjectOwned, Params},
};
use serde::{Deserialize, Serialize};
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{
    connection::{Budgets, Connection, error},
    method,
};
use crate::limits;

/// The parameters of [`method::MARKDOWN`].
#[derive(Deserialize)]
struct MarkdownParams {
    texts: Vec<String>,
}

/// Texts as trees.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reading {
    /// A tree for each text, in their order.
    pub documents: Vec<Document>,
}

/// What all calls share.
pub(super) struct Reader {
    budgets: Budgets,
    /// Permits one call at a time: a tree in memory is some forty times as large as its text.
    turn: Semaphore,
}

/// Returns the method.
pub(super) fn methods(budgets: &Budgets) -> Result<RpcModule<Reader>, RegisterMethodError> {
    let mut module = RpcModule::new(Reader { budgets: budgets.clone(), turn: Semaphore::new(1) });
    module.register_async_method(method::MARKDOWN, async |params, reader, extensions| {
        reading(params, &reader, &extensions).await
    })?;
    Ok(module)
}

async fn reading(params: Params<'_>, reader: &Reader, extensions: &Extensions) -> RpcResult<Reading> {
    let MarkdownParams { texts } = params.parse()?;
    drop(params);
    let bytes = texts.iter().map(String::len).sum::<usize>();
    if bytes > limits::MARKDOWN {
        let why = format!("texts: {} bytes at most, these have {bytes}", limits::MARKDOWN);
        return Err(ErrorObjectOwned::owned(ErrorCode::InvalidParams.code(), why, None::<()>));
    }
    let too_many = || error(Refusal::TooManyRequests);
    let _turn = reader.turn.acquire().await.map_err(|_| too_many())?;
    // A long text takes some milliseconds: the thread of the inbox serves the others meanwhile (I7).
    let read = spawn_blocking(move || texts.iter().map(|text| read(text)).collect());
    let documents = read.await.map_err(|_| too_many())?;
    if let Some(connection) = extensions.get::<Connection>() {
        connection.reserve(&reader.budgets, limits::TREE_PER_BYTE * bytes).await?;
    }
    Ok(Reading { documents })
}

#[cfg(test)]
mod tests {
    use askbridge_core::question::Responder;
    use serde_json::{Value, json};

    use crate::{
        limits,
        rpc::{
            caller::Caller,
            methods::Methods,
            played::played,
            session::{Incoming, call},
        },
    };

    async fn read(texts: &[&str]) -> Value {
        let (inbox, _port, _work) = played("b");
        let methods = Methods::new(inbox, Caller::Of(Responder::Page));
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "markdown_read", "params": { "texts": texts } });
        let reply = call(&methods, Incoming { text: request.to_string(), room: None }).await;
        serde_json::from_slice(reply.unwrap().as_ref()).unwrap()
    }

    #[tokio::test]
    async fn texts_are_read_in_their_order() {
        let reply = read(&["# **A** b", "", &">".repeat(99)]).await;
        let heading = json!({
            "kind": "heading", "level": 1, "lines": [1, 1],
            "children": [{ "kind": "strong", "children": ["A"] }, " b"],
        });
        let documents = &reply["result"]["documents"];
        assert_eq!(documents[0], json!({ "blocks": [heading] }));
        assert_eq!(documents[1], json!({ "blocks": [] }));
        assert!(documents[2]["source"].is_string(), "{reply}");
    }

    #[tokio::test]
    async fn too_long_texts_are_refused() {
        let long = "a".repeat(limits::MARKDOWN);
        assert_eq!(read(&[&long, "a"]).await["error"]["code"], -32602);
    }

    /// The room of a reply is reserved before it is made.
    #[tokio::test]
    async fn a_tree_takes_no_more_room_than_is_reserved() {
        for mark in ["*a*", "|a", "- a\n", "> a\n\n", "`a`", "~~a~~ ", "a\n", "# a\n", "***\n"] {
            let text = mark.repeat(20_000 / mark.len());
            let reply = read(&[&text]).await.to_string();
            assert!(reply.len() < limits::TREE_PER_BYTE * text.len(), "{mark}: {}", reply.len());
        }
    }
}
