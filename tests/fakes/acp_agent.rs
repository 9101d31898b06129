//! An agent on the published Rust SDK of ACP, which the tests put behind the bridge.
//!
//! Each block of a prompt is the parameters of a question, as JSON. The agent asks them all at once, by the SDK's
//! extension requests. It reports the outcomes as JSON in the order of the questions, and each on stderr as soon as
//! it comes. The block `withdraw` withdraws the questions before it. For a prompt without blocks the agent reports
//! the capabilities of the client.

use std::{
    io::{self, Write},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use agent_client_protocol::{
    Agent, ByteStreams, Client, Error, RequestCancellationHandle,
    v1::{
        ConnectionTo, Responder,
        schema::{
            AgentCapabilities, AgentRequest, CancelNotification, ContentBlock, ContentChunk, ExtRequest,
            InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse, PromptRequest,
            PromptResponse, SessionId, SessionNotification, SessionUpdate, StopReason,
        },
    },
};
use serde_json::{Value, json, value::to_raw_value};
use tokio::{
    io::{stdin, stdout},
    sync::oneshot,
};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

const METHOD: &str = "_sandboxagent/session/request_question";

/// The state of the connection.
#[derive(Clone, Default)]
struct State {
    capabilities: Arc<OnceLock<Value>>,
    cancelled: Arc<AtomicBool>,
}

/// A question without an outcome yet.
struct Asked {
    told: oneshot::Receiver<Value>,
    withdraw: RequestCancellationHandle,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let state = State::default();
    let (initialized, cancelled) = (state.clone(), state.clone());
    Agent
        .v1()
        .on_receive_request(
            async move |request: InitializeRequest, responder, _| {
                initialize(&initialized, request, responder)
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async |_: NewSessionRequest, responder, _| {
                responder.respond(NewSessionResponse::new("the session"))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, client: ConnectionTo<Client>| {
                client.spawn(turn(client.clone(), state.clone(), request, responder))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |_: CancelNotification, _| {
                cancelled.cancelled.store(true, Ordering::Relaxed);
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_to(ByteStreams::new(stdout().compat_write(), stdin().compat()))
        .await
}

fn initialize(
    state: &State,
    request: InitializeRequest,
    responder: Responder<InitializeResponse>,
) -> Result<(), Error> {
    state.capabilities.get_or_init(|| json!(request.client_capabilities.meta));
    let response = InitializeResponse::new(request.protocol_version);
    responder.respond(response.agent_capabilities(AgentCapabilities::new().load_session(true)))
}

async fn turn(
    client: ConnectionTo<Client>,
    state: State,
    request: PromptRequest,
    responder: Responder<PromptResponse>,
) -> Result<(), Error> {
    let session = request.session_id;
    if request.prompt.is_empty() {
        say(&client, &session, state.capabilities.get().unwrap_or(&Value::Null))?;
    }
    let mut asked: Vec<Asked> = Vec::new();
    for block in request.prompt {
        let ContentBlock::Text(block) = block else { return Err(Error::invalid_params()) };
        if block.text == "withdraw" {
            asked.iter().try_for_each(|asked| asked.withdraw.cancel())?;
        } else {
            asked.push(ask(&client, &session, &block.text)?);
        }
    }
    for asked in asked {
        let told = asked.told.await.map_err(Error::into_internal_error)?;
        say(&client, &session, &told)?;
    }
    let cancelled = state.cancelled.swap(false, Ordering::Relaxed);
    let reason = if cancelled { StopReason::Cancelled } else { StopReason::EndTurn };
    responder.respond(PromptResponse::new(reason))
}

fn ask(client: &ConnectionTo<Client>, session: &SessionId, params: &str) -> Result<Asked, Error> {
    let mut params: Value = serde_json::from_str(params)?;
    params["sessionId"] = json!(session);
    let request = AgentRequest::ExtMethodRequest(ExtRequest::new(METHOD, to_raw_value(&params)?.into()));
    let request = client.prepare_request(request);
    let withdraw = request.cancellation_handle();
    let (tell, told) = oneshot::channel();
    request.on_receiving_result(async move |outcome| {
        let outcome = match outcome {
            Ok(result) => json!({ "result": result }),
            Err(error) => json!({ "error": error }),
        };
        io::stderr()
            .write_all(format!("told: {outcome}\n").as_bytes())
            .map_err(Error::into_internal_error)?;
        // Fails if the turn is over: then the outcome is on stderr only.
        tell.send(outcome).unwrap_or_default();
        Ok(())
    })?;
    Ok(Asked { told, withdraw })
}

fn say(client: &ConnectionTo<Client>, session: &SessionId, what: &Value) -> Result<(), Error> {
    let chunk = ContentChunk::new(format!("{what}\n").into());
    let update = SessionUpdate::AgentMessageChunk(chunk);
    client.send_notification(SessionNotification::new(session.clone(), update))
}
