//! What a person sets aside: it leaves the list and stands in the fold “Later” until its time, or until it is brought back.

use serde_json::json;

use crate::{
    browser::Browser,
    permissions::reads,
    world::{World, asks},
};

/// The titles of the rows in the fold.
const LATER: &str = "all('details').filter(it => text(it).startsWith('Later')).flatMap(it => [...it.querySelectorAll('.row .title')].map(it => it.textContent))";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_set_aside_is_folded_until_it_is_brought_back() {
    let (world, browser) = (World::start(), Browser::start().await);
    let field = json!([{ "name": "n", "label": "Name", "kind": "boolean" }]);
    let mut agent = world.agent(&[asks(1, "First", &field), reads(2)]);
    world.until_open(2).await;
    browser.sign_in(&world).await;
    browser.select("First").await;
    browser.settle_in().await;
    browser.rest().await;
    browser.keys("l").await;
    browser.shows("Until when?").await;
    browser.shot("later-dialog").await;
    browser.press("2 hours").await;
    browser.until("the next question", "currentTitle() === 'Read file 2'", &[]).await;
    browser.until("the fold", &format!("JSON.stringify({LATER}) === '[\"First\"]'"), &[]).await;
    // Every view knows it, and it waits no less for that.
    let open = world.open().await;
    let aside = open.iter().find(|record| record["question"]["message"] == "First").unwrap();
    assert!(aside["later"].is_string(), "{aside}");
    browser.until("the count", "all('h2').some(it => text(it).startsWith('Waiting 1'))", &[]).await;
    browser.run("all('details').find(it => text(it).startsWith('Later')).open = true;", &[]).await;
    browser.shot("later-fold").await;
    browser.select("First").await;
    browser.settle_in().await;
    browser.press("Bring it back").await;
    browser.until("the list", &format!("{LATER}.length === 0"), &[]).await;
    browser.until("the count", "all('h2').some(it => text(it).startsWith('Waiting 2'))", &[]).await;
    browser.choose("Yes").await;
    browser.send().await;
    assert_eq!(agent.told(1)["answers"], json!([["true"]]));
    browser.is_clean().await;
}
