//! A project on the disk, with files and links inside and outside of it, and the rules of its person.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
};

use askbridge_control::inbox::real_files::RealFiles;
use askbridge_core::{
    desk::{Record, Submission, Timestamp},
    question::{Question, Role, Value},
};
use askbridge_settings::{
    Settings, SettingsFile, Sources,
    rule::{RuleEffect, explain},
};

/// The folder of a session, with what is around it.
pub(crate) struct Project {
    _kept: tempfile::TempDir,
    root: PathBuf,
}

impl Project {
    /// Makes what these lines say: `dir PATH`, `file PATH`, and `link PATH -> TARGET` or, as a second name of a file,
    /// `hard PATH -> TARGET`. Other lines are no files.
    pub(crate) fn new(lines: &str) -> Self {
        let kept = tempfile::tempdir().expect("a folder");
        let root = kept.path().canonicalize().expect("a folder");
        let project = Project { _kept: kept, root };
        fs::create_dir_all(project.path("PROJECT")).expect("a folder");
        for line in lines.lines() {
            project.make(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
        project
    }

    fn make(&self, line: &str) -> std::io::Result<()> {
        let Some((what, path)) = line.split_once(' ') else { return Ok(()) };
        let parent = |path: &str| fs::create_dir_all(Path::new(path).parent().expect("a parent"));
        match (what, path.split_once(" -> ")) {
            ("dir", _) => fs::create_dir_all(self.path(path)),
            ("file", _) => parent(&self.path(path)).and_then(|()| fs::write(self.path(path), "a\n")),
            ("link", Some((link, target))) => {
                parent(&self.path(link)).and_then(|()| symlink(self.path(target), self.path(link)))
            }
            ("hard", Some((link, target))) => {
                parent(&self.path(link)).and_then(|()| fs::hard_link(self.path(target), self.path(link)))
            }
            _ => Ok(()),
        }
    }

    /// Returns a text with the places of this project in it.
    pub(crate) fn path(&self, text: &str) -> String {
        let root = self.root.to_str().expect("Unicode");
        text.replace("PROJECT", &format!("{root}/project")).replace("OUTSIDE", &format!("{root}/outside"))
    }

    /// Returns the folder of the session.
    pub(crate) fn folder(&self) -> String {
        self.path("PROJECT")
    }
}

/// Returns the settings of a person whose file has this text.
pub(crate) fn settings(text: &str) -> Settings {
    let file =
        SettingsFile { path: "config.toml".into(), text: text.to_owned(), is_readable_by_others: false };
    Settings::of(Sources { user: Some(file), ..Sources::default() })
}

/// Returns what is wrong in the settings.
pub(crate) fn problems(settings: &Settings) -> Vec<String> {
    settings.problems().iter().map(ToString::to_string).collect()
}

/// Returns whether the rules allow a permission this time, or why they do not.
pub(crate) fn decided(settings: &Settings, question: Question) -> Result<(), String> {
    let record = Record::new("b-1".parse().expect("an ID"), Arc::new(question), Timestamp::default());
    let explained = explain(settings.rules(), &record, &RealFiles);
    match explained.decision.map(|decision| decision.what) {
        Some(RuleEffect::Submit(Submission::Answer { answer, .. })) => {
            let chosen = |value: &String| {
                let mut options = record.question.fields.iter().flat_map(|field| field.kind.options());
                options.find(|option| option.value == *value).and_then(|option| option.role.as_deref())
            };
            match answer.values.values().next() {
                Some(Value::Text(value)) if chosen(value) == Some(&Role::AllowOnce) => Ok(()),
                other => Err(format!("it answers {other:?}")),
            }
        }
        Some(other) => Err(format!("{other:?}")),
        None => Err(explained.passed.into_iter().map(|passed| passed.why).collect::<Vec<_>>().join("; ")),
    }
}
