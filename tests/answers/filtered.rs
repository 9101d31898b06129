//! Which questions `askbridge list` and `next` show, and which comes first: by project, agent, kind, risk and deadline.

use std::fs;

use serde_json::{Value, json};

use crate::{
    answers::{machine::name, person::Person},
    support::Process,
};

/// A permission to use a tool of this kind.
fn permission(id: usize, kind: &str, input: &Value) -> Value {
    let options = [["once", "Allow", "allow_once"], ["no", "No", "reject_once"]];
    let options = options.map(|[id, name, kind]| json!({ "optionId": id, "name": name, "kind": kind }));
    let call = json!({ "toolCallId": format!("t{id}"), "title": format!("Use {kind}"), "kind": kind, "rawInput": input });
    let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
    json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params })
}

/// An agent of this name in a folder, which asks these once its session is open.
fn agent(person: &Person, agent: &str, folder: &str, requests: &[Value]) -> Process {
    let folder = person.machine.path().canonicalize().unwrap().join(folder);
    fs::create_dir_all(&folder).unwrap();
    let script = "read -r _; printf '{\"jsonrpc\":\"2.0\",\"id\":\"init\",\"result\":{\"protocolVersion\":1,\"agentInfo\":{\"name\":\"%s\",\"version\":\"1\"}}}\\n' \"$1\"; \
                  read -r _; echo '{\"jsonrpc\":\"2.0\",\"id\":\"new\",\"result\":{\"sessionId\":\"s\"}}'; shift; printf '%s\\n' \"$@\"; cat";
    let mut command = person.command(&["run", "--", "sh", "-c", script, "sh", agent]);
    command.args(requests.iter().map(Value::to_string)).current_dir(&folder);
    let mut bridge = Process::spawn(&mut command);
    bridge.send(&json!({ "jsonrpc": "2.0", "id": "init", "method": "initialize", "params": { "protocolVersion": 1 } }).to_string());
    let params = json!({ "cwd": folder, "mcpServers": [] });
    bridge.send(
        &json!({ "jsonrpc": "2.0", "id": "new", "method": "session/new", "params": params }).to_string(),
    );
    bridge
}

#[test]
fn a_list_shows_what_is_asked_for_by_project_agent_kind_and_risk() {
    let person = Person::new();
    let execute = |id: usize, command: &str| permission(id, "execute", &json!({ "command": command }));
    let _shop = agent(&person, "Claude Code", "shop", &[execute(1, "make"), execute(2, "rm -rf x")]);
    let _payments =
        agent(&person, "Codex", "payments", &[permission(1, "read", &json!({ "path": "a.txt" }))]);
    let all = person.machine.questions(3);
    assert_eq!(all.len(), 3);
    let listed = |args: &[&str]| {
        let list: Value = serde_json::from_str(&person.ok(&[&["list", "--json"], args].concat())).unwrap();
        let mut titles: Vec<_> = list["questions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|question| question["title"].as_str().unwrap().to_owned())
            .collect();
        titles.sort();
        titles.join(", ")
    };
    for (args, titles) in [
        (&[][..], "$ make, $ rm -rf x, Use read"),
        (&["--project", "shop"], "$ make, $ rm -rf x"),
        (&["--project", "SHOP"], "$ make, $ rm -rf x"),
        (&["--project", "."], "$ make, $ rm -rf x"),
        (&["--project", "../payments"], "Use read"),
        (&["--project", ".."], "$ make, $ rm -rf x, Use read"),
        (&["--project", "sho"], ""),
        (&["--agent", "claude"], "$ make, $ rm -rf x"),
        (&["--agent", "codex"], "Use read"),
        (&["--kind", "permission"], "$ make, $ rm -rf x, Use read"),
        (&["--kind", "read"], "Use read"),
        (&["--kind", "question"], ""),
        (&["--risk", "acts"], "$ make"),
        (&["--risk", "plain"], "Use read"),
        (&["--risk", "dangerous", "--project", "shop"], "$ rm -rf x"),
        (&["--risk", "dangerous", "--project", "payments"], ""),
    ] {
        assert_eq!(listed(args), titles, "{args:?}");
    }
    // A table says what acts, and what only looks.
    let table = person.ok(&["list"]);
    for (risk, what) in [("acts", "$ make"), ("dangerous", "! $ rm -rf x"), ("plain", "Use read")] {
        assert!(table.lines().any(|line| line.contains(risk) && line.ends_with(what)), "{table}");
    }
    let table = person.ok(&["list", "--kind", "execute"]);
    assert!(table.contains("$ make") && !table.contains("Use read"), "{table}");
    assert_eq!(person.ok(&["list", "--agent", "gemini"]), "none of the 3 open questions fits\n");
    let run = person.run(&["list", "--risk", "much"]);
    assert!(run.code == 2 && run.stderr.contains("it is one of plain, acts and dangerous"), "{}", run.stderr);
}

#[test]
fn what_ends_within_ten_minutes_comes_first() {
    let person = Person::new();
    let mut asked = Vec::new();
    for (count, (prompt, timeout)) in
        [("first?", None), ("soon?", Some("9m")), ("later?", Some("2h")), ("sooner?", Some("4m"))]
            .into_iter()
            .enumerate()
    {
        let mut command = person.command(&["ask", prompt]);
        command.args(timeout.iter().flat_map(|timeout| ["--timeout", timeout]));
        asked.push(Process::spawn(&mut command));
        person.machine.questions(count + 1);
    }
    let list: Value = serde_json::from_str(&person.ok(&["list", "--json"])).unwrap();
    let titles: Vec<_> = list["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|question| question["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["sooner?", "soon?", "first?", "later?"]);
    let table = person.ok(&["list"]);
    let places: Vec<_> = titles.iter().map(|title| table.find(title).unwrap()).collect();
    assert!(places.is_sorted(), "{table}");
    let open = person.machine.questions(4);
    let sooner = open.iter().find(|question| question["title"] == "sooner?").map(name).unwrap();
    assert!(table.lines().nth(1).unwrap().starts_with(&sooner), "{table}");
}
