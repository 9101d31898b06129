//! Runs the relay between the host on stdio and the server: carries out its actions, one task for each call.

use std::{
    collections::{BTreeMap, VecDeque},
    future::{Future, pending},
    io,
    sync::Arc,
};

use axum::http::HeaderMap;
use bytes::{Buf, Bytes};
use thiserror::Error;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    sync::{
        OwnedSemaphorePermit, Semaphore,
        mpsc::{Receiver, channel},
    },
    task::AbortHandle,
    time::{Instant, sleep_until, timeout},
};

use super::{
    address::ServerAddress,
    call::{Action, CallId, Event},
    client::HttpClient,
    headers::Header,
    lines::{HostLine, Lines},
    relay::Relay,
    talk::{Reported, Talker},
};
use crate::limits::mcp_http as limits;

/// Why no server can be reached.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The certificates of the system cannot be used.
    #[error("the certificates that this system trusts cannot be used: {0}")]
    Certificates(rustls::Error),
}

/// Serves a host on these streams until it has closed its end, or until `stop` returns a value, which is returned.
///
/// # Errors
/// Fails before anything is sent if no server can be reached.
pub async fn serve<R, W, T>(
    server: ServerAddress,
    headers: Vec<Header>,
    (reader, writer): (R, W),
    stop: impl Future<Output = T>,
) -> Result<Option<T>, HttpError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let secrets = headers.iter().flat_map(Header::secrets).collect();
    let headers: HeaderMap = headers.into_iter().map(Header::into_pair).collect();
    let client = HttpClient::new(&server, headers).map_err(HttpError::Certificates)?;
    let (events, received) = channel(limits::EVENTS);
    let long = Arc::new(Semaphore::new(1));
    let talker = Talker { client, server: server.clone(), events, long };
    let mut serving = Serving {
        relay: Relay::new(server, secrets),
        talker,
        received,
        tasks: BTreeMap::new(),
        timers: BTreeMap::new(),
        out: VecDeque::new(),
        waiting: 0,
        writer,
    };
    Ok(serving.run(Lines::new(reader, limits::MESSAGE), stop).await)
}

/// What the next step is.
enum Step<T> {
    Event(Event, Option<OwnedSemaphorePermit>),
    /// So many bytes of a line were written.
    Wrote(usize),
    /// The host reads nothing any more.
    Unread(io::Error),
    Stop(T),
}

/// A relay with its calls.
struct Serving<W> {
    relay: Relay,
    talker: Talker,
    received: Receiver<Reported>,
    tasks: BTreeMap<CallId, AbortHandle>,
    timers: BTreeMap<CallId, Instant>,
    /// What the host has not read yet.
    out: VecDeque<(Bytes, Option<OwnedSemaphorePermit>)>,
    /// How many bytes that is.
    waiting: usize,
    writer: W,
}

impl<W: AsyncWrite + Unpin> Serving<W> {
    async fn run<R: AsyncRead + Unpin, T>(
        &mut self,
        mut lines: Lines<R>,
        stop: impl Future<Output = T>,
    ) -> Option<T> {
        tokio::pin!(stop);
        let (mut is_reading, mut stopped) = (true, None);
        while !(self.relay.is_over() && self.out.is_empty()) {
            let reads = is_reading && !self.relay.is_full();
            let next_timer = self.timers.iter().min_by_key(|(_, at)| **at).map(|(call, at)| (*call, *at));
            let step = tokio::select! {
                line = lines.next(), if reads => {
                    Step::Event(host_event(line, &mut is_reading), None)
                }
                // Back-pressure: while the host does not read, no response is read either.
                Some((event, long)) = self.received.recv(), if self.waiting < limits::LINES => {
                    Step::Event(event, long)
                }
                call = wait_for(next_timer) => {
                    self.timers.remove(&call);
                    Step::Event(Event::Woken(call), None)
                }
                wrote = write(&mut self.writer, self.out.front()) => match wrote {
                    Ok(count) => Step::Wrote(count),
                    Err(error) => Step::Unread(error),
                },
                code = &mut stop, if stopped.is_none() => Step::Stop(code),
            };
            match step {
                Step::Event(event, long) => self.take(event, long),
                Step::Wrote(count) => self.wrote(count),
                Step::Unread(error) => {
                    tracing::debug!(%error, "the host reads nothing any more");
                    is_reading = false;
                    self.stop();
                }
                Step::Stop(code) => {
                    stopped = Some(code);
                    is_reading = false;
                    self.stop();
                }
            }
        }
        self.tasks.values().for_each(AbortHandle::abort);
        // What a writer has taken may not have left yet. A host that does not read any more is not waited for.
        drop(timeout(limits::END, self.writer.flush()).await);
        stopped
    }

    /// Ends as soon as the session has ended. Nobody reads what was not written yet.
    fn stop(&mut self) {
        self.out.clear();
        self.waiting = 0;
        self.take(Event::HostGone, None);
        self.take(Event::HostGone, None);
    }

    fn take(&mut self, event: Event, mut long: Option<OwnedSemaphorePermit>) {
        if let Event::Ended(call, _) = &event {
            self.tasks.remove(call);
            self.timers.remove(call);
        }
        for action in self.relay.take(event) {
            match action {
                Action::Start(id, call) => {
                    let task = tokio::spawn(self.talker.clone().talk(id, call));
                    self.tasks.insert(id, task.abort_handle());
                }
                Action::Drop(call) => {
                    self.timers.remove(&call);
                    if let Some(task) = self.tasks.remove(&call) {
                        task.abort();
                    }
                }
                Action::Wake(call, time) => {
                    self.timers.insert(call, Instant::now() + time);
                }
                Action::Tell(line) => {
                    self.waiting += line.len();
                    self.out.push_back((line, long.take()));
                }
            }
        }
    }

    fn wrote(&mut self, count: usize) {
        self.waiting -= count;
        if let Some((line, _)) = self.out.front_mut() {
            line.advance(count);
            if line.is_empty() {
                self.out.pop_front();
            }
        }
    }
}

/// Returns what a line of the host means for the relay.
fn host_event(line: io::Result<Option<HostLine>>, is_reading: &mut bool) -> Event {
    match line {
        Ok(Some(HostLine::Whole(line))) => return Event::Line(line),
        Ok(Some(HostLine::Beginning(beginning))) => return Event::LongLine(beginning),
        Ok(None) => {}
        Err(error) => tracing::warn!(%error, "the host cannot be read"),
    }
    *is_reading = false;
    Event::HostGone
}

async fn wait_for(timer: Option<(CallId, Instant)>) -> CallId {
    match timer {
        Some((call, at)) => {
            sleep_until(at).await;
            call
        }
        None => pending().await,
    }
}

/// Writes some bytes of a line. Cancel safe.
async fn write<W: AsyncWrite + Unpin>(
    writer: &mut W,
    line: Option<&(Bytes, Option<OwnedSemaphorePermit>)>,
) -> io::Result<usize> {
    let Some((line, _)) = line else { return pending().await };
    match writer.write(line).await? {
        0 => Err(io::ErrorKind::WriteZero.into()),
        count => Ok(count),
    }
}
