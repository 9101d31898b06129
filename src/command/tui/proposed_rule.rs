//! A rule that is made of a decision in the full-screen inbox: what it is, what it would have decided, and writing it.

use askbridge_core::desk::Record;
use askbridge_settings::files;

use crate::command::{
    CommandError,
    config::own_file,
    propose::{append, proposed, tried},
};

/// A rule as the full-screen inbox shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedRule {
    /// The rule as it would be written.
    pub toml: String,
    /// What it would have decided of the last permissions.
    pub tried: String,
    /// Where it would be written.
    pub path: String,
}

impl ProposedRule {
    /// Makes a rule of the decision about a permission, and tries it.
    ///
    /// # Errors
    /// Why there is none.
    pub fn of(record: &Record) -> Result<Self, String> {
        let proposal = proposed(record, files::read(None).rules())?;
        let tried = tried(&proposal).map_err(|error| error.to_string())?;
        let path = own_file().map_err(|error| error.to_string())?.display().to_string();
        Ok(ProposedRule { toml: proposal.toml(), tried, path })
    }

    /// Writes the rule of this decision, if it still has the text that the person saw (I13). Returns where it is.
    ///
    /// # Errors
    /// Why it was not written.
    pub fn write(record: &Record, seen: &str) -> Result<String, String> {
        let proposal = proposed(record, files::read(None).rules())?;
        if proposal.toml() != seen {
            return Err("it is another one by now: read it again".to_owned());
        }
        let write = || -> Result<String, CommandError> {
            let path = own_file()?;
            append(&path, &proposal, record)?;
            Ok(path.display().to_string())
        };
        write().map_err(|error| error.to_string())
    }
}
