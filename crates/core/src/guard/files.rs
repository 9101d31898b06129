//! The files that an agent names: which paths plainly mean a file in a folder, and which files a patch in the unified
//! format changes, deletes or renames. Looking at the file system is left to the host ([`Files`]).

use std::path::{Component, Path, PathBuf};

use super::hidden::is_hidden;

/// The mark at the end of a list of files from which some are left out.
const MORE: char = '…';

/// The file system, which the host looks at.
pub trait Files {
    /// Returns where an absolute path leads now, with links and `..` resolved. For a file that does not exist yet, this
    /// is its name in the nearest folder that does. `None` if the path cannot be resolved.
    fn resolve(&self, path: &Path) -> Option<PathBuf>;

    /// Returns whether a file has further names, as hard links: a change of it changes what they name, wherever they are.
    fn has_other_names(&self, path: &Path) -> bool;

    /// Returns how many bytes the file at an absolute path has now: 0 if there is no file. `None` if that cannot be known,
    /// or if it is no regular file.
    fn size(&self, _path: &Path) -> Option<u64> {
        None
    }

    /// Reads a regular file of at most so many bytes, to compare it: nothing of it is shown. Bytes that are no text are
    /// replaced. `None` if it cannot be read.
    fn contents(&self, _path: &Path, _most: usize) -> Option<String> {
        None
    }

    /// Reads the text of a regular file of the same user, of at most so many bytes.
    ///
    /// # Errors
    /// Why it is not read, as the end of a sentence: `which is too long`.
    fn text(&self, _path: &Path, _most: usize) -> Result<String, &'static str> {
        Err("which is not read here")
    }
}

/// Returns whether a path is absolute, and has no `.` and no `..` in it.
pub fn is_plain(path: &str) -> bool {
    Path::new(path).is_absolute()
        && Path::new(path).components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
        // `components` skips `.`.
        && !path.split('/').any(|part| part == ".")
}

/// Returns the absolute path of what an agent names, if it plainly is in this folder or below it. Agents expand `~`, `$`
/// and `%`, read addresses with a scheme, and take `\` for the end of a folder: such a name may mean any file.
pub fn inside(folder: &str, named: &str) -> Option<String> {
    let path = joined(folder, named)?;
    (is_plain(folder) && is_plain(&path) && Path::new(&path).starts_with(folder)).then_some(path)
}

/// Returns the absolute path of what an agent names, wherever that is, if it can mean but one.
pub(super) fn joined(folder: &str, named: &str) -> Option<String> {
    if named.is_empty() || named.starts_with(MORE) || is_expanded(named) || has_scheme(named) {
        return None;
    }
    Some(without_dots(match named.starts_with('/') {
        true => named.to_owned(),
        false => format!("{}/{named}", folder.trim_end_matches('/')),
    }))
}

/// Returns a path without the parts that mean the folder which they are in.
fn without_dots(path: String) -> String {
    match path.split('/').any(|part| part == ".") {
        true => path.split('/').filter(|part| *part != ".").collect::<Vec<_>>().join("/"),
        false => path,
    }
}

fn is_expanded(named: &str) -> bool {
    named.contains(|char: char| matches!(char, '$' | '%' | '\\' | '`') || is_hidden(char))
        || named.split('/').any(|part| part.starts_with('~'))
}

/// Returns whether a name begins as an address does: `file:`, `vscode-remote:`, or a drive. A number behind the colon is
/// a line.
fn has_scheme(named: &str) -> bool {
    let Some((scheme, rest)) = named.split_once(':') else { return false };
    !scheme.contains('/') && !rest.starts_with(|char: char| char.is_ascii_digit()) || rest.starts_with("//")
}

/// Returns whether a name is that of something on the network. A single letter before the colon is a drive.
pub(super) fn is_address(named: &str) -> bool {
    // What stands before it makes no file of it, for an agent that drops such parts.
    let named = named.trim_start_matches("./");
    let is_local = |scheme: &str| scheme.len() == 1 || scheme.eq_ignore_ascii_case("file");
    let scheme = named.split(':').next().unwrap_or_default();
    (has_scheme(named) && !is_local(scheme)) || named.starts_with("\\\\")
}

/// Returns a location without the line that it may end with.
pub fn without_line(location: &str) -> &str {
    match location.rsplit_once(':') {
        Some((path, line)) if !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()) => path,
        _ => location,
    }
}

/// Represents a file that does not exist before or after a change.
const NOTHING: &str = "/dev/null";

/// Returns the files that the heads of a patch name.
pub(super) fn changed_by(patch: &str) -> impl Iterator<Item = &str> {
    let files = patch
        .lines()
        .filter_map(|line| file_in_head(line, "+++ ", "b/").or_else(|| file_in_head(line, "--- ", "a/")));
    files.filter(|file| *file != NOTHING)
}

/// Returns what a patch does beyond changing lines.
pub(super) fn removed_by(patch: &str) -> Option<&'static str> {
    let has = |begin: &str| patch.lines().any(|line| line.starts_with(begin));
    // The lines with `***` are those of the format of Codex' own tool for patches.
    if has("+++ /dev/null") || has("deleted file mode") || has("*** Delete File") {
        Some("it deletes a file")
    } else if ["rename from", "rename to", "*** Move to"].into_iter().any(has) || renames(patch) {
        Some("it moves or renames")
    } else if has("new mode") || has("old mode") {
        Some("it changes who may run or read a file")
    } else {
        None
    }
}

/// Returns whether the file after a change has another name than before.
fn renames(patch: &str) -> bool {
    let mut before = None;
    patch.lines().any(|line| {
        if let Some(file) = file_in_head(line, "--- ", "a/") {
            before = Some(file);
            return false;
        }
        // A head is compared once: the next file of the patch may have no `---` line.
        let after = file_in_head(line, "+++ ", "b/");
        after.zip(before.take()).is_some_and(|(after, before)| after != before && before != NOTHING)
    })
}

/// Returns the file that a head of a patch names.
pub(super) fn file_in_head<'a>(line: &'a str, mark: &str, side: &str) -> Option<&'a str> {
    // A tab separates the name from the time of the file.
    let file = line.strip_prefix(mark)?.split('\t').next().unwrap_or_default().trim();
    Some(file.strip_prefix(side).unwrap_or(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_inside_is_told_without_its_dots() {
        for (named, path) in [
            ("/p/x", Some("/p/x")),
            ("/p/./x", Some("/p/x")),
            ("/p/././a/./x", Some("/p/a/x")),
            ("/./p/x", Some("/p/x")),
            ("x", Some("/p/x")),
            ("./x", Some("/p/x")),
            ("a/./x", Some("/p/a/x")),
            ("/p/.", Some("/p")),
            ("a/.x", Some("/p/a/.x")),
            ("/p/../x", None),
            ("/p/./../x", None),
            ("/q/./x", None),
            ("./~/x", None),
            ("", None),
        ] {
            assert_eq!(inside("/p", named).as_deref(), path, "{named}");
        }
        assert_eq!(inside("p", "x"), None);
    }
}
