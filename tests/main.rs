//! The tests of the program, as one binary: the program and the library are linked once. Each suite is a file or a folder
//! beside this file. The page has a binary of its own, since a browser takes part in it.

#[cfg(test)]
#[cfg(feature = "mock")]
mod answers;
#[cfg(test)]
#[cfg(feature = "mock")]
mod attach;
#[cfg(test)]
#[cfg(feature = "mock")]
mod bridge;
#[cfg(test)]
#[cfg(all(feature = "check", feature = "mock"))]
mod check;
#[cfg(test)]
#[cfg(feature = "mock")]
mod cli;
#[cfg(test)]
#[cfg(feature = "mock")]
mod demo;
#[cfg(test)]
mod dialects;
mod elicit;
#[cfg(test)]
mod envelope;
#[cfg(test)]
mod forms;
#[cfg(test)]
mod guard;
#[cfg(test)]
#[cfg(feature = "mock")]
mod http;
#[cfg(test)]
#[cfg(feature = "journal")]
mod journal;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod live;
#[cfg(test)]
mod machine;
#[cfg(test)]
#[cfg(feature = "mock")]
mod machines;
#[cfg(test)]
mod matrix;
#[cfg(test)]
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(test)]
#[cfg(all(feature = "mcp", feature = "mock"))]
mod mcp_http;
#[cfg(test)]
#[cfg(feature = "mock")]
mod mock;
#[cfg(test)]
#[cfg(all(feature = "mock", feature = "notify"))]
mod notify;
#[cfg(test)]
mod peek;
#[cfg(test)]
#[cfg(feature = "mock")]
mod peers;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod replies;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod setup;
#[cfg(test)]
#[cfg(all(feature = "journal", feature = "mock"))]
mod standing;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod transcripts;
