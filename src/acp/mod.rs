//! Decides: an event and the time go in, actions come out.
//!
//! The contract: events come in the order in which they happened, time never goes back, all actions of an event
//! are carried out in their order before the next event, and the same events give the same actions (I3). Time is
//! what has passed since the bridge started. [`Bridge::next_deadline`] says when an [`Event::Tick`] is due.

pub mod event;

pub mod bridge;

mod route;

mod client;

mod agent;

mod presentation;

mod response;

mod settle;

mod submit;

mod pending;

mod turns;

mod tool_calls;

mod capabilities;

mod lifecycle;

mod component;

pub use bridge::{Bridge, Config};
pub use component::{Component, NO_CONDUCTOR, Output};
pub use event::{
    Action, Event, Line, Opened, Peer, Refused, Settled, Submission, Submitted, Ticket, Unanswered, name,
};
pub use presentation::Tier;
