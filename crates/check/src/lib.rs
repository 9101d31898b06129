//! Conformance cases for agents, clients and bridges that speak ACP, and the checker that plays them against a command. The
//! command line is left to the program.
//!
//! `library` has the cases as texts, and `case` and `step` read them. `suite` runs all cases of a kind. `play` performs the
//! steps of one case on a `stage`, which has the processes and streams: `streams`, `processes` and `responder` perform the
//! steps of each kind, `talk` those of an agent's client, and `serve` those of a client's agent. `report` writes the results
//! for people and for programs.

mod breach;
pub mod case;
mod end;
mod expect;
mod json;
pub mod kind;
pub mod library;
mod limits;
mod lines;
mod messages;
mod orphans;
mod peer;
mod play;
mod processes;
pub mod puppet;
mod puppet_link;
pub mod report;
mod responder;
pub mod rule;
pub mod schema;
pub mod serve;
mod stage;
mod step;
mod streams;
pub mod suite;
pub mod talk;
mod variables;
pub mod verdict;
mod wire;
