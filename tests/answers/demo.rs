//! `askbridge demo` at a terminal: a question, a permission, the page, and answers from elsewhere.
//! Without a terminal it is tested in `tests/demo.rs`.

use crate::answers::machine::TestMachine;
use crate::answers::terminal::Terminal;

#[test]
fn the_demo_shows_the_page_a_question_and_a_permission() {
    let machine = TestMachine::new();
    // No browser is started where there is no display.
    let variables = [("DISPLAY", ""), ("WAYLAND_DISPLAY", ""), ("BROWSER", ""), ("NO_COLOR", "1")];
    let mut terminal = Terminal::start_in(&machine, &["demo"], &variables, 200, 40);
    terminal.expect("http://127.0.0.1:");
    terminal.expect("#token=");
    terminal.expect("askbridge tui");
    terminal.expect("1-2 (Enter rejects): ");
    terminal.types("1\n");
    terminal.expect("You chose: option-a");
    terminal.expect("rm -rf build");
    terminal.expect("Choose 1 to 3 (? for help): ");
    machine.ok(&["reject", &machine.question()]);
    terminal.expect("answered elsewhere");
    terminal.expect("selected reject-once");
    terminal.expect("askbridge setup connects your agents");
    assert_eq!(terminal.code(), 0);
    let status = machine.run(&["status"]);
    assert!(
        format!("{status:?}").contains("no bridge runs"),
        "the demo's inbox has ended with it: {status:?}"
    );
}

#[test]
fn the_demo_of_one_thing_shows_no_page() {
    let machine = TestMachine::new();
    let mut terminal = Terminal::start_in(&machine, &["demo", "--permission"], &[("NO_COLOR", "1")], 100, 40);
    terminal.expect("Choose 1 to 3 (? for help): ");
    // What is pasted behind the number does not confirm it, and the number does not choose.
    terminal.types("1\nyes\n");
    terminal.expect("Nothing of it was taken: 2 lines came at once");
    terminal.expect("Choose 1 to 3 (? for help): ");
    terminal.types("1\n");
    terminal.expect("`rm` removes or moves files.");
    terminal.expect("Type yes to confirm: ");
    terminal.types("yse\n");
    terminal.expect("Nothing was sent.");
    terminal.expect("Type yes to confirm: ");
    terminal.types("yes\n");
    terminal.expect("selected allow-once");
    assert_eq!(terminal.code(), 0);
    assert!(!terminal.text.contains("http://"), "{}", terminal.text);
}
