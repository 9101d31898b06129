//! Questions of another machine on the page: where they stand, how they are found, and that they are answered there.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    browser::{Browser, shots},
    permissions::runs,
    world::{World, asks},
};

/// A command that fails, and says why in a way that means harm.
const HOSTILE: &str =
    "printf '<img src=x onerror=\"top.leaked=1\">\\033[2J\\342\\200\\256 no such box\\n' >&2; exit 1";

/// The headings of the projects of what waits.
const HEADINGS: &str = "all('.list section:not(.past) h3 bdi').map((heading) => heading.textContent)";

/// The titles of the rows that wait, each behind what stands first below it: its agent, since the heading has its machine.
const ROWS: &str = "all('.list section:not(.past) .row').map((row) => `${all('.meta > *', row)[0].textContent}: ${all('.title', row)[0].textContent}`)";

impl Browser {
    async fn machines_shot(&self, name: &str) {
        for scheme in ["light", "dark"] {
            self.scheme(scheme).await;
            let image = self.command("a screenshot", self.client.screenshot()).await;
            fs::write(shots().join(format!("machines-{name}-{scheme}.png")), image).unwrap();
        }
    }
}

/// Returns a question of a program in a project that both machines have.
fn deploys() -> Value {
    let field = json!({ "name": "go", "label": "Deploy the shop?", "kind": "boolean" });
    json!({ "agent": "deployer", "project": "/src/shop", "fields": [field], "timeoutMs": 3_600_000 })
}

/// What reaches the other machine, unless it is switched off. Its arguments are a folder, and the command.
const SWITCH: &str = r#"[ ! -e "$0/off" ] && echo $$ > "$0/process" && exec "$@""#;

/// Returns this machine, whose page shows the questions of the other one too, and the folder of the switch.
fn two_machines() -> (World, World, TempDir) {
    let (mut here, there) = (World::start(), World::start());
    let switch = tempfile::tempdir().unwrap();
    let dial = there.dial();
    let dial = dial.iter().map(String::as_str);
    let command = ["sh", "-c", SWITCH, switch.path().to_str().unwrap()];
    here.stop();
    here.add_machine("dev-box", &command.into_iter().chain(dial).collect::<Vec<_>>());
    here.add_machine("lab", &["sh", "-c", HOSTILE]);
    here.restart();
    (here, there, switch)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_of_another_machine_has_its_name_and_is_found_and_answered() {
    let ((here, there, _switch), browser) = (two_machines(), Browser::start().await);
    let _here = here.ask(&deploys());
    here.until_open(1).await;
    let asked = there.ask(&deploys());
    there.until_open(1).await;
    let database = json!([{ "name": "db", "label": "Database", "kind": "text" }]);
    let mut agent = there.agent(&[asks(1, "Which database?", &database), runs(2)]);
    let open = here.until_open(4).await;
    browser.sign_in(&here).await;
    let expected = json!(["shop", "dev-box: shop", "dev-box: No project"]);
    let holds = format!("JSON.stringify({HEADINGS}.sort()) === JSON.stringify(arguments[0].sort())");
    browser.until("a group for each project of each machine", &holds, &[expected]).await;
    let rows = json!([
        "deployer: Deploy the shop?",
        "deployer: Deploy the shop?",
        "sh: $ rm -rf build2",
        "sh: Which database?",
    ]);
    let holds = format!("JSON.stringify({ROWS}.sort()) === JSON.stringify(arguments[0])");
    browser.until("rows that do not repeat the machine of their heading", &holds, &[rows]).await;
    browser.shows("lab is not connected: <img src=x onerror=\"top.leaked=1\">␛[2J").await;
    browser.select("Which database?").await;
    browser.settle_in().await;
    assert!(browser.card().await.starts_with("dev-box"), "{}", browser.card().await);
    browser.shows(" on dev-box").await;
    browser.machines_shot("wide").await;

    // The name is in the address, and so is the question that is shown.
    browser.open(&here.address("/#search=dev-box")).await;
    browser.refresh().await;
    browser.until("those of the other machine", &format!("{ROWS}.length === 3"), &[]).await;
    browser.shows("3 of 4 found").await;
    browser.select("Which database?").await;
    let holds = "new URLSearchParams(location.hash.slice(1)).get('question')?.startsWith('dev-box/')";
    browser.until("its ID", holds, &[]).await;
    browser.refresh().await;
    browser.until("the same question", "currentTitle() === 'Which database?'", &[]).await;
    browser.fill("Database", "Postgres").await;
    browser.send().await;
    assert_eq!(agent.told(1)["answers"], json!([["Postgres"]]));

    // `askbridge open` leads to one, and over REST the slash in its ID is encoded.
    let program = open.iter().find(|record| {
        record["id"].as_str().unwrap().contains("/") && record["question"]["project"] == "/src/shop"
    });
    let id = program.unwrap()["id"].as_str().unwrap();
    browser.goto("about:blank").await;
    browser.open(here.ok(&["open", "--print", id]).trim()).await;
    browser.until("its question", "card()?.record.id === arguments[0]", &[json!(id)]).await;
    let path = format!("/v1/questions/{}", id.replace('/', "%2F"));
    assert_eq!(here.http.get(&path).await.is(200).json()["id"], json!(id));
    here.http.post(&format!("{path}/reply"), r#"{"values":{"go":true}}"#).await.is(204);
    assert_eq!(asked.await.unwrap().is(200).json()["outcome"]["values"], json!({ "go": true }));
    browser.until("its end", "text().includes('Answered by HTTP')", &[]).await;
    assert_eq!(browser.run("return window.leaked;", &[]).await, Value::Null);
    browser.phone().await;
    browser.refresh().await;
    browser.until("the list or a question", "all('button.row').some(isSeen) || card()", &[]).await;
    browser.machines_shot("phone").await;
    browser.is_clean().await;
}

/// What is said of a machine changes without a question that would say so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_that_is_gone_is_named_until_it_is_back() {
    let ((here, _there, switch), browser) = (two_machines(), Browser::start().await);
    browser.sign_in(&here).await;
    browser.shows("lab is not connected").await;
    browser.hides("dev-box is not connected").await;
    fs::write(switch.path().join("off"), "").unwrap();
    let process = fs::read_to_string(switch.path().join("process")).unwrap();
    kill_process(Pid::from_raw(process.trim().parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    browser.shows("dev-box is not connected").await;
    fs::remove_file(switch.path().join("off")).unwrap();
    browser.hides("dev-box is not connected").await;
    browser.is_clean().await;
}

/// A page without a word about it would look as if nothing waited.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fleet_without_its_broker_and_a_history_that_cannot_be_had_are_named() {
    let (mut here, browser) = (World::start(), Browser::start().await);
    let folder = here.folder.path().join("creds");
    here.ok(&["fleet", "credentials", folder.to_str().unwrap(), "--person", "ana"]);
    here.stop();
    here.add_machine("lab", &["sh", "-c", HOSTILE]);
    let credentials = folder.join("ana.json");
    here.sets(&format!("[fleet]\nurl = \"nats://127.0.0.1:1\"\ncredentials = {credentials:?}"));
    here.restart();
    browser.sign_in(&here).await;
    let why = "the broker cannot be reached: Connection refused (os error 111)";
    browser.shows(&format!("Questions may be missing: the fleet is not connected: {why}")).await;
    browser.shows("lab is not connected: <img").await;
    browser.shows("Nothing waits in the inboxes that replied.").await;
    browser.hides("Nothing waits.").await;
    browser.shows("The history of lab is missing: <img").await;
    browser.machines_shot("missing").await;
    browser.is_clean().await;
}
