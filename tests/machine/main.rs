//! The engine as a state machine: random conversations, and the bounds of its state.

#[cfg(test)]
mod asks;

#[cfg(test)]
mod conversation;

#[cfg(test)]
mod bounds;
