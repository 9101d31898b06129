//! opencode's permissions, from JSON to the model. What is dangerous, and how a subject is cut, is left to `permission`.
//!
//! Source: the permissions that the tools of opencode 1.18.33 ask for; their kinds are those of its ACP server.

use serde::{Deserialize, Deserializer};
use serde_json::{Value as Json, value::RawValue};

use super::{ending::Decision, question::ToolReference};
use crate::{
    dialect::{once, permission::PermissionDescription},
    limits,
    question::{FieldOption, Origin, Question, Role, Subject, subject::cut},
};

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
    /// What `always` would allow from now on.
    #[serde(default)]
    always: Vec<String>,
    tool: Option<ToolReference>,
}

/// What the tool says of its call.
#[derive(Default)]
struct Metadata {
    raw: String,
    members: Json,
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?.get().to_owned();
        let members = once::from_slice(raw.as_bytes()).unwrap_or_default();
        Ok(Metadata { raw, members })
    }
}

impl PermissionRequest {
    /// Returns the permission as a question. `None` for one that this program cannot hold.
    pub(super) fn into_question(self) -> Option<Question> {
        let described = PermissionDescription {
            title: self.title(),
            subject: self.subject(),
            options: self.options(),
            is_marked: false,
            session: Some(self.session),
            tool_call: self.tool.map(|tool| tool.call),
        };
        described.question(Origin::Opencode, &self.id).filter(|question| question.check_limits().is_ok())
    }

    fn options(&self) -> Vec<FieldOption> {
        let option = |decision: Decision, label: &str, role: Role| FieldOption {
            value: decision.name().to_owned(),
            label: label.to_owned(),
            role: Some(Box::new(role)),
            ..FieldOption::default()
        };
        let remembered = format!("From now on: {}", self.always.join(", "));
        let always = FieldOption {
            description: Some(cut(&remembered, limits::SUBJECT_LINE)),
            ..option(Decision::Always, "Always allow", Role::AllowAlways)
        };
        // Where nothing would be remembered, it would be the same as once.
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
        locations.dedup();
        // The patterns of a command are its parts, without what stands between them.
        let parts = || Some(self.patterns.join("\n")).filter(|parts| !parts.is_empty());
        let command = if kind == "execute" { self.text("command").or_else(parts) } else { None };
        let raw_input = Some(&self.metadata.raw).filter(|raw| !matches!(raw.as_str(), "" | "null" | "{}"));
        Subject {
            kind: Some(kind.to_owned()),
            description: self.text("description"),
            command,
            locations,
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

    /// Returns a heading. A command is its own.
    fn title(&self) -> Option<String> {
        if self.kind() == "execute" && !self.patterns.is_empty() {
            return None;
        }
        self.path().or_else(|| self.text("url")).or_else(|| Some(self.named()))
    }

    /// Returns a heading from the name of the permission and what it is about.
    fn named(&self) -> String {
        let about = self.patterns.iter().map(String::as_str).filter(|pattern| *pattern != "*");
        let about = about.collect::<Vec<_>>().join(", ");
        match about.is_empty() {
            true => format!("Permission to use {}", self.permission),
            false => format!("{}: {about}", self.permission),
        }
    }
}
