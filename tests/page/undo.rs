//! What is sent can be taken back for a while: by a key and by a button, until it has left; what becomes of it when the tab,
//! the connection or the server ends, and when somebody else answers meanwhile.

use fantoccini::key::Key;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    permissions::{permission, reads, runs},
    world::{World, asks},
};

/// The longest that can be set: a test does something before it is over.
const LONG: &str = "10s";

fn form(id: u64, prompt: &str) -> Value {
    asks(
        id,
        prompt,
        &json!([
            { "name": "n", "label": "Name", "kind": "text", "required": true },
            { "name": "s", "label": "Password", "kind": "text", "secret": true },
        ]),
    )
}

/// The line that says what was sent, as a person sees it.
const LINE: &str = "clean(all('.sent').find(isSeen)?.textContent ?? '')";

impl Browser {
    /// Waits until the line about what was sent begins with these words.
    async fn line(&self, words: &str) {
        self.until(&format!("{words:?}"), &format!("{LINE}.startsWith(arguments[0])"), &[json!(words)]).await;
    }

    async fn titled(&self, title: &str) {
        self.until(title, "currentTitle() === arguments[0]", &[json!(title)]).await;
    }

    async fn status(&self, words: &str) {
        let expression = "all('[role=status]').some(it => it.textContent.includes(arguments[0]))";
        self.until(&format!("the status {words:?}"), expression, &[json!(words)]).await;
    }

    /// Sends what is entered by the keyboard, and waits until the page has gone on.
    async fn sends(&self) {
        self.settle_in().await;
        let title = self.current_title().await;
        self.chord(Key::Control, char::from(Key::Enter)).await;
        self.until("the next question", "currentTitle() !== arguments[0]", &[json!(title)]).await;
    }
}

