//! Nothing is decided unseen: after an answer, the next question takes the place of the one before, and what is clicked or
//! pressed in the same second was meant for that one. The timers of the page are those of the test.

use fantoccini::key::Key;
use serde_json::json;

use crate::{
    browser::Browser,
    fields::databases,
    permissions::{reads, runs},
    world::{World, asks},
};

/// A clock that `pass` moves on, for timers that are no matter of milliseconds.
const CLOCK: &str = "
    const [later, cancel, read] = [setTimeout, clearTimeout, Date.now];
    const held = new Map();
    let [now, last] = [0, 1e9];
    Date.now = () => read() + now;
    window.setTimeout = (run, wait = 0, ...more) => {
        if (wait < 300) return later(run, wait, ...more);
        held.set(++last, [now + wait, () => run(...more)]);
        return last;
    };
    window.clearTimeout = (id) => held.delete(id) || cancel(id);
    window.pass = (time) => {
        now += time;
        const due = [...held].filter(([, [at]]) => at <= now).sort(([, [a]], [, [b]]) => a - b);
        for (const [id, [, run]] of due) held.delete(id) && run();
    };
    window.decided = [];
    for (const type of ['answer', 'reject']) addEventListener(`askbridge-${type}`, ({ detail }) => decided.push(detail.id));
";

/// As long after a decision as people click again where nothing answers.
const SOON: u32 = 600;

/// Keys that are so far apart are no part of one text.
pub(crate) const QUIET: u32 = 300;

/// Long enough to have read what appeared.
const LATER: u32 = 1000;

impl Browser {
    /// Opens the page on a clock of the test.
    pub(crate) async fn sign_in_on_a_clock(&self, world: &World) {
        self.cdp("Page.addScriptToEvaluateOnNewDocument", json!({ "source": CLOCK })).await;
        self.sign_in(world).await;
    }

    async fn pass(&self, milliseconds: u32) {
        self.run("pass(arguments[0]);", &[json!(milliseconds)]).await;
    }

