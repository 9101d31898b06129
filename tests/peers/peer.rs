//! The SDK's client, connected to the bridge, with the calls that the tests make through it.

use std::future::Future;

use agent_client_protocol::{
    Agent, ByteStreams, Client, Error, JsonRpcRequest,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo, Responder, SentRequest,
        schema::{
            CancelNotification, CancelRequestNotification, ContentBlock, ContentChunk, InitializeRequest,
            InitializeResponse, NewSessionRequest, PromptRequest, PromptResponse, SessionId,
            SessionNotification, SessionUpdate, StopReason,
        },
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{
    select,
    sync::mpsc::{Receiver, Sender, channel},
    time::timeout,
};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::peers::process::{Bridge, DEADLINE, Ends, Transcript};

/// The capacity of the channel of each kind of message.
const MESSAGES: usize = 1 << 10;

/// The command of the mock agent.
const MOCK: &[&str] = &[env!("CARGO_BIN_EXE_askbridge"), "mock-agent"];

/// The native request, as a client with support for the extension declares it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_sandboxagent/session/request_question", response = Value)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Question {
    pub(crate) session_id: SessionId,
    pub(crate) question_id: String,
    #[serde(default)]
    pub(crate) prompt: String,
    #[serde(default)]
    pub(crate) options: Vec<(String, String)>,
    #[serde(default)]
    pub(crate) questions: Vec<Value>,
}

/// A question, and the responder that answers it.
pub(crate) type Asked = (Question, Responder<Value>);

/// A prompt without a response yet.
pub(crate) type Turn = SentRequest<PromptResponse>;

/// The client of a conversation.
pub(crate) struct Peer {
    link: Link,
    questions: Receiver<Asked>,
    cancellations: Receiver<CancelRequestNotification>,
    updates: Receiver<SessionNotification>,
}

/// The connection and its transcript.
struct Link {
    agent: ConnectionTo<Agent>,
    transcript: Transcript,
}

/// Has a conversation with the mock agent, and checks that the agent had nothing to complain about.
pub(crate) async fn talk_to_mock(ends: Ends, conversation: impl AsyncFnOnce(&mut Peer)) {
    let ((), stderr) = converse(MOCK, ends, conversation).await;
    assert_eq!(stderr, "");
}

/// Has a conversation with an agent through the bridge, then disconnects. Returns the result of the conversation and
/// the stderr of the bridge and its agent.
pub(crate) async fn converse<T>(
    agent: &[&str],
    ends: Ends,
    conversation: impl AsyncFnOnce(&mut Peer) -> T,
) -> (T, String) {
    let (bridge, stdin, stdout) = Bridge::start(agent, ends);
    let (asked, questions) = channel(MESSAGES);
    let (cancelled, cancellations) = channel(MESSAGES);
    let (said, updates) = channel(MESSAGES);
    let transcript = bridge.transcript.clone();
    let outcome = Client
        .v1()
        .on_receive_request(
            async move |question: Question, responder, _| keep(&asked, (question, responder)).await,
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancellation: CancelRequestNotification, _| keep(&cancelled, cancellation).await,
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_notification(
            async move |update: SessionNotification, _| keep(&said, update).await,
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_with(ByteStreams::new(stdin.compat_write(), stdout.compat()), async |agent| {
            let link = Link { agent, transcript };
            Ok(conversation(&mut Peer { link, questions, cancellations, updates }).await)
        })
        .await;
    let transcript = bridge.transcript.clone();
    let (status, stderr) = bridge.end().await;
    match outcome {
        Ok(outcome) if status.code() == Some(0) => (outcome, stderr),
        Ok(_) => transcript.fail(&format!("the bridge ended with {status}")),
        Err(error) => transcript.fail(&format!("the connection failed: {error}")),
    }
}

/// Keeps a message for the test. Returns an error once the test is over.
async fn keep<T>(messages: &Sender<T>, message: T) -> Result<(), Error> {
    messages.send(message).await.map_err(|_| Error::internal_error().data("the test is over"))
}

impl Peer {
    /// Initializes as a client that advertises no questions.
    pub(crate) async fn initialize(&mut self) -> InitializeResponse {
        self.call(InitializeRequest::new(ProtocolVersion::V1)).await
    }

    /// Initializes, and opens a session.
    pub(crate) async fn open_session(&mut self) -> SessionId {
        self.initialize().await;
        self.call(NewSessionRequest::new("/work")).await.session_id
    }

    /// Sends a request, and waits for its result.
    pub(crate) async fn call<R: JsonRpcRequest>(&mut self, request: R) -> R::Response {
        let what = format!("the response to {}", request.method());
        let response = self.link.agent.send_request(request).block_task();
        self.link.wait(&what, response).await.unwrap()
    }

    /// Sends a prompt.
    pub(crate) fn prompt(&self, session: &SessionId, blocks: &[&str]) -> Turn {
        let blocks = blocks.iter().copied().map(ContentBlock::from).collect();
        self.link.agent.send_request(PromptRequest::new(session.clone(), blocks))
    }

    /// Cancels the turn of a session.
    pub(crate) fn cancel(&self, session: &SessionId) {
        self.link.agent.send_notification(CancelNotification::new(session.clone())).unwrap();
    }

    /// Waits for the end of a turn. Returns its stop reason and the agent's texts since the last turn.
    pub(crate) async fn end(&mut self, turn: Turn) -> (StopReason, String) {
        let reason = self.outcome(turn).await.unwrap();
        (reason, self.said().concat())
    }

    /// Waits for the response to a prompt.
    pub(crate) async fn outcome(&self, turn: Turn) -> Result<StopReason, Error> {
        let response = self.link.wait("the end of the turn", turn.block_task()).await;
        response.map(|response| response.stop_reason)
    }

    /// Waits for a question.
    pub(crate) async fn question(&mut self) -> Asked {
        self.link.wait("a question", self.questions.recv()).await.unwrap()
    }

    /// Waits for `$/cancel_request`.
    pub(crate) async fn cancellation(&mut self) -> CancelRequestNotification {
        self.link.wait("a cancellation", self.cancellations.recv()).await.unwrap()
    }

    /// Takes the chunks of the agent's messages since the last call.
    pub(crate) fn said(&mut self) -> Vec<String> {
        let updates = std::iter::from_fn(|| self.updates.try_recv().ok());
        updates.filter_map(|update| agent_text(&update.update).map(str::to_owned)).collect()
    }

    /// Takes the updates since the last call.
    pub(crate) fn updates(&mut self) -> Vec<SessionNotification> {
        std::iter::from_fn(|| self.updates.try_recv().ok()).collect()
    }
}

impl Link {
    async fn wait<T>(&self, what: &str, happens: impl Future<Output = T>) -> T {
        let happens = async {
            select! {
                biased;
                happened = happens => Some(happened),
                () = self.agent.incoming_closed() => None,
            }
        };
        match timeout(DEADLINE, happens).await {
            Ok(Some(happened)) => happened,
            Ok(None) => self.transcript.fail(&format!("the bridge ended before {what}")),
            Err(_) => self.transcript.fail(&format!("waited too long for {what}")),
        }
    }
}

/// Returns the text of a chunk of the agent's message.
fn agent_text(update: &SessionUpdate) -> Option<&str> {
    match update {
        SessionUpdate::AgentMessageChunk(ContentChunk { content: ContentBlock::Text(text), .. }) => {
            Some(&text.text)
        }
        _ => None,
    }
}
