//! Something that a client is asked: which request it is, and how it is answered, rejected or cancelled.
//! Reading the fields is left to the kind of request, and answering them to `given.rs` and `person.rs`.

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    elicitation,
    form::Form,
    permission::{self, Permission},
};
use crate::{
    cli::Tier,
    mock::message::{CANCELLED, INVALID_PARAMS, Id, Params, RpcError},
};

const NATIVE: &str = "_sandboxagent/session/request_question";
const ELICITATION: &str = "elicitation/create";
const PERMISSION: &str = "session/request_permission";

/// A request that was understood, and is not answered yet.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) id: Id,
    pub(super) form: Form,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Native,
    /// A form, with the keys of its fields.
    Elicitation(Vec<String>),
    Permission(Permission),
}

/// What a client of this tier says that it can do.
pub(super) fn capabilities(tier: Tier) -> Value {
    match tier {
        Tier::Native => {
            json!({ "_meta": { "sandboxagent.dev": { "extensions": { "sessionRequestQuestion": true } } } })
        }
        Tier::Forms => json!({ "elicitation": { "form": {} } }),
        Tier::Permission | Tier::Silent | Tier::Approve => json!({}),
    }
}

impl Asked {
    /// Reads a request, or returns `None` if a client of this tier does not know the method.
    pub(super) fn read(tier: Tier, id: &Id, method: &str, params: &Params) -> Option<Result<Self, RpcError>> {
        let read = match (method, tier) {
            (NATIVE, Tier::Native) => params.read().map(|params| {
                let form = Form::read(&params)?;
                Some((form, Kind::Native))
            }),
            (ELICITATION, Tier::Forms) => params.read().and_then(|params| {
                let form = elicitation::read(params)?;
                Ok(form.map(|(form, keys)| (form, Kind::Elicitation(keys))))
            }),
            (PERMISSION, _) => params.read().map(|params| {
                let (form, permission) = permission::read(&params)?;
                Some((form, Kind::Permission(permission)))
            }),
            _ => return None,
        };
        Some(match read {
            Ok(Some((form, kind))) => Ok(Self { id: id.clone(), form, kind }),
            Ok(None) => Err(RpcError::new(INVALID_PARAMS, "the question was not understood")),
            Err(error) => Err(error),
        })
    }

    pub(super) fn is_permission(&self) -> bool {
        matches!(self.kind, Kind::Permission(_))
    }

    /// The option that a client takes which asks nobody.
    pub(super) fn first_allowed(&self) -> Option<&str> {
        match &self.kind {
            Kind::Permission(permission) => permission.first("allow_"),
            Kind::Native | Kind::Elicitation(_) => None,
        }
    }

    /// The result for values of each field. No values at all are a rejection.
    pub(super) fn result(&self, answers: &[Vec<String>]) -> Value {
        if !self.form.fields.is_empty() && answers.iter().all(Vec::is_empty) {
            return self.rejection();
        }
        match &self.kind {
            Kind::Native => answered(&Answer::Answered { answers }),
            Kind::Elicitation(keys) => {
                let fields = keys.iter().zip(&self.form.fields).zip(answers);
                let content =
                    fields.filter_map(|((key, field), values)| Some((key.clone(), field.content(values)?)));
                json!({ "action": "accept", "content": Value::Object(content.collect()) })
            }
            Kind::Permission(_) => answers
                .concat()
                .first()
                .map_or_else(permission::cancelled, |option| permission::selected(option)),
        }
    }

    fn rejection(&self) -> Value {
        match &self.kind {
            Kind::Native => answered(&Answer::Rejected),
            Kind::Elicitation(_) => json!({ "action": "decline" }),
            Kind::Permission(permission) => {
                permission.first("reject_").map_or_else(permission::cancelled, permission::selected)
            }
        }
    }

    /// The response to a request that was cancelled before it was answered.
    pub(super) fn cancelled(&self) -> Result<Value, RpcError> {
        match &self.kind {
            Kind::Native => Err(RpcError::new(CANCELLED, "request cancelled")),
            Kind::Elicitation(_) => Ok(json!({ "action": "cancel" })),
            Kind::Permission(_) => Ok(permission::cancelled()),
        }
    }
}

/// What the agent hears in the native dialect.
#[derive(Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum Answer<'a> {
    Answered { answers: &'a [Vec<String>] },
    Rejected,
}

