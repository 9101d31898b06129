//! The `[[rule]]` tables of the user's file, each with its positions. The meaning of a rule is left to `rule`.
//!
//! A rule with a mistake is left out: without one of its conditions, it could match too much. It still keeps questions
//! that it may be about from the rules after it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde_json::Value;

use super::{
    document::{Document, DocumentEntry, Mark},
    keys,
    place::{self, Layer, StoredValue, printable, unknown_named},
};
use crate::{
    limits,
    rule::{BrokenRule, Rule, keys::KEYS},
};

/// One `[[rule]]` in its written form.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleTable {
    /// The position of its head.
    pub origin: Layer,
    /// Its keys and values, in the order in which they are shown.
    pub values: Vec<(&'static str, StoredValue)>,
}

/// The rules of a file.
pub(super) struct FileRules {
    pub(super) rules: Vec<Rule>,
    /// The tables of [`rules`](Self::rules), in the same order.
    pub(super) tables: Vec<RuleTable>,
    pub(super) problems: Vec<(Mark, String)>,
}

/// Returns whether an entry of a file belongs to the rules.
pub(super) fn is_of_rule(path: &[String]) -> bool {
    path.first().is_some_and(|name| name == keys::RULES)
}

/// Returns a problem if a project's file has rules.
pub(super) fn refuse(document: &Document) -> Vec<(Mark, String)> {
    let entries = document.entries.iter().filter(|entry| is_of_rule(&entry.path)).map(|entry| entry.name);
    let heads = document.heads.iter().filter(|head| is_of_rule(&head.path)).map(|head| head.at);
    let message = "only your own file may have rules: a project decides nothing in your place";
    // One problem at the first place is enough for all rules of the file.
    entries.chain(heads).min().map(|first| (first, message.to_owned())).into_iter().collect()
}

/// Reads the rules of the user's file.
pub(super) fn read(document: &Document, home: Option<&Path>, origin: &dyn Fn(Mark) -> Layer) -> FileRules {
    let mut found = FileRules { rules: Vec::new(), tables: Vec::new(), problems: Vec::new() };
    let mut tables = BTreeMap::new();
    // A table without values has no entries, but it is a rule with a mistake all the same.
    for head in &document.heads {
        if let [rule, number] = &*head.path
            && rule == keys::RULES
            && let Ok(number) = number.parse::<usize>()
        {
            tables.insert(number, Table { head: head.at, entries: Vec::new() });
        }
    }
    for entry in document.entries.iter().filter(|entry| is_of_rule(&entry.path)) {
        let number = entry.path.get(1).and_then(|number| number.parse::<usize>().ok());
        match number.and_then(|number| tables.get_mut(&number)) {
            Some(table) => table.entries.push(entry),
            None => found.problems.push((entry.name, single_brackets())),
        }
    }
    // A rule whose conditions were cut off would match too much, and it is not known which rule that is.
    let is_cut =
        document.entries.len() >= limits::SETTINGS_KEYS || document.heads.len() >= limits::SETTINGS_KEYS;
    if let Some(first) = tables.values().next().filter(|_| is_cut) {
        found
            .problems
            .push((first.head, "all rules are ignored, since not all of this file is read".to_owned()));
        return found;
    }
    let (mut names, mut broken) = (BTreeSet::new(), Vec::new());
    let strays = strays(document);
    for (number, table) in &tables {
        // The first rule that applies decides, so a stray can only affect the rules after it.
        let before = strays.iter().filter(|stray| **stray < table.head);
        broken.extend(before.map(|stray| BrokenRule::of_anything(origin(*stray).to_string())));
        let line = table.broken(*number, document);
        match table.read(line, home, &mut names) {
            Ok(rule) => {
                found.rules.push(rule.behind(&broken));
                found.tables.push(table.written(origin));
            }
            Err(mut problems) => {
                let place = origin(table.head).to_string();
                let rule = Rule::left_out(&table.values(), line.is_none(), home, place);
                if let (Some(rule), Some((_, message))) = (&rule, problems.last_mut()) {
                    message.push_str("; ");
                    message.push_str(rule.consequence());
                }
                broken.extend(rule);
                found.problems.append(&mut problems);
            }
        }
    }
    found
}

