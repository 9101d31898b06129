//! Reads a rule from its table, and finds the mistakes in it. A rule with a mistake decides nothing, since it could
//! match more than the user meant.

use std::{collections::BTreeMap, fmt, path::Path, sync::Arc};

use askbridge_core::{
    guard::is_hidden,
    question::{Origin, Purpose},
};
use serde_json::Value;

use super::{
    action::{Action, NamedValues, RuleEffect},
    conditions::{BrokenRule, Conditions, QuestionView, runs_commands},
    keys::{ACTIONS, DECIDING, WAYS},
    pattern::{AnyOf, CommandPattern, has_wildcard},
};
use crate::limits;

/// A rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    name: Arc<str>,
    conditions: Conditions,
    action: Action,
    /// The broken rules before this one, which may have been meant to keep a question from it.
    broken: Arc<[BrokenRule]>,
}

/// Something wrong in a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The key whose value is wrong. `None` if something is missing.
    pub key: Option<&'static str>,
    /// The mistake, and its remedy.
    pub message: String,
}

impl Rule {
    /// Reads a rule from the values of its keys. Keys that no rule has are ignored. `home` is the folder that `~`
    /// stands for.
    ///
    /// # Errors
    /// All mistakes in the rule.
    pub fn read(table: &BTreeMap<String, Value>, home: Option<&Path>) -> Result<Self, Vec<Mistake>> {
        let mut reader = Reader { table, mistakes: Vec::new() };
        // All parts are read even after a mistake, so that the user sees all mistakes at once.
        let name = reader.name();
        let conditions = reader.conditions(home);
        let action = reader.action();
        if let Some(action) = &action {
            reader.check(&conditions, action);
        }
        let mistakes = reader.mistakes;
        match (name, action) {
            (Some(name), Some(action)) if mistakes.is_empty() => {
                Ok(Rule { name, conditions, action, broken: Arc::default() })
            }
            _ => Err(mistakes),
        }
    }

    /// Reads the conditions without a mistake from a rule that has mistakes. If a part of the table could not be read
    /// (`is_whole` is false), no condition is used, since any of them may lack a text. Returns `None` if the rule was
    /// to allow or to answer, since without such a rule, the rules only decide less. Any other rule may have been meant
    /// to keep a question from the rules after it.
    pub fn left_out(
        table: &BTreeMap<String, Value>,
        is_whole: bool,
        home: Option<&Path>,
        place: String,
    ) -> Option<BrokenRule> {
        if table.get("then").and_then(Value::as_str).is_some_and(|then| DECIDING.contains(&then)) {
            return None;
        }
        let mut table = table.clone();
        if is_whole {
            // This first pass only finds the keys with a mistake.
            let mut reader = Reader { table: &table, mistakes: Vec::new() };
            reader.conditions(home);
            let wrong: Vec<_> = reader.mistakes.iter().filter_map(|mistake| mistake.key).collect();
            table.retain(|key, _| !wrong.contains(&key.as_str()));
        } else {
            table.clear();
        }
        let conditions = Reader { table: &table, mistakes: Vec::new() }.conditions(home);
        Some(BrokenRule::new(place, conditions))
    }

    /// Places the rule after these broken ones, so that it submits nothing for a question that one of them may match.
    #[must_use]
    pub fn behind(self, broken: &[BrokenRule]) -> Self {
        Rule { broken: broken.into(), ..self }
    }

    /// Returns its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Returns the program whose words the rule leaves open though it is not known what they do, if it allows something.
    pub fn unknown_program(&self) -> Option<String> {
        let allows = matches!(self.action, Action::Allow | Action::Answer(_));
        self.conditions.command.as_ref().filter(|_| allows)?.unknown_program()
    }

    /// Returns the effect of the rule on a question.
    ///
    /// # Errors
    /// Why the rule does not apply. The text is made only when it is displayed.
    pub(super) fn apply<'a>(&'a self, asked: &'a QuestionView<'_>) -> Result<RuleEffect, Mismatch<'a>> {
        if let Some(missed) = self.conditions.missed(asked) {
            return Err(Mismatch::Condition(Box::new(move || self.conditions.describe(missed, asked))));
        }
        let what = self.action.of(&self.conditions, asked).map_err(Mismatch::Action)?;
        // `hold` and `notify` leave the decision to the user, as the broken rule may have been meant to.
        match self.broken.iter().find(|broken| broken.may_match(asked)) {
            Some(broken) if matches!(what, RuleEffect::Submit(_)) => {
                Err(Mismatch::Action(broken.to_string()))
            }
            _ => Ok(what),
        }
    }
}

