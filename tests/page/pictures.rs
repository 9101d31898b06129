//! The pictures of the README, made of the real program: `docs/images/make` copies them. What they show is invented.

use std::{fs, path::PathBuf};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    permissions::permission,
    world::{Agent, World, asks},
};

/// Replies to the two requests of its client, then asks what stands in a file, and takes the answers.
const AGENT: &str = r#"IFS= read -r _; IFS= read -r _; cat "$1"; cat > /dev/null"#;

const SESSION: &str = "0198f3d2";

impl World {
    /// Starts an agent with its name in a folder of its own, which asks this.
    pub(crate) fn named_agent(&self, agent: &str, folder: &str, requests: &[Value]) -> Agent {
        let mut requests = requests.to_vec();
        for request in &mut requests {
            request["params"]["sessionId"] = json!(SESSION);
        }
        let replies = [
            json!({ "jsonrpc": "2.0", "id": 0, "result": { "protocolVersion": 1, "agentInfo": { "name": agent, "version": "1.0" } } }),
            json!({ "jsonrpc": "2.0", "id": 1, "result": { "sessionId": SESSION } }),
        ];
        let mut agent = self.script(AGENT, &[&replies[..], &requests].concat());
        let client = [
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": 1 } }),
            json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": { "cwd": folder, "mcpServers": [] } }),
        ];
        for request in client {
            agent.send(&request);
        }
        agent
    }
}

fn database(id: u64) -> Value {
    let options = json!([
        { "value": "pg", "label": "Postgres", "description": "Relational, with a server of its own that has to be set up and looked after." },
        { "value": "lite", "label": "SQLite", "description": "A file beside the service. Can be replaced later, which takes about a day." },
        { "value": "none", "label": "None of these", "description": "The service keeps no data of its own." },
    ]);
    let field = json!({ "name": "db", "label": "Database", "kind": "choice", "required": true, "options": options, "default": "lite", "other": true });
    asks(id, "Which database should the payments service use?", &json!([field]))
}

fn edit(id: u64) -> Value {
    let old = "use axum::Router;\n\n#[tokio::main]\nasync fn main() {\n    let app = Router::new();\n    serve(app).await;\n}\n";
    let new = old.replace("Router::new();", "Router::new().merge(payments::routes());");
    let mut request = permission(id, "Edit src/main.rs", "edit", &json!({}));
    request["params"]["toolCall"]["content"] =
        json!([{ "type": "diff", "path": "/src/payments/src/main.rs", "oldText": old, "newText": new }]);
    request
}

fn remove(id: u64) -> Value {
    let input = json!({ "command": "rm -rf build dist", "cwd": "/src/payments" });
    permission(id, "Clean the build output before the release", "execute", &input)
}

fn port(id: u64) -> Value {
    asks(
        id,
        "Which port should it listen on?",
        &json!([{ "name": "port", "label": "Port", "kind": "number", "min": 1, "max": 65535 }]),
    )
}

impl Browser {
    /// Makes a picture in light and one in dark colours.
    async fn picture(&self, name: &str) {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pictures");
        fs::create_dir_all(&folder).unwrap();
        for scheme in ["light", "dark"] {
            self.scheme(scheme).await;
            let image = self.cdp("Page.captureScreenshot", json!({ "format": "webp", "quality": 90 })).await;
            let image = BASE64_STANDARD.decode(image["data"].as_str().unwrap()).unwrap();
            fs::write(folder.join(format!("{name}-{scheme}.webp")), image).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_show_questions_of_several_agents_a_change_and_a_phone() {
    let (world, browser) = (World::start(), Browser::start().await);
    let metrics = json!({ "width": 1200, "height": 720, "deviceScaleFactor": 1, "mobile": false });
    browser.cdp("Emulation.setDeviceMetricsOverride", metrics).await;
    browser.cdp("Emulation.setScrollbarsHidden", json!({ "hidden": true })).await;
    let _claude =
        world.named_agent("Claude Code", "/src/payments", &[port(1), port(2), database(3), edit(4)]);
    let open = world.until_open(4).await;
    let id = |place: usize| open[place]["id"].as_str().unwrap();
    world.ok(&["answer", id(0), "8421"]);
    world.ok(&["reject", id(1), "--reason", "the same as before"]);
    let _codex = world.named_agent("Codex", "/src/payments", &[remove(1)]);
    let _kimi = world.named_agent("Kimi", "/src/site", &[port(1)]);
    world.until_open(4).await;
    browser.sign_in(&world).await;
    browser.select("Which database should the payments service use?").await;
    browser.shows("Rejected by the command line").await;
    browser.settle_in().await;
    browser.picture("page").await;
    browser.select("Edit src/main.rs").await;
    browser.settle_in().await;
    browser.picture("change").await;
    browser.phone().await;
    browser.press("All questions").await;
    browser.select("rm -rf build dist").await;
    browser.settle_in().await;
    browser.picture("phone").await;
    browser.is_clean().await;
}
