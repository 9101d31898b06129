//! What only the host of a permission can find out, by a look at the file system: whether a change replaces a text that it
//! does not show (`replaced.rs`), what the file of a plan says, and where links lead. Pure: the host looks ([`Files`]).

use std::path::Path;

use super::{
    assess::{assess, assess_links, raise},
    files::Files,
    replaced::with_replaced,
};
use crate::{
    limits,
    question::{Purpose, Question, Risk},
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
    let steps: [Step; 4] = [by_real_folder, with_plan, assess_links, with_replaced];
    let found =
        steps.into_iter().fold(None, |found, step| step(found.as_ref().unwrap_or(question), files).or(found));
    // Only the steps know the folder by another name.
    found.map(|found| Question { project: question.project.clone(), ..found })
}

/// Returns the permission with the real name of its folder, where it is plain by that: an agent that was started through a
/// link names its files by where the link leads.
fn by_real_folder(question: &Question, files: &dyn Files) -> Option<Question> {
    // What the agent marks itself is dangerous: of what acts, only the rest of the request decides.
    let project = question.project.as_deref().filter(|_| question.risk() == Risk::Acts)?;
    let real = files.resolve(Path::new(project))?;
    let real = real.to_str().filter(|real| *real != project)?.to_owned();
    let mut question = Question { project: Some(real.into()), dangerous: false, ..question.clone() };
    assess(&mut question);
    (question.risk() == Risk::Plain).then_some(question)
}

