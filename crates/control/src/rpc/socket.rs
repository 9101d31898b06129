//! Serves an inbox over a UNIX socket: accepts connections, and reads and writes JSON-RPC messages, one a line, as ACP
//! does on stdio. Calls are left to `session.rs`, the methods to `methods.rs`.

use std::{
    io::{self, ErrorKind},
    os::unix::net,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use askbridge_core::wire::line;
use bytes::BytesMut;
use memchr::memchr;
use rustix::net::{Shutdown, shutdown};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{UnixListener, UnixStream, unix::OwnedReadHalf},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::{Instant, sleep, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{
    caller::Caller,
    connection::Budgets,
    methods::Methods,
    select::{SelectMachine, select, selected},
    session::{self, Incoming, Replies, Requests},
    waiting::read_waiting,
};
use crate::{inbox::Inbox, limits};

/// Serves an inbox until `stop` is cancelled, over the `first` connection if there is one, and over those that follow.
/// Calls that are done within [`limits::LAST_REPLIES`] after the stop still get their replies.
pub async fn serve<I: Inbox>(
    listener: net::UnixListener,
    first: Option<net::UnixStream>,
    inbox: I,
    stop: CancellationToken,
) -> io::Result<()> {
    serve_or_select(listener, first, inbox, None, stop).await
}

/// Serves the inbox of all machines that this process holds as [`serve`] does. A connection may begin with a call that makes
/// it that of one of them.
pub async fn serve_machines<I: Inbox>(
    listener: net::UnixListener,
    inbox: I,
    machines: Arc<dyn SelectMachine>,
    stop: CancellationToken,
) -> io::Result<()> {
    serve_or_select(listener, None, inbox, Some(machines), stop).await
}

async fn serve_or_select<I: Inbox>(
    listener: net::UnixListener,
    first: Option<net::UnixStream>,
    inbox: I,
    machines: Option<Arc<dyn SelectMachine>>,
    stop: CancellationToken,
) -> io::Result<()> {
    let listener = UnixListener::from_std(listener)?;
    let mut first = first.map(UnixStream::from_std);
    let agent_tree = inbox.agent_tree();
    let methods = Methods::new(inbox.clone(), Caller::Ours);
    let connections = Arc::new(Semaphore::new(limits::CONNECTIONS));
    let mut sessions = JoinSet::new();
    let mut failing = None;
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = accept(&listener, &mut first) => accepted,
            // Without this, the set would keep every session that has ended.
            Some(_) = sessions.join_next() => continue,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                failing.get_or_insert_with(|| Failing::begin(&error));
                sleep(limits::ACCEPT_BACK_OFF).await;
                continue;
            }
        };
        failing = None;
        if !is_own(&stream) {
            tracing::warn!("a connection of another user to the inbox was refused");
            continue;
        }
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else {
            tracing::debug!("refused a connection to the inbox: it has the maximum number");
            refuse(&stream);
            continue;
        };
        let peer = agent_tree.as_ref().and_then(|tree| tree.peer(&stream));
        let (methods, stop, machines) = (methods.clone().called_by(peer), stop.clone(), machines.clone());
        sessions.spawn(async move {
            if let Err(error) = converse(stream, methods, machines, stop).await {
                tracing::debug!(%error, "a connection to the inbox failed");
            }
            // This line names the permit, so that the task owns it until the connection has ended.
            drop(permit);
        });
    }
    drop(listener);
    // Peers that still read get their last replies and changes.
    let ended = async { while sessions.join_next().await.is_some() {} };
    inbox.kept().await;
    timeout(limits::LAST_REPLIES, ended).await.unwrap_or_default();
    Ok(())
}

/// Serves one connection, whose first call may select a machine.
async fn converse(
    stream: UnixStream,
    mut methods: Methods,
    machines: Option<Arc<dyn SelectMachine>>,
    stop: CancellationToken,
) -> io::Result<()> {
    let (reader, writer) = stream.into_split();
    let mut requests = RequestLines::new(reader, methods.budgets.clone());
    let mut replies = LineWriter(writer);
    if let Some(machines) = machines {
        let opened = opened(&*machines, methods, &mut requests, &mut replies);
        match stop.run_until_cancelled(opened).await {
            Some(opened) => methods = opened?,
            None => return Ok(()),
        }
    }
    session::serve(&methods, &mut requests, &mut replies, stop).await
}

