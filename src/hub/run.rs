//! Runs the process that serves all questions, from its first socket to the last event.
//! What runs in it is left to `list.rs`.

use std::{io, net::SocketAddr, sync::Arc};

use askbridge_control::{
    inbox::{BridgeInbox, Inbox as _, Standing},
    join::{JoinedInbox, OwnInboxes, Places},
};
use askbridge_os::{exit, signals::Signals};
use askbridge_settings::{Settings, resolved::ServeSettings};
use askbridge_web::Server;
use tokio::time::timeout;

use super::{
    HubError,
    attach::Attached,
    http::announce,
    list::{HubParts, hub_services},
    machines::HeldMachines,
    presence::Presence,
    service::{HubContext, Running},
};
use crate::{
    limits,
    present::status::INBOX,
    service::{OwnInbox, StandingHost},
};

/// The name of the inbox of this process, as commands show it.
pub const SERVER: &str = INBOX;

/// Serves the questions until a signal ends it, and returns the exit code. Questions that are asked through this server
/// wait in an inbox of its own, which commands find like a bridge's inbox.
///
/// `presence` outlives all other parts: a command that waits for the end of the process then finds nothing else of it.
///
/// # Errors
/// The server cannot listen, or the directory of the sockets cannot be used any more.
pub async fn run(
    settings: &Settings,
    serve_at: &ServeSettings,
    presence: Option<&Presence>,
    attached: Attached,
    mut signals: Signals,
) -> Result<u8, HubError> {
    let server = Server::bind(serve_at.address, &serve_at.http).await?;
    let (address, deferrals) = (server.address(), server.deferrals());
    let mut own = OwnInbox::bind(SERVER, settings)?;
    // The address is set before the socket is served, so that every status of this inbox has it.
    own.inbox.serves_at(address);
    own.start()?;
    let places = Places::here()?;
    // This comes before anything looks at their sockets: otherwise, a question of theirs would seem not to exist.
    let (mut machines, share) = HeldMachines::shared(&places);
    machines.set().await;
    // The joined inbox reads the journal that the own inbox writes: if the settings want no journal, none is opened for
    // lost questions.
    let (reach, ledger) = (machines.reach(), own.ledger.clone());
    let (inboxes, standing_host) = inboxes(settings, &own, address).await?;
    let joined = JoinedInbox::open_with(reach, inboxes, ledger).await?;
    announce(&server);
    if let Some(presence) = presence {
        presence.serves_at(address)?;
    }
    let context = HubContext {
        joined,
        #[cfg(feature = "notify")]
        own: own.inbox.clone(),
        #[cfg(feature = "fleet")]
        folder: places.own().to_owned(),
    };
    let visitors = presence.map(Presence::visitors);
    let services = hub_services(HubParts { server, visitors, attached, share });
    let mut running = Running::start(services, &context);
    // The machines stay connected until the server has sent the last event: otherwise, their questions would seem lost.
    let following = async {
        tokio::select! {
            followed = context.joined.follow() => followed,
            never = machines.keep() => match never {},
        }
    };
    tokio::pin!(following);
    let ended = tokio::select! {
        followed = &mut following => return Ok(followed.map(|()| exit::OK)?),
        () = running.any_ends() => exit::OK,
        code = signals.next() => code,
    };
    let last = async {
        // What people have sent reaches its askers before their questions end with this process.
        deferrals.flush().await;
        own.end();
        if let Some(host) = &standing_host {
            host.standing.end();
        }
        settled(&context.joined, &own.inbox).await;
    };
    let farewell = running.stop(last);
    tokio::select! {
        // The questions of this process reach the server as those of any bridge.
        followed = following => drop(followed),
        _ = timeout(limits::LAST_SUBMISSIONS + limits::SERVICE_STOP, farewell) => {}
    }
    Ok(ended)
}

/// Returns the inboxes through which programs ask, and what serves the one whose questions no connection holds.
async fn inboxes(
    settings: &Settings,
    own: &OwnInbox,
    address: SocketAddr,
) -> io::Result<(OwnInboxes, Option<StandingHost>)> {
    let (standing, host) = match StandingHost::open(SERVER, settings, own.ledger.clone()).await {
        Ok(mut host) => {
            host.standing.inbox().serves_at(address);
            host.start()?;
            (Ok(host.standing.clone()), Some(host))
        }
        Err(why) => {
            tracing::debug!(why, "no question is kept beyond its connection");
            (Err(why), None)
        }
    };
    own.inbox.kept_by().set(standing.clone().map(|standing| Arc::new(standing) as Arc<dyn Standing>));
    Ok((OwnInboxes { asked: Some(own.inbox.clone()), standing }, host))
}

/// Waits until the server knows that the questions of programs are over, so that the last events say so.
async fn settled(joined: &JoinedInbox, own: &BridgeInbox) {
    let bridge = &own.identity().bridge;
    let mut follower = joined.store().follow();
    let has_open = || joined.store().read(|_, snapshot| snapshot.open_in(bridge).next().is_some());
    timeout(limits::LAST_REPLIES, async { while has_open() && follower.next().await.is_some() {} })
        .await
        .unwrap_or_default();
}
