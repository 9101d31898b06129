//! The position and the layer of a value, the mistakes in settings, and the probable meaning of an unknown name.

use std::{fmt, path::PathBuf};

use serde_json::Value;

use super::keys;

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

/// The layer that a value comes from. A later layer wins.
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

    /// Returns the position of the value in a file.
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
    /// The value in its canonical form.
    pub value: Value,
    /// Where it comes from.
    pub origin: Layer,
}

/// A mistake in a layer, which is ignored. The rest of the layer applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where the problem is. `None` for a file that could not be read at all.
    pub origin: Option<Layer>,
    /// The mistake and its remedy, in words. It may quote a file, so it is not safe to print raw.
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

/// Characters of the longest name that is searched for typos: the time of the comparison is the product of two lengths.
const LONGEST: usize = 100;

/// Returns the setting that an unknown full name probably means: it has a typo, or names the wrong section.
pub(super) fn near_key(path: &str) -> Option<&'static str> {
    let paths = || keys::all().map(|key| key.path());
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    // The unknown name may be right but in another section, or have underscores as in the environment variables.
    let same_name = || paths().find(|known| last(known) == last(path) || known.replace('-', "_") == path);
    closest(path, paths()).or_else(same_name).or_else(|| {
        let name = last(path);
        let near = closest(&name, paths().map(|known| known.rsplit('.').next().unwrap_or_default()));
        near.and_then(|near| paths().find(|known| last(known) == near))
    })
}

/// Returns the table that an unknown name probably means.
pub(super) fn near_section(path: &str) -> Option<&'static str> {
    closest(
        path,
        keys::SECTIONS.iter().map(|(name, _)| *name).chain([keys::PROJECTS, keys::RULES, keys::MACHINES]),
    )
}

/// Returns the nearest of the names, if it is within a few typos.
pub fn closest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > LONGEST {
        return None;
    }
    // Short names resemble each other by chance, so they get fewer typos.
    let slips = (length / 4).clamp(1, 3);
    let distances = names.map(|known| (strsim::osa_distance(name, known), known));
    distances
        .filter(|(distance, _)| *distance <= slips)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Returns the message that there is no such thing, with the name that was probably meant.
pub(super) fn unknown_named(what: &str, meant: Option<&str>) -> String {
    let tip = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    format!("there is no {what}{tip}")
}

/// Returns a name, cut to fit into a message.
pub(super) fn printable(name: &str) -> String {
    const LONGEST: usize = 80;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
