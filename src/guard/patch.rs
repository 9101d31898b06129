//! Patches in the unified format, as far as it matters which files they name, and what they do beside changing lines.

/// Stands for a file that does not exist before or after a change.
const NOTHING: &str = "/dev/null";

/// Returns the files that the heads of a patch name.
pub(super) fn changed_by(patch: &str) -> impl Iterator<Item = &str> {
    let files = patch
        .lines()
        .filter_map(|line| file_in_head(line, "+++ ", "b/").or_else(|| file_in_head(line, "--- ", "a/")));
    files.filter(|file| *file != NOTHING)
}

/// Returns what a patch does beside changing lines.
pub(super) fn removed_by(patch: &str) -> Option<&'static str> {
    let has = |begin: &str| patch.lines().any(|line| line.starts_with(begin));
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
        let after = file_in_head(line, "+++ ", "b/");
        after.zip(before.take()).is_some_and(|(after, before)| after != before && before != NOTHING)
    })
}

/// Returns the file that a head of a patch names.
fn file_in_head<'a>(line: &'a str, mark: &str, side: &str) -> Option<&'a str> {
    let file = line.strip_prefix(mark)?.split('\t').next().unwrap_or_default().trim();
    Some(file.strip_prefix(side).unwrap_or(file))
}
