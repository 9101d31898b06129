//! The types of values of the settings, each with its parser. Addresses are in `addresses.rs`, and values that are one
//! of a set of words are in `words.rs`.

use std::time::Duration;

use askbridge_core::question::Purpose;
use serde_json::{Value, json};

use super::{
    key::{Setting, list, quoted, span, text, typed_list},
    resolved::UnattendedConditions,
};
use crate::limits;

/// The time after which a question is rejected. `None` keeps it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeout(pub Option<Duration>);

impl Setting for Timeout {
    fn read(value: &Value) -> Result<Self, String> {
        match value.as_str() {
            Some("never") => Ok(Timeout(None)),
            // Many people mean "never" by 0, so it is refused and not taken as "at once".
            _ => match span(value).map_err(|error| format!("{error}; or \"never\""))? {
                Duration::ZERO => Err("it must be longer than 0s; \"never\" waits without limit".to_owned()),
                span => Ok(Timeout(Some(span))),
            },
        }
    }

    fn to_value(&self) -> Value {
        self.0.map_or_else(|| "never".into(), |span| span.to_value())
    }

    fn schema() -> Value {
        json!({ "anyOf": [{ "const": "never" }, Duration::schema()] })
    }
}

/// The interval of a command that repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval(pub Duration);

impl Setting for Interval {
    fn read(value: &Value) -> Result<Self, String> {
        let span = span(value)?;
        // A command that is run too often would use up the machine.
        if span < Duration::from_secs(1) {
            Err("it must be at least \"1s\"".to_owned())
        } else {
            Ok(Interval(span))
        }
    }

    fn to_value(&self) -> Value {
        self.0.to_value()
    }

    fn schema() -> Value {
        Duration::schema()
    }
}

/// The time for which a person can take back what they have sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndoTime(pub Duration);

impl Default for UndoTime {
    fn default() -> Self {
        UndoTime(limits::UNDO)
    }
}

impl Setting for UndoTime {
    fn read(value: &Value) -> Result<Self, String> {
        match span(value)? {
            span if span > limits::UNDO_MOST => {
                Err("it must be at most \"10s\", since the agent waits meanwhile; \"0s\" sends at once"
                    .to_owned())
            }
            span => Ok(UndoTime(span)),
        }
    }

    fn to_value(&self) -> Value {
        self.0.to_value()
    }

    fn schema() -> Value {
        Duration::schema()
    }
}

/// A program and its arguments. No shell interprets them, so text of an agent in them is never run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command(pub Vec<String>);

/// The form of a command.
const COMMAND: &str =
    "a list of the program and its arguments, such as [\"paplay\", \"bell.ogg\"]: no shell reads it";

impl Setting for Command {
    fn read(value: &Value) -> Result<Self, String> {
        let read = |word: &Value| {
            word.as_str().map(str::to_owned).ok_or_else(|| format!("{} is not a text", quoted(word)))
        };
        let words = list(value, COMMAND, read)?;
        let is_named = words.first().is_some_and(|program| !program.trim().is_empty());
        if is_named { Ok(Command(words)) } else { Err(format!("{} is not {COMMAND}", quoted(value))) }
    }

    fn to_value(&self) -> Value {
        json!(self.0)
    }

    /// A text is not split into words, because a shell would split it in another way.
    fn typed(text: &str) -> Value {
        if text.trim_start().starts_with('[') { typed_list(text) } else { text.into() }
    }

    fn words(words: &[String]) -> Value {
        match words {
            // The shell of the user has split the command line already. A single word with spaces was meant for another
            // shell, so it stays a text, which the check refuses.
            [word] if word.starts_with('[') || word.contains(char::is_whitespace) => Self::typed(word),
            words => json!(words),
        }
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })
    }
}

/// The purposes of the questions of which the user is notified, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purposes(pub Vec<Purpose>);

impl Setting for Purposes {
    const IS_LIST: bool = true;

    fn read(value: &Value) -> Result<Self, String> {
        list(value, "a list, such as [\"question\", \"permission\"]", Purpose::read).map(Purposes)
    }

    /// A project may leave purposes out, but not add one that the user has left out.
    fn narrows(&self, held: &Self) -> bool {
        self.0.iter().all(|purpose| held.0.contains(purpose))
    }

    fn to_value(&self) -> Value {
        self.0.iter().map(Setting::to_value).collect()
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": Purpose::schema(), "uniqueItems": true })
    }
}

/// Times of the day without notifications.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuietHours(pub Vec<Hours>);

/// A time of the day that begins at one minute and ends before another, both counted from midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hours {
    /// The first minute.
    pub from: u16,
    /// The minute after the last one. If it is not after the first one, the time extends over midnight.
    pub until: u16,
}

