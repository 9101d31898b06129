//! The types of values that name an address: where questions are served, and which servers get messages or secrets.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use serde_json::{Value, json};

use super::key::{Setting, list, quoted, text, typed_list};

/// The default address of the HTTP server.
pub const DEFAULT_ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8421);

/// Parses an address to listen on: an IP address and a port, or a port alone, which means loopback.
///
/// # Errors
/// Fails if the text is neither; host names are not resolved.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    // `localhost` is not resolved: a resolver could return another machine.
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

/// The address at which a bridge serves its questions over HTTP. `None` does not serve them.
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
        // A number is a port here: `1` does not mean yes.
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
    const IS_LIST: bool = true;

    fn read(value: &Value) -> Result<Self, String> {
        let names = list(value, "a list of host names", |name| text(name, "a host name").map(str::to_owned));
        names.map(Hosts)
    }

    fn to_value(&self) -> Value {
        json!(self.0)
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "string" } })
    }
}

/// Origins of web pages, in the form in which browsers send them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins(pub Vec<String>);

/// The form of an origin.
const ORIGIN: &str = "an origin such as \"https://dash.example\" or \"http://localhost:3000\": \
                      a scheme, a host and, if it is not the default, a port, without a path or a wildcard";

/// Returns an origin in the form in which browsers send it: in lower case, without the default port. `None` if the text
/// is no origin of a website.
fn origin(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let (scheme, rest) = text.split_once("://")?;
    let default = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let (host, port) = match rest.rsplit_once(':') {
        // The last colon of an IPv6 address without a port is inside of its brackets.
        Some((host, port)) if !port.ends_with(']') => (host, port_of_origin(port)?),
        _ => (rest, default),
    };
    let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => format!("[{}]", address.parse::<Ipv6Addr>().ok()?),
        None => Some(host).filter(|host| is_host_of_origin(host))?.to_owned(),
    };
    Some(if port == default { format!("{scheme}://{host}") } else { format!("{scheme}://{host}:{port}") })
}

fn port_of_origin(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_number && *port > 0)
}

/// Returns whether browsers send this host in an origin: a DNS name, whose letters are ASCII there, or an IPv4 address.
fn is_host_of_origin(host: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_address = last.bytes().all(|byte| byte.is_ascii_digit());
    host.split('.').all(is_label) && (!is_address || host.parse::<Ipv4Addr>().is_ok())
}

impl Setting for Origins {
    const IS_LIST: bool = true;

    fn read(value: &Value) -> Result<Self, String> {
        let entry = |value: &Value| {
            origin(text(value, ORIGIN)?).ok_or_else(|| format!("{} is not {ORIGIN}", quoted(value)))
        };
        list(value, "a list of origins such as [\"https://dash.example\"]", entry).map(Origins)
    }

    fn to_value(&self) -> Value {
        json!(self.0)
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "string", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#@*\\s]+$" } })
    }
}

/// The servers of one broker. Without one, there is no fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brokers(pub Vec<String>);

impl Brokers {
    /// Returns the one server at this address.
    ///
    /// # Errors
    /// It is no address of a server.
    pub fn one(address: &str) -> Result<Self, String> {
        Self::read(&Value::String(address.to_owned()))
    }
}

/// The form of a server of the broker.
const BROKER: &str = "an address such as \"tls://broker.example.org:4222\", without a user";

impl Setting for Brokers {
    const IS_LIST: bool = true;

    fn read(value: &Value) -> Result<Self, String> {
        let server = |value: &Value| {
            let said = value.as_str().filter(|text| {
                let rest = text.strip_prefix("tls://").or_else(|| text.strip_prefix("nats://"));
                // A password has a file of its own, which others cannot read.
                let is_host = |rest: &str| !rest.is_empty() && !rest.contains(['@', '/', '?', '#', ',']);
                rest.is_some_and(is_host) && text.chars().all(|c| c.is_ascii_graphic())
            });
            said.map(str::to_owned).ok_or_else(|| format!("{} is not {BROKER}", quoted(value)))
        };
        match value {
            Value::String(_) => Ok(Brokers(vec![server(value)?])),
            _ => list(value, "an address, or a list of them", server).map(Brokers),
        }
    }

    fn to_value(&self) -> Value {
        json!(self.0)
    }

    fn schema() -> Value {
        let server = json!({ "type": "string", "pattern": "^(tls|nats)://[^@]+$" });
        json!({ "anyOf": [server, { "type": "array", "items": server }] })
    }
}

/// Characters of the longest topic that ntfy accepts.
const TOPIC: usize = 64;

/// An address on the web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url(pub String);

impl Setting for Url {
    fn read(value: &Value) -> Result<Self, String> {
        let said = value.as_str().filter(|text| {
            let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
            let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
            host.is_some_and(|host| !host.is_empty()) && text.chars().all(|c| c.is_ascii_graphic())
        });
        said.map(|text| Url(text.to_owned())).ok_or_else(|| {
            format!("{} is not an address that begins with https:// or http://", quoted(value))
        })
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }

    fn schema() -> Value {
        json!({ "type": "string", "format": "uri", "pattern": "^https?://" })
    }
}

/// The topic of an ntfy server. Everyone who knows it can read the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic(pub String);

