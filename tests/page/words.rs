//! What the page says is whole and true: names that tell options apart, texts that say where they are cut, numbers that
//! count what they name.

use fantoccini::key::Key;
use serde_json::json;

use crate::{
    browser::Browser,
    fields::options,
    permissions::{permission, reads},
    world::{World, asks},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_with_one_name_or_none_are_told_apart_by_their_values() {
    let (world, browser) = (World::start(), Browser::start().await);
    let files =
        options(&[("/a/foo.txt", "foo.txt"), ("/b/foo.txt", "foo.txt "), ("stop", "   "), ("go", "Go on")]);
    let ask = |id: u64, kind: &str| {
        asks(
            id,
            &format!("A {kind}?"),
            &json!([{ "name": "q", "label": "Which?", "kind": kind, "options": files }]),
        )
    };
    let mut decides = permission(3, "Read a file", "read", &json!({ "path": "/shop/1.txt" }));
    decides["params"]["options"] = json!([
        { "optionId": "yes-1", "name": "Yes", "kind": "allow_once" },
        { "optionId": "yes-2", "name": "Yes", "kind": "allow_once" },
        { "optionId": "no", "name": " ", "kind": "reject_once" },
    ]);
    let mut agent = world.agent(&[ask(1, "choice"), ask(2, "choices"), decides]);
    world.until_open(3).await;
    browser.sign_in(&world).await;
    let names = "return all('.card > label bdi', card()).map((name) => clean(name.textContent));";
    let expected = json!(["foo.txt (/a/foo.txt)", "foo.txt (/b/foo.txt)", "stop", "Go on"]);
    for (id, kind) in [(1, "choice"), (2, "choices")] {
        browser.select(&format!("A {kind}?")).await;
        assert_eq!(browser.run(names, &[]).await, expected, "{kind}");
        browser.choose("foo.txt (/b/foo.txt)").await;
        browser.send().await;
        assert_eq!(agent.told(id)["answers"], json!([["/b/foo.txt"]]));
        browser.shows("Sent: foo.txt (/b/foo.txt) to").await;
    }
    browser.select("Read a file").await;
    let names = "return all('.option bdi', card()).map((name) => clean(name.textContent));";
    assert_eq!(browser.run(names, &[]).await, json!(["Yes (yes-1)", "Yes (yes-2)", "no"]));
    browser.decide("Yes (yes-2)").await;
    assert_eq!(agent.told(3)["outcome"]["optionId"], "yes-2");
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_sent_keeps_the_answer_and_says_where_it_is_cut() {
    let (world, browser) = (World::start(), Browser::start().await);
    let label = "I have read the change log, the notes of the release and the guide for those who upgrade";
    let fields = json!([{ "name": "a", "label": label, "kind": "boolean" }, { "name": "b", "label": "Else", "kind": "text" }]);
    let text = json!([{ "name": "f", "label": "Text", "kind": "text" }]);
    let mut agent = world.agent(&[asks(1, "Two", &fields), asks(2, "One", &text)]);
    world.until_open(2).await;
    browser.sign_in(&world).await;
    browser.select("Two").await;
    browser.choose("Yes").await;
    browser.send().await;
    agent.told(1);
    browser.shows("Sent: I have read the change log, the notes o…: yes to").await;
    browser.select("One").await;
    browser.fill("Text", &"long ".repeat(60)).await;
    browser.send().await;
    agent.told(2);
    let cut =
        "all('.sent').some((line) => isSeen(line) && /^Sent: long .*… to /.test(clean(line.textContent)))";
    browser.until("the mark of a cut", cut, &[]).await;
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_settled_is_not_counted_and_the_search_opens_what_it_finds() {
    let (world, browser) = (World::start(), Browser::start().await);
    let text = json!([{ "name": "f", "label": "Text", "kind": "text" }]);
    let mut agent = world.agent(&[reads(1), reads(2), asks(3, "Which region?", &text)]);
    let open = world.until_open(3).await;
    browser.sign_in(&world).await;
    browser.until("three", "text().includes('Waiting 3')", &[]).await;
    let id = open.iter().find(|it| it["question"]["subject"].is_null()).unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    browser.keys("/region").await;
    browser.key(Key::Enter).await;
    browser.until("the first that was found", "currentTitle() === 'Which region?'", &[]).await;
    browser.run("all('askbridge-inbox')[0].search = '';", &[]).await;
    world.ok(&["answer", &id, "north"]);
    agent.told(3);
    // It keeps its place for a while, beside two that wait.
    browser
        .until("two", "/Waiting 2\\n/.test(text()) && /\\n[^\\n]* ?2(, the first|\\n)/.test(text())", &[])
        .await;
    let rows = "return all('.list section:not(.past) .row').length;";
    assert_eq!(browser.run(rows, &[]).await, json!(3));
    browser.keys("G").await;
    browser.until("the last that waits", "currentTitle() === 'Read file 2'", &[]).await;
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drawing_keeps_its_shape() {
    let (world, browser) = (World::start(), Browser::start().await);
    let drawing = format!("+-----+\n| nav | {}\n+-----+", "wide ".repeat(60));
    let shown = options(&[("a", "A"), ("b", "B")]);
    let mut shown = shown.as_array().unwrap().clone();
    shown.iter_mut().for_each(|option| option["preview"] = json!({ "format": "text", "text": drawing }));
    let _agent = world.agent(&[asks(
        1,
        "Which?",
        &json!([{ "name": "f", "label": "Layout", "kind": "choice", "options": shown }]),
    )]);
    browser.sign_in(&world).await;
    browser.select("Which?").await;
    browser.shows("| nav |").await;
    let seen = "const [pre] = all('.drawn', card());
        return [/mono/i.test(getComputedStyle(pre.firstChild).fontFamily), Math.round(pre.firstChild.getBoundingClientRect().height / parseFloat(getComputedStyle(pre).lineHeight)) <= 3,
            all('.main')[0].scrollWidth <= all('.main')[0].clientWidth];";
    assert_eq!(browser.run(seen, &[]).await, json!([true, true, true]));
    browser.is_clean().await;
}
