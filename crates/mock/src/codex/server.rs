//! The socket of the mock app server, its keyboard on stdin, and its report on stdout. The behaviour of the server is
//! left to `daemon.rs`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    future::pending,
    io::{self, BufRead, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
};

use askbridge_os::{exit, signals::Signals};
use futures::{SinkExt, StreamExt, stream::SplitSink};
use serde_json::json;
use tokio::{
    net::{UnixListener, UnixStream},
    sync::mpsc::{Receiver, Sender, channel},
    task::JoinSet,
};
use tokio_tungstenite::{WebSocketStream, accept_async, tungstenite::Message};

use super::daemon::{Answer, Daemon, RequestEnd, Sample};
use crate::keyboard::{self, say};

/// The help text below the options.
pub const HELP: &str = "\
Lines on stdin are its keyboard:
  turn                                       begin a turn in the terminal's thread
  ask [question|command|files|permissions]   ask in that turn
  say TEXT                                   let the agent say this, and run `make` in vain
  approve, decline                           answer the oldest request there
  answer TEXT                                answer with an option or a text
  change TEXT                                change the oldest open request about files to write TEXT
  interrupt                                  press Esc: the turn ends
  restart                                    end the server and start it again
  break COUNT                                break all connections, and so many of the next ones

It says on stdout which clients join the thread, and what the model is told, as `told REQUEST result CLIENT JSON`;
the client is `keyboard` for an answer there.

Exit codes:
  0        stdin has ended
  2        the command line was not understood
  125      the socket cannot be bound
  128 + N  signal N ended it";

/// The thread of the terminal that the mock plays.
const THREAD: &str = "thread-1";

/// The capacity of the channel for events. When it is full, the readers of clients and of stdin wait.
const MESSAGES: usize = 256;

/// Settings of the mock app server.
#[derive(Clone, Debug)]
pub struct CodexDaemonSettings {
    /// The path of the socket. `None` stands for the path that Codex uses.
    pub socket: Option<PathBuf>,
    /// The folder that its thread works in.
    pub cwd: PathBuf,
}

/// An event from a client or from the keyboard.
enum Event {
    Message(u64, String),
    Gone(u64),
    Key(String),
}

type Outgoing = SplitSink<WebSocketStream<UnixStream>, Message>;

/// Runs the mock until stdin ends or a signal comes.
pub fn run(settings: &CodexDaemonSettings) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    keyboard::code("codex-daemon", runtime.and_then(|runtime| runtime.block_on(serve(settings))))
}

async fn serve(settings: &CodexDaemonSettings) -> io::Result<u8> {
    let mut signals = Signals::catch()?;
    let path = match &settings.socket {
        Some(path) => path.clone(),
        None => default_socket()?,
    };
    let (events, mut coming) = channel(MESSAGES);
    read_keys(events.clone());
    let mut server = Server {
        listener: Some(bind(&path)?),
        daemon: Daemon::default(),
        clients: BTreeMap::new(),
        tasks: JoinSet::new(),
        events,
        joined: BTreeSet::new(),
        breaks: 0,
        cwd: settings.cwd.display().to_string(),
        record: path.with_extension("jsonl"),
        path,
    };
    server.start_thread();
    say(format_args!("listening {}", server.path.display()))?;
    let code = tokio::select! {
        ended = server.run(&mut coming) => ended.map(|()| exit::OK),
        code = signals.next() => Ok(code),
    };
    fs::remove_file(&server.path).unwrap_or_default();
    // Ignore the error: the record exists only if a tool has returned something.
    fs::remove_file(&server.record).unwrap_or_default();
    code
}

/// Returns the path of Codex' own socket, and creates its folder.
fn default_socket() -> io::Result<PathBuf> {
    let home = std::env::var_os("CODEX_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".codex")));
    let home = home.ok_or_else(|| io::Error::other("neither CODEX_HOME nor HOME is set"))?;
    let folder = home.join("app-server-control");
    fs::create_dir_all(&folder)?;
    Ok(folder.join("app-server-control.sock"))
}

fn bind(path: &Path) -> io::Result<UnixListener> {
    // A mock that was killed leaves its socket behind.
    fs::remove_file(path).unwrap_or_default();
    UnixListener::bind(path)
}

/// Reads the keyboard on a separate thread.
fn read_keys(events: Sender<Event>) {
    // A read of tokio's stdin cannot be cancelled, and would keep the runtime from ending.
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if events.blocking_send(Event::Key(line)).is_err() {
                return;
            }
        }
        // `Server::run` takes an empty line for the end of stdin.
        events.blocking_send(Event::Key(String::new())).unwrap_or_default();
    });
}

struct Server {
    path: PathBuf,
    /// The record of its thread, beside the socket.
    record: PathBuf,
    cwd: String,
    listener: Option<UnixListener>,
    daemon: Daemon,
    clients: BTreeMap<u64, Outgoing>,
    /// The tasks that read from the clients.
    tasks: JoinSet<()>,
    events: Sender<Event>,
    /// The clients whose `joined` line has been printed.
    joined: BTreeSet<u64>,
    /// How many of the next connections break at once.
    breaks: u32,
}

