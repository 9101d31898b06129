//! The way of a command to `askbridge inbox`, which keeps the questions that no connection holds: it is found by its
//! sockets, and started in the background where none runs. A command that waits finds the next inbox after this one.

use std::path::Path;

use askbridge_control::{
    join::{Places, discovery},
    rpc::client::{CallError, Client},
};
use askbridge_core::{
    desk::{IdPrefix, QuestionId, Record, Refusal},
    question::Question,
};
use askbridge_settings::{keys, resolved::ServeSettings};
use futures::{
    StreamExt,
    stream::{FuturesUnordered, Stream},
};
use tokio::time::{Instant, sleep, timeout};

use super::{CommandError, Context, background, inbox::HttpArgs, open::running, runner::say};
use crate::{hub::SERVER, limits};

/// Makes sure that an inbox of this user runs.
pub(super) async fn start(context: &Context) -> Result<(), CommandError> {
    if running(context.places()?).await?.is_none() {
        let http = HttpArgs::default().settings(&context.settings);
        let serve = ServeSettings { address: context.settings.get(&keys::INBOX_ADDRESS), http };
        background::start(context, &serve).await?;
        say("started the inbox in the background; `askbridge inbox --stop` ends it");
    }
    Ok(())
}

/// Asks a question that no connection holds, or finds the one that was asked under the same key.
pub(super) async fn ask(
    context: &Context,
    question: &Question,
    key: Option<&str>,
) -> Result<Record, CommandError> {
    start(context).await?;
    let mut inboxes = inboxes(context.places()?).await?;
    let mut refused = "no `askbridge inbox` replies".to_owned();
    while let Some(inbox) = inboxes.next().await {
        match inbox.keep(question, key).await {
            Ok(reply) => return reply.value.ok_or_else(|| unreadable("the question that was asked")),
            // Another inbox of this user may keep it.
            Err(error @ CallError::Refused(Refusal::NotKept(_)) | error @ CallError::Gone) => {
                refused = error.to_string();
            }
            Err(error) => return Err(CommandError::Ask(error.to_string())),
        }
    }
    Err(CommandError::Ask(refused))
}

/// Waits until a question is over that an inbox keeps. If the inbox ends, this waits for the next one, which another command
/// or a person starts.
pub(super) async fn over(context: &Context, id: &QuestionId) -> Result<Record, CommandError> {
    if id.bridge.machine().is_some() {
        return Err(CommandError::OfAsker(id.to_string()));
    }
    let mut has_said = false;
    loop {
        if let Some(inbox) = keeper(context.places()?, id).await
            && let Some(record) = outcome(&inbox, id).await?
        {
            return Ok(record);
        }
        if !std::mem::replace(&mut has_said, true) {
            say(&format!("the inbox has ended, and {id} is kept: waiting for the next `askbridge inbox`"));
        }
        sleep(limits::DISCOVERY_INTERVAL).await;
    }
}

/// Waits for the outcome. `None` if the inbox ends before.
async fn outcome(inbox: &Client, id: &QuestionId) -> Result<Option<Record>, CommandError> {
    loop {
        let began = Instant::now();
        match inbox.outcome(id).await {
            Ok(reply) => {
                let record = reply.value.ok_or_else(|| unreadable(&id.to_string()))?;
                if !record.is_open() {
                    return Ok(Some(record));
                }
                // An inbox that ends does not wait.
                if began.elapsed() < limits::OUTCOME {
                    return Ok(None);
                }
            }
            Err(CallError::Gone) => return Ok(None),
            Err(CallError::Refused(Refusal::TooManyRequests)) => sleep(limits::DISCOVERY_INTERVAL).await,
            Err(CallError::Refused(Refusal::Held | Refusal::NotKept(_))) => {
                return Err(CommandError::OfAsker(id.to_string()));
            }
            Err(CallError::Refused(refusal)) => return Err(CommandError::Refused(id.to_string(), refusal)),
        }
    }
}

/// Connects to the inbox that keeps a question.
async fn keeper(places: &Places, id: &QuestionId) -> Option<Client> {
    let folders = places.all();
    let typed = IdPrefix::from(id);
    let (_, socket) = folders.iter().find_map(|folder| discovery::socket_of(folder, &typed))?;
    greeted(&socket).await
}

/// Returns the inboxes of `askbridge inbox` that run, in the order in which they reply.
async fn inboxes(places: &Places) -> Result<impl Stream<Item = Client> + Unpin, CommandError> {
    let sockets = discovery::sockets_in(places).await?.into_values();
    let greeted: FuturesUnordered<_> =
        sockets.map(async |socket| greeted(&socket).await.filter(is_of_server)).collect();
    Ok(Box::pin(greeted.filter_map(async |inbox| inbox)))
}

fn is_of_server(inbox: &Client) -> bool {
    inbox.greeting().iter().any(|status| status.agent == SERVER)
}

async fn greeted(socket: &Path) -> Option<Client> {
    let connected = async {
        let stream = discovery::connect(socket).await.ok()??;
        Client::connect(stream).await.ok()
    };
    timeout(limits::HANDSHAKE_TIMEOUT, connected).await.ok()?
}

fn unreadable(what: &str) -> CommandError {
    CommandError::Unreadable(what.to_owned())
}
