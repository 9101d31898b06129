//! Something that Copilot asks, and the call that answers it.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value as Json, json, value::RawValue};

use super::{ending::Ending, permission, plan, question};
use crate::{
    dialect::elicitation::FormReply,
    limits,
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
    /// With what allows it for the rest of the session, where that is offered.
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
    /// How the question ends by it, as an event would tell.
    pub ending: Ending,
}

impl CopilotRequest {
    /// Reads the data of an event of this kind. Returns `None` for what is no question, or not understood.
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
            serde_json::from_str(data).ok().filter(|_| data.len() <= limits::QUESTION)?;
        let id = &*asked.request_id;
        match event {
            "elicitation.requested" => {
                let (question, format) = question::form(data, id)?;
                Self::new(question, RequestKind::Form(format))
            }
            "user_input.requested" => Self::new(question::user_input(data, id)?, RequestKind::Text),
            "permission.requested" if asked.resolved_by_hook != Some(true) => {
                // The prompt is what Copilot's own dialog shows.
                Self::permission(asked.prompt_request.or(asked.permission_request)?.get(), id)
            }
            "exit_plan_mode.requested" => Self::new(plan::read_plan(data, id)?, RequestKind::Plan),
            _ => None,
        }
    }

    fn permission(prompt: &str, id: &str) -> Option<Self> {
        let (question, approval) = permission::read(prompt, id)?;
        Self::new(question, RequestKind::Permission(approval))
    }

    fn new(question: Question, kind: RequestKind) -> Option<Self> {
        let fits = !question.id.is_empty() && question.check_limits().is_ok();
        fits.then_some(CopilotRequest { question, kind })
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
                ("session.ui.handlePendingExitPlanMode", "response", plan::plan_reply(outcome, remark))
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
                plan::plan_outcome(question, *approved, action.as_deref())
            }
            // An end of another kind says only that there is one.
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
        ids: items.iter().map(|item| item.request_id.clone()).collect(),
    })
}

/// Reads the result of a [`Call`]: whether Copilot took the answer. If not, it had another one first.
pub fn was_taken(result: &str) -> Option<bool> {
    #[derive(Deserialize)]
    struct CallResult {
        success: bool,
    }
    serde_json::from_str::<CallResult>(result).ok().map(|taken| taken.success)
}
