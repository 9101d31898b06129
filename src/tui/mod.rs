//! The full-screen inbox: all questions of this machine in one terminal.
//! A pure state machine takes events and is drawn; `screen.rs` and `run.rs` have the terminal and the bridges.

pub mod event;

pub mod editor;

pub mod draft;

pub mod theme;

mod wrapped;

pub mod state;

mod sending;

mod card_keys;

mod about;

mod line;

mod field;

mod card;

mod layout;

mod list;

mod overlay;

pub mod handle;

pub mod view;

mod keys;

mod screen;

mod remembered;

mod run;

pub use run::{TuiOptions, tui};
