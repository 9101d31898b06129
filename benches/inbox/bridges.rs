//! Bridges without an agent, which accept every answer at once.
//! Measuring them is left to `measure.rs`.

use std::{
    future::poll_fn,
    io,
    path::Path,
    sync::Arc,
    task::Poll,
    thread,
    time::{Duration, SystemTime},
};

use askbridge_control::{
    inbox::{BridgeInbox, Identity, Port},
    join::discovery,
    rpc::socket,
};
use askbridge_core::{
    desk::{Asker, BridgeName, Desk, Notice, Opening, Setup},
    question::{Field, FieldOption, Kind, Origin, Question},
};
use tokio::{runtime, sync::mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

/// A bridge whose inbox is served.
pub(crate) struct Bridge {
    /// Its name.
    pub(crate) name: BridgeName,
    asks: mpsc::Sender<u64>,
    _socket: discovery::Socket,
    _stop: DropGuard,
}

impl Bridge {
    /// Opens one more question. This number tells its text.
    pub(crate) fn ask(&self, number: u64) {
        // The bridge lives as long as the process, so this cannot fail.
        self.asks.try_send(number).unwrap_or_default();
    }
}

/// Starts bridges with this number of open questions each, with their sockets in this directory.
pub(crate) fn start(folder: &Path, bridges: usize, questions: u64) -> io::Result<Vec<Bridge>> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let mut started = Vec::new();
    for number in 0..bridges {
        let name = discovery::bridge_name();
        let started_at = SystemTime::now().into();
        let agent = format!("agent {number}");
        let identity = Identity { bridge: name.clone(), agent, folder: String::new(), started_at };
        let (inbox, port, work) = BridgeInbox::new(identity, 1);
        let mut desk =
            Desk::new(Setup { bridge: name.clone(), asker: Asker::Agent, started: started_at, key: 1 });
        (1..=questions).for_each(|number| open(&mut desk, number));
        let (socket, listener) = discovery::Socket::bind(folder, name.as_str()).map_err(io::Error::other)?;
        let stop = CancellationToken::new();
        let (asks, asked) = mpsc::channel(8);
        runtime.spawn(work.run());
        runtime.spawn(serve(listener, inbox, stop.clone()));
        runtime.spawn(play(desk, port, asked));
        started.push(Bridge { name, asks, _socket: socket, _stop: stop.drop_guard() });
    }
    thread::Builder::new()
        .name("bridges".to_owned())
        .spawn(move || runtime.block_on(std::future::pending::<()>()))?;
    Ok(started)
}

async fn serve(listener: std::os::unix::net::UnixListener, inbox: BridgeInbox, stop: CancellationToken) {
    // What fails shows as questions that are missing.
    drop(socket::serve(listener, None, inbox, stop).await);
}

fn open(desk: &mut Desk, number: u64) {
    let question = Arc::new(question(number));
    desk.open(
        Opening { question, weight: 1, timeout: None, elsewhere: false, context: None },
        Duration::ZERO,
    );
}

/// Opens what is asked, accepts what is submitted, and hands over what changed.
async fn play(mut desk: Desk, mut port: Port, mut asked: mpsc::Receiver<u64>) {
    poll_fn(|cx| {
        loop {
            let mut is_idle = true;
            while let Poll::Ready(Some(number)) = asked.poll_recv(cx) {
                open(&mut desk, number);
                is_idle = false;
            }
            while let Poll::Ready(submitted) = port.poll_next(cx) {
                let number = submitted.number;
                if desk.submit(submitted, Duration::ZERO).is_some() {
                    desk.delivered(number);
                }
                is_idle = false;
            }
            while let Some(notice) = desk.poll() {
                if let Notice::Verdict(ticket, verdict) = notice {
                    port.verdict(ticket, verdict);
                }
            }
            let has_changes = desk.has_changes();
            if port.poll_hand_over(cx, has_changes, || desk.take_changes()).is_ready() {
                is_idle = false;
            }
            if is_idle {
                return Poll::<()>::Pending;
            }
        }
    })
    .await;
}

/// Returns a question with two fields, of a typical size.
fn question(number: u64) -> Question {
    let option = |value: &str| FieldOption {
        value: value.to_owned(),
        label: format!("Option {value}"),
        description: Some("What choosing this one would mean for the work at hand.".to_owned()),
        preview: None,
        role: None,
        grants: Vec::new(),
        dangerous: false,
    };
    let field = |name: &str| Field {
        name: name.to_owned(),
        label: "Which of these approaches is to be taken?".to_owned(),
        header: Some("Approach".to_owned()),
        help: None,
        required: false,
        secret: false,
        nullable: false,
        required_with: None,
        kind: Kind::Choice { options: ["a", "b", "c"].map(option).into(), other: true, default: None },
    };
    Question {
        session: Some("session".to_owned()),
        message: "There are several ways to go on.".to_owned(),
        ..Question::new(Origin::SandboxAgent, &number.to_string(), ["q0", "q1"].map(field).into())
    }
}
