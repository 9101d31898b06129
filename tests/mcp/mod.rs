//! `askbridge mcp` through the real program: a client in this process speaks to it line by line, and the commands answer.
//! What a conversation leads to under a virtual clock is left to the tests of `crates/adapters/src/mcp`.

#[cfg(test)]
mod asking;
#[cfg(test)]
mod client;
#[cfg(test)]
mod ending;
#[cfg(test)]
mod images;
#[cfg(test)]
mod races;