/// Returns the methods of a connection whose first call may select a machine.
async fn opened(
    machines: &dyn SelectMachine,
    all: Methods,
    requests: &mut RequestLines,
    replies: &mut impl Replies,
) -> io::Result<Methods> {
    let Some(request) = requests.next().await.transpose()? else { return Ok(all) };
    match selected(&request) {
        Some(name) => select(machines, &name, all, &request, replies).await,
        None => {
            requests.put_back(request);
            Ok(all)
        }
    }
}

/// A socket that cannot accept connections, most often because the process has no file descriptors left for a while.
/// That concerns each of its sockets, and is logged once for all of them.
struct Failing;

/// How many sockets of this process are failing.
static FAILING: AtomicUsize = AtomicUsize::new(0);

impl Failing {
    fn begin(error: &io::Error) -> Self {
        if FAILING.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!(%error, "the inbox cannot accept connections; trying again");
        }
        Failing
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        FAILING.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn accept(
    listener: &UnixListener,
    first: &mut Option<io::Result<UnixStream>>,
) -> io::Result<UnixStream> {
    match first.take() {
        Some(first) => first,
        None => listener.accept().await.map(|(stream, _)| stream),
    }
}

/// Refuses a connection because there are too many. The peer gets this in place of its first reply; its request is not
/// read.
fn refuse(stream: &UnixStream) {
    // The buffer of a new connection has room for the line. If the peer is gone, there is nobody to notify.
    drop(stream.try_write((session::too_busy() + "\n").as_bytes()));
}

/// Returns whether the peer is a process of our own user. The folder's mode should ensure that, but may have been
/// changed.
fn is_own(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw())
}

/// Bytes that are read at once.
const READ: usize = 4096;

/// The lines that a peer sends.
#[derive(Debug)]
pub struct LineReader<R> {
    reader: R,
    buffer: BytesMut,
    /// The number of bytes at the start of the buffer that have no line end.
    searched: usize,
    longest: usize,
}

impl<R: AsyncRead + Unpin + Send> LineReader<R> {
    /// Returns a reader of lines of up to `longest` bytes.
    pub fn new(reader: R, longest: usize) -> Self {
        LineReader { reader, buffer: BytesMut::new(), searched: 0, longest }
    }

    /// Returns the reader with another bound on the lines.
    pub(super) fn with_longest(self, longest: usize) -> Self {
        LineReader { longest, ..self }
    }