    /// Returns the middle of a button of the current question.
    async fn place(&self, button: &str) -> (f64, f64) {
        let found = "(() => {
            const button = named(BUTTONS, arguments[0], card());
            if (!button) return null;
            button.scrollIntoView({ block: 'nearest', behavior: 'instant' });
            const { left, top, width, height } = button.getBoundingClientRect();
            return [left + width / 2, top + height / 2];
        })()";
        let place = self.until(&format!("the place of {button:?}"), found, &[json!(button)]).await;
        (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
    }

    /// Clicks there once. The browser does not take it as the second click of a double click.
    pub(crate) async fn click_at(&self, (x, y): (f64, f64)) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.cdp("Input.dispatchMouseEvent", event).await;
        }
    }

    /// Taps there with a finger. Two taps at the same place are a double tap for the browser, which has its own clock.
    pub(crate) async fn tap_at(&self, (x, y): (f64, f64)) {
        let points = [("touchStart", json!([{ "x": x, "y": y }])), ("touchEnd", json!([]))];
        for (kind, points) in points {
            self.cdp("Input.dispatchTouchEvent", json!({ "type": kind, "touchPoints": points })).await;
        }
    }

    /// Returns how many decisions the person has taken on this page.
    pub(crate) async fn decisions(&self) -> u64 {
        self.run("return decided.length;", &[]).await.as_u64().unwrap()
    }

    /// Waits until the current question is the one whose card has this text.
    async fn is_at(&self, text: &str) {
        let expression = "card() && text(card()).includes(arguments[0])";
        self.until(&format!("the question {text:?}"), expression, &[json!(text)]).await;
    }

    /// Waits until the page says, for everybody to see, that this was sent.
    async fn says(&self, sent: &str) {
        let expression =
            "all('.sent').some((line) => isSeen(line) && clean(line.textContent).startsWith(arguments[0]))";
        self.until(&format!("{sent:?}"), expression, &[json!(sent)]).await;
    }

    /// Checks that no button of the current question is where a pointer rests.
    async fn is_clear_of(&self, (x, y): (f64, f64)) {
        let under = "return all('.actions button', card()).filter((button) => {
            const { left, right, top, bottom } = button.getBoundingClientRect();
            return left <= arguments[0] && arguments[0] <= right && top <= arguments[1] && arguments[1] <= bottom;
        }).map(name);";
        assert_eq!(self.run(under, &[json!(x), json!(y)]).await, json!([]), "a button under the pointer");
    }

    /// Returns whether each button of the current question says that it does nothing.
    async fn is_dead(&self) -> bool {
        let seen =
            "const dead = all('.actions button', card()).map((button) => button.ariaDisabled === 'true');
            return dead.length > 0 && dead.every((it) => it === dead[0]) ? dead[0] : null;";
        self.run(seen, &[]).await.as_bool().expect("all buttons are dead, or none")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_click_in_the_same_second_decides_nothing() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent(&[reads(1), reads(2), reads(3)]);
    world.until_open(3).await;
    browser.sign_in_on_a_clock(&world).await;
    browser.is_at("Read file 1").await;
    browser.pass(LATER).await;
    let place = browser.place("Allow").await;
    browser.click_at(place).await;
    assert_eq!(agent.told(1)["outcome"]["optionId"], "once");
    browser.is_at("Read file 2").await;
    browser.is_clear_of(place).await;
    assert!(browser.is_dead().await, "it has only just appeared");

    browser.pass(SOON).await;
    browser.click_at(place).await;
    let next = browser.place("Allow").await;
    browser.click_at(next).await;
    assert_eq!(browser.decisions().await, 1, "the person cannot have read the second one");
    browser.shows("this has only just appeared").await;
    // Somebody who clicks on has not noticed yet.
    browser.pass(SOON).await;
    browser.click_at(next).await;
    assert_eq!(browser.decisions().await, 1, "not even by the third click");
    assert_eq!(world.open().await.len(), 2);

    browser.pass(LATER).await;
    assert!(!browser.is_dead().await);
    browser.hides("this has only just appeared").await;
    browser.click_at(next).await;
    assert_eq!(agent.told(2)["outcome"]["optionId"], "once");
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_in_the_same_second_decide_and_choose_nothing() {
    let (world, browser) = (World::start(), Browser::start().await);
    let ask = |id: u64| {
        let field = json!({ "name": "db", "label": "Which?", "kind": "choice", "options": databases(), "default": "pg" });
        asks(id, &format!("Item {id}"), &json!([field]))
    };
    let mut agent = world.agent(&[ask(1), ask(2), reads(3)]);
    world.until_open(3).await;
    browser.sign_in_on_a_clock(&world).await;
    browser.is_at("Item 1").await;
    browser.pass(LATER).await;
    browser.chord(Key::Control, char::from(Key::Enter)).await;
    assert_eq!(agent.told(1)["answers"], json!([["pg"]]));

    browser.is_at("Item 2").await;
    for round in 0..3 {
        browser.pass(SOON).await;
        browser.keys("2s").await;
        browser.key(Key::Enter).await;
        browser.chord(Key::Control, char::from(Key::Enter)).await;
        assert_eq!(browser.decisions().await, 1, "round {round}");
        let chosen = browser.run("return [card().draft.values, card().touched, !!step()];", &[]).await;
        assert_eq!(chosen, json!([{ "db": "pg" }, false, false]), "round {round}");
    }
    browser.pass(LATER).await;
    browser.keys("2").await;
    browser.chord(Key::Control, char::from(Key::Enter)).await;
    assert_eq!(agent.told(2)["answers"], json!([["lite"]]));

    browser.is_at("Read file 3").await;
    browser.pass(SOON).await;
    browser.keys("2").await;
    browser.key(Key::Enter).await;
    // A key reaches a button also by the way of the browser.
    browser.run("named(BUTTONS, 'Allow', card()).focus();", &[]).await;
    browser.keys(" ").await;
    browser.key(Key::Enter).await;
    assert_eq!(browser.decisions().await, 2);
    browser.pass(LATER).await;
    browser.key(Key::Enter).await;
    assert_eq!(agent.told(3)["outcome"]["optionId"], "once");
    browser.is_clean().await;
}

/// On a phone, a question takes the place of the list as well: the row that was tapped is where a button is now.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_tap_on_a_phone_decides_nothing() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.phone().await;
    browser.cdp("Emulation.setTouchEmulationEnabled", json!({ "enabled": true })).await;
    let mut agent = world.agent(&[reads(1), reads(2)]);
    world.until_open(2).await;
    browser.sign_in_on_a_clock(&world).await;
    let row = browser.element("ROWS", "Read file 1").await.rectangle().await.unwrap();
    browser.tap_at((row.0 + row.2 / 2.0, row.1 + row.3 / 2.0)).await;
    browser.is_at("Read file 1").await;
    browser.pass(SOON).await;
    let place = browser.place("Allow").await;
    browser.tap_at(place).await;
    assert_eq!(browser.decisions().await, 0, "the finger was on the row");

    browser.pass(LATER).await;
    let beside = |(x, y): (f64, f64)| (x - 100.0, y);
    browser.tap_at(beside(place)).await;
    assert_eq!(agent.told(1)["outcome"]["optionId"], "once");
    browser.is_at("Read file 2").await;
    browser.says("Allowed: Read file 1").await;
    browser.is_clear_of(place).await;
    browser.pass(SOON).await;
    browser.tap_at(place).await;
    let next = browser.place("Allow").await;
    browser.tap_at(next).await;
    assert_eq!(browser.decisions().await, 1);
    assert_eq!(world.open().await.len(), 1);

    browser.pass(LATER).await;
    browser.tap_at(beside(next)).await;
    assert_eq!(agent.told(2)["outcome"]["optionId"], "once");
    // The list is all that is left to see, and it says what was done.
    browser.until("the list", "!card()", &[]).await;
    browser.says("Allowed: Read file 2").await;
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_step_is_no_second_click_at_the_same_place() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent(&[runs(1), reads(2)]);
    world.until_open(2).await;
    browser.sign_in_on_a_clock(&world).await;
    browser.is_at("rm -rf build1").await;
    browser.pass(LATER).await;
    let place = browser.place("Allow").await;
    browser.click_at(place).await;
    browser.step().await;
    browser.is_clear_of(place).await;
    browser.pass(SOON).await;
    let yes = browser.place("Allow").await;
    browser.click_at(yes).await;
    assert_eq!(browser.decisions().await, 0, "the person cannot have read what it does");
    browser.pass(LATER).await;
    browser.click_at(yes).await;
    assert_eq!(agent.told(1)["outcome"]["optionId"], "once");

    // What is allowed from now on has its button in focus.
    browser.is_at("Read file 2").await;
    browser.pass(LATER).await;
    browser.keys("1").await;
    browser.pass(LATER).await;
    browser.key(Key::Enter).await;
    browser.step().await;
    browser.pass(SOON).await;
    browser.key(Key::Enter).await;
    assert_eq!(browser.decisions().await, 1, "the same key twice");
    browser.pass(LATER).await;
    browser.key(Key::Enter).await;
    assert_eq!(agent.told(2)["outcome"]["optionId"], "always");
    browser.is_clean().await;
}

