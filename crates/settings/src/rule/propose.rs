//! Makes a rule from one permission: the narrowest that is of use, which the user sees before it is written. It names the
//! agent, the project, and the command or the kind of the tool. Which permissions are like this one is left to `like.rs`.
//!
//! A rule that allows is made of nothing dangerous, and of nothing that a rule does not allow. The agent chose the texts that
//! stand in the rule, so a text that would match more than itself makes none.

use std::{collections::BTreeMap, fmt::Write, path::PathBuf};

use askbridge_core::{
    desk::Record,
    guard::{Files, alike, is_hidden},
    question::{Outcome, Purpose, Question, Reason, Role, Subject, Value as Chosen},
};
use serde_json::Value;

use super::{
    RuleEffect, decide, explain,
    pattern::{command_words, has_wildcard},
    read::Rule,
};
use crate::{Settings, SettingsFile, Sources, keys, limits, render};

/// The kinds of tools of which a rule without a command is made: what they are about, such as an address, is a file that has
/// to be in the project.
const TOOLS: [&str; 3] = ["read", "search", "edit"];

/// A rule that the user may want.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    keys: Vec<(&'static str, Value)>,
    rule: Rule,
    allows: bool,
}

impl Proposal {
    /// Returns the rule that would decide about a permission as its user did, or allow it if nobody has decided yet. `taken`
    /// are the names of the rules that there are.
    ///
    /// # Errors
    /// Why there is no such rule, as a sentence without its beginning: "it is dangerous".
    pub fn of(record: &Record, taken: &[&str], files: &dyn Files) -> Result<Self, String> {
        let question = &record.question;
        if question.purpose != Purpose::Permission {
            return Err("it is no permission: `askbridge config edit` opens your settings, where a rule may answer it"
                .to_owned());
        }
        let allows = was_allowed(record) != Some(false);
        if allows && question.risk().is_dangerous() {
            let why = question.risk_reason.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
            return Err(format!("it is dangerous{why}, and no rule that allows is made of what can do harm"));
        }
        let mut keys = conditions(question, allows)?;
        if question.risk().is_dangerous() {
            keys.push(("dangerous", true.into()));
        }
        keys.push(("then", if allows { "allow" } else { "reject" }.into()));
        keys.insert(0, ("name", name(&keys, taken).into()));
        let table: BTreeMap<_, _> =
            keys.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        let rule = Rule::read(&table, None).map_err(|mistakes| {
            mistakes.into_iter().map(|mistake| mistake.message).collect::<Vec<_>>().join("; ")
        })?;
        let proposal = Proposal { keys, rule, allows };
        proposal.settles(record, files).map(|()| proposal)
    }

    /// Returns the rule.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Returns whether the rule allows; otherwise it rejects.
    pub fn allows(&self) -> bool {
        self.allows
    }

    /// Returns the rule as it stands in a file of settings.
    pub fn toml(&self) -> String {
        let mut text = format!("[[{}]]\n", keys::RULES);
        for (key, value) in &self.keys {
            // Writing to a `String` never fails.
            writeln!(text, "{key} = {}", render::toml(value)).unwrap_or_default();
        }
        text
    }

    /// Returns the user's own file with the rule at its end, where it comes after all others. All else stays as it is.
    ///
    /// # Errors
    /// Why the rule would not decide there, or what is wrong with the file.
    pub fn appended(
        &self,
        (path, text, home): (PathBuf, &str, Option<PathBuf>),
        record: &Record,
        files: &dyn Files,
    ) -> Result<String, String> {
        render::check_rules(text).map_err(|error| error.to_string())?;
        let gap = match text {
            "" => "",
            text if text.ends_with("\n\n") => "",
            text if text.ends_with('\n') => "\n",
            _ => "\n\n",
        };
        let text = format!("{text}{gap}{}", self.toml());
        if text.len() > limits::SETTINGS_FILE {
            return Err(format!("a file of settings has up to {} KiB", limits::SETTINGS_FILE / 1024));
        }
        let user = SettingsFile { path, text: text.clone(), is_readable_by_others: false };
        let settings = Settings::of(Sources { user: Some(user), home, ..Sources::default() });
        let explained = explain(settings.rules(), record, files);
        let before = explained.passed.last().map(|passed| passed.why.clone());
        match explained.decision {
            Some(decision) if decision.rule == *self.rule.name() => Ok(text),
            Some(decision) => Err(format!("the rule {} comes before it, and applies", decision.rule)),
            None => {
                Err(before
                    .unwrap_or_else(|| "the file has a mistake: see `askbridge rules check`".to_owned()))
            }
        }
    }

