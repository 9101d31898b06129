//! Where a word of a command leads, if it is a path: by its text alone. Links are left to the kernel.

use super::argument::{OPEN, TAME};

/// Folders for files that nobody keeps.
const PASSING: [&str; 3] = ["/tmp/", "/var/tmp/", "/private/tmp/"];

/// Devices that keep nothing.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "-"];

/// Returns whether a word is no path that leads out of the folder of a command.
pub(super) fn is_inside(word: &str) -> bool {
    let is_path = |path: &str| {
        !path.starts_with(['/', '~'])
            && !path.starts_with("\\\\")
            && !path.contains(OPEN)
            && !path.contains(TAME)
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

/// Returns whether the one address among these words is that of this machine.
pub(super) fn is_here<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    const HERE: [&str; 4] = ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"];
    const ELSEWHERE: [&str; 6] = ["-x", "--proxy", "--resolve", "--connect-to", "--preproxy", "--socks"];
    const VALUES: [&str; 12] = ["-o", "-d", "-H", "-F", "-A", "-e", "-u", "-X", "-T", "-w", "-b", "--"];
    let (mut addresses, mut before) = (0, "");
    for word in words {
        if ELSEWHERE.iter().any(|option| word.starts_with(option))
            || word.contains(OPEN)
            || word.contains(TAME)
        {
            return false;
        }
        let host = word.split_once("://").map(|(_, rest)| rest);
        let here = host.unwrap_or(word);
        let is_ours = HERE.iter().any(|name| {
            let rest = here.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']) && !is_kept_behind(rest))
        });
        // A user, or a second host, may stand before an `@`.
        if is_ours && !here.contains('@') {
            addresses += 1;
        } else if host.is_some() || is_host(word) && !VALUES.iter().any(|option| before.starts_with(option)) {
            return false;
        }
        before = word;
    }
    addresses == 1
}

/// Returns whether a port is that of a database, or of another service that keeps what it is sent.
fn is_kept_behind(rest: &str) -> bool {
    const PORTS: [&str; 18] = [
        "2375", "2376", "2379", "4001", "5432", "5984", "6333", "6379", "7474", "8001", "8086", "8123",
        "8200", "8500", "9200", "9300", "15672", "27017",
    ];
    let port = rest.strip_prefix(':').and_then(|rest| rest.split(['/', '?']).next());
    port.is_some_and(|port| PORTS.contains(&port))
}

/// Returns whether two words search the files of the person, or of the system, for secrets.
pub(super) fn seeks_secrets<'a>(words: impl Iterator<Item = &'a str> + Clone) -> bool {
    const SECRETS: [&str; 17] = [
        "password",
        "passwd",
        "secret",
        "token",
        "api_key",
        "apikey",
        "api-key",
        "aws_",
        "private_key",
        "private key",
        "credential",
        "id_rsa",
        "id_ed25519",
        "id_*",
        ".pem",
        ".netrc",
        "begin openssh",
    ];
    let is_personal = |word: &str| {
        let word = if word == "/" { word } else { word.trim_end_matches('/') };
        matches!(word, "~" | "/" | "/etc" | "/home" | "/root" | "/Users" | "/var" | "/proc")
            || word.starts_with("~/.")
            || word.strip_prefix("/home/").is_some_and(|rest| !rest.contains('/') || rest.contains("/."))
    };
    words.clone().any(is_personal)
        && words.map(str::to_lowercase).any(|word| SECRETS.iter().any(|part| word.contains(part)))
}

/// Returns whether a word may be the address of a machine.
fn is_host(word: &str) -> bool {
    let is_part = |char: char| char.is_ascii_alphanumeric() || ".-_:@/".contains(char);
    word.contains('.') && !word.starts_with(['-', '.', '/', '@']) && word.chars().all(is_part)
}

/// Returns whether a path is for files that nobody keeps.
pub(super) fn is_passing(path: &str) -> bool {
    let is_below = |folder: &str| path.starts_with(folder);
    PASSING.into_iter().any(is_below) && !path.contains(OPEN) && !path.split('/').any(|part| part == "..")
}

/// Returns whether a folder is plainly one of the system, or of the person's own.
pub(super) fn is_far(folder: &str) -> bool {
    const SYSTEM: [&str; 7] = ["/etc", "/usr", "/opt", "/var/lib", "/bin", "/boot", "/root"];
    let folder = folder.trim_end_matches('/');
    matches!(folder, "" | "~" | "/home" | "/Users" | "/var")
        || SYSTEM.iter().any(|system| {
            folder.strip_prefix(system).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}

/// Returns whether a program is named as one that is installed.
pub(super) fn is_of_system(program: &str) -> bool {
    // What the project has installed for itself counts as well.
    const FOLDERS: [&str; 7] = [
        "/bin/",
        "/usr/bin/",
        "/usr/local/bin/",
        ".venv/bin/",
        "venv/bin/",
        "node_modules/.bin/",
        "vendor/bin/",
    ];
    let name = FOLDERS.iter().find_map(|folder| program.strip_prefix(folder)).unwrap_or(program);
    !name.contains(['/', '\\']) && !name.contains(OPEN)
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

/// Ends of files that have a key.
const KEYS: [&str; 8] = [".pem", ".key", ".p12", ".pfx", ".jks", ".kdbx", ".ppk", ".keystore"];

/// Returns whether a path plainly names a file with secrets of a person.
pub(super) fn is_secret(path: &str) -> bool {
    let is_public = [".pub", "/known_hosts", "/.ssh/config", "/.ssh/"].iter().any(|end| path.ends_with(end));
    let is_environment =
        path.starts_with("/proc/") && path.ends_with("/environ") && path != "/proc/self/environ";
    let is_key = KEYS.iter().any(|end| path.ends_with(end))
        && ["~/", "/home/", "/root/", "/Users/", "/etc/ssl/private/"].iter().any(|at| path.starts_with(at));
    is_environment || is_key || !is_public && SECRET.iter().any(|part| path.contains(part))
}

/// Returns whether a path plainly names a folder with secrets of a person.
pub(super) fn has_secrets(path: &str) -> bool {
    const FOLDERS: [&str; 7] =
        ["/.ssh", "/.aws", "/.gnupg", "/.kube", "/.docker", "/.config/gh", "/.password-store"];
    let path = path.trim_end_matches('/');
    (path.starts_with('~') || path.starts_with("/home/") || path.starts_with("/root/"))
        && FOLDERS.iter().any(|folder| path.ends_with(folder))
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
