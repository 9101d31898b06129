//! The images of a question in `askbridge tui`, on terminals that show them, each in its own way, and on others: what is
//! written for an image is left to the unit tests of `src/command/tui`.

use std::io::Cursor;

use base64::{Engine, prelude::BASE64_STANDARD};
use image::{ImageFormat, Rgba, RgbaImage};
use serde_json::{Value, json};

use crate::answers::{machine::TestMachine, terminal::Terminal};
use crate::support::Process;

/// What a terminal is asked.
const QUERY: &str = "\x1b[>q\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[16t\x1b[c";
const KITTY: &str = "\x1bP>|kitty(0.42.1)\x1b\\\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t\x1b[?62;52;c";
const FOOT: &str = "\x1bP>|foot(1.22.3)\x1b\\\x1b[6;20;10t\x1b[?62;4;22;28;29c";

/// An image of 20×40 pixels in one colour.
fn png(colour: [u8; 3]) -> Vec<u8> {
    let [red, green, blue] = colour;
    let mut data = Vec::new();
    let image = RgbaImage::from_pixel(20, 40, Rgba([red, green, blue, 255]));
    image.write_to(&mut Cursor::new(&mut data), ImageFormat::Png).unwrap();
    data
}

/// Lets an agent ask for a permission with these images.
fn asks(machine: &TestMachine, images: &[&[u8]]) -> (Process, String) {
    let block = |image: &&[u8]| {
        let data = BASE64_STANDARD.encode(image);
        json!({ "type": "content", "content": { "type": "image", "mimeType": "image/png", "data": data } })
    };
    let content: Value = images.iter().map(block).collect();
    let call = json!({ "toolCallId": "t", "title": "Publish this", "kind": "other", "content": content });
    let options = json!([{ "optionId": "a", "name": "Allow", "kind": "allow_once" }, { "optionId": "r", "name": "Reject", "kind": "reject_once" }]);
    let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
    let mut bridge = machine.start(&["run", "--client-questions", "none", "--", "cat"]);
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": params });
    bridge.send(&line.to_string());
    let id = machine.question();
    (bridge, id)
}

/// Opens the question, and asks for its images.
fn open(machine: &TestMachine, variables: &[(&str, &str)]) -> Terminal {
    let mut terminal = Terminal::start_in(machine, &["tui"], variables, 80, 24);
    terminal.list("1 question waits");
    terminal.types("\r");
    terminal.screen("i shows");
    assert!(!terminal.text.contains("\x1b[c"), "nothing is asked before an image is: {:?}", terminal.text);
    terminal.types("i");
    terminal
}

/// Leaves the question, and quits.
fn quits(mut terminal: Terminal) {
    // Once no key was pressed for a while: `i` may begin a word, in which `q` is a letter.
    terminal.screen("Enter decide");
    terminal.types("\x1b");
    // Esc and a letter at once would be a key with Alt.
    terminal.screen("Enter open");
    terminal.types("q");
    assert_eq!(terminal.code(), 0, "{}", terminal.text);
    assert_eq!((terminal.echoes(), terminal.is_alternate()), ((true, true), false));
}

#[test]
fn a_terminal_of_kittys_protocol_gets_each_image_and_forgets_it() {
    let machine = TestMachine::new();
    let (_bridge, _) = asks(&machine, &[&png([255, 0, 0]), &png([0, 0, 255])]);
    let mut terminal = open(&machine, &[]);
    terminal.replies(QUERY, KITTY);
    terminal.expect("\x1b[2;40H\x1b_Ga=T,f=100,i=31,p=1,C=1,c=2,r=2,q=2,m=0;");
    terminal.screens(&["image 1: PNG, 20×40", "1 of 2"]);
    let one = terminal.text.clone();
    // It is asked once.
    terminal.types("j");
    terminal.expect("\x1b_Ga=d,d=I,i=31,q=2\x1b\\");
    terminal.expect("\x1b[2;40H\x1b_Ga=T");
    terminal.screens(&["image 2: PNG, 20×40", "2 of 2"]);
    assert_eq!(terminal.text.matches(QUERY).count(), 1);
    assert!(terminal.text[one.len()..].contains("\x1b[2J"), "the one before is cleared");
    // It is fitted to another size of the terminal.
    terminal.resize(60, 20);
    terminal.expect("\x1b[2;30H\x1b_Ga=T");
    // Nothing is decided while it is in front, and the question is there again without it.
    terminal.types("\r");
    terminal.types("\x1b");
    terminal.expect("\x1b_Ga=d,d=I,i=31,q=2\x1b\\");
    terminal.screens(&["( ) 1  Allow", "i shows them"]);
    quits(terminal);
}

