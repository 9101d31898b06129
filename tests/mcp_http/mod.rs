//! `askbridge mcp-http` through the real program: a host that speaks to it line by line, and a server that the test plays.
//! What each order of events leads to is left to the tables of `crates/adapters/src/mcp_http`.

#[cfg(test)]
mod headers;
#[cfg(test)]
mod host;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod server;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod volume;