fn answered(answer: &Answer<'_>) -> Value {
    json!(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::message::{self, Message};

    fn read(tier: Tier, method: &str, params: &Value) -> Option<Result<Asked, RpcError>> {
        let line = message::request(0, method, params).unwrap();
        let Ok(Message::Request { id, method, params }) = Message::read(&line) else { panic!("no request") };
        Asked::read(tier, &id, &method, &params)
    }

    fn permission(kinds: &[&str]) -> Asked {
        let options: Vec<Value> = kinds
            .iter()
            .map(|kind| json!({ "optionId": format!("{kind} id"), "name": kind, "kind": kind }))
            .collect();
        let params = json!({ "toolCall": { "toolCallId": "t" }, "options": options });
        read(Tier::Approve, PERMISSION, &params).unwrap().unwrap()
    }

    #[test]
    fn each_tier_knows_its_own_methods() {
        let native = json!({ "prompt": "?" });
        let form = json!({ "mode": "form", "requestedSchema": { "properties": {} } });
        for tier in [Tier::Native, Tier::Forms, Tier::Permission, Tier::Silent, Tier::Approve] {
            assert_eq!(read(tier, NATIVE, &native).is_some(), tier == Tier::Native);
            assert_eq!(read(tier, ELICITATION, &form).is_some(), tier == Tier::Forms);
            assert!(read(tier, PERMISSION, &json!({})).unwrap().is_err(), "it is known, and has no options");
        }
    }

    #[test]
    fn nonsense_is_an_error_and_no_more() {
        let nonsense = [
            json!(null),
            json!([]),
            json!("text"),
            json!({}),
            json!({ "options": {}, "toolCall": [], "requestedSchema": [], "questions": {} }),
            json!({ "options": [5], "toolCall": { "title": "?" }, "prompt": 5 }),
            json!({ "requestedSchema": { "properties": [] } }),
            json!({ "questions": [5] }),
        ];
        for params in &nonsense {
            for (tier, method) in
                [(Tier::Native, NATIVE), (Tier::Forms, ELICITATION), (Tier::Silent, PERMISSION)]
            {
                assert!(read(tier, method, params).unwrap().is_err(), "{method} {params}");
            }
        }
    }

    #[test]
    fn an_answer_is_said_as_the_request_takes_it() {
        let native = read(Tier::Native, NATIVE, &json!({ "prompt": "?" })).unwrap().unwrap();
        let values = [vec!["a".to_owned()]];
        assert_eq!(native.result(&values), json!({ "status": "answered", "answers": [["a"]] }));
        assert_eq!(native.result(&[Vec::new()]), json!({ "status": "rejected" }));
        assert_eq!(native.cancelled().unwrap_err().code, CANCELLED);

        let properties = json!({ "k": { "type": "string" }, "left": { "type": "string" } });
        let form = json!({ "mode": "form", "requestedSchema": { "properties": properties } });
        let form = read(Tier::Forms, ELICITATION, &form).unwrap().unwrap();
        let values = [vec!["a".to_owned()], Vec::new()];
        assert_eq!(form.result(&values), json!({ "action": "accept", "content": { "k": "a" } }));
        assert_eq!(form.result(&[Vec::new(), Vec::new()]), json!({ "action": "decline" }));
        assert_eq!(form.cancelled(), Ok(json!({ "action": "cancel" })));
    }

    #[test]
    fn a_form_without_fields_is_accepted() {
        let form = json!({ "mode": "form", "requestedSchema": { "properties": {} } });
        let form = read(Tier::Forms, ELICITATION, &form).unwrap().unwrap();
        assert_eq!(form.result(&[]), json!({ "action": "accept", "content": {} }));
    }

    #[test]
    fn a_permission_request_is_rejected_by_its_own_option_if_it_has_one() {
        let asked = permission(&["allow_once", "reject_once"]);
        let chosen = json!({ "outcome": { "outcome": "selected", "optionId": "reject_once id" } });
        assert_eq!(asked.result(&[Vec::new()]), chosen);
        let cancelled = json!({ "outcome": { "outcome": "cancelled" } });
        assert_eq!(permission(&["allow_once"]).result(&[Vec::new()]), cancelled);
        assert_eq!(asked.cancelled(), Ok(cancelled));
    }

    #[test]
    fn the_first_option_that_allows_is_known() {
        assert_eq!(
            permission(&["reject_once", "allow_always", "allow_once"]).first_allowed(),
            Some("allow_always id")
        );
        assert_eq!(permission(&["reject_once"]).first_allowed(), None);
    }
}
