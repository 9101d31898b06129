//! The conditions of a rule, all of which must hold, and the question that they are compared with. The words of the
//! question's command are split once for all rules. The action of the rule is left to `action.rs`.
//!
//! The conditions of a broken rule still hold questions back for the user: a later rule must not decide what the broken
//! rule would have kept (I12).

use std::{
    cell::OnceCell,
    fmt,
    path::{Path, PathBuf},
};

use askbridge_core::{
    guard::{ActiveFiles, Files, active, command::simple, files, subject},
    question::{Origin, Purpose, Question, Subject},
};

use super::pattern::{self, AnyOf, CommandPattern};

/// The conditions of a rule. An absent one always holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Conditions {
    pub(super) agent: Option<AnyOf>,
    pub(super) project: Option<AnyOf>,
    pub(super) session: Option<AnyOf>,
    pub(super) purpose: Option<Purpose>,
    /// Kinds of tools. The question's kind must be one of them.
    pub(super) tool: Vec<String>,
    pub(super) command: Option<CommandPattern>,
    /// Labels. The question must have an option with each of them.
    pub(super) options: Vec<String>,
    /// Origins. The question's origin must be one of them.
    pub(super) origin: Vec<Origin>,
    pub(super) dangerous: Option<bool>,
}

/// A condition that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailedCondition {
    Agent,
    Project,
    Session,
    Purpose,
    Tool,
    Command,
    Options,
    Origin,
    Dangerous,
}

impl Conditions {
    /// Returns whether there is no condition.
    pub(super) fn is_empty(&self) -> bool {
        *self == Conditions::default()
    }

    /// Returns the first condition that does not hold.
    pub(super) fn missed(&self, asked: &QuestionView<'_>) -> Option<FailedCondition> {
        let question = asked.question;
        let is_like = |pattern: &Option<AnyOf>, text: Option<&str>| {
            pattern.as_ref().is_none_or(|pattern| text.is_some_and(|text| pattern.matches(text)))
        };
        let kind = asked.subject().and_then(|subject| subject.kind.as_ref());
        let is_tool = self.tool.is_empty() || kind.is_some_and(|kind| self.tool.contains(kind));
        let is_command = || match &self.command {
            Some(pattern) => asked.words().is_some_and(|words| pattern.matches(words)),
            None => true,
        };
        // A path with `..` may leave the folder with which it begins, so it matches no pattern.
        let project =
            question.project.as_deref().filter(|folder| self.project.is_none() || files::is_plain(folder));
        // The command comes last, since its words have to be split first.
        if self.purpose.is_some_and(|purpose| purpose != question.purpose) {
            Some(FailedCondition::Purpose)
        } else if !self.origin.is_empty() && !self.origin.contains(&question.origin) {
            Some(FailedCondition::Origin)
        } else if self.dangerous.is_some_and(|dangerous| dangerous != asked.is_guarded()) {
            Some(FailedCondition::Dangerous)
        } else if !is_like(&self.agent, question.agent.as_deref()) {
            Some(FailedCondition::Agent)
        } else if !is_like(&self.project, project) {
            Some(FailedCondition::Project)
        } else if !is_like(&self.session, question.session.as_deref()) {
            Some(FailedCondition::Session)
        } else if !is_tool {
            Some(FailedCondition::Tool)
        } else if !self.options.iter().all(|label| asked.has_label(label)) {
            Some(FailedCondition::Options)
        } else if !is_command() {
            Some(FailedCondition::Command)
        } else {
            None
        }
    }

