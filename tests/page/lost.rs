//! Questions whose bridge was killed: what the page says of them, and what becomes of their answers when they are asked
//! again.

use serde_json::{Value, json};

use crate::{
    browser::{Browser, DEADLINE},
    fields::databases,
    permissions::runs,
    world::{Agent, World, asks},
};

fn which() -> Value {
    let field = json!({ "name": "db", "label": "Database", "kind": "choice", "options": databases(), "required": true });
    asks(1, "Which database?", &json!([field]))
}

/// Waits until the journal has a question as it is said. A bridge notes what happens a moment after it happened.
fn noted(world: &World, id: &str, what: &str) {
    let deadline = std::time::Instant::now() + DEADLINE;
    while !world.ok(&["history"]).lines().any(|line| line.contains(id) && line.contains(what)) {
        assert!(std::time::Instant::now() < deadline, "{}", world.ok(&["history"]));
    }
}

/// Waits until the journal has an answer of which nothing was delivered.
fn noted_as_waiting(world: &World) {
    let deadline = std::time::Instant::now() + DEADLINE;
    let waits = |past: &Value| !past["accepted"].is_null() && past["mayHaveArrived"].is_null();
    loop {
        let past: Value = serde_json::from_str(&world.ok(&["history", "--json"])).unwrap();
        if past["questions"].as_array().unwrap().iter().any(waits) {
            return;
        }
        assert!(std::time::Instant::now() < deadline, "{past}");
    }
}

/// Returns the ID of the only open question.
async fn only(world: &World) -> String {
    world.until_open(1).await[0]["id"].as_str().unwrap().to_owned()
}

/// Kills the bridge of an agent once the journal has its question.
async fn lose(world: &World, agent: Agent) {
    noted(world, &only(world).await, "open");
    agent.die();
}

/// Returns the text of each row of the section with this heading.
async fn rows(browser: &Browser, heading: &str) -> Value {
    let rows = "const section = all('.list section').find((section) => section.querySelector('h2')?.textContent === arguments[0] && isSeen(section));
        return section ? all('.row', section).map((row) => text(row)) : [];";
    browser.run(rows, &[json!(heading)]).await
}

/// Looks at a question, of which there is another with the same text.
async fn look_at(browser: &Browser, world: &World, id: &str) {
    browser.goto(&world.address(&format!("/#question={id}"))).await;
    browser.until("the question", "card()?.record.id === arguments[0]", &[json!(id)]).await;
}

const LOST: &str = "all('.list section').some((section) => isSeen(section) && section.querySelector('h2')?.textContent === 'Lost' && all('.row', section).length === 1)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_lost_is_listed_until_it_is_asked_again_also_by_an_inbox_that_started_later() {
    let (mut world, browser) = (World::start(), Browser::start().await);
    let agent = world.agent(&[which()]);
    browser.sign_in(&world).await;
    browser.select("Which database?").await;
    lose(&world, agent).await;
    browser.shows("Lost: its agent ended before it was settled").await;
    assert!(browser.card().await.contains("resume the session of this agent"), "{}", browser.card().await);
    browser.until("the section", LOST, &[]).await;

    world.kill();
    world.restart();
    browser.open(&world.address("/")).await;
    browser.until("the section", LOST, &[]).await;
    // It can be put away, and stays so.
    let is_put_away = "all('details .row').length === 1 && !all('details .row').some(isSeen)";
    browser.press("Lost").await;
    browser.until("it is put away", is_put_away, &[]).await;
    browser.refresh().await;
    browser.until("it is still put away", is_put_away, &[]).await;
    browser.press("Lost").await;
    browser.until("the row", "all('details .row').some(isSeen)", &[]).await;
    let lost = rows(&browser, "Lost").await;
    assert!(lost[0].as_str().unwrap().contains("Which database?"), "{lost}");
    browser.select("Which database?").await;
    let card = browser.card().await;
    assert!(
        card.contains("Asked ") && card.contains("resume the session of this agent: it asks again."),
        "{card}"
    );
    assert!(!card.contains("Send answer"), "{card}");

    let mut again = world.agent(&[which()]);
    browser.until("no such section", &format!("!({LOST})"), &[]).await;
    // The lost one, which has the same title, may still be in view: the history has it.
    browser.keys("g").await;
    browser.until("the open one", "card()?.record.state === 'open'", &[]).await;
    assert!(!browser.card().await.contains("Asked before"), "there was no answer");
    browser.choose("SQLite").await;
    browser.send().await;
    assert_eq!(again.told(1)["answers"], json!([["lite"]]));
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_its_agent_had_is_given_again_by_a_click_alone() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent(&[which()]);
    browser.sign_in(&world).await;
    browser.select("Which database?").await;
    browser.choose("SQLite").await;
    let id = only(&world).await;
    browser.send().await;
    assert_eq!(agent.told(1)["answers"], json!([["lite"]]));
    noted(&world, &id, "answered by the page");
    agent.die();

    let mut again = world.agent(&[which()]);
    let id = only(&world).await;
    look_at(&browser, &world, &id).await;
    browser.shows("Asked before. Answered by the page: SQLite, ").await;
    assert_eq!(only(&world).await, id, "it is not given by itself");
    // What the person began is no part of it.
    browser.choose("Postgres").await;
    browser.settle_in().await;
    browser.press("Give this answer again").await;
    assert_eq!(again.told(1)["answers"], json!([["lite"]]));
    browser.shows("Answered by the page: SQLite").await;
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_never_arrived_is_shown_as_lost_and_given_by_itself() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let mut agent = world.agent(&[which()]);
    browser.select("Which database?").await;
    agent.is_kept_waiting();
    browser.choose("SQLite").await;
    browser.settle_in().await;
    browser.submit().await;
    browser.until("an answer on its way", "card()?.record.state === 'delivering'", &[]).await;
    noted_as_waiting(&world);
    agent.die();
    browser.shows("Lost: its agent ended before it was settled. Answered by the page: SQLite").await;
    browser.shows("it asks again and gets this answer, which never reached it.").await;

    let mut again = world.agent(&[which()]);
    assert_eq!(again.told(1)["answers"], json!([["lite"]]));
    browser.until("nothing is lost", &format!("!({LOST})"), &[]).await;
    assert!(!browser.text().await.contains("Give this answer again"));
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_permission_is_given_anew() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent(&[runs(1)]);
    browser.sign_in(&world).await;
    let id = only(&world).await;
    world.ok(&["reject", &id]);
    agent.told(1);
    noted(&world, &id, "rejected by the command line");
    agent.die();
    let _again = world.agent(&[runs(1)]);
    let id = only(&world).await;
    look_at(&browser, &world, &id).await;
    browser.shows("Asked before. Rejected by the command line").await;
    assert!(!browser.card().await.contains("Give this answer again"));
    assert_eq!(only(&world).await, id);
    browser.is_clean().await;
}
