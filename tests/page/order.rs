//! In which order the questions of a list stand.

use serde_json::json;

use crate::{browser::Browser, world::World};

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
