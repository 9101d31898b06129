//! The elements outside of the inbox: on the example page, and on a page of another origin.

use serde_json::{Value, json};

use crate::{browser::Browser, fields::databases, listener::Listener, world::World};

/// A page of another origin that takes the element from the server.
fn borrower(world: &World) -> Listener {
    let module = world.address("/page/question.js");
    Listener::start(&format!(
        "<!doctype html><title>Another page</title><form><askbridge-question name=answer></askbridge-question></form><script>window.sent = [];
        addEventListener('askbridge-answer', (event) => sent.push(event.detail));</script>
        <script type=module>await import('{module}'); window.isReady = true;</script>"
    ))
}

fn record() -> Value {
    let field = json!({ "name": "db", "label": "Which database?", "kind": "choice", "options": databases(), "required": true });
    json!({
        "id": "b-1", "bridge": "b", "state": "open", "openedAt": "2026-11-22T12:00:00Z",
        "question": { "questionId": "q", "message": "Which database?", "fields": [field], "origin": "sandboxagent", "dangerous": false, "blocking": true },
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_another_origin_uses_the_element_in_a_form() {
    let (world, browser) = (World::start(), Browser::start().await);
    let borrower = borrower(&world);
    browser.goto(&format!("http://127.0.0.1:{}/", borrower.port)).await;
    browser.until("the element", "window.isReady", &[]).await;
    browser.run("card().record = arguments[0];", &[record()]).await;
    browser.shows("Which database?").await;
    let valid = "return [document.forms[0].checkValidity(), new FormData(document.forms[0]).get('answer')];";
    assert_eq!(browser.run(valid, &[]).await[0], json!(false), "it is required");
    browser.choose("SQLite").await;
    let form = browser.run(valid, &[]).await;
    let value: Value = serde_json::from_str(form[1].as_str().unwrap()).unwrap();
    assert_eq!((&form[0], &value["values"]), (&json!(true), &json!({ "db": "lite" })));
    browser.press("Send answer").await;
    let sent = browser.run("return sent;", &[]).await;
    assert_eq!((&sent[0]["id"], &sent[0]["values"]), (&json!("b-1"), &json!({ "db": "lite" })));
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_page_shows_every_example_without_the_token() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.goto(&world.address("/elements")).await;
    browser.until("the examples", "all('askbridge-question').length > 10", &[]).await;
    let empty = browser
        .run(
            "return all('askbridge-question').filter((element) => !element.record || !text(element)).length;",
            &[],
        )
        .await;
    assert_eq!(empty, json!(0));
    let kinds = browser.run("return [...new Set(all('askbridge-question').flatMap((element) => element.record.question.fields.map((field) => field.kind)))].sort();", &[]).await;
    for kind in ["boolean", "choice", "choices", "confirm", "number", "text"] {
        assert!(crate::person::texts(&kinds).contains(&kind), "{kinds}");
    }
    browser.is_clean().await;
}
