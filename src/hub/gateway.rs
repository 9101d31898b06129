//! The gateway of this machine: beside the inbox, or as a process of its own that a bridge starts.

use std::{future::pending, path::Path, time::Duration};

use askbridge_control::join::{JoinedInbox, OwnInboxes, Places};
use askbridge_fleet::{Access, Gateway, run};
use askbridge_os::{exit, signals::Signals};
use askbridge_settings::files::Live;
use futures::future::BoxFuture;
use rustix::process::setsid;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    HubError,
    service::{HubContext, HubService},
};
use crate::{limits, limits::fleet as limit};

/// Serves the questions of this machine to the fleet, if the settings name one.
pub(super) struct GatewayService;

impl HubService for GatewayService {
    fn name(&self) -> &'static str {
        "gateway"
    }

    fn run(self: Box<Self>, context: HubContext, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let late = async {
                stop.cancelled().await;
                sleep(limit::FAREWELL).await;
            };
            tokio::select! {
                () = keep(&context.folder, &context.joined, &stop) => {}
                () = late => {}
            }
        })
    }
}

/// Serves the questions of this machine until `stop` is cancelled, while the settings say so, unless another process
/// does.
async fn keep(folder: &Path, joined: &JoinedInbox, stop: &CancellationToken) {
    let live = Live::of_user();
    while !stop.is_cancelled() {
        // If another process serves this machine, the claim fails. It is tried again, since that process may end.
        if let Some(access) = access(&live)
            && let Ok(Some(gateway)) = Gateway::claim(folder).await
        {
            serve_as(&access, &live, gateway, &joined.here(), None, stop).await;
        }
        timeout(limits::MACHINE_SETTINGS, stop.cancelled()).await.unwrap_or_default();
    }
}

/// Returns how the settings of now say that the broker is reached.
fn access(live: &Live) -> Option<Access> {
    Access::of(&live.settings()).and_then(Result::ok)
}

/// Serves as this user until the settings name another access, no bridge has run for `idle`, or `stop` is cancelled.
/// Returns whether no bridge has run.
async fn serve_as(
    access: &Access,
    live: &Live,
    gateway: Gateway,
    here: &JoinedInbox,
    idle: Option<Duration>,
    stop: &CancellationToken,
) -> bool {
    // A change of the settings ends this as `stop` does: the persons are told.
    let ending = stop.child_token();
    let changed = async {
        while self::access(live).as_ref() == Some(access) {
            sleep(limits::MACHINE_SETTINGS).await;
        }
        ending.cancel();
        pending().await
    };
    tokio::select! {
        is_idle = run(gateway, access, here, idle, &ending) => is_idle,
        never = changed => never,
    }
}

/// Serves the questions of this machine until no bridge runs, unless another process does.
///
/// # Errors
/// The directory of the sockets cannot be used.
pub async fn serve() -> Result<u8, HubError> {
    // It outlives the bridge, and Ctrl-C in the bridge's terminal is not for it. `setsid` fails for the leader of a
    // process group, which a bridge does not start.
    setsid().ok();
    let mut signals = Signals::catch()?;
    let live = Live::of_user();
    let (places, ledger) = (Places::here()?, crate::service::ledger(live.settings().journal()));
    // Other machines that this one knows are left out: they have a place of their own.
    let here = JoinedInbox::open_with(&places, OwnInboxes::default(), ledger).await?;
    let stop = CancellationToken::new();
    let serving = async {
        // The user may correct a wrong address or file while this process tries to connect.
        while !stop.is_cancelled()
            && let Some(access) = access(&live)
            && let Some(gateway) = Gateway::claim(places.own()).await?
            && !serve_as(&access, &live, gateway, &here, Some(limit::IDLE), &stop).await
        {}
        Ok(exit::OK)
    };
    tokio::pin!(serving);
    tokio::select! {
        code = &mut serving => code,
        followed = here.follow() => Ok(followed.map(|()| exit::OK)?),
        code = signals.next() => {
            stop.cancel();
            serving.await.map(|_| code)
        }
    }
}
