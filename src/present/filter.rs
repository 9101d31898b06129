//! Which questions a list shows: by project, agent, kind and risk, as options of a command or as words of a search.

use std::path::Path;

use askbridge_core::{
    desk::Record,
    question::{Question, Risk},
};

use super::text;

/// What the questions of a list have in common. What is absent does not count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// The name of the project's folder, or its path or that of a folder above it.
    pub project: Option<String>,
    /// A part of the agent's name.
    pub agent: Option<String>,
    /// `question`, `permission`, or the kind of a permission's tool, such as `execute`.
    pub kind: Option<String>,
    /// What it risks.
    pub risk: Option<Risk>,
    /// Whether only what is set aside counts.
    pub later: bool,
}

impl Filter {
    /// Returns whether it keeps every question.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// Returns whether it keeps a question. `agent` is the name by which the list shows its agent.
    pub fn keeps(&self, record: &Record, agent: Option<&str>) -> bool {
        let question = &*record.question;
        let has = |wanted: &Option<String>, fits: &dyn Fn(&str) -> bool| wanted.as_deref().is_none_or(fits);
        has(&self.project, &|project| is_in(question, project))
            && has(&self.agent, &|name| agent.is_some_and(|agent| plain(agent).contains(&plain(name))))
            && has(&self.kind, &|kind| is_of_kind(question, kind))
            && self.risk.is_none_or(|risk| question.risk() == risk)
            && (!self.later || record.later.is_some())
    }

    /// Takes a word of a search such as `project:shop`. Returns whether it is one; any other word is a text to look for.
    pub fn take(&mut self, word: &str) -> bool {
        let Some((name, value)) = word.split_once(':').filter(|(_, value)| !value.is_empty()) else {
            return false;
        };
        match name {
            "project" => self.project = Some(value.to_owned()),
            "agent" => self.agent = Some(value.to_owned()),
            "is" if value == "later" => self.later = true,
            "kind" => self.kind = Some(value.to_owned()),
            "risk" => match risk(value) {
                Some(risk) => self.risk = Some(risk),
                None => return false,
            },
            _ => return false,
        }
        true
    }
}

/// Reads the name of a degree of risk.
pub fn risk(name: &str) -> Option<Risk> {
    [Risk::Plain, Risk::Acts, Risk::Dangerous].into_iter().find(|risk| risk.name() == name)
}

fn is_in(question: &Question, wanted: &str) -> bool {
    let is_below = || question.project.as_deref().is_some_and(|folder| Path::new(folder).starts_with(wanted));
    let has_name = || text::project(question).is_some_and(|name| plain(&name) == plain(wanted));
    if wanted.starts_with('/') { is_below() } else { has_name() }
}

fn is_of_kind(question: &Question, wanted: &str) -> bool {
    let tool = question.subject.as_deref().and_then(|subject| subject.kind.as_deref());
    [Some(question.purpose.name()), tool].into_iter().flatten().any(|kind| kind.eq_ignore_ascii_case(wanted))
}

/// Returns a name as it is compared: without case, and with `_` for a space, which would end a word of a search.
fn plain(name: &str) -> String {
    name.to_lowercase().replace(char::is_whitespace, "_")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_question_is_kept_if_all_of_it_fits() {
        let question = json!({ "questionId": "q", "message": "?", "fields": [], "origin": "acp_permission", "dangerous": true,
            "risk": "acts", "blocking": true, "purpose": "permission", "project": "/people/ada/Shop",
            "subject": { "kind": "execute", "command": "make" } });
        let record =
            json!({ "id": "b-1", "bridge": "b", "openedAt": "2026-11-29T12:00:00Z", "question": question });
        let record: Record = serde_json::from_value(record).expect("a record");
        for (words, keeps) in [
            ("", true),
            ("project:shop", true),
            ("project:sho", false),
            ("project:/people/ada", true),
            ("project:/people/ad", false),
            ("project:/people/ada/Shop", true),
            ("agent:claude", true),
            ("agent:Claude_Code", true),
            ("agent:codex", false),
            ("kind:permission", true),
            ("kind:execute", true),
            ("kind:EXECUTE", true),
            ("kind:question", false),
            ("risk:acts", true),
            ("risk:plain", false),
            ("project:shop agent:claude kind:execute risk:acts", true),
            ("project:shop risk:dangerous", false),
        ] {
            let mut filter = Filter::default();
            assert!(words.split_whitespace().all(|word| filter.take(word)), "{words}");
            assert_eq!(filter.keeps(&record, Some("Claude Code")), keeps, "{words}");
        }
        for word in ["shop", "project:", "risk:much", "name:x", "http://a"] {
            assert!(!Filter::default().take(word), "{word}");
        }
        assert!(!Filter { agent: Some("a".into()), ..Filter::default() }.keeps(&record, None));
    }
}
