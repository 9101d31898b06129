//! The signals that tell us to end. All that a person or a program uses for that are among them, so that the
//! agent's group is never left behind (I8).

use std::{
    future::poll_fn,
    io,
    task::{Context, Poll},
};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, SIGINT, SIGHUP and SIGQUIT, as one stream.
pub(super) struct Signals([Signal; 4]);

impl Signals {
    /// Catches the signals from now on.
    pub(super) fn catch() -> io::Result<Self> {
        let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let (hangup, quit) = (signal(SignalKind::hangup())?, signal(SignalKind::quit())?);
        Ok(Signals([terminate, interrupt, hangup, quit]))
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        poll_fn(|cx| self.poll_next(cx)).await;
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // All are asked, so that each of them wakes us.
        let came = self.0.iter_mut().map(|signal| signal.poll_recv(cx).is_ready());
        if came.fold(false, |any, one| any | one) { Poll::Ready(()) } else { Poll::Pending }
    }
}
