//! The method that reads texts of agents as Markdown, and files as code, for front ends that have no reader of their own.
//! Reading is left to `askbridge-markdown`.

use askbridge_core::desk::Refusal;
use askbridge_markdown::{Document, read, read_code, read_patch};
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
    texts: Vec<Text>,
}

/// What is to be read.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text {
    Markdown(String),
    /// The text of a file, or a part of it.
    Code {
        path: String,
        text: String,
    },
    /// A patch in the format of Git.
    Patch {
        patch: String,
    },
}

impl Text {
    fn text(&self) -> &str {
        let (Text::Markdown(text) | Text::Code { text, .. } | Text::Patch { patch: text }) = self;
        text
    }

    fn read(&self) -> Document {
        match self {
            Text::Markdown(text) => read(text),
            Text::Code { path, text } => read_code(path, text),
            Text::Patch { patch } => read_patch(patch),
        }
    }
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
    let bytes = texts.iter().map(|it| it.text().len()).sum::<usize>();
    if bytes > limits::MARKDOWN {
        let why = format!("texts: {} bytes at most, these have {bytes}", limits::MARKDOWN);
        return Err(ErrorObjectOwned::owned(ErrorCode::InvalidParams.code(), why, None::<()>));
    }
    let too_many = || error(Refusal::TooManyRequests);
    let _turn = reader.turn.acquire().await.map_err(|_| too_many())?;
    // A long text takes some milliseconds: the thread of the inbox serves the others meanwhile (I7).
    let read = spawn_blocking(move || texts.iter().map(Text::read).collect());
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

    async fn read(texts: &[Value]) -> Value {
        let (inbox, _port, _work) = played("b");
        let methods = Methods::new(inbox, Caller::Of(Responder::Page));
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "markdown_read", "params": { "texts": texts } });
        let reply = call(&methods, Incoming { text: request.to_string(), room: None }).await;
        serde_json::from_slice(reply.unwrap().as_ref()).unwrap()
    }

    #[tokio::test]
    async fn texts_are_read_in_their_order() {
        let reply = read(&[json!("# **A** b"), json!(""), json!(">".repeat(99))]).await;
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
    async fn the_text_of_a_file_is_read_as_code() {
        let reply = read(&[json!({ "path": "/a/b.rs", "text": "let a;\n# **b**" }), json!("`c`")]).await;
        let parts = json!([{ "role": "keyword", "text": "let" }, " a;\n# **b**"]);
        let block = json!({ "kind": "code", "lines": [1, 2], "language": "", "parts": parts });
        assert_eq!(reply["result"]["documents"][0], json!({ "blocks": [block] }));
        assert_eq!(reply["result"]["documents"][1]["blocks"][0]["kind"], "paragraph");
        let reply = read(&[json!({ "patch": "--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+1" })]).await;
        let number = json!({ "role": "number", "text": "1" });
        assert_eq!(reply["result"]["documents"][0]["blocks"][0]["parts"][4], number, "{reply}");
        assert_eq!(read(&[json!({ "text": "a" })]).await["error"]["code"], -32602);
    }

    #[tokio::test]
    async fn too_long_texts_are_refused() {
        let long = "a".repeat(limits::MARKDOWN);
        assert_eq!(read(&[json!(long), json!("a")]).await["error"]["code"], -32602);
    }

    /// The room of a reply is reserved before it is made.
    #[tokio::test]
    async fn a_tree_takes_no_more_room_than_is_reserved() {
        for mark in ["*a*", "|a", "- a\n", "> a\n\n", "`a`", "~~a~~ ", "a\n", "# a\n", "***\n"] {
            let text = mark.repeat(20_000 / mark.len());
            let reply = read(&[json!(text)]).await.to_string();
            assert!(reply.len() < limits::TREE_PER_BYTE * text.len(), "{mark}: {}", reply.len());
        }
        for (path, mark) in
            [("a.rs", "1\"\""), ("a.sh", "$a"), ("a.css", "{#f"), ("a.html", "<a b"), ("a.diff", "+\n")]
        {
            let text = mark.repeat(9_000 / mark.len());
            let reply = read(&[json!({ "path": path, "text": text })]).await.to_string();
            assert!(reply.len() < limits::TREE_PER_BYTE * text.len(), "{mark}: {}", reply.len());
        }
    }
}
