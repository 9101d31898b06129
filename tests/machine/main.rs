//! The engine as a state machine: random conversations, and the bounds of what it keeps.

#[cfg(test)]
mod asks;

#[cfg(test)]
mod conversation;

#[cfg(test)]
mod bounds;
