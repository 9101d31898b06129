//! Changes of files: what is marked and folded of them, the same as in a terminal, and the room that they take.

use serde_json::{Value, json};

use crate::{all_day::edit, browser::Browser, world::World};

/// Shows a change in an element of its own, and returns its rows, with `[…]` around what is marked and folds as `~N`.
const ROWS: &str = "const [diff] = arguments;
    const element = document.createElement('askbridge-question');
    document.body.append(element);
    const question = { questionId: 'q', message: 'Edit', fields: [], purpose: 'permission', risk: 'plain', subject: { kind: 'edit', diffs: [diff] } };
    element.record = { id: 'a-1', bridge: 'a', openedAt: '2026-11-24T12:00:00Z', question };
    const of = (row) => row.matches('.fold') ? `~${parseInt(row.textContent)}`
        : row.querySelector('b').textContent.replace('−', '-') + [...row.lastChild.childNodes].map((node) => node.nodeName === 'MARK' ? `[${node.textContent}]` : node.textContent).join('');
    // A line that stays has a row for each side.
    const rows = all('.row:not(.before), .fold', element).map(of).map((row) => row.replaceAll('][', ''));
    element.remove();
    return rows;";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_that_differ_are_marked_and_unchanged_lines_folded_as_in_a_terminal() {
    let (world, browser) = (World::start(), Browser::start().await);
    browser.sign_in(&world).await;
    let cases: Value = serde_json::from_str(include_str!("../../fixtures/changes.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let diff = json!({ "path": "f", "line": 1, "old": case["old"], "new": case["new"] });
        assert_eq!(browser.run(ROWS, &[diff]).await, case["rows"], "{case}");
    }
    browser.is_clean().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_takes_the_width_of_the_window_and_names_files_from_the_folder_on() {
    let (world, browser) = (World::start(), Browser::start().await);
    let long = "    let address = settings.address.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT)));\n";
    let new = long.replace("127, 0, 0, 1", "0, 0, 0, 0").replace("DEFAULT_PORT", "settings.port");
    let asked = [edit(1, "src/server.rs", long, &new), edit(2, "../etc/hosts", "a\n", "b\n")];
    let _agent = world.named_agent("Claude Code", "/shop", &asked);
    world.until_open(2).await;
    browser.sign_in(&world).await;
    for (width, least, most) in [(390, 300.0, 390.0), (1280, 600.0, 880.0), (1920, 1300.0, 1520.0)] {
        let metrics = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600 });
        browser.cdp("Emulation.setDeviceMetricsOverride", metrics).await;
        browser.select("Edit src/server.rs").await;
        browser.until("the change", "all('.diff', card()).length === 1", &[]).await;
        let wide = browser.run("return all('.diff', card())[0].clientWidth;", &[]).await.as_f64().unwrap();
        assert!(wide > least && wide < most, "{wide} of {width}");
        let path = "return all('.path', card())[0].textContent;";
        assert_eq!(browser.run(path, &[]).await, "src/server.rs");
        for scheme in ["light", "dark"] {
            browser.scheme(scheme).await;
            browser.shot(&format!("change-{width}-{scheme}")).await;
        }
        if width > 1000 {
            browser.choose("Side by side").await;
            browser.shot(&format!("change-{width}-sides")).await;
            browser.choose("Side by side").await;
        }
    }
    browser.select("Edit ../etc/hosts").await;
    browser.until("the other", "text(card()).includes('/shop/../etc/hosts')", &[]).await;
    browser.is_clean().await;
}
