//! The kinds of agents that the inbox attaches to by itself, and the servers of agents that get a secret.

use core::net::{IpAddr, Ipv6Addr};

use serde_json::{Value, json};

use super::value::{Setting, list, quoted, text, typed_list};

/// Kinds of agents that run in terminals. Empty attaches to none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentKinds(pub Vec<&'static str>);

/// The kinds that can be attached to.
const KINDS: [&str; 3] = ["codex", "opencode", "copilot"];

impl AgentKinds {
    /// Returns whether agents of this kind are attached to.
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

/// Servers that get a password or a token whoever runs them: the host and the port of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedServers(pub Vec<(String, u16)>);

/// What a trusted server looks like.
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

/// Returns a host as it is compared: in one case, and an IP address in its shortest way.
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
    use super::*;

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

    fn read(text: &str) -> Result<Value, String> {
        AgentKinds::read(&AgentKinds::typed(text)).map(|attached| attached.to_value())
    }

    #[test]
    fn all_kinds_or_some_or_none_are_attached_to() {
        assert_eq!(read("true"), Ok(json!(KINDS)));
        assert_eq!(read("off"), Ok(json!(false)));
        assert_eq!(read("codex"), Ok(json!(["codex"])));
        assert!(read("emacs").is_err_and(|error| error.contains("codex")));
        assert!(AgentKinds::read(&json!(5)).is_err_and(|error| error.contains("a list of agents")));
    }
}
