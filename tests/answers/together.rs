//! The same again in the full-screen inbox: like permissions are decided together after all of them were shown, wait and come
//! back as one, and a decision becomes a rule.

use std::fs;

use askbridge::command::tui::{
    event::{Effect, InboxState, Key, TuiEvent},
    state::Modal,
};
use askbridge_core::desk::{QuestionId, Submission};
use serde_json::{Value, json};

use super::{
    alike::Asked,
    screens::{Scene, check, item, text, world},
    terminal::Terminal,
    undo::rests,
};

/// A permission to run this command.
fn runs(command: &str, risk: &str) -> Value {
    let options = [
        ("always", "Always allow", "allow_always"),
        ("once", "Allow", "allow_once"),
        ("no", "Reject", "reject_once"),
    ];
    let options = options.map(|(value, label, role)| json!({ "value": value, "label": label, "role": role }));
    json!({
        "purpose": "permission", "dangerous": risk == "dangerous", "risk": risk, "message": "Run it", "notes": false,
        "fields": [{ "name": "p", "label": "Allow this?", "kind": "choice", "required": true, "options": options }],
        "subject": { "kind": "execute", "command": command, "folder": "/src/payments" },
    })
}

/// As many permissions that are like each other, and three that are like none of them.
fn tests(count: u32) -> InboxState {
    let like = (1..=count).map(|n| item(n, &runs(&format!("cargo test module_{n}"), "acts"), &json!({})));
    let others = [("cargo tests x", "acts"), ("rm -rf src", "dangerous"), ("cargo test --config x", "acts")];
    let others =
        others.iter().zip(count + 1..).map(|((command, risk), n)| item(n, &runs(command, risk), &json!({})));
    world(like.chain(others).collect())
}

fn id(number: u32) -> QuestionId {
    format!("k3f9q2-{number}").parse().unwrap()
}

/// Opens the first of those that are like each other.
fn open(scene: &mut Scene) {
    while scene.app.current != Some(id(1)) {
        scene.keys(&[Key::Char('j')]);
    }
    scene.keys(&[Key::Enter]);
}

fn sent(scene: &Scene) -> &[(QuestionId, Submission)] {
    let [Effect::Together(submissions)] = &*scene.effects else { panic!("{:?}", scene.effects) };
    submissions
}

#[test]
fn a_hundred_like_permissions_are_decided_with_ten_keys() {
    check(
        "alike",
        || tests(4),
        |scene| {
            open(scene);
            scene.keys(&[Key::Char('a'), Key::Char('1')]);
        },
    );
    for allows in [true, false] {
        let mut scene = Scene::new((80, 40), tests(100));
        open(&mut scene);
        let mut keys = 0;
        let mut press = |scene: &mut Scene, key: Key| {
            keys += 1;
            scene.keys(&[key]);
        };
        press(&mut scene, Key::Char('a'));
        press(&mut scene, Key::Char(if allows { '1' } else { '2' }));
        press(&mut scene, Key::Enter);
        while allows && scene.effects.is_empty() {
            assert!(text(&scene.drawn()).contains("Read the list to its end"), "{}", text(&scene.drawn()));
            press(&mut scene, Key::PageDown);
            press(&mut scene, Key::PageDown);
            press(&mut scene, Key::Enter);
        }
        assert_eq!(sent(&scene).len(), 100);
        for (place, (of, submission)) in (1..).zip(sent(&scene)) {
            assert_eq!(*of, id(place));
            match submission {
                Submission::Answer { answer, seen } => {
                    assert!(allows && *seen == Some(0));
                    assert_eq!(serde_json::to_value(&answer.values).unwrap(), json!({ "p": "once" }));
                }
                submission => assert!(!allows && *submission == Submission::Reject(None)),
            }
        }
        assert!(keys <= 10, "{keys} keys");
    }
}

#[test]
fn what_is_dangerous_is_never_decided_together_and_what_changes_is_left_out() {
    let mut scene = Scene::new((80, 40), tests(3));
    while scene.app.current != Some(id(5)) {
        scene.keys(&[Key::Char('j')]);
    }
    scene.keys(&[Key::Enter, Key::Char('a')]);
    assert!(scene.app.modal.is_none());
    assert!(text(&scene.drawn()).contains("What can do harm is decided one by one"));
    while scene.app.current != Some(id(4)) {
        scene.keys(&[Key::Char('j')]);
    }
    scene.keys(&[Key::Char('a')]);
    assert!(
        text(&scene.drawn()).contains("No other open permission is like this one"),
        "{}",
        text(&scene.drawn())
    );

    let mut scene = Scene::new((80, 40), tests(3));
    open(&mut scene);
    scene.keys(&[Key::Char('a'), Key::Char('1')]);
    let mut changed = tests(3);
    changed.open[1] = item(2, &runs("cargo test module_2 x", "acts"), &json!({ "edition": 1 }));
    changed.open.insert(0, item(9, &runs("cargo test module_9", "acts"), &json!({})));
    scene.app.handle(TuiEvent::World(changed));
    scene.effects.clear();
    let drawn = text(&scene.drawn());
    assert!(
        drawn.contains("1 of them left out")
            && drawn.contains("Allow all 2")
            && !drawn.contains("module_9  "),
        "{drawn}"
    );
    // What stands there now is another list.
    scene.keys(&[Key::Enter]);
    assert_eq!(scene.effects, []);
    scene.keys(&[Key::Char('1'), Key::Enter]);
    let ids: Vec<_> = sent(&scene).iter().map(|(id, _)| id.number).collect();
    assert_eq!(ids, [1, 3]);
}

