//! `askbridge check`: each case passes against a mock that keeps its rule, and fails against one that breaks just this rule.
//! What a case is made of is left to the unit tests of the crate.

#[cfg(test)]
mod agent;
#[cfg(test)]
mod bridge;
#[cfg(test)]
mod client;
#[cfg(test)]
mod command;
#[cfg(test)]
mod compatibility;
#[cfg(test)]
mod faults;
mod mcp;