    /// Returns the next line, without its end, or `None` at the end of the stream. Cancel safe.
    ///
    /// # Errors
    /// Those of the stream, and `InvalidData` for a line that is too long or not UTF-8.
    pub async fn next(&mut self) -> Option<io::Result<String>> {
        loop {
            match self.take() {
                Some(line) => return Some(line),
                None if self.buffer.len() > self.longest => return Some(Err(too_long())),
                None => {}
            }
            match self.read().await {
                Ok(0) if self.buffer.is_empty() => return None,
                // The peer may have died in the middle of a line. Half a line is never executed, even if it happens
                // to be valid.
                Ok(0) => return Some(Err(ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    async fn read(&mut self) -> io::Result<usize> {
        if self.buffer.is_empty() {
            return read_waiting::<READ>(&mut self.reader, &mut self.buffer).await;
        }
        self.buffer.reserve(READ);
        self.reader.read_buf(&mut self.buffer).await
    }

    /// Takes the next complete line from the buffer.
    fn take(&mut self) -> Option<io::Result<String>> {
        let Some(end) = memchr(b'\n', &self.buffer[self.searched..]) else {
            self.searched = self.buffer.len();
            return None;
        };
        let mut line = self.buffer.split_to(self.searched + end + 1);
        self.searched = 0;
        if line.len() > self.longest {
            return Some(Err(too_long()));
        }
        if self.buffer.is_empty() {
            // A long line has made the buffer large, so its memory is given back.
            self.buffer = BytesMut::new();
        }
        line.truncate(line.len() - 1);
        Some(String::from_utf8(line.to_vec()).map_err(|error| io::Error::new(ErrorKind::InvalidData, error)))
    }
}

fn too_long() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "a line is longer than a message may be")
}

/// The requests of a peer that may be hostile. A request longer than [`limits::SHORT_REQUEST`] needs room in a budget
/// that all connections share, and must be complete within [`limits::BODY`].
#[derive(Debug)]
pub(super) struct RequestLines {
    lines: LineReader<OwnedReadHalf>,
    budgets: Budgets,
    long: Option<(OwnedSemaphorePermit, Instant)>,
    /// A request that was read, and is to be the next one again.
    read: Option<Incoming>,
}

impl RequestLines {
    pub(super) fn new(reader: OwnedReadHalf, budgets: Budgets) -> Self {
        RequestLines { lines: LineReader::new(reader, limits::REQUEST), budgets, long: None, read: None }
    }

    /// Makes a request the next one.
    pub(super) fn put_back(&mut self, request: Incoming) {
        self.read = Some(request);
    }
}

impl Requests for RequestLines {
    async fn next(&mut self) -> Option<io::Result<Incoming>> {
        if let Some(request) = self.read.take() {
            return Some(Ok(request));
        }
        loop {
            if let Some(line) = self.lines.take() {
                let room = self.long.take().map(|(room, _)| room);
                return Some(line.map(|text| Incoming { text, room }));
            }
            let length = self.lines.buffer.len();
            if length > limits::REQUEST {
                return Some(Err(too_long()));
            }
            // The length of the whole line is not known yet, so the room is that of the longest request.
            if length > limits::SHORT_REQUEST && self.long.is_none() {
                let Some(room) = self.budgets.request().await else {
                    return Some(Err(ErrorKind::TimedOut.into()));
                };
                self.long = Some((room, Instant::now() + limits::BODY));
            }
            let read = match &self.long {
                Some((_, deadline)) => timeout_at(*deadline, self.lines.read()).await,
                None => Ok(self.lines.read().await),
            };
            match read {
                Ok(Ok(0)) => return None,
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Some(Err(error)),
                Err(_) => return Some(Err(ErrorKind::TimedOut.into())),
            }
        }
    }

    /// Makes later writes of the peer fail, so that it knows that its request was not read.
    fn close(&mut self) {
        let stream: &UnixStream = self.lines.reader.as_ref();
        if let Err(error) = shutdown(stream, Shutdown::Read) {
            tracing::debug!(%error, "the other end of a connection is gone");
        }
    }
}

/// The requests over a pipe to one trusted peer, which ends with its last line.
#[derive(Debug)]
pub struct PipedLines<R> {
    lines: LineReader<R>,
    budgets: Budgets,
    is_closed: bool,
}

impl<R: AsyncRead + Unpin + Send> PipedLines<R> {
    /// Reads the requests for these methods.
    pub fn new(reader: R, methods: &Methods) -> Self {
        let lines = LineReader::new(reader, limits::REQUEST);
        PipedLines { lines, budgets: methods.budgets.clone(), is_closed: false }
    }
}

impl<R: AsyncRead + Unpin + Send> Requests for PipedLines<R> {
    async fn next(&mut self) -> Option<io::Result<Incoming>> {
        if self.is_closed {
            return None;
        }
        let text = match self.lines.next().await? {
            Ok(text) => text,
            // A peer that was killed leaves half a line.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return None,
            Err(error) => return Some(Err(error)),
        };
        let room = match text.len() > limits::SHORT_REQUEST {
            true => self.budgets.request().await,
            false => None,
        };
        Some(Ok(Incoming { text, room }))
    }

    fn close(&mut self) {
        self.is_closed = true;
    }
}

/// Writes each message as a line.
#[derive(Debug)]
pub struct LineWriter<W>(pub W);

impl<W: AsyncWrite + Unpin + Send> Replies for LineWriter<W> {
    async fn send(&mut self, text: String) -> io::Result<()> {
        self.0.write_all(&line::line(text)).await?;
        self.0.flush().await
    }
}

#[cfg(test)]
mod tests {
    use askbridge_core::{
        desk::{QuestionId, Refusal, State, Submission},
        question::{Answer, Outcome, Provenance, Question, Reason},
    };
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

    use super::*;
    use crate::{
        inbox::{PROTOCOL, wait_until},
        limits,
        rpc::{
            client::{CallError, Client, ConnectError, Depth, read_once},
            played::{PlayedBridge, question, soon},
        },
    };

    fn id(text: &str) -> QuestionId {
        text.parse().expect("an ID")
    }

    fn answer(text: &str) -> Submission {
        let values = [("q0".to_owned(), askbridge_core::question::Value::Text(text.to_owned()))].into();
        Submission::answer(Answer { values, ..Answer::default() }, None)
    }

    #[tokio::test]
    async fn a_client_greets_follows_and_answers() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        bridge.open("a").await;
        let client = soon(Client::connect(bridge.stream().await)).await.expect("a bridge");
        let [greeting] = client.greeting() else { panic!("one bridge") };
        assert_eq!((greeting.protocol, greeting.bridge.as_str(), greeting.open), (PROTOCOL, "b", 1));
        let mut changes = soon(client.subscribe()).await.expect("a subscription");
        let first = soon(changes.next()).await.expect("a snapshot");
        assert!(first.snapshot && !first.more && first.protocol == PROTOCOL);
        assert_eq!(first.questions.items[0].id, id("b-1"));
        let first_id = id("b-1");
        let submitted = client.submit(&first_id, answer("yes"), Provenance::bridge());
        let (submitted, ()) = tokio::join!(soon(submitted), bridge.obey());
        let record = submitted.expect("it is accepted").value.expect("it can be read");
        assert_eq!(record.state, State::Settled);
        let next = soon(changes.next()).await.expect("a change");
        assert_eq!((next.snapshot, next.questions.items[0].state), (false, State::Settled));
        let late = client.submit(&first_id, answer("no"), Provenance::bridge());
        let (late, ()) = tokio::join!(soon(late), bridge.obey());
        assert!(matches!(late, Err(CallError::Refused(Refusal::Conflict(_)))), "{late:?}");
        assert!(matches!(
            soon(client.get(&"x-1".parse().expect("an ID"))).await,
            Err(CallError::Refused(Refusal::NotFound))
        ));
    }

    #[tokio::test]
    async fn subscribers_are_told_the_last_that_happened() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().expect("a folder");
            let mut bridge = PlayedBridge::start(folder.path(), "b");
            let number = bridge.open("a").await;
            let client = soon(Client::connect(bridge.stream().await)).await.expect("a bridge");
            let mut changes = soon(client.subscribe()).await.expect("a subscription");
            assert_eq!(soon(changes.next()).await.expect("a snapshot").questions.items.len(), 1);
            bridge.settle(number, Outcome::Rejected(Reason::AgentGone), Provenance::bridge()).await;
            drop(bridge);
            let last = soon(changes.next()).await.expect("it is told");
            assert_eq!(last.questions.items[0].state, State::Settled);
        }
    }

