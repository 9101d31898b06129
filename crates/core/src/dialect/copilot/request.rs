//! The events of a Copilot session, as they happen and in its log; the requests that they announce; and the calls that
//! answer a request. How each kind of request is read and answered is left to `question.rs` and `permission.rs`.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value as Json, json, value::RawValue};

use super::{
    permission,
    question::{self, Ending},
};
use crate::{
    dialect::{elicitation::FormReply, unshown},
    question::{Outcome, Question},
};

/// An open question, permission or plan.
#[derive(Clone, Debug, PartialEq)]
pub struct CopilotRequest {
    /// The question, with Copilot's ID.
    pub question: Question,
    kind: RequestKind,
}

#[derive(Clone, Debug, PartialEq)]
enum RequestKind {
    Form(FormReply),
    Text,
    /// With the approval that allows it for the rest of the session, if Copilot offers one.
    Permission(Option<Json>),
    Plan,
}

/// A call that answers something.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The method.
    pub method: &'static str,
    /// The parameters.
    pub params: Json,
    /// The end of the question that the call causes, as an event reports it.
    pub ending: Ending,
}

impl CopilotRequest {
    /// Reads the data of an event of this kind. Returns `None` for an event that is no question, or not understood.
    pub(super) fn read(event: &str, data: &str) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct RequestData<'a> {
            request_id: String,
            #[serde(borrow)]
            prompt_request: Option<&'a RawValue>,
            #[serde(borrow)]
            permission_request: Option<&'a RawValue>,
            resolved_by_hook: Option<bool>,
        }

        let asked: RequestData<'_> =
            serde_json::from_str(data).ok().filter(|_| !unshown::is_too_long(data.as_bytes()))?;
        let id = &*asked.request_id;
        match event {
            "elicitation.requested" => {
                let (mut question, format) = question::form(data, id)?;
                unshown::add(&mut question, data.as_bytes());
                Self::new(question, RequestKind::Form(format))
            }
            "user_input.requested" => {
                let mut question = question::user_input(data, id)?;
                unshown::add(&mut question, data.as_bytes());
                Self::new(question, RequestKind::Text)
            }
            // A permission that a hook has decided needs no answer.
            "permission.requested" if asked.resolved_by_hook != Some(true) => {
                // The prompt is what Copilot's own dialog shows.
                Self::permission(asked.prompt_request.or(asked.permission_request)?.get(), id)
            }
            "exit_plan_mode.requested" => Self::new(question::read_plan(data, id)?, RequestKind::Plan),
            _ => None,
        }
    }

    fn permission(prompt: &str, id: &str) -> Option<Self> {
        let (question, approval) = permission::read(prompt, id)?;
        Self::new(question, RequestKind::Permission(approval))
    }

    fn new(question: Question, kind: RequestKind) -> Option<Self> {
        // A call could not name a request without an ID.
        let fits = !question.id.is_empty() && question.check_limits().is_ok();
        fits.then_some(CopilotRequest { question, kind })
    }

    /// Returns how many bytes of the request it holds beside the question.
    pub fn bytes(&self) -> usize {
        match &self.kind {
            RequestKind::Form(format) => format.bytes(),
            RequestKind::Permission(approval) => approval.as_ref().map_or(0, |it| it.to_string().len()),
            RequestKind::Text | RequestKind::Plan => 0,
        }
    }

    /// Returns whether it asks for a permission.
    pub fn is_permission(&self) -> bool {
        matches!(self.kind, RequestKind::Permission(_))
    }

    /// Returns the call that answers or rejects it in this session. `remark` is why it is rejected, in the person's own
    /// words.
    pub fn call(&self, session: &str, outcome: &Outcome, remark: Option<&str>) -> Call {
        let (method, member, (reply, ending)) = match &self.kind {
            RequestKind::Form(format) => (
                "session.ui.handlePendingElicitation",
                "result",
                question::form_reply(format, &self.question, outcome),
            ),
            RequestKind::Text => (
                "session.ui.handlePendingUserInput",
                "response",
                question::text_reply(&self.question, outcome, remark),
            ),
            RequestKind::Permission(approval) => {
                let (decision, told) = permission::decision(outcome, remark, approval.as_ref());
                let ending = Ending::Decided(told.to_owned());
                ("session.permissions.handlePendingPermissionRequest", "result", (decision, ending))
            }
            RequestKind::Plan => {
                ("session.ui.handlePendingExitPlanMode", "response", question::plan_reply(outcome, remark))
            }
        };
        let mut params = json!({ "sessionId": session, "requestId": self.question.id });
        params[member] = reply;
        Call { method, params, ending }
    }

    /// Returns the outcome that this end means.
    pub fn outcome(&self, ending: &Ending) -> Outcome {
        let question = &self.question;
        match (&self.kind, ending) {
            (RequestKind::Form(format), Ending::Form { action, content }) => {
                question::form_outcome(format, question, action.as_deref(), content)
            }
            (RequestKind::Text, Ending::Text(text)) => question::text_outcome(question, text.as_deref()),
            (RequestKind::Permission(_), Ending::Decided(kind)) => permission::outcome(question, kind),
            (RequestKind::Plan, Ending::Plan { approved, action }) => {
                question::plan_outcome(question, *approved, action.as_deref())
            }
            // An end of another kind says only that the request is over.
            _ => Outcome::Answered(Default::default()),
        }
    }
}

