//! Until when a person sets a question aside, as they type it: `30m`, `14:00`, `tomorrow`.

use std::time::Duration;

use jiff::{Zoned, civil::Time};

use super::arguments;

/// The time of the day that `tomorrow` means.
const MORNING: Time = Time::constant(9, 0, 0, 0);
/// What is taken.
const WANTED: &str =
    "it is how long, such as 30m or 2h, a time such as 14:00, `tomorrow`, which is 9:00, or `now`";

/// Returns how long it is until then. `now` is zero.
///
/// # Errors
/// What is taken instead.
pub(super) fn until(text: &str, now: &Zoned) -> Result<Duration, String> {
    let wanted = || WANTED.to_owned();
    let text = text.trim();
    let (date, time) = match text {
        "now" => return Ok(Duration::ZERO),
        "tomorrow" => (now.date().tomorrow(), MORNING),
        text => match Time::strptime("%H:%M", text) {
            // A time that has passed today is one of tomorrow.
            Ok(time) if time <= now.time() => (now.date().tomorrow(), time),
            Ok(time) => (Ok(now.date()), time),
            Err(_) => return arguments::duration(text).map(Into::into).map_err(|_| wanted()),
        },
    };
    let then = date.and_then(|date| date.to_datetime(time).to_zoned(now.time_zone().clone()));
    let left = then.map_err(|_| wanted())?.timestamp().duration_since(now.timestamp());
    Duration::try_from(left).map_err(|_| wanted())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_times_and_days_are_read() {
        let now: Zoned = "2026-11-29T23:30:00+01:00[+01:00]".parse().expect("a time");
        for (text, minutes) in [
            ("30m", Some(30)),
            (" 2h ", Some(120)),
            ("1h 30m", Some(90)),
            ("23:45", Some(15)),
            ("23:30", Some(24 * 60)),
            ("09:00", Some(9 * 60 + 30)),
            ("9:00", Some(9 * 60 + 30)),
            ("tomorrow", Some(9 * 60 + 30)),
            ("now", Some(0)),
            ("", None),
            ("24:00", None),
            ("12:60", None),
            ("soon", None),
            ("0m", None),
            ("-5m", None),
            ("99999999999999999y", None),
        ] {
            let expected = minutes.map(|minutes| Duration::from_secs(minutes * 60));
            assert_eq!(until(text, &now).ok(), expected, "{text:?}");
        }
    }
}