impl Server {
    async fn run(&mut self, coming: &mut Receiver<Event>) -> io::Result<()> {
        loop {
            tokio::select! {
                stream = accept(self.listener.as_ref()) => self.welcome(stream?).await?,
                event = coming.recv() => match event {
                    Some(Event::Message(client, text)) => self.daemon.message(client, &text),
                    Some(Event::Gone(client)) => {
                        self.clients.remove(&client);
                        self.daemon.disconnect(client);
                    }
                    Some(Event::Key(line)) if line.is_empty() => return Ok(()),
                    Some(Event::Key(line)) => self.key(&line)?,
                    None => return Ok(()),
                },
            }
            self.flush().await?;
        }
    }

    async fn welcome(&mut self, stream: UnixStream) -> io::Result<()> {
        let Ok(socket) = accept_async(stream).await else { return Ok(()) };
        if let Some(left) = self.breaks.checked_sub(1) {
            self.breaks = left;
            return say("broken");
        }
        let client = self.daemon.connect();
        let (outgoing, mut incoming) = socket.split();
        self.clients.insert(client, outgoing);
        let events = self.events.clone();
        self.tasks.spawn(async move {
            while let Some(Ok(message)) = incoming.next().await {
                if let Message::Text(text) = message
                    && events.send(Event::Message(client, text.as_str().to_owned())).await.is_err()
                {
                    return;
                }
            }
            // Ignore the error: the server may have ended.
            events.send(Event::Gone(client)).await.unwrap_or_default();
        });
        Ok(())
    }

    fn key(&mut self, line: &str) -> io::Result<()> {
        let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let done = match word {
            "ask" => match Sample::read(rest).and_then(|sample| self.daemon.ask(THREAD, sample)) {
                Some(id) => return say(format_args!("asked {id}")),
                None => false,
            },
            "turn" => {
                self.daemon.begin(THREAD);
                true
            }
            "say" => {
                self.daemon.say(THREAD, rest);
                true
            }
            "approve" => self.daemon.answer(THREAD, Answer::Approve),
            "decline" => self.daemon.answer(THREAD, Answer::Decline),
            "answer" => self.daemon.answer(THREAD, Answer::Text(rest)),
            "change" => self.daemon.change(THREAD, rest),
            "interrupt" => {
                self.daemon.interrupt(THREAD, false);
                true
            }
            "break" => {
                self.breaks = rest.parse().unwrap_or_default();
                self.tasks.abort_all();
                // The tasks were aborted, so they cannot report that their clients are gone.
                for client in std::mem::take(&mut self.clients).into_keys() {
                    self.daemon.disconnect(client);
                }
                true
            }
            "restart" => {
                self.restart()?;
                return say("restarted");
            }
            _ => false,
        };
        if done { Ok(()) } else { say(format_args!("not done: {line}")) }
    }

    /// Ends the server and starts another one: all connections break.
    fn restart(&mut self) -> io::Result<()> {
        self.tasks.abort_all();
        self.clients.clear();
        self.daemon.restart();
        self.start_thread();
        self.listener = None;
        self.listener = Some(bind(&self.path)?);
        Ok(())
    }

    fn start_thread(&mut self) {
        self.daemon.start(THREAD, &self.cwd, Some(self.record.display().to_string()));
    }

    /// Writes what tools returned into the record, as a line for each.
    fn write_record(&mut self) -> io::Result<()> {
        while let Some((call, result)) = self.daemon.poll_returned() {
            let payload =
                json!({ "type": "function_call_output", "call_id": call, "output": result.to_string() });
            let mut file = fs::OpenOptions::new().create(true).append(true).open(&self.record)?;
            writeln!(file, "{}", json!({ "type": "response_item", "payload": payload }))?;
        }
        Ok(())
    }

    /// Sends the queued messages, and prints what the model was told.
    async fn flush(&mut self) -> io::Result<()> {
        self.write_record()?;
        while let Some((client, text)) = self.daemon.poll() {
            if let Some(outgoing) = self.clients.get_mut(&client) {
                // Ignore the error: the task that reads from this client reports that it is gone.
                drop(outgoing.send(Message::text(text)).await);
            }
        }
        for client in self.clients.keys() {
            match self.daemon.has_joined(*client, THREAD) {
                true if self.joined.insert(*client) => say(format_args!("joined {client}"))?,
                true => {}
                false => drop(self.joined.remove(client)),
            }
        }
        while let Some((id, told)) = self.daemon.poll_told() {
            say(&match told {
                RequestEnd::Result(None, result) => format!("told {id} result keyboard {result}"),
                RequestEnd::Result(Some(client), result) => format!("told {id} result {client} {result}"),
                RequestEnd::Error(client) => format!("told {id} error {client}"),
                RequestEnd::Interrupted => format!("told {id} interrupted"),
            })?;
        }
        Ok(())
    }
}

async fn accept(listener: Option<&UnixListener>) -> io::Result<UnixStream> {
    match listener {
        Some(listener) => Ok(listener.accept().await?.0),
        None => pending().await,
    }
}
