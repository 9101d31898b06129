//! A timer for deadlines that change often, most of them before they are due.

use std::{
    io,
    task::{Context, Poll},
};

use alarm::Alarm;
use tokio::time::Instant;

/// Wakes the loop at a deadline.
pub(super) struct Timer {
    alarm: Alarm,
    /// When the alarm goes off. That may be before the deadline: the alarm is not set again when the deadline moves to
    /// a later time, since most deadlines change before they are due.
    set: Option<Instant>,
}

impl Timer {
    /// Returns a timer that is not set.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Timer { alarm: Alarm::new()?, set: None })
    }

    /// Waits until `due`, if there is such a time. From then on, every poll with this deadline is ready. Only one task
    /// may poll the timer.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, due: Option<Instant>) -> Poll<()> {
        let Some(due) = due else { return Poll::Pending };
        loop {
            let now = Instant::now();
            if due <= now {
                return Poll::Ready(());
            }
            match self.set {
                // The poll that set the alarm has registered the waker of the task.
                Some(set) if set <= due && now < set => return Poll::Pending,
                Some(set) if set <= due => {}
                _ => {
                    self.alarm.set(due, now);
                    self.set = Some(due);
                }
            }
            if self.alarm.poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.set = None;
        }
    }
}

/// A timer of the kernel. With a timer of the runtime, each wait for a message costs as much as a short message itself.
#[cfg(target_os = "linux")]
mod alarm {
    use std::{
        io,
        pin::Pin,
        task::{Context, Poll},
        time::Duration,
    };

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::{
        io::{AsyncRead, ReadBuf},
        net::unix::pipe,
        time::Instant,
    };

    /// A timerfd, which can be read like a pipe.
    pub(super) struct Alarm(pipe::Receiver);

    impl Alarm {
        pub(super) fn new() -> io::Result<Self> {
            let fd =
                timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
            // The constructor without a check is used, since the check would refuse a descriptor that is no pipe.
            pipe::Receiver::from_owned_fd_unchecked(fd).map(Alarm)
        }

        pub(super) fn set(&self, due: Instant, now: Instant) {
            let timespec = |time: Duration| Timespec::try_from(time).unwrap_or_default();
            let it_interval = timespec(Duration::ZERO);
            let value = Itimerspec { it_interval, it_value: timespec(due - now) };
            // This fails only for an invalid time, which is never made here. A zero time would disarm the timer, but
            // `due` is after `now`.
            timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &value).ok();
        }

        /// Ready once after it went off.
        pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
            let mut count = [0; size_of::<u64>()];
            let read = Pin::new(&mut self.0).poll_read(cx, &mut ReadBuf::new(&mut count));
            read.map(|result| result.unwrap_or_default())
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod alarm {
    use std::{
        io,
        pin::Pin,
        task::{Context, Poll},
    };

    use tokio::time::{Instant, Sleep, sleep_until};

    pub(super) struct Alarm {
        sleep: Pin<Box<Sleep>>,
        set: bool,
    }

    impl Alarm {
        pub(super) fn new() -> io::Result<Self> {
            Ok(Alarm { sleep: Box::pin(sleep_until(Instant::now())), set: false })
        }

        pub(super) fn set(&mut self, due: Instant, _: Instant) {
            self.sleep.as_mut().reset(due);
            self.set = true;
        }

        /// Ready once after it went off.
        pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
            if self.set && self.sleep.as_mut().poll(cx).is_ready() {
                self.set = false;
                return Poll::Ready(());
            }
            Poll::Pending
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, time::Duration};

    use tokio::time::timeout;

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(120);

    #[tokio::test]
    async fn it_is_ready_when_it_is_due_and_not_before() {
        let mut timer = Timer::new().unwrap();
        let mut wait = async |due: Instant| {
            timeout(DEADLINE, poll_fn(|cx| timer.poll(cx, Some(due)))).await.expect("it is ready");
            assert!(Instant::now() >= due);
        };
        let begun = Instant::now();
        for due in [30, 10, 10, 40, 0] {
            wait(begun + Duration::from_millis(due)).await;
        }
    }

    #[tokio::test]
    async fn it_follows_what_it_is_set_to() {
        let mut timer = Timer::new().unwrap();
        let begun = Instant::now();
        let far = begun + Duration::from_secs(3600);
        let near = begun + Duration::from_millis(20);
        let mut dues =
            [Some(far), Some(near), None, Some(far), Some(near + Duration::from_millis(20))].into_iter();
        let mut due = None;
        let waits = poll_fn(|cx| {
            // The last of them counts.
            for next in dues.by_ref() {
                due = next;
                assert!(timer.poll(cx, due).is_pending());
            }
            timer.poll(cx, due)
        });
        timeout(DEADLINE, waits).await.expect("it is ready");
        assert!(Instant::now() >= near + Duration::from_millis(20));
        // At the deadline it would be ready as well.
        assert!(begun.elapsed() < DEADLINE);
    }
}
