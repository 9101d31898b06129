//! The webhook: what leaves the machine, and what becomes of a server that hangs or redirects.

use serde_json::Value;

use crate::answers::machine::end;
use crate::notify::server::{Manner, Server};
use crate::notify::stage::{Stage, question};

fn body(request: &crate::notify::server::Request) -> Value {
    serde_json::from_str(&request.body).unwrap()
}

#[test]
fn no_more_is_posted_than_is_set() {
    for (text, has_title, has_question) in [
        (None, false, false),
        (Some("none"), false, false),
        (Some("title"), true, false),
        (Some("all"), true, true),
    ] {
        let server = Server::start(Manner::Ntfy);
        let mut stage =
            Stage::new().with("ASKBRIDGE_NOTIFY_WEBHOOK_URL", &format!("{}/hook?secret=1", server.url));
        if let Some(text) = text {
            stage = stage.with("ASKBRIDGE_NOTIFY_WEBHOOK_TEXT", text);
        }
        let (mut bridge, id) = stage.asking(&question("Delete the database?"));
        let opened = body(&server.request("the question", 1, |request| request.path == "/hook?secret=1"));
        assert_eq!((&opened["event"], &opened["id"]), (&"opened".into(), &id.as_str().into()));
        assert_eq!(opened.to_string().contains("Delete the database?"), has_title, "{opened}");
        assert_eq!(!opened["question"].is_null(), has_question, "{opened}");
        assert_eq!(stage.machine.does(&["answer", &id, "yes"]), format!("{id} answered"));
        bridge.expect("the answer", |line| line.contains("heard"));
        let settled = body(&server.request("the end", 1, |request| request.body.contains("settled")));
        assert_eq!((&settled["event"], &settled["id"]), (&"settled".into(), &id.as_str().into()));
        assert!(settled["text"].is_null() && settled["question"].is_null(), "{settled}");
    }
}

#[test]
fn a_webhook_that_hangs_is_given_up_and_holds_nothing() {
    let server = Server::start(Manner::Hangs);
    let stage = Stage::new().with("ASKBRIDGE_NOTIFY_WEBHOOK_URL", &format!("{}/secret", server.url));
    let (mut bridge, id) = stage.asking(&question("Go?"));
    server.request("the question", 1, |_| true);
    // The data path and the answer go on meanwhile.
    bridge.send("ping");
    bridge.expect("the echo", |line| line == "heard ping");
    let logged = bridge.expect_stderr("the failure", |text| text.contains("webhook: no reply within 10 s"));
    assert!(!logged.contains("/secret"), "{logged}");
    assert_eq!(stage.machine.does(&["answer", &id, "yes"]), format!("{id} answered"));
    bridge.close_stdin();
    assert_eq!(end(bridge).code, 0);
}

#[test]
fn a_redirect_is_not_followed() {
    let server = Server::start(Manner::Redirects);
    let stage = Stage::new().with("ASKBRIDGE_NOTIFY_WEBHOOK_URL", &server.url);
    let (_bridge, id) = stage.asking(&question("Go?"));
    let told = end(stage.start(&["notify", "--now", &id]));
    assert!(told.stderr.contains("webhook: the server redirects (307"), "{}", told.stderr);
    server.request("both questions", 2, |request| request.path == "/");
    let elsewhere = server.requests(|request| request.path == "/elsewhere");
    assert_eq!(elsewhere, 0);
}
