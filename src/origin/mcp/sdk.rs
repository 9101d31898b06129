//! The server as the client of the official SDK sees it, with and without `initialize`.

use rmcp::{
    ClientLifecycleMode, ClientServiceExt,
    model::{CallToolRequestParams, ProtocolVersion},
};
use serde_json::Value as Json;
use tokio::io::duplex;

use super::{
    McpOptions, serve,
    stage::{Inboxes, answer, which},
};

async fn asks_and_is_answered(lifecycle: ClientLifecycleMode) {
    let (stdin, reader) = duplex(1 << 16);
    let (writer, stdout) = duplex(1 << 16);
    let inboxes = Inboxes::default();
    let serving =
        serve(McpOptions::default(), inboxes.clone(), (reader, writer), std::future::pending::<()>());
    let server = tokio::spawn(serving);
    let client = ().serve_with_lifecycle((stdout, stdin), lifecycle).await.expect("a server");
    let tools = client.list_all_tools().await.expect("tools");
    assert_eq!(tools.len(), 2);
    let Json::Object(arguments) = which() else { panic!("no arguments") };
    let call = client.call_tool(CallToolRequestParams::new("ask_user_question").with_arguments(arguments));
    let answers = async {
        while inboxes.open().is_empty() {
            tokio::task::yield_now().await;
        }
        answer(&inboxes.inbox(), &inboxes.open()[0], "Postgres").await
    };
    let (result, told) = tokio::join!(call, answers);
    assert_eq!(told, Ok(()));
    let structured = result.expect("a result").structured_content.expect("structured content");
    assert_eq!(structured["answers"][0]["selected"][0], "Postgres");
    client.cancel().await.expect("an end");
    assert_eq!(server.await.expect("no panic"), None);
}

#[tokio::test(start_paused = true)]
async fn client_with_initialize_asks_and_is_answered() {
    asks_and_is_answered(ClientLifecycleMode::Initialize).await;
}

#[tokio::test(start_paused = true)]
async fn client_without_initialize_asks_and_is_answered() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    asks_and_is_answered(ClientLifecycleMode::Discover { preferred_versions }).await;
}
