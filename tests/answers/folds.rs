//! Long runs of unchanged lines are folded, and what acts is allowed only once they were shown.

use askbridge::command::tui::event::{Effect, Key};
use serde_json::{Value, json};

use super::screens::{Scene, check, one, permission, text};

/// A change of a file at its beginning and at its end, with this much of it between.
fn change(lines: usize, risk: &str) -> Value {
    let same: String = (1..=lines).map(|n| format!("line {n}\n")).collect();
    let [old, new] = [("one", "two"), ("ONE", "TWO")].map(|(first, last)| format!("{first}\n{same}{last}\n"));
    let diff = json!({ "path": "/src/payments/src/a.rs", "line": 1, "old": old, "new": new });
    let mut asked = permission(false);
    asked["message"] = "Edit a.rs".into();
    asked["risk"] = risk.into();
    asked["subject"] = json!({ "kind": "edit", "locations": ["/src/payments/src/a.rs"], "diffs": [diff] });
    asked
}

#[test]
fn a_key_shows_what_is_folded_and_folds_it_again() {
    check("folded", || one(change(40, "plain")), |scene| scene.keys(&[Key::Enter]));
    let mut scene = Scene::new((80, 60), one(change(40, "plain")));
    scene.keys(&[Key::Enter]);
    let folded = text(&scene.drawn());
    assert!(folded.contains("… 34 unchanged lines") && folded.contains("f unfold"), "{folded}");
    assert!(folded.contains("src/a.rs") && !folded.contains("/src/payments/src/a.rs"), "{folded}");
    scene.keys(&[Key::Char('f')]);
    let whole = text(&scene.drawn());
    assert!(!whole.contains("unchanged lines") && whole.contains("line 20"), "{whole}");
    scene.keys(&[Key::Char('f')]);
    assert_eq!(text(&scene.drawn()), folded);
}

#[test]
fn what_acts_is_allowed_once_its_folded_lines_were_in_view() {
    let is_sent = |scene: &Scene| matches!(&*scene.effects, [Effect::Submit(..)]);
    for (risk, lines, allows) in [("plain", 40, true), ("acts", 6, true), ("acts", 40, false)] {
        let mut scene = Scene::new((80, 60), one(change(lines, risk)));
        scene.keys(&[Key::Enter, Key::Char('2'), Key::Enter]);
        assert_eq!(is_sent(&scene), allows, "{risk}, {lines} lines");
        if allows {
            continue;
        }
        assert!(text(&scene.drawn()).contains("f shows what is folded"), "{risk}");
        scene.keys(&[Key::Char('f'), Key::Enter]);
        assert!(is_sent(&scene), "{risk}: all of it is in view");
    }
    // What is longer now was not read to its end.
    let mut scene = Scene::new((80, 24), one(change(200, "acts")));
    scene.keys(&[Key::Enter, Key::PageDown, Key::PageDown, Key::Char('f'), Key::Char('2'), Key::Enter]);
    assert!(!is_sent(&scene) && text(&scene.drawn()).contains("Read it to its end"));
}
