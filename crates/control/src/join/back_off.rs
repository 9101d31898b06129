//! The pauses between the tries to reach a machine or a broker.

use std::time::Duration;

/// The pauses between tries of one kind. They grow with each failure.
#[derive(Debug)]
pub struct BackOff {
    first: Duration,
    longest: Duration,
    steady: Duration,
    /// The longest that the next pause can be.
    most: Duration,
}

impl BackOff {
    /// Returns pauses of which the first is at most `first`, and none is longer than `longest`. A connection that lasts
    /// for `steady` is no failure.
    pub fn new(first: Duration, longest: Duration, steady: Duration) -> Self {
        BackOff { first, longest, steady, most: first }
    }

    /// Returns the next pause: between three quarters and all of its length, as `random` says. Connections that were
    /// lost at once, such as with the network, are not all tried at once then.
    pub fn pause(&mut self, random: u8) -> Duration {
        let pause = self.most.mul_f64(0.75 + 0.25 * f64::from(random) / f64::from(u8::MAX));
        self.most = self.longest.min(2 * self.most);
        pause
    }

    /// Begins with short pauses again, if a connection has lasted for long enough. One that ends at once shows that the
    /// next will most likely end at once too.
    pub fn lasted(&mut self, time: Duration) {
        if time >= self.steady {
            self.most = self.first;
        }
    }
}

/// Returns a random byte.
pub fn random() -> u8 {
    let mut random = [0];
    // Without random numbers, all pauses are as short as they may be.
    getrandom::fill(&mut random).unwrap_or_default();
    random[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(60);
    const STEADY: Duration = Duration::from_secs(30);

    fn back_off() -> BackOff {
        BackOff::new(FIRST, LONGEST, STEADY)
    }

    #[test]
    fn pauses_grow_up_to_a_limit_and_vary_by_a_quarter() {
        for random in [0, 1, 100, 255] {
            let mut back_off = back_off();
            let mut whole = FIRST;
            for _ in 0..12 {
                let pause = back_off.pause(random);
                assert!(pause >= whole.mul_f64(0.75) && pause <= whole, "{random}: {pause:?} of {whole:?}");
                whole = LONGEST.min(2 * whole);
            }
        }
        let (least, most) = (back_off().pause(0), back_off().pause(255));
        assert_eq!((least, most), (FIRST.mul_f64(0.75), FIRST));
    }

    #[test]
    fn only_a_connection_that_lasted_makes_pauses_short_again() {
        let mut back_off = back_off();
        for _ in 0..5 {
            back_off.pause(255);
        }
        back_off.lasted(STEADY - Duration::from_millis(1));
        assert_eq!(back_off.pause(255), 32 * FIRST);
        back_off.lasted(STEADY);
        assert_eq!(back_off.pause(255), FIRST);
    }
}
