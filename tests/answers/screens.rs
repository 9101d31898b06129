//! What the full-screen inbox draws, as in `fixtures/tui`: on terminals of 40×12, 80×24 and 200×50.
//! `UPDATE=1 cargo test --test suites answers::` writes the files.

use std::{path::Path, sync::Arc, time::Duration};

use askbridge::command::tui::{
    event::{Effect, InboxState, Key, QuestionItem, TuiEvent},
    state::App,
    theme::Theme,
    view::draw,
};
use askbridge_core::desk::{Record, Submission, Timestamp};
use ratatui::{Terminal, backend::TestBackend, buffer::Buffer};
use serde_json::{Value, json};

use crate::support::golden;

const SIZES: [(u16, u16); 3] = [(40, 12), (80, 24), (200, 50)];

fn now() -> Timestamp {
    (std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(24 * 3600)).into()
}

pub(super) fn ago(seconds: u64) -> String {
    let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(24 * 3600 - seconds);
    Timestamp::from(time).to_string()
}

/// Returns a question that opened three minutes ago.
pub(super) fn item(number: u32, question: &Value, more: &Value) -> QuestionItem {
    let mut asked = json!({
        "questionId": "q", "message": "", "origin": "sandboxagent", "dangerous": false, "blocking": true,
        "agent": "Claude Code", "project": "/src/payments", "sessionId": "session-1",
    });
    let mut json = json!({ "id": format!("k3f9q2-{number}"), "bridge": "k3f9q2", "openedAt": ago(180) });
    for (object, members) in [(&mut asked, question), (&mut json, more)] {
        object.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    }
    json["question"] = asked;
    let record: Record = serde_json::from_value(json).unwrap();
    let agent = record.question.agent.as_deref().map(str::to_owned);
    QuestionItem { record: Arc::new(record), agent, now: now() }
}

pub(super) fn world(open: Vec<QuestionItem>) -> InboxState {
    InboxState { open, bridges: 1, ..InboxState::default() }
}

/// A scene: questions, and the keys that are pressed.
pub(super) struct Scene {
    pub(super) app: App,
    pub(super) effects: Vec<Effect>,
}

impl Scene {
    pub(super) fn new(size: (u16, u16), world: InboxState) -> Self {
        let mut app = App::new(size);
        let effects = app.handle(TuiEvent::World(world));
        Scene { app, effects }
    }

    pub(super) fn keys(&mut self, keys: &[Key]) {
        for key in keys {
            self.effects.extend(self.app.handle(TuiEvent::Key(*key)));
            // A person pauses, and looks.
            self.app.handle(TuiEvent::Quiet);
        }
    }

    /// Types a line without a pause in it, as for a shell. `↵` is Enter.
    fn line(&mut self, line: &str) {
        for c in line.chars() {
            let key = if c == '↵' { Key::Enter } else { Key::Char(c) };
            self.effects.extend(self.app.handle(TuiEvent::Key(key)));
        }
        self.app.handle(TuiEvent::Quiet);
    }

    pub(super) fn types(&mut self, text: &str) {
        text.chars().for_each(|c| self.keys(&[Key::Char(c)]));
    }

    pub(super) fn drawn(&self) -> Buffer {
        let mut terminal = Terminal::new(TestBackend::new(self.app.size.0, self.app.size.1)).unwrap();
        terminal.draw(|frame| draw(&self.app, Theme { colour: false }, frame)).unwrap();
        terminal.backend().buffer().clone()
    }
}

/// Returns the text of a screen, without the spaces at the ends of lines.
pub(super) fn text(buffer: &Buffer) -> String {
    let lines = buffer.content.chunks(buffer.area.width.into()).map(|cells| {
        let mut skip = 0;
        let mut line = String::new();
        for cell in cells {
            if skip == 0 {
                line += cell.symbol();
                skip = askbridge_os::terminal::width(cell.symbol()).max(1);
            }
            skip -= 1;
        }
        line.trim_end().to_owned() + "\n"
    });
    lines.collect()
}

