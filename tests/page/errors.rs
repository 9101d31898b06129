//! Answers that do not fit: said beside the field and in a summary, and nothing that was typed is lost.

use serde_json::{Value, json};

use crate::{
    browser::Browser,
    fields::options,
    world::{World, asks},
};

fn fields() -> Value {
    json!([
        { "name": "n", "label": "Project name", "kind": "text", "required": true, "minLength": 3 },
        { "name": "p", "label": "Port", "kind": "number", "integer": true, "min": 1, "max": 100, "required": true },
        { "name": "c", "label": "Which parts?", "kind": "choices", "options": options(&[("a", "Sign-in"), ("b", "Search"), ("c", "Export")]), "max": 2, "required": true },
        { "name": "k", "label": "Key", "kind": "text", "pattern": "^[a-z]+$" },
    ])
}

/// Returns the errors beside the fields, and the links of the summary, which has the focus.
async fn errors(browser: &Browser) -> (Vec<String>, Vec<String>) {
    let seen = browser
        .until(
            "a summary of what is wrong that has the focus",
            "(() => {
                const summary = all('.problem').find((element) => isSeen(element) && all('li', element).length);
                if (!summary || !(summary === focused() || summary.contains(focused()))) return null;
                const beside = all('.error').filter(isSeen).map((element) => clean(element.textContent));
                return [beside, all('a', summary).map((element) => clean(element.textContent))];
            })()",
            &[],
        )
        .await;
    let list = |list: &Value| crate::person::texts(list).into_iter().map(str::to_owned).collect();
    (list(&seen[0]), list(&seen[1]))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_said_beside_each_field_and_in_a_summary() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent(&[asks(1, "Set up", &fields())]);
    browser.sign_in(&world).await;
    browser.select("Set up").await;
    browser.settle_in().await;
    browser.submit().await;
    let (beside, summary) = errors(&browser).await;
    assert_eq!((beside.len(), summary.len()), (3, 3), "{beside:?} {summary:?}");

    browser.fill("Project name", "ab").await;
    browser.fill("Port", "5.5").await;
    for part in ["Sign-in", "Search", "Export"] {
        browser.choose(part).await;
    }
    // The page knows the bounds itself, and sends nothing.
    browser.run("card().addEventListener('askbridge-answer', () => (window.isSent = true));", &[]).await;
    browser.submit().await;
    let (beside, summary) = errors(&browser).await;
    assert_eq!((beside.len(), summary.len()), (3, 3), "{beside:?} {summary:?}");
    assert!(beside.iter().any(|error| error.contains("at least 3 characters")), "{beside:?}");
    assert!(beside.iter().any(|error| error.contains("whole number")), "{beside:?}");
    assert!(beside.iter().any(|error| error.contains("at most 2")), "{beside:?}");

    assert_eq!(browser.run("return window.isSent;", &[]).await, Value::Null);

    // A link leads to its field.
    browser
        .run("all('.problem a').find((link) => link.textContent.includes('Project name')).click();", &[])
        .await;
    browser.until("the focus on the field", "name(focused()).startsWith('Project name')", &[]).await;

    browser.fill("Project name", "shop").await;
    browser.fill("Port", "80").await;
    browser.choose("Export").await;
    // Only the server matches patterns.
    browser.fill("Key", "No 1").await;
    browser.submit().await;
    browser.until("one error", "all('.error').filter(isSeen).length === 1", &[]).await;
    let (beside, summary) = errors(&browser).await;
    assert!(beside[0].contains("^[a-z]+$") && summary.len() == 1, "{beside:?} {summary:?}");
    assert_eq!(world.open().await.len(), 1);

    browser.fill("Key", "abc").await;
    browser.send().await;
    assert_eq!(agent.told(1)["answers"], json!([["shop"], ["80"], ["a", "b"], ["abc"]]));
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_skipped_with_a_reason() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut agent = world.agent(&[asks(1, "Set up", &fields())]);
    browser.sign_in(&world).await;
    browser.select("Set up").await;
    browser.settle_in().await;
    browser.press("Reject this question").await;
    browser.fill("Reason", "not now").await;
    browser.confirm().await;
    let told = agent.told(1);
    assert_eq!(
        told,
        json!({ "status": "rejected", "_meta": { "askbridge": { "reason": "user", "remark": "not now" } } })
    );
    browser.shows("not now").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_with_a_deadline_gets_more_time() {
    let (world, browser) = (World::start(), Browser::start().await);
    let field = json!({ "name": "go", "label": "Deploy?", "required": true, "kind": "boolean" });
    let _asked = world.ask(&json!({ "agent": "deployer", "fields": [field], "timeoutMs": 300_000 }));
    browser.sign_in(&world).await;
    browser.select("Deploy?").await;
    browser.shows(" left").await;
    let before = world.open().await[0]["deadline"].clone();
    browser.settle_in().await;
    browser.press("More time").await;
    browser.until("the new deadline", "/1[45] min left|1[45]:/.test(text(card()))", &[]).await;
    let after = world.open().await[0]["deadline"].clone();
    assert!(after.as_str() > before.as_str(), "{before} {after}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dangerous_question_is_confirmed_by_typing() {
    let (world, browser) = (World::start(), Browser::start().await);
    let mut request = asks(
        1,
        "Drop the table?",
        &json!([{ "name": "go", "label": "Drop the table?", "kind": "boolean", "required": true }]),
    );
    request["params"]["_meta"]["askbridge"]["dangerous"] = json!(true);
    let mut agent = world.agent(&[request]);
    browser.sign_in(&world).await;
    browser.select("Drop the table?").await;
    browser.choose("Yes").await;
    browser.settle_in().await;
    browser.submit().await;
    browser.step().await;
    assert_eq!(world.open().await.len(), 1, "one button does not answer what is dangerous");
    browser.fill("Type", "no").await;
    browser.submit().await;
    browser.shows("Type yes, or go back").await;
    browser.fill("Type", "yes").await;
    browser.confirm().await;
    assert_eq!(agent.told(1)["answers"], json!([["true"]]));
}
