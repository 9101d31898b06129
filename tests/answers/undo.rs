//! What is sent from the full-screen inbox is taken back, or leaves: in its time, and with the terminal.

use askbridge::command::tui::{
    event::{Effect, Key, TuiEvent},
    state::Pane,
};
use askbridge_core::desk::QuestionId;
use rustix::process::{Signal, kill_process};
use serde_json::json;

use super::{
    machine::TestMachine,
    screens::{Scene, database, item, text, world},
    terminal::Terminal,
    tui::{ASK, agent, form, heard, pid},
};

const LONG: [(&str, &str); 1] = [("ASKBRIDGE_SEND_UNDO", "10s")];

fn id(number: u32) -> QuestionId {
    format!("k3f9q2-{number}").parse().unwrap()
}

/// Two questions, of which the first is answered and waits.
fn sent() -> Scene {
    let open = (1..=2).map(|number| item(number, &json!({ "fields": [database()] }), &json!({}))).collect();
    let mut scene = Scene::new((80, 24), world(open));
    scene.keys(&[Key::Enter]);
    scene.types("2");
    scene.keys(&[Key::Control('s')]);
    let submitted =
        scene.effects.iter().any(|effect| matches!(effect, Effect::Submit(of, _) if *of == id(1)));
    assert!(submitted, "{:?}", scene.effects);
    scene.effects = scene.app.handle(TuiEvent::Deferred(vec![id(1)]));
    scene
}

#[test]
fn what_waits_leaves_the_screen_to_the_next_and_comes_back_as_it_was() {
    let mut scene = sent();
    assert_eq!((&scene.app.current, scene.app.pane), (&Some(id(2)), Pane::List));
    assert!(scene.app.is_fresh, "a key was meant for the one before");
    assert!(
        text(&scene.drawn()).contains("2 questions wait, 1 being sent: u takes back"),
        "{}",
        text(&scene.drawn())
    );
    assert!(text(&scene.drawn()).contains("sending … u takes it back"));
    assert!(!scene.app.has_drafts(), "it leaves with the terminal");
    // A letter of a word does nothing.
    scene.app.handle(TuiEvent::Key(Key::Char('j')));
    assert_eq!(scene.app.handle(TuiEvent::Key(Key::Char('u'))), []);
    scene.app.handle(TuiEvent::Quiet);
    assert_eq!(scene.app.handle(TuiEvent::Key(Key::Char('u'))), [Effect::TakeBack(id(1))]);
    scene.app.handle(TuiEvent::Quiet);
    assert_eq!(scene.app.handle(TuiEvent::TakenBack(id(1))), [Effect::Pause]);
    assert_eq!((&scene.app.current, scene.app.pane, scene.app.is_fresh), (&Some(id(1)), Pane::Card, true));
    assert!(text(&scene.drawn()).contains("(*) 2  SQLite"), "{}", text(&scene.drawn()));
    assert!(scene.app.has_drafts());
    // Nothing is left to take back.
    assert_eq!(scene.app.handle(TuiEvent::Key(Key::Char('u'))), []);
}

#[test]
fn what_has_left_is_not_taken_back() {
    let mut scene = sent();
    let question = scene.app.world.open[0].record.clone();
    let over = (*question).clone().settled(askbridge_core::desk::Settlement::new(
        askbridge_core::question::Outcome::Answered(Default::default()),
        askbridge_core::question::Provenance::bridge(),
        question.opened_at,
    ));
    scene.app.handle(TuiEvent::Submitted(id(1), Ok(over.into())));
    assert_eq!(scene.app.handle(TuiEvent::Key(Key::Char('u'))), []);
    assert_eq!(scene.app.current, Some(id(2)));
    // One that is refused says so, and keeps what was chosen.
    let mut scene = sent();
    scene.app.handle(TuiEvent::Submitted(id(1), Err(askbridge_core::desk::Refusal::Unavailable)));
    assert!(text(&scene.drawn()).contains("does not answer"), "{}", text(&scene.drawn()));
    assert!(scene.app.has_drafts() && scene.app.waiting.is_empty());
}

/// Answers the form of the agent, which then waits.
fn answers(terminal: &mut Terminal) {
    terminal.types("\r");
    terminal.screen("( ) 2  SQLite");
    terminal.types("2");
    terminal.screen("(*) 2  SQLite");
    terminal.types("\x13");
    terminal.screen("1 being sent: u takes back");
}

#[test]
fn a_key_takes_it_back_and_leaving_sends_it() {
    for signal in [None, Some(Signal::TERM), Some(Signal::HUP)] {
        let machine = TestMachine::new();
        let (mut bridge, id) = agent(&machine, ASK, &form());
        let mut terminal = Terminal::start_in(&machine, &["tui"], &LONG, 80, 24);
        terminal.list("1 question waits");
        answers(&mut terminal);
        takes_back(&mut terminal, &id);
        terminal.screen("(*) 2  SQLite");
        terminal.types("\x1b");
        terminal.screen("Leave the question?");
        terminal.types("k");
        terminal.list("1 question waits");
        rests(&mut terminal);
        answers_again(&mut terminal);
        match signal {
            None => terminal.types("q"),
            Some(signal) => kill_process(pid(&terminal), signal).unwrap(),
        }
        assert_eq!(heard(&mut bridge)["answers"][0], json!(["lite"]), "{signal:?}");
        terminal.code();
    }
}

/// Presses the key until it counts: soon after another one, it would be a part of a line.
fn takes_back(terminal: &mut Terminal, id: &str) {
    let said = format!("{id} is taken back: nothing was sent");
    while !terminal.emulated().contents().contains(&said) {
        let before = terminal.emulated().contents();
        terminal.types("u");
        // It is drawn again each second, with other times.
        terminal.until("another screen", |screen| screen.contents() != before);
    }
}

/// Waits until a key is one of its own: the screen is drawn again each second, with other times.
pub(super) fn rests(terminal: &mut Terminal) {
    for _ in 0..2 {
        let before = terminal.emulated().contents();
        terminal.until("another screen", |screen| screen.contents() != before);
    }
}

fn answers_again(terminal: &mut Terminal) {
    terminal.types("\r");
    terminal.screen("(*) 2  SQLite");
    terminal.types("\x13");
    terminal.screen("1 being sent: u takes back");
}
