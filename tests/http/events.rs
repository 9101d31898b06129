//! What happens, as server-sent events: a client that was away misses nothing.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::http::bridge::{Bridge, choice, permission, question};
use crate::http::client::{Event, Listener, soon};

const PATH: &str = "/v1/events";
const A: &str = r#"{"answers":[["a"]]}"#;

fn short(event: &Event) -> (&str, &str) {
    (&event.event, event.data["question"]["id"].as_str().unwrap_or_default())
}

/// Returns the events of a snapshot, and the one that ends it.
async fn snapshot(listener: &mut Listener) -> (Vec<Event>, Event) {
    let mut open = Vec::new();
    loop {
        let event = listener.next().await;
        if event.event == "snapshot" {
            return (open, event);
        }
        open.push(event);
    }
}

#[tokio::test]
async fn a_stream_begins_with_the_open_questions_and_goes_on_with_events() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q-1")).await;
    bridge.http.post("/v1/questions/bridge-1/reply", A).await.is(204);
    bridge.ask(choice("q-2")).await;
    let mut listener = bridge.http.listen(PATH, &[]).await;
    let (open, end) = snapshot(&mut listener).await;
    assert_eq!(open.iter().map(short).collect::<Vec<_>>(), [("question.requested", "bridge-2")]);
    assert_eq!(open[0].id, None, "a snapshot that was cut off begins again");
    assert_eq!(end.data, json!({ "protocol": 1, "revision": 3, "open": ["bridge-2"] }));
    let data = |status: &str, response: Value, question: &Value| {
        json!({
            "questionId": "q-2", "prompt": "Which?", "options": ["Option A", "Option B"],
            "response": response, "status": status, "question": question,
        })
    };
    let path = "/v1/questions/bridge-2";
    let record = bridge.http.get(path).await.json();
    assert_eq!(open[0].data, data("requested", json!(null), &record));
    bridge.http.post(&format!("{path}/reply"), r#"{"answers":[["b"]]}"#).await.is(204);
    let resolved = listener.next().await;
    assert_eq!(resolved.event, "question.resolved");
    let record = bridge.http.get(path).await.json();
    assert_eq!(resolved.data, data("answered", json!("Option B"), &record));
    assert_eq!(resolved.data["question"]["settlement"]["by"]["responder"], "http");

    bridge.ask(choice("q-3")).await;
    assert_eq!(short(&listener.next().await), ("question.requested", "bridge-3"));
    bridge.withdraw(3).await;
    let resolved = listener.next().await;
    assert_eq!(
        (short(&resolved), &resolved.data["status"]),
        (("question.resolved", "bridge-3"), &json!("rejected"))
    );
}

