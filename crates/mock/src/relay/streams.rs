//! The streams of the relay: it forwards the bytes of each peer to the other one, in chunks, or in lines if the fault is about
//! lines. The content of lines is left to `lines.rs`.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Write},
    os::fd::AsFd,
    process::{Child, ChildStdout},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, sync_channel},
    },
    thread::{self, JoinHandle},
};

use super::{fault::RelayFault, lines::Lines, side::Side};

/// The bytes that are read at once.
const CHUNK: usize = 64 << 10;
/// The chunks that wait in a relay that reads without bound: more than anybody sends.
const BOUNDLESS: usize = 1 << 20;

/// The streams to both peers.
#[derive(Clone, Debug)]
pub(super) struct Streams(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    fault: Option<RelayFault>,
    lines: Lines,
    client: Mutex<Option<File>>,
    agent: Mutex<Option<File>>,
    /// Held while anything is written, if one direction blocks the other.
    both: Mutex<()>,
}

impl Streams {
    /// Takes the streams of an agent, and returns the one that it writes to apart.
    pub(super) fn of(agent: &mut Child, fault: Option<RelayFault>) -> io::Result<(Self, ChildStdout)> {
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        let to_agent = File::from(std::os::fd::OwnedFd::from(agent.stdin.take().ok_or_else(closed)?));
        // The standard library's stdout keeps the rest of a line back, but a relay must write every byte at once.
        let to_client = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let shared = Shared {
            fault,
            lines: Lines::new(fault),
            client: Mutex::new(Some(to_client)),
            agent: Mutex::new(Some(to_agent)),
            both: Mutex::new(()),
        };
        Ok((Self(Arc::new(shared)), agent.stdout.take().ok_or_else(closed)?))
    }

    /// Forwards the bytes of a peer, on a thread of its own, until they end.
    pub(super) fn pass_on(&self, input: impl Read + Send + 'static, from: Side) -> JoinHandle<()> {
        let streams = self.clone();
        thread::spawn(move || {
            match streams.0.fault {
                None | Some(RelayFault::DecodesPieces) => streams.chunks(input, from),
                Some(RelayFault::BuffersAll) => streams.boundless(input, from),
                Some(RelayFault::HoldsLines) => streams.held(input, from),
                Some(_) => streams.lines(input, from),
            }
            let is_kept = match (from, streams.0.fault) {
                // The agent is killed instead, by `run.rs`.
                (Side::Client, fault) => {
                    matches!(fault, Some(RelayFault::IgnoresEnd | RelayFault::KillsAtEnd))
                }
                (Side::Agent, fault) => fault == Some(RelayFault::KeepsStdout),
            };
            if !is_kept {
                streams.close(from.other());
            }
        })
    }

    /// Writes to a peer. A peer that reads no more gets nothing more.
    pub(super) fn write(&self, to: Side, bytes: &[u8]) -> bool {
        let _both = (self.0.fault == Some(RelayFault::BlocksBoth)).then(|| lock(&self.0.both));
        let mut output = lock(self.output(to));
        let is_written = output.as_mut().is_some_and(|output| output.write_all(bytes).is_ok());
        if !is_written {
            *output = None;
        }
        is_written
    }

    fn close(&self, to: Side) {
        *lock(self.output(to)) = None;
        if to == Side::Client {
            // The standard stream is a second descriptor of the same pipe.
            let null = OpenOptions::new().write(true).open("/dev/null");
            null.and_then(|null| Ok(rustix::stdio::dup2_stdout(null)?)).unwrap_or_default();
        }
    }

    fn output(&self, to: Side) -> &Mutex<Option<File>> {
        match to {
            Side::Client => &self.0.client,
            Side::Agent => &self.0.agent,
        }
    }

    fn chunks(&self, mut input: impl Read, from: Side) {
        let mut chunk = vec![0; CHUNK];
        while let Ok(count @ 1..) = input.read(&mut chunk) {
            let piece = chunk.get(..count).unwrap_or_default();
            let decoded = || String::from_utf8_lossy(piece).into_owned().into_bytes();
            let is_written = match self.0.fault {
                Some(RelayFault::DecodesPieces) => self.write(from.other(), &decoded()),
                _ => self.write(from.other(), piece),
            };
            if !is_written {
                return;
            }
        }
    }

    fn lines(&self, input: impl Read, from: Side) {
        let mut input = BufReader::with_capacity(CHUNK, input);
        let mut line = Vec::new();
        let mut outputs = Vec::new();
        while let Ok(1..) = input.read_until(b'\n', &mut line) {
            outputs.extend(self.0.lines.pass(from, std::mem::take(&mut line)));
            // Of lines that came together, no peer has responded to the first before the last one is judged.
            if input.buffer().contains(&b'\n') {
                continue;
            }
            for (to, bytes) in outputs.drain(..) {
                self.write(to, &bytes);
            }
        }
        self.write(from.other(), &self.0.lines.end(from.other()));
    }

    fn held(&self, mut input: impl Read, from: Side) {
        let mut all = Vec::new();
        // What came before an error is passed on as well.
        drop(input.read_to_end(&mut all));
        self.write(from.other(), &all);
    }

    fn boundless(&self, mut input: impl Read, from: Side) {
        let (sender, receiver) = sync_channel(BOUNDLESS);
        let streams = self.clone();
        let writer = thread::spawn(move || streams.drain(&receiver, from.other()));
        let mut chunk = vec![0; CHUNK];
        while let Ok(count @ 1..) = input.read(&mut chunk) {
            if sender.send(chunk.get(..count).unwrap_or_default().to_vec()).is_err() {
                break;
            }
        }
        drop(sender);
        drop(writer.join());
    }

    fn drain(&self, chunks: &Receiver<Vec<u8>>, to: Side) {
        while let Ok(chunk) = chunks.recv() {
            if !self.write(to, &chunk) {
                return;
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
