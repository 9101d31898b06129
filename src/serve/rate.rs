//! A limit on how often something happens in a second, such as requests of all clients together. What is counted is left
//! to the caller: the guard counts no request without the token, so that it takes nothing from others.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How many requests there were in this second.
#[derive(Debug)]
pub(super) struct Rate {
    second: Mutex<(Instant, u32)>,
    limit: u32,
}

impl Rate {
    /// Returns a counter that begins now, with this limit.
    pub(super) fn new(limit: u32) -> Self {
        Rate { second: Mutex::new((Instant::now(), 0)), limit }
    }

    /// Counts one more request, and returns whether it is within the limit.
    pub(super) fn allows(&self) -> bool {
        self.allows_at(1, Instant::now())
    }

    /// Counts this many requests that come as one, and returns whether all of them are within the limit.
    pub(super) fn allows_all(&self, count: u32) -> bool {
        self.allows_at(count, Instant::now())
    }

    fn allows_at(&self, count: u32, now: Instant) -> bool {
        // Nothing that holds it can leave it half changed.
        let mut second = self.second.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(second.0) >= Duration::from_secs(1) {
            *second = (now, 0);
        }
        second.1 = second.1.saturating_add(count);
        second.1 <= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;

    #[test]
    fn requests_beyond_the_limit_of_a_second_are_refused() {
        let rate = Rate::new(limits::REQUESTS_PER_SECOND);
        let start = Instant::now();
        for second in 0..3 {
            let now = start + Duration::from_secs(second);
            let allowed = (0..2 * limits::REQUESTS_PER_SECOND).filter(|_| rate.allows_at(1, now)).count();
            assert_eq!(allowed, limits::REQUESTS_PER_SECOND as usize, "in second {second}");
        }
        // A clock that goes back starts no new second.
        assert!(!rate.allows_at(1, start));
        let next = start + Duration::from_secs(4);
        assert!(rate.allows_at(limits::REQUESTS_PER_SECOND, next) && !rate.allows_at(1, next));
        assert!(!rate.allows_at(limits::REQUESTS_PER_SECOND + 1, next + Duration::from_secs(1)));
    }
}
