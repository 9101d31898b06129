//! Every kind of field: what a person does with it, and what the agent gets.

use serde_json::{Value, json};

use crate::{
    browser::Browser,
    world::{World, asks},
};

/// What a person does.
pub(crate) enum Act {
    Choose(&'static str),
    Fill(&'static str, &'static str),
    Press(&'static str),
}

use Act::{Choose, Fill, Press};

/// A field, what a person does with it, and what the agent gets: the answer, and the notes.
#[derive(Clone)]
struct Case {
    field: Value,
    acts: &'static [Act],
    answer: &'static [&'static str],
    notes: Value,
}

fn case(field: Value, acts: &'static [Act], answer: &'static [&'static str]) -> Case {
    Case { field, acts, answer, notes: Value::Null }
}

/// Returns options with these values and labels.
pub(crate) fn options(options: &[(&str, &str)]) -> Value {
    options.iter().map(|(value, label)| json!({ "value": value, "label": label })).collect()
}

pub(crate) fn databases() -> Value {
    options(&[("pg", "Postgres"), ("lite", "SQLite"), ("none", "No database")])
}

fn choices() -> Vec<Case> {
    let parts = options(&[("a", "Sign-in"), ("b", "Search"), ("c", "Export")]);
    let letters = options(&[("a", "Alpha"), ("b", "Beta")]);
    let mut noted = case(
        json!({ "label": "Which licence?", "kind": "choice", "options": databases() }),
        &[Choose("Postgres"), Press("Add a note"), Fill("Note", "only here")],
        &["pg"],
    );
    noted.notes = json!({ "0": "only here" });
    vec![
        case(
            json!({ "label": "Which database?", "kind": "choice", "options": databases() }),
            &[Choose("SQLite")],
            &["lite"],
        ),
        case(
            json!({ "label": "Which cache?", "kind": "choice", "options": databases(), "other": true }),
            &[Choose("Other"), Fill("Your own answer", "Redis")],
            &["Redis"],
        ),
        case(
            json!({ "label": "Which queue?", "kind": "choice", "options": databases(), "default": "pg" }),
            &[],
            &["pg"],
        ),
        case(
            json!({ "label": "Which parts?", "kind": "choices", "options": parts }),
            &[Choose("Sign-in"), Choose("Export")],
            &["a", "c"],
        ),
        case(
            json!({ "label": "Which more?", "kind": "choices", "options": letters, "other": true, "default": ["a"] }),
            &[Choose("Alpha"), Choose("Beta"), Choose("Other"), Fill("Your own answer", "Gamma")],
            &["b", "Gamma"],
        ),
        noted,
    ]
}

fn entries() -> Vec<Case> {
    vec![
        case(json!({ "label": "Project name", "kind": "text" }), &[Fill("Project name", "shop")], &["shop"]),
        case(
            json!({ "label": "Commit text", "kind": "text", "multiline": true }),
            &[Fill("Commit text", "One\nTwo")],
            &["One\nTwo"],
        ),
        case(
            json!({ "label": "Contact", "kind": "text", "format": "email" }),
            &[Fill("Contact", "ada@example.org")],
            &["ada@example.org"],
        ),
        case(
            json!({ "label": "Home page", "kind": "text", "format": "uri", "default": "https://example.org/" }),
            &[],
            &["https://example.org/"],
        ),
        case(
            json!({ "label": "Release day", "kind": "text", "format": "date" }),
            &[Fill("Release day", "12242026")],
            &["2026-12-24"],
        ),
        case(
            json!({ "label": "Password", "kind": "text", "secret": true }),
            &[Fill("Password", "s3cret")],
            &["s3cret"],
        ),
        case(
            json!({ "label": "Port", "kind": "number", "integer": true, "min": 1, "max": 65535, "default": 8080 }),
            &[Fill("Port", "9000")],
            &["9000"],
        ),
        case(
            json!({ "label": "Ratio", "kind": "number", "step": 0.25 }),
            &[Fill("Ratio", "-1.5")],
            &["-1.5"],
        ),
        case(json!({ "label": "Use TypeScript?", "kind": "boolean" }), &[Choose("No")], &["false"]),
        case(json!({ "label": "Keep the files?", "kind": "boolean", "default": true }), &[], &["true"]),
        case(
            json!({ "label": "Overwrite?", "kind": "confirm", "yes": "Overwrite it", "no": "Leave it" }),
            &[Choose("Overwrite it")],
            &["Overwrite it"],
        ),
    ]
}

fn named(mut cases: Vec<Case>) -> Vec<Case> {
    for (number, case) in cases.iter_mut().enumerate() {
        case.field["name"] = json!(format!("field{number}"));
        case.field["required"] = json!(true);
    }
    cases
}

impl Browser {
    pub(crate) async fn act(&self, acts: &[Act]) {
        for act in acts {
            match act {
                Choose(name) => self.choose(name).await,
                Fill(name, text) => self.fill(name, text).await,
                Press(name) => self.press(name).await,
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_agent_gets_what_the_person_answers_for_every_kind_of_field() {
    let (world, browser) = (World::start(), Browser::start().await);
    let cases = named([choices(), entries()].concat());
    let ask = |(number, case): (usize, &Case)| {
        let label = case.field["label"].as_str().unwrap();
        asks(number as u64, label, &json!([case.field]))
    };
    let requests: Vec<_> = cases.iter().enumerate().map(ask).collect();
    let mut agent = world.agent(&requests);
    browser.sign_in(&world).await;
    for (number, case) in cases.iter().enumerate() {
        browser.select(case.field["label"].as_str().unwrap()).await;
        browser.act(case.acts).await;
        browser.send().await;
        let told = agent.told(number as u64);
        assert_eq!(
            (&told["status"], &told["answers"]),
            (&json!("answered"), &json!([case.answer])),
            "{told}"
        );
        assert_eq!(told["_meta"]["askbridge"]["notes"], case.notes, "{told}");
    }
    browser.shows("Nothing waits.").await;
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_with_many_fields_is_one_answer() {
    let (world, browser) = (World::start(), Browser::start().await);
    // The first choice alone: the others have options of the same names.
    let cases = named(choices().into_iter().take(1).chain(entries()).collect());
    let fields: Vec<_> = cases.iter().map(|case| &case.field).collect();
    let mut agent = world.agent(&[asks(1, "Set the project up", &json!(fields))]);
    browser.sign_in(&world).await;
    browser.select("Set the project up").await;
    for case in &cases {
        browser.act(case.acts).await;
    }
    browser.send().await;
    let told = agent.told(1);
    let answers: Vec<_> = cases.iter().map(|case| case.answer).collect();
    assert_eq!((&told["status"], &told["answers"]), (&json!("answered"), &json!(answers)), "{told}");
    browser.is_clean().await;
}

/// Agents without a model, which ask as those of each vendor do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_mock_agents_go_on_with_what_was_answered() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    for dialect in ["claude", "codex", "cursor", "sandboxagent"] {
        let mut agent = world.mock_agent(dialect);
        browser
            .until(
                "a question",
                "card()?.record.state === 'open' || card()?.record && !card().record.settlement",
                &[],
            )
            .await;
        browser.choose("Option B").await;
        browser.send().await;
        agent.says("You chose: ");
        agent.leave();
        browser.until("no question", "!card() || card().record.settlement", &[]).await;
    }
    browser.is_clean().await;
}

/// What is left out, null, and a value are different answers for a field of a form that may be null.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_that_may_be_null_is_null_left_out_or_has_a_value() {
    const NULL: Act = Choose("No value (null)");
    let text = json!({ "type": "string", "default": "main" });
    let number = json!({ "type": "integer", "default": 5 });
    let (colour, flag) = (json!({ "enum": ["red", "blue"] }), json!({ "type": "boolean" }));
    let cases: [(&Value, bool, &[Act], Value); 9] = [
        (&text, false, &[], json!({ "x": "main" })),
        (&text, false, &[NULL], json!({ "x": null })),
        (&text, false, &[Fill("X", "")], json!({})),
        (&text, false, &[NULL, NULL], json!({})),
        (&text, true, &[Fill("X", "")], json!({ "x": null })),
        (&number, false, &[NULL], json!({ "x": null })),
        (&number, false, &[NULL, Fill("X", "7")], json!({ "x": 7 })),
        (&colour, false, &[Choose("red"), NULL], json!({ "x": null })),
        (&flag, false, &[NULL, Choose("Yes")], json!({ "x": true })),
    ];
    let (world, browser) = (World::start(), Browser::start().await);
    let ask = |(number, (schema, required, ..)): (usize, &(&Value, bool, &[Act], Value))| {
        let mut property = json!({ "title": "X", "anyOf": [schema, { "type": "null" }] });
        property["default"] = schema["default"].clone();
        let required = if *required { json!(["x"]) } else { json!([]) };
        let schema = json!({ "type": "object", "properties": { "x": property }, "required": required });
        let params =
            json!({ "sessionId": "s", "message": format!("Form {number}"), "requestedSchema": schema });
        json!({ "jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": params })
    };
    let requests: Vec<_> = cases.iter().enumerate().map(ask).collect();
    let mut agent = world.agent(&requests);
    browser.sign_in(&world).await;
    for (number, (schema, required, acts, expected)) in cases.iter().enumerate() {
        browser.select(&format!("Form {number}")).await;
        browser.act(acts).await;
        browser.settle_in().await;
        browser.submit().await;
        if *expected == json!({}) || (*required && expected["x"].is_null()) {
            browser.settle_in().await;
            browser.press("Send it empty").await;
        }
        let told = agent.told(number as u64);
        assert_eq!(told, json!({ "action": "accept", "content": expected }), "{number}: {schema}");
    }
    browser.is_clean().await;
}