#[tokio::test]
async fn permissions_are_among_the_events() {
    let bridge = Bridge::start().await;
    let mut listener = bridge.http.listen(PATH, &[]).await;
    snapshot(&mut listener).await;
    for (verb, body, status, response) in [
        ("reply", r#"{"answers":[["always"]]}"#, "answered", json!("always")),
        ("reject", r#"{"reason":"no"}"#, "rejected", json!(null)),
    ] {
        let number = bridge.ask(permission("p")).await;
        let asked = listener.next().await;
        assert_eq!((&*asked.event, &asked.data["prompt"]), ("question.requested", &json!("Run make")));
        assert_eq!(asked.data["options"], json!(["always", "allow", "no"]));
        assert_eq!(asked.data["question"]["question"]["purpose"], "permission");
        bridge.http.post(&format!("/v1/questions/bridge-{number}/{verb}"), body).await.is(204);
        let over = listener.next().await;
        assert_eq!((&*over.event, &over.data["status"]), ("question.resolved", &json!(status)));
        assert_eq!(over.data["response"], response);
    }
}

/// I9: how a question was settled is told once the agent has it, but that it is on its way is told before.
#[tokio::test]
async fn a_question_that_is_being_delivered_has_changed() {
    let mut bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    let mut listener = bridge.http.listen(PATH, &[]).await;
    snapshot(&mut listener).await;
    bridge.hold(true).await;
    let http = bridge.http.clone();
    let reply = tokio::spawn(async move { http.post("/v1/questions/bridge-1/reply", A).await });
    soon("the bridge hears it", bridge.heard.recv()).await;
    let changed = listener.next().await;
    assert_eq!(short(&changed), ("question.changed", "bridge-1"));
    let question = &changed.data["question"];
    assert_eq!((&question["state"], &question["settlement"]), (&json!("delivering"), &json!(null)));
    let listed = bridge.http.get("/v1/questions").await.json();
    assert_eq!(listed["questions"], json!([question]));
    bridge.hold(false).await;
    soon("a reply", reply).await.unwrap().is(204);
    assert_eq!(short(&listener.next().await), ("question.resolved", "bridge-1"));
}

#[tokio::test]
async fn a_client_that_reconnects_gets_the_events_it_missed() {
    let bridge = Bridge::start().await;
    let mut listener = bridge.http.listen(PATH, &[]).await;
    let (_, end) = snapshot(&mut listener).await;
    let mut names = vec![end.id.unwrap()];
    for number in 1..=4 {
        bridge.ask(choice("q")).await;
        let event = listener.next().await;
        assert_eq!(short(&event), ("question.requested", &*format!("bridge-{number}")));
        names.push(event.id.unwrap());
    }
    bridge.http.post("/v1/questions/bridge-2/reply", A).await.is(204);
    names.push(listener.next().await.id.unwrap());
    drop(listener);
    // Of a settled question, only its end is kept.
    let expected = ["requested bridge-1", "requested bridge-3", "requested bridge-4", "resolved bridge-2"];
    let mut later = Vec::new();
    for (index, known) in [(0, 0), (1, 1), (2, 1), (3, 2), (4, 3), (5, 4)] {
        let last = format!("Last-Event-ID: {}", names[index]);
        let mut listener = bridge.http.listen(PATH, &[&last]).await;
        let missed = expected[known..].iter().map(|missed| (*missed).to_owned()).chain(later.clone());
        for missed in missed {
            let event = listener.next().await;
            let (kind, id) = short(&event);
            assert_eq!(format!("{} {id}", kind.trim_start_matches("question.")), missed, "behind {last}");
            assert!(event.id.is_some());
        }
        let number = bridge.ask(choice("next")).await;
        let event = listener.next().await;
        assert_eq!(short(&event), ("question.requested", &*format!("bridge-{number}")), "behind {last}");
        bridge.withdraw(number).await;
        assert_eq!(listener.next().await.event, "question.resolved");
        later.push(format!("resolved bridge-{number}"));
    }
}

#[tokio::test]
async fn a_client_that_was_away_too_long_gets_a_snapshot() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    let mut listener = bridge.http.listen(PATH, &[]).await;
    let (_, end) = snapshot(&mut listener).await;
    let ours = end.id.unwrap();
    let epoch = ours.split_once('-').unwrap().0;
    for last in ["nonsense", "other-0", &format!("{epoch}-99"), &format!("{epoch}-x"), epoch, "-1", ""] {
        let mut listener = bridge.http.listen(PATH, &[&format!("Last-Event-ID: {last}")]).await;
        let (open, _) = snapshot(&mut listener).await;
        assert_eq!(
            open.iter().map(short).collect::<Vec<_>>(),
            [("question.requested", "bridge-1")],
            "{last}"
        );
    }
}

/// Each event matches its schema in `schema/openapi.json`.
#[tokio::test]
async fn events_match_their_description() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    let document = bridge.http.get("/v1/openapi.json").await.json();
    let described =
        &document["paths"][PATH]["get"]["responses"]["200"]["content"]["text/event-stream"]["x-events"];
    let mut listener = bridge.http.listen(PATH, &[]).await;
    let mut told = BTreeSet::new();
    while told.len() < 3 {
        let event = listener.next().await;
        let root = json!({ "allOf": [described[&event.event]], "components": document["components"] });
        assert!(described[&event.event].is_object(), "{event:?} is not described");
        if let Err(error) = jsonschema::validator_for(&root).unwrap().validate(&event.data) {
            panic!("{error} at {} in {event:?}", error.instance_path());
        }
        if told.len() == 1 {
            bridge.http.post("/v1/questions/bridge-1/reply", A).await.is(204);
        }
        told.insert(event.event);
    }
    assert!(told.iter().map(|told| &**told).eq(["question.requested", "question.resolved", "snapshot"]));
}

#[tokio::test]
async fn the_response_has_all_that_was_chosen() {
    let bridge = Bridge::start().await;
    let options = json!([{ "value": "1", "label": "One" }, { "value": "2", "label": "Two" }]);
    let fields = json!([
        { "name": "m", "label": "Which?", "kind": "choices", "options": options },
        { "name": "f", "label": "Sure?", "kind": "boolean" },
        { "name": "t", "label": "Why?", "kind": "text" },
    ]);
    bridge.ask(question("q", fields)).await;
    let mut listener = bridge.http.listen(PATH, &[]).await;
    bridge.http.post("/v1/questions/bridge-1/reply", r#"{"answers":[["2","One"],["Yes"]]}"#).await.is(204);
    let resolved = loop {
        let event = listener.next().await;
        if event.event == "question.resolved" {
            break event;
        }
    };
    assert_eq!(resolved.data["response"], "Two, One, Yes");
}

#[tokio::test]
async fn streams_beyond_the_limit_are_refused() {
    let bridge = Bridge::start().await;
    let mut listeners = Vec::new();
    for index in 0..askbridge::limits::SUBSCRIBERS {
        listeners.push(bridge.http.listen(["/v1/events", "/event"][index % 2], &[]).await);
    }
    for path in ["/v1/events", "/event"] {
        assert!(bridge.http.get(path).await.is(503).has("retry-after: 1"));
    }
    bridge.ask(choice("q")).await;
    for listener in &mut listeners {
        while listener.next().await.data.to_string().find("bridge-1").is_none() {}
    }
    listeners.clear();
    // Their places are free as soon as the server has seen it.
    while bridge.http.get_head(PATH).await != 200 {}
}
