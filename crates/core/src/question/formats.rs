//! Tests of texts: the formats that JSON Schema names (dates, times, e-mail addresses and URIs), and the patterns of
//! fields, compiled once for each question. Which fields have a format or a pattern, and the error for a text that does
//! not fit, is left to `check.rs`.
//!
//! Each text that the inputs of a browser accept is accepted here too, so that the same text fits wherever it is typed:
//! an e-mail address needs no dot, as in HTML, and a date with a time needs no time zone.

use std::{collections::BTreeMap, fmt, sync::OnceLock};

use regex_lite::{Regex, RegexBuilder};

use crate::limits;

/// The most bytes of a label in the host of an e-mail address, as in the Domain Name System.
const LABEL: usize = 63;

/// Returns a description of the format, if this text does not have it. A format that is not known takes every text.
pub(super) fn unlike(format: &str, text: &str) -> Option<&'static str> {
    let (fits, wanted) = match format {
        "date" => (is_date(text), "a date such as 2026-11-23"),
        "time" => (is_time(text), "a time of day such as 14:30"),
        "date-time" => (is_moment(text), "a date and a time such as 2026-11-23T14:30:00Z"),
        "email" => (is_email(text), "an e-mail address such as ada@example.com"),
        "uri" => (is_uri(text), "an address with its scheme, such as https://example.com"),
        _ => return None,
    };
    (!fits).then_some(wanted)
}

/// Takes this many digits from the start of a text, and returns their number with the rest.
fn digits(text: &str, count: usize) -> Option<(u32, &str)> {
    let (number, rest) = text.split_at_checked(count)?;
    // `parse` alone would accept a sign.
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    Some((number.parse().ok().filter(|_| is_number)?, rest))
}

/// A day that exists: `2026-11-23`. As in HTML, a year may have more than four digits; RFC 3339 has no sign, and
/// JavaScript writes one before six digits.
fn is_date(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let length = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let has_sign = unsigned.len() < text.len();
    if (has_sign && length != 6) || !(4..=6).contains(&length) {
        return false;
    }
    let read = || {
        let (year, rest) = digits(unsigned, length)?;
        let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
        let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
        Some((year, month, day)).filter(|_| rest.is_empty())
    };
    read().is_some_and(|(year, month, day)| (1..=days(year, month)).contains(&day))
}

/// Returns how many days a month has; 0 if there is no such month.
fn days(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

/// A time of day: `14:30`, `14:30:59`, `14:30:59.5`, each with or without a time zone.
fn is_time(text: &str) -> bool {
    let read = || {
        let (hour, rest) = digits(text, 2)?;
        let (minute, rest) = digits(rest.strip_prefix(':')?, 2)?;
        let (second, rest) = match rest.strip_prefix(':') {
            Some(rest) => seconds(rest)?,
            None => (0, rest),
        };
        // A leap second has the number 60.
        Some(hour <= 23 && minute <= 59 && second <= 60 && is_zone(rest))
    };
    read().unwrap_or(false)
}

/// Takes seconds with or without a fraction.
fn seconds(text: &str) -> Option<(u32, &str)> {
    let (second, rest) = digits(text, 2)?;
    let Some(fraction) = rest.strip_prefix('.') else { return Some((second, rest)) };
    let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < fraction.len()).then_some((second, rest))
}

/// Nothing, `Z`, or an offset such as `+01:00`.
fn is_zone(text: &str) -> bool {
    let offset = |offset: &str| {
        let (hours, rest) = digits(offset, 2)?;
        let (minutes, rest) = digits(rest.strip_prefix(':')?, 2)?;
        Some(hours <= 23 && minutes <= 59 && rest.is_empty())
    };
    match text.strip_prefix(['+', '-']) {
        Some(text) => offset(text).unwrap_or(false),
        None => matches!(text, "" | "Z" | "z"),
    }
}

/// A date and a time with `T` or a space between them.
fn is_moment(text: &str) -> bool {
    text.split_once(['T', 't', ' ']).is_some_and(|(date, time)| is_date(date) && is_time(time))
}

/// A valid e-mail address by HTML's definition, and such with letters beyond ASCII.
fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else { return false };
    let in_name = |c: char| c.is_alphanumeric() || ".!#$%&'*+/=?^_`{|}~-".contains(c) || !c.is_ascii();
    let is_label = |label: &str| {
        let ends_well = |c: Option<char>| c.is_some_and(|c| c != '-');
        label.len() <= LABEL
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || !c.is_ascii())
            && ends_well(label.chars().next())
            && ends_well(label.chars().next_back())
    };
    // The check above accepts every character beyond ASCII, including blanks such as U+00A0.
    let is_blank = |c: char| c.is_whitespace() || c.is_control();
    !name.is_empty() && name.chars().all(in_name) && host.split('.').all(is_label) && !text.contains(is_blank)
}

/// Returns whether the text is a scheme and something after it, which each scheme defines.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let in_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(in_scheme)
        && !rest.trim_matches('/').trim().is_empty()
        && !text.contains(char::is_control)
}

/// The compiled patterns of a question. They are compiled when the first answer is checked, and shared with the
/// question. Comparisons and copies leave them out, since they follow from the fields.
#[derive(Default)]
pub struct Patterns(OnceLock<BTreeMap<String, Regex>>);

