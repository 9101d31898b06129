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

/// Returns on which side of its box a text stands: how far it is from the left and from the right edge.
const SIDES: &str = "
    const sides = (element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        const [text, box] = [range.getBoundingClientRect(), element.getBoundingClientRect()];
        return text.left - box.left < box.right - text.right ? 'left' : 'right';
    };";

/// Hebrew in a question of Latin letters, and the other way round.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_text_has_the_direction_of_its_own_letters() {
    let (world, browser) = (World::start(), Browser::start().await);
    let (hebrew, latin) = ("איזה מסד נתונים?", "Which database?");
    let field = |help: &str| {
        let choices = options(&[("a", "אלף"), ("b", "Beta")]);
        json!([{ "name": "f", "label": help, "help": help, "kind": "choice", "options": choices, "other": true }])
    };
    let _agent = world.agent(&[asks(1, hebrew, &field("Latin letters")), asks(2, latin, &field("אותיות"))]);
    browser.sign_in(&world).await;
    let seen = format!(
        "{SIDES} const [article] = all('article', card()); const [radio, words] = all('.card label > *', card());
        return [sides(all('#title', card())[0]), sides(all('.hint p', card())[0]),
            radio.getBoundingClientRect().left < words.getBoundingClientRect().left, all('.card bdi', card()).map((text) => getComputedStyle(text).unicodeBidi)];"
    );
    for (title, expected) in
        [(hebrew, json!(["right", "left", false])), (latin, json!(["left", "right", true]))]
    {
        browser.select(title).await;
        browser.until("its title", "currentTitle() === arguments[0]", &[json!(title)]).await;
        let found = browser.run(&seen, &[]).await;
        assert_eq!(json!(found.as_array().unwrap()[..3]), expected, "{title}: {found}");
    }
    // What a person types has the direction of its letters, too.
    browser.choose("Other").await;
    browser.fill("Your own answer", "שלום").await;
    let direction = browser.run("return getComputedStyle(all('.own', card())[0]).direction;", &[]).await;
    assert_eq!(direction, json!("rtl"));
}

/// Where the system chooses all colours, neither backgrounds nor shadows are left: lines and words carry what matters.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forced_colours_keep_the_focus_the_row_and_the_mark_of_danger() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser
        .cdp(
            "Emulation.setEmulatedMedia",
            json!({ "features": [{ "name": "forced-colors", "value": "active" }] }),
        )
        .await;
    let _agent = world.agent(&[runs(1)]);
    browser.sign_in(&world).await;
    browser.select("rm -rf build1").await;
    assert_eq!(browser.run("return matchMedia('(forced-colors: active)').matches;", &[]).await, json!(true));
    browser.settle_in().await;
    // A key moves the focus to the option that it chooses.
    browser.keys("2").await;
    let line = "const line = (element) => { const style = getComputedStyle(element); return [style.outlineStyle, parseFloat(style.outlineWidth) >= 2]; };";
    let focus = format!("{line} return [focused().matches('.option'), ...line(focused())];");
    assert_eq!(browser.run(&focus, &[]).await, json!([true, "solid", true]), "the focus");
    let danger = "return all('.chip.danger').filter(isSeen).map((chip) => [/Dangerous/.test(chip.textContent), getComputedStyle(chip).borderTopStyle, parseFloat(getComputedStyle(chip).borderTopWidth) > 0]);";
    let marked = json!([true, "solid", true]);
    assert_eq!(browser.run(danger, &[]).await, json!([marked, marked]), "in the row and on the card");
    let current = format!("{line} return line(all('.row[aria-current]')[0]);");
    assert_eq!(browser.run(&current, &[]).await, json!(["solid", true]), "the row of the question");
}
