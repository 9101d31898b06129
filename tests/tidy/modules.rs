//! Which file defines what a path names, through re-exports and from crate to crate.

use std::collections::BTreeMap;

use crate::tidy::paths::{Known, crate_named, module, paths, root_of};
use crate::tidy::source::Source;

/// How many re-exports in a row are followed.
const HOPS: usize = 8;

/// The modules of the workspace. Inline modules count as part of their file.
pub(crate) struct Crate<'a> {
    /// The file of each module.
    files: BTreeMap<Vec<&'a str>, &'a str>,
    /// The names that `use` declarations bring into the scope of each module, and their paths.
    names: BTreeMap<Vec<&'a str>, BTreeMap<String, String>>,
    /// The modules directly below each module, by their names.
    children: BTreeMap<Vec<&'a str>, BTreeMap<&'a str, Vec<&'a str>>>,
    /// The paths that each file names.
    pub(crate) paths: BTreeMap<&'a str, Vec<Known>>,
}

impl<'a> Crate<'a> {
    pub(crate) fn of(sources: &'a [Source]) -> Self {
        let mut files = BTreeMap::new();
        let mut names = BTreeMap::new();
        let mut children: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        let mut known = BTreeMap::new();
        for source in sources {
            let module = module(&source.path);
            files.insert(module.clone(), source.path.as_str());
            if let Some((name, parent)) = module.split_last() {
                children.entry(parent.to_vec()).or_default().insert(*name, module.clone());
            }
            let paths = paths(&source.production);
            let uses = paths.iter().filter_map(|known| Some((known.name.clone()?, known.path.clone())));
            names.insert(module, uses.collect());
            known.insert(source.path.as_str(), paths);
        }
        Crate { files, names, children, paths: known }
    }

    /// Returns the file that defines what a path in this module names. `None` if it is of no crate here.
    pub(crate) fn file_of(&self, path: &str, module: &[&'a str]) -> Option<&'a str> {
        let module = self.resolve(path, module, HOPS)?;
        self.files.get(&module).copied()
    }

    /// Returns the module that defines what a path in this module names.
    fn resolve(&self, path: &str, module: &[&'a str], hops: usize) -> Option<Vec<&'a str>> {
        let segments: Vec<_> = path.split("::").collect();
        let mut rest = segments.as_slice();
        let mut current: Vec<&'a str> = module.to_vec();
        match rest {
            ["crate", ..] => current.truncate(root_of(module)),
            // Another crate of the workspace.
            [first, ..] if of_workspace(first).is_some() => {
                current = of_workspace(first)?;
                rest = &rest[1..];
            }
            ["self" | "super", ..] => {}
            // Neither a child nor an imported name: another crate, or an item of this file.
            [first, ..] if self.child(module, first).is_none() && self.name(module, first).is_none() => {
                return None;
            }
            _ => {}
        }
        while let [segment, behind @ ..] = rest {
            match *segment {
                "crate" | "self" => {}
                "super" => drop(current.pop()?),
                segment => match (self.child(&current, segment), self.name(&current, segment)) {
                    (Some(child), _) => current = child,
                    // A path may begin with a name that this very declaration brings into scope.
                    (None, Some(target)) if hops > 0 && target != path => {
                        let target = [&[target], behind].concat().join("::");
                        return self.resolve(&target, &current, hops - 1);
                    }
                    _ => break,
                },
            }
            rest = behind;
        }
        Some(current)
    }

    fn child(&self, module: &[&'a str], name: &str) -> Option<Vec<&'a str>> {
        self.children.get(module)?.get(name).cloned()
    }

    fn name(&self, module: &[&'a str], name: &str) -> Option<&str> {
        self.names.get(module)?.get(name).map(String::as_str)
    }
}

/// Returns the module at the root of a crate of this workspace.
fn of_workspace(name: &str) -> Option<Vec<&'static str>> {
    if name == "askbridge" { Some(Vec::new()) } else { Some(vec![crate_named(name)?]) }
}

/// Returns whether the path may lead to another file. A lone word does so in a `use` only: the `super` of `pub(super)`
/// does not.
pub(crate) fn is_arrow(known: &Known) -> bool {
    known.name.is_some() || known.path.contains("::")
}
