//! Comments at lines in the full-screen inbox: which lines can be chosen, where they are shown, and how they go to the agent.

use askbridge::command::tui::event::{Effect, InboxState, Key, TuiEvent};
use askbridge_core::desk::Submission;
use serde_json::{Value, json};

use super::{
    machine::TestMachine,
    screens::{Scene, check, database, item, one, permission, text, world},
    terminal::Terminal,
    tui::{ASK, agent, form, heard},
};

const PLAN: &str = "# Move the ledger\n\n1. Copy the rows\n2. Take the **lock**\n\n| Step | Takes |\n|---|---|\n| copy | 10 min |\n\n```sql\ndrop table ledger;\n```\n\nThen it is done.";

fn plan() -> Value {
    let mut asked = permission(false);
    asked["message"] = "Ready to code?".into();
    asked["subject"] = json!({ "kind": "switch_mode", "plan": PLAN });
    asked
}

/// Comments on the part of the question that has this text.
fn comment(scene: &mut Scene, on: &str, said: &str) {
    scene.keys(&[Key::Char('c'), Key::Home]);
    for _ in 0..40 {
        scene.keys(&[Key::Enter]);
        if text(&scene.drawn()).contains(&format!("> {on}")) {
            scene.types(said);
            scene.keys(&[Key::Enter, Key::Escape]);
            return;
        }
        scene.keys(&[Key::Escape, Key::Down]);
    }
    panic!("{on:?} cannot be commented: {}", text(&scene.drawn()));
}

fn sent(scene: &Scene) -> &Submission {
    let [Effect::Submit(_, submission)] = &*scene.effects else { panic!("{:?}", scene.effects) };
    submission
}

#[test]
fn a_plan_is_commented_part_by_part_and_rejected_with_all_of_it() {
    let play = |scene: &mut Scene| {
        scene.keys(&[Key::Enter]);
        comment(scene, "Then it is done.", "When?");
        comment(scene, "copy | 10 min", "Too slow");
        comment(
            scene,
            "Take the lock",
            "Which one? It has to be said which of the locks this is, and for how long",
        );
        comment(scene, "drop table ledger;", "x");
    };
    check(
        "comments",
        || one(plan()),
        |scene| {
            play(scene);
            scene.keys(&[Key::Char('c')]);
        },
    );
    check(
        "comment",
        || one(plan()),
        |scene| {
            play(scene);
            scene.keys(&[Key::Char('c'), Key::End, Key::Enter]);
        },
    );
    let mut scene = Scene::new((80, 40), one(plan()));
    play(&mut scene);
    // One is removed again, and one is changed to nothing.
    scene.keys(&[Key::Char('c'), Key::End, Key::Up, Key::Char('x'), Key::Escape]);
    assert!(!text(&scene.drawn()).contains("\u{bb} x"), "{}", text(&scene.drawn()));
    scene.keys(&[Key::Char('r')]);
    assert!(text(&scene.drawn()).contains("It goes with your 3 comments."), "{}", text(&scene.drawn()));
    scene.types("Not like this");
    scene.keys(&[Key::Enter, Key::Enter]);
    // The heading above a part stands above its quote.
    let expected = "Not like this\n\n> Move the ledger\n> Take the lock\nWhich one? It has to be said which of the locks this is, and for how long\n\n\
                    > Move the ledger\n> copy | 10 min\nToo slow\n\n> Move the ledger\n> Then it is done.\nWhen?";
    assert_eq!(*sent(&scene), Submission::Reject(Some(expected.to_owned())));
}

#[test]
fn a_comment_on_a_change_names_the_file_and_the_line() {
    for (on, place, quote) in
        [("+line 5½", "a.rs:6", "+line 5½"), ("-line 5", "a.rs:5", "-line 5"), ("line 7", "a.rs:8", "line 7")]
    {
        let mut asked = permission(false);
        asked["subject"]["diffs"][0]["path"] = "/src/payments/a.rs".into();
        let mut scene = Scene::new((80, 24), one(asked));
        scene.keys(&[Key::Enter]);
        comment(&mut scene, on, "Why?");
        // The option that refuses it takes them as well.
        scene.keys(&[Key::Char('3'), Key::Enter, Key::Enter, Key::Enter]);
        let expected = format!("> {place}\n> {quote}\nWhy?");
        assert_eq!(*sent(&scene), Submission::Reject(Some(expected)), "{on}");
    }
}

