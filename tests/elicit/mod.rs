//! MCP servers behind `askbridge mcp-proxy`. Released servers and hosts are left to `tests/mcp/run`; what they said is
//! played here.

#[cfg(test)]
mod command;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod model;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod table;
