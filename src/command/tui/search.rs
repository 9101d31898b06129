//! The search of the list: what is typed, and which questions it finds.
//! Pure. Its keys, and the list of what is found, are left to `list.rs`.

use super::{editor::Editor, event::QuestionItem};
use crate::present::{filter::Filter, text};

/// What the person searches for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    typed: Editor,
    /// The words that are typed, in lower case.
    words: Vec<String>,
    /// What the words such as `project:shop` select.
    only: Filter,
    /// Whether keys type into it.
    pub is_typing: bool,
}

impl Search {
    /// Returns whether no word is typed, so that every question is found.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.only.is_empty()
    }

    /// Returns what is typed.
    pub fn text(&self) -> &str {
        self.typed.text()
    }

    /// Returns what is typed, with its cursor.
    pub(super) fn editor(&self) -> &Editor {
        &self.typed
    }

    /// Returns whether each word is in what the list says of a question: its title, its project, its agent, or its ID,
    /// which begins with the name of another machine. A word such as `risk:acts` selects by what it names.
    pub fn finds(&self, item: &QuestionItem) -> bool {
        if !self.only.keeps(&item.record, item.agent.as_deref()) {
            return false;
        }
        if self.words.is_empty() {
            return true;
        }
        let said = said(item).to_lowercase();
        self.words.iter().all(|word| said.contains(word.as_str()))
    }

    /// Changes what is typed.
    pub(super) fn edit(&mut self, change: impl FnOnce(&mut Editor)) {
        change(&mut self.typed);
        let mut only = Filter::default();
        let words = self.typed.text().split_whitespace().filter(|word| !only.take(word));
        self.words = words.map(str::to_lowercase).collect();
        self.only = only;
    }
}

/// Returns the text of a question that is searched.
fn said(item: &QuestionItem) -> String {
    let question = &item.record.question;
    let project = text::project(question).unwrap_or_default();
    let agent = item.agent.as_deref().unwrap_or_default();
    let (title, id) = (question.title.as_deref().unwrap_or_default(), &item.record.id);
    // No word has a line break in it, so none is found across two texts.
    [&*question.summary(), title, question.heading(), &project, agent, &id.to_string()].join("\n")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use askbridge_core::{desk::Record, question::Origin, question::Question};
    use serde_json::json;

    use super::*;

    fn item(title: &str, label: &str) -> QuestionItem {
        item_in("k3f9q2", title, label)
    }

    fn item_in(bridge: &str, title: &str, label: &str) -> QuestionItem {
        let field = json!([{ "name": "f", "label": label, "kind": "text" }]);
        let mut question =
            Question::new(Origin::Program, "q", serde_json::from_value(field).expect("a field"));
        (question.title, question.project) = (Some(title.into()), Some("/src/Payments".into()));
        let record = json!({ "id": format!("{bridge}-7"), "bridge": bridge, "openedAt": "2026-11-21T12:00:00Z", "question": question });
        let record: Record = serde_json::from_value(record).expect("a record");
        let now = record.opened_at;
        QuestionItem { record: Arc::new(record), agent: Some("Claude Code".to_owned()), now }
    }

    #[test]
    fn a_question_is_found_by_all_that_the_list_says_of_it() {
        let item = item("Übersicht: Which Database?", "Say it");
        for (typed, finds) in [
            ("", true),
            ("  ", true),
            ("database", true),
            ("DATA which", true),
            ("übersicht", true),
            ("payments claude", true),
            ("k3f9q2-7", true),
            ("src", false),
            ("database codex", false),
            ("project:payments which", true),
            ("project:pay which", false),
            ("agent:claude_code", true),
            ("kind:permission", false),
            ("risk:", false),
        ] {
            let mut search = Search::default();
            search.edit(|editor| editor.insert(typed, false));
            assert_eq!(search.finds(&item), finds, "{typed:?}");
            assert_eq!(search.is_empty(), typed.trim().is_empty(), "{typed:?}");
        }
    }

    #[test]
    fn a_question_is_found_by_its_machine() {
        for (bridge, finds) in [("dev-box/k3f9q2", true), ("k3f9q2", false)] {
            let mut search = Search::default();
            search.edit(|editor| editor.insert("dev-box", false));
            assert_eq!(search.finds(&item_in(bridge, "a", "b")), finds, "{bridge}");
        }
    }

    #[test]
    fn a_word_is_not_found_across_two_texts() {
        let mut search = Search::default();
        search.edit(|editor| editor.insert("paymentsclaude", false));
        assert!(!search.finds(&item("a", "b")));
    }
}
