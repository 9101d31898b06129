//! The images that a person adds to an answer: by the command and over HTTP, to an agent that takes them and to one that
//! takes none. Nothing but their pixels reaches it, and no record has their data.

use std::{fs, io::Cursor, path::PathBuf};

use askbridge_os::exit;
use base64::{Engine, prelude::BASE64_STANDARD};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use memchr::memmem;
use serde_json::{Value, json};

use crate::answers::machine::TestMachine;
use crate::http::{client::soon, program::http_in};
use crate::mcp::client::{McpClient, which};

/// A photo with the place where it was taken.
fn photo(width: u32, height: u32) -> Vec<u8> {
    let mut jpeg = Cursor::new(Vec::new());
    let pixels = RgbImage::from_pixel(width, height, Rgb([20, 160, 20]));
    pixels.write_to(&mut jpeg, ImageFormat::Jpeg).unwrap();
    let jpeg = jpeg.into_inner();
    let exif = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\0\0\0\0\0GPS 52.5200N 13.4050E";
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    [&jpeg[..2], &[0xff, 0xe1], &length, exif, &jpeg[2..]].concat()
}

fn file(machine: &TestMachine, name: &str, data: &[u8]) -> String {
    let path: PathBuf = machine.path().join(name);
    fs::write(&path, data).unwrap();
    path.into_os_string().into_string().unwrap()
}

/// Returns the text of a result, and its images, none of which says where it was taken.
fn seen(result: &Value) -> (String, Vec<DynamicImage>) {
    let (text, images) = result["content"].as_array().unwrap().split_first().unwrap();
    let read = |block: &Value| {
        assert_eq!((&block["type"], &block["mimeType"]), (&json!("image"), &json!("image/jpeg")));
        let data = BASE64_STANDARD.decode(block["data"].as_str().unwrap()).unwrap();
        assert!(memmem::find(&data, b"Exif").is_none() && memmem::find(&data, b"GPS").is_none());
        image::load_from_memory(&data).unwrap()
    };
    (text["text"].as_str().unwrap().to_owned(), images.iter().map(read).collect())
}

#[test]
fn the_command_adds_files() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    let call = client.call("ask_user_question", &which());
    let id = machine.question();
    assert!(machine.ok(&["show", &id]).contains(&format!("askbridge answer {id} VALUE [--image FILE]")));
    let photo = file(&machine, "photo.jpg", &photo(3000, 2000));
    let drawing = file(&machine, "drawing.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>");
    let missing = machine.path().join("missing.png").into_os_string().into_string().unwrap();
    for (files, why) in [
        (vec![&drawing], "drawing.png: it is no PNG, JPEG, WebP or GIF"),
        (vec![&photo, &missing], "missing.png"),
        (vec![&photo; 5], "an answer has at most 4 images"),
    ] {
        let images = files.into_iter().flat_map(|file| ["--image", file]);
        let args: Vec<_> = ["answer", &id, "1"].into_iter().chain(images).collect();
        let refused = machine.run(&args);
        assert!(refused.code != 0 && refused.stdout.is_empty(), "{why}: {}", refused.stdout);
        assert!(refused.stderr.contains(why), "{why}: {}", refused.stderr);
    }
    let said = machine.ok(&["answer", &id, "2", "--image", &photo, "--image", &photo]);
    assert!(said.contains("answered"), "{said}");
    let (text, images) = seen(&client.reply(call)["result"]);
    assert!(text.ends_with("Answer: Postgres\nThe person added 2 images, which follow."), "{text}");
    let sizes: Vec<_> = images.iter().map(|image| (image.width(), image.height())).collect();
    assert_eq!(sizes, [(1568, 1045); 2]);
    for args in [&["show", &id][..], &["history", "show", &id], &["history"]] {
        assert!(machine.ok(args).contains("2 images"), "{args:?}");
    }
    for args in [&["show", &id, "--json"][..], &["history", "show", &id, "--json"]] {
        let kept = machine.ok(args);
        assert!(kept.contains("sha256:") && !kept.contains("\"data\""), "{kept}");
    }
    let again = machine.run(&["answer", &id, "--again"]);
    assert_ne!(again.code, 0, "{}", again.stdout);
}

