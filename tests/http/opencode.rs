//! The part of opencode's API with which its clients answer questions, with the shapes of `@opencode-ai/sdk` 1.19.3.
//! `tests/opencode` tries the same with the package itself.

use serde_json::{Value, json};

use crate::{
    bridge::{Bridge, choice, question},
    client::{Event, Listener},
};

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
    assert_eq!((labels(0), labels(2)), (vec!["b", "a"], vec!["Same", "Same (2)", "Other"]));
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