#[test]
fn a_terminal_with_sixels_gets_sixels_and_one_of_iterm2_its_own() {
    let machine = TestMachine::new();
    let (_bridge, _) = asks(&machine, &[&png([255, 0, 0])]);
    let mut terminal = open(&machine, &[]);
    terminal.replies(QUERY, FOOT);
    // Six bands of six pixels and one of four, each of 20 in a row.
    let sixels = format!("\x1bP0;1;0q\"1;1;20;40#0;2;100;0;0{}#0!20N-\x1b\\", "#0!20~-".repeat(6));
    terminal.expect(&format!("\x1b[2;40H{sixels}"));
    terminal.types("\x1b");
    quits(terminal);

    let mut terminal = open(&machine, &[("TERM_PROGRAM", "iTerm.app")]);
    terminal.replies(QUERY, "\x1b[?62;4c");
    terminal.expect("\x1b[2;40H\x1b]1337;File=inline=1;size=");
    terminal.expect(";width=2;height=2;preserveAspectRatio=0;doNotMoveCursor=1:");
    terminal.types("\x1b");
    quits(terminal);
}

#[test]
fn a_terminal_that_does_not_reply_shows_half_blocks_and_takes_its_keys() {
    let machine = TestMachine::new();
    let (_bridge, _) = asks(&machine, &[&png([255, 0, 0])]);
    let mut terminal = open(&machine, &[]);
    terminal.expect(QUERY);
    terminal.screen("▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀");
    let red = vt100::Color::Idx(196);
    let cell = terminal.emulated().cell(1, 40).unwrap();
    assert_eq!((cell.contents(), cell.fgcolor(), cell.bgcolor()), ("▀", red, red));
    // The reply comes late: it is no key.
    terminal.types(KITTY);
    terminal.types("\x1b");
    terminal.screen("( ) 1  Allow");
    // It is asked again, since it did not reply. What is typed meanwhile counts.
    terminal.types("i");
    terminal.expect(QUERY);
    terminal.types("\x1b");
    quits(terminal);

    // A terminal without colours, or one that has only letters, says so. The latter would print what it is asked.
    for variables in [("NO_COLOR", "1"), ("TERM", "linux")] {
        let mut terminal = open(&machine, &[variables]);
        if variables.0 == "NO_COLOR" {
            terminal.replies(QUERY, "\x1b[?6c");
        }
        terminal.screens(&["The image is not shown: this terminal shows none.", "--image 1 > image.png"]);
        terminal.types("\x1b");
        assert_eq!(terminal.text.contains(QUERY), variables.0 == "NO_COLOR");
        quits(terminal);
    }
}

#[test]
fn an_image_goes_with_its_question_and_a_damaged_one_is_named() {
    let machine = TestMachine::new();
    let mut damaged = png([255, 0, 0]);
    damaged.truncate(40);
    let (_bridge, id) = asks(&machine, &[&damaged]);
    let mut terminal = open(&machine, &[]);
    terminal.replies(QUERY, KITTY);
    terminal.screen("The image is not shown: its data is damaged.");
    machine.ok(&["allow", &id, "--yes"]);
    terminal.screen(&format!("{id} is over"));
    terminal.screen("nothing waits");
    // Its data is gone with it.
    terminal.types("i");
    terminal.screen("The image is not shown:");
    terminal.types("\x1b");
    terminal.screen("Esc list");
    terminal.types("\x03");
    assert_eq!(terminal.code(), 0, "{}", terminal.text);
}
