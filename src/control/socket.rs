//! An inbox over a UNIX socket.

use std::{io, os::unix::net, sync::Arc};

use tokio::{
    net::{UnixListener, UnixStream},
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    inbox::Inbox,
    lines::{LineWriter, RequestLines},
    methods::{Caller, Methods},
    session,
    stop::Stop,
};
use crate::limits;

/// Serves an inbox until it is told to stop: to the `first` that connected, if there is one, and to all that connect
/// from then on. Calls that are nearly done still get their replies.
pub async fn serve<I: Inbox>(
    listener: net::UnixListener,
    first: Option<net::UnixStream>,
    inbox: I,
    mut stop: Stop,
) -> io::Result<()> {
    let listener = UnixListener::from_std(listener)?;
    let mut first = first.map(UnixStream::from_std);
    let agent_tree = inbox.agent_tree();
    let methods = Methods::new(inbox.clone(), Caller::Ours);
    let connections = Arc::new(Semaphore::new(limits::CONNECTIONS));
    let mut sessions = JoinSet::new();
    let mut is_failing = false;
    loop {
        let accepted = tokio::select! {
            () = stop.stopped() => break,
            accepted = accept(&listener, &mut first) => accepted,
            Some(_) = sessions.join_next() => continue,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                // Most often there are no file descriptors left, for a while: that is logged once.
                if !std::mem::replace(&mut is_failing, true) {
                    tracing::warn!(%error, "the inbox cannot accept connections; trying again");
                }
                sleep(limits::ACCEPT_BACK_OFF).await;
                continue;
            }
        };
        is_failing = false;
        if !is_own(&stream) {
            tracing::warn!("a connection of another user to the inbox was refused");
            continue;
        }
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else {
            tracing::debug!("a connection to the inbox was refused: there are as many as may be");
            continue;
        };
        let peer = agent_tree.as_ref().and_then(|tree| tree.peer(&stream));
        let (methods, stop) = (methods.clone().called_by(peer), stop.clone());
        sessions.spawn(async move {
            let (reader, writer) = stream.into_split();
            let mut requests = RequestLines::new(reader, methods.budgets.clone());
            if let Err(error) = session::serve(&methods, &mut requests, &mut LineWriter(writer), stop).await {
                tracing::debug!(%error, "a connection to the inbox failed");
            }
            drop(permit);
        });
    }
    drop(listener);
    // A connection that waits for the last reply or change gets it, if it reads.
    let ended = async { while sessions.join_next().await.is_some() {} };
    timeout(limits::journal::WAIT, inbox.kept()).await.unwrap_or_default();
    timeout(limits::LAST_REPLIES, ended).await.unwrap_or_default();
    Ok(())
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

/// Returns whether the other end is of our own user: the folder's mode may have been changed.
fn is_own(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

    use super::*;
    use crate::{
        control::{
            client::{CallError, Client},
            played::{PlayedBridge, soon},
            protocol::PROTOCOL,
        },
        desk::{QuestionId, Refusal, State, Submission},
        question::{Answer, Outcome, Provenance, Reason},
    };

    fn id(text: &str) -> QuestionId {
        text.parse().expect("an ID")
    }

    fn answer(text: &str) -> Submission {
        let values = [("q0".to_owned(), crate::question::Value::Text(text.to_owned()))].into();
        Submission::Answer(Answer { values, ..Answer::default() })
    }

    #[tokio::test]
    async fn a_client_greets_follows_and_answers() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        bridge.open("a").await;
        let client = soon(Client::connect(bridge.stream().await)).await.expect("a bridge");
        let greeting = client.greeting();
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
        assert!(matches!(soon(client.get("x-1")).await, Err(CallError::Refused(Refusal::NotFound))));
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
        // The second is sent in the same turn in which the server is told to stop.
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

    #[tokio::test]
    async fn connections_beyond_the_limit_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let bridge = PlayedBridge::start(folder.path(), "b");
        let mut streams = Vec::new();
        for _ in 0..limits::CONNECTIONS {
            streams.push(bridge.stream().await);
        }
        let mut refused = bridge.stream().await;
        assert_eq!(soon(refused.read(&mut [0])).await.expect("an end"), 0);
        streams.pop();
        // The place is free once the server has seen it.
        let again = async { while Client::connect(bridge.stream().await).await.is_err() {} };
        soon(again).await;
    }
}
