//! askbridge stands between a coding agent and its client, which speak the Agent Client Protocol. It forwards ordinary
//! traffic byte for byte, catches the questions that the agent asks its person, and gives the agent exactly one answer.
//!
//! The program puts it between two processes. The library is the same bridge without I/O, for hosts that have their own
//! connections; build it with `default-features = false`. This is `examples/embed.rs`:
//!
//!
//! # The picture
//!
//! ```text
//!             client (IDE)                                     agent (child process)
//!                │  ▲                                               ▲  │
//!           stdin│  │stdout                                    stdin│  │stdout
//!                ▼  │                                               │  ▼
//!          ┌──────────────────────────── driver ───────────────────────────┐  I/O, decides nothing
//!          │          bytes and events in → bytes and outputs out          │
//!          └──────────────┬───────────────────────▲────────────────────────┘
//!                   wire  │  bytes ↔ envelope     │
//!                dialect  │  JSON ↔ question      │
//!                   desk  │  one question's life  │  pure: no I/O, no clock, no tokio
//!                    acp  └──▶ route · ask · settle · engine ───┘
//!                                       │ changes              ▲ submissions
//!                                       ▼                      │
//!                                control: the inbox, on a thread and a socket of its own
//!                                       ▲                      ▲
//!          machine: all bridges ────────┤                      ├──── serve: HTTP
//!                                       │
//!            command: list · show · answer · reject · extend · ask
//! ```
//!
//! A question is read in the dialect of the agent that asks ([`dialect`]). It is shown to the client in a way that the
//! client supports ([`acp::Tier`]): as it came, as a native request, as a form, or as permission prompts. It also waits in
//! the inbox, where other responders find it. The first valid answer wins ([`desk`]), and the agent gets it in its own
//! dialect.
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
//! - **I3** `wire`, `question`, `guard`, `desk`, `dialect`, `engine`, `acp` and `native` are pure: no I/O, no clock, no randomness, no
//!   tokio. The same calls give the same results.
//! - **I4** Every question gets exactly one response on the agent's stdin while the agent lives, whatever happens.
//! - **I5** stdout carries the protocol and nothing else.
//! - **I6** Memory is bounded by the constants in [`limits`], whatever the peers send.
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
//!   itself, or by a single key or button where it acts. What it risks is decided by what it would do, in [`guard`].
//!
//! # Where to read on
//!
//! The rooms stand in reading order. Each knows only some of the rooms above it, which `tests/tidy/imports.rs` names.
//!
//! 1. [`limits`]: every bound, with its reason.
//! 2. [`wire`]: bytes, lines and envelopes.
//! 3. [`question`]: forms, answers and outcomes, whichever agent asks.
//! 4. [`guard`]: what a permission risks.
//! 5. [`desk`]: one question's life, from open to settled.
//! 6. [`dialect`]: JSON of each agent ↔ question.
//! 7. [`engine`]: the bridge, whatever protocol its peers speak. What goes in is in [`engine::event`], and so is what
//!    comes out.
//! 8. [`acp`]: what the bridge decides where the protocol is ACP.
//! 9. [`native`]: what it decides where an agent asks the program that hosts it, in a protocol of its own.
//!
//! With the feature `cli`, the shell follows: `rule`, `real_files`, `config`, `settings`, `settings_files`, `control`, `journal`, `machine`, `driver`, `origin`, `rule_service`, `settings_service`, `unattended_service`, `serve`,
//! `present`, `form`, `notify`, `notifier`, `setup`, `command`, `tui` and `cli`, with `exit`, `log`, `signals` and `terminal` beside them; and
//! `mock` behind the feature of that name.
//!
//! `fixtures/transcripts` shows what each row of the settling table leads to, to read and to try. `CONTRIBUTING.md` maps
//! each behaviour to its tests.
#![doc = "```"]
#![doc = include_str!("../examples/embed.rs")]
#![doc = "```"]

pub mod limits;

pub mod wire;

pub mod question;

pub mod guard;

pub mod desk;

pub mod dialect;

pub mod engine;

pub mod acp;

pub mod native;

#[cfg(feature = "cli")]
pub mod rule;

#[cfg(feature = "cli")]
pub mod real_files;

#[cfg(feature = "cli")]
pub mod config;

#[cfg(feature = "cli")]
pub mod settings;

#[cfg(feature = "cli")]
pub mod settings_files;

#[cfg(feature = "cli")]
pub mod control;

#[cfg(feature = "journal")]
pub mod journal;

#[cfg(feature = "cli")]
pub mod machine;

#[cfg(feature = "cli")]
pub mod driver;

#[cfg(feature = "cli")]
pub mod origin;

#[cfg(feature = "cli")]
pub mod rule_service;

#[cfg(feature = "cli")]
pub mod settings_service;

#[cfg(feature = "cli")]
pub mod unattended_service;

#[cfg(feature = "cli")]
pub mod serve;

#[cfg(feature = "cli")]
pub mod present;

#[cfg(feature = "cli")]
pub mod form;

#[cfg(feature = "notify")]
pub mod notify;

#[cfg(feature = "notify")]
pub mod notifier;

#[cfg(feature = "cli")]
pub mod setup;

#[cfg(feature = "cli")]
pub mod command;

#[cfg(feature = "tui")]
pub mod tui;

#[cfg(feature = "cli")]
pub mod cli;

#[cfg(feature = "cli")]
pub mod exit;

#[cfg(feature = "cli")]
pub mod log;

#[cfg(feature = "cli")]
pub mod signals;

#[cfg(feature = "cli")]
pub mod terminal;

#[cfg(feature = "cli")]
pub mod xdg;

#[cfg(feature = "mock")]
pub mod mock;
