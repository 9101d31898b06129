//! Where a word of a command leads, if it is a path: by its text alone. Links are left to the kernel.

use super::argument::{ANY, MANY, TAME};

/// Folders for files that nobody keeps.
const PASSING: [&str; 3] = ["/tmp/", "/var/tmp/", "/private/tmp/"];

/// Devices that keep nothing.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "-"];

/// Returns whether a word is no path that leads out of the folder of a command.
pub(super) fn is_inside(word: &str) -> bool {
    let is_path = |path: &str| {
        !path.starts_with(['/', '~'])
            && !path.starts_with("\\\\")
            && !path.contains([ANY, MANY, TAME])
            && !path.contains("://")
            && !path.split(['/', '\\']).any(|part| part == "..")
            // A drive.
            && !(path.len() > 1 && path.as_bytes()[1] == b':' && path.as_bytes()[0].is_ascii_alphabetic())
    };
    let value = word.split_once('=').map_or("", |(_, value)| value);
    let glued =
        if word.starts_with('-') && !word.starts_with("--") { word.get(2..).unwrap_or_default() } else { "" };
    [word, value, glued].into_iter().all(|path| is_path(path) || is_device(path))
}

/// Returns whether a path is for files that nobody keeps.
pub(super) fn is_passing(path: &str) -> bool {
    let is_below = |folder: &str| path.starts_with(folder);
    PASSING.into_iter().any(is_below)
        && !path.contains([ANY, MANY])
        && !path.split('/').any(|part| part == "..")
}

/// Files with secrets, by parts of their paths.
const SECRET: [&str; 15] = [
    "/.ssh/",
    "/.aws/credentials",
    "/.netrc",
    "/.pgpass",
    "/.kube/config",
    "/.gnupg/",
    "/etc/shadow",
    "/etc/gshadow",
    "/.docker/config.json",
    "/.git-credentials",
    "~/.npmrc",
    "~/.pypirc",
    "/.config/gh/hosts",
    "/.vault-token",
    "/id_rsa",
];

/// Returns whether a path plainly names a file with secrets of a person.
pub(super) fn is_secret(path: &str) -> bool {
    let is_public = [".pub", "/known_hosts", "/.ssh/config", "/.ssh/"].iter().any(|end| path.ends_with(end));
    !is_public && SECRET.iter().any(|part| path.contains(part))
}

/// Returns whether a path is a device that keeps nothing.
pub(super) fn is_device(path: &str) -> bool {
    DEVICES.contains(&path) || path.starts_with("/dev/fd/")
}

/// Returns an absolute path as one in the folder of the project, if it plainly is.
pub(super) fn in_project<'a>(project: Option<&str>, path: &'a str) -> &'a str {
    let project = project.map(|project| project.trim_end_matches('/')).filter(|project| project.len() > 1);
    match project.and_then(|project| path.strip_prefix(project)) {
        Some("") => ".",
        Some(rest) if rest.starts_with('/') && !rest.starts_with("//") && rest.len() > 1 => &rest[1..],
        _ => path,
    }
}
