//! `list` on a terminal: as wide and as high as that is.

use std::{
    fs::{File, OpenOptions},
    io::Read,
    process::Stdio,
};

use rustix::{
    process::{Pid, Signal, WaitOptions, kill_process, waitpid},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use serde_json::json;

use crate::answers::machine::{TestMachine, name};
use crate::support::Process;
use crate::support::running::Running;

/// Starts a command on a terminal of this size, and returns where that can be read.
fn start(machine: &TestMachine, args: &[&str], ws_col: u16, ws_row: u16) -> (Running, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    tcsetwinsize(&master, Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let slave = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = OpenOptions::new().read(true).write(true).open(slave).unwrap();
    let running = Running::start(machine.command(args), Stdio::null(), slave);
    (running, File::from(master))
}

/// Reads what is shown until it fits, or the command ends.
fn shown(screen: &mut File, fits: impl Fn(&str) -> bool) -> String {
    let (mut text, mut chunk) = (Vec::new(), [0; 4096]);
    // Once no process has it open any more, reading it fails.
    while let Ok(count) = screen.read(&mut chunk) {
        text.extend(&chunk[..count]);
        if count == 0 || fits(&String::from_utf8_lossy(&text)) {
            break;
        }
    }
    String::from_utf8(text).unwrap().replace("\r\n", "\n")
}

/// Asks on behalf of an agent, in a session with a wide name.
fn asks(machine: &TestMachine) -> Process {
    let question = "データベースはどれを使いますか? ".repeat(5);
    let params = json!({ "sessionId": "セッション", "prompt": question, "options": ["はい"] });
    let method = "_sandboxagent/session/request_question";
    let line = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let agent = r#"printf '%s\n' "$1"; exec cat"#;
    machine.start(&["run", "--client-questions", "none", "--", "sh", "-c", agent, "sh", &line])
}

#[test]
fn a_list_is_as_wide_as_the_terminal_and_its_columns_stand_below_each_other() {
    let machine = TestMachine::new();
    let _asks = asks(&machine);
    let id = name(&machine.questions(1)[0]);
    let (mut list, mut screen) = start(&machine, &["list"], 70, 24);
    let text = shown(&mut screen, |_| false);
    assert_eq!(list.wait().code(), Some(0), "{text}");
    let [head, row] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert!(row.starts_with(&id) && row.ends_with('…'), "{text}");
    let before = |line: &str, word: &str| askbridge_os::terminal::width(line.split_once(word).unwrap().0);
    assert_eq!(before(head, "QUESTION"), before(row, "データ"), "{text}");
    assert!([69, 70].contains(&askbridge_os::terminal::width(row)), "{text}");
}

#[test]
fn the_question_is_seen_on_a_narrow_terminal() {
    let machine = TestMachine::new();
    let _asks = asks(&machine);
    machine.questions(1);
    let (mut list, mut screen) = start(&machine, &["list"], 40, 24);
    let text = shown(&mut screen, |_| false);
    assert_eq!(list.wait().code(), Some(0), "{text}");
    let [head, row] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert!(head.ends_with("QUESTION") && row.contains("データベース"), "{text}");
    assert!(text.lines().all(|line| askbridge_os::terminal::width(line) <= 40), "{text}");
}

#[test]
fn a_watched_list_is_as_high_as_the_terminal_and_shows_the_first() {
    let machine = TestMachine::new();
    let _client = machine.client("native", "several questions", &[], &[]);
    let ids: Vec<_> = machine.questions(3).iter().map(name).collect();
    let (mut watch, mut screen) = start(&machine, &["list", "--watch"], 80, 4);
    let mut text = shown(&mut screen, |text| text.matches("2 more").count() == 2);
    assert!(text.starts_with("\x1b[?1049h"), "the scrollback is left alone: {text:?}");
    assert!(!text.contains("\x1b[2J"), "{text:?}");
    let drawn: Vec<_> = text.split("\x1b[H").filter(|drawn| drawn.contains("2 more")).collect();
    assert!(drawn.len() == 2, "it is drawn again: {text:?}");
    for drawn in drawn {
        let lines: Vec<_> = drawn.lines().map(|line| line.trim_end_matches("\x1b[K")).collect();
        assert!(lines[0].starts_with("ID ") && lines[1].starts_with(&ids[0]), "{text:?}");
        assert_eq!(lines[2], "… and 2 more", "{text:?}");
    }
    let pid = Pid::from_raw(watch.pid().cast_signed()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    text += &shown(&mut screen, |_| false);
    assert_eq!(watch.wait().code(), Some(130), "{text:?}");
    assert!(text.ends_with("\x1b[H\x1b[J\x1b[?7h\x1b[?25h\x1b[?1049l"), "the screen is as it was: {text:?}");
}

#[test]
fn a_stopped_watch_gives_the_terminal_back_and_draws_again_when_it_goes_on() {
    let machine = TestMachine::new();
    let _asks = asks(&machine);
    let id = name(&machine.questions(1)[0]);
    let (mut watch, mut screen) = start(&machine, &["list", "--watch"], 80, 24);
    let pid = Pid::from_raw(watch.pid().cast_signed()).unwrap();
    let text = shown(&mut screen, |text| text.contains(&id));
    assert!(text.contains(&id), "{text:?}");
    // Ctrl-Z.
    kill_process(pid, Signal::TSTP).unwrap();
    let left = |text: &str| text.contains("\x1b[H\x1b[J\x1b[?7h\x1b[?25h\x1b[?1049l");
    let text = shown(&mut screen, left);
    assert!(left(&text), "{text:?}");
    let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
    assert!(status.stopped(), "{status:?}");
    // `fg`.
    kill_process(pid, Signal::CONT).unwrap();
    let drawn = |text: &str| text.contains("\x1b[?1049h") && text.contains(&id);
    let text = shown(&mut screen, drawn);
    assert!(drawn(&text) && text.find("\x1b[?1049h") < text.find(&id), "{text:?}");
    kill_process(pid, Signal::INT).unwrap();
    assert!(shown(&mut screen, |_| false).ends_with("\x1b[?1049l"));
    assert_eq!(watch.wait().code(), Some(130));
}

#[test]
fn watching_ends_once_stdout_is_closed() {
    let machine = TestMachine::new();
    for args in [&["list", "--watch"][..], &["list", "--watch", "--json"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut watch = Running::start(machine.command(args), Stdio::null(), writer);
        // Nothing changes from now on.
        drop(reader);
        assert_eq!(watch.wait().code(), Some(0), "{args:?}");
    }
}
