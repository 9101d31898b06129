//! A question that changes while a person looks at it: what is sent counts only for what was on the screen.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{interval, timeout};

use crate::{
    browser::{Browser, DEADLINE},
    permissions::permission,
    world::{World, asks},
};

/// Asks with its first message, and sends the others once its client says so.
const AGENT: &str = r#"
    head -n 1 "$1"
    while IFS= read -r line; do
        case $line in
            *_test/go*) tail -n +2 "$1" ;;
            *) printf '{"jsonrpc":"2.0","method":"_test/told","params":%s}\n' "$line" ;;
        esac
    done
"#;

fn update(command: &str) -> Value {
    let update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t1", "rawInput": { "command": command } });
    json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "session", "update": update } })
}

impl World {
    /// Waits until the only open question has changed so often.
    async fn until_edition(&self, edition: u32) {
        let looking = async {
            let mut looks = interval(Duration::from_millis(10));
            while self.open().await[0]["edition"] != json!(edition) {
                looks.tick().await;
            }
        };
        timeout(DEADLINE, looking).await.expect("the change in time");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_to_an_earlier_text_is_not_sent_and_the_new_one_is_shown() {
    for is_behind in [false, true] {
        let (world, browser) = (World::start(), Browser::start().await);
        let asks = permission(1, "Build", "execute", &json!({ "command": "cargo build" }));
        let mut agent = world.script(AGENT, &[asks, update("cargo publish")]);
        world.until_open(1).await;
        browser.sign_in(&world).await;
        browser.until("the command", "card() && text(card()).includes('cargo build')", &[]).await;
        browser.decide("Allow").await;
        browser.step().await;
        browser.settle_in().await;
        if is_behind {
            // The news of the change is on its way while the person decides.
            let deaf = "const { connection } = all('askbridge-inbox')[0];
                const send = connection.dispatchEvent.bind(connection);
                connection.dispatchEvent = event => event.type == 'delta' || send(event);";
            browser.run(deaf, &[]).await;
        }
        agent.send(&json!({ "jsonrpc": "2.0", "method": "_test/go" }));
        if is_behind {
            world.until_edition(1).await;
            browser.press("Allow").await;
            browser.shows("It changed while you looked at it").await;
        }
        browser.until("the new command", "text(card()).includes('cargo publish')", &[]).await;
        browser.shows("Changed since it was asked").await;
        assert_eq!(browser.run("return !!step();", &[]).await, json!(false), "what it asked for is no more");
        assert_eq!(world.open().await.len(), 1);
        browser.decide("Allow").await;
        browser.step().await;
        browser.confirm().await;
        assert_eq!(agent.told(1)["outcome"]["optionId"], "once");
        browser.is_clean().await;
    }
}

/// Asks during a turn, and ends the turn without a look at its question once its client says so.
const HASTY: &str = r#"
    while IFS= read -r line; do
        case $line in
            *session/prompt*) head -n 1 "$1" ;;
            *_test/go*) tail -n +2 "$1" ;;
        esac
    done
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_whose_turn_is_over_says_so() {
    let (world, browser) = (World::start(), Browser::start().await);
    let fields = json!([{ "name": "branch", "label": "Branch", "kind": "text" }]);
    let ends = json!({ "jsonrpc": "2.0", "id": 9, "result": { "stopReason": "end_turn" } });
    let mut agent = world.script(HASTY, &[asks(1, "Which branch?", &fields), ends]);
    let prompt = json!({ "sessionId": "session", "prompt": [{ "type": "text", "text": "Release it" }] });
    agent.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "session/prompt", "params": prompt }));
    world.until_open(1).await;
    browser.sign_in(&world).await;
    browser.select("Which branch?").await;
    agent.send(&json!({ "jsonrpc": "2.0", "method": "_test/go" }));
    browser.shows("Its turn is over: the agent may not read an answer").await;
    browser.is_clean().await;
}
