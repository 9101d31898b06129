//! No cycle between the files of a room: a file can be read and changed with nothing but the files below it in mind.
//! A room is a folder directly under `src` or under the `src` of the core, or another crate. Which rooms may know each other is left to `imports.rs`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::tidy::modules::{Crate, is_arrow};
use crate::tidy::paths::{module, room};
use crate::tidy::source::Source;

#[test]
fn files_of_a_room_have_no_cycle() {
    let sources = Source::all(&["src", "crates"]);
    let rooms: BTreeSet<_> = sources.iter().map(|source| room(&module(&source.path))).collect();
    assert!(rooms.len() > 10, "the rooms are not found: {rooms:?}");
    let modules = Crate::of(&sources);
    let cycles: Vec<_> = rooms.iter().flat_map(|room| cycles(&modules, &sources, room)).collect();
    assert!(
        cycles.is_empty(),
        "\n{}\nMove what both files need into a file that knows neither, or pass it in.\n",
        cycles.join("\n")
    );
}

/// The files of a room that each file of it names, with the first line that does.
fn arrows<'a>(
    modules: &Crate<'a>,
    sources: &'a [Source],
    name: &str,
) -> BTreeMap<&'a str, BTreeMap<&'a str, usize>> {
    let mut arrows: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for source in sources.iter().filter(|source| room(&module(&source.path)) == name) {
        let from = module(&source.path);
        for known in modules.paths[source.path.as_str()].iter().filter(|known| is_arrow(known)) {
            let to = modules.file_of(&known.path, &from);
            // A table of contents does not depend on what it re-exports from the files below it.
            let is_contents = |to: &str| known.exported && module(to).starts_with(&from);
            let to = to.filter(|to| *to != source.path && room(&module(to)) == name && !is_contents(to));
            if let Some(to) = to {
                arrows.entry(source.path.as_str()).or_default().entry(to).or_insert(known.line);
            }
        }
    }
    arrows
}

/// Returns a complaint about each cycle. Of the cycles through one file, the shortest is told.
fn cycles<'a>(modules: &Crate<'a>, sources: &'a [Source], room: &str) -> Vec<String> {
    let arrows = arrows(modules, sources, room);
    let mut told = BTreeSet::new();
    let mut complaints = Vec::new();
    for start in arrows.keys() {
        let Some(cycle) = shortest_cycle(&arrows, start) else { continue };
        let mut files = cycle.clone();
        files.sort_unstable();
        if told.insert(files) {
            let line = arrows[start][cycle.get(1).unwrap_or(start)];
            complaints.push(format!("{start}:{line}: a cycle: {} -> {start}", cycle.join(" -> ")));
        }
    }
    complaints
}

