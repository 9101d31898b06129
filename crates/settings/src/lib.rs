//! The settings of a user: the keys, the parsing of their values, the precedence of the layers, and the mistakes in a
//! file. Pure, except for `files.rs`, which finds and reads the files. Using a value is left to the rooms.

pub mod addresses;
pub mod callbacks;
pub mod document;
pub mod files;
mod key;
pub mod keys;
pub mod kinds;
mod layers;
pub mod limits;
pub mod machine_file;
mod machine_tables;
pub mod mcp;
pub mod mcp_servers;
mod place;
pub mod render;
pub mod resolved;
pub mod rule;
mod rule_tables;
#[cfg(feature = "schema")]
pub mod schema;
mod services;
pub mod words;

pub use key::{AnyKey, EffectTime, Key, Project, Setting};
pub use layers::{ProjectTable, Settings, SettingsFile, Sources, unknown_key};
pub use machine_tables::{MachineRoute, MachineTable, is_host};
pub use place::{Layer, Place, Problem, StoredValue, closest};
pub use rule_tables::RuleTable;
pub use services::{Heartbeat, NotifySettings, Ntfy, Webhook};
