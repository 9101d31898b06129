//! Subscribers that follow a bridge's questions on its own socket while it is measured.
//! They read the notifications and drop them.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use askbridge_control::rpc::client::Client;
use tokio::{net::UnixStream, runtime, sync::oneshot, task::JoinSet};

/// The timeout for the socket of a bridge to appear and for the subscriptions.
const LIMIT: Duration = Duration::from_secs(10);

/// Subscriptions, which end on drop.
#[derive(Debug)]
pub(crate) struct Subscribers {
    _end: oneshot::Sender<()>,
}

/// Returns a folder of our own for the sockets of the measured bridges. It is in memory where the system has such a
/// file system, as `XDG_RUNTIME_DIR` usually is.
pub(crate) fn folder() -> io::Result<PathBuf> {
    let memory = Path::new("/dev/shm");
    let base = if memory.is_dir() { memory.to_owned() } else { env::temp_dir() };
    let folder = base.join(format!("relay-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Removes the folder, if it was created.
pub(crate) fn clean_up() -> io::Result<()> {
    fs::remove_dir_all(folder()?)
}

/// Subscribes `count` times to the only bridge whose socket is in this folder.
pub(crate) fn attach(folder: &Path, count: usize) -> io::Result<Subscribers> {
    let (end, ended) = oneshot::channel();
    let (ready, subscribed) = sync_channel(1);
    let folder = folder.join("askbridge");
    thread::spawn(move || follow(&folder, count, ended, &ready));
    wait(&subscribed)?;
    Ok(Subscribers { _end: end })
}

fn wait(subscribed: &Receiver<io::Result<()>>) -> io::Result<()> {
    subscribed.recv_timeout(LIMIT).map_err(io::Error::other)?
}

fn follow(folder: &Path, count: usize, ended: oneshot::Receiver<()>, ready: &SyncSender<io::Result<()>>) {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let followed = runtime.and_then(|runtime| {
        runtime.block_on(async {
            let mut followers = JoinSet::new();
            let socket = bridge_in(folder)?;
            for _ in 0..count {
                let client = Client::connect(UnixStream::connect(&socket).await?).await;
                let client = client.map_err(io::Error::other)?;
                let mut changes = client.subscribe().await.map_err(io::Error::other)?;
                followers.spawn(async move {
                    let _client = client;
                    while changes.next().await.is_some() {}
                });
            }
            // Fails if the caller has timed out.
            drop(ready.send(Ok(())));
            // Ends when the sender is dropped.
            drop(ended.await);
            Ok(())
        })
    });
    if let Err(error) = followed {
        drop(ready.send(Err(error)));
    }
}

/// Polls for the socket of the bridge, because its creation is not notified.
fn bridge_in(folder: &Path) -> io::Result<PathBuf> {
    let began = Instant::now();
    loop {
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let mut sockets = entries.map(|entry| entry.path());
        if let Some(socket) = sockets.find(|path| path.extension().is_some_and(|end| end == "sock")) {
            return Ok(socket);
        }
        if began.elapsed() > LIMIT {
            return Err(io::Error::other("the bridge has no socket"));
        }
        thread::sleep(Duration::from_millis(1));
    }
}
