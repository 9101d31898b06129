//! Answers that fit a JSON Schema which a program sends in place of fields.

use serde_json::{Value, json};

use crate::standing::home::{Home, ask, id, open, send, show};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_is_the_json_that_the_schema_wants_or_is_refused() {
    let home = Home::new();
    let inbox = home.start();
    let http = &inbox.http;
    let person = json!({ "type": "object", "required": ["n", "who"], "properties": {
        "who": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } },
        "n": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
        "x": { "type": "number" },
    } });
    let model = json!({ "$ref": "#/$defs/M", "$defs": { "M": {
        "type": "object", "properties": { "on": { "type": "boolean" } }, "required": ["on"] } } });
    let itself = json!({ "anyOf": [{ "type": "integer" }, { "type": "array", "items": { "$ref": "#" } }] });
    for (schema, wrong, given, value) in [
        (
            json!({ "type": "string", "enum": ["a", "b"] }),
            json!({ "value": "c" }),
            json!({ "value": "b" }),
            json!("b"),
        ),
        (json!({ "type": "boolean" }), json!({ "value": "maybe" }), json!({ "value": false }), json!(false)),
        (json!({ "type": "integer", "minimum": 3 }), json!({ "value": 2 }), json!({ "value": 3 }), json!(3)),
        (
            json!({ "type": "array", "items": { "type": "integer" } }),
            json!({ "value": "[1,\"x\"]" }),
            json!({ "value": "[1,2]" }),
            json!([1, 2]),
        ),
        (
            person,
            json!({ "n": 1.5, "who.name": "A" }),
            json!({ "n": null, "who.name": "A" }),
            json!({ "n": null, "who": { "name": "A" } }),
        ),
        (model, json!({}), json!({ "on": true }), json!({ "on": true })),
        (
            json!({ "type": "object" }),
            json!({ "content": "[]" }),
            json!({ "content": "{\"a\":1}" }),
            json!({ "a": 1 }),
        ),
        (itself, json!({ "value": "[\"x\"]" }), json!({ "value": "[1,[2]]" }), json!([1, [2]])),
        // No convention of agents' forms makes one field a companion of another.
        (
            json!({ "type": "object", "properties": { "db": { "enum": ["a"] }, "db_note": { "type": "string" } } }),
            json!({ "db": "b" }),
            json!({ "db": "a", "db_note": "x" }),
            json!({ "db": "a", "db_note": "x" }),
        ),
    ] {
        let body = json!({ "message": "Which?", "schema": schema, "wait": false });
        let record = ask(http, &[], &body).await.expect("a response").is(201).json();
        let name = id(&record);
        let refused = send(http, &name, "reply", &[], &json!({ "values": wrong })).await.expect("a response");
        assert_eq!(refused.status, 422, "{schema}: {refused:?}");
        send(http, &name, "reply", &[], &json!({ "values": given })).await.expect("a response").is(204);
        let shown = show(http, &name).await.expect("a response").is(200).json();
        assert_eq!(shown["settlement"]["value"], value, "{schema}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fields_come_in_the_order_of_the_schema_and_what_is_none_is_refused() {
    let home = Home::new();
    let inbox = home.start();
    let http = &inbox.http;
    let ordered = r#"{"wait":false,"message":"Which?","schema":{"type":"object","properties":
        {"z":{"type":"string"},"a":{"type":"string"},"m":{"type":"object","properties":{"y":{"type":"string"},"b":{"type":"string"}}}}}}"#;
    let record = http.try_send("POST", "/v1/questions", &["Content-Type: application/json"], ordered).await;
    let record = record.expect("a response").is(201).json();
    let fields = record["question"]["fields"].as_array().expect("fields");
    let names: Vec<_> = fields.iter().map(|field| field["name"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, ["z", "a", "m.y", "m.b"]);
    let values = json!({ "z": "1", "a": "2", "m.b": "3" });
    send(http, &id(&record), "reply", &[], &json!({ "values": values })).await.expect("a response").is(204);
    let shown = show(http, &id(&record)).await.expect("a response").is(200).json();
    assert_eq!(shown["settlement"]["value"], json!({ "z": "1", "a": "2", "m": { "b": "3" } }));

    let fields = json!([{ "name": "a", "label": "A", "kind": "text" }]);
    for (body, said) in [
        (json!({ "message": "?", "schema": true }), "a schema must be an object"),
        (json!({ "message": "?", "schema": {}, "fields": fields }), "in place of `fields`"),
        (json!({ "message": "?" }), "a question must have 1 to"),
    ] {
        let told = ask(http, &["Prefer: respond-async"], &body).await.expect("a response");
        let detail = told.is(422).json()["detail"].as_str().unwrap_or_default().to_owned();
        assert!(detail.contains(said), "{body}: {detail}");
    }
    assert!(open(http).await.is_empty());
    // A question that a connection holds has it as well, and its asker alone a secret.
    let secret = json!({ "type": "object", "properties": { "pin": { "type": "string", "format": "password" } }, "required": ["pin"] });
    let body = json!({ "message": "PIN?", "schema": secret });
    let (name, held) = crate::standing::home::hold(http, &[], &body).await;
    send(http, &name, "reply", &[], &json!({ "values": { "pin": "0000" } }))
        .await
        .expect("a response")
        .is(204);
    let told: Value = held.await.expect("a task").expect("a response").is(200).json();
    assert_eq!(told["value"], json!({ "pin": "0000" }));
    let shown = show(http, &name).await.expect("a response").is(200).json();
    assert_eq!(shown["settlement"].get("value"), None);
}