impl QuietHours {
    /// Returns whether a minute of the day, counted from midnight, is in one of these times.
    pub fn contains(&self, minute: u16) -> bool {
        self.0.iter().any(|Hours { from, until }| match from < until {
            true => (*from..*until).contains(&minute),
            // Hours such as 22:00-07:00 span midnight.
            false => minute >= *from || minute < *until,
        })
    }
}

fn hours(value: &Value) -> Result<Hours, String> {
    let minute = |time: &str| {
        let (hour, minute) = time.trim().split_once(':')?;
        // `parse` would accept a sign.
        let is_digits =
            |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        let (hour, minute) = (
            is_digits(hour).then_some(hour)?.parse::<u16>().ok()?,
            is_digits(minute).then_some(minute)?.parse::<u16>().ok()?,
        );
        // 24:00 is the end of the day.
        (minute < 60 && (hour < 24 || (hour, minute) == (24, 0))).then_some(hour * 60 + minute)
    };
    let read = |text: &str| {
        let (from, until) = text.split_once('-')?;
        Some(Hours { from: minute(from)?, until: minute(until)? })
    };
    let found = value.as_str().and_then(read).filter(|hours| hours.from != hours.until);
    found.ok_or_else(|| format!("{} is not a time such as \"22:00-07:00\"", quoted(value)))
}

impl Setting for QuietHours {
    const IS_LIST: bool = true;

    fn read(value: &Value) -> Result<Self, String> {
        list(value, "a list of times, such as [\"22:00-07:00\"]", hours).map(QuietHours)
    }

    fn to_value(&self) -> Value {
        let clock = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
        self.0
            .iter()
            .map(|hours| Value::String(format!("{}-{}", clock(hours.from), clock(hours.until))))
            .collect()
    }

    fn schema() -> Value {
        let clock = "^[0-9]{1,2}:[0-9]{2}-[0-9]{1,2}:[0-9]{2}$";
        json!({ "type": "array", "items": { "type": "string", "pattern": clock } })
    }
}

/// Seconds of a day.
const DAY: u64 = 24 * 3600;

/// A time span that is written in days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age(pub Duration);

impl Setting for Age {
    fn read(value: &Value) -> Result<Self, String> {
        span(value).map(Age)
    }

    fn to_value(&self) -> Value {
        let seconds = self.0.as_secs();
        // humantime would write months and years, which have no fixed number of days.
        if self.0.subsec_nanos() == 0 && seconds > 0 && seconds.is_multiple_of(DAY) {
            format!("{}days", seconds / DAY).into()
        } else {
            self.0.to_value()
        }
    }

    fn schema() -> Value {
        Duration::schema()
    }
}

/// The units of a size, the largest first.
const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
/// The least size, which leaves room for some questions in a journal.
const LEAST: u64 = 1 << 20;

/// A size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

impl Setting for Size {
    fn read(value: &Value) -> Result<Self, String> {
        let bytes = value.as_str().and_then(|text| {
            let (unit, bytes) = UNITS.iter().find(|(unit, _)| text.ends_with(unit))?;
            let count = text.strip_suffix(unit)?.trim_end();
            // `parse` would accept a sign.
            let is_number = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then_some(count)?.parse::<u64>().ok()?.checked_mul(*bytes)
        });
        match bytes {
            Some(bytes) if bytes >= LEAST => Ok(Size(bytes)),
            Some(_) => Err("it must be at least \"1MiB\"".to_owned()),
            None => Err(format!("{} is not a size such as \"64MiB\" or \"1GiB\"", quoted(value))),
        }
    }

    fn to_value(&self) -> Value {
        let unit = UNITS.iter().find(|(_, bytes)| self.0.is_multiple_of(*bytes));
        unit.map_or_else(
            || self.0.to_string().into(),
            |(unit, bytes)| format!("{}{unit}", self.0 / bytes).into(),
        )
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^[0-9]+ *(KiB|MiB|GiB)$", "examples": ["64MiB", "1GiB"] })
    }
}

/// The kinds of agents in terminals to attach to. Empty attaches to none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentKinds(pub Vec<&'static str>);

/// The kinds that can be attached to.
const KINDS: [&str; 3] = ["codex", "opencode", "copilot"];

impl AgentKinds {
    /// Returns whether to attach to agents of this kind.
    pub fn has(&self, kind: &str) -> bool {
        self.0.contains(&kind)
    }
}