/// The open permissions of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenPermissions {
    /// The IDs of all of them.
    pub ids: BTreeSet<String>,
    /// Those that are understood.
    pub requests: Vec<CopilotRequest>,
}

/// Reads the result of `session.permissions.pendingRequests`.
pub fn pending(result: &str) -> Option<OpenPermissions> {
    #[derive(Deserialize)]
    struct List<'a> {
        #[serde(borrow)]
        items: Vec<Item<'a>>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Item<'a> {
        request_id: String,
        #[serde(borrow)]
        request: &'a RawValue,
    }
    let List { items } = serde_json::from_str(result).ok()?;
    let requests =
        items.iter().filter_map(|item| CopilotRequest::permission(item.request.get(), &item.request_id));
    Some(OpenPermissions {
        requests: requests.collect(),
        // Permissions that are not understood count as well: one that is missing here has ended.
        ids: items.iter().map(|item| item.request_id.clone()).collect(),
    })
}

/// Reads the result of a [`Call`]: whether Copilot took the answer. If not, Copilot already had another answer.
pub fn was_taken(result: &str) -> Option<bool> {
    #[derive(Deserialize)]
    struct CallResult {
        success: bool,
    }
    serde_json::from_str::<CallResult>(result).ok().map(|taken| taken.success)
}

/// The types of events about open requests. The log is asked for these alone.
pub const EVENTS: [&str; 8] = [
    "elicitation.requested",
    "elicitation.completed",
    "user_input.requested",
    "user_input.completed",
    "permission.requested",
    "permission.completed",
    "exit_plan_mode.requested",
    "exit_plan_mode.completed",
];

/// The meaning of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum CopilotEvent {
    /// Something is asked.
    Asked(Box<CopilotRequest>),
    /// Something that was asked has ended.
    Ended {
        /// Its ID.
        id: String,
        /// How it ended.
        ending: Ending,
    },
    /// The session works in this folder from now on.
    Moved(String),
    /// Something else.
    Other,
}

#[derive(Deserialize)]
struct EventEnvelope<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// The data of all events that report an end.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Completion {
    request_id: String,
    action: Option<String>,
    #[serde(default)]
    content: Option<Map<String, Json>>,
    answer: Option<String>,
    result: Option<PermissionResult>,
    approved: Option<bool>,
    selected_action: Option<String>,
}

#[derive(Deserialize)]
struct PermissionResult {
    kind: String,
}

#[derive(Deserialize)]
struct Context {
    cwd: String,
}

/// Reads an event.
pub fn read_event(event: &str) -> CopilotEvent {
    let Ok(EventEnvelope { kind, data: Some(data) }) = serde_json::from_str(event) else {
        return CopilotEvent::Other;
    };
    match kind.rsplit_once('.') {
        Some(("session", "context_changed")) => serde_json::from_str(data.get())
            .map_or(CopilotEvent::Other, |Context { cwd }| CopilotEvent::Moved(cwd)),
        Some((asked, "completed")) => completed(asked, data.get()).unwrap_or(CopilotEvent::Other),
        Some((_, "requested")) => CopilotRequest::read(&kind, data.get())
            .map_or(CopilotEvent::Other, |request| CopilotEvent::Asked(Box::new(request))),
        _ => CopilotEvent::Other,
    }
}

