//! The changes of files that Codex announces: the approval that comes next names their item, and not what changes.
//! How they look in a question is left to `file_change.rs`.

use std::collections::VecDeque;

use super::file_change;
use crate::{
    limits,
    question::Question,
    wire::scan::{member, text},
};

/// What an item that changes files says of its type.
const ITEM_TYPE: &str = "fileChange";

/// The last items that change files, as JSON, oldest first.
#[derive(Debug, Default)]
pub struct Changes(VecDeque<Box<[u8]>>);

impl Changes {
    /// Takes in an item. One that changes no files, or that is longer than the limit, is left out.
    pub fn push(&mut self, item: &[u8]) {
        let is_change = member(item, "type").and_then(text).is_some_and(|kind| kind == ITEM_TYPE);
        let Some(id) = member(item, "id").filter(|_| is_change) else { return };
        self.0.retain(|other| member(other, "id") != Some(id));
        if item.len() > limits::CODEX_CHANGE {
            return;
        }
        if self.0.len() == limits::CODEX_CHANGES {
            self.0.pop_front();
        }
        self.0.push_back(item.into());
    }

    /// Adds the changes to an approval of file changes, if its item is known.
    pub fn complete(&self, question: &mut Question) {
        let Some(wanted) = question.tool_call.as_deref() else { return };
        let is_wanted = |item: &[u8]| member(item, "id").and_then(text).is_some_and(|id| id == wanted);
        if let Some(item) = self.0.iter().find(|item| is_wanted(item)) {
            file_change::complete(question, item);
        }
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::codex;

    fn item(id: usize, path: &str) -> String {
        format!(
            r#"{{"type":"fileChange","id":"{id}","changes":[{{"path":"{path}","kind":{{"type":"add"}},"diff":"a"}}]}}"#
        )
    }

    /// Returns the locations of an approval of this item.
    fn locations(changes: &Changes, id: usize) -> Vec<String> {
        let params = format!(r#"{{"threadId":"t","itemId":"{id}"}}"#);
        let read = codex::read(codex::request::FILE_CHANGE, params.as_bytes(), "q");
        let (mut question, _) = read.expect("it is a question");
        changes.complete(&mut question);
        question.subject.map(|subject| subject.locations).unwrap_or_default()
    }

    #[test]
    fn last_changes_are_known_by_their_item() {
        let mut changes = Changes::default();
        (0..=limits::CODEX_CHANGES).for_each(|id| changes.push(item(id, "/p/a").as_bytes()));
        assert_eq!(locations(&changes, 0), [""; 0]);
        assert_eq!(locations(&changes, 1), ["/p/a"]);
        changes.push(item(1, "/p/b").as_bytes());
        assert_eq!(locations(&changes, 1), ["/p/b"]);
        assert_eq!(locations(&changes, 2), ["/p/a"], "an item that comes again takes no further room");
        changes.push(item(1, &"x".repeat(limits::CODEX_CHANGE)).as_bytes());
        assert_eq!(locations(&changes, 1), [""; 0], "what is out of date is not shown");
        for other in [&b"5"[..], br#"{"type":"agentMessage","id":"7"}"#, br#"{"type":"fileChange"}"#] {
            changes.push(other);
        }
        assert_eq!(changes.0.len(), limits::CODEX_CHANGES - 1);
        changes.clear();
        assert_eq!(locations(&changes, 2), [""; 0]);
    }
}