/// Returns the permission to run a command that only looks with the risk of other commands. `None` for any other question.
pub fn as_acting(question: &Question) -> Option<Question> {
    let has_command = question.subject.as_deref().is_some_and(|subject| subject.command.is_some());
    if question.purpose != Purpose::Permission || question.risk() != Risk::Plain || !has_command {
        return None;
    }
    let mut question = question.clone();
    raise(&mut question, Risk::Acts, "it runs a command");
    Some(question)
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::{Value as Json, json};

    use super::*;
    use crate::question::Origin;

    struct Fake;

    impl Files for Fake {
        /// `/l` is a link to `/p`.
        fn resolve(&self, path: &Path) -> Option<PathBuf> {
            Some(path.strip_prefix("/l").map_or_else(|_| path.to_owned(), |rest| Path::new("/p").join(rest)))
        }

        fn has_other_names(&self, _: &Path) -> bool {
            false
        }

        fn size(&self, path: &Path) -> Option<u64> {
            match path.file_name()?.to_str()? {
                "old" | "locked" => Some(5),
                "empty" | "new" | "old:1" => Some(0),
                _ => None,
            }
        }

        fn contents(&self, path: &Path, _most: usize) -> Option<String> {
            (path.file_name()? == "old").then(|| "text\r\nmore\n".to_owned())
        }

        fn text(&self, path: &Path, _most: usize) -> Result<String, &'static str> {
            if path.ends_with("plan.md") { Ok("# P".to_owned()) } else { Err("which cannot be read") }
        }
    }

    fn looked(subject: &Json) -> Question {
        looked_in("/p", subject)
    }

    fn looked_in(project: &str, subject: &Json) -> Question {
        let mut question = Question {
            purpose: Purpose::Permission,
            subject: Some(serde_json::from_value(subject.clone()).expect("a subject")),
            project: Some(project.into()),
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
            ("old", Some("text\nmore"), None, Risk::Plain, false),
            ("old", Some("other"), None, Risk::Acts, false),
            ("old", Some(" "), None, Risk::Acts, true),
            ("old", Some("\n\t"), None, Risk::Acts, true),
            ("old", Some("\u{feff}"), None, Risk::Acts, true),
            ("old", Some("\u{200b}"), None, Risk::Acts, true),
            ("old:1", Some(""), None, Risk::Acts, true),
            ("old:1", Some("other"), None, Risk::Acts, false),
            ("old:1", Some("text"), None, Risk::Plain, false),
            ("new", Some(""), None, Risk::Plain, false),
            ("new", Some("text"), None, Risk::Plain, false),
            ("/p/new", None, None, Risk::Plain, false),
            ("empty", None, None, Risk::Plain, false),
            ("hidden", None, None, Risk::Acts, false),
            ("locked", Some("text"), None, Risk::Acts, false),
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
    fn a_session_that_was_opened_through_a_link_knows_the_real_names_of_its_files() {
        let edit = |path: &str, old: Option<&str>| json!({ "kind": "edit", "diffs": [{ "path": path, "line": 1, "old": old, "new": "n" }] });
        let run =
            |command: &str, folder: &str| json!({ "kind": "execute", "command": command, "folder": folder });
        for (subject, risk) in [
            (edit("/p/old", Some("text")), Risk::Plain),
            (edit("/l/old", Some("text")), Risk::Plain),
            (edit("old", Some("text")), Risk::Plain),
            (edit("/p/new", None), Risk::Plain),
            (edit("/p/old", Some("other")), Risk::Acts),
            (edit("/p/old", None), Risk::Acts),
            (edit("/p/.envrc", Some("text")), Risk::Acts),
            (edit("/p/../etc/x", None), Risk::Acts),
            (edit("/q/old", Some("text")), Risk::Acts),
            (run("cat /p/a", "/p"), Risk::Plain),
            (run("cat /l/a", "/l"), Risk::Plain),
            (run("cat /q/a", "/p"), Risk::Acts),
            (run("make", "/p"), Risk::Acts),
            (run("rm /p/a", "/p"), Risk::Dangerous),
        ] {
            let question = looked_in("/l", &subject);
            assert_eq!(question.risk(), risk, "{subject}: {:?}", question.risk_reason);
            assert_eq!((question.project.as_deref(), question.dangerous), (Some("/l"), risk.is_guarded()));
        }
        // What the agent itself calls dangerous stays so.
        let mut marked = Question { dangerous: true, ..looked_in("/l", &edit("/p/old", Some("text"))) };
        assess(&mut marked);
        assert!(look(&marked, &Fake).is_none() && marked.risk() == Risk::Dangerous);
    }

    /// A later change may be one of what an earlier one wrote.
    #[test]
    fn changes_of_one_file_are_looked_at_in_their_order() {
        for (changes, risk) in [
            (json!([["text", "new"], ["new", "newer"]]), Risk::Plain),
            (json!([["text", "new"], ["text", "newer"]]), Risk::Acts),
            (json!([["text", "new"], ["", "newer"]]), Risk::Acts),
            (json!([["text", "new"], ["more", "less"]]), Risk::Plain),
        ] {
            let diff =
                |change: &Json| json!({ "path": "old", "line": 1, "old": change[0], "new": change[1] });
            let diffs: Vec<_> = changes.as_array().into_iter().flatten().map(diff).collect();
            let question = looked(&json!({ "kind": "edit", "diffs": diffs }));
            assert_eq!(question.risk(), risk, "{changes}: {:?}", question.risk_reason);
        }
    }

    #[test]
    fn a_patch_that_replaces_a_file_is_no_addition() {
        for (patch, risk) in [
            ("--- /dev/null\n+++ b/old\n@@ -0,0 +1 @@\n+z\n", Risk::Acts),
            ("--- a/old\n+++ b/old\n@@ -0,0 +1 @@\n+z\n", Risk::Acts),
            ("--- a/old\n+++ b/old\n@@ -1 +1 @@\n-other\n+z\n", Risk::Acts),
            ("--- a/old\n+++ b/old\n@@ -1,2 +1,2 @@\n-text\n+z\n more\n", Risk::Plain),
            ("--- a/old\n+++ b/old\n@@ -1,0 +2 @@\n+z\n", Risk::Plain),
            ("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+z\n", Risk::Plain),
            ("--- /dev/null\n+++ b/hidden\n@@ -0,0 +1 @@\n+z\n", Risk::Acts),
        ] {
            let question = looked(&json!({ "kind": "edit", "patch": patch }));
            assert_eq!(question.risk(), risk, "{patch}: {:?}", question.risk_reason);
        }
    }

    #[test]
    fn a_command_that_only_looks_acts_if_the_user_wants_it() {
        let looks = looked(&json!({ "kind": "execute", "command": "git status" }));
        assert_eq!((looks.risk(), looks.dangerous), (Risk::Plain, false));
        let acting = as_acting(&looks).expect("a command");
        assert_eq!((acting.risk(), acting.dangerous, acting.risk_of_kind), (Risk::Acts, true, true));
        for other in [
            json!({ "kind": "execute", "command": "make" }),
            json!({ "kind": "execute", "command": "rm x" }),
            json!({ "kind": "read", "locations": ["a"] }),
        ] {
            assert!(as_acting(&looked(&other)).is_none(), "{other}");
        }
    }

    #[test]
    fn a_reason_that_says_no_more_than_the_kind_of_the_tool_is_known() {
        for (subject, of_kind) in [
            (json!({ "kind": "execute", "command": "make" }), true),
            (json!({ "kind": "Execute", "command": "make" }), true),
            (json!({ "kind": "command", "command": "make" }), true),
            (json!({ "command": "make" }), true),
            (
                json!({ "kind": "fetch", "title": "a page", "rawInput": r#"{"url":"https://a.example/"}"# }),
                true,
            ),
            (json!({ "kind": "execute", "command": "git status" }), false),
            (json!({ "kind": "execute", "command": "rm x" }), false),
            (json!({ "kind": "execute" }), false),
            (json!({ "kind": "think", "command": "make" }), false),
            (json!({ "kind": "edit", "diffs": [{ "path": "/etc/old", "line": 1, "new": "n" }] }), false),
        ] {
            let question = looked(&subject);
            assert_eq!(question.risk_of_kind, of_kind, "{subject}: {:?}", question.risk_reason);
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
