//! Finds the name that was meant by one that there is not.

use super::keys;

/// Characters of the longest name that is compared: the comparison takes the product of two lengths.
const LONGEST: usize = 100;

/// Returns the setting that is meant by this name with its sections: one whose name has a slip of the fingers in it, or
/// that stands in another section.
pub(super) fn near_key(path: &str) -> Option<&'static str> {
    let paths = || keys::ALL.iter().map(|key| key.path());
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let same_name = || paths().find(|known| last(known) == last(path) || known.replace('-', "_") == path);
    closest(path, paths()).or_else(same_name).or_else(|| {
        let name = last(path);
        let near = closest(&name, paths().map(|known| known.rsplit('.').next().unwrap_or_default()));
        near.and_then(|near| paths().find(|known| last(known) == near))
    })
}

/// Returns the table that is meant.
pub(super) fn near_section(path: &str) -> Option<&'static str> {
    closest(path, keys::SECTIONS.iter().map(|(name, _)| *name).chain([keys::PROJECTS, keys::RULES]))
}

/// Returns the name that is a few letters away, if there is one.
pub(super) fn closest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    if length > LONGEST {
        return None;
    }
    let slips = (length / 4).clamp(1, 3);
    let distances = names.map(|known| (strsim::osa_distance(name, known), known));
    distances
        .filter(|(distance, _)| *distance <= slips)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Returns that there is no such thing, with the name that was meant.
pub(super) fn unknown_named(what: &str, meant: Option<&str>) -> String {
    let tip = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    format!("there is no {what}{tip}")
}

/// Returns a name in the length that a message has room for.
pub(super) fn printable(name: &str) -> String {
    const LONGEST: usize = 80;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
