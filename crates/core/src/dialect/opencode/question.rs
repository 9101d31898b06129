//! Reads opencode's questions and permissions from JSON as questions, and reads from replies and events how each of
//! them ended. Assessing a permission, and cutting a long subject, is left to `dialect::permission`.
//!
//! Source: the permissions that the tools of opencode 1.18.33 ask for; their kinds are those of its ACP server.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value as Json, value::RawValue};

use crate::{
    dialect::{
        once,
        permission::{PermissionDescription, input as tool_input, said},
    },
    question::{
        Answer, Field, FieldOption, Kind, Origin, Outcome, Question, Reason, Role, Subject, Value, input,
    },
};

/// The end of a question or a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A question was answered: the labels or texts for each field in turn.
    Answered(Vec<Vec<String>>),
    /// A question was rejected.
    Rejected,
    /// A permission was allowed or rejected.
    Decided(Decision),
}

/// The replies to a permission that opencode knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Allowed this time.
    Once,
    /// Allowed from now on.
    Always,
    /// Refused.
    Reject,
}

impl Decision {
    /// Returns the value of its option.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Once => "once",
            Decision::Always => "always",
            Decision::Reject => "reject",
        }
    }
}

impl Ending {
    /// Returns it as the outcome of this question.
    pub fn outcome(&self, question: &Question) -> Outcome {
        match self {
            Ending::Answered(answers) => {
                let selections = answers.iter().cloned().map(Some).collect();
                Outcome::Answered(input::answer_from_texts(question, selections, Default::default()))
            }
            Ending::Rejected | Ending::Decided(Decision::Reject) => Outcome::Rejected(Reason::User),
            Ending::Decided(decision) => {
                let answer = question.fields.first().map(|field| Answer::text(&field.name, decision.name()));
                Outcome::Answered(answer.unwrap_or_default())
            }
        }
    }
}

/// A request for answers.
#[derive(Deserialize)]
pub(super) struct QuestionRequest {
    id: String,
    #[serde(rename = "sessionID")]
    session: String,
    questions: Vec<QuestionInfo>,
    tool: Option<ToolReference>,
}

#[derive(Deserialize)]
struct QuestionInfo {
    question: String,
    #[serde(default)]
    header: String,
    #[serde(default)]
    options: Vec<QuestionOption>,
    multiple: Option<bool>,
    /// Whether a text is accepted instead of an option. If the member is missing, it is.
    custom: Option<bool>,
}

#[derive(Deserialize)]
struct QuestionOption {
    label: String,
    #[serde(default)]
    description: String,
}

/// The tool call that a request belongs to.
#[derive(Deserialize)]
pub(super) struct ToolReference {
    #[serde(rename = "callID")]
    pub call: String,
}

impl QuestionRequest {
    /// Returns the question. `None` if it exceeds the limits.
    pub(super) fn into_question(self) -> Option<Question> {
        let fields = self.questions.into_iter().enumerate().map(|(place, info)| field(place, info)).collect();
        let question = Question {
            session: Some(self.session),
            tool_call: self.tool.map(|tool| tool.call),
            // An answer has a place for labels and texts only, and none for notes.
            notes: false,
            ..Question::new(Origin::Opencode, &self.id, fields)
        };
        question.check_limits().is_ok().then_some(question)
    }
}

fn field(place: usize, info: QuestionInfo) -> Field {
    let option = |option: QuestionOption| FieldOption {
        value: option.label.clone(),
        label: option.label,
        description: Some(option.description).filter(|text| !text.is_empty()),
        ..FieldOption::default()
    };
    let options = info.options.into_iter().map(option).collect();
    let kind = Kind::choice(options, info.multiple == Some(true), info.custom != Some(false));
    Field::at(place, info.question, Some(info.header).filter(|header| !header.is_empty()), kind)
}

/// Returns an answer as labels and texts for each field in turn.
pub(super) fn ending(question: &Question, answer: &Answer) -> Ending {
    let texts = |field: &Field| match answer.values.get(&field.name) {
        Some(Value::Text(text)) => vec![text.clone()],
        Some(Value::Many(texts)) => texts.clone(),
        Some(Value::Flag(flag)) => vec![flag.to_string()],
        Some(Value::Number(number)) => vec![number.to_string()],
        Some(Value::Null) | None => Vec::new(),
    };
    Ending::Answered(question.fields.iter().map(texts).collect())
}

/// Members of a permission that are read on their own.
const OF_PERMISSION: [&str; 7] = ["id", "sessionID", "permission", "patterns", "metadata", "always", "tool"];

