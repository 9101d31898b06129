//! The list of the full-screen inbox, when it is long: search, first and last, what is beyond the screen, and that words
//! typed into it decide nothing. What is drawn in detail is left to `screens.rs`.

use askbridge::command::tui::{
    event::{Effect, InboxState, Key, QuestionItem, TuiEvent},
    state::Pane,
};
use askbridge_core::desk::Submission;
use serde_json::{Value, json};

use crate::answers::screens::{Scene, ago, database, item, one, permission, text, world};

/// Many questions of one project, and one that differs from them in each thing that is searched.
fn many() -> InboxState {
    let plain =
        |n: u32| item(n, &json!({ "message": format!("Question {n}?"), "fields": [database()] }), &json!({}));
    let mut open: Vec<_> = (1..=40).map(plain).collect();
    let other = json!({ "message": "Which Licence?", "agent": "Codex", "project": "/src/shop", "fields": [database()] });
    open.push(item(41, &other, &json!({})));
    world(open)
}

fn drawn(scene: &Scene) -> String {
    text(&scene.drawn())
}

fn current(scene: &Scene) -> u64 {
    scene.app.current.as_ref().map_or(0, |id| id.number)
}

#[test]
fn a_search_finds_questions_by_title_project_and_agent() {
    for size in [(40, 15), (80, 24), (120, 40)] {
        for word in ["licence", "SHOP", "codex", "which lic", "-41"] {
            let mut scene = Scene::new(size, many());
            scene.keys(&[Key::Char('j'), Key::Char('/')]);
            scene.types(word);
            let shown = drawn(&scene);
            assert!(shown.contains(&format!("1 of 41 found: {word}")), "{word}: {shown}");
            assert!(shown.contains(&format!(" /{word}")) && shown.contains("Licence?"), "{word}: {shown}");
            assert!(!shown.contains("Question 1?"), "{word}: {shown}");
            assert_eq!(current(&scene), 41, "{word}");
            // The search stays until Esc, and the keys of the list work in what is found.
            scene.keys(&[Key::Enter, Key::Char('j'), Key::Home]);
            assert_eq!(current(&scene), 41, "{word}");
            scene.keys(&[Key::Escape]);
            assert!(drawn(&scene).contains("41 questions wait"), "{word}");
            assert_eq!((current(&scene), scene.effects.len()), (41, 0), "{word}");
        }
    }
}

#[test]
fn a_search_that_finds_nothing_says_so_and_ends() {
    let mut scene = Scene::new((80, 24), many());
    scene.keys(&[Key::Char('/')]);
    scene.types("nowhere");
    assert!(drawn(&scene).contains("No match.") && drawn(&scene).contains("0 of 41 found"));
    scene.keys(&[Key::Enter, Key::Enter]);
    assert_eq!(scene.effects, []);
    scene.keys(&[Key::Escape]);
    assert_eq!(current(&scene), 1);
    // A mistake is taken back by Backspace, and one more of it ends the search.
    scene.keys(&[Key::Char('/'), Key::Char('x'), Key::Backspace]);
    assert!(drawn(&scene).contains("Esc all"));
    scene.keys(&[Key::Backspace]);
    assert!(drawn(&scene).contains("Enter open"));
    // What is pasted is searched for as well.
    scene.keys(&[Key::Char('/')]);
    scene.app.handle(TuiEvent::Paste("licence".to_owned()));
    assert_eq!(current(&scene), 41);
}

/// `/` in a question leads to the list, and the draft stays.
#[test]
fn a_search_begins_in_a_question_as_well() {
    let mut scene = Scene::new((80, 24), many());
    scene.keys(&[Key::Enter, Key::Char('1'), Key::Char('/')]);
    scene.types("question");
    assert!(drawn(&scene).contains("40 of 41 found: question") && scene.app.has_drafts());
}

/// A person who forgets the `/` opens nothing, decides nothing, and changes no draft.
#[test]
fn words_that_are_typed_into_the_list_do_nothing() {
    for word in
        ["licence", "none of them", "reject it", "1 2 3", "more", "skip", "yes", "Allow all", "h l e m r s n"]
    {
        for size in [(80, 24), (120, 40)] {
            let mut scene = Scene::new(size, many());
            scene.types(word);
            scene.keys(&[Key::Control('s'), Key::Send]);
            let app = &scene.app;
            assert_eq!((app.pane, &app.modal, scene.effects.len()), (Pane::List, &None, 0), "{word}");
            assert!(app.drafts.values().all(|draft| !draft.is_touched), "{word}");
        }
    }
}

