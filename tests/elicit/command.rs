//! `askbridge mcp-proxy` as a host starts it, with the inbox of the user.

use std::fs;

use serde_json::{Value as Json, json};

use crate::{
    answers::machine::{TestMachine, end},
    support::{Process, running::eventually},
};

/// A server that says what the test has it say, and writes down all else that it hears.
const SERVER: &str = r#"while read -r verb line; do case "$verb" in say) printf '%s\n' "$line";; end) exit "$line";; *) printf '%s %s\n' "$verb" "$line" >>"$1";; esac; done"#;

struct Session {
    machine: TestMachine,
    host: Process,
}

impl Session {
    /// Starts a server behind the bridge, with these options.
    fn start(options: &[&str], environment: &[(&str, &str)]) -> Self {
        let machine = TestMachine::new();
        let heard = machine.path().join("heard");
        let args =
            [&["mcp-proxy"], options, &["--", "sh", "-c", SERVER, "server", heard.to_str().expect("a path")]]
                .concat();
        let mut command = machine.command(&args);
        command.envs(environment.iter().copied());
        let mut session = Session { host: Process::spawn(&mut command), machine };
        let info = json!({ "name": "desk", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        session.host.send(&json!({ "id": 0, "method": "initialize", "params": params }).to_string());
        let declared = session.heard("initialize");
        assert!(declared["params"]["capabilities"]["elicitation"]["url"].is_object(), "{declared}");
        session.server_says(
            &json!({ "id": 0, "result": { "serverInfo": { "name": "tickets", "version": "1" } } }),
        );
        session.host.expect("the response to initialize", |line| line.contains("serverInfo"));
        session
    }

    fn server_says(&mut self, line: &Json) {
        self.host.send(&format!("say {line}"));
    }

    fn call(&mut self, id: u64, tool: &str, arguments: Json) {
        let params = json!({ "name": tool, "arguments": arguments });
        self.host.send(&json!({ "id": id, "method": "tools/call", "params": params }).to_string());
    }

    /// Waits until the server has heard a line with this text.
    fn heard(&self, text: &str) -> Json {
        let path = self.machine.path().join("heard");
        let line = || {
            let heard = fs::read_to_string(&path).unwrap_or_default();
            heard.lines().rev().find(|line| line.contains(text)).map(str::to_owned)
        };
        eventually("the server hears it", || line().is_some());
        serde_json::from_str(&line().unwrap_or_default()).expect("JSON")
    }
}

fn form(id: u64) -> Json {
    let schema = json!({ "type": "object", "properties": { "title": { "type": "string", "title": "Title" } }, "required": ["title"] });
    let params = json!({ "mode": "form", "message": "Which ticket?", "requestedSchema": schema });
    json!({ "id": id, "method": "elicitation/create", "params": params })
}

#[test]
fn a_form_is_answered_by_a_command_where_the_host_has_no_elicitation() {
    let mut session = Session::start(&["--name", "jira"], &[]);
    session.call(1, "file", json!({}));
    session.server_says(&form(0));
    let id = session.machine.question();
    let shown = session.machine.ok(&["show", &id]);
    assert!(shown.contains("Which ticket?") && shown.contains("jira"), "{shown}");
    session.machine.does(&["answer", &id, "--field", "title=One"]);
    let answer = session.heard("accept");
    assert_eq!((&answer["id"], &answer["result"]["content"]), (&json!(0), &json!({ "title": "One" })));
    // The host has seen nothing but the result of its own call.
    session.server_says(&json!({ "id": 1, "result": { "content": [] } }));
    session.host.expect("the result of the call", |line| line == r#"{"id":1,"result":{"content":[]}}"#);
    session.host.send("end 7");
    assert_eq!(end(session.host).code, 7);
}

#[test]
fn a_page_is_shown_with_its_host_and_a_call_that_ended_says_so() {
    let mut session = Session::start(&[], &[]);
    session.call(1, "file", json!({}));
    let params = json!({ "mode": "url", "message": "Sign in.", "url": "HTTPS://Tickets.example:8443/login?a=1", "elicitationId": "e" });
    session.server_says(&json!({ "id": 0, "method": "elicitation/create", "params": params }));
    let id = session.machine.question();
    let shown = session.machine.ok(&["show", &id]);
    assert!(shown.contains("Open tickets.example:8443:\nhttps://tickets.example:8443/login?a=1"), "{shown}");
    session
        .host
        .send(r#"{"method":"notifications/cancelled","params":{"requestId":1,"reason":"timed out"}}"#);
    assert_eq!(session.heard("cancel\"")["result"]["action"], "cancel");
    let shown = session.machine.ok(&["show", &id]);
    assert!(shown.contains("over: the client (desk) ended the call that waited for it"), "{shown}");
    session.host.close_stdin();
}

#[test]
fn a_tool_that_the_user_names_is_called_once_it_is_allowed() {
    let mut session = Session::start(&["--name", "git"], &[("ASKBRIDGE_MCP_ASK", "git/push*")]);
    session.call(1, "log", json!({}));
    assert_eq!(session.heard("\"log\"")["id"], 1);
    session.call(2, "push_files", json!({ "branch": "main" }));
    let id = session.machine.question();
    let shown = session.machine.ok(&["show", &id]);
    assert!(shown.contains("push_files, of the MCP server git") && shown.contains("main"), "{shown}");
    session.machine.does(&["reject", &id, "--reason", "not on Friday"]);
    let refused = session.host.expect("a result", |line| line.contains("\"id\":2"));
    assert!(refused.contains(r#""isError":true"#) && refused.contains("not on Friday"), "{refused}");
    session.call(3, "push_files", json!({ "branch": "next" }));
    let id = session.machine.question();
    session.machine.does(&["allow", &id, "--yes"]);
    assert_eq!(session.heard("push_files")["id"], 3);
    session.host.close_stdin();
}

#[test]
fn a_guard_that_cannot_be_read_guards_everything() {
    let mut session = Session::start(&[], &[("ASKBRIDGE_MCP_ASK", "push")]);
    session.call(1, "log", json!({}));
    let id = session.machine.question();
    session.machine.does(&["reject", &id]);
    let refused = session.host.expect("a result", |line| line.contains("\"id\":1"));
    assert!(refused.contains("log was not called. The user did not allow this call."), "{refused}");
    session.host.close_stdin();
}
