//! In which order the questions of a list stand, and which of them a search shows.

use fantoccini::key::Key;
use serde_json::json;

use crate::{
    browser::Browser,
    permissions::{permission, reads, runs},
    world::{World, asks},
};

/// An agent asks several questions at once, within one millisecond: the tenth does not stand before the second.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_of_one_millisecond_stand_in_the_order_of_asking() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let show = "
        const connection = Object.assign(new EventTarget(), { state: 'online', call: async () => ({ questions: [] }) });
        all('askbridge-inbox')[0].connection = connection;
        const questions = arguments[0].map(([id, openedAt]) => ({ id, bridge: 'b', state: 'open', openedAt,
            question: { questionId: id, message: id, fields: [], origin: 'program', dangerous: false, blocking: true } }));
        connection.dispatchEvent(new CustomEvent('delta', { detail: { snapshot: true, questions } }));";
    let at = |id: &str, millisecond: u32| json!([id, format!("2026-11-22T12:00:00.{millisecond:03}Z")]);
    let mut told: Vec<_> = (1..=12).map(|number| at(&format!("b-{number}"), 7)).collect();
    told.push(at("b-13", 6));
    told.reverse();
    browser.run(show, &[json!(told)]).await;
    browser.until("all rows", "all('button.row').length === 13", &[]).await;
    let rows = browser.run("return all('button.row .title').map((title) => title.textContent);", &[]).await;
    let expected: Vec<_> = [13].into_iter().chain(1..=12).map(|number| format!("b-{number}")).collect();
    assert_eq!(rows, json!(expected));
}

/// What ends within ten minutes is first, whatever it risks, also once that is so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ends_soon_stands_first() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let show = "
        const connection = Object.assign(new EventTarget(), { state: 'online', call: async () => ({ questions: [] }) });
        all('askbridge-inbox')[0].connection = connection;
        const questions = arguments[0].map(([id, seconds, blocking]) => ({ id, bridge: 'b', state: 'open', openedAt: '2026-11-22T12:00:00Z',
            ...(seconds && { deadline: new Date(Date.now() + 1000 * seconds).toISOString() }),
            question: { questionId: id, message: id, fields: [], origin: 'program', dangerous: false, blocking } }));
        connection.dispatchEvent(new CustomEvent('delta', { detail: { snapshot: true, questions } }));";
    let asked = json!([
        ["b-1", null, true],
        ["b-2", 602, false],
        ["b-3", 590, false],
        ["b-4", 178, false],
        ["b-5", 7200, true]
    ]);
    browser.run(show, &[asked]).await;
    let rows = "JSON.stringify(all('button.row .title').map((title) => title.textContent)) === JSON.stringify(arguments[0])";
    browser.until("the order", rows, &[json!(["b-4", "b-3", "b-1", "b-5", "b-2"])]).await;
    browser
        .until("the order of two seconds later", rows, &[json!(["b-4", "b-3", "b-2", "b-1", "b-5"])])
        .await;
}

/// A search selects by what it names, and the question beside the list is always one that it finds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_selects_and_shows_the_first_that_it_finds() {
    let (world, browser) = (World::start(), Browser::start().await);
    let build = permission(3, "Build", "execute", &json!({ "command": "cargo build" }));
    let text = json!([{ "name": "f", "label": "Answer", "kind": "text" }]);
    let _agent = world.agent(&[asks(1, "Which database?", &text), reads(2), build, runs(4)]);
    world.until_open(4).await;
    browser.sign_in(&world).await;
    let titles = "all('.list section:not(.past) .title').map((title) => title.textContent).join()";
    browser.until("all rows", &format!("{titles}.split(',').length === 4"), &[]).await;
    for (search, found, shown) in [
        ("risk:acts", "$ cargo build", "cargo build"),
        ("kind:question", "Which database?", "Which database?"),
        ("risk:dangerous", "$ rm -rf build4", "rm -rf build4"),
        ("kind:read agent:sh", "Read file 2", "Read file 2"),
        ("kind:execute build4", "$ rm -rf build4", "rm -rf build4"),
    ] {
        browser.keys("/").await;
        browser.fill("Search questions", search).await;
        browser.until(search, &format!("{titles} === arguments[0]"), &[json!(found)]).await;
        browser.until(search, "card() && text(card()).includes(arguments[0])", &[json!(shown)]).await;
        browser.until("the focus in the search", "focused().matches('.search')", &[]).await;
    }
    // Rows are two lines: eight of them are seen where six were.
    browser.key(Key::Escape).await;
    let apart =
        "const tops = all('.list section:not(.past) .row').map((row) => row.getBoundingClientRect().top);
        return Math.max(...tops.slice(1).map((top, at) => top - tops[at]));";
    browser.until("all rows", &format!("{titles}.split(',').length === 4"), &[]).await;
    let most = browser.run(apart, &[]).await.as_f64().unwrap();
    assert!(most <= 48.0, "{most} px");
    // What is offered are words that select.
    let offered = browser.run("return all('datalist option').map((option) => option.value);", &[]).await;
    for word in ["risk:acts", "kind:permission", "kind:execute", "agent:sh"] {
        assert!(offered.as_array().unwrap().contains(&json!(word)), "{word}: {offered}");
    }
    // A draft is not left by a search.
    browser.select("Which database?").await;
    browser.settle_in().await;
    browser.fill("Answer", "SQLite").await;
    browser.fill("Search questions", "risk:acts").await;
    browser.until("the row", &format!("{titles} === '$ cargo build'"), &[]).await;
    assert!(browser.card().await.contains("SQLite"), "{}", browser.card().await);
    browser.is_clean().await;
}
