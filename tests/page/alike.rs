//! The same again: like permissions are decided together after all of them were shown, and a decision becomes a rule.

use fantoccini::key::Key;
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    permissions::{permission, runs},
    world::World,
};

fn tests(id: u64, name: &str) -> Value {
    permission(id, &format!("Test {name}"), "execute", &json!({ "command": format!("cargo test {name}") }))
}

/// The rows of the list of like permissions.
const LIST: &str = "all('.alike li', card()).map((row) => clean(row.textContent))";
/// The button that takes the second step.
const YES: &str = "all('.step :is(.primary, .danger)', card()).find(isSeen)";

impl Browser {
    async fn likes(&self, count: usize) {
        self.shows(&format!("{count} more like this")).await;
    }
}

async fn decided(world: &World, id: &str) -> Value {
    world.http.get(&format!("/v1/questions/{id}")).await.is(200).json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_like_permissions_are_decided_with_ten_keys() {
    let (world, browser) = (World::start(), Browser::start().await);
    // An agent has at most 64 open questions in a session.
    let asks = |ids: std::ops::RangeInclusive<u64>| {
        ids.map(|id| tests(id, &format!("module_{id}"))).collect::<Vec<_>>()
    };
    let mut agents = [asks(1..=50), asks(51..=100)].map(|requests| world.agent_in_session(&requests));
    world.until_open(100).await;
    browser.sign_in(&world).await;
    browser.until("a question", "!!card()", &[]).await;
    browser.likes(99).await;
    browser.settle_in().await;
    let mut keys = 0;
    let mut press = async |key: char| {
        keys += 1;
        browser.rest().await;
        browser.keys(&key.to_string()).await;
        browser.settle_in().await;
    };
    press('a').await;
    browser.until("the list", &format!("{LIST}.length === 100"), &[]).await;
    browser.shot("alike").await;
    press('1').await;
    press(char::from(Key::Enter)).await;
    browser.step().await;
    // Nothing is allowed before the last of them was in sight.
    while browser.run(&format!("return {YES}?.ariaDisabled === 'true';"), &[]).await == json!(true) {
        assert_eq!(world.open().await.len(), 100);
        press(char::from(Key::Enter)).await;
    }
    browser.shot("alike-step").await;
    press(char::from(Key::Enter)).await;
    for id in 1..=100 {
        let agent = &mut agents[usize::from(id > 50)];
        assert_eq!(agent.told(id)["outcome"]["optionId"], "once", "{id}");
    }
    browser.shows("Allowed 100").await;
    assert!(keys <= 10, "{keys} keys");
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changes_or_ends_meanwhile_is_left_out_and_what_is_dangerous_is_never_in_the_list() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent_in_session(&[
        tests(1, "one"),
        tests(2, "two"),
        tests(3, "three"),
        tests(4, "four; rm -rf src"),
        runs(5),
        tests(6, "--config six"),
    ]);
    let open = world.until_open(6).await;
    let id = |command: &str| {
        let is_it = |record: &&Value| record["question"]["subject"]["command"] == command;
        open.iter().find(is_it).unwrap()["id"].as_str().unwrap().to_owned()
    };
    browser.sign_in(&world).await;
    browser.select("cargo test one").await;
    browser.likes(2).await;
    browser.settle_in().await;
    browser.press("2 more like this").await;
    let expected = json!(["cargo test one", "cargo test two", "cargo test three"]);
    browser
        .until("the list", &format!("JSON.stringify({LIST}) === JSON.stringify(arguments[0])"), &[expected])
        .await;
    world.ok(&["reject", &id("cargo test two")]);
    browser.shows("Left out: it has changed, or is over").await;
    browser.decide("Allow all 2").await;
    browser.step().await;
    browser.settle_in().await;
    browser.confirm().await;
    assert_eq!(agent.told(1)["outcome"]["optionId"], "once");
    assert_eq!(agent.told(2)["outcome"]["optionId"], "no");
    assert_eq!(agent.told(3)["outcome"]["optionId"], "once");
    // What can do harm waits.
    world.until_open(3).await;
    browser.select("rm -rf build5").await;
    browser.hides("more like this").await;
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn like_permissions_are_rejected_together_or_left_alone() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent_in_session(&[tests(1, "one"), tests(2, "two")]);
    world.until_open(2).await;
    browser.sign_in(&world).await;
    browser.select("cargo test one").await;
    browser.likes(1).await;
    browser.settle_in().await;
    browser.press("1 more like this").await;
    browser.decide("Back").await;
    browser.until("the options of one", &format!("{LIST}.length === 0"), &[]).await;
    browser.press("1 more like this").await;
    browser.decide("Reject all 2").await;
    browser.step().await;
    assert_eq!(world.open().await.len(), 2, "one button rejects none of them");
    browser.settle_in().await;
    browser.confirm().await;
    for id in [1, 2] {
        assert_eq!(agent.told(id)["outcome"]["optionId"], "no");
    }
    browser.shows("Rejected 2").await;
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_becomes_a_rule_with_one_key_and_a_confirmation() {
    let (world, browser) = (World::start(), Browser::start().await);
    world.sets("# mine");
    let file = world.folder.path().join("askbridge/config.toml");
    let read = || std::fs::read_to_string(&file).unwrap();
    let before = read();
    let mut agent = world.agent_in_session(&[tests(1, "one"), runs(2)]);
    world.until_open(2).await;
    browser.sign_in(&world).await;
    browser.select("cargo test one").await;
    browser.decide("Allow").await;
    browser.step().await;
    browser.settle_in().await;
    browser.confirm().await;
    agent.told(1);
    browser.shows("Make it a rule").await;
    browser.rest().await;
    browser.keys("m").await;
    browser.shows("command = \"cargo test *\"").await;
    browser.shows("Of the last").await;
    browser.shows("it would have allowed 1").await;
    browser.shot("rule").await;
    assert_eq!(read(), before, "it is only shown");
    browser.press("Write it to my settings").await;
    browser.shows("Written to").await;
    let text = read();
    assert!(
        text.starts_with(&format!("{before}\n[[rule]]\nname = \"cargo test * in "))
            && text.ends_with("then = \"allow\"\n"),
        "{text}"
    );
    browser.press("Close").await;
    // Of what can do harm, there is none.
    browser.select("rm -rf build2").await;
    browser.decide("Allow").await;
    browser.step().await;
    browser.settle_in().await;
    browser.confirm().await;
    agent.told(2);
    browser.press("Make it a rule").await;
    browser.shows("No rule can be made of it: it is dangerous").await;
    assert_eq!(read(), text);
    browser.is_clean().await;
}

/// Only the page of this machine's user has these methods: no program that shows the token, and no socket.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_program_writes_a_rule() {
    let world = World::start();
    let _agent = world.agent_in_session(&[tests(1, "one")]);
    let open = world.until_open(1).await;
    let id = open[0]["id"].as_str().unwrap();
    assert!(decided(&world, id).await["settlement"].is_null());
    for method in ["question_like", "rule_propose", "rule_write"] {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "id": id, "toml": "" } });
        let reply = world.http.post("/rpc", &call.to_string()).await.is(200).json();
        assert_eq!(reply["error"]["code"], -32601, "{reply}");
    }
}
