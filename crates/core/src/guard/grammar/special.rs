//! Programs whose words have rules of their own.

use super::{found::Found, row::By, walk::Walk};
use crate::guard::{
    degree::{Danger, Degree, Judged},
    places, scripts, sql,
};

impl Walk<'_, '_> {
    /// Goes through the words of such a program. `None` if the usual rules hold as well.
    pub(super) fn special(&mut self, from: usize) -> Result<Option<Degree>, Danger> {
        let walk = self;
        match walk.row.by {
            Some(By::Shell) => shell(walk, from).map(Some),
            Some(By::Find) => find(walk, from).map(Some),
            Some(By::Sed | By::Awk) => script(walk, from).map(Some),
            Some(By::Cd) => cd(walk, from).map(Some),
            Some(By::Emulate) => emulate(walk, from).map(Some),
            Some(By::Assignments) => assignments(walk, from).map(|()| None),
            Some(By::Let) => computed(walk, from).map(|()| None),
            Some(By::Checkout) => {
                walk.is_excused = walk.arguments.len() == from + 1 && is_branch(&walk.arguments[from].text);
                Ok(None)
            }
            Some(By::Chmod) => {
                const MODES: [&str; 3] = ["+x", "u+x", "a+x"];
                let words = &walk.arguments[from..];
                let is_inside = |at: usize| places::is_inside(&walk.arguments[at].text);
                walk.is_excused = words.first().is_some_and(|mode| MODES.contains(&&*mode.text))
                    && (from + 1..walk.arguments.len()).all(is_inside);
                Ok(None)
            }
            Some(By::Cp) => {
                for at in from..walk.arguments.len() {
                    let text = walk.arguments[at].text.clone();
                    if text.starts_with("/dev/") && &*text != "/dev/stdin" {
                        walk.say(
                            at,
                            Some(&text),
                            Found::Harm("is a device: what is copied overwrites disks or files"),
                        )?;
                    }
                }
                Ok(None)
            }
            Some(By::Tar) => tar(walk, from).map(|()| None),
            Some(By::Sql) => {
                walk.is_excused = sql::only_looks(&walk.arguments[from..]);
                Ok(None)
            }
            Some(By::Mongo) => {
                walk.is_excused = sql::only_counts(&walk.arguments[from..]);
                Ok(None)
            }
            Some(By::Dashes | By::Xargs) | None => Ok(None),
        }
    }
}

/// Returns whether a word is plainly the name of a branch, a version or a commit, and not of a file.
fn is_branch(word: &str) -> bool {
    const BRANCHES: [&str; 7] = ["-", "main", "master", "develop", "dev", "trunk", "HEAD"];
    const BELOW: [&str; 12] = [
        "feature/",
        "feat/",
        "fix/",
        "bugfix/",
        "hotfix/",
        "release/",
        "chore/",
        "origin/",
        "upstream/",
        "refactor/",
        "dependabot/",
        "renovate/",
    ];
    let is_version = word.strip_prefix('v').is_some_and(|rest| {
        rest.contains('.') && rest.chars().all(|char| char.is_ascii_digit() || char == '.')
    });
    let is_commit = (7..=40).contains(&word.len())
        && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && word.contains(|char: char| char.is_ascii_digit());
    BRANCHES.contains(&word) || BELOW.iter().any(|below| word.starts_with(below)) || is_version || is_commit
}

/// Shells that run nothing of a file with `-n`, but only look whether it can be read.
const PARSING: [&str; 8] = ["ash", "bash", "dash", "ksh", "mksh", "sh", "yash", "zsh"];

