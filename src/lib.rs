//! askbridge stands on stdio between an ACP agent and its client. It forwards ordinary traffic byte for byte,
//! catches the questions that the agent asks a person, and puts exactly one answer on the agent's stdin.
//!
//! ```text
//!             client (IDE)                                     agent (child process)
//!                │  ▲                                               ▲  │
//!           stdin│  │stdout                                    stdin│  │stdout
//!                ▼  │                                               │  ▼
//!          ┌──────────────────────────── driver ───────────────────────────┐  I/O, decides nothing
//!          │  reader → frames         one Event at a time → Actions writers│
//!          └──────────────┬───────────────────────▲────────────────────────┘
//!                   wire  │  bytes ↔ envelope     │
//!                dialect  │  JSON ↔ question      │  pure: no I/O, no clock, no tokio
//!                 engine  └──▶ route · pending · ways · turns · lifecycle ──┘
//!                                       │ opened, settled     ▲ submitted
//!                                       ▼                     │
//!                                 inbox, on a thread and a socket of its own
//!                                       ▲
//!            command: list · show · answer · reject · extend · ask      serve: HTTP
//! ```
//!
//! A question is read in the dialect of the agent that asks ([`dialect::Asked`]), and put to the client in a way that
//! it can show ([`acp::Tier`]): as it came, where the client takes that dialect; otherwise as a native request, as
//! a form, or as permission prompts. The outcome goes back in the agent's own words ([`dialect::ReplyFormat`]).
//! Whatever the client makes of it, the question waits in the [`control`] as well, where others answer it: the first
//! valid answer wins.
//!
//! Under an ACP conductor there is one connection for both peers: [`acp::Component`] is the same engine for it.
//! There a frame goes into an envelope or comes out of one, and it is its id, its method and its parameters that keep
//! their bytes (I1).
//!
//! # What is promised
//!
//! Tests and comments cite these by their number.
//!
//! - **I1** A frame that is not intercepted leaves byte for byte as it came.
//! - **I2** Frames of one direction keep their order. A line of our own never lands inside another line.
//! - **I3** `wire`, `question`, `dialect` and `acp` are pure: no I/O, no clock, no randomness, no tokio. The same
//!   events give the same actions.
//! - **I4** Every question gets exactly one response on the agent's stdin while the agent lives, whatever happens.
//! - **I5** stdout carries protocol and nothing else.
//! - **I6** Memory is bounded by the constants in [`limits`], whatever the peers send.
//! - **I7** A slow peer never stops the other direction. What works over a direct pipe works through the bridge.
//! - **I8** The agent's process group does not outlive the bridge, and our exit code is the agent's unless we
//!   failed. (A SIGKILL to the bridge cannot be answered: then the agent sees the end of its stdin.)
//! - **I9** An answer that a responder was told is accepted is on the agent's stdin before it is told so, and before
//!   anybody sees the question as answered. If that cannot be known, the responder is told that it is not known.
//! - **I10** Nothing listens on the network unless asked, nothing that listens there answers without its token, and no
//!   text of an agent is run, rendered as markup, or sent to a terminal raw. What listens on this machine unasked is a
//!   socket that only its user may open.
//!
//! # Where to read on
//!
//! The modules below stand in reading order. All that can happen is in
//! [`acp::Event`], all that can be done about it in [`acp::Action`]. What each row of the settling table
//! leads to can be read, and tried, in `fixtures/transcripts`.

pub mod limits;

pub mod wire;

pub mod question;

pub mod dialect;

pub mod acp;

pub mod desk;

pub mod config;

pub mod control;

pub mod machine;

pub mod serve;

pub mod terminal;

pub mod driver;

pub mod command;

#[cfg(feature = "mock")]
pub mod mock;

pub mod cli;

pub mod exit;

pub mod signals;

pub mod log;
