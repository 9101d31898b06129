//! The server: lists the tools, asks, waits, and returns the answer or a ticket.
//! The wire is left to `rmcp` and `transport.rs`, the questions to `tickets.rs`, the words to `result.rs`.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, ErrorCode,
        Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
        ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use tokio::{
    sync::{OnceCell, Semaphore},
    time::{Instant, sleep_until},
};

use super::{
    arguments, client,
    patience::{NextStep, Patience},
    result,
    tickets::{Tickets, Waiter},
    tools,
    transport::InFlight,
};
use crate::{
    control::LocalDesk,
    desk::Refusal,
    limits,
    origin::{AgentIdentity, AgentInbox, AgentInboxes},
};

/// What is set for the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct McpOptions {
    /// How long a call waits before it returns a ticket. `None` leaves that to what is known of the client.
    pub wait: Option<Duration>,
}

/// The server of one client.
pub(super) struct Server<H> {
    options: McpOptions,
    hosts: H,
    /// The desk with the questions, once there was one.
    desk: OnceCell<McpDesk>,
    shared: ServerState,
    waits: Semaphore,
}

/// What outlives the connection, so that responders hear how their questions ended. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct ServerState {
    pub(super) tickets: Tickets,
    pub(super) in_flight: InFlight,
    /// The inbox, once there is one.
    pub(super) hosted: Arc<Mutex<Option<AgentInbox>>>,
}

/// Where questions are asked, and what they say of the agent.
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
        let mut question = match arguments::read_question(arguments) {
            Ok(question) => question,
            Err(problem) => return result::misread(&problem),
        };
        let desk = match self.desk(context).await {
            Ok(desk) => desk,
            Err(problem) => return result::unavailable(&problem),
        };
        question.agent = Some(Arc::clone(&desk.agent));
        question.project = Some(Arc::clone(&desk.project));
        let asked = match desk.desk.open(question.clone(), true) {
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
        let ticket = arguments::read_ticket(arguments);
        match ticket.and_then(|ticket| self.shared.tickets.wait(ticket)) {
            Some(waiter) => self.wait(waiter, context).await,
            None => result::unknown_ticket(ticket, &self.shared.tickets.open()),
        }
    }

    /// Waits for the person, and returns the answer or the ticket.
    async fn wait(&self, waiter: Waiter, context: &RequestContext<RoleServer>) -> CallToolResult {
        // Others may wait, but their requests must leave room to be cancelled.
        let Ok(_permit) = self.waits.try_acquire() else {
            return self.ticket(waiter, context);
        };
        tokio::select! {
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
            // Every question is withdrawn then.
            () = self.shared.in_flight.over() => result::withdrawn(),
            () = self.patience_ends(waiter.ticket(), context) => self.ticket(waiter, context),
        }
    }

    /// Returns the result that has the ticket. The wait ends once the agent has it.
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
            // It fails only once the connection has ended, which ends the call.
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

    /// Replies to a call of a tool whose arguments are no object, which `rmcp` does not take for a call.
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
