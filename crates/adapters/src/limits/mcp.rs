//! The limits of the MCP server.

use std::time::Duration;

use super::MIB;

/// Interval of progress notifications to an MCP client that wants them. Clients give a call up after 60 s without one.
pub const PROGRESS: Duration = Duration::from_secs(5);
/// Number of calls over MCP that wait at the same time. A further call returns a ticket without waiting.
pub const WAITING: usize = 64;
/// Number of requests over MCP without a reply. Beyond that, stdin is not read. The number is greater than [`WAITING`],
/// so that calls that wait can always be cancelled.
pub const REQUESTS: usize = 128;
/// Length of a message over MCP. A longer one is dropped.
pub const MESSAGE: usize = 4 * MIB;
/// Number of settled questions whose answer can be fetched again over MCP.
pub const TICKETS: usize = 128;
/// Size of the settled questions whose answer can be fetched again, with the answers.
pub const TICKETS_BYTES: usize = 4 * MIB;
/// How long an answer waits until the agent fetches it by its ticket. After that, the responder learns that the answer
/// was accepted, and the answer is kept for the agent.
pub const FETCH: Duration = Duration::from_secs(3);
/// How long an MCP client may take to name its folders.
pub const ROOTS: Duration = Duration::from_secs(1);
