//! The page as it stands open all day: the search, what is over, what is shown while nothing waits, long changes, and the
//! way back after the server was away.

use fantoccini::key::Key;
use serde_json::{Value, json};

use crate::{
    browser::{Browser, shots},
    permissions::{permission, reads, runs},
    world::{World, asks},
};

fn text_field() -> Value {
    json!([{ "name": "f", "label": "Answer", "kind": "text" }])
}

/// The titles of the rows that wait.
const TITLES: &str = "all('.list section:not(.past) .title').map((title) => title.textContent)";

impl Browser {
    async fn rows(&self, expected: &[&str]) {
        let expression = format!("JSON.stringify({TITLES}) === JSON.stringify(arguments[0])");
        self.until(&format!("rows {expected:?}"), &expression, &[json!(expected)]).await;
    }

    /// Takes a picture, for a person to look at.
    pub(crate) async fn shot(&self, name: &str) {
        let image = self.command("a screenshot", self.client.screenshot()).await;
        std::fs::write(shots().join(format!("{name}.png")), image).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_finds_by_text_and_kind_and_stays_in_the_address() {
    let (world, browser) = (World::start(), Browser::start().await);
    let _agent = world.agent(&[
        asks(1, "Which database?", &text_field()),
        asks(2, "Which region?", &text_field()),
        reads(3),
        runs(4),
    ]);
    world.until_open(4).await;
    browser.sign_in(&world).await;
    browser.until("all rows", &format!("{TITLES}.length === 4"), &[]).await;
    browser.keys("/DATABASE").await;
    browser.rows(&["Which database?"]).await;
    browser.shows("1 of 4 found").await;
    browser.shot("search").await;
    browser.until("the address", "location.hash.includes('search=DATABASE')", &[]).await;
    browser.refresh().await;
    browser.rows(&["Which database?"]).await;
    // Letters that are typed there are no commands, and Esc shows all again.
    browser.keys("/").await;
    browser.keys("jr permission").await;
    browser.shows("No question that waits has these words.").await;
    browser.key(Key::Escape).await;
    browser.until("all rows", &format!("{TITLES}.length === 4"), &[]).await;
    browser.until("the address", "!location.hash.includes('search')", &[]).await;
    browser.keys("/permission dangerous").await;
    browser.rows(&["$ rm -rf build4"]).await;
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_over_is_found_and_shown_though_its_bridge_is_gone() {
    let (world, browser) = (World::start(), Browser::start().await);
    for (prompt, answer) in [("Which database?", "SQLite"), ("Which region?", "Frankfurt")] {
        let mut agent = world.agent(&[asks(1, prompt, &text_field())]);
        let id = world.until_open(1).await[0]["id"].as_str().unwrap().to_owned();
        world.ok(&["answer", &id, answer]);
        agent.told(1);
        agent.leave();
    }
    browser.sign_in(&world).await;
    let over = "all('.past:not([hidden]) .row').map((row) => text(row))";
    browser.until("both", &format!("{over}.length === 2 && {over}[0].includes('Frankfurt')"), &[]).await;
    browser.keys("/sqlite command").await;
    browser.until("one", &format!("{over}.length === 1 && {over}[0].includes('Which database?')"), &[]).await;
    browser.select("Which database?").await;
    assert!(browser.card().await.contains("Answered by the command line"), "{}", browser.card().await);
    browser.shot("history").await;
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_page_says_who_is_connected_and_what_was_settled_today() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    browser.shows("No agent is connected.").await;
    let mut agent = world.agent(&[reads(1)]);
    browser.select("Read file 1").await;
    browser.decide("Allow").await;
    agent.told(1);
    browser.shows("Nothing waits.").await;
    browser.shows("Settled today: 0 questions and 1 permission.").await;
    browser.until("the agent", "text().includes('Connected\\nsh in ')", &[]).await;
    browser.shows("askbridge setup").await;
    browser.shot("empty").await;
    browser.phone().await;
    browser.until("the same without room beside the list", "all('.list .overview').length === 1", &[]).await;
    browser.cdp("Emulation.clearDeviceMetricsOverride", json!({})).await;
    browser.until("the same beside the list", "all('.main .overview').length === 1", &[]).await;
    // What was sent stays in sight, with the way to it.
    browser.press("Show it").await;
    browser.until("the permission", "card() && text(card()).includes('Allowed by the page')", &[]).await;
    browser.is_clean().await;
}

pub(crate) fn edit(id: u64, file: &str, old: &str, new: &str) -> Value {
    let content =
        json!([{ "type": "diff", "path": format!("/shop/{file}"), "oldText": old, "newText": new }]);
    let mut request = permission(id, &format!("Edit {file}"), "edit", &json!({}));
    request["params"]["toolCall"]["content"] = content;
    request
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unchanged_lines_are_folded_and_what_decides_is_in_reach() {
    let (world, browser) = (World::start(), Browser::start().await);
    let lines = |first: &str, last: &str| {
        let same: String = (0..60).map(|number| format!("line {number}\n")).collect();
        format!("{first}\n{same}{last}\n")
    };
    let mut request = edit(1, "a.txt", &lines("one", "two"), &lines("ONE", "TWO"));
    let new: String = (0..80).map(|number| format!("new {number}\n")).collect();
    let second = json!({ "type": "diff", "path": "/shop/b.txt", "oldText": "x\n", "newText": new });
    request["params"]["toolCall"]["content"].as_array_mut().unwrap().push(second);
    let _agent = world.agent(&[request]);
    browser.sign_in(&world).await;
    browser.select("Edit a.txt").await;
    browser.shows("2 files +82 −3").await;
    let shown = "all('.after span').map((line) => line.textContent)";
    let folded = json!(["line 0", "line 1", "line 2", "line 57", "line 58", "line 59"]);
    browser
        .until("folded", &format!("JSON.stringify({shown}) === JSON.stringify(arguments[0])"), &[folded])
        .await;
    // At the bottom of the window: nothing of the change is seen below what decides.
    let in_reach =
        "all('.actions').length === 1 && innerHeight - all('.actions')[0].getBoundingClientRect().bottom < 1";
    assert_eq!(browser.run(&format!("return {in_reach};"), &[]).await, json!(true));
    browser.shot("diff").await;
    browser.press("54 unchanged lines").await;
    browser.until("all lines", &format!("{shown}.length === 60"), &[]).await;
    let number = browser.run("return all('.after i').map((number) => number.textContent);", &[]).await;
    assert_eq!((&number[0], &number[59]), (&json!("2"), &json!("61")));
    assert_eq!(browser.run(&format!("return {in_reach};"), &[]).await, json!(true));
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn layouts_are_compared_side_by_side() {
    let (world, browser) = (World::start(), Browser::start().await);
    let preview = |text: &str| json!({ "format": "text", "text": text });
    let options = json!([
        { "value": "a", "label": "List", "preview": preview("one above the other") },
        { "value": "b", "label": "Grid", "preview": preview("one beside the other") },
    ]);
    let _agent = world.agent(&[asks(
        1,
        "Which layout?",
        &json!([{ "name": "f", "label": "Layout", "kind": "choice", "options": options }]),
    )]);
    browser.sign_in(&world).await;
    browser.select("Which layout?").await;
    browser.shows("one above the other").await;
    browser.shows("one beside the other").await;
    let tops = browser.run("return all('.card').map((card) => card.getBoundingClientRect().top);", &[]).await;
    assert_eq!(tops[0], tops[1]);
    browser.shot("previews").await;
    browser.is_clean().await;
}

/// Keeps how long the page meant to wait before each try to connect, and lets it wait a tenth of that.
const TRIES: &str = "
    window.tries = [];
    let waited = 0;
    const [later, Socket] = [setTimeout, WebSocket];
    window.setTimeout = (run, wait, ...more) => later(() => {
        waited = wait;
        run(...more);
        waited = 0;
    }, wait < 2_000 ? wait / 10 : wait);
    window.WebSocket = class extends Socket {
        constructor(...given) {
            super(...given);
            tries.push(waited);
        }
    };
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_is_back_soon_after_the_server_is() {
    let (mut world, browser) = (World::start(), Browser::start().await);
    browser.cdp("Page.addScriptToEvaluateOnNewDocument", json!({ "source": TRIES })).await;
    browser.sign_in(&world).await;
    world.stop();
    browser.shows("Offline.").await;
    // Enough for the waits between two tries to have grown.
    browser.until("some tries", "tries.length > 8", &[]).await;
    world.restart();
    browser.until("the page is online", "all('askbridge-inbox').some((inbox) => isOnline(inbox))", &[]).await;
    let waits = browser.run("return tries;", &[]).await;
    let waits: Vec<_> = waits.as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert!(waits.iter().all(|wait| *wait < 2000.0) && waits.iter().any(|wait| *wait > 700.0), "{waits:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_shown_to_who_has_a_keyboard() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let touch = json!({ "features": [{ "name": "hover", "value": "none" }] });
    browser.cdp("Emulation.setEmulatedMedia", touch).await;
    browser.press("Settings and keys").await;
    browser.shows("While you are elsewhere").await;
    browser.hides("Next question").await;
    browser.press("Close").await;
    browser.hides("While you are elsewhere").await;
    browser.keys("?").await;
    browser.shows("Next question").await;
    browser.shot("keys").await;
}
