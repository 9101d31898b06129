//! The settings of a user: the keys, the parsing of their values, the precedence of the layers, and the mistakes in a
//! file. Pure, except for `files.rs`, which finds and reads the files. Using a value is left to the rooms.

pub mod addresses;
pub mod document;
pub mod files;
pub mod key;
pub mod keys;
pub mod kinds;
pub mod layers;
pub mod limits;
pub mod machine_file;
pub mod machine_tables;
pub mod place;
pub mod render;
pub mod resolved;
pub mod rule;
pub mod rule_tables;
#[cfg(feature = "schema")]
pub mod schema;
pub mod services;
pub mod words;

pub use key::{AnyKey, Key};
pub use layers::{Settings, SettingsFile, Sources};
pub use machine_tables::{MachineRoute, MachineTable};
pub use place::{Layer, Place, Problem};
pub use rule_tables::RuleTable;
pub use services::NotifySettings;
