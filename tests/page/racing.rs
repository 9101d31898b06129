//! Several browsers and other responders at once: the first valid answer wins, and every page says who gave it.

use serde_json::json;

use crate::{
    browser::Browser,
    fields::databases,
    world::{World, asks},
};

fn which() -> serde_json::Value {
    json!([{ "name": "db", "label": "Which database?", "kind": "choice", "options": databases(), "required": true }])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_browsers_answer_at_once_and_agree_on_one_answer() {
    let (world, ada, bob) = (World::start(), Browser::start().await, Browser::start().await);
    let mut agent = world.agent(&[asks(1, "Which database?", &which())]);
    for (browser, option) in [(&ada, "SQLite"), (&bob, "Postgres")] {
        browser.sign_in(&world).await;
        browser.select("Which database?").await;
        browser.choose(option).await;
        browser.settle_in().await;
    }
    // By a script, since the button of the second may be gone before a person's click reaches it.
    let submit = "card().submit(); return true;";
    tokio::join!(ada.run(submit, &[]), bob.run(submit, &[]));
    let told = agent.told(1);
    let (label, winner, loser) = match told["answers"][0][0].as_str() {
        Some("lite") => ("SQLite", &ada, &bob),
        Some("pg") => ("Postgres", &bob, &ada),
        _ => panic!("{told}"),
    };
    for browser in [winner, loser] {
        browser.shows(&format!("Answered by the page: {label}")).await;
        browser.is_clean().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_answered_elsewhere_says_by_whom_and_keeps_what_was_typed() {
    let (world, browser) = (World::start(), Browser::start().await);
    let fields = json!([{ "name": "n", "label": "Project name", "kind": "text", "required": true }]);
    let mut agent = world.agent(&[asks(1, "Project name", &fields)]);
    browser.sign_in(&world).await;
    browser.select("Project name").await;
    browser.fill("Project name", "my own words").await;
    let id = world.open().await[0]["id"].as_str().unwrap().to_owned();
    world.ok(&["answer", &id, "shop"]);
    assert_eq!(agent.told(1)["answers"], json!([["shop"]]));
    browser.shows("Answered by the command line (tester): shop").await;
    assert!(browser.card().await.contains("my own words"), "the draft is still there");
    browser.element("BUTTONS", "Copy your draft").await;
    let writable = browser
        .run("return all(FIELDS, card()).filter((field) => !field.disabled && !field.readOnly).length;", &[])
        .await;
    assert_eq!(writable, json!(0), "nothing can be typed any more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_tabs_of_one_browser_agree() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent(&[asks(1, "Which database?", &which())]);
    browser.sign_in(&world).await;
    let first = browser.client.window().await.unwrap();
    let second = browser.client.new_window(true).await.unwrap().handle;
    browser.client.switch_to_window(second.clone()).await.unwrap();
    browser.watch().await;
    browser.open(&world.address("/")).await;
    browser.select("Which database?").await;
    browser.client.switch_to_window(first).await.unwrap();
    browser.select("Which database?").await;
    browser.choose("No database").await;
    browser.send().await;
    assert_eq!(agent.told(1)["answers"], json!([["none"]]));
    browser.client.switch_to_window(second).await.unwrap();
    browser.shows("Answered by the page: No database").await;
    browser.is_clean().await;
}