/// Returns the positions of what may have been meant as a rule: a table with nearly the name of rules, and a `then`
/// outside of any rule. It is not known which questions it should have kept from the rules after it.
fn strays(document: &Document) -> Vec<Mark> {
    let heads =
        document.heads.iter().filter(|head| head.path.first().is_some_and(|name| is_nearly_rule(name)));
    let heads = heads.filter(|head| !is_numbered(&head.path)).map(|head| head.at);
    let entries = document.entries.iter().filter(|entry| !is_numbered(&entry.path));
    let entries = entries.filter(|entry| {
        let is_setting = || keys::all().any(|key| entry.path.join(".").ends_with(&key.path()));
        is_of_rule(&entry.path) || (entry.path.last().is_some_and(|name| name == "then") && !is_setting())
    });
    heads.chain(entries.map(|entry| entry.name)).collect()
}

/// Returns whether a name is that of the rules, or probably a typo of it.
fn is_nearly_rule(name: &str) -> bool {
    let seen: String =
        name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    place::closest(&seen, [keys::RULES].into_iter()).is_some()
}

/// Returns whether a path is inside a `[[rule]]`.
fn is_numbered(path: &[String]) -> bool {
    is_of_rule(path) && path.get(1).is_some_and(|number| number.parse::<usize>().is_ok())
}

fn single_brackets() -> String {
    format!("each rule has a table of its own: write [[{}]], with two brackets", keys::RULES)
}

struct Table<'a> {
    head: Mark,
    entries: Vec<&'a DocumentEntry>,
}

impl Table<'_> {
    fn read(
        &self,
        broken: Option<usize>,
        home: Option<&Path>,
        names: &mut BTreeSet<String>,
    ) -> Result<Rule, Vec<(Mark, String)>> {
        let mut problems = Vec::new();
        if let Some(line) = broken {
            let message = format!("this [[{}]] is ignored: line {line} is not TOML", keys::RULES);
            problems.push((self.head, message));
        }
        for entry in self.entries.iter().filter(|entry| known(entry).is_none()) {
            let name = entry.path.get(2).map(String::as_str).unwrap_or_default();
            let meant = place::closest(name, KEYS.iter().map(|key| key.name));
            problems.push((entry.name, unknown_named(&format!("`{}` of a rule", printable(name)), meant)));
        }
        let read = match Rule::read(&self.values(), home) {
            // A missing key may be one that is mistyped, or on a line that is not TOML. Both are reported already.
            Err(mistakes) => {
                let said =
                    mistakes.into_iter().filter(|mistake| mistake.key.is_some() || problems.is_empty());
                let said: Vec<_> = said.map(|mistake| (self.place(mistake.key), mistake.message)).collect();
                problems.extend(said);
                None
            }
            Ok(rule) => Some(rule),
        };
        match read {
            // A decision names its rule, so the name must be unique.
            Some(rule) if problems.is_empty() => match names.insert(rule.name().to_string()) {
                true => Ok(rule),
                false => {
                    Err(vec![(self.place(Some("name")), format!("another rule is named {:?}", rule.name()))])
                }
            },
            _ => Err(problems),
        }
    }

    /// Returns the values of the known keys.
    fn values(&self) -> BTreeMap<String, Value> {
        let value = |entry: &&DocumentEntry| Some((known(entry)?.to_owned(), entry.value.clone()));
        self.entries.iter().filter_map(value).collect()
    }

    /// Returns the first line of the table that is not TOML. That line may have been a condition.
    fn broken(&self, number: usize, document: &Document) -> Option<usize> {
        let number = number.to_string();
        let is_own = |path: &[String]| is_of_rule(path) && path.get(1) == Some(&number);
        let others = document.heads.iter().filter(|head| !is_own(&head.path));
        let end = others.map(|head| head.at.line).filter(|line| *line > self.head.line).min();
        document.broken.range(self.head.line..end.unwrap_or(usize::MAX)).next().copied()
    }

    /// Returns the position of the value of a key, or else that of the table.
    fn place(&self, key: Option<&str>) -> Mark {
        let entry = key.and_then(|key| {
            self.entries.iter().find(|entry| entry.path.get(2).is_some_and(|name| name == key))
        });
        entry.map_or(self.head, |entry| entry.at)
    }

    fn written(&self, origin: &dyn Fn(Mark) -> Layer) -> RuleTable {
        let value = |name: &'static str| {
            let entry =
                self.entries.iter().find(|entry| entry.path.get(2).is_some_and(|other| other == name))?;
            Some((name, StoredValue { value: entry.value.clone(), origin: origin(entry.at) }))
        };
        let values = KEYS.iter().filter_map(|key| value(key.name)).collect();
        RuleTable { origin: origin(self.head), values }
    }
}