    #[tokio::test]
    async fn hostile_lines_get_an_error_each_and_the_connection_goes_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let bridge = PlayedBridge::start(folder.path(), "b");
        let (reader, mut writer) = bridge.stream().await.into_split();
        let mut lines = BufReader::new(reader).lines();
        for (request, code) in [
            ("nonsense", -32700),
            ("{}", -32600),
            ("[]", -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"no_such_method"}"#, -32601),
            (r#"{"jsonrpc":"2.0","id":1,"method":"question_get","params":{}}"#, -32602),
            (r#"{"jsonrpc":"2.0","id":1,"method":"question_get","params":{"id":"b-1"}}"#, 404),
        ] {
            soon(writer.write_all(format!("{request}\n").as_bytes())).await.expect("it is written");
            let reply = soon(lines.next_line()).await.expect("a reply").expect("a line");
            let reply: Value = serde_json::from_str(&reply).expect("JSON");
            assert_eq!(reply["error"]["code"], code, "{request}: {reply}");
        }
        let batch = json!([
            { "jsonrpc": "2.0", "id": "a", "method": "bridge_status" },
            { "jsonrpc": "2.0", "method": "a_notification" },
            { "jsonrpc": "2.0", "id": "b", "method": "question_list", "params": { "of_next_year": 1 } },
        ]);
        soon(writer.write_all(format!("{batch}\n").as_bytes())).await.expect("it is written");
        let reply = soon(lines.next_line()).await.expect("a reply").expect("a line");
        let reply: Value = serde_json::from_str(&reply).expect("JSON");
        assert_eq!((reply[0]["id"].as_str(), reply[1]["id"].as_str()), (Some("a"), Some("b")));
        assert_eq!(reply[1]["result"]["protocol"], PROTOCOL);
    }

    #[tokio::test]
    async fn a_connection_that_is_not_read_is_not_read_from() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        bridge.open(&"x".repeat(100_000)).await;
        let mut stream = bridge.stream().await;
        let call = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"question_list\"}\n";
        // A socket holds far fewer than all of these calls and their replies.
        let mut written = 0;
        let flood = async {
            while written < 100_000 {
                stream.write_all(call).await.expect("it is written");
                written += 1;
            }
        };
        let stalled = timeout(std::time::Duration::from_millis(500), flood).await.is_err();
        assert!(stalled, "{written} calls were taken without a reply being read");
        // Once it reads, all is answered that was asked.
        let mut replies = BufReader::new(&mut stream).lines();
        soon(replies.next_line()).await.expect("a reply").expect("a line");
    }

