//! What the page looks like: on a phone, in both schemes, enlarged, and in the tab.

use serde_json::{Value, json};

use crate::{
    browser::Browser,
    fields::options,
    permissions::runs,
    world::{World, asks},
};

/// Returns questions that are as wide as an agent can make them.
fn wide() -> Vec<Value> {
    let word = "w".repeat(300);
    let long = options(&[("a", &*word), ("b", "Short"), ("c", &*"many words ".repeat(30))]);
    let fields = json!([
        { "name": "a", "label": word, "help": word, "kind": "choice", "options": long, "other": true },
        { "name": "b", "label": "Port", "kind": "number", "min": 1, "max": 65535 },
        { "name": "c", "label": "Text", "kind": "text", "multiline": true },
    ]);
    vec![asks(1, &word, &fields), runs(2)]
}

const OVERFLOW: &str = "return [
    document.scrollingElement.scrollWidth - innerWidth,
    ...all('*').filter((element) => isSeen(element) && !element.closest('pre, .vh')
        && element.getBoundingClientRect().width > innerWidth + 1).map((element) => element.outerHTML.slice(0, 100)),
];";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_fits_the_width_of_a_phone_and_its_choices_are_large() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.phone().await;
    let mut agent = world.agent(&wide());
    browser.sign_in(&world).await;
    for title in ["rm -rf build2", "www"] {
        assert_eq!(browser.run(OVERFLOW, &[]).await, json!([0]), "the list");
        browser.select(title).await;
        assert_eq!(browser.run(OVERFLOW, &[]).await, json!([0]), "{title}");
        let small = browser.run("return all('button, .card > label', card()).filter((element) => isSeen(element) && element.getBoundingClientRect().height < 24).map(name);", &[]).await;
        assert_eq!(small, json!([]));
        if title == "www" {
            let heights = browser.run("return all('.card > label', card()).filter(isSeen).map((label) => Math.round(label.getBoundingClientRect().height));", &[]).await;
            assert!(
                heights.as_array().unwrap().iter().all(|height| height.as_i64().unwrap() >= 44),
                "{heights}"
            );
            browser.choose("Short").await;
            browser.send().await;
            assert_eq!(agent.told(1)["status"], "answered");
        } else {
            browser.press("All questions").await;
        }
    }
    browser.is_clean().await;
}

/// At 200 %, a window of 1280 pixels has room for 640.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_cut_off_when_the_page_is_enlarged() {
    let (world, browser) = (World::start(), Browser::start().await);
    let metrics = json!({ "width": 640, "height": 450, "deviceScaleFactor": 2, "mobile": false });
    browser.cdp("Emulation.setDeviceMetricsOverride", metrics).await;
    let _agent = world.agent(&wide());
    browser.sign_in(&world).await;
    browser.select("www").await;
    assert_eq!(browser.run(OVERFLOW, &[]).await, json!([0]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tab_says_how_many_questions_wait() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    browser.until("no number", "document.title === 'askbridge'", &[]).await;
    let mut agent = world.agent(&wide());
    browser.until("two", "document.title === '(2) askbridge'", &[]).await;
    agent.leave();
    browser.until("none", "document.title === 'askbridge'", &[]).await;
}
