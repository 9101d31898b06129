//! A machine for each test: a folder of its own for all files, `askbridge inbox`, and agents behind real bridges.

use std::{collections::BTreeMap, fs, net::SocketAddr, process::Command, time::Duration};

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    task::JoinHandle,
    time::{interval, timeout},
};

use crate::{
    browser::DEADLINE,
    client::{Http, Reply},
    support::Process,
};

pub(crate) const ASKBRIDGE: &str = env!("CARGO_BIN_EXE_askbridge");

/// Asks what stands in a file, then says each line that it is told in a notification of its own.
const AGENT: &str = r#"
    cat "$1"
    while IFS= read -r line; do
        printf '{"jsonrpc":"2.0","method":"_test/told","params":%s}\n' "$line"
    done
"#;

/// Opens the session that its client asks for, and goes on as the other one.
const IN_SESSION: &str = r#"
    read -r _
    echo '{"jsonrpc":"2.0","id":"new","result":{"sessionId":"session"}}'
"#;

/// The variables that name the folders of a user.
const FOLDERS: [&str; 5] =
    ["XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"];

/// A machine with a running inbox.
pub(crate) struct World {
    pub(crate) http: Http,
    inbox: Process,
    pub(crate) folder: TempDir,
    undo: &'static str,
}

impl World {
    /// Starts one in which what is sent is sent at once.
    pub(crate) fn start() -> Self {
        Self::with_undo("0s")
    }

    /// Starts one in which what is sent can be taken back for this time.
    pub(crate) fn with_undo(undo: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let inbox = serve(&folder, undo, "127.0.0.1:0");
        let http = announced(&inbox, &folder);
        World { http, inbox, folder, undo }
    }

    /// Adds a machine that this command reaches. The server learns of it when it starts again.
    pub(crate) fn add_machine(&self, name: &str, command: &[&str]) {
        self.sets(&format!("[machine.{name:?}]\ncommand = {}", json!(command)));
    }

    /// Adds to the user's settings.
    pub(crate) fn sets(&self, text: &str) {
        use std::io::Write as _;
        let folder = self.folder.path().join("askbridge");
        let mut settings =
            fs::OpenOptions::new().create(true).append(true).open(folder.join("config.toml")).unwrap();
        writeln!(settings, "{text}").unwrap();
    }

    /// Returns the command that reaches this machine from others.
    pub(crate) fn dial(&self) -> Vec<String> {
        let folder = self.folder.path().to_str().unwrap();
        let variables = FOLDERS.into_iter().chain(["HOME"]).map(|name| format!("{name}={folder}"));
        let words = ["env".to_owned()].into_iter().chain(variables);
        words.chain([ASKBRIDGE, "dial"].map(str::to_owned)).collect()
    }

    /// Returns the address of the page.
    pub(crate) fn address(&self, path: &str) -> String {
        format!("http://{}{path}", self.http.address)
    }

    /// Kills the server, as a crash would.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    /// Ends the server as its user does.
    pub(crate) fn stop(&mut self) {
        self.signal(Signal::TERM);
    }

    fn signal(&mut self, signal: Signal) {
        self.inbox.signal(signal);
        self.inbox.wait();
    }

    /// Starts the server again where it was.
    pub(crate) fn restart(&mut self) {
        let SocketAddr::V4(address) = self.http.address else { panic!("an IPv4 address") };
        let address = address.to_string();
        self.inbox = serve(&self.folder, self.undo, &address);
        self.http = announced(&self.inbox, &self.folder);
    }

    /// Makes the token file of the next start a new one.
    pub(crate) fn forget_token(&self) {
        fs::remove_file(self.folder.path().join("askbridge/token")).unwrap();
    }

