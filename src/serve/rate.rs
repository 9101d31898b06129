//! How often may be asked, by all who show the token together. Who is asked for what is left to the guard, and to
//! JSON-RPC.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::limits;

/// How many requests there were in this second. Who shows no token is not counted, and so takes nothing from others.
#[derive(Debug)]
pub(super) struct Rate(Mutex<(Instant, u32)>);

impl Rate {
    pub(super) fn new() -> Self {
        Rate(Mutex::new((Instant::now(), 0)))
    }

    /// Counts one more, and says whether it is let through.
    pub(super) fn allows(&self) -> bool {
        self.allows_at(Instant::now())
    }

    fn allows_at(&self, now: Instant) -> bool {
        // Nothing that holds it can leave it half changed.
        let mut second = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(second.0) >= Duration::from_secs(1) {
            *second = (now, 0);
        }
        second.1 = second.1.saturating_add(1);
        second.1 <= limits::REQUESTS_PER_SECOND
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_requests_a_second_are_let_through_and_no_more() {
        let rate = Rate::new();
        let start = Instant::now();
        for second in 0..3 {
            let now = start + Duration::from_secs(second);
            let allowed = (0..2 * limits::REQUESTS_PER_SECOND).filter(|_| rate.allows_at(now)).count();
            assert_eq!(allowed, limits::REQUESTS_PER_SECOND as usize, "in second {second}");
        }
        // A clock that goes back lets nobody through.
        assert!(!rate.allows_at(start));
    }
}
