//! Where a value stands, and what is wrong there.

use std::{fmt, path::PathBuf};

use serde_json::Value;

/// A character in a file. Lines and columns are counted from 1, as editors do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The line.
    pub line: usize,
    /// The character of the line.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

/// The layer that a value comes from. A later one wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Nothing was set.
    Default,
    /// The person's own file.
    User(Place),
    /// The file of the project.
    Project(Place),
    /// An environment variable, by its name.
    Environment(String),
}

impl Layer {
    /// Returns the name of the layer.
    pub fn layer(&self) -> &'static str {
        match self {
            Layer::Default => "default",
            Layer::User(_) => "user",
            Layer::Project(_) => "project",
            Layer::Environment(_) => "environment",
        }
    }

    /// Returns where the value stands in a file.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Layer::User(place) | Layer::Project(place) => Some(place),
            Layer::Default | Layer::Environment(_) => None,
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Layer::Default => formatter.write_str("default"),
            Layer::User(place) | Layer::Project(place) => place.fmt(formatter),
            Layer::Environment(name) => formatter.write_str(name),
        }
    }
}

/// A value, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredValue {
    /// The value, as it is written by default.
    pub value: Value,
    /// Where it comes from.
    pub origin: Layer,
}

/// Something in a layer that does not count. Everything else of the layer does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands. `None` for a file that could not be read as a whole.
    pub origin: Option<Layer>,
    /// What is wrong and what to do, in words. It may quote what a file says, so it is not safe to print raw.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(formatter, "{origin}: ")?;
        }
        formatter.write_str(&self.message)
    }
}
