//! The kinds of values that only askbridge has, each with what may stand there.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use askbridge_core::question::Purpose;
use serde_json::{Value, json};

use super::key::{Setting, list, quoted, span, text, typed_list};

/// After which time a question is rejected. `None` keeps it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeout(pub Option<Duration>);

impl Setting for Timeout {
    fn read(value: &Value) -> Result<Self, String> {
        match value.as_str() {
            Some("never") => Ok(Timeout(None)),
            // Many read 0 as "never", so it is refused and not taken for "at once".
            _ => match span(value).map_err(|error| format!("{error}; or \"never\""))? {
                Duration::ZERO => Err("it must be longer than 0s; \"never\" waits for ever".to_owned()),
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

/// A time span that is longer than none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval(pub Duration);

impl Setting for Interval {
    fn read(value: &Value) -> Result<Self, String> {
        let span = span(value)?;
        // A command that is run again and again must not take the machine.
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

/// Where questions are served unless an address is given.
pub const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8421);

/// Reads where to listen: an IP address and a port, or a port alone, which is one of this machine only.
///
/// # Errors
/// The text is neither; names of hosts are not looked up.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    // `localhost` is not looked up: a resolver could name another machine.
    let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    let here = || port.parse().ok().map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    let address = text.parse().ok().or_else(here);
    address.ok_or_else(|| {
        format!("give an IP address and a port, such as {DEFAULT_ADDRESS}, or a port alone, such as 8421")
    })
}

impl Setting for SocketAddr {
    fn read(value: &Value) -> Result<Self, String> {
        let port = value.as_u64().map(|port| port.to_string());
        let said = port.as_deref().or(value.as_str());
        said.and_then(|text| address(text).ok()).ok_or_else(|| {
            format!("{} is not an address such as \"{DEFAULT_ADDRESS}\", or a port", quoted(value))
        })
    }

    fn to_value(&self) -> Value {
        self.to_string().into()
    }

    fn schema() -> Value {
        json!({ "anyOf": [{ "type": "string" }, { "type": "integer", "minimum": 0, "maximum": 65535 }] })
    }
}

/// Where a bridge serves its questions over HTTP. `None` serves them nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServeAddress(pub Option<SocketAddr>);

impl Setting for ServeAddress {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Bool(is_on) => Ok(ServeAddress(is_on.then_some(DEFAULT_ADDRESS))),
            _ => SocketAddr::read(value).map(|address| ServeAddress(Some(address))),
        }
    }

    fn to_value(&self) -> Value {
        self.0.map_or(Value::Bool(false), |address| address.to_value())
    }

    fn typed(text: &str) -> Value {
        // A number is a port here: `1` is not yes.
        if text.parse::<u16>().is_ok() { text.into() } else { bool::typed(text) }
    }

    fn schema() -> Value {
        json!({ "anyOf": [{ "type": "boolean" }, { "type": "string" }, { "type": "integer", "minimum": 0, "maximum": 65535 }] })
    }
}

/// Host names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts(pub Vec<String>);

impl Setting for Hosts {
    fn read(value: &Value) -> Result<Self, String> {
        let names = list(value, "a list of host names", |name| text(name, "a host name").map(str::to_owned));
        names.map(Hosts)
    }

    fn to_value(&self) -> Value {
        json!(self.0)
    }

    fn typed(text: &str) -> Value {
        typed_list(text)
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "string" } })
    }
}

/// A program and its arguments. No shell reads it, so text of an agent in it is never run.
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

    /// A text is not cut into words: that is what a shell would do.
    fn typed(text: &str) -> Value {
        if text.trim_start().starts_with('[') { typed_list(text) } else { text.into() }
    }

    fn words(words: &[String]) -> Value {
        match words {
            // The words of a command line are cut already. One with spaces was meant for a shell.
            [word] if word.starts_with('[') || word.contains(char::is_whitespace) => Self::typed(word),
            words => json!(words),
        }
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })
    }
}

/// Kinds of questions that notify, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purposes(pub Vec<Purpose>);

impl Setting for Purposes {
    fn read(value: &Value) -> Result<Self, String> {
        list(value, "a list, such as [\"question\", \"permission\"]", Purpose::read).map(Purposes)
    }

    /// A project may leave some out: what its person left out must not be sent anywhere.
    fn narrows(&self, held: &Self) -> bool {
        self.0.iter().all(|purpose| held.0.contains(purpose))
    }

    fn to_value(&self) -> Value {
        self.0.iter().map(Setting::to_value).collect()
    }

    fn typed(text: &str) -> Value {
        typed_list(text)
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": Purpose::schema(), "uniqueItems": true })
    }
}

