//! The page without a mouse.

use fantoccini::key::Key;
use serde_json::json;

use crate::{
    browser::Browser,
    fields::{databases, options},
    permissions::{reads, runs},
    world::{World, asks},
};

/// One question after the other, each answered by keys alone, from the first to the tenth.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_mixed_items_are_cleared_without_a_mouse() {
    let (world, browser) = (World::start(), Browser::start().await);
    let parts = options(&[("a", "Sign-in"), ("b", "Search"), ("c", "Export")]);
    let ask = |id: u64, label: &str, mut field: serde_json::Value| {
        field["name"] = json!("f");
        field["label"] = json!(label);
        field["required"] = json!(true);
        asks(id, label, &json!([field]))
    };
    let mut agent = world.agent(&[
        ask(1, "Item 1: database", json!({ "kind": "choice", "options": databases() })),
        ask(2, "Item 2: parts", json!({ "kind": "choices", "options": parts })),
        ask(3, "Item 3: name", json!({ "kind": "text" })),
        ask(4, "Item 4: sure", json!({ "kind": "boolean" })),
        ask(5, "Item 5: port", json!({ "kind": "number", "integer": true, "default": 8080 })),
        ask(6, "Item 6: text", json!({ "kind": "text", "multiline": true })),
        reads(7),
        runs(8),
        ask(9, "Item 9: other", json!({ "kind": "choice", "options": databases(), "other": true })),
        ask(10, "Item 10: skipped", json!({ "kind": "text" })),
    ]);
    browser.sign_in(&world).await;
    browser.until("all ten", "all('button.row').length === 10", &[]).await;
    for _ in 0..10 {
        let title = browser.current_title().await;
        browser.settle_in().await;
        browser.answer_by_keys(&title).await;
        browser
            .until(&format!("the end of {title:?}"), "currentTitle() !== arguments[0]", &[json!(title)])
            .await;
    }
    browser.shows("Nothing waits.").await;
    let told: Vec<_> = (1..=10).map(|id| agent.told(id)).collect();
    let answers: Vec<_> = told.iter().map(|told| &told["answers"]).collect();
    assert_eq!(
        answers[..6],
        [
            &json!([["lite"]]),
            &json!([["a", "c"]]),
            &json!([["shop"]]),
            &json!([["true"]]),
            &json!([["8081"]]),
            &json!([["a\nb"]])
        ]
    );
    assert_eq!(
        (&told[6]["outcome"]["optionId"], &told[7]["outcome"]["optionId"]),
        (&json!("once"), &json!("once"))
    );
    assert_eq!((answers[8], &told[9]["status"]), (&json!([["Redis"]]), &json!("rejected")));
    browser.is_clean().await;
}

impl Browser {
    /// Takes the option that is chosen, and its second step.
    async fn allow_by_keys(&self) {
        self.rest().await;
        self.key(Key::Enter).await;
        self.step().await;
        self.settle_in().await;
        // What allows it comes before what goes back, where the focus is.
        self.chord(Key::Shift, char::from(Key::Tab)).await;
        self.rest().await;
        self.key(Key::Enter).await;
    }

    async fn answer_by_keys(&self, title: &str) {
        match title {
            "Item 1: database" => self.keys("2").await,
            "Item 2: parts" => self.keys("13").await,
            "Item 3: name" => self.type_in("shop").await,
            "Item 4: sure" => self.keys("1").await,
            "Item 5: port" => {
                self.to_the_field().await;
                self.key(Key::Up).await;
            }
            "Item 6: text" => {
                self.type_in("a").await;
                self.key(Key::Enter).await;
                self.keys("b").await;
            }
            "Item 9: other" => {
                self.keys("4").await;
                self.keys("Redis").await;
            }
            "Read file 7" => self.keys("2").await,
            "Run this command?" => {
                self.keys("2").await;
                return self.allow_by_keys().await;
            }
            "Item 10: skipped" => {
                // The only text field has the focus: a letter is no command there.
                self.key(Key::Escape).await;
                self.keys("r").await;
                self.step().await;
            }
            _ => panic!("{title:?}"),
        }
        self.chord(Key::Control, char::from(Key::Enter)).await;
    }

    /// Moves the focus to the first field, as Enter does, unless the field had it at once.
    async fn to_the_field(&self) {
        if self.run("return focused()?.matches('input, textarea');", &[]).await != json!(true) {
            self.rest().await;
            self.key(Key::Enter).await;
        }
        self.until("the focus in a field", "focused()?.matches('input, textarea')", &[]).await;
    }

    async fn type_in(&self, text: &str) {
        self.to_the_field().await;
        self.keys(text).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_walk_the_list_and_do_nothing_while_a_person_types() {
    let (world, browser) = (World::start(), Browser::start().await);
    let field = json!([{ "name": "f", "label": "Text", "kind": "text" }]);
    let _agent =
        world.agent(&[asks(1, "First", &field), asks(2, "Second", &field), asks(3, "Third", &field)]);
    browser.sign_in(&world).await;
    browser.until("all three", "all('button.row').length === 3", &[]).await;
    browser.select("First").await;
    // A question that is opened has the focus in its only text field; from the list, letters are commands.
    browser.key(Key::Escape).await;
    for (key, title) in [("j", "Second"), ("j", "Third"), ("k", "Second")] {
        browser.keys(key).await;
        browser.until(title, "currentTitle() === arguments[0]", &[json!(title)]).await;
    }
    browser.fill("Text", "").await;
    browser.keys("jk?").await;
    assert_eq!(browser.run("return [focused().value, currentTitle()];", &[]).await, json!(["jk?", "Second"]));
    // It asks before it discards what was typed.
    browser.key(Key::Escape).await;
    browser.shows("Discard what you typed?").await;
    browser.press("Keep it").await;
    assert_eq!(browser.run("return named(FIELDS, 'Text').value;", &[]).await, json!("jk?"));
    browser.fill("Text", "jk").await;
    browser.key(Key::Escape).await;
    browser.shows("Discard what you typed?").await;
    // The key that opens it also takes it back.
    browser.key(Key::Escape).await;
    browser.hides("Discard what you typed?").await;
    browser.fill("Text", "jk").await;
    browser.key(Key::Escape).await;
    browser.press("Discard").await;
    browser.until("an empty field", "named(FIELDS, 'Text').value === ''", &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_mark_lists_the_keys() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    browser.shows("Nothing waits.").await;
    browser.keys("?").await;
    browser
        .until(
            "the list of keys",
            "all('dialog').some((dialog) => dialog.open && dialog.textContent.includes('Ctrl'))",
            &[],
        )
        .await;
    browser.key(Key::Escape).await;
    browser.until("no dialog", "!all('dialog').some((dialog) => dialog.open)", &[]).await;
}
