//! Paths as an agent names them: which of them plainly mean a file in a folder. What the file system makes of them is left
//! to the host.

use std::path::{Component, Path, PathBuf};

/// The mark that a list of files ends with where some are left out.
const MORE: char = '…';

/// The file system, which the host looks at.
pub trait Files {
    /// Returns where an absolute path leads now, without links and `..`. Of a file that does not exist yet, that is its
    /// name in the nearest folder that does. `None` where it cannot be told.
    fn resolve(&self, path: &Path) -> Option<PathBuf>;
}

/// Returns whether a path is absolute, and goes down only.
pub fn is_plain(path: &str) -> bool {
    Path::new(path).is_absolute()
        && Path::new(path).components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
        // `components` leaves these out.
        && !path.split('/').any(|part| part == ".")
}

/// Returns the absolute path of what an agent names, if it plainly is in this folder or below it. Agents expand `~`, `$`
/// and `%`, read addresses with a scheme, and take `\` for the end of a folder: such a name may mean any file.
pub fn inside(folder: &str, named: &str) -> Option<String> {
    if named.is_empty() || named.starts_with(MORE) || is_expanded(named) || has_scheme(named) {
        return None;
    }
    let path = match named.starts_with('/') {
        true => named.to_owned(),
        false => format!("{}/{}", folder.trim_end_matches('/'), named.trim_start_matches("./")),
    };
    (is_plain(folder) && is_plain(&path) && Path::new(&path).starts_with(folder)).then_some(path)
}

fn is_expanded(named: &str) -> bool {
    named.contains(|char: char| matches!(char, '$' | '%' | '\\' | '`') || char.is_control())
        || named.split('/').any(|part| part.starts_with('~'))
}

/// Returns whether a name begins as an address does: `file:`, `vscode-remote:`, or a drive. A number behind the colon is
/// a line.
fn has_scheme(named: &str) -> bool {
    let Some((scheme, rest)) = named.split_once(':') else { return false };
    !scheme.contains('/') && !rest.starts_with(|char: char| char.is_ascii_digit()) || rest.starts_with("//")
}

/// Returns a location without the line that it may end with.
pub fn without_line(location: &str) -> &str {
    match location.rsplit_once(':') {
        Some((path, line)) if !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()) => path,
        _ => location,
    }
}
