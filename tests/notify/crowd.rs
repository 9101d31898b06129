//! Many questions at once: so many notifiers run for one user and no more, and the last says how many more wait.

use std::fs::{self, File};

use askbridge::limits;
use askbridge_os::exit;
use rustix::fs::{FlockOperation, flock};

use crate::answers::machine::end;
use crate::notify::server::{Manner, Server};
use crate::notify::stage::{Stage, notifiers, question, wait};

/// Takes the places of so many notifiers.
fn take(stage: &Stage, count: usize) -> Vec<File> {
    drop(stage.machine.run(&["list"]));
    let take = |number: usize| {
        let path = stage.machine.sockets().join(format!("notify-{number}.lock"));
        let file = File::create(path).unwrap();
        flock(&file, FlockOperation::NonBlockingLockExclusive).unwrap();
        file
    };
    fs::create_dir_all(stage.machine.sockets()).unwrap();
    (0..count).map(take).collect()
}

#[test]
fn no_more_notifiers_run_than_may() {
    let stage = Stage::new().with("ASKBRIDGE_NOTIFY_SOUND_COMMAND", r#"["sleep", "600"]"#);
    let places = take(&stage, limits::NOTIFIERS);
    let (mut bridge, id) = stage.asking(&question("Go?"));
    let refused = end(stage.start(&["notify", &id, "--now"]));
    assert_eq!(refused.code, i32::from(exit::FAILED));
    assert!(refused.stderr.contains("the maximum number of notifiers runs already"), "{}", refused.stderr);
    wait("the end of the refused notifier", || notifiers(bridge.id()).is_empty().then_some(()));
    drop(places);
    let mut told = stage.start(&["notify", &id, "--now"]);
    wait("the command", || {
        fs::read_to_string(format!("/proc/{0}/task/{0}/children", told.id())).ok().filter(|it| !it.is_empty())
    });
    assert_eq!(stage.machine.does(&["answer", &id, "yes"]), format!("{id} answered"));
    assert!(told.wait().code().is_some());
    bridge.close_stdin();
    let bridge = end(bridge);
    assert!(
        !bridge.stderr.contains("notifier"),
        "a notifier that finds no place is no failure: {}",
        bridge.stderr
    );
}

#[test]
fn the_last_of_them_says_how_many_more_questions_wait() {
    let server = Server::start(Manner::Ntfy);
    let stage = Stage::new().with("ASKBRIDGE_NOTIFY_WEBHOOK_URL", &format!("{}/hook", server.url));
    let _places = take(&stage, limits::NOTIFIERS - 1);
    let mut bridge = stage.bridge();
    for number in 0..limits::NOTIFIERS + 2 {
        let request = question(&format!("Number {number}?")).to_string();
        bridge.send(&format!("ask {}", request.replace("\"id\":\"q\"", &format!("\"id\":{number}"))));
    }
    stage.machine.questions(limits::NOTIFIERS + 2);
    let more = server.request("how many more wait", 1, |request| request.body.contains("\"message\""));
    assert!(more.body.contains("2 more questions wait"), "{more:?}");
    let told = server.requests(|request| request.body.contains("\"opened\""));
    assert_eq!(told, 1, "there was one free place");
}
