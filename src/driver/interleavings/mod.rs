//! Random interleavings of all that settles a question: several responders, the client, and the agent, which may
//! withdraw the question or end. Each verdict is compared with the bytes that the agent's stdin really got (I4, I9).
//! The bridge, the inbox and the handover between them are the real ones; only the pipes are modelled.

#[cfg(test)]
mod moves;
#[cfg(test)]
mod promises;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod world;
