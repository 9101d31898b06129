//! The full-screen inbox: all questions of this machine in one terminal.
//! A pure state machine takes events and is drawn; `screen.rs` and `run.rs` have the terminal and the bridges.

mod bursts;
mod calls;
mod card;
mod card_keys;
mod commented;
mod comments;
pub mod draft;
pub mod editor;
pub mod event;
mod field;
mod front;
mod graphics;
mod group;
pub mod handle;
mod haste;
mod image_view;
mod inputs;
mod layout;
mod lines;
pub mod list;
mod modal_keys;
mod overlay;
mod painter;
mod picture;
pub mod proposed_rule;
mod prose;
mod repaint;
mod rule_keys;
mod run;
mod screen;
pub mod search;
mod sending;
mod settled;
mod sixel;
pub mod state;
pub mod theme;
mod together;
mod underway;
pub mod view;
mod world;

pub use run::{TuiArgs, tui};