/// Who opens a question beside the list knows that it is another one, and their pointer is on its row.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_opens_beside_the_list_needs_no_pause() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent(&[reads(1), reads(2), reads(3)]);
    world.until_open(3).await;
    browser.sign_in_on_a_clock(&world).await;
    browser.is_at("Read file 1").await;
    browser.press("Read file 3").await;
    browser.is_at("Read file 3").await;
    browser.keys("2").await;
    browser.pass(QUIET).await;
    browser.key(Key::Enter).await;
    assert_eq!(agent.told(3)["outcome"]["optionId"], "once");
    browser.is_at("Read file 1").await;
    browser.keys("j").await;
    browser.is_at("Read file 2").await;
    assert!(!browser.is_dead().await);
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_came_while_nobody_looked_waits_until_somebody_does() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in_on_a_clock(&world).await;
    browser.shows("Nothing waits.").await;
    let hide =
        "window.isAway = true; Object.defineProperty(document, 'hidden', { get: () => window.isAway });";
    browser.run(hide, &[]).await;
    let _agent = world.agent(&[reads(1)]);
    browser.is_at("Read file 1").await;
    browser.pass(60 * LATER).await;
    browser.run("window.isAway = false; document.dispatchEvent(new Event('visibilitychange'));", &[]).await;
    browser.pass(SOON).await;
    assert!(browser.is_dead().await, "they have just come back");
    browser.pass(LATER).await;
    assert!(!browser.is_dead().await);
}

