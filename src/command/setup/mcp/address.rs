//! What the address of a remote server shows about it: whether it may be an argument, which every user of this machine
//! can see, and whether the server runs on this machine.

/// Addresses of this machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// Letters and digits in a row that may be a key. A word of an address is shorter.
const KEY: usize = 16;

/// What an address shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// The server runs on this machine.
    Here,
    /// The server runs somewhere else.
    There,
    /// The connection is not encrypted, and leaves this machine.
    Plain,
    /// It may have a secret in it.
    Secret,
    /// It ends like that of a server that speaks SSE alone.
    Sse,
    /// It is no address of HTTP.
    Unknown,
}

/// Returns what an address shows.
pub(super) fn read(url: &str) -> Address {
    let Some((scheme, rest)) = url.split_once("://") else { return Address::Unknown };
    let is_plain = match scheme.to_ascii_lowercase().as_str() {
        "https" => false,
        "http" => true,
        _ => return Address::Unknown,
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    // A variable may have any of the signs in it that part an address.
    if authority.matches('{').count() != authority.matches('}').count() {
        return Address::Unknown;
    }
    if authority.is_empty() {
        return Address::Unknown;
    }
    if authority.contains('@') || path.contains(['?', '{', '$']) || path.split('/').any(is_key) {
        return Address::Secret;
    }
    if path.trim_end_matches('/').ends_with("/sse") {
        return Address::Sse;
    }
    match (is_here(authority), is_plain) {
        (true, _) => Address::Here,
        (false, true) => Address::Plain,
        (false, false) => Address::There,
    }
}

fn is_here(authority: &str) -> bool {
    LOOPBACK.iter().any(|host| {
        let rest = authority.to_ascii_lowercase();
        rest.strip_prefix(host).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    })
}

/// Returns whether a part of a path may be a key: long, with letters and digits in it.
fn is_key(part: &str) -> bool {
    let has = |is: fn(&char) -> bool| part.chars().any(|c| is(&c));
    part.len() >= KEY && has(char::is_ascii_digit) && has(char::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_shows_what_may_be_done_with_it() {
        for (url, expected) in [
            ("https://mcp.example.com/mcp", Address::There),
            ("HTTPS://mcp.example.com", Address::There),
            ("https://mcp.example.com:8443/v1/streamable-http", Address::There),
            ("https://${env:HOST}/mcp", Address::There),
            ("http://localhost:3000/mcp", Address::Here),
            ("http://127.0.0.1:${PORT}/mcp", Address::Here),
            ("http://[::1]:3000/mcp", Address::Here),
            ("http://LOCALHOST", Address::Here),
            ("http://mcp.example.com/mcp", Address::Plain),
            ("http://localhost.example.com/mcp", Address::Plain),
            ("https://mcp.example.com/mcp?key=x", Address::Secret),
            ("https://me:word@mcp.example.com/mcp", Address::Secret),
            ("https://mcp.example.com/${env:KEY}/mcp", Address::Secret),
            ("https://mcp.example.com/{env:KEY}/mcp", Address::Secret),
            ("https://mcp.example.com/s/a1b2c3d4e5f6a7b8/mcp", Address::Secret),
            ("https://mcp.example.com/sse", Address::Sse),
            ("http://localhost:3000/sse/", Address::Sse),
            ("${MCP_URL}", Address::Unknown),
            ("https://${HOST:-a/b}/mcp", Address::Unknown),
            ("unix:///run/server.sock", Address::Unknown),
            ("ws://localhost/mcp", Address::Unknown),
            ("https://", Address::Unknown),
            ("", Address::Unknown),
        ] {
            assert_eq!(read(url), expected, "{url}");
        }
    }
}
