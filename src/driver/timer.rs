//! A timer that is set again and again.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use tokio::time::{Instant, Sleep, sleep_until};

/// Wakes the loop when it is due.
pub(super) struct Timer {
    sleep: Pin<Box<Sleep>>,
    due: Option<Instant>,
}

impl Timer {
    /// Returns a timer that is not set.
    pub(super) fn new() -> Self {
        Timer { sleep: Box::pin(sleep_until(Instant::now())), due: None }
    }

    /// Waits until `due`, if there is such a time. Once it has come, it is ready whenever it is polled.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, due: Option<Instant>) -> Poll<()> {
        let Some(at) = due else {
            self.due = None;
            return Poll::Pending;
        };
        if self.due != due {
            self.due = due;
            self.sleep.as_mut().reset(at);
        }
        if self.sleep.is_elapsed() {
            return Poll::Ready(());
        }
        self.sleep.as_mut().poll(cx)
    }
}
