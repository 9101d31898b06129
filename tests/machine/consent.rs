//! I12, watched during a conversation: the agent is never sent a result that allows something, unless the client said
//! exactly that line, or a responder named exactly that option of that permission. And one result is sent per request.

use std::collections::{BTreeMap, BTreeSet};

use askbridge_core::{
    desk::{Record, Submission},
    question::{Answer, Purpose, Value},
};
use serde_json::Value as Json;

/// What was offered, and what was chosen. The IDs of options end with the number of their request (`asks`).
#[derive(Default)]
pub(crate) struct Consent {
    /// The ID of the request that offers an option.
    offered: BTreeMap<String, u8>,
    /// The options of each permission that opened in the inbox.
    opened: BTreeMap<u64, Vec<String>>,
    /// What the client said behind the ID, by its bytes. The ID may be another: where the client still holds a request
    /// with the ID of a new one, the bridge gives the new one an ID of its own.
    said: BTreeSet<Vec<u8>>,
    /// The options that a responder named.
    named: BTreeSet<String>,
    /// The numbers of the requests of which an option was selected.
    selected: BTreeSet<String>,
}

impl Consent {
    /// The agent asks this under an ID.
    pub(crate) fn asked(&mut self, id: u8, params: &Json) {
        let options = params["options"].as_array().into_iter().flatten();
        let ids = options.filter_map(|option| Some((option["optionId"].as_str()?.to_owned(), id)));
        self.offered.extend(ids);
    }

    pub(crate) fn opened(&mut self, record: &Record) {
        if record.question.purpose == Purpose::Permission {
            let options = record.question.fields[0].kind.options().iter().map(|option| option.value.clone());
            self.opened.insert(record.id.number, options.collect());
        }
    }

    pub(crate) fn client_said(&mut self, line: &str) {
        self.said.insert(behind_id(line.as_bytes()).to_vec());
    }

    /// Returns what a responder submits: an answer with any option or with none of them, a rejection, or an extension.
    /// Returns `None` while there was no permission.
    pub(crate) fn submit(&mut self, which: usize, how: usize) -> Option<(u64, Submission)> {
        let (number, options) = self.opened.iter().nth(which % self.opened.len().max(1))?;
        let submission = match how {
            0 => Submission::Reject(None),
            1 => Submission::Reject(Some("no".to_owned())),
            2 => Submission::Extend(std::time::Duration::from_secs(3)),
            3 => answer("allow"),
            how => {
                let option = &options[how % options.len()];
                self.named.insert(option.clone());
                answer(option)
            }
        };
        Some((*number, submission))
    }

    /// Checks a line that reaches the agent from the client or the bridge. `is_clear` says whether the ID of the
    /// response names a single request.
    pub(crate) fn agent_hears(&mut self, line: &[u8], is_clear: impl Fn(u8) -> bool) {
        let Ok(said) = serde_json::from_slice::<Json>(line) else { return };
        let Some(option) = said.pointer("/result/outcome/optionId").and_then(Json::as_str) else { return };
        let Some(id) = self.offered.get(option) else { return };
        // While an ID names two requests, the bridge lets all responses go on as they are.
        let is_clear = is_clear(*id);
        assert!(said["id"] == *id || !is_clear, "the option of another request: {said}");
        let allows = option.starts_with("allow") || option.starts_with("always");
        let is_chosen = self.said.contains(behind_id(line)) || self.named.contains(option);
        assert!(
            !allows || is_chosen,
            "it was allowed, and neither the client nor a responder chose that: {said}"
        );
        let number = option.rsplit('-').next().unwrap_or_default();
        let is_first = self.selected.insert(number.to_owned());
        assert!(is_first || !is_clear, "a second result for one permission: {said}");
    }
}

fn behind_id(line: &[u8]) -> &[u8] {
    let place = line.windows(4).position(|bytes| bytes == br#""id""#).expect("an ID");
    let length = line[place..].iter().position(|byte| *byte == b',').expect("more than an ID");
    line[place + length..].trim_ascii_end()
}

fn answer(option: &str) -> Submission {
    let values = [("q0".to_owned(), Value::Text(option.to_owned()))].into();
    Submission::answer(Answer { values, ..Answer::default() }, None)
}