impl Patterns {
    /// Returns the compiled pattern of a field. `all` returns the names of the fields that have a pattern, with the
    /// patterns; it is called once. Returns `None` if the field has no pattern, or one that is left to the agent,
    /// because it uses look-around, is malformed, or takes more than [`limits::PATTERN`] bytes.
    pub(super) fn of<'a>(
        &self,
        field: &str,
        all: impl FnOnce() -> Vec<(&'a str, &'a str)>,
    ) -> Option<&Regex> {
        self.0.get_or_init(|| compile_patterns(&all())).get(field)
    }
}

fn compile_patterns(patterns: &[(&str, &str)]) -> BTreeMap<String, Regex> {
    let compiled = patterns.iter().filter_map(|(name, pattern)| {
        let compiled = RegexBuilder::new(pattern).size_limit(limits::PATTERN).build().ok()?;
        Some(((*name).to_owned(), compiled))
    });
    compiled.collect()
}

impl Clone for Patterns {
    /// Returns patterns that are not compiled yet: the fields of the copy may change.
    fn clone(&self) -> Self {
        Patterns::default()
    }
}

impl PartialEq for Patterns {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Patterns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Patterns")
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::FileFailurePersistence};

    use super::*;

    #[track_caller]
    fn holds(format: &str, fit: &[&str], unfit: &[&str]) {
        for text in fit {
            assert_eq!(unlike(format, text), None, "{text:?} is a {format}");
        }
        for text in unfit {
            assert!(unlike(format, text).is_some(), "{text:?} is no {format}");
        }
    }

    #[test]
    fn dates_exist() {
        holds(
            "date",
            &["2026-11-23", "2024-02-29", "2000-02-29", "0001-01-31", "12026-12-31", "+012026-04-30"],
            &[
                "tomorrow",
                "2026-11-31",
                "2023-02-29",
                "1900-02-29",
                "2026-13-01",
                "2026-00-01",
                "2026-11-00",
                "2026-1-2",
                "23.11.2026",
                "2026-11-23 ",
                " 2026-11-23",
                "2026-11-23T",
                "202-11-23",
                "+2026-11-23",
                "２０２６-11-23",
                "2026-+1-23",
                "1234567-01-01",
            ],
        );
    }

    #[test]
    fn times_and_moments_need_no_zone() {
        holds(
            "time",
            &["14:30", "00:00", "23:59:60", "14:30:59.123", "14:30Z", "14:30:00+01:00", "14:30:00.5-23:59"],
            &[
                "24:00",
                "14:60",
                "14:30:61",
                "14:30:",
                "14:30:59.",
                "2pm",
                "14",
                "14:30+1",
                "14:30+24:00",
                "14:30 Z",
            ],
        );
        holds(
            "date-time",
            &[
                "2026-11-23T14:30:00Z",
                "2026-11-23T14:30:00.000Z",
                "2026-11-23T14:30",
                "2026-11-23 14:30:00+01:00",
                "2026-11-23t14:30:00z",
                "+012026-11-23T14:30:00.000Z",
            ],
            &["2026-11-23", "14:30", "2026-11-31T14:30:00Z", "2026-11-23T25:00:00Z", "2026-11-23T14:30:00Z "],
        );
    }

    #[test]
    fn addresses_are_as_browsers_take_them() {
        holds(
            "email",
            &[
                "a@b",
                "ada@example.com",
                "ada+x@mail.example.com",
                "o'hara@example.ie",
                "ä@bücher.de",
                "a@xn--bcher-kva.de",
            ],
            &[
                "a",
                "@b",
                "a@",
                "a@b.",
                "a@.b",
                "a@-b",
                "a@b-",
                "a b@c",
                "a@b c",
                "a@b,c@d",
                "Ada <a@b>",
                "a@b@c",
                "a@b\n",
            ],
        );
        holds("email", &[&format!("a@{}", "b".repeat(63))], &[&format!("a@{}", "b".repeat(64))]);
        holds(
            "uri",
            &[
                "https://example.com",
                "mailto:a@b",
                "urn:isbn:0451450523",
                "file:///etc/x",
                "https://example.com/a b",
            ],
            &["example.com", "https://", "https:", ":x", "1x:y", "ht tp://x", "//example.com", "https://x\n"],
        );
        holds("ipv4", &["", "whatever"], &[]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds")))]

        #[test]
        fn no_text_panics(text in "\\PC{0,40}", format in prop::sample::select(vec!["date", "time", "date-time", "email", "uri"])) {
            unlike(format, &text);
        }
    }

    // The calendar comes with the notifiers.
    proptest! {
        #![proptest_config(ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds")))]

        #[test]
        fn days_that_a_calendar_has_are_dates(year in 1i16..9999, month in 0i8..15, day in 0i8..34) {
            let text = format!("{year:04}-{month:02}-{day:02}");
            prop_assert_eq!(is_date(&text), jiff::civil::Date::new(year, month, day).is_ok(), "{}", text);
        }

        #[test]
        fn times_that_a_clock_shows_are_times(hour in 0i8..26, minute in 0i8..63, second in 0i8..60) {
            let text = format!("{hour:02}:{minute:02}:{second:02}");
            prop_assert_eq!(is_time(&text), jiff::civil::Time::new(hour, minute, second, 0).is_ok(), "{}", text);
        }

        #[test]
        fn moments_are_read_as_they_are_written(second in -62_000_000_000i64..250_000_000_000, nano in 0i32..1_000_000_000) {
            let moment = jiff::Timestamp::new(second, nano).expect("a moment");
            prop_assert!(is_moment(&moment.to_string()), "{}", moment);
        }
    }
}
