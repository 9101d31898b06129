//! How the demo asks its person for a permission: in plain lines, as `askbridge allow` does.

use std::{sync::Arc, time::SystemTime};

use askbridge_core::{
    desk::{Asker, BridgeName, QuestionId, Record, Submission},
    dialect::permission::request,
    guard,
    question::{Purpose, Value},
};
use askbridge_mock::{Consent, ConsentReply};
use serde_json::Value as Json;

use crate::present::dialogue::{Dialogue, DialogueReply};

/// Returns the dialogue for the permission in the parameters of this request. `None` if they ask for no permission.
pub fn consent(params: &Json) -> Option<Box<dyn Consent>> {
    let (mut question, _) = request::read(params.to_string().as_bytes(), "demo").ok()??;
    if question.purpose != Purpose::Permission {
        return None;
    }
    // A bridge assesses each question as well: without that, the dialogue would not warn of a dangerous command.
    guard::assess(&mut question);
    // The question never leaves this process, so it may have any ID.
    let id = QuestionId { bridge: BridgeName::default(), asker: Asker::Agent, number: 1 };
    let record = Record::new(id, Arc::new(question), SystemTime::now().into());
    Some(Box::new(PlainConsent(Dialogue::new(Arc::new(record)))))
}

struct PlainConsent(Dialogue);

impl Consent for PlainConsent {
    fn above(&self) -> Vec<String> {
        self.0.above()
    }

    fn prompt(&self) -> String {
        self.0.prompt()
    }

    fn typed(&mut self, line: &str) -> ConsentReply {
        let say = |line: &str| ConsentReply::Say(vec![line.to_owned()]);
        match self.0.typed(line) {
            DialogueReply::Say(lines) => ConsentReply::Say(lines),
            // A permission has one field, whose value is the chosen option.
            DialogueReply::Submit(Submission::Answer { answer, .. }) => {
                match answer.values.into_values().next() {
                    Some(Value::Text(option)) => ConsentReply::Option(option),
                    _ => ConsentReply::Denied,
                }
            }
            DialogueReply::Submit(Submission::Reject(_)) => ConsentReply::Denied,
            DialogueReply::Submit(Submission::Extend(_) | Submission::Later(_)) | DialogueReply::MoreTime => {
                say("It waits as long as it takes.")
            }
            DialogueReply::Leave => say("It stays open until it is answered, here or elsewhere."),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(command: &str) -> Box<dyn Consent> {
        let options = [["always", "allow_always"], ["once", "allow_once"], ["no", "reject_once"]];
        let options = options.map(|[id, kind]| json!({ "optionId": id, "name": id, "kind": kind }));
        let call = json!({ "toolCallId": "t", "title": command, "kind": "execute", "rawInput": { "command": command } });
        let asked = consent(&json!({ "sessionId": "s", "toolCall": call, "options": options }));
        asked.expect("a permission")
    }

    #[test]
    fn what_is_dangerous_takes_the_word_and_a_slip_stays_there() {
        let mut asked = asked("rm -rf build");
        assert!(asked.prompt().starts_with("Choose 1 to 3"), "{}", asked.prompt());
        assert_eq!(asked.typed("2"), ConsentReply::Say(Vec::new()));
        assert!(asked.above()[0].contains("`rm` removes"), "{:?}", asked.above());
        assert!(
            matches!(asked.typed("yse"), ConsentReply::Say(lines) if lines[0].contains("Nothing was sent"))
        );
        assert_eq!(asked.typed("yes"), ConsentReply::Option("once".to_owned()));
    }

    #[test]
    fn it_is_denied_with_a_reason_or_without() {
        for (lines, expected) in [
            (["3", ""], ConsentReply::Option("no".to_owned())),
            (["3", "not now"], ConsentReply::Denied),
            (["/reject", ""], ConsentReply::Denied),
        ] {
            let mut asked = asked("rm -rf build");
            asked.typed(lines[0]);
            assert_eq!(asked.typed(lines[1]), expected, "{lines:?}");
        }
    }

    #[test]
    fn a_question_in_the_shape_of_a_permission_is_left_to_others() {
        let options = json!([{ "optionId": "q0_opt_0", "name": "SQLite", "kind": "allow_once" }]);
        let params = json!({ "toolCall": { "toolCallId": "t", "title": "Which?" }, "options": options });
        assert!(consent(&params).is_none());
    }
}
