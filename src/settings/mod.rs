//! What a person has set, wherever that was: the keys, how their values are read, which layer wins, and what is wrong.
//! Pure: finding and reading the files is left to `settings_files`, what the rooms do with a value to `config` and them.

pub mod value;

pub mod kinds;

pub mod remote;

pub mod attached;

pub mod key;

mod sections;

pub mod journal;

mod permission;

mod unattended;

pub mod keys;

pub mod document;

pub mod place;

mod near;

pub mod rules;

pub mod layers;

pub mod notify;

mod notify_keys;

mod services;

pub mod render;

pub mod edit;

pub mod listing;

#[cfg(feature = "schema")]
pub mod schema;

pub use key::{AnyKey, Key};
pub use layers::{Settings, SettingsFile, Sources};
pub use notify::NotifySettings;
pub use place::{Layer, Place, Problem};
pub use rules::RuleTable;
