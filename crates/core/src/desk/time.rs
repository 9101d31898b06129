//! A point in time for records and messages. Reading the clock is left to the shell.

use std::{
    fmt,
    str::FromStr,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// The last millisecond since 1970 that RFC 3339 can express.
const LAST: u64 = 253_402_300_799_999;

/// A point in time by RFC 3339, in UTC, to the millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Returns the time that is this long after this one, or the last time that RFC 3339 can express, since a deadline
    /// may be further away.
    #[must_use]
    pub fn after(self, passed: Duration) -> Self {
        let passed = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
        Timestamp(self.0.saturating_add(passed).min(LAST))
    }

    /// Returns the time since an earlier point in time; zero if that is later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        // A clock that is set to a time before 1970 counts as 1970.
        Timestamp::default().after(time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(self.0);
        humantime::format_rfc3339_millis(time).fmt(formatter)
    }
}

impl FromStr for Timestamp {
    type Err = humantime::TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        humantime::parse_rfc3339(text).map(Into::into)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_it_is_written() {
        let time: Timestamp = "2026-11-21T23:59:59.875Z".parse().expect("a time");
        assert_eq!(time.to_string(), "2026-11-21T23:59:59.875Z");
        let later = time.after(Duration::from_millis(1_125));
        assert_eq!(later.to_string(), "2026-11-22T00:00:01.000Z");
        assert_eq!((later.since(time), time.since(later)), (Duration::from_millis(1_125), Duration::ZERO));
        assert!("tomorrow".parse::<Timestamp>().is_err());
    }

    #[test]
    fn a_time_beyond_rfc_3339_is_the_last_that_it_can_say() {
        let last = Timestamp::default().after(Duration::MAX);
        assert_eq!(last.to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(last.after(Duration::MAX), last);
    }
}
