//! A request that asks the client something, and the results that answer, reject or cancel it.
//! Reading the fields is left to `form.rs` and `permission.rs`.

use std::time::Instant;

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    form::{self, ClientForm},
    permission::{self, Permission, ToolCalls},
};
use crate::{
    ClientKind, PermissionAnswer,
    message::{CANCELLED, INVALID_PARAMS, Id, Params, RpcError},
};

const NATIVE: &str = "_sandboxagent/session/request_question";
const ELICITATION: &str = "elicitation/create";
const PERMISSION: &str = "session/request_permission";

/// A valid request without a response yet.
#[derive(Debug)]
pub(super) struct AgentRequest {
    pub(super) id: Id,
    pub(super) form: ClientForm,
    pub(super) arrived: Instant,
    kind: RequestKind,
}

/// The method of a request, with what the result needs.
#[derive(Debug)]
enum RequestKind {
    Native,
    /// A form with the keys of its fields.
    Elicitation(Vec<String>),
    Permission(Permission),
}

/// Returns the capabilities that a client of this kind advertises.
pub(super) fn capabilities(client: ClientKind) -> Value {
    match client {
        ClientKind::Native => {
            json!({ "_meta": { "sandboxagent.dev": { "extensions": { "sessionRequestQuestion": true } } } })
        }
        ClientKind::Forms => json!({ "elicitation": { "form": {} } }),
        ClientKind::Permission | ClientKind::Silent | ClientKind::Approve => json!({}),
    }
}

impl AgentRequest {
    /// Reads a request. Returns `None` if a client of this kind does not know the method.
    pub(super) fn read(
        client: ClientKind,
        id: &Id,
        method: &str,
        params: &Params,
    ) -> Option<Result<Self, RpcError>> {
        let read = match (method, client) {
            (NATIVE, ClientKind::Native) => params.read().map(|params| {
                let form = ClientForm::read(&params)?;
                Some((form, RequestKind::Native))
            }),
            (ELICITATION, ClientKind::Forms) => params.read().and_then(|params| {
                let form = form::read(params)?;
                Ok(form.map(|(form, keys)| (form, RequestKind::Elicitation(keys))))
            }),
            (PERMISSION, _) => params.read().map(|params| {
                let (form, permission) = permission::read(&params)?;
                Some((form, RequestKind::Permission(permission)))
            }),
            _ => return None,
        };
        Some(match read {
            Ok(Some((form, kind))) => Ok(Self { id: id.clone(), form, arrived: Instant::now(), kind }),
            Ok(None) => Err(RpcError::new(INVALID_PARAMS, "the question was not understood")),
            Err(error) => Err(error),
        })
    }

    /// Returns whether it is a permission request.
    pub(super) fn is_permission(&self) -> bool {
        matches!(self.kind, RequestKind::Permission(_))
    }

    /// Returns whether the request asks for a permission. A question that the bridge sends in the shape of a
    /// permission request does not.
    pub(super) fn asks_permission(&self) -> bool {
        // Each prompt of the bridge has an option with this label.
        let fields = self.form.fields.iter().flat_map(|field| &field.options);
        self.is_permission() && !fields.into_iter().any(|option| option.label.starts_with("Answer elsewhere"))
    }

    /// Adds the description of the action to a permission request, also from earlier updates of its tool call.
    pub(super) fn describe(&mut self, tool_calls: &ToolCalls) {
        if !self.asks_permission() {
            return;
        }
        if let (RequestKind::Permission(permission), Some(field)) =
            (&mut self.kind, self.form.fields.first_mut())
        {
            permission.complete(tool_calls);
            permission::describe(permission.params(), field);
        }
    }

    /// Returns the parameters of a request that asks for a permission.
    pub(super) fn permission(&self) -> Option<&Value> {
        match &self.kind {
            RequestKind::Permission(permission) if self.asks_permission() => Some(permission.params()),
            _ => None,
        }
    }

