//! Each keyword of a schema, with what a person sees, and what the asker gets for what is typed: `fixtures/forms/shapes.jsonl`,
//! and the same as the table of `docs/forms.md`. `UPDATE=1 cargo test --test suites forms::` writes both.

use std::{fmt::Write, fs, path::Path};

use serde_json::{Value as Json, json};

use crate::{forms::reading::Form, support::golden};

const FIXTURE: &str = "fixtures/forms/shapes.jsonl";
const PAGE: &str = "docs/forms.md";
const BEGIN: &str = "<!-- shapes -->\n";
const END: &str = "<!-- end of shapes -->\n";

fn rows() -> Vec<Json> {
    let text = fs::read_to_string(path(FIXTURE)).expect("the table");
    text.lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

fn path(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns the row with what is seen and got.
fn tried(row: &Json) -> Json {
    let form = Form::of(&row["schema"]);
    let answers = row["answers"].as_array().expect("answers").iter().map(|answer| {
        let texts: Vec<&str> =
            answer[0].as_array().expect("texts").iter().map(|text| text.as_str().expect("a text")).collect();
        match form.typed(&texts) {
            Ok(content) => json!([texts, { "gets": content }]),
            Err(told) => json!([texts, { "told": told }]),
        }
    });
    let answers: Vec<_> = answers.collect();
    json!({ "shape": row["shape"], "schema": row["schema"], "sees": form.seen(), "answers": answers })
}

/// Writes a row with its members in one order, however `serde_json` is built.
fn line(row: &Json) -> String {
    let member = |name: &str| format!("{}:{}", json!(name), sorted(&row[name]));
    format!("{{{}}}\n", ["shape", "schema", "sees", "answers"].map(member).join(","))
}

fn sorted(json: &Json) -> String {
    match json {
        Json::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let members =
                members.into_iter().map(|(name, value)| format!("{}:{}", json!(name), sorted(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Json::Array(entries) => format!("[{}]", entries.iter().map(sorted).collect::<Vec<_>>().join(",")),
        json => json.to_string(),
    }
}

fn table(rows: &[Json]) -> String {
    let code = |text: &str| if text.is_empty() { "nothing".to_owned() } else { format!("`{}`", cell(text)) };
    let mut table =
        "| schema | a person sees | typed, and what the asker gets |\n| --- | --- | --- |\n".to_owned();
    for row in rows {
        let seen: Vec<_> =
            row["sees"].as_array().expect("fields").iter().filter_map(Json::as_str).map(cell).collect();
        let answers = row["answers"].as_array().expect("answers").iter().map(|answer| {
            let typed = answer[0].as_array().expect("texts").iter().filter_map(Json::as_str).map(code);
            let typed = typed.collect::<Vec<_>>().join(", ");
            match (&answer[1]["told"], &answer[1]["gets"]) {
                (Json::String(told), _) => format!("{typed}: refused, “{}”", cell(told)),
                (_, Json::String(action)) => format!("{typed}: {action}"),
                (_, content) => format!("{typed}: `{}`", cell(&sorted(content))),
            }
        });
        let answers: Vec<_> = answers.collect();
        let shape = cell(row["shape"].as_str().expect("a shape"));
        writeln!(table, "| {shape} | {} | {} |", seen.join("<br>"), answers.join("<br>")).expect("a text");
    }
    table
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[test]
fn every_shape_is_seen_and_answered_as_the_table_says() {
    let rows: Vec<_> = rows().iter().map(tried).collect();
    let fixture: String = rows.iter().map(line).collect();
    golden::is(&path(FIXTURE), &fixture);
    golden::is_between(&path(PAGE), BEGIN, END, &table(&rows));
}