    /// Checks that the rule does what the user did.
    fn settles(&self, record: &Record, files: &dyn Files) -> Result<(), String> {
        let rules = std::slice::from_ref(&self.rule);
        match decide(rules, record, files).map(|decision| decision.what) {
            Some(RuleEffect::Submit(_)) => Ok(()),
            _ => {
                let passed = explain(rules, record, files).passed.pop();
                Err(passed.map_or_else(|| "a rule cannot decide it".to_owned(), |passed| passed.why))
            }
        }
    }
}

/// Returns whether a permission was given: `Some(false)` if it was rejected. `None` if nobody has decided about it, as when
/// its time was over.
pub fn was_allowed(record: &Record) -> Option<bool> {
    let answer = match record.settlement.as_deref().map(|settlement| &settlement.outcome)? {
        Outcome::Rejected(Reason::User | Reason::Policy) => return Some(false),
        Outcome::Answered(answer) => answer,
        _ => return None,
    };
    record.question.fields.iter().find_map(|field| {
        let Chosen::Text(chosen) = answer.values.get(&field.name)? else { return None };
        let option = field.kind.options().iter().find(|option| option.value == *chosen)?;
        match option.role.as_deref()? {
            Role::AllowOnce | Role::AllowAlways => Some(true),
            Role::RejectOnce | Role::RejectAlways => Some(false),
            Role::Other(_) => None,
        }
    })
}

/// Returns the conditions of the rule, in the order in which they are shown.
fn conditions(question: &Question, allows: bool) -> Result<Vec<(&'static str, Value)>, String> {
    let subject = question.subject.as_deref().ok_or("the request does not say what it would do")?;
    let mut keys = Vec::new();
    for (key, text) in [("agent", &question.agent), ("project", &question.project)] {
        let Some(text) = text.as_deref() else { continue };
        if has_wildcard(text) || text.trim().is_empty() {
            return Err(format!("its {key} is {text:?}, which would match others as well"));
        }
        keys.push((key, text.into()));
    }
    keys.push(match &subject.command {
        Some(command) => ("command", command_of(command, allows)?),
        None => ("tool", tool_of(subject)?.into()),
    });
    Ok(keys)
}

/// Returns the pattern of a command: its first words, if what follows them only says what it works on, or else its exact
/// words.
fn command_of(command: &str, allows: bool) -> Result<Value, String> {
    let words = command_words(command).ok_or("a quotation mark in its command has no end")?;
    Ok(match alike(&words).filter(|_| allows) {
        Some(count) => format!("{} *", words[..count].join(" ")).into(),
        // As a text, a word with a wildcard would match others.
        None if !allows || has_wildcard(command) => words.into(),
        None => command.trim().into(),
    })
}

fn tool_of(subject: &Subject) -> Result<&str, String> {
    match subject.kind.as_deref() {
        Some(kind) if TOOLS.contains(&kind) => Ok(kind),
        Some(kind) => Err(format!("a rule could not name what it is about: the kind of its tool is {kind}")),
        None => Err("the kind of its tool is not known".to_owned()),
    }
}

