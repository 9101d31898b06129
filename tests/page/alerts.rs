//! Being told in the browser: a notification and a sound of a new question, only while the page has no focus, and only
//! where the person wants them. The permission is the browser's own; what a notification and a sound make is watched.

use serde_json::{Value, json};

use crate::{
    browser::Browser,
    world::{Agent, World, asks},
};

/// Keeps the notifications and the sounds of the page, and says that it has no focus where the test says so.
const WATCH: &str = "
    window.notified = [];
    window.sounds = 0;
    const { hasFocus } = document;
    document.hasFocus = () => !window.isAway && hasFocus.call(document);
    window.Notification = class extends Notification {
        constructor(title, options) {
            super(title, options);
            this.said = { title, ...options };
            notified.push(this);
        }
        close() {
            this.isClosed = true;
            super.close();
        }
    };
    const { start } = OscillatorNode.prototype;
    OscillatorNode.prototype.start = function (...times) {
        sounds += 1;
        return start.apply(this, times);
    };
";

/// What a screen reader is told of a new question. It comes later than every notification.
const ANNOUNCED: &str = "all('[role=status]').some((status) => status.textContent.includes('new question'))";

async fn start() -> (World, Browser) {
    let (world, browser) = (World::start(), Browser::start().await);
    let origin = world.address("/");
    let origin = origin.trim_end_matches('/');
    browser
        .cdp("Browser.grantPermissions", json!({ "origin": origin, "permissions": ["notifications"] }))
        .await;
    browser.cdp("Page.addScriptToEvaluateOnNewDocument", json!({ "source": WATCH })).await;
    browser.sign_in(&world).await;
    browser.shows("Nothing waits.").await;
    (world, browser)
}

impl Browser {
    /// Takes the focus from the page, or gives it back.
    async fn is_away(&self, is_away: bool) {
        self.run("window.isAway = arguments[0];", &[json!(is_away)]).await;
    }

    /// Switches a setting.
    async fn set(&self, name: &str) {
        self.press("Settings").await;
        self.choose(name).await;
        self.press("Close").await;
    }

    /// Lets an agent ask, waits until a screen reader was told, and returns what was notified since the last time, and
    /// how many sounds there were.
    async fn told_of(&self, world: &World, title: &str) -> (Agent, Value) {
        self.run("all('[role=status]').forEach((status) => (status.textContent = '')); notified.length = 0; sounds = 0;", &[])
            .await;
        let secret = json!([{ "name": "f", "label": "Password", "kind": "text", "secret": true, "default": "s3cret" }]);
        let agent = world.agent(&[asks(1, title, &secret)]);
        self.until("the announcement", ANNOUNCED, &[]).await;
        let told =
            self.run("return [notified.map(({ said }) => [said.title, said.body]), sounds];", &[]).await;
        (agent, told)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_notification_comes_only_where_it_is_wanted_and_the_page_has_no_focus() {
    let (world, browser) = start().await;
    browser.is_away(true).await;
    let (_first, told) = browser.told_of(&world, "Before it is wanted").await;
    assert_eq!(told, json!([[], 0]), "it is off by default");

    browser.set("Notify me of new questions").await;
    let (_second, told) = browser.told_of(&world, "While the person is away").await;
    let said = &told[0][0];
    let from = said[0].as_str().unwrap_or_default();
    assert_eq!(from, "sh asks", "{told}");
    assert_eq!((told[0].as_array().map(Vec::len), &said[1]), (Some(1), &json!("While the person is away")));
    assert!(!told.to_string().contains("s3cret"), "{told}");
    assert_eq!(told[1], json!(0), "a sound is another setting");

    browser.is_away(false).await;
    let (_third, told) = browser.told_of(&world, "While the person looks").await;
    assert_eq!(told, json!([[], 0]), "the page has the focus");

    browser.is_away(true).await;
    browser.set("Notify me of new questions").await;
    let (_fourth, told) = browser.told_of(&world, "After it was switched off").await;
    assert_eq!(told, json!([[], 0]), "it is off again");
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_notification_leads_to_its_question_and_closes_with_it() {
    let (world, browser) = start().await;
    browser.set("Notify me of new questions").await;
    browser.is_away(true).await;
    let (mut first, _) = browser.told_of(&world, "First").await;
    browser.run("window.first = notified[0];", &[]).await;
    let (_second, _) = browser.told_of(&world, "Second").await;
    browser.run("window.second = notified[0];", &[]).await;
    browser.select("First").await;
    browser.run("second.dispatchEvent(new Event('click'));", &[]).await;
    browser.until("the question of the notification", "currentTitle() === 'Second'", &[]).await;

    assert_eq!(
        browser.run("return [!!first.isClosed, !!second.isClosed];", &[]).await,
        json!([false, false])
    );
    let open = world.open().await;
    let record = open.iter().find(|record| record["question"]["message"] == "First").expect("it is open");
    world.ok(&["answer", record["id"].as_str().unwrap(), "shop"]);
    assert_eq!(first.told(1)["status"], "answered");
    browser.until("the end of the notification", "first.isClosed", &[]).await;
    assert_eq!(browser.run("return !!second.isClosed;", &[]).await, json!(false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sound_is_off_by_default_and_plays_once() {
    let (world, browser) = start().await;
    browser.is_away(true).await;
    browser.set("Play a sound").await;
    assert_eq!(browser.run("return sounds;", &[]).await, json!(1), "it is heard when it is switched on");
    let (_first, told) = browser.told_of(&world, "While the person is away").await;
    assert_eq!(told, json!([[], 1]));
    browser.is_away(false).await;
    let (_second, told) = browser.told_of(&world, "While the person looks").await;
    assert_eq!(told, json!([[], 0]));
}
