//! The recorded permissions of released agents, in `fixtures/live/permissions`: what each risks and which rule decides it,
//! in `risks.txt`, by the rules of `rules.toml`. `tests/native/run` records them.
//! `UPDATE=1 cargo test --test suites live::` writes what comes out.

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use askbridge_core::{
    acp::{Bridge, Config},
    desk::{Notice, Record},
    engine::{self, Output, Peer, Protocol},
    guard::Files,
    hosted::{ClaudeBridge, CodexBridge},
    question::Purpose,
};
use askbridge_settings::{
    Settings, SettingsFile, Sources,
    rule::{self, Rule},
};
use serde_json::{Value as Json, json};

use crate::support::{
    golden,
    stage::{Out, Stage},
};

/// The folder of each recorded session.
const PROJECT: &str = "/people/ada/shop";

/// The agents, by the names of their files.
pub(super) const AGENTS: [&str; 9] = [
    "claude",
    "claude-acp",
    "codex",
    "codex-acp",
    "copilot-acp",
    "gemini-acp",
    "opencode-acp",
    "qwen",
    "qwen-acp",
];

pub(super) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/live/permissions").join(name)
}

pub(super) fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a readable file")
}

/// Returns the permissions of an agent, as its bridge tells of them.
pub(super) fn asked(agent: &str) -> Vec<Record> {
    let text = read(&fixture(&format!("{agent}.jsonl")));
    let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let config = Config::default();
    match agent {
        _ if agent.ends_with("-acp") => {
            let session = lines.iter().find_map(|line| line["params"]["sessionId"].as_str());
            let opening = [
                (
                    Peer::Client,
                    json!({ "id": "0", "method": "session/new", "params": { "cwd": PROJECT, "mcpServers": [] } }),
                ),
                (Peer::Agent, json!({ "id": "0", "result": { "sessionId": session } })),
            ];
            let opening = opening.map(|(from, mut line)| {
                line["jsonrpc"] = "2.0".into();
                (from, line)
            });
            let denied = |line: &Json| json!({ "jsonrpc": "2.0", "id": line["id"], "result": { "outcome": { "outcome": "cancelled" } } });
            play(Bridge::new(config), &opening, &lines, denied)
        }
        "codex" => {
            let thread = lines.iter().find_map(|line| line["params"]["threadId"].as_str());
            let opening = [
                (Peer::Client, json!({ "id": "0", "method": "thread/start", "params": { "cwd": PROJECT } })),
                (Peer::Agent, json!({ "id": "0", "result": { "thread": { "id": thread }, "cwd": PROJECT } })),
            ];
            let denied = |line: &Json| json!({ "id": line["id"], "result": { "decision": "decline", "action": "decline", "content": null } });
            play(CodexBridge::new(config.common), &opening, &lines, denied)
        }
        _ => {
            let init = json!({ "type": "system", "subtype": "init", "cwd": PROJECT, "session_id": "s" });
            let denied = |line: &Json| {
                let response = json!({ "behavior": "deny", "message": "No." });
                json!({ "type": "control_response", "response": {
                    "subtype": "success", "request_id": line["request_id"], "response": response,
                } })
            };
            play(ClaudeBridge::new(config.common), &[(Peer::Agent, init)], &lines, denied)
        }
    }
}

/// Plays the lines of an agent, and denies whatever it asks. Each line that asks opens exactly one permission.
fn play<P: Protocol>(
    bridge: engine::Bridge<P>,
    opening: &[(Peer, Json)],
    lines: &[Json],
    denied: impl Fn(&Json) -> Json,
) -> Vec<Record> {
    let mut stage = Stage::new(bridge);
    for (from, line) in opening {
        stage.line(*from, &line.to_string());
    }
    let mut records = Vec::new();
    for line in lines {
        let opened: Vec<_> =
            stage.line(Peer::Agent, &line.to_string()).into_iter().filter_map(opened).collect();
        let is_asked = line.get("id").is_some() || line.get("request_id").is_some();
        assert_eq!(opened.len(), usize::from(is_asked), "{line}");
        if is_asked {
            stage.line(Peer::Client, &denied(line).to_string());
        }
        records.extend(opened);
    }
    records
}

