//! A case: its head, which says the rule and under which fault the case must fail, and its steps.
//! What a step means is left to `step.rs`, where the cases come from to `library.rs`.

use std::fmt;

use crate::{
    rule::Rule,
    step::{self, Step},
};

/// How binding the rule of a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The protocol demands it.
    Must,
    /// The protocol recommends it, or peers rely on it.
    Should,
    /// askbridge promises it.
    Ours,
}

impl Level {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Ours => "ours",
        }
    }
}

/// How a line is compared with the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// As JSON values: white space, the order of members and the spelling of strings do not count.
    Json,
    /// Byte for byte.
    Bytes,
}

/// One conformance case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its path without the extension, such as `bridge/order/updates`.
    pub id: String,
    /// The rule, in one sentence.
    pub rule: String,
    /// How binding the rule is.
    pub level: Level,
    /// Where the rule stands.
    pub source: String,
    /// The faults of the mock under which the case must fail, each of them alone.
    pub faults: Vec<String>,
    /// Parts that the command must have, such as `inbox`. Without them, the case is skipped.
    pub needs: Vec<String>,
    /// How lines are compared.
    pub matching: Match,
    /// The rules that it judges in the lines of all cases of a run.
    pub everywhere: Vec<Rule>,
    /// Whether the checker itself writes messages that do not fit the schema of ACP.
    pub is_malformed: bool,
    pub(crate) steps: Vec<Step>,
    /// How many of the steps are the opening that it shares with other cases.
    pub(crate) opening: usize,
}

/// Why a case cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}: {why}")]
pub struct CaseError {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) why: String,
}

impl Case {
    /// Reads a case. `given` returns the text of the steps that a case begins with, by their name.
    ///
    /// # Errors
    /// If a line is of no known form, or the head lacks something.
    pub fn read(id: &str, text: &str, given: impl Fn(&str) -> Option<String>) -> Result<Self, CaseError> {
        let file = format!("{id}.txt");
        let wrong = |line: usize, why: String| CaseError { file: file.clone(), line, why };
        let mut head = Head::default();
        let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
        for (at, line) in lines.by_ref().take_while(|(_, line)| !line.is_empty()) {
            head.line(line).map_err(|why| wrong(at, why))?;
        }
        let mut steps = Vec::new();
        if let Some(name) = &head.given {
            let text = given(name).ok_or_else(|| wrong(1, format!("no steps are named `{name}`")))?;
            let file = format!("given/{name}.txt");
            let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
            steps.extend(step::read(&file, lines).map_err(|(line, why)| CaseError { file, line, why })?);
        }
        let opening = steps.len();
        steps.extend(step::read(&file, lines).map_err(|(at, why)| wrong(at, why))?);
        let lacks = |what: &str| wrong(1, format!("the head has no `{what}`"));
        Ok(Self {
            id: id.to_owned(),
            rule: head.rule.ok_or_else(|| lacks("# RULE"))?,
            level: head.level.ok_or_else(|| lacks("level:"))?,
            source: head.source.ok_or_else(|| lacks("source:"))?,
            faults: head.faults,
            needs: head.needs,
            matching: head.matching.unwrap_or(Match::Json),
            everywhere: head.everywhere,
            is_malformed: head.is_malformed,
            steps,
            opening,
        })
    }

    /// Returns the group of the case: its ID without the last part.
    pub fn group(&self) -> &str {
        self.id.rsplit_once('/').map_or("", |(group, _)| group)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}

/// The lines of a case before the first empty one.
#[derive(Default)]
struct Head {
    rule: Option<String>,
    level: Option<Level>,
    source: Option<String>,
    faults: Vec<String>,
    needs: Vec<String>,
    matching: Option<Match>,
    everywhere: Vec<Rule>,
    is_malformed: bool,
    given: Option<String>,
}

impl Head {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(text) = line.strip_prefix("# ") {
            // Further lines are remarks.
            self.rule.get_or_insert_with(|| text.to_owned());
            return Ok(());
        }
        let (name, value) = line.split_once(": ").ok_or("not a line of a head: `NAME: VALUE`")?;
        match name {
            "level" => self.level = Some(level(value)?),
            "source" => self.source = Some(value.to_owned()),
            "fault" => self.faults.push(value.to_owned()),
            "needs" => self.needs.push(value.to_owned()),
            "match" => self.matching = Some(matching(value)?),
            "everywhere" => {
                self.everywhere
                    .push(Rule::named(value).ok_or_else(|| format!("no rule is named `{value}`"))?);
            }
            "malformed" if value == "yes" => self.is_malformed = true,
            "given" => self.given = Some(value.to_owned()),
            _ => return Err(format!("a head has no `{name}`")),
        }
        Ok(())
    }
}

fn level(name: &str) -> Result<Level, String> {
    let found = [Level::Must, Level::Should, Level::Ours].into_iter().find(|level| level.name() == name);
    found.ok_or_else(|| format!("`{name}` is not a level: must, should or ours"))
}

fn matching(name: &str) -> Result<Match, String> {
    match name {
        "json" => Ok(Match::Json),
        "bytes" => Ok(Match::Bytes),
        _ => Err(format!("lines cannot be compared by `{name}`: json or bytes")),
    }
}
