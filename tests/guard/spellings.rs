//! Spellings of the files that do something by themselves: whatever the file system takes for one of them is not plain. The
//! judge is the file system, by the number of the file.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use askbridge_core::question::Risk;
use proptest::{prelude::*, sample::select, test_runner::FileFailurePersistence};

use crate::guard::asked::asked;
use crate::guard::project::Project;
use crate::guard::shapes::changes;

/// The files, each with whether it gives the agent rights.
const FILES: [(&str, bool); 8] = [
    (".git/hooks/pre-commit", false),
    (".claude/settings.json", true),
    (".vscode/tasks.json", false),
    (".envrc", false),
    (".github/workflows/ci.yml", false),
    ("CLAUDE.md", false),
    ("web/.husky/pre-push", false),
    ("web/.mcp.json", true),
];

/// Other names of them, as links lead there; and files that only seem to be among them.
const OTHERS: [&str; 12] = [
    "git/hooks/pre-commit",
    "agent/settings.json",
    "notes.md",
    "chain.md",
    "same.md",
    "far/.husky/pre-push",
    "here/.envrc",
    "src/web/.mcp.json",
    "src/a.rs",
    "src/pre-commit.rs",
    "web/CLAUDE.rs",
    "src/config",
];

const TREE: &str = "link PROJECT/git -> .git\nlink PROJECT/agent -> PROJECT/.claude\n\
    link PROJECT/notes.md -> .claude/settings.json\nlink PROJECT/chain.md -> notes.md\n\
    link PROJECT/here -> .\nlink PROJECT/far -> web\nlink PROJECT/src/web -> ../web\nlink PROJECT/web/up -> ..\n\
    file PROJECT/src/a.rs\nfile PROJECT/src/config\nfile PROJECT/src/pre-commit.rs\nfile PROJECT/web/CLAUDE.rs";

fn project() -> Project {
    let files: String = FILES.iter().map(|(file, _)| format!("file PROJECT/{file}\n")).collect();
    Project::new(&format!("{files}hard PROJECT/same.md -> PROJECT/.envrc\n{TREE}"))
}

/// What leads back to the folder of the project, or spells a path in more words.
const DETOURS: [&str; 10] = [
    "./",
    "here/",
    "here/here/./",
    "web/up/",
    "src/../",
    "web/../",
    "src/web/../",
    "agent/../",
    "PROJECT/",
    "PROJECT/../project/",
];

/// Returns a path that begins with a detour, and has more in its middle.
fn spelled(path: &str, detours: &[&str], middle: &str) -> String {
    let absolute = detours.iter().rposition(|detour| detour.starts_with("PROJECT"));
    let detours = &detours[absolute.unwrap_or_default()..];
    format!("{}{}", detours.concat(), path.replacen('/', middle, 1))
}

/// Returns the file that a path leads to, with whether it gives the agent rights. `None` if it is none of them.
fn is_active(project: &Project, spelled: &str) -> Option<bool> {
    let number = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let folder = project.folder();
    let reached = number(&Path::new(&folder).join(project.path(spelled)))?;
    let found = FILES.iter().find(|(file, _)| number(&Path::new(&folder).join(file)) == Some(reached));
    found.map(|(_, gives_rights)| *gives_rights)
}

fn check(project: &Project, spelled: &str, shape: usize) -> Result<bool, TestCaseError> {
    let shapes = changes(spelled);
    let line = project.path(&shapes[shape % shapes.len()]);
    let question = asked(&line, &project.folder()).expect("a permission");
    let (risk, why) = (question.risk(), question.risk_reason.unwrap_or_default());
    let is_plainly_named = !spelled.contains("..") && !spelled.contains("/./");
    match is_active(project, spelled) {
        Some(true) => prop_assert!(risk == Risk::Dangerous, "{risk} ({why}): {line}"),
        Some(false) => prop_assert!(risk != Risk::Plain, "{risk} ({why}): {line}"),
        // Some shapes do not show what the file had before.
        None if is_plainly_named => {
            prop_assert!(risk == Risk::Plain || why.contains("it replaces"), "{risk} ({why}): {line}");
        }
        None => {}
    }
    Ok(is_active(project, spelled).is_some())
}

#[test]
fn no_spelling_of_a_file_that_does_something_by_itself_is_plain() {
    let project = project();
    let paths: Vec<_> = FILES.iter().map(|(file, _)| *file).chain(OTHERS).collect();
    // Each of them is what this file says it is.
    let count = paths.iter().filter(|path| is_active(&project, path).is_some()).count();
    assert_eq!(count, FILES.len() + 8);
    let detours = proptest::collection::vec(select(&DETOURS[..]), 0..4);
    let input = (select(paths), detours, select(&["/", "//", "/./"][..]), any::<usize>());
    let seeds = FileFailurePersistence::WithSource("seeds");
    let config = ProptestConfig { cases: 1500, ..ProptestConfig::with_failure_persistence(seeds) };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let ran = runner.run(&input, |(path, detours, middle, shape)| {
        let spelled = spelled(path, &detours, middle);
        check(&project, &spelled, shape).map(drop)
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
}
