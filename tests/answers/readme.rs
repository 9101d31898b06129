//! The README and the pages that it sends users to: each of their shell blocks does what it says. Programs that a test cannot
//! run are stood in for: cargo builds nothing, git clones nothing, and npx is the mock agent.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use serde_json::{Value, json};

use crate::{
    answers::machine::{ASKBRIDGE, TestMachine},
    support::Process,
};

/// A fenced block, with the language of its fence.
#[derive(Debug)]
struct Block {
    language: String,
    text: String,
}

/// The pages whose shell blocks are all run here.
const PAGES: [&str; 4] = ["README.md", "docs/editors.md", "docs/machines.md", "docs/terminal.md"];

/// Returns the shell blocks of a page, in their order.
fn blocks(page: &str) -> Vec<Block> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let text = fs::read_to_string(path).unwrap();
    let fenced = text.split("\n```").skip(1).step_by(2);
    let blocks = fenced.map(|block| {
        let (language, text) = block.split_once('\n').unwrap();
        Block { language: language.to_owned(), text: text.to_owned() }
    });
    blocks.filter(|block| ["sh", "bash", "console"].contains(&&*block.language)).collect()
}

/// Returns the block that has this text. Fails unless there is one.
#[track_caller]
fn block(part: &str) -> String {
    let blocks = PAGES.iter().flat_map(|page| blocks(page)).filter(|block| block.text.contains(part));
    let [block] = &blocks.collect::<Vec<_>>()[..] else { panic!("not one block has {part:?}") };
    block.text.clone()
}

/// Returns the arguments that a command of `.cargo/config.toml` hands to the program which it builds.
fn alias(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cargo/config.toml");
    let text = fs::read_to_string(path).unwrap();
    let begin = format!("{name} = \"run --locked ");
    let command = text.lines().find_map(|line| line.strip_prefix(&begin)?.strip_suffix('"')).unwrap();
    command.split_once(" -- ").unwrap().1.to_owned()
}

/// A folder that a block is run in: with the programs that it calls, and a home.
struct Folder<'a> {
    machine: &'a TestMachine,
}

impl<'a> Folder<'a> {
    fn new(machine: &'a TestMachine) -> Self {
        let folder = Folder { machine };
        folder.program("bin/askbridge", &format!("exec '{ASKBRIDGE}' \"$@\""));
        folder.program("bin/npx", &format!("exec '{ASKBRIDGE}' mock-agent --dialect claude"));
        let cargo = format!(
            "case \"$*\" in demo) exec '{ASKBRIDGE}' {};; 'install --locked --path .') ;; *) exit 1;; esac",
            alias("demo")
        );
        folder.program("bin/cargo", &cargo);
        folder.program("bin/git", "[ \"$1 $2\" = 'clone URL' ] && mkdir \"$3\"");
        folder.program("deploy", "echo \"deployed $*\"");
        folder
    }

    /// Writes a program: a script of this shell code.
    fn program(&self, path: &str, code: &str) {
        let path = self.machine.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{code}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Starts a block in the shell that its fence names.
    fn start(&self, shell: &str, block: &str) -> Process {
        let folder = self.machine.path();
        let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(shell);
        command.args(["-euc", block]).current_dir(folder).env("PATH", path).env("HOME", folder);
        Process::spawn(
            command
                .env("XDG_RUNTIME_DIR", folder)
                .env("XDG_CONFIG_HOME", folder.join(".config"))
                .env("USER", "somebody")
                .env_remove("XDG_STATE_HOME"),
        )
    }

    /// Runs a block to its end, and returns its exit code and what it wrote to stdout.
    fn run(&self, block: &str) -> (Option<i32>, String) {
        let mut process = self.start("sh", block);
        process.close_stdin();
        let lines = std::iter::from_fn(|| process.next_line());
        let text: Vec<_> = lines.map(|line| String::from_utf8(line).unwrap()).collect();
        (process.wait().code(), text.concat())
    }
}

#[test]
fn each_shell_block_is_run_here() {
    let run = [
        "cargo demo",
        "askbridge list",
        "askbridge ask --confirm",
        "askbridge setup --undo",
        "tests/run",
        "askbridge setup zed",
        "askbridge run -- npx",
        "askbridge doctor",
        "askbridge machine add box",
        "askbridge machine add dev",
        "askbridge status",
        "askbridge next",
        "case \"$(askbridge ask",
        "askbridge ask --key",
        "askbridge completions",
    ];
    let blocks: Vec<_> = PAGES.iter().flat_map(|page| blocks(page)).collect();
    for block in &blocks {
        assert!(run.iter().any(|part| block.text.contains(part)), "not run by any test here: {block:?}");
    }
    assert_eq!(blocks.len(), run.len());
    assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(block("tests/run").trim()).is_file());
}

