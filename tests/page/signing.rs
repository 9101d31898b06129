//! Signing in: the token leaves the address bar, the cookie is of use here alone, and a new token ends it.

use serde_json::{Value, json};

use crate::{browser::Browser, world::World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_token_leaves_the_address_bar_and_the_history() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let token = json!(world.http.token);
    let seen = browser.run("return [location.href, history.length, document.referrer, JSON.stringify({ ...localStorage }), document.cookie];", &[]).await;
    assert!(!seen.to_string().contains(&world.http.token), "{seen}");
    let entries = browser.cdp("Page.getNavigationHistory", json!({})).await;
    assert!(
        !entries["entries"]
            .as_array()
            .unwrap()
            .iter()
            .any(|entry| entry["url"].to_string().contains(&world.http.token)),
        "{entries}"
    );
    assert_eq!(
        browser.run("return document.documentElement.outerHTML.includes(arguments[0]);", &[token]).await,
        json!(false)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cookie_is_out_of_reach_of_scripts_and_of_other_sites() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let cookies = browser.cdp("Network.getCookies", json!({})).await;
    let cookies = cookies["cookies"].as_array().unwrap();
    assert_eq!(cookies.len(), 1, "{cookies:?}");
    let cookie = &cookies[0];
    assert_eq!(cookie["name"], format!("askbridge-{}", world.http.address.port()));
    assert_eq!(
        (&cookie["httpOnly"], &cookie["sameSite"], &cookie["path"]),
        (&json!(true), &json!("Strict"), &json!("/"))
    );
    // It is of use for the page's own calls, and nothing else.
    let status = "return (await fetch(arguments[0])).status;";
    for path in ["/v1/questions", "/metrics", "/question", "/v1/events"] {
        assert_eq!(browser.run_async(status, &[json!(path)]).await, json!(401), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reload_and_another_tab_are_signed_in_and_a_restart_keeps_them() {
    let (mut world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    browser.refresh().await;
    browser.shows("Nothing waits.").await;
    world.stop();
    world.restart();
    browser.open(&world.address("/")).await;
    browser.shows("Nothing waits.").await;
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_token_the_page_says_what_to_type_and_takes_it() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.goto(&world.address("/")).await;
    browser.shows("askbridge open").await;
    let shown = browser.text().await;
    assert!(!shown.contains(&world.http.token) && !shown.contains("Nothing waits."), "{shown}");
    browser.fill("paste the token", "wrong").await;
    browser.press("Sign in").await;
    browser
        .until(
            "the refusal",
            "all('[role=alert]').some((element) => isSeen(element) && clean(element.textContent))",
            &[],
        )
        .await;
    browser.fill("paste the token", &world.http.token).await;
    browser.press("Sign in").await;
    browser.shows("Nothing waits.").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_token_signs_every_browser_out() {
    let (mut world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    browser.shows("Nothing waits.").await;
    world.stop();
    world.forget_token();
    world.restart();
    browser.shows("askbridge open").await;
    browser.sign_in(&world).await;
    browser.shows("Nothing waits.").await;
}

/// A browser that has the cookie but not the key of this origin, as that of another server on the same host.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cookie_alone_does_not_sign_in() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    browser.run("localStorage.clear();", &[]).await;
    browser.goto("about:blank").await;
    browser.goto(&world.address("/")).await;
    browser.shows("askbridge open").await;
    let opened = "const socket = new WebSocket(`ws://${location.host}/rpc`, ['askbridge', 'key.' + '0'.repeat(64)]);
        return await new Promise((resolve) => { socket.onopen = () => resolve('open'); socket.onerror = () => resolve('refused'); });";
    assert_eq!(browser.run_async(opened, &[]).await, json!("refused"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_cannot_be_framed() {
    let (world, browser) = (World::start(), Browser::start().await);
    // A page of another port is another origin.
    let other = World::start();
    browser.goto(&other.address("/")).await;
    browser.goto(&format!("data:text/html,<iframe src=\"{}\"></iframe>", world.address("/"))).await;
    browser.command("the frame", browser.client.enter_frame(0)).await;
    let seen: Value = browser.run("return document.documentElement.outerHTML;", &[]).await;
    assert!(!seen.to_string().contains("askbridge-inbox"), "{seen}");
}