/// Returns the entries of the form.
async fn entries(browser: &Browser) -> Value {
    browser.run("return ['Name', 'Password'].map(it => named(FIELDS, it)?.value);", &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_open_again_with_what_was_entered_by_a_key_and_by_a_button() {
    let (world, browser) = (World::with_undo(LONG), Browser::start().await);
    let mut agent = world.agent(&[form(1, "First"), reads(2)]);
    world.until_open(2).await;
    browser.sign_in(&world).await;
    for way in ["key", "button"] {
        browser.select("First").await;
        browser.fill("Password", way).await;
        browser.fill("Name", &format!("by a {way}")).await;
        browser.sends().await;
        browser.line(&format!("Sending: Name: by a {way}; Password: (secret) to sh.")).await;
        browser.status("Press u to take it back.").await;
        browser.shows("Sending").await;
        browser.shot(&format!("sending-{way}")).await;
        assert_eq!(world.open().await.len(), 2, "for everybody else it is open");
        match way {
            "key" => {
                // A key that is typed with others is a part of a text.
                browser.keys("au").await;
                browser.rest().await;
                browser.line("Sending").await;
                browser.keys("u").await;
            }
            _ => browser.press("Undo").await,
        }
        browser.titled("First").await;
        browser.status("Taken back.").await;
        assert_eq!(entries(&browser).await, json!([format!("by a {way}"), way]));
        assert_eq!(browser.run("return [name(focused()), card().paused];", &[]).await, json!(["Name", true]));
        browser.until("no line", &format!("!{LINE}"), &[]).await;
    }
    browser.shot("taken-back").await;
    // What is sent at last is what the agent gets, once.
    browser.fill("Name", "at last").await;
    browser.sends().await;
    browser.line("Sending: Name: at last").await;
    browser.line("Sent: Name: at last; Password: (secret) to sh.").await;
    assert_eq!(agent.told(1)["answers"], json!([["at last"], ["button"]]));
    // What was sent is not taken back.
    browser.rest().await;
    browser.keys("u").await;
    browser.titled("Read file 2").await;
    browser.line("Sent: ").await;
    assert_eq!(world.open().await.len(), 1);
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_are_on_their_way_and_the_last_one_comes_back_first() {
    let (world, browser) = (World::with_undo(LONG), Browser::start().await);
    let mut agent = world.agent(&[reads(1), runs(2), form(3, "Third")]);
    world.until_open(3).await;
    browser.sign_in(&world).await;
    browser.select("rm -rf build2").await;
    browser.decide("Allow").await;
    browser.step().await;
    browser.confirm().await;
    browser.titled("Read file 1").await;
    browser.line("Allowing: $ rm -rf build2 for sh.").await;
    // A rule would be about the question that stands there now, and not about what was sent.
    browser.keys("m").await;
    assert_eq!(browser.run("return all('dialog').some(it => it.open);", &[]).await, json!(false));
    browser.decide("Reject").await;
    browser.line("Rejecting: Read file 1 for sh.").await;
    browser.titled("Third").await;
    let marked = "all('button.row').filter(row => text(row).includes('Sending')).length";
    browser.until("both are marked", &format!("{marked} === 2"), &[]).await;
    browser.shot("two-on-their-way").await;
    browser.keys("u").await;
    browser.titled("Read file 1").await;
    browser.line("Allowing: $ rm -rf build2 for sh.").await;
    browser.rest().await;
    browser.keys("u").await;
    // The step is taken back as well: it takes both once more, after a pause.
    browser.titled("Run this command?").await;
    browser.until("no step", "!step() && name(focused()).startsWith('Allow')", &[]).await;
    browser.shot("permission-taken-back").await;
    browser.until("no line", &format!("!{LINE}"), &[]).await;
    assert_eq!(world.open().await.len(), 3);
    browser.select("Read file 1").await;
    browser.decide("Allow").await;
    browser.line("Allowing: Read file 1").await;
    browser.line("Allowed: Read file 1").await;
    assert_eq!(agent.told(1)["outcome"]["optionId"], "once");
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_closed_sends_at_once() {
    let (world, browser) = (World::with_undo(LONG), Browser::start().await);
    let mut agent = world.agent(&[form(1, "First"), form(2, "Second"), form(3, "Third")]);
    world.until_open(3).await;
    let other = Browser::start().await;
    for (browser, title) in [(&other, "Second"), (&browser, "First")] {
        browser.sign_in(&world).await;
        browser.select(title).await;
        browser.fill("Name", title).await;
        browser.settle_in().await;
    }
    for browser in [&other, &browser] {
        browser.sends().await;
        browser.line("Sending").await;
    }
    browser.goto("about:blank").await;
    assert_eq!(agent.told(1)["answers"][0], json!(["First"]));
    // What the other page sent earlier is still on its way. A list has the end a moment after the agent.
    world.until_open(2).await;
    other.line("Sending").await;
    other.refresh().await;
    assert_eq!(agent.told(2)["answers"][0], json!(["Second"]));
    other.shows("Answered by the page: Name: Second").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_answers_meanwhile_wins_and_the_page_says_so() {
    let (world, browser) = (World::with_undo(LONG), Browser::start().await);
    let field = json!([{ "name": "n", "label": "Name", "kind": "text" }]);
    let mut agent = world.agent(&[asks(1, "First", &field), reads(2)]);
    world.until_open(2).await;
    browser.sign_in(&world).await;
    browser.select("First").await;
    let id = browser.run("return card().record.id;", &[]).await;
    browser.fill("Name", "mine").await;
    browser.sends().await;
    browser.line("Sending: mine").await;
    world.ok(&["answer", id.as_str().unwrap(), "theirs"]);
    assert_eq!(agent.told(1)["answers"], json!([["theirs"]]));
    browser.line("Not sent: Answered by the command line (tester): theirs.").await;
    browser.status("Not sent: Answered by the command line").await;
    browser.titled("Read file 2").await;
    browser.shot("not-sent").await;
    browser.press("Show it").await;
    browser.titled("First").await;
    browser.element("BUTTONS", "Copy your draft").await;
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ends_sends_and_one_that_is_killed_does_not() {
    let (mut world, browser) = (World::with_undo(LONG), Browser::start().await);
    let mut agent = world.agent(&[form(1, "First"), form(2, "Second")]);
    world.until_open(2).await;
    browser.sign_in(&world).await;
    browser.select("First").await;
    browser.fill("Name", "killed").await;
    browser.sends().await;
    browser.line("Sending: Name: killed").await;
    world.kill();
    browser
        .line("Not confirmed: Askbridge did not confirm it. What you entered is kept. Send it again.")
        .await;
    world.restart();
    world.until_open(2).await;
    browser.until("the page is online", "all('askbridge-inbox').some((inbox) => isOnline(inbox))", &[]).await;
    browser.shot("not-confirmed").await;
    browser.press("Show it").await;
    browser.titled("First").await;
    assert_eq!(entries(&browser).await[0], json!("killed"));
    browser.fill("Name", "ended").await;
    browser.sends().await;
    browser.line("Sending: Name: ended").await;
    world.stop();
    assert_eq!(agent.told(1)["answers"][0], json!(["ended"]));
    browser.line("Sent: Name: ended").await;
}

/// A phone and a desktop, light and dark: nothing moves when it has left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_line_keeps_its_height() {
    let (world, browser) = (World::with_undo("2s"), Browser::start().await);
    let _agent = world.agent(&(1..=5).map(|id| form(id, &format!("Form {id}"))).collect::<Vec<_>>());
    world.until_open(5).await;
    browser.sign_in(&world).await;
    browser.select("Form 1").await;
    let height = "Math.round(all('.sent')[0].getBoundingClientRect().height)";
    for (id, width, scheme) in [(1, 1280, "light"), (2, 1280, "dark"), (3, 390, "light"), (4, 390, "dark")] {
        let metrics = json!({ "width": width, "height": 844, "deviceScaleFactor": 1, "mobile": false });
        browser.cdp("Emulation.setDeviceMetricsOverride", metrics).await;
        browser.scheme(scheme).await;
        browser.titled(&format!("Form {id}")).await;
        browser.fill("Name", "a name of a few words").await;
        browser.sends().await;
        browser.line("Sending").await;
        let before = browser.run(&format!("return {height};"), &[]).await;
        browser.shot(&format!("undo-{width}-{scheme}")).await;
        browser.line("Sent").await;
        assert_eq!(browser.run(&format!("return {height};"), &[]).await, before, "{width}");
        browser.shot(&format!("sent-{width}-{scheme}")).await;
    }
    browser.is_clean().await;
}

/// What is decided together waits as one, and is taken back as one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_that_is_decided_together_comes_back_at_once() {
    let (world, browser) = (World::with_undo(LONG), Browser::start().await);
    let tests = |id: u64| {
        let command = json!({ "command": format!("cargo test part_{id}") });
        permission(id, &format!("Test {id}"), "execute", &command)
    };
    let mut agent = world.agent(&(1..=3).map(tests).chain([reads(4)]).collect::<Vec<_>>());
    world.until_open(4).await;
    browser.sign_in(&world).await;
    browser.select("cargo test part_1").await;
    let allow = async || {
        browser.settle_in().await;
        browser.rest().await;
        browser.keys("a").await;
        browser.settle_in().await;
        browser.decide("Allow all 3").await;
        browser.step().await;
        browser.confirm().await;
        browser.line("Allowing 3: $ cargo test part_1 and what is like it for sh.").await;
        browser.titled("Read file 4").await;
    };
    allow().await;
    browser.shot("together-sending").await;
    let marked = "all('button.row').filter(row => text(row).includes('Sending')).length";
    browser.until("all are marked", &format!("{marked} === 3"), &[]).await;
    assert_eq!(world.open().await.len(), 4, "for everybody else they are open");
    browser.rest().await;
    browser.keys("u").await;
    browser.titled("Run this command?").await;
    browser.status("Taken back.").await;
    browser.until("no line", &format!("!{LINE}"), &[]).await;
    assert_eq!(world.open().await.len(), 4);
    browser.shot("together-taken-back").await;
    // The list is there as it was.
    browser.settle_in().await;
    browser.decide("Allow all 3").await;
    browser.step().await;
    browser.confirm().await;
    browser.line("Allowing 3: ").await;
    browser.line("Allowed 3: ").await;
    for id in 1..=3 {
        assert_eq!(agent.told(id)["outcome"]["optionId"], "once", "{id}");
    }
    browser.is_clean().await;
}
