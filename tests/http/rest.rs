//! Each path of REST, and each status that it can end with.

use askbridge_core::{
    desk::Submission,
    question::{Context, ContextCall, Outcome, Question, Reason, Value as Given},
};
use serde_json::{Value, json};

use crate::http::bridge::{Bridge, PIXEL, choice, permission, permission_of, question, with_image};
use crate::http::client::soon;

const A: &str = r#"{"answers":[["a"]]}"#;
const B: &str = r#"{"answers":[["b"]]}"#;

/// Returns the value of the first field that the agent got.
fn got(bridge: &Bridge) -> Vec<Option<Given>> {
    let agent = bridge.agent.lock().unwrap();
    let first = |outcome: &Outcome| match outcome {
        Outcome::Answered(answer) => answer.values.values().next().cloned(),
        _ => None,
    };
    agent.iter().map(|(_, outcome)| first(outcome)).collect()
}

#[tokio::test]
async fn open_questions_are_listed() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q-1")).await;
    bridge.ask(Question { session: Some("t/ü".to_owned()), ..choice("q-1") }).await;
    let all = bridge.http.get("/v1/questions").await.is(200).json();
    assert_eq!(all["questions"][0]["id"], "bridge-1");
    assert_eq!(all["questions"][1]["question"]["sessionId"], "t/ü");
    assert_eq!((&all["protocol"], &all["revision"]), (&json!(1), &json!(2)));
    let of_session = bridge.http.get("/v1/sessions/t%2F%C3%BC/questions").await.is(200).json();
    assert_eq!(of_session["questions"], json!([all["questions"][1]]));
    assert_eq!(bridge.http.get("/v1/sessions/none/questions").await.is(200).json()["questions"], json!([]));
    for path in
        ["/v1/questions/bridge-1", "/v1/sessions/s/questions/q-1", "/v1/sessions/s/questions/bridge-1"]
    {
        assert_eq!(bridge.http.get(path).await.is(200).json(), all["questions"][0], "{path}");
    }
    for path in
        ["/v1/questions/q-1", "/v1/questions/bridge", "/v1/sessions/s/questions/bridge-2", "/v1/nothing"]
    {
        bridge.http.get(path).await.is(404);
    }
}

#[tokio::test]
async fn what_led_to_a_question_is_told_by_request_alone() {
    let bridge = Bridge::start().await;
    let call = ContextCall { title: "Read a".to_owned(), ..ContextCall::default() };
    let led = Context { words: "Some \u{2028} words".to_owned(), calls: vec![call], truncated: true };
    bridge.ask_after(Some(led.clone()), choice("q-1")).await;
    bridge.ask(choice("q-2")).await;
    let expected = serde_json::to_value(&led).unwrap();
    let nothing = json!({ "words": "", "calls": [] });
    for is_over in [false, true] {
        for path in ["/v1/questions/bridge-1", "/v1/sessions/s/questions/q-1"] {
            let record = bridge.http.get(path).await.is(200).json();
            assert!(!record.to_string().contains("Some"), "{record}");
            assert_eq!(record["hasContext"], true);
            assert_eq!(bridge.http.get(&format!("{path}/context")).await.is(200).json(), expected);
        }
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "question_context", "params": { "id": "bridge-1" } });
        let reply = bridge.http.post("/rpc", &call.to_string()).await.is(200).json();
        assert_eq!(reply["result"], expected);
        if !is_over {
            bridge.http.post("/v1/questions/bridge-1/reply", A).await.is(204);
        }
    }
    assert!(bridge.http.get("/v1/questions/bridge-2").await.is(200).json().get("hasContext").is_none());
    assert_eq!(bridge.http.get("/v1/questions/bridge-2/context").await.is(200).json(), nothing);
    bridge.http.get("/v1/questions/bridge-3/context").await.is(404);
}

