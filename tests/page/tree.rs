//! The accessibility tree of each kind of field: what a screen reader is told of it.

use serde_json::{Value, json};

use crate::{
    browser::Browser,
    fields::{databases, options},
    permissions::runs,
    world::{World, asks},
};

/// Roles that only group or repeat what is said by others.
const SILENT: [&str; 11] = [
    "generic",
    "none",
    "paragraph",
    "StaticText",
    "InlineTextBox",
    "LabelText",
    "Legend",
    "ListMarker",
    "strong",
    "emphasis",
    "code",
];

/// States that a screen reader tells.
const STATES: [&str; 9] = [
    "checked",
    "required",
    "invalid",
    "expanded",
    "disabled",
    "pressed",
    "multiline",
    "valuemin",
    "valuemax",
];

/// Returns the tree below the current question: `role "name" (description) = value [states]`.
async fn tree(browser: &Browser) -> Vec<String> {
    let tree = browser.cdp("Accessibility.getFullAXTree", json!({})).await;
    let nodes = tree["nodes"].as_array().unwrap();
    let card = nodes.iter().find(|node| node["role"]["value"] == "article").expect("the question");
    let mut lines = Vec::new();
    walk(nodes, card, &mut lines);
    lines
}

fn walk(nodes: &[Value], node: &Value, lines: &mut Vec<String>) {
    let role = node["role"]["value"].as_str().unwrap_or_default();
    let line = line(node, role);
    // A form or a group without a name is no landmark. Only some versions of Chromium tell of such a form.
    let is_nameless = ["group \"\"", "form \"\""].contains(&&*line);
    if node["ignored"] != true && !SILENT.contains(&role) && !is_nameless {
        lines.push(line);
    }
    for id in node["childIds"].as_array().into_iter().flatten() {
        if let Some(child) = nodes.iter().find(|node| node["nodeId"] == *id) {
            walk(nodes, child, lines);
        }
    }
}

fn line(node: &Value, role: &str) -> String {
    let text = |member: &str| match &node[member]["value"] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut line = format!("{role} {:?}", text("name"));
    if !text("description").is_empty() {
        line += &format!(" ({})", text("description"));
    }
    if !text("value").is_empty() {
        line += &format!(" = {}", text("value"));
    }
    for property in node["properties"].as_array().into_iter().flatten() {
        let (name, value) = (property["name"].as_str().unwrap(), &property["value"]["value"]);
        let is_said = STATES.contains(&name) && ![json!(false), json!("false"), json!(0)].contains(value);
        if is_said || name == "checked" {
            line += &format!(" {name}={}", value.as_str().map_or(value.to_string(), str::to_owned));
        }
    }
    line
}