    /// Explains a failed condition: what it wants, and what the question has.
    pub(super) fn describe(&self, missed: FailedCondition, asked: &QuestionView<'_>) -> String {
        let question = asked.question;
        let has = |name: &str, has: Option<&str>, wanted: Option<&AnyOf>| {
            let wanted = wanted.map(ToString::to_string).unwrap_or_default();
            match has {
                Some(has) => format!("its {name} is \"{has}\", and not {wanted}"),
                None => format!("its {name} is unknown, and the rule wants {wanted}"),
            }
        };
        match missed {
            FailedCondition::Agent => has("agent", question.agent.as_deref(), self.agent.as_ref()),
            FailedCondition::Project => has("project", question.project.as_deref(), self.project.as_ref()),
            FailedCondition::Session => has("session", question.session.as_deref(), self.session.as_ref()),
            FailedCondition::Purpose => {
                format!("it is a {}, and not a {}", question.purpose, name(self.purpose.as_ref()))
            }
            FailedCondition::Tool => {
                let kind = asked.subject().and_then(|subject| subject.kind.as_deref()).unwrap_or("not known");
                format!("the kind of its tool is {kind}, and not {}", self.tool.join(" or "))
            }
            FailedCondition::Command => match (asked.command(), &self.command) {
                (Some(command), Some(pattern)) => {
                    format!(
                        "its command is `{}`, and not {pattern}",
                        command.lines().next().unwrap_or_default()
                    )
                }
                _ => "it has no command".to_owned(),
            },
            FailedCondition::Options => {
                let missing = self.options.iter().find(|label| !asked.has_label(label));
                format!("it has no option with the label {:?}", missing.cloned().unwrap_or_default())
            }
            FailedCondition::Origin => {
                let wanted: Vec<_> = self.origin.iter().map(Origin::name).collect();
                format!("its origin is {}, and not {}", question.origin, wanted.join(" or "))
            }
            FailedCondition::Dangerous if asked.is_guarded() => {
                "its risk is more than plain, and the rule says `dangerous = false`".to_owned()
            }
            FailedCondition::Dangerous => {
                "its risk is plain, and the rule says `dangerous = true`".to_owned()
            }
        }
    }

    /// Checks that the rule names what it would allow: the whole command if one would run, otherwise the kind of tool.
    /// Checks also that the command or the files stay in the folder of the session.
    ///
    /// # Errors
    /// The part that the rule does not name, or that leaves the folder.
    pub(super) fn names(&self, asked: &QuestionView<'_>) -> Result<(), String> {
        let Some(subject) = asked.subject() else {
            return Err("the request does not say what it would do".to_owned());
        };
        let kind = subject.kind.as_deref().map(str::to_lowercase);
        match (&subject.command, &self.command) {
            (Some(_), None) => Err("it would run a command, which the rule does not name".to_owned()),
            (Some(command), Some(pattern)) => {
                // The command is checked as well as the pattern, since a wildcard also matches shell syntax.
                simple(command).map_err(|why| format!("a rule never allows its command: {why}"))?;
                pattern.check_open(asked.words().unwrap_or_default(), asked.question.project.as_deref())?;
                subject::only_its_command(subject, command)?;
                in_project(asked, subject)
            }
            (None, _) if kind.as_deref().is_some_and(runs_commands) => {
                Err("the command that it would run is not known".to_owned())
            }
            (None, _) if self.tool.is_empty() => {
                Err("the rule names neither its command nor its tool".to_owned())
            }
            // These kinds are about no file, so a command or a file in the subject contradicts the kind.
            (None, _) if kind.as_deref().is_some_and(is_of_no_file) => {
                subject::no_command_and_no_file(subject)?;
                subject::only_known_members(subject)
            }
            (None, _) => {
                files_in_project(asked, subject)?;
                subject::only_known_members(subject)?;
                self.names_what_files_do(asked, subject)
            }
        }
    }

