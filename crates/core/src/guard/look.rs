//! What only the host of a permission can find out, by a look at the file system: whether a change replaces a file that
//! it does not show, what the file of a plan says, and where links lead. Pure: the host looks ([`Files`]).

use std::path::Path;

use super::{
    assess::{assess_links, raise},
    files::{self, Files},
};
use crate::{
    limits,
    question::{Purpose, Question, Risk, Subject},
};

/// Returns the question with what one look adds to it. `None` if that is nothing.
type Step = fn(&Question, &dyn Files) -> Option<Question>;

/// Returns the question with what a look at the file system adds to it. `None` if that is nothing.
///
/// It is called where the file system may be accessed, before the question is shown.
pub fn look(question: &Question, files: &dyn Files) -> Option<Question> {
    if question.purpose != Purpose::Permission {
        return None;
    }
    let steps: [Step; 3] = [with_plan, assess_links, with_replaced];
    steps.into_iter().fold(None, |found, step| step(found.as_ref().unwrap_or(question), files).or(found))
}

/// Returns the permission with its plan, or with the reason why the plan is not shown.
fn with_plan(question: &Question, files: &dyn Files) -> Option<Question> {
    let file = question.subject.as_deref().filter(|subject| subject.plan.is_none())?.plan_file.as_deref()?;
    let mut question = question.clone();
    let subject = question.subject.as_deref_mut()?;
    match files.text(Path::new(file), limits::SUBJECT_TEXT) {
        Ok(plan) => {
            subject.plan = Some(plan);
            subject.fit();
        }
        Err(why) => {
            let sentence = format!("the plan is not shown: it is in {file}, {why}");
            raise(&mut question, Risk::Acts, &sentence);
            question.unshown.push(sentence);
        }
    }
    Some(question)
}

/// What is known of a file that a change begins anew.
enum Replaced {
    Nothing,
    Text,
    Unknown,
}

/// Returns the permission with the changes marked that replace a file which they do not show.
fn with_replaced(question: &Question, files: &dyn Files) -> Option<Question> {
    let subject = question.subject.as_deref()?;
    let found = subject.diffs.iter().map(|diff| match diff.old.as_deref() {
        None | Some("") => replaced(question, subject, &diff.path, files),
        Some(_) => Replaced::Nothing,
    });
    let found: Vec<_> = found.collect();
    let first = |wanted: fn(&Replaced) -> bool| found.iter().position(wanted);
    let why = match (first(|it| matches!(it, Replaced::Text)), first(|it| matches!(it, Replaced::Unknown))) {
        (Some(place), _) => {
            format!("it replaces {}, and does not show what is there", subject.diffs[place].path)
        }
        (None, Some(place)) => format!("it is not known whether it replaces {}", subject.diffs[place].path),
        (None, None) => return None,
    };
    let mut question = question.clone();
    let diffs = &mut question.subject.as_deref_mut()?.diffs;
    for (diff, found) in diffs.iter_mut().zip(&found) {
        diff.replaces = matches!(found, Replaced::Text);
    }
    raise(&mut question, Risk::Acts, &why);
    Some(question)
}

fn replaced(question: &Question, subject: &Subject, file: &str, files: &dyn Files) -> Replaced {
    // A file of another environment cannot be looked at from here.
    if subject.environment.is_some() {
        return Replaced::Unknown;
    }
    let project = question.project.as_deref();
    let inside = project.and_then(|project| files::inside(project, file));
    // The risk of a file elsewhere is not plain anyway, but whether it exists is said as well.
    let path = inside.or_else(|| files::is_plain(file).then(|| file.to_owned()));
    match path.and_then(|path| files.size(Path::new(&path))) {
        Some(0) => Replaced::Nothing,
        Some(_) => Replaced::Text,
        None => Replaced::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::{Value as Json, json};

    use super::*;
    use crate::{guard::assess, question::Origin};

    struct Fake;

    impl Files for Fake {
        fn resolve(&self, path: &Path) -> Option<PathBuf> {
            Some(path.to_owned())
        }

        fn has_other_names(&self, _: &Path) -> bool {
            false
        }

        fn size(&self, path: &Path) -> Option<u64> {
            match path.file_name()?.to_str()? {
                "old" => Some(5),
                "empty" | "new" => Some(0),
                _ => None,
            }
        }

        fn text(&self, path: &Path, _most: usize) -> Result<String, &'static str> {
            if path.ends_with("plan.md") { Ok("# P".to_owned()) } else { Err("which cannot be read") }
        }
    }

    fn looked(subject: &Json) -> Question {
        let mut question = Question {
            purpose: Purpose::Permission,
            subject: Some(serde_json::from_value(subject.clone()).expect("a subject")),
            project: Some("/p".into()),
            ..Question::new(Origin::Permission, "q", Vec::new())
        };
        assess(&mut question);
        look(&question, &Fake).unwrap_or(question)
    }

    #[test]
    fn a_change_that_replaces_a_file_is_no_addition() {
        for (path, old, environment, risk, replaces) in [
            ("old", Some(""), None, Risk::Acts, true),
            ("/p/old", None, None, Risk::Acts, true),
            ("old", Some("text"), None, Risk::Plain, false),
            ("new", Some(""), None, Risk::Plain, false),
            ("/p/new", None, None, Risk::Plain, false),
            ("empty", None, None, Risk::Plain, false),
            ("hidden", None, None, Risk::Acts, false),
            ("new", None, Some("prod"), Risk::Acts, false),
            ("/etc/old", None, None, Risk::Acts, true),
        ] {
            let diff = json!({ "path": path, "line": 1, "old": old, "new": "n" });
            let question = looked(&json!({ "kind": "edit", "environment": environment, "diffs": [diff] }));
            let known = (question.risk(), question.subject.as_ref().is_some_and(|it| it.diffs[0].replaces));
            assert_eq!(known, (risk, replaces), "{path} {old:?} {environment:?}: {:?}", question.risk_reason);
        }
    }

    #[test]
    fn the_plan_in_a_file_is_read_or_its_place_is_said() {
        let read = looked(&json!({ "kind": "switch_mode", "planFile": "/h/plan.md" }));
        assert_eq!(read.subject.expect("a subject").plan.as_deref(), Some("# P"));
        let other = looked(&json!({ "kind": "switch_mode", "planFile": "/h/key" }));
        assert_eq!(other.unshown, ["the plan is not shown: it is in /h/key, which cannot be read"]);
        let known = looked(&json!({ "kind": "switch_mode", "plan": "own", "planFile": "/h/plan.md" }));
        assert_eq!(known.subject.expect("a subject").plan.as_deref(), Some("own"));
    }
}
