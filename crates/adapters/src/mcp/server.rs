//! The MCP server on stdin and stdout, from its start to the end of stdin or a signal: lists the tools, asks, waits,
//! and returns the answer or a ticket. The wire is left to `rmcp` and `transport.rs`, the questions to `tickets.rs`,
//! the texts of results to `result.rs`.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use askbridge_control::inbox::LocalDesk;
use askbridge_core::desk::Refusal;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, ErrorCode,
        Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
        ServerCapabilities, ServerConfig,
    },
    service::{RequestContext, ServerInitializeError},
    transport::{StdioReader, StdioWriter, stdio_pipes},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{OnceCell, Semaphore},
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    client::{self, NextStep, Patience},
    result,
    tickets::{Tickets, Waiter},
    tools,
    transport::{ClientConnection, InFlight},
};
use crate::{AgentIdentity, AgentInbox, AgentInboxes, limits};

/// The options of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct McpOptions {
    /// How long a call waits before it returns a ticket. `None` decides by the client's name.
    pub wait: Option<Duration>,
}

/// The server of one client.
pub(super) struct Server<H> {
    options: McpOptions,
    hosts: H,
    /// The desk, once a question has opened the inbox.
    desk: OnceCell<McpDesk>,
    shared: ServerState,
    waits: Semaphore,
}

/// The state that outlives the connection, so that responders learn how their questions ended. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct ServerState {
    pub(super) tickets: Tickets,
    pub(super) in_flight: InFlight,
    /// The inbox, once there is one.
    pub(super) hosted: Arc<Mutex<Option<AgentInbox>>>,
}

/// The inbox that receives the questions, and the agent that they name.
struct McpDesk {
    desk: LocalDesk,
    agent: Arc<str>,
    project: Arc<str>,
}

impl<H: AgentInboxes + Send + Sync + 'static> Server<H> {
    pub(super) fn new(options: McpOptions, hosts: H, shared: ServerState) -> Self {
        Server { options, hosts, desk: OnceCell::new(), shared, waits: Semaphore::new(limits::mcp::WAITING) }
    }

    /// Returns the desk. The first question opens the inbox: most sessions of an agent ask nothing.
    async fn desk(&self, context: &RequestContext<RoleServer>) -> Result<&McpDesk, String> {
        let open = || async {
            let (agent, folder) = (client::shown_name(context), client::folder(context).await);
            let (shown, project) = (Arc::from(&*agent), Arc::from(&*folder.to_string_lossy()));
            // The client has started this server, so our parent is the agent, which must not answer itself (I12).
            let who = AgentIdentity { agent, folder, pid: Some(std::os::unix::process::parent_id()) };
            let hosted = self.hosts.host(who).map_err(|error| error.to_string())?;
            let desk = hosted.desk.clone();
            *self.shared.hosted.lock().unwrap_or_else(PoisonError::into_inner) = Some(hosted);
            Ok(McpDesk { desk, agent: shown, project })
        };
        self.desk.get_or_try_init(open).await
    }

    async fn ask(
        &self,
        arguments: Option<&JsonObject>,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let mut question = match tools::read_question(arguments) {
            Ok(question) => question,
            Err(problem) => return result::misread(&problem),
        };
        let desk = match self.desk(context).await {
            Ok(desk) => desk,
            Err(problem) => return result::unavailable(&problem),
        };
        question.agent = Some(Arc::clone(&desk.agent));
        question.project = Some(Arc::clone(&desk.project));
        // `true`, because an MCP client does not show the question itself.
        let asked = match desk.desk.open(question.clone(), true, 0) {
            Ok(asked) => asked,
            Err(Refusal::BadQuestion(problem)) => return result::misread(&problem),
            Err(refusal) => return result::unavailable(&refusal.to_string()),
        };
        self.wait(self.shared.tickets.add(asked, Arc::new(question)), context).await
    }

    async fn wait_again(
        &self,
        arguments: Option<&JsonObject>,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let ticket = tools::read_ticket(arguments);
        match ticket.and_then(|ticket| self.shared.tickets.wait(ticket)) {
            Some(waiter) => self.wait(waiter, context).await,
            None => result::unknown_ticket(ticket, &self.shared.tickets.open()),
        }
    }

    /// Waits for the person, and returns the answer or the ticket.
    async fn wait(&self, waiter: Waiter, context: &RequestContext<RoleServer>) -> CallToolResult {
        // At the limit, a call gets its ticket at once: waiting calls must not take all the room for requests, as no
        // cancellation could be read then.
        let Ok(_permit) = self.waits.try_acquire() else {
            return self.ticket(waiter, context);
        };
        tokio::select! {
            // An answer precedes everything that would end the call without it.
            biased;
            settlement = waiter.settled() => {
                let result = result::settled(waiter.question(), &settlement);
                self.shared.in_flight.reply_is_about(&context.id, waiter, Waiter::delivered);
                result
            }
            () = context.ct.cancelled() => {
                waiter.cancelled();
                // A request that was cancelled gets no reply.
                CallToolResult::default()
            }
            // Stdin has ended, and `leave` withdraws every question.
            () = self.shared.in_flight.over() => result::withdrawn(),
            () = self.patience_ends(waiter.ticket(), context) => self.ticket(waiter, context),
        }
    }

    /// Returns the result with the ticket. The wait ends once the agent has that result.
    fn ticket(&self, waiter: Waiter, context: &RequestContext<RoleServer>) -> CallToolResult {
        let ticket = result::waiting(waiter.ticket());
        self.shared.in_flight.reply_is_about(&context.id, waiter, Waiter::leave_with_ticket);
        ticket
    }

    /// Reports progress until the call must return a ticket.
    async fn patience_ends(&self, ticket: &str, context: &RequestContext<RoleServer>) {
        let token = context.meta.get_progress_token();
        let patience = Patience::of(&client::name(context), token.is_some(), self.options.wait);
        let began = Instant::now();
        for reports in 0.. {
            let (due, next) = patience.next(reports);
            sleep_until(began + due).await;
            let (NextStep::Report, Some(token)) = (next, &token) else { return };
            let seconds = due.as_secs();
            let message = format!("Waiting for the person to answer question {ticket}: {seconds} s so far");
            let progress =
                ProgressNotificationParam::new(token.clone(), f64::from(reports)).with_message(message);
            // Ignore the error: sending fails only once the connection has ended, which ends the call.
            drop(context.peer.notify_progress(progress).await);
        }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        let arguments = request.arguments.as_ref();
        match &*request.name {
            tools::WAIT => self.wait_again(arguments, &context).await,
            _ => self.ask(arguments, &context).await,
        }
    }
}

