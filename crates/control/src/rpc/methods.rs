//! The control protocol's methods over any inbox. Running the calls of a connection is left to `session`.

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use askbridge_core::{
    desk::{LostQuestion, QuestionId, Record, Refusal, Settlement, Submission},
    question::{
        Comment, Provenance, Question,
        comments::{with_answer, with_reason},
        input::AnswerInput,
    },
};
use askbridge_os::processes::Peer;
use jsonrpsee::{
    Extensions, PendingSubscriptionSink, RpcModule,
    core::{RegisterMethodError, RpcResult, to_json_raw_value},
    types::{ErrorObjectOwned, Params},
};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    caller::{Caller, named},
    connection::{Budgets, Connection, error, is_of_agent, reserve, wait},
    deferrals::Deferrals,
    deferred,
    history::{HistoryListing, HistoryParams},
    kept, lookup, machines, markdown, method,
    protocol::{Listing, LostListing, OutlineListing, deltas},
};
use crate::{
    inbox::{BridgeStatus, Inbox, PROTOCOL},
    limits,
};

/// The methods over one inbox, for every connection to it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Methods {
    pub(super) module: jsonrpsee::Methods,
    pub(super) budgets: Budgets,
    /// The process that calls them, if it may be one of the agent's.
    peer: Option<Peer>,
    /// The responder who calls them, if that is known for certain.
    by: Option<Provenance>,
    /// What their callers can still take back, if they can.
    deferrals: Option<Deferrals>,
}

/// The context of the methods.
struct Context<I> {
    inbox: I,
    caller: Caller,
    budgets: Budgets,
}

impl Methods {
    /// Returns the methods over this inbox.
    pub fn new<I: Inbox>(inbox: I, caller: Caller) -> Self {
        Methods::within(Budgets::default(), inbox, caller)
    }

    /// Returns the methods over another inbox, which share the budgets of these, for a connection of the same peer.
    pub(super) fn over<I: Inbox>(self, inbox: I) -> Self {
        Methods { peer: self.peer, by: self.by, ..Methods::within(self.budgets, inbox, Caller::Ours) }
    }

    fn within<I: Inbox>(budgets: Budgets, inbox: I, caller: Caller) -> Self {
        let context = Context { inbox: inbox.clone(), caller, budgets: budgets.clone() };
        let mut module = RpcModule::new(context);
        let registered =
            register(&mut module).and_then(|()| module.merge(machines::methods(inbox.clone(), &budgets)?));
        let registered = registered.and_then(|()| module.merge(lookup::methods(inbox.clone(), &budgets)?));
        let registered = registered.and_then(|()| module.merge(kept::methods(inbox, &budgets)?));
        let registered = registered.and_then(|()| module.merge(markdown::methods(&budgets)?));
        debug_assert!(registered.is_ok(), "each name stands once: {registered:?}");
        Methods { module: module.into(), budgets, peer: None, by: None, deferrals: None }
    }

    /// Returns the methods with those by which a caller takes back what it has sent.
    pub fn with_undo<I: Inbox>(inbox: I, caller: Caller, deferrals: Deferrals) -> Self {
        let mut methods = Methods::new(inbox.clone(), caller);
        let merged = deferred::methods(inbox, caller).and_then(|module| methods.module.merge(module));
        debug_assert!(merged.is_ok(), "each name stands once: {merged:?}");
        methods.deferrals = Some(deferrals);
        methods
    }

    /// Returns the methods for calls of this process.
    pub(super) fn called_by(mut self, peer: Option<Peer>) -> Self {
        self.peer = peer;
        self
    }

    /// Returns the methods for calls of this responder, whatever the calls say.
    #[must_use]
    pub fn answering_as(mut self, by: Provenance) -> Self {
        self.by = Some(by);
        self
    }

    /// Returns the methods for one connection, which has limits of its own.
    pub(super) fn for_connection(&self) -> (jsonrpsee::Methods, Connection) {
        let sender = self.deferrals.as_ref().map(|deferrals| Arc::new(deferrals.sender()));
        let connection = Connection::of(self.peer.clone(), self.by.clone(), sender);
        // Calls get their connection from the extensions of the module, so each connection has its own clone.
        let mut module = self.module.clone();
        module.extensions_mut().insert(connection.clone());
        (module, connection)
    }

    /// Makes subscriptions, and what waits until its sender is gone, fail with this error, for connections of one request.
    #[must_use]
    pub fn of_one_request(self, refusal: &ErrorObjectOwned) -> Self {
        let lasting = [method::SUBSCRIBE, method::UNSUBSCRIBE, method::DEFER, method::DEFERRED, method::UNDO];
        self.without(&lasting, refusal)
    }

    /// Makes every method that changes something fail.
    #[must_use]
    pub fn read_only(self) -> Self {
        self.without(&method::CHANGING, &error(Refusal::ReadOnly))
    }

    /// Adds methods of the server that these are served by.
    #[must_use]
    pub fn and<T>(mut self, more: RpcModule<T>) -> Self {
        let merged = self.module.merge(more);
        debug_assert!(merged.is_ok(), "each name stands once: {merged:?}");
        self
    }

