//! What the page costs: bytes, what comes before the first paint, layouts with many questions, memory, and requests while
//! idle. Times are figures alone, which are written to `figures.txt` beside the screenshots: they say as much of the machine
//! as of the page. What is bounded here is counted.

use std::{collections::BTreeSet, fs::OpenOptions, io::Write};

use serde_json::{Value, json};

use crate::{
    browser::{Browser, shots},
    person::texts,
    world::{World, asks},
};

/// The bytes of scripts and styles that the page loads at most, as the server sends them: compressed, without their comments.
const MOST_SENT: f64 = 70_000.0;

/// Layouts of the page while it is scrolled by 60 frames: a few for each frame, however many questions there are.
const MOST_LAYOUTS: f64 = 180.0;

/// Timers that are so much quicker, from the next document on.
const QUICK: u32 = 60;

/// Adds a line to the figures of this run.
pub(crate) fn figure(text: &str) {
    let file = OpenOptions::new().create(true).append(true).open(shots().join("figures.txt"));
    writeln!(file.unwrap(), "{text}").unwrap();
}

fn text(label: &str) -> Value {
    json!([{ "name": "f", "label": label, "kind": "text" }])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_is_small_and_asks_no_other_server() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let seen = browser.run("return performance.getEntriesByType('resource').map((entry) => [entry.name, entry.decodedBodySize, entry.encodedBodySize]);", &[]).await;
    let own = world.address("/");
    let inline =
        browser.run("return new Blob(all('style').map((style) => style.textContent)).size;", &[]).await;
    let inline = inline.as_f64().unwrap();
    let mut sizes = (inline, inline);
    let mut lines = vec![format!("{inline:6} {inline:6} in the document")];
    let mut counted = BTreeSet::new();
    for entry in seen.as_array().unwrap() {
        let (name, decoded, encoded) =
            (entry[0].as_str().unwrap(), entry[1].as_f64().unwrap(), entry[2].as_f64().unwrap());
        assert!(name.starts_with(&own), "{name}");
        let is_code = [".js", ".css"].iter().any(|end| name.ends_with(end));
        // What is asked for again comes from the cache.
        if is_code && counted.insert(name) {
            assert!(decoded > 0.0, "{name} is known");
            sizes = (sizes.0 + decoded, sizes.1 + encoded);
            lines.push(format!("{decoded:6} {encoded:6} {}", name.rsplit('/').next().unwrap()));
        }
    }
    figure(&format!(
        "script and style: {} bytes as sent of at most {MOST_SENT}, {} uncompressed, in {} files",
        sizes.1,
        sizes.0,
        lines.len()
    ));
    assert!(lines.len() > 5, "{lines:?}");
    assert!(sizes.1 <= MOST_SENT, "{} of {MOST_SENT} bytes as sent:\n{}", sizes.1, lines.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_paint_waits_for_a_few_styles_alone() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let mut paints = Vec::new();
    for _ in 0..5 {
        browser.open(&world.address("/")).await;
        let painted = browser
            .until("a paint", "performance.getEntriesByName('first-contentful-paint')[0]?.startTime", &[])
            .await;
        paints.push(painted.as_f64().unwrap());
    }
    paints.sort_by(f64::total_cmp);
    figure(&format!("first paint: {:.0} ms, of five the median; {:.0} ms at most", paints[2], paints[4]));
    let blocking = "return performance.getEntriesByType('resource').filter((entry) => entry.renderBlockingStatus === 'blocking').map((entry) => entry.name);";
    let blocking = browser.run(blocking, &[]).await;
    let blocking = texts(&blocking);
    assert!(blocking.len() <= 3 && blocking.iter().all(|name| name.ends_with(".css")), "{blocking:?}");
}

/// The network never answers a request for a script: what is painted is HTML and CSS alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_paint_waits_for_no_script() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.cdp("Network.enable", json!({})).await;
    browser.cdp("Network.setBlockedURLs", json!({ "urls": ["*.js"] })).await;
    browser.goto(&world.address("/")).await;
    let painted =
        "performance.getEntriesByName('first-contentful-paint').length && text().includes('askbridge')";
    browser.until("a paint", painted, &[]).await;
    assert_eq!(
        browser.run("return customElements.get('askbridge-inbox') === undefined;", &[]).await,
        json!(true)
    );
}

