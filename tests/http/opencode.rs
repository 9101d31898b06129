//! The part of opencode's API with which its clients answer questions, with the shapes of `@opencode-ai/sdk` 1.19.3.
//! `tests/opencode` tries the same with the package itself.

use askbridge_core::{
    desk::Submission,
    question::{Answer, Question, Value as Given},
};
use serde_json::{Value, json};

use crate::http::bridge::{Bridge, choice, permission, permission_of, question};
use crate::http::client::{Event, Listener, soon};
use crate::http::program::{askbridge, http};
use crate::support::Process;

async fn next(listener: &mut Listener) -> (String, Value) {
    let Event { event, id, mut data } = listener.next().await;
    assert_eq!((&*event, id), ("", None), "opencode's events have no name and no id of their own");
    assert!(data["id"].as_str().is_some_and(|id| id.starts_with("evt_")), "{data}");
    (data["type"].as_str().unwrap().to_owned(), data["properties"].take())
}

#[tokio::test]
async fn opencode_clients_can_answer() {
    let bridge = Bridge::start().await;
    let mut listener = bridge.http.listen("/event?directory=%2Fwork", &[]).await;
    assert_eq!(next(&mut listener).await, ("server.connected".to_owned(), json!({})));
    bridge.ask(choice("q")).await;
    let asked = json!({
        "id": "bridge-1",
        "sessionID": "s",
        "questions": [{
            "question": "Which?",
            "header": "Which?",
            "options": [
                { "label": "Option A", "description": "" },
                { "label": "Option B", "description": "The other." },
            ],
            "multiple": false,
            "custom": false,
        }],
    });
    assert_eq!(next(&mut listener).await, ("question.asked".to_owned(), asked.clone()));
    assert_eq!(bridge.http.get("/question?directory=%2Fwork").await.is(200).json(), json!([asked]));

    let reply =
        bridge.http.post("/question/bridge-1/reply?directory=%2Fwork", r#"{"answers":[["Option B"]]}"#).await;
    assert_eq!(reply.is(200).json(), json!(true));
    let replied = json!({ "sessionID": "s", "requestID": "bridge-1", "answers": [["Option B"]] });
    assert_eq!(next(&mut listener).await, ("question.replied".to_owned(), replied));
    assert_eq!(bridge.http.get("/question").await.json(), json!([]));

    bridge.ask(choice("q")).await;
    assert_eq!(next(&mut listener).await.0, "question.asked");
    assert_eq!(
        bridge.http.send("POST", "/question/bridge-2/reject", &[], "").await.is(200).json(),
        json!(true)
    );
    let rejected = json!({ "sessionID": "s", "requestID": "bridge-2" });
    assert_eq!(next(&mut listener).await, ("question.rejected".to_owned(), rejected));
    bridge.http.post("/question/bridge-2/reply", r#"{"answers":[["Option B"]]}"#).await.is(409);
    bridge.http.post("/question/que_none/reply", r#"{"answers":[[]]}"#).await.is(404);
    bridge.http.post("/question/que_none/reject", "").await.is(404);
}

#[tokio::test]
async fn every_kind_of_field_can_be_answered_by_its_labels() {
    let bridge = Bridge::start().await;
    let options = json!([{ "value": "1", "label": "One" }, { "value": "2", "label": "Two" }]);
    let fields = json!([
        { "name": "m", "label": "Many?", "header": "Many", "kind": "choices", "options": options, "other": true },
        { "name": "f", "label": "Now?", "help": "Or later.", "kind": "boolean" },
        { "name": "c", "label": "Sure?", "kind": "confirm", "yes": "Do it", "no": "Leave it" },
        { "name": "n", "label": "How many?", "kind": "number" },
        { "name": "t", "label": "Why?", "kind": "text" },
    ]);
    bridge.ask(question("q", fields)).await;
    let listed = bridge.http.get("/question").await.json();
    let said: Vec<_> = listed[0]["questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|info| {
            let labels: Vec<_> =
                info["options"].as_array().unwrap().iter().map(|option| option["label"].clone()).collect();
            json!([info["question"], info["header"], labels, info["multiple"], info["custom"]])
        })
        .collect();
    let expected = json!([
        ["Which?\n\nMany?", "Many", ["One", "Two"], true, true],
        ["Now?\n\nOr later.", "Now?", ["Yes", "No"], false, false],
        ["Sure?", "Sure?", ["Do it", "Leave it"], false, false],
        ["How many?", "How many?", [], false, true],
        ["Why?", "Why?", [], false, true],
    ]);
    assert_eq!(json!(said), expected);
    let answers = json!([["Two", "three"], ["No"], ["Do it"], ["4"], []]);
    let mut listener = bridge.http.listen("/event", &[]).await;
    let body = json!({ "answers": answers });
    bridge.http.post("/question/bridge-1/reply", &body.to_string()).await.is(200);
    let settled = bridge.http.get("/v1/questions/bridge-1").await.json();
    let values = json!({ "m": ["2", "three"], "f": false, "c": true, "n": 4 });
    assert_eq!(settled["settlement"]["outcome"]["values"], values);
    let replied = loop {
        let (kind, properties) = next(&mut listener).await;
        if kind == "question.replied" {
            break properties;
        }
    };
    assert_eq!(replied["answers"], answers);
}

/// Its clients see and send labels alone.
#[tokio::test]
async fn the_agent_gets_the_value_of_the_label() {
    let bridge = Bridge::start().await;
    let option = |(value, label): (&str, &str)| json!({ "value": value, "label": label });
    let crossed = [("a", "b"), ("b", "a")].map(option);
    let same = [("1", "Same"), ("2", "Same"), ("3", "Other")].map(option);
    let fields = json!([
        { "name": "c", "label": "Which?", "kind": "choice", "options": crossed },
        { "name": "m", "label": "Which?", "kind": "choices", "options": crossed, "other": true },
        { "name": "s", "label": "Which?", "kind": "choice", "options": same },
    ]);
    bridge.ask(question("q", fields)).await;
    let listed = bridge.http.get("/question").await.json();
    let labels = |field: usize| -> Vec<_> {
        let options = listed[0]["questions"][field]["options"].as_array().unwrap();
        options.iter().map(|option| option["label"].as_str().unwrap()).collect()
    };
    assert_eq!((labels(0), labels(2)), (vec!["b", "a"], vec!["Same (1)", "Same (2)", "Other"]));
    let path = "/question/bridge-1/reply";
    for (wrong, field) in
        [(json!([["1"]]), "c"), (json!([[], [], ["2"]]), "s"), (json!([[], [], [], []]), "answers[3]")]
    {
        let problem = bridge.http.post(path, &json!({ "answers": wrong }).to_string()).await.is(422).json();
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    for wrong in [r#"{"values":{"c":"a"}}"#, r#"[[["a"]]]"#, r#"{"answers":["a"]}"#] {
        bridge.http.post(path, wrong).await.is(400);
    }
    let mut listener = bridge.http.listen("/event", &[]).await;
    let answers = json!([["a"], ["b", "typed"], ["Same (2)"]]);
    bridge.http.post(path, &json!({ "answers": answers }).to_string()).await.is(200);
    let settled = bridge.http.get("/v1/questions/bridge-1").await.json();
    let values = json!({ "c": "b", "m": ["a", "typed"], "s": "2" });
    assert_eq!(settled["settlement"]["outcome"]["values"], values);
    let replied = loop {
        let (kind, properties) = next(&mut listener).await;
        if kind == "question.replied" {
            break properties;
        }
    };
    assert_eq!(replied["answers"], answers);
}

/// What opencode's clients read of a permission to run `make`.
fn asked(id: &str) -> Value {
    json!({
        "id": id,
        "sessionID": "s",
        "permission": "bash",
        "patterns": ["make"],
        "metadata": {
            "title": "Run make",
            "command": "make",
            "subject": { "kind": "execute", "command": "make", "folder": "/work" },
            "dangerous": true,
            "options": [
                { "value": "always", "label": "always", "role": "allow_always" },
                { "value": "allow", "label": "allow", "role": "allow_once" },
                { "value": "no", "label": "no", "role": "reject_once" },
            ],
        },
        "always": ["always"],
    })
}

#[tokio::test]
async fn opencode_clients_can_decide_about_permissions() {
    let mut bridge = Bridge::start().await;
    let mut listener = bridge.http.listen("/event", &[]).await;
    assert_eq!(next(&mut listener).await.0, "server.connected");
    let answered = |option: &str| {
        let values = [("q0".to_owned(), Given::Text(option.to_owned()))].into();
        Submission::answer(Answer { values, ..Answer::default() }, 0)
    };
    let rejected = |reason: Option<&str>| Submission::Reject(reason.map(str::to_owned));
    let (reply, session) = ("/permission/ID/reply?directory=%2Fwork", "/session/s/permissions/ID");
    for (path, body, said, submission) in [
        (reply, r#"{"reply":"once"}"#, "once", answered("allow")),
        (reply, r#"{"reply":"always","message":"ignored"}"#, "always", answered("always")),
        (reply, r#"{"reply":"reject"}"#, "reject", rejected(None)),
        (reply, r#"{"reply":"reject","message":""}"#, "reject", rejected(None)),
        (
            reply,
            r#"{"reply":"reject","message":"not on a Friday"}"#,
            "reject",
            rejected(Some("not on a Friday")),
        ),
        (session, r#"{"response":"once"}"#, "once", answered("allow")),
        (session, r#"{"response":"always"}"#, "always", answered("always")),
        (session, r#"{"response":"reject"}"#, "reject", rejected(None)),
    ] {
        let id = format!("bridge-{}", bridge.ask(permission("p")).await);
        assert_eq!(next(&mut listener).await, ("permission.asked".to_owned(), asked(&id)));
        // The first API: its clients know no other event.
        let (kind, updated) = next(&mut listener).await;
        assert_eq!(kind, "permission.updated");
        let told =
            ["id", "type", "pattern", "sessionID", "callID", "title"].map(|name| updated[name].clone());
        assert_eq!(json!(told), json!([id, "bash", ["make"], "s", "t", "Run make"]), "{updated}");
        assert!(
            updated["time"]["created"].as_u64().is_some_and(|created| created > 1_700_000_000_000),
            "{updated}"
        );
        assert_eq!(
            bridge.http.get("/permission?directory=%2Fwork").await.is(200).json(),
            json!([asked(&id)])
        );
        assert_eq!(bridge.http.get("/question").await.is(200).json(), json!([]));

        assert_eq!(bridge.http.post(&path.replace("ID", &id), body).await.is(200).json(), json!(true));
        assert_eq!(soon("a submission", bridge.heard.recv()).await, Some(submission), "{path} {body}");
        let replied =
            json!({ "sessionID": "s", "requestID": id, "reply": said, "permissionID": id, "response": said });
        assert_eq!(next(&mut listener).await, ("permission.replied".to_owned(), replied));
        assert_eq!(bridge.http.get("/permission").await.json(), json!([]));
        // Once more is accepted, and something else is not.
        bridge.http.post(&path.replace("ID", &id), body).await.is(200);
        let other = if said == "once" { "always" } else { "once" };
        let problem = bridge
            .http
            .post(&format!("/permission/{id}/reply"), &json!({ "reply": other }).to_string())
            .await;
        assert!(problem.is(409).json()["outcome"].is_object(), "{problem:?}");
        while bridge.heard.try_recv().is_ok() {}
    }
}

#[tokio::test]
async fn a_permission_that_was_withdrawn_was_not_allowed() {
    let bridge = Bridge::start().await;
    let mut listener = bridge.http.listen("/event", &[]).await;
    assert_eq!(next(&mut listener).await.0, "server.connected");
    let number = bridge.ask(permission("p")).await;
    let asked = [next(&mut listener).await.0, next(&mut listener).await.0];
    assert_eq!(asked, ["permission.asked", "permission.updated"]);
    bridge.withdraw(number).await;
    let (kind, replied) = next(&mut listener).await;
    assert_eq!((&*kind, &replied["reply"]), ("permission.replied", &json!("reject")));
    bridge.http.post(&format!("/permission/bridge-{number}/reply"), r#"{"reply":"once"}"#).await.is(410);
}

#[tokio::test]
async fn a_reply_that_may_mean_several_options_or_none_is_refused() {
    let bridge = Bridge::start().await;
    let plan = [
        ("edits", "allow_always"),
        ("all", "allow_always"),
        ("step", "allow_once"),
        ("ask", "allow_once"),
        ("no", "reject_once"),
    ];
    bridge.ask(permission_of("plan", &plan)).await;
    bridge
        .ask(permission_of(
            "read",
            &[("yes", "allow_once"), ("session", "allow_for_session"), ("no", "reject_once")],
        ))
        .await;
    bridge.ask(permission_of("odd", &[("always", "allow_always")])).await;
    let listed = bridge.http.get("/permission").await.is(200).json();
    let always: Vec<_> = listed.as_array().unwrap().iter().map(|asked| asked["always"].clone()).collect();
    assert_eq!(json!(always), json!([[], [], ["always"]]), "clients offer what is accepted");
    for (number, reply, expected) in [
        (
            1,
            "once",
            r#""once" is ambiguous: the agent offers "step", "ask"; choose one with POST /v1/questions/bridge-1/reply"#,
        ),
        (
            1,
            "always",
            r#""always" is ambiguous: the agent offers "edits", "all"; choose one with POST /v1/questions/bridge-1/reply"#,
        ),
        (
            2,
            "always",
            r#""always" is not possible: the agent offers no option that allows it always, but "yes", "session", "no""#,
        ),
        (
            3,
            "once",
            r#""once" is not possible: the agent offers no option that allows it once, but "always""#,
        ),
    ] {
        for (path, name) in [("/permission/ID/reply", "reply"), ("/session/s/permissions/ID", "response")] {
            let path = path.replace("ID", &format!("bridge-{number}"));
            let problem = bridge.http.post(&path, &json!({ name: reply }).to_string()).await.is(422).json();
            assert_eq!(problem["errors"], json!([{ "field": "reply", "message": expected }]));
        }
    }
    assert_eq!(*bridge.agent.lock().unwrap(), [], "nothing was allowed");
    for wrong in
        ["{}", r#"{"reply":"yes"}"#, r#"{"reply":"Once"}"#, r#"["once"]"#, r#"{"response":"once"}"#, ""]
    {
        bridge.http.post("/permission/bridge-2/reply", wrong).await.is(400);
    }
    bridge.http.post("/permission/bridge-2/reply", r#"{"reply":"once"}"#).await.is(200);
    bridge.http.post("/session/s/permissions/bridge-1", r#"{"response":"reject"}"#).await.is(200);
}

#[tokio::test]
async fn questions_and_permissions_are_not_mixed_up() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    bridge.ask(permission("p")).await;
    let ids = async |path: &str| {
        let listed = bridge.http.get(path).await.is(200).json();
        listed.as_array().unwrap().iter().map(|asked| asked["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        (ids("/question").await, ids("/permission").await),
        (vec![json!("bridge-1")], vec![json!("bridge-2")])
    );
    for (path, body) in [
        ("/question/bridge-2/reply", r#"{"answers":[["allow"]]}"#),
        ("/question/bridge-2/reject", ""),
        ("/permission/bridge-1/reply", r#"{"reply":"reject"}"#),
        ("/session/s/permissions/bridge-1", r#"{"response":"reject"}"#),
        ("/session/t/permissions/bridge-2", r#"{"response":"once"}"#),
        ("/permission/per_none/reply", r#"{"reply":"once"}"#),
    ] {
        bridge.http.post(path, body).await.is(404);
    }
    assert_eq!(*bridge.agent.lock().unwrap(), []);
}

#[tokio::test]
async fn opencode_clients_are_shown_what_is_changed() {
    let bridge = Bridge::start().await;
    let subject =
        |subject: Value| Question { subject: serde_json::from_value(subject).unwrap(), ..permission("p") };
    let diff = json!({ "path": "/a.txt", "line": 1, "old": "one\ntwo\n", "new": "one\n2\n" });
    let text = "--- /a.txt\n+++ /a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    for (about, tool, patterns, filepath, diff) in [
        (
            json!({ "kind": "edit", "diffs": [diff], "locations": ["/a.txt:2"] }),
            "edit",
            json!(["/a.txt"]),
            json!("/a.txt"),
            json!(text),
        ),
        (
            json!({ "diffs": [diff], "patch": "diff --git" }),
            "edit",
            json!(["/a.txt"]),
            json!("/a.txt"),
            json!("diff --git"),
        ),
        (
            json!({ "kind": "read", "locations": ["/a:3", "/b"] }),
            "read",
            json!(["/a:3", "/b"]),
            json!("/a:3"),
            json!(null),
        ),
        (json!({ "kind": "other", "command": "ls" }), "bash", json!(["ls"]), json!(null), json!(null)),
        (json!({ "kind": "fetch" }), "webfetch", json!(["Run make"]), json!(null), json!(null)),
        (json!({ "kind": "search" }), "grep", json!(["Run make"]), json!(null), json!(null)),
        (
            json!({ "kind": "switch_mode", "plan": "1." }),
            "switch_mode",
            json!(["Run make"]),
            json!(null),
            json!(null),
        ),
        (json!(null), "other", json!(["Run make"]), json!(null), json!(null)),
    ] {
        let number = bridge.ask(subject(about)).await;
        let listed = &bridge.http.get("/permission").await.is(200).json()[0];
        let told = [
            &listed["permission"],
            &listed["patterns"],
            &listed["metadata"]["filepath"],
            &listed["metadata"]["diff"],
        ];
        assert_eq!(told, [&json!(tool), &patterns, &filepath, &diff]);
        bridge.withdraw(number).await;
    }
}

/// Each path of the API by which a client allows a permission, with its ID, and what it sends.
const ALLOWING: [(&str, &str, &str); 2] = [
    ("/permission/", "/reply", r#"{"reply":"once"}"#),
    ("/session/s/permissions/", "", r#"{"response":"once"}"#),
];

/// The agent echoes what its client says. So the client says what the agent shall say.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_counts_only_for_the_text_that_its_client_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Process::spawn(&mut askbridge(&folder, &["run", "--serve=127.0.0.1:0", "--", "cat"]));
    let http = http(&run, &folder);
    let mut listener = http.listen("/event", &[]).await;
    assert_eq!(next(&mut listener).await.0, "server.connected");
    for (number, (before, after, body)) in (1..).zip(ALLOWING) {
        let options = json!([{ "optionId": "y", "name": "Yes", "kind": "allow_once" }]);
        let call = json!({ "toolCallId": "t", "title": "Build", "kind": "execute", "rawInput": { "command": "make" } });
        let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
        run.send(
            &json!({ "id": number, "method": "session/request_permission", "params": params }).to_string(),
        );
        let (kind, asked) = next(&mut listener).await;
        assert_eq!((&*kind, &asked["patterns"]), ("permission.asked", &json!(["make"])));
        assert_eq!(next(&mut listener).await.0, "permission.updated");
        let mut ids = vec![asked["id"].as_str().unwrap().to_owned()];

        for command in ["make all", "make clean"] {
            let input = json!({ "command": command });
            let update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "rawInput": input });
            let params = json!({ "sessionId": "s", "update": update });
            run.send(&json!({ "method": "session/update", "params": params }).to_string());
            let (kind, earlier) = next(&mut listener).await;
            assert_eq!((&*kind, &earlier["requestID"]), ("permission.replied", &json!(ids.last())));
            for kind in ["permission.asked", "permission.updated"] {
                let (told, changed) = next(&mut listener).await;
                assert_eq!((&*told, &changed["metadata"]["command"]), (kind, &json!(command)));
                ids.push(changed["id"].as_str().unwrap().to_owned());
            }
            assert_eq!(ids.pop().as_ref(), ids.last(), "both APIs show the same ID");
            let listed = http.get("/permission").await.is(200).json();
            assert_eq!((&listed[0]["id"], &listed[0]["patterns"]), (&json!(ids.last()), &json!([command])));
        }
        let present = ids.pop().unwrap();
        for id in ids {
            let refused = http.post(&format!("{before}{id}{after}"), body).await.is(409).json();
            let detail = refused["detail"].as_str().unwrap();
            assert!(detail.contains("changed"), "{refused}");
        }
        http.post(&format!("{before}{present}0{after}"), body).await.is(404);
        http.post(&format!("{before}{present}{after}"), body).await.is(200);
        let granted =
            json!({ "id": number, "result": { "outcome": { "outcome": "selected", "optionId": "y" } } });
        run.expect("the agent's answer", |line| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["id"] == granted["id"] && line["result"] == granted["result"]
        });
        let (kind, replied) = next(&mut listener).await;
        assert_eq!(
            (&*kind, &replied["requestID"], &replied["reply"]),
            ("permission.replied", &json!(present), &json!("once"))
        );
    }
    run.close_stdin();
    assert_eq!(run.wait().code(), Some(0));
}
