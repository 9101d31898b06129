//! Finds a program by its name.

use std::{collections::BTreeMap, sync::LazyLock};

use super::{
    read,
    row::{By, Effect, Row},
};
use crate::guard::argument::is_like;

/// The tables.
pub(super) const TABLES: [&str; 11] = [
    include_str!("tables/any.txt"),
    include_str!("tables/builders.txt"),
    include_str!("tables/code.txt"),
    include_str!("tables/data.txt"),
    include_str!("tables/files.txt"),
    include_str!("tables/git.txt"),
    include_str!("tables/machines.txt"),
    include_str!("tables/runners.txt"),
    include_str!("tables/services.txt"),
    include_str!("tables/shells.txt"),
    include_str!("tables/system.txt"),
];

static PROGRAMS: LazyLock<BTreeMap<&'static str, &'static Row>> = LazyLock::new(|| {
    let rows = TABLES.iter().flat_map(|table| read::read(table).0);
    // The tables live as long as the program, so that a row can be referred to.
    rows.map(|row| &*Box::leak(Box::new(row)))
        .flat_map(|row| row.names.iter().map(move |name| (*name, row)))
        .collect()
});

/// Returns what is known of a program.
pub(in crate::guard) fn row(program: &str) -> Option<&'static Row> {
    let name = name(program);
    named(&name).or_else(|| {
        // `mkfs.ext4` is an mkfs, `python3.12` and `perl5.36-x86_64-linux-gnu` are interpreters.
        let stem = name.split('.').next().unwrap_or_default();
        let bare = stem.split(|char: char| char.is_ascii_digit()).next().unwrap_or_default();
        let bare = bare.trim_end_matches(['-', '_']);
        let is_long = |name: &&str| name.len() > 1;
        [stem, bare].into_iter().filter(is_long).find_map(named).filter(|row| row.looks.is_none())
    })
}

/// What holds for programs that are not known.
static ANY: LazyLock<Option<&'static Row>> = LazyLock::new(|| named("*"));

/// Returns what holds for programs that are not known.
pub(in crate::guard) fn any() -> Option<&'static Row> {
    #[cfg(test)]
    if let Some(row) = INSTEAD.with_borrow(|rows| rows.get("*").copied()) {
        return Some(row);
    }
    *ANY
}

/// Returns what a program that is not known may do by its own name, unless its words ask it to say only what it would do.
pub(in crate::guard) fn deed<'w>(
    program: &str,
    mut words: impl Iterator<Item = &'w str>,
) -> Option<&'static str> {
    let any = any()?;
    let name = name(program);
    let stem = name.rsplit_once('.').map_or(&*name, |(stem, _)| stem);
    // Scripts are named with both signs, and programs with dashes.
    let is_script = stem.len() < program.len();
    let stem = if is_script { stem.replace('_', "-") } else { stem.to_owned() };
    let found = any.words.iter().find(|row| is_like(&stem, row.name))?;
    let is_dry = |word| any.options.iter().any(|row| row.effect == Effect::Dry && row.name == word);
    (found.effect == Effect::Harm && !words.any(is_dry)).then_some(found.why)
}

#[cfg(test)]
std::thread_local! {
    /// Rows that stand in the place of those of the tables.
    static INSTEAD: std::cell::RefCell<BTreeMap<&'static str, &'static Row>> = std::cell::RefCell::default();
}

/// Lets these rows stand in the place of those of the tables, in this thread.
#[cfg(test)]
pub(super) fn instead(rows: Vec<Row>) {
    let rows = rows.into_iter().map(|row| &*Box::leak(Box::new(row)));
    let rows = rows.flat_map(|row| row.names.iter().map(move |name| (*name, row))).collect();
    INSTEAD.with_borrow_mut(|instead| *instead = rows);
}

/// Returns whether a program is a shell, whose first word is a file of commands.
pub(in crate::guard) fn is_shell(program: &str) -> bool {
    row(program).is_some_and(|row| row.by == Some(By::Shell))
}

/// Returns whether a program is the client of a database, whose input has statements.
pub(in crate::guard) fn is_sql(program: &str) -> bool {
    row(program).is_some_and(|row| row.by == Some(By::Sql))
}

/// Returns what is known of a program by exactly this name.
pub(in crate::guard) fn named(name: &str) -> Option<&'static Row> {
    #[cfg(test)]
    if let Some(row) = INSTEAD.with_borrow(|rows| rows.get(name).copied()) {
        return Some(row);
    }
    PROGRAMS.get(name).copied()
}

/// Returns the name of a program in small letters, without its folder, its version behind an `@`, and the file extension of
/// Windows.
pub fn name(program: &str) -> String {
    // On file systems that ignore case, `RM` runs `rm`; in zsh, `=rm` is its path.
    let file = program.rsplit(['/', '\\']).next().unwrap_or_default().trim_start_matches('=');
    let file = file.split_once('@').map_or(file, |(name, _)| if name.is_empty() { file } else { name });
    let file = file.to_ascii_lowercase();
    match [".exe", ".cmd", ".bat", ".com", ".ps1"].iter().find_map(|end| file.strip_suffix(end)) {
        Some(name) => name.to_owned(),
        None => file,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_line_of_the_tables_is_understood() {
        for table in TABLES {
            assert_eq!(read::read(table).1, [""; 0]);
        }
    }

    #[test]
    fn every_program_stands_once_in_the_tables() {
        let mut names = BTreeSet::new();
        for row in TABLES.iter().flat_map(|table| read::read(table).0) {
            for name in row.names {
                assert!(names.insert(name), "{name}");
            }
        }
        assert!(names.len() > 500, "{}", names.len());
    }

    #[test]
    fn a_program_is_known_by_its_name_with_a_version() {
        for (program, known) in [
            ("python3.12", "python"),
            ("/usr/bin/perl5.36-x86_64-linux-gnu", "perl"),
            ("lua5.4", "lua"),
            ("node18", "node"),
            ("RM.EXE", "rm"),
            ("=rm", "rm"),
            ("mkfs.ext4", "mkfs"),
            ("rimraf@5", "rimraf"),
            ("md5sum", "md5sum"),
        ] {
            assert!(row(program).is_some_and(|row| row.names.contains(&known)), "{program}");
        }
        for program in ["cat1", "x", "s9", "", ".", "3", "ls2"] {
            assert!(row(program).is_none_or(|row| row.names.contains(&program)), "{program}");
        }
    }
}
