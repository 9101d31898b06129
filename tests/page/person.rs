//! What a person does on the page: sees, clicks, types. Controls are found by their names, as a person finds them.

use fantoccini::{
    actions::{InputSource, KeyAction, KeyActions},
    elements::{Element, ElementRef},
    key::Key,
};
use serde_json::{Value, json};

use crate::{browser::Browser, world::World};

/// The key under which WebDriver returns an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

impl Browser {
    /// Opens the page as `askbridge open` does, with the token in the address, and waits until it is signed in.
    pub(crate) async fn sign_in(&self, world: &World) {
        self.open(&world.address(&format!("/#token={}", world.http.token))).await;
    }

    /// Opens the page of a browser that is signed in.
    pub(crate) async fn open(&self, address: &str) {
        self.goto(address).await;
        self.until("the page is online", "all('askbridge-inbox').some((inbox) => isOnline(inbox))", &[])
            .await;
    }

    /// Waits until the page shows a text.
    pub(crate) async fn shows(&self, text_: &str) {
        self.until(&format!("{text_:?}"), "text().includes(arguments[0])", &[json!(text_)]).await;
    }

    /// Waits until the page does not show a text any more.
    pub(crate) async fn hides(&self, text_: &str) {
        self.until(&format!("no {text_:?}"), "!text().includes(arguments[0])", &[json!(text_)]).await;
    }

    /// Returns the text of the page.
    pub(crate) async fn text(&self) -> String {
        self.run("return text();", &[]).await.as_str().unwrap_or_default().to_owned()
    }

    /// Returns the text of the current question.
    pub(crate) async fn card(&self) -> String {
        self.run("return card() ? text(card()) : '';", &[]).await.as_str().unwrap_or_default().to_owned()
    }

    /// Presses a button.
    pub(crate) async fn press(&self, name: &str) {
        self.click("BUTTONS", name).await;
    }

    /// Chooses an option.
    pub(crate) async fn choose(&self, name: &str) {
        self.click("CHOICES", name).await;
    }

    /// Makes a field have this text.
    pub(crate) async fn fill(&self, name: &str, text: &str) {
        let field = self.element("FIELDS", name).await;
        self.command(&format!("empty {name:?}"), field.clear()).await;
        self.command(&format!("fill {name:?}"), field.send_keys(text)).await;
    }

    /// Selects the question of the list whose row has this text, and waits until it is the current one.
    pub(crate) async fn select(&self, title: &str) {
        // The row of the current question leads into its fields.
        if !self.card().await.contains(title) {
            self.click("ROWS", title).await;
        }
        self.until(
            &format!("the question {title:?}"),
            "card() && text(card()).includes(arguments[0])",
            &[json!(title)],
        )
        .await;
    }

    /// Waits until the page takes an answer: shortly after another question came into view, a click may have been meant
    /// for the one before.
    pub(crate) async fn settle_in(&self) {
        self.until("the end of the pause", "!card()?.paused", &[]).await;
    }

    /// Presses the button that sends the answer.
    pub(crate) async fn submit(&self) {
        self.press("Send answer").await;
    }

    /// Sends the answer to the current question, and waits until it is not open any more.
    pub(crate) async fn send(&self) {
        self.settle_in().await;
        let id = self.run("return card().record.id;", &[]).await;
        self.submit().await;
        self.ends(id).await;
    }

    /// Presses a button that decides a permission, or begins to.
    pub(crate) async fn decide(&self, name: &str) {
        self.settle_in().await;
        self.press(name).await;
    }

    /// Waits for the second step.
    pub(crate) async fn step(&self) {
        self.until("a second step", "step()", &[]).await;
    }

    /// Takes the second step, and waits until the question is not open any more.
    pub(crate) async fn confirm(&self) {
        let id = self.run("return card().record.id;", &[]).await;
        let expression = "usable(all('.step :is(.primary, .danger)', card()).find(isSeen))";
        let button = self.until("the button of the second step", expression, &[]).await;
        self.command("confirm", self.as_element(&button).click()).await;
        self.ends(id).await;
    }

    async fn ends(&self, id: Value) {
        // The page goes on by itself. A click on the way would be one on what stands there then.
        let expression = "card()?.record.id !== arguments[0]";
        self.until("the end of the question", expression, &[id]).await;
    }

    fn as_element(&self, found: &Value) -> Element {
        let id = found[ELEMENT].as_str().unwrap_or_default().to_owned();
        Element::from_element_id(self.client.clone(), ElementRef::from(id))
    }

    /// Returns the heading of the current question.
    pub(crate) async fn current_title(&self) -> String {
        self.run("return currentTitle();", &[]).await.as_str().unwrap_or_default().to_owned()
    }

    /// Waits for a control with this name that can be used.
    pub(crate) async fn element(&self, kind: &str, name: &str) -> Element {
        let expression = format!("usable(target(named({kind}, arguments[0])))");
        let found = self.until(&format!("{name:?} of {kind}"), &expression, &[json!(name)]).await;
        self.as_element(&found)
    }

    /// Clicks, and tries it again where the page moved it meanwhile.
    async fn click(&self, kind: &str, name: &str) {
        for _ in 0..3 {
            let element = self.element(kind, name).await;
            if element.click().await.is_ok() {
                return;
            }
        }
        let element = self.element(kind, name).await;
        self.command(&format!("click {name:?}"), element.click()).await;
    }

    /// Presses and releases these keys, one after the other.
    pub(crate) async fn keys(&self, keys: &str) {
        let actions = keys.chars().fold(KeyActions::new("keys".to_owned()), |actions, value| {
            actions.then(KeyAction::Down { value }).then(KeyAction::Up { value })
        });
        self.command(&format!("keys {keys:?}"), self.client.perform_actions(actions)).await;
    }

    /// Waits until the next key is one of its own, and no part of what was typed before.
    pub(crate) async fn rest(&self) {
        let since = self.run("return performance.now();", &[]).await;
        self.until("a rest between two keys", "performance.now() - arguments[0] > 300", &[since]).await;
    }

    pub(crate) async fn key(&self, key: Key) {
        self.keys(&char::from(key).to_string()).await;
    }

    /// Presses a key while another is held.
    pub(crate) async fn chord(&self, held: Key, value: char) {
        let held = char::from(held);
        let actions = KeyActions::new("keys".to_owned())
            .then(KeyAction::Down { value: held })
            .then(KeyAction::Down { value })
            .then(KeyAction::Up { value })
            .then(KeyAction::Up { value: held });
        self.command(&format!("chord {value:?}"), self.client.perform_actions(actions)).await;
    }

    /// Makes the window as large as that of a phone.
    pub(crate) async fn phone(&self) {
        let metrics = json!({ "width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true });
        self.cdp("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    /// Prefers light or dark, as the settings of a desktop do.
    pub(crate) async fn scheme(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.cdp("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }

    /// Checks that the security policy had nothing to refuse, and that no script failed.
    pub(crate) async fn is_clean(&self) {
        let seen = self.run("return [window.refused ?? [], window.failed ?? []];", &[]).await;
        assert_eq!(seen, json!([[], []]), "what the policy refused, and what failed");
    }
}

/// Returns the texts of a list.
pub(crate) fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
