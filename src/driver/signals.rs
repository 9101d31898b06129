//! The signals that tell us to end.

use std::{
    future::poll_fn,
    io,
    task::{Context, Poll},
};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, SIGINT and SIGHUP, as one stream.
pub(super) struct Signals([Signal; 3]);

impl Signals {
    /// Catches the signals from now on.
    pub(super) fn catch() -> io::Result<Self> {
        let [terminate, interrupt, hangup] =
            [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
        Ok(Signals([signal(terminate)?, signal(interrupt)?, signal(hangup)?]))
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        poll_fn(|cx| self.poll_next(cx)).await;
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // All three are asked, so that each of them wakes us.
        let came = self.0.iter_mut().map(|signal| signal.poll_recv(cx).is_ready());
        if came.fold(false, |any, one| any | one) { Poll::Ready(()) } else { Poll::Pending }
    }
}