fn opened(out: Out) -> Option<Record> {
    match out {
        Out::Told(Output::Notice(Notice::Opened(record))) => Some(Record::clone(&record)),
        _ => None,
    }
}

/// A file system without links.
struct NoLinks;

impl Files for NoLinks {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }

    fn has_other_names(&self, _: &Path) -> bool {
        false
    }
}

fn rules() -> Vec<Rule> {
    let path = fixture("rules.toml");
    let user = Some(SettingsFile { text: read(&path), path, is_readable_by_others: false });
    let settings = Settings::of(Sources { user, home: Some("/people/ada".into()), ..Sources::default() });
    assert_eq!(settings.problems().len(), 0, "{:?}", settings.problems());
    settings.rules().to_vec()
}

/// How many permissions there are of each risk, and how many of them a rule decides.
#[derive(Default)]
struct Count {
    plain: usize,
    acts: usize,
    dangerous: usize,
    decided: usize,
}

impl Count {
    fn all(&self) -> usize {
        self.plain + self.acts + self.dangerous
    }
}

/// Returns a line about a permission, with the rule that decides it.
fn line(agent: &str, record: &Record, rule: &str) -> String {
    let question = &record.question;
    assert_eq!(question.purpose, Purpose::Permission, "{question:?}");
    assert_eq!(question.project.as_deref(), Some(PROJECT));
    let subject = question.subject.as_deref().expect("a subject");
    let about = subject.command.as_deref().unwrap_or(&question.message).replace('\n', "⏎");
    let about: String = about.chars().take(60).collect();
    let (risk, why) = (question.risk().to_string(), question.risk_reason.as_deref().unwrap_or_default());
    let kind = subject.kind.as_deref().unwrap_or("-");
    format!("{agent:<13}{risk:<10}{rule:<13}{kind:<12}{about:<61}{why}").trim_end().to_owned()
}

/// Returns what is expected in `risks.txt`, and the counts of all agents.
fn judged() -> (String, Count) {
    let rules = rules();
    let mut text = String::new();
    let mut counts = Vec::new();
    let mut total = Count::default();
    for agent in AGENTS {
        let mut count = Count::default();
        for record in asked(agent) {
            let decision = rule::decide(&rules, &record, &NoLinks);
            let rule = decision.as_ref().map_or("-", |decision| &decision.rule);
            writeln!(text, "{}", line(agent, &record, rule)).expect("a string takes all");
            count.decided += usize::from(decision.is_some());
            match record.question.risk().degree() {
                0 => count.plain += 1,
                1 => count.acts += 1,
                _ => count.dangerous += 1,
            }
        }
        total.plain += count.plain;
        total.acts += count.acts;
        total.dangerous += count.dangerous;
        total.decided += count.decided;
        counts.push((agent, count));
    }
    let all = counts.iter().map(|(agent, count)| (*agent, count)).chain([("all", &total)]);
    writeln!(text, "\n{:<13}{:>5}{:>7}{:>6}{:>11}{:>9}", "", "all", "plain", "acts", "dangerous", "decided")
        .expect("a string takes all");
    for (agent, count) in all {
        let Count { plain, acts, dangerous, decided } = count;
        writeln!(text, "{agent:<13}{:>5}{plain:>7}{acts:>6}{dangerous:>11}{decided:>9}", count.all())
            .expect("a string takes all");
    }
    (text, total)
}

#[test]
fn risks_of_recorded_permissions_are_as_written() {
    golden::is(&fixture("risks.txt"), &judged().0);
}

#[test]
fn docs_have_the_figures_of_the_recorded_permissions() {
    let (_, count) = judged();
    let docs = |name: &str| read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name));
    let Count { plain, acts, dangerous, decided } = count;
    let all = count.all();
    let risks = format!(
        "Of {all} recorded permissions of released agents, {plain} are plain, {acts} act and {dangerous} are dangerous"
    );
    assert!(docs("behaviour.md").contains(&risks), "{risks}");
    let text = docs("rules.md");
    let decides = format!(
        "(reading and changing files of the project, its builds and tests, a look around, never a push) decide {decided}."
    );
    assert!(text.contains(&format!("of {all} recorded permissions")) && text.contains(&decides), "{decides}");
}
