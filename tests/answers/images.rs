//! The images of a question, over the real bridge and the real commands: written by request, and kept nowhere else.

use std::{fs, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::answers::machine::TestMachine;
#[cfg(feature = "tui")]
use crate::answers::terminal::Terminal;
use crate::support::Process;

/// A GIF of one pixel, with so many more bytes behind it. It is a text as well.
fn gif(more: usize) -> String {
    "GIF89a\u{1}\0\u{1}\0\0\0\0,\0\0\0\0\u{1}\0\u{1}\0\0\u{2}\u{2}D\u{1}\0;".to_owned() + &"z".repeat(more)
}

fn permission(id: u64, images: &[&str]) -> String {
    let block = |image: &&str| {
        let data = BASE64_STANDARD.encode(image);
        json!({ "type": "content", "content": { "type": "image", "mimeType": "image/gif", "data": data, "uri": "shots/\u{1b}[31ma.gif" } })
    };
    let content: Value = images.iter().map(block).collect();
    let call = json!({ "toolCallId": "t", "title": "Publish this", "kind": "other", "content": content });
    let options = json!([{ "optionId": "a", "name": "Allow", "kind": "allow_once" }, { "optionId": "r", "name": "Reject", "kind": "reject_once" }]);
    let params = json!({ "sessionId": "s", "toolCall": call, "options": options });
    json!({ "jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": params })
        .to_string()
}

/// Lets an agent ask for a permission with these images. Returns its bridge, and the ID of the question.
fn asks(machine: &TestMachine, images: &[&str]) -> (Process, String) {
    // An agent that says what its client says.
    let mut bridge = machine.start(&["run", "--client-questions", "none", "--", "cat"]);
    bridge.send(&permission(1, images));
    let id = machine.question();
    (bridge, id)
}

/// Returns whether a file below a folder has a text.
fn has(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        match kind.is_dir() {
            true => has(&path, text),
            false => {
                kind.is_file() && memchr::memmem::find(&fs::read(&path).unwrap(), text.as_bytes()).is_some()
            }
        }
    })
}

#[test]
fn an_image_is_named_and_written_by_request_until_its_question_is_over() {
    let machine = TestMachine::new();
    // The second one is longer than what one reply has, and with it the line is longer than a question may be.
    let images = [gif(0), gif(2 << 20)];
    let (mut bridge, id) = asks(&machine, &[&images[0], &images[1]]);
    let shown = machine.ok(&["show", &id]);
    assert!(shown.contains("\nimage 1: GIF, 1×1, 29 B, shots/"), "{shown}");
    assert!(
        shown.contains("\nimage 2: GIF, 1×1, 2.0 MB, shots/") && !shown.contains("is not shown"),
        "{shown}"
    );
    assert!(
        shown.contains(&format!("The image itself: askbridge show {id} --image 1 > image.gif")),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    for (number, image) in ["1", "2"].into_iter().zip(&images) {
        assert!(machine.ok(&["show", &id, "--image", number]) == *image, "image {number}");
    }
    let listed = machine.ok(&["show", &id, "--json"]);
    let data = BASE64_STANDARD.encode(&images[0]);
    assert!(listed.contains("sha256:") && !listed.contains(&data[..32]), "{listed}");

    let missing = machine.run(&["show", &id, "--image", "3"]);
    assert_eq!((missing.code, &*missing.stdout), (3, ""));
    assert!(missing.stderr.contains("there is no image 3: it has 2"), "{}", missing.stderr);
    assert_eq!(machine.run(&["show", &id, "--image", "0"]).code, 3);

    machine.ok(&["allow", &id, "--yes"]);
    let gone = machine.run(&["show", &id, "--image", "1"]);
    assert_eq!((gone.code, &*gone.stdout), (3, ""));
    assert!(gone.stderr.contains("images are kept until their question is over"), "{}", gone.stderr);
    bridge.close_stdin();
    assert!(bridge.wait().success());
    assert!(!has(machine.path(), &data[..32]) && !has(machine.path(), "zzzzzzzz"), "a file has an image");
    #[cfg(feature = "journal")]
    assert!(has(machine.path(), "sha256:"), "the journal says which images there were");
}

#[cfg(feature = "tui")]
#[test]
fn a_terminal_gets_a_line_and_no_bytes() {
    let machine = TestMachine::new();
    let image = gif(0);
    let (_bridge, id) = asks(&machine, &[&image]);
    let mut written = Terminal::start(&machine, &["show", &id, "--image", "1"], 120, 24);
    written.screen("an image is not written to a terminal");
    assert_eq!(written.code(), 2, "{}", written.text);
    let mut terminal = Terminal::start(&machine, &["tui"], 80, 24);
    terminal.list("1 question waits");
    terminal.types("\r");
    terminal.screen("image 1: GIF, 1×1, 29 B, shots/");
    terminal.types("\u{3}");
    assert_eq!(terminal.code(), 0, "{}", terminal.text);
}
