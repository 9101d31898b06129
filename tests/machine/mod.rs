//! The core as a state machine: random conversations, responses in every shape, bytes in any chunking, and the bounds of
//! what it keeps.

#[cfg(test)]
pub(crate) mod asks;
#[cfg(test)]
mod bounds;
#[cfg(test)]
mod chunking;
#[cfg(test)]
mod consent;
#[cfg(test)]
mod conversation;
#[cfg(test)]
mod hosted;
#[cfg(test)]
mod responses;
#[cfg(test)]
mod waits;
