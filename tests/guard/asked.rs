//! Permissions as agents ask for them, in every dialect, up to where the guard has decided what they risk.

use askbridge_control::inbox::real_files::RealFiles;
use askbridge_core::{
    dialect::{self, claude, codex, copilot, opencode},
    guard,
    question::{Purpose, Question},
    wire::method::REQUEST_PERMISSION,
};

/// What agents that speak ACP offer.
const OPTIONS: &str = r#"[{"optionId":"once","name":"Allow","kind":"allow_once"},{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"no","name":"Reject","kind":"reject_once"}]"#;

/// The names of the requests, as they begin a line of a table.
pub(crate) const REQUESTS: [&str; 15] = [
    "request",
    "control",
    "codex-elicitation",
    "acp",
    "acp2",
    "claude",
    "hook",
    "codex-command",
    "codex-files",
    "codex-permissions",
    "codex-1-command",
    "codex-1-files",
    "copilot",
    "copilot-request",
    "opencode",
];

/// Returns the permission that a line asks for: the name of a request, for Claude Code the name of a tool, the JSON of the
/// request, and behind ` <- ` what an earlier line said of the same tool call. `None` where it is read as no permission:
/// then nothing but the agent's own dialog can allow it.
pub(crate) fn asked(line: &str, project: &str) -> Option<Question> {
    let (request, rest) = line.split_once(' ').unwrap_or_else(|| panic!("no request: {line}"));
    let (json, earlier) = match rest.split_once(" <- ") {
        Some((json, earlier)) => (json, Some(earlier)),
        None => (rest, None),
    };
    let mut question = read(request, json, project)?;
    if let Some(earlier) = earlier {
        match request {
            "codex-files" => {
                let mut changes = codex::Changes::default();
                changes.push(earlier.as_bytes());
                changes.complete(&mut question);
            }
            _ => {
                dialect::permission::complete(&mut question, std::iter::once(earlier.as_bytes()), false);
            }
        }
    }
    (question.project, question.agent) = (Some(project.into()), Some("Agent".into()));
    assessed(&mut question);
    Some(question)
}

/// Decides what a permission risks, as it is done before anyone is told of it.
pub(crate) fn assessed(question: &mut Question) {
    guard::assess(question);
    if let Some(led) = guard::look(question, &RealFiles) {
        *question = led;
    }
}

fn read(request: &str, json: &str, project: &str) -> Option<Question> {
    let standard = |member: &str| {
        let params = format!(r#"{{"sessionId":"s","title":null,"{member}":{json},"options":{OPTIONS}}}"#);
        let asked = dialect::read(REQUEST_PERMISSION, params.as_bytes(), "q");
        asked.unwrap_or_else(|error| panic!("{params}: {error}")).map(|asked| asked.question)
    };
    let of_codex = |method: &str| codex::read(method, json.as_bytes(), "q").map(|(question, _)| question);
    let question = match request {
        "request" => {
            let asked = dialect::read(REQUEST_PERMISSION, json.as_bytes(), "q");
            asked.unwrap_or_else(|error| panic!("{json}: {error}")).map(|asked| asked.question)
        }
        "control" => {
            let line = format!(r#"{{"type":"control_request","request_id":"q","request":{json}}}"#);
            claude::control::Request::read(line.as_bytes())
                .and_then(claude::request::read)
                .map(|(question, _)| question)
        }
        "codex-elicitation" => of_codex(codex::request::ELICITATION),
        "acp" => standard("toolCall"),
        "acp2" => standard("subject"),
        "claude" => {
            let (tool, input) = json.split_once(' ').unwrap_or_else(|| panic!("no tool: {json}"));
            let call = claude::ToolCall { tool, input, ..claude::ToolCall::default() };
            claude::read(&call, "q").map(|(question, _)| question)
        }
        "hook" => {
            let (tool, input) = json.split_once(' ').unwrap_or_else(|| panic!("no tool: {json}"));
            let stdin = format!(
                r#"{{"session_id":"s","cwd":{project:?},"hook_event_name":"PermissionRequest","tool_name":{tool:?},"tool_input":{input}}}"#
            );
            let call = claude::HookCall::read(stdin.as_bytes())?;
            call.question("q").map(|(question, _)| question)
        }
        "codex-command" => of_codex(codex::request::COMMAND),
        "codex-files" => of_codex(codex::request::FILE_CHANGE),
        "codex-permissions" => of_codex(codex::request::PERMISSIONS),
        "codex-1-command" => of_codex(codex::request::LEGACY_COMMAND),
        "codex-1-files" => of_codex(codex::request::LEGACY_PATCH),
        "copilot" => of_copilot("promptRequest", json),
        "copilot-request" => of_copilot("permissionRequest", json),
        "opencode" => {
            let event = format!(r#"{{"type":"permission.asked","properties":{json}}}"#);
            match opencode::read_event(event.as_bytes())?.event {
                opencode::OpencodeEvent::Asked(request) => Some(request.question),
                _ => None,
            }
        }
        other => panic!("{other:?} is not one of {}", REQUESTS.join(", ")),
    };
    question.filter(|question| question.purpose == Purpose::Permission)
}

fn of_copilot(member: &str, json: &str) -> Option<Question> {
    let event = format!(r#"{{"type":"permission.requested","data":{{"requestId":"r","{member}":{json}}}}}"#);
    match copilot::read_event(&event) {
        copilot::CopilotEvent::Asked(request) => Some(request.question),
        _ => None,
    }
}