/// A shell: with `-c`, the first word behind its options is a command; else it is a file. With `-s`, or without a word, its
/// input has the commands.
fn shell(walk: &mut Walk<'_, '_>, from: usize) -> Judged {
    let (mut has_command, mut has_input, mut only_parses) = (false, false, false);
    let mut at = from;
    while let Some(argument) = walk.arguments.get(at) {
        let text = argument.text.clone();
        if argument.may_be_option() {
            walk.say(at, Some(&argument.shown()), Found::Unknown)?;
        }
        match &*text {
            "--" | "-" => {
                at += 1;
                break;
            }
            "--version" | "--help" if walk.arguments.len() == from + 1 => return Ok(Degree::Looks),
            "--rcfile" | "--init-file" | "--init-command" | "-C" => {
                walk.say(at, Some(&text), Found::Harm("names commands that run first"))?;
                at += 1;
            }
            "--command" => has_command = true,
            long if long.starts_with("--") => {
                if long.starts_with("--rcfile=") || long.starts_with("--init") {
                    walk.say(at, Some(&text), Found::Harm("names commands that run first"))?;
                }
                if let Some(command) = long.strip_prefix("--command=") {
                    walk.say(at, Some("--command"), Found::Text(command.to_owned()))?;
                    return Ok(Degree::Acts);
                }
            }
            // A sign alone was `-` above: bash goes on behind `+`.
            short if short.starts_with(['-', '+']) => {
                has_command |= short.starts_with('-') && short.contains('c');
                has_input |= short.contains('s');
                only_parses = short == "-n" && at == from && PARSING.contains(&walk.name());
                match short.find(['o', 'O']) {
                    Some(place) if place + 1 == short.len() => at += 1,
                    // In some the letters behind it are options, in others they are its value.
                    Some(_) => {
                        let found = Found::Harm(
                            "has letters behind an option with a value, which each shell reads otherwise",
                        );
                        walk.say(at, Some(&text), found)?;
                    }
                    None => {}
                }
            }
            _ => break,
        }
        at += 1;
    }
    match walk.arguments.get(at) {
        Some(text) if has_command => walk.say(at, Some("-c"), Found::Text(text.text.clone().into_owned()))?,
        Some(_) if only_parses && !has_input => walk.say(at, None, Found::Path(at))?,
        Some(_) if !has_input => walk.say(at, None, Found::Script("shell", at))?,
        _ => walk.say(from, None, Found::Input("shell"))?,
    }
    Ok(walk.degree)
}

/// `emulate` of zsh: behind the name of the shell stands a command, in one of its words. No letter takes what is behind it in
/// the same word.
fn emulate(walk: &mut Walk<'_, '_>, from: usize) -> Judged {
    let mut words = 0;
    for at in from..walk.arguments.len() {
        let argument = &walk.arguments[at];
        if argument.may_be_option() {
            walk.say(at, Some(&argument.shown()), Found::Unknown)?;
        }
        if argument.text.starts_with(['-', '+']) {
            continue;
        }
        if words > 0 {
            walk.say(at, Some("-c"), Found::Text(argument.text.clone().into_owned()))?;
        }
        words += 1;
    }
    Ok(walk.degree.max(Degree::Acts))
}

/// `find`: its tests and actions stand behind the folders.
fn find(walk: &mut Walk<'_, '_>, from: usize) -> Judged {
    const WITH_VALUE: [&str; 34] = [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-iwholename",
        "-regex",
        "-iregex",
        "-lname",
        "-ilname",
        "-type",
        "-xtype",
        "-maxdepth",
        "-mindepth",
        "-newer",
        "-anewer",
        "-cnewer",
        "-size",
        "-mtime",
        "-mmin",
        "-atime",
        "-amin",
        "-ctime",
        "-cmin",
        "-perm",
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-printf",
        "-regextype",
        "-links",
        "-fstype",
        "-used",
    ];
    let mut at = from;
    while let Some(argument) = walk.arguments.get(at) {
        let text = argument.text.clone();
        match &*text {
            "-delete" => walk.say(at, Some("-delete"), Found::Harm("removes the files that it finds"))?,
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let is_end = |at: &usize| matches!(&*walk.arguments[*at].text, ";" | "+");
                let end = (at + 1..walk.arguments.len()).find(is_end).unwrap_or(walk.arguments.len());
                walk.say(at, Some(&text), Found::ForEach(at + 1, end))?;
                at = end;
            }
            "-fls" | "-fprint" | "-fprint0" | "-fprintf" => {
                at += 1;
                let file = walk.arguments.get(at).map(|file| file.text.clone()).unwrap_or_default();
                walk.say(at, Some(&text), Found::Writes(&file))?;
                walk.degree = Degree::Acts;
            }
            option if WITH_VALUE.contains(&option) || option.starts_with("-newer") => at += 1,
            _ if argument.may_be_option() => walk.say(at, Some(&argument.shown()), Found::Unknown)?,
            _ => walk.say(at, None, Found::Path(at))?,
        }
        at += 1;
    }
    Ok(walk.degree)
}