#[tokio::test]
async fn a_program_adds_data_and_is_told_what_is_wrong_with_it() {
    let machine = TestMachine::new();
    let inbox = machine.start(&["inbox", "--addr", "127.0.0.1:0"]);
    let http = http_in(&inbox, machine.path());
    let mut client = McpClient::start(&machine, &[]);
    let call = client.call("ask_user_question", &which());
    let id = machine.question();
    // The inbox finds the process that asks.
    soon("the question", async { while !http.get("/v1/questions").await.body.contains(&id) {} }).await;
    let path = format!("/v1/questions/{id}/reply");
    let answer = |data: &str| json!({ "answers": [["SQLite"]], "images": [{ "data": data }] }).to_string();
    let whole = photo(60, 40);
    let encode = |data: &[u8]| BASE64_STANDARD.encode(data);
    for (data, status, why) in [
        ("no Base64!".to_owned(), 400, "not Base64"),
        (encode(b"<svg/>"), 400, "no PNG, JPEG, WebP or GIF"),
        (encode(&whole[..whole.len() / 2]), 422, "cannot be read as an image"),
        (encode(&[&whole[..], &vec![0; 700 << 10]].concat()), 422, "at most 640 KiB together"),
        (encode(&vec![0; 800 << 10]), 413, "larger"),
    ] {
        let refused = http.post(&path, &answer(&data)).await;
        assert_eq!(refused.status, status, "{why}: {refused:?}");
        assert!(refused.body.contains(why), "{why}: {}", refused.body);
    }
    let given = answer(&encode(&whole));
    http.post(&path, &given).await.is(204);
    let (text, images) = seen(&client.reply(call)["result"]);
    assert!(text.ends_with("Answer: SQLite\nThe person added an image, which follows."), "{text}");
    assert_eq!((images[0].width(), images[0].height()), (60, 40));
    http.post(&path, &given).await.is(204);
    let record = http.get(&format!("/v1/questions/{id}")).await;
    let kept = &record.json()["settlement"]["outcome"]["images"];
    let expected = json!([{ "type": "image/jpeg", "bytes": whole.len(), "width": 60, "height": 40,
        "digest": kept[0]["digest"] }]);
    assert_eq!(kept, &expected);
}

#[test]
fn an_agent_that_takes_none_is_sent_none() {
    let machine = TestMachine::new();
    let mut bridge = machine.start(&["run", "--client-questions", "none", "--", "cat"]);
    let params = json!({ "sessionId": "s", "questionId": "q", "prompt": "Which?", "options": ["A", "B"] });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "_sandboxagent/session/request_question", "params": params });
    bridge.send(&request.to_string());
    let id = machine.question();
    let photo = file(&machine, "photo.jpg", &photo(60, 40));
    let refused = machine.run(&["answer", &id, "A", "--image", &photo]);
    assert_eq!((refused.code, &*refused.stdout), (exit::DOES_NOT_FIT.into(), ""));
    assert!(refused.stderr.contains("this agent takes no image in an answer"), "{}", refused.stderr);
    let shown = machine.ok(&["show", &id]);
    assert!(shown.contains("Which?") && !shown.contains("--image"), "{shown}");
}

#[tokio::test]
async fn a_program_that_asks_takes_none() {
    let machine = TestMachine::new();
    let inbox = machine.start(&["inbox", "--addr", "127.0.0.1:0"]);
    let http = http_in(&inbox, machine.path());
    let field = json!({ "name": "f", "label": "F", "kind": "text" });
    let asked = json!({ "message": "Which?", "fields": [field], "takesImages": true, "wait": false });
    let refused = http.post("/v1/questions", &asked.to_string()).await;
    refused.is(400);
    assert!(refused.body.contains("takesImages"), "{}", refused.body);
    let question = json!({ "questionId": "q", "message": "Which?", "fields": [field], "origin": "program",
        "dangerous": false, "blocking": false, "takesImages": true });
    for method in ["question_ask", "question_keep"] {
        let params = json!({ "question": question });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let refused = http.post("/rpc", &call.to_string()).await;
        assert!(refused.body.contains("takesImages: a program gets no image"), "{method}: {}", refused.body);
    }
}