    /// Checks that a change stays what the rule names: it changes no file under another name, and a file that programs run
    /// by themselves only if the rule says so.
    fn names_what_files_do(&self, asked: &QuestionView<'_>, subject: &Subject) -> Result<(), String> {
        if !subject::changes_files(subject) {
            return Ok(());
        }
        for file in subject::files(subject)? {
            if asked.has_other_names(&file) {
                return Err(format!("it changes {file}, which has further names elsewhere"));
            }
            match asked.active(&file) {
                Some(row) if self.dangerous != Some(true) => {
                    return Err(format!(
                        "it changes {file}: {}, and the rule does not say `dangerous = true`",
                        row.does
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns whether tools of this kind, in small letters, run commands.
pub(super) fn runs_commands(kind: &str) -> bool {
    matches!(kind, "execute" | "command")
}

fn is_of_no_file(kind: &str) -> bool {
    matches!(kind, "fetch" | "think" | "switch_mode")
}

/// Checks that a command would run in the folder of the session, or below it.
fn in_project(asked: &QuestionView<'_>, subject: &Subject) -> Result<(), String> {
    match subject::folders(subject).iter().find(|folder| !asked.is_inside(folder)) {
        Some(folder) => Err(format!("its command would run in {folder}, which is not in its project")),
        None => Ok(()),
    }
}

/// Checks that the files that a permission is about are in the folder of the session, or below it.
fn files_in_project(asked: &QuestionView<'_>, subject: &Subject) -> Result<(), String> {
    match subject::files(subject)?.iter().find(|file| !asked.is_inside(file)) {
        Some(file) => Err(format!("it is about {file}, which is not in its project")),
        None => Ok(()),
    }
}

fn name(purpose: Option<&Purpose>) -> &str {
    purpose.map_or("", Purpose::name)
}

/// A question, as rules compare it with their conditions.
pub(super) struct QuestionView<'a> {
    pub(super) question: &'a Question,
    words: OnceCell<Option<Vec<String>>>,
    files: &'a dyn Files,
    folder: OnceCell<Option<PathBuf>>,
}

impl<'a> QuestionView<'a> {
    pub(super) fn new(question: &'a Question, files: &'a dyn Files) -> Self {
        QuestionView { question, words: OnceCell::new(), files, folder: OnceCell::new() }
    }

    /// Returns whether a name is plainly that of a file in the folder of the session, and still is after links are
    /// resolved. A number at the end of the name may be a line or a part of the name, so both readings must lead
    /// inside.
    pub(super) fn is_inside(&self, named: &str) -> bool {
        [named, files::without_line(named)].into_iter().all(|named| self.leads_inside(named))
    }

    fn leads_inside(&self, named: &str) -> bool {
        let Some(project) = self.question.project.as_deref() else { return false };
        let Some(path) = files::inside(project, named) else { return false };
        let folder = self.folder.get_or_init(|| self.files.resolve(Path::new(project)));
        let resolved = self.files.resolve(Path::new(&path));
        folder.as_ref().zip(resolved).is_some_and(|(folder, resolved)| resolved.starts_with(folder))
    }

    /// Returns where a name in the folder of the session leads, as an absolute path, with the folder.
    fn place(&self, named: &str) -> Option<(&Path, PathBuf)> {
        let project = self.question.project.as_deref()?;
        let path = files::inside(project, files::without_line(named))?;
        let folder = self.folder.get_or_init(|| self.files.resolve(Path::new(project)));
        folder.as_deref().zip(self.files.resolve(Path::new(&path)))
    }

    fn has_other_names(&self, named: &str) -> bool {
        self.place(named).is_some_and(|(_, place)| self.files.has_other_names(&place))
    }

    fn active(&self, named: &str) -> Option<&'static ActiveFiles> {
        let by_name = active(self.question.project.as_deref().unwrap_or_default(), named);
        let by_place = || {
            let (folder, place) = self.place(named)?;
            active(&folder.to_string_lossy(), &place.to_string_lossy())
        };
        by_name.or_else(by_place)
    }

    /// Returns whether it risks something, or runs a command: a rule has to say so, even of one that only looks.
    fn is_guarded(&self) -> bool {
        self.question.dangerous || self.command().is_some()
    }

    /// Returns the subject of a permission.
    pub(super) fn subject(&self) -> Option<&'a Subject> {
        self.question.subject.as_deref()
    }

    /// Returns the command that would run.
    pub(super) fn command(&self) -> Option<&'a str> {
        self.subject()?.command.as_deref()
    }

    /// Returns the words of the command, if there is a command that can be split.
    pub(super) fn words(&self) -> Option<&[String]> {
        self.words.get_or_init(|| pattern::command_words(self.command()?)).as_deref()
    }

    /// Returns whether an option has this label.
    pub(super) fn has_label(&self, label: &str) -> bool {
        let options = self.question.fields.iter().flat_map(|field| field.kind.options());
        options.into_iter().any(|option| option.label == label)
    }
}

/// A rule with a mistake. It decides nothing, and no later rule submits anything for a question that its conditions
/// match.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenRule {
    place: String,
    conditions: Conditions,
}

impl BrokenRule {
    /// Returns the broken rule at this place, with those of its conditions that could be read.
    pub(super) fn new(place: String, conditions: Conditions) -> Self {
        BrokenRule { place, conditions }
    }

    /// Returns a broken rule of which nothing could be read. It may match any question.
    pub fn of_anything(place: String) -> Self {
        BrokenRule { place, conditions: Conditions::default() }
    }

    /// Explains the consequence for the rules after it.
    pub fn consequence(&self) -> &'static str {
        match self.conditions.is_empty() {
            true => "until this rule is corrected, no later rule decides anything",
            false => {
                "until this rule is corrected, no later rule decides questions that its other conditions match"
            }
        }
    }

    /// Returns whether the rule may have been meant for a question.
    pub(super) fn may_match(&self, asked: &QuestionView<'_>) -> bool {
        self.conditions.missed(asked).is_none()
    }
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the rule at {} may hold it for you, but has a mistake", self.place)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::rule::samples::{done, permission, with};

    #[test]
    fn examples_of_conditions() {
        let question = json!({});
        let run = permission("cargo test --lib");
        for (condition, question, holds) in [
            (json!({ "agent": "Codex" }), &question, true),
            (json!({ "agent": "Co*" }), &question, true),
            (json!({ "agent": ["Claude*", "C?dex"] }), &question, true),
            (json!({ "agent": "codex" }), &question, false),
            (json!({ "agent": "Code" }), &question, false),
            (json!({ "project": "~/src/shop" }), &question, true),
            (json!({ "project": "~/src/shop/" }), &question, true),
            (json!({ "project": "~/src/*" }), &question, true),
            (json!({ "project": "~/src" }), &question, false),
            (json!({ "project": "/people/ada/*" }), &json!({ "project": "/people/ada/../eve" }), false),
            (json!({ "project": "/*" }), &json!({ "project": null }), false),
            (json!({ "project": "/*" }), &json!({ "project": "src" }), false),
            (json!({ "session": "s-*" }), &question, true),
            (json!({ "session": "s-2" }), &question, false),
            (json!({ "purpose": "question" }), &question, true),
            (json!({ "purpose": "permission" }), &question, false),
            (json!({ "purpose": "permission" }), &run, true),
            (json!({ "tool": "execute" }), &run, true),
            (json!({ "tool": ["read", "execute"] }), &run, true),
            (json!({ "tool": "exec" }), &run, false),
            (json!({ "tool": "execute" }), &question, false),
            (json!({ "command": "cargo test *" }), &run, true),
            (json!({ "command": ["cargo", "test", "--lib"] }), &run, true),
            (json!({ "command": ["cargo", "test", "*"] }), &run, false),
            (json!({ "command": "cargo build *" }), &run, false),
            (json!({ "command": "cargo test *" }), &question, false),
            (json!({ "options": ["SQLite", "Postgres"] }), &question, true),
            (json!({ "options": ["sqlite"] }), &question, false),
            (json!({ "options": ["SQLite", "MySQL"] }), &question, false),
            (json!({ "origin": "elicitation" }), &question, true),
            (json!({ "origin": ["codex", "claude"] }), &question, false),
            (json!({ "dangerous": true }), &run, true),
            (json!({ "dangerous": false }), &run, false),
            (json!({ "dangerous": true }), &question, false),
            (json!({ "agent": "Codex", "purpose": "permission" }), &question, false),
        ] {
            let done = done(&with(json!({ "then": "hold" }), &condition), question);
            assert_eq!(done == "hold", holds, "{condition}: {done}");
        }
    }
}
