//! The gateway of this machine: beside the inbox, or as a process of its own that a bridge starts.

use std::{
    convert::Infallible,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use askbridge_os::{exit, signals::Signals};
use rustix::process::setsid;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::{
    command::CommandError,
    fleet::{Access, Gateway, run},
    inbox::Ledger,
    limits::{self, fleet as limit, machine},
    machine::{
        Machine,
        discovery::{self, DiscoveryError},
    },
    settings::files::{self, Live},
};

/// How often a gateway that a bridge has started tries to get the lock.
const TRIES: usize = 5;

/// Serves the questions of this machine while the settings say so, unless another process does.
pub(in crate::command) async fn keep(folder: PathBuf, ledger: Option<Arc<dyn Ledger>>) -> Infallible {
    let live = Live::of_user();
    let wanted = || Access::of(&live.settings()).and_then(Result::ok);
    loop {
        // If another process serves this machine, the claim fails. It is tried again, since that process may end.
        if let Some(access) = wanted()
            && let Ok(Some(gateway)) = Gateway::claim(&folder)
        {
            let changed = async {
                while wanted().as_ref() == Some(&access) {
                    sleep(machine::SETTINGS).await;
                }
            };
            let served = async {
                let (machine, stop) = (open(ledger.clone()).await?, CancellationToken::new());
                tokio::select! {
                    followed = machine.follow() => followed,
                    () = run(gateway, &access, &machine, None, &stop) => Ok(()),
                }
            };
            tokio::select! {
                served = served => if let Err(error) = served {
                    tracing::warn!(%error, "this machine is not in the fleet any more");
                },
                () = changed => {}
            }
        }
        sleep(machine::SETTINGS).await;
    }
}

/// Claims to be the gateway. It tries for a moment: a bridge that looks whether there is one has the lock meanwhile.
async fn claim(folder: &Path) -> io::Result<Option<Gateway>> {
    for _ in 0..TRIES {
        let claimed = Gateway::claim(folder)?;
        if claimed.is_some() {
            return Ok(claimed);
        }
        sleep(limits::DEBOUNCE).await;
    }
    Ok(None)
}

/// Serves the questions of this machine until no bridge runs, unless another process does.
pub(super) async fn serve() -> Result<u8, CommandError> {
    // It outlives the bridge, and Ctrl-C in the bridge's terminal is not for it. `setsid` fails for the leader of a
    // process group, which a bridge does not start.
    setsid().ok();
    let mut signals = Signals::catch()?;
    let settings = files::read(None);
    let Some(access) = Access::of(&settings) else { return Ok(exit::OK) };
    let access = access.map_err(CommandError::Setup)?;
    let Some(gateway) = claim(&discovery::folder()?).await? else { return Ok(exit::OK) };
    let machine = open(crate::command::ledger(settings.journal())).await?;
    let stop = CancellationToken::new();
    let served = async {
        let serving = run(gateway, &access, &machine, Some(limit::IDLE), &stop);
        tokio::pin!(serving);
        tokio::select! {
            () = &mut serving => exit::OK,
            code = signals.next() => {
                stop.cancel();
                serving.await;
                code
            }
        }
    };
    tokio::select! {
        followed = machine.follow() => Ok(followed.map(|()| exit::OK)?),
        code = served => Ok(code),
    }
}

/// Joins the bridges of this machine. Other machines that it knows are left out: they have a place of their own.
async fn open(ledger: Option<Arc<dyn Ledger>>) -> Result<Machine, DiscoveryError> {
    Machine::open_with(&discovery::folder()?, None, ledger).await
}