impl Setting for AgentKinds {
    fn read(value: &Value) -> Result<Self, String> {
        if let Some(all) = value.as_bool() {
            return Ok(AgentKinds(if all { KINDS.to_vec() } else { Vec::new() }));
        }
        let kind = |value: &Value| {
            let name = text(value, "the name of an agent")?;
            let known = KINDS.into_iter().find(|kind| *kind == name);
            known.ok_or_else(|| format!("{} is not one of {}", quoted(value), Value::from(KINDS.to_vec())))
        };
        list(value, "true, false, or a list of agents such as [\"codex\"]", kind).map(AgentKinds)
    }

    fn to_value(&self) -> Value {
        if self.0.is_empty() { Value::Bool(false) } else { json!(self.0) }
    }

    fn typed(text: &str) -> Value {
        match bool::typed(text) {
            Value::Bool(all) => Value::Bool(all),
            _ => typed_list(text),
        }
    }

    fn schema() -> Value {
        json!({ "anyOf": [
            { "type": "boolean" },
            { "type": "array", "items": { "enum": KINDS }, "uniqueItems": true },
        ] })
    }
}

/// The conditions that `when` can name: no client shows the question, there is no terminal, the variable CI is set.
const CONDITIONS: [&str; 3] = ["no-client", "no-terminal", "ci"];

impl Setting for UnattendedConditions {
    const IS_LIST: bool = true;

    fn read(value: &Value) -> Result<Self, String> {
        let condition = |value: &Value| {
            let name = text(value, "a condition")?;
            let known = CONDITIONS.into_iter().find(|known| *known == name);
            known.ok_or_else(|| {
                format!("{} is not one of {}", quoted(value), Value::from(CONDITIONS.to_vec()))
            })
        };
        let names = list(value, "a list of conditions such as [\"no-client\", \"ci\"]", condition)?;
        if names.is_empty() {
            // Without a condition, every question would be rejected, even while people could answer it.
            return Err("it names no condition".to_owned());
        }
        let has = |name| names.contains(&name);
        Ok(UnattendedConditions {
            no_client: has("no-client"),
            no_terminal: has("no-terminal"),
            ci: has("ci"),
        })
    }

    fn to_value(&self) -> Value {
        let UnattendedConditions { no_client, no_terminal, ci } = *self;
        let named = CONDITIONS.into_iter().zip([no_client, no_terminal, ci]);
        json!(named.filter_map(|(name, is_named)| is_named.then_some(name)).collect::<Vec<_>>())
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "enum": CONDITIONS }, "uniqueItems": true, "minItems": 1 })
    }
}

impl Setting for String {
    fn read(value: &Value) -> Result<Self, String> {
        text(value, "a text").map(str::to_owned)
    }

    fn to_value(&self) -> Value {
        Value::String(self.clone())
    }

    fn schema() -> Value {
        json!({ "type": "string", "minLength": 1 })
    }
}

#[cfg(test)]
mod tests {
    use core::net::SocketAddr;

    use askbridge_os::log::LogLevel;

    use super::*;
    use crate::{
        addresses::{Hosts, ServeAddress},
        words::ClientQuestions,
    };

    #[track_caller]
    fn read<T: Setting>(text: &str) -> Result<Value, String> {
        T::read(&T::typed(text)).map(|value| value.to_value())
    }

    #[test]
    fn typed_values_are_written_as_in_a_file() {
        assert_eq!(read::<Timeout>("90s"), Ok(json!("1m 30s")));
        assert_eq!(read::<Timeout>("never"), Ok(json!("never")));
        assert_eq!(read::<UndoTime>("0s"), Ok(json!("0s")));
        assert_eq!(read::<UndoTime>("10s"), Ok(json!("10s")));
        assert_eq!(read::<ServeAddress>("off"), Ok(json!(false)));
        assert_eq!(read::<ServeAddress>("yes"), Ok(json!("127.0.0.1:8421")));
        assert_eq!(read::<ServeAddress>("1"), Ok(json!("127.0.0.1:1")), "a number is a port");
        assert_eq!(read::<Hosts>("box.local, box"), Ok(json!(["box.local", "box"])));
        assert_eq!(read::<Hosts>("[\"a,b\"]"), Ok(json!(["a,b"])));
        assert_eq!(read::<Command>("[\"say\", \"$(id)\"]"), Ok(json!(["say", "$(id)"])));
        assert_eq!(read::<QuietHours>("22:00-7:00"), Ok(json!(["22:00-07:00"])));
        assert_eq!(read::<Purposes>("permission"), Ok(json!(["permission"])));
        assert_eq!(read::<ClientQuestions>("none"), Ok(json!("none")));
        assert_eq!(read::<bool>("On"), Ok(json!(true)));
        assert_eq!(SocketAddr::read(&json!(8421)).map(|address| address.port()), Ok(8421));
    }

