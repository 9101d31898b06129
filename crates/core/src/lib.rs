//! A bridge between a coding agent and its client, without I/O. It forwards ordinary traffic byte for byte, catches the
//! questions that the agent asks its user, and gives the agent exactly one answer to each.
//!
//! A host that has its own connections puts the bridge between them: bytes, events and the time go in; bytes and
//! outputs come out. This is `examples/embed.rs`:
//!
#![doc = "```"]
#![doc = include_str!("../examples/embed.rs")]
#![doc = "```"]
//!
//! # The picture
//!
//! ```text
//!             client (IDE)                                     agent (child process)
//!                │  ▲                                               ▲  │
//!           stdin│  │stdout                                    stdin│  │stdout
//!                ▼  │                                               │  ▼
//!          ┌───────────────────────── driver (the host) ───────────────────┐  I/O, decides nothing
//!          │          bytes and events in → bytes and outputs out          │
//!          └──────────────┬───────────────────────▲────────────────────────┘
//!                   wire  │  bytes ↔ envelope     │
//!                dialect  │  JSON ↔ question      │
//!                  guard  │  what a permission risks
//!                   desk  │  one question's life  │  pure: no I/O, no clock, no tokio
//!                    acp  └──▶ route · ask · settle · engine ───┘
//!                                       │ changes              ▲ submissions
//!                                       ▼                      │
//!                                  responders: an inbox, rules, a host's own UI
//! ```
//!
//! A question is read in the dialect of the agent that asks ([`dialect`]). It is shown to the client in a way that the
//! client supports ([`acp::Tier`]): unchanged, as the `_sandboxagent` request, as a form, or as permission prompts. It
//! also waits in the host's inbox, where other responders find it. The first valid answer wins ([`desk`]), and the
//! agent gets it in its own dialect.
//!
//! Under an ACP conductor, one connection carries the lines of both peers. A line is then wrapped in an envelope or
//! unwrapped from one: its id, its method and its parameters keep their bytes (I1).
//!
//! # Invariants
//!
//! Tests and comments cite these by their number.
//!
//! - **I1** A line that is not intercepted leaves byte for byte as it came.
//! - **I2** Lines of one direction keep their order. A line of the bridge's own never lands inside another line.
//! - **I3** `wire`, `question`, `guard`, `desk`, `dialect`, `engine`, `acp`, `hosted` and `mcp` are pure: no I/O, no clock, no randomness,
//!   no tokio. The same calls give the same results.
//! - **I4** Every question gets exactly one response on the agent's stdin while the agent lives, whatever happens.
//! - **I5** stdout carries the protocol and nothing else.
//! - **I6** Memory is bounded by the constants in [`limits`], even if the peers are hostile.
//! - **I7** A slow peer never stops the other direction. What works over a direct pipe works through the bridge.
//! - **I8** The agent's process group does not outlive the bridge, and our exit code is the agent's unless the bridge
//!   failed. (A SIGKILL to the bridge cannot be handled: the agent then sees the end of its stdin.)
//! - **I9** An accepted answer is on the agent's stdin before its responder is told so, and before any other responder
//!   sees the question as answered. If that cannot be known, the responder is told that it is not known.
//! - **I10** Nothing listens on the network unless it was asked for, and what listens there answers only requests with
//!   its token. Text of an agent is never executed, rendered as markup, or sent to a terminal raw. What listens on this
//!   machine unasked is a socket that only its user can open.
//! - **I11** Versions mix: a bridge and a command of different versions understand what they share, keep what they do
//!   not know, say so, and never hide one question because of another or report a delivered answer as lost.
//! - **I12** A permission is never granted by default, by a timeout, by a rule that does not name it, by the agent
//!   itself, or by a single key or button where it acts. A command acts, unless all that it does is to look at files of
//!   the project. What a permission risks is decided by what it would do, in [`guard`], and nowhere else.
//! - **I13** A decision is for what its responder saw. What changes between showing and deciding is shown, judged anew,
//!   and makes the decision a conflict. What an ended tool call was about is never what a later permission shows, and
//!   no rule decides by it.
//! - **I14** Only a person, or a rule that the person wrote, answers, declines or approves. A client that refuses faster
//!   than a person can, or replies with an error or with a result of no known meaning, has said nothing.
//!
//! # Where to read on
//!
//! The rooms stand in reading order. Each knows only some of the rooms above it, which `tests/tidy/imports.rs` of the
//! repository names.
//!
//! 1. [`limits`]: every bound, with its reason.
//! 2. [`wire`]: bytes, lines and envelopes.
//! 3. [`question`]: forms, answers and outcomes, whichever agent asks.
//! 4. [`guard`]: what a permission risks.
//! 5. [`desk`]: one question's life, from open to settled.
//! 6. [`dialect`]: JSON of each agent ↔ question.
//! 7. [`engine`]: the bridge, in any protocol. [`engine::event`] has its events and outputs.
//! 8. [`acp`]: what the bridge decides where the protocol is ACP.
//! 9. [`hosted`]: what it decides where an agent asks the program that hosts it, in a protocol of its own.
//! 10. [`mcp`]: what it decides between an MCP server and its host.
//!
//! `fixtures/transcripts` shows what each row of the settling table leads to, to read and to try. `CONTRIBUTING.md`
//! maps each behaviour to its tests.

pub mod acp;
pub mod desk;
pub mod dialect;
pub mod engine;
pub mod guard;
pub mod hosted;
pub mod limits;
pub mod mcp;
pub mod question;
pub mod wire;