/// Returns the files of the shortest cycle through this one, beginning with it.
fn shortest_cycle<'a>(
    arrows: &BTreeMap<&'a str, BTreeMap<&'a str, usize>>,
    start: &'a str,
) -> Option<Vec<&'a str>> {
    let mut queue = VecDeque::from([vec![start]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = queue.pop_front() {
        for next in way.last().and_then(|last| arrows.get(last)).into_iter().flat_map(BTreeMap::keys) {
            if *next == start {
                return Some(way);
            }
            if seen.insert(*next) {
                queue.push_back([way.as_slice(), &[*next]].concat());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Vec<Source> {
        files.iter().map(|(path, text)| Source::new(path, text)).collect()
    }

    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        let sources = sources(files);
        cycles(&Crate::of(&sources), &sources, "a")
    }

    #[test]
    fn cycle_is_found_with_its_line() {
        let files = [
            ("src/a/mod.rs", "mod b;\nmod c;"),
            ("src/a/b.rs", "use std::fmt;\nuse super::c::C;"),
            ("src/a/c.rs", "use crate::a::b::B;"),
        ];
        assert_eq!(complaints(&files), ["src/a/b.rs:2: a cycle: src/a/b.rs -> src/a/c.rs -> src/a/b.rs"]);
    }

    #[test]
    fn every_spelling_of_a_path_is_an_arrow() {
        let contents = "pub mod b;\nmod c;\npub mod d;\npub use b::B;\npub use d::e::E as Renamed;";
        for (spelling, file) in [
            ("use super::b::B;", "src/a/b.rs"),
            ("use super::{c, b::{self}};", "src/a/b.rs"),
            ("use crate::{a::b::B as X, z};", "src/a/b.rs"),
            ("use super::B;", "src/a/b.rs"),
            ("fn f() { super::b::g() }", "src/a/b.rs"),
            ("fn f() -> crate::a::B {}", "src/a/b.rs"),
            ("use crate::a;\nfn f() { a::b::g() }", "src/a/b.rs"),
            ("use crate::a as z;\nfn f() { z::B::g() }", "src/a/b.rs"),
            ("use super::d;\nfn f() { d::e::g() }", "src/a/d/e.rs"),
            ("use super::Renamed;", "src/a/d/e.rs"),
            ("use super::d::Inner;", "src/a/d/e.rs"),
            ("use self::super::d::e::*;", "src/a/d/e.rs"),
            ("use super::CONSTANT;", "src/a/mod.rs"),
        ] {
            let files = [
                ("src/a/mod.rs", contents),
                ("src/a/b.rs", ""),
                ("src/a/c.rs", spelling),
                ("src/a/d/mod.rs", "pub mod e;\npub use e::Inner;"),
                ("src/a/d/e.rs", ""),
            ];
            let sources = sources(&files);
            let arrows = arrows(&Crate::of(&sources), &sources, "a");
            assert!(arrows["src/a/c.rs"].contains_key(file), "{spelling}: {arrows:?}");
        }
    }

    #[test]
    fn cycle_through_re_exports_and_folders_is_found() {
        let files = [
            ("src/a/mod.rs", "pub mod b;\npub mod d;\npub use b::B;\npub use d::E;"),
            ("src/a/b.rs", "use super::E;"),
            ("src/a/d/mod.rs", "pub mod e;\npub use e::E;"),
            ("src/a/d/e.rs", "fn f(b: crate::a::B) {}"),
        ];
        assert_eq!(complaints(&files), ["src/a/b.rs:1: a cycle: src/a/b.rs -> src/a/d/e.rs -> src/a/b.rs"]);
    }

    #[test]
    fn re_export_of_a_file_beside_is_an_arrow() {
        let files = [
            ("src/a/mod.rs", "pub mod b;\npub mod c;"),
            ("src/a/b.rs", "pub use super::c::C;"),
            ("src/a/c.rs", "use super::b::B;"),
        ];
        assert_eq!(complaints(&files).len(), 1);
    }

    #[test]
    fn code_in_a_mod_file_can_be_part_of_a_cycle() {
        let files = [
            ("src/a/mod.rs", "mod b;\nuse b::B;\npub const METHOD: u8 = 1;"),
            ("src/a/b.rs", "use super::METHOD;"),
        ];
        assert_eq!(complaints(&files).len(), 1);
    }

    #[test]
    fn other_uses_are_no_cycle() {
        for (b, c) in [
            ("use super::c::C;", "use std::fmt; use crate::z::Z;"),
            ("use super::c::C;", "pub(super) fn f() {}\npub(in crate::a) fn g() {}"),
            ("use super::c::C;", "#[cfg(test)]\nmod tests { use super::super::b::B; }"),
            ("use super::c::C;", "// super::b::B\nconst B: &str = \"super::b\";"),
            ("use super::c::C;", "use super::c::C; fn b() { c::C::new() }"),
        ] {
            let contents = "pub mod b;\npub mod c;\npub use b::B;\npub use c::C;";
            let files = [
                ("src/a/mod.rs", contents),
                ("src/a/b.rs", b),
                ("src/a/c.rs", c),
                ("src/z.rs", "use crate::a::b::B;"),
            ];
            assert_eq!(complaints(&files), Vec::<String>::new(), "{b} and {c}");
        }
    }
}