/// Returns the key of a rule that an entry sets.
fn known(entry: &DocumentEntry) -> Option<&'static str> {
    let [_, _, name] = &*entry.path else { return None };
    KEYS.iter().map(|key| key.name).find(|key| key == name)
}

#[cfg(test)]
mod tests {
    use std::{
        path::{Path, PathBuf},
        sync::Arc,
    };

    use askbridge_core::{
        desk::{Record, Timestamp},
        guard::{self, Files},
    };
    use serde_json::json;

    use crate::{Settings, SettingsFile, Sources, keys, render, rule::decide};

    const RULE: &str =
        "[[rule]]\nname = 'tests'\ncommand = 'cargo test *'\ndangerous = true\nthen = 'allow'\n";

    fn of(user: &str, project: &str) -> Settings {
        let file = |path: &str, text: &str| {
            Some(SettingsFile { path: path.into(), text: text.to_owned(), is_readable_by_others: false })
        };
        Settings::of(Sources {
            user: file("config.toml", user),
            project: file(".askbridge.toml", project),
            home: Some("/people/ada".into()),
            ..Sources::default()
        })
    }

    fn names(settings: &Settings) -> Vec<String> {
        settings.rules().iter().map(|rule| rule.name().to_string()).collect()
    }

    fn problems(settings: &Settings) -> Vec<String> {
        settings.problems().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rules_keep_their_order_and_places() {
        let text = format!(
            "[bridge]\ngrace = '1s'\n{RULE}[[rule]]\nname = 'rest'\nproject = '~/src/*'\nthen = 'hold'\n"
        );
        let settings = of(&text, "");
        assert_eq!(problems(&settings), [""; 0]);
        assert_eq!(names(&settings), ["tests", "rest"]);
        let [tests, _] = settings.rule_tables() else { panic!("{:?}", settings.rule_tables()) };
        assert_eq!(tests.origin.to_string(), "config.toml:3:1");
        let command = tests.values.iter().find(|(name, _)| *name == "command").expect("a command");
        assert_eq!(command.1.origin.to_string(), "config.toml:5:11");
        for with_origin in [false, true] {
            let again = of(&render::file(&settings, with_origin), "");
            assert_eq!((problems(&again), again.rules()), (Vec::new(), settings.rules()));
        }
        let answer = of(
            "[[rule]]\nname = 'a'\nagent = 'x'\nthen = 'answer'\n[rule.answer]\nq0 = ['a', 'b']\nq1 = true\n",
            "",
        );
        assert_eq!((problems(&answer), names(&answer)), (Vec::new(), vec!["a".to_owned()]));
        let again = of(&render::file(&answer, true), "");
        assert_eq!((problems(&again), again.rules()), (Vec::new(), answer.rules()));
    }

    /// The keys of a rule, and the first mistake.
    const MISTAKES: [(&str, &str); 27] = [
        (
            "name = 'x'\nagnt = 'a'\nthen = 'hold'",
            "config.toml:3:1: there is no `agnt` of a rule; did you mean `agent`?",
        ),
        ("agent = 'a'\nthen = 'hold'", "config.toml:1:1: a rule needs a `name`"),
        ("name = 'x'\nthen = 'hold'", "config.toml:1:1: a rule needs a condition: "),
        (
            "name = 'x'\nagent = 'a'",
            "config.toml:1:1: a rule needs `then`: one of allow, reject, answer, hold, notify",
        ),
        ("name = 'x'\nagent = 'a'\nthen = 'permit'", "config.toml:4:8: \"permit\" is not one of allow, "),
        (
            "name = 'x'\nagent = 'a'\nthen = 'allow'",
            "config.toml:1:1: a rule that allows something must name it: give the `command` or the `tool`",
        ),
        (
            "name = 'x'\ntool = 'execute'\nthen = 'allow'",
            "config.toml:3:8: a rule that allows a command must name it: give the `command`",
        ),
        (
            "name = 'x'\ntool = ['read', 'command']\nthen = 'allow'",
            "config.toml:3:8: a rule that allows a command must name it: give the `command`",
        ),
        (
            "name = 'x'\ntool = 'Execute'\nthen = 'allow'",
            "config.toml:3:8: a rule that allows a command must name it: give the `command`",
        ),
        ("name = 'x'\ntool = '*'\nthen = 'allow'", "config.toml:3:8: the kind of a tool is an exact name"),
        (
            "name = 'x'\ncommand = 'bash *'\nthen = 'allow'",
            "config.toml:3:11: `bash` runs what its arguments say",
        ),
        ("name = 'x'\ncommand = '* test'\nthen = 'allow'", "config.toml:3:11: \"*\" could be any program"),
        (
            "name = 'x'\ncommand = ['a', ';']\nthen = 'allow'",
            "config.toml:3:11: a rule never allows such a command: a shell gives `;`",
        ),
        ("name = 'x'\ncommand = \"a 'b\"\nthen = 'hold'", "config.toml:3:11: a quotation mark has no end"),
        (
            "name = 'x'\nproject = 'src'\nthen = 'hold'",
            "config.toml:3:11: \"src\" does not begin with / or ~/",
        ),
        ("name = 'x'\nproject = '/a/../b'\nthen = 'hold'", "config.toml:3:11: \"/a/../b\" has a `.` or `..`"),
        (
            "name = 'x'\norigin = 'emacs'\nthen = 'hold'",
            "config.toml:3:10: \"emacs\" is not one of sandboxagent, ",
        ),
        (
            "name = 'x'\npurpose = 'fun'\nthen = 'hold'",
            "config.toml:3:11: \"fun\" is not \"question\" or \"permission\"",
        ),
        (
            "name = 'x'\nagent = 'a'\nthen = 'answer'",
            "config.toml:1:1: `then = \"answer\"` needs an `answer`",
        ),
        (
            "name = 'x'\nagent = 'a'\nthen = 'answer'\nanswer = {}",
            "config.toml:5:10: an answer must be a text, ",
        ),
        (
            "name = 'x'\nagent = 'a'\nthen = 'hold'\nreason = 'r'",
            "config.toml:5:10: `reason` cannot be combined with `then = \"hold\"`",
        ),
        (
            "name = 'x'\nagent = 'a'\nthen = 'notify'\nby = ['fax']",
            "config.toml:5:6: \"fax\" is not one of terminal, ",
        ),
        ("name = 'x'\nagent = 'a'\nthen = 'notify'", "config.toml:1:1: `then = \"notify\"` needs `by`"),
        (
            "name = 'x'\nagent = []\nthen = 'hold'",
            "config.toml:3:9: `agent` must be a text, or a list of texts",
        ),
        (
            "name = 'x'\nagent = 'a'\ndangerous = 'yes'\nthen = 'hold'",
            "config.toml:4:13: `dangerous` must be true or false",
        ),
        ("name = \"x\\u202e\"\nagent = 'a'\nthen = 'hold'", "config.toml:2:8: a name has up to 200 bytes"),
        ("", "config.toml:1:1: a rule needs a `name`"),
    ];

    #[test]
    fn a_rule_with_a_mistake_is_left_out_with_its_place_and_the_others_hold() {
        for (rule, said) in MISTAKES {
            let settings = of(&format!("[[rule]]\n{rule}\n{RULE}"), "");
            let found = problems(&settings);
            assert!(found.first().is_some_and(|first| first.starts_with(said)), "{rule}: {found:?}");
            assert_eq!(names(&settings), ["tests"], "{rule}");
        }
        let twice = of(&format!("{RULE}{RULE}"), "");
        assert_eq!(problems(&twice), ["config.toml:7:8: another rule is named \"tests\""]);
        assert_eq!(names(&twice), ["tests"]);
        for single in ["[rule]\nname = 'x'\n", "rule = 1\n", "rule.name = 'x'\n"] {
            let found = problems(&of(single, ""));
            assert!(found[0].contains("write [[rule]], with two brackets"), "{found:?}");
        }
        let plural = problems(&of("[[rules]]\nname = 'x'\n", ""));
        assert!(plural[0].contains("write [[rule]]"), "{plural:?}");
    }

    struct NoFiles;

    impl Files for NoFiles {
        fn resolve(&self, _: &Path) -> Option<PathBuf> {
            None
        }

        fn has_other_names(&self, _: &Path) -> bool {
            false
        }
    }

    /// Returns which rule decides about a permission to run this command.
    fn decides(settings: &Settings, command: &str) -> Option<String> {
        let options = json!([{ "value": "a", "label": "Allow", "role": "allow_once" }]);
        let question = json!({
            "questionId": "q", "message": "Run it?", "origin": "acp_permission", "blocking": true, "agent": "a",
            "purpose": "permission", "dangerous": true, "subject": { "kind": "execute", "command": command },
            "fields": [{ "name": "f", "label": "?", "kind": "choice", "required": true, "options": options }],
        });
        let mut question = serde_json::from_value(question).expect("a question");
        guard::assess(&mut question);
        let record = Record::new("b-1".parse().expect("an ID"), Arc::new(question), Timestamp::default());
        decide(settings.rules(), &record, &NoFiles).map(|decision| decision.rule.to_string())
    }

    #[test]
    fn what_a_broken_rule_was_to_keep_no_later_rule_decides() {
        let anything = "; until this rule is corrected, no later rule decides anything";
        let other =
            "; until this rule is corrected, no later rule decides questions that its other conditions match";
        for (broken, said, is_kept) in [
            // A condition that cannot be read is not asked.
            ("name = 'x'\nprojct = '/p'\nthen = 'hold'", anything, true),
            ("name = 'x'\nproject = 'p'\nthen = 'hold'", anything, true),
            ("name = 'x'\norigin = ['kiro', 'emacs']\nthen = 'hold'", anything, true),
            ("name = 'x'\ntool = 'ex*'\nthen = 'reject'\nreason = 'r'", anything, true),
            ("name = 'x'\ncommand = 'cargo test *'\nthen = 'reject'\nagnt = 'b'", other, true),
            ("name = 'x'\ncommand = 'cargo build'\nthen = 'reject'\nagnt = 'b'", other, false),
            ("name = 'x'\nagent = 'a'\nthen = 'notify'", other, true),
            ("name = 'x'\nagent = 'b'\nthen = 'notify'", other, false),
            // Any of its conditions may have lost a text.
            ("name = 'x'\nagent = 'b'\nthen = 'hold'\nsession = [\n's',\nt\n]", anything, true),
            ("name = 'x'\nagnt = 'a'\nthen = 'allow'", "`agent`?", false),
            ("name = 'x'\nagnt = 'a'\nthen = 'answer'\nanswer = 'a'", "`agent`?", false),
            ("name = 'x'\nagent = 'a'\nthen = 'hodl'", other, true),
            ("name = 'x'\nagent = 'b'\nthen = 'hodl'", other, false),
            ("name = 'x'\nagent = 'a'\nthen = 'Hold'", other, true),
            ("name = 'x'\nagent = 'a'\nthen = hold", anything, true),
            ("name = 'x'\nagent = 'a'\nthen = \"hold", anything, true),
            ("name = 'x'\nagent = 'a'\nthne = 'hold'", other, true),
            ("name = 'x'\nagent = 'a'\nthen", anything, true),
            ("name = 'x'\nagent = 'a'", other, true),
        ] {
            let settings = of(&format!("[[rule]]\n{broken}\n{RULE}"), "");
            let found = problems(&settings);
            assert!(found.iter().any(|problem| problem.ends_with(said)), "{broken}: {found:?}");
            let decided = (!is_kept).then(|| "tests".to_owned());
            assert_eq!(decides(&settings, "cargo test"), decided, "{broken}");
            assert_eq!(names(&settings), ["tests"], "it is left out itself");
            // The text before it is not touched.
            let settings = of(&format!("{RULE}[[rule]]\n{broken}\n"), "");
            assert_eq!(decides(&settings, "cargo test").as_deref(), Some("tests"), "{broken}");
        }
    }

    #[test]
    fn what_was_meant_for_a_rule_keeps_everything_from_those_behind_it() {
        for broken in [
            "[[rul]]\nname = 'x'\nagent = 'a'\nthen = 'hold'\n",
            "[[Rule]]\nname = 'x'\nthen = 'hold'\n",
            "[[rules]]\nname = 'x'\nthen = 'hold'\n",
            "[rule]\nname = 'x'\nthen = 'hold'\n",
            "[rul]\nname = 'x'\n",
            "[[\"\u{200b}rule\"]]\nname = 'x'\nthen = 'hold'\n",
            "name = 'x'\nthen = 'hold'\n",
            "[bridge]\nname = 'x'\nthen = 'hold'\n",
        ] {
            let settings = of(&format!("{broken}{RULE}"), "");
            assert_eq!(decides(&settings, "cargo test"), None, "{broken}");
            assert!(!problems(&settings).is_empty(), "{broken}");
        }
        for other in ["[unattended]\nthen = 'reject'\n", "[bridge]\ngrace = '1s'\n", "[log]\nfile = 'x'\n"] {
            let settings = of(&format!("{other}{RULE}"), "");
            assert_eq!(decides(&settings, "cargo test").as_deref(), Some("tests"), "{other}");
        }
    }

    #[test]
    fn a_rule_that_lost_a_line_does_not_count() {
        // Each of these would leave out a condition, or take one from another rule.
        for broken in [
            "[[rule]]\nname = 'x'\nproject = '~/src\ntool = 'read'\nthen = 'allow'\n",
            "[[rule]]\nname = 'x'\nagent 'a'\ntool = 'read'\nthen = 'allow'\n",
            "[[rule]]\nagent = \nname = 'x'\ntool = 'read'\nthen = 'allow'\n",
            "[[rule]]\nname = 'x'\ntool = 'read'\nthen = 'allow'\nagent = [\n'a',\nb\n]\n",
            "[[rule]]\nname = 'x'\ntool = 'read'\ntool = 'edit'\nthen = 'allow'\n",
            "[[rule]]\nname = 'x'\ntool = 'read'\nthen = 'allow'\n[rule.answer]\nq0 = x\n",
            "[[rule]]\nname = 'x'\ntool = 'read'\nthen = 'allow'\nagent = { a = \n",
        ] {
            for (before, after) in [("", ""), (RULE, ""), ("", "[bridge]\ngrace = '1s'\n")] {
                let settings = of(&format!("{before}{broken}{after}"), "");
                assert!(!names(&settings).contains(&"x".to_owned()), "{before}{broken}{after}");
                assert!(!problems(&settings).is_empty());
            }
            let settings = of(&format!("{RULE}{broken}"), "");
            assert_eq!(names(&settings), ["tests"], "{broken}");
        }
        // A line that begins another table takes nothing from the rule before it.
        let begun = of("[[rule]]\nname = 'x'\ntool = 'read'\nthen = 'allow'\n[[rule\ndangerous = true\n", "");
        let whole = of("[[rule]]\nname = 'x'\ntool = 'read'\nthen = 'allow'\n", "");
        assert!(begun.rules().is_empty() || begun.rules() == whole.rules(), "{:?}", begun.rules());
        let elsewhere = of(&format!("[bridge]\ngrace = x\n{RULE}[log]\nfile = x\n"), "");
        assert_eq!(names(&elsewhere), ["tests"], "{:?}", problems(&elsewhere));
        let open = of(
            &format!(
                "{RULE}[[rule]]\nname = 'x'\ntool = 'read'\nthen = 'reject'\nreason = \"\"\"\nand\n{}",
                RULE.replace("tests", "y")
            ),
            "",
        );
        assert!(!names(&open).contains(&"x".to_owned()), "{:?}", names(&open));
    }

    #[test]
    fn rules_of_a_file_that_is_not_read_to_its_end_do_not_count() {
        let many: String = (0..crate::limits::SETTINGS_KEYS).map(|n| format!("a{n}=1\n")).collect();
        let settings = of(&format!("{many}{RULE}"), "");
        assert_eq!(names(&settings), [""; 0]);
        let rules: String = (0..400).map(|n| RULE.replace("tests", &n.to_string())).collect();
        assert_eq!(names(&of(&rules, "")), [""; 0]);
    }

    #[test]
    fn a_project_has_no_rules() {
        for text in [
            RULE,
            "[[rule]]\n",
            "[rule]\nname = 'x'\n",
            "rule = [{ name = 'x', tool = 'read', then = 'allow' }]\n",
        ] {
            let settings = of("", &format!("{text}[notify]\ndelay = '1m'\n"));
            assert_eq!((settings.rules(), settings.rule_tables()), (&[][..], &[][..]));
            let found = problems(&settings);
            let [problem] = &found[..] else { panic!("{text}: {found:?}") };
            assert!(
                problem.starts_with(".askbridge.toml:1:")
                    && problem.contains("only your own file may have rules"),
                "{problem}"
            );
            assert_eq!(settings.get(&keys::NOTIFY_DELAY).as_secs(), 60, "the rest counts");
        }
        let both = of(RULE, &RULE.replace("tests", "theirs"));
        assert_eq!(names(&both), ["tests"]);
    }
}