    /// Returns the option of this answer, if it was offered.
    pub(super) fn offered(&self, answer: &PermissionAnswer) -> Option<&str> {
        let RequestKind::Permission(permission) = &self.kind else { return None };
        match answer {
            PermissionAnswer::Allow => permission.first("allow_once"),
            PermissionAnswer::Always => permission.first("allow_always"),
            PermissionAnswer::Reject => permission.first("reject_"),
            PermissionAnswer::Option(id) => permission.option(id),
            PermissionAnswer::Cancel | PermissionAnswer::Ignore => None,
        }
    }

    /// Returns the option that an approving client selects: the first one that allows.
    pub(super) fn first_allowed(&self) -> Option<&str> {
        match &self.kind {
            RequestKind::Permission(permission) => permission.first("allow_"),
            RequestKind::Native | RequestKind::Elicitation(_) => None,
        }
    }

    /// Returns the result for the values of each field. Without any value, the result is a rejection.
    pub(super) fn result(&self, answers: &[Vec<String>]) -> Value {
        // A form without fields has no values either, but it is accepted.
        if !self.form.fields.is_empty() && answers.iter().all(Vec::is_empty) {
            return self.rejection();
        }
        match &self.kind {
            RequestKind::Native => answered(&NativeAnswer::Answered { answers }),
            RequestKind::Elicitation(keys) => {
                let fields = keys.iter().zip(&self.form.fields).zip(answers);
                let content =
                    fields.filter_map(|((key, field), values)| Some((key.clone(), field.content(values)?)));
                json!({ "action": "accept", "content": Value::Object(content.collect()) })
            }
            RequestKind::Permission(_) => answers
                .concat()
                .first()
                .map_or_else(permission::cancelled, |option| permission::selected(option)),
        }
    }

    /// Returns whether this result refuses the request.
    pub(super) fn is_refused_by(&self, result: &Value) -> bool {
        let rejects = match &self.kind {
            RequestKind::Permission(permission) => {
                result["outcome"]["optionId"].as_str().is_some_and(|option| permission.rejects(option))
            }
            RequestKind::Native | RequestKind::Elicitation(_) => *result == self.rejection(),
        };
        rejects || self.cancelled().as_ref() == Ok(result)
    }

    fn rejection(&self) -> Value {
        match &self.kind {
            RequestKind::Native => answered(&NativeAnswer::Rejected),
            RequestKind::Elicitation(_) => json!({ "action": "decline" }),
            RequestKind::Permission(permission) => {
                permission.first("reject_").map_or_else(permission::cancelled, permission::selected)
            }
        }
    }

    /// Returns the response to a request that the agent cancelled.
    pub(super) fn cancelled(&self) -> Result<Value, RpcError> {
        match &self.kind {
            RequestKind::Native => Err(RpcError::new(CANCELLED, "request cancelled")),
            RequestKind::Elicitation(_) => Ok(json!({ "action": "cancel" })),
            RequestKind::Permission(_) => Ok(permission::cancelled()),
        }
    }
}

/// The result in the native dialect.
#[derive(Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum NativeAnswer<'a> {
    Answered { answers: &'a [Vec<String>] },
    Rejected,
}