    /// Runs a command to its end, which must be good, and returns its output.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let mut process = Process::spawn(&mut command(&self.folder, args));
        process.close_stdin();
        let mut stdout = Vec::new();
        while let Some(line) = process.next_line() {
            stdout.extend(line);
        }
        assert_eq!(process.wait().code(), Some(0), "{args:?}: {}", process.whole_stderr());
        String::from_utf8(stdout).unwrap()
    }

    /// Starts an agent behind a bridge of its own, which makes these requests.
    pub(crate) fn agent(&self, requests: &[Value]) -> Agent {
        self.script(AGENT, requests)
    }

    /// The same in a session, so that it is known in which folder it works.
    pub(crate) fn agent_in_session(&self, requests: &[Value]) -> Agent {
        let mut agent = self.script(&format!("{IN_SESSION}{AGENT}"), requests);
        let params = json!({ "cwd": self.folder.path(), "mcpServers": [] });
        let request = json!({ "jsonrpc": "2.0", "id": "new", "method": "session/new", "params": params });
        agent.bridge.send(&request.to_string());
        agent
    }

    /// Starts a script of the shell behind a bridge of its own. Its argument is a file with these messages.
    pub(crate) fn script(&self, script: &str, messages: &[Value]) -> Agent {
        let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
        let file = tempfile::NamedTempFile::new_in(&self.folder).unwrap();
        fs::write(&file, lines).unwrap();
        let (_, path) = file.keep().unwrap();
        let args = ["run", "--client-questions", "none", "--", "sh", "-c", script, "sh"];
        let mut command = command(&self.folder, &args);
        command.arg(path).current_dir(&self.folder);
        Agent { bridge: Process::spawn(&mut command), results: BTreeMap::new() }
    }

    /// Starts the mock agent behind a bridge of its own, and lets it ask.
    pub(crate) fn mock_agent(&self, dialect: &str) -> Agent {
        let args = ["run", "--client-questions", "none", "--", ASKBRIDGE, "mock-agent", "--dialect", dialect];
        let mut bridge = Process::spawn(&mut command(&self.folder, &args));
        let mut send = |id: u64, method: &str, params: Value| {
            bridge
                .send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        };
        send(0, "initialize", json!({ "protocolVersion": 1 }));
        send(1, "session/new", json!({ "cwd": self.folder.path(), "mcpServers": [] }));
        bridge.expect("a session", |line| line.contains("session-1"));
        let prompt = json!([{ "type": "text", "text": "question" }]);
        let params = json!({ "sessionId": "session-1", "prompt": prompt });
        bridge.send(
            &json!({ "jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": params }).to_string(),
        );
        Agent { bridge, results: BTreeMap::new() }
    }

    /// Starts the MCP server, and calls its tool that asks.
    pub(crate) fn mcp(&self, questions: &Value) -> Agent {
        let server = command(&self.folder, &["mcp"]);
        // The process that starts the server is the agent, which cannot answer itself. It must not be the test.
        let mut agent = Command::new("sh");
        agent.args(["-c", r#""$@"; exit $?"#, "agent", ASKBRIDGE, "mcp"]).current_dir(&self.folder);
        agent.envs(server.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut bridge = Process::spawn(&mut agent);
        let mut send = |message: Value| bridge.send(&message.to_string());
        let info = json!({ "name": "shop-agent", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        send(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let params = json!({ "name": "ask_user_question", "arguments": { "questions": questions } });
        send(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }));
        Agent { bridge, results: BTreeMap::new() }
    }

    /// Asks a question of a program, and returns the task that waits for its settlement.
    pub(crate) fn ask(&self, question: &Value) -> JoinHandle<Reply> {
        let (http, body) = (self.http.clone(), question.to_string());
        tokio::spawn(async move { http.post("/v1/questions", &body).await })
    }

    /// Returns the open questions, as the server lists them.
    pub(crate) async fn open(&self) -> Vec<Value> {
        let mut listing = self.http.get("/v1/questions").await.is(200).json();
        match listing["questions"].take() {
            Value::Array(questions) => questions,
            other => panic!("{other}"),
        }
    }

    /// Waits until so many questions are open, and returns them.
    pub(crate) async fn until_open(&self, count: usize) -> Vec<Value> {
        let looking = async {
            // The server refuses too many requests in a second.
            let mut looks = interval(Duration::from_millis(10));
            loop {
                looks.tick().await;
                let open = self.open().await;
                if open.len() == count {
                    return open;
                }
            }
        };
        timeout(DEADLINE, looking).await.unwrap_or_else(|_| panic!("not {count} open questions in time"))
    }
}

/// An agent that asks. It and its bridge are killed on drop.
pub(crate) struct Agent {
    bridge: Process,
    /// The results that the agent got before the test asked for them.
    results: BTreeMap<u64, Value>,
}

impl Agent {
    /// Waits for the response to the request with this ID, and returns its result.
    pub(crate) fn told(&mut self, id: u64) -> Value {
        let results = &mut self.results;
        if !results.contains_key(&id) {
            self.bridge.expect(&format!("the response to request {id}"), |line| {
                let mut told: Value = serde_json::from_str(line).unwrap_or_default();
                let response = &mut told["params"];
                if let Some(id) = response["id"].as_u64() {
                    results.insert(id, response["result"].take());
                }
                results.contains_key(&id)
            });
        }
        results[&id].clone()
    }

    /// Waits for the response of a server to the request with this ID, and returns its result.
    pub(crate) fn returned(&mut self, id: u64) -> Value {
        let read = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_default();
        let line = self.bridge.expect(&format!("the response to {id}"), |line| read(line)["id"] == id);
        read(&line)["result"].take()
    }

    /// Sends a message of the client.
    pub(crate) fn send(&mut self, message: &Value) {
        self.bridge.send(&message.to_string());
    }

    /// Waits until the agent says this.
    pub(crate) fn says(&mut self, words: &str) {
        self.bridge.expect(words, |line| line.contains(words));
    }

    /// Kills the bridge, as a crash would.
    pub(crate) fn die(mut self) {
        self.bridge.signal(Signal::KILL);
        self.bridge.wait();
    }

    /// Sends the agent half a line: what it is told after that waits in the bridge for the other half.
    pub(crate) fn is_kept_waiting(&mut self) {
        // The beginning of a response to another request goes on before its end has come.
        let half = format!(r#"{{"jsonrpc":"2.0","id":9007,"error":"{}"#, "x".repeat(10_000));
        let before = r#"{"jsonrpc":"2.0","method":"_test/before"}"#;
        self.bridge.send_bytes(format!("{before}\n{half}").as_bytes());
        self.says("_test/before");
    }

    /// Ends the agent and its bridge as its client does.
    pub(crate) fn leave(&mut self) {
        self.bridge.close_stdin();
        self.bridge.wait();
    }
}

/// Returns a request of an agent that is a question with this form.
pub(crate) fn asks(id: u64, prompt: &str, fields: &Value) -> Value {
    let params = json!({
        "sessionId": "session", "questionId": format!("q{id}"), "prompt": prompt, "blocking": true,
        "_meta": { "askbridge": { "fields": fields } },
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": "_sandboxagent/session/request_question", "params": params })
}

/// Returns `askbridge ARGS` with all its files in this folder.
fn command(folder: &TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(ASKBRIDGE);
    command.args(args).env("HOME", folder.path()).env("USER", "tester");
    for name in FOLDERS {
        command.env(name, folder.path());
    }
    command
}

fn serve(folder: &TempDir, undo: &str, address: &str) -> Process {
    Process::spawn(command(folder, &["inbox", "--addr", address]).env("ASKBRIDGE_SEND_UNDO", undo))
}

/// Returns the address and the token, which the server announces on stderr.
fn announced(inbox: &Process, folder: &TempDir) -> Http {
    let said = inbox.expect_stderr("an address", |text| {
        text.split_once("listening on http://").is_some_and(|(_, rest)| rest.contains('\n'))
    });
    let (_, rest) = said.split_once("listening on http://").unwrap();
    let end = rest.find(|char: char| !(char.is_ascii_digit() || ".:".contains(char))).unwrap();
    let address = rest[..end].parse().unwrap();
    let token = fs::read_to_string(folder.path().join("askbridge/token")).unwrap();
    Http { address, token: token.trim_end().to_owned() }
}