/// Returns a name that no other rule has: what is decided, and in which project.
fn name(keys: &[(&'static str, Value)], taken: &[&str]) -> String {
    let of = |name: &str| keys.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
    let what = match of("command").or_else(|| of("tool")) {
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        Some(value) => render::plain(value),
        None => String::new(),
    };
    let verb = if of("then").is_some_and(|then| then == "reject") { "no " } else { "" };
    let project = of("project").and_then(Value::as_str).and_then(|folder| folder.rsplit('/').next());
    let place = project.map(|folder| format!(" in {folder}")).unwrap_or_default();
    let name = format!("{verb}{}{}", part(&what), part(&place));
    let numbered = (2..).map(|number| format!("{name} {number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !taken.contains(&&**name)).unwrap_or(name)
}

/// Returns as much of a text as fits into the name of a rule, without characters that cannot be seen.
fn part(text: &str) -> String {
    let mut bytes = 0;
    let seen = text.chars().filter(|char| !is_hidden(*char));
    let fits = |char: &char| {
        bytes += char.len_utf8();
        bytes <= limits::RULE_NAME
    };
    seen.take_while(fits).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use askbridge_core::{
        desk::{Settlement, Timestamp},
        question::{Answer, Provenance, Responder},
    };
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::rule::samples::{NoLinks, permission, record, with};

    fn proposed(question: &Json) -> String {
        match Proposal::of(&record(question), &[], &NoLinks) {
            Ok(proposal) => proposal.toml().lines().skip(4).collect::<Vec<_>>().join(", "),
            Err(why) => why,
        }
    }

    fn tool(kind: &str, path: &str) -> Json {
        with(permission(""), &json!({ "subject": { "kind": kind, "locations": [path] } }))
    }

    #[test]
    fn a_rule_names_no_more_than_it_has_to() {
        for (command, rule) in [
            ("cargo test --lib parser", "command = \"cargo test *\", then = \"allow\""),
            ("cargo test", "command = \"cargo test *\", then = \"allow\""),
            ("git status -s", "command = \"git status *\", then = \"allow\""),
            ("cat src/a.rs", "command = \"cat *\", then = \"allow\""),
            ("cargo run --bin x", "command = \"cargo run --bin x\", then = \"allow\""),
            ("npm run build", "command = \"npm run build\", then = \"allow\""),
            ("make test", "command = \"make test\", then = \"allow\""),
            ("CI=1 cargo test", "command = \"CI=1 cargo test\", then = \"allow\""),
            ("git commit -m 'a \"b\"'", "command = \"\"\"git commit -m 'a \"b\"'\"\"\", then = \"allow\""),
            // What a rule leaves open never has these words, and no rule is made that would not decide the permission itself.
            (
                "cargo test --config a=b",
                "it is dangerous (`--config` of `cargo test` sets any configuration, such as a program that runs), and no rule that allows is made of what can do harm",
            ),
            ("cat /etc/hosts", "`/etc/hosts` is not plainly in the project, and the rule does not name it"),
            ("cargo test | tail -5", "a rule never allows its command: a shell gives `|` a special meaning"),
            (
                "cargo test 'a",
                "it is dangerous (it cannot be read as a command: a quotation mark has no end), and no rule that allows is made of what can do harm",
            ),
            (
                "rm -rf x",
                "it is dangerous (`rm` removes or moves files), and no rule that allows is made of what can do harm",
            ),
        ] {
            assert_eq!(proposed(&permission(command)), rule, "{command}");
        }
        for (question, rule) in [
            (tool("read", "src/a.rs"), "tool = \"read\", then = \"allow\""),
            (tool("search", "src"), "tool = \"search\", then = \"allow\""),
            (tool("edit", "src/a.rs"), "tool = \"edit\", then = \"allow\""),
            (tool("read", "/etc/passwd"), "it is about /etc/passwd, which is not in its project"),
            (tool("fetch", "src"), "a rule could not name what it is about: the kind of its tool is fetch"),
            (
                tool("delete", "src/a.rs"),
                "it is dangerous (it deletes), and no rule that allows is made of what can do harm",
            ),
            (
                json!({}),
                "it is no permission: `askbridge config edit` opens your settings, where a rule may answer it",
            ),
            (
                with(permission("ls"), &json!({ "agent": "C*" })),
                "its agent is \"C*\", which would match others as well",
            ),
            (
                with(permission("ls"), &json!({ "project": "/p/?" })),
                "its project is \"/p/?\", which would match others as well",
            ),
            (
                with(permission("ls"), &json!({ "project": "/p/../q" })),
                "\"/p/../q\" has a `.` or `..` or an empty part: write the folder itself",
            ),
        ] {
            assert_eq!(proposed(&question), rule, "{question}");
        }
    }

    fn settled(question: &Json, outcome: Outcome) -> Record {
        let by = Provenance { responder: Responder::Page, name: None };
        let settlement = Settlement { outcome, ..Settlement::new(Outcome::Failed, by, Timestamp::default()) };
        Record { settlement: Some(Box::new(settlement)), ..record(question) }
    }

    #[test]
    fn what_was_rejected_becomes_a_rule_that_rejects_just_that() {
        let values = [("option".to_owned(), Chosen::Text("reject_once".to_owned()))].into();
        let answered = Outcome::Answered(Answer { values, ..Answer::default() });
        for outcome in [Outcome::Rejected(Reason::User), answered] {
            let record = settled(&permission("git push -f *; x"), outcome);
            let proposal = Proposal::of(&record, &[], &NoLinks).expect("a rule");
            assert_eq!(
                proposal.toml(),
                "[[rule]]\nname = \"no git push -f *; x in shop\"\nagent = \"Codex\"\nproject = \"/people/ada/src/shop\"\n\
                 command = [\"git\", \"push\", \"-f\", \"*;\", \"x\"]\ndangerous = true\nthen = \"reject\"\n"
            );
        }
        // What only ended was not rejected.
        let over = settled(&permission("git push"), Outcome::Rejected(Reason::Timeout));
        assert!(Proposal::of(&over, &[], &NoLinks).is_err());
    }

    #[test]
    fn a_name_is_used_once_and_can_be_read() {
        let record = record(&permission("cargo test"));
        let name =
            |taken: &[&str]| Proposal::of(&record, taken, &NoLinks).expect("a rule").rule.name().to_string();
        assert_eq!(name(&[]), "cargo test * in shop");
        assert_eq!(name(&["cargo test * in shop"]), "cargo test * in shop 2");
        assert_eq!(name(&["cargo test * in shop", "cargo test * in shop 2"]), "cargo test * in shop 3");
        let long = record_of_project(&format!("/{}", "ü".repeat(500)));
        let name = Proposal::of(&long, &[], &NoLinks).expect("a rule").rule.name().to_string();
        assert!(name.len() <= limits::NAME, "{name}");
    }

    fn record_of_project(project: &str) -> Record {
        let subject = json!({ "kind": "execute", "command": "cargo test" });
        record(&with(permission(""), &json!({ "project": project, "subject": subject })))
    }

    #[test]
    fn the_file_gets_the_rule_at_its_end_and_keeps_all_else() {
        let record = record(&permission("cargo test"));
        let proposal = Proposal::of(&record, &[], &NoLinks).expect("a rule");
        let appended = |text: &str| {
            let home = Some(PathBuf::from("/people/ada"));
            proposal.appended((PathBuf::from("config.toml"), text, home), &record, &NoLinks)
        };
        let rule = proposal.toml();
        for before in [
            "",
            "# mine\n[bridge]\ngrace = \"1s\" # short\n",
            "# no end of line",
            "[[rule]]\nname = 'x' # a\ntool = 'read'\nthen = 'allow'\n\n",
        ] {
            let text = appended(before).expect("a file");
            assert!(text.starts_with(before) && text.ends_with(&rule), "{text}");
        }
        for (before, why) in [
            ("rule = 1\n", "`rule` is not a table there"),
            ("rule = [{ name = 'x', tool = 'read', then = 'allow' }]\n", "`rule` is not a table there"),
            ("a = \n", "line 1: "),
            (
                "[[rule]]\nname = 'mine'\nagent = 'Codex'\nthen = 'hold'\n",
                "the rule mine comes before it, and applies",
            ),
            (
                "[[rule]]\nname = 'mine'\nagnt = 'Codex'\nthen = 'hold'\n",
                "the rule at config.toml:1:1 may hold it for you, but has a mistake",
            ),
        ] {
            let found = appended(before).expect_err("an error");
            assert!(found.starts_with(why), "{found}");
        }
        let full = format!("# {}\n", "x".repeat(limits::SETTINGS_FILE - 20));
        assert!(appended(&full).is_err());
    }

    #[test]
    fn a_proposal_is_the_same_whatever_else_is_asked() {
        let records =
            [permission("cargo test a"), permission("cargo test b")].map(|it| Arc::new(record(&it)));
        let [one, other] = records.each_ref().map(|it| Proposal::of(it, &[], &NoLinks).expect("a rule"));
        assert_eq!(one, other);
    }
}
