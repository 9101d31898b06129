//! What released agents were recorded to send, in `fixtures/live`: their questions, and the permissions that they ask for.

#[cfg(test)]
mod members;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod questions;
