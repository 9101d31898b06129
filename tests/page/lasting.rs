//! What a person typed outlives a reload, a restart of the server, another question and a broken connection.

use serde_json::{Value, json};

use crate::{
    browser::Browser,
    fields::options,
    world::{World, asks},
};

fn name() -> Value {
    json!([
        { "name": "n", "label": "Project name", "kind": "text", "required": true },
        { "name": "s", "label": "Password", "kind": "text", "secret": true },
    ])
}

/// Returns the text of a field.
async fn typed(browser: &Browser, field: &str) -> Value {
    browser.run("return named(FIELDS, arguments[0])?.value;", &[json!(field)]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_draft_survives_a_reload_and_a_secret_is_kept_nowhere() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent(&[asks(1, "Set up", &name())]);
    browser.sign_in(&world).await;
    browser.select("Set up").await;
    browser.fill("Password", "s3cret").await;
    browser.fill("Project name", "shop").await;
    browser.refresh().await;
    browser.select("Set up").await;
    browser.until("the draft", "named(FIELDS, 'Project name')?.value === 'shop'", &[]).await;
    assert_eq!(typed(&browser, "Password").await, json!(""));
    let kept = browser.run("return JSON.stringify([{ ...localStorage }, { ...sessionStorage }]);", &[]).await;
    let kept = kept.as_str().unwrap();
    assert!(kept.contains("shop") && !kept.contains("s3cret"), "{kept}");
    browser.send().await;
    assert_eq!(agent.told(1)["answers"][0], json!(["shop"]));
    // A draft that was sent is forgotten.
    browser.until("no draft", "!JSON.stringify({ ...localStorage }).includes('shop')", &[]).await;
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_own_answer_that_is_not_chosen_survives_a_reload() {
    let (world, browser) = (World::start(), Browser::start().await);
    let options = options(&[("a", "Sign-in"), ("b", "Search")]);
    let field =
        json!({ "name": "c", "label": "First part", "kind": "choice", "options": options, "other": true });
    let mut agent = world.agent(&[asks(1, "Plan", &json!([field]))]);
    browser.sign_in(&world).await;
    browser.select("Plan").await;
    browser.choose("Other").await;
    browser.fill("Your own answer", "Billing").await;
    browser.choose("Search").await;
    browser.refresh().await;
    browser.select("Plan").await;
    browser.until("the draft", "named(FIELDS, 'Your own answer')?.value === 'Billing'", &[]).await;
    browser.send().await;
    assert_eq!(agent.told(1)["answers"][0], json!(["b"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_draft_survives_the_death_of_the_server_and_is_sent_to_the_next_one() {
    let (mut world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent(&[asks(1, "Set up", &name())]);
    browser.sign_in(&world).await;
    browser.select("Set up").await;
    browser.fill("Project name", "before").await;
    world.kill();
    browser.shows("Offline").await;
    browser.fill("Project name", "while it was dead").await;
    assert!(browser.card().await.contains("Set up"), "the question is still shown");
    world.restart();
    browser.hides("Offline").await;
    assert_eq!(typed(&browser, "Project name").await, json!("while it was dead"));
    browser.send().await;
    assert_eq!(agent.told(1)["answers"][0], json!(["while it was dead"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_settled_while_the_page_was_offline_is_shown_as_settled() {
    let (mut world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent(&[asks(1, "Set up", &name()), asks(2, "Another", &name())]);
    browser.sign_in(&world).await;
    browser.select("Set up").await;
    let open = world.open().await;
    let of = |title: &str| {
        open.iter().find(|record| record["question"]["message"] == title).unwrap()["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    world.kill();
    browser.shows("Offline").await;
    world.ok(&["answer", &of("Set up"), "elsewhere"]);
    assert_eq!(agent.told(1)["answers"][0], json!(["elsewhere"]));
    world.restart();
    browser.shows("Answered by the command line (tester)").await;
    browser.select("Another").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_question_takes_neither_the_focus_nor_the_place_of_what_is_typed() {
    let (world, browser) = (World::start(), Browser::start().await);
    let _agent = world.agent(&[asks(1, "Set up", &name())]);
    browser.sign_in(&world).await;
    browser.select("Set up").await;
    browser.fill("Project name", "half of it").await;
    let _other = world.agent(&[asks(1, "Something urgent", &name())]);
    browser.shows("Something urgent").await;
    browser.keys(" and more").await;
    assert_eq!(typed(&browser, "Project name").await, json!("half of it and more"));
    assert!(browser.card().await.contains("Set up"));
    browser.select("Something urgent").await;
    browser.select("Set up").await;
    assert_eq!(typed(&browser, "Project name").await, json!("half of it and more"));
}

/// Without a network, the browser says so itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_says_that_it_is_offline_and_connects_by_itself() {
    let (mut world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    browser.shows("Nothing waits.").await;
    world.stop();
    browser.shows("Offline").await;
    // What waits is not known then: the page does not say that it is nothing.
    browser.shows("Not connected: what waits is not known.").await;
    world.restart();
    let _agent = world.agent(&[asks(1, "Set up", &name())]);
    browser.hides("Offline").await;
    browser.shows("Set up").await;
}