    /// Replaces these methods: they fail with this error.
    fn without(mut self, names: &[&'static str], refusal: &ErrorObjectOwned) -> Self {
        let mut module = RpcModule::new(());
        // Each name is registered once, so these calls cannot fail.
        drop(module.merge(self.module.clone()));
        for &name in names {
            module.remove_method(name);
            let refusal = refusal.clone();
            drop(module.register_method(name, move |_, (), _| RpcResult::<()>::Err(refusal.clone())));
        }
        self.module = module.into();
        self
    }

    /// Returns the names of the methods.
    pub fn names(&self) -> Vec<&'static str> {
        self.module.method_names().collect()
    }
}

#[derive(Deserialize)]
struct ListParams {
    session: Option<String>,
}

#[derive(Deserialize)]
struct SettledParams {
    limit: Option<usize>,
}

#[derive(Deserialize)]
struct AnswerParams {
    id: String,
    answer: AnswerInput,
    seen: Option<u32>,
    #[serde(default)]
    comments: Vec<Comment>,
    by: Option<Provenance>,
}

#[derive(Deserialize)]
struct RejectParams {
    id: String,
    reason: Option<String>,
    #[serde(default)]
    comments: Vec<Comment>,
    by: Option<Provenance>,
}

#[derive(Deserialize)]
struct ExtendParams {
    id: String,
    milliseconds: NonZeroU64,
}

#[derive(Deserialize)]
struct LaterParams {
    id: String,
    /// Zero brings it back.
    milliseconds: u64,
}

#[derive(Deserialize)]
struct AskParams {
    question: Question,
}

fn register<I: Inbox>(module: &mut RpcModule<Context<I>>) -> Result<(), RegisterMethodError> {
    module.register_async_method(method::LIST, async |params, context, extensions| {
        context.list(read_optional(&params)?, &extensions).await
    })?;
    module.register_async_method(method::OUTLINE, async |_, context, extensions| {
        context.outline(&extensions).await
    })?;
    module.register_async_method(method::SETTLED, async |params, context, extensions| {
        context.settled(read_optional(&params)?, &extensions).await
    })?;
    module.register_async_method(method::LOST, async |_, context, extensions| {
        context.lost(&extensions).await
    })?;
    module.register_async_method(method::HISTORY, async |params, context, extensions| {
        context.history(read_optional(&params)?.unwrap_or_default(), &extensions).await
    })?;
    register_waiting(module)?;
    module.register_async_method(method::STATUS, async |_, context, _| -> RpcResult<Vec<BridgeStatus>> {
        Ok(context.inbox.status())
    })?;
    module.register_async_method(method::WATCH, async |_, context, extensions| -> RpcResult<()> {
        // An agent could otherwise pretend that a person is looking, and so keep the person from being notified (I12).
        if is_of_agent(&extensions) {
            return Err(error(Refusal::OwnAgent));
        }
        context.inbox.watch().await;
        Ok(())
    })?;
    let changed = (method::SUBSCRIBE, method::CHANGED, method::UNSUBSCRIBE);
    module.register_subscription(
        changed.0,
        changed.1,
        changed.2,
        async |_, pending, context, extensions| {
            follow(pending, &context, &extensions).await;
        },
    )?;
    Ok(())
}

/// Registers the methods that wait for an agent or a person.
fn register_waiting<I: Inbox>(module: &mut RpcModule<Context<I>>) -> Result<(), RegisterMethodError> {
    module.register_async_method(method::ANSWER, async |params, context, extensions| {
        let AnswerParams { id, answer, seen, comments, by } = read(&params)?;
        let record = named(&context.inbox, &id, &extensions).await?;
        let question = &record.question;
        let answer = answer.read(question).and_then(|answer| with_answer(question, answer, &comments));
        let answer = answer.map_err(|errors| error(Refusal::DoesNotFit(errors)))?;
        // `submit` gives the room of the request back, so nothing of the request's text may be held then.
        drop(params);
        context.submit(&record.id, Submission::answer(answer, seen), by, &extensions).await
    })?;
    module.register_async_method(method::REJECT, async |params, context, extensions| {
        let RejectParams { id, reason, comments, by } = read(&params)?;
        let id = named(&context.inbox, &id, &extensions).await?.id.clone();
        drop(params);
        context.submit(&id, Submission::Reject(with_reason(reason, &comments)), by, &extensions).await
    })?;
    module.register_async_method(method::EXTEND, async |params, context, extensions| {
        let ExtendParams { id, milliseconds } = read(&params)?;
        let time = Duration::from_millis(milliseconds.get());
        let id = named(&context.inbox, &id, &extensions).await?.id.clone();
        drop(params);
        context.submit(&id, Submission::Extend(time), None, &extensions).await
    })?;
    module.register_async_method(method::LATER, async |params, context, extensions| {
        let LaterParams { id, milliseconds } = read(&params)?;
        let id = named(&context.inbox, &id, &extensions).await?.id.clone();
        drop(params);
        let time = Duration::from_millis(milliseconds);
        context.submit(&id, Submission::Later(time), None, &extensions).await
    })?;
    module.register_async_method(
        method::ASK,
        async |params, context, extensions| -> RpcResult<Settlement> {
            let question = kept::made_by_asker(read::<AskParams>(&params)?.question).map_err(error)?;
            drop(params);
            // From here on, the desk's bound on open questions counts the call.
            wait(&extensions);
            context.inbox.ask(question).await.map_err(error)
        },
    )?;
    Ok(())
}

