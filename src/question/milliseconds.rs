//! A time as whole milliseconds, as it stands on the wire.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize_milliseconds<S: Serializer>(
    time: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_millis().try_into().unwrap_or(u64::MAX)).serialize(serializer)
}

pub(super) fn deserialize_milliseconds<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
}
