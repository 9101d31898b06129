//! Permissions of pi-acp 0.0.34: an extension of pi asks a question that is answered with yes or no, and nothing tells
//! it from any other such question.

use serde_json::json;

use super::{
    MockPermission,
    parts::{Asked, option},
    scene,
};
use crate::mock::behaviour::Act;

pub(super) fn ask(permission: &MockPermission) -> Asked {
    let (title, message) = match permission.act {
        Act::Fetch => ("Allow fetching a page?", scene::URL.to_owned()),
        Act::Command => ("Allow this command?", scene::COMMAND.to_owned()),
        Act::Plan => ("Carry out this plan?", scene::PLAN.to_owned()),
        Act::Edit => ("Allow this edit?", permission.path()),
    };
    let params = json!({
        "sessionId": permission.session,
        "toolCall": {
            "toolCallId": permission.tool_call(), "title": title, "kind": "other", "status": "pending",
            "rawInput": { "method": "confirm", "title": title, "message": message },
        },
        "options": [option("yes", "Yes", "allow_once"), option("no", "No", "reject_once")],
    });
    Asked { updates: Vec::new(), params, title: title.to_owned() }
}