/// Returns the line that says what was sent, as it is seen, and what screen readers are told.
const SAID: &str = "
    const sent = all('.sent').find(isSeen);
    const inView = sent && sent.getBoundingClientRect().top >= 0 && sent.getBoundingClientRect().bottom <= innerHeight;
    const announced = all('[role=status]').map((status) => clean(status.textContent)).filter(Boolean);
    return [inView ? clean(sent.textContent) : null, announced];";

const NOTHING_SENT: &str = "!all('.sent').some(isSeen)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_sent_is_said_until_the_person_goes_on() {
    let (world, browser) = (World::start(), Browser::start().await);
    let field =
        json!([{ "name": "db", "label": "Which database?", "kind": "choice", "options": databases() }]);
    let ask = |id: u64, title: &str| {
        let mut request = asks(id, title, &field);
        request["params"]["_meta"]["askbridge"]["agent"] = json!("Claude");
        request
    };
    let mut agent = world.agent(&[ask(1, "One"), ask(2, "Two"), ask(3, "Three"), runs(4)]);
    world.until_open(4).await;
    browser.sign_in_on_a_clock(&world).await;
    browser.select("One").await;
    browser.pass(LATER).await;
    browser.keys("2").await;
    browser.chord(Key::Control, char::from(Key::Enter)).await;
    assert_eq!(agent.told(1)["answers"], json!([["lite"]]));
    browser.says("Sent: SQLite to").await;
    let said = browser.run(SAID, &[]).await;
    let line = said[0].as_str().expect("the line is in view").to_owned();
    assert!(line.starts_with("Sent: SQLite to ") && line.ends_with(". Show it"), "{line}");
    assert!(!line.contains("wait"), "what else waits changes, and stands in the list: {line}");
    assert_eq!(said[1], json!([line.trim_end_matches(" Show it")]), "screen readers are told the same");

    browser.pass(9 * LATER).await;
    browser.says("Sent: SQLite to").await;
    browser.pass(LATER).await;
    browser.until("nothing about what was sent", NOTHING_SENT, &[]).await;

    browser.select("Two").await;
    browser.pass(LATER).await;
    browser.keys("r").await;
    browser.step().await;
    browser.chord(Key::Control, char::from(Key::Enter)).await;
    assert_eq!(agent.told(2)["status"], "rejected");
    browser.says("Rejected: Two for ").await;

    // It goes with the question that the person goes on to.
    browser.select("rm -rf build4").await;
    browser.until("nothing about what was sent", NOTHING_SENT, &[]).await;
    browser.pass(LATER).await;
    browser.keys("3").await;
    browser.pass(QUIET).await;
    browser.key(Key::Enter).await;
    assert_eq!(agent.told(4)["outcome"]["optionId"], "no");
    browser.says("Rejected: $ rm -rf build4 for ").await;
    browser.is_clean().await;
}