#[tokio::test]
async fn an_image_is_told_by_request_alone_and_until_its_question_is_over() {
    let bridge = Bridge::start().await;
    bridge.ask(with_image("q-1")).await;
    let expected = json!({ "type": "image/gif", "bytes": PIXEL.len(), "width": 1, "height": 1,
        "digest": "DIGEST", "description": "A pixel" });
    for path in ["/v1/questions/bridge-1", "/v1/sessions/s/questions/q-1"] {
        let mut images = bridge.http.get(path).await.is(200).json()["question"]["images"].take();
        let digest = images[0]["digest"].take();
        assert!(digest.as_str().is_some_and(|digest| digest.starts_with("sha256:") && digest.len() == 71));
        images[0]["digest"] = "DIGEST".into();
        assert_eq!(images, json!([expected]));
        let image = bridge.http.get(&format!("{path}/images/1")).await;
        image.is(200);
        assert_eq!(image.body.as_bytes(), PIXEL);
        for header in [
            "content-type: image/gif",
            "x-content-type-options: nosniff",
            "content-security-policy: default-src 'none'; sandbox",
            &format!("content-length: {}", PIXEL.len()),
        ] {
            assert!(image.has(header), "{header}: {}", image.headers);
        }
        for number in ["0", "2", "-1", "x", "99999999999999999999"] {
            bridge.http.get(&format!("{path}/images/{number}")).await.is(404);
        }
    }
    let listed = bridge.http.get("/v1/questions").await.is(200).body.clone();
    assert!(listed.contains("sha256:") && !listed.contains(r#""data":""#), "{listed}");
    bridge.http.post("/v1/questions/bridge-1/reply", A).await.is(204);
    assert_eq!(
        bridge.http.get("/v1/questions/bridge-1").await.is(200).json()["question"]["images"][0]["width"],
        1
    );
    bridge.http.get("/v1/questions/bridge-1/images/1").await.is(404);
}

#[tokio::test]
async fn an_answer_reaches_the_agent() {
    let bridge = Bridge::start().await;
    for (path, answer, value) in [
        ("/v1/sessions/s/questions/q-1/reply", A, "a"),
        ("/v1/sessions/s/questions/bridge-2/reply", B, "b"),
        ("/v1/questions/bridge-3/reply", r#"{"answers":[["Option B"]]}"#, "b"),
        ("/v1/questions/bridge-4/reply", r#"{"values":{"q0":"a"},"notes":{"q0":"why not"}}"#, "a"),
    ] {
        let number = bridge.ask(choice(&format!("q-{}", got(&bridge).len() + 1))).await;
        assert_eq!(bridge.http.post(path, answer).await.is(204).body, "", "{path}");
        assert_eq!(got(&bridge).last(), Some(&Some(Given::Text(value.to_owned()))), "{path}");
        assert_eq!(got(&bridge).len() as u64, number);
    }
    let settled = bridge.http.get("/v1/questions/bridge-4").await.is(200).json();
    assert_eq!(settled["settlement"]["by"], json!({ "responder": "http" }));
    assert_eq!(settled["settlement"]["outcome"]["notes"], json!({ "q0": "why not" }));
}

#[tokio::test]
async fn a_rejection_reaches_the_agent() {
    let mut bridge = Bridge::start().await;
    for (body, reason) in [("", None), (r#"{"reason":"no time"}"#, Some("no time")), ("{}", None)] {
        let number = bridge.ask(choice("q")).await;
        bridge.http.post(&format!("/v1/questions/bridge-{number}/reject"), body).await.is(204);
        let heard = soon("a rejection", bridge.heard.recv()).await;
        assert_eq!(heard, Some(Submission::Reject(reason.map(str::to_owned))), "{body}");
    }
    assert_eq!(bridge.agent.lock().unwrap().last(), Some(&(3, Outcome::Rejected(Reason::User))));
    let last = bridge.ask(choice("last")).await;
    bridge.http.send("POST", &format!("/v1/questions/bridge-{last}/reject"), &[], "").await.is(204);
}

/// I9.
#[tokio::test]
async fn a_reply_comes_once_the_agent_has_the_answer() {
    let mut bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    bridge.hold(true).await;
    let http = bridge.http.clone();
    let reply = tokio::spawn(async move { http.post("/v1/questions/bridge-1/reply", A).await });
    soon("the bridge hears it", bridge.heard.recv()).await;
    // The server has had its turn by the time that another request is answered.
    bridge.http.get("/v1/questions").await.is(200);
    assert!(!reply.is_finished());
    bridge.hold(false).await;
    soon("a reply", reply).await.unwrap().is(204);
}

#[tokio::test]
async fn the_same_answer_again_is_accepted_and_another_is_refused() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("answered")).await;
    bridge.ask(choice("rejected")).await;
    let (answered, rejected) = ("/v1/sessions/s/questions/answered", "/v1/sessions/s/questions/rejected");
    for _ in 0..2 {
        bridge.http.post(&format!("{answered}/reply"), A).await.is(204);
        bridge.http.post(&format!("{answered}/reply"), r#"{"values":{"q0":"a"}}"#).await.is(204);
        bridge.http.post(&format!("{rejected}/reject"), "").await.is(204);
    }
    for (path, body) in [(format!("{answered}/reply"), B), (format!("{answered}/reject"), "")] {
        let problem = bridge.http.post(&path, body).await.is(409).json();
        assert_eq!(problem["outcome"], json!({ "status": "answered", "values": { "q0": "a" } }), "{path}");
        assert_eq!((&problem["name"], &problem["question"]["id"]), (&json!("conflict"), &json!("bridge-1")));
    }
    let problem = bridge.http.post(&format!("{rejected}/reply"), A).await.is(409).json();
    assert_eq!(problem["outcome"], json!({ "status": "rejected", "reason": "user" }));
    assert_eq!(bridge.agent.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_question_that_is_over_is_gone() {
    let bridge = Bridge::start().await;
    for reason in [Reason::Withdrawn, Reason::Timeout, Reason::Cancelled, Reason::AgentGone] {
        let number = bridge.ask(choice("q")).await;
        bridge.settle(number, Outcome::Rejected(reason)).await;
        for (verb, body) in [("reply", A), ("reject", "")] {
            let path = format!("/v1/questions/bridge-{number}/{verb}");
            let problem = bridge.http.post(&path, body).await.is(410).json();
            assert_eq!(
                problem["outcome"],
                json!({ "status": "rejected", "reason": reason.name() }),
                "{path}"
            );
        }
    }
    bridge.http.post("/v1/questions/bridge-9/reply", A).await.is(404);
    bridge.http.post("/v1/sessions/t/questions/q/reply", A).await.is(404);
}

#[tokio::test]
async fn a_permission_is_decided_like_a_question_is_answered() {
    let mut bridge = Bridge::start().await;
    let number = bridge.ask(permission("p")).await;
    let listed = &bridge.http.get("/v1/questions").await.is(200).json()["questions"][0];
    let shown = &listed["question"];
    assert_eq!((&shown["purpose"], &shown["dangerous"]), (&json!("permission"), &json!(true)));
    assert_eq!(shown["subject"], json!({ "kind": "execute", "command": "make", "folder": "/work" }));
    assert_eq!(
        shown["fields"][0]["options"][1],
        json!({ "value": "allow", "label": "allow", "role": "allow_once" })
    );

    // It takes no other text, none at all neither, and no yes: what is allowed is one of its options.
    let path = format!("/v1/questions/bridge-{number}");
    for wrong in [
        r#"{"answers":[["yes"]]}"#,
        r#"{"answers":[[]]}"#,
        r#"{"values":{"q0":true}}"#,
        r#"{"values":{"q0":"allow","q1":"no"}}"#,
    ] {
        bridge.http.post(&format!("{path}/reply"), wrong).await.is(422);
    }
    bridge.http.post(&format!("{path}/reply"), r#"{"values":{"q0":"allow"}}"#).await.is(204);
    assert_eq!(got(&bridge), [Some(Given::Text("allow".to_owned()))]);
    let problem =
        bridge.http.post(&format!("{path}/reply"), r#"{"answers":[["always"]]}"#).await.is(409).json();
    assert_eq!(problem["outcome"], json!({ "status": "answered", "values": { "q0": "allow" } }));
    bridge.http.post(&format!("{path}/reject"), "").await.is(409);

    let number = bridge.ask(permission_of("p", &[("Allow", "allow_once")])).await;
    while bridge.heard.try_recv().is_ok() {}
    bridge
        .http
        .post(&format!("/v1/questions/bridge-{number}/reject"), r#"{"reason":"not on a Friday"}"#)
        .await
        .is(204);
    let heard = soon("a rejection", bridge.heard.recv()).await;
    assert_eq!(heard, Some(Submission::Reject(Some("not on a Friday".to_owned()))));
    assert_eq!(bridge.agent.lock().unwrap().last(), Some(&(number, Outcome::Rejected(Reason::User))));

    let number = bridge.ask(permission("p")).await;
    bridge.withdraw(number).await;
    for (verb, body) in [("reply", r#"{"answers":[["allow"]]}"#), ("reject", "")] {
        let problem =
            bridge.http.post(&format!("/v1/questions/bridge-{number}/{verb}"), body).await.is(410).json();
        assert_eq!(problem["outcome"], json!({ "status": "rejected", "reason": "withdrawn" }));
    }
}

#[tokio::test]
async fn errors_of_an_answer_are_told_by_field() {
    let bridge = Bridge::start().await;
    let fields = json!([
        { "name": "n", "label": "How many?", "required": true, "kind": "number", "integer": true, "min": 1 },
        { "name": "t", "label": "Why?", "required": true, "kind": "text" },
    ]);
    bridge.ask(question("q", fields)).await;
    let path = "/v1/questions/bridge-1/reply";
    let problem = bridge.http.post(path, r#"{"values":{"n":0,"x":"y"}}"#).await.is(422).json();
    let fields: Vec<_> = problem["errors"].as_array().unwrap().iter().map(|error| &error["field"]).collect();
    assert_eq!(fields, ["n", "t", "x"], "{problem}");
    for (body, wrong) in [
        (r#"{"values":{"n":null,"t":{"x":1}}}"#, json!(["n", "t"])),
        (r#"{"answers":[["a"],["b"],["c"]]}"#, json!(["answers[2]"])),
    ] {
        let problem = bridge.http.post(path, body).await.is(422).json();
        let errors = problem["errors"].as_array().unwrap();
        assert_eq!(errors.iter().map(|error| error["field"].clone()).collect::<Value>(), wrong, "{problem}");
    }
    assert!(bridge.agent.lock().unwrap().is_empty());
    bridge.http.post(path, r#"{"values":{"n":1,"t":"so"}}"#).await.is(204);
}

#[tokio::test]
async fn a_malformed_body_is_refused() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    for verb in ["reply", "reject"] {
        let path = format!("/v1/questions/bridge-1/{verb}");
        for body in ["5", "null", "[]", r#"[["a"]]"#, r#"{"reson":"x"}"#, r#"{"answers":[["a"]],"nots":{}}"#]
        {
            let problem = bridge.http.post(&path, body).await.is(400).json();
            assert_eq!(problem["name"], "bad_request");
            assert!(problem["detail"].as_str().unwrap().starts_with("the body must be "), "{problem}");
        }
        let large = format!(r#"{{"reason":"{}"}}"#, "x".repeat(1 << 20));
        bridge.http.post(&path, "{").await.is(400);
        bridge.http.post(&path, &large).await.is(413);
        for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
            let header = format!("Content-Type: {kind}");
            bridge.http.send("POST", &path, &[&header], A).await.is(415);
        }
        bridge.http.send("POST", &path, &[], A).await.is(415);
        bridge.http.get(&path).await.is(405);
    }
    for body in
        ["{}", r#"{"answers":"a"}"#, r#"{"answers":[[null]]}"#, r#"{"answers":[["a"]],"values":{"q0":"b"}}"#]
    {
        bridge.http.post("/v1/questions/bridge-1/reply", body).await.is(400);
    }
    // A number is a text where it stands by its position, and no option is called so.
    bridge.http.post("/v1/questions/bridge-1/reply", r#"{"answers":[[1]]}"#).await.is(422);
    assert!(bridge.agent.lock().unwrap().is_empty());
    let kind = "Content-Type: Application/JSON; charset=utf-8";
    bridge.http.send("POST", "/v1/questions/bridge-1/reply", &[kind], A).await.is(204);
}

/// hyper refuses malformed HTTP with a bare status.
#[tokio::test]
async fn a_malformed_request_is_refused() {
    let bridge = Bridge::start().await;
    for path in ["/v1/questions/%ff", "/v1/sessions/%ff/questions", "/question/%ff/reject"] {
        let method = if path.starts_with("/v1") { "GET" } else { "POST" };
        let problem = bridge.http.send(method, path, &[], "").await.is(400).json();
        assert!(problem["detail"].as_str().unwrap().contains("UTF-8"), "{problem}");
    }
    assert!(bridge.http.send("PUT", "/v1/questions", &[], "").await.is(405).has("allow: get,head,post"));
    let (long, many) = ("x".repeat(1 << 16), "X: y\r\n".repeat(200));
    for (request, status) in [
        ("nonsense\r\n\r\n".to_owned(), "400"),
        (format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"), "431"),
        (format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"), "431"),
    ] {
        let reply = bridge.http.raw(&request).await;
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{reply}");
    }
}

#[tokio::test]
async fn a_name_of_two_open_questions_is_ambiguous() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    bridge.http.post("/v1/sessions/s/questions/q/reply", A).await.is(204);
    bridge.ask(choice("q")).await;
    // The open one goes before the settled one.
    assert_eq!(bridge.http.get("/v1/sessions/s/questions/q").await.json()["id"], "bridge-2");
    bridge.ask(choice("q")).await;
    let problem = bridge.http.post("/v1/sessions/s/questions/q/reply", A).await.is(409).json();
    assert_eq!(problem["ids"], json!(["bridge-2", "bridge-3"]));
    bridge.http.post("/v1/sessions/s/questions/bridge-3/reply", A).await.is(204);
}

#[tokio::test]
async fn a_bridge_that_is_gone_accepts_no_answer() {
    let mut bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    bridge.hold(true).await;
    let http = bridge.http.clone();
    let reply = tokio::spawn(async move { http.post("/v1/questions/bridge-1/reply", A).await });
    soon("the bridge hears it", bridge.heard.recv()).await;
    bridge.die();
    assert!(soon("a reply", reply).await.unwrap().is(503).has("retry-after: 1"));
    bridge.http.post("/v1/questions/bridge-1/reply", A).await.is(503);
}

#[tokio::test]
async fn a_server_that_stops_sends_the_last_replies() {
    let mut bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    let mut listeners =
        [bridge.http.listen("/v1/events", &[]).await, bridge.http.listen("/event", &[]).await];
    bridge.hold(true).await;
    let http = bridge.http.clone();
    let reply = tokio::spawn(async move { http.post("/v1/questions/bridge-1/reply", A).await });
    soon("the bridge hears it", bridge.heard.recv()).await;
    bridge.end().await;
    bridge.hold(false).await;
    soon("a reply", reply).await.unwrap().is(204);
    for listener in &mut listeners {
        listener.end().await;
    }
    soon("the end of the server", &mut bridge.server).await.unwrap();
}

#[tokio::test]
async fn settled_questions_are_counted() {
    let bridge = Bridge::start().await;
    for _ in 0..3 {
        bridge.ask(choice("q")).await;
    }
    bridge.http.post("/v1/questions/bridge-1/reply", A).await.is(204);
    bridge.withdraw(2).await;
    let rejected = bridge.ask(choice("q")).await;
    bridge.http.post(&format!("/v1/questions/bridge-{rejected}/reject"), "").await.is(204);
    // Names of another version share one label, so that their number is bounded.
    let read = |outcome| serde_json::from_value::<Outcome>(outcome).unwrap();
    for outcome in [
        json!({ "status": "rejected", "reason": "of_next_year" }),
        json!({ "status": "rejected", "reason": "of_the_year_after" }),
        json!({ "status": "dreamt" }),
    ] {
        let number = bridge.ask(choice("q")).await;
        bridge.settle(number, read(outcome)).await;
    }
    let foreign = Question { origin: serde_json::from_value(json!("of_next_year")).unwrap(), ..choice("q") };
    let number = bridge.ask(foreign).await;
    bridge.settle(number, Outcome::Failed).await;
    for _ in 0..3 {
        bridge.ask(permission("q")).await;
    }
    bridge.http.post("/permission/bridge-9/reply", r#"{"reply":"once"}"#).await.is(200);
    let foreign =
        Question { purpose: serde_json::from_value(json!("of_next_year")).unwrap(), ..permission("q") };
    let number = bridge.ask(foreign).await;
    bridge.settle(number, Outcome::Failed).await;
    let metrics = bridge.http.get("/metrics").await;
    for line in [
        "askbridge_bridges 1",
        r#"askbridge_questions_open{purpose="question"} 1"#,
        r#"askbridge_questions_open{purpose="permission"} 2"#,
        r#"askbridge_questions_open{purpose="other"} 0"#,
        r#"askbridge_questions_settled_total{outcome="answered",reason="",responder="http",origin="permission",purpose="permission"} 1"#,
        r#"askbridge_questions_settled_total{outcome="failed",reason="",responder="bridge",origin="permission",purpose="other"} 1"#,
        r#"askbridge_questions_settled_total{outcome="answered",reason="",responder="http",origin="sandboxagent",purpose="question"} 1"#,
        r#"askbridge_questions_settled_total{outcome="rejected",reason="user",responder="http",origin="sandboxagent",purpose="question"} 1"#,
        r#"askbridge_questions_settled_total{outcome="rejected",reason="other",responder="bridge",origin="sandboxagent",purpose="question"} 2"#,
        r#"askbridge_questions_settled_total{outcome="failed",reason="",responder="bridge",origin="other",purpose="question"} 1"#,
        r#"askbridge_questions_settled_total{outcome="other",reason="",responder="bridge",origin="sandboxagent",purpose="question"} 1"#,
        r#"askbridge_questions_settled_total{outcome="rejected",reason="withdrawn",responder="bridge",origin="sandboxagent",purpose="question"} 1"#,
        r#"askbridge_question_answer_seconds_bucket{purpose="question",le="1"} 0"#,
        r#"askbridge_question_answer_seconds_bucket{purpose="question",le="5"} 1"#,
        r#"askbridge_question_answer_seconds_count{purpose="question"} 1"#,
        r#"askbridge_question_answer_seconds_count{purpose="permission"} 1"#,
    ] {
        assert!(metrics.is(200).body.lines().any(|told| told == line), "{line} in\n{}", metrics.body);
    }
}

#[tokio::test]
async fn the_interface_describes_itself() {
    let bridge = Bridge::start().await;
    let document = bridge.http.get("/v1/openapi.json").await.is(200).json();
    assert_eq!(document, crate::schema::openapi::document());
    let document = bridge.http.get("/v1/openrpc.json").await.is(200).json();
    assert_eq!(document, crate::schema::openrpc::document());
}