#[test]
fn the_demo_is_answered() {
    let machine = TestMachine::new();
    let mut demo = Folder::new(&machine).start("sh", &block("cargo demo"));
    demo.send("2");
    demo.close_stdin();
    demo.expect("what was chosen", |line| line.contains("You chose: option-b"));
    assert!(demo.wait().success());
}

#[test]
fn an_agent_that_is_wrapped_responds() {
    let machine = TestMachine::new();
    let folder = Folder::new(&machine);
    let mut client = folder.start("sh", &block("askbridge run -- npx"));
    client.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
    client.expect("the response", |line| line.contains(r#""id":0"#));
    client.close_stdin();
    assert!(client.wait().success());
}

#[test]
fn an_editor_is_set_up_and_as_it_was_again() {
    let machine = TestMachine::new();
    let folder = Folder::new(&machine);
    let settings = machine.path().join(".config/zed/settings.json");
    let text =
        "// mine\n{ \"agent_servers\": { \"Mine\": { \"type\": \"custom\", \"command\": \"npx\" } } }\n";
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, text).unwrap();
    folder.program("bin/zed", "exit 1");
    let commands = block("askbridge setup zed");
    // No terminal says yes here.
    let commands: Vec<_> = commands.lines().map(|line| line.split('#').next().unwrap()).collect();
    let [print, claude, undo] = commands[..] else { panic!("{commands:?}") };
    let (code, shown) = folder.run(print);
    assert!(code == Some(0) && shown.contains("+") && shown.contains("\"run\", \"--\""), "{shown}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), text, "it is only shown");
    let (code, shown) = folder.run(&format!("{claude} --yes"));
    assert!(code == Some(0) && shown.contains("written"), "{shown}");
    let written = fs::read_to_string(&settings).unwrap();
    assert!(
        written.starts_with("// mine") && written.contains("@agentclientprotocol/claude-agent-acp"),
        "{written}"
    );
    let (code, shown) = folder.run(&format!("{undo} --yes"));
    assert_eq!((code, fs::read_to_string(&settings).unwrap().as_str()), (Some(0), text), "{shown}");
}

#[test]
fn everything_is_taken_out_again() {
    let machine = TestMachine::new();
    let folder = Folder::new(&machine);
    folder.program("bin/claude", "exit 0");
    for command in block("askbridge setup --undo").lines() {
        let command = command.split('#').next().unwrap().trim();
        let (code, shown) = folder.run(command);
        assert_eq!(code, Some(0), "{command}: {shown}");
    }
}

#[test]
fn doctor_finds_nothing_wrong() {
    let machine = TestMachine::new();
    let _client = machine.client("silent", "a question", &["--client-questions", "none"], &[]);
    let id = machine.question();
    let (code, shown) = Folder::new(&machine).run(&block("askbridge doctor"));
    assert_eq!(code, Some(0), "{shown}");
    let bridge = id.split_once('-').unwrap().0;
    for part in ["program\n  ok ", &format!("{bridge}: the client, "), &format!("{bridge}: the agent, ")] {
        assert!(shown.contains(part), "no {part}: {shown}");
    }
}

#[test]
fn machines_are_added_by_each_command() {
    let machine = TestMachine::new();
    let folder = Folder::new(&machine);
    // Each stands for a program that runs a command elsewhere: here.
    let last = "for last; do :; done; exec sh -c \"$last\"";
    let behind = |word: &str| format!("until [ \"$1\" = {word} ]; do shift; done; exec \"$@\"");
    for (name, code) in [
        ("ssh", last.to_owned()),
        ("docker", behind("askbridge")),
        ("kubectl", behind("askbridge")),
        ("limactl", behind("askbridge")),
        ("wsl.exe", behind("askbridge")),
    ] {
        folder.program(&format!("bin/{name}"), &code);
    }
    // The first block adds one machine and connects to it, the second adds four.
    for (part, count) in [("askbridge machine add box", 2), ("askbridge machine add dev", 4)] {
        let (code, shown) = folder.run(&block(part));
        let found = format!(": askbridge {}, ", env!("CARGO_PKG_VERSION"));
        let replies = shown.lines().filter(|line| line.contains(&found)).count();
        assert_eq!((code, replies), (Some(0), count), "{shown}");
    }
    let listed = folder.run("askbridge machine list").1;
    for part in ["dev ", "pods ", "kubectl exec -i deploy/agents -- askbridge dial", "ubuntu "] {
        assert!(listed.contains(part), "no {part}: {listed}");
    }
    assert!(!listed.contains("me@box.lan"), "{listed}");
}

#[test]
fn the_page_of_machines_says_what_is_said() {
    let source = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let page = source("docs/machines.md");
    let said = source("crates/control/src/join/remote/failure.rs")
        + &source("crates/control/src/join/remote/holder.rs");
    let (_, table) = page.split_once("| message | what to do |\n| --- | --- |\n").expect("the table");
    let rows: Vec<_> = table.lines().take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() >= 5, "{rows:?}");
    for row in rows {
        let words = row.trim_start_matches("| ").split(" |").next().unwrap();
        assert!(said.contains(words), "nothing says {words:?}");
    }
}

#[test]
fn settings_are_written_and_shown_with_their_places() {
    let machine = TestMachine::new();
    let commands = "askbridge config set bridge.timeout 30m\naskbridge config --origin";
    let (code, shown) = Folder::new(&machine).run(commands);
    assert_eq!(code, Some(0), "{shown}");
    let line = shown.lines().find(|line| line.starts_with("timeout = ")).unwrap_or_default();
    assert!(line.contains("30m") && line.contains("config.toml:2:"), "{shown}");
}

#[test]
fn what_needs_a_terminal_says_so() {
    let machine = TestMachine::new();
    for line in block("askbridge next").lines() {
        // What it does on a terminal is tested in `terminal.rs` and `tui.rs`.
        let (code, shown) = Folder::new(&machine).run(line);
        assert_eq!((code, &*shown), (Some(2), ""), "{line}");
    }
}

#[test]
fn status_shows_the_bridges() {
    let machine = TestMachine::new();
    let _client = machine.client("silent", "a question", &["--client-questions", "none"], &[]);
    let id = machine.question();
    let (code, shown) = Folder::new(&machine).run(&block("askbridge status"));
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains(id.split_once('-').unwrap().0), "{shown}");
}