fn completed(asked: &str, data: &str) -> Option<CopilotEvent> {
    let end: Completion = serde_json::from_str(data).ok()?;
    let ending = match asked {
        "elicitation" => Ending::Form { action: end.action, content: end.content.unwrap_or_default() },
        "user_input" => Ending::Text(end.answer),
        "permission" => Ending::Decided(end.result.map(|result| result.kind).unwrap_or_default()),
        "exit_plan_mode" => Ending::Plan { approved: end.approved, action: end.selected_action },
        _ => return None,
    };
    Some(CopilotEvent::Ended { id: end.request_id, ending })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::{Answer, Kind, Outcome, Purpose, Reason, Role};

    fn asked(kind: &str, data: Json) -> Option<CopilotRequest> {
        match super::read_event(&json!({ "id": "e", "type": kind, "data": data }).to_string()) {
            CopilotEvent::Asked(request) => Some(*request),
            _ => None,
        }
    }

    fn ending(kind: &str, data: Json) -> Ending {
        match super::read_event(&json!({ "type": kind, "data": data }).to_string()) {
            CopilotEvent::Ended { id, ending } if id == "r" => ending,
            event => panic!("{event:?}"),
        }
    }

    fn answer(values: Json) -> Outcome {
        Outcome::Answered(Answer {
            values: serde_json::from_value(values).expect("values"),
            ..Answer::default()
        })
    }

    fn form() -> CopilotRequest {
        asked(
            "elicitation.requested",
            json!({ "requestId": "r", "message": "Which database?", "toolCallId": "t", "requestedSchema": {
                "type": "object", "properties": { "db": { "type": "string", "enum": ["Postgres", "SQLite"] } },
            } }),
        )
        .expect("a form")
    }

    fn permission(prompt: Json) -> Option<CopilotRequest> {
        asked(
            "permission.requested",
            json!({ "requestId": "r", "permissionRequest": {}, "promptRequest": prompt }),
        )
    }

    #[test]
    fn what_is_held_beside_the_question_counts() {
        assert!(form().bytes() > 0);
        let prompt = |offers: bool| {
            json!({ "kind": "commands", "fullCommandText": "make", "commandIdentifiers": ["make"],
                "canOfferSessionApproval": offers })
        };
        let bytes = |offers| permission(prompt(offers)).expect("a permission").bytes();
        assert!(bytes(false) == 0 && bytes(true) > 0, "{} {}", bytes(false), bytes(true));
    }

    #[test]
    fn a_form_is_read_answered_and_ended() {
        let request = form();
        let question = &request.question;
        assert_eq!((&*question.id, question.heading()), ("r", "Which database?"));
        assert_eq!((question.request.as_deref(), question.fields[0].required), (None, false));
        let accepted = answer(json!({ "db": "SQLite" }));
        for (outcome, result, told) in [
            (
                accepted.clone(),
                json!({ "action": "accept", "content": { "db": "SQLite" } }),
                json!({ "requestId": "r", "action": "accept", "content": { "db": "SQLite" } }),
            ),
            (
                Outcome::Rejected(Reason::User),
                json!({ "action": "decline" }),
                json!({ "requestId": "r", "action": "decline" }),
            ),
            (
                Outcome::Rejected(Reason::Cancelled),
                json!({ "action": "cancel" }),
                json!({ "requestId": "r", "action": "cancel" }),
            ),
        ] {
            let Call { method, params, ending: ours } = request.call("s", &outcome, Some("unused"));
            assert_eq!(method, "session.ui.handlePendingElicitation");
            assert_eq!(params, json!({ "sessionId": "s", "requestId": "r", "result": result }));
            let told = ending("elicitation.completed", told);
            assert_eq!(ours, told);
            assert_eq!(request.outcome(&told), outcome);
        }
    }

    #[test]
    fn a_question_with_choices_takes_a_text_and_has_no_rejection() {
        let request = asked(
            "user_input.requested",
            json!({ "requestId": "r", "question": "Which?", "choices": ["A", "B"], "allowFreeform": true }),
        )
        .expect("a question");
        assert!(matches!(&request.question.fields[0].kind, Kind::Choice { other: true, .. }));
        for (outcome, response) in [
            (answer(json!({ "q0": "B" })), json!({ "answer": "B", "wasFreeform": false })),
            (answer(json!({ "q0": "C" })), json!({ "answer": "C", "wasFreeform": true })),
        ] {
            let call = request.call("s", &outcome, None);
            assert_eq!(call.params["response"], response);
            assert_eq!(request.outcome(&call.ending), outcome);
        }
        let declined = request.call("s", &Outcome::Rejected(Reason::User), Some("Ask later."));
        let text = "The user declined to answer this question. Ask later.";
        assert_eq!(declined.params["response"], json!({ "answer": text, "wasFreeform": true }));
        let told = ending("user_input.completed", json!({ "requestId": "r", "answer": "A" }));
        assert_eq!(request.outcome(&told), answer(json!({ "q0": "A" })));
    }

    #[test]
    fn a_command_is_allowed_by_its_own_options_only() {
        let prompt = json!({
            "kind": "commands", "fullCommandText": "rm -rf x", "intention": "Clean up", "commandIdentifiers": ["rm"],
            "canOfferSessionApproval": true, "toolCallId": "t",
        });
        let request = permission(prompt).expect("a permission");
        let question = &request.question;
        assert_eq!(question.purpose, Purpose::Permission);
        let subject = question.subject.as_ref().expect("a subject");
        assert_eq!(subject.command.as_deref(), Some("rm -rf x"));
        assert_eq!(subject.description.as_deref(), Some("Clean up"));
        let once = json!({ "kind": "approve-once" });
        let session = json!({ "kind": "approve-for-session", "approval": { "kind": "commands", "commandIdentifiers": ["rm"] } });
        for (outcome, remark, result, told) in [
            (answer(json!({ "q0": "approve-once" })), None, once, "approved"),
            (answer(json!({ "q0": "approve-for-session" })), None, session, "approved-for-session"),
            (answer(json!({})), None, json!({ "kind": "reject" }), "denied-interactively-by-user"),
            (
                Outcome::Rejected(Reason::User),
                Some("No."),
                json!({ "kind": "reject", "feedback": "No." }),
                "denied-interactively-by-user",
            ),
        ] {
            let call = request.call("s", &outcome, remark);
            assert_eq!(call.params["result"], result);
            let told =
                json!({ "requestId": "r", "result": { "kind": told }, "decisionSource": "human_response" });
            assert_eq!(ending("permission.completed", told), call.ending);
        }
        let ended = |kind: &str| request.outcome(&Ending::Decided(kind.to_owned()));
        assert_eq!(ended("approved"), answer(json!({ "q0": "approve-once" })));
        for kind in ["approved-for-session", "approved-for-location", "approved-read-only-for-session"] {
            assert_eq!(ended(kind), answer(json!({ "q0": "approve-for-session" })), "{kind}");
        }
        assert_eq!(ended("denied-interactively-by-user"), Outcome::Rejected(Reason::User));
        assert_eq!(ended("cancelled"), Outcome::Rejected(Reason::Cancelled));
        assert_eq!(ended("denied-by-rules"), Outcome::Rejected(Reason::Policy));
    }

    #[test]
    fn a_session_is_approved_only_where_copilot_offers_it() {
        let roles = |prompt: Json| {
            let request = permission(prompt).expect("a permission");
            let options = request.question.fields[0].kind.options().to_vec();
            options.into_iter().filter_map(|option| option.role.map(|role| *role)).collect::<Vec<_>>()
        };
        let both = [Role::AllowOnce, Role::RejectOnce];
        for prompt in [
            json!({ "kind": "commands", "fullCommandText": "ls", "commandIdentifiers": ["ls"] }),
            json!({ "kind": "commands", "fullCommandText": "ls", "canOfferSessionApproval": true }),
            json!({ "kind": "write", "fileName": "a", "canOfferSessionApproval": true, "managedApprovalRequired": true }),
            json!({ "kind": "url", "url": "https://example.com" }),
            json!({ "kind": "mcp", "serverName": "docs", "toolName": "search", "args": { "q": 1 } }),
        ] {
            assert_eq!(roles(prompt), both);
        }
        let write =
            json!({ "kind": "write", "fileName": "a", "diff": "+x", "canOfferSessionApproval": true });
        assert_eq!(roles(write), [Role::AllowOnce, Role::AllowAlways, Role::RejectOnce]);
    }

    #[test]
    fn a_plan_is_approved_with_the_way_in_which_it_goes_on() {
        let data = json!({
            "requestId": "r", "summary": "Change the port", "planContent": "1. Change it",
            "actions": ["autopilot", "interactive", "of_next_year"], "recommendedAction": "autopilot",
        });
        let request = asked("exit_plan_mode.requested", data).expect("a plan");
        let subject = request.question.subject.as_ref().expect("a subject");
        assert_eq!(subject.plan.as_deref(), Some("1. Change it"));
        let options = request.question.fields[0].kind.options();
        let known: Vec<_> =
            options.iter().map(|option| (&*option.value, option.role.as_deref().copied())).collect();
        let expected = [
            ("interactive", Some(Role::AllowOnce)),
            ("autopilot", Some(Role::AllowAlways)),
            ("reject", Some(Role::RejectOnce)),
        ];
        assert_eq!(known, expected, "what asks for nothing more is no simple permission");
        let approved = answer(json!({ "q0": "interactive" }));
        let call = request.call("s", &approved, None);
        assert_eq!(call.params["response"], json!({ "approved": true, "selectedAction": "interactive" }));
        let told = json!({ "requestId": "r", "approved": true, "selectedAction": "interactive" });
        assert_eq!(ending("exit_plan_mode.completed", told), call.ending);
        assert_eq!(request.outcome(&call.ending), approved);
        let rejected = request.call("s", &Outcome::Rejected(Reason::User), Some("Smaller."));
        assert_eq!(rejected.params["response"], json!({ "approved": false, "feedback": "Smaller." }));
        assert_eq!(request.outcome(&rejected.ending), Outcome::Rejected(Reason::User));
    }

    #[test]
    fn open_permissions_are_listed() {
        let result = json!({ "items": [
            { "requestId": "r", "request": { "kind": "read", "path": "/etc/passwd", "intention": "Look" } },
            { "requestId": "x", "request": { "kind": "of_next_year" } },
        ] });
        let listed = pending(&result.to_string()).expect("a list");
        let ids: Vec<_> = listed.requests.iter().map(|request| &*request.question.id).collect();
        assert_eq!(ids, ["r"]);
        assert!(listed.ids.iter().eq(["r", "x"]), "what is not understood is open as well");
        assert_eq!(pending("null"), None);
        assert_eq!((was_taken(r#"{"success":true}"#), was_taken("{}")), (Some(true), None));
    }

    #[test]
    fn a_session_that_works_in_another_folder_says_so() {
        let moved =
            |data: &str| super::read_event(&format!(r#"{{"type":"session.context_changed","data":{data}}}"#));
        assert_eq!(moved(r#"{"cwd":"/p","branch":"main"}"#), CopilotEvent::Moved("/p".to_owned()));
        assert_eq!(moved("{}"), CopilotEvent::Other);
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        for (kind, data) in [
            (
                "elicitation.requested",
                json!({ "requestId": "r", "mode": "url", "message": "m", "url": "https://x" }),
            ),
            ("elicitation.requested", json!({ "requestId": "r", "message": "m" })),
            ("elicitation.requested", json!({ "message": "m" })),
            ("permission.requested", json!({ "requestId": "r", "promptRequest": { "kind": "factory" } })),
            (
                "permission.requested",
                json!({ "requestId": "r", "resolvedByHook": true, "promptRequest": { "kind": "read", "path": "a" } }),
            ),
            ("exit_plan_mode.requested", json!({ "requestId": "r", "actions": ["of_next_year"] })),
            ("auto_mode_switch.requested", json!({ "requestId": "r" })),
            ("sampling.requested", json!({ "requestId": "r" })),
        ] {
            assert_eq!(asked(kind, data), None, "{kind}");
        }
        assert_eq!(super::read_event("<html>"), CopilotEvent::Other);
        assert_eq!(super::read_event(r#"{"type":"assistant.message","data":{}}"#), CopilotEvent::Other);
    }
}
