//! The limits of the MCP server.

use std::time::Duration;

use super::MIB;

/// Interval of progress notifications to an MCP client that wants them. Clients give a call up after 60 s without one.
pub const PROGRESS: Duration = Duration::from_secs(5);
/// Number of calls over MCP that wait at once. One more returns a ticket at once.
pub const WAITING: usize = 64;
/// Number of requests over MCP without a reply. Beyond that stdin is not read: this is more than [`WAITING`], so that
/// calls that wait can always be cancelled.
pub const REQUESTS: usize = 128;
/// Length of a message over MCP. A longer one is dropped.
pub const MESSAGE: usize = 4 * MIB;
/// Number of settled questions whose answer can be fetched again over MCP.
pub const TICKETS: usize = 128;
/// Size of the settled questions whose answer can be fetched again, with the answers.
pub const TICKETS_BYTES: usize = 4 * MIB;
/// How long an answer waits for a call with its ticket, before the responder is told that it was accepted: it is kept for
/// the agent from then on.
pub const FETCH: Duration = Duration::from_secs(3);
/// How long an MCP client may take to name its folders.
pub const ROOTS: Duration = Duration::from_secs(1);