/// Why a rule does not apply.
pub(super) enum Mismatch<'a> {
    Condition(Box<dyn Fn() -> String + 'a>),
    Action(String),
}

impl fmt::Display for Mismatch<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Condition(describe) => formatter.write_str(&describe()),
            Mismatch::Action(why) => formatter.write_str(why),
        }
    }
}

struct Reader<'a> {
    table: &'a BTreeMap<String, Value>,
    mistakes: Vec<Mistake>,
}

impl Reader<'_> {
    fn wrong(&mut self, key: Option<&'static str>, message: impl Into<String>) {
        self.mistakes.push(Mistake { key, message: message.into() });
    }

    fn name(&mut self) -> Option<Arc<str>> {
        if !self.table.contains_key("name") {
            self.wrong(None, "a rule needs a `name`");
            return None;
        }
        let name = self.text("name")?;
        if name.len() > limits::NAME || name.chars().any(is_hidden) {
            let message = format!("a name has up to {} bytes, and no invisible characters", limits::NAME);
            self.wrong(Some("name"), message);
            return None;
        }
        Some(name.into())
    }

    fn conditions(&mut self, home: Option<&Path>) -> Conditions {
        let tool = self.texts("tool").unwrap_or_default();
        if tool.iter().any(|kind| has_wildcard(kind)) {
            self.wrong(Some("tool"), "the kind of a tool is an exact name: * and ? are not allowed");
        }
        let conditions = Conditions {
            agent: self.texts("agent").map(|texts| AnyOf::new(&texts)),
            project: self.project(home),
            session: self.texts("session").map(|texts| AnyOf::new(&texts)),
            purpose: self.purpose(),
            tool,
            command: self.command(),
            options: self.texts("options").unwrap_or_default(),
            origin: self.origin(),
            dangerous: self.flag("dangerous"),
        };
        // After a mistake, a condition may be missing only because it could not be read.
        if conditions.is_empty() && self.mistakes.is_empty() {
            let message = "a rule needs a condition: `agent`, `project`, `session`, `purpose`, `tool`, `command`, \
                           `options`, `origin` or `dangerous`";
            self.wrong(None, message);
        }
        conditions
    }

    fn project(&mut self, home: Option<&Path>) -> Option<AnyOf> {
        let mut texts = self.texts("project")?;
        for text in &mut texts {
            if let Some(home) = home.and_then(Path::to_str)
                && (*text == "~" || text.starts_with("~/"))
            {
                text.replace_range(..1, home.trim_end_matches('/'));
            }
            if !text.starts_with('/') {
                let message = format!("{text:?} does not begin with / or ~/");
                self.wrong(Some("project"), message);
            } else if text.split('/').any(|part| matches!(part, "." | "..")) {
                let message = format!("{text:?} has a `.` or `..` or an empty part: write the folder itself");
                self.wrong(Some("project"), message);
            }
        }
        // A folder has no slash at its end.
        Some(AnyOf::new(&texts.iter().map(|text| trimmed(text)).collect::<Vec<_>>()))
    }

    fn purpose(&mut self) -> Option<Purpose> {
        match &*self.text("purpose")? {
            "question" => Some(Purpose::Question),
            "permission" => Some(Purpose::Permission),
            other => {
                let message = format!("{other:?} is not \"question\" or \"permission\"");
                self.wrong(Some("purpose"), message);
                None
            }
        }
    }

    fn command(&mut self) -> Option<CommandPattern> {
        let read = match self.table.get("command")? {
            Value::String(text) => CommandPattern::of_text(text),
            Value::Array(words) => {
                match words.iter().map(|word| word.as_str().map(str::to_owned)).collect() {
                    Some(words) => CommandPattern::exact(words),
                    None => Err("each word of a command must be a text".to_owned()),
                }
            }
            _ => Err("a command must be a text, or a list of its exact words".to_owned()),
        };
        read.map_err(|message| self.wrong(Some("command"), message)).ok()
    }

    fn origin(&mut self) -> Vec<Origin> {
        let mut origins = Vec::new();
        for name in self.texts("origin").unwrap_or_default() {
            match serde_json::from_value::<Origin>(Value::String(name.clone())) {
                // A question may have an unknown origin, but in a rule it is a typing error.
                Ok(Origin::Other(_)) | Err(_) => {
                    let message = format!("{name:?} is not one of {}", Origin::NAMES.join(", "));
                    self.wrong(Some("origin"), message);
                }
                Ok(origin) => origins.push(origin),
            }
        }
        origins
    }

    fn action(&mut self) -> Option<Action> {
        if !self.table.contains_key("then") {
            self.wrong(None, format!("a rule needs `then`: one of {}", ACTIONS.join(", ")));
            return None;
        }
        let then = self.text("then")?;
        let used: &[&str] = match &*then {
            "answer" => &["answer"],
            "reject" => &["reason"],
            "notify" => &["by"],
            _ => &[],
        };
        for key in ["answer", "reason", "by"] {
            if self.table.contains_key(key) && !used.contains(&key) {
                self.wrong(Some(key), format!("`{key}` cannot be combined with `then = {then:?}`"));
            }
        }
        match &*then {
            "allow" => Some(Action::Allow),
            "hold" => Some(Action::Hold),
            "reject" if self.table.contains_key("reason") => Some(Action::Reject(Some(self.text("reason")?))),
            "reject" => Some(Action::Reject(None)),
            "answer" => match self.table.get("answer") {
                Some(value) => self.given(value).map(Action::Answer),
                None => self.missing("`then = \"answer\"` needs an `answer`"),
            },
            "notify" => self.ways().map(Action::Notify),
            other => {
                let message = format!("{other:?} is not one of {}", ACTIONS.join(", "));
                self.wrong(Some("then"), message);
                None
            }
        }
    }

    fn missing(&mut self, message: &str) -> Option<Action> {
        self.wrong(None, message);
        None
    }

    fn ways(&mut self) -> Option<Vec<String>> {
        if !self.table.contains_key("by") {
            self.wrong(None, "`then = \"notify\"` needs `by`, the ways to notify you");
            return None;
        }
        let ways = self.texts("by")?;
        match ways.iter().find(|way| !WAYS.contains(&way.as_str())) {
            Some(way) => {
                self.wrong(Some("by"), format!("{way:?} is not one of {}", WAYS.join(", ")));
                None
            }
            None => Some(ways),
        }
    }

    fn given(&mut self, value: &Value) -> Option<NamedValues> {
        let given = match value {
            Value::Object(fields) if fields.is_empty() => None,
            Value::Object(fields) => {
                let named = fields.iter().map(|(name, value)| Some((name.clone(), given_texts(value)?)));
                named.collect::<Option<BTreeMap<_, _>>>().map(NamedValues::Named)
            }
            value => given_texts(value).map(NamedValues::Only),
        };
        if given.is_none() {
            let message = "an answer must be a text, true or false, a number, a list of texts, or a table of these \
            by the names of the fields";
            self.wrong(Some("answer"), message);
        }
        given
    }

    /// Checks that the conditions of a rule that allows are narrow enough.
    fn check(&mut self, conditions: &Conditions, action: &Action) {
        // A rule with a mistake allows nothing, so its width does not matter until the mistake is corrected.
        if *action != Action::Allow || !self.mistakes.is_empty() {
            return;
        }
        match &conditions.command {
            Some(pattern) => {
                if let Err(message) = pattern.check_allowing() {
                    self.wrong(Some("command"), message);
                }
            }
            None if conditions.tool.is_empty() => {
                self.wrong(
                    None,
                    "a rule that allows something must name it: give the `command` or the `tool`",
                );
            }
            None if conditions.tool.iter().any(|kind| runs_commands(&kind.to_lowercase())) => {
                self.wrong(Some("tool"), "a rule that allows a command must name it: give the `command`");
            }
            None => {}
        }
    }

    fn text(&mut self, key: &'static str) -> Option<String> {
        match self.table.get(key)? {
            Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
            _ => {
                self.wrong(Some(key), format!("`{key}` must be a text"));
                None
            }
        }
    }

    fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        let texts = match self.table.get(key)? {
            Value::Array(texts) => {
                let text = |text: &Value| text.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
                texts.iter().map(text).collect::<Option<Vec<_>>>().filter(|texts| !texts.is_empty())
            }
            Value::String(text) if !text.trim().is_empty() => Some(vec![text.clone()]),
            _ => None,
        };
        if texts.is_none() {
            self.wrong(Some(key), format!("`{key}` must be a text, or a list of texts"));
        }
        texts
    }

    fn flag(&mut self, key: &'static str) -> Option<bool> {
        let value = self.table.get(key)?;
        if !value.is_boolean() {
            self.wrong(Some(key), format!("`{key}` must be true or false"));
        }
        value.as_bool()
    }
}

/// Returns a value of an answer as texts.
fn given_texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Bool(flag) => Some(vec![flag.to_string()]),
        Value::Number(number) => Some(vec![number.to_string()]),
        Value::Array(texts) if !texts.is_empty() => {
            texts.iter().map(|text| text.as_str().map(str::to_owned)).collect()
        }
        _ => None,
    }
}

fn trimmed(folder: &str) -> String {
    match folder.trim_end_matches('/') {
        "" => "/".to_owned(),
        folder => folder.to_owned(),
    }
}
