//! The harness itself, on a page of its own: what it finds in nested shadow roots.

use serde_json::json;

use crate::browser::Browser;

const PAGE: &str = "data:text/html,<body><p hidden>Hidden</p><x-outer></x-outer><script>
    const outer = document.querySelector('x-outer').attachShadow({ mode: 'open' });
    outer.innerHTML = '<h1>Title</h1><x-inner></x-inner>';
    const inner = outer.querySelector('x-inner').attachShadow({ mode: 'open' });
    inner.innerHTML = '<label>Name <input></label><label><input type=radio style=opacity:0>SQLite</label><button>Send</button>';
    inner.querySelector('button').onclick = () => inner.querySelector('button').after('Sent ' + inner.querySelector('input').value);
</script>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_harness_finds_controls_in_nested_shadow_roots() {
    let browser = Browser::start().await;
    browser.goto(PAGE).await;
    browser.fill("Name", "Ada").await;
    browser.choose("SQLite").await;
    browser.press("Send").await;
    browser.shows("Sent Ada").await;
    assert_eq!(browser.text().await, "Title\nName [Ada][x]SQLiteSend\nSent Ada".replace("Send\n", "Send"));
    browser.keys("!").await;
    assert_eq!(browser.run("return focused().textContent;", &[]).await, json!("Send"));
    assert_eq!(
        browser.run_async("return await Promise.resolve(arguments.length);", &[json!(1)]).await,
        json!(2)
    );
    browser.is_clean().await;
}
