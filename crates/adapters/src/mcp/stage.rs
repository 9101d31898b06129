//! Clients of the server for tests: one in this process that speaks line by line, with the inbox that the server opens,
//! and the client of the official SDK, with and without `initialize`.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use askbridge_control::{
    inbox::{BridgeInbox, Identity, Inbox},
    join::discovery::DiscoveryError,
};
use askbridge_core::{
    desk::{QuestionId, Refusal, Submission},
    question::{Answer, Provenance, Responder},
};
use rmcp::{
    ClientLifecycleMode, ClientServiceExt,
    model::{CallToolRequestParams, ProtocolVersion},
};
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, duplex},
    task::JoinHandle,
};

use super::{McpOptions, serve};
use crate::{AgentIdentity, AgentInbox, AgentInboxes};

/// Bytes that wait between the server and the client: a client that does not read holds up the next reply.
const PIPE: usize = 256;
/// The hang guard of every wait, by the clock of the test.
const DEADLINE: Duration = Duration::from_secs(24 * 3600);

/// The inboxes that the server has opened.
#[derive(Clone, Default)]
pub(super) struct Inboxes(Arc<Mutex<Vec<(AgentIdentity, BridgeInbox)>>>);

impl Inboxes {
    /// Returns the inbox that was opened.
    pub(super) fn inbox(&self) -> BridgeInbox {
        self.0.lock().expect("no panic")[0].1.clone()
    }

    /// Returns the IDs of the questions that are open.
    pub(super) fn open(&self) -> Vec<QuestionId> {
        let inboxes = self.0.lock().expect("no panic");
        let Some((_, inbox)) = inboxes.first() else { return Vec::new() };
        inbox.store().read(|_, snapshot| snapshot.open().iter().map(|record| record.id.clone()).collect())
    }
}

impl AgentInboxes for Inboxes {
    fn host(&self, who: AgentIdentity) -> Result<AgentInbox, DiscoveryError> {
        let identity = Identity {
            bridge: "bridge".parse().expect("a name"),
            agent: who.agent.clone(),
            folder: who.folder.display().to_string(),
            started_at: std::time::SystemTime::UNIX_EPOCH.into(),
        };
        let (inbox, desk, work) = BridgeInbox::of_desk(identity, 1, None);
        let work = tokio::spawn(work.run());
        self.0.lock().expect("no panic").push((who, inbox));
        Ok(AgentInbox { desk, host: Box::new(AbortOnDrop(work)) })
    }
}

struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A client, and the server that it speaks to.
pub(super) struct TestClient {
    lines: Option<Lines<BufReader<DuplexStream>>>,
    stdin: Option<DuplexStream>,
    inboxes: Inboxes,
    pub(super) server: JoinHandle<Option<()>>,
}

impl TestClient {
    /// Starts a server, and speaks to it without `initialize`, as of 2026-07-28.
    pub(super) fn start(options: McpOptions) -> Self {
        let (stdin, reader) = duplex(1 << 20);
        let (writer, stdout) = duplex(PIPE);
        let inboxes = Inboxes::default();
        let serving = serve(options, inboxes.clone(), (reader, writer), std::future::pending());
        let lines = BufReader::new(stdout).lines();
        TestClient { lines: Some(lines), stdin: Some(stdin), inboxes, server: tokio::spawn(serving) }
    }

    /// Starts a server, and initializes it as a client of this name.
    pub(super) async fn initialized(options: McpOptions, name: &str) -> Self {
        let mut client = Self::start(options);
        let info = json!({ "name": name, "version": "1" });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
        client.request(0, "initialize", params).await;
        let reply = client.reply().await;
        assert_eq!(reply["result"]["protocolVersion"], "2025-06-18", "{reply}");
        client.notify("notifications/initialized", json!({})).await;
        client
    }

    pub(super) async fn send(&mut self, message: &Json) {
        self.send_line(&message.to_string()).await;
    }

    pub(super) async fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin.write_all(format!("{line}\n").as_bytes()).await.expect("the server reads");
    }

    pub(super) async fn request(&mut self, id: u64, method: &str, params: Json) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
    }

    pub(super) async fn notify(&mut self, method: &str, params: Json) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    pub(super) async fn cancel(&mut self, id: u64) {
        self.notify("notifications/cancelled", json!({ "requestId": id })).await;
    }

    /// Calls a tool. `token` asks for progress.
    pub(super) async fn call(&mut self, id: u64, tool: &str, arguments: Json, token: Option<&str>) {
        let meta = token.map_or(json!({}), |token| json!({ "progressToken": token }));
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        self.request(id, "tools/call", params).await;
    }

    /// Asks one question, and waits until it is open.
    pub(super) async fn ask(&mut self, id: u64, token: Option<&str>) -> QuestionId {
        let known = self.open();
        self.call(id, "ask_user_question", which(), token).await;
        let opened = async {
            loop {
                if let Some(new) = self.open().into_iter().find(|id| !known.contains(id)) {
                    return new;
                }
                tokio::task::yield_now().await;
            }
        };
        // The clock of a test advances only while every task waits, which this one never does.
        opened.await
    }

    /// Returns the next message of the server; `None` at its end.
    pub(super) async fn message(&mut self) -> Option<Json> {
        next(self.lines.as_mut().expect("stdout is not read elsewhere")).await
    }

    /// Reads every message from now on, to the end of stdout. The last line may lack its end.
    pub(super) fn read_all(&mut self) -> JoinHandle<Vec<Json>> {
        let mut lines = self.lines.take().expect("stdout is not read elsewhere");
        tokio::spawn(async move {
            let mut messages = Vec::new();
            while let Some(message) = next(&mut lines).await {
                messages.push(message);
            }
            messages
        })
    }

    /// Returns the next reply, and skips progress.
    pub(super) async fn reply(&mut self) -> Json {
        loop {
            let message = self.message().await.expect("a reply");
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    /// Closes stdin, and waits for the end of the server.
    pub(super) async fn end(&mut self) {
        self.stdin = None;
        tokio::time::timeout(DEADLINE, &mut self.server).await.expect("an end").expect("no panic");
    }

    pub(super) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub(super) fn inbox(&self) -> BridgeInbox {
        self.inboxes.inbox()
    }

    pub(super) fn who(&self) -> AgentIdentity {
        self.inboxes.0.lock().expect("no panic")[0].0.clone()
    }

    /// Returns the IDs of the questions that are open.
    pub(super) fn open(&self) -> Vec<QuestionId> {
        self.inboxes.open()
    }
}

async fn next(lines: &mut Lines<BufReader<DuplexStream>>) -> Option<Json> {
    let line = tokio::time::timeout(DEADLINE, lines.next_line()).await.expect("a message");
    serde_json::from_str(&line.expect("UTF-8")?).ok()
}

/// Returns the arguments that ask one question.
pub(super) fn which() -> Json {
    json!({ "questions": [{ "question": "Which?", "header": "H", "multiSelect": false, "options": [
        { "label": "SQLite", "description": "One file" }, { "label": "Postgres", "description": "A server" },
    ] }] })
}

/// Answers a question of [`which`], and returns the responder's verdict.
pub(super) async fn answer(inbox: &BridgeInbox, id: &QuestionId, text: &str) -> Result<(), Refusal> {
    let answer: Answer = serde_json::from_value(json!({ "values": { "q0": text } })).expect("an answer");
    let by = Provenance { responder: Responder::CommandLine, name: None };
    inbox.submit(id, Submission::answer(answer, None), by).await.map(drop)
}

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