fn answered(answer: &NativeAnswer<'_>) -> Value {
    json!(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{self, RpcMessage};

    fn read(client: ClientKind, method: &str, params: &Value) -> Option<Result<AgentRequest, RpcError>> {
        let line = message::request(0, method, params).unwrap();
        let Ok(RpcMessage::Request { id, method, params }) = RpcMessage::read(&line) else {
            panic!("no request")
        };
        AgentRequest::read(client, &id, &method, &params)
    }

    fn permission(kinds: &[&str]) -> AgentRequest {
        let options: Vec<Value> = kinds
            .iter()
            .map(|kind| json!({ "optionId": format!("{kind} id"), "name": kind, "kind": kind }))
            .collect();
        let params = json!({ "toolCall": { "toolCallId": "t" }, "options": options });
        read(ClientKind::Approve, PERMISSION, &params).unwrap().unwrap()
    }

    #[test]
    fn each_client_kind_knows_its_own_methods() {
        let native = json!({ "prompt": "?" });
        let form = json!({ "mode": "form", "requestedSchema": { "properties": {} } });
        for client in ClientKind::ALL {
            assert_eq!(read(client, NATIVE, &native).is_some(), client == ClientKind::Native);
            assert_eq!(read(client, ELICITATION, &form).is_some(), client == ClientKind::Forms);
            assert!(
                read(client, PERMISSION, &json!({})).unwrap().is_err(),
                "every client knows the method, but there are no options"
            );
        }
    }

    #[test]
    fn invalid_parameters_are_an_error() {
        let invalid = [
            json!(null),
            json!([]),
            json!("text"),
            json!({}),
            json!({ "options": {}, "toolCall": [], "requestedSchema": [], "questions": {} }),
            json!({ "options": [5], "toolCall": { "title": "?" }, "prompt": 5 }),
            json!({ "requestedSchema": { "properties": [] } }),
            json!({ "questions": [5] }),
        ];
        for params in &invalid {
            for (client, method) in [
                (ClientKind::Native, NATIVE),
                (ClientKind::Forms, ELICITATION),
                (ClientKind::Silent, PERMISSION),
            ] {
                assert!(read(client, method, params).unwrap().is_err(), "{method} {params}");
            }
        }
    }

    #[test]
    fn an_answer_has_the_shape_of_its_request() {
        let native = read(ClientKind::Native, NATIVE, &json!({ "prompt": "?" })).unwrap().unwrap();
        let values = [vec!["a".to_owned()]];
        assert_eq!(native.result(&values), json!({ "status": "answered", "answers": [["a"]] }));
        assert_eq!(native.result(&[Vec::new()]), json!({ "status": "rejected" }));
        assert_eq!(native.cancelled().unwrap_err().code, CANCELLED);

        let properties = json!({ "k": { "type": "string" }, "left": { "type": "string" } });
        let form = json!({ "mode": "form", "requestedSchema": { "properties": properties } });
        let form = read(ClientKind::Forms, ELICITATION, &form).unwrap().unwrap();
        let values = [vec!["a".to_owned()], Vec::new()];
        assert_eq!(form.result(&values), json!({ "action": "accept", "content": { "k": "a" } }));
        assert_eq!(form.result(&[Vec::new(), Vec::new()]), json!({ "action": "decline" }));
        assert_eq!(form.cancelled(), Ok(json!({ "action": "cancel" })));
    }

    #[test]
    fn a_form_without_fields_is_accepted() {
        let form = json!({ "mode": "form", "requestedSchema": { "properties": {} } });
        let form = read(ClientKind::Forms, ELICITATION, &form).unwrap().unwrap();
        assert_eq!(form.result(&[]), json!({ "action": "accept", "content": {} }));
    }

    #[test]
    fn a_permission_request_is_rejected_by_its_reject_option_or_cancelled() {
        let asked = permission(&["allow_once", "reject_once"]);
        let chosen = json!({ "outcome": { "outcome": "selected", "optionId": "reject_once id" } });
        assert_eq!(asked.result(&[Vec::new()]), chosen);
        let cancelled = json!({ "outcome": { "outcome": "cancelled" } });
        assert_eq!(permission(&["allow_once"]).result(&[Vec::new()]), cancelled);
        assert_eq!(asked.cancelled(), Ok(cancelled));
    }

    #[test]
    fn an_approving_client_selects_the_first_option_that_allows() {
        assert_eq!(
            permission(&["reject_once", "allow_always", "allow_once"]).first_allowed(),
            Some("allow_always id")
        );
        assert_eq!(permission(&["reject_once"]).first_allowed(), None);
    }
}