    #[test]
    fn values_of_another_kind_are_refused_with_what_is_expected() {
        let refused = |found: Result<Value, String>, expected: &str| {
            assert!(found.as_ref().is_err_and(|error| error.contains(expected)), "{expected}: {found:?}");
        };
        refused(read::<Timeout>("0s"), "longer than 0s");
        refused(read::<Timeout>("10"), "a number and a unit");
        refused(read::<Interval>("1ms"), "at least");
        for (text, expected) in [
            ("10001ms", "at most \"10s\""),
            ("1h", "at most \"10s\""),
            ("-1s", "a number and a unit"),
            ("3", "a number and a unit"),
            ("99999999999999999999s", "a number and a unit"),
            ("never", "a number and a unit"),
            ("", "a number and a unit"),
        ] {
            refused(read::<UndoTime>(text), expected);
        }
        refused(read::<Command>("say $(id)"), "a list of the program");
        refused(read::<Command>("[]"), "a list of the program");
        refused(read::<Command>("[\" \"]"), "a list of the program");
        refused(read::<QuietHours>("25:00-07:00"), "22:00-07:00");
        refused(read::<QuietHours>("22:00-22:00"), "22:00-07:00");
        refused(read::<QuietHours>("+1:00-22:00"), "22:00-07:00");
        refused(read::<Purposes>("none"), "one of \"question\"");
        refused(read::<LogLevel>("loud"), "\"trace\"");
        refused(read::<SocketAddr>("box.local:80"), "an address");
        refused(ServeAddress::read(&json!(65536)).map(|value| value.to_value()), "an address");
        refused(read::<bool>("maybe"), "true or false");
    }

    #[test]
    fn quiet_hours_go_on_over_midnight() {
        let hours = QuietHours::read(&json!(["22:00-07:00", "12:00-12:30"])).unwrap();
        for (hour, minute, is_quiet) in [
            (22, 0, true),
            (0, 0, true),
            (6, 59, true),
            (7, 0, false),
            (12, 29, true),
            (12, 30, false),
            (21, 59, false),
        ] {
            assert_eq!(hours.contains(hour * 60 + minute), is_quiet, "{hour}:{minute}");
        }
        assert!(QuietHours::read(&json!(["00:00-24:00"])).unwrap().contains(1439));
    }

    #[test]
    fn sizes_and_ages_are_written_as_they_are_read() {
        for (text, bytes, written) in [
            ("64MiB", 64 << 20, "64MiB"),
            ("1 GiB", 1 << 30, "1GiB"),
            ("2048KiB", 2 << 20, "2MiB"),
            ("1025KiB", 1025 << 10, "1025KiB"),
        ] {
            let size = Size::read(&json!(text)).expect(text);
            assert_eq!((size, size.to_value()), (Size(bytes), json!(written)));
        }
        for (text, written) in [("90days", "90days"), ("48h", "2days"), ("36h", "1day 12h"), ("0s", "0s")] {
            assert_eq!(Age::read(&json!(text)).expect(text).to_value(), json!(written));
        }
    }

    #[test]
    fn other_sizes_are_refused() {
        for value in [json!("64"), json!("MiB"), json!("-1MiB"), json!("64 MB"), json!(64), json!("1023KiB")]
        {
            assert!(Size::read(&value).is_err(), "{value}");
        }
        assert!(Size::read(&json!("99999999999999GiB")).is_err());
    }

    #[test]
    fn conditions_are_named_one_by_one() {
        let read = |text: &str| {
            UnattendedConditions::read(&UnattendedConditions::typed(text)).map(|when| when.to_value())
        };
        assert_eq!(read("no-client"), Ok(json!(["no-client"])));
        assert_eq!(UnattendedConditions::default().to_value(), json!(["no-client"]));
        let both = UnattendedConditions::read(&json!(["ci", "no-client"])).expect("conditions");
        assert_eq!(both, UnattendedConditions { no_client: true, no_terminal: false, ci: true });
        assert!(read("never").is_err_and(|error| error.contains("no-terminal")));
        assert!(UnattendedConditions::read(&json!([])).is_err());
        assert!(UnattendedConditions::read(&json!(true)).is_err());
    }

    #[test]
    fn all_kinds_or_some_or_none_are_attached_to() {
        assert_eq!(read::<AgentKinds>("true"), Ok(json!(KINDS)));
        assert_eq!(read::<AgentKinds>("off"), Ok(json!(false)));
        assert_eq!(read::<AgentKinds>("codex"), Ok(json!(["codex"])));
        assert!(read::<AgentKinds>("emacs").is_err_and(|error| error.contains("codex")));
        assert!(AgentKinds::read(&json!(5)).is_err_and(|error| error.contains("a list of agents")));
    }
}