/// Keys that come together are a line for another program.
#[test]
fn keys_in_one_go_decide_nothing_of_a_list() {
    for line in ["a1", "1", "11", "2"] {
        let mut scene = Scene::new((80, 40), tests(3));
        open(&mut scene);
        if line != "a1" {
            scene.keys(&[Key::Char('a')]);
        }
        for key in line.chars().map(Key::Char).chain([Key::Enter, Key::Enter]) {
            scene.effects.extend(scene.app.handle(TuiEvent::Key(key)));
        }
        assert_eq!(scene.effects, [], "{line}");
    }
    let mut confirmed = tests(3);
    for (place, n) in (0..3).zip(1..) {
        let mut asked = runs(&format!("cargo test module_{n}"), "acts");
        asked["confirm"] = true.into();
        confirmed.open[place] = item(n, &asked, &json!({}));
    }
    let mut scene = Scene::new((80, 40), confirmed);
    open(&mut scene);
    scene.keys(&[Key::Char('a'), Key::Char('1'), Key::Enter]);
    scene.app.handle(TuiEvent::Paste("yes".to_owned()));
    scene.keys(&[Key::Enter]);
    assert_eq!(scene.effects, [], "{}", text(&scene.drawn()));
    scene.types("yes");
    scene.keys(&[Key::Enter]);
    assert_eq!(sent(&scene).len(), 3);
}

#[test]
fn what_is_decided_together_comes_back_as_one_or_is_counted() {
    let mut scene = Scene::new((80, 40), tests(3));
    open(&mut scene);
    scene.keys(&[Key::Char('a'), Key::Char('1'), Key::Enter]);
    let ids: Vec<_> = sent(&scene).iter().map(|(id, _)| id.clone()).collect();
    scene.effects = scene.app.handle(TuiEvent::Deferred(ids.clone()));
    assert_eq!((scene.app.waits(), scene.app.is_fresh), (3, true));
    assert!(!ids.contains(scene.app.current.as_ref().unwrap()), "{:?}", scene.app.current);
    assert!(text(&scene.drawn()).contains("3 being sent: u takes back"));
    scene.app.handle(TuiEvent::Quiet);
    assert_eq!(scene.app.handle(TuiEvent::Key(Key::Char('m'))), [], "it is not decided yet");
    scene.app.handle(TuiEvent::Quiet);
    assert_eq!(scene.app.handle(TuiEvent::Key(Key::Char('u'))), [Effect::TakeBack(id(1))]);
    scene.app.handle(TuiEvent::Quiet);
    for id in &ids {
        scene.app.handle(TuiEvent::TakenBack(id.clone()));
    }
    assert_eq!((&scene.app.current, scene.app.waits()), (&Some(id(1)), 0));
    assert!(text(&scene.drawn()).contains("3 are taken back: nothing was sent"), "{}", text(&scene.drawn()));
    // Sent again, one is refused, and the others are told with it.
    scene.app.handle(TuiEvent::Read);
    scene.effects.clear();
    scene.keys(&[Key::Char('a'), Key::Char('2'), Key::Enter]);
    assert_eq!(sent(&scene).len(), 3);
    for item in tests(3).open.into_iter().take(3) {
        let result = match item.record.id.number {
            2 => Err(askbridge_core::desk::Refusal::Unavailable),
            _ => Ok((*item.record)
                .clone()
                .settled(askbridge_core::desk::Settlement::new(
                    askbridge_core::question::Outcome::Rejected(askbridge_core::question::Reason::User),
                    askbridge_core::question::Provenance::bridge(),
                    item.record.opened_at,
                ))
                .into()),
        };
        scene.app.handle(TuiEvent::Submitted(item.record.id.clone(), result));
    }
    assert!(text(&scene.drawn()).contains("rejected 2 of 3; left out:"), "{}", text(&scene.drawn()));
    scene.app.handle(TuiEvent::Quiet);
    let [Effect::Propose(record)] = &*scene.app.handle(TuiEvent::Key(Key::Char('m'))) else {
        panic!("a rule")
    };
    assert_eq!(record.id, id(1));
    assert!(matches!(scene.app.modal, Some(Modal::Rule(..))));
}

#[test]
fn a_real_terminal_decides_all_that_are_alike_and_makes_a_rule_of_it() {
    let asked = Asked::new(&["cargo test a", "cargo test b", "cargo tests b"]);
    let mut command = std::process::Command::new("setsid");
    command.arg("--ctty").arg(env!("CARGO_BIN_EXE_askbridge")).arg("tui");
    let like = asked.person.command(&[]);
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
        .current_dir(asked.person.project())
        .env("TERM", "xterm-256color")
        .env("ASKBRIDGE_SEND_UNDO", "0s");
    let mut terminal = Terminal::spawn(command, 100, 30);
    terminal.list("3 questions wait");
    terminal.types("\r");
    terminal.screen("1-9 choose");
    rests(&mut terminal);
    terminal.types("a");
    terminal.screen("Allow all 2");
    rests(&mut terminal);
    terminal.types("1");
    terminal.screen("(*) 1  Allow all 2");
    rests(&mut terminal);
    terminal.types("\r");
    terminal.screen("allowed 2");
    assert_eq!([0, 1].map(|number| asked.ended(number)), [json!({ "q0": "once" }), json!({ "q0": "once" })]);
    rests(&mut terminal);
    terminal.types("m");
    terminal.screen("Enter writes it");
    rests(&mut terminal);
    terminal.types("\r");
    terminal.screen("The rule is written to");
    let written = fs::read_to_string(asked.person.file()).unwrap();
    assert!(written.contains("cargo test"), "{written}");
}
