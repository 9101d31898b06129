//! The types of the settings of callbacks: the hosts that outcomes may be sent to, and the secret that signs them.

use core::net::Ipv6Addr;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    addresses::canonical,
    key::{Setting, list, quoted, text, typed_list},
};

/// Hosts, each with its port if that is not the default of the scheme.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallbackHosts(pub Vec<(String, Option<u16>)>);

/// The form of a host.
const HOST: &str =
    "a host such as \"hooks.example\", with its port if that is not the default: \"127.0.0.1:9000\"";

impl CallbackHosts {
    /// Returns whether something may be sent to a host at this port, where another one is the default of the scheme.
    pub fn has(&self, host: &str, port: u16, default: u16) -> bool {
        let host = canonical(host);
        self.0.iter().any(|(named, at)| *named == host && at.unwrap_or(default) == port)
    }

    /// Returns the hosts as they are written in the settings.
    pub fn written(&self) -> Vec<String> {
        let written = |(host, port): &(String, Option<u16>)| {
            let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
            port.map_or_else(|| host.clone(), |port| format!("{host}:{port}"))
        };
        self.0.iter().map(written).collect()
    }
}

/// Reads a host, and its port if there is one.
fn host(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.rsplit_once(':') {
        // The last colon of an IPv6 address without a port is inside of its brackets.
        Some((host, port)) if !port.ends_with(']') => {
            let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
            (host, Some(port.parse().ok().filter(|port| is_number && *port > 0)?))
        }
        _ => (text, None),
    };
    if let Some(inside) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return Some((canonical(&inside.parse::<Ipv6Addr>().ok()?.to_string()), port));
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = !host.is_empty() && host.bytes().all(is_plain);
    is_name.then(|| (canonical(host), port))
}

impl Setting for CallbackHosts {
    const IS_LIST: bool = true;

    fn read(value: &Value) -> Result<Self, String> {
        let entry = |value: &Value| {
            host(text(value, HOST)?).ok_or_else(|| format!("{} is not {HOST}", quoted(value)))
        };
        list(value, "a list of hosts such as [\"hooks.example\"]", entry).map(CallbackHosts)
    }

    fn to_value(&self) -> Value {
        self.written().into()
    }

    fn typed(text: &str) -> Value {
        match typed_list(text) {
            // This is not a list, but one host whose IPv6 address begins with a bracket.
            Value::String(host) => json!([host]),
            hosts => hosts,
        }
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": { "type": "string", "pattern": "^[^/@\\s]+$" } })
    }
}

/// The secret that signs callbacks, as Standard Webhooks writes it: random bytes in Base64, with `whsec_` before them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSecret(String);

/// What may stand before a secret.
const PREFIX: &str = "whsec_";

impl SigningSecret {
    /// Returns the bytes that sign.
    pub fn bytes(&self) -> Vec<u8> {
        bytes(&self.0).unwrap_or_default()
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let bytes = STANDARD.decode(text.strip_prefix(PREFIX).unwrap_or(text)).ok()?;
    (24..=64).contains(&bytes.len()).then_some(bytes)
}

impl Setting for SigningSecret {
    fn read(value: &Value) -> Result<Self, String> {
        let said = value.as_str().filter(|text| bytes(text).is_some());
        // The value is a secret, so that the message does not quote it.
        said.map(|text| SigningSecret(text.to_owned())).ok_or_else(|| {
            format!(
                "it is not {PREFIX} and 24 to 64 random bytes in Base64: `openssl rand -base64 32` makes them"
            )
        })
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": format!("^({PREFIX})?[A-Za-z0-9+/]{{32,86}}={{0,2}}$") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named_with_their_ports_where_these_are_not_the_default() {
        let read = |text: &str| CallbackHosts::read(&CallbackHosts::typed(text));
        let hosts = read("Hooks.Example, 127.0.0.1:9000, [0:0::1]:7, [::2]").expect("hosts");
        assert_eq!(hosts.to_value(), json!(["hooks.example", "127.0.0.1:9000", "[::1]:7", "[::2]"]));
        assert_eq!(read("[::1]:7").map(|hosts| hosts.to_value()), Ok(json!(["[::1]:7"])));
        for (host, port, default, has) in [
            ("hooks.example", 443, 443, true),
            ("HOOKS.example", 443, 443, true),
            ("hooks.example", 80, 80, true),
            ("hooks.example", 80, 443, false),
            ("hooks.example", 8443, 443, false),
            ("hooks.example.", 443, 443, false),
            ("evil.hooks.example", 443, 443, false),
            ("127.0.0.1", 9000, 80, true),
            ("127.0.0.1", 80, 80, false),
            ("::1", 7, 80, true),
            ("::1", 80, 80, false),
            ("::2", 443, 443, true),
            ("localhost", 9000, 80, false),
        ] {
            assert_eq!(hosts.has(host, port, default), has, "{host}:{port}");
        }
        for wrong in [
            "",
            "*",
            "*.example",
            "https://hooks.example",
            "hooks.example/path",
            "ada@hooks.example",
            "hooks.example:",
            "hooks.example:0",
            "hooks.example:+1",
            "hooks.example:65536",
            "hooks example",
            "::1",
            "[::1",
            "[hooks]",
            "bücher.example",
        ] {
            let refused = CallbackHosts::read(&json!([wrong])).expect_err(wrong);
            assert!(refused.contains("is not a host such as"), "{wrong}: {refused}");
        }
        assert!(CallbackHosts::read(&json!("hooks.example")).is_err());
    }

    #[test]
    fn a_secret_is_random_bytes_in_base64() {
        let read = |text: &str| SigningSecret::read(&json!(text)).map(|secret| secret.bytes().len());
        let bytes = |count: usize| STANDARD.encode(vec![7; count]);
        for count in [24, 32, 64] {
            assert_eq!(read(&bytes(count)), Ok(count));
            assert_eq!(read(&format!("whsec_{}", bytes(count))), Ok(count));
        }
        for wrong in [&*bytes(23), &bytes(65), "", "whsec_", "a secret that is long enough to be one"] {
            let refused = read(wrong).expect_err(wrong);
            assert!(!refused.contains("long enough"), "{refused}");
        }
        assert!(SigningSecret::read(&json!(7)).is_err());
    }
}
