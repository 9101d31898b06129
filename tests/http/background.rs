//! `askbridge inbox --detach`, `--stop`, and `askbridge open`, with real processes.

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    process::{Command, Output},
};

use askbridge_os::exit;
use askbridge_os::limits;
use rustix::{
    fs::{CWD, Mode, mkfifoat},
    process::{Pid, Signal, getsid, kill_process, test_kill_process},
};
use tempfile::TempDir;
use tokio::task::{spawn_blocking, yield_now};
#[cfg(target_os = "linux")]
use {
    rustix::process::{Resource, Rlimit, getrlimit, prlimit},
    tokio::{
        io::{AsyncBufReadExt, BufReader},
        net::UnixStream,
    },
};

use crate::http::client::{Http, soon};
use crate::http::page::{login, sign_in};
use crate::http::program::{ask, askbridge, http};
use crate::support::Process;

/// A user with directories of its own. The inbox in the background ends with this.
struct User {
    folder: TempDir,
}

impl User {
    fn new() -> Self {
        User { folder: tempfile::tempdir().unwrap() }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = askbridge(&self.folder, args);
        command.env("XDG_STATE_HOME", self.folder.path().join("state"));
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs a command to its end: it ends although the inbox in the background does not.
    async fn run(&self, args: &[&str]) -> Output {
        self.finish(self.command(args)).await
    }

    async fn finish(&self, mut command: Command) -> Output {
        soon("the end of the command", spawn_blocking(move || command.output().unwrap())).await.unwrap()
    }

    async fn detach(&self) -> Background {
        Background::read(&self.run(&["inbox", "--detach", "--addr", "0"]).await)
    }

    fn token(&self) -> String {
        fs::read_to_string(self.folder.path().join("askbridge/token")).unwrap().trim_end().to_owned()
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.command(&["inbox", "--stop"]).output().unwrap();
    }
}

/// What `--detach` says.
#[derive(Debug, PartialEq)]
struct Background {
    address: String,
    pid: i32,
    ran_already: bool,
}

impl Background {
    fn read(output: &Output) -> Self {
        let said = succeeded(output);
        let (_, rest) = said.split_once("http://").expect("an address");
        let (address, rest) = rest.split_once(" (process ").expect("a process");
        let pid = rest.split(')').next().unwrap().parse().unwrap();
        let ran_already = said.contains("already");
        if !ran_already {
            let (_, token) = said.split_once("programs show the token in ").expect("the file of the token");
            assert!(std::path::Path::new(token.split(';').next().unwrap()).is_file(), "{said}");
        }
        Background { address: address.to_owned(), pid, ran_already }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.pid).unwrap()
    }
}

