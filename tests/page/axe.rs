//! axe-core finds nothing: on the page with questions of each kind and on the example page, in both schemes, on a desktop
//! and on a phone. `tests/run` installs it with npm.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    browser::Browser,
    fields::{databases, options},
    permissions::{reads, runs},
    world::{Agent, World, asks},
};

/// Returns the script of axe-core.
fn axe() -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let path = target.join("page/node_modules/axe-core/axe.min.js");
    fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}: tests/run installs axe-core", path.display()))
}

impl Browser {
    /// Checks the page as it is.
    pub(crate) async fn is_accessible(&self, what: &str) {
        if self.run("return typeof axe;", &[]).await == "undefined" {
            self.command("axe-core", self.client.execute(&axe(), Vec::new())).await;
        }
        let check = "const { violations } = await axe.run(document, { resultTypes: ['violations'] });
            return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')}: ${node.failureSummary}: ${node.html.slice(0, 200)}`));";
        let found = self.run_async(check, &[]).await;
        if found != json!([]) {
            let found = crate::person::texts(&found).join("\n");
            self.fail(&format!("{what}:\n{found}")).await;
        }
    }
}

fn everything() -> Vec<Value> {
    let fields = json!([
        { "name": "a", "label": "Which database?", "header": "Storage", "help": "It can be changed later.", "kind": "choice", "options": databases(), "other": true, "required": true },
        { "name": "b", "label": "Which parts?", "kind": "choices", "options": options(&[("a", "Sign-in"), ("b", "Search")]), "default": ["a"], "max": 1 },
        { "name": "c", "label": "Name", "kind": "text", "required": true, "placeholder": "shop" },
        { "name": "d", "label": "Text", "kind": "text", "multiline": true },
        { "name": "e", "label": "Password", "kind": "text", "secret": true },
        { "name": "f", "label": "Port", "kind": "number", "integer": true, "min": 1, "max": 65535 },
        { "name": "g", "label": "Day", "kind": "text", "format": "date" },
        { "name": "h", "label": "Really?", "kind": "boolean" },
        { "name": "i", "label": "Overwrite?", "kind": "confirm", "yes": "Overwrite it", "no": "Leave it" },
    ]);
    vec![
        asks(1, "Set up", &fields),
        reads(2),
        runs(3),
        asks(4, "Settled", &json!([{ "name": "x", "label": "Text", "kind": "text" }])),
    ]
}

async fn check(scheme: &str, is_phone: bool) {
    let (world, browser) = (World::start(), Browser::start().await);
    if is_phone {
        browser.phone().await;
    }
    browser.scheme(scheme).await;
    browser.goto(&world.address("/")).await;
    browser.shows("askbridge open").await;
    browser.is_accessible("signed out").await;
    browser.sign_in(&world).await;
    browser.shows("Nothing waits.").await;
    browser.is_accessible("nothing waits").await;
    let mut agent = world.agent(&everything());
    browser.until("all of them", "all('button.row').length === 4", &[]).await;
    browser.is_accessible("the list").await;
    for title in ["Settled", "Set up", "Read file 2", "rm -rf build3"] {
        browser.select(title).await;
        browser.is_accessible(title).await;
        browser.settle_in().await;
        go_on(&browser, title, &mut agent).await;
        browser.is_accessible(&format!("{title}, after a button was pressed")).await;
        browser.run("if (arguments[0]) all('askbridge-inbox')[0].show(null);", &[json!(is_phone)]).await;
    }
    browser.keys("?").await;
    browser.is_accessible("a dialog").await;
    browser.goto(&world.address("/elements")).await;
    browser.until("the examples", "all('askbridge-question').length > 10", &[]).await;
    browser.is_accessible("the example page").await;
}

/// Takes a question to its next state.
async fn go_on(browser: &Browser, title: &str, agent: &mut Agent) {
    match title {
        "Set up" => {
            browser.submit().await;
            browser.until("errors", "all('.problem').some(isSeen)", &[]).await;
        }
        "Settled" => {
            browser.fill("Text", "a text").await;
            browser.send().await;
            agent.told(4);
        }
        "Read file 2" => {
            browser.press("Allow").await;
            agent.told(2);
        }
        _ => {
            browser.press("Allow").await;
            browser.step().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn axe_finds_nothing_in_light_on_a_desktop() {
    check("light", false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn axe_finds_nothing_in_dark_on_a_desktop() {
    check("dark", false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn axe_finds_nothing_in_light_on_a_phone() {
    check("light", true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn axe_finds_nothing_in_dark_on_a_phone() {
    check("dark", true).await;
}