/// Modules that import each other would come one after the other: the document names each, and all are asked for at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_document_names_all_that_the_page_loads() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let missing = "const linked = new Set([...document.querySelectorAll('link, script')].map((element) => element.href || element.src));
        const loaded = performance.getEntriesByType('resource').map((entry) => entry.name).filter((name) => /[.](js|css)$/.test(name));
        return [loaded.length > 10, loaded.filter((name) => !linked.has(name))];";
    assert_eq!(browser.run(missing, &[]).await, json!([true, []]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_questions_are_shown_and_scroll() {
    let (world, browser) = (World::start(), Browser::start().await);
    let requests: Vec<_> = (0..1000)
        .map(|id| {
            let mut request = asks(id, &format!("Question number {id}"), &text("Answer"));
            // A session has at most 64.
            request["params"]["sessionId"] = json!(format!("session-{}", id / 50));
            request
        })
        .collect();
    let mut agent = world.agent(&requests);
    world.until_open(1000).await;
    browser.sign_in(&world).await;
    browser.until("all of them", "all('button.row').length === 1000", &[]).await;
    let shown = browser.run("return performance.now();", &[]).await;
    browser.cdp("Performance.enable", json!({})).await;
    let before = metric(&browser, "LayoutCount").await;
    let frames = browser
        .run_async(
            "const list = all('.list')[0];
            const scroller = [list, ...all('.list *')].find((element) => element.scrollHeight > element.clientHeight + 1000 && /auto|scroll/.test(getComputedStyle(element).overflowY)) ?? document.scrollingElement;
            const frame = () => new Promise(requestAnimationFrame);
            const times = [];
            let last = await frame();
            while (times.length < 60) {
                scroller.scrollTop += 400;
                const now = await frame();
                times.push(now - last);
                last = now;
            }
            times.sort((a, b) => a - b);
            return [scroller.scrollTop, times[Math.floor(times.length * 0.95)], times.at(-1)];",
            &[],
        )
        .await;
    let layouts = metric(&browser, "LayoutCount").await - before;
    let (p95, longest) = (frames[1].as_f64().unwrap(), frames[2].as_f64().unwrap());
    figure(&format!(
        "1,000 questions: shown after {:.0} ms; 60 frames of scrolling, 95 % within {p95:.0} ms, the longest {longest:.0} ms, {layouts} layouts",
        shown.as_f64().unwrap()
    ));
    assert!(frames[0].as_f64().unwrap() > 20_000.0 && layouts < MOST_LAYOUTS, "{frames}, {layouts} layouts");
    // It is still quick to answer.
    browser.select("Question number 999").await;
    browser.fill("Answer", "yes").await;
    browser.send().await;
    assert_eq!(agent.told(999)["answers"], json!([["yes"]]));
    browser.until("the others", "all('button.row').length >= 999", &[]).await;
    browser.is_clean().await;
}

/// Returns what the browser has measured of the page, once it was asked to.
async fn metric(browser: &Browser, name: &str) -> f64 {
    let metrics = browser.cdp("Performance.getMetrics", json!({})).await;
    let metrics = metrics["metrics"].as_array().unwrap();
    metrics.iter().find(|metric| metric["name"] == name).unwrap()["value"].as_f64().unwrap()
}

/// Returns the bytes of the script heap and the number of nodes of the document, after a collection.
async fn heap(browser: &Browser) -> (f64, f64) {
    browser.cdp("HeapProfiler.collectGarbage", json!({})).await;
    (metric(browser, "JSHeapUsedSize").await, metric(browser, "Nodes").await)
}

/// A question every few seconds for an hour, and each is answered: what is left of them is bounded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_hour_of_questions_leaves_no_memory_behind() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    browser.cdp("Performance.enable", json!({})).await;
    let field = json!({ "name": "go", "label": "Deploy?", "kind": "boolean" });
    let question =
        json!({ "agent": "deployer", "project": "/shop", "fields": [field], "timeoutMs": 3_600_000 });
    let mut listener = world.http.listen("/v1/events", &[]).await;
    let mut round = async |count: usize| {
        for _ in 0..count {
            let asked = world.ask(&question);
            let id = listener.requested().await;
            world.http.post(&format!("/v1/questions/{id}/reply"), r#"{"values":{"go":true}}"#).await.is(204);
            asked.await.unwrap().is(200);
        }
        browser.until("the end of the last one", "document.title === 'askbridge'", &[]).await;
        // What ended keeps its place for a while.
        browser.until("the last of them alone", "all('button.row').length <= 50", &[]).await;
        heap(&browser).await
    };
    // What is remembered is full after these.
    let before = round(150).await;
    let after = round(200).await;
    figure(&format!(
        "200 more questions: the heap grew from {:.0} to {:.0} KiB, the document from {} to {} nodes",
        before.0 / 1024.0,
        after.0 / 1024.0,
        before.1,
        after.1
    ));
    assert!(after.0 < before.0 * 1.5 + 1024.0 * 1024.0, "{before:?} {after:?}");
    assert!(after.1 < before.1 * 1.5 + 500.0, "{before:?} {after:?}");
}

/// Timers run sixty times as fast here, so that three seconds are as three minutes of idling. A page that has the focus
/// says now and then that somebody looks at it; this one has none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_page_asks_the_server_nothing() {
    let (world, browser) = (World::start(), Browser::start_logging(&[]).await);
    let quick = format!(
        "const [later, often] = [setTimeout, setInterval];
         window.setTimeout = (run, wait, ...more) => later(run, wait / (window.isQuick ? {QUICK} : 1), ...more);
         window.setInterval = (run, wait, ...more) => often(run, wait / {QUICK}, ...more);
         document.hasFocus = () => false;"
    );
    browser.cdp("Page.addScriptToEvaluateOnNewDocument", json!({ "source": quick })).await;
    let _agent = world.agent(&[asks(1, "Set up", &text("Name"))]);
    browser.sign_in(&world).await;
    browser.select("Set up").await;
    browser.settle_in().await;
    browser.log("performance").await;
    browser
        .run_async(
            "window.isQuick = true; await new Promise((resolve) => setTimeout(resolve, 180_000));",
            &[],
        )
        .await;
    let sent: Vec<_> = browser.log("performance").await.into_iter().filter(|event| is_sent(event)).collect();
    assert_eq!(sent, [""; 0]);
    // The log would have shown it.
    browser.run_async("await fetch('/');", &[]).await;
    assert!(browser.log("performance").await.iter().any(|event| is_sent(event)));
}

/// Whether an event of the network is something that the page sends.
fn is_sent(event: &str) -> bool {
    let event: Value = serde_json::from_str(event).unwrap();
    let method = event["message"]["method"].as_str().unwrap_or_default();
    ["Network.requestWillBeSent", "Network.webSocketFrameSent", "Network.webSocketCreated"].contains(&method)
}