/// Plays a scene at each size, and checks what is drawn against its file.
#[track_caller]
pub(super) fn check(name: &str, world: impl Fn() -> InboxState, play: impl Fn(&mut Scene)) {
    let mut shown = String::new();
    for size in SIZES {
        let mut scene = Scene::new(size, world());
        play(&mut scene);
        let drawn = text(&scene.drawn());
        assert!(!drawn.chars().any(|c| c.is_control() && c != '\n'), "{name}: {drawn:?}");
        shown += &format!("── {}×{}\n{drawn}", size.0, size.1);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tui").join(name).with_extension("txt");
    golden::is(&path, &shown);
}

pub(super) fn database() -> Value {
    let sketch = json!({ "format": "code", "text": "CREATE TABLE payments (\n\tid uuid PRIMARY KEY\n);" });
    let options = json!([
        { "value": "pg", "label": "Postgres", "description": "Relational, and what the other services use today", "preview": sketch },
        { "value": "lite", "label": "SQLite", "description": "One file" },
        { "value": "other", "label": "Something else that has a rather long label which does not fit on one line of a narrow terminal" },
    ]);
    json!({ "name": "db", "label": "Which database should the payments service use?", "header": "Database", "kind": "choice", "required": true, "other": true, "options": options })
}

fn fields() -> Value {
    let features = json!([{ "value": "a", "label": "Auth" }, { "value": "s", "label": "検索" }, { "value": "b", "label": "Billing" }]);
    json!([
        database(),
        { "name": "f", "label": "Which features are needed first?", "header": "Features", "kind": "choices", "min": 1, "max": 2, "options": features, "default": ["a"] },
        { "name": "n", "label": "Anything else?", "header": "Notes", "help": "What is said here goes into the plan.", "kind": "text", "multiline": true },
        { "name": "p", "label": "Port", "kind": "number", "integer": true, "required": true, "min": 1, "max": 65535, "default": 8080 },
        { "name": "k", "label": "API key", "kind": "text", "secret": true },
    ])
}

pub(super) fn permission(dangerous: bool) -> Value {
    let old: String = (1..=8).map(|n| format!("line {n}\n")).collect();
    let new = old.replace(
        "line 5\n",
        "line five, which is longer than the line that it takes the place of\nline 5½\n",
    );
    let options = [
        ("always", "Always allow", "allow_always"),
        ("once", "Allow", "allow_once"),
        ("no", "Reject", "reject_once"),
    ];
    let options: Vec<_> = options
        .iter()
        .map(|(value, label, role)| json!({ "value": value, "label": label, "role": role }))
        .collect();
    json!({
        "purpose": "permission", "dangerous": dangerous, "risk": if dangerous { "dangerous" } else { "plain" }, "message": "rm -rf build && make", "notes": false,
        "fields": [{ "name": "p", "label": "Allow this?", "kind": "choice", "required": true, "options": options }],
        "subject": {
            "kind": "execute", "command": "rm -rf build && make", "folder": "/src/payments", "description": "Start from a clean build",
            "locations": ["/src/payments/a.rs:5"], "diffs": [{ "path": "/src/payments/a.rs", "line": 1, "old": old, "new": new }],
        },
    })
}

fn several() -> InboxState {
    let confirm = json!({ "name": "c", "label": "Deploy to production?", "kind": "confirm", "yes": "Deploy", "no": "Wait", "required": true });
    let soon = json!({ "deadline": ago(0).replace("00:00:00", "00:00:50"), "expiring": true });
    let settled = json!({
        "state": "settled",
        "settlement": { "outcome": { "status": "answered", "values": { "c": true } }, "by": { "responder": "client", "name": "Zed" }, "at": ago(20) },
    });
    let confirmed = json!({ "fields": [confirm], "project": "/src/shop", "agent": "Codex" });
    InboxState {
        open: vec![
            item(
                1,
                &json!({ "fields": fields(), "message": "Please answer the following questions." }),
                &json!({}),
            ),
            item(2, &permission(true), &json!({})),
            item(3, &confirmed, &soon),
        ],
        settled: vec![item(4, &confirmed, &settled)],
        gaps: vec!["questions may be missing: a bridge did not reply: /run/x.sock".to_owned()],
        bridges: 2,
    }
}

pub(super) fn one(question: Value) -> InboxState {
    world(vec![item(1, &question, &json!({}))])
}

#[test]
fn the_list_has_what_waits_most_urgently_first() {
    check("list", several, |scene| scene.keys(&[Key::Char('j')]));
    check("empty", InboxState::default, |_| {});
}

/// Returns questions of this machine and of another one, which has a project of the same name.
fn two_machines() -> InboxState {
    let there = |number: u32, question: Value| {
        item(
            number,
            &question,
            &json!({ "id": format!("dev-box/m4b7xa-{number}"), "bridge": "dev-box/m4b7xa" }),
        )
    };
    let settled = json!({
        "id": "dev-box/m4b7xa-9", "bridge": "dev-box/m4b7xa", "state": "settled",
        "settlement": { "outcome": { "status": "rejected", "reason": "user" }, "by": { "responder": "page" }, "at": ago(20) },
    });
    InboxState {
        open: vec![
            item(1, &json!({ "fields": [database()] }), &json!({})),
            there(1, json!({ "fields": [database()], "agent": "Codex" })),
            there(2, permission(false)),
        ],
        settled: vec![item(9, &json!({ "fields": [database()] }), &settled)],
        gaps: vec!["lab is not connected: no route to the host".to_owned()],
        bridges: 2,
    }
}

#[test]
fn a_question_of_another_machine_stands_below_its_name_and_is_found_by_it() {
    check("machines", two_machines, |scene| scene.keys(&[Key::Char('j'), Key::Enter]));
    let mut scene = Scene::new((80, 24), two_machines());
    scene.keys(&[Key::Char('/')]);
    scene.types("dev-box");
    let drawn = text(&scene.drawn());
    assert!(drawn.contains("2 of 3 found: dev-box"), "{drawn}");
    assert!(drawn.contains(" dev-box: payments\n") && !drawn.contains("\n payments\n"), "{drawn}");
}

#[test]
fn a_choice_shows_its_options_and_the_sample_of_the_one_with_the_cursor() {
    check(
        "choice",
        || one(json!({ "fields": [database()] })),
        |scene| scene.keys(&[Key::Enter, Key::Char('1')]),
    );
}

#[test]
fn fields_are_tabs_and_are_reviewed() {
    let form = || one(json!({ "fields": fields(), "message": "Please answer the following questions." }));
    check("other", form, |scene| {
        scene.keys(&[Key::Enter, Key::Up, Key::Enter]);
        scene.types("CockroachDB, if the 認証 service has it");
    });
    check("text", form, |scene| {
        scene.keys(&[Key::Enter, Key::Char('2'), Key::Enter, Key::Char('2'), Key::Enter]);
        scene.types("First line");
        scene.keys(&[Key::Enter]);
        scene.types("second line, which is so long that it goes on in the next line of every terminal that is as narrow as most are");
    });
    check("review", form, |scene| {
        scene.keys(&[Key::Enter, Key::Char('2'), Key::Enter, Key::Enter, Key::Tab, Key::Char('9'), Key::Tab]);
        scene.types("hunter2");
        scene.keys(&[Key::Enter]);
    });
    check("errors", form, |scene| {
        scene.keys(&[Key::Enter, Key::Tab, Key::Tab, Key::Tab, Key::Control('u')]);
        scene.types("http");
        scene.keys(&[Key::Control('s')]);
    });
}

#[test]
fn a_permission_shows_what_it_is_for_and_is_confirmed() {
    check("permission", || one(permission(false)), |scene| scene.keys(&[Key::Enter]));
    check(
        "dangerous",
        || one(permission(true)),
        |scene| {
            scene.keys(&[Key::Enter]);
            read_to_its_end(scene);
            scene.keys(&[Key::Char('2'), Key::Enter]);
            scene.types("ye");
            assert_eq!(scene.effects, []);
        },
    );
    check(
        "reject",
        || one(permission(true)),
        |scene| {
            scene.keys(&[Key::Enter, Key::Char('r')]);
            scene.types("not on a Friday");
        },
    );
}

#[test]
fn a_slip_in_the_word_stays_at_the_word() {
    for slip in ["yse", "", "no"] {
        let mut scene = Scene::new((80, 24), one(permission(true)));
        scene.keys(&[Key::Enter]);
        read_to_its_end(&mut scene);
        scene.keys(&[Key::Char('2'), Key::Enter]);
        scene.types(slip);
        scene.keys(&[Key::Enter]);
        assert!(text(&scene.drawn()).contains("Nothing was sent: type yes"), "{slip:?}");
        assert_eq!(scene.effects, [], "{slip:?}");
        scene.types("yes");
        scene.keys(&[Key::Enter]);
        let [Effect::Submit(_, Submission::Answer { answer, .. })] = &*scene.effects else {
            panic!("{slip:?}: {:?}", scene.effects)
        };
        assert_eq!(answer.values["p"], askbridge_core::question::Value::Text("once".to_owned()));
    }
}

/// Scrolls until the last line of the question was in view.
fn read_to_its_end(scene: &mut Scene) {
    while text(&scene.drawn()).contains("more lines") {
        scene.keys(&[Key::PageDown]);
    }
}

#[test]
fn what_acts_is_allowed_once_its_last_line_was_in_view() {
    for (risk, lines, is_read, allows) in [
        ("plain", 500, false, true),
        ("acts", 3, false, true),
        ("acts", 500, false, false),
        ("acts", 500, true, true),
        ("dangerous", 500, false, false),
    ] {
        let mut asked = long_permission(lines);
        asked["risk"] = risk.into();
        let mut scene = Scene::new((80, 60), one(asked));
        scene.keys(&[Key::Enter]);
        if is_read {
            read_to_its_end(&mut scene);
        }
        scene.keys(&[Key::Char('2'), Key::Enter]);
        let is_sent = matches!(&*scene.effects, [Effect::Submit(..)]);
        assert_eq!(is_sent, allows, "{risk}, {lines} lines: {:?}", scene.effects);
        assert_eq!(
            text(&scene.drawn()).contains("Read it to its end before you allow it"),
            !allows,
            "{risk}"
        );
        if !allows {
            scene.keys(&[Key::Char('3'), Key::Enter, Key::Enter, Key::Enter]);
            assert!(matches!(&*scene.effects, [Effect::Submit(..)]), "it can be denied: {:?}", scene.effects);
        }
    }
}

/// Three permissions that need no second step, so that two keys allow one.
fn three() -> Vec<QuestionItem> {
    (1..=3).map(|number| item(number, &permission(false), &json!({}))).collect()
}

/// Allows the question in the middle. The store tells its end before the submission does, or after it.
fn allow_second(scene: &mut Scene, is_told_first: bool) {
    scene.keys(&[Key::Char('j'), Key::Enter, Key::Char('2'), Key::Enter]);
    let [Effect::Submit(id, _)] = &*scene.effects else { panic!("{:?}", scene.effects) };
    let id = id.clone();
    scene.effects.clear();
    let left: Vec<_> = three().into_iter().filter(|item| item.record.id != id).collect();
    let settled = json!({
        "state": "settled",
        "settlement": { "outcome": { "status": "answered", "values": { "p": "once" } }, "by": { "responder": "terminal" }, "at": ago(0) },
    });
    let settled = item(2, &permission(false), &settled);
    let told = InboxState { settled: vec![settled.clone()], ..world(left) };
    let submitted = TuiEvent::Submitted(id, Ok(settled.record));
    let events = [TuiEvent::World(told.clone()), submitted.clone(), TuiEvent::World(told)];
    for event in events.into_iter().skip(usize::from(!is_told_first)) {
        scene.effects.extend(scene.app.handle(event));
    }
}

/// A person who presses `2` and Enter twice allows one permission, and not the one behind it as well.
#[test]
fn keys_that_follow_at_once_do_not_decide_the_next_question() {
    for is_told_first in [false, true] {
        let mut scene = Scene::new((80, 24), world(three()));
        allow_second(&mut scene, is_told_first);
        assert_eq!(scene.effects, [Effect::Pause]);
        assert!(text(&scene.drawn()).contains("allowed by the terminal"), "what was sent is said");
        // The question behind it is next, and not the first of the list.
        assert_eq!(scene.app.current.as_ref().unwrap().number, 3, "{is_told_first}");
        for keys in
            [&[Key::Char('2'), Key::Enter][..], &[Key::Enter, Key::Enter], &[Key::Send], &[Key::Char('r')]]
        {
            scene.effects.clear();
            scene.keys(keys);
            assert_eq!(
                scene.effects,
                vec![Effect::Pause; keys.len()],
                "each begins the pause again: {keys:?}"
            );
            assert!(scene.app.modal.is_none() && scene.app.drafts.is_empty(), "{keys:?}");
        }
        assert!(text(&scene.drawn()).contains("this question has only just appeared"));
        scene.effects.clear();
        scene.app.handle(TuiEvent::Read);
        scene.keys(&[Key::Enter, Key::Char('2'), Key::Enter]);
        assert!(matches!(&*scene.effects, [Effect::Submit(id, _)] if id.number == 3), "{:?}", scene.effects);
    }
}

#[test]
fn a_question_that_the_person_goes_to_takes_keys_at_once() {
    let mut scene = Scene::new((80, 24), world(three()));
    allow_second(&mut scene, false);
    scene.effects.clear();
    scene.keys(&[Key::Char('k'), Key::Enter, Key::Char('2'), Key::Enter]);
    assert!(matches!(&*scene.effects, [Effect::Submit(id, _)] if id.number == 1), "{:?}", scene.effects);
}

/// What comes while nothing waits is shown, and takes no keys that were on their way.
#[test]
fn a_question_that_comes_into_an_empty_inbox_takes_no_keys_at_first() {
    let mut scene = Scene::new((80, 24), InboxState::default());
    scene.effects.extend(scene.app.handle(TuiEvent::World(world(three()))));
    assert!(scene.effects.contains(&Effect::Pause), "{:?}", scene.effects);
    scene.effects.clear();
    scene.keys(&[Key::Char('2'), Key::Enter]);
    assert_eq!(scene.effects, [Effect::Pause, Effect::Pause]);
    // A text takes what is typed, and is not sent by a key that was on its way.
    let asked = json!({ "fields": [{ "name": "t", "label": "Why?", "kind": "text", "default": "because" }] });
    for key in [Key::Send, Key::Control('s')] {
        let mut scene = Scene::new((80, 24), InboxState::default());
        scene.app.handle(TuiEvent::World(one(asked.clone())));
        scene.keys(&[Key::Tab, Key::Char('2'), key]);
        assert_eq!(scene.effects, [Effect::Pause]);
        scene.app.handle(TuiEvent::Read);
        scene.keys(&[key]);
        assert!(matches!(scene.effects[1..], [Effect::Submit(..)]), "{:?}", scene.effects);
    }
}

/// A permission with a change of this many lines.
fn long_permission(lines: usize) -> Value {
    let old: String = (1..=lines).map(|n| format!("line {n}\n")).collect();
    let new: String = (1..=lines).map(|n| format!("line {n}, changed\n")).collect();
    let mut asked = permission(true);
    asked["subject"]["diffs"] = json!([{ "path": "/src/payments/a.rs", "line": 1, "old": old, "new": new }]);
    asked
}

#[test]
fn a_long_permission_scrolls_and_keeps_its_options_in_view() {
    check(
        "long_permission",
        || one(long_permission(500)),
        |scene| {
            scene.keys(&[Key::Enter]);
            let (mut seen, mut last) = (String::new(), String::new());
            // Each line is seen on the way down.
            loop {
                let drawn = text(&scene.drawn());
                assert!(drawn.contains("2  Allow"), "{drawn}");
                if drawn == last {
                    break;
                }
                seen += &drawn;
                last = drawn;
                scene.keys(&[Key::PageDown]);
            }
            for n in 1..=500 {
                assert!(seen.contains(&format!("line {n}, changed")), "line {n} at {:?}", scene.app.size);
            }
            while !text(&scene.drawn()).contains("Dangerous") {
                scene.keys(&[Key::PageUp]);
            }
            for _ in 0..3 {
                scene.keys(&[Key::PageDown]);
            }
        },
    );
}

#[test]
fn the_keys_are_shown() {
    check("help", several, |scene| scene.keys(&[Key::Char('?')]));
}

#[test]
fn an_answer_from_elsewhere_is_shown_beside_what_was_typed() {
    let form = json!({ "fields": fields(), "message": "Please answer the following questions." });
    let settled = json!({
        "state": "settled",
        "settlement": { "outcome": { "status": "answered", "values": { "db": "pg", "f": ["a"], "p": 1 } }, "by": { "responder": "client", "name": "Zed" }, "at": ago(0) },
    });
    check(
        "elsewhere",
        || one(form.clone()),
        |scene| {
            scene.keys(&[Key::Enter, Key::Char('2'), Key::Tab, Key::Tab]);
            scene.types("my own words");
            let world = InboxState { settled: vec![item(1, &form, &settled)], ..world(Vec::new()) };
            scene.app.handle(TuiEvent::World(world));
            assert!(scene.app.said.as_ref().unwrap().text.contains("answered by the client (Zed)"));
            let mut seen = text(&scene.drawn());
            for _ in 0..10 {
                scene.app.handle(TuiEvent::Key(Key::PageDown));
                seen += &text(&scene.drawn());
            }
            assert!(seen.contains("Notes: my own words"), "{seen}");
            for _ in 0..10 {
                scene.app.handle(TuiEvent::Key(Key::PageUp));
            }
        },
    );
}

/// Every text of an agent, as one that would do harm.
fn hostile() -> InboxState {
    let evil = format!(
        "\x1b]0;x\x07\x1b[2J\u{9b}31m\u{202e}rm\r\n{}{}",
        "認".repeat(200),
        "e\u{301}\u{301}".repeat(99)
    );
    let option = json!({ "value": evil, "label": evil, "description": evil, "role": "allow_once", "preview": { "format": "html", "text": evil } });
    let field = |kind: &str| json!({ "name": kind, "label": evil, "header": evil, "help": evil, "kind": kind, "options": [option, option], "other": true, "yes": evil, "no": evil, "default": Value::Null });
    let kinds = ["choice", "choices", "text", "boolean", "number", "confirm", "drawing"];
    let fields: Vec<_> = kinds.map(field).to_vec();
    let subject = json!({ "kind": evil, "title": evil, "description": evil, "command": evil, "folder": evil, "locations": [evil], "plan": evil, "patch": evil, "content": evil, "rawInput": evil, "diffs": [{ "path": evil, "line": 1, "old": evil, "new": evil }] });
    let named = json!({ "agent": evil, "project": format!("/{evil}"), "sessionId": evil, "title": evil, "message": evil, "submit": evil, "dangerous": true });
    let with = |more: Value| {
        let mut question = named.clone();
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        question
    };
    let settled = json!({ "state": "settled", "settlement": { "outcome": { "status": "rejected", "reason": "user" }, "by": { "responder": "client", "name": evil }, "remark": evil, "at": ago(0) } });
    InboxState {
        open: vec![
            item(1, &with(json!({ "fields": fields })), &json!({})),
            item(
                2,
                &with(json!({ "purpose": "permission", "fields": [field("choice")], "subject": subject })),
                &json!({}),
            ),
        ],
        settled: vec![item(3, &with(json!({ "fields": fields })), &settled)],
        gaps: vec!["a gap".to_owned()],
        bridges: 1,
    }
}

#[test]
fn no_text_of_an_agent_leaves_its_place_on_any_view() {
    let walks: [&[Key]; 7] = [
        &[
            Key::Enter,
            Key::Tab,
            Key::Char('1'),
            Key::Tab,
            Key::Tab,
            Key::Escape,
            Key::Tab,
            Key::Tab,
            Key::Tab,
            Key::Tab,
        ],
        &[Key::Char('j'), Key::Enter, Key::Char('1'), Key::PageDown, Key::PageDown, Key::Enter],
        &[Key::Char('j'), Key::Enter, Key::Char('r'), Key::Char('x')],
        &[Key::Char('/'), Key::Char('認'), Key::Char('x'), Key::Enter],
        &[Key::Char('j'), Key::Char('j'), Key::Enter],
        &[Key::Enter, Key::Char('2'), Key::Escape],
        &[Key::Char('?'), Key::Char('j')],
    ];
    for size in [(40, 12), (80, 24), (200, 50), (1, 1), (7, 3), (100, 2)] {
        for keys in walks {
            let mut scene = Scene::new(size, hostile());
            for key in keys {
                scene.keys(&[*key]);
                let drawn = text(&scene.drawn());
                let is_bad = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
                assert!(!drawn.contains(is_bad), "{size:?}: {drawn:?}");
                assert_eq!(drawn.lines().count(), usize::from(size.1), "{size:?}: {drawn}");
            }
        }
    }
}

#[test]
fn a_single_key_never_allows_what_is_dangerous() {
    let every = (' '..='~').map(Key::Char).chain(('a'..='z').map(Key::Control));
    let keys: Vec<_> = every.chain([Key::Enter, Key::Send, Key::Tab, Key::Down, Key::Right]).collect();
    let allows = |effect: &Effect| matches!(effect, Effect::Submit(_, Submission::Answer { .. }));
    for before in
        [&[][..], &[Key::Enter], &[Key::Enter, Key::Char('2')], &[Key::Enter, Key::Char('1'), Key::Enter]]
    {
        for key in &keys {
            let mut scene = Scene::new((80, 24), one(permission(true)));
            if let [enter, rest @ ..] = before {
                scene.keys(&[*enter]);
                read_to_its_end(&mut scene);
                scene.keys(rest);
            }
            scene.keys(&[*key]);
            assert!(!scene.effects.iter().any(allows), "{before:?} {key:?}");
        }
    }
    let mut scene = Scene::new((80, 24), one(permission(true)));
    scene.keys(&[Key::Enter]);
    read_to_its_end(&mut scene);
    scene.keys(&[Key::Char('2'), Key::Enter]);
    scene.app.handle(TuiEvent::Paste("yes".to_owned()));
    scene.keys(&[Key::Enter]);
    assert!(!scene.effects.iter().any(allows), "what is pasted confirms nothing");
    scene.keys(&[Key::Enter]);
    scene.types("yes");
    scene.keys(&[Key::Enter]);
    assert!(scene.effects.iter().any(allows), "{:?}", scene.effects);
}

#[test]
fn what_arrives_moves_nothing_and_is_told_once() {
    let mut scene = Scene::new((120, 40), one(json!({ "fields": [database()] })));
    scene.keys(&[Key::Enter, Key::Char('2')]);
    let more = || {
        let first = item(1, &json!({ "fields": [database()] }), &json!({}));
        let urgent = json!({ "deadline": ago(0), "expiring": true });
        world(vec![first, item(2, &json!({ "message": "Deploy?\x07", "fields": [database()] }), &urgent)])
    };
    let effects = scene.app.handle(TuiEvent::World(more()));
    let [Effect::Tell(told)] = &*effects else { panic!("{effects:?}") };
    assert_eq!(told, "Claude Code in payments asks: Deploy?␇");
    assert_eq!(scene.app.handle(TuiEvent::World(more())), []);
    assert_eq!(scene.app.current.as_ref().unwrap().to_string(), "k3f9q2-1");
    // What is chosen stays while the person looks at another question.
    scene.keys(&[Key::Char('k'), Key::Char('j')]);
    assert!(scene.app.draft().unwrap().entries[0].chosen.contains(&1));
    // It is asked what becomes of it, and Ctrl-C asks as well, once.
    scene.keys(&[Key::Escape, Key::Escape, Key::Control('c')]);
    assert_eq!(scene.effects, []);
    scene.keys(&[Key::Control('c')]);
    assert_eq!(scene.effects, [Effect::Quit]);
}

#[test]
fn a_click_selects_a_question_and_chooses_an_option() {
    let mut scene = Scene::new((120, 40), several());
    let line = |scene: &Scene, what: &str| {
        u16::try_from(text(&scene.drawn()).lines().position(|line| line.contains(what)).unwrap()).unwrap()
    };
    let row = line(&scene, "rm -rf build");
    scene.app.handle(TuiEvent::Click(5, row));
    assert_eq!(scene.app.current.as_ref().unwrap().to_string(), "k3f9q2-2");
    let row = line(&scene, "2  Allow ");
    scene.app.handle(TuiEvent::Click(60, row));
    assert!(text(&scene.drawn()).contains("(*) 2  Allow") && scene.effects.is_empty());
}

#[test]
fn a_thousand_questions_are_listed_and_reached() {
    let open: Vec<_> = (1..=1000)
        .map(|n| item(n, &json!({ "message": format!("Question {n}?"), "fields": [database()] }), &json!({})))
        .collect();
    let mut scene = Scene::new((80, 24), world(open));
    scene.keys(&[Key::End]);
    assert!(text(&scene.drawn()).contains("Question 1000?"));
    scene.keys(&[Key::Home]);
    assert!(text(&scene.drawn()).contains("Question 1?"));
}

fn optional(kind: &str) -> Value {
    let options = json!([{ "value": "pg", "label": "Postgres" }, { "value": "lite", "label": "SQLite" }]);
    json!({ "name": "db", "label": "Which database?", "kind": kind, "other": true, "options": options })
}

/// A line that was typed for the shell in another window decides nothing, whatever letters it has.
#[test]
fn a_line_for_another_program_decides_nothing() {
    let decides = |effect: &Effect| {
        matches!(effect, Effect::Submit(_, Submission::Answer { .. } | Submission::Reject(_)))
    };
    let chosen = json!({ "fields": [{ "name": "b", "label": "Sure?", "kind": "boolean", "default": true }] });
    for asked in [permission(false), permission(true), chosen, json!({ "fields": [optional("choice")] })] {
        for line in [
            "clear; askbridge list↵",
            "rm -rf x↵",
            "rm -rf x↵yes↵",
            "r↵y↵",
            "2↵",
            "21 ls↵",
            "n 2↵",
            "m↵",
            "sqlite3 x 2↵",
            "jq . 1↵",
            "/usr/bin/env 2↵2↵",
            "git commit -m 1↵",
            "? 2↵",
            "x 2↵2↵",
        ] {
            for opens in [&[][..], &[Key::Enter]] {
                let mut scene = Scene::new((80, 60), one(asked.clone()));
                scene.keys(opens);
                scene.line(line);
                let is_answer = line == "2↵" && asked["purpose"] != "permission" && !opens.is_empty();
                let has_decided = scene.effects.iter().any(decides);
                assert!(!has_decided || is_answer, "{line} {opens:?}: {:?}\n{asked}", scene.effects);
                assert!(!scene.effects.contains(&Effect::Quit), "{line}");
            }
        }
    }
}

#[test]
fn a_rejection_takes_more_than_enter() {
    for keys in [&[Key::Char('r')][..], &[Key::Char('3'), Key::Enter]] {
        let mut scene = Scene::new((80, 60), one(permission(false)));
        scene.keys(&[Key::Enter]);
        scene.keys(keys);
        scene.types("not now");
        scene.keys(&[Key::Enter, Key::Control('s'), Key::Send]);
        // The second Enter of a line is no press by itself.
        scene.line("↵↵↵");
        assert_eq!(scene.effects, [], "{keys:?}");
        assert!(text(&scene.drawn()).contains("Press Enter once more"), "{}", text(&scene.drawn()));
        scene.keys(&[Key::Enter]);
        let [Effect::Submit(_, Submission::Reject(Some(reason)))] = &*scene.effects else {
            panic!("{keys:?}: {:?}", scene.effects)
        };
        assert_eq!(reason, "not now");
    }
}

#[test]
fn an_empty_answer_takes_a_second_step() {
    let text_field = json!({ "name": "t", "label": "Why?", "kind": "text" });
    for fields in [
        json!([optional("choice")]),
        json!([optional("choices")]),
        json!([text_field]),
        json!([{ "name": "b", "label": "Sure?", "kind": "boolean" }]),
        json!([optional("choice"), text_field]),
    ] {
        for key in [Key::Control('s'), Key::Send] {
            let mut scene = Scene::new((80, 24), one(json!({ "fields": fields })));
            scene.keys(&[Key::Enter, key]);
            assert_eq!(scene.effects, [], "{fields}");
            assert!(text(&scene.drawn()).contains("Send an empty answer?"), "{}", text(&scene.drawn()));
            scene.keys(&[Key::Enter, Key::Char('y'), Key::Char(' ')]);
            scene.app.handle(TuiEvent::Paste("yes".to_owned()));
            assert_eq!(scene.effects, [], "{fields}");
            let mut back = Scene { app: scene.app, effects: Vec::new() };
            back.keys(&[Key::Escape]);
            assert!(text(&back.drawn()).contains("Nothing was sent"), "{}", text(&back.drawn()));
            back.keys(&[key, key]);
            assert!(
                matches!(&*back.effects, [Effect::Submit(_, Submission::Answer { .. })]),
                "{:?}",
                back.effects
            );
        }
    }
    check(
        "empty_answer",
        || one(json!({ "fields": [optional("choice")] })),
        |scene| scene.keys(&[Key::Enter, Key::Control('s')]),
    );
}

#[test]
fn a_paste_keeps_its_line_breaks_and_goes_where_a_text_fits() {
    let pasted = "use:\r\n  - a: 1\r  - b: 2\r";
    let lines = "use:\n  - a: 1\n  - b: 2";
    let field = |kind: &str| json!({ "name": "db", "label": "L", "kind": kind });
    let secret = json!({ "name": "db", "label": "L", "kind": "text", "secret": true });
    let multiline = json!({ "name": "db", "label": "L", "kind": "text", "multiline": true });
    for (asked, expected) in [
        (field("text"), json!(lines)),
        (multiline, json!(lines)),
        (secret, json!(lines)),
        (optional("choice"), json!(lines)),
        (optional("choices"), json!([lines])),
    ] {
        let mut scene = Scene::new((80, 24), one(json!({ "fields": [asked] })));
        scene.keys(&[Key::Enter]);
        scene.app.handle(TuiEvent::Paste(pasted.to_owned()));
        assert_eq!(scene.effects, [], "{asked}");
        scene.keys(&[Key::Control('s')]);
        let [Effect::Submit(_, Submission::Answer { answer, .. })] = &*scene.effects else {
            panic!("{asked}: {:?}", scene.effects)
        };
        assert_eq!(serde_json::to_value(&answer.values["db"]).unwrap(), expected, "{asked}");
    }
    for (asked, told) in [
        (json!({ "fields": [field("number")] }), "3 lines are no number"),
        (json!({ "fields": [field("boolean")] }), "choose an option, by its number"),
        (permission(false), "choose an option, by its number"),
    ] {
        let mut scene = Scene::new((80, 24), one(asked));
        scene.app.handle(TuiEvent::Paste(pasted.to_owned()));
        assert!(text(&scene.drawn()).contains("open a question first"), "{}", text(&scene.drawn()));
        scene.keys(&[Key::Enter]);
        scene.app.handle(TuiEvent::Paste(pasted.to_owned()));
        assert!(text(&scene.drawn()).contains(told), "{}", text(&scene.drawn()));
        assert_eq!(scene.effects, []);
    }
    let mut scene = Scene::new((80, 24), one(permission(false)));
    scene.keys(&[Key::Enter, Key::Char('r')]);
    scene.app.handle(TuiEvent::Paste("a\rb".to_owned()));
    scene.keys(&[Key::Enter, Key::Enter]);
    assert!(
        matches!(&*scene.effects, [Effect::Submit(_, Submission::Reject(Some(reason)))] if reason == "a\nb"),
        "{:?}",
        scene.effects
    );
    check(
        "pasted",
        || one(json!({ "fields": [optional("choice")] })),
        |scene| {
            scene.keys(&[Key::Enter]);
            scene.app.handle(TuiEvent::Paste(pasted.to_owned()));
        },
    );
}

#[test]
fn options_of_one_label_are_told_apart() {
    let files =
        json!([{ "value": "/a/foo.txt", "label": "foo.txt" }, { "value": "/b/foo.txt", "label": "foo.txt" }]);
    let field =
        json!({ "name": "f", "label": "Which file?", "kind": "choice", "required": true, "options": files });
    check("same_labels", || one(json!({ "fields": [field] })), |scene| scene.keys(&[Key::Enter]));
}
