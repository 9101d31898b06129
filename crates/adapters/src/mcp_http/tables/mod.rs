//! Conversations with the relay as tables.

mod cases;
mod stage;
