//! `askbridge mcp` through the real program: a client in this process speaks to it line by line, and the commands answer.
//! What a conversation leads to under a virtual clock is left to the tests of `src/origin/mcp`.

#[cfg(test)]
#[path = "../support/mod.rs"]
mod support;

#[cfg(test)]
#[path = "../answers/machine.rs"]
#[expect(dead_code, reason = "some of it only the tests of the commands need")]
mod machine;

#[cfg(test)]
mod client;

#[cfg(test)]
mod asking;

#[cfg(test)]
mod ending;

#[cfg(test)]
mod races;
