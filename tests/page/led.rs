//! What led to a question, on the page: folded, asked for when it is opened, and text whatever it says.

use serde_json::{Value, json};

use crate::{
    browser::Browser,
    permissions::permission,
    world::{World, asks},
};

/// Says what stands in a file, up to a question, and the rest once its client says so.
const AGENT: &str = r#"
    head -n "$(($(wc -l < "$1") - 1))" "$1"
    while IFS= read -r line; do
        case $line in
            *_test/go*) tail -n 1 "$1" ;;
            *) printf '{"jsonrpc":"2.0","method":"_test/told","params":%s}\n' "$line" ;;
        esac
    done
"#;

fn update(members: &Value) -> Value {
    let params = json!({ "sessionId": "session", "update": members });
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })
}

fn says(text: &str) -> Value {
    let content = json!({ "type": "text", "text": text });
    update(&json!({ "sessionUpdate": "agent_message_chunk", "content": content }))
}

fn calls(id: &str, title: &str, status: &str) -> Value {
    update(&json!({
        "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": "execute", "status": status,
    }))
}

fn which() -> Value {
    let options = json!([{ "value": "a", "label": "Keep it" }, { "value": "b", "label": "Replace it" }]);
    json!([{ "name": "go", "label": "The parser", "kind": "choice", "required": true, "options": options }])
}

impl Browser {
    /// Opens what led to the question, and waits until it is there.
    async fn unfold(&self, text: &str) {
        self.press("What led to this").await;
        self.shows(text).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_led_to_a_question_is_shown_when_it_is_unfolded() {
    let (world, browser) = (World::start(), Browser::start().await);
    let last = "It fails on `a <b>` only: <img src=x onerror=\"document.title='owned'\">";
    let mut agent = world.script(
        AGENT,
        &[
            says("I have looked at the parser. "),
            says("It was written for another grammar.\n\nThe tests say more:"),
            calls("c1", "Read src/parser.rs", "completed"),
            calls("c2", "cargo test -p parser", "failed"),
            says(last),
            asks(1, "Keep the parser, or replace it?", &which()),
            says("Said later."),
        ],
    );
    world.until_open(1).await;
    browser.sign_in(&world).await;
    browser.shows("Keep the parser, or replace it?").await;
    browser.shows("What led to this").await;
    assert!(!browser.card().await.contains("another grammar"), "it is folded");
    let asked = "const { connection } = all('askbridge-inbox')[0];
        const send = connection.call.bind(connection);
        window.asked = [];
        connection.call = (method, ...more) => { window.asked.push(method); return send(method, ...more); };";
    browser.run(asked, &[]).await;
    browser.unfold("It was written for another grammar.").await;
    browser.shows("cargo test -p parser").await;
    browser.shows("failed").await;
    let card = browser.card().await;
    assert!(["<img src=x", "Read src/parser.rs", "completed"].iter().all(|it| card.contains(it)), "{card}");
    assert_eq!(browser.run("return all('.led img, .led b').length;", &[]).await, json!(0), "it is text");
    browser.shot("led").await;
    browser.phone().await;
    browser.shot("led-phone").await;

    // What the agent says later changes nothing, and it is asked for once.
    agent.send(&json!({ "jsonrpc": "2.0", "method": "_test/go" }));
    browser.press("What led to this").await;
    browser.hides("another grammar").await;
    browser.unfold("another grammar").await;
    let asked = browser.run("return window.asked.filter(it => it == 'question_context').length;", &[]).await;
    assert_eq!(asked, json!(1));
    assert!(!browser.card().await.contains("Said later."));
    browser.choose("Replace it").await;
    browser.send().await;
    assert_eq!(agent.told(1)["answers"], json!([["b"]]));
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_permission_shows_what_came_before_it_and_a_question_without_a_past_has_none() {
    let (world, browser) = (World::start(), Browser::start().await);
    let asks_for_it = permission(1, "Build", "execute", &json!({ "command": "cargo build" }));
    let _one = world.agent(&[says("Now I build it."), asks_for_it]);
    world.until_open(1).await;
    let _other = world.agent(&[asks(1, "Which one?", &which())]);
    world.until_open(2).await;
    browser.sign_in(&world).await;
    browser.select("cargo build").await;
    browser.unfold("Now I build it.").await;
    browser.select("Which one?").await;
    browser.shows("Keep it").await;
    assert!(!browser.card().await.contains("What led to this"));
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_asked_for_says_why_and_is_asked_for_again() {
    let (world, browser) = (World::start(), Browser::start().await);
    let _agent = world.agent(&[says("Hm."), asks(1, "Which one?", &which())]);
    world.until_open(1).await;
    browser.sign_in(&world).await;
    browser.shows("What led to this").await;
    let fails = "const { connection } = all('askbridge-inbox')[0];
        const send = connection.call.bind(connection);
        connection.call = (method, ...more) =>
            method == 'question_context' && !window.wasAway
                ? ((window.wasAway = true), Promise.reject(new Error('the bridge is away')))
                : send(method, ...more);";
    browser.run(fails, &[]).await;
    browser.unfold("the bridge is away").await;
    browser.press("What led to this").await;
    browser.unfold("Hm.").await;
    browser.is_clean().await;
}
