//! Selects the requests of Codex' app-server that are questions, and the file that reads each. Reads the approvals of
//! the first version of the protocol itself: `applyPatchApproval` and `execCommandApproval`.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{
    CodexReply,
    approval::{CANCEL, DECLINE, Decision, approval, non_empty_text},
    command, elicitation, file_change, user_input,
};
use crate::{
    dialect::{once, permission::PermissionDescription, unshown},
    question::{Question, Role, Subject},
};

/// A question that the model asks.
pub const USER_INPUT: &str = "item/tool/requestUserInput";
/// The approval of a command, or of access to the network.
pub const COMMAND: &str = "item/commandExecution/requestApproval";
/// The approval of file changes.
pub const FILE_CHANGE: &str = "item/fileChange/requestApproval";
/// The approval of permissions that the sandbox does not have.
pub const PERMISSIONS: &str = "item/permissions/requestApproval";
/// A form of an MCP server, or the approval of one of its tools.
pub const ELICITATION: &str = "mcpServer/elicitation/request";
/// The approval of file changes in the first version of the protocol.
pub const LEGACY_PATCH: &str = "applyPatchApproval";
/// The approval of a command in the first version of the protocol.
pub const LEGACY_COMMAND: &str = "execCommandApproval";

/// The methods of requests that may be questions.
pub const METHODS: &[&str] =
    &[USER_INPUT, COMMAND, FILE_CHANGE, PERMISSIONS, ELICITATION, LEGACY_PATCH, LEGACY_COMMAND];