/// Asks with each of these fields alone, and returns what is said from the field to the button that sends.
async fn told(fields: &[Value]) -> Vec<String> {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let mut told = Vec::new();
    for (number, field) in fields.iter().enumerate() {
        let title = format!("Question {number}");
        let mut field = field.clone();
        field["name"] = json!("f");
        let _agent = world.agent(&[asks(1, &title, &json!([field]))]);
        browser.select(&title).await;
        let said = tree(&browser).await;
        let start = said.iter().position(|line| line == r#"button "Later""#).unwrap() + 1;
        let end = said.iter().position(|line| line.starts_with("DisclosureTriangle \"Add a note\"")).unwrap();
        told.extend_from_slice(&said[start..end]);
    }
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn choices_are_told_with_their_group_description_and_state() {
    let described = json!([
        { "value": "pg", "label": "Postgres", "description": "Has a server." },
        { "value": "lite", "label": "SQLite" },
    ]);
    let parts = options(&[("a", "Sign-in"), ("b", "Search")]);
    let fields = [
        json!({ "label": "Which database?", "help": "It can be changed later.", "kind": "choice", "options": described, "default": "lite", "required": true }),
        json!({ "label": "Which cache?", "kind": "choice", "options": databases(), "other": true }),
        json!({ "label": "Which parts?", "kind": "choices", "options": parts, "default": ["a"], "max": 1 }),
        json!({ "label": "Really?", "kind": "boolean", "default": true }),
        json!({ "label": "Overwrite?", "kind": "confirm", "yes": "Overwrite it", "no": "Leave it", "required": true }),
    ];
    let expected = [
        r#"group "Which database?" (It can be changed later.)"#,
        r#"radio "Postgres" (Has a server.) checked=false"#,
        r#"radio "SQLite" (Default) checked=true"#,
        r#"group "Which cache?" (Optional)"#,
        r#"radio "Postgres" checked=false"#,
        r#"radio "SQLite" checked=false"#,
        r#"radio "No database" checked=false"#,
        r#"radio "Other" checked=false"#,
        r#"textbox "Your own answer" multiline=true"#,
        r#"group "Which parts?" (Optional. At most 1 option)"#,
        r#"checkbox "Sign-in" (Default) checked=true"#,
        r#"checkbox "Search" checked=false"#,
        r#"group "Really?" (Optional)"#,
        r#"radio "Yes" (Default) checked=true"#,
        r#"radio "No" checked=false"#,
        r#"button "Clear the choice""#,
        r#"group "Overwrite?""#,
        r#"radio "Overwrite it" checked=false"#,
        r#"radio "Leave it" checked=false"#,
    ];
    assert_eq!(told(&fields).await, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_are_told_with_their_label_hint_and_bounds() {
    let fields = [
        json!({ "label": "Name", "help": "Of the project.", "kind": "text", "required": true, "minLength": 2, "maxLength": 20, "default": "shop" }),
        json!({ "label": "Text", "kind": "text", "multiline": true, "placeholder": "Why" }),
        json!({ "label": "Password", "kind": "text", "secret": true, "required": true }),
        json!({ "label": "Address", "kind": "text", "format": "email" }),
        json!({ "label": "Port", "kind": "number", "integer": true, "min": 1, "max": 65535, "default": 8080 }),
        json!({ "label": "Ratio", "kind": "number", "step": 0.25, "required": true }),
        json!({ "label": "Day", "kind": "text", "format": "date" }),
    ];
    let expected = [
        r#"textbox "Name" (Of the project. 2 to 20 characters) = shop required=true"#,
        r#"textbox "Text" (Optional) multiline=true"#,
        r#"textbox "Password" required=true"#,
        r#"button "Show""#,
        r#"textbox "Address" (Optional)"#,
        r#"spinbutton "Port" (Optional. 1 to 65535. A whole number) = 8080 valuemin=1 valuemax=65535"#,
        r#"spinbutton "Ratio" (In steps of 0.25) required=true"#,
    ];
    let told = told(&fields).await;
    assert_eq!(told[..expected.len()], expected);
    // The browser's own parts of a date follow.
    assert_eq!(told[expected.len()], r#"Date "Day" (Optional)"#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_is_told_with_its_field() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let fields = json!([{ "name": "f", "label": "Name", "kind": "text", "required": true }]);
    let _agent = world.agent(&[asks(1, "Set up", &fields)]);
    browser.select("Set up").await;
    browser.settle_in().await;
    browser.submit().await;
    browser.until("an error", "all('.problem').some(isSeen)", &[]).await;
    let said = tree(&browser).await;
    for line in [
        r#"heading "There is a problem""#,
        r#"link "“Name” is required""#,
        r#"textbox "Name" (This is required) invalid=true required=true"#,
    ] {
        assert!(said.iter().any(|said| said == line), "{line} is not in {said:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_permission_is_told_with_what_each_option_does() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let _agent = world.agent(&[runs(1)]);
    browser.select("rm -rf build1").await;
    let said = tree(&browser).await;
    assert_eq!(
        said,
        [
            r#"article "Run this command?""#,
            r#"heading "Run this command?""#,
            r#"button "Later""#,
            r#"DisclosureTriangle "Input of the tool""#,
            r#"button "Always allow Allows it from now on""#,
            r#"button "Allow Allows it this time""#,
            r#"button "Reject Refuses it this time""#,
            r#"button "Reject with a reason""#,
            r#"status """#,
        ]
    );
}
