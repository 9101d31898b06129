//! The life of the agent's tool calls: each is announced, goes forward, ends once, and before its turn.
//! What a permission is for is left to `receive.rs`.

use serde_json::Value;

use super::state::{Conversation, ToolCall};
use crate::rule::Rule;

/// How far a tool call is, by its status.
fn progress(status: &str) -> u8 {
    match status {
        "completed" | "failed" => 2,
        "in_progress" => 1,
        _ => 0,
    }
}

impl ToolCall {
    /// Returns whether it is completed or has failed.
    pub(super) fn has_ended(&self) -> bool {
        progress(&self.status) == 2
    }
}

impl Conversation {
    /// Notes an update that is about a tool call.
    pub(super) fn call_update(&mut self, session: &str, update: &Value) -> Vec<(Rule, String)> {
        let Some(id) = update["toolCallId"].as_str() else { return Vec::new() };
        let announces = update["sessionUpdate"] == "tool_call";
        // The history of a loaded session tells of calls that the client knows.
        let replays = self.open.values().any(|method| method == "session/load");
        let turn = self.turns.iter().rposition(|turn| turn.session == session && !turn.has_ended);
        let key = (session.to_owned(), id.to_owned());
        let known = self.calls.get(&key).filter(|_| !replays);
        let mut broken = Vec::new();
        match known {
            Some(call) if announces && call.is_announced => {
                broken.push((Rule::CallIds, "two tool calls of a session have one ID".to_owned()));
            }
            None if !announces && !replays => {
                broken
                    .push((Rule::CallAnnounced, "a tool call is updated that was not announced".to_owned()));
            }
            _ => {}
        }
        let mut call = known.filter(|call| !(announces && call.is_announced)).cloned().unwrap_or_default();
        call.is_announced |= announces;
        call.turn = call.turn.or(turn);
        if let Some(status) = update["status"].as_str() {
            let (before, now) = (progress(&call.status), progress(status));
            if call.has_ended() && call.status != status {
                broken.push((Rule::CallEnded, "a tool call goes on that has ended".to_owned()));
            } else if now < before {
                broken.push((Rule::CallOrder, "the status of a tool call goes back".to_owned()));
            }
            status.clone_into(&mut call.status);
        }
        if let Some(title) = update["title"].as_str() {
            title.clone_into(&mut call.title);
        }
        self.calls.insert(key, call);
        broken
    }

    /// Notes that the agent asks for a permission for a tool call.
    pub(super) fn asks_for(&mut self, session: &Value, call: &Value) -> Option<(Rule, String)> {
        let (Some(session), Some(id)) = (session.as_str(), call["toolCallId"].as_str()) else {
            let what = "the permission names no tool call".to_owned();
            return Some((Rule::PermissionCall, what));
        };
        let key = (session.to_owned(), id.to_owned());
        let title = call["title"].as_str();
        match self.calls.get(&key) {
            Some(known) if known.has_ended() => {
                Some((Rule::CallEnded, "a permission is for a tool call that has ended".to_owned()))
            }
            Some(_) => None,
            None => {
                let title = title.unwrap_or_default().to_owned();
                self.calls.insert(key, ToolCall { title, ..ToolCall::default() });
                let what =
                    "the tool call of a permission was not announced, and the request has no title of it";
                call["title"].is_null().then(|| (Rule::KnownCall, what.to_owned()))
            }
        }
    }

    /// Returns what a turn has left behind that is over.
    pub(super) fn left_behind(&mut self, turn: usize) -> Vec<(Rule, String)> {
        let mut broken = Vec::new();
        let is_left = |call: &ToolCall| call.turn == Some(turn) && call.is_announced && !call.has_ended();
        if self.calls.values().any(is_left) {
            broken.push((Rule::CallLeft, "the turn ended before its tool call".to_owned()));
        }
        let session = &self.turns[turn].session;
        if self.terminals.values().any(|terminal| terminal.session == *session && terminal.is_waited_for) {
            let what = "the turn ended, and a terminal whose command has exited was not released";
            broken.push((Rule::Terminals, what.to_owned()));
        }
        broken
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::talk::state::Turn;

    fn told(updates: &[(&str, &str, &str)]) -> Vec<Rule> {
        let mut conversation = Conversation::default();
        let turn = Turn { id: "100".to_owned(), session: "s".to_owned(), has_ended: false };
        conversation.turns.push(turn);
        let mut broken = Vec::new();
        for (kind, id, status) in updates {
            let status = if status.is_empty() { Value::Null } else { json!(status) };
            let update = json!({ "sessionUpdate": kind, "toolCallId": id, "title": "t", "status": status });
            broken.extend(match *kind {
                "permission" => conversation.asks_for(&json!("s"), &update).into_iter().collect(),
                _ => conversation.call_update("s", &update),
            });
        }
        broken.extend(conversation.left_behind(0));
        broken.into_iter().map(|(rule, _)| rule).collect()
    }

    #[test]
    fn the_life_of_a_tool_call_has_an_order() {
        let (new, update, ask) = ("tool_call", "tool_call_update", "permission");
        for (updates, rules) in [
            (&[(new, "a", "pending"), (update, "a", "in_progress"), (update, "a", "completed")][..], &[][..]),
            (&[(new, "a", "completed"), (update, "a", "")], &[]),
            (&[(new, "a", ""), (ask, "a", ""), (update, "a", "failed"), (update, "a", "failed")], &[]),
            (&[(ask, "a", ""), (new, "a", "in_progress"), (update, "a", "completed")], &[]),
            (&[(ask, "a", ""), (update, "a", "completed")], &[]),
            (&[(update, "a", "completed")], &[Rule::CallAnnounced]),
            (&[(new, "a", "completed"), (new, "a", "completed")], &[Rule::CallIds]),
            (
                &[(new, "a", "in_progress"), (update, "a", "pending"), (update, "a", "failed")],
                &[Rule::CallOrder],
            ),
            (&[(new, "a", "completed"), (update, "a", "failed")], &[Rule::CallEnded]),
            (&[(new, "a", "completed"), (ask, "a", "")], &[Rule::CallEnded]),
            (&[(new, "a", "pending")], &[Rule::CallLeft]),
        ] {
            assert_eq!(told(updates), rules, "{updates:?}");
        }
    }
}
