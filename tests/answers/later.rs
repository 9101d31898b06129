//! What a person sets aside: every view agrees, it is back in time, and nobody is told but those who answer.

use serde_json::Value;

use crate::{
    answers::{machine::name, person::Person},
    support::Process,
};

/// The open questions as `list --json` has them.
fn listed(person: &Person, args: &[&str]) -> Vec<Value> {
    let list: Value = serde_json::from_str(&person.ok(&[&["list", "--json"], args].concat())).unwrap();
    list["questions"].as_array().unwrap().clone()
}

fn titles(questions: &[Value]) -> String {
    questions.iter().map(|question| question["title"].as_str().unwrap()).collect::<Vec<_>>().join(", ")
}

#[test]
fn what_is_set_aside_stands_last_and_can_be_answered() {
    let person = Person::new();
    let mut first = Process::spawn(&mut person.command(&["ask", "--json", "First?"]));
    person.machine.questions(1);
    let _second = Process::spawn(&mut person.command(&["ask", "Second?"]));
    let open = person.machine.questions(2);
    let [first_id, second_id] = ["First?", "Second?"]
        .map(|title| open.iter().find(|question| question["title"] == title).map(name).unwrap());
    let said = person.ok(&["later", &first_id, "2h"]);
    assert!(said.starts_with(&format!("{first_id} set aside: back in ")), "{said}");
    let all = listed(&person, &[]);
    assert_eq!(titles(&all), "Second?, First?");
    assert!(all[1]["later"].is_string() && all[0]["later"].is_null(), "{all:?}");
    assert_eq!(titles(&listed(&person, &["--later"])), "First?");
    let table = person.ok(&["list"]);
    assert!(table.lines().nth(2).unwrap().contains(" later "), "{table}");
    // Until when is said in several ways, and anything else is refused.
    for until in ["23:59", "tomorrow", "1h 30m"] {
        assert!(person.ok(&["later", &second_id, until]).contains(" set aside: back in "), "{until}");
    }
    for (args, said) in [
        (&["later", &*first_id, "soon"][..], "it is how long, such as 30m or 2h"),
        (&["later", &*first_id], "until when?"),
        (&["later"], "which question?"),
    ] {
        let run = person.run(args);
        assert!(run.code == 2 && run.stderr.contains(said), "{args:?}: {}", run.stderr);
    }
    assert_eq!(person.ok(&["later", &second_id, "now"]), format!("{second_id} back in the list\n"));
    assert_eq!(titles(&listed(&person, &["--later"])), "First?");
    person.ok(&["answer", &first_id, "yes, it can be"]);
    first.expect("the answer", |line| line.contains("yes, it can be"));
    let run = person.run(&["later", &first_id, "2h"]);
    assert_eq!(run.code, 4, "it is over: {}", run.stderr);
}

#[cfg(feature = "tui")]
mod screen {
    use std::{sync::Arc, time::Duration};

    use askbridge::command::tui::event::{Effect, InboxState, Key, TuiEvent};
    use askbridge_core::desk::{Record, Submission};
    use serde_json::json;

    use crate::answers::screens::{Scene, check, database, item, text, world};

    fn two(is_aside: bool) -> InboxState {
        let later = if is_aside { json!({ "later": "1970-01-02T02:00:00Z" }) } else { json!({}) };
        world(vec![
            item(1, &json!({ "fields": [database()] }), &later),
            item(2, &json!({ "message": "Deploy?", "fields": [database()] }), &json!({})),
        ])
    }

    #[test]
    fn the_list_has_what_is_set_aside_at_its_end() {
        check("later", || two(true), |scene| scene.keys(&[Key::Char('G'), Key::Enter]));
        let mut scene = Scene::new((80, 24), two(false));
        scene.keys(&[Key::Enter, Key::Char('l')]);
        check(
            "later_typed",
            || two(false),
            |scene| {
                scene.keys(&[Key::Enter, Key::Char('l')]);
                scene.types("14:00");
            },
        );
        // A number is the beginning of a time here, and chooses nothing.
        scene.types("30m");
        assert_eq!(scene.effects, []);
        scene.keys(&[Key::Enter]);
        let [Effect::Later(id, typed)] = &*scene.effects else { panic!("{:?}", scene.effects) };
        assert_eq!((id.number, &**typed), (1, "30m"));
        // It is said, and the next question is shown, without keys that were on their way.
        let aside = Arc::clone(&two(true).open[0].record);
        scene.effects = scene.app.handle(TuiEvent::Submitted(id.clone(), Ok(aside)));
        assert!(text(&scene.drawn()).contains("k3f9q2-1 set aside: back in 2h"), "{}", text(&scene.drawn()));
        assert_eq!((scene.app.current.as_ref().unwrap().number, scene.app.is_fresh), (2, true));
        assert!(text(&scene.drawn()).contains("1 question waits, 1 later"), "{}", text(&scene.drawn()));
        // It is news once it is back.
        scene.app.handle(TuiEvent::World(two(true)));
        let effects = scene.app.handle(TuiEvent::World(two(false)));
        assert!(matches!(&*effects, [Effect::Tell(told)] if told.contains("Which database")), "{effects:?}");
    }

    #[test]
    fn the_same_key_brings_it_back_and_a_line_for_another_program_does_not_set_aside() {
        let mut scene = Scene::new((80, 24), two(true));
        scene.keys(&[Key::Char('G'), Key::Enter, Key::Char('l')]);
        let [Effect::Submit(id, Submission::Later(time))] = &*scene.effects else {
            panic!("{:?}", scene.effects)
        };
        assert_eq!((id.number, *time), (1, Duration::ZERO));
        let back = Arc::new(Record { later: None, ..Record::clone(&two(true).open[0].record) });
        scene.app.handle(TuiEvent::Submitted(id.clone(), Ok(back)));
        assert!(text(&scene.drawn()).contains("back in the list"), "{}", text(&scene.drawn()));
        for line in ["ls", "ls 30m", "l30m"] {
            let mut scene = Scene::new((80, 24), two(false));
            scene.keys(&[Key::Enter]);
            for key in line.chars().map(Key::Char).chain([Key::Enter]) {
                scene.effects.extend(scene.app.handle(TuiEvent::Key(key)));
            }
            assert_eq!(scene.effects, [], "{line}");
        }
        let mut scene = Scene::new((80, 24), two(false));
        scene.app.handle(TuiEvent::Refused("\"x\": it is how long".to_owned()));
        assert!(text(&scene.drawn()).contains("it is how long"));
    }
}
