//! How a person is told that a question waits: a real bridge, the processes that it starts, and real peers.
//! When each way is due is left to the tests of `notify`, on a virtual clock.

#[cfg(test)]
mod crowd;
#[cfg(test)]
mod desktop;
#[cfg(test)]
mod phone;
#[cfg(test)]
mod programs;
#[cfg(test)]
pub(crate) mod server;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod webhook;
#[cfg(test)]
mod when;