/// A client and an agent in a project, the agent asking which database to use.
fn payments(machine: &TestMachine) -> Process {
    let say = |line: Value| format!("read -r line; printf '%s\\n' '{line}'");
    let initialized = json!({ "jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": 1, "agentInfo": { "name": "claude-agent", "title": "Claude Agent", "version": "1" },
    } });
    let opened = json!({ "jsonrpc": "2.0", "id": 1, "result": { "sessionId": "session-1" } });
    let asks = json!({ "jsonrpc": "2.0", "id": 2, "method": "_sandboxagent/session/request_question", "params": {
        "sessionId": "session-1", "questionId": "q-1", "prompt": "Which database should we use?",
        "options": [["option-a", "Postgres"], ["sqlite", "SQLite"]],
    } });
    let agent = format!("{}\n{}\nprintf '%s\\n' '{asks}'\nexec cat", say(initialized), say(opened));
    let mut client = machine.start(&["run", "--client-questions", "none", "--", "sh", "-c", &agent]);
    client.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/projects/payments"}}"#);
    client
}

#[test]
fn the_terminal_shows_what_the_readme_shows() {
    let machine = TestMachine::new();
    let mut client = payments(&machine);
    let id = machine.question();
    let folder = Folder::new(&machine);
    let text = block("$ askbridge list");
    let lines: Vec<_> = text.lines().collect();
    let [list, head, _, row, answer, answered] = lines[..] else { panic!("{text}") };
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let real = |line: &str| line.trim_start_matches("$ ").replace("k3f9q2-1", &id);
    let (code, listed) = folder.run(&real(list));
    assert_eq!(code, Some(0), "{listed}");
    let listed: Vec<_> = listed.lines().collect();
    assert_eq!(words(listed[0]), words(head), "the columns");
    // How long it waits is the machine's.
    let without_age = |line: &str| {
        words(line)
            .into_iter()
            .filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
            .collect::<Vec<_>>()
    };
    assert_eq!(without_age(listed[1]), without_age(&real(row)));
    assert_eq!(folder.run(&real(answer)), (Some(0), real(answered) + "\n"));
    client.expect("nothing of the answer", |line| line.contains("option-a"));
}

