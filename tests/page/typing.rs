//! What a person types is a text or a command, and never both: a text that is typed in one go decides nothing, wherever
//! the focus is, and what is typed into a field is the answer. The clock stands still while somebody types.

use fantoccini::key::Key;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    fields::databases,
    permissions::{permission, reads, runs},
    unseen::QUIET,
    world::{Agent, World, asks},
};

/// Stops the clock, which `rest` moves on.
const STILL: &str = "window.at = Date.now(); Date.now = () => window.at; pass(1000);";

/// Texts that begin with a letter or a digit, with the letters that are commands in each place.
const TEXTS: [&str; 14] = [
    "release/2.4\n",
    "production\n",
    "kafka\n",
    "just do it\n\n",
    "clear; askbridge list\n",
    "ls\nrm -rf build\n",
    "r\n",
    "rr\n\n",
    "yes\n",
    "1\n",
    "2 yes\n",
    "3\n\n\n",
    "13\n2\n",
    "Go on, run it\n",
];

/// The letters of random texts.
const LETTERS: &[u8] = b"abcdefghijkrGRyn123456789 /?.\n\n";

/// Draws texts from a fixed seed.
fn draw(seed: &mut u64) -> String {
    let mut next = |bound: usize| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(*seed >> 33).unwrap() % bound
    };
    let length = 2 + next(10);
    let letters: String = (0..length).map(|_| char::from(LETTERS[next(LETTERS.len())])).collect();
    format!("{}{letters}\n", char::from(b"abjkr123"[next(8)]))
}

fn text(label: &str) -> Value {
    json!([{ "name": "f", "label": label, "kind": "text", "required": true }])
}

impl Browser {
    /// Opens the page, with its clock in the hands of the test.
    async fn sign_in_to_type(&self, world: &World) {
        self.sign_in_on_a_clock(world).await;
        self.until("a question", "card()", &[]).await;
        self.run(STILL, &[]).await;
    }

    /// Types a text in one go. A line break is the Enter key.
    async fn types(&self, text: &str) {
        self.keys(&text.replace('\n', &char::from(Key::Enter).to_string())).await;
    }

    /// Lets time pass, after which a key is one of its own.
    async fn lets_pass(&self, milliseconds: u32) {
        self.run("window.at += arguments[0]; pass(arguments[0]);", &[json!(milliseconds)]).await;
    }

    /// Opens a question by a click on its row, as it was at first.
    async fn opens(&self, title: &str) {
        let reset = "for (const dialog of all('dialog[open]')) dialog.close();
            all('askbridge-inbox')[0].search = '';
            card()?.discard();
            focused()?.blur();
            document.activeElement?.blur();";
        self.run(reset, &[]).await;
        self.press(title).await;
        let opened = "card() && text(card()).includes(arguments[0]) && (window.at += 2000, pass(2000), true)";
        self.until(title, opened, &[json!(title)]).await;
    }
}

/// Each control that can have the focus and takes no text, by its place.
const PLACES: &str = "[document.body, ...all('.row[aria-current], .main, .search'), ...all('button, summary, a, #title, [type=radio], [type=checkbox]', card()).filter(isSeen)]";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_that_is_typed_in_one_go_decides_nothing_wherever_the_focus_is() {
    let (world, browser) = (World::start(), Browser::start().await);
    let choice = json!({ "name": "f", "label": "Which?", "kind": "choice", "options": databases(), "default": "pg", "other": true });
    let parts = json!({ "name": "f", "label": "Parts", "kind": "choices", "options": databases() });
    let act = permission(3, "Build it", "execute", &json!({ "command": "cargo build", "cwd": "/shop" }));
    let _agent = world.agent(&[
        reads(1),
        runs(2),
        act,
        asks(4, "A choice", &json!([choice])),
        asks(5, "Some parts", &json!([parts])),
        asks(6, "A sure thing", &json!([{ "name": "f", "label": "Sure?", "kind": "boolean" }])),
        asks(7, "A name", &text("Name")),
        asks(8, "A form", &json!([parts_named("a"), { "name": "b", "label": "Text", "kind": "text" }])),
    ]);
    world.until_open(8).await;
    browser.sign_in_to_type(&world).await;
    let titles = [
        "Read file 1",
        "rm -rf build2",
        "cargo build",
        "A choice",
        "Some parts",
        "A sure thing",
        "A name",
        "A form",
    ];
    let (mut texts, mut seed) = (TEXTS.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), 7);
    texts.extend((0..26).map(|_| draw(&mut seed)));
    let mut texts = texts.iter().cycle();
    for title in titles {
        browser.opens(title).await;
        let count = browser.run(&format!("return {PLACES}.length;"), &[]).await.as_u64().unwrap();
        for place in 0..count {
            for is_in_step in [false, true] {
                browser.opens(title).await;
                if is_in_step {
                    let step = "(all('.option', card())[0] ?? named(BUTTONS, 'Reject', card())).click();";
                    browser.run(step, &[]).await;
                    browser.step().await;
                    browser.lets_pass(2000).await;
                }
                let focus = format!(
                    "focused()?.blur(); const it = {PLACES}[arguments[0]]; it?.focus?.(); return it?.outerHTML.slice(0, 80);"
                );
                let focused = browser.run(&focus, &[json!(place)]).await;
                let text = texts.next().unwrap();
                browser.types(text).await;
                let decided = browser.decisions().await;
                assert_eq!(decided, 0, "{title:?}, step: {is_in_step}, typed {text:?} at {focused}");
            }
        }
    }
    assert_eq!(world.open().await.len(), 8);
    browser.is_clean().await;
}

