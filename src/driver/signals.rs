//! The signals that tell us to end. All that a person or a program uses for that are among them, so that the
//! agent's group is never left behind (I8).

use std::{
    future::poll_fn,
    io,
    task::{Context, Poll},
};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc::{Receiver, channel},
};

/// More signals than there are rungs on the way to the end.
const WAITING: usize = 8;

/// SIGTERM, SIGINT, SIGHUP and SIGQUIT, as one stream. A task of its own waits for them: the pump asks at every
/// step, and asking one channel costs a tenth of asking four signals.
pub(super) struct Signals(Receiver<()>);

impl Signals {
    /// Catches the signals from now on.
    pub(super) fn catch() -> io::Result<Self> {
        let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let (hangup, quit) = (signal(SignalKind::hangup())?, signal(SignalKind::quit())?);
        let mut signals = [terminate, interrupt, hangup, quit];
        let (sender, receiver) = channel(WAITING);
        tokio::spawn(async move {
            loop {
                poll_fn(|cx| poll_any(&mut signals, cx)).await;
                if sender.send(()).await.is_err() {
                    return;
                }
            }
        });
        Ok(Signals(receiver))
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        // The task ends with the runtime, and not before.
        self.0.recv().await.unwrap_or_default();
    }
}

fn poll_any(signals: &mut [Signal], cx: &mut Context<'_>) -> Poll<()> {
    // All are asked, so that each of them wakes us.
    let came = signals.iter_mut().map(|signal| signal.poll_recv(cx).is_ready());
    if came.fold(false, |any, one| any | one) { Poll::Ready(()) } else { Poll::Pending }
}
