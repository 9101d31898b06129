//! Random interleavings of all that settles a question: several responders, the client, and the agent that takes it
//! back or ends. Each verdict is compared with the bytes that the agent's stdin really got (I4, I9).
//! The bridge, the inbox and the handover between them are the real ones; only the pipes are modelled.

#[cfg(test)]
mod moves;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod world;