/// A request for a permission.
#[derive(Deserialize)]
pub(super) struct PermissionRequest {
    id: String,
    #[serde(rename = "sessionID")]
    session: String,
    permission: String,
    #[serde(default)]
    patterns: Vec<String>,
    #[serde(default)]
    metadata: Metadata,
    /// The patterns that `always` would allow from now on.
    #[serde(default)]
    always: Vec<String>,
    tool: Option<ToolReference>,
}

/// The tool's description of its call.
#[derive(Default)]
struct Metadata {
    raw: String,
    members: Json,
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The input is kept as it came: a parsed value would lose a duplicated member.
        let raw = Box::<RawValue>::deserialize(deserializer)?.get().to_owned();
        let members = once::from_slice(raw.as_bytes()).unwrap_or_default();
        Ok(Metadata { raw, members })
    }
}

impl PermissionRequest {
    /// Returns the permission as a question. `None` if it exceeds the limits.
    pub(super) fn into_question(self, json: &str) -> Option<Question> {
        let mut subject = self.subject();
        let is_marked = said::add_unknown(&mut subject, json.as_bytes(), &OF_PERMISSION);
        let described = PermissionDescription {
            title: self.title(),
            options: self.options(&subject),
            subject,
            is_marked,
            session: Some(self.session),
            tool_call: self.tool.map(|tool| tool.call),
            ..PermissionDescription::default()
        };
        described.question(Origin::Opencode, &self.id).filter(|question| question.check_limits().is_ok())
    }

    fn options(&self, subject: &Subject) -> Vec<FieldOption> {
        let option = |decision: Decision, label: &str, role: Role| FieldOption {
            value: decision.name().to_owned(),
            label: label.to_owned(),
            role: Some(Box::new(role)),
            ..FieldOption::default()
        };
        // The same command again is no more than what is shown.
        let wider = self.always.iter().filter(|rule| Some(*rule) != subject.command.as_ref());
        let always = FieldOption {
            grants: wider.map(|rule| format!("From now on: {rule}")).collect(),
            ..option(Decision::Always, "Always allow", Role::AllowAlways)
        };
        // If opencode would remember nothing, `always` would be the same as `once`.
        let always = Some(always).filter(|_| !self.always.is_empty());
        let once = option(Decision::Once, "Allow once", Role::AllowOnce);
        let reject = option(Decision::Reject, "Reject", Role::RejectOnce);
        [Some(once), always, Some(reject)].into_iter().flatten().collect()
    }

    fn text(&self, name: &str) -> Option<String> {
        self.metadata
            .members
            .get(name)
            .and_then(Json::as_str)
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
    }

    fn path(&self) -> Option<String> {
        self.text("filepath").or_else(|| self.text("filePath"))
    }

    fn subject(&self) -> Subject {
        let kind = self.kind();
        let is_of_files = kind == "read" || self.permission == "external_directory";
        let patterns = self.patterns.iter().filter(|_| is_of_files).cloned();
        let mut locations: Vec<_> = self.path().into_iter().chain(patterns).collect();
        // The path may be repeated as the first pattern.
        locations.dedup();
        // The patterns of a command are its parts, without the text between them.
        let parts = || Some(self.patterns.join("\n")).filter(|parts| !parts.is_empty());
        let command = if kind == "execute" { self.text("command").or_else(parts) } else { None };
        let members = self.metadata.members.as_object();
        let grants = members.map(tool_input::of_input).unwrap_or_default();
        let raw_input = Some(&self.metadata.raw).filter(|raw| !matches!(raw.as_str(), "" | "null" | "{}"));
        Subject {
            kind: Some(kind.to_owned()),
            description: self.text("description"),
            command,
            locations,
            grants,
            patch: self.text("diff"),
            raw_input: raw_input.cloned(),
            ..Subject::default()
        }
    }

    /// Returns the kind of tool as ACP names it.
    fn kind(&self) -> &'static str {
        match &*self.permission {
            "bash" => "execute",
            "edit" | "write" | "patch" | "apply_patch" | "multiedit" => "edit",
            "webfetch" | "websearch" | "codesearch" => "fetch",
            "grep" | "glob" => "search",
            "read" | "list" => "read",
            _ => "other",
        }
    }

    /// Returns a heading. `None` for a command, which is its own heading.
    fn title(&self) -> Option<String> {
        if self.kind() == "execute" && !self.patterns.is_empty() {
            return None;
        }
        self.path().or_else(|| self.text("url")).or_else(|| Some(self.named()))
    }

    /// Returns a heading from the name of the permission and its patterns.
    fn named(&self) -> String {
        let about = self.patterns.iter().map(String::as_str).filter(|pattern| *pattern != "*");
        let about = about.collect::<Vec<_>>().join(", ");
        match about.is_empty() {
            true => format!("Permission to use {}", self.permission),
            false => format!("{}: {about}", self.permission),
        }
    }
}