fn parts_named(name: &str) -> Value {
    json!({ "name": name, "label": "Parts", "kind": "choices", "options": databases() })
}

async fn asked(requests: &[Value]) -> (World, Browser, Agent) {
    let (world, browser) = (World::start(), Browser::start().await);
    let agent = world.agent(requests);
    world.until_open(requests.len()).await;
    browser.sign_in_to_type(&world).await;
    (world, browser, agent)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_is_opened_takes_what_is_typed() {
    let (_world, browser, mut agent) =
        asked(&[runs(1), asks(2, "Name the branch", &text("Branch")), asks(3, "And the tag", &text("Tag"))])
            .await;
    browser.opens("Name the branch").await;
    browser.types("release/2.4\n").await;
    assert_eq!(agent.told(2)["answers"], json!([["release/2.4"]]));
    // So does the next one, which comes by itself.
    browser.until("the next one", "currentTitle() === 'And the tag'", &[]).await;
    browser.lets_pass(2000).await;
    // The first Enter sends nothing, and then the text belongs to the field that is wrong.
    browser.types("\n").await;
    browser.until("an error", "all('.problem').some(isSeen)", &[]).await;
    browser.lets_pass(QUIET).await;
    browser.types("remove/r1\n").await;
    assert_eq!(agent.told(3)["answers"], json!([["remove/r1"]]));
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejecting_takes_more_than_letters_and_enter() {
    let (world, browser, mut agent) = asked(&[reads(1), reads(2)]).await;
    browser.opens("Read file 1").await;
    browser.types("remove it\n").await;
    browser.step().await;
    let reason = "return all('#step', card())[0].value;";
    assert_eq!(browser.run(reason, &[]).await, json!(""), "the rest of a text is no reason");
    browser.lets_pass(QUIET).await;
    browser.types("too early\n").await;
    browser.shows("Ctrl+Enter rejects it").await;
    assert_eq!((browser.run(reason, &[]).await, world.open().await.len()), (json!("too early"), 2));
    browser.chord(Key::Control, char::from(Key::Enter)).await;
    assert_eq!(agent.told(1)["_meta"]["askbridge"]["remark"], "too early");
    browser.is_clean().await;
}

/// A paste event at the body, as the browser sends it where no field has the focus.
const PASTE: &str = "document.activeElement?.blur();
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', arguments[0]);
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true, composed: true }));";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paste_outside_of_a_field_goes_to_the_only_text_field_or_nowhere() {
    let choice =
        json!([{ "name": "f", "label": "Which?", "kind": "choice", "options": databases(), "other": true }]);
    let two = json!([{ "name": "a", "label": "One", "kind": "text" }, { "name": "b", "label": "Two", "kind": "text" }]);
    let questions =
        [runs(1), asks(2, "A text", &text("Text")), asks(3, "A choice", &choice), asks(4, "Two texts", &two)];
    let (world, browser, _agent) = asked(&questions).await;
    for (title, values) in [
        ("A text", json!({ "f": "pasted" })),
        ("A choice", json!({ "f": "pasted" })),
        ("Two texts", json!({})),
        ("rm -rf build1", json!({})),
    ] {
        browser.opens(title).await;
        browser.run(PASTE, &[json!("pasted")]).await;
        assert_eq!(browser.run("return card().draft.values;", &[]).await, values, "{title}");
    }
    assert_eq!((browser.decisions().await, world.open().await.len()), (0, 4));
    browser.is_clean().await;
}

/// Where nothing is chosen and nothing is required, an answer would be none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_answer_is_sent_by_a_second_step() {
    let field = |kind: &str| {
        let mut field = json!({ "name": "f", "label": "Field", "kind": kind });
        if kind.starts_with("choice") {
            field["options"] = databases();
        }
        json!([field])
    };
    let kinds = ["choice", "choices", "boolean", "text", "number"];
    let questions: Vec<_> =
        (1..).zip(kinds).map(|(id, kind)| asks(id, &format!("Item {kind}"), &field(kind))).collect();
    let (world, browser, mut agent) = asked(&questions).await;
    for (id, kind) in (1..).zip(kinds) {
        browser.opens(&format!("Item {kind}")).await;
        browser.submit().await;
        browser.shows("Nothing is chosen or entered").await;
        // Neither the same key again nor a second click at the same place is the second step.
        browser.chord(Key::Control, char::from(Key::Enter)).await;
        browser.types("\n").await;
        assert_eq!(browser.decisions().await, id - 1, "{kind}");
        browser.lets_pass(2000).await;
        browser.press("Send it empty").await;
        assert_eq!(agent.told(id)["status"], "answered", "{kind}");
    }
    browser.shows("Sent: an empty answer").await;
    assert_eq!(world.open().await.len(), 0);
    browser.is_clean().await;
}