#[test]
fn comments_on_a_question_go_with_its_answer_and_those_on_a_permission_do_not() {
    let field = json!({ "name": "f", "label": "Go on?", "kind": "boolean" });
    let asked =
        json!({ "message": "Go on?\n\nFirst this.\n\nThen **that**.", "fields": [field], "notes": true });
    let mut scene = Scene::new((80, 24), one(asked));
    scene.keys(&[Key::Enter]);
    comment(&mut scene, "Then that.", "Not that");
    assert!(text(&scene.drawn()).contains("Your comment goes with your answer, and with a rejection."));
    scene.keys(&[Key::Char('1'), Key::Enter]);
    let Submission::Answer { answer, .. } = sent(&scene) else { panic!("{:?}", scene.effects) };
    assert_eq!(answer.notes["f"], "> Then that.\nNot that");

    let mut scene = Scene::new((80, 40), one(plan()));
    scene.keys(&[Key::Enter]);
    comment(&mut scene, "Then it is done.", "When?");
    scene.keys(&[Key::Char('2'), Key::Enter]);
    assert_eq!(scene.effects, []);
    let drawn = text(&scene.drawn());
    assert!(drawn.contains("Your comment is not sent with this: only a rejection takes"), "{drawn}");
    scene.types("yes");
    scene.keys(&[Key::Enter]);
    assert!(matches!(sent(&scene), Submission::Answer { answer, .. } if answer.notes.is_empty()));
}

/// They are kept while the person looks at something else, and while the question changes.
#[test]
fn comments_are_a_draft() {
    let both = |plan: Value| world(vec![item(1, &plan, &json!({})), item(2, &permission(false), &json!({}))]);
    let mut scene = Scene::new((80, 60), both(plan()));
    scene.keys(&[Key::Enter]);
    comment(&mut scene, "Then it is done.", "When?");
    scene.keys(&[Key::Escape]);
    assert!(text(&scene.drawn()).contains("You have a draft that is not sent."));
    scene.keys(&[Key::Char('k'), Key::Char('j'), Key::Char('k'), Key::Enter]);
    assert!(text(&scene.drawn()).contains("\u{bb} When?"), "{}", text(&scene.drawn()));
    let mut changed = plan();
    changed["subject"]["plan"] = "Something else".into();
    let again = InboxState {
        open: vec![item(1, &changed, &json!({ "edition": 1 })), item(2, &permission(false), &json!({}))],
        ..both(plan())
    };
    scene.app.handle(TuiEvent::World(again));
    scene.app.handle(TuiEvent::Read);
    let drawn = text(&scene.drawn());
    assert!(drawn.contains("> Move the ledger: Then it is done.\n   \u{bb} When?\n"), "{drawn}");
    scene.keys(&[Key::Char('r'), Key::Enter, Key::Enter]);
    assert_eq!(
        *sent(&scene),
        Submission::Reject(Some("> Move the ledger\n> Then it is done.\nWhen?".to_owned()))
    );
}

#[test]
fn a_line_for_another_program_writes_no_comment() {
    for line in ["cargo test", "c", "cc", "cat x", "cxcx"] {
        for asked in [plan(), json!({ "fields": [database()], "message": "Which?\n\nSay it." })] {
            let mut scene = Scene::new((80, 24), one(asked));
            scene.keys(&[Key::Enter]);
            for key in line.chars().map(Key::Char).chain([Key::Enter]) {
                scene.effects.extend(scene.app.handle(TuiEvent::Key(key)));
            }
            assert!(scene.app.modal.is_none() && scene.effects.is_empty(), "{line}: {:?}", scene.app.modal);
            assert!(scene.app.draft().is_none_or(|draft| draft.comments.is_empty()), "{line}");
        }
    }
}

#[test]
fn a_comment_of_a_real_terminal_reaches_the_agent() {
    let machine = TestMachine::new();
    let (mut bridge, _) = agent(&machine, ASK, &form());
    let mut terminal = Terminal::start_in(&machine, &["tui"], &[], 80, 24);
    terminal.list("1 question waits");
    terminal.types("\r");
    terminal.screen("( ) 2  SQLite");
    super::undo::rests(&mut terminal);
    terminal.types("c");
    terminal.screen("Enter write a comment");
    super::undo::rests(&mut terminal);
    terminal.types("\r");
    terminal.screen("Comment");
    terminal.types("Why not both?\r");
    terminal.screen("\u{bb} Why not both?");
    terminal.types("\x1b");
    terminal.screen("1-9 choose");
    super::undo::rests(&mut terminal);
    terminal.types("2");
    terminal.screen("(*) 2  SQLite");
    terminal.types("\x13");
    let told = heard(&mut bridge);
    assert!(told.to_string().contains("Why not both?"), "{told}");
}