/// `sed` and `awk`: one of their words is a script in a small language.
fn script(walk: &mut Walk<'_, '_>, from: usize) -> Result<Degree, Danger> {
    let words: Vec<String> =
        walk.arguments[from..].iter().map(|word| word.text.clone().into_owned()).collect();
    if let Some(at) = (from..walk.arguments.len()).find(|at| walk.arguments[*at].may_be_option()) {
        walk.say(at, Some(&walk.arguments[at].shown()), Found::Unknown)?;
    }
    let is_sed = walk.row.by == Some(By::Sed);
    let found = if is_sed { scripts::sed(&words) } else { scripts::awk(&words) };
    let Some(found) = found else {
        walk.say(from, None, Found::Harm("runs or writes what its script says"))?;
        return Ok(Degree::Acts);
    };
    let mut before = "";
    for (at, word) in words.iter().enumerate() {
        let glued =
            ["--file=", "-f", "-nf", "-Ef", "-rf", "-nEf"].iter().find_map(|name| word.strip_prefix(name));
        let is_named = before == "--file" || is_sed_bundle(before) && before.ends_with('f');
        let file = if is_named { Some(word.as_str()) } else { glued.filter(|file| !file.is_empty()) };
        if let Some(file) = file {
            walk.say(from + at, Some("-f"), Found::Where(file))?;
        }
        before = word.as_str();
    }
    for at in found.files {
        match found.changes {
            true => walk.say(from + at, None, Found::Writes(&words[at]))?,
            false => walk.say(from + at, None, Found::Path(from + at))?,
        }
    }
    Ok(if found.acts || found.changes { Degree::Acts } else { walk.degree })
}

/// Returns whether a word is one dash with short options of `sed`, of which only the last takes a value.
fn is_sed_bundle(word: &str) -> bool {
    let short = word.strip_prefix('-').unwrap_or_default();
    !short.is_empty() && short.chars().all(|char| "nErsuzf".contains(char))
}

fn cd(walk: &mut Walk<'_, '_>, from: usize) -> Judged {
    let mut words = walk.arguments[from..].iter().filter(|word| !matches!(&*word.text, "--" | "-P" | "-L"));
    let folder = words.next_back().map(|word| word.text.clone());
    walk.say(from, None, Found::Cd(folder.as_deref()))?;
    Ok(walk.degree)
}

fn assignments(walk: &mut Walk<'_, '_>, from: usize) -> Result<(), Danger> {
    for at in from..walk.arguments.len() {
        let word = walk.arguments[at].text.clone();
        if word.contains('=') {
            walk.say(at, None, Found::Assigned(&word))?;
        } else if walk.arguments[at].has_any() {
            walk.say(at, Some(&walk.arguments[at].shown()), Found::Unknown)?;
        }
    }
    Ok(())
}

/// Checks words that are arithmetic, in which a subscript may have a command.
fn computed(walk: &mut Walk<'_, '_>, from: usize) -> Result<(), Danger> {
    for at in from..walk.arguments.len() {
        let word = &walk.arguments[at];
        if word.has_any() || word.text.contains(['[', '$', '`']) {
            walk.say(at, Some(&word.shown()), Found::Harm("is computed, with the commands in it"))?;
        }
    }
    Ok(())
}

/// `tar`: its first word may be options without a dash.
fn tar(walk: &mut Walk<'_, '_>, from: usize) -> Result<(), Danger> {
    let Some(first) = walk.arguments.get(from).map(|word| word.text.clone()) else { return Ok(()) };
    let is_bundle = !first.starts_with("--");
    if is_bundle && first.contains(['I', 'F']) {
        walk.say(from, Some(&first), Found::Harm("names a program that runs"))?;
    }
    let words = &walk.arguments[from..];
    let lists = |text: &str| {
        text == "--list"
            || text == "--to-stdout"
            || (text == &*first || text.starts_with('-'))
                && !text.starts_with("--")
                && text.contains(['t', 'O'])
    };
    if words.iter().any(|word| lists(&word.text)) {
        walk.looks = true;
    }
    if words.iter().any(|word| {
        word.text.split('/').next().is_some_and(|name| name.contains(':') && !name.starts_with('-'))
    }) {
        walk.say(from, None, Found::Harm("reads or writes a file of another machine"))?;
    }
    let makes = is_bundle && first.contains(['c', 'r', 'u', 'A']);
    if let Some(file) = walk.arguments.get(from + 1).filter(|_| makes && first.ends_with('f')) {
        let file = file.text.clone();
        walk.say(from + 1, Some(&first), Found::Writes(&file))?;
    }
    Ok(())
}