/// Times of the day, each from one minute to another.
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
    /// Returns whether this minute of the day, counted from midnight, is in one of them.
    pub fn contains(&self, minute: u16) -> bool {
        self.0.iter().any(|Hours { from, until }| match from < until {
            true => (*from..*until).contains(&minute),
            false => minute >= *from || minute < *until,
        })
    }
}

fn hours(value: &Value) -> Result<Hours, String> {
    let minute = |time: &str| {
        let (hour, minute) = time.trim().split_once(':')?;
        let is_digits =
            |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        let (hour, minute) = (
            is_digits(hour).then_some(hour)?.parse::<u16>().ok()?,
            is_digits(minute).then_some(minute)?.parse::<u16>().ok()?,
        );
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

    fn typed(text: &str) -> Value {
        typed_list(text)
    }

    fn schema() -> Value {
        let clock = "^[0-9]{1,2}:[0-9]{2}-[0-9]{1,2}:[0-9]{2}$";
        json!({ "type": "array", "items": { "type": "string", "pattern": clock } })
    }
}

/// Servers that get a password or a token, even if other users run them: the host and the port of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedServers(pub Vec<(String, u16)>);

/// The form of a trusted server.
const SERVER: &str = "a host and a port such as \"box.lan:4096\"";

impl TrustedServers {
    /// Returns whether a server is among them.
    pub fn has(&self, host: &str, port: u16) -> bool {
        self.0.contains(&(canonical(host), port))
    }

    /// Returns a server as it stands in the settings.
    pub fn written(host: &str, port: u16) -> String {
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }
}

/// Returns the canonical form of a host, for comparison: lower case, and an IP address in its shortest form.
fn canonical(host: &str) -> String {
    host.parse().map_or_else(|_| host.to_ascii_lowercase(), |ip: IpAddr| ip.to_canonical().to_string())
}

impl Setting for TrustedServers {
    fn read(value: &Value) -> Result<Self, String> {
        let server = |value: &Value| {
            let named = text(value, SERVER)?.rsplit_once(':').and_then(|(host, port)| {
                let inside = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
                let is_plain =
                    |host: &&str| !host.is_empty() && !host.contains([':', '/', '@', ' ', '[', ']']);
                let is_ip6 = |host: &&str| host.parse::<Ipv6Addr>().is_ok();
                let host = inside.filter(is_ip6).or_else(|| Some(host).filter(is_plain))?;
                Some((canonical(host), port.parse().ok().filter(|port| *port > 0)?))
            });
            named.ok_or_else(|| format!("{} is not {SERVER}", quoted(value)))
        };
        list(value, "a list of hosts and ports such as [\"box.lan:4096\"]", server).map(TrustedServers)
    }

    fn to_value(&self) -> Value {
        self.0.iter().map(|(host, port)| Self::written(host, *port)).collect()
    }

    fn typed(text: &str) -> Value {
        match typed_list(text) {
            // One server whose address begins with a bracket, as a list does.
            Value::String(server) => json!([server]),
            servers => servers,
        }
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "string", "pattern": "^.+:[0-9]+$" } })
    }
}

#[cfg(test)]
mod tests {
    use askbridge_os::log::LogLevel;

    use super::*;
    use crate::settings::words::ClientQuestions;

    #[test]
    fn a_port_alone_is_one_of_this_machine_only() {
        for text in ["127.0.0.1:8421", "localhost:8421", ":8421", "8421"] {
            assert_eq!(address(text), Ok(SocketAddr::from(([127, 0, 0, 1], 8421))), "{text:?}");
        }
        assert_eq!(address("[::1]:0").map(|address| address.to_string()), Ok("[::1]:0".to_owned()));
        assert_eq!(address("0.0.0.0:80").map(|address| address.to_string()), Ok("0.0.0.0:80".to_owned()));
    }

    #[test]
    fn other_names_and_ports_are_refused() {
        for text in
            ["", ":", "localhost", "localhost:", "box:8421", "127.0.0.1", "65536", "-1", "localhost::1"]
        {
            assert!(address(text).is_err_and(|error| error.contains("a port alone")), "{text:?}");
        }
    }

    #[track_caller]
    fn read<T: Setting>(text: &str) -> Result<Value, String> {
        T::read(&T::typed(text)).map(|value| value.to_value())
    }

    #[test]
    fn typed_values_are_written_as_in_a_file() {
        assert_eq!(read::<Timeout>("90s"), Ok(json!("1m 30s")));
        assert_eq!(read::<Timeout>("never"), Ok(json!("never")));
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
}
