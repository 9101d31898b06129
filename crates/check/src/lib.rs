//! Conformance cases for agents, clients and bridges that speak ACP: the cases as texts, and what plays them against a
//! command. The command line is left to the program.
//!
//! `library` has the cases, `case` and `step` read them, `play` performs the steps of one case on a `stage`, and `suite` runs
//! all cases of a kind. `talk` is the client of an agent, `serve` the agent of a client. `report` has the results in words and as documents.

pub mod case;
mod end;
mod ends;
mod expect;
mod hearing;
mod json;
pub mod library;
mod limits;
mod lines;
mod orphans;
mod peer;
mod play;
mod processes;
pub mod puppet;
mod puppets;
pub mod report;
mod responder;
pub mod schema;
pub mod serve;
mod stage;
mod step;
pub mod suite;
pub mod talk;
mod variables;
pub mod verdict;
mod wire;
