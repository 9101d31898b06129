//! The bar with what decides: it sticks to the bottom while a long question is read, and covers nothing that has the focus.

use fantoccini::key::Key;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    fields::options,
    permissions::{permission, reads},
    world::{World, asks},
};

/// A form of twelve fields of all kinds.
fn form() -> Value {
    let regions = options(&[("a", "America"), ("b", "Asia"), ("c", "Europe")]);
    let kinds = [
        json!({ "kind": "text" }),
        json!({ "kind": "choice", "options": regions, "other": true }),
        json!({ "kind": "number", "integer": true }),
        json!({ "kind": "text", "multiline": true, "help": "One line for each." }),
        json!({ "kind": "choices", "options": regions }),
        json!({ "kind": "boolean" }),
    ];
    let fields: Vec<_> = (0..12)
        .map(|place| {
            let mut field = kinds[place % kinds.len()].clone();
            field["name"] = json!(format!("f{place}"));
            field["label"] = json!(format!("Field {place}"));
            field
        })
        .collect();
    asks(1, "Twelve fields", &json!(fields))
}

/// A change of 200 lines, which is longer than any window.
fn long(id: u64) -> Value {
    let new: String = (0..200).map(|number| format!("line {number}\n")).collect();
    let mut request = permission(id, &format!("Edit {id}"), "edit", &json!({}));
    request["params"]["toolCall"]["content"] =
        json!([{ "type": "diff", "path": format!("/shop/{id}.txt"), "oldText": "x\n", "newText": new }]);
    request
}

/// Whether the bar stands at the bottom of the window.
const STICKS: &str = "card() && !card().paused && Math.abs(innerHeight - all('.actions', card())[0].getBoundingClientRect().bottom) < 1";

/// What of the element in focus cannot be seen: how far it reaches under the bar, or above the top.
const COVERED: &str = "
    const it = focused();
    const bar = all('.actions', card())[0];
    if (!it || !card().shadowRoot.contains(it) || bar.contains(it)) return null;
    const sent = all('.sent').find(isSeen);
    const top = sent ? sent.getBoundingClientRect().bottom : all('.main')[0].getBoundingClientRect().top;
    const box = it.getBoundingClientRect();
    const under = Math.round(Math.min(box.bottom, box.top + 40) - bar.getBoundingClientRect().top);
    return [name(it), under > 0 ? under : 0, Math.round(top - box.top) > 0 ? Math.round(top - box.top) : 0];";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_the_focus_is_never_behind_the_bar() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent(&[reads(2), form()]);
    world.until_open(2).await;
    browser.sign_in(&world).await;
    // The line about what was sent sticks to the top.
    browser.select("Read file 2").await;
    browser.decide("Allow").await;
    agent.told(2);
    browser.select("Twelve fields").await;
    for (width, height) in [(1280, 720), (1280, 800), (1280, 560), (1920, 1080), (700, 600)] {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        browser.cdp("Emulation.setDeviceMetricsOverride", metrics).await;
        browser.run("all('#title', card())[0].focus();", &[]).await;
        let mut seen = 0;
        for direction in ["forward", "backward"] {
            for _ in 0..60 {
                match direction {
                    "forward" => browser.key(Key::Tab).await,
                    _ => browser.chord(Key::Shift, char::from(Key::Tab)).await,
                }
                let covered = browser.run(COVERED, &[]).await;
                if covered.is_null() {
                    break;
                }
                seen += 1;
                assert_eq!(
                    (&covered[1], &covered[2]),
                    (&json!(0), &json!(0)),
                    "{width}x{height}, {direction}: {covered}"
                );
            }
            // Backward from the bar.
            browser.run("all('.actions button', card())[0].focus();", &[]).await;
        }
        assert!(seen > 20, "{width}x{height}: {seen}");
    }
    browser.is_clean().await;
}

impl Browser {
    /// Taps or clicks in the middle of a control.
    async fn presses(&self, kind: &str, name: &str, is_touch: bool) {
        let element = self.element(kind, name).await;
        let (x, y, width, height) = element.rectangle().await.unwrap();
        let (x, y) = (x + width / 2.0, y + height / 2.0);
        if is_touch { self.tap_at((x, y)).await } else { self.click_at((x, y)).await }
    }
}

/// What stands under the pointer does nothing for a second, and then the bar is where it always is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bar_sticks_again_after_a_click_and_after_a_tap() {
    for is_touch in [false, true] {
        let (world, browser) = (World::start(), Browser::start().await);
        if is_touch {
            browser.phone().await;
            browser.cdp("Emulation.setTouchEmulationEnabled", json!({ "enabled": true })).await;
        }
        let mut agent = world.agent(&(1..=4).map(long).collect::<Vec<_>>());
        world.until_open(4).await;
        browser.sign_in(&world).await;
        for id in 1..=4 {
            let title = format!("Edit {id}");
            // A row at each height of the list opens one; the others come after a click in the bar.
            if browser.current_title().await != title {
                browser.presses("ROWS", &title, is_touch).await;
            }
            browser.until(&title, "currentTitle() === arguments[0]", &[json!(title)]).await;
            browser.until("the bar at the bottom", STICKS, &[]).await;
            if is_touch && id < 3 {
                browser.press("All questions").await;
                continue;
            }
            browser.presses("BUTTONS", "Reject", is_touch).await;
            assert_eq!(agent.told(id)["outcome"]["optionId"], "no");
            browser.until("the next one", "currentTitle() !== arguments[0]", &[json!(title)]).await;
        }
        browser.is_clean().await;
    }
}

/// Where the text of an element begins.
const BEGINS: &str = "const begins = it => { const range = document.createRange(); range.selectNodeContents(it); return range.getBoundingClientRect().left; };";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_begin_where_the_lines_above_them_begin() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let call = permission(1, "Build it", "execute", &json!({ "command": "make", "cwd": "/shop" }));
    let _agent = world.agent(&[call]);
    browser.select("make").await;
    browser.settle_in().await;
    browser.shows("Run this command?").await;
    // The kind says it already.
    browser.shows("Run a command").await;
    browser.hides("it runs a command").await;
    let inset = format!(
        "{BEGINS} const [option] = all('.option', card());
        const link = all('.actions > .link', card()).find(isSeen);
        return Math.abs(begins(link) - option.getBoundingClientRect().left);"
    );
    assert!(browser.run(&inset, &[]).await.as_f64().expect("pixels") < 1.0, "below the options");
    browser.look("permission", 1280, 900).await;
    browser.look("permission", 390, 844).await;
    browser.run("all('#settings')[0].click();", &[]).await;
    let inset = format!(
        "{BEGINS} const [title] = all('#settings-title');
        return begins(title) - title.closest('form').getBoundingClientRect().left;"
    );
    assert!(browser.run(&inset, &[]).await.as_f64().expect("pixels").abs() < 1.0, "the title of a dialog");
    browser.look("settings", 1280, 900).await;
    browser.look("settings", 390, 844).await;
}