impl Setting for Topic {
    fn read(value: &Value) -> Result<Self, String> {
        let allowed = |text: &&str| {
            (1..=TOPIC).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        };
        value.as_str().filter(allowed).map(|text| Topic(text.to_owned())).ok_or_else(|| {
            format!("{} is not a topic: up to {TOPIC} letters, digits, - and _", quoted(value))
        })
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": format!("^[A-Za-z0-9_-]{{1,{TOPIC}}}$") })
    }
}

/// Servers that get a password or a token, even if other users run them: the host and the port of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedServers(pub Vec<(String, u16)>);

/// The form of a trusted server.
const SERVER: &str = "a host and a port such as \"box.lan:4096\"";

impl TrustedServers {
    /// Returns whether a server is trusted.
    pub fn has(&self, host: &str, port: u16) -> bool {
        self.0.contains(&(canonical(host), port))
    }

    /// Returns a server in the form of the settings.
    pub fn written(host: &str, port: u16) -> String {
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }
}

/// Returns the canonical form of a host, for comparison: lower case, and an IP address in its shortest form.
pub(super) fn canonical(host: &str) -> String {
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
            // This is not a list, but one server whose IPv6 address begins with a bracket.
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
    use super::*;

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

    #[test]
    fn origins_are_written_as_browsers_send_them() {
        let read = |text: &str| Origins::read(&Origins::typed(text)).map(|origins| origins.to_value());
        for (text, sent) in [
            ("https://dash.example", "https://dash.example"),
            ("HTTPS://Dash.Example:443", "https://dash.example"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://box:80", "http://box"),
            ("http://box:443", "http://box:443"),
            ("http://127.0.0.1:08421", "http://127.0.0.1:8421"),
            ("http://[0:0::1]", "http://[::1]"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
        ] {
            assert_eq!(read(text), Ok(json!([sent])), "{text}");
        }
        assert_eq!(read("https://a.example, http://b:1"), Ok(json!(["https://a.example", "http://b:1"])));
        assert_eq!(read("[]"), Ok(json!([])));
    }

    #[test]
    fn what_is_no_origin_is_refused() {
        for wrong in [
            "",
            "*",
            "null",
            "dash.example",
            "//dash.example",
            "https:dash.example",
            "https://",
            "https://dash.example/",
            "https://dash.example/app",
            "https://dash.example?",
            "https://*.example",
            "https://*",
            "https://ada@dash.example",
            "https://dash.example:",
            "https://dash.example:0",
            "https://dash.example:+1",
            "https://dash.example:65536",
            "https://dash.example:*",
            "https://dash.example.",
            "https://.example",
            "https://dash..example",
            "https://dash example",
            " https://dash.example",
            "https://bücher.example",
            "https://dash.example\r\nx: 1",
            "https://127.1",
            "https://[::1",
            "https://[dash]",
            "https://::1",
            "file:///dash.html",
            "chrome-extension://abcdef",
            "https://a.example https://b.example",
        ] {
            let refused = Origins::read(&json!([wrong])).unwrap_err();
            assert!(
                refused.contains("is not an origin such as \"https://dash.example\""),
                "{wrong}: {refused}"
            );
        }
        assert!(
            Origins::read(&json!("https://dash.example"))
                .is_err_and(|error| error.contains("a list of origins"))
        );
        assert!(Origins::read(&json!([true])).is_err());
    }

    #[test]
    fn a_broker_is_named_without_a_user() {
        let read = |text: &str| Brokers::read(&Brokers::typed(text)).map(|brokers| brokers.0);
        assert_eq!(read("tls://broker.example.org"), Ok(vec!["tls://broker.example.org".to_owned()]));
        assert_eq!(read("nats://a:1, tls://[::1]:2").map(|servers| servers.len()), Ok(2));
        for wrong in
            ["broker", "https://broker", "tls://ana:secret@broker", "tls://", "tls://a/b", "tls://a b"]
        {
            assert!(read(wrong).is_err_and(|error| error.contains("without a user")), "{wrong}");
        }
    }

    #[test]
    fn trusted_servers_are_named_with_their_host_and_port() {
        let read = |text: &str| TrustedServers::read(&TrustedServers::typed(text));
        let servers = read("Box.LAN:4096, 127.0.0.1:80, [0:0::1]:7").expect("servers");
        assert_eq!(servers.to_value(), json!(["box.lan:4096", "127.0.0.1:80", "[::1]:7"]));
        assert_eq!(read("[::1]:80").map(|servers| servers.to_value()), Ok(json!(["[::1]:80"])));
        assert!(servers.has("box.lan", 4096) && servers.has("BOX.lan", 4096) && servers.has("::1", 7));
        assert!(!servers.has("box.lan", 4097) && !servers.has("box", 4096) && !servers.has("localhost", 80));
        for wrong in ["4096", "box.lan", ":4096", "box.lan:", "box.lan:0", "box.lan:70000", "::1:7", "[::1]"]
        {
            assert!(read(wrong).is_err_and(|error| error.contains("a host and a port")), "{wrong}");
        }
        for wrong in ["http://box.lan:4096", "opencode:secret@box.lan:4096", "[box.lan]:4096", "a b:1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(TrustedServers::read(&json!("box.lan:4096")).is_err());
    }
}