#[test]
fn a_long_list_says_how_much_is_beyond_the_screen() {
    let settled = json!({
        "state": "settled",
        "settlement": { "outcome": { "status": "rejected", "reason": "user" }, "by": { "responder": "client" }, "at": ago(20) },
    });
    let all = || InboxState {
        settled: vec![item(50, &json!({ "message": "Over?", "fields": [database()] }), &settled)],
        ..many()
    };
    let mut scene = Scene::new((80, 24), all());
    let shown = drawn(&scene);
    assert!(shown.contains(" ↓ 21 more, 1 settled") && !shown.contains('↑'), "{shown}");
    scene.keys(&[Key::PageDown]);
    let shown = drawn(&scene);
    assert!(shown.contains("Question 21?") && shown.contains(" ↑ ") && shown.contains(" ↓ "), "{shown}");
    // Each question is reached, and is in view.
    let mut scene = Scene::new((40, 15), all());
    for n in 1..=41 {
        assert_eq!(current(&scene), n);
        let shown = drawn(&scene);
        assert!(
            shown.contains(&format!(
                ">  {}",
                if n == 41 { "Which".to_owned() } else { format!("Question {n}?") }
            )),
            "{n}: {shown}"
        );
        scene.keys(&[Key::Down]);
    }
    scene.keys(&[Key::Char('G')]);
    let shown = drawn(&scene);
    assert_eq!(current(&scene), 50);
    assert!(shown.contains(" ↑ 32 more") && shown.contains(">  Over?") && !shown.contains('↓'), "{shown}");
    scene.keys(&[Key::Char('g')]);
    assert_eq!(current(&scene), 1);
}

/// A long text that is typed, or a field far below, leaves in view who asks what.
#[test]
fn who_asks_what_stays_in_view_where_there_is_little_room() {
    let help = "Say what the service has to keep, for how long, and who reads it. ".repeat(8);
    let field = json!({ "name": "t", "label": "Why this database?", "help": help, "kind": "text", "multiline": true, "required": true });
    let mut scene = Scene::new((40, 15), one(json!({ "fields": [field.clone()] })));
    scene.keys(&[Key::Enter]);
    scene.types("because");
    let shown = drawn(&scene);
    for part in ["Claude Code in payments", "Why this database?", "because"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // What is wrong with it is in view as well.
    let date = json!({ "name": "d", "label": "When does it start?", "kind": "text", "format": "date", "required": true });
    let mut wrong = Scene::new((40, 15), one(json!({ "message": "Two things.", "fields": [date, field] })));
    wrong.keys(&[Key::Enter]);
    wrong.types("tomorrow");
    wrong.keys(&[Key::Tab]);
    wrong.types("because");
    let shown = drawn(&wrong);
    for part in ["Claude Code in payments", "Why this database?", "because"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    wrong.keys(&[Key::Control('s')]);
    let shown = drawn(&wrong);
    for part in ["When does it start?", "tomorrow", "! This must be a date"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // At its beginning, the question says it itself.
    scene.keys(&[Key::Escape]);
    for _ in 0..9 {
        scene.keys(&[Key::PageUp]);
    }
    let shown = drawn(&scene);
    assert!(shown.contains("Claude Code in payments, k3f9q2-1"), "{shown}");
    assert_eq!(shown.matches("Claude Code").count(), 1, "{shown}");
}

/// Answers the question with this number, and returns the one that is current then.
fn after_answer(open: &[QuestionItem], number: u32) -> u64 {
    let mut scene = Scene::new((80, 24), world(open.to_vec()));
    while current(&scene) != u64::from(number) {
        scene.keys(&[Key::Down]);
    }
    scene.keys(&[Key::Enter, Key::Char('2'), Key::Enter]);
    let [Effect::Submit(id, _)] = &*scene.effects else { panic!("{:?}", scene.effects) };
    let settled = json!({
        "state": "settled",
        "settlement": { "outcome": { "status": "answered", "values": { "db": "lite" } }, "by": { "responder": "terminal" }, "at": ago(0) },
    });
    let record = item(number, &json!({ "fields": [database()] }), &settled).record;
    let event = TuiEvent::Submitted(id.clone(), Ok(record));
    scene.app.handle(event);
    current(&scene)
}

#[test]
fn the_next_question_is_none_that_is_dangerous_while_another_waits() {
    let plain = |n: u32, project: &str, more: Value| {
        item(n, &json!({ "fields": [database()], "project": project }), &more)
    };
    let mut asked = permission(true);
    asked["project"] = "/src/b".into();
    let soon = json!({ "deadline": ago(0).replace("00:00:00", "00:00:50"), "expiring": true });
    // The first project is that with a deadline, and in the second, what can do harm comes first.
    let open = [
        plain(1, "/src/a", soon),
        plain(2, "/src/a", json!({})),
        item(3, &asked, &json!({})),
        plain(4, "/src/b", json!({})),
    ];
    assert_eq!([1, 2, 4].map(|number| after_answer(&open, number)), [4, 4, 2]);
    assert_eq!(after_answer(&open[2..], 4), 3, "nothing else waits");
}

#[test]
fn the_key_that_sends_an_answer_does_not_send_a_rejection() {
    let mut scene = Scene::new((80, 24), one(json!({ "fields": [database()] })));
    scene.keys(&[Key::Enter, Key::Char('r'), Key::Control('s'), Key::Send]);
    assert!(scene.effects.is_empty() && drawn(&scene).contains("Reject the question"));
    scene.keys(&[Key::Enter, Key::Control('s')]);
    assert!(scene.effects.is_empty(), "{:?}", scene.effects);
    scene.keys(&[Key::Enter, Key::Enter]);
    assert!(matches!(&*scene.effects, [Effect::Submit(_, Submission::Reject(None))]), "{:?}", scene.effects);
}
