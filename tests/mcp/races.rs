//! A responder and a client that cancels at the same time, through the real program.

use serde_json::json;

use crate::answers::machine::{TestMachine, end};
use crate::mcp::client::{McpClient, which};

const RACES: usize = 20;

#[test]
fn answer_and_cancellation_at_once_have_one_outcome() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    for race in 0..RACES {
        let call = client.call("ask_user_question", &which());
        let id = machine.question();
        let answers = machine.start(&["answer", &id, "SQLite"]);
        // Half of the time, the command has had time to start.
        if race % 2 == 0 {
            let ping = client.request("ping", &json!({}));
            client.reply(ping);
        }
        client.notify("notifications/cancelled", &json!({ "requestId": call }));
        let run = end(answers);
        // What the ticket leads to is what the responder was told.
        let again = client.call("wait_for_answer", &json!({ "ticket": id }));
        let (text, structured) = client.result(again);
        let was_given = structured["status"] == "answered";
        assert!(run.code == 0 || !was_given || run.code == 6, "race {race}: {run:?}, {text}");
        assert!(run.code != 0 || was_given, "race {race}: {run:?}, {text}");
    }
}