impl<I: Inbox> Context<I> {
    async fn list(&self, params: Option<ListParams>, extensions: &Extensions) -> RpcResult<Listing> {
        let session = params.and_then(|params| params.session);
        self.reserve(extensions, self.inbox.store().read(|_, snapshot| snapshot.bytes())).await?;
        Ok(self.inbox.store().read(|revision, snapshot| {
            let mut questions = snapshot.open();
            questions.retain(|record| session.is_none() || record.question.session == session);
            Listing::new(revision, questions)
        }))
    }

    async fn outline(&self, extensions: &Extensions) -> RpcResult<OutlineListing> {
        self.reserve(extensions, self.inbox.store().read(|_, snapshot| snapshot.bytes())).await?;
        Ok(self.inbox.store().read(|revision, snapshot| OutlineListing::new(revision, &snapshot.open())))
    }

    async fn settled(&self, params: Option<SettledParams>, extensions: &Extensions) -> RpcResult<Listing> {
        let limit = params.and_then(|params| params.limit).unwrap_or(limits::REMEMBERED);
        let settled = self.inbox.settled(limit.min(limits::REMEMBERED)).await;
        self.reserve(extensions, settled.iter().map(|record| record.size()).sum()).await?;
        Ok(Listing::new(self.inbox.store().read(|revision, _| revision), settled))
    }

    async fn lost(&self, extensions: &Extensions) -> RpcResult<LostListing> {
        let questions = self.inbox.lost().await.map_err(error)?;
        self.reserve(extensions, questions.iter().map(LostQuestion::size).sum()).await?;
        Ok(LostListing { protocol: PROTOCOL, questions })
    }

    async fn history(&self, params: HistoryParams, extensions: &Extensions) -> RpcResult<HistoryListing> {
        let past = self.inbox.past(params.into()).await.map_err(error)?;
        self.reserve(extensions, past.questions.iter().map(|past| past.record.size()).sum()).await?;
        Ok(past.into())
    }

    async fn reserve(&self, extensions: &Extensions, bytes: usize) -> RpcResult<()> {
        reserve(&self.budgets, extensions, bytes).await
    }

    async fn submit(
        &self,
        id: &QuestionId,
        submission: Submission,
        by: Option<Provenance>,
        extensions: &Extensions,
    ) -> RpcResult<Arc<Record>> {
        // Held without a timeout, until the agent has read the submission.
        let room = self.budgets.submission(submission.bytes());
        let _room = room.ok_or_else(|| error(Refusal::TooManyRequests))?;
        wait(extensions);
        let by = self.caller.responder(by, extensions);
        self.inbox.submit(id, submission, by).await.map_err(error)
    }
}

/// Sends the changes to a subscriber until it or the store has ended.
async fn follow<I: Inbox>(pending: PendingSubscriptionSink, context: &Context<I>, extensions: &Extensions) {
    let of_connection = extensions.get::<Connection>();
    let turn = of_connection.map(|connection| Arc::clone(&connection.subscriptions).try_acquire_owned());
    let (Some(Ok(_)) | None, Some(_room)) = (&turn, context.budgets.subscription()) else {
        return pending.reject(too_many_subscriptions()).await;
    };
    // The permits are held until the end of this function, which is that of the subscription.
    let Ok(sink) = pending.accept().await else { return };
    let mut follower = context.inbox.store().follow();
    loop {
        let batch = tokio::select! {
            batch = follower.next() => batch,
            () = sink.closed() => return,
        };
        let Some(batch) = batch else { return };
        for delta in deltas(&batch) {
            if let Some(connection) = of_connection {
                tokio::select! {
                    () = connection.reserve_change() => {}
                    () = sink.closed() => return,
                }
            }
            // The message is serialized only now, so that a slow subscriber holds one message in memory.
            let sent = match to_json_raw_value(&delta) {
                Ok(message) => sink.send(message).await.is_ok(),
                Err(_) => false,
            };
            if !sent {
                of_connection.inspect(|connection| connection.change_is_over());
                return;
            }
        }
    }
}

fn read<T: DeserializeOwned>(params: &Params<'_>) -> RpcResult<T> {
    params.parse()
}

fn read_optional<T: DeserializeOwned>(params: &Params<'_>) -> RpcResult<Option<T>> {
    match params.as_str() {
        // Clients also send an empty list or `null` if they have no parameters.
        None | Some("[]" | "null") => Ok(None),
        Some(_) => params.parse().map(Some),
    }
}

fn too_many_subscriptions() -> ErrorObjectOwned {
    let code = jsonrpsee::types::error::TOO_MANY_SUBSCRIPTIONS_CODE;
    ErrorObjectOwned::owned(code, "too many subscriptions", Some(Refusal::TooManyRequests.detail()))
}