/// Returns what a command printed, which has succeeded.
#[track_caller]
fn succeeded(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn failed(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(i32::from(exit::FAILED)), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn log_of_the_inbox_in_the_background_has_a_bound_while_it_runs() {
    let user = User::new();
    let folder = user.folder.path().join("state/askbridge");
    let (log, older) = (folder.join("inbox.log"), folder.join("inbox.log.1"));
    fs::create_dir_all(&folder).unwrap();
    // It is nearly full.
    let bound = usize::try_from(limits::LOG).unwrap();
    fs::write(&log, "x".repeat(bound - 300) + "\n").unwrap();
    let first = user.detach().await;
    let http = Http { address: first.address.parse().unwrap(), token: user.token() };
    // What it writes at its start is more than there is room for.
    let until_rotated = async {
        while !older.exists() {
            yield_now().await;
        }
    };
    soon("another file", until_rotated).await;
    let full = fs::read_to_string(&older).unwrap();
    // The announcement of the server is no line of the log, and makes no room for itself.
    assert!(full.len() <= bound + 1000 && full.ends_with('\n'), "{}", full.len());
    // Later lines are in the new file, and in the end no third one is there.
    http.get("/v1/questions").await.is(200);
    succeeded(&user.run(&["inbox", "--stop"]).await);
    let last = fs::read_to_string(&log).unwrap();
    assert!(last.len() < bound && last.contains("DEBUG"), "{last}");
    assert!(full.contains("listening on") || last.contains("listening on"), "{last}");
    fs::write(&log, "x".repeat(bound) + "\n").unwrap();
    user.detach().await;
    assert_eq!(fs::read_to_string(&older).unwrap().len(), bound + 1, "a full log makes room at the start");
    assert!(fs::metadata(&log).unwrap().len() < limits::LOG);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inbox_in_the_background_belongs_to_no_terminal_and_ends_when_told() {
    let user = User::new();
    let first = user.detach().await;
    assert!(!first.ran_already);
    assert_eq!(getsid(Some(first.pid())).unwrap(), first.pid(), "it leads a session of its own");
    let http = Http { address: first.address.parse().unwrap(), token: user.token() };
    http.get("/v1/questions").await.is(200);
    // Another with other options is the same, and says where it is.
    let again = Background::read(&user.run(&["inbox", "--detach", "--addr", "0"]).await);
    assert_eq!(again, Background { ran_already: true, ..first });
    let status = succeeded(&user.run(&["status", "--json"]).await);
    assert!(status.contains(&format!("\"address\": \"{}\"", again.address)), "{status}");
    let log = fs::read_to_string(user.folder.path().join("state/askbridge/inbox.log")).unwrap();
    assert!(log.contains("listening on http://") && log.contains("DEBUG"), "{log}");
    assert!(!log.contains(&http.token));

    let said = succeeded(&user.run(&["inbox", "--stop"]).await);
    assert!(said.contains(&format!("process {}", again.pid)), "{said}");
    TcpListener::bind(&again.address).expect("nothing listens there any more");
    let left = fs::read_dir(user.folder.path().join("askbridge")).unwrap();
    let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["inbox.lock", "token"]);
    let said = succeeded(&user.run(&["inbox", "--stop"]).await);
    assert!(said.contains("no askbridge inbox runs in the background"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_inbox_in_the_background_is_stopped() {
    let user = User::new();
    let inbox = Process::spawn(&mut user.command(&["inbox", "--addr", "0"]));
    let foreground = http(&inbox, &user.folder);
    assert!(succeeded(&user.run(&["inbox", "--stop"]).await).contains("no askbridge inbox"));
    let background = user.detach().await;
    assert_ne!(background.address, foreground.address.to_string());
    succeeded(&user.run(&["inbox", "--stop"]).await);
    foreground.get("/v1/questions").await.is(200);
    // `open` uses the one that is left.
    let address = succeeded(&user.run(&["open", "--print"]).await);
    assert!(address.starts_with(&format!("http://{}/#token=", foreground.address)), "{address}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_that_start_at_once_are_one() {
    let user = User::new();
    let (one, other) = tokio::join!(user.detach(), user.detach());
    assert_eq!((&one.address, one.pid), (&other.address, other.pid));
    assert!(one.ran_already != other.ran_already, "{one:?} {other:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_inbox_is_in_the_way_of_none() {
    let user = User::new();
    let first = user.detach().await;
    kill_process(first.pid(), Signal::KILL).unwrap();
    // Its connections end with it.
    soon("its end", async { while user.run(&["inbox", "--stop"]).await.stdout.starts_with(b"ended") {} })
        .await;
    let second = user.detach().await;
    assert!(!second.ran_already && second.pid != first.pid);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn inbox_that_cannot_start_says_why() {
    let user = User::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = failed(&user.run(&["inbox", "--detach", "--addr", &address]).await);
    assert!(said.contains(&format!("cannot listen on {address}")), "{said}");
    assert!(!user.detach().await.ran_already, "nothing is left of it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_prints_an_address_that_signs_one_browser_in() {
    let user = User::new();
    let background = user.detach().await;
    for args in [&["open", "--print"][..], &["open"]] {
        let output = user.run(args).await;
        let said = succeeded(&output);
        let (address, code) = said.trim_end().split_once("/#token=").unwrap_or_else(|| panic!("{said}"));
        assert_eq!(address, format!("http://{}", background.address));
        assert_ne!(code, user.token());
        let without_browser = String::from_utf8_lossy(&output.stderr).contains("no browser could be started");
        assert_eq!(without_browser, args == ["open"], "{output:?}");
        let http = Http { address: background.address.parse().unwrap(), token: user.token() };
        sign_in(&http, code).await;
        login(&http, code).await.is(401);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_says_which_setting_leads_away_from_a_taken_port() {
    let user = User::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = user.command(&["open", "--print"]);
    command.env("ASKBRIDGE_INBOX_ADDRESS", taken.local_addr().unwrap().to_string());
    let said = failed(&user.finish(command).await);
    assert!(said.contains("askbridge config set inbox.address ADDRESS"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_starts_a_browser_at_a_question() {
    let user = User::new();
    user.detach().await;
    let args = ["run", "--client-questions", "none", "--", env!("CARGO_BIN_EXE_askbridge"), "mock-agent"];
    let mut run = Process::spawn(&mut user.command(&args));
    ask(&mut run, "session-1");
    let listed = soon("a question", async {
        loop {
            let listed = succeeded(&user.run(&["list", "--json"]).await);
            if listed.contains("\"id\"") {
                return listed;
            }
        }
    })
    .await;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let id = listed["questions"][0]["id"].as_str().unwrap().to_owned();

    // A browser that says which address it was started with.
    let (programs, told) = (user.folder.path().join("programs"), user.folder.path().join("told"));
    fs::create_dir(&programs).unwrap();
    let browser = programs.join("xdg-open");
    fs::write(&browser, format!("#!/bin/sh\nprintf '%s' \"$1\" > '{}'\n", told.display())).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o700)).unwrap();
    let open = |id: &str| {
        let mut command = user.command(&["open", id]);
        command.env("DISPLAY", ":0").env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
        command
    };

    let unknown = user.finish(open("nosuch-1")).await;
    assert_eq!(unknown.status.code(), Some(i32::from(exit::NO_QUESTION)), "{unknown:?}");
    assert!(!told.exists(), "no browser was started");

    mkfifoat(CWD, &told, Mode::RUSR | Mode::WUSR).unwrap();
    let reads = spawn_blocking(move || fs::read_to_string(told).unwrap());
    let said = succeeded(&user.finish(open(&id)).await);
    assert!(said.starts_with("opened http://127.0.0.1:") && !said.contains("token"), "{said}");
    let address = soon("an address", reads).await.unwrap();
    assert!(address.contains("/#token=") && address.ends_with(&format!("&question={id}")), "{address}");
    assert!(!address.contains(&user.token()));
    assert!(test_kill_process(Pid::from_raw(i32::try_from(run.id()).unwrap()).unwrap()).is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bridge_that_serves_says_where_in_its_status() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["run", "--serve=0", "--", env!("CARGO_BIN_EXE_askbridge"), "mock-agent"];
    let run = Process::spawn(&mut askbridge(&folder, &args));
    let http = http(&run, &folder);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"bridge_status"}"#;
    let status = http.post("/rpc", call).await.is(200).json();
    assert_eq!(status["result"][0]["address"], http.address.to_string(), "{status}");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_inbox_that_was_out_of_file_descriptors_is_found_again() {
    let user = User::new();
    let inbox = user.detach().await;
    let limit = getrlimit(Resource::Nofile);
    // With fewer, the inbox could not replace its stdout, which it does once it has told its address.
    prlimit(Some(inbox.pid()), Resource::Nofile, Rlimit { current: Some(3), ..limit }).unwrap();
    let socket = user.folder.path().join("askbridge/inbox-detached.sock");
    let visitor = UnixStream::connect(socket).await.unwrap();
    let log = user.folder.path().join("state/askbridge/inbox.log");
    let until_said = async {
        let lines = ["commands cannot find this inbox", "cannot look for bridges"];
        let said = || fs::read_to_string(&log).unwrap();
        while !lines.iter().all(|line| said().contains(line)) {
            yield_now().await;
        }
    };
    soon("two lines of the log", until_said).await;
    prlimit(Some(inbox.pid()), Resource::Nofile, limit).unwrap();
    let mut told = String::new();
    soon("the address", BufReader::new(visitor).read_line(&mut told)).await.unwrap();
    assert_eq!(told.trim_end(), inbox.address);
    assert_eq!(user.detach().await, Background { ran_already: true, ..inbox });
}