/// Reads the `params` of a request as a question, with the format of the reply. `fallback_id` is the question's ID.
///
/// Returns `None` for a request that is no question, is not understood, or exceeds the limits: it is left to Codex'
/// dialog.
pub fn read(method: &str, params: &[u8], fallback_id: &str) -> Option<(Question, CodexReply)> {
    if unshown::is_too_long(params) {
        return None;
    }
    let (mut question, reply) = match method {
        USER_INPUT => user_input::read(params, fallback_id).map(|it| (it, CodexReply::UserInput)),
        COMMAND => command::read(params, fallback_id),
        FILE_CHANGE => file_change::read(params, fallback_id),
        PERMISSIONS => command::read_permissions(params, fallback_id),
        ELICITATION => elicitation::read(params, fallback_id),
        LEGACY_PATCH => read_legacy_patch(params, fallback_id),
        LEGACY_COMMAND => read_legacy_command(params, fallback_id),
        _ => None,
    }?;
    unshown::add(&mut question, params);
    question.check_limits().ok().map(|()| (question, reply))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LegacyParams {
    conversation_id: Option<String>,
    call_id: Option<String>,
    #[serde(default)]
    command: Json,
    #[serde(default)]
    cwd: Json,
    #[serde(default)]
    reason: Json,
    // If a file is named twice, it is not known which change counts.
    #[serde(default, deserialize_with = "once::deserialize")]
    file_changes: Json,
    #[serde(default)]
    grant_root: Json,
}

pub(super) fn read_legacy_command(params: &[u8], fallback_id: &str) -> Option<(Question, CodexReply)> {
    let read: LegacyParams = serde_json::from_slice(params).ok()?;
    let subject = Subject {
        kind: Some("execute".to_owned()),
        command: Some(command::shell_command(&read.command)?),
        folder: non_empty_text(&read.cwd),
        description: non_empty_text(&read.reason),
        ..Subject::default()
    };
    let described = PermissionDescription { subject, ..PermissionDescription::default() };
    let for_session = Decision::named(FOR_SESSION, "Allow for the rest of this session", Role::AllowAlways);
    legacy(read, described, for_session, fallback_id)
}

pub(super) fn read_legacy_patch(params: &[u8], fallback_id: &str) -> Option<(Question, CodexReply)> {
    let read: LegacyParams = serde_json::from_slice(params).ok()?;
    let root = non_empty_text(&read.grant_root);
    let mut subject = Subject {
        kind: Some(file_change::EDIT.to_owned()),
        description: non_empty_text(&read.reason),
        locations: root.iter().cloned().collect(),
        grants: root.as_deref().map(file_change::below).into_iter().collect(),
        ..Subject::default()
    };
    let mut are_known = true;
    for (path, change) in read.file_changes.as_object()? {
        let diff = ["content", "unified_diff"].into_iter().find_map(|member| change[member].as_str());
        are_known &= file_change::add(&mut subject, path, change, diff);
    }
    let title = Some(file_change::TITLE.to_owned());
    // The grant of a folder, and changes that are not understood, may do any harm.
    let is_marked = root.is_some() || !are_known;
    let described = PermissionDescription { title, subject, is_marked, ..PermissionDescription::default() };
    let for_session =
        Decision::named(FOR_SESSION, file_change::for_session(root.as_deref()), Role::AllowAlways);
    let for_session = for_session.granting(file_change::grants_for_session(root.as_deref()));
    legacy(read, described, for_session, fallback_id)
}

/// The decision of the first version that lasts until the session ends.
const FOR_SESSION: &str = "approved_for_session";

fn legacy(
    read: LegacyParams,
    described: PermissionDescription,
    for_session: Decision,
    fallback_id: &str,
) -> Option<(Question, CodexReply)> {
    let decisions = vec![
        Decision::named("approved", "Allow once", Role::AllowOnce),
        for_session,
        // A version of Codex that does not know this name takes it for a denial as well.
        Decision::named("denied", DECLINE, Role::RejectOnce),
        Decision::named("abort", CANCEL, Role::RejectOnce),
    ];
    let described =
        PermissionDescription { session: read.conversation_id, tool_call: read.call_id, ..described };
    approval(described, decisions, json!({ "decision": "abort" }), fallback_id)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value as Json, json};

    use super::*;

    use crate::{
        dialect::{agent_dialect::Rejection, codex::file_change::complete},
        limits,
        question::{Answer, Outcome, Purpose, Reason, Role, check},
    };

    fn asked(method: &str, params: &Json) -> (Question, CodexReply) {
        read(method, params.to_string().as_bytes(), "q").expect("it is a question")
    }

    fn json(raw: &serde_json::value::RawValue) -> Json {
        serde_json::from_str(raw.get()).expect("JSON")
    }

    fn options(question: &Question) -> Vec<(String, Role)> {
        let options = question.fields[0].kind.options().iter();
        options.map(|option| (option.value.clone(), *option.role.clone().expect("a role"))).collect()
    }

    /// The result of each option, which is read again as that option.
    fn results((question, reply): &(Question, CodexReply)) -> Vec<Json> {
        let options = question.fields[0].kind.options().iter();
        let result = |value: &String| {
            let answer = Answer::text(&question.fields[0].name, value);
            assert_eq!(check(question, &answer), Ok(()));
            let result = reply.write_answer(question, &answer);
            let again = reply.read(question, result.get().as_bytes());
            assert_eq!(again, Some(Outcome::Answered(answer)), "{result}");
            json(&result)
        };
        options.map(|option| result(&option.value)).collect()
    }

    fn rejected((question, reply): &(Question, CodexReply), reason: Reason) -> Json {
        json(&reply.write_rejection(question, reason.into()))
    }

    fn user_input() -> Json {
        json!({
            "threadId": "t", "turnId": "u", "itemId": "i", "isBlocking": false, "autoResolutionMs": null,
            "questions": [
                { "id": "db", "header": "Database", "question": "Which database?", "isOther": true,
                  "isSecret": false, "options": [
                    { "label": "Postgres", "description": "Relational" },
                    { "label": "SQLite", "description": "" } ] },
                { "id": "key", "header": "Key", "question": "Which key?", "isOther": true, "isSecret": true,
                  "options": null },
            ],
        })
    }

    #[test]
    fn the_questions_of_the_model_are_fields() {
        let (question, _) = asked(USER_INPUT, &user_input());
        assert_eq!((question.session.as_deref(), question.tool_call.as_deref()), (Some("t"), Some("i")));
        let [db, key] = &*question.fields else { panic!("two fields") };
        assert_eq!(
            (&*db.label, db.header.as_deref(), db.secret),
            ("Which database?", Some("Database"), false)
        );
        assert!(db.kind.takes_other() && db.kind.options()[1].description.is_none());
        assert!(key.secret && key.kind.options().is_empty());
        assert!(question.blocking && question.timeout.is_none(), "Codex waits whatever isBlocking says");
    }

    #[test]
    fn a_timeout_of_another_shape_is_ignored() {
        for (timeout, expected) in [
            (json!(1500), Some(Duration::from_millis(1500))),
            (json!({ "tool": 5, "arguments": {} }), None),
            (json!(-1), None),
            (json!("5"), None),
        ] {
            let mut params = user_input();
            params["autoResolutionMs"] = timeout;
            assert_eq!(asked(USER_INPUT, &params).0.timeout, expected);
        }
        let mut params = user_input();
        params.as_object_mut().expect("an object").remove("autoResolutionMs");
        assert_eq!(asked(USER_INPUT, &params).0.timeout, None);
    }

    #[test]
    fn answers_go_by_the_ids_and_notes_beside_them() {
        let (question, reply) = asked(USER_INPUT, &user_input());
        for (answer, expected) in [
            (
                json!({ "values": { "db": "SQLite", "key": "k" }, "notes": { "db": "in WAL mode" } }),
                json!({ "db": { "answers": ["SQLite", "user_note: in WAL mode"] }, "key": { "answers": ["k"] } }),
            ),
            (
                json!({ "values": { "db": "DuckDB", "key": "k" } }),
                json!({ "db": { "answers": ["None of the above", "user_note: DuckDB"] },
                        "key": { "answers": ["k"] } }),
            ),
        ] {
            let answer: Answer = serde_json::from_value(answer).expect("an answer");
            assert_eq!(check(&question, &answer), Ok(()));
            let result = reply.write_answer(&question, &answer);
            assert_eq!(json(&result), json!({ "answers": expected }));
            let again = reply.read(&question, result.get().as_bytes());
            assert_eq!(again, Some(Outcome::Answered(answer)));
        }
    }

    #[test]
    fn rejected_questions_have_no_answers_but_the_persons_words() {
        let (question, reply) = asked(USER_INPUT, &user_input());
        let none = reply.write_rejection(&question, Reason::User.into());
        assert_eq!(json(&none), json!({ "answers": {} }));
        assert_eq!(reply.read(&question, none.get().as_bytes()), Some(Outcome::Rejected(Reason::User)));
        let rejection = Rejection { reason: Reason::User, remark: Some("later") };
        let noted = json!({ "answers": { "db": { "answers": ["user_note: later"] } } });
        assert_eq!(json(&reply.write_rejection(&question, rejection)), noted);
    }

    fn command() -> Json {
        json!({
            "threadId": "t", "turnId": "u", "itemId": "i", "kind": "command", "startedAtMs": 5,
            "environmentId": null, "command": "touch made && ls", "cwd": "/src/project",
            "reason": "It needs a file.",
            "availableDecisions": [
                "accept", { "acceptWithExecpolicyAmendment": { "execpolicy_amendment": ["touch", "a b"] } }, "cancel",
            ],
        })
    }

    #[test]
    fn a_command_offers_the_decisions_that_codex_names() {
        let asked = asked(COMMAND, &command());
        let (question, _) = &asked;
        assert_eq!(
            options(question),
            [
                ("accept".to_owned(), Role::AllowOnce),
                ("acceptWithExecpolicyAmendment".to_owned(), Role::AllowAlways),
                ("cancel".to_owned(), Role::RejectOnce),
            ]
        );
        let label = &question.fields[0].kind.options()[1].label;
        assert_eq!(label, "Allow, and do not ask again for commands that start with `touch 'a b'`");
        let amendment =
            json!({ "acceptWithExecpolicyAmendment": { "execpolicy_amendment": ["touch", "a b"] } });
        assert_eq!(
            results(&asked),
            [
                json!({ "decision": "accept" }),
                json!({ "decision": amendment }),
                json!({ "decision": "cancel" })
            ]
        );
        assert_eq!(rejected(&asked, Reason::User), json!({ "decision": "cancel" }));
        let subject = question.subject.as_ref().expect("a subject");
        assert_eq!(
            (subject.command.as_deref(), subject.folder.as_deref(), subject.description.as_deref()),
            (Some("touch made && ls"), Some("/src/project"), Some("It needs a file."))
        );
        assert_eq!(question.purpose, Purpose::Permission);
        assert_eq!(question.message, "touch made && ls");
    }

    #[test]
    fn a_command_without_named_decisions_offers_those_of_the_documentation() {
        let with = |members: Json| {
            let mut params = command();
            let object = params.as_object_mut().expect("an object");
            object.remove("availableDecisions");
            object.extend(members.as_object().expect("an object").clone());
            let (question, _) = asked(COMMAND, &params);
            options(&question).into_iter().map(|(value, _)| value).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(with(json!({})), "accept acceptForSession decline cancel");
        assert_eq!(
            with(json!({ "proposedExecpolicyAmendment": ["ls"] })),
            "accept acceptForSession acceptWithExecpolicyAmendment decline cancel"
        );
        assert_eq!(
            with(json!({ "additionalPermissions": { "network": { "enabled": true } } })),
            "accept cancel"
        );
        let hosts = json!([{ "host": "a.org", "action": "allow" }, { "host": "a.org", "action": "deny" }]);
        assert_eq!(
            with(json!({ "networkApprovalContext": { "host": "a.org", "protocol": "https" },
                         "proposedNetworkPolicyAmendments": hosts })),
            "accept acceptForSession applyNetworkPolicyAmendment applyNetworkPolicyAmendment-2 decline cancel"
        );
    }

    #[test]
    fn access_to_a_host_says_which_host() {
        let deny = json!({ "applyNetworkPolicyAmendment":
            { "network_policy_amendment": { "host": "a.org", "action": "deny" } } });
        let params = json!({
            "threadId": "t", "itemId": "i", "networkApprovalContext": { "host": "a.org", "protocol": "https" },
            "availableDecisions": ["accept", deny, "decline", "of_next_year", { "of": "next_year" }],
        });
        let asked = asked(COMMAND, &params);
        assert_eq!(asked.0.message, "Allow access to a.org?");
        assert_eq!(
            options(&asked.0),
            [
                ("accept".to_owned(), Role::AllowOnce),
                ("applyNetworkPolicyAmendment".to_owned(), Role::RejectAlways),
                ("decline".to_owned(), Role::RejectOnce),
            ],
            "decisions that are not known are left out"
        );
        assert_eq!(results(&asked)[1], json!({ "decision": deny }));
        assert_eq!(rejected(&asked, Reason::User), json!({ "decision": "decline" }));
        assert_eq!(rejected(&asked, Reason::Timeout), json!({ "decision": "cancel" }));
    }

    #[test]
    fn file_changes_show_what_the_item_before_them_says() {
        let mut asked = asked(FILE_CHANGE, &json!({ "threadId": "t", "itemId": "i", "reason": "A fix." }));
        assert_eq!(rejected(&asked, Reason::User), json!({ "decision": "decline" }));
        assert_eq!(results(&asked)[1], json!({ "decision": "acceptForSession" }));
        let item = |id: &str, kind: Json| {
            json!({ "type": "fileChange", "id": id, "changes": [
                { "path": "/p/a.rs", "kind": { "type": "update", "move_path": null }, "diff": "@@ -1 +1 @@\n-a\n+b" },
                { "path": "/p/b.rs", "kind": kind, "diff": "text\n" } ] })
            .to_string()
        };
        let (question, _) = &mut asked;
        let before = question.clone();
        complete(question, item("j", json!({ "type": "add" })).as_bytes());
        complete(question, b"5");
        assert_eq!(*question, before, "an item of another request changes nothing");
        complete(question, item("i", json!({ "type": "add" })).as_bytes());
        let subject = question.subject.as_deref().expect("a subject");
        assert_eq!(subject.locations, ["/p/a.rs", "/p/b.rs"]);
        assert_eq!(subject.patch.as_deref(), Some("--- /p/a.rs\n+++ /p/a.rs\n@@ -1 +1 @@\n-a\n+b\n"));
        assert_eq!((&*subject.diffs[0].path, &*subject.diffs[0].new), ("/p/b.rs", "text\n"));
        assert!(before.dangerous && !question.dangerous, "it is dangerous until its changes are known");
        for kind in [json!({ "type": "delete" }), json!({ "type": "of_next_year" })] {
            let mut other = before.clone();
            complete(&mut other, item("i", kind).as_bytes());
            let is_deletion = other.subject.as_ref().is_some_and(|it| it.kind.as_deref() == Some("delete"));
            assert!(
                other.dangerous || is_deletion,
                "removing a file can do harm, and so can what is not known"
            );
        }
        let mut without = before;
        complete(&mut without, br#"{"type":"fileChange","id":"i","changes":[]}"#);
        assert!(without.dangerous, "no change was seen");
    }

    #[test]
    fn changes_below_a_folder_are_dangerous_whatever_the_first_ones_are() {
        let params = json!({ "threadId": "t", "itemId": "i", "grantRoot": "/p" });
        let (mut question, _) = asked(FILE_CHANGE, &params);
        let item = json!({ "type": "fileChange", "id": "i", "changes": [
            { "path": "/p/a", "kind": { "type": "add" }, "diff": "a\n" } ] });
        complete(&mut question, item.to_string().as_bytes());
        assert!(question.dangerous);
        let options = question.fields[0].kind.options();
        assert_eq!(options[1].label, "Allow changes below /p for the rest of this session");
        assert_eq!(question.subject.expect("a subject").locations, ["/p", "/p/a"]);
    }

    #[test]
    fn permissions_are_granted_as_they_were_asked_for() {
        let profile = json!({ "network": { "enabled": true }, "fileSystem": null });
        let asked = asked(PERMISSIONS, &json!({ "threadId": "t", "itemId": "i", "permissions": profile }));
        let granted = json!({ "network": { "enabled": true } });
        let refused = json!({ "permissions": {}, "scope": "turn", "strictAutoReview": false });
        assert_eq!(
            results(&asked),
            [
                json!({ "permissions": granted, "scope": "turn", "strictAutoReview": false }),
                json!({ "permissions": granted, "scope": "session", "strictAutoReview": false }),
                refused.clone(),
            ]
        );
        assert_eq!(
            (rejected(&asked, Reason::User), rejected(&asked, Reason::Timeout)),
            (refused.clone(), refused)
        );
        assert!(asked.0.dangerous, "they are beyond the sandbox");
        let subject = asked.0.subject.expect("a subject");
        assert_eq!(subject.content.as_deref(), Some("Network: yes"));
        for permissions in [json!({}), json!({ "network": null }), json!(5)] {
            let params = json!({ "threadId": "t", "itemId": "i", "permissions": permissions });
            assert!(read(PERMISSIONS, params.to_string().as_bytes(), "q").is_none(), "{permissions}");
        }
    }

    #[test]
    fn a_form_of_an_mcp_server_is_a_question() {
        let schema = json!({ "type": "object", "required": ["db"],
            "properties": { "db": { "type": "string", "enum": ["a", "b"] } } });
        let params = json!({ "threadId": "t", "turnId": null, "serverName": "ask", "mode": "form", "_meta": null,
            "message": "Which database?", "requestedSchema": schema });
        let (question, reply) = asked(ELICITATION, &params);
        assert_eq!((question.session.as_deref(), question.message.as_str()), (Some("t"), "Which database?"));
        let answer: Answer = serde_json::from_value(json!({ "values": { "db": "a" } })).expect("an answer");
        let result = reply.write_answer(&question, &answer);
        assert_eq!(json(&result), json!({ "action": "accept", "content": { "db": "a" }, "_meta": null }));
        assert_eq!(reply.read(&question, result.get().as_bytes()), Some(Outcome::Answered(answer)));
        let both = (question, reply);
        let rejection = |action: &str| json!({ "action": action, "content": null, "_meta": null });
        assert_eq!(rejected(&both, Reason::User), rejection("decline"));
        assert_eq!(rejected(&both, Reason::Withdrawn), rejection("cancel"));
    }

    #[test]
    fn the_approval_of_a_tool_offers_the_scopes_that_codex_names() {
        let params = |persist: Json| {
            json!({ "threadId": "t", "turnId": null, "serverName": "db", "mode": "form", "message": "Run drop?",
                "requestedSchema": { "type": "object", "properties": {} },
                "_meta": { "codex_approval_kind": "mcp_tool_call", "persist": persist,
                           "tool_params": { "table": "a" } } })
        };
        let both = asked(ELICITATION, &params(json!(["session", "always"])));
        let accepted = |meta: Json| json!({ "action": "accept", "content": null, "_meta": meta });
        assert_eq!(
            results(&both),
            [
                accepted(Json::Null),
                accepted(json!({ "persist": "session" })),
                accepted(json!({ "persist": "always" })),
                json!({ "action": "decline", "content": null, "_meta": null }),
            ]
        );
        assert_eq!(both.0.purpose, Purpose::Permission);
        assert_eq!(results(&asked(ELICITATION, &params(Json::Null))).len(), 2, "no lasting choice");
    }

    #[test]
    fn legacy_approvals_are_read() {
        let params = json!({ "conversationId": "t", "callId": "i", "approvalId": null, "parsedCmd": [],
            "command": ["bash", "-lc", "rm -rf build"], "cwd": "/p", "reason": null });
        let command = asked(LEGACY_COMMAND, &params);
        assert_eq!(command.0.message, "rm -rf build");
        assert_eq!(results(&command)[0], json!({ "decision": "approved" }));
        assert_eq!(rejected(&command, Reason::User), json!({ "decision": "denied" }));
        let params = json!({ "conversationId": "t", "callId": "i", "reason": null, "grantRoot": null,
            "fileChanges": { "/p/a": { "type": "add", "content": "a\n" },
                             "/p/b": { "type": "update", "unified_diff": "@@\n", "move_path": "/p/c" } } });
        let (question, _) = asked(LEGACY_PATCH, &params);
        assert!(!question.dangerous, "all changes are known");
        let subject = question.subject.expect("a subject");
        assert_eq!(subject.patch.as_deref(), Some("--- /p/b\n+++ /p/c\n@@\n"));
        let mut below = params.clone();
        below["grantRoot"] = json!("/p");
        let (question, _) = asked(LEGACY_PATCH, &below);
        assert!(question.dangerous);
        let options = question.fields[0].kind.options();
        assert_eq!(options[1].label, "Allow changes below /p for the rest of this session");
        assert_eq!(question.subject.expect("a subject").locations, ["/p", "/p/a", "/p/b"]);
        let mut removing = params;
        removing["fileChanges"]["/p/a"] = json!({ "type": "delete", "content": "a\n" });
        let removes = asked(LEGACY_PATCH, &removing).0.subject.expect("a subject");
        assert_eq!(removes.kind.as_deref(), Some("delete"));
    }

    #[test]
    fn what_is_not_understood_is_left_to_codex() {
        let url = json!({ "threadId": "t", "serverName": "a", "mode": "url", "message": "Sign in",
            "url": "https://a.org", "elicitationId": "e" });
        let mut twice = user_input();
        twice["questions"][1]["id"] = json!("db");
        let mut long = user_input();
        long["questions"][0]["question"] = json!("x".repeat(limits::TEXT + 1));
        for (method, params) in [
            (USER_INPUT, json!({ "questions": [] })),
            (USER_INPUT, json!({ "questions": 5 })),
            (USER_INPUT, json!(5)),
            (USER_INPUT, twice),
            (USER_INPUT, long),
            (COMMAND, json!({ "command": "ls", "availableDecisions": [] })),
            (COMMAND, json!({ "command": "ls", "availableDecisions": ["of_next_year"] })),
            (ELICITATION, url),
            (LEGACY_PATCH, json!({})),
            (LEGACY_COMMAND, json!({ "command": [] })),
            ("item/tool/call", json!({})),
            ("account/chatgptAuthTokens/refresh", json!({})),
        ] {
            assert!(read(method, params.to_string().as_bytes(), "q").is_none(), "{method} {params}");
        }
        let big = json!({ "threadId": "t", "command": "x".repeat(limits::QUESTION) });
        assert!(read(COMMAND, big.to_string().as_bytes(), "q").is_none());
    }
}
