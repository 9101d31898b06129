//! Answering over HTTP: real requests over real sockets, to an inbox whose bridge the test plays, and to the program.

#[cfg(test)]
mod asking;
#[cfg(test)]
mod background;
#[cfg(test)]
mod bounds;
#[cfg(test)]
mod bridge;
#[cfg(test)]
pub(crate) mod client;
#[cfg(test)]
mod consistency;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod events;
#[cfg(test)]
mod guard;
#[cfg(test)]
mod history;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod openapi;
#[cfg(test)]
mod opencode;
#[cfg(test)]
mod openrpc;
#[cfg(test)]
mod origins;
#[cfg(test)]
mod page;
#[cfg(test)]
pub(crate) mod program;
#[cfg(test)]
mod races;
#[cfg(test)]
mod rate;
#[cfg(test)]
mod rest;
#[cfg(test)]
mod rpc;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod undo;

#[cfg(test)]
mod websocket;
