//! Random interleavings of all who settle a question: several responders, the client, the agent that takes it back or
//! ends. What each of them is told is held against what the agent's stdin really got (I4, I9).
//! The engine, the inbox, the sink and the verdicts are the real ones; only the pipes are modelled.

mod moves;
mod runs;
mod stdin;
mod world;