impl<H: AgentInboxes + Send + Sync + 'static> ServerHandler for Server<H> {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("askbridge", env!("CARGO_PKG_VERSION")))
            .with_instructions(tools::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if ![tools::ASK, tools::WAIT].contains(&&*request.name) {
            return Err(ErrorData::invalid_params(format!("there is no tool {:?}", request.name), None));
        }
        Ok(self.call(request, context).await.into())
    }

    /// Replies to a tool call whose arguments are not an object. `rmcp` does not recognize it as a call.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "tools/call" {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        let result = serde_json::to_value(result::misread("the arguments are not an object"));
        result.map(CustomResult::new).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

/// Serves one client on these streams until it has closed its end, or until `stop` completes. Returns the output of
/// `stop` in that case. Every question that is still open at the end is withdrawn.
pub async fn serve<H, R, W, T>(
    options: McpOptions,
    hosts: H,
    (reader, writer): (R, W),
    stop: impl Future<Output = T>,
) -> Option<T>
where
    H: AgentInboxes + Send + Sync + 'static,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let shared = ServerState::default();
    let connection = ClientConnection::new(reader, writer, shared.in_flight.clone());
    let server = Server::new(options, hosts, shared.clone());
    let stopped = tokio::select! {
        () = converse(server, connection) => None,
        () = leave(&shared) => None,
        stopped = stop => Some(stopped),
    };
    shared.tickets.withdraw();
    shared.in_flight.end();
    // A reply that cannot be written must not keep the process: its question is withdrawn by force.
    if timeout(limits::SERVICE_STOP, shared.tickets.ended()).await.is_err() {
        tracing::debug!("a reply was not read");
    }
    // The inbox ends last, once it has told every responder how its question ended.
    let hosted = shared.hosted.lock().unwrap_or_else(PoisonError::into_inner).take();
    drop(hosted);
    stopped
}

/// Once stdin has ended, withdraws the open questions, and gives the client a short time to read the last replies. The
/// time is bounded, because a client may close its end, stop reading, and leave the pipe open.
async fn leave(shared: &ServerState) {
    shared.in_flight.over().await;
    shared.tickets.withdraw();
    sleep(limits::FLUSH).await;
}

/// Returns the standard streams of this process.
pub fn stdio() -> (StdioReader, StdioWriter) {
    stdio_pipes()
}

/// Serves the client until it has closed its end. `rmcp` then writes the remaining replies for at most 5 s, or for at
/// most 2 s if the future is dropped.
async fn converse<H, R, W>(server: Server<H>, connection: ClientConnection<R, W>)
where
    H: AgentInboxes + Send + Sync + 'static,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    match server.serve(connection).await {
        Ok(running) => {
            if let Err(error) = running.waiting().await {
                tracing::warn!(%error, "the MCP server failed");
            }
        }
        // The text of any other error may contain the client's message, so it is not logged.
        Err(ServerInitializeError::TransportError { error, .. }) => {
            tracing::warn!(%error, "no MCP client sent a request");
        }
        Err(_) => tracing::warn!("no MCP client sent a request"),
    }
}