/// Runs a block that asks, gives this answer, and returns what it printed.
fn asked(part: &str, answer: &[&str]) -> String {
    let machine = TestMachine::new();
    let mut asks = Folder::new(&machine).start("sh", &block(part));
    let id = machine.question();
    assert_eq!(machine.run(&[&["answer", &id], answer].concat()).code, 0);
    let lines = std::iter::from_fn(|| asks.next_line());
    let text: Vec<_> = lines.map(|line| String::from_utf8(line).unwrap()).collect();
    text.concat()
}

#[test]
fn scripts_deploy_only_what_the_person_confirmed() {
    assert!(asked("askbridge ask --confirm", &["yes"]).contains("deployed"));
    assert!(!asked("askbridge ask --confirm", &["no"]).contains("deployed"));
    assert!(asked("case \"$(askbridge ask", &["production"]).contains("deployed --production"));
    assert_eq!(asked("case \"$(askbridge ask", &["staging"]), "deployed \n");
}

#[test]
fn scripts_deploy_what_is_confirmed_while_they_are_away() {
    let machine = TestMachine::new();
    let inbox = machine.start(&["inbox", "--addr", "127.0.0.1:0"]);
    inbox.expect_stderr("an address", |text| text.contains("listening on "));
    let mut script = Folder::new(&machine).start("sh", &block("askbridge ask --key"));
    script.close_stdin();
    for release in ["42", "43"] {
        let asks = |questions: &[Value]| questions.len() == 1 && questions[0].to_string().contains(release);
        let question = machine.watch().until("the question", asks).remove(0);
        machine.ok(&["answer", question["id"].as_str().unwrap(), "yes"]);
        script.expect("the deployment", |line| line.contains(&format!("deployed {release}")));
    }
    assert!(script.wait().success());
}

#[test]
fn completions_and_man_pages_are_installed() {
    let machine = TestMachine::new();
    let folder = Folder::new(&machine);
    let home = |path: &str| machine.path().join(path);
    let (code, shown) = folder.run(&block("askbridge completions"));
    assert_eq!(code, Some(0), "{shown}");
    for path in [
        ".local/share/bash-completion/completions/askbridge",
        ".zfunc/_askbridge",
        ".config/fish/completions/askbridge.fish",
        ".local/share/man/man1/askbridge.1",
    ] {
        assert!(fs::metadata(home(path)).is_ok_and(|file| file.len() > 0), "{path}");
    }
}

#[test]
fn curl_answers_over_http() {
    let machine = TestMachine::new();
    let mut client = payments(&machine);
    machine.question();
    let inbox = machine.start(&["inbox", "--addr", "127.0.0.1:0"]);
    let said = inbox.expect_stderr("the address", |text| text.contains("listening on http://"));
    let address = said.split_once("http://").unwrap().1.split([',', '\n', ' ']).next().unwrap();
    let blocks = blocks("docs/http.md").into_iter();
    let block = blocks.map(|block| block.text).find(|text| text.contains("q-1/reply")).expect("the block");
    let block = block.replace("127.0.0.1:8421", address);
    let mut curl = Folder::new(&machine).start("bash", &block);
    let listing = curl.expect("the listing", |line| line.contains("session-1"));
    let listing: Value = serde_json::from_str(&listing).unwrap();
    assert_eq!(listing["questions"][0]["question"]["project"], "/projects/payments");
    assert!(curl.wait().success());
    client.expect("the answer", |line| line.contains(r#""answers":[["option-a"]]"#));
}