    #[tokio::test]
    async fn a_request_that_arrived_before_the_end_gets_its_reply_and_a_later_one_cannot_be_sent() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        let (reader, writer) = bridge.stream().await.into_split();
        let mut lines = BufReader::new(reader).lines();
        let call = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"bridge_status\"}\n";
        // The second is sent in the same turn in which the server is stopped.
        for ends in [false, true] {
            assert_eq!(writer.try_write(call).expect("it is written"), call.len());
            if ends {
                bridge.vanish().await;
            }
            soon(lines.next_line()).await.expect("a reply").expect("a line");
        }
        let late = writer.try_write(call).map_err(|error| error.kind());
        assert_eq!(late, Err(io::ErrorKind::BrokenPipe));
    }

    /// Returns the calls of programs that ask this many questions, in sessions of their own.
    fn asks(numbers: std::ops::Range<usize>, label: &str) -> String {
        let ask = |number: usize| {
            let question = Question { session: Some(format!("s-{}", number / 32)), ..question(label) };
            let params = json!({ "question": question });
            let call = json!({ "jsonrpc": "2.0", "id": number, "method": "question_ask", "params": params });
            call.to_string() + "\n"
        };
        numbers.map(ask).collect()
    }

    async fn open_questions(bridge: &PlayedBridge, count: usize) {
        let is_met = wait_until(bridge.inbox.store(), limits::WAIT, |now| now.open_count() == count);
        assert!(soon(is_met).await);
    }

    #[tokio::test]
    async fn asks_that_wait_keep_no_other_call_out_and_end_with_their_connection() {
        let folder = tempfile::tempdir().expect("a folder");
        let bridge = PlayedBridge::start(folder.path(), "b");
        // Many more than may be in flight, of one connection and of all.
        let each = limits::OPEN / 4;
        assert!(each > limits::CALLS_PER_CONNECTION && limits::OPEN > limits::CALLS);
        let mut callers = Vec::new();
        for caller in 0..4 {
            let mut stream = bridge.stream().await;
            let calls = asks(caller * each..(caller + 1) * each, "Continue?");
            soon(stream.write_all(calls.as_bytes())).await.expect("it is written");
            open_questions(&bridge, (caller + 1) * each).await;
            callers.push(stream);
        }
        // As many are open as may be. One more is refused, and says why.
        let mut one_more = BufReader::new(bridge.stream().await);
        let call = asks(limits::OPEN..limits::OPEN + 1, "Continue?");
        soon(one_more.write_all(call.as_bytes())).await.expect("it is written");
        let mut refused = String::new();
        soon(one_more.read_line(&mut refused)).await.expect("a reply");
        assert!(refused.contains("too_many_questions"), "{refused}");
        let (_, listed) = soon(read_once(bridge.stream().await, Depth::Outline)).await.expect("a listing");
        assert_eq!(listed.items.len(), limits::OPEN);
        for left in (0..callers.len()).rev() {
            callers.pop();
            open_questions(&bridge, left * each).await;
        }
    }

    #[tokio::test]
    async fn long_asks_that_wait_leave_room_for_other_long_requests() {
        let folder = tempfile::tempdir().expect("a folder");
        let bridge = PlayedBridge::start(folder.path(), "b");
        let mut stream = bridge.stream().await;
        // Each may be as long as a request may be, by the length that is known before it is read.
        let count = limits::REQUESTS_BYTES / limits::REQUEST + 1;
        let padding = " ".repeat(limits::REQUEST / 2);
        let calls = asks(0..count, "Continue?").replace("\n", &format!("{padding}\n"));
        soon(stream.write_all(calls.as_bytes())).await.expect("it is written");
        open_questions(&bridge, count).await;
    }

    #[tokio::test]
    async fn answers_that_wait_for_the_agent_do_not_hide_the_end_of_their_connection() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        bridge.open("a").await;
        let mut streams = Vec::new();
        for _ in 1..limits::CONNECTIONS {
            streams.push(bridge.stream().await);
        }
        let params = json!({ "id": "b-1", "answer": { "values": { "q0": "yes" } } });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "question_answer", "params": params });
        let mut stream = bridge.stream().await;
        let calls = format!("{call}\n").repeat(2 * limits::CALLS_PER_CONNECTION);
        soon(stream.write_all(calls.as_bytes())).await.expect("it is written");
        drop(stream);
        // Its place is free once the server has seen that it is gone.
        let again = async { while Client::connect(bridge.stream().await).await.is_err() {} };
        soon(again).await;
        drop(streams);
    }

    #[tokio::test]
    async fn a_batch_has_no_call_that_waits() {
        let folder = tempfile::tempdir().expect("a folder");
        let bridge = PlayedBridge::start(folder.path(), "b");
        let (reader, mut writer) = bridge.stream().await.into_split();
        let status = json!({ "jsonrpc": "2.0", "id": "after", "method": "bridge_status" });
        let waiting =
            |id, method| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { "id": "b-1" } });
        let (answers, rejects) = (waiting(8, "question_answer"), waiting(9, "question_reject"));
        let batch = format!("[{},{answers},{rejects},{status}]\n", asks(7..8, "Continue?").trim_end());
        soon(writer.write_all(batch.as_bytes())).await.expect("it is written");
        let mut lines = BufReader::new(reader).lines();
        let reply = soon(lines.next_line()).await.expect("a reply").expect("a line");
        let reply: Value = serde_json::from_str(&reply).expect("JSON");
        for (at, id) in [(0, 7), (1, 8), (2, 9)] {
            assert_eq!(
                (&reply[at]["id"], &reply[at]["error"]["code"]),
                (&json!(id), &json!(-32600)),
                "{reply}"
            );
        }
        assert_eq!(
            (&reply[3]["id"], bridge.inbox.store().read(|_, now| now.open_count())),
            (&json!("after"), 0)
        );
    }

    #[tokio::test]
    async fn connections_beyond_the_limit_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let bridge = PlayedBridge::start(folder.path(), "b");
        let mut streams = Vec::new();
        for _ in 0..limits::CONNECTIONS {
            streams.push(bridge.stream().await);
        }
        let refused = soon(Client::connect(bridge.stream().await)).await;
        assert!(matches!(refused, Err(ConnectError::Busy)), "{refused:?}");
        // A silent peer gets the message, too.
        let mut told = String::new();
        soon(bridge.stream().await.read_to_string(&mut told)).await.expect("a line");
        assert!(told.contains("too_many_requests") && told.ends_with('\n'), "{told}");
        streams.pop();
        // The place is free once the server has seen it.
        let again = async { while Client::connect(bridge.stream().await).await.is_err() {} };
        soon(again).await;
    }
}
